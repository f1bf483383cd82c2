"""What is recalled unasked earns its tokens, beside what stands in the prompt and what was taken already."""

from __future__ import annotations

from dataclasses import replace

import pytest
from made_entries import entry as made
from made_entries import make_gardener, talk, words

from aider_gardener.gardener.compactions import show
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.messages import ContentClass, Level, Segment
from aider_gardener.plan.view import EDIT_WAS, UNDONE
from aider_gardener.reading.source import NOTE_END
from aider_gardener.recall import recall
from aider_gardener.recall.finding import Passage
from aider_gardener.recall.recall import Recalled
from aider_gardener.recall.request import Request

QUESTION = "On which day does the escrow account close after the reconciliation job?"
ANSWER = "The escrow account closes on the 17th, after the reconciliation job of that day."
NOISE = "Part {n} of the importer reads its rows from file {n} and skips what is blank."


def chat() -> Gardener:
    """A chat whose first exchange, with the answer, is hidden."""
    gardener = make_gardener()
    rows = [("about the escrow account", ANSWER), *((f"part {n}", NOISE.format(n=n)) for n in range(1, 7))]
    gardener.sync(talk(*rows), [])
    show(gardener.state, {0: Level.HIDDEN, 1: Level.HIDDEN}, "made")
    return gardener


def test_a_question_that_gets_no_note_leaves_its_cause() -> None:
    def causes(gardener: Gardener) -> list[tuple[object, bool]]:
        events = gardener.state.archive.store.events(kind="not recalled")
        return [(event.data["all_stands"], event.data["room"] > 0) for event in events]

    standing = make_gardener()
    standing.sync(talk(("about the escrow account", ANSWER)), [])
    assert standing.recall_note(QUESTION, "") == "" and causes(standing) == [(True, True)]
    hidden = chat()
    assert hidden.recall_note(QUESTION, "") and causes(hidden) == []
    assert hidden.recall_note("why?", "") == "" == hidden.recall_note("xyz, write the xyzzy", "")
    assert causes(hidden) == [(False, True)]
    off = chat()
    off.state.on = False
    assert off.recall_note(QUESTION, "") == "" == off.recall_note("why?", "") and causes(off) == []
    mute = make_gardener(recall_tokens=0)
    mute.sync(talk(("about the escrow account", ANSWER), ("go on", "done")), [])
    show(mute.state, {0: Level.HIDDEN, 1: Level.HIDDEN}, "made")
    assert mute.recall_note(QUESTION, "") == "" and causes(mute) == [(False, False)]


def test_a_question_in_other_words_gets_what_fits_best_and_an_order_nothing() -> None:
    hidden = chat()
    assert "17th" in hidden.recall_note("until when must treuhand money be wired?", "")
    assert hidden.recall_note("wire all treuhand money", "") == ""


EDIT = """The escrow account closes on the 18th now.

fees.py
```python
<<<<<<< SEARCH
ESCROW_DAY = 17
=======
ESCROW_DAY = 18  # the escrow account closes after the reconciliation job
>>>>>>> REPLACE
```
"""
ORDER = "make the escrow account close after the reconciliation job"
FAILED = (
    "# 1 SEARCH/REPLACE block failed to match!\n\n## SearchReplaceNoExactMatch: nothing like it in fees.py"
)


@pytest.mark.parametrize("undone", [True, False])
def test_code_of_an_edit_that_does_not_stand_is_no_evidence(undone: bool) -> None:
    def hidden(said: list[tuple[str, str]]) -> Gardener:
        gardener = make_gardener()
        rows = [*said, *((f"part {n}", NOISE.format(n=n)) for n in range(1, 7))]
        gardener.sync(talk(*rows), [])
        return gardener

    after = [("I committed the changes with git hash cfd9539 & commit msg: a", "Ok.")]
    no_edit = ("I didn't see any properly formatted edits in your reply?!", "Ok.")
    after = after if undone else [no_edit, (FAILED, "I see.")]
    gardener = hidden([("move the escrow account", EDIT), *after])
    if undone:
        gardener.edit_undone("cfd9539")
    show(gardener.state, dict.fromkeys(range(4), Level.HIDDEN), "made")
    ordered = gardener.recall_note(ORDER, "")
    assert "closes on the 18th now" in ordered and "ESCROW_DAY = 18" not in ordered
    for asked in (gardener.recall_note(QUESTION, ""), recall.recall_note(gardener.recall(QUESTION))):
        assert "ESCROW_DAY = 18" in asked, "who asks for it may see it"
        assert ("its edit was undone" if undone else "its edit was not applied") in asked
    stands = hidden([("move the escrow account", EDIT)])
    show(stands.state, dict.fromkeys(range(2), Level.HIDDEN), "made")
    assert "ESCROW_DAY = 18" in stands.recall_note(ORDER, "")


def test_nothing_is_found_without_words_or_room() -> None:
    gardener = chat()
    for query, tokens in (("", 1_000), ("?!", 1_000), (QUESTION, 0), (QUESTION, -5)):
        assert gardener.recall(query, token_limit=tokens) == []
    assert make_gardener().recall(QUESTION) == [], "an empty chat in an empty archive"
    assert gardener.recall_note("thanks, looks good, go ahead", "") == "", "small talk asks for nothing"


def test_no_more_passages_come_than_are_wanted_nor_more_than_fit() -> None:
    gardener = chat()
    many = gardener.recall("the importer reads rows from a file")
    assert len(many) > 3
    assert [item.text for item in gardener.recall("the importer reads rows from a file", limit=2)] == [
        item.text for item in many[:2]
    ]
    letters = " ".join("abcdefghijklmnopqrstuvwxyz")  # many tokens in few characters
    gardener.sync(talk(*((f"letters {n}", f"{letters} of importer {n}") for n in range(4))), [])
    for room in range(25, 150, 5):
        few = gardener.recall("letters of the importer", token_limit=room)
        note = recall.recall_note(few, session="s", head="", with_ids=False).removesuffix(NOTE_END)
        assert words(note) <= room
    assert len(few) > 1


def test_the_whole_message_comes_where_it_fits_and_the_passage_where_it_does_not() -> None:
    gardener = make_gardener()
    long = f"{ANSWER}\n\n" + "\n\n".join(NOISE.format(n=n) + " It goes on." * 20 for n in range(20))
    gardener.sync(talk(("about the escrow account", long), ("go on", "yes")), [])
    (first, *_rest) = gardener.recall(QUESTION)
    assert ANSWER in first.text and len(first.text) < len(long)
    whole, *others = gardener.recall(QUESTION, full=True, token_limit=5_000)
    assert (whole.text, whole.start, whole.end) == (long, 0, len(long))
    assert whole.entry_id not in [item.entry_id for item in others], "no part of it again"
    assert gardener.recall(QUESTION, full=True, token_limit=100)[0].text == first.text


def test_what_stands_in_the_prompt_is_not_quoted_in_it() -> None:
    gardener = chat()
    squeezed = ANSWER.replace(" ", "\n  ")
    assert "closes on the 17th" in gardener.recall_note(QUESTION, "another file")
    gardener.state.recalled = recall.RecallNote()
    assert "closes on the 17th" not in gardener.recall_note(QUESTION, f"a file\n{squeezed}\nits end")
    standing = make_gardener()
    rows = [("about the escrow account", ANSWER), *((f"part {n}", NOISE.format(n=n)) for n in range(1, 7))]
    standing.sync(talk(*rows), [])
    show(standing.state, {12: Level.HIDDEN, 13: Level.HIDDEN}, "made")
    assert "closes on the 17th" not in standing.recall_note(QUESTION, "")
    assert ANSWER in [item.text for item in standing.recall(QUESTION)], "who asks sees it all the same"


def test_passages_of_one_message_stand_under_one_heading_in_the_order_of_the_chat() -> None:
    def item(entry_id: str, turn: int, text: str, start: int = 0, session: str = "s") -> Recalled:
        return Recalled(entry_id, turn, "reply", ContentClass.PROSE, text, start, start + 1, 1.0, session)

    found = [item("g2", 4, "last"), item("g1", 2, "behind", 90), item("g1", 2, "first\nof all", 10)]
    note = recall.recall_note(found, session="s", head="HEAD")
    assert note.splitlines() == [
        "HEAD",
        "[2 reply (g1)]",
        "> first",
        "> of all",
        "> …",
        "> behind",
        "[4 reply (g2)]",
        "> last",
        NOTE_END,
    ]
    older = recall.recall_note([item("g3", 1, "older", session="o")], session="s")
    assert ", in an earlier chat]" in older and older.startswith(recall.NOTE_HEAD)
    dated = item("g3", 1, "older", session="o")._replace(created_at=1_794_000_000.0)
    assert ", in an earlier chat of 2026-11-0" in recall.recall_note([dated], session="s")
    assert "earlier chat" not in recall.recall_note([item("g3", 1, "older", session="o")])
    assert recall.recall_note([]) == ""
    without = recall.recall_note(found, session="s", with_ids=False)
    assert "[2 reply]" in without and "g1" not in without
    assert recall.heading(found[0]) == "[4 reply]"
    shared = found[0]._replace(author="ana", host="cecli")
    assert recall.heading(shared) == "[4 reply, by ana, in cecli]"


@pytest.mark.parametrize("names", ["abc", "cba"])
def test_of_several_chats_what_was_said_last_stands_last_whatever_their_ids(names: str) -> None:
    first = Recalled("g1", 9, "user", ContentClass.PROSE, "", 0, 5, 1.0)
    rows = zip(names, (30, 7, 2), ("seven tries", "nine tries", "now"), (1.0, 2.0, 3.0), strict=True)
    found = [first._replace(session=s, turn=n, text=text, created_at=at) for s, n, text, at in rows]
    note = recall.recall_note(found[::-1], session=names[-1], head="HEAD")
    assert [line for line in note.splitlines() if line[0] == ">"] == [
        "> seven tries",
        "> nine tries",
        "> now",
    ]


def test_passages_that_follow_each_other_stand_as_one_and_what_was_amended_says_so() -> None:
    first = Recalled("g1", 2, "user", ContentClass.PROSE, "first", 0, 5, 1.0, amended=True)
    next_one = first._replace(text="next", start=6, end=10)
    line = first._replace(text="line", start=12, end=16)
    far = first._replace(text="far", start=19, end=22)
    note = recall.recall_note([far, line, next_one, first], head="HEAD")
    told = ["[2 user (g1), later with other values]", "> first", "> next", "> line", "> …", "> far"]
    assert note.splitlines()[1:-1] == told


@pytest.mark.parametrize(
    "block",
    [
        EDIT.split("\n\n")[1],
        "```diff\n--- a/fees.py\n+++ b/fees.py\n@@ ... @@\n-ESCROW_DAY = 17\n+ESCROW_DAY = 18\n```\n",
        "*** Begin Patch\n*** Update File: fees.py\n@@\n-ESCROW_DAY = 17\n+ESCROW_DAY = 18\n*** End Patch\n",
    ],
)
def test_of_an_edit_of_a_file_in_the_chat_only_what_is_said_before_it_is_quoted(block: str) -> None:
    gardener = chat()
    said, _, _ = EDIT.partition("fees.py")
    whole, start = said + block, len(said)
    edits = (Segment(0, start, ContentClass.PROSE), Segment(start, len(whole), ContentClass.EDIT))
    entry = replace(made(0, "assistant", whole), segments=edits)
    state = gardener.state

    def text(begin: int, files: frozenset[str]) -> str | None:
        request = Request(QUESTION, unasked=True, files=files)
        passage = Passage(entry, begin, len(whole), whole[begin:])
        found = recall.pack(state.archive, state.chat, request, ["escrow"], [passage])
        return found[0].text if found else None

    here = frozenset({"fees.py"})
    assert text(4, here) == said[4:] and text(4, frozenset({"other.py"})) == whole[4:]
    assert text(start, here) is None


def test_an_edit_that_was_undone_in_an_older_chat_says_so() -> None:
    gardener = make_gardener()
    gardener.sync(talk(("move the escrow account", EDIT)), [])
    state = gardener.state
    older = replace(state.chat.entries[1], session="older", id="gfeed00001")
    assert recall.edit_outcome(state.archive, state.chat, older) == ""
    state.archive.store.record_event("older", 1, "pin", {"entry_id": older.id}, 1.0)
    assert recall.edit_outcome(state.archive, state.chat, older) == "", "another event"
    state.archive.store.record_event("older", 1, recall.EDIT_UNDONE, {"entry_id": older.id}, 1.0)
    assert recall.edit_outcome(state.archive, state.chat, older) == EDIT_WAS + UNDONE
    assert recall.edit_outcome(state.archive, state.chat, replace(older, id="gfeed00002")) == ""
    assert recall.edit_outcome(state.archive, state.chat, state.chat.entries[1]) == "", (
        "the last reply stands"
    )
    assert recall.edit_outcome(state.archive, state.chat, state.chat.entries[0]) == ""


def test_a_note_is_made_once_a_question_and_stays_within_its_limit_whatever_a_tokenizer_counts() -> None:
    gardener = chat()
    state = gardener.state

    def heavy(text: str) -> int:
        return words(text) * (4 if ">" in text else 1)

    request = Request(QUESTION, token_limit=60, unasked=True)
    plain = recall.RecallNote().renewed(state.archive, state.chat, request)
    state.archive.count = heavy
    assert plain.text and plain.renewed(state.archive, state.chat, request) is plain, (
        "the same until it is reset"
    )
    smaller = recall.RecallNote().renewed(state.archive, state.chat, request).text
    assert len(smaller) < len(plain.text)
    assert heavy(smaller) <= 60 + words(recall.NOTE_HEAD) + recall.MARGIN_TOKENS
    state.archive.count = words
    again = plain.renewed(state.archive, state.chat, replace(request, prompt_text=ANSWER))
    assert again.text != plain.text
