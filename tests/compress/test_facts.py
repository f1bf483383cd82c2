"""What an engineer needs of an output stands in its short form, and nothing that is false.

The outputs lie in tests/data/facts, by family. `bench/results/facts.json` says how many of their facts are kept:
it may not be fewer.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aider_gardener.tokens import default_counter
from bench import evaluate
from bench.evaluate import evaluated
from bench.facts import FOLDER, RESULTS

FAMILIES = sorted(folder for folder in FOLDER.iterdir() if folder.is_dir())


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The lines that no engine would quote beside a form take as long as the form; the bench measures them."""
    monkeypatch.setattr(evaluate, "quoted_alone", lambda text, *_given: text)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_no_fewer_facts_are_kept_than_were_and_nothing_false_is_told(family: Path) -> None:
    told = json.loads(RESULTS.read_text("utf-8"))["sets"][family.name]
    found = evaluated(family, default_counter())
    kept = sum(len(one.output.facts) - len(one.lost) for one in found)
    assert [one.output.name for one in found if one.false] == []
    assert [one.output.name for one in found if one.after > one.before] == []
    assert kept >= told["kept"]
    assert sum(one.right for one in found) >= told["class right"]
    assert sum(one.after for one in found) <= 1.02 * told["tokens after"]


def test_engines_keep_more_than_lines_quoted_by_none_in_the_same_room() -> None:
    sets = json.loads(RESULTS.read_text("utf-8"))["sets"].values()
    assert sum(one["kept"] for one in sets) > 1.08 * sum(one["kept by quoting"] for one in sets)


def test_a_pasted_output_keeps_nearly_as_much_as_one_whose_command_is_known() -> None:
    outputs = evaluated(FOLDER / "testruns", default_counter(), bare=True)
    told = json.loads(RESULTS.read_text("utf-8"))["sets"]["testruns"]
    assert sum(len(one.output.facts) - len(one.lost) for one in outputs) >= 0.95 * told["kept"]
