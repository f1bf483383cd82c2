"""What agents send, in the core's words."""

from __future__ import annotations

import json

import hypothesis.strategies as st
import pytest
from hypothesis import given

from aider_gardener.adapters.plain.reading import Kind, items, text_of
from aider_gardener.adapters.transcript import DETAIL_CHARS, source_of
from aider_gardener.messages import SourceKind

from .agents import call, calls, result, user


def test_a_result_comes_from_the_call_that_it_answers() -> None:
    read = items([calls(call("c1", "ls -l"), call("c2", "pytest -q")), result("c2", ""), result("c1", "")])
    assert [(item.source.kind, item.source.detail) for item in read[1:] if item.source] == [
        (SourceKind.TEST, "pytest -q"),
        (SourceKind.COMMAND, "ls -l"),
    ]


@pytest.mark.parametrize(
    ("name", "given", "kind", "detail"),
    [
        ("bash", {"command": ["npm", "run", "test"]}, SourceKind.TEST, "npm run test"),
        ("shell", {"command": ["bash", "-lc", "pytest -q"]}, SourceKind.TEST, "pytest -q"),
        ("shell", {"command": ["grep", "a b", 3]}, SourceKind.COMMAND, "grep 'a b' 3"),
        ("fetch", {"url": "https://example.com/a"}, SourceKind.WEB, "https://example.com/a"),
        ("read_file", {"path": "src/a.py", "limit": 3}, SourceKind.COMMAND, "read_file src/a.py"),
        ("think", {}, SourceKind.COMMAND, "think"),
        ("odd", {"input": "not\njson"}, SourceKind.COMMAND, "odd"),
        ("long", {"query": "x" * 900}, SourceKind.COMMAND, "long " + "x" * DETAIL_CHARS),
        ("cut", {"query": f"{'x' * 390} ghp_{'aB3' * 12}"}, SourceKind.COMMAND, f"cut {'x' * 390} [redacted"),
    ],
)
def test_a_source_says_what_was_run(
    name: str, given: dict[str, object], kind: SourceKind, detail: str
) -> None:
    source = source_of(name, given)
    assert (source.kind, source.detail) == (kind, detail)


def test_a_call_says_all_of_its_arguments_and_an_edit_is_one_block() -> None:
    code = "def f():\n    return '```'\n"
    one, other = (
        {"id": "c", "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
        for name, given in (
            ("store", {"path": "a.py", "content": code}),
            ("Write", {"file_path": "a.py", "content": code}),
        )
    )
    stored, written = (item.message.content for item in items([calls(one), calls(other)]))
    assert stored == f"store\npath: a.py\ncontent: {code}".rstrip()
    assert written == f"a.py\n<<<<<<< SEARCH\n=======\n{code}>>>>>>> REPLACE\n"


def test_parts_that_are_no_text_leave_a_mark_that_tells_them_apart() -> None:
    def shown(url: str) -> dict[str, object]:
        return user([{"type": "text", "text": "Look:"}, {"type": "image_url", "image_url": {"url": url}}])

    one, other = items([shown("data:1"), shown("data:2")])
    assert one.images == other.images == 1
    assert one.message.content.startswith("Look:\n[image_url ") and one.message != other.message


def test_messages_of_the_same_words_are_told_apart_by_all_that_they_hold() -> None:
    one, other, again = items([result("c1", "ok"), result("c2", "ok"), result("c1", "ok")])
    assert one.message == other.message and one.key != other.key and one.key == again.key


def test_a_refusal_and_an_empty_message_have_a_text() -> None:
    assert text_of({"role": "assistant", "content": None, "refusal": "No."}) == "No."
    assert text_of({"role": "assistant"}) == ""


@pytest.mark.parametrize("kind", ["text", "refusal", "thinking"])
def test_a_part_in_words_is_read_and_counts_as_no_image(kind: str) -> None:
    (item,) = items([{"role": "assistant", "content": [{"type": kind, kind: "I cannot do that."}]}])
    assert (item.message.content, item.images) == ("I cannot do that.", 0)


def test_calls_of_no_known_form_are_read() -> None:
    custom = {"id": "c", "type": "custom", "custom": {"name": "sql", "input": "select 1"}}
    broken = {"role": "assistant", "tool_calls": [{"id": "d"}, "what", {"function": "run"}]}
    none = {"role": "assistant", "content": "a", "tool_calls": 5}
    deep = {"id": "e", "type": "function", "function": {"name": "run", "arguments": "[" * 100_000}}
    read = items([calls(custom), broken, none, calls(deep)])
    assert read[0].message.content == "sql\ninput: select 1"
    assert read[1].kind is Kind.CALLS and read[2].kind is Kind.WORDS


@given(st.data())
def test_a_list_is_read_as_if_none_had_been_read_before(data: st.DataObject) -> None:
    """What is known of the list before it, which lacks or has other messages, changes nothing."""
    made = [user("Go."), *(calls(call(i, run)) for i in "ab" for run in ("ls", "pytest -q"))]
    lists = st.lists(st.sampled_from([*made, result("a", "ok"), result("b", "ok")]), max_size=7)
    before, now = data.draw(lists), data.draw(lists)
    alike = data.draw(st.integers(0, len(before)))
    now = [*before[:alike], *now]
    assert items(now, items(before)) == items(now)
