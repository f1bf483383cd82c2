"""Replays jobs, each in a process of its own, one per core at a time.

Where the system can, processes are forked off one that has loaded the host already: loading it takes longer
than a short replay.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import signal
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event, Lock
from typing import Any
from unittest.mock import patch

from aider_gardener.errors import GardenerError, ReplayError
from aider_gardener.replay.measure.result import ReplayResult
from aider_gardener.replay.play.sandbox import environment, forbid_network
from aider_gardener.replay.play.variants import Job, variant_named

OnTurn = Callable[[], None]

METHOD = "forkserver" if "forkserver" in multiprocessing.get_all_start_methods() else "spawn"
PROCESSES: Any = multiprocessing.get_context(METHOD)
if METHOD == "forkserver":
    PROCESSES.set_forkserver_preload(["aider_gardener.replay.play.loaded"])
STARTING = Lock()
ENDING_SECONDS = 0.2
"""So soon a replay is ended where another failed or somebody pressed Ctrl-C, however long its turn takes."""


def replay_all(
    jobs: Sequence[Job],
    on_turn: OnTurn = lambda: None,
    on_result: Callable[[ReplayResult], None] = lambda result: None,
) -> list[ReplayResult]:
    """Replay several jobs, one per core at a time; results in their order. Of a session those with a
    gardener, which take longest, are begun first. `on_turn` is called after each turn, `on_result` after each
    replay. The first failure, theirs too, is raised and ends the others."""
    ended, one_at_a_time = Event(), Lock()

    def go_on() -> None:
        with one_at_a_time:
            on_turn()

    sessions = list(dict.fromkeys(job.session.name for job in jobs))
    is_last = [variant_named(job.variant).settings is None for job in jobs]
    order = sorted((sessions.index(job.session.name), is_last[n], n) for n, job in enumerate(jobs))
    found: dict[int, ReplayResult] = {}
    pool = ThreadPoolExecutor(os.cpu_count() or 1)
    try:
        begun = {pool.submit(replay_job, jobs[number], go_on, ended): number for *_session, number in order}
        for future in as_completed(begun):
            found[begun[future]] = future.result()
            on_result(future.result())
    finally:
        ended.set()
        pool.shutdown(wait=True, cancel_futures=True)
    return [found[number] for number in range(len(jobs))]


def replay_job(job: Job, on_turn: OnTurn = lambda: None, ended: Event | None = None) -> ReplayResult:
    """Run one job in a process of its own, until it is done or `ended` is set; `on_turn` is called from this
    thread after each turn, and what it raises ends the replay.

    Raises SessionError, UsageError or ReplayError, each one line.
    """
    variant_named(job.variant)
    with TemporaryDirectory(prefix="gardener-replay-", ignore_cleanup_errors=True) as name:
        folder = Path(name).resolve()
        (folder / "home").mkdir()
        environ = environment(folder / "home", os.environ)
        ours, its = PROCESSES.Pipe(duplex=False)
        process = started((job, folder, environ, its), environ)
        its.close()
        try:
            message = None
            while message is None:
                if ended is not None and ended.is_set():
                    raise ReplayError("stopped")
                if ours.poll(ENDING_SECONDS) and (message := ours.recv()) is None:
                    on_turn()
        except (EOFError, BrokenPipeError):
            lines = (folder / LOG).read_text("utf-8", "replace").strip().splitlines()
            message = f"the replay's process ended early ({lines[-1][:200] if lines else 'it said nothing'})"
            raise ReplayError(f"{job.session.name}: {message}") from None
        finally:
            ours.close()
            process.kill()
            process.join()
    if isinstance(message, GardenerError):
        raise message
    assert isinstance(message, ReplayResult)
    return message


def started(given: Sequence[object], environ: Mapping[str, str]) -> Any:
    """The process of a replay, begun with this environment; one that loads the host itself where none can be
    forked: the folder for temporary files may have too long a name for a socket."""
    with STARTING, without_ctrl_c(), patch.dict(os.environ, environ, clear=True):
        try:
            process = PROCESSES.Process(target=work, args=given, daemon=True)
            process.start()
        except OSError:
            process = multiprocessing.get_context("spawn").Process(target=work, args=given, daemon=True)
            process.start()
    return process


@contextmanager
def without_ctrl_c() -> Iterator[None]:
    """What is started within has Ctrl-C blocked from its first moment, until it lets it through again (see
    `loaded`): before that Python would answer it with a traceback."""
    if not hasattr(signal, "pthread_sigmask"):  # on Windows
        yield
        return
    resource_tracker.ensure_running()  # else it begins within, and lets signals through again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


LOG = "output.txt"
"""Where all goes that the host prints."""


def work(job: Job, folder: Path, environ: Mapping[str, str], answers: Connection) -> None:
    """Be the process of one replay: sends None after each turn, then the result or the error."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # aider would take a Ctrl-C as the end of one reply
    for number, path, flags in ((0, os.devnull, os.O_RDONLY), (1, folder / LOG, os.O_WRONLY | os.O_CREAT)):
        os.dup2(os.open(path, flags), number)
    os.dup2(1, 2)
    os.environ.clear()  # what it was forked off may have begun in another one
    os.environ.update(environ)
    found: ReplayResult | GardenerError
    try:
        found = play(job, folder, lambda: answers.send(None))
    except GardenerError as problem:
        found = problem
    except Exception as problem:  # reason: the parent has to learn of anything that ends a replay
        traceback.print_exc()
        found = ReplayError(f"the replay failed: {problem!r}")
    answers.send(found)
    os._exit(0)  # threads that the host leaves behind must not hold the process


def play(job: Job, folder: Path, on_turn: OnTurn) -> ReplayResult:
    """Do a job in this process, which is good for nothing else afterwards: the host in it is patched."""
    for module in job.imports:
        importlib.import_module(module)
    forbid_network()
    from aider_gardener.replay.play.runner import Runner

    (folder / "work").mkdir()
    os.chdir(folder / "work")
    return Runner(job, folder, on_turn).run()
