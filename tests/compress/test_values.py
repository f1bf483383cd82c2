"""JSON over lines: the same data."""

from __future__ import annotations

import json
import random
import re
import time
from typing import Any

import pytest
from hanging import HANGS_SECONDS

from aider_gardener.compress.base import Context
from aider_gardener.compress.shapes import compress
from aider_gardener.compress.values import relaid


def value(chance: random.Random, depth: int) -> Any:
    """Some value, with everything that could be read as something else."""
    kind = chance.randrange(9 if depth else 5)
    if kind >= 7:
        return [value(chance, depth - 1) for _ in range(chance.randrange(6))]
    if kind >= 5:
        keys = ["a", "key: b", "- c", "", "1", "null", 'q"', "x y", "{", "/p/{id}", "é", "k:", "|", " s"]
        return {chance.choice(keys): value(chance, depth - 1) for _ in range(chance.randrange(7))}
    texts = [
        "",
        "word",
        "two words",
        "a: b",
        "a, b",
        "- x",
        "|",
        "7",
        "1e5",
        "true",
        "x\ny",
        "x\n\n y\n",
        "\n",
        "t\tt",
    ]
    texts += [
        'say "hi"',
        "{x",
        "a]",
        " lead",
        "trail ",
        "end:",
        "\x1b[1m",
        "\u2028",
        "é" * 70,
        "w " * 90,
        "-",
        "#c",
    ]
    return [chance.choice(texts), chance.choice(texts), chance.randrange(-5, 10**18), 1.5, None][kind]


def test_holds_exactly_the_data_of_the_original() -> None:
    chance = random.Random(7)
    written = 0
    for _ in range(500):
        data = value(chance, 5)
        for text in (json.dumps(data), json.dumps(data, indent=2)):
            lines = relaid(text)
            if lines is not None:
                assert json.loads("\n".join(lines)) == data, lines
                written += 1
    assert written > 160


def test_digits_and_keys_that_stand_twice_stay() -> None:
    text = '{"a": 1.50, "a": 12345678901234567890123, "n": NaN, "list": [' + ", ".join(["1e2"] * 60) + "]}"
    lines = relaid(text)
    assert lines and lines[:5] == [
        "{",
        '  "a": 1.50,',
        '  "a": 12345678901234567890123,',
        '  "n": NaN,',
        '  "list": [',
    ]
    assert lines[5:] == ["    1e2,"] * 59 + ["    1e2", "  ]", "}"]


def test_a_document_within_a_text_leaves_the_rest_of_it() -> None:
    body = json.dumps({"detail": [{"loc": ["body", name], "msg": "Field required"} for name in "abcdef"]})
    lines = relaid(f"HTTP/1.1 422\ncontent-type: json\n\n{body}\n* closed\n")
    assert lines and lines[:4] == ["HTTP/1.1 422", "content-type: json", "{", '  "detail": [']
    assert '    {"loc": ["body", "b"], "msg": "Field required"},' in lines and lines[-1] == "* closed"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        '{"a": 1}',
        "[2024-01-01] started\n" * 30,
        '{"a": ' * 10_000 + "1" + "}" * 10_000,
        "[" * 300_000,
        "[1,\n" * 50_000,
        '["x"] rest\n' * 50_000,
        "{" + "x" * 500_000,
        '{"a":' * 300 + json.dumps(list(range(9_000))) + "}" * 300,
        '{"a": ' + "9" * 5_000 + "} tail",
    ],
)
def test_what_is_no_document_or_nested_without_end_stays_as_it_is(text: str) -> None:
    started = time.process_time()
    assert relaid(text) is None
    assert time.process_time() - started < HANGS_SECONDS


def test_a_large_document_takes_little_time() -> None:
    started = time.process_time()
    assert relaid(json.dumps([{"a": at, "b": {"c": ["x"] * 5}, "d": "text\n" * 9} for at in range(4_000)]))
    assert time.process_time() - started < HANGS_SECONDS


def test_the_head_of_a_document_on_one_line_counts_the_lines_that_it_is_read_as() -> None:
    text = json.dumps([{"id": n, "name": f"user{n}", "open": n != 97} for n in range(400)])
    head = compress(text, Context(count=lambda given: len(given) // 4)).text.split("\n")[0]
    shown, whole = map(int, re.findall(r"\d+", head.replace(",", "")))
    assert shown < whole == 402


def test_what_is_shown_of_an_item_stands_below_its_name() -> None:
    items = [
        {"id": f"in-{n}", "note": "as agreed " * 12, "state": "open" if n == 17 else "paid"}
        for n in range(40)
    ]
    form = compress(json.dumps(items), Context()).text
    _before, told, rest = form.partition('{"id": "in-17",')
    assert told and '"open"' in rest.partition('{"id"')[0]


def test_an_item_whose_first_key_tells_nothing_apart_begins_with_its_brace() -> None:
    items = [{"kind": "invoice", "note": f"{n} as agreed " * 12} for n in range(3)]
    lines = relaid(json.dumps(items)) or []
    assert json.loads("\n".join(lines)) == items and lines.count("  {") == 3
