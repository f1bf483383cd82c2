"""One replay to do, as it is handed to a process."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aider_gardener.replay.session.session import Session


@dataclass(frozen=True)
class Job:
    """A session under a variant.

    `map_tokens` is the budget of the repository map, None for the model's; `cache_prompts` runs aider with
    `--cache-prompts`. `settings` are the gardener's, beside those of the variant. `dump_dir` is where
    prompts go, as `<session>/<variant>/<turn>-<n>.json`. `page` asks for a result whose texts may be shown,
    `texts` for the texts of all prompts (some megabytes). `imports` are modules to import first: one may
    bring further variants.
    """

    session: Session
    variant: str
    model: str = "gpt-4o"
    history_tokens: int | None = None
    map_tokens: int | None = None
    cache_prompts: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
    dump_dir: Path | None = None
    page: bool = False
    texts: bool = False
    imports: tuple[str, ...] = ()
