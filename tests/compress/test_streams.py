"""Records of programs: which lines they are, and what of them a short form has."""

from __future__ import annotations

import random

import pytest

from aider_gardener.compress.base import Context
from aider_gardener.compress.shapes import compress, shortened
from aider_gardener.compress.streams import read


def tokens(text: str) -> int:
    return len(text) // 4


def short(lines: list[str]) -> list[str]:
    return shortened("\n".join(lines), tokens).text.split("\n")


STEADY = [
    f"2031-04-05 06:{n // 60:02}:{n % 60:02} INFO mill: sack {n} ground in {20 + n % 9} ms"
    for n in range(300)
]


@pytest.mark.parametrize(
    ("calm", "alarmed"),
    [
        ("2031-04-05 06:00:01,120 INFO mill: ground", "2031-04-05 06:00:01,120 ERROR mill: stuck"),
        ("[2031-04-05 06:00:01 +0000] [7] [INFO] ready", "[2031-04-05 06:00:01 +0000] [7] [CRITICAL] gone"),
        ("Apr  5 06:00:01 barn mill[7]: wheel turns", "Apr  5 06:00:01 barn mill[7]: cannot open the sluice"),
        ("I0405 06:00:01.000001  1 wheel.go:7] turns", "E0405 06:00:01.000001  1 wheel.go:9] halts"),
        ("04-05 06:00:01.120  123  456 I Mill: turns", "04-05 06:00:01.120  123  456 E Mill: halts"),
        ('{"level":30,"time":1,"msg":"turns"}', '{"level":50,"time":1,"msg":"halts"}'),
        (
            '{"ts":"2031-04-05","level":"info","msg":"turns"}',
            '{"ts":"2031-04-05","level":"error","msg":"halts"}',
        ),
        (
            'time=2031-04-05T06:00:01Z level=info msg="turns"',
            'time=2031-04-05T06:00:01Z level=error msg="halts"',
        ),
        (
            '::1 - - [05/Apr/2031:06:00:01 +0000] "GET /error HTTP/1.1" 200 9',
            '::1 - - [05/Apr/2031:06:00:01 +0000] "GET /a HTTP/1.1" 503 9',
        ),
        ("mill-1  | GET /flour 200 7 ms", "mill-1  | GET /flour 500 7 ms"),
        ("2031-04-05 06:00:01 [情報] 挽いた", "2031-04-05 06:00:01 [エラー] 止まった"),
        ("info: Mill.Wheel[7]", "fail: Mill.Wheel[9]"),
        ("[    1.203120] mill: wheel turns", "[    1.203120] mill: wheel failed"),
    ],
)
def test_a_record_with_an_error_is_worth_far_more_in_whatever_way_its_log_is_written(
    calm: str, alarmed: str
) -> None:
    notes = read([calm] * 8 + [alarmed] + [calm] * 8)
    assert len(notes) == 17
    assert notes[8].worth > 2 * notes[3].worth and notes[8].worth >= 9


def test_each_kind_of_error_and_warning_is_shown_and_both_ends_of_the_log() -> None:
    lines = list(STEADY)
    lines[70] = "2031-04-05 06:01:10 WARN mill: belt slips"
    for row in range(100, 260, 4):
        lines[row] = f"2031-04-05 06:03:{row % 60:02} ERROR mill: sack {row} torn"
    lines[262] = "2031-04-05 06:04:22 ERROR silo: full"
    shown = short(lines)
    assert {lines[0], lines[299], lines[70], lines[100], lines[262]} <= {
        line.split(" [+")[0] for line in shown
    }
    assert len("\n".join(shown)) < 0.1 * len("\n".join(lines))


def test_what_is_said_once_without_trouble_stands_before_a_warning_that_is_said_again() -> None:
    rng = random.Random(5)
    causes = [" ".join("".join(rng.choices("klmnopqrst", k=7)) for _ in range(12)) for _ in range(16)]
    warned = [f"2031-04-05 06:00:{n:02} WARN mill: {cause}" for n, cause in enumerate(2 * causes)]
    steady = [f"2031-04-05 06:01:{n:02} INFO mill: sack {n} ground" for n in range(30)]
    once = "2031-04-05 06:01:30 INFO mill: wheel handed over to the other miller"
    assert once in short([*warned, *steady, once, *steady])


@pytest.mark.parametrize("told", ["eval_loss {}", "{{'eval_loss': {}}}", "step: eval_loss={}, rate=0.1"])
def test_of_measures_the_best_and_the_last_are_shown(told: str) -> None:
    lines = [f" {step}%|██   | train loss: 0.{900 - step}" for step in range(100)]
    for row, loss in ((80, 0.71), (50, 0.52), (20, 0.63)):
        lines[row:row] = [told.format(loss)]
    shown = short(lines)
    assert {told.format(0.52), told.format(0.71), lines[-1]} <= {line.split(" [+")[0] for line in shown}


@pytest.mark.parametrize("count", [0, 1, 17])
def test_a_logs_head_counts_its_errors_and_warnings_and_says_its_time(count: int) -> None:
    levels = ["ERROR"] * count + ["WARN"] * 2 + ["FATAL"] + ["INFO"] * 300
    lines = [f"2026-03-28 23:{n // 60:02}:{n % 60:02} {level} job {n}" for n, level in enumerate(levels)]
    text = "\n".join(lines)
    told = compress(text, Context(count=lambda given: len(given) // 4)).text.split("\n")[0]
    errors = sum(" ERROR " in line or " FATAL " in line for line in lines)
    assert f", errors {errors}, warnings 2, {lines[0][:19]} to {lines[-1][:19]}]" in told
    quiet = compress(text.replace("ERROR", "INFO").replace("FATAL", "INFO"), Context(count=len)).text
    assert "errors" not in quiet.split("\n")[0] and "warnings 2" in quiet.split("\n")[0]
    assert "warnings" not in compress(text.replace("INFO", ""), Context(count=len)).text.split("\n")[0]
