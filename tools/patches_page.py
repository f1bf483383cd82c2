"""Write what follows from the mails in patches/: the tables of its README.md, and `series`.

The mails are written by hand. Exit 0 when all is as it must be, 1 when --check found it stale, 2 when a mail
or the page is not as it must be.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from patch_series.readme import with_tables

from aider_gardener.errors import PatchError
from aider_gardener.patches.series import Patch, Series

ROOT = Path(__file__).resolve().parent.parent


def main(argv: Sequence[str] | None = None) -> int:
    """Write or check; see the module's text for the exit codes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="write nothing, say what is stale")
    options = parser.parse_args(argv)
    folder = ROOT / "patches"
    try:
        made = derived(folder)
    except (PatchError, OSError) as error:
        print(f"patches page: {error}", file=sys.stderr)
        return 2
    stale = [name for name, text in made.items() if (folder / name).read_text("utf-8") != text]
    for name in stale:
        print(name)
        if not options.check:
            (folder / name).write_text(made[name], "utf-8", newline="")
    return 1 if stale and options.check else 0


def derived(folder: Path) -> dict[str, str]:
    """The derived files by name. Raises PatchError when the page lacks a mark or a mail its notes."""
    paths = sorted(folder.glob("[0-9][0-9][0-9][0-9]-*.patch"))
    series = Series(folder, tuple(Patch(path.name, path.read_text("utf-8")) for path in paths))
    return {
        "series": "".join(f"{patch.name}\n" for patch in series.patches),
        "README.md": with_tables((folder / "README.md").read_text("utf-8"), series, ROOT),
    }


if __name__ == "__main__":
    sys.exit(main())
