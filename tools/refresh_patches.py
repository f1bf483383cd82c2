"""Make the generated patches anew from the package, with the series, UPSTREAM and the tables of its README.

The patches that are written by hand stay as they are. Prints the files that changed; with `--check` changes
nothing and prints those that are stale. Exit 0 when all is well, 1 when something is stale or cannot be made.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from patch_series.refresh import refreshed

from aider_gardener.errors import GardenerError
from aider_gardener.patches.tree import find_tree

SERIES = Path(__file__).resolve().parent.parent / "patches"


def main(argv: Sequence[str] | None = None) -> int:
    """Refresh or check the folder of the series; see the module's text for the exit codes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--to", type=Path, metavar="DIR", help="aider as released (default: as installed)")
    parser.add_argument("--patches", type=Path, default=SERIES, metavar="DIR", help="folder of the series")
    parser.add_argument("--check", action="store_true", help="change nothing; exit 1 when something is stale")
    options = parser.parse_args(argv)
    try:
        made = refreshed(options.patches, find_tree(options.to).read)
    except GardenerError as error:
        print(f"refresh patches: {error}", file=sys.stderr)
        return 1
    names = made.stale(options.patches) if options.check else made.write(options.patches)
    print("\n".join(names) or "Everything is up to date.")
    return 1 if options.check and names else 0


if __name__ == "__main__":
    sys.exit(main())
