"""The tables of what rests: net cost beside the limit by session, and sums by half."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pages import table

from bench.goals import CHOSEN_ON, HELD_OUT

Value = Mapping[str, Any]


def rest(value: Value) -> Iterator[str]:
    """Net tokens a session and variant with their multiple of the limit, then sums."""
    rows = value["rows"]
    variants = list(dict.fromkeys(row["variant"] for row in rows))
    yield "Net tokens of the main model; of all calls, as a multiple of the limit:"
    yield ""
    yield from table(["session", *variants], [line(name, rows) for name in sessions(rows)])
    yield ""
    yield "Sums: net tokens of all calls, multiple of the limit, probes, facts, lines, and $ by provider:"
    yield ""
    providers = [cost["provider"] for cost in rows[0]["costs"]]
    sums = [
        total(half, variant, [row for row in rows if row["variant"] == variant and row["half"] == half])
        for half in (CHOSEN_ON, HELD_OUT)
        for variant in variants
    ]
    head = ["half", "variant", "net tokens", "/ limit", "supported", "facts", "lines"]
    yield from table([*head, *providers], sums)
    yield ""
    yield f"Sums with {value['marked_model']} and `--cache-prompts`, its own prompts and prices:"
    yield ""
    marked = value["marked"]
    yield from table(
        ["half", "variant", "supported", "facts", "lines", "$"],
        [
            paid(half, variant, [row for row in marked if row["variant"] == variant and row["half"] == half])
            for half in (CHOSEN_ON, HELD_OUT)
            for variant in dict.fromkeys(row["variant"] for row in marked)
        ],
    )
    yield ""


def sessions(rows: Sequence[Value]) -> list[str]:
    return list(dict.fromkeys(row["session"] for row in rows))


def line(name: str, rows: Sequence[Value]) -> list[str]:
    """A session's cells."""
    found = [row for row in rows if row["session"] == name]
    return [name, *(f"{row['main_net_tokens']:,} ({over(row)})" for row in found)]


def over(row: Value) -> str:
    return f"{row['net_tokens'] / row['limit_net_tokens']:.2f}"


def total(half: str, variant: str, rows: Sequence[Value]) -> list[str]:
    net, limit = sum(row["net_tokens"] for row in rows), sum(row["limit_net_tokens"] for row in rows)
    dollars = [sum(row["costs"][at]["usd"] for row in rows) for at in range(len(rows[0]["costs"]))]
    cells = [half, variant, f"{net:,}", f"{net / limit:.2f}", *kept(rows)]
    return [*cells, *(f"{usd:.2f}" for usd in dollars)]


def paid(half: str, variant: str, rows: Sequence[Value]) -> list[str]:
    return [half, variant, *kept(rows), f"{sum(row['usd'] for row in rows):.2f}"]


def kept(rows: Sequence[Value]) -> list[str]:
    """How many probes are supported, and facts and lines carried, each of how many."""
    supported, asked = sum(row["supported"] for row in rows), sum(row["asked"] for row in rows)
    carried = (
        " of ".join(str(sum(row[name][at] for row in rows)) for at in (0, 1)) for name in ("facts", "lines")
    )
    return [f"{supported} of {asked}", *carried]
