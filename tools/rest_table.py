"""The tables of what rests: net cost beside the limit by session, sums by half, and maps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pages import table

from bench.goals import CHOSEN_ON, HELD_OUT

Value = Mapping[str, Any]


def rest(value: Value) -> Iterator[str]:
    """For each size of map: net tokens a session and variant with their multiple of the limit, then sums."""
    variants = list(dict.fromkeys(row["variant"] for row in value["rows"]))
    for tokens in sorted({row["map_tokens"] for row in value["rows"]}):
        rows = [row for row in value["rows"] if row["map_tokens"] == tokens]
        yield f"Map of {tokens:,} tokens; net tokens (multiple of the limit), different maps of those sent:"
        yield ""
        yield from table(["session", *variants], [line(name, rows) for name in sessions(rows)])
        yield ""
        yield "Sums: net tokens, multiple of the limit, probes supported, and $ by provider:"
        yield ""
        providers = [cost["provider"] for cost in rows[0]["costs"]]
        sums = [
            total(half, variant, [row for row in rows if row["variant"] == variant and row["half"] == half])
            for half in (CHOSEN_ON, HELD_OUT)
            for variant in variants
        ]
        yield from table(["half", "variant", "net tokens", "/ limit", "supported", *providers], sums)
        yield ""


def sessions(rows: Sequence[Value]) -> list[str]:
    return list(dict.fromkeys(row["session"] for row in rows))


def line(name: str, rows: Sequence[Value]) -> list[str]:
    """A session's cells."""
    found = [row for row in rows if row["session"] == name]
    return [
        name,
        *(
            f"{row['net_tokens']:,} ({over(row)}), {row['maps']} of {row['prompts_with_map']}"
            for row in found
        ),
    ]


def over(row: Value) -> str:
    return f"{row['net_tokens'] / row['limit_net_tokens']:.2f}"


def total(half: str, variant: str, rows: Sequence[Value]) -> list[str]:
    net, limit = sum(row["net_tokens"] for row in rows), sum(row["limit_net_tokens"] for row in rows)
    supported, asked = sum(row["supported"] for row in rows), sum(row["asked"] for row in rows)
    dollars = [sum(row["costs"][at]["usd"] for row in rows) for at in range(len(rows[0]["costs"]))]
    cells = [half, variant, f"{net:,}", f"{net / limit:.2f}", f"{supported} of {asked}"]
    return [*cells, *(f"{usd:.2f}" for usd in dollars)]
