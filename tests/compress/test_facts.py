"""What an engineer needs of an output stands in its short form, and nothing that is false.

The outputs lie in tests/data/facts, by family; those in `measured` were written by others and are counted by
`python -m bench.facts`, the rest were made with the parsers and must keep every fact.
"""

from __future__ import annotations

import pytest

from aider_gardener.adapters.aider.provider import default_counter
from aider_gardener.cli.evaluate import Output, measured, outputs_in
from bench.facts import FOLDER

MADE = [
    pytest.param(output, id=f"{folder.name}/{output.name}")
    for folder in sorted(FOLDER.iterdir())
    if folder.name != "measured"
    for output in outputs_in(folder)
]


@pytest.mark.parametrize("bare", [False, True], ids=["run", "paste"])
@pytest.mark.parametrize("output", MADE)
def test_every_fact_of_a_known_tool_is_kept_and_nothing_false_is_told(output: Output, bare: bool) -> None:
    found = measured(output, default_counter(), bare=bare)
    assert not found.lost and not found.false
    assert found.right and found.after <= found.before
