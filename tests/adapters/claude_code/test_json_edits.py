"""Edits of JSON text: what they set, and that nothing else in the text moves."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aider_gardener.adapters.claude_code.json_edits import append, applied, drop, parsed, put, undone

words = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | words,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(words, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(words, values, max_size=4)


@st.composite
def texts(draw: st.DrawFn) -> str:
    """An object as people and programs write it: indented or not, with either line end, with a BOM or without."""
    indent = draw(st.sampled_from([None, 0, 2, 4, "\t"]))
    text = json.dumps(draw(objects), indent=indent, ensure_ascii=draw(st.booleans()))
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    blank = st.sampled_from(["", " ", "\n", "\r\n", "\n\n"])
    return draw(st.sampled_from(["", "\ufeff"])) + draw(blank) + text + draw(blank)


def set_at(value: dict[str, Any], path: list[str], new: Any) -> dict[str, Any]:
    """The same in plain dicts."""
    inner = new if len(path) == 1 else set_at(value.get(path[0], {}), path[1:], new)
    return {**value, path[0]: inner}


@given(texts(), words, values)
def test_a_member_is_set_and_the_rest_stays_in_its_order(text: str, key: str, value: Any) -> None:
    wanted = set_at(parsed(text), [key], value)
    made = applied(text, [put(text, [key], value)])
    assert parsed(made) == wanted and list(parsed(made)) == list(wanted)


@given(texts(), st.lists(st.tuples(words, values), max_size=4))
def test_taking_edits_back_gives_the_text_from_before(text: str, members: list[tuple[str, Any]]) -> None:
    made, edits = text, []
    for key, value in members:
        edits.append(put(made, [key], value))
        made = applied(made, edits[-1:])
    assert undone(made, edits) == text


@given(texts(), st.data())
def test_a_dropped_member_is_gone_and_all_else_is_there(text: str, data: st.DataObject) -> None:
    value = parsed(text)
    if not value:
        return
    key = data.draw(st.sampled_from(sorted(value)))
    left = parsed(applied(text, [drop(text, [key])]))
    assert list(left.items()) == [pair for pair in value.items() if pair[0] != key]


@given(texts(), st.lists(values, min_size=1, max_size=3))
def test_items_come_to_the_end_of_an_array_that_is_made_if_need_be(text: str, items: list[Any]) -> None:
    text = applied(text, [put(text, ["new"], {})])
    for item in items:
        text = applied(text, [append(text, ["new", "list"], item)])
    assert parsed(text)["new"]["list"] == items
    for _ in items[1:]:
        text = applied(text, [drop(text, ["new", "list", 0])])
    assert parsed(text)["new"]["list"] == items[-1:]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{\n  "a": 1\n}\n', '{\n  "a": 1,\n  "k": {\n    "v": [\n      1\n    ]\n  }\n}\n'),
        ('{\n\t"a": 1\n}', '{\n\t"a": 1,\n\t"k": {\n\t\t"v": [\n\t\t\t1\n\t\t]\n\t}\n}'),
        ('{"a":1}', '{"a":1, "k": {"v": [1]}}'),
        ("{}\n", '{\n  "k": {\n    "v": [\n      1\n    ]\n  }\n}\n'),
        ('{\r\n  "k": {}\r\n}', '{\r\n  "k": {\r\n    "v": [\r\n      1\r\n    ]\r\n  }\r\n}'),
        ('{\n  "k": {"v": [0]}\n}', '{\n  "k": {"v": [0, 1]}\n}'),
        ('{"n": 1.50e+1, "k": {"v": []}}', '{"n": 1.50e+1, "k": {"v": [1]}}'),
    ],
)
def test_what_is_added_is_laid_out_as_its_neighbours_are(before: str, after: str) -> None:
    assert applied(before, [append(before, ["k", "v"], 1)]) == after


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no JSON: Expecting value, line 1, column 1"),
        ('{"a": 1, // note\n}', "no JSON"),
        ('{"a": 1,}', "no JSON"),
        ("[1]", "not a JSON object"),
        ('{"a": NaN}', "no JSON: NaN"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_what_is_no_object_is_refused_in_a_few_words(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words.replace("(", r"\(")):
        parsed(text)


def test_a_value_on_the_way_that_is_no_object_and_a_key_that_stands_twice_are_refused() -> None:
    for text in ('{"hooks": "none"}', '{"hooks": [1]}'):
        with pytest.raises(ValueError, match="where an object is needed"):
            put(text, ["hooks", "Stop"], 1)
    with pytest.raises(ValueError, match="where a list is needed"):
        append('{"hooks": {"Stop": {}}}', ["hooks", "Stop"], 1)
    with pytest.raises(ValueError, match="'hooks' stands twice"):
        put('{"hooks": {}, "hooks": {}}', ["hooks"], 1)
    with pytest.raises(KeyError):
        drop("{}", ["hooks"])


def test_a_value_that_is_there_is_replaced_in_its_place() -> None:
    text = '{"env": {"A": "no", "B": "1"}}'
    assert applied(text, [put(text, ["env", "A"], "true")]) == '{"env": {"A": "true", "B": "1"}}'
