"""A cell's result as one compact row, and all rows as the file that the documentation quotes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from aider_gardener.replay.measure.result import ReplayResult
from aider_gardener.replay.measure.summary import (
    CALL_SECONDS,
    READ_TOKENS_PER_SECOND,
    WRITE_TOKENS_PER_SECOND,
    Recall,
    percentile,
    recall_of,
    summarize,
)
from bench.grid.asked import Asked
from bench.grid.cells import Cell
from bench.grid.decoys import CROSSED, NEVER_SAID
from bench.provenance import made_on

FORMAT = 1
RESULTS = Path(__file__).resolve().parents[1] / "results" / "grid.json"

Row = dict[str, Any]


def row_of(cell: Cell, result: ReplayResult, asked: Asked) -> Row:
    """What is kept of a cell; `result` has the results of all probes.

    Counts of probes are [asked, present, supported] of the session's own, `marks` has one for each probe and
    `carried` for each fact and line that was used again, in their order. Costs are [with the cache kept,
    without], in dollars. `prompts` are the tokens of each turn's last prompt. Times stand under `measured`.
    """
    own = range(1, len(asked.own) + 1)
    own_probes = tuple(one for one in result.probes if one.number in own)
    summary = summarize(replace(result, probes=own_probes))
    used = result.carried
    main = result.main_calls()
    decoys = {name: [one for one in result.probes if one.kind == name] for name in (NEVER_SAID, CROSSED)}
    usable = summary.usable
    return {
        "session": cell.session,
        "model": cell.model,
        "variant": cell.variant,
        "budget": cell.budget,
        "history_tokens": result.provenance.history_tokens,
        "turns": summary.turns,
        "recall": counts(summary.recall),
        "distance": {name: counts(found) for name, found in summary.recall_by_distance.items()},
        "marks": asked.marks(result.probes),
        "carried": {
            name: "".join(str(int(one.present)) for one in used if one.is_line is is_line)
            for name, is_line in (("facts", False), ("lines", True))
        },
        "main": [len(main), sum(call.prompt_tokens for call in main)],
        "prompts": {str(call.turn): call.prompt_tokens for call in main},
        "decoys": {name: counts(recall_of(found)) for name, found in decoys.items() if found},
        "tokens_billed": summary.tokens_billed,
        "largest_prompt": summary.largest_prompt,
        "usd": {
            cost.provider: [round(cost.cached.usd, 4), round(cost.uncached.usd, 4)] for cost in summary.costs
        },
        "llm": [summary.llm_compactions, summary.llm_discarded],
        "llm_seconds": round(summary.llm_seconds, 1),
        "plans": summary.plan_compactions,
        "carry_over": [summary.carry_over.facts_present, summary.carry_over.facts],
        "carry_lines": [summary.carry_over.lines_present, summary.carry_over.lines],
        "usable": str(usable) if usable else "",
        "measured": {
            "plan_seconds": round(summary.plan_seconds, 3),
            "overhead_ms": [round(percentile(summary.overhead_ms, share), 1) for share in (0.5, 0.95)],
            "replay_seconds": round(result.replay_seconds, 1),
        },
    }


def counts(found: Recall) -> list[int]:
    return [found.asked, found.present, found.supported]


def provenance(results: Sequence[ReplayResult]) -> Mapping[str, Any]:
    """What all results share: the code, aider, the model, the tokenizer; the hash of each session."""
    first = results[0].provenance
    return {
        **made_on(),
        "litellm": first.litellm,
        "model": first.model,
        "weak_model": first.weak_model,
        "tokenizer": first.tokenizer,
        "window_tokens": first.window_tokens,
    }


def collected(found: Mapping[str, Any], missing: Sequence[str], load: float) -> dict[str, Any]:
    """The value of the results file: `found` are the kept cells by name, `missing` cells of the full grid
    that were not run."""
    common = dict(next(iter(found.values()))["provenance"])
    return {
        "format": FORMAT,
        "kind": "grid",
        "provenance": {**common, "load": round(load, 1)},
        "rates": {
            "read_tokens_per_second": READ_TOKENS_PER_SECOND,
            "write_tokens_per_second": WRITE_TOKENS_PER_SECOND,
            "call_seconds": CALL_SECONDS,
        },
        "missing": list(missing),
        "cells": [
            {name: value[name] for name in ("name", "key", "seconds", "notices", "row")}
            for value in found.values()
        ],
    }


def written(value: Mapping[str, Any]) -> str:
    """JSON with a row or cell on each line, so that a change of one is a change of one line."""
    name = "cells" if "cells" in value else "rows"
    rest = {key: found for key, found in value.items() if key != name}
    head = json.dumps({**rest, name: []}, indent=1, ensure_ascii=False)
    lines = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in value[name])
    return head.removesuffix("[]\n}") + "[\n  " + lines + "\n ]\n}\n"
