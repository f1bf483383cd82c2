"""The report of a month has its chats, what they cost, what was done and learnt in them, and of no other month."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

import pytest
from gardener.test_account import COMMIT, EDIT, FAILED, PASSED, chat, ran

from aider_gardener.archive.store import Store, open_store
from aider_gardener.gardener import done_tasks, learnt
from aider_gardener.gardener.past_chats import LISTED, Month, MonthObservation, month_report, render_month
from aider_gardener.gardener.report import turn_over
from aider_gardener.plan.usage import Call, Prices

NOVEMBER = datetime(2026, 11, 20, 12).timestamp()
OCTOBER = datetime(2026, 10, 31, 23, 59).timestamp()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Two chats in November, the first of which called a model, and one in the last minute of October."""
    made = open_store(None)
    project = str(tmp_path)
    chat(made, "the old one", "Yes.", session="cccc", at=OCTOBER, project=project)
    gardener = chat(
        made, "make it two", EDIT.format(path="a.py"), COMMIT, "Ok.", ran("pytest", FAILED), "Ok.",
        ran("pytest", PASSED), "Ok.", session="aaaa", at=NOVEMBER, project=project,
    )  # fmt: skip
    gardener.state.usage.add(Call(prompt_tokens=700, completion_tokens=9), Prices(input=1e-3))
    turn_over(gardener.state)
    chat(made, "and now?", "Yes.", session="bbbb", at=NOVEMBER + 9, project=project)
    return made


def read(store: Store, root: Path, month: str = "2026-11") -> Month:
    return month_report(store, str(root), month, clock=lambda: NOVEMBER)


def test_a_month_has_its_own_chats_with_figures_and_what_was_done(store: Store, tmp_path: Path) -> None:
    found = read(store, tmp_path)
    first, second = found.chats
    assert (first.short, first.first_prompt, first.turns) == ("aaaa", "make it two", 4)
    assert (first.prompt_tokens, first.dollars, first.commits, first.files, first.mended) == (
        700,
        0.7,
        1,
        1,
        1,
    )
    assert (second.prompt_tokens, second.commits) == (0, 0)
    assert found.sums["sessions"] == 1 and found.totals == {
        "commits": 1,
        "files": 1,
        "mended": 1,
        "open_errors": 0,
    }
    assert [each.first_prompt for each in read(store, tmp_path, "2026-10").chats] == ["the old one"]


def test_a_month_without_a_chat_says_so(store: Store, tmp_path: Path) -> None:
    assert list(render_month(read(store, tmp_path, "2025-01"))) == [
        "No chat of this project ended in 2025-01."
    ]


def test_tasks_and_observations_of_the_month_are_in_it(store: Store, tmp_path: Path) -> None:
    project = str(tmp_path)
    for number in range(3):
        at = NOVEMBER - number * 86_400
        chat(store, "use httpx, not requests", "Yes.", session=f"d{number}", at=at, project=project)
    for number, text in enumerate(["never log secrets"] * 3):
        chat(store, text, "Yes.", session=f"e{number}", at=NOVEMBER, project=project)
    (tmp_path / "TODO.md").write_bytes(b"- [x] sweep\n")
    moves = done_tasks.moves(store, project, clock=lambda: NOVEMBER)
    done_tasks.apply(store, project, moves, clock=lambda: NOVEMBER)
    first = learnt.learnt(store, project, clock=lambda: NOVEMBER).waiting[0]
    learnt.decide(store, project, first, learnt.TAKEN, NOVEMBER)
    found = read(store, tmp_path)
    assert [text for _day, text in found.tasks] == ["sweep"]
    assert sorted(each.state for each in found.observations) == ["taken", "waiting"]
    text = "\n".join(render_month(found))
    assert (
        "Tasks done\n  2026-11-20 sweep" in text
        and "(waiting, seen in 3 sessions)" in text
        and "(taken)" in text
    )
    october = read(store, tmp_path, "2026-10")
    assert october.tasks == () and october.observations == ()


def test_the_text_begins_with_what_was_sent_and_done(store: Store, tmp_path: Path) -> None:
    lines = list(render_month(read(store, tmp_path)))
    assert lines[0] == "2026-11: 2 chats"
    assert "Sent 700 tokens in 1 call for $0.70" in lines[1]
    assert lines[2] == "1 commit, 1 file edited, by chat; 1 error met and seen to go, 0 not."
    assert lines[4] == "  2026-11-20 aaaa make it two (4 turns, 700 tokens, $0.70, 1 commit)"


def test_of_many_rows_the_last_are_listed() -> None:
    seen = tuple(MonthObservation(str(number), "taken", 0) for number in range(LISTED + 2))
    rows = list(render_month(Month("2026-11", "p", {}, (), seen, ())))
    assert rows[2:5] == ["\nObservations", "  (2 earlier ones)", "  2 (taken)"]
    assert rows[-1] == f"  {LISTED + 1} (taken)" and not any("Chats" in row for row in rows)


def test_it_is_plain_data_too(store: Store, tmp_path: Path) -> None:
    record = read(store, tmp_path).record()
    assert record["totals"]["commits"] == 1 and record["chats"][0]["short"] == "aaaa"
