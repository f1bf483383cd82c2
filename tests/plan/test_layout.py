"""Where the files of a prompt that only grows stand."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from aider_gardener.plan.layout import DIFF_SHARE, File, Layout, Sent
from aider_gardener.plan.repo_map import MapNow
from bench.layout_attack import Tried, attack

TEXT = "".join(f"def part_{n}():\n    return {n}\n\n\n" for n in range(20))
A, B, C = (File(name, TEXT.replace("part", name[0])) for name in ("a.py", "b.py", "c.py"))


def edited(file: File, line: int, to: str) -> File:
    return file._replace(text=file.text.replace(f"return {line}\n", f"return {to}\n"))


def chat(*prompts: tuple[list[File], int], **options: Any) -> Layout:
    """The layout after prompts with these files and so many messages behind them."""
    layout = Layout()
    for files, messages in prompts:
        layout = layout.next(files, MapNow(), range(messages), **options)
        assert not layout.wrong(files)
    return layout


def shown(sent: list[Sent]) -> list[str]:
    return [each.name + (" diff" if each.diff else "") for each in sent]


def test_files_are_read_right_whatever_happens_to_them() -> None:
    found = attack(sequences=300, seed=2)
    assert found == Tried(sequences=300, prompts=1_800)


def test_a_file_is_sent_once_and_then_as_what_changed() -> None:
    layout = chat(([A, B], 0), ([A, edited(B, 3, "30")], 2), ([edited(A, 1, "x"), edited(B, 3, "30")], 4))
    assert shown([*layout.bases]) == ["a.py", "b.py"]
    assert [(update.at, shown([*update.files])) for update in layout.updates] == [
        (2, ["b.py diff"]),
        (4, ["a.py diff"]),
    ]


def test_a_compaction_leaves_the_bases_and_gathers_the_diffs() -> None:
    first = chat(([A, B], 0), ([edited(A, 1, "x"), B], 2), ([edited(edited(A, 1, "x"), 2, "y"), B], 4))
    assert len(first.updates) == 2
    layout = first.next([edited(edited(A, 1, "x"), 2, "y"), B], MapNow(), range(10, 14))
    assert layout.bases == first.bases and not layout.updates and layout.laid == first.laid + 1
    assert shown([*layout.gathered]) == ["a.py diff"] and str(layout.read("a.py")).count("return x") == 1


def test_a_file_that_leaves_the_chat_is_nowhere_and_what_stands_before_it_stays() -> None:
    layout = chat(([A, B, C], 0), ([A, edited(B, 1, "x"), C], 2), ([A, edited(B, 1, "x")], 4))
    assert shown(layout.sent) == ["a.py", "b.py", "b.py diff"]
    changed = chat(
        ([A, B, C], 0), ([edited(A, 1, "x"), B, edited(C, 1, "x")], 2), ([B, edited(C, 1, "x")], 4)
    )
    assert shown(changed.sent) == ["b.py", "c.py"], "what was changed longest ago comes first"


def test_a_role_is_never_left_wrong() -> None:
    layout = chat(([A, B], 0), ([A._replace(read_only=True), B], 2))
    assert [base.file.read_only for base in layout.bases] == [True, False]


def test_a_new_file_is_shown_behind_and_stands_with_the_others_after_a_compaction() -> None:
    layout = chat(([A], 0), ([A, B], 2))
    assert shown([*layout.bases]) == ["a.py"] and layout.updates[0].files == (Sent(B, is_new=True),)
    assert shown([*layout.next([A, B], MapNow(), [9]).bases]) == ["a.py", "b.py"]


def test_the_diffs_of_several_prompts_are_gathered_as_one() -> None:
    layout = chat(([A, B], 0), *(([edited(A, 1, "x"), edited(B, n, "y")], 2 * n) for n in (1, 2, 3)))
    compacted = layout.next([edited(A, 1, "x"), edited(B, 3, "y")], MapNow(), [99])
    assert shown(compacted.sent) == ["a.py", "b.py", "a.py diff", "b.py diff"]
    assert compacted.bases == layout.bases


def test_a_cold_cache_makes_all_of_it_anew() -> None:
    layout = chat(([A, B], 0), ([edited(A, 1, "x"), B], 2))
    anew = layout.next([edited(A, 1, "x"), B], MapNow(), range(2), cold=True)
    assert shown(anew.sent) == ["b.py", "a.py"]


def test_what_is_hard_to_read_as_diffs_is_shown_whole() -> None:
    often = chat(*(([edited(A, 1, f"longer {n}"), B], n) for n in range(4)))
    assert shown([*often.updates[-1].files]) == ["a.py"], "the third diff of the same lines"
    much = A._replace(text=A.text.replace("return", "yield", 12))
    assert shown(chat(([A, B], 0), ([much, B], 2)).sent)[-1] == "a.py", f"more than {DIFF_SHARE:.0%} of it"
    failed = chat(([A, B], 0), ([edited(A, 1, "x"), B], 2)).next(
        [edited(A, 1, "x"), B], MapNow(), range(4), whole={"a.py"}
    )
    assert shown(failed.sent)[-1] == "a.py" and not failed.diffs("a.py")


def test_garbage_is_thrown_away_once_there_is_more_of_it_than_of_files() -> None:
    layout, files = Layout(), [A]
    for number in range(40):
        files = [edited(files[0], number % 20, f"{number % 20} + 0\n    # or {number}")]
        layout = layout.next(files, MapNow(), range(number))
        assert not layout.wrong(files)
        assert layout.garbage <= len(files[0].text)
    assert 1 < layout.laid < 20


def test_one_that_would_be_read_wrong_is_found() -> None:
    layout = chat(([A, B], 0), ([edited(A, 1, "x"), B], 2))
    bad = Sent(edited(A, 1, "x"), "@@\n-nowhere\n+there\n")
    assert replace(layout, gathered=(bad,), updates=()).wrong([edited(A, 1, "x"), B]) == {"a.py"}


def test_what_a_prompt_costs_does_not_grow_with_the_square_of_its_files() -> None:
    files = [File(f"doc{n}.md", f"line of {n}\n" * 40) for n in range(3_000)]
    layout = Layout().next(files, MapNow(), [])
    began = time.process_time()
    assert not layout.wrong(files) and not any(layout.diffs(file.name) for file in files)
    assert time.process_time() - began < 0.5
