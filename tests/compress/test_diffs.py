"""A compressed diff keeps files, counts, hunk headers, symbols and the first changed lines."""

from __future__ import annotations

from tool_outputs import compressed, context, ratio

from aider_gardener.compress import diffs


def long_diff(files: int, lines: int) -> str:
    """A diff of new functions in many files."""
    text = []
    for n in range(files):
        text += [f"diff --git a/shop/part_{n}.py b/shop/part_{n}.py", "index 1234567..89abcde 100644"]
        text += [
            f"--- a/shop/part_{n}.py",
            f"+++ b/shop/part_{n}.py",
            f"@@ -10,6 +10,{lines + 7} @@ class Part{n}:",
        ]
        text += [
            " context",
            f"-    rate = {n}",
            f"+    rate = {n + 1}",
            f"+    def load_{n}(self, currency):",
        ]
        text += [f"+        step_{m} = currency + {m}" for m in range(lines)]
    return "\n".join(text)


def test_files_hunks_symbols_and_counts_stay() -> None:
    text = long_diff(8, 60)
    result = compressed(diffs.compress, text)
    assert ratio(text, result) <= 0.2
    assert "diff: 8 files, +496 −8" in result.text
    assert "shop/part_3.py +62 −1 (load_3)" in result.text
    assert "@@ -10,6 +10,67 @@ class Part3:" in result.text
    assert "-    rate = 3" in result.text


def test_a_very_long_diff_is_cut_to_its_budget() -> None:
    text = long_diff(900, 12)
    assert ratio(text, compressed(diffs.compress, text)) <= 0.15


def test_files_of_the_chat_show_more() -> None:
    text = long_diff(12, 60)
    shown = compressed(diffs.compress, text, context(paths=("shop/part_7.py",))).text
    assert "step_3 = currency + 3" in shown


def test_new_deleted_and_renamed_files_are_told() -> None:
    text = long_diff(3, 40) + (
        "\ndiff --git a/old.py b/new.py\nsimilarity index 90%\nrename from old.py\nrename to new.py\n"
        "diff --git a/gone.py b/gone.py\ndeleted file mode 100644\n--- a/gone.py\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-a\n-b\n"
    )
    shown = compressed(diffs.compress, text).text
    assert "old.py → new.py" in shown
    assert "gone.py +0 −2, deleted file mode 100644" in shown
