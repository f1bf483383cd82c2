"""Two chats and every command that changes an archive, at once, all killed at random: is anything lost?

    python -m bench.attacks.commands [--rounds N] [--seed N] [--json FILE]

In each round two chats of bench.attacks.kills play over one archive while commands run beside them, every
second one killed within its first two seconds; at the round's end both chats are killed, and between rounds
the archive is encrypted or checked, which is killed too. What the chats were told is archived, and did not
forget, must be there after each round; `verify` must find nothing.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

from aider_gardener.archive.store import open_store
from aider_gardener.archive.store.encryption import VARIABLE
from bench.attacks import kills
from bench.attacks.results import ROOT, keep, parser_of

NEIGHBOURS = (
    "store verify", "store gc --yes", "store export {new}", "store import {old}", "store copy --to {new}",
    "store copy --from {other}", "upkeep index", "status", "forget {none} --yes",
)  # fmt: skip
BETWEEN = ("store encrypt --key env", "store verify")
KEY = "ab" * 32
MOST_SECONDS, AT_ONCE = 2.0, 4


def command(words: str, directory: Path, chance: random.Random, root: Path, number: int) -> str:
    """Run a command, killed or not; returns its name and how it ended."""
    filled = words.format(
        new=root / f"new{number}", old=root / "old.jsonl", other=root / "other", none="g0000"
    )
    line = [sys.executable, "-m", "aider_gardener.cli", *filled.split(), "--store", str(directory)]
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    process = subprocess.Popen(
        line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=root, text=True, env=environ
    )
    with suppress(subprocess.TimeoutExpired):
        process.wait(chance.random() * MOST_SECONDS if chance.random() < 0.5 else 60)
    was_killed = process.poll() is None
    process.kill()
    said = process.communicate()[0]
    if "Traceback" in said:
        return f"{words}: {said.strip().splitlines()[-1][:150]}"
    return "killed" if was_killed else f"{words}: exit {process.returncode}"


def play(*args: Any) -> None:
    """A chat in a process of its own, whose environment may be of before the archive was encrypted."""
    os.environ[VARIABLE] = KEY
    kills.play(*args)


def round_of(directory: Path, root: Path, number: int, seed: int) -> tuple[list[kills.Outcome], Counter[str]]:
    """One round; what became of its chats, and how often what came of the commands."""
    chance = random.Random(f"{seed} {number}")
    ends: Counter[str] = Counter()
    chats = [
        kills.writer(directory, f"r{number}c{at}", seed * 7_919 + number * 2 + at, play=play)
        for at in range(2)
    ]
    for at in range(AT_ONCE):
        ends[command(chance.choice(NEIGHBOURS), directory, chance, root, number * AT_ONCE + at)] += 1
        for chat in chats:
            chat.hear(lambda: False)
    for chat in chats:
        chat.kill()
    ends[command(BETWEEN[number % 2], directory, chance, root, -1)] += 1
    return [kills.looked_at(directory, chat.name, chat.told) for chat in chats], ends


def begun(directory: Path, export: Path | None = None) -> None:
    store = open_store(directory)
    store.open_session("s", project="p", started_at=1.0)
    if export:
        store.export(export)
    store.close()


def attack(rounds: int, seed: int) -> dict[str, Any]:
    os.environ[VARIABLE] = KEY
    ends: Counter[str] = Counter()
    faults: Counter[str] = Counter()
    acknowledged = lost = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        root = Path(folder)
        begun(root / "other", root / "old.jsonl")
        for number in range(rounds):
            directory = root / f"archive{number // 2}"
            begun(directory)
            if number % 10 == 9:
                print(
                    f"{number} rounds, {acknowledged} acknowledged, {lost} lost, {dict(faults)}", flush=True
                )
            chats, ended = round_of(directory, root, number, seed)
            ends += ended
            for chat in chats:
                acknowledged += chat.acknowledged
                lost += len(chat.lost)
                faults.update(fault[:160].replace(folder, "…") for fault in chat.faults)
    return {
        "rounds": rounds, "messages acknowledged": acknowledged, "lost": lost, "faults": dict(faults),
        "commands": dict(ends),
    }  # fmt: skip


def main() -> None:
    options = parser_of(__doc__, rounds=12, seed=1).parse_args()
    keep("commands", attack(options.rounds, options.seed), options.json)


if __name__ == "__main__":
    main()
