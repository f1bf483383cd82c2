"""A report as JSON, written and read back."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from aider_gardener.errors import ReplayError
from aider_gardener.replay.measure.result import ReplayResult
from aider_gardener.replay.measure.summary import (
    CALL_SECONDS,
    READ_TOKENS_PER_SECOND,
    WRITE_TOKENS_PER_SECOND,
    Report,
    Summary,
    percentile,
)

FORMAT = 1
"""Of the JSON that `write_report` writes."""


def report_json(report: Report) -> dict[str, Any]:
    """One JSON value; all that two runs of the same replay may differ in stands under `measured`."""
    return {
        "format": FORMAT,
        "kind": "replay",
        "rates": {
            "read_tokens_per_second": READ_TOKENS_PER_SECOND,
            "write_tokens_per_second": WRITE_TOKENS_PER_SECOND,
            "call_seconds": CALL_SECONDS,
        },
        "summaries": [summary_json(summary) for summary in report.summaries],
        "totals": [summary_json(summary) for summary in report.totals],
        "notes": list(report.notes),
        "results": [result.to_json() for result in report.results],
    }


def summary_json(summary: Summary) -> dict[str, Any]:
    value = asdict(summary)
    value["measured"] = {
        "plan_seconds": value.pop("plan_seconds"),
        "overhead_ms_p50": percentile(summary.overhead_ms, 0.5),
        "overhead_ms_p95": percentile(summary.overhead_ms, 0.95),
    }
    del value["overhead_ms"]
    return value


def write_report(report: Report, path: Path) -> None:
    """Write the JSON to a file; ReplayError if that fails."""
    text = json.dumps(report_json(report), ensure_ascii=False, indent=1) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as problem:
        raise ReplayError(f"{path}: cannot be written ({problem.strerror or problem})") from problem


def read_results(path: Path) -> tuple[ReplayResult, ...]:
    """The results in a file that `write_report` wrote; ReplayError if it is none."""
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as problem:
        raise ReplayError(f"{path}: cannot be read as JSON ({problem})") from problem
    if not isinstance(value, dict) or value.get("kind") != "replay" or value.get("format") != FORMAT:
        raise ReplayError(f"{path}: not the JSON of a replay in format {FORMAT}")
    return tuple(ReplayResult.from_json(row) for row in value["results"])
