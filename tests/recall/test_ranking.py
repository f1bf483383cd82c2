"""The turn that fits a question lends its score to the passages in it and behind it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from aider_gardener.archive.store.words import query_words
from aider_gardener.messages import Entry
from aider_gardener.recall.ranking import (
    BEST_TURNS,
    COMPANY_PASSAGES,
    Passage,
    by_words,
    fuse,
    in_order,
    put_forward,
    turn_passages,
)
from tests.made_entries import entry


def passage(entry_of: Entry, start: int = 0) -> Passage:
    return Passage(entry_of, start, start + 10, entry_of.content[start : start + 10])


def test_a_passage_without_a_word_of_the_question_comes_with_its_turn() -> None:
    asked = entry(1, "user", "how is the limit of problems called", turn=2)
    answer = entry(2, "assistant", "MAX_PROBLEMS = 20", turn=2)
    far = entry(3, "assistant", "nothing to do with it", turn=9)
    passages = [passage(far), passage(answer), passage(asked)]
    assert [at for at, _likely in in_order(passages, [0.1, 0.0, 0.6])] == [2, 1, 0]


def test_what_follows_the_turn_that_fits_comes_before_what_stands_alone() -> None:
    fits = entry(1, "user", "please run the benchmark", turn=4)
    output = entry(2, "user", "p99 61.3 ms", turn=5)
    other = entry(3, "user", "an older remark", turn=1)
    passages = [passage(other), passage(output), passage(fits)]
    assert [at for at, _likely in in_order(passages, [0.05, 0.0, 0.6])] == [2, 1, 0]


def test_of_two_alike_the_newer_comes_first() -> None:
    passages = [passage(entry(n, "user", f"the same words {n}", turn=n * 3)) for n in (1, 2)]
    assert [at for at, _likely in in_order(passages, [0.5, 0.5])] == [1, 0]


def test_of_two_alike_what_the_user_typed_comes_first_and_counts_no_more() -> None:
    said = entry(1, "assistant", "the limit is twenty", turn=9)
    typed = entry(2, "user", "the limit is twenty", turn=1)
    (first, points), (second, behind) = in_order([passage(said), passage(typed)], [0.5, 0.5])
    assert (first, second) == (1, 0)
    assert behind >= points


def test_a_turn_of_another_session_lends_nothing() -> None:
    fits = entry(1, "user", "the benchmark of today", turn=3)
    here = entry(2, "user", "its figures", turn=3)
    elsewhere = replace(entry(3, "user", "other figures", turn=3), session="older")
    passages = [passage(elsewhere), passage(here), passage(fits)]
    assert [at for at, _likely in in_order(passages, [0.0, 0.0, 0.6])] == [2, 1, 0]


def test_the_best_by_meaning_alone_is_not_lost_among_those_that_fit_by_half() -> None:
    texts = [
        "def backoff(attempt): return min(60, 2 ** attempt)",
        *(f"wait for reader {n}" for n in range(8)),
    ]
    near = [0.19, *([0.1] * 8)]
    passages = [
        replace(passage(entry(n, "user", text, turn=n)), text=text, similarity=similarity)
        for n, (text, similarity) in enumerate(zip(texts, near, strict=True), 1)
    ]
    lexical = by_words(query_words("how long do we wait until it is tried once more"), passages)
    scores = [fuse(points, one.similarity) for points, one in zip(lexical, passages, strict=True)]
    assert scores[0] < min(scores[1:])
    forward = put_forward(passages, lexical, scores)
    assert sum(points > forward[0] for points in forward) <= 2
    assert all(after >= before for before, after in zip(scores, forward, strict=True))


def test_a_word_that_stands_nowhere_makes_the_others_count_less() -> None:
    passages = [replace(passage(entry(1, "user", "wait here")), text="wait here")]
    alone, among = (by_words(query_words(asked), passages)[0] for asked in ("wait", "wait zebra giraffe"))
    assert 0 < among < alone <= 1


def test_the_second_piece_comes_before_the_neighbours_of_the_first() -> None:
    long, other = entry(1, "user", "x" * 90, turn=1), entry(2, "user", "the other one", turn=1)
    passages = [passage(long, 0), passage(long, 20), passage(long, 40), passage(other)]
    assert [at for at, _likely in in_order(passages, [0.60, 0.59, 0.58, 0.62])] == [0, 1, 3, 2]


def test_company_is_what_no_search_found_of_the_best_turns() -> None:
    found = entry(1, "user", "what is the name of the constant for the limit?", turn=2)
    text = "\n\n".join(
        f"Paragraph {n} has enough words to stand as a passage of its own here." for n in range(4)
    )
    reply = entry(2, "assistant", text, turn=2)
    more = turn_passages(
        [passage(found)], [0.7], found.session, {found.turn: [found, reply]}.__getitem__, 0.1
    )
    assert {one.entry.id for one in more} == {found.id, reply.id}
    assert "".join(one.text for one in more if one.entry is reply).count("Paragraph") == 4
    assert all(one.similarity == 0.1 for one in more)


def test_company_is_bounded() -> None:
    found = entry(1, "user", "which line was it?", turn=2)
    log = entry(
        2, "user", "\n".join(f"line {n} of a long output that nobody reads" for n in range(9_000)), turn=2
    )
    assert (
        len(
            turn_passages([passage(found)], [0.7], found.session, {found.turn: [found, log]}.__getitem__, 0.0)
        )
        == COMPANY_PASSAGES
    )


def said(seq: int, text: str, *, turn: int = 1, context: str = "") -> Passage:
    """A message that is one passage."""
    return Passage(entry(seq, "user", text, turn=turn), 0, len(text), text, context)


def pieces(*texts: str) -> list[Passage]:
    """The passages of one message."""
    content = "\n".join(texts)
    whole = entry(1, "assistant", content)
    starts = [content.index(text) for text in texts]
    return [Passage(whole, at, at + len(text), text) for at, text in zip(starts, texts, strict=True)]


def fits(question: str, *passages: Passage) -> list[float]:
    return by_words(query_words(question), passages)


def test_a_rare_word_tells_more_than_one_that_most_passages_hold() -> None:
    rare, *common = fits(
        "escrow window", said(1, "the escrow account"), *(said(n, f"window {n}") for n in range(2, 7))
    )
    assert rare > 0.5 > max(common) > 0


def test_a_word_that_all_passages_hold_still_counts_a_little() -> None:
    both, *others = fits(
        "escrow window", said(1, "escrow window"), *(said(n, f"window {n}") for n in range(2, 50))
    )
    assert both == pytest.approx(1.0)
    assert all(0.02 < score < 0.2 for score in others)


def test_a_passage_without_any_word_of_the_question_scores_nothing() -> None:
    assert fits("zebra", said(1, "the escrow account"), said(2, "the window")) == [0.0, 0.0]
    assert fits("escrow zebra", said(1, "the escrow account"), said(2, "the window"))[1] == 0.0


def test_the_word_itself_counts_more_than_another_form_of_it() -> None:
    itself, another, none = (
        fits("retries", said(1, f"three {word} at most"))[0] for word in ("retries", "retry", "waits")
    )
    assert itself == pytest.approx(1.0) and itself > another > none == 0.0


def test_words_of_one_line_count_more_than_the_same_words_lines_apart() -> None:
    together, apart = fits(
        "escrow window", said(1, "the escrow window is\nfull"), said(2, "the escrow is\na full window")
    )
    assert together == pytest.approx(1.0) and 0.5 < apart < together


@pytest.mark.parametrize("backwards", [False, True])
def test_a_word_lends_the_less_to_a_passage_the_farther_away_it_stands(backwards: bool) -> None:
    texts = ["the escrow account", "next to it", "one further on", "far from it", "farther still"]
    held, beside, behind, *far = fits("escrow", *pieces(*(texts[::-1] if backwards else texts)))[
        :: -1 if backwards else 1
    ]
    assert held == pytest.approx(1.0)
    assert held > beside > behind > far[0] == far[1] > 0


def test_a_word_said_again_beside_a_passage_is_no_evidence_twice() -> None:
    once, again = (
        fits("escrow", said(2, "an escrow account")),
        fits("escrow", *pieces("escrow here", "escrow there")),
    )
    assert again == pytest.approx([once[0]] * 2)


def test_an_answer_counts_for_the_words_of_what_it_answers_but_less_than_for_its_own() -> None:
    own, answer, other = fits(
        "escrow",
        said(1, "the escrow account"),
        said(2, "on the 17th", context="when does escrow close"),
        said(3, "no"),
    )
    assert own > answer > other == 0.0
    assert answer > fits("escrow", *pieces("the escrow account", "", "on the 17th"))[2], (
        "more than for a far neighbour's"
    )


def test_without_a_vector_words_alone_decide_and_with_one_the_nearer_in_meaning_is_ahead() -> None:
    assert fuse(0.5, 0.0) == 0.5
    scores = [fuse(0.5, similarity) for similarity in (0.05, 0.2, 0.4, 0.6)]
    assert scores == sorted(scores) and scores[0] < 0.5 < scores[-1]
    assert [fuse(words, 0.3) for words in (0.0, 0.5, 1.0)] == sorted(
        fuse(words, 0.3) for words in (0.0, 0.5, 1.0)
    )
    assert 0.0 <= fuse(0.0, 0.01) < fuse(1.0, 1.0) <= 1.0


def test_only_the_turns_that_fit_best_have_company() -> None:
    asked = [entry(n, "user", f"question {n}", turn=n) for n in range(1, BEST_TURNS + 3)]
    replies = {
        one.turn: entry(100 + one.turn, "assistant", f"reply {one.turn}", turn=one.turn) for one in asked
    }
    scores = [one.turn / 10 for one in asked]
    more = turn_passages([passage(one) for one in asked], scores, "s", lambda turn: [replies[turn]], 0.0)
    assert {one.entry.turn for one in more} == {one.turn for one in asked[2:]}


def test_of_two_nearly_alike_the_newer_comes_first_but_not_of_two_that_differ() -> None:
    passages = [
        passage(entry(n, "assistant", f"said {n}", turn=turn)) for n, turn in enumerate((1, 5, 20), 1)
    ]
    assert next(at for at, _likely in in_order(passages, [0.51, 0.0, 0.50])) == 2
    assert next(at for at, _likely in in_order(passages, [0.60, 0.0, 0.50])) == 0


def test_the_order_does_not_go_by_how_well_the_question_fits_as_a_whole() -> None:
    passages = [
        passage(entry(n, role, f"said {n}", turn=n))
        for n, role in enumerate(("assistant", "user", "assistant", "user"), 1)
    ]
    scores = [0.6, 0.2, 0.5, 0.45]
    order, tenth = in_order(passages, scores), in_order(passages, [score / 10 for score in scores])
    assert [at for at, _likely in tenth] == [at for at, _likely in order]
    assert [likely for _at, likely in tenth] == pytest.approx([likely / 10 for _at, likely in order])


def test_the_best_passage_of_a_message_is_not_set_back_by_a_lesser_one_above_it() -> None:
    long, other = entry(1, "user", "x" * 90, turn=1), entry(2, "user", "the other one", turn=1)
    passages = [passage(long, 0), passage(long, 20), passage(other)]
    assert [at for at, _likely in in_order(passages, [0.50, 0.60, 0.64])] == [1, 2, 0]


def test_what_stands_next_to_the_best_passage_comes_before_what_stands_apart() -> None:
    long = entry(1, "assistant", "x" * 90, turn=1)
    passages = [passage(long, at) for at in (0, 20, 40)]
    assert [at for at, _likely in in_order(passages, [0.6, 0.1, 0.1])] == [0, 1, 2]
    assert [at for at, _likely in in_order(passages, [0.1, 0.1, 0.6])] == [2, 1, 0]


def test_what_neither_words_nor_meaning_find_is_not_put_forward() -> None:
    passages = [said(n, f"text {n}") for n in range(3)]
    assert put_forward(passages, [0.0] * 3, [0.0, 0.1, 0.0]) == [0.0, 0.1, 0.0]
    first, second, third = put_forward(passages, [0.5, 0.4, 0.0], [0.0] * 3)
    assert first > second > third == 0.0
