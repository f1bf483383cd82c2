"""Long chats through aider's own Coder with a scripted model: CPU seconds and memory a turn, do they grow?

    python -m bench.attacks.long [--outputs 300] [--short 2000] [--json FILE]

`outputs`: each turn a `/run` that prints 200 KB, then a question. `short`: a question and an answer. Each
runs in a process of its own, once with the gardener and once without, for aider's own work grows too. One
more, shorter run of each counts what the gardener's own code allocated in a turn and still holds.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

import aider_gardener
from bench.attacks.results import keep, parser_of

OUTPUT_BYTES = 200_000
POINTS, AROUND = (50, 100, 200, 300, 500, 1_000, 1_500, 2_000, 3_000), 50
"""Turns at which figures are taken, of so many turns up to there."""
SLOPE_FROM = 200
ALONE_PART = 10
"""aider alone plays a tenth of the turns: it sends the whole history, and counts its tokens, on each."""
TRACED = {"outputs": (30, 60), "short": (300, 400)}
"""The turns between which allocations are counted; before them caches fill."""
PRINTER = """\
import random, sys
seed, size = int(sys.argv[1]), int(sys.argv[2])
rng, made = random.Random(seed), 0
while made < size:
    job, took = rng.randrange(10**6), rng.random()
    line = f"2026-11-{made % 28 + 1:02} INFO worker-{rng.randrange(9)} job {job} took {took:.3f} s"
    if rng.random() < 0.004:
        line = f"ERROR run {seed}: order {rng.randrange(10**5)} has no price in ledger_{rng.randrange(99)}.py"
    made += len(line) + 1
    print(line)
"""
ENVIRONMENT = {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "OPENAI_API_KEY": "none",
    "AIDER_ANALYTICS": "false",
    "AIDER_SANITY_CHECK_TURNS": "1",
    "HF_HUB_OFFLINE": "1",
}


@dataclass(frozen=True)
class Run:
    """CPU seconds of this process in each turn, the process's resident bytes after it, and the CPU seconds
    of a fixed piece of work beside it: on a machine that others use too, these grow with the rest."""

    seconds: list[float]
    resident: list[int]
    yardstick: list[float]

    def figures(self) -> dict[str, Any]:
        """What a turn takes and what the process holds, at some turns and at the end."""
        turns = len(self.seconds)
        points = sorted({*(turn for turn in POINTS if turn < turns), turns})
        return {
            "turns": turns,
            "worst_ms": round(1000 * max(self.seconds[1:]), 1),
            "at_turn": {str(turn): self.point(turn) for turn in points},
            "slope": self.slope(),
        }

    def point(self, turn: int) -> dict[str, float]:
        """Median and 95th percentile of the turns before a turn, in milliseconds, and memory then."""
        lately = sorted(self.seconds[max(1, turn - AROUND) : turn])
        return {
            "p50_ms": round(1000 * statistics.median(lately), 1),
            "fixed_work_ms": round(1000 * statistics.median(self.yardstick[max(1, turn - AROUND) : turn]), 2),
            "p95_ms": round(1000 * lately[int(0.95 * (len(lately) - 1))], 1),
            "resident_mb": round(self.resident[turn - 1] / 1e6, 1),
        }

    def slope(self) -> float:
        """The median of the last turns to that of the turns around turn 200, or the first third, each in
        units of the fixed piece of work at that time."""
        at = min(SLOPE_FROM, len(self.seconds) // 3)
        early = slice(max(1, at - AROUND // 2), at + AROUND // 2)
        costs = [cost / unit for cost, unit in zip(self.seconds, self.yardstick, strict=True)]
        return round(statistics.median(costs[-AROUND:]) / statistics.median(costs[early]), 2)


def fixed_work() -> float:
    """CPU seconds of some words looked up and joined, about a millisecond where nothing else runs."""
    began = time.process_time()
    words = {f"word{n}": n for n in range(2_000)}
    " ".join(sorted(word for word in words if words[word] % 3))
    return time.process_time() - began


def make_coder(root: Path) -> Any:
    """aider's own Coder in a new repository, with a model that always answers the same few lines."""
    import litellm
    from aider.coders.base_coder import Coder
    from aider.io import InputOutput
    from aider.models import Model

    from aider_gardener.replay.play.calls import completion

    (root / "app.py").write_text("def greet():\n    return 'hello'\n", encoding="utf-8")
    (root / "printer.py").write_text(PRINTER, encoding="utf-8")
    identity = ["-c", "user.name=Tester", "-c", "user.email=tester@example.com"]
    for words in (["init", "-q"], ["add", "."], [*identity, "commit", "-qm", "start"]):
        subprocess.run(["git", *words], cwd=root, check=True)
    os.chdir(root)

    def complete(**options: Any) -> Any:
        text = "The ledger has no price for that order; the importer drops it. I would check it first."
        return completion(text, options["model"], 10, 5)

    litellm.completion = complete
    io = InputOutput(pretty=False, yes=True, fancy_input=False, chat_history_file=root / ".chat.md")
    return Coder.create(
        main_model=Model("gpt-4o"),
        io=io,
        fnames=["app.py"],
        edit_format="diff",
        auto_lint=False,
        stream=False,
    )


def say_outputs(coder: Any, turn: int, size: int = OUTPUT_BYTES) -> None:
    coder.run(with_message=f"/run {sys.executable} printer.py {turn} {size}")
    coder.run(with_message=f"Which orders of run {turn} have no price, and which ledger holds them?")


def say_short(coder: Any, turn: int) -> None:
    coder.run(with_message=f"In step {turn}, should order_{turn}.py keep its default of {turn * 7} seconds?")


SCENARIOS: dict[str, Callable[[Any, int], None]] = {"outputs": say_outputs, "short": say_short}


def run(
    scenario: str,
    turns: int,
    *,
    gardened: bool,
    embedder: str = "none",
    before_turn: Callable[[int], None] = lambda turn: None,
) -> Run:
    """One chat of so many turns in this process, in a directory that is gone afterwards."""
    from aider_gardener import install, uninstall
    from aider_gardener.settings import Settings

    process, say = psutil.Process(), SCENARIOS[scenario]
    seconds: list[float] = []
    resident: list[int] = []
    yardstick: list[float] = []
    before = Path.cwd()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as root:
        if gardened:
            install(Settings(embedder=embedder))
        try:
            coder = make_coder(Path(root))
            for turn in range(turns):
                before_turn(turn)
                began = time.process_time()
                say(coder, turn)
                seconds.append(time.process_time() - began)
                resident.append(process.memory_info().rss)
                yardstick.append(min(fixed_work() for _ in range(3)))
                if turn % 50 == 49:
                    print("\n" + json.dumps(Run(seconds, resident, yardstick).figures()), flush=True)
        finally:
            uninstall()
            os.chdir(before)
    return Run(seconds, resident, yardstick)


def held(scenario: str) -> float:
    """Kilobytes a turn that the gardener's own code allocated and that are still there."""
    first, last = TRACED[scenario]
    own = [tracemalloc.Filter(True, str(Path(aider_gardener.__file__).parent / "*"))]
    before: list[tracemalloc.Snapshot] = []

    def looked_at(turn: int) -> None:
        if turn == first:
            tracemalloc.start()
        if turn in (first, last):
            gc.collect()
            before.append(tracemalloc.take_snapshot().filter_traces(own))

    run(scenario, last + 1, gardened=True, before_turn=looked_at)
    changes = before[1].compare_to(before[0], "filename")
    return round(sum(change.size_diff for change in changes) / 1_000 / (last - first), 1)


def in_child(scenario: str, turns: int, who: str) -> dict[str, Any]:
    """The figures of one chat in a process of its own."""
    words = [scenario, str(turns), who]
    done = subprocess.run(
        [sys.executable, "-m", "bench.attacks.long", "--child", *words],
        env={**os.environ, **ENVIRONMENT},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = parser_of(__doc__, outputs=300, short=2_000)
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        scenario, turns, who = options.child
        if who == "held":
            print("\n" + json.dumps({"held_kb_a_turn": held(scenario)}))
            return
        print("\n" + json.dumps(run(scenario, int(turns), gardened=who == "gardener").figures()))
        return
    found: dict[str, dict[str, Any]] = {}
    for scenario in SCENARIOS:
        for gardened in (True, False):
            name = f"{scenario}, {'gardener' if gardened else 'aider alone'}"
            turns = getattr(options, scenario) // (1 if gardened else ALONE_PART)
            found[name] = in_child(scenario, turns, "gardener" if gardened else "aider")
            if gardened:
                found[name] |= in_child(scenario, turns, "held")
            print(f"{name:24}", *(f"{key} {value}" for key, value in found[name].items()), flush=True)
    keep("long", {"runs": found}, options.json)


if __name__ == "__main__":
    main()
