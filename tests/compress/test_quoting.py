"""Lines that no engine explains: what each stands below, what is far from the rest, what says nothing."""

from __future__ import annotations

import json
import random
from itertools import pairwise

import pytest

from aider_gardener import shorten
from aider_gardener.compress.outline import Note, chosen, far, odd
from aider_gardener.compress.quoting import form_of, indent_parents
from aider_gardener.messages import Focus

COMPOSE = """
services:
  web:
    image: shop/web:2.1
    ports:
    - "8080:80"
    healthcheck:
      timeout: 5s
  db:
    image: postgres:15
    container_name: orders
volumes:
  data: {}
"""
STATUS = """
Changes to be committed:
  (use "git restore --staged <file>..." to unstage)
        deleted:    old.py

Unversionierte Dateien:
        notes.txt
        run_1.log
"""


@pytest.mark.parametrize(
    ("text", "line", "above"),
    [
        (COMPOSE, "postgres:15", ["db:", "services:"]),
        (COMPOSE, "8080:80", ["ports:", "web:", "services:"]),
        (COMPOSE, "timeout", ["healthcheck:", "web:", "services:"]),
        (COMPOSE, "data:", ["volumes:"]),
        (STATUS, "run_1.log", ["Unversionierte Dateien:"]),
        ("[a]\nx = 1\ny = 2\n[b.c]\nx = 3\nz = 4\nw = 5\n", "z = 4", ["[b.c]"]),
        ('[[p]]\nname = "x"\n[p.extra]\nv = "2"\nw = "3"\n', '"2"', ["[p.extra]"]),
        ("- name: a\n  image: i\n- env: x\n  name: b\n  image: odd\n- name: c\n", "odd", ["- env: x"]),
        ("north:\n-----\n  depth = 1\nsouth:\n-----\n  width = 2\n", "width", ["south:"]),
    ],
)
def test_a_line_stands_under_its_true_parent(text: str, line: str, above: list[str]) -> None:
    lines = text.split("\n")
    parents = indent_parents(lines)
    row = next(at for at, other in enumerate(lines) if line in other)
    found = []
    while (row := parents[row]) >= 0:
        found.append(lines[row].strip())
    assert found == above


def words(text: str) -> int:
    return len(text.split())


def second(number: int, rate: float) -> str:
    return f"progress: {number}.0 s, {rate:.1f} tps, latency {2 + number % 3}.{number % 7} ms"


def test_a_number_far_from_those_of_lines_alike_is_shown_and_not_counted_as_alike() -> None:
    rng = random.Random(3)
    rates = [rng.uniform(330, 390) for _ in range(400)]
    rates[117], rates[260] = 0.0, 41_000.0
    shown = shorten("\n".join(map(second, range(400), rates)), count=words).text.split("\n")
    assert second(117, 0.0) in shown and second(260, 41_000.0) in shown
    counts = [
        int(line.rpartition("[+")[2].removesuffix(" alike]")) for line in shown if line.endswith(" alike]")
    ]
    assert sum(counts) == 400 - sum(line.startswith("progress") for line in shown)


def test_rows_that_are_odd_together_leave_room_for_one_that_is_odd_alone() -> None:
    rng = random.Random(4)
    filled = {*range(45), 733}
    cells = [["".join(rng.choices("ghjkmn", k=4)) if at in filled else "none"] * 16 for at in range(800)]
    lines = [f"{16 * at:06}  {'  '.join(row)}" for at, row in enumerate(cells)]
    shown = shorten("\n".join(lines), count=words).text.split("\n")
    assert lines[0] in shown and lines[733] in shown


def test_lines_that_are_odd_together_are_odd_for_what_the_first_of_them_says() -> None:
    lines = [f"took {10**6 + at if at in {3, 4, 5, 60} else at % 9 + 10} ms" for at in range(100)]
    found = odd(lines, ["took"] * len(lines))
    assert {row: word for row, (_, word) in found.items()} == {
        3: "1000003", 4: "1000003", 5: "1000003", 60: "1000060",
    }  # fmt: skip


def test_a_number_that_many_lines_have_is_not_far_from_the_others() -> None:
    rng = random.Random(3)
    rates = [f"{rng.uniform(330, 390):.1f}" for _ in range(70)]
    mixed = rng.sample([*rates, *["0"] * 30], 100)
    assert not [*far(mixed)]
    assert [cell for *_, cell in far([*rates, "0"])] == ["0"]


def test_no_room_goes_to_headings_without_a_setting_below_them() -> None:
    rng = random.Random(5)
    names = ["".join(rng.choices("abcdefghij", k=7)) for _ in range(600)]
    text = "\n".join(f"[router.{one}]\n  {other} = {rng.choice(names)}" for one, other in pairwise(names))
    shown = shorten(text, count=words).text.split("\n")[1:]
    headings = [at for at, line in enumerate(shown) if line.startswith("[router")]
    assert len(headings) > 20 and all("=" in shown[at + 1] for at in headings)


def test_different_keys_of_a_document_are_not_alike() -> None:
    rng = random.Random(7)
    names = ["".join(rng.choices("abcdefghij", k=7)) for _ in range(120)]
    document = {name: rng.choice(names) for name in names}
    assert "alike]" not in shorten(json.dumps(document, indent=2), count=words).text


def test_a_sentence_in_quotes_is_what_a_line_says() -> None:
    asked = ["the door is shut", "no lamp is lit"]
    lines = [f'Rule {n}: "Ensure that {asked[n % 2]}"' for n in range(60)]
    lines[41] = 'Rule 41: "Ensure that the mill stands still"'
    shown = shorten("\n".join(lines), count=words).text.split("\n")
    assert lines[41] in shown and not any(" [+5" in line for line in shown)


def test_the_lines_of_a_dump_are_alike_whatever_bytes_they_hold() -> None:
    rng = random.Random(4)
    lines = [f"{n:03}0: {rng.randbytes(16).hex(' ').upper()}  ..k{n}?" for n in range(9)]
    assert len(set(map(form_of, lines))) == 1
    assert form_of("SHA1: A6:2C:FB:74:B2:1F") == form_of("SHA1: 0D:00:9F:58:98:B2") != form_of("SHA1: none")


@pytest.mark.parametrize("mark", ["#", ";", "//"])
def test_of_a_configuration_with_its_manual_what_it_sets_is_shown(mark: str) -> None:
    rng = random.Random(9)
    told = (
        "if it fails the server must not be killed: errors are lost, warnings are not, see the manual".split()
    )
    lines = [f"{mark} {' '.join(rng.choices(told, k=12))}" for _ in range(600)]
    settings = [f"{chr(97 + at) * 4}_{rng.choice(told)} {at}MB" for at in range(20)]
    for at, setting in enumerate(settings):
        lines[29 * at + 9] = f"{setting}  {mark} {' '.join(rng.choices(told, k=6))}"
    shown = shorten("\n".join(lines), command="cat server.conf", count=words).text
    assert [setting for setting in settings if setting not in shown] == []


def test_a_report_whose_lines_begin_as_comments_do_is_no_manual() -> None:
    rows = [f"# part{at % 4}  {at}us  {at * 3}.5ms  {7 * at}  2.0k" for at in range(80)]
    said = [f"# What follows was seen {at} times" for at in range(200)]
    queries = [f"select {chr(97 + at)} from t;" for at in range(6)]
    shown = shorten(
        "\n".join(["# Overall: 65 total", *said, *rows, *queries]), command="digest", count=words
    ).text
    assert "# Overall: 65 total" in shown and "us  " in shown


def test_many_numbers_that_few_lines_share_do_not_fill_the_room() -> None:
    rng = random.Random(4)
    removed = [0] * 600 + [rng.randrange(1_000_000) for _ in range(300)]
    rng.shuffle(removed)
    lines = [
        f"tuples: {one} removed, 0 are dead, but not yet removable, pages read by it too" for one in removed
    ]
    for at in range(20):
        lines.insert(
            45 * at, f"table {chr(97 + at) * 3} has an index {chr(98 + at) * 3} of another kind by now"
        )
    shown = shorten("\n".join(lines), count=words).text.split("\n")
    assert sum(line.startswith("table") for line in shown) == 20


def record(number: int, name: str) -> str:
    return f"2026-03-01 10:{number // 60:02}:{number % 60:02} INFO worker {name} took {name[::-1]} from {name[2:]}"


def test_what_an_output_ends_with_is_shown_whatever_engine_explains_it() -> None:
    rng = random.Random(8)
    lines = [record(number, "".join(rng.choices("abcdefghij", k=9))) for number in range(900)]
    shown = shorten("\n".join(lines), command="./report", count=words)
    assert shown.engine == "logs" and shown.text.rstrip().split("\n")[-2:] == lines[-2:]


def test_the_last_bar_of_progress_says_how_far_a_run_came() -> None:
    bars = [f" {n // 9}%|██   | {n}/900 [00:{n // 60:02}, 1.{n % 9}it/s]" for n in range(700)]
    shown = shorten("\n".join(bars), command="./train", count=words)
    assert shown.engine == "logs" and shown.text.rstrip().endswith(bars[-1])


def test_a_line_that_says_the_very_same_again_leaves_its_room_to_others() -> None:
    lines = [*["error: the hall is dark"] * 3, "two lamps burn"]
    notes = [*[Note(8.0, form="dark")] * 3, Note(2.5)]
    taken, _named = chosen(lines, notes, 54, Focus(), len)
    assert taken == {0, 3}


def test_of_settings_alike_the_one_that_is_set_otherwise_is_shown() -> None:
    settings = [f"service.module{number}.timeout=30" for number in range(150)]
    settings[77] = "service.module77.timeout=3000000"
    assert "\nservice.module77.timeout=3000000\n" in shorten("\n".join(settings), command="cat app.conf").text
