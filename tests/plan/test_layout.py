"""Where the files of a prompt that only grows stand."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aider_gardener.plan.layout import DIFF_SHARE, GARBAGE_SHARE, File, Layout, Sent
from aider_gardener.plan.repo_map import MapNow

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


LINES = ("x = 1", "", "    return x", "    return the_total(order, lines)", "def f():", "}", "same", "same",
         "a\u2028b", "tab\t", "+plus", "-minus", "@@")  # fmt: skip


def any_text(chance: random.Random) -> str:
    return "\n".join(chance.choices(LINES, k=chance.choice((0, 1, 5, 40)))) + chance.choice(("", "\n"))


def change(chance: random.Random, files: dict[str, File]) -> None:
    """A file is added, dropped, made read-only or not, written anew, or edited."""
    name, what = f"{chance.choice('abcd')}.py", chance.randrange(8)
    file = files.get(name)
    if file is None:
        files[name] = File(name, any_text(chance), chance.random() < 0.2)
    elif what == 0:
        del files[name]
    elif what == 1:
        files[name] = file._replace(read_only=not file.read_only)
    else:
        lines = file.text.split("\n")
        at = chance.randint(0, len(lines))
        lines[at : at + chance.randint(0, 2)] = chance.choices(LINES, k=chance.randint(0, 2))
        files[name] = file._replace(text=any_text(chance) if what == 2 else "\n".join(lines))


def rests(last: Layout, layout: Layout, files: Sequence[File], whole: Sequence[str]) -> bool:
    """Whether what was sent stands as it did, or there may be too much garbage: a change adds half of its file to
    it at most, or the old copy."""
    if layout.renewals == last.renewals:
        return layout.updates[: len(last.updates)] == last.updates and (
            (layout.bases, layout.gathered) == (last.bases, last.gathered)
        )
    texts = {file.name: file.text for file in files}
    changed = {name for name, each in last.last.items() if name in whole or each.file.text != texts[name]}
    longest = (max(len(last.since_whole[name][0].file.text), len(texts[name])) for name in changed)
    return last.garbage + sum(longest) > GARBAGE_SHARE * sum(map(len, texts.values()))


@given(st.integers(0, 2**32))
@settings(max_examples=120)
def test_files_are_read_right_and_what_was_sent_rests_whatever_happens_to_them(seed: int) -> None:
    chance = random.Random(seed)
    files = {f"{name}.py": File(f"{name}.py", any_text(chance)) for name in "abc"[: chance.randint(0, 3)]}
    history: list[int] = []
    last = Layout()
    for prompt in range(6):
        for _ in range(chance.randint(0, 3)):
            change(chance, files)
        history = history[chance.randint(1, 3) :] if chance.random() < 0.2 else history
        history = [*history, *range(prompt * 10, prompt * 10 + chance.randint(0, 4))]
        cold, whole = chance.random() < 0.05, [name for name in files if chance.random() < 0.1]
        given_now = list(files.values())
        layout = last.next(given_now, MapNow(), history, cold=cold, whole=whole)
        assert not layout.wrong(given_now)
        assert {name: each.file for name, each in layout.last.items()} == files
        assert layout.garbage <= GARBAGE_SHARE * sum(len(file.text) for file in given_now)
        assert all(
            sum(map(len, layout.diffs(file.name))) <= DIFF_SHARE * len(file.text) for file in given_now
        )
        assert not any(map(layout.diffs, whole))
        again = layout.next(given_now, MapNow(), layout.history)
        assert (again.sent, again.updates, again.renewals) == (layout.sent, layout.updates, layout.renewals)
        roles = {file.name: file.read_only for file in given_now}
        all_stand = all(roles.get(name) is each.file.read_only for name, each in last.last.items())
        if last.begun and all_stand and tuple(history[: len(last.history)]) == last.history and not cold:
            assert rests(last, layout, given_now, whole)
        last = layout


def test_a_file_is_sent_once_and_then_as_what_changed() -> None:
    layout = chat(([A, B], 0), ([A, edited(B, 3, "30")], 2), ([edited(A, 1, "x"), edited(B, 3, "30")], 4))
    assert shown([*layout.bases]) == ["a.py", "b.py"]
    assert [(update.at, shown([*update.files])) for update in layout.updates] == [
        (2, ["b.py diff"]),
        (4, ["a.py diff"]),
    ]


def test_a_file_that_leaves_the_chat_is_nowhere_and_what_stands_before_it_stays() -> None:
    layout = chat(([A, B, C], 0), ([A, edited(B, 1, "x"), C], 2), ([A, edited(B, 1, "x")], 4))
    assert shown(layout.sent) == ["a.py", "b.py", "b.py diff"]
    changed = chat(
        ([A, B, C], 0), ([edited(A, 1, "x"), B, edited(C, 1, "x")], 2), ([B, edited(C, 1, "x")], 4)
    )
    assert shown(changed.sent) == ["b.py", "c.py"], "what was changed longest ago comes first"


def test_a_new_file_is_shown_behind_and_stands_with_the_others_after_a_compaction() -> None:
    layout = chat(([A], 0), ([A, B], 2))
    assert shown([*layout.bases]) == ["a.py"] and layout.updates[0].files == (Sent(B, is_new=True),)
    assert shown([*layout.next([A, B], MapNow(), [9]).bases]) == ["a.py", "b.py"]


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


def test_one_that_would_be_read_wrong_is_found() -> None:
    layout = chat(([A, B], 0), ([edited(A, 1, "x"), B], 2))
    bad = Sent(edited(A, 1, "x"), "@@\n-nowhere\n+there\n")
    assert replace(layout, gathered=(bad,), updates=()).wrong([edited(A, 1, "x"), B]) == {"a.py"}


def test_what_was_sent_is_gone_through_once_for_all_files(monkeypatch: pytest.MonkeyPatch) -> None:
    files = [File(f"doc{n}.md", f"line of {n}\n" * 4) for n in range(100)]
    layout, sent, gone_through = Layout().next(files, MapNow(), []), Layout.sent, list[int]()

    def counted(self: Layout) -> list[Sent]:
        gone_through.append(1)
        return sent.fget(self)  # type: ignore[attr-defined]

    monkeypatch.setattr(Layout, "sent", property(counted))
    layout = replace(layout)
    assert not layout.wrong(files) and not any(layout.diffs(file.name) for file in files)
    assert len(gone_through) == 1
