"""How much a patch changes is counted as git counts it, and its row says what it spares."""

from __future__ import annotations

import pytest
from made_tree import FIXES, SERIES
from patch_series.diff import Change, changes
from patch_series.readme import notes_of, patch_table, points_of, prefix_digest, replay_table

from aider_gardener.errors import PatchError

DIFF = """a mail

---
diff --git a/aider/x.py b/aider/x.py
--- a/aider/x.py
+++ b/aider/x.py
@@ -1,2 +1,3 @@
 a
-b
+++ c
+-- d
diff --git a/aider/y.py b/aider/y.py
new file mode 100644
--- /dev/null
+++ b/aider/y.py
@@ -0,0 +1 @@
+x
"""


def test_lines_are_counted_by_file() -> None:
    assert changes(DIFF) == [Change("aider/x.py", 2, 1), Change("aider/y.py", 1, 0)]
    with pytest.raises(PatchError, match="not a diff"):
        changes("words\n")


def test_a_seam_stands_with_the_last_patch_that_it_takes() -> None:
    assert "Coder.format_chat_chunks" in points_of(SERIES.find("context-interface"))
    assert "Coder.send" not in points_of(SERIES.find("token-details"))  # it takes the next one too
    assert points_of(SERIES.find("shrink-and-retry")) == "Coder.send"
    assert points_of(SERIES.find("context-options")) == "none"


def test_the_interface_and_each_patch_on_it_stay_small() -> None:
    ours = [patch for patch in SERIES.patches if not patch.is_fix]
    added = {patch.slug: {change.path: change.added for change in changes(patch.text)} for patch in ours}
    assert sum(files.get("aider/context.py", 0) for files in added.values()) <= 150
    interface = added.pop("context-interface")
    assert sum(lines for path, lines in interface.items() if not path.startswith("tests/")) <= 150
    assert all(sum(files.values()) < 200 for files in added.values())
    assert not any(
        "aider_gardener" in line for patch in ours for line in patch.text.splitlines() if line[:1] == "+"
    )


def test_what_the_page_says_of_each_fix_stands_beside_its_mail() -> None:
    notes = notes_of(SERIES.folder.parent)
    assert notes.keys() == {patch.slug for patch in SERIES.patches}
    for patch, row in zip(FIXES, patch_table(SERIES, notes).splitlines()[2:], strict=False):
        cells = [cell.strip() for cell in row.strip("|").split(" | ")]
        assert cells[2] == notes[patch.slug]["evidence"] and cells[5] == notes[patch.slug]["patch_point"]
    with pytest.raises(PatchError, match=r"notes\.yml does not say the evidence of 0001-"):
        patch_table(SERIES, {})


def test_a_replay_of_another_series_is_not_shown() -> None:
    row = {"what": "a side", "prompts": 7, "compacted": 3, "different": 0, "as in": "", "seams": 0}
    replay = {"series": prefix_digest(SERIES.patches), "sides": {"stock": row}}
    assert "| stock | a side | 7 | 3 | 0 | – | 0 |" in replay_table(SERIES.patches, {"replay": replay})
    assert "stock" not in replay_table(SERIES.patches[1:], {"replay": replay})
    assert "stock" not in replay_table(SERIES.patches, {})
