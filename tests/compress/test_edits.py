"""Applied edit blocks become a line a file, whatever the edit format."""

from __future__ import annotations

import pytest

from aider_gardener.compress.base import Context
from aider_gardener.compress.registry import compress_text
from aider_gardener.messages import ContentClass

SEARCH_REPLACE = """src/money.py
```python
<<<<<<< SEARCH
import os

def split(total, parts):
    return [total // parts] * parts
=======
import os
import math

def split(total: int, parts: int) -> list[int]:
    share = total // parts
    return [share] * parts

LIMIT = 3
>>>>>>> REPLACE
```
"""


def line(text: str, kind: str) -> str:
    return compress_text(text, ContentClass.EDIT, Context(kind, entry_id="g123456789")).text


def test_a_search_replace_block() -> None:
    assert (
        line(SEARCH_REPLACE, "search-replace")
        == "[… edited src/money.py: split, LIMIT (+6 −2); whole: g123456789]"
    )


def test_blocks_of_one_file_are_added_up_and_new_files_named() -> None:
    created = "tests/test_money.py\n```python\n<<<<<<< SEARCH\n=======\ndef test_split():\n    assert split(9, 2) == [4, 4]\n>>>>>>> REPLACE\n```\n"
    shown = line(f"{SEARCH_REPLACE}\n{created}\n{SEARCH_REPLACE}", "search-replace").split("\n")
    assert shown == [
        "[… edited src/money.py: split, LIMIT (+12 −4); whole: g123456789]",
        "[… created tests/test_money.py: test_split (+2 −0); whole: g123456789]",
    ]


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("my docs/read me.md", "edited my docs/read me.md:"),
        ("`my docs/read me.md`:", "edited my docs/read me.md:"),
        ("```my docs/read me.md", "edited my docs/read me.md:"),
        ("And this is for src/money.py:", "edited a file:"),
        ("Now the rest.", "edited a file:"),
    ],
)
def test_a_path_may_have_a_space_and_is_no_sentence(said: str, shown: str) -> None:
    assert shown in line(SEARCH_REPLACE.replace("src/money.py", said), "search-replace")


def test_a_second_block_without_a_path_belongs_to_the_file_before() -> None:
    text = SEARCH_REPLACE + "```python\n<<<<<<< SEARCH\nx = 1\n=======\nx = 2\n>>>>>>> REPLACE\n```\n"
    assert line(text, "search-replace").count("src/money.py") == 1


def test_a_unified_diff() -> None:
    text = (
        "```diff\n--- a/src/x.js\n+++ b/src/x.js\n@@ -1,3 +1,4 @@ class Cart\n const a = 1;\n-function total() {}\n+function total(tax) {}\n+const RATE = 2;\n```\n"
        * 2
    )
    assert line(text, "udiff").startswith("[… edited src/x.js: Cart, total, RATE (+4 −2)")


def test_a_whole_file() -> None:
    body = "".join(f"def handler_{i}():\n    return {i}\n" for i in range(12))
    shown = line(f"src/app.py\n```python\n{body}```\n", "whole-file")
    assert (
        shown
        == "[… wrote src/app.py: handler_0, handler_1, handler_2, handler_3, handler_4, handler_5, 6 more (24 lines); whole: g123456789]"
    )


def test_a_patch() -> None:
    text = "*** Begin Patch\n*** Update File: src/a.py\n@@ def f\n-    return 1\n+    return 2\n*** Add File: src/b.py\n+def made():\n+    pass\n*** Delete File: old.py\n*** End Patch\n"
    assert line(text, "patch").split("\n") == [
        "[… edited src/a.py (+1 −1); whole: g123456789]",
        "[… created src/b.py: made (+2 −0); whole: g123456789]",
        "[… deleted old.py; whole: g123456789]",
    ]


def test_carriage_returns_do_not_matter() -> None:
    assert "split, LIMIT (+6 −2)" in line(SEARCH_REPLACE.replace("\n", "\r\n"), "search-replace")


def test_a_block_that_is_shorter_than_its_line_stays() -> None:
    text = "a.py\n<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n"
    assert line(text, "search-replace") == text


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("class Core0:", "Core0"),
        ("class Core0(Base):", "Core0"),
        ("def empty?", "empty?"),
        ("class Core::Inner < Base", "Core::Inner"),
        ("class Core: Base {", "Core"),
        ("function core:run(", "core:run"),
        ("def self.make", "self.make"),
    ],
)
def test_a_name_is_told_without_what_stands_behind_it(code: str, name: str) -> None:
    rest = "\n".join(f"+    one more line {number}" for number in range(30))
    patch = f"*** Begin Patch\n*** Add File: core.txt\n+{code}\n{rest}\n*** End Patch"
    assert line(patch, "apply-patch").startswith(f"[… created core.txt: {name} (+31 −0)")
