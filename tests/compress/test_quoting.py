"""Lines that no engine explains: what each stands below, what is far from the rest, what says nothing."""

from __future__ import annotations

import random
from itertools import pairwise

import pytest

from aider_gardener import shorten
from aider_gardener.compress.outline import far
from aider_gardener.compress.quoting import indent_parents

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
