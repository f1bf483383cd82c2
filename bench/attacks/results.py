"""What the attacks share: their options, and the files that keep what came of them."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from bench.provenance import made_on

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "bench" / "results" / "attacks"
HELD = "held"
"""The outcome of what went as it should."""
PRIVATE = ("AIDER_", "XDG_", "GIT_", "CLAUDE_", "PG")
"""Beginnings of variables that an attacked process does not get from who runs the attack."""


def parser_of(doc: str | None, **numbers: int) -> argparse.ArgumentParser:
    """The options of an attack: its numbers with their defaults, and the file of its results."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in numbers.items():
        parser.add_argument(f"--{name.replace('_', '-')}", type=int, default=default, metavar="N")
    parser.add_argument("--json", type=Path, help="Write the results to this file instead.")
    return parser


def keep(name: str, found: Mapping[str, Any], path: Path | None) -> None:
    """Write and print what came of an attack, with its command and what that ran on."""
    path = path or FOLDER / f"{name}.json"
    command = " ".join([f"python -m bench.attacks.{name}", *sys.argv[1:]])
    value = json.dumps({"command": command, "made_on": made_on(), **found}, indent=1, ensure_ascii=False)
    print(value)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value + "\n", "utf-8")


def keep_outcomes(name: str, outcomes: Mapping[str, str], path: Path | None) -> int:
    """Write what came of each part of an attack; returns how many did not hold."""
    held = sum(outcome == HELD for outcome in outcomes.values())
    keep(name, {"tried": len(outcomes), "held": held, "attacks": dict(outcomes)}, path)
    print(f"{held} of {len(outcomes)} held")
    return len(outcomes) - held


def in_child(work: Callable[[], Any]) -> Any:
    """What a call gives in a process of its own, as JSON has it; for what it raises the class, the words and
    the place, in a text; None where a signal ended it."""
    read, write = os.pipe()
    child = os.fork()
    if not child:
        told: Any = None
        try:
            told = work()
        except BaseException as error:  # reason: whatever it is, it is the result
            told = f"{type(error).__name__} {place_of(error)}: {error}"[:200]
        finally:
            os.write(write, json.dumps(told).encode())
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as pipe:
        said = pipe.read()
    os.waitpid(child, 0)
    return json.loads(said) if said else None


def place_of(error: BaseException) -> str:
    """File and line in which something was raised."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}" if trace else ""


def environment(home: Path) -> dict[str, str]:
    """The variables of an attacked process: a home of its own, this package, and nothing of ours."""
    identity = {f"GIT_{who}_{what}": "a@b" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    kept = {key: value for key, value in os.environ.items() if not key.startswith(PRIVATE)}
    ours = {"HOME": str(home), "PYTHONPATH": str(ROOT), "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    return kept | identity | ours
