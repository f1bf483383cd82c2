"""What /recall shows of what was found: one hit a message, an excerpt where the words stand, no bare heading."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aider_gardener.messages import ContentClass
from aider_gardener.recall.hits import CODE_LINES, EXCERPT_CHARS, excerpt, hits
from aider_gardener.recall.match import Match
from aider_gardener.recall.recall import Recalled


def passage(text: str, *words: str, entry_id: str = "g1", code: bool = False, end: int = -1) -> Recalled:
    end = len(text) if end < 0 else end
    return Recalled(
        entry_id, 1, "reply", ContentClass.PROSE, text, 0, end, 0.5, is_code=code, match=Match(words)
    )


def none(_id: str) -> str | None:
    return None


def test_passages_of_one_message_are_one_hit_in_the_order_of_the_best() -> None:
    found = [passage("a"), passage("b", entry_id="g2"), passage("c"), passage("d", entry_id="g3")]
    made = hits(found, none)
    assert [hit.best.entry_id for hit in made] == ["g1", "g2", "g3"]
    assert [item.text for item in made[0].passages] == ["a", "c"]


def test_a_heading_comes_with_what_follows_it() -> None:
    whole = "**B: the stall**\n\n- H6: a long write transaction holds the lock for eleven seconds."
    for head in ("**B: the stall**", "## Stall\n", "The reasons:"):
        made = excerpt(passage(head, end=16), lambda _id: whole)
        assert "eleven seconds" in made, head
    assert excerpt(passage("## Stall"), none) == "## Stall"


def test_what_says_enough_needs_nothing_from_behind_it() -> None:
    said = "The reaper waits five seconds for the lock, then gives up."
    assert excerpt(passage(said, end=3), lambda _id: said + " Secret.") == said


def test_a_long_passage_is_cut_where_the_words_stand_together() -> None:
    text = (
        "timeout. " + "padding words go here " * 40 + "the busy timeout of the reaper is 5 s. " + "more " * 90
    )
    made = excerpt(passage(text, "busy", "timeout", "reaper"), none)
    assert "the busy timeout of the reaper is 5 s." in made
    assert made.startswith("… ") and made.endswith(" …") and len(made) <= EXCERPT_CHARS + 4


def test_code_keeps_its_lines() -> None:
    text = "def a():\n    pass\n\ndef reap():\n    wait(busy)\n    return 5\n\ndef b():\n    pass"
    assert excerpt(passage(text, "reap", "busy", code=True), none).splitlines() == [
        "def reap():",
        "    wait(busy)",
        "    return 5",
    ]


@given(st.text(max_size=900), st.lists(st.sampled_from(["a", "lock", "0"]), max_size=3), st.booleans())
def test_an_excerpt_is_short_whatever_was_said(text: str, words: list[str], code: bool) -> None:
    made = excerpt(passage(text, *words, code=code), lambda _id: text)
    assert len(made) <= EXCERPT_CHARS * CODE_LINES
    assert code or "\n" not in made
