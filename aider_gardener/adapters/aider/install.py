"""Puts the wrappers in at the patch points, and takes them out again."""

from __future__ import annotations

import importlib
import inspect
import threading
from collections.abc import Sequence

from aider_gardener.adapters.aider.link import state
from aider_gardener.adapters.aider.patch_points import (
    CALLS,
    CODER,
    PATCH_POINTS,
    PROVIDERS,
    TRIED,
    PatchPoint,
)
from aider_gardener.errors import PatchPointError
from aider_gardener.settings import Settings

MISSING = object()
ASKED = frozenset({"history", "ask_history", "tell_history"})
"""By what aider reaches its history provider."""
MOST_NAMED = 3
"""So many patch points that do not match are named; the others are counted."""

_lock = threading.RLock()
_originals: list[tuple[object, str, object]] = []


def install(settings: Settings | None = None) -> None:
    """Check every patch point that this aider needs, then replace all of them, or none. Installed already:
    take the new settings. Raises PatchPointError where one is not as expected, whatever the version; no
    version is refused where all are."""
    with _lock:
        if not _originals:
            if problems := mismatches():
                raise PatchPointError(_refusal(problems))
            points = [*needed_points(), *(point for point in PROVIDERS if at(point) is not MISSING)]
            wrapped = [(*_holder_of(point), at(point), point.wrap(at(point))) for point in points]
            for holder, attribute, original, wrapper in wrapped:
                _originals.append((holder, attribute, original))
                setattr(holder, attribute, wrapper)
        state.settings = settings


def uninstall() -> None:
    """Put every original back, in reverse order, and close the archives of this process."""
    with _lock:
        while _originals:
            holder, attribute, original = _originals.pop()
            if original is MISSING:
                delattr(holder, attribute)
            else:
                setattr(holder, attribute, original)
        state.close()


def in_force() -> int:
    """How many attributes of aider are replaced or added now."""
    return len(_originals)


def needed_points() -> list[PatchPoint]:
    """The patch points that this aider needs: not those for which it calls its history provider itself."""
    patches = frozenset(filter(_is_in, CALLS))
    return [
        point for point in PATCH_POINTS if not (point.retired_by and patches.issuperset(point.retired_by))
    ]


def _is_in(patch: str) -> bool:
    """Whether this aider has the patch, as the names and words in the code of a method tell."""
    method, word = CALLS[patch]
    try:
        found = inspect.unwrap(getattr(importlib.import_module(CODER).Coder, method))
    except (ImportError, AttributeError):  # the check of its patch point will say so
        return False
    code = getattr(found, "__func__", found).__code__
    return bool(ASKED & {*code.co_names}) and word in (*code.co_names, *code.co_consts)


def mismatches() -> list[str]:
    """What is wrong at each patch point that this aider needs, in a few words each; empty where it is
    supported."""
    return [problem for problem in map(_mismatch, needed_points()) if problem]


def _mismatch(point: PatchPoint) -> str:
    """What is wrong at a patch point, in a few words; "" when it is as expected."""
    try:
        holder, attribute = _holder_of(point)
    except PatchPointError as error:
        return str(error)
    is_there = at(point) is not MISSING
    if not point.signature:
        return f"{point.name} exists already" if is_there else ""
    if not is_there:
        return f"{point.name} is missing"
    found = str(inspect.signature(getattr(holder, attribute)))
    return "" if found == point.signature else f"{point.name} has the signature {found}"


def _holder_of(point: PatchPoint) -> tuple[object, str]:
    """The module or class that holds the attribute. Raises PatchPointError when it is not there."""
    *outer, attribute = point.path.split(".")
    try:
        holder: object = importlib.import_module(point.module)
        for name in outer:
            holder = getattr(holder, name)
    except (ImportError, AttributeError) as error:
        raise PatchPointError(f"{point.name} is missing ({error})") from error
    return holder, attribute


def at(point: PatchPoint) -> object:
    """What is at a patch point now: the holder's own attribute, or MISSING."""
    holder, attribute = _holder_of(point)
    return holder.__dict__.get(attribute, MISSING)


def _refusal(problems: Sequence[str]) -> str:
    """One line: which aider is refused, what does not match, and which versions were tried."""
    more = f" and {len(problems) - MOST_NAMED} more" if len(problems) > MOST_NAMED else ""
    return (
        f"this aider ({installed_version()}) is not supported: {'; '.join(problems[:MOST_NAMED])}{more};"
        f" tried were {TRIED[0]} to {TRIED[-1]}, and pip install aider-chat=={TRIED[-1]} brings the last"
    )


def installed_version() -> str:
    """The version of the aider that is importable, or "none"."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("aider-chat")
    except PackageNotFoundError:
        return "none"
