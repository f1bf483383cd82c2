"""The figures of the comparison of sentences count what is right and what is not."""

from __future__ import annotations

from bench.observations import HEAD, SETS, Figures, figures, table


def test_pairs_and_proposals_are_counted() -> None:
    groups = (("use httpx, not requests", "no, use httpx, not requests", "httpx instead of requests please"),)
    assert figures(groups, ()) == Figures(3, 0, 0, 1, 0)
    assert figures(groups, ("again: httpx, not requests",)) == Figures(3, 0, 3, 1, 0)
    assert figures((groups[0][:2], groups[0][2:]), ()) == Figures(1, 0, 2, 1, 0)
    assert figures((("never log secrets", "tabs only in makefiles"),), ()) == Figures(0, 1, 0, 0, 0)


def test_each_set_has_a_row() -> None:
    rows = list(table())
    assert [row[0] for row in rows] == list(SETS) and all(len(row) == len(HEAD) for row in rows)
