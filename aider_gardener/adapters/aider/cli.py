"""`aider-gardener`: aider with the gardener in it. Takes exactly what aider takes."""

from __future__ import annotations

import sys


def main() -> int | None:
    """Run aider, with the gardener in it if that can be."""
    try_to_install()
    import aider.main

    status: int | None = aider.main.main()
    return status


def try_to_install() -> None:
    """Install the gardener; where that fails (an aider that is not supported, a fault of ours) say so in one
    line and leave aider as it is."""
    try:
        from aider_gardener.adapters.aider.install import install

        install()
    except Exception as error:  # reason: aider must start whatever is wrong with us
        from aider_gardener.errors import GardenerError
        from aider_gardener.terminal import visible

        is_ours = isinstance(error, GardenerError)
        why = str(error) if is_ours else f"a fault of its own ({type(error).__name__})"
        print(f"aider-gardener: {visible(why)}; running aider without the gardener", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
