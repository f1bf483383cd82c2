"""The archive of one chat: what enters is stored with its shorter forms."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest
from made_entries import talk, words
from made_search import found

from aider_gardener.archive.archive import FAILED_NOTICE, Archive, cut_line, is_shared
from aider_gardener.archive.sessions import HOST_KEY
from aider_gardener.archive.store import open_store
from aider_gardener.messages import (
    LONG_CHARS,
    ContentClass,
    Entry,
    Focus,
    Level,
    Message,
    Plan,
    Rendition,
    Source,
    SourceKind,
    Swap,
)
from aider_gardener.plan.chat import Chat
from aider_gardener.plan.view import note_line

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
    assert forms.keys() == {Level.COMPRESSED, Level.LINE}
    assert len(forms[Level.LINE].text) < len(forms[Level.COMPRESSED].text) < len(OUTPUT)
    assert forms[Level.LINE].text.startswith("ran journalctl: "), "what stands first would be cut off"
    assert archive.store.renditions(entry.id) == forms
    assert archive.text(entry, Level.FULL) == OUTPUT
    assert found(archive.store, "orders")


def test_another_rendition_stands_in_place_of_the_one_of_its_level(archive: Archive) -> None:
    entry = archive.add(Message("user", OUTPUT), turn=1, seq=0, focus=Focus())
    archive.put_rendition(entry, Rendition(Level.LINE, "a better line", 3))
    assert archive.text(entry, Level.LINE) == "a better line"
    archive.drop([entry.seq])
    assert archive.text(entry, Level.LINE) == "a better line", "read from the store again"


def chat_in(archive: Archive, *pairs: tuple[str, str]) -> Chat:
    """A chat of these exchanges, stored in the archive."""

    def admit(chat: Chat, new: Message) -> Entry:
        return archive.add(new, turn=1, seq=chat.next_seq, focus=Focus())

    return Chat().sync((talk(*pairs), []), admit)[0]


def test_of_what_is_not_written_no_trace_is_left(archive: Archive) -> None:
    entry = archive.add(Message("user", OUTPUT), turn=1, seq=0, focus=Focus())
    before, stats = archive.text(entry, Level.LINE), archive.store.stats()
    other = archive.unwritten()
    other.put_rendition(entry, Rendition(Level.LINE, "tried", 1))
    added = other.add(Message("user", "tried too"), turn=2, seq=1, focus=Focus())
    other.touch([entry.id])
    other.event(1, "plan", {})
    other.save_value("frame", {"window": 1})
    assert other.text(entry, Level.LINE) == "tried" and other.text(added, Level.FULL) == "tried too"
    assert archive.text(entry, Level.LINE) == before and archive.store.stats() == stats
    assert not archive.store.events() and archive.store.get_state("s", "frame") is None


def test_a_line_is_cut_before_its_id() -> None:
    assert cut_line("a rather long line about the lease [g123]", 12) == "a rather l … [g123]"
    assert cut_line("short [g123]", 12) == "short [g123]"
    assert cut_line("without an id, however long", 5) == "without an id, however long"


def test_line_forms_are_as_short_as_they_are_wanted(archive: Archive) -> None:
    usual = archive.add(Message("user", OUTPUT), turn=1, seq=1, focus=Focus())
    archive.line_chars = 30
    short = archive.add(Message("user", f"2{OUTPUT}"), turn=1, seq=2, focus=Focus())
    lengths = [len(archive.renditions(one)[Level.LINE].text) for one in (usual, short)]
    assert lengths[1] <= 30 + len(f" [{short.id}]") < lengths[0]


def test_whose_chat_it_is_is_written_of_other_agents_alone() -> None:
    store = open_store(None)
    for session, host in (("a", "aider"), ("b", "Codex")):
        Archive(store, session=session, project="p", count=words, clock=lambda: 1.0, host=host)
    assert [store.get_state(session, HOST_KEY) for session in "ab"] == [None, "Codex"]


def test_an_archive_that_lies_in_the_project_is_its_own_and_any_other_is_shared(tmp_path: Path) -> None:
    project = tmp_path / "project"
    for directory, shared in ((None, False), (project / ".aider.gardener", False), (tmp_path / "all", True)):
        assert is_shared(directory, str(project)) is shared
    store = open_store(tmp_path / "all")
    try:
        kept = Archive(store, session="s", project=str(project), count=words, clock=lambda: 1.0)
        assert (kept.within, Archive.reading(store).within) == (str(project), None)
    finally:
        store.close()
    assert Archive(open_store(None), session="s", project="p", count=words, clock=lambda: 1.0).within is None


def test_an_entry_knows_when_and_where_it_was_said(archive: Archive) -> None:
    archive.provider = "openai"
    entry = archive.add(Message("assistant", "The lease is 30 seconds."), turn=2, seq=0, focus=Focus())
    assert (entry.role, entry.source.kind, entry.provider) == ("assistant", SourceKind.REPLY, "openai")
    assert (entry.created_at, entry.accessed_at, entry.access_count) == (1_000.0, 1_000.0, 0)
    assert archive.store.get(entry.id) == entry
    archive.touch([])
    archive.touch([entry.id])
    stored = archive.store.get(entry.id)
    assert stored is not None and stored.access_count == 1
    typed = Source(SourceKind.TYPED)
    assert archive.add(Message("user", OUTPUT), turn=3, seq=1, focus=Focus(), source=typed).source == typed


def test_what_cannot_be_read_or_shortened_stays_whole_and_is_said_once(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = Mock(side_effect=RuntimeError("a fault"))
    assert archive.take_notice() == ""
    monkeypatch.setattr("aider_gardener.reading.segments.segment", broken)
    entry = archive.add(Message("user", OUTPUT), turn=1, seq=0, focus=Focus())
    assert [(part.start, part.end) for part in entry.segments] == [(0, len(OUTPUT))]
    assert archive.add(Message("user", ""), turn=1, seq=1, focus=Focus()).segments == ()
    assert (archive.take_notice(), archive.take_notice()) == (FAILED_NOTICE, "")
    monkeypatch.setattr("aider_gardener.archive.archive.infer_source", broken)
    assert archive.add(Message("user", "What now?"), turn=1, seq=5, focus=Focus()).source == Source()
    monkeypatch.undo()
    for place, kept in (("message.compress_message", set()), ("line.line_form", {Level.COMPRESSED})):
        with monkeypatch.context() as patch:
            patch.setattr(f"aider_gardener.compress.{place}", broken)
            entry = archive.add(Message("user", OUTPUT), turn=2, seq=2 + len(kept), focus=Focus())
        forms = archive.renditions(entry)
        assert archive.store.original(entry.id) == OUTPUT and forms.keys() == {*kept, Level.LINE}
        assert forms[Level.LINE].text.endswith(f" [{entry.id}]") and len(forms[Level.LINE].text) < 200
    assert archive.take_notice() == "", "once is enough"


def test_what_the_store_has_to_say_is_said_once_and_then_what_the_backlog_has(archive: Archive) -> None:
    archive.store.notice = "the archive was begun anew"  # type: ignore[misc]  # reason: as after damage
    assert (archive.take_notice(), archive.take_notice()) == ("the archive was begun anew", "")


def test_shorter_forms_count_the_tokens_that_they_cost_in_a_note(archive: Archive) -> None:
    entry = archive.add(Message("user", OUTPUT), turn=1, seq=0, focus=Focus())
    for form in archive.renditions(entry).values():
        assert form.tokens == words(note_line(entry, form.text)) + 1


def test_what_is_kept_of_a_text_with_a_secret_is_made_without_it(archive: Archive) -> None:
    secret = "ghp_" + "Ab3dEf6hIj9kLm2nOp5qRs8tUv1wXy4zAb3d"
    text = f"Use this:\n\n```python\nTOKEN = '{secret}'\n```\n\nand then tell me whether it works."
    command = Source(SourceKind.COMMAND, f"curl -H 'Authorization: token {secret}'")
    entry = archive.add(Message("user", text), turn=1, seq=0, focus=Focus())
    clean = archive.without_secrets(entry)
    assert secret in entry.content and secret not in clean.content
    assert "".join(entry.content[part.start : part.end] for part in entry.segments) == text
    assert "".join(clean.content[part.start : part.end] for part in clean.segments) == clean.content
    assert [clean.content[part.start :][:5] for part in clean.segments] == [
        entry.content[part.start :][:5] for part in entry.segments
    ]
    ran = archive.without_secrets(
        archive.add(Message("user", "ok"), turn=2, seq=1, focus=Focus(), source=command)
    )
    assert "curl" in ran.source.detail and secret not in ran.source.detail
    plain = archive.add(Message("user", "nothing to hide"), turn=3, seq=2, focus=Focus())
    assert archive.without_secrets(plain) is plain


def test_after_damage_the_archive_has_again_what_the_chat_still_knows(
    archive: Archive, monkeypatch: pytest.MonkeyPatch
) -> None:
    entry = archive.add(Message("user", OUTPUT), turn=1, seq=0, focus=Focus())
    fresh = open_store(None)
    archive.store = fresh
    archive.add_again([entry])
    assert fresh.get(entry.id) is None, "nothing was lost, so nothing is written"
    monkeypatch.setattr(fresh, "generation", 1)
    archive.add_again([entry])
    assert fresh.original(entry.id) == OUTPUT and found(fresh, "orders")
    assert fresh.renditions(entry.id) == archive.renditions(entry)
    (session,) = fresh.sessions("p")
    assert (session.id, session.started_at) == ("s", 1_000.0)


def test_what_the_host_takes_out_is_inactive_until_it_puts_it_back(archive: Archive) -> None:
    chat = chat_in(archive, ("one", "two"))

    def active() -> list[bool]:
        return [entry.active for entry in archive.store.session_entries("s")]

    without_first, without_second = replace(chat, order=(1,)), replace(chat, order=(0,))
    archive.set_active(chat, without_first)
    assert active() == [False, True]
    archive.set_active(without_first, without_second)
    assert active() == [True, False]


def test_a_plan_is_recorded_with_its_marks_and_every_swap(archive: Archive) -> None:
    before = chat_in(archive, *((f"question {n}", f"answer {n}") for n in range(400)))
    after = before.shown_at(dict.fromkeys(range(700), Level.HIDDEN), archive.text)
    first = before.entries[0].id
    marks = {"high": 800, "low": 400, "hard": 0, "passed": "high"}
    swap = Swap(first, Level.FULL, Level.HIDDEN, 5, "old")
    archive.plan_event(before, after, Plan((swap,), "above the mark", 900, 400, 70, marks))
    archive.swaps_event(after, before, "undo", {})
    (plan,), (undo,) = archive.store.events(kind="plan"), archive.store.events(kind="undo")
    assert {name: plan.data[name] for name in ("reason", "tokens_after", "marks")} == {
        "reason": "above the mark",
        "tokens_after": 400,
        "marks": marks,
    }
    swaps = plan.data["swaps"]
    assert isinstance(swaps, list) and len(swaps) == 700
    assert swaps[0] == {"entry_id": first, "seq": 0, "before": "full", "after": "hidden", "reason": "old"}
    assert [row["reason"] for row in undo.data["swaps"]] == ["undo"] * 700
    assert undo.data.keys() == {"swaps", "entry_ids"}


def test_a_very_long_text_is_stored_at_once_and_its_middle_found_later(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    archive = Archive(store, session="s", project="p", count=words, clock=lambda: 1_000.0)
    token = "ghp_" + "Zq8rT2mWx5Kc9Ld3Bv7N" + "p4Hs6Jf1Yg0A"
    half = "".join(f"job {n:07d} of the night run went on\n" for n in range(LONG_CHARS // 60))
    text = f"{half}The quartzite shipment left Narvik.\ngithub: {token}\n{half}"
    message = Message("user", f"I ran this command:\n\nmake\n\nAnd got this output:\n\n{text}")
    stored = archive.add(message, turn=1, seq=1, focus=Focus())
    kept = store.original(stored.id)
    assert len(text) > LONG_CHARS and kept is not None and kept.count("[redacted:token:") == 1
    assert kept.split("[redacted:token:")[0] == message.content.split(token)[0]
    assert kept.endswith(half) and len(store.renditions(stored.id)[Level.COMPRESSED].text) < 10_000

    def holding(word: str) -> list[tuple[int, int]]:
        found = store.evidence([word])
        return [(int(found.starts[at]), int(found.ends[at])) for at in found.has_word[0].nonzero()[0]]

    assert holding("narvik") == [] and holding("command")
    assert all(p.end - p.start <= 4_000 for p in store.vectors_pending(10_000, "none"))
    while store.work_off(200):
        pass
    ((start, end),) = holding("narvik")
    assert "left Narvik." in kept[start:end] and end - start < 1_000
    evidence = store.evidence(["job"])
    covered = "".join(kept[a:b] for a, b in zip(evidence.starts, evidence.ends, strict=True))
    assert "".join(covered.split()) == "".join(kept.split())


@pytest.mark.parametrize("source", [None, Source(SourceKind.COMMAND, "gardener recall port")])
def test_what_our_own_commands_show_is_no_original_of_the_shells(
    archive: Archive, source: Source | None
) -> None:
    ran = "I ran this command:\n\ngardener recall port\n\nAnd got this output:\n\n> The port is 9317.\n"
    shown = archive.add(Message("user", ran), turn=1, seq=0, focus=Focus(), source=source)
    assert shown.source == Source(SourceKind.STUB, "gardener recall port")
    other = Source(SourceKind.COMMAND, "gardener run -- cat port")
    assert archive.add(Message("user", "9317"), turn=2, seq=1, focus=Focus(), source=other).source == other
