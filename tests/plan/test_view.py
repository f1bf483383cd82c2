"""Views: legal, honest, exact when full; and each rule of legality, broken and kept."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from made_entries import admit, entry, message, talk, words

from aider_gardener.messages import ContentClass, Entry, Level, Message, Segment, Source, SourceKind
from aider_gardener.plan.chat import Chat, legal, render
from aider_gardener.plan.view import (
    EDIT_WAS,
    FILLER,
    NOTE_HEAD,
    UNDONE,
    Piece,
    edit_line,
    exchanges,
    failed_edits,
    has_edit,
    is_legal,
    members,
)
from aider_gardener.reading.source import infer_source

LEVELS = st.sampled_from(list(Level))
OTHERS = "\n# The other 2 SEARCH/REPLACE blocks were applied successfully.\nDon't re-send them.\n"


def text_of(entry: Entry, level: Level) -> str:
    return entry.content if level is Level.FULL else f"<{level.value} {entry.seq}>"


def chat(*roles_and_texts: tuple[str, str]) -> list[Entry]:
    made = [entry(seq, role, text) for seq, (role, text) in enumerate(roles_and_texts)]
    return [replace(each, source=infer_source(each.role, each.content)) for each in made]


TALK = chat(
    ("user", "u0"),
    ("assistant", "a1"),
    ("user", "ran ls"),
    ("assistant", "Ok."),
    ("user", "u4"),
    ("assistant", "a5"),
)


def shown(levels: dict[int, Level], entries: list[Entry] = TALK) -> list[tuple[str, str]]:
    return [
        (piece.role, piece.content.replace(NOTE_HEAD, "NOTE"))
        for piece in render(Chat({each.seq: each for each in entries}, levels=levels), entries, text_of)
    ]


def test_a_piece_has_the_tokens_of_its_pictures_beside_those_of_its_text() -> None:
    piece = Piece({"role": "user", "content": "a b c"}, {0: Level.FULL})
    piece.image_tokens = 1_000 + 3
    assert piece.tokens(words) == words("a b c") + 1_003


def test_an_edit_without_a_short_form_is_told_as_one() -> None:
    def none_made(entry: Entry, level: Level) -> str:
        raise KeyError(level)

    assert edit_line(TALK[1], none_made) == " → an edit"


def test_a_throttled_message_stands_in_its_own_place_until_its_exchange_is_given_up() -> None:
    cut = frozenset({2})
    whole = render(Chat(levels={2: Level.COMPRESSED}, throttled=cut), TALK, text_of)
    assert [piece.content for piece in whole] == ["u0", "a1", "<compressed 2>", "Ok.", "u4", "a5"]
    assert whole[2].members == (2,)
    lower = render(Chat(levels={2: Level.LINE}, throttled=cut), TALK, text_of)
    assert lower[2].content.startswith(NOTE_HEAD)


WHOLE = [(each.role, each.content) for each in TALK]
ONE_NOTE = "NOTE\n[1] user: <line 0>\n[1] user: <line 2>"


@pytest.mark.parametrize(
    ("levels", "view"),
    [
        ("", WHOLE),
        (
            "ll",
            [("user", "NOTE\n[1] user: <line 0>\n[1] reply: <line 1>"), ("assistant", FILLER), *WHOLE[2:]],
        ),
        ("lhlh", [("user", ONE_NOTE), ("assistant", FILLER), *WHOLE[4:]]),
        ("ffffc", [*WHOLE[:4], ("user", "NOTE\n[1] user: <compressed 4>"), WHOLE[5]]),
        ("hhhh", WHOLE[4:]),
    ],
    ids=["whole", "a note and a filler", "notes in succession", "a reply behind its note", "hidden"],
)
def test_what_stands_of_exchanges_at_each_level(levels: str, view: list[tuple[str, str]]) -> None:
    letters = {level.value[0]: level for level in Level}
    assert shown({at: letters[letter] for at, letter in enumerate(levels) if letter != "f"}) == view


def test_a_reply_whose_question_stands_in_the_list_before_is_no_message_of_its_own() -> None:
    cur = TALK[1:]
    assert render(Chat(levels={}), cur, text_of)[0].role == "assistant"
    behind = render(Chat(levels={}), cur, text_of, answers=False)
    assert [piece.role for piece in behind] == ["user", "assistant", "user", "assistant", "user", "assistant"]
    assert "a1" in behind[0].content and behind[0].members == (1,)


@st.composite
def legal_chats(draw: st.DrawFn) -> list[Entry]:
    found: list[tuple[str, str]] = []
    for number in range(draw(st.integers(0, 8))):
        found.append(("user", f"u{number}"))
        found.append(("assistant", draw(st.sampled_from(["Ok.", f"a{number}"]))))
    if draw(st.booleans()):
        found.append(("user", "open question"))
    return chat(*found)


@settings(max_examples=80, deadline=None)
@given(entries=legal_chats(), data=st.data())
def test_any_view_of_a_legal_chat_is_legal(entries: list[Entry], data: st.DataObject) -> None:
    finished = entries[:-1] if entries and entries[-1].role == "user" else entries
    levels = {e.seq: data.draw(LEVELS) for e in finished}
    pieces = render(Chat(levels=levels), entries, text_of)
    assert is_legal(pieces)
    visible = {
        seq for seq, level in levels.items() if level is not Level.HIDDEN and entries[seq].content != "Ok."
    }
    assert visible <= set(members(pieces))
    for piece in pieces:
        swapped = [s for s in piece.members if levels.get(s, Level.FULL) is not Level.FULL]
        assert piece.role == "user" or not swapped


@pytest.mark.parametrize(
    ("between", "others", "what"),
    [
        ("", "", "not applied"),
        ("I didn't see any properly formatted edits in your reply?!", "", "not applied"),
        ("I committed the changes with git hash 1f2e3d4 & commit msg: a", OTHERS, "applied in part"),
    ],
)
def test_a_note_says_that_an_edit_was_not_applied(between: str, others: str, what: str) -> None:
    failed = f"# 1 SEARCH/REPLACE block failed to match!\n\n## SearchReplaceNoExactMatch: ...\n{others}"
    said = [("user", between), ("assistant", "Ok.")] if between else []
    entries = chat(("user", "u0"), ("assistant", "a block"), *said, ("user", failed), ("assistant", "better"))
    hidden = dict.fromkeys((2, 3) if between else (), Level.HIDDEN)
    texts = shown({1: Level.LINE, **hidden}, entries)
    assert texts[0] == ("user", f"NOTE\n[1] user: u0\n[1] reply, its edit was {what}: <line 1>")


def test_what_the_user_pastes_of_a_failed_edit_is_no_failure_of_the_last_reply() -> None:
    said = chat(
        ("user", "u0"), ("assistant", "a block"), ("user", "# 1 SEARCH/REPLACE block failed to match!")
    )
    assert failed_edits(said) == {1: "not applied"}
    pasted = replace(said[2], source=Source(SourceKind.TYPED))
    assert failed_edits([*said[:2], pasted]) == {}


@pytest.mark.parametrize("hint", ["", "a hint"])
def test_a_hint_stands_in_the_first_note_only(hint: str) -> None:
    start, _added = Chat(hint=hint).sync((talk(("a", "b"), ("c", "d")), talk(("e", "f"))), admit)
    shown = start.shown_at(dict.fromkeys((0, 1, 4, 5), Level.LINE), text_of)
    assert shown.done[0].content.removeprefix(NOTE_HEAD).startswith(f"\n{hint}\n[1]" if hint else "\n[1]")
    assert shown.cur[0].content.startswith(f"{NOTE_HEAD}\n[3]")


def test_the_hosts_own_acknowledgement_is_no_part_of_a_note() -> None:
    pieces = render(Chat(levels={2: Level.LINE}), TALK, text_of)[2:4]
    assert [(piece.content, piece.members) for piece in pieces] == [
        (f"{NOTE_HEAD}\n[1] user: <line 2>", (2,)),
        (FILLER, ()),
    ]


def test_a_note_says_that_an_edit_was_undone() -> None:
    undone = Chat(levels={0: Level.LINE, 1: Level.LINE}, undone={1: UNDONE})
    first = render(undone, TALK, text_of)[0].content
    assert first.endswith(f"[1] {EDIT_WAS}{UNDONE}: <line 1>")


# Legality

U, A = Message("user", "u"), Message("assistant", "a")


def pieces(roles: str) -> list[Piece]:
    return [
        Piece({"role": "user" if role == "u" else "assistant", "content": f"{role}{at}"}, {at: Level.FULL})
        for at, role in enumerate(roles)
    ]


@given(st.text("ua", max_size=6), st.text("ua", max_size=6))
def test_any_lists_become_one_legal_history_and_lose_nothing(first: str, second: str) -> None:
    before = [*pieces(first), *pieces(second)]
    done, cur = legal(Chat(), pieces(first), pieces(second))
    assert is_legal([*done, *cur])
    assert [piece for piece in [*done, *cur] if piece.members] == before
    assert {piece.content for piece in [*done, *cur] if not piece.members} <= {FILLER, NOTE_HEAD}


def test_what_the_host_itself_sends_is_left_as_it_is() -> None:
    three = Chat().sync(([message("user", "u") for _ in range(3)], []), admit)[0]
    done, cur = legal(three, pieces("uu"), pieces("u"))
    assert (done, cur) == (pieces("uu"), pieces("u"))


def test_an_exchange_begins_with_the_first_message_of_the_user_behind_a_reply() -> None:
    spoken = chat(*((role, role) for role in "user user assistant assistant user tool assistant".split()))
    assert [[entry.seq for entry in each] for each in exchanges(spoken)] == [[0, 1, 2, 3], [4, 5, 6]]


def test_only_a_reply_with_an_edit_block_has_an_edit() -> None:
    for cls, role, is_edit in (("edit", "assistant", 1), ("code", "assistant", 0), ("edit", "user", 0)):
        segments = (Segment(0, 1, ContentClass.PROSE), Segment(1, 2, ContentClass(cls)))
        assert has_edit(replace(entry(0, role, "it"), segments=segments)) == is_edit


def test_a_piece_is_counted_once_by_each_counter() -> None:
    asked = list[str]()
    piece = Piece({"role": "user", "content": "it"}, {0: Level.FULL}, None)

    def count(text: str) -> int:
        asked.append(text)
        return 7

    assert [piece.tokens(count), piece.tokens(count), piece.tokens(len)] == [7, 7, 2] and asked == ["it"]


@pytest.mark.parametrize(
    "messages", [[U, U], [U, A, A], [U, Message("assistant", " ")], [U, A, Message("system", "s")], [A, U]]
)
def test_what_breaks_a_rule_is_found(messages: list[Message]) -> None:
    assert not is_legal(messages) and is_legal([U, A, U]) and is_legal([])


def test_a_piece_is_the_hosts_own_until_we_say_that_we_made_it() -> None:
    assert not any(piece.is_note for piece in render(Chat(levels={}), TALK, text_of))
    note, filler, *rest = render(Chat(levels={0: Level.LINE, 1: Level.LINE}), TALK, text_of)
    assert note.is_note and not filler.is_note and not any(piece.is_note for piece in rest)
    assert note == {"role": "user", "content": note.content}, "to the host it is a message like others"
