"""A compressed log keeps errors, warnings, rare and outlying lines, first and last, and the time span."""

from __future__ import annotations

import pytest
from tool_outputs import assert_kept, compressed, context, output, ratio

from aider_gardener.compress import logs
from aider_gardener.reading.output import plain


def service_log(lines: int) -> str:
    """A log with usual lines, one slow request, errors of two kinds and a lone message."""
    kept = []
    for n in range(lines):
        second = f"2026-03-01 10:{n // 60 % 60:02}:{n % 60:02},{n % 1000:03}"
        kept.append(
            f"{second} INFO shop.http GET /v1/orders/{n * 37 % 9973} status=200 took={n * 7 % 40 + 1}ms worker=w{n % 4}"
        )
    kept[lines // 3 + 1] = (
        "2026-03-01 10:20:00,000 INFO shop.http GET /v1/orders/17 status=200 took=48211ms worker=w2"
    )
    kept[lines // 2] = "2026-03-01 10:30:00,000 WARNING shop.pool pool exhausted, waiting for a connection"
    for n in range(30):
        kept[n * lines // 40 + 5] = (
            f"2026-03-01 10:40:{n:02},000 ERROR shop.db deadlock on table orders, id={n * 91}"
        )
    kept[lines - 50] = "2026-03-01 10:55:00,000 ERROR shop.pay refund 4417 refused: card expired"
    kept[lines - 40] = (
        "2026-03-01 10:56:00,000 INFO shop.admin feature flag free-shipping switched off by karin"
    )
    return "\n".join(kept)


def test_a_long_log_meets_its_target_and_keeps_what_matters() -> None:
    text = service_log(6_000)
    result = compressed(logs.compress, text)
    assert ratio(text, result) <= 0.02
    assert "31 errors, 1 warning" in result.text
    assert "deadlock on table orders" in result.text
    assert "[repeated 30 times" in result.text
    assert "refund 4417 refused: card expired" in result.text
    assert "pool exhausted" in result.text
    assert "free-shipping switched off by karin" in result.text
    assert "took=48211ms" in result.text
    assert "timespan 2026-03-01 10:00:00,000..2026-03-01 10:39:59,999" in result.text
    assert_kept(text, result, "log")


def test_ranges_of_numbers_are_told() -> None:
    shown = compressed(logs.compress, service_log(600)).text
    assert "took 1ms..48211ms" in shown


def test_first_and_last_lines_stay() -> None:
    lines = service_log(900).split("\n")
    shown = compressed(logs.compress, "\n".join(lines)).text
    assert lines[0] in shown
    assert lines[-1] in shown


def test_a_traceback_in_a_log_belongs_to_its_line() -> None:
    text = service_log(300).split("\n")
    text[100] = (
        "2026-03-01 10:01:40,100 ERROR shop.http unhandled\nTraceback (most recent call last):\n"
        '  File "/srv/shop/shop/http.py", line 88, in dispatch\n    return view(request)\n'
        '  File "/srv/venv/lib/python3.12/site-packages/orm/db.py", line 12, in run\n    raise Locked(self)\n'
        "orm.errors.LockedError: database is locked"
    )
    shown = compressed(logs.compress, "\n".join(text)).text
    assert (
        "unhandled\n    orm.errors.LockedError: database is locked\n    at /srv/shop/shop/http.py:88" in shown
    )


def test_json_lines_are_shown_flat() -> None:
    shown = compressed(logs.compress, output("json_log")).text
    assert "WARN" in shown
    assert '{"' not in shown


def test_metrics_keep_troubled_counters_and_ranges() -> None:
    lines = ["# HELP http_requests_total Requests.", "# TYPE http_requests_total counter"]
    lines += [f'http_requests_total{{path="/v1/{n}"}} {n * 13}' for n in range(120)]
    lines += [f'claim_errors_total{{worker="w{n}"}} {9 if n == 7 else 0}' for n in range(30)]
    lines += [f'wait_bucket{{le="{n}"}} {n}' for n in range(60)]
    result = compressed(logs.compress, "\n".join(lines))
    assert 'claim_errors_total{worker="w7"} 9' in result.text
    assert "http_requests_total: 120 series, 0..1547" in result.text


def test_system_calls_that_fail_are_told_apart() -> None:
    shown = compressed(logs.compress, output("strace")).text
    assert "ENOENT" in shown
    assert ratio(output("strace"), compressed(logs.compress, output("strace"))) < 0.25


def test_server_errors_of_an_access_log_are_errors() -> None:
    line = (
        '10.0.0.{} - - [01/Mar/2026:10:00:{:02} +0000] "GET /v1/items/{}?page=2 HTTP/1.1" {} 512 "-" "curl"'
    )
    rows = [line.format(n % 9, n % 60, n, 200) for n in range(300)]
    rows[150] = line.format(7, 30, 4711, 503)
    result = compressed(logs.compress, "\n".join(rows))
    assert "1 error," in result.text
    assert "/v1/items/4711" in result.text


def test_lines_the_user_asks_about_are_favoured() -> None:
    text = "\n".join(
        f"2026-03-01 10:00:{n % 60:02} INFO part{'abcdefghijklmnopqrstuvwxyz'[n % 26]}{'xyz'[n % 3] * (n % 40)} step done"
        for n in range(700)
    )
    wanted = "2026-03-01 10:09:59 INFO ledger rebalanced quarterly statement"
    lines = text.split("\n")
    lines.insert(400, wanted)
    assert wanted in compressed(logs.compress, "\n".join(lines), context(words=("quarterly",))).text


def flood(lines: int) -> str:
    """Errors whose words differ from line to line, among requests."""
    verbs, nouns, reasons = (
        ("load", "save", "parse", "merge", "sync"),
        ("order", "invoice", "shard", "lease", "report"),
        ("refused", "timeout", "mismatch"),
    )
    return "".join(
        f"2024-05-01 10:{n // 60 % 60:02}:{n % 60:02} ERROR app.{nouns[n % 5]}: failed to {verbs[n // 5 % 5]} {nouns[n // 25 % 5]} {n} for user{n % 7}x: {reasons[n % 3]}\n"
        if n % 2 else f"2024-05-01 10:{n // 60 % 60:02}:{n % 60:02} INFO app.http: GET /v1/orders/{n} 200\n" for n in range(lines)
    )  # fmt: skip


@pytest.mark.parametrize("lines", [150, 800])
def test_a_flood_of_different_errors_is_told_as_families(lines: int) -> None:
    text = flood(lines)
    result = compressed(logs.compress, text)
    assert ratio(text, result) <= 0.1
    assert f"{lines // 2} errors" in result.text
    assert "kinds like: ERROR <*> failed to <*> <*> # for" in result.text
    assert "refused×" in result.text


def test_errors_raised_at_different_places_are_different() -> None:
    text = "".join(
        f'2024-05-01 10:00:{n % 60:02} ERROR jobs: job {n} failed\nTraceback (most recent call last):\n  File "/srv/app/run.py", line 40, in run\n    go()\n  File "/srv/app/step.py", line {100 + n % 3}, in go\nValueError: bad payload {n}\n'
        for n in range(60)
    )
    shown = compressed(logs.compress, text).text
    assert all(f"step.py:{line}" in shown for line in (100, 101, 102))
    assert "[repeated 20 times" in shown


def test_a_log_with_utc_stamps_keeps_its_time_span() -> None:
    text = service_log(600).replace("2026-03-01 ", "2026-03-01T").replace(",", ".")
    stamped = "\n".join(f"{line[:23]}Z {line[24:]}" for line in text.split("\n"))
    assert (
        "timespan 2026-03-01T10:00:00.000Z..2026-03-01T10:09:59.599Z"
        in compressed(logs.compress, stamped).text
    )


def test_the_stamps_of_a_ci_runner_are_no_part_of_what_was_printed() -> None:
    text = output("pytest_v")
    stamped = "\n".join(
        f"2026-03-01T10:20:{n % 60:02}.1234567Z {line}" for n, line in enumerate(text.split("\n"))
    )
    assert plain(stamped) == text
