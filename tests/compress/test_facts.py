"""What an engineer needs of an output stands in its short form, and nothing that is false.

The outputs lie in tests/data/facts, by family; those in `measured` were written by others and are counted by
`python -m bench.facts`, the rest were made with the parsers and must keep every fact.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from aider_gardener.adapters.aider.provider import default_counter
from aider_gardener.cli.evaluate import measured, outputs_in
from bench.facts import FOLDER

FAMILIES = sorted(folder for folder in FOLDER.iterdir() if folder.name != "measured")


@pytest.mark.parametrize("bare", [False, True], ids=["run", "paste"])
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_every_fact_of_a_known_tool_is_kept_and_nothing_false_is_told(family: Path, bare: bool) -> None:
    for output in outputs_in(family):
        found = measured(output, default_counter(), bare=bare)
        assert not found.lost and not found.false, output.name
        assert found.right and found.after <= found.before, output.name
