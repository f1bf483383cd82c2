"""`python -m aider_gardener.cli` is `gardener`."""

from __future__ import annotations

from aider_gardener.cli import main

if __name__ == "__main__":
    main()
