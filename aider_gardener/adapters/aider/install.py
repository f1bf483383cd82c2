"""Puts the stand-ins into the seams, and takes them out again."""

from __future__ import annotations

import importlib
import inspect
import threading
from typing import TYPE_CHECKING, Any

from aider_gardener.adapters.aider.seams import SEAMS, SUPPORTED, Seam
from aider_gardener.errors import SeamError

if TYPE_CHECKING:
    from aider_gardener.settings import Settings

MISSING = object()

_lock = threading.RLock()
_originals: list[tuple[Any, str, Any]] = []


def install(settings: Settings | None = None) -> None:
    """Check every seam, then replace all of them, or none. Installed already: take the new settings."""
    from aider_gardener.adapters.aider import link, wrappers

    with _lock:
        if _originals:
            link.state.settings = settings
            return
        placed = [(seam, *holder_of(seam)) for seam in SEAMS]
        problems = [
            problem for seam, holder, attribute in placed if (problem := mismatch(seam, holder, attribute))
        ]
        if problems:
            raise SeamError(
                f"this aider ({installed_version()}) is not supported: {'; '.join(problems[:3])};"
                f" aider-gardener works with aider-chat=={SUPPORTED}"
            )
        link.state.settings = settings
        made = [
            (holder, attribute, getattr(wrappers, seam.make)(holder.__dict__.get(attribute, MISSING)))
            for seam, holder, attribute in placed
        ]
        for holder, attribute, stand_in in made:
            _originals.append((holder, attribute, holder.__dict__.get(attribute, MISSING)))
            setattr(holder, attribute, stand_in)


def uninstall() -> None:
    """Put every original back, in reverse order, and close the archives of this process."""
    from aider_gardener.adapters.aider import link

    with _lock:
        while _originals:
            holder, attribute, original = _originals.pop()
            if original is MISSING:
                delattr(holder, attribute)
            else:
                setattr(holder, attribute, original)
        link.state.close()


def is_installed() -> bool:
    return bool(_originals)


def installed_version() -> str:
    """The version of the aider that is importable, or "none"."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("aider-chat")
    except PackageNotFoundError:
        return "none"


def holder_of(seam: Seam) -> tuple[Any, str]:
    """The module or class that holds the seam's attribute. Raises SeamError when it is not there."""
    *outer, attribute = seam.path.split(".")
    try:
        holder: Any = importlib.import_module(seam.module)
        for name in outer:
            holder = getattr(holder, name)
    except (ImportError, AttributeError) as error:
        raise SeamError(
            f"{seam.name} is missing in this aider ({installed_version()}): {error};"
            f" aider-gardener works with aider-chat=={SUPPORTED}"
        ) from error
    return holder, attribute


def mismatch(seam: Seam, holder: Any, attribute: str) -> str:
    """What is wrong at a seam, in a few words; "" when it is as expected."""
    standing = holder.__dict__.get(attribute, MISSING)
    if not seam.signature:
        return "" if standing is MISSING else f"{seam.name} exists already"
    if standing is MISSING:
        return f"{seam.name} is missing"
    found = str(inspect.signature(getattr(holder, attribute)))
    return "" if found == seam.signature else f"{seam.name} has the signature {found}"
