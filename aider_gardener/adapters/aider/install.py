"""Puts the stand-ins into the seams, and takes them out again."""

from __future__ import annotations

import importlib
import inspect
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aider_gardener.adapters.aider.seams import CODER, COMMANDS, PROVIDERS, SEAMS, TRIED, Call, Seam
from aider_gardener.errors import SeamError

if TYPE_CHECKING:
    from aider_gardener.settings import Settings

MISSING = object()
MOST_NAMED = 3
"""So many seams that do not match are named; the others are counted."""

_lock = threading.RLock()
_originals: list[tuple[Any, str, Any]] = []


def install(settings: Settings | None = None) -> None:
    """Check every seam that this aider needs, then replace all of them, or none. Installed already: take the
    new settings. Raises SeamError where a seam is not as expected, whatever the version; no version is
    refused where all are."""
    from aider_gardener.adapters.aider import link, wrappers

    with _lock:
        if _originals:
            link.state.settings = settings
            return
        if problems := mismatches():
            raise SeamError(refusal(problems))
        own = [seam for seam in PROVIDERS if stands(seam)]
        placed = [(seam, *holder_of(seam)) for seam in (*needed_seams(), *own)]
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


def in_force() -> int:
    """How many attributes of aider are replaced or added now."""
    return len(_originals)


def needed_seams() -> list[Seam]:
    """The seams that this aider needs: not those for which it calls its context provider itself."""
    return [seam for seam in SEAMS if not (seam.calls and all(map(is_made, seam.calls)))]


def mismatches() -> list[str]:
    """What is wrong at each seam that this aider needs, in a few words each; empty where it is supported."""
    found = (seam_mismatch(seam) for seam in needed_seams())
    return [problem for problem in found if problem]


def seam_mismatch(seam: Seam) -> str:
    """What is wrong at a seam, its holder included; "" when it is as expected."""
    try:
        holder, attribute = holder_of(seam)
    except SeamError as error:
        return str(error)
    return mismatch(seam, holder, attribute)


def refusal(problems: Sequence[str]) -> str:
    """One line: which aider is refused, what does not match, and which versions were tried."""
    more = f" and {len(problems) - MOST_NAMED} more" if len(problems) > MOST_NAMED else ""
    return (
        f"this aider ({installed_version()}) is not supported: {'; '.join(problems[:MOST_NAMED])}{more};"
        f" tried were {TRIED[0]} to {TRIED[-1]}, and pip install aider-chat=={TRIED[-1]} brings the last"
    )


def is_made(call: Call) -> bool:
    """Whether this aider has a call of the context provider, as the names used in the function tell."""
    owner, _, name = call.inside.partition(".")
    try:
        module = importlib.import_module(COMMANDS if owner == "Commands" else CODER)
        function = getattr(getattr(module, owner), name)
    except (ImportError, AttributeError):  # the check of its seam will say so
        return False
    function = inspect.unwrap(function)
    return {"context", call.method} <= set(getattr(function, "__func__", function).__code__.co_names)


def stands(seam: Seam) -> bool:
    """Whether this aider has the attribute."""
    holder, attribute = holder_of(seam)
    return attribute in holder.__dict__


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
        raise SeamError(f"{seam.name} is missing ({error})") from error
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
