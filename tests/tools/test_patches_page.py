"""The tables of patches/README.md: lines are counted as git counts, and each patch says how to try it (that the
page is fresh, `make docs` says)."""

from __future__ import annotations

from made_tree import BY_SLUG, SERIES
from patches_page import changes, digest_of, replay_table


def test_the_interface_is_at_most_150_lines_and_five_methods_without_a_coder() -> None:
    interface = BY_SLUG["history-interface"]
    assert sum(each.added for each in changes(interface.text) if each.path.startswith("aider/")) <= 150
    ours = [patch for patch in SERIES.patches if not patch.is_alone]
    lines = [line for patch in ours for line in patch.diffs["aider/history_provider.py"].splitlines()]
    methods = [line for line in lines if line.startswith("+    def ")]
    assert not [line for line in methods if "coder" in line]
    names = {line.split("(")[0].removeprefix("+    def ") for line in methods}
    assert names == {"fit", "add", "new_format", "notice", "shorten", "__init__"}


def test_a_replay_of_another_series_is_not_shown() -> None:
    row = {"what": "a side", "prompts": 7, "compacted": 3, "different": 0, "as in": "", "seams": 0}
    replay = {"series": digest_of(SERIES.patches, "aider/"), "sides": {"stock": row}}
    assert "| stock | a side | 7 | 3 | 0 | – | 0 |" in replay_table(SERIES.patches, {"replay": replay})
    assert "stock" not in replay_table(SERIES.patches[1:], {"replay": replay})
    assert "stock" not in replay_table(SERIES.patches, {})
