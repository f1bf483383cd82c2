"""The process of one replay: reads a job from a file, writes the result, or the error, to another.

`python -m aider_gardener.replay.play.worker JOB`. A line goes to standard output after each turn.
"""

from __future__ import annotations

import importlib
import os
import pickle
import signal
import sys
import traceback
from pathlib import Path
from typing import TextIO

from aider_gardener.errors import GardenerError, ReplayError
from aider_gardener.replay.measure.result import ReplayResult
from aider_gardener.replay.play.jobs import Job, result_file


def take_stdout() -> TextIO:
    """Standard output as it was; from now on whatever is printed goes to standard error."""
    ours = os.fdopen(os.dup(1), "w", encoding="utf-8")
    sys.stdout.flush()
    os.dup2(2, 1)
    return ours


def replay(job: Job, folder: Path, out: TextIO) -> ReplayResult:
    """Do the job in a folder of its own."""
    for module in job.imports:
        importlib.import_module(module)
    if not job.ask_model:
        from aider_gardener.replay.play.sandbox import forbid_network

        forbid_network()
    from aider_gardener.replay.play.runner import Runner

    (folder / "work").mkdir()
    os.chdir(folder / "work")
    return Runner(job, folder, lambda: print(file=out, flush=True)).run()


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python -m aider_gardener.replay.play.worker JOB", file=sys.stderr)
        return 2
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # aider would take a Ctrl-C as the end of one reply
    job_file = Path(arguments[0])
    job: Job = pickle.loads(job_file.read_bytes())
    out = take_stdout()
    found: ReplayResult | GardenerError
    try:
        found = replay(job, job_file.parent, out)
    except GardenerError as problem:
        found = problem
    except Exception as problem:  # reason: the parent has to learn of anything that ends a replay
        traceback.print_exc()
        found = ReplayError(f"the replay failed: {problem!r}")
    result_file(job_file).write_bytes(pickle.dumps(found))
    return 1 if isinstance(found, GardenerError) else 0


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # threads that the host leaves behind must not hold the process
