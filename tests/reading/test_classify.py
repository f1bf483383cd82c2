"""One homogeneous text gets its class from its structure; path and source settle the rest."""

from __future__ import annotations

import pytest

from aider_gardener.messages import ContentClass, Segment, Source, SourceKind
from aider_gardener.reading.classify import classify, dominant_class

EXAMPLES = {
    "python": ("code", "import os\nfrom typing import Any\n\n\ndef load(path: str) -> Any:\n    with open(path) as f:\n        return f.read()\n\n\nclass A:\n    x = 1\n"),
    "go": ("code", 'package main\n\nimport (\n\t"fmt"\n)\n\nfunc main() {\n\tx := 1\n\tif err != nil {\n\t\treturn\n\t}\n\tfmt.Println(x)\n}\n'),
    "rust": ("code", "use std::io;\n\npub struct A {\n    x: u32,\n}\n\nimpl A {\n    pub fn new() -> Self {\n        let mut x = 1;\n        Self { x }\n    }\n}\n"),
    "bash": ("code", '#!/usr/bin/env bash\nset -e\nif [ -z "$1" ]; then\n  echo "Usage: run this with one argument please"\n  exit 1\nfi\nfor f in *.txt; do\n  cp "$f" "$1"\ndone\n'),
    "json": ("structured", '{"a": 1, "b": [1, 2, {"c": null}]}'),
    "json in one long line": ("structured", str([{"a": n, "b": n * n} for n in range(20_000)]).replace("'", '"')),
    "jsonc": ("structured", '{\n  // a comment\n  "a": 1,\n  "b": [\n    1,\n    2\n  ],\n}\n'),
    "yaml": ("structured", "name: build\non:\n  push:\n    branches: [main]\njobs:\n  test:\n    steps:\n      - uses: actions/checkout\n      - run: make\n"),
    "toml": ("structured", '[project]\nname = "x"\nversion = "1"\n\n[tool.ruff]\nline-length = 100\nselect = [\n  "E",\n]\n'),
    "csv": ("structured", "id,name,amount\n1,ann,3.5\n2,bob,4\n3,cid,5\n"),
    "pytest": ("log", "==== test session starts ====\ncollected 2 items\n\ntests/test_a.py .F [100%]\n\n==== FAILURES ====\n____ test_b ____\n    def test_b():\n>       assert 1 == 2\nE       assert 1 == 2\n\ntests/test_a.py:4: AssertionError\n==== 1 failed, 1 passed in 0.02s ====\n"),
    "cargo": ("log", "   Compiling oar v0.1.0\n   Compiling skiff v0.2.0 (/srv/skiff)\n    Finished dev in 3.1s\n"),
    "app-log": ("log", "".join(f"2024-01-02 03:04:{i:02},123 INFO app: request {i} served\n" for i in range(9))),
    "traceback": ("error", 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    f()\n  File "a.py", line 9, in f\n    raise KeyError("x")\nKeyError: \'x\'\n'),
    "java": ("error", 'Exception in thread "main" java.lang.IllegalStateException: no pool\n\tat com.acme.Pool.get(Pool.java:17)\n\tat com.acme.Main.main(Main.java:5)\nCaused by: java.io.IOException: refused\n\tat com.acme.Net.open(Net.java:88)\n'),
    "diff": ("diff", "diff --git a/a.py b/a.py\nindex 123456..abcdef 100644\n--- a/a.py\n+++ b/a.py\n@@ -1,3 +1,3 @@\n import os\n-x = 1\n+x = 2\n"),
    "grep": ("listing", "".join(f"src/app/mod{i}.py:{i * 7}:    def handler_{i}(self):\n" for i in range(8))),
    "git log": ("listing", "".join(f"{i:07x} fix: change number {i} of the parser\n" for i in range(0x1000000, 0x1000009))),
    "ls": ("listing", "total 12\n" + "".join(f"-rw-r--r-- 1 ann ann {i} Jan  1 10:00 file{i}.txt\n" for i in range(6))),
    "calls traced": ("log", "".join(f"{n / 1e4:.4f} {4000 + n}{'  ' * (n % 30)} -> App::get() src/{'abc'[n % 3]}.php:{n}\n" for n in range(90))),
    "prose": ("prose", "We looked at the options and decided to keep the queue in one file.\n\nThe reason is simple: there is only one writer.\n"),
    "markdown": ("prose", "# Title\n\nSome words about the thing and how it is used.\n\n```python\nx = 1\ny = 2\n```\n\n- first point of the list\n- second, with a [link](https://example.org)\n"),
}  # fmt: skip


@pytest.mark.parametrize("name", list(EXAMPLES))
def test_examples(name: str) -> None:
    truth, text = EXAMPLES[name]
    assert classify(text)[0].value == truth


@pytest.mark.parametrize("name", [name for name in EXAMPLES if name not in ("prose", "markdown")])
def test_line_ends_and_colours_change_nothing(name: str) -> None:
    truth, text = EXAMPLES[name]
    assert classify(text.replace("\n", "\r\n"))[0].value == truth
    if truth in ("log", "listing", "error"):
        assert classify("".join(f"\x1b[31m{line}\x1b[0m\n" for line in text.splitlines()))[0].value == truth


def test_a_path_is_a_hint_that_decides() -> None:
    assert classify("x", path="src/a.rs") == (ContentClass.CODE, "rust")
    assert classify("a b c", path="poetry.lock")[0] is ContentClass.STRUCTURED
    assert classify("a b c", path="README.md")[0] is ContentClass.PROSE


def test_the_source_settles_what_the_content_leaves_open() -> None:
    text = "ord_1 LOST\nord_2 LOST\nord_3 kept\n"
    assert classify(text, Source(SourceKind.COMMAND, "node stress.js"))[0] is ContentClass.LOG
    assert classify("ok", Source(SourceKind.NOTICE))[0] is ContentClass.PROSE


def test_a_log_with_stack_traces_is_a_log() -> None:
    stack = "".join(f"\tat org.springframework.web.X{n}.invoke(X{n}.java:{n})\n" for n in range(12))
    text = "".join(
        f"2024-05-01 10:00:{n:02}.123  INFO 1 --- [exec-1] c.a.Orders : order {n} placed\n"
        + (
            f"java.lang.IllegalStateException: no stock\n\tat com.acme.Stock.take(Stock.java:8)\n{stack}"
            if n % 9 == 4
            else ""
        )
        for n in range(60)
    )
    assert classify(text)[0] is ContentClass.LOG


def test_diagnostics_with_more_code_than_words_are_a_log() -> None:
    text = "".join(
        f"src/mill_{n}.py:{n}: error: Incompatible return value\n"
        f"    def grind_{n}(self, grain):\n        return self.stone.turn(grain)\n"
        for n in range(1, 9)
    )
    assert classify(text)[0] is ContentClass.LOG


def test_lines_that_differ_in_numbers_only_are_a_log() -> None:
    assert (
        classify(
            "".join(
                f"{'uploading' if n % 3 else 'skipping'} file_{n:04}.bin ({n * 7} bytes)\n" for n in range(60)
            )
        )[0]
        is ContentClass.LOG
    )


def test_yaml_with_long_words_in_it_is_structured() -> None:
    text = "name: deploy\non: push\njobs:\n" + "".join(
        f"  part{n}:\n    steps:\n      - run: |\n          echo this is a sentence of words that tells what is done here\n          echo and another one that goes on for quite a while as well\n"
        for n in range(6)
    )
    assert classify(text) == (ContentClass.STRUCTURED, "yaml")
    assert (
        classify(
            "Summary:\n- we kept the queue in one file because there is one writer\n- the tests are green again\nNext:\n- look at the other one\n"
        )[0]
        is ContentClass.PROSE
    )


def test_empty_and_blank_texts_have_a_class() -> None:
    assert classify("")[0] is ContentClass.PROSE
    assert classify(" \n\t\n")[0] is ContentClass.PROSE


def test_the_dominant_class_of_a_typed_message_is_prompt() -> None:
    parts = (Segment(0, 4, ContentClass.PROMPT), Segment(4, 900, ContentClass.LOG))
    assert dominant_class("x" * 900, Source(SourceKind.TYPED), parts) is ContentClass.PROMPT
    assert dominant_class("x" * 900, Source(SourceKind.COMMAND), parts) is ContentClass.LOG
