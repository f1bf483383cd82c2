"""JSON as lines: the same data, read back by other code."""

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

NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?")
WORDS = {"true": True, "false": False, "null": None}


def read_back(lines: list[str]) -> Any:
    """What the lines hold: another reading of the same notation."""
    value, at = _block(lines, 0, 0)
    assert at == len(lines)
    return value


def _block(lines: list[str], at: int, indent: int) -> tuple[Any, int]:
    if lines[at][indent:].startswith("- "):
        values = []
        while at < len(lines) and lines[at].startswith(" " * indent + "- "):
            value, at = _item(lines, at, indent)
            values.append(value)
        return values, at
    pairs = {}
    while (
        at < len(lines)
        and lines[at][:indent].isspace() | (indent == 0)
        and lines[at][indent : indent + 1] != " "
    ):
        key, rest = _key(lines[at][indent:])
        pairs[key], at = _value(lines, at, rest, indent, string=True)
    return pairs, at


def _item(lines: list[str], at: int, indent: int) -> tuple[Any, int]:
    rest = lines[at][indent + 2 :]
    if rest == "|" or (rest[:1] in '"{[' and not re.match(r'"(?:[^"\\]|\\.)*":(?: |$)', rest)):
        return _value(lines, at, rest, indent, string=False)
    if rest.startswith("- ") or re.match(r'(?:"(?:[^"\\]|\\.)*"|.*?):(?: |$)', rest):
        lines[at] = " " * (indent + 2) + rest
        return _block(lines, at, indent + 2)
    return _inline(rest, 0)[0], at + 1


def _key(text: str) -> tuple[str, str]:
    if text[0] == '"':
        key, end = json.JSONDecoder().raw_decode(text)
        return key, text[end + 1 :].removeprefix(" ")
    found = re.match(r"(.*?):(?: (.*)|$)", text)
    assert found
    return found.group(1), found.group(2) or ""


def _value(lines: list[str], at: int, rest: str, indent: int, string: bool) -> tuple[Any, int]:
    if rest == "|":
        end = at + 1
        while end < len(lines) and lines[end].startswith(" " * (indent + 2)):
            end += 1
        return "\n".join(line[indent + 2 :] for line in lines[at + 1 : end]), end
    if not rest:
        return _block(lines, at + 1, indent + 2)
    if string and rest[0] not in '"{[' and not NUMBER.fullmatch(rest) and rest not in WORDS:
        return rest, at + 1
    return _inline(rest, 0)[0], at + 1


def _inline(text: str, at: int) -> tuple[Any, int]:
    if text[at] in "{[":
        close, held = "}]"["{[".index(text[at])], list[Any]()
        keyed = text[at] == "{"
        at += 1
        while text[at] != close:
            value, at = _inline(text, at)
            if keyed:
                inner, at = _inline(text, at + 2)
                value = (value, inner)
            held.append(value)
            at += 2 if text[at : at + 2] == ", " else 0
        return dict(held) if keyed else held, at + 1
    if text[at] == '"':
        return json.JSONDecoder().raw_decode(text, at)
    end = at
    while end < len(text) and text[end] not in ",}]" and text[end : end + 2] != ": ":
        end += 1
    word = text[at:end]
    return (WORDS[word] if word in WORDS else json.loads(word) if NUMBER.fullmatch(word) else word), end


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
    read = 0
    for _ in range(3_000):
        data = value(chance, 5)
        for text in (json.dumps(data), json.dumps(data, indent=2)):
            lines = relaid(text) if isinstance(data, (dict, list)) else None
            if lines is not None:
                assert read_back(list(lines)) == data, lines
                read += 1
    assert read > 1_000


def test_digits_and_keys_that_stand_twice_stay() -> None:
    text = '{"a": 1.50, "a": 12345678901234567890123, "n": NaN, "list": [' + ", ".join(["1e2"] * 60) + "]}"
    lines = relaid(text)
    assert lines and lines[:4] == ["a: 1.50", "a: 12345678901234567890123", "n: NaN", "list:"]
    assert lines[4:] == ["  - 1e2"] * 60


def test_a_document_within_a_text_leaves_the_rest_of_it() -> None:
    body = json.dumps({"detail": [{"loc": ["body", name], "msg": "Field required"} for name in "abcdef"]})
    lines = relaid(f"HTTP/1.1 422\ncontent-type: json\n\n{body}\n* closed\n")
    assert (
        lines and lines[:3] == ["HTTP/1.1 422", "content-type: json", "detail:"] and lines[-1] == "* closed"
    )
    assert "  - {loc: [body, b], msg: Field required}" in lines


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        '{"a": 1}',
        "[2024-01-01] started\n" * 30,
        '{"a": ' * 10_000 + "1" + "}" * 10_000,
        "[" * 1_000_000,
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
    assert relaid(json.dumps([{"a": at, "b": {"c": ["x"] * 5}, "d": "text\n" * 9} for at in range(12_000)]))
    assert time.process_time() - started < HANGS_SECONDS


def test_the_head_of_a_document_on_one_line_counts_the_lines_that_it_is_read_as() -> None:
    text = json.dumps([{"id": n, "name": f"user{n}", "open": n != 97} for n in range(400)])
    head = compress(text, Context(count=lambda given: len(given) // 4)).text.split("\n")[0]
    shown, whole = map(int, re.findall(r"\d+", head.replace(",", "")))
    assert shown < whole == 400
