"""Tasks that are done go to the archive; where somebody changed a list meanwhile, nothing is lost or doubled."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aider_gardener import files
from aider_gardener.errors import StoreError
from aider_gardener.gardener import done_tasks
from aider_gardener.gardener.done_tasks import ARCHIVE_NAME, DETAILED, HEAD, OLDER, archived, done_in, moved

TODO = b"# Now\r\n\r\n- [x] mend the pool\r\n- [ ] paint it\r\n- [x] sweep\r\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "TODO.md").write_bytes(TODO)
    return tmp_path


def do(root: Path, listed: Path | None = None, *, dry_run: bool = False) -> list[str]:
    return list(moved(root, listed, dry_run=dry_run))


def test_what_is_checked_off_moves_with_its_day(root: Path) -> None:
    assert do(root)[-1] == f"2 tasks moved to {root / ARCHIVE_NAME}"
    assert (root / "TODO.md").read_bytes() == b"# Now\r\n\r\n- [ ] paint it\r\n"
    text, day = (root / ARCHIVE_NAME).read_text("utf-8"), time.strftime("%Y-%m-%d")
    assert (
        text == f"{HEAD}\n## {day}: sweep\n\n- [x] sweep\n\n## {day}: mend the pool\n\n- [x] mend the pool\n"
    )


def test_done_twice_is_done_once(root: Path) -> None:
    do(root)
    text = (root / ARCHIVE_NAME).read_bytes()
    assert do(root) == ["Nothing is checked off."] and (root / ARCHIVE_NAME).read_bytes() == text


@pytest.mark.parametrize(("name", "listed"), [("TODO.md", b"the user's"), (ARCHIVE_NAME, TODO)])
def test_what_was_changed_meanwhile_stays_and_so_does_the_list(
    root: Path, name: str, listed: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = files.write_if_unchanged

    def late(path: Path, before: bytes | None, after: bytes) -> None:
        if path.name == name:
            path.write_bytes(b"the user's")
        write(path, before, after)

    monkeypatch.setattr(done_tasks, "write_if_unchanged", late)
    with pytest.raises(StoreError, match=f"{name} was changed meanwhile"):
        do(root)
    assert (root / name).read_bytes() == b"the user's" and (root / "TODO.md").read_bytes() == listed


def test_what_is_no_text_is_left_alone(root: Path) -> None:
    (root / "TODO.md").write_bytes(b"- [x] \xff\n")
    with pytest.raises(StoreError, match="not UTF-8"):
        do(root)


# Lists: what is done leaves them, and nothing else does

LIST = """\
# Work

- [ ] open
- [x] done
    - a detail
    - [x] a part

      more of it
- [x] not quite
    - [ ] still open
* [X] starred

1. [x] numbered
- plain
    - [x] below a plain one
    - [ ] open one
"""
PIECES = st.sampled_from(
    ["- [ ] a", "- [x] b", "  - [x] c", "\t- [ ] d", "    text", "text", "", "# h", "```", "  ```", "> q", "- e", "\r",
     "1. [x] f", "- [x]", "- [x] é漢", "---", "\x0c", "    - [x] g"]
)  # fmt: skip


def test_what_is_done_leaves_with_all_that_stands_below_it() -> None:
    left, found = done_in(LIST)
    assert [title for title, _lines in found] == ["done", "starred", "numbered", "below a plain one"]
    assert found[0][1] == ["- [x] done", "    - a detail", "    - [x] a part", "", "      more of it"]
    assert found[3][1] == ["- [x] below a plain one"]
    assert left == (
        "# Work\n\n- [ ] open\n- [x] not quite\n    - [ ] still open\n\n- plain\n    - [ ] open one\n"
    )


@pytest.mark.parametrize(
    "text",
    [
        "```\n- [x] an example\n```\n",
        "> - [x] quoted\n",
        "- [x]no space\n- [y] no box\n[x] no item\n",
        "- [ ] parent\n  - [x] child\n",
        "",
    ],
)
def test_what_is_no_done_task_stays(text: str) -> None:
    assert done_in(text) == (text, [])


@given(st.lists(st.tuples(PIECES, st.sampled_from(["\n", "\r\n"])), max_size=25))
def test_no_line_is_lost_and_none_changed(rows: list[tuple[str, str]]) -> None:
    text = "".join(line + end for line, end in rows)
    left, found = done_in(text)
    rows_left = [*left.split("\n"), *(line for _title, lines in found for line in lines)]
    kept, before = (sorted(filter(None, map(str.strip, each))) for each in (rows_left, text.split("\n")))
    assert kept == before
    assert all("[ ]" not in line for _title, lines in found for line in lines)


def test_of_older_ones_than_the_last_ten_a_line_is_left() -> None:
    text = HEAD
    for number in range(1, 15):
        task = (f"task {number}", [f"- [x] task {number}", f"    - detail {number}"])
        text = archived(text, [task], "2026-11-23")
    assert text.count("    - detail ") == DETAILED and "    - detail 5\n" in text
    older = text[text.index(OLDER) :]
    assert older.splitlines()[2:] == [f"- 2026-11-23: task {number}" for number in (4, 3, 2, 1)]
    tasks = [(f"task {n}", [f"- [x] task {n}", f"    - detail {n}"]) for n in range(1, 15)]
    assert text == archived(HEAD, tasks, "2026-11-23")
