"""aider-gardener: context memory under garbage collection for the aider coding agent.

`install()` patches the running process's aider, `uninstall()` takes it back. After `install()` every
`Coder` that aider builds has a `gardener`. `Gardener` serves any other agent that keeps a list of messages,
`shorten` whoever has one text that is too long.
Importing this package does no I/O and does not import aider.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

__version__ = "0.1.0"
__all__ = ["Gardener", "Shortened", "__version__", "install", "shorten", "uninstall"]

if TYPE_CHECKING:
    from aider_gardener.adapters.plain.gardener import Gardener
    from aider_gardener.compress.shorten import Shortened, shorten
    from aider_gardener.settings import Settings


def install(settings: Settings | None = None) -> None:
    """Patch the running process's aider. Calling it again only replaces the settings.

    Without `settings` they come from aider's own command line and the AIDER_GARDENER variables.
    Raises PatchPointError, and changes nothing, when the installed aider is not one that is supported, and
    UsageError for what are no settings.
    """
    from aider_gardener.adapters.aider.install import install as install_wrappers
    from aider_gardener.errors import UsageError
    from aider_gardener.settings import Settings

    if not isinstance(settings, Settings | None):
        raise UsageError("install() takes a Settings, or nothing")
    install_wrappers(settings)


def uninstall() -> None:
    """Take the patches back: every attribute of aider is the object it was before. Harmless twice."""
    from aider_gardener.adapters.aider.install import uninstall as uninstall_wrappers

    uninstall_wrappers()


def __getattr__(name: str) -> object:
    """What is imported when it is asked for: importing the package alone stays light."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    is_gardener = name == "Gardener"
    place = "aider_gardener.adapters.plain.gardener" if is_gardener else "aider_gardener.compress.shorten"
    return getattr(import_module(place), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
