"""The cells of the grid: which sessions, variants and budgets are replayed, and when a result is stale."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from aider_gardener.errors import UsageError
from aider_gardener.replay.play.provenance import version_of
from aider_gardener.replay.play.variants import variant_named
from aider_gardener.replay.session.session import Session, chained
from aider_gardener.settings import Settings

PACKAGE = Path(__file__).resolve().parents[2] / "aider_gardener"
MODEL = "gpt-4o"
ROW_FORMAT = 2
"""Of what is kept of a cell: a kept cell of another format is run again."""

BUDGETS = (1_000, 2_000, 4_000, 8_000, 16_000, 32_000)

WITHOUT_BUDGET = ("none", "no-history", "stock", "stock-fixed", "mask10")
"""Run once, at the host's own limit. `stock-fixed` too: its summaries were recorded at that limit."""

WITH_BUDGET = ("tail", "bag", "clear3", "gardener")
ABLATIONS = ("gardener-no-recall", "gardener-no-vectors", "gardener-no-compress")
OPTIONAL_ABLATIONS: Mapping[str, tuple[str, bool]] = {
    "incremental": ("gardener+incremental=yes", True),
    "chat_map": ("gardener+chat_map=0.08", False),
    "rules_share": ("gardener+rules_share=0", False),
}
"""Name of a setting → the variant to run where there is such a setting and the variant differs by it, and
whether at every budget."""

CHAINED = "chained"
CHAINED_VARIANTS = ("none", "stock", "stock-fixed", "tail", "gardener")
"""Run over all sessions in one chat too, one after the other, to see where a chat ends being usable."""

FILTER = "filter"
"""The variant that passes the messages through another program; run where that is installed."""

WITHOUT_EFFECT = (
    "cli/", "tables", "patches/", "replay/server", "replay/session/check", "replay/session/grammar",
    "replay/session/history", "replay/session/record", "replay/show/",
)  # fmt: skip
"""Beginnings of modules whose code cannot change a replay's figures."""


@dataclass(frozen=True)
class Cell:
    """One replay: `budget` is the history's in tokens, None the variant's own. `then` are sessions that
    follow in the same chat. `model` is the one whose limits hold."""

    path: Path
    session: str
    session_sha256: str
    turns: int
    variant: str
    budget: int | None
    then: tuple[Path, ...] = ()
    model: str = MODEL

    @property
    def name(self) -> str:
        return f"{self.session}/{self.variant}@{self.budget or 'default'}"

    @property
    def key(self) -> str:
        """Changes with whatever the result depends on: code, settings, session, budget, versions."""
        found = variant_named(self.variant)
        gardened = found.settings is not None
        parts: dict[str, Any] = {
            "code": code_hash(gardened=gardened),
            "settings": dict(found.settings or {}),
            "defaults": dataclasses.asdict(Settings()) if gardened else {},
            "session": self.session_sha256,
            "variant": self.variant,
            "budget": self.budget,
            "model": self.model,
            "row": ROW_FORMAT,
            "aider": version_of("aider-chat"),
            "litellm": version_of("litellm"),
        }
        return hashlib.sha256(json.dumps(parts, sort_keys=True, default=str).encode()).hexdigest()[:16]


@lru_cache(maxsize=2)
def code_hash(*, gardened: bool) -> str:
    """A hash over the modules that a replay runs; without the gardener only over those of the replay."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if name.startswith(WITHOUT_EFFECT) or not (gardened or name.startswith("replay/")):
            continue
        digest.update(f"{name}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def variants(*, with_filter: bool) -> list[tuple[str, bool]]:
    """The variants of the full grid, each with whether it is run at every budget."""
    fields = {field.name for field in dataclasses.fields(Settings)}
    optional = [variant for setting, variant in OPTIONAL_ABLATIONS.items() if setting in fields]
    filtered = [FILTER] if with_filter else []
    return [
        *((name, False) for name in (*WITHOUT_BUDGET, *filtered)),
        *((name, True) for name in (*WITH_BUDGET, *ABLATIONS)),
        *optional,
    ]


def cells(
    sessions: Sequence[tuple[Path, Session]],
    *,
    with_filter: bool,
    only_variants: Sequence[str] = (),
    only_budgets: Sequence[int | None] = (),
) -> Iterator[Cell]:
    """The cells in the order in which they are run: the cheapest variants of all sessions first.

    Variants named in `only_variants` need not be among those of the grid. UsageError for unknown ones.
    """
    chosen = variants(with_filter=with_filter)
    if only_variants:
        known = dict(chosen)
        for name in only_variants:
            variant_named(name)
        chosen = [(name, known.get(name, variant_named(name).settings is not None)) for name in only_variants]
    for name, at_every_budget in chosen:
        budgets: Sequence[int | None] = [None]
        if at_every_budget:
            budgets = [*only_budgets] if only_budgets else [None, *BUDGETS]
        for budget in budgets:
            for path, session in sessions:
                yield Cell(path, session.name, session.sha256, session.turn_count, name, budget)


def chained_cells(sessions: Sequence[tuple[Path, Session]], only_variants: Sequence[str] = ()) -> list[Cell]:
    """All sessions as one chat under the variants that are run so; none for a single session."""
    if len(sessions) < 2:
        return []
    first, *rest = (path for path, _ in sessions)
    whole = chained([session for _, session in sessions])
    return [
        Cell(first, CHAINED, whole.sha256, whole.turn_count, variant, None, tuple(rest))
        for variant in CHAINED_VARIANTS
        if not only_variants or variant in only_variants
    ]


def checked_budgets(texts: Sequence[str]) -> list[int | None]:
    """The budgets named on a command line, `default` for the variant's own; UsageError for others."""
    try:
        found = [None if text == "default" else int(text) for text in texts]
    except ValueError as problem:
        raise UsageError(f"--budget: {problem}; name tokens, such as {BUDGETS[0]}, or default") from problem
    if any(tokens is not None and tokens < 1 for tokens in found):
        raise UsageError("--budget: a budget has at least one token")
    return found
