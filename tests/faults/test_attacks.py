"""The attacks of bench/attacks on a running chat, each for some seconds: kills, faltering file systems, torn
logs, clocks that jump, and two repositories in one archive."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from itertools import cycle
from pathlib import Path

import pytest

from aider_gardener.archive.store import open_store
from bench.attacks import commands, foreign, kills, locks
from bench.attacks.chat import Played, question, reply, stored

KILLS = int(os.environ.get("GARDENER_TEST_KILLS", "3"))
YEAR = 365 * 86_400.0

PLAY = """
import sys
from pathlib import Path
from bench.attacks.chat import Played
directory, name, project, turns = sys.argv[1:]
chat = Played(Path(directory), name=name, project=project)
chat.play(int(turns))
assert chat.notices == [], chat.notices
chat.close()
"""


def all_said(name: str, turns: int) -> list[str]:
    return [text for turn in range(turns) for text in (question(name, turn), reply(name, turn))]


@pytest.mark.skipif(os.name == "nt", reason="a killed process tells of it by its return code on POSIX")
def test_chats_killed_at_random_moments_lose_nothing() -> None:
    *_, found = kills.killed(KILLS, seed=11)
    assert (found["lost"], found["faults"]) == (0, {}) and found["messages acknowledged"] > 0


@pytest.mark.skipif(os.name == "nt", reason="a killed process tells of it by its return code on POSIX")
@pytest.mark.parametrize("place", kills.PLACES)
def test_power_lost_between_archiving_and_swapping(tmp_path: Path, place: str) -> None:
    found = kills.one_kill(tmp_path, 3, seed=1, place=place)
    assert (found.lost, found.faults) == ([], []) and found.acknowledged > 0


@pytest.mark.skipif(os.name == "nt", reason="a killed process tells of it by its return code on POSIX")
def test_chats_and_commands_killed_beside_each_other_lose_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(commands.VARIABLE, "")  # it sets its own
    found = commands.attack(1, seed=5)
    assert (found["lost"], found["faults"]) == (0, {}) and found["messages acknowledged"] > 0


@pytest.mark.skipif(os.name == "nt", reason="an open file can be neither removed nor moved there")
def test_what_other_programs_do_to_an_open_archive_is_survived_or_said() -> None:
    acts = (
        "VACUUM", "git clean -fdx", "folder renamed and back", "folder replaced by its copy",
        "-wal and -shm removed", "-shm removed",
    )  # fmt: skip
    found = foreign.attack(len(acts), 3, acts)
    assert (found["lost of open chats"], found["untold"], found["stuck"], found["ended"]) == (0, 0, 0, 0)
    assert found["by act"]["-shm removed"]["lost"] == found["by act"]["VACUUM"]["lost"] == 0


def test_a_log_torn_behind_the_last_commit(tmp_path: Path) -> None:
    """Power lost while a frame was written: whatever stands behind what was synced, nothing synced is lost."""
    chaos = random.Random(7)
    chat = Played(tmp_path / "live")
    for turn in range(4):
        chat.turn()
        copied = tmp_path / f"copy{turn}"
        copied.mkdir(mode=0o700)
        for ending in ("", "-wal"):
            data = (tmp_path / "live" / f"gardener.db{ending}").read_bytes()
            torn = chaos.randbytes(chaos.randrange(1, 9_000)) if ending else b""
            (copied / f"gardener.db{ending}").write_bytes(data + torn)
        assert stored(copied) == all_said("s", turn + 1)
    chat.close()


@pytest.mark.parametrize("first", range(1, 7))
def test_a_file_system_that_falters(tmp_path: Path, first: int) -> None:
    for at in range(first, 260, 67):
        found = locks.attempt(tmp_path / str(at), at)
        assert found["statement"] and not found["raised"] and not found["problems"], found
        assert found["lost"] == 0 and found["notices"] <= 2, found


def test_a_file_system_that_falters_for_long(tmp_path: Path) -> None:
    found = locks.attempt(tmp_path, 200, times=10)
    assert (found["raised"], found["lost"], found["problems"]) == ("", 0, [])
    assert 1 <= found["notices"] <= 2


def test_a_clock_that_jumps_by_years(tmp_path: Path) -> None:
    """Back and forth between turns and between sessions: order goes by number, nothing waits for the future."""
    for session, jumps in enumerate([(0.0, YEAR, -YEAR), (-YEAR, 0.0, 5 * YEAR), (0.0, -2 * YEAR, 0.0)]):
        ticks = cycle(1.8e9 + jump for jump in jumps)
        chat = Played(tmp_path, name=f"s{session}", clock=lambda ticks=ticks: next(ticks))  # type: ignore[misc]  # reason: bound now
        chat.play(8)
        assert chat.notices == [] and chat.gardener.state.plans
        assert chat.gardener.recall("setting_2") and chat.undo() > 0
        chat.close()
        assert stored(tmp_path, f"s{session}") == all_said(f"s{session}", 8)
    store = open_store(tmp_path)
    assert [info.id for info in store.sessions("p")] == ["s0", "s1", "s2"]
    store.close()


def test_a_session_from_the_future_does_not_live_until_then(tmp_path: Path) -> None:
    store = open_store(tmp_path, clock=lambda: 1.8e9)
    store.open_session("wrong", project="p", started_at=1.8e9 + YEAR)
    store.close()
    store = open_store(tmp_path, clock=lambda: 1.8e9)
    store.open_session("right", project="p", started_at=1.8e9)
    assert store.live_sessions() == {"right"}
    store.close()


def test_two_repositories_share_one_archive(tmp_path: Path) -> None:
    children = [
        subprocess.Popen(
            [sys.executable, "-c", PLAY, str(tmp_path), name, f"/repo/{name}", "8"], stderr=subprocess.PIPE
        )
        for name in ("red", "blue")
    ]
    errors = [child.communicate(timeout=120)[1] for child in children]
    assert [child.returncode for child in children] == [0, 0], errors
    for name in ("red", "blue"):
        assert stored(tmp_path, name) == all_said(name, 8)
    chat = Played(tmp_path, name="later", project="/repo/red")
    found = chat.gardener.recall("What was setting_2 of blue, and widget blue-3 of red?", token_limit=5_000)
    assert {item.session for item in found} == {"red"}
    assert "blue" not in {info.id for info in chat.store.sessions("/repo/red")}
    chat.close()
