"""The laws that every compressor keeps, whatever the text: they stand behind one registry."""

from __future__ import annotations

import random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aider_gardener.compress.base import Context
from aider_gardener.compress.line import line_form
from aider_gardener.compress.message import compress_message
from aider_gardener.compress.registry import compress_text
from aider_gardener.messages import ContentClass, Focus, Source, SourceKind
from aider_gardener.reading.segments import segment
from aider_gardener.tokens import approximate, default_counter

KINDS = {
    ContentClass.LOG: [""],
    ContentClass.ERROR: [""],
    ContentClass.STRUCTURED: [""],
    ContentClass.LISTING: [""],
    ContentClass.DIFF: [""],
    ContentClass.CODE: [
        "",
        *"python javascript typescript tsx go rust java c csharp ruby bash sql nonsense".split(),
    ],
    ContentClass.EDIT: ["search-replace", "udiff", "whole-file", "patch", ""],
    ContentClass.PROSE: [""],
    ContentClass.PROMPT: [""],
}
CASES = [(cls, kind) for cls, kinds in KINDS.items() for kind in kinds]
SOURCES = st.sampled_from(list(SourceKind))

LINES = [
    *"""def f(x):
class A:
}
{
```
```python
~~~
<<<<<<< SEARCH
=======
>>>>>>> REPLACE
src/a.py
Traceback (most recent call last):
ValueError: bad value 17
diff --git a/x b/x
@@ -1,3 +1,4 @@
+added
-removed
2024-01-02 10:11:12 INFO job=17 done
2024-01-02 10:11:13 ERROR job=18 failed
{"a": 1,
"b": [1, 2
key: value
- item
[section]
name = 1
a,b,c
1,2,3
| a | b |
|---|---|
[… 3 lines; whole: g12]
… 3 lines …
We must not use RETURNING because production runs 3.31.1.
Ok.
FAILED tests/test_a.py::test_b - assert 1 == 2
E   assert 1 == 2
src/a.c:12:3: error: expected ';'
src/a.c:13:3: warning: unused variable
I ran this command:
And got this output:
===== 1 failed, 2 passed in 0.1s =====
commit 0123456789abcdef
你好。这是一个句子。""".split("\n"),
    "x" * 300, "    return x", "  File \"a.py\", line 3, in f", " same", "\x1b[31mred\x1b[0m", "", "   ", "\t\tdeep", "\x00\x01\x02",
]  # fmt: skip
texts = st.one_of(
    st.text(max_size=400),
    st.lists(st.sampled_from(LINES), max_size=60).map("\n".join),
    st.lists(st.sampled_from(LINES), min_size=1, max_size=8).map(lambda lines: "\r\n".join(lines * 12)),
    st.text(alphabet=st.characters(categories=["Cs", "Lu", "Zs", "Nd"]), max_size=200),
)
LAWS = settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])


def context(kind: str, cls: ContentClass) -> Context:
    language = kind if cls is ContentClass.CODE else ""
    return Context(
        kind=kind, language=language, focus=Focus(frozenset({"return", "job"})), entry_id="g123456789"
    )


@pytest.mark.parametrize("cls", KINDS)
@LAWS
@given(data=st.data(), text=texts)
def test_never_longer_stable_and_deterministic(cls: ContentClass, data: st.DataObject, text: str) -> None:
    ctx = context(data.draw(st.sampled_from(KINDS[cls])), cls)
    result = compress_text(text, cls, ctx)
    assert result.cls is cls
    assert len(result.text) <= len(text)
    assert approximate(result.text) <= approximate(text)
    assert result.text == text or not result.lossless
    assert compress_text(text, cls, ctx) == result
    assert compress_text(result.text, cls, ctx).text == result.text


@LAWS
@given(kind=SOURCES, text=texts)
def test_messages_keep_the_same_laws(kind: SourceKind, text: str) -> None:
    source = Source(kind, "pytest -q" if kind in (SourceKind.COMMAND, SourceKind.TEST) else "")
    result = compress_message(text, source, entry_id="g123456789")
    assert len(result.text) <= len(text)
    assert approximate(result.text) <= approximate(text)
    assert compress_message(text, source, entry_id="g123456789") == result
    assert compress_message(result.text, source, entry_id="g123456789").text == result.text


@LAWS
@given(kind=SOURCES, text=texts)
def test_the_line_form_is_one_line_within_its_limit(kind: SourceKind, text: str) -> None:
    line = line_form(text, Source(kind), entry_id="g123456789", token_limit=40)
    assert "\n" not in line and "\r" not in line
    assert line.endswith("[g123456789]")
    assert approximate(line) <= 40
    assert line == line_form(text, Source(kind), entry_id="g123456789", token_limit=40)


@LAWS
@given(kind=SOURCES, text=texts)
def test_segments_cover_the_text_in_order_without_overlap(kind: SourceKind, text: str) -> None:
    at = 0
    for part in segment(text, Source(kind)):
        assert part.start == at and part.end > part.start
        at = part.end
    assert at == len(text)


def hard_texts() -> dict[str, str]:
    randomly = random.Random(7)
    return {
        "one long line": "word 17 " * 4_000,
        "many thousand lines": "line of text\n" * 2_000,
        "json objects nested deep": '{"a":' * 10_000 + "1" + "}" * 10_000,
        "fences never closed": "```\n" * 5_001,
        "edit heads never closed": "<<<<<<< SEARCH\n" * 1_500,
        "patch heads never closed": "*** Begin Patch\n" * 1_500,
        "tracebacks cut off": "Traceback (most recent call last):\n" * 1_500,
        "nul and control characters": "".join(chr(randomly.randrange(32)) for _ in range(20_000)),
        "lone surrogates": "\ud800\udfff " * 10_000,
        "bytes read as latin-1": bytes(randomly.randrange(256) for _ in range(20_000)).decode("latin-1"),
        "sentence ends": ". " * 10_000,
        "commas": "," * 20_000,
        "table bars": "| a " * 6_000,
        "slashes": "a/" * 20_000,
        "escape codes": "\x1b[31m" * 10_000,
        "deep indentation": "\n".join(" " * (depth % 400) + "if x:" for depth in range(450)),
        "digits": "1" * 40_000,
        "colons": "a:1:" * 10_000,
    }


@pytest.fixture(scope="module")
def hard() -> dict[str, str]:
    return hard_texts()


@pytest.mark.parametrize("name", list(hard_texts()))
@pytest.mark.timeout(60)
def test_hard_texts_pass_through_every_compressor(name: str, hard: dict[str, str]) -> None:
    text = hard[name]
    for cls in ContentClass:
        result = compress_text(text, cls, context(KINDS[cls][-1], cls))
        assert len(result.text) <= len(text), cls
    for kind in (SourceKind.TYPED, SourceKind.COMMAND, SourceKind.REPLY, SourceKind.UNKNOWN):
        assert len(compress_message(text, Source(kind)).text) <= len(text)
        assert len(line_form(text, Source(kind))) <= 600


def test_never_longer_in_the_tokens_of_a_real_tokenizer() -> None:
    count = default_counter()
    for cls, kind in CASES:
        for text in ("\n".join(LINES), "\n".join(line for line in LINES for _ in range(5)), "a" * 50_000):
            ctx = Context(
                kind=kind,
                language=kind if cls is ContentClass.CODE else "",
                entry_id="g123456789",
                count=count,
            )
            assert count(compress_text(text, cls, ctx).text) <= count(text)


def test_a_marker_names_the_original() -> None:
    text = "\n\n".join(
        f"Sentence number {i} says that component_{i} must stay below {i} ms because of rule {i}."
        for i in range(60)
    )
    result = compress_text(text, ContentClass.PROSE, Context(entry_id="g123456789"))
    assert "whole: g123456789]" in result.text and "sentences" in result.text
