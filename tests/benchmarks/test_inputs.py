"""The texts of the benchmarks: the same on each run, of the size asked for, with facts to look for."""

from __future__ import annotations

import json

import pytest

from aider_gardener.reading import facts
from bench.inputs import GENERATORS, made
from bench.peers.texts import kept, texts


@pytest.mark.parametrize("kind", GENERATORS)
def test_a_made_text_is_the_same_twice_and_has_the_size_asked_for(kind: str) -> None:
    text = made(kind, 30_000)
    assert text == made(kind, 30_000)
    assert 30_000 <= len(text) < 40_000
    assert text != made(kind, 30_000, seed=2)


def test_made_json_is_json_and_a_made_run_has_its_totals() -> None:
    assert len(json.loads(made("records-json", 5_000))) > 10
    kinds = {fact.kind for fact in facts.extract(made("pytest", 5_000), "test")}
    assert kinds == {"failure", "assertion", "place", "total"}


def test_every_text_of_the_peers_has_facts_to_look_for() -> None:
    found = texts()
    assert len({text.name for text in found}) == len(found)
    assert [text.name for text in found if not text.facts()] == []
    for text in found:
        counts = kept(text.facts(), text.text)
        assert all(held == total for held, total in counts.values()), text.name
