"""How many faults, put one by one into modules where one shows only in worse prompts, the tests find.

    make mutants [MUTANTS_FLAGS="MODULE ... --sample N"]

By cosmic-ray, in an environment of its own and on a copy of the checkout, since it changes the modules where
they are. Of each module so many mutants are tried, drawn by their hashes; what was tried is not tried again,
so the command may be stopped and goes on. Results go to bench/results/mutants.json; the command fails where
fewer than 85 % are killed in all.
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import TestOutcome, WorkerOutcome, WorkResult

ROOT = Path(__file__).resolve().parent.parent
BUILD, RESULTS = ROOT / "build" / "mutants", ROOT / "bench" / "results" / "mutants.json"
FORMAT, LEAST_KILLED, SECONDS = 2, 0.85, 120

UNSEEN = ("ReplaceBinaryOperator_BitOr", "ComparisonOperator_Eq_Is ")
"""Most of these are in annotations, which nothing evaluates, or compare members of an enumeration."""

COMPACTIONS = "tests/gardener/test_compactions.py"
RECALLING = (
    "tests/recall/test_finding.py",
    "tests/recall/test_recall.py",
    "tests/gardener/test_past_chats.py",
)
TARGETS: dict[str, Sequence[str]] = {
    "recall/ranking": ("tests/recall/test_ranking.py", *RECALLING),
    "recall/finding": RECALLING,
    "recall/recall": RECALLING,
    "reading/segments": (
        "tests/reading/test_segments.py",
        "tests/reading/test_classify.py",
        "tests/compress",
    ),
    "plan/planner": ("tests/plan/test_planner.py", "tests/plan/test_expiry.py", COMPACTIONS),
    "plan/priority": ("tests/plan/test_priority.py", "tests/plan/test_planner.py"),
    "plan/view": (
        "tests/plan/test_view.py",
        "tests/plan/test_chat.py",
        "tests/plan/test_planner.py",
        COMPACTIONS,
    ),
    "plan/layout": ("tests/plan/test_layout.py",),
    "plan/diffs": (
        "tests/plan/test_diffs.py",
        "tests/plan/test_layout.py",
        "tests/adapters/aider/test_layout.py",
    ),
    "adapters/aider/layout": ("tests/adapters/aider/test_layout.py", "tests/adapters/aider/test_prompt.py"),
    "compress/truth": (
        "tests/compress/test_truth_law.py",
        "tests/compress/test_facts.py",
        "tests/compress/test_values.py",
    ),
    "archive/store/records": (
        "tests/archive/store/test_records.py",
        "tests/archive/store/test_lines.py",
        "tests/archive/test_store.py",
    ),
    "archive/archive": (
        "tests/archive/test_archive.py",
        "tests/archive/test_lookup.py",
        "tests/gardener/test_stored_chat.py",
        "tests/recall/test_finding.py",
        COMPACTIONS,
    ),
    "archive/store/redact": (
        "tests/archive/store/test_redact.py",
        "tests/archive/store/test_secret_forms.py",
    ),
}
"""Module, without the package and `.py`, and the tests that have to find its mutants, quick ones first."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="such as plan/planner (default: all)")
    parser.add_argument(
        "--sample", type=int, default=25, metavar="N", help="mutants of a module (default: 25)"
    )
    parser.add_argument(
        "--python", default=sys.executable, metavar="FILE", help="the Python that runs the tests"
    )
    options = parser.parse_args()
    if unknown := sorted(set(options.modules) - set(TARGETS)):
        parser.error(f"{', '.join(unknown)}: not among {', '.join(TARGETS)}")
    copy = copied(options.sample)
    rows = [measured(name, copy, options) for name in options.modules or TARGETS]
    killed, tried = (sum(row[key] for row in rows) for key in ("killed", "tried"))
    print(f"{killed} of {tried} killed, {killed / tried:.0%}")
    if not options.modules:
        commit = git("rev-parse", "--short=12", "HEAD")
        value = {
            "format": FORMAT,
            "kind": "mutants",
            "commit": commit,
            "sample": options.sample,
            "rows": rows,
        }
        RESULTS.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    return int(killed < LEAST_KILLED * tried)


def git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()


def copied(sample: int) -> Path:
    """A copy of what git knows of the checkout, as it is now; what was tried on another state of it, or of
    another sample, is gone."""
    copy, state = BUILD / "copy", BUILD / "state"
    names = git("ls-files", "-z").split("\0")
    present = [name for name in names if name and (ROOT / name).is_file()]
    code = b"".join((ROOT / name).read_bytes() for name in present if name.endswith(".py"))
    now = sha256(b"%d " % sample + code).hexdigest()
    if not (state.is_file() and state.read_text() == now):
        shutil.rmtree(BUILD, ignore_errors=True)
        for name in present:
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
        state.write_text(now)
    return copy


def measured(name: str, copy: Path, options: argparse.Namespace) -> dict[str, Any]:
    """What became of a sample of a module's mutants."""
    config, session = BUILD / f"{name.replace('/', '-')}.toml", BUILD / f"{name.replace('/', '-')}.sqlite"
    words = [options.python, "-m", "pytest", "-q", "-x", "-n", "0", "-p", "no:cacheprovider", *TARGETS[name]]
    path = f"aider_gardener/{name}.py"
    settings = {
        "module-path": path,
        "timeout": SECONDS,
        "excluded-modules": [],
        "test-command": shlex.join(words),
    }
    lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
    config.write_text("\n".join(["[cosmic-ray]", *lines, "[cosmic-ray.distributor]", 'name = "local"', ""]))

    def cosmic_ray(step: str) -> None:
        command = [
            str(each) for each in (Path(sys.executable).with_name("cosmic-ray"), step, config, session)
        ]
        subprocess.run(command, cwd=copy, check=True, stdout=subprocess.DEVNULL)

    if not session.exists():
        cosmic_ray("init")
    with use_db(session, WorkDB.Mode.open) as db:
        items = [item for item in db.work_items if not any(each in key(item) for each in UNSEEN)]
        every = sorted(items, key=lambda item: sha256(key(item).encode()).digest())
        chosen = {item.job_id for item in every[: options.sample]}
        skipped = [item.job_id for item in db.work_items if item.job_id not in chosen]
        db.set_multiple_results(skipped, WorkResult(WorkerOutcome.SKIPPED))
    cosmic_ray("exec")
    with use_db(session, WorkDB.Mode.open) as db:
        done = {item.job_id: result for item, result in db.completed_work_items}
    tried = every[: options.sample]
    alive = [key(item) for item in tried if done[item.job_id].test_outcome is TestOutcome.SURVIVED]
    killed = len(tried) - len(alive)
    print(
        f"{name}: {killed} of {len(tried)} killed (of {len(every)} mutants)", *alive, sep="\n  ", flush=True
    )
    return {"module": name, "mutants": len(every), "tried": len(tried), "killed": killed, "survivors": alive}


def key(item: Any) -> str:
    """What tells a mutant from the others of its module: where it is and what is done there."""
    (made,) = item.mutations
    operator = made.operator_name.removeprefix("core/")
    return f"{made.definition_name or 'module'}: {operator} {made.operator_args or ''} {made.occurrence}"


if __name__ == "__main__":
    sys.exit(main())
