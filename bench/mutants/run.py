"""How many mutants of the hard modules the tests kill.

    python -m bench.mutants.run [MODULE ...] [--sample N] [--json FILE] [--list]

From each module a sample is taken by the hash of a mutant's key, so that a change of one function alters
little of it; those that no test found once are always in it (see targets.py). What was tried is kept in
build/mutants and taken again as long as the package and the tests concerned are the same, so that the command
may be stopped and goes on. Results go to bench/results/mutants.json. A mutant that survives needs its reason
in survivors.json. The command fails where one is missing, where a reason has no survivor any more, or where
fewer than 85 % are killed in all.

Why no ready tool: mutmut 3 leaves decorated functions and the constants of a module as they are, and the
weights stand there; cosmic-ray removes no statement, spends most mutants on operators that only raise, starts
a process for each and writes into the checkout.
"""

from __future__ import annotations

import argparse
import ast
import gc
import importlib
import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import Any

from bench.mutants.faults import Mutant, mutants, mutated
from bench.mutants.targets import FEWER, NAMED, TARGETS, WARM
from bench.mutants.trial import SURVIVED, Faulty, Outcome, imports, trial

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGE = "aider_gardener"
RESULTS = ROOT / "bench" / "results" / "mutants.json"
REASONS = Path(__file__).with_name("survivors.json")
KEPT = ROOT / "build" / "mutants"
NAME, FORMAT = "mutants", 1
SAMPLE, SEED = 25, "gardener"
LEAST_SHARE = 0.85
PATIENCE, GRACE_SECONDS = 4, 10
"""A mutant has so many times the seconds that its tests need, and so many seconds more."""


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="such as recall/ranking; by default all")
    parser.add_argument("--sample", type=int, default=SAMPLE, metavar="N", help="mutants of each module")
    parser.add_argument(
        "--json", type=Path, default=None, help="where the figures go; with MODULE nowhere, or into this file"
    )
    parser.add_argument("--list", action="store_true", help="only print the mutants and how they ended")
    options = parser.parse_args(argv)
    unknown = [name for name in options.modules if name not in TARGETS]
    if unknown:
        parser.error(f"no such module: {', '.join(unknown)}; there are {', '.join(TARGETS)}")
    names = options.modules or list(TARGETS)
    if options.list:
        return listed(names, options.sample)
    if not hasattr(os, "fork"):
        print("mutants are tried in forks, which this system has not", file=sys.stderr)
        return 1
    warm_up()
    found = {name: tried(name, options.sample) for name in names}
    target = options.json or (None if options.modules else RESULTS)
    if target:
        value = value_of(found, options.sample)
        if options.modules and target.is_file():
            value["rows"] = updated(json.loads(target.read_text(encoding="utf-8"))["rows"], value["rows"])
        target.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    return verdict(found)


def value_of(found: Mapping[str, list[dict[str, Any]]], sample: int) -> dict[str, Any]:
    """The results as they are written."""
    from bench.provenance import made_on

    rows = [
        {
            "module": name,
            "mutants": population(name),
            "tests": TARGETS[name],
            "tried": len(trials),
            "killed": sum(each["outcome"] != SURVIVED for each in trials),
            "survivors": [each["key"] for each in trials if each["outcome"] == SURVIVED],
        }
        for name, trials in found.items()
    ]
    return {"format": FORMAT, "kind": NAME, "provenance": made_on(), "sample": sample, "rows": rows}


def updated(rows: Sequence[Mapping[str, Any]], newer: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The rows of all modules that there are, those of the newer run in place of older ones."""
    by_module = {row["module"]: row for row in [*rows, *newer]}
    return [by_module[name] for name in TARGETS if name in by_module]


def verdict(found: Mapping[str, list[dict[str, Any]]]) -> int:
    """Say how it ended; 1 where the tests are not good enough or a survivor has no reason."""
    why = reasons()
    faults = [fault for name, trials in found.items() for fault in faults_of(name, trials, why.get(name, {}))]
    count = sum(map(len, found.values()))
    killed = sum(each["outcome"] != SURVIVED for trials in found.values() for each in trials)
    for name, trials in found.items():
        print(f"{name}: {sum(each['outcome'] != SURVIVED for each in trials)} of {len(trials)} killed")
    print(f"{killed} of {count} mutants killed, {killed / max(1, count):.1%}")
    if killed < LEAST_SHARE * count:
        faults.append(f"fewer than {LEAST_SHARE:.0%} are killed")
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


def faults_of(name: str, trials: Sequence[Mapping[str, Any]], why: Mapping[str, str]) -> list[str]:
    """Survivors without a reason, and reasons without a survivor."""
    alive = [each["key"] for each in trials if each["outcome"] == SURVIVED]
    faults = [f"{name}: survives without a reason: {key}" for key in alive if not why.get(key)]
    return faults + [
        f"{name}: a reason is given, but it is no survivor: {key}" for key in why if key not in alive
    ]


def reasons() -> dict[str, dict[str, str]]:
    """Why each survivor may live, by module and key."""
    value: dict[str, dict[str, str]] = json.loads(REASONS.read_text(encoding="utf-8"))
    return value


def source_of(name: str) -> Path:
    return ROOT / PACKAGE / f"{name}.py"


def population(name: str) -> int:
    return len(mutants(source_of(name).read_text(encoding="utf-8")))


def sampled(name: str, size: int) -> list[Mutant]:
    """The mutants of a module that are tried, in the order of its text."""
    every = mutants(source_of(name).read_text(encoding="utf-8"))
    must = {mutant.key for mutant in every if any(name == at and part in mutant.key for at, part in NAMED)}
    drawn = sorted(every, key=lambda one: sha256(f"{SEED}{name}{one.key}".encode()).digest())
    drawn = drawn[: min(size, FEWER.get(name, size))]
    kept = must | {mutant.key for mutant in drawn}
    return [mutant for mutant in every if mutant.key in kept]


def tried(name: str, size: int) -> list[dict[str, Any]]:
    """Every mutant of the sample with how it ended, tried now or before. Raises RuntimeError where the tests
    fail without a fault."""
    chosen, done = sampled(name, size), known(name)
    left = [mutant for mutant in chosen if mutant.key not in done]
    if left:
        path = source_of(name)
        source = path.read_text(encoding="utf-8")
        module = f"{PACKAGE}.{name.replace('/', '.')}"
        sound = Faulty(module, path, ast.parse(source))  # put in as a mutant is
        whole = trial(sound, TARGETS[name], root=ROOT, seconds=600)
        if whole.outcome != SURVIVED:
            raise RuntimeError(f"{name}: its tests fail without a fault: {whole.test or whole.outcome}")
        limit = PATIENCE * whole.seconds + GRACE_SECONDS
        print(
            f"{name}: {len(left)} of {len(chosen)} mutants to try, {whole.seconds:.0f} s of tests", flush=True
        )
        for mutant in left:
            fault = Faulty(module, path, mutated(source, mutant.number))
            stood = standing()
            ended = trial(fault, TARGETS[name], root=ROOT, seconds=limit)
            done[mutant.key] = keep(name, mutant, ended, stood)
            if ended.outcome == SURVIVED:
                print(f"  survives: {mutant.key}", flush=True)
    return [done[mutant.key] for mutant in chosen]


def keep(name: str, mutant: Mutant, ended: Outcome, stood: Mapping[str, str]) -> dict[str, Any]:
    """Write down how a mutant ended, with what that depends on, as it `stood` before."""
    test = short(ended.test)
    row = {"key": mutant.key, **asdict(ended), "test": test, "of": depends(name, test, stood)}
    KEPT.mkdir(parents=True, exist_ok=True)
    with file_of(name).open("a", encoding="utf-8") as file:
        file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return row


def known(name: str) -> dict[str, dict[str, Any]]:
    """What was tried before and would end the same."""
    path = file_of(name)
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.exists() else []
    stood = standing()
    return {row["key"]: row for row in rows if row["of"] == depends(name, row["test"], stood)}


def standing() -> dict[str, str]:
    """The hash of every file of the package and of the tests."""
    files = [*(ROOT / PACKAGE).rglob("*.py"), *(ROOT / "tests").rglob("*.py")]
    return {short(file.as_posix()): sha256(file.read_bytes()).hexdigest() for file in sorted(files)}


def depends(name: str, test: str, stood: Mapping[str, str]) -> str:
    """The hash of all that decided how a trial ended: the package, what tests share, and of a killed mutant
    the file whose test killed it, of a survivor all its tests."""
    tests = [test.partition("::")[0]] if test else TARGETS[name]
    shared = [file for file in stood if file.startswith(PACKAGE) or re.fullmatch(r"tests/[^/]+", file)]
    return sha256(" ".join(stood.get(file, "") for file in [*shared, *tests]).encode()).hexdigest()


def short(test: str) -> str:
    """A test's name from the root of the repository."""
    return test.replace(f"{ROOT.as_posix()}/", "")


def file_of(name: str) -> Path:
    return KEPT / f"{name.replace('/', '-')}.jsonl"


def listed(names: Sequence[str], size: int) -> int:
    """Print the sample of each module."""
    for name in names:
        done = known(name)
        for mutant in sampled(name, size):
            row = done.get(mutant.key, {"outcome": "not tried", "test": ""})
            print(f"{name}: {row['outcome']:9} {mutant.key}" + (f"  ({row['test']})" if row["test"] else ""))
    return 0


def warm_up() -> None:
    """Load what is the same for all trials, in the home that the tests have."""
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tools")]
    sys.dont_write_bytecode, sys.pycache_prefix = False, str(KEPT / "bytecode")
    for name in ("conftest", *WARM, *imports(ROOT / PACKAGE)):
        if not name.endswith("__main__"):
            importlib.import_module(name)
    gc.collect()
    gc.freeze()  # or each trial would look through all of it at its end


if __name__ == "__main__":
    sys.exit(main())
