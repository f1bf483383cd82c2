"""The law of truth holds for true short forms, and each kind of falsehood breaks it.

Texts of several grammars are built with what each line stands under; a true form takes lines with those that
they stand under.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from random import Random

import pytest
from hanging import HANGS_SECONDS
from hypothesis import given, settings
from hypothesis import strategies as st

from aider_gardener.compress import truth
from aider_gardener.compress.outline import GAP, Note, words_in
from aider_gardener.compress.shapes import ENGINES, shortened
from aider_gardener.compress.shorten import shorten
from aider_gardener.compress.truth import Original, falsehoods
from bench.attacks.linear import errors

WORDS = "rate basket order queue silo picker harbour lantern meadow copper violet timber".split()


@dataclass
class Made:
    """A text, and for each line the row that it stands under (-1 for none)."""

    random: Random
    equal: bool = False
    lines: list[str] = field(default_factory=list)
    above: list[int] = field(default_factory=list)

    def add(self, line: str, above: int = -1) -> int:
        self.lines.append(line)
        self.above.append(above)
        return len(self.lines) - 1

    def word(self) -> str:
        """A word; of a text without equal lines one that stands nowhere else."""
        word = self.random.choice(WORDS)
        return word if self.equal else word + chr(97 + len(self.lines) % 26) + chr(97 + len(self.lines) // 26)

    def some(self, least: int = 1) -> range:
        return range(self.random.randint(least, 5))


def cases(made: Made) -> None:
    for _suite in made.some(2):
        suite = made.add(f"suite {made.word()}")
        for _case in made.some():
            case = made.add(f"  {made.random.choice('✓✗')} {made.word()} works", suite)
            for _line in made.some(0):
                made.add(f"      at {made.word()} (shop.js:3:1)", case)
        made.add("")
    made.add("3 passed, 2 failed")


def records(made: Made) -> None:
    for _file in made.some(2):
        path = made.add(f"src/{made.word()}.ts")
        for at in made.some(2):
            made.add(f"  {at + 1}:5  error  {made.word()} is not defined  no-undef", path)
        made.add("")
    made.add("✖ 9 problems")


def tree(made: Made) -> None:
    root = made.add(".")
    for _folder in made.some(2):
        folder = made.add(f"├── {made.word()}", root)
        for _file in made.some():
            inner = made.add(f"│   ├── {made.word()}.py", folder)
            if made.random.random() < 0.3:
                made.add(f"│   │   └── {made.word()}.txt", inner)


def ascii_tree(made: Made) -> None:
    root = made.add("shop:app:1.0")
    for _folder in made.some(2):
        folder = made.add(f"+- org.{made.word()}:jar:2", root)
        for _file in made.some():
            made.add(f"|  \\- org.{made.word()}:jar:3", folder)


def table(made: Made) -> None:
    for _table in made.some():
        head = made.add(made.random.choice(["NAME      STATUS   AGE", "Name      Status   Age"]))
        made.add("--------  -------  ---", head)
        for age in made.some(2):
            made.add(f"{made.word():12}  Running  {age}d", head)
        made.add("")


def log(made: Made) -> None:
    for second in range(made.random.randint(8, 20)):
        kind = made.random.choice(["INFO served", "WARN slow answer of", "ERROR lost"])
        row = made.add(f"2026-01-01 10:00:{second:02} {kind} {made.word()}")
        for _frame in range(made.random.choice((0, 0, 2))):
            made.add(f"    at {made.word()} (shop.js:3:1)", row)


def diff(made: Made) -> None:
    for _file in made.some(2):
        name = made.word()
        file = made.add(f"diff --git a/{name} b/{name}")
        made.add(f"--- a/{name}", file)
        made.add(f"+++ b/{name}", file)
        for at in made.some():
            hunk = made.add(f"@@ -{at * 9},4 +{at * 9},4 @@", file)
            for mark in made.random.choice((" -+ ", " --+", "+++-")):
                made.add(f"{mark}    {made.word()} = 1", hunk)


def context_diff(made: Made) -> None:
    for at in made.some(2):
        made.add("*" * 15)
        for edge in "*-":
            side = made.add(f"{edge * 3} {at * 9 + 1},{at * 9 + 4} {edge * 4}")
            for mark in made.random.choice((" ! ", f" !{'-' if edge == '*' else '+'}")):
                made.add(f"{mark} {made.word()} = 1", side)


def history(made: Made) -> None:
    for n in made.some(2):
        commit = made.add(f"commit {n:08x}")
        made.add(f"Author: {made.word()}", commit)
        made.add("Date:   Mon", commit)
        made.add("")
        for _line in made.some():
            made.add(f"    {made.word()} is kept", commit)


def document(made: Made) -> None:
    def block(depth: int, above: int) -> None:
        for _key in made.some():
            key = made.add(f'{"  " * depth}"{made.word()}": {{', above)
            if depth < 3 and made.random.random() < 0.5:
                block(depth + 1, key)
            else:
                made.add(f'{"  " * depth}  "{made.word()}": 1,', key)
            made.add("  " * depth + "},", above)

    block(1, made.add("{"))
    made.add("}")


GRAMMARS: list[Callable[[Made], None]] = [
    cases,
    records,
    tree,
    ascii_tree,
    table,
    log,
    diff,
    context_diff,
    history,
    document,
]
HEADED = [records, table, diff, context_diff, history]
HUNG = [cases, tree, ascii_tree, log, document]


def made_by(grammar: Callable[[Made], None], random: Random, equal: bool = False) -> Made:
    made = Made(random, equal)
    grammar(made)
    return made


def chosen(made: Made, share: float = 0.3) -> set[int]:
    """Some rows with those that they stand under."""
    rows: set[int] = set()
    for start in range(len(made.lines)):
        row = start if made.random.random() < share and made.lines[start].strip() else -1
        while row >= 0 and row not in rows:
            rows.add(row)
            row = made.above[row]
    return rows


def form_of(made: Made, rows: set[int]) -> list[str]:
    shown: list[str] = []
    for row, line in enumerate(made.lines):
        if row in rows:
            shown.append(line)
        elif line.strip() and shown[-1:] != [GAP]:
            shown.append(GAP)
    return shown


def broken(made: Made, shown: list[str]) -> set[str]:
    return {false.partition(":")[0] for false in falsehoods(Original(made.lines), "\n".join(shown))}


randoms = st.randoms(use_true_random=False)


@pytest.mark.parametrize("grammar", GRAMMARS)
@given(random=randoms, equal=st.booleans())
@settings(max_examples=40, deadline=None, derandomize=True)
def test_it_holds_for_every_choice_of_lines_with_what_they_stand_under(
    grammar: Callable[[Made], None], random: Random, equal: bool
) -> None:
    equal = equal and grammar is not history  # commits that say the same cannot be told apart
    made = made_by(grammar, random, equal)
    assert broken(made, form_of(made, chosen(made))) == set()


@pytest.mark.parametrize("grammar", GRAMMARS)
@given(random=randoms, equal=st.booleans())
@settings(max_examples=8, deadline=None, derandomize=True)
def test_it_holds_for_the_short_forms(grammar: Callable[[Made], None], random: Random, equal: bool) -> None:
    made = Made(random, equal)
    while len(made.lines) < 80:
        grammar(made)
    form = shortened("\n".join(made.lines), lambda text: len(text) // 3 + 1)
    assert falsehoods(Original(form.lines), form.text) == []
    assert form.text.count("\n") > 2


@pytest.mark.parametrize("grammar", GRAMMARS)
@given(random=randoms)
@settings(max_examples=8, deadline=None, derandomize=True)
def test_other_orders_other_words_other_gaps_and_other_numbers_break_it(
    grammar: Callable[[Made], None], random: Random
) -> None:
    made = made_by(grammar, random)
    shown = form_of(made, chosen(made))
    once = [at for at, line in enumerate(shown) if made.lines.count(line) == 1]
    for at in once:
        assert broken(made, [*shown[:at], shown[at] + " and more", *shown[at + 1 :]]) == {"line"}
        many = f" [+{len(made.lines)} alike]"
        assert "alike" in broken(made, [*shown[:at], shown[at] + many, *shown[at + 1 :]])
    for one, two in pairwise(once):
        swapped = [*shown]
        swapped[one], swapped[two] = shown[two], shown[one]
        assert broken(made, swapped)
        if two == one + 1:
            assert broken(made, [*shown[:two], GAP, *shown[two:]])
        elif two == one + 2 and shown[one + 1] == GAP:
            assert broken(made, shown[: one + 1] + shown[two:])
    if shown[0] == GAP and 1 in once:
        assert broken(made, shown[1:])
    if shown[-1] == GAP and len(shown) - 2 in once:
        assert broken(made, shown[:-1])


@pytest.mark.parametrize("grammar", HUNG)
@given(random=randoms)
@settings(max_examples=30, deadline=None, derandomize=True)
def test_a_child_under_another_parent_breaks_it(grammar: Callable[[Made], None], random: Random) -> None:
    made = made_by(grammar, random)
    rows = chosen(made, 0.6)
    telling = [row for row in rows if any(map(str.isalpha, made.lines[row]))]
    children = [row for row in telling if made.above[row] >= 0]
    for child in children:
        parent = made.above[child]
        cousins = [row for row in telling if row < parent and made.above[row] == made.above[parent]]
        if cousins and child == min(row for row in children if made.above[row] == parent):
            left = {row for row in rows if row < child and row != parent and made.above[row] != parent} | {
                child
            }
            assert "parent" in broken(made, form_of(made, left))


@pytest.mark.parametrize("grammar", HEADED)
@given(random=randoms)
@settings(max_examples=30, deadline=None, derandomize=True)
def test_a_row_without_its_head_breaks_it(grammar: Callable[[Made], None], random: Random) -> None:
    made = made_by(grammar, random)
    rows = [
        row
        for row, above in enumerate(made.above)
        if above >= 0 and made.lines[row][:3] not in ("---", "+++")
    ]
    row = random.choice(rows)
    if grammar is history and made.lines[row].startswith("    "):
        return
    assert broken(made, form_of(made, {row})) == {"head"}


def test_the_number_of_lines_alike_is_not_invented() -> None:
    lines = [f"error: cannot read basket {n}" for n in range(20)] + [f"queue {n} is empty" for n in range(30)]
    for many, false in ((19, set()), (20, {"alike"}), (49, {"alike"})):
        form = f"{lines[0]} [+{many} alike]\n{GAP}"
        assert {one.partition(":")[0] for one in falsehoods(Original(lines), form)} == false


def test_lines_drawn_behind_a_bar_are_not_alike_by_the_bar() -> None:
    lines = ["| ValueError: no depth", "|   File plan.py, line 3", "|     raise", "| TypeError: a berth"]
    assert falsehoods(Original(lines), f"{lines[0]} [+3 alike]\n{GAP}") == ["alike: line 1"]


def test_the_names_of_lines_alike_are_not_invented() -> None:
    lines = [f"a{n}.c:{n}: error: no pump{n} here: it is gone" for n in range(9)]
    for names, false in (
        ("a3.c:3 pump3; a8.c:8 pump8; …", set()),
        ("a3.c:3 pump4", {"alike"}),
        ("a9.c:9", {"alike"}),
    ):
        form = f"{lines[0]} [+8 alike: {names}]\n{GAP}"
        assert {one.partition(":")[0] for one in falsehoods(Original(lines), form)} == false


def test_a_line_is_read_for_names_once_however_many_kinds_have_some(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def noted(line: str) -> list[str]:
        read.append(line)
        return words_in(line)

    monkeypatch.setattr(truth, "words_in", noted)
    text = errors(10_000)
    made = shorten(text).text
    assert made.count(" alike: ") > 3
    assert 0 < len(read) <= 2 * text.count("\n")


def test_addresses_hashes_and_bytes_are_no_words() -> None:
    addresses = [f"0x7f{n:x}: {n + 0xABCDEF0:x}" for n in range(20)]
    dump = [f"{n:03}0: {Random(n).randbytes(16).hex(' ').upper()}  ..{WORDS[n % 9]}?" for n in range(20)]
    for lines in (addresses, dump):
        assert falsehoods(Original(lines), f"{lines[0]} [+19 alike]\n{GAP}") == []


def test_a_subject_under_another_commit_breaks_it() -> None:
    lines = ["commit abcdef1", "Date: Mon", "    one", "commit abcdef2", "Date: Tue", "    two"]
    assert falsehoods(Original(lines), f"commit abcdef1\n{GAP}\n    two") == ["parent: line 2"]
    assert falsehoods(Original(lines), f"commit abcdef1\n{GAP}\nDate: Tue\n    two") == ["head: line 2"]
    assert falsehoods(Original(lines), f"{GAP}\ncommit abcdef2\n{GAP}\n    two") == []


def test_a_field_under_another_item_breaks_it_in_a_list_that_begins_at_once() -> None:
    lines = ["- name: server", "  port: one", "- name: client", "  port: two"]
    assert falsehoods(Original(lines), f"{lines[0]}\n{GAP}\n{lines[3]}") == ["parent: line 2"]
    assert falsehoods(Original(lines), f"{lines[0]}\n{GAP}\n{lines[2]}\n{lines[3]}") == []


def test_a_line_that_stands_in_many_places_is_taken_for_the_one_that_is_right() -> None:
    document = ["{", '  "id": 1,', '  "by": {', '    "at": 1', "  }", "}"]
    lines = ["started", '{"id": 0}', *document, *document[:2], '  "of": {', '    "in": 1', *document[-2:]]
    form = ["started", GAP, "{", GAP, '  "of": {', '    "in": 1', GAP]
    assert falsehoods(Original(lines), "\n".join(form)) == []


def test_a_field_under_another_part_breaks_it_though_a_rule_stands_above_it() -> None:
    lines = ["north:", "-----", "  depth: low", "south:", "-----", "  width: high"]
    assert falsehoods(Original(lines), f"north:\n{GAP}\n-----\n  width: high") == ["parent: line 3"]
    assert falsehoods(Original(lines), f"{GAP}\nsouth:\n{GAP}\n  width: high") == []


def test_lines_without_a_word_are_alike() -> None:
    lines = ["12", *("34 " * n for n in range(1, 9)), "a word"]
    assert falsehoods(Original(lines), f"12 [+8 alike]\n{GAP}") == []
    assert falsehoods(Original(lines), f"12 [+9 alike]\n{GAP}") == ["alike: line 1"]


@pytest.mark.parametrize(
    ("usual", "odd"),
    [
        ('jobs_failed{job="j%d"} 0', 'jobs_failed{job="j%d"} 977'),
        ("relay left, status=75/n/a, %d", "relay left, status=13/n/a, %d"),
        ("job %d finished with exit code 0", "job %d finished with exit code 137"),
        ("prueba %d: correcta", "prueba %d: falló"),
        ("task %d rc=0", "task %d rc=1"),
        ("feature_%d = true", "feature_%d = false"),
    ],
)
def test_a_line_with_an_odd_word_is_not_told_of_as_alike_but_shown(usual: str, odd: str) -> None:
    form = shortened(
        "\n".join((odd if n == 23 else usual) % n for n in range(60)), lambda text: len(text) // 3 + 1
    )
    assert odd % 23 in form.text.split("\n")
    assert "[+59 alike]" not in form.text


def test_a_false_form_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = [f"error: cannot read basket {n}" for n in range(60)] + [f"queue {n} is empty" for n in range(60)]
    lies: dict[int, Note] = {row: Note(9, -1, "same") for row in range(len(lines))}
    monkeypatch.setitem(ENGINES, "liar", lambda _lines: lies)
    form = shortened("\n".join(lines), lambda text: len(text) // 3 + 1)
    assert form.failed == "alike"
    assert falsehoods(Original(form.lines), form.text) == []
    monkeypatch.delitem(ENGINES, "liar")
    assert shortened("\n".join(lines), lambda text: len(text) // 3 + 1).failed == ""


def test_a_cut_line_is_both_ends_of_its_line() -> None:
    line = "start " + "middle " * 100 + "end"
    assert falsehoods(Original([line, "x"]), f"{line[:200]} {GAP} {line[-50:]}\nx") == []
    assert falsehoods(Original([line, "x"]), f"{line[:200]} {GAP} end of it\nx") == ["line: line 1"]


def test_the_first_line_of_a_csv_stands_above_its_rows() -> None:
    lines = ["name,age,town", "jo,3,ulm", "al,4,bonn", "mo,5,kiel"]
    assert falsehoods(Original(lines), f"name,age,town\n{GAP}\nmo,5,kiel") == []
    assert falsehoods(Original(lines), f"{GAP}\nmo,5,kiel") == ["head: line 1"]


def test_lines_that_end_at_a_column_stand_under_none() -> None:
    lines = ["start", "   Compiling shop", "error: no", "    Finished dev", "     Running it", "done"]
    assert falsehoods(Original(lines), f"start\n   Compiling shop\n{GAP}\n     Running it\ndone") == []


def test_what_is_told_quotes_no_line() -> None:
    assert falsehoods(Original(["secret"]), "other secret") == ["line: line 1"]


@pytest.mark.parametrize(
    "lines",
    [
        ["same line"] * 50_000,
        [" " * (n % 200) + f"w{n % 7}" for n in range(40_000)],
        ["a,b,c", *(f"x,{n},1" for n in range(40_000))],
        ["/".join("ab" * 1_000)] * 500,
        ["'\"`" * 2_000] * 500,
    ],
)
def test_hostile_texts_are_read_back_at_once(lines: list[str]) -> None:
    shown = "\n".join([f"{GAP}\n{line}" for line in lines[100:400:3]] + [GAP])
    shown += f"\n{lines[-1]} [+7 alike]"
    start = time.process_time()
    falsehoods(Original(lines), shown)
    assert time.process_time() - start < HANGS_SECONDS
