"""`aider-gardener`: aider with the gardener in it. Takes exactly what aider takes."""

from __future__ import annotations

import sys


def main() -> int | None:
    """Install the gardener and run aider; when aider is not one that is supported, run it as it is."""
    from aider_gardener.adapters.aider.install import install
    from aider_gardener.errors import SeamError

    try:
        install()
    except SeamError as error:
        print(f"aider-gardener: {error}; running aider without the gardener", file=sys.stderr)
    from aider.main import main as aider_main

    status: int | None = aider_main()
    return status


if __name__ == "__main__":
    sys.exit(main())
