"""Write what follows from the mails in patches/: the tables of its README.md, `series`, and UPSTREAM.

The mails are written by hand. Exit 0 when all is as it must be, 1 when --check found it stale, 2 when a mail
or aider's source is not as it must be.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from patch_series.readme import with_tables

from aider_gardener.errors import PatchError
from aider_gardener.patches.mail import FILE_NAME, PatchMail, read_mail
from aider_gardener.patches.series import Upstream, digest, read_upstream
from aider_gardener.patches.tree import tree_at

ROOT = Path(__file__).resolve().parent.parent
NEW_FILE = "new file mode "


def main(argv: Sequence[str] | None = None) -> int:
    """Write or check; see the module's text for the exit codes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--check", action="store_true", help="write nothing, say what is stale")
    parser.add_argument("--source", type=Path, help="aider's source, for files that UPSTREAM has not yet")
    options = parser.parse_args(argv)
    folder = ROOT / "patches"
    try:
        made = derived(folder, tree_at(options.source).read if options.source else lambda path: None)
    except (PatchError, OSError) as error:
        print(f"patches page: {error}", file=sys.stderr)
        return 2
    stale = [name for name, text in made.items() if (folder / name).read_text("utf-8") != text]
    for name in stale:
        print(name)
        if not options.check:
            (folder / name).write_text(made[name], "utf-8", newline="")
    return 1 if stale and options.check else 0


def derived(folder: Path, released: Callable[[str], str | None]) -> dict[str, str]:
    """The derived files by name. `released` gives a file of aider's source, None where that is not at hand.

    Raises PatchError when a mail cannot be read, or a file that it edits is not known.
    """
    mails = [read_mail(path) for path in sorted(folder.iterdir()) if FILE_NAME.fullmatch(path.name)]
    return {
        "series": "".join(f"{mail.name}\n" for mail in mails),
        "UPSTREAM": upstream_text(read_upstream((folder / "UPSTREAM").read_text("utf-8")), mails, released),
        "README.md": with_tables((folder / "README.md").read_text("utf-8"), mails, ROOT),
    }


def upstream_text(
    upstream: Upstream, mails: Iterable[PatchMail], released: Callable[[str], str | None]
) -> str:
    """The text of UPSTREAM with the hash of each released file that some mail edits."""
    files: dict[str, str] = {}
    new = set()
    for path, diff in (pair for mail in mails for pair in mail.diffs.items()):
        if diff.splitlines()[1].startswith(NEW_FILE):
            new.add(path)
        elif path not in new:
            text, known = released(path), upstream.files.get(path)
            if text is None and known is None:
                raise PatchError(f"{path} is edited by a mail: give aider's source with --source DIR")
            if text is not None and known is not None and digest(text) != known:
                raise PatchError(f"{path} is not as aider {upstream.version} released it")
            files[path] = known or digest(str(text))
    head = f"version: {upstream.version}\nsource: {upstream.source}\nsha256: {upstream.sha256}\n\n"
    return head + "".join(f"{found}  {path}\n" for path, found in sorted(files.items()))


if __name__ == "__main__":
    sys.exit(main())
