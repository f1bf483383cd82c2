"""The coder of a replay is made as aider's own start makes it, with the options that were asked for."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest

from aider_gardener.replay.play import host
from aider_gardener.replay.play.host import ReplayIO
from aider_gardener.replay.play.recorded import Recorded
from aider_gardener.replay.play.sandbox import make_repository
from aider_gardener.replay.play.variants import Job
from aider_gardener.replay.session.history import load_session

MINI = Path(__file__).parents[2] / "data" / "sessions" / "mini"


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes a coder for a model with these options."""
    monkeypatch.setenv("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    session = load_session(MINI)
    root = make_repository(tmp_path, session.repo0, 1_704_103_200.0)
    monkeypatch.chdir(root)

    def make(model: str, **options: Any) -> Any:
        from aider.models import Model

        return host.make_coder(
            session, Job(session, "none", **options), Model(model), ReplayIO(Recorded(session, [])), root
        )

    return make


def test_with_cache_prompts_the_map_is_refreshed_by_files_and_marks_are_set(made: Any) -> None:
    before = threading.active_count()
    coder = made("claude-sonnet-4-20250514", cache_prompts=True)
    assert (coder.repo_map.refresh, coder.add_cache_headers, coder.num_cache_warming_pings) == (
        "files",
        True,
        0,
    )
    assert coder.warm_cache(None) is None and threading.active_count() == before, "no cache is kept warm"
    plain = made("claude-sonnet-4-20250514")
    assert (plain.repo_map.refresh, plain.add_cache_headers) == ("auto", False)
    unmarked = made("gpt-4o", cache_prompts=True)
    assert (unmarked.repo_map.refresh, unmarked.add_cache_headers) == ("files", False)


def test_the_map_has_the_models_budget(made: Any) -> None:
    assert made("gpt-4o").repo_map.max_map_tokens == 4096
