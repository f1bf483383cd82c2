"""Every compressor favours what names a file in focus: it stays where it would otherwise go."""

from __future__ import annotations

import json

import pytest

from aider_gardener.compress.base import Context
from aider_gardener.compress.registry import compress_text
from aider_gardener.messages import ContentClass, Focus

PATH = "src/shop/part_237.py"


def failures() -> str:
    """A pytest run of 260 failures with long messages."""
    blocks = "".join(
        f"____ test_{n} ____\n\n    def test_{n}():\n>       check({n})\n\nsrc/shop/part_{n}.py:{n + 3}: in check\n    raise ValueError\n"
        + "".join(
            f"E   ValueError: first words of {n}\n"
            if row == 0
            else f"E     detail {row} of number {n} with some more words\n"
            for row in range(8)
        )
        + f"\nsrc/shop/part_{n}.py:{n + 3}: ValueError\n"
        for n in range(260)
    )
    return f"==== test session starts ====\ncollected 260 items\n\n==== FAILURES ====\n{blocks}==== 260 failed in 1.02s ====\n"


RULES = " ".join(f"The component_{n} stays below {n} ms in this release." for n in range(260))
WORDS = f"{RULES} Somebody or other is seen at work around src/shop/part_237.py now and then, one would say. {RULES}"

TEXTS = {
    "prose": (ContentClass.PROSE, "", WORDS, PATH),
    "prompt": (ContentClass.PROMPT, "", WORDS, PATH),
    "code": (ContentClass.CODE, "python", "def run():\n" + "".join(f"    step_{n} = load('src/shop/part_{n}.py', {n})\n" for n in range(260)), PATH),
    "json": (ContentClass.STRUCTURED, "", json.dumps([{"file": f"src/shop/part_{n}.py", "covered": n, "missing": [n, n + 1]} for n in range(260)], indent=1), PATH),
    "yaml": (ContentClass.STRUCTURED, "", "".join(f"- file: src/shop/part_{n}.py\n  covered: {n}\n  words: some of them here\n" for n in range(260)), PATH),
    "app-log": (ContentClass.LOG, "", "".join(f"2024-05-01 10:{n // 60:02}:{n % 60:02} WARN watch: word{n}x changed in src/shop/part_{n}.py after save\n" for n in range(260)), PATH),
    "pytest": (ContentClass.LOG, "", failures(), "src/shop/part_237.py:240"),
    "mypy": (ContentClass.LOG, "", "".join(f'src/shop/part_{n}.py:{k}: error: Name "total{n}" is not defined  [name-defined]\n' for n in range(260) for k in range(6)), f'{PATH}:3: error: Name "total237"'),
    "traceback-python": (ContentClass.ERROR, "", "Traceback (most recent call last):\n" + "".join(f'  File "/srv/src/shop/part_{n}.py", line {n}, in go\n    step_{n}()\n' for n in range(260)) + "ValueError: no\n", "part_237.py"),
    "grep": (ContentClass.LISTING, "", "".join(f"src/shop/part_{n}.py:{k}:    value = compute({k}, {n})\n" for n in range(260) for k in range(9)), "compute(0, 237)"),
    "table": (ContentClass.LISTING, "", "file                  lines  covered\n" + "".join(f"src/shop/part_{n}.py   {100 + n % 3}     {n % 5}\n" for n in range(260)), PATH),
    "unified-diff": (ContentClass.DIFF, "", "".join(f"diff --git a/src/shop/part_{n}.py b/src/shop/part_{n}.py\n--- a/src/shop/part_{n}.py\n+++ b/src/shop/part_{n}.py\n@@ -1,3 +1,4 @@ def go_{n}():\n same\n+added line {n} of the part\n same\n same\n" for n in range(260)), "b/src/shop/part_237.py"),
}  # fmt: skip


@pytest.mark.parametrize("name", TEXTS)
def test_a_file_in_focus_is_favoured(name: str) -> None:
    cls, language, text, wanted = TEXTS[name]

    def shown(*paths: str) -> str:
        return compress_text(text, cls, Context("", language, Focus(paths=frozenset(paths)))).text

    assert wanted in text
    assert wanted not in shown()
    assert wanted in shown(PATH)
