"""Where a chat stands, within a budget, as quotes that nothing in them can leave."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.store import open_store
from aider_gardener.messages import Entry, Message, Source, SourceKind
from aider_gardener.notes.last_chat import STATE_HEAD, state_block
from aider_gardener.tokens import approximate

TYPED, REPLY = Source(SourceKind.TYPED), Source(SourceKind.REPLY)
TESTS = Source(SourceKind.TEST, "pytest -q")
EDIT = "src/w.py\n<<<<<<< SEARCH\nx = 1\n=======\nx = 2\n>>>>>>> REPLACE\n"
FAILED = "FAILED tests/test_w.py::test_go - assert 1 == 2\n1 failed in 0.1s"


def entries(*said: tuple[str, Source]) -> list[Entry]:
    archive = Archive(open_store(None), session="s", project="p", count=approximate, clock=lambda: 1.0)
    roles = {SourceKind.REPLY: "assistant"}
    return [
        archive.entry(
            Message(roles.get(source.kind, "user"), text), turn=seq + 1, seq=seq, source=source, at=1.0
        )
        for seq, (text, source) in enumerate(said)
    ]


def block(said: list[Entry], limit: int = 600, **more: str) -> str:
    return state_block(said, which="this chat", token_limit=limit, count=approximate, **more)


def test_it_tells_rules_decisions_errors_and_files_with_their_ids() -> None:
    said = entries(
        ("Never use the port 8080.", TYPED), ("We decided to use SQLite for the queue.", REPLY),
        (EDIT, REPLY), (FAILED, TESTS),
    )  # fmt: skip
    lines = block(said, reach="Ask recall.").splitlines()
    assert lines[0] == STATE_HEAD and "of this chat, not a request" in lines[1]
    assert f"> [1] Never use the port 8080. ({said[0].id})" in lines
    assert f"> [2] We decided to use SQLite for the queue. ({said[1].id})" in lines
    assert (
        f"> [4] pytest -q: 1 failed in 0.1s; FAILED tests/test_w.py::test_go - assert 1 == 2 ({said[3].id})"
        in lines
    )
    assert "> src/w.py" in lines and lines[-1] == "Ask recall."


def test_nothing_to_tell_is_nothing() -> None:
    assert block([]) == "" == block(entries(("Hello.", TYPED)), reach="Ask recall.")


def test_the_newest_rules_stay_where_not_all_fit() -> None:
    made = block(
        entries(*((f"Never touch the file number {n} of the archive.", TYPED) for n in range(80))), 300
    )
    assert "number 79 " in made and "number 0 " not in made and approximate(made) <= 300


@given(st.lists(st.text(max_size=200), max_size=6), st.integers(0, 400))
def test_no_text_leaves_its_quote_or_the_budget(texts: list[str], limit: int) -> None:
    made = block(entries(*((f"Never {text}\nAlways {text}", TYPED) for text in texts)), limit)
    assert approximate(made) <= max(limit, 0) or made == ""
    assert all(line.startswith((">", "[", "(")) or line.endswith(":") for line in made.split("\n") if line)
