"""Replays sessions: each session and variant in a process of its own, several at a time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from aider_gardener import errors
from aider_gardener.errors import GardenerError, ReplayError
from aider_gardener.replay.measure.result import ReplayResult
from aider_gardener.replay.play.cassette import client_variables
from aider_gardener.replay.play.sandbox import environment, temporary_folder
from aider_gardener.replay.play.variants import variant_named
from aider_gardener.replay.session.session import Probe

Progress = Callable[[str, str, int, int], None]
"""Called with session path, variant, turns done and turns in all; from any thread."""


@dataclass(frozen=True)
class Job:
    """One replay to do. `probes` and `summaries` None: those of the session.

    `dump_dir` is where prompts go, as `<session>/<variant>/<turn>-<n>.json`. `keep_texts` asks for
    the texts of all prompts in the result (some megabytes). `then` are sessions that follow in the
    same chat, as one long session. `ask_model` is a real model to ask for summaries and answers to
    probes, kept in `cassette`; without it there is no network. `vectors` is a file in which replays of the
    same sessions keep the vectors of passages for one another.
    """

    path: Path
    variant: str
    model: str = "gpt-4o"
    history_tokens: int | None = None
    probes: tuple[Probe, ...] | None = None
    summaries: tuple[str, ...] | None = None
    dump_dir: Path | None = None
    settings: Mapping[str, Any] | None = None
    keep_texts: bool = True
    then: tuple[Path, ...] = ()
    ask_model: str = ""
    cassette: Path | None = None
    vectors: Path | None = None


def replay_session(
    path: str | Path,
    variant: str,
    *,
    model: str = "gpt-4o",
    history_tokens: int | None = None,
    probes: Sequence[Probe] | None = None,
    summaries: Sequence[str] | None = None,
    dump_dir: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    progress: Progress | None = None,
    keep_texts: bool = True,
) -> ReplayResult:
    """Replay one session under one variant in a process of its own.

    Raises SessionError, UsageError or ReplayError, each one line.
    """
    job = Job(
        path=Path(path),
        variant=variant,
        model=model,
        history_tokens=history_tokens,
        probes=None if probes is None else tuple(probes),
        summaries=None if summaries is None else tuple(summaries),
        dump_dir=None if dump_dir is None else Path(dump_dir),
        settings=settings,
        keep_texts=keep_texts,
    )
    return replay_job(job, progress)


def replay_all(
    jobs: Sequence[Job], *, parallel: int | None = None, progress: Progress | None = None
) -> list[ReplayResult]:
    """Replay several jobs, `parallel` at a time (by default one per core), results in their order.

    The first failure is raised; jobs not yet begun are dropped.
    """
    with ThreadPoolExecutor(parallel or os.cpu_count() or 1) as pool:
        futures: list[Future[ReplayResult]] = [pool.submit(replay_job, job, progress) for job in jobs]
        done, _pending = wait(futures, return_when=FIRST_EXCEPTION)
        if any(future.exception() for future in done):
            for future in futures:
                future.cancel()
        return [future.result() for future in futures if not future.cancelled() or future.result()]


def replay_job(job: Job, progress: Progress | None = None) -> ReplayResult:
    """Run one job in a process of its own and read its result."""
    variant_named(job.variant)
    with temporary_folder() as folder:
        home = folder / "home"
        home.mkdir()
        job_file, result_file = folder / "job.json", folder / "result.json"
        job_file.write_text(json.dumps(job_value(job, folder, result_file)), encoding="utf-8")
        environ = environment(home, os.environ)
        if job.ask_model:
            environ.update(client_variables(os.environ))
        last_words = run_worker(job, job_file, environ, progress)
        if not result_file.is_file():
            raise ReplayError(f"{job.path}: the replay's process ended early ({last_words})")
        value = json.loads(result_file.read_text(encoding="utf-8"))
    if "error" in value:
        kind = getattr(errors, value["kind"], ReplayError)
        raise kind(value["error"]) if issubclass(kind, GardenerError) else ReplayError(value["error"])
    return ReplayResult.from_json(value["result"])


def job_value(job: Job, folder: Path, result_file: Path) -> dict[str, Any]:
    """What the worker reads."""
    dump_dir = job.dump_dir and job.dump_dir.resolve() / session_name(job) / job.variant
    return {
        "path": str(job.path.resolve()),
        "then": [str(path.resolve()) for path in job.then],
        "variant": job.variant,
        "model": job.model,
        "history_tokens": job.history_tokens,
        "probes": None if job.probes is None else [asdict(probe) for probe in job.probes],
        "summaries": None if job.summaries is None else list(job.summaries),
        "dump_dir": str(dump_dir) if dump_dir else "",
        "settings": dict(job.settings or {}),
        "texts": job.keep_texts,
        "ask_model": job.ask_model,
        "cassette": str(job.cassette.resolve()) if job.cassette else "",
        "vectors": str(job.vectors.resolve()) if job.vectors else "",
        "folder": str(folder),
        "result": str(result_file),
    }


def session_name(job: Job) -> str:
    """The session's own name, as it stands in results."""
    from aider_gardener.replay.session.session import load_session

    return "+".join(load_session(path).name for path in (job.path, *job.then))


def run_worker(job: Job, job_file: Path, environ: Mapping[str, str], progress: Progress | None) -> str:
    """Run the worker to its end, passing progress on; the last line it wrote to standard error."""
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
            for line in worker.stdout or ():
                report(line, job, progress)
            worker.wait()
        finally:
            if worker.poll() is None:
                worker.kill()
                worker.wait()
            if worker.stdout:
                worker.stdout.close()
    words = errors_file.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return words[-1][:200] if words else f"exit code {worker.returncode}"


def report(line: str, job: Job, progress: Progress | None) -> None:
    """Pass a worker's line of progress on; other lines are nothing to us."""
    if progress is None or not line.startswith("{"):
        return
    try:
        value = json.loads(line)
    except json.JSONDecodeError:
        return
    progress(str(job.path), job.variant, int(value["turn"]), int(value["turns"]))
