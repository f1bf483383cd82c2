"""The turn that fits a question lends its score to the passages in it and behind it."""

from __future__ import annotations

from dataclasses import replace

from aider_gardener.archive.store.words import query_words
from aider_gardener.messages import Entry
from aider_gardener.recall.ranking import (
    COMPANY_PASSAGES,
    Passage,
    by_words,
    company,
    fuse,
    in_order,
    put_forward,
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
    more = company([passage(found)], [0.7], found.session, {found.turn: [found, reply]}.__getitem__, 0.1)
    assert {one.entry.id for one in more} == {found.id, reply.id}
    assert "".join(one.text for one in more if one.entry is reply).count("Paragraph") == 4
    assert all(one.similarity == 0.1 for one in more)


def test_company_is_bounded() -> None:
    found = entry(1, "user", "which line was it?", turn=2)
    log = entry(
        2, "user", "\n".join(f"line {n} of a long output that nobody reads" for n in range(9_000)), turn=2
    )
    assert (
        len(company([passage(found)], [0.7], found.session, {found.turn: [found, log]}.__getitem__, 0.0))
        == COMPANY_PASSAGES
    )
