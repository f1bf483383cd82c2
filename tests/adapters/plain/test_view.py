"""What stands of a list: places, notes between, and turns that alternate."""

from __future__ import annotations

from dataclasses import replace

from aider_gardener.adapters.plain.view import Drawing, mark
from aider_gardener.messages import ContentClass, Entry, Fidelity, Source, SourceKind
from aider_gardener.plan.chat import Chat
from aider_gardener.plan.view import FILLER, NOTE_HEAD, Piece


def entry(seq: int, role: str = "user", content: str = "words") -> Entry:
    kind = SourceKind.TYPED if role == "user" else SourceKind.REPLY
    return Entry(f"g{seq:09x}", "s", 1, seq, role, content, Source(kind), ContentClass.PROSE, (), 4)


def drawing(fidelity: dict[int, Fidelity]) -> Drawing:
    return Drawing(Chat(fidelity=fidelity), lambda entry, level: f"{level.value} {entry.seq}")


def piece(role: str, text: str) -> Piece:
    return Piece({"role": role, "content": text})


def roles(drawn: Drawing) -> list[str]:
    drawn.flush()
    return [piece.role for piece in drawn.pieces]


def test_a_note_stands_in_the_users_role_and_gets_an_acknowledgement() -> None:
    drawn = drawing({1: Fidelity.LINE, 2: Fidelity.HIDDEN})
    drawn.leave([entry(1), entry(2, "assistant")])
    drawn.stand([piece("user", "now")])
    assert [(p.role, p.content) for p in drawn.pieces] == [
        ("user", f"{NOTE_HEAD}\n[1] user: line 1"),
        ("assistant", FILLER),
        ("user", "now"),
    ]


def test_an_acknowledgement_is_not_worth_a_line() -> None:
    drawn = drawing({1: Fidelity.LINE})
    drawn.leave([entry(1), entry(2, "assistant", FILLER)])
    assert [item.seq for item in drawn.noted()] == [1]


def test_between_a_result_and_the_users_words_an_acknowledgement_takes_the_place_of_what_is_gone() -> None:
    drawn = drawing({2: Fidelity.HIDDEN})
    drawn.stand([piece("assistant", "calls"), piece("tool", "result")])
    drawn.leave([entry(2, "assistant")])
    drawn.stand([piece("user", "now")])
    assert roles(drawn) == ["assistant", "tool", "assistant", "user"]


def test_calls_whose_question_is_gone_follow_an_empty_note() -> None:
    drawn = drawing({0: Fidelity.HIDDEN})
    drawn.leave([entry(0)])
    drawn.stand([piece("assistant", "calls"), piece("tool", "result")])
    assert roles(drawn) == ["user", "assistant", "tool"] and drawn.pieces[0].content == NOTE_HEAD


def test_what_follows_without_a_gap_stays_as_the_agent_has_it() -> None:
    drawn = drawing({})
    for role in ("assistant", "user", "user", "assistant", "assistant"):
        drawn.stand([piece(role, "x")])
    assert roles(drawn) == ["assistant", "user", "user", "assistant", "assistant"]


def test_a_question_reads_well_where_its_answer_stands_and_a_reply_where_something_is_before_it() -> None:
    drawn = drawing({5: Fidelity.LINE, 6: Fidelity.HIDDEN})
    assert drawn.reads_well(entry(1), followed=True) and not drawn.reads_well(entry(1), followed=False)
    assert drawn.reads_well(entry(2, "assistant"), followed=True)
    drawn.leave([entry(6)])
    assert not drawn.reads_well(entry(2, "assistant"), followed=True)
    drawn.leave([entry(5)])
    assert drawn.reads_well(entry(2, "assistant"), followed=True)


def test_the_mark_of_a_hidden_result_is_its_shortest_form_or_says_where_the_whole_is() -> None:
    forms = {Fidelity.LINE: "l" * 500, Fidelity.COMPRESSED: "3 passed"}
    assert mark(entry(7), lambda _e, level: forms[level]) == "3 passed"
    del forms[Fidelity.COMPRESSED]
    assert mark(entry(7), lambda _e, level: forms[level]) == "[… left out; whole: g000000007]"
    assert mark(replace(entry(7), id=""), lambda _e, _level: "") == "[… left out]"
