"""Long chats through aider's own Coder with a scripted model: CPU seconds and memory a turn, do they grow?

    python -m bench.attacks.long [--outputs 300] [--short 2000] [--json FILE]

`outputs`: each turn a `/run` that prints 200 KB, then a question. `short`: a question and an answer. Each
runs in a process of its own, once with the gardener and once without, for aider's own work grows too.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

RESULTS = Path(__file__).resolve().parent.parent / "results" / "attacks" / "long.json"
COMMAND = "python -m bench.attacks.long"
OUTPUT_BYTES = 200_000
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
    """CPU seconds of this process in each turn, and the process's resident bytes after it."""

    seconds: list[float]
    resident: list[int]

    def figures(self) -> dict[str, Any]:
        """Medians of an early and of the last tenth of the turns; growth a turn over the last half."""
        turns = len(self.seconds)
        tenth = max(1, turns // 10)
        early, late = self.seconds[tenth : 2 * tenth], self.seconds[-tenth:]
        half = self.resident[turns // 2 :]
        return {
            "turns": turns,
            "early_ms": round(1000 * statistics.median(early), 2),
            "late_ms": round(1000 * statistics.median(late), 2),
            "worst_ms": round(1000 * max(self.seconds[1:]), 1),
            "resident_mb": round(self.resident[-1] / 1e6, 1),
            "grown_mb": round((self.resident[-1] - self.resident[tenth]) / 1e6, 1),
            "kb_a_turn": round((half[-1] - half[0]) / 1000 / max(1, len(half) - 1), 2),
        }


def make_coder(root: Path) -> Any:
    """aider's own Coder in a new repository, with a model that always answers the same few lines."""
    import litellm
    from aider.coders.base_coder import Coder
    from aider.io import InputOutput
    from aider.models import Model

    from aider_gardener.replay.play.model import completion

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


def run(scenario: str, turns: int, *, gardened: bool, embedder: str = "none") -> Run:
    """One chat of so many turns in this process, in a directory that is gone afterwards."""
    from aider_gardener import install, uninstall
    from aider_gardener.settings import Settings

    process, say = psutil.Process(), SCENARIOS[scenario]
    seconds: list[float] = []
    resident: list[int] = []
    before = Path.cwd()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as root:
        if gardened:
            install(Settings(embedder=embedder))
        try:
            coder = make_coder(Path(root))
            for turn in range(turns):
                began = time.process_time()
                say(coder, turn)
                seconds.append(time.process_time() - began)
                resident.append(process.memory_info().rss)
                if turn % 50 == 49:
                    print("\n" + json.dumps(Run(seconds, resident).figures()), flush=True)
        finally:
            uninstall()
            os.chdir(before)
    return Run(seconds, resident)


def in_child(scenario: str, turns: int, *, gardened: bool) -> dict[str, Any]:
    """The figures of one chat in a process of its own."""
    words = [scenario, str(turns), "gardener" if gardened else "aider"]
    done = subprocess.run(
        [sys.executable, "-m", "bench.attacks.long", "--child", *words],
        env={**os.environ, **ENVIRONMENT},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--outputs", type=int, default=300)
    parser.add_argument("--short", type=int, default=2_000)
    parser.add_argument("--json", type=Path, default=RESULTS)
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args(words)
    if options.child:
        scenario, turns, who = options.child
        print("\n" + json.dumps(run(scenario, int(turns), gardened=who == "gardener").figures()))
        return
    found: dict[str, dict[str, Any]] = {}
    for scenario in SCENARIOS:
        for gardened in (True, False):
            name = f"{scenario}, {'gardener' if gardened else 'aider alone'}"
            found[name] = in_child(scenario, getattr(options, scenario), gardened=gardened)
            print(f"{name:24}", *(f"{key} {value}" for key, value in found[name].items()), flush=True)
    command = f"{COMMAND} --outputs {options.outputs} --short {options.short}"
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(
        json.dumps({"command": command, "runs": found}, indent=1) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
