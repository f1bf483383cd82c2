"""Chat histories are read back as the host's own writer wrote them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aider_gardener.errors import SessionError
from aider_gardener.replay.session.history import RESTART, load_history
from aider_gardener.replay.session.session import Session

HISTORIES = Path(__file__).parents[2] / "data" / "histories"
FENCE = "```"


@pytest.fixture
def writer(tmp_path: Path) -> Any:
    from aider.io import InputOutput

    def make(name: str = "h.md") -> Any:
        return InputOutput(pretty=False, yes=True, fancy_input=False, chat_history_file=tmp_path / name)

    return make


def said(session: Session) -> list[tuple[str, str]]:
    return [(event.kind, event.text) for event in session.events if event.kind in ("user", "reply", RESTART)]


def usage(io: Any) -> None:
    io.tool_output("Tokens: 2.4k sent, 91 received. Cost: $0.0085 message, $0.0085 session.")


def written(io: Any, turns: list[tuple[str, list[str]]], *, with_usage: bool = True) -> list[tuple[str, str]]:
    """Write turns as a coder does and return what should be read back."""
    expected = []
    for prompt, replies in turns:
        io.user_input(prompt)
        expected.append(("user", prompt.rstrip()))
        for number, reply in enumerate(replies):
            if number:
                io.tool_warning("\n# Fix any errors below, if possible.\n\n## See: a.py\n> 1: x\n")
            io.ai_output(reply)
            expected.append(("reply", reply.strip()))
            if with_usage or len(replies) > 1:
                usage(io)
    return expected


HARD_REPLIES = [
    "# Heading\n\ntext\n\n## Two\n\n#### Four\n\n##### Five",
    "> a quote first\n\nand text",
    "text\n\n> quoted\n> lines\n\nmore",
    "text\n\n> a\n\n> b",
    f"a.py\n{FENCE}python\n<<<<<<< SEARCH\n# old comment\n=======\n# new comment\n> not a notice  \n\n> odd  \n>>>>>>> REPLACE\n{FENCE}",
    f"{FENCE}md\n\n\n#### a heading in a fence\n\n> quote in a fence  \n\n# aider is good\n{FENCE}\nafter",
    f"README.md\n{FENCE}\n<<<<<<< SEARCH\n=======\n{FENCE}sh\nls\n{FENCE}\n\n> note  \n>>>>>>> REPLACE\n{FENCE}",
    f"an open fence\n{FENCE}python\n# a comment\nx = 1",
    "- list\n\n\n\n- after three empty lines",
    "#### Heading first\n\nand text",
    "one line  \nbroken by two spaces  \nend",
    "tab\there\nand \x0c form feed and \u2028 separator",
    ">>> 1 + 1\n2\n\n>>> 2 + 2\n4",
]
HARD_PROMPTS = [
    "plain",
    "two\nlines",
    "#### looks like a prompt\n#### again",
    "> looks like a notice\n\n> and another\n# heading",
    f"code:\n{FENCE}python\n# comment\nx = 1  \n{FENCE}\nend",
    "    indented\n\ttabbed\n\n\nwith empty lines",
    "/ask what?",
    "# aider chat started at 2024-01-01 10:00:00",
    "ends in empty lines\n\n",
    "ünï→日本",
]


@pytest.mark.parametrize("reply", HARD_REPLIES)
@pytest.mark.parametrize("with_usage", [True, False])
def test_a_reply_comes_back_as_it_was(writer: Any, tmp_path: Path, reply: str, with_usage: bool) -> None:
    turns = [("first", [reply]), ("second", ["fine"])]
    if not with_usage and "open fence" in reply:
        turns = [("first", [reply, "then"]), ("second", ["fine"])]
    expected = written(writer(), turns, with_usage=with_usage)
    assert said(load_history(tmp_path / "h.md")) == expected


@pytest.mark.parametrize("prompt", HARD_PROMPTS)
def test_a_prompt_comes_back_as_it_was(writer: Any, tmp_path: Path, prompt: str) -> None:
    expected = written(writer(), [("before", ["r"]), (prompt, ["reply"]), (prompt + "!", [])])
    assert said(load_history(tmp_path / "h.md")) == expected


prompt_line = st.one_of(
    st.sampled_from(
        ["", "# x", "> y", "#### z", "    indent", FENCE, FENCE + "py", "<blank>", "- a", "a: b"]
    ),
    st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Zl", "Zp")), max_size=20),
)
prompts = (
    st.lists(prompt_line, min_size=1, max_size=5)
    .map("\n".join)
    .filter(lambda text: text.strip() and text.rstrip() != "<blank>" and not text.lstrip().startswith("/"))
)
reply_line = st.one_of(
    st.sampled_from(
        ["", "", "# h", "#### h4", "> quote", "> # x", "text", "    code", "---", ">>> x", "end."]
    ),
    st.text(st.characters(codec="utf-8", exclude_categories=("Cc",)), max_size=20),
)
block = st.lists(st.sampled_from(["# c", "> c", "> c  ", "", "x = 1", "#### c"]), max_size=6).map("\n".join)
fenced = block.map(lambda body: f"{FENCE}python\n{body}\n{FENCE}")
edit = st.tuples(block, block).map(
    lambda both: f"a.py\n{FENCE}\n<<<<<<< SEARCH\n{both[0]}\n=======\n{both[1]}\n>>>>>>> REPLACE\n{FENCE}"
)


def keeps_apart(text: str) -> bool:
    """Not one of the cases that the format leaves ambiguous."""
    lines = text.strip().split("\n")
    return (
        bool(text.strip())
        and not any(
            line.startswith((">", "####")) and line.endswith("  ") and "c" not in line for line in lines
        )
        and not any(line.startswith(("~~~", FENCE)) for line in lines[-1:] if line != FENCE)
    )


replies = (
    st.lists(st.one_of(reply_line, fenced, edit), min_size=1, max_size=6).map("\n".join).filter(keeps_apart)
)
turns = st.lists(st.tuples(prompts, st.lists(replies, max_size=3)), min_size=1, max_size=5)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(turns=turns, with_usage=st.booleans(), crlf=st.booleans(), mark=st.booleans())
def test_round_trip_of_what_the_host_writes(
    writer: Any, tmp_path: Path, turns: list[tuple[str, list[str]]], with_usage: bool, crlf: bool, mark: bool
) -> None:
    path = tmp_path / "h.md"
    path.unlink(missing_ok=True)
    echoes = {line for _, found in turns for line in found}
    if any(prompt.strip() in {reply.strip() for reply in echoes} for prompt, _ in turns):
        return
    expected = written(writer(), turns, with_usage=with_usage)
    data = path.read_bytes()
    data = data.replace(b"\n", b"\r\n") if crlf else data
    path.write_bytes((b"\xef\xbb\xbf" if mark else b"") + data)
    assert said(load_history(path)) == expected


def test_notices_become_events_or_go() -> None:
    session = load_history(HISTORIES / "current.md")
    assert [(event.turn, event.kind) for event in session.events] == [
        (1, "user"), (1, "reply"), (2, "user"), (2, "command"), (3, "user"),
        (4, "user"), (4, "reply"), (4, "commit"), (4, "warning"), (4, "reply"), (4, "commit"),
        (4, RESTART), (5, "user"), (5, "reply"),
    ]  # fmt: skip
    assert session.recorded is False and session.auto_lint
    assert session.meta == {"model": "gpt-4o"}
    command, *_ = session.of_kind("command")
    assert command.command == "pytest -q tests/test_ports.py" and command.output.startswith("[12 lines")
    assert [event.text for event in session.of_kind("commit")] == [
        "feat: let port 0 mean any free port",
        "fix: add the missing colon",
    ]
    assert session.of_kind("warning")[0].text.startswith("\n# Fix any errors below, if possible.\n\n## See")


def test_a_prompt_logged_again_by_another_mode_is_one_turn() -> None:
    asked = load_history(HISTORIES / "current.md").of_kind("user")[0]
    assert asked.text == "/ask what does parse_port in net/ports.py do with 0?"
    architect = load_history(HISTORIES / "architect.md")
    assert architect.turn_count == 1 and len(architect.of_kind("reply")) == 2
    assert len(architect.of_kind("commit")) == 1  # applied without git counts as an edit too


@pytest.mark.parametrize("name", ["windows.md", "stripped.md"])
def test_line_ends_and_a_byte_order_mark_make_no_difference(name: str) -> None:
    same, current = load_history(HISTORIES / name), load_history(HISTORIES / "current.md")
    assert [(e.turn, e.kind) for e in same.events] == [(e.turn, e.kind) for e in current.events]
    assert said(same)[:2] == said(current)[:2]


def test_a_chat_whose_line_ends_an_editor_took_is_read_beside_one_that_has_them(tmp_path: Path) -> None:
    path = tmp_path / "h.md"
    stripped, current = HISTORIES / "stripped.md", HISTORIES / "current.md"
    for one, other in ((stripped, current), (current, stripped)):
        path.write_text(f"{one.read_text('utf-8')}\n{other.read_text('utf-8')}", encoding="utf-8")
        alone = [said(load_history(one)), said(load_history(other))]
        assert said(load_history(path)) == [*alone[0], ("restart", ""), *alone[1]]


def test_a_truncated_file_keeps_what_is_there() -> None:
    session = load_history(HISTORIES / "truncated.md")
    assert session.turn_count == 4 and session.events[-1].text.startswith("I allow 0.")


def test_text_in_another_encoding_is_read(tmp_path: Path) -> None:
    path = tmp_path / "h.md"
    text = "\n# aider chat started at 2025-01-01 10:00:00\n\n\n#### größer  \n\nja, größer\n\n"
    for encoding in ("cp1252", "utf-16", "utf-8-sig"):
        path.write_bytes(text.encode(encoding))
        assert said(load_history(path)) == [("user", "größer"), ("reply", "ja, größer")]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "no prompt was typed"),
        (b"\n \n", "no prompt was typed"),
        (b"\n# aider chat started at 2025-01-01 10:00:00\n\n> Aider v0.86.2  \n", "no prompt was typed"),
        (b"[project]\nname = 'x'\n# a comment\n", "no prompt was typed"),
        (b"SQLite format 3\x00\x01\x02", "binary"),
    ],
)
def test_a_foreign_or_empty_file_is_refused_in_one_line(tmp_path: Path, data: bytes, says: str) -> None:
    path = tmp_path / "h.md"
    path.write_bytes(data)
    with pytest.raises(SessionError, match=says) as refused:
        load_history(path)
    assert str(path) in str(refused.value) and "\n" not in str(refused.value)


def test_no_secret_of_a_history_is_read(tmp_path: Path) -> None:
    """Not where it stands alone either, once it was known for one: what is read is shown in pages."""
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    text = f"\n# aider chat started at 2025-01-01 10:00:00\n\n\n#### token: {secret}  \n\nuse {secret}\n\n"
    (tmp_path / "h.md").write_text(text, encoding="utf-8")
    session = load_history(tmp_path / "h.md")
    assert secret not in repr(session) and [event.text[:4] for event in session.events] == ["toke", "use "]
