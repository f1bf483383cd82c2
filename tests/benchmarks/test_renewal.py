"""What the measurement of the index builds: as many sessions as asked for, of which no two say the same."""

from __future__ import annotations

import json
from pathlib import Path

from test_layering import FOLDER

from aider_gardener.archive.sessions import project_sessions
from bench.renewal import PROJECT, RESULTS, SESSIONS, filled, main, measured

RECORDED = FOLDER.parent / "recorded_sessions"


def test_the_archive_has_that_many_sessions_and_nothing_twice(tmp_path: Path) -> None:
    store = filled(tmp_path, 3, [RECORDED / "till-log", RECORDED / "form-forge"])
    infos = project_sessions(store, PROJECT)
    assert [info.id for info in infos] == ["till-log-1", "form-forge-0", "till-log-0"]
    told = [{entry.id for entry in store.session_entries(info.id)} for info in infos]
    assert len(told[0]) == len(told[2]) and not told[0] & told[2]
    cost = measured(store)
    assert (cost.sessions, cost.listed) == (3, 3) and 0 < cost.step <= cost.index + cost.observations
    store.close()


def test_it_runs_and_keeps_what_it_measured(tmp_path: Path) -> None:
    assert main(["--sessions", "1", "--json", str(tmp_path / "r.json")]) == 0
    value = json.loads((tmp_path / "r.json").read_text("utf-8"))
    assert value["kind"] == "renewal" and [cost["sessions"] for cost in value["costs"]] == [1]


def test_the_committed_results_have_every_size() -> None:
    value = json.loads(RESULTS.read_text("utf-8"))
    assert tuple(cost["sessions"] for cost in value["costs"]) == SESSIONS
