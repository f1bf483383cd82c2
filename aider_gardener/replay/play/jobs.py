"""Replays sessions: each session and variant in a process of its own, several at a time.

For a report the sessions are found, each is replayed under each variant, and the figures put together. Long
chat histories are replayed lightly, and in parts.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, as_completed, wait
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from aider_gardener import errors
from aider_gardener.errors import GardenerError, ReplayError, SessionError, UsageError
from aider_gardener.replay.measure.result import ReplayResult
from aider_gardener.replay.measure.summary import ReplayReport, Summary, fell_back, make_report, summarize
from aider_gardener.replay.play.advance import Advance, OnTurn, Played, SessionPiece, Watcher
from aider_gardener.replay.play.model import client_variables
from aider_gardener.replay.play.parts import Turns, joined, joined_summary, part_of, parts, spread
from aider_gardener.replay.play.sandbox import environment, temporary_folder
from aider_gardener.replay.play.variants import variant_named
from aider_gardener.replay.session.grammar import Progress
from aider_gardener.replay.session.history import load_history, load_session
from aider_gardener.replay.session.session import Probe, Session

HISTORY_NAME = ".aider.chat.history.md"
RECORDING_NAME = "session.jsonl"
SESSION_FILE = "session.pickle"
"""In a job's folder: its part of a session, so that no process reads the whole again."""

FROM_HISTORY = (
    "{names}: read from a chat history file, which holds neither the files of the chat nor, since aider "
    "0.64, the outputs of commands; what was really sent was larger."
)

FELL_BACK = (
    "{name} under {variant}: the gardener took no part in it, so this row shows the host's own fallback; "
    "run it again, and look into the gardener's log if it stays so."
)

LONG_BYTES = 1_000_000
"""From this size on the vectors of a history's passages take about as long as everything else together."""

BY_WORDS = (
    "{names}: a history of {megabytes:.1f} MB, so recall went by words alone; "
    "--variant stock,stock-fixed,gardener+embedder=use takes longer and recalls by meaning too."
)


@dataclass(frozen=True)
class Job:
    """One replay to do. `probes` and `summaries` None: those of the session.

    `dump_dir` is where prompts go, as `<session>/<variant>/<turn>-<n>.json`. `keep_texts` asks for
    the texts of all prompts in the result (some megabytes). `then` are sessions that follow in the same
    chat, as one long session. `ask_model` is a real model to ask for summaries and answers to probes, with
    `ask_edits` for edits too, kept in `cassette`; without it there is no network. `vectors` is a file in
    which replays of the same sessions keep the vectors of passages for one another. `map_tokens` is the
    budget of the repository map, None for the model's; `cache_prompts` runs aider with `--cache-prompts`.
    `turns` are the first and the last one to replay, None for all.
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
    ask_edits: bool = False
    cassette: Path | None = None
    vectors: Path | None = None
    map_tokens: int | None = None
    cache_prompts: bool = False
    turns: Turns | None = None


def replay_all(jobs: Sequence[Job]) -> list[ReplayResult]:
    """Replay several jobs, one per core at a time, results in their order.

    The first failure is raised; jobs not yet begun are dropped.
    """
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        futures: list[Future[ReplayResult]] = [pool.submit(replay_job, job) for job in jobs]
        done, _pending = wait(futures, return_when=FIRST_EXCEPTION)
        if any(future.exception() for future in done):
            for future in futures:
                future.cancel()
        return [future.result() for future in futures if not future.cancelled() or future.result()]


def replay_job(job: Job, on_turn: OnTurn | None = None, session: Session | None = None) -> ReplayResult:
    """Run one job in a process of its own and read its result; `on_turn` is called from this thread, and what
    it raises ends the replay. `session` is the job's part of its session, where that was read already.

    Raises SessionError, UsageError or ReplayError, each one line.
    """
    variant_named(job.variant)
    with temporary_folder() as folder:
        home = folder / "home"
        home.mkdir()
        job_file, result_file = folder / "job.json", folder / "result.json"
        job_file.write_text(json.dumps(job_value(job, folder, result_file)), encoding="utf-8")
        if session is not None:
            (folder / SESSION_FILE).write_bytes(pickle.dumps(session))
        environ = environment(home, os.environ)
        if job.ask_model:
            environ.update(client_variables(os.environ))
        last_words = run_worker(job_file, environ, on_turn)
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
        "ask_edits": job.ask_edits,
        "cassette": str(job.cassette.resolve()) if job.cassette else "",
        "vectors": str(job.vectors.resolve()) if job.vectors else "",
        "map_tokens": job.map_tokens,
        "cache_prompts": job.cache_prompts,
        "turns": job.turns,
        "folder": str(folder),
        "result": str(result_file),
    }


def session_name(job: Job) -> str:
    """The session's own name, as it stands in results."""
    return "+".join(load_session(path).name for path in (job.path, *job.then))


def run_worker(job_file: Path, environ: Mapping[str, str], on_turn: OnTurn | None) -> str:
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
                pass_on(line, on_turn)
            worker.wait()
        finally:
            if worker.poll() is None:
                worker.kill()
                worker.wait()
            if worker.stdout:
                worker.stdout.close()
    words = errors_file.read_text(encoding="utf-8", errors="replace").strip().splitlines()
    return words[-1][:200] if words else f"exit code {worker.returncode}"


def pass_on(line: str, on_turn: OnTurn | None) -> None:
    """Pass a worker's line of progress on; other lines are nothing to us."""
    if on_turn is None or not line.startswith("{"):
        return
    try:
        value = json.loads(line)
    except json.JSONDecodeError:
        return
    on_turn(Played(int(value["turn"]), int(value["tokens"]), float(value["usd"])))


@dataclass(frozen=True)
class FoundSession:
    """A session and where it was read from; `name` is unlike that of every other source."""

    path: Path
    session: Session
    name: str


Jobs = Sequence[tuple[FoundSession, Job]]
Found = tuple[ReplayResult, Summary]
"""What came of one job."""

Look = Callable[[FoundSession, ReplayResult], None]
"""Called with a session and a result of its, texts and swaps included; from any thread."""


def find_paths(given: Sequence[Path]) -> list[Path]:
    """The sessions that were meant, each once: a folder may hold a chat history or several recordings.

    UsageError for what doesn't exist or holds no session.
    """
    found: list[Path] = []
    for path in given:
        if not path.exists():
            raise UsageError(
                f"{path}: no such file or folder; give a recorded session folder or an {HISTORY_NAME}"
            )
        found.extend([path] if path.is_file() or (path / RECORDING_NAME).exists() else sessions_in(path))
    return list(dict.fromkeys(path.resolve() for path in found))


def sessions_in(folder: Path) -> list[Path]:
    """The chat history in a folder, else the recordings one level below it."""
    if not folder.is_dir():
        raise SessionError(f"{folder}: is no regular file and no folder; give a recording or a chat history")
    if (folder / HISTORY_NAME).is_file():
        return [folder / HISTORY_NAME]
    below = sorted(child for child in folder.iterdir() if (child / RECORDING_NAME).is_file())
    if not below:
        raise SessionError(
            f"{folder}: holds no {RECORDING_NAME} and no {HISTORY_NAME}; give the folder "
            "of a recorded session or a chat history file"
        )
    return below


def read_sources(paths: Sequence[Path], watcher: Watcher) -> list[FoundSession]:
    """Read all sessions before the first replay begins, so that a bad one costs no time."""
    sources: list[FoundSession] = []
    for path in paths:
        session = read_session(path, partial(watcher.reading, path))
        same = sum(source.session.name == session.name for source in sources)
        sources.append(FoundSession(path, session, f"{session.name} ({same + 1})" if same else session.name))
    watcher.read(sum(source.session.turn_count for source in sources))
    return sources


def read_session(path: Path, progress: Progress) -> Session:
    if path.is_file() and path.name != RECORDING_NAME:
        return load_history(path, progress)
    return load_session(path)


def jobs_for(
    sources: Sequence[FoundSession], variants: Sequence[str], **options: Any
) -> Iterator[tuple[FoundSession, Job]]:
    """One job for each session and variant, or for each part of a long history; `options` are fields of Job.

    A history stays whole where the gardener may bring back what an earlier chat said, and where probes or
    summaries were given for it.
    """
    for source in sources:
        pieces = parts(source.session)
        for variant in variants:
            whole = options.get("probes") or options.get("summaries") or reaches_back(variant)
            for turns in [None] if whole or len(pieces) == 1 else pieces:
                yield source, Job(path=source.path, variant=variant, turns=turns, **options)


def reaches_back(variant: str) -> bool:
    """Whether a chat under this variant may hold what an earlier one said."""
    settings = variant_named(variant).settings or {}
    return bool(settings.get("recall_sessions") or settings.get("resume"))


def run_jobs(
    jobs: Jobs, watcher: Watcher, *, parallel: int | None = None, look: Look | None = None
) -> ReplayReport:
    """Replay all jobs, one per core at a time; the report has them in the order given, parts joined.

    `look` is shown each result while it still has its texts. The first failure ends it: jobs not begun
    are dropped, and its error is raised. After a KeyboardInterrupt the report has what was finished under
    every variant and says so (`stopped`); it is raised where that is nothing.
    """
    advance = Advance(
        [SessionPiece(s.name, s.session, job.variant, turns_of(s, job)) for s, job in jobs], watcher
    )
    found: dict[int, Found] = {}
    pool = ThreadPoolExecutor(parallel or os.cpu_count() or 1)
    try:
        futures: dict[Future[Found], int] = {}
        for number in in_turn(jobs):
            future = pool.submit(one_job, *jobs[number], advance.counter(number), texts=look is not None)
            futures[future] = number
        for future in as_completed(futures):
            found[futures[future]] = future.result()
            if advance.finished(futures[future]) and look is not None:
                take_texts(jobs, futures[future], found, look)
    except KeyboardInterrupt:
        advance.stopped = True
        found = done_under_all(jobs, found)
        if not found:
            raise
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    if advance.stopped:
        return replace(report_of(jobs, found), stopped=advance.how_far(found))
    return report_of(jobs, found)


def take_texts(jobs: Jobs, number: int, found: dict[int, Found], look: Look) -> None:
    """Show `look` what this job's session came to under its variant; then its texts are let go."""
    source, job = jobs[number]
    numbers = replays_of(jobs)[source.name, job.variant]
    look(source, joined([found[at][0] for at in numbers]))
    for at in numbers:
        found[at] = without_texts(found[at][0]), found[at][1]


def without_texts(result: ReplayResult) -> ReplayResult:
    return replace(result, texts={}, swaps=(), quoted=())


def report_of(jobs: Jobs, found: Mapping[int, Found]) -> ReplayReport:
    """The report of the jobs that were found, the parts of a session joined."""
    rows = []
    for numbers in replays_of(jobs).values():
        pieces = [found[number] for number in numbers if number in found]
        if pieces:
            result = joined([result for result, _ in pieces])
            rows.append((result, joined_summary([summary for _, summary in pieces], result)))
    return make_report(rows, notes([jobs[number][0] for number in sorted(found)], [row[0] for row in rows]))


def replays_of(jobs: Jobs) -> dict[tuple[str, str], list[int]]:
    """The numbers of the jobs of each session under each variant."""
    found: dict[tuple[str, str], list[int]] = {}
    for number, (source, job) in enumerate(jobs):
        found.setdefault((source.name, job.variant), []).append(number)
    return found


def in_turn(jobs: Jobs) -> Iterator[int]:
    """The numbers of the jobs as they are begun: session by session, of a long one parts far apart first.

    Of each part first a gardener, which takes longest, then the host's ways, then other gardeners: by then
    there are vectors that the first has made.
    """
    pieces: dict[str, dict[Turns | None, list[int]]] = {}
    for number, (source, job) in enumerate(jobs):
        pieces.setdefault(source.name, {}).setdefault(job.turns, []).append(number)
    for of_session in pieces.values():
        in_order = list(of_session.values())
        for at in spread(len(in_order)):
            gardened = [n for n in in_order[at] if variant_named(jobs[n][1].variant).settings is not None]
            yield from [*gardened[:1], *(n for n in in_order[at] if n not in gardened), *gardened[1:]]


def done_under_all(jobs: Jobs, found: Mapping[int, Found]) -> dict[int, Found]:
    """Of what was found the sessions, or parts of them, that were replayed under every variant."""
    variants: dict[str, set[str]] = {}
    done: dict[tuple[str, Turns | None], set[str]] = {}
    for number, (source, job) in enumerate(jobs):
        variants.setdefault(source.name, set()).add(job.variant)
        if number in found:
            done.setdefault((source.name, job.turns), set()).add(job.variant)
    alike = {(name, turns) for (name, turns), names in done.items() if names == variants[name]}
    return {at: one for at, one in found.items() if (jobs[at][0].name, jobs[at][1].turns) in alike}


def one_job(source: FoundSession, job: Job, on_turn: OnTurn, *, texts: bool = False) -> Found:
    """Replay and sum up; the texts of the prompts are let go afterwards, unless they are asked for."""
    part = part_of(source.session, turns_of(source, job))
    result = replace(replay_job(job, on_turn, part if job.turns else None), session=source.name)
    summary = summarize(result, part)
    return (result if texts else without_texts(result)), summary


def turns_of(source: FoundSession, job: Job) -> Turns:
    return job.turns or (1, source.session.turn_count)


def notes(sources: Sequence[FoundSession], results: Sequence[ReplayResult]) -> list[str]:
    """What a reader must know about these very sessions."""
    lines = []
    histories = list(dict.fromkeys(source.name for source in sources if not source.session.recorded))
    if histories:
        lines.append(FROM_HISTORY.format(names=", ".join(histories)))
    lines += [FELL_BACK.format(name=one.session, variant=one.variant) for one in results if fell_back(one)]
    for name in dict.fromkeys(source.name for source in sources):
        own = [result for result in results if result.session == name and result.notices]
        if own:
            most = max(own, key=lambda result: len(result.notices))
            more = f" and {len(most.notices) - 1} more, in the JSON" if len(most.notices) > 1 else ""
            lines.append(f"{name} under {most.variant}: {most.notices[0]}{more}")
    return lines


def is_long(source: FoundSession) -> bool:
    """Whether the source is a chat history file of a size that makes embedding it a matter of minutes."""
    return not source.session.recorded and source.path.stat().st_size >= LONG_BYTES


def lightened(jobs: Iterable[tuple[FoundSession, Job]]) -> list[tuple[FoundSession, Job]]:
    """The jobs; those of long histories without an embedder, unless their variant names one."""
    return [(source, without_embedder(job) if is_long(source) else job) for source, job in jobs]


def without_embedder(job: Job) -> Job:
    settings = variant_named(job.variant).settings
    if settings is None or "embedder" in settings:
        return job
    return replace(job, settings={**(job.settings or {}), "embedder": "none"})


def long_notes(jobs: Jobs) -> list[str]:
    """What a reader must know of the histories that were recalled by words alone; at most one line."""
    found = {source.name: source for source, job in jobs if is_long(source) and by_words(job)}
    if not found:
        return []
    largest = max(source.path.stat().st_size for source in found.values())
    return [BY_WORDS.format(names=", ".join(found), megabytes=largest / 1_000_000)]


def by_words(job: Job) -> bool:
    return (job.settings or {}).get("embedder") == "none"
