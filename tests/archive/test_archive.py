"""The archive of one chat: what enters is stored with its shorter forms, and a trial leaves no trace."""

from __future__ import annotations

import pytest
from made_entries import words

from aider_gardener.archive.archive import SWAPS_LOGGED, Archive, cut_line
from aider_gardener.archive.store import open_store
from aider_gardener.messages import ContentClass, Fidelity, Focus, Message, Plan, Rendition, Swap

LOG = "\n".join(
    f"2026-03-01 10:00:{n % 60:02},000 INFO shop.http GET /orders/{n} took={n}ms" for n in range(300)
)
OUTPUT = f"I ran this command:\n\njournalctl\n\nAnd got this output:\n\n{LOG}\n"


@pytest.fixture
def archive() -> Archive:
    return Archive(open_store(None), session="s", project="p", count=words, clock=lambda: 1_000.0)


def test_what_enters_is_stored_with_its_shorter_forms(archive: Archive) -> None:
    entry = archive.add(Message("user", OUTPUT), turn=2, seq=0, focus=Focus())
    assert (entry.session, entry.turn, entry.cls, entry.tokens) == ("s", 2, ContentClass.LOG, words(OUTPUT))
    forms = archive.renditions(entry)
    assert forms.keys() == {Fidelity.COMPRESSED, Fidelity.LINE}
    assert len(forms[Fidelity.LINE].text) < len(forms[Fidelity.COMPRESSED].text) < len(OUTPUT)
    assert archive.store.renditions(entry.id) == forms
    assert archive.text(entry, Fidelity.FULL) == OUTPUT and archive.kept[entry.seq]
    assert archive.store.search_text("orders")


def test_another_rendition_stands_in_place_of_the_one_of_its_fidelity(archive: Archive) -> None:
    entry = archive.add(Message("user", OUTPUT), turn=1, seq=0, focus=Focus())
    archive.put_rendition(entry, Rendition(Fidelity.LINE, "a better line", 3))
    assert archive.text(entry, Fidelity.LINE) == "a better line"
    archive.drop([entry.seq])
    assert archive.text(entry, Fidelity.LINE) == "a better line", "read from the store again"


def test_a_trial_leaves_no_trace(archive: Archive) -> None:
    entry = archive.add(Message("user", OUTPUT), turn=1, seq=0, focus=Focus())
    before = archive.text(entry, Fidelity.LINE)
    with archive.trial():
        archive.put_rendition(entry, Rendition(Fidelity.LINE, "tried", 1))
        archive.add(Message("user", "tried too"), turn=2, seq=1, focus=Focus())
    assert archive.text(entry, Fidelity.LINE) == before
    assert archive.store.stats().entries == 1


def test_of_a_large_plan_the_first_swaps_are_recorded(archive: Archive) -> None:
    swaps = tuple(Swap(f"g{n}", Fidelity.FULL, Fidelity.LINE, 1, "old") for n in range(SWAPS_LOGGED + 50))
    archive.plan_event(3, Plan(swaps, "above the mark", 900, 400))
    (event,) = archive.store.events(kind="plan")
    told = event.data["swaps"]
    assert isinstance(told, list) and len(told) == SWAPS_LOGGED and event.data["tokens_after"] == 400


def test_a_line_is_cut_before_its_id() -> None:
    assert cut_line("a rather long line about the lease [g123]", 12) == "a rather l … [g123]".replace(
        "l …", "l …"
    )
    assert cut_line("short [g123]", 12) == "short [g123]"
    assert cut_line("without an id, however long", 5) == "without an id, however long"
