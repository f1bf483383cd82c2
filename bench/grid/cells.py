"""The cells of the grid: which sessions, variants and budgets are replayed, and when a result is stale."""

from __future__ import annotations

import ast
import dataclasses
import hashlib
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version as version_of
from pathlib import Path
from typing import Any

from aider_gardener.replay.play.variants import variant_named
from aider_gardener.replay.session.session import Session
from aider_gardener.settings import Settings
from bench import variants as further
from bench.chain import chained
from bench.grid.asked import LONG_TURNS

PACKAGE = Path(__file__).resolve().parents[2] / "aider_gardener"
MODEL = "gpt-4o"
ROW_FORMAT = 3
"""Of what is kept of a cell: a kept cell of another format is run again."""

BUDGETS = (4_000, 8_000, 16_000)
"""Of the history, in tokens; the host's own limit is 8,000 with a window of 128,000."""

WITHOUT_BUDGET = ("none", "no-history", "stock", "stock-fixed", "mask10")
"""Run once, at the host's own limit. `stock-fixed` too: its summaries were recorded at that limit."""

WITH_BUDGET = ("tail", "tail-search", "tail-search-as-order", "gardener", "gardener-as-order")
ABLATIONS = ("gardener-no-recall", "gardener-no-vectors", "gardener-no-compress", "gardener-oldest-first")

CHAINED = "chained"
CHAINED_VARIANTS = ("stock", "stock-fixed", "tail-search", "gardener")
"""Run over all sessions in one chat too, one after the other, to see where a chat ends being usable."""

SMALL_WINDOWS: Mapping[str, int] = {"gpt-4": 8_191, "gpt-3.5-turbo-16k": 16_385, "gpt-4-32k": 32_768}
"""Models by name and the tokens of their windows, in which the long sessions are replayed too."""
IN_SMALL_WINDOWS = ("stock", "tail-search", "gardener")

WITHOUT_EFFECT = (
    "adapters/claude_code/", "adapters/mcp/",
    "adapters/plain/", "cli/", "gardener/past_chats", "gardener/done_tasks", "gardener/files",
    "gardener/memory", "patches/", "phrases",
    "recall/hits", "replay/play/report",
    "replay/session/grammar", "replay/session/history", "replay/session/record", "replay/show/", "tables",
)  # fmt: skip
"""Beginnings of modules whose code cannot change a replay's figures: what people see and type."""


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
        model = "" if self.model == MODEL else f" with {self.model}"
        return f"{self.session}/{self.variant}@{self.budget or 'default'}{model}"

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


PARSING = threading.Lock()
"""CPython 3.11 counts the depth of what it parses for all threads together, and may take two for a fault."""


@lru_cache(maxsize=2)
def code_hash(*, gardened: bool) -> str:
    """A hash over the code that a replay runs, comments and docstrings aside; without the gardener only over
    that of the replay."""
    digest = hashlib.sha256()
    for path in sorted(PACKAGE.rglob("*.py")):
        name = path.relative_to(PACKAGE).as_posix()
        if name.startswith(WITHOUT_EFFECT) or not (gardened or name.startswith("replay/")):
            continue
        digest.update(f"{name}\0".encode() + code_of(path).encode())
    digest.update(code_of(Path(further.__file__)).encode())
    return digest.hexdigest()


def code_of(path: Path) -> str:
    """What a module does, whatever its layout, comments and docstrings."""
    with PARSING:
        tree = ast.parse(path.read_bytes())
    for node in ast.walk(tree):
        body = vars(node).get("body")
        if isinstance(body, list):
            vars(node)["body"] = [part for part in body if not is_text(part)]
    return ast.dump(tree)


def is_text(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def variants() -> list[tuple[str, bool]]:
    """The variants of the full grid, each with whether it is run at every budget."""
    return [
        *((name, False) for name in (*WITHOUT_BUDGET, *ABLATIONS)),
        *((name, True) for name in WITH_BUDGET),
    ]


def cells(
    sessions: Sequence[tuple[Path, Session]],
    *,
    only_variants: Sequence[str] = (),
) -> Iterator[Cell]:
    """The cells in the order in which they are run: the cheapest variants of all sessions first.

    Variants named in `only_variants` need not be among those of the grid. UsageError for unknown ones.
    """
    chosen = variants()
    if only_variants:
        known = dict(chosen)
        for name in only_variants:
            variant_named(name)
        chosen = [(name, known.get(name, variant_named(name).settings is not None)) for name in only_variants]
    for name, at_every_budget in chosen:
        budgets: Sequence[int | None] = [None]
        if at_every_budget:  # a baseline's own budget is one of them
            budgets = BUDGETS if variant_named(name).settings is None else [None, *BUDGETS]
        for budget in budgets:
            for path, session in sessions:
                yield Cell(path, session.name, session.sha256, session.turn_count, name, budget)


def small_window_cells(
    sessions: Sequence[tuple[Path, Session]], only_variants: Sequence[str] = ()
) -> list[Cell]:
    """The long sessions with models of small windows, at the host's own limits."""
    return [
        Cell(path, session.name, session.sha256, session.turn_count, variant, None, model=model)
        for variant in IN_SMALL_WINDOWS
        if not only_variants or variant in only_variants
        for model in SMALL_WINDOWS
        for path, session in sessions
        if session.turn_count >= LONG_TURNS
    ]


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
