"""Replays jobs, each in a process of its own, one per core at a time."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from aider_gardener.errors import GardenerError, ReplayError
from aider_gardener.replay.measure.result import ReplayResult
from aider_gardener.replay.play.model import client_variables
from aider_gardener.replay.play.sandbox import environment, temporary_folder
from aider_gardener.replay.play.variants import variant_named
from aider_gardener.replay.session.session import Session

OnTurn = Callable[[], None]


@dataclass(frozen=True)
class Job:
    """One replay to do: a session, or a part of one, under a variant.

    `map_tokens` is the budget of the repository map, None for the model's; `cache_prompts` runs aider with
    `--cache-prompts`. `settings` are the gardener's, beside those of the variant. `dump_dir` is where
    prompts go, as `<session>/<variant>/<turn>-<n>.json`. `ask_model` is a real model to ask for summaries
    and answers to probes, kept in `cassette`; without it there is no network. `page` asks for what a page
    shows besides in the result, `texts` for the texts of all prompts (some megabytes). `imports` are
    modules to import first: one may bring further variants.
    """

    session: Session
    variant: str
    model: str = "gpt-4o"
    history_tokens: int | None = None
    map_tokens: int | None = None
    cache_prompts: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)
    dump_dir: Path | None = None
    ask_model: str = ""
    cassette: Path | None = None
    page: bool = False
    texts: bool = False
    imports: tuple[str, ...] = ()


def replay_all(jobs: Sequence[Job]) -> list[ReplayResult]:
    """Replay several jobs, one per core at a time, results in their order.

    The first failure is raised; jobs not yet begun are dropped.
    """
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        futures = [pool.submit(replay_job, job) for job in jobs]
        done, _pending = wait(futures, return_when=FIRST_EXCEPTION)
        if any(future.exception() for future in done):
            pool.shutdown(cancel_futures=True)
        return [future.result() for future in futures if not future.cancelled()]


def replay_job(job: Job, on_turn: OnTurn | None = None) -> ReplayResult:
    """Run one job in a process of its own and read its result; `on_turn` is called from this thread after
    each turn, and what it raises ends the replay.

    Raises SessionError, UsageError or ReplayError, each one line.
    """
    variant_named(job.variant)
    with temporary_folder() as folder:
        (folder / "home").mkdir()
        job_file = write_job(job, folder)
        environ = environment(folder / "home", os.environ)
        if job.ask_model:
            environ.update(client_variables(os.environ))
        last_words = run_worker(job_file, environ, on_turn)
        try:
            found: object = pickle.loads(result_file(job_file).read_bytes())
        except (OSError, EOFError, pickle.UnpicklingError):
            name = job.session.name
            raise ReplayError(f"{name}: the replay's process ended early ({last_words})") from None
    if isinstance(found, GardenerError):
        raise found
    assert isinstance(found, ReplayResult)
    return found


def write_job(job: Job, folder: Path) -> Path:
    """Write the file that a worker is called with. What it makes lies beside it."""
    path = folder / "job.pickle"
    dump_dir, cassette = (place and place.resolve() for place in (job.dump_dir, job.cassette))
    path.write_bytes(pickle.dumps(replace(job, dump_dir=dump_dir, cassette=cassette)))
    return path


def result_file(job_file: Path) -> Path:
    """Where the worker of a job puts its result, or the error that ended it."""
    return job_file.with_name("result.pickle")


def run_worker(job_file: Path, environ: Mapping[str, str], on_turn: OnTurn | None) -> str:
    """Run the worker to its end, a line it writes for each turn; the last line of its standard error."""
    package_root = str(Path(__file__).resolve().parents[3])
    paths = [package_root, *filter(None, [environ.get("PYTHONPATH")])]
    errors_file = job_file.with_name("stderr.txt")
    with errors_file.open("w+b") as stderr:
        worker = subprocess.Popen(
            [sys.executable, "-m", "aider_gardener.replay.play.worker", str(job_file)],
            env={**environ, "PYTHONPATH": os.pathsep.join(paths)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            encoding="utf-8",
            errors="replace",
        )
        try:
            for _line in worker.stdout or ():
                if on_turn is not None:
                    on_turn()
            worker.wait()
        finally:
            if worker.poll() is None:
                worker.kill()
                worker.wait()
            if worker.stdout:
                worker.stdout.close()
    words = errors_file.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return words[-1][:200] if words else f"exit code {worker.returncode}"
