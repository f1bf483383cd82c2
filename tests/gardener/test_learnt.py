"""Proposals from the sessions of a project: taken ones are rules of later chats, refused ones never come again."""

from __future__ import annotations

from pathlib import Path

import pytest
from gardener.test_account import chat

from aider_gardener.archive.store import Store, open_store
from aider_gardener.errors import UsageError
from aider_gardener.gardener.learnt import (
    HEADING,
    REFUSED,
    TAKEN,
    Learnt,
    Verdict,
    add_conventions,
    announce,
    decide,
    learnt,
    records,
    render,
    taken_rules,
    verdicts,
    with_rule,
)
from aider_gardener.notes.last_chat import when

DAY = 86_400.0
SAID = ("use httpx, not requests", "no, use httpx instead of requests", "I told you: httpx, not requests!")


def told_thrice(store: Store, *said: str, project: str = "p", start: int = 1) -> None:
    """Each of the sentences in a session of its own, a day apart."""
    for number, text in enumerate(said or SAID, start):
        chat(store, text, "Fine.", session=f"s{number}", at=number * DAY, project=project)


def now(store: Store, days: float = 3.0) -> Learnt:
    return learnt(store, "p", clock=lambda: days * DAY)


def test_what_three_sessions_say_is_proposed_with_its_evidence() -> None:
    store = open_store(None)
    told_thrice(store, *SAID[:2])
    assert now(store).waiting == ()
    told_thrice(store, SAID[2], start=3)
    (found,) = now(store).waiting
    assert found.proposal in SAID and [seen.session for seen in found.evidence] == ["s1", "s2", "s3"]
    assert all(store.get(seen.entry_id) for seen in found.evidence)


def test_one_session_counts_once_however_often_it_is_said() -> None:
    store = open_store(None)
    chat(store, *(part for text in SAID for part in (text, "Fine.")))
    assert now(store).waiting == ()


def test_what_is_not_seen_for_28_days_fades_and_comes_back_when_seen_again() -> None:
    store = open_store(None)
    told_thrice(store)
    assert len(now(store, 30.9).waiting) == 1 and len(now(store, 31.1).faded) == 1
    assert now(store, 31.1).waiting == ()
    chat(store, "again: httpx, not requests", "Fine.", session="late", at=32 * DAY)
    assert len(now(store, 33).waiting) == 1


def test_a_taken_rule_stands_in_every_later_chat_and_survives_a_clear() -> None:
    store = open_store(None)
    told_thrice(store)
    decide(store, "p", now(store).waiting[0], TAKEN, 3 * DAY)
    found = now(store)
    assert found.waiting == () and [verdict.proposal for verdict in found.taken] == list(
        taken_rules(store, "p")
    )
    gardener = chat(store, "hello", "Hi.", session="new", at=4 * DAY)
    assert [rule.text for rule in gardener.constraints()] == list(taken_rules(store, "p"))
    assert taken_rules(store, "p")[0] in gardener.map_note(lambda: "")
    gardener.clear()
    assert len(gardener.constraints()) == 1
    gardener.drop_rule(1)
    assert gardener.constraints() == []


def test_a_chat_of_a_project_without_taken_rules_has_no_note() -> None:
    gardener = chat(open_store(None), "hello", "Hi.")
    assert gardener.state.taken == () and gardener.map_note(lambda: "") == ""


def test_what_is_typed_later_wins_over_a_taken_rule() -> None:
    store = open_store(None)
    told_thrice(store)
    decide(store, "p", now(store).waiting[0], TAKEN, 3 * DAY)
    gardener = chat(store, "use requests, not httpx", "Fine.", session="new", at=4 * DAY)
    assert [rule.text for rule in gardener.constraints()] == ["use requests, not httpx"]


def test_a_refused_one_never_comes_again_in_other_words_either() -> None:
    store = open_store(None)
    told_thrice(store)
    decide(store, "p", now(store).waiting[0], REFUSED, 3 * DAY)
    told_thrice(store, "httpx please, not requests", "always use httpx, not requests", start=4)
    assert now(store, 6) == Learnt((), (), ())
    for session in ("s1", "s2"):
        store.forget_session(session)
    assert now(store, 6).waiting == () and taken_rules(store, "p") == ()


def test_what_is_said_of_one_is_not_said_of_another() -> None:
    store = open_store(None)
    told_thrice(store)
    told_thrice(store, *(["never edit an applied migration"] * 3), start=4)
    first, second = now(store, 7).waiting
    decide(store, "p", first, REFUSED, 7 * DAY)
    assert [each.id for each in now(store, 7).waiting] == [second.id]
    decide(
        store, "p", Verdict(second.id, TAKEN, second.kind, "", "in quite other words", 0.0), TAKEN, 8 * DAY
    )
    assert now(store, 7).waiting == ()


def test_nothing_that_a_terminal_obeys_is_listed_or_becomes_a_rule() -> None:
    store = open_store(None)
    told_thrice(store, *(["never log the secrets\x1b[31m of\x07 users\u202e"] * 3))
    found = now(store, 4)
    text = "\n".join(render(store, "p", found)) + found.waiting[0].proposal
    assert "never log the secrets of users" in text and not set(text) & set("\x1b\x07\u202e")


def test_a_taken_rule_can_be_dropped() -> None:
    store = open_store(None)
    told_thrice(store)
    decide(store, "p", now(store).waiting[0], TAKEN, 3 * DAY)
    decide(store, "p", now(store).named("1"), REFUSED, 4 * DAY)
    assert now(store) == Learnt((), (), ()) and [v.verdict for v in verdicts(store, "p")] == [REFUSED]


def test_verdicts_go_with_an_export_and_stay_with_their_project(tmp_path: Path) -> None:
    store = open_store(tmp_path / "shared")
    told_thrice(store)
    decide(store, "p", now(store).waiting[0], TAKEN, 3 * DAY)
    assert taken_rules(store, "elsewhere") == () and store.verify() == []
    store.export(tmp_path / "all.jsonl")
    other = open_store(tmp_path / "other")
    other.import_(tmp_path / "all.jsonl")
    other.import_(tmp_path / "all.jsonl")
    assert taken_rules(other, "p") == taken_rules(store, "p") != ()
    store.close()
    other.close()


def test_an_archive_that_moved_with_its_project_keeps_its_rules(tmp_path: Path) -> None:
    store = open_store(tmp_path / "repo" / ".aider.gardener")
    told_thrice(store, project="/old/place")
    decide(store, "/old/place", learnt(store, "/old/place", clock=lambda: 3 * DAY).waiting[0], TAKEN, 3 * DAY)
    assert len(taken_rules(store, str(tmp_path / "repo"))) == 1
    store.close()


def test_one_is_named_by_its_number_or_its_id() -> None:
    store = open_store(None)
    with pytest.raises(UsageError, match="there is none"):
        now(store).named("1")
    told_thrice(store)
    found = now(store)
    assert found.named("1") == found.named(found.waiting[0].id) == found.waiting[0]
    for given in ("0", "2", "x"):
        with pytest.raises(UsageError, match="numbered from 1 to 1"):
            found.named(given)


def test_the_list_has_what_was_seen_where_and_when() -> None:
    store = open_store(None)
    told_thrice(store)
    lines = list(render(store, "p", now(store)))
    assert lines[0].startswith("1. ") and len(lines) == 4
    assert lines[2].startswith(f"   {when(2 * DAY)}, session s2, turn 1 (g") and lines[2].endswith(SAID[1])
    assert [row["number"] for row in records(now(store))] == [1]
    assert list(render(store, "p", now(store, 40))) == [
        "Nothing was seen in three sessions yet that would make a rule.",
        "1 more not seen for 28 days: --all lists them.",
    ]
    lines = list(render(store, "p", now(store, 40), faded=True))
    assert lines[1] == "1 more not seen for 28 days:" and len(lines) == 6
    found = now(store, 40)
    assert lines[2].endswith(f"[{found.faded[0].id}]") and found.named(found.faded[0].id) == found.faded[0]


@pytest.mark.parametrize(
    ("held", "expected"),
    [
        (b"", b"{h}\n\n- use *httpx*\n"),
        (b"# Mine\n\ntext", b"# Mine\n\ntext\n\n{h}\n\n- use *httpx*\n"),
        (b"# Mine\r\n", b"# Mine\r\n\r\n{h}\r\n\r\n- use *httpx*\r\n"),
        (b"{h}\n\n- one\n\n## Next\n\nx\n", b"{h}\n\n- use *httpx*\n- one\n\n## Next\n\nx\n"),
        (b"x \xff\n", b"x \xff\n\n{h}\n\n- use *httpx*\n"),
    ],
)
def test_a_conventions_file_gets_one_line_more_and_loses_nothing(held: bytes, expected: bytes) -> None:
    def made(text: bytes) -> bytes:
        return text.replace(b"{h}", HEADING.encode()).replace(b"*httpx*", rb"\*httpx\*")

    after = with_rule(made(held), "use *httpx*")
    assert after == made(expected)
    assert with_rule(after, "use *httpx*") == after


def test_the_last_chats_of_each_are_the_same_with_the_same_archive() -> None:
    one, other = open_store(None), open_store(None)
    for store in (one, other):
        told_thrice(store)
        chat(store, "hello", "Hi.", session="z", at=9 * DAY)
    assert records(now(one)) == records(now(other))


def test_each_proposal_is_announced_once_in_each_project(tmp_path: Path) -> None:
    store = open_store(tmp_path / "shared")
    told_thrice(store)
    told_thrice(store, project="q", start=11)
    assert [announce(store, "p", now(store), 0.0) for _ in range(2)] == [1, 0]
    told_thrice(store, *["never log passwords"] * 3, start=4)
    assert announce(store, "p", now(store, 9.0), 0.0) == 1
    assert announce(store, "q", learnt(store, "q", clock=lambda: 13 * DAY), 0.0) == 1
    assert announce(store, "p", Learnt((), (), ()), 0.0) == 0
    store.record_event("project", 0, "observations told", {"project": "p", "ids": "from elsewhere"}, 0.0)
    assert announce(store, "p", now(store, 9.0), 0.0) == 0
    store.close()


def test_each_session_is_read_at_the_given_pace() -> None:
    store = open_store(None)
    told_thrice(store)
    calls: list[None] = []
    assert learnt(store, "p", clock=lambda: 3 * DAY, pace=lambda: calls.append(None)) == now(store)
    assert len(calls) == 3


def test_rules_are_added_to_conventions_once(tmp_path: Path) -> None:
    path = tmp_path / "CONVENTIONS.md"
    assert add_conventions(path, ["use httpx", "no prints"]) == 2
    held = path.read_bytes()
    assert add_conventions(path, ["no prints"]) == 0 and path.read_bytes() == held
    assert held.count(b"- ") == 2
