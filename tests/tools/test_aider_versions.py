"""The adapter names the releases of aider on which its tests were run, as docs/hosts.md does."""

from __future__ import annotations

import aider_versions as tool
from pages import results

from aider_gardener.adapters.aider.patch_points import TRIED


def test_the_releases_that_the_adapter_calls_tried_are_those_on_which_its_tests_were_run() -> None:
    rows = results(tool.RESULTS, tool.NAME, tool.FORMAT)["rows"]
    assert tuple(row["version"] for row in rows if row.get("tests")) == TRIED
    assert all(not row["differs"] for row in rows if row["version"] in TRIED)
