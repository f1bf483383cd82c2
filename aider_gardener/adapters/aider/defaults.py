"""What a build of aider that has the gardener inside sets apart from the gardener's own defaults.

Nothing in this package; the patches for aider bring a version of their own, one per step of the series.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aider_gardener.settings import variable

DEFAULTS: dict[str, Any] = {}
"""Values of settings that neither a flag nor a variable gives."""

OFFERED: frozenset[str] | None = None
"""The settings that have a flag; None: all of them."""


def environment(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables with the build's defaults below them, and without those of settings not offered."""
    held_back = set() if OFFERED is None else {variable(name) for name in DEFAULTS if name not in OFFERED}
    given = {name: value for name, value in environ.items() if name not in held_back}
    return {**{variable(name): str(value) for name, value in DEFAULTS.items()}, **given}


def is_offered(name: str) -> bool:
    """Whether the build has a flag for the setting."""
    return OFFERED is None or name in OFFERED
