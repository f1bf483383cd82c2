"""The chain: the parts in which the gardener goes into aider, and what makes up each of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from aider_gardener.adapters.aider.seams import SEAMS, Seam
from aider_gardener.settings import Settings
from patch_series.library import closure

PACKAGING = "none: a packaging matter"
"""What `retired_by` says of a seam that aider itself does not need."""
APPENDING = frozenset(
    ["gardener_property", "create", "then_sync", "run_one", "run_stream", "clear_history", "raw_undo"]
) | {"get_parser"}
RECALLING = frozenset(["cmd_recall"])
OFF: dict[str, Any] = {"enabled": False, "embedder": "none"}
"""In aider all of it is by choice, and no model comes with it."""


@dataclass(frozen=True)
class Part:
    """One generated patch. `roots`: modules that it brings with all they import and no part before it has.

    `hooks` says which seams it hooks; `defaults` and `offered` what it makes of the settings (None: it does
    not touch them); `wanted` whether the package has what the part is about.
    """

    name: str
    roots: tuple[str, ...] = ()
    hooks: Callable[[Seam], bool] = lambda seam: False
    defaults: dict[str, Any] | None = None
    offered: Callable[[str], bool] = lambda field: False
    wanted: bool = True

    @property
    def number(self) -> int:
        return int(self.name[:4])


def fields() -> list[str]:
    return [field.name for field in dataclasses.fields(Settings)]


def for_recall(field: str) -> bool:
    return field.startswith("recall")


def for_increments(field: str) -> bool:
    return field.startswith("incremental")


def of_host(seam: Seam) -> bool:
    return seam.retired_by != PACKAGING


CHAIN = (
    Part(
        "0010-classify-and-compress",
        roots=("reading.classify", "reading.segments", "reading.source", "compress"),
    ),
    Part("0011-store-and-recall", roots=("archive.store", "recall")),
    Part(
        "0012-archive-messages",
        roots=("adapters.aider.wrappers",),
        hooks=lambda seam: seam.make in APPENDING,
        defaults={**OFF, "mode": "observe"},
        offered=lambda field: field in ("enabled", "store", "embedder"),
    ),
    Part(
        "0014-evict-by-priority",
        hooks=lambda seam: of_host(seam) and seam.make not in APPENDING | RECALLING,
        defaults={**OFF, "recall_tokens": 0},
        offered=lambda field: not (for_recall(field) or for_increments(field)),
    ),
    Part(
        "0015-recall-before-calls",
        hooks=lambda seam: seam.make in RECALLING,
        defaults={**OFF, "recall_tokens": 0},
        offered=lambda field: not for_increments(field),
    ),
    Part(
        "0016-incremental-context",
        defaults={**OFF, "recall_tokens": 0},
        offered=lambda field: not for_recall(field),
        wanted=any(for_increments(field) for field in fields()),
    ),
)


def library_of(part: Part) -> list[str]:
    """The modules that a part brings: the closure of its roots without what parts before it bring."""
    before: set[str] = set()
    for other in CHAIN:
        if other is part:
            break
        before |= closure(other.roots)
    return sorted(closure(part.roots) - before)


def hooks_of(part: Part) -> list[Seam]:
    return [seam for seam in SEAMS if part.hooks(seam)]


def defaults_text(part: Part, template: str) -> str:
    """The module of the build's defaults as this part sets them. In alphabetical order what two parts add
    stands apart, so that each applies without the other."""
    offered = sorted(name for name in fields() if part.offered(name))
    rows = "".join(f'    "{name}": {value!r},\n' for name, value in (part.defaults or {}).items())
    names = "".join(f'        "{name}",\n' for name in offered)
    text = template.replace("DEFAULTS: dict[str, Any] = {}", f"DEFAULTS: dict[str, Any] = {{\n{rows}}}")
    return text.replace(
        "OFFERED: frozenset[str] | None = None",
        f"OFFERED: frozenset[str] | None = frozenset(\n    [\n{names}    ]\n)",
    )
