"""The process of one replay: reads a job from a file, writes the result to another.

`python -m aider_gardener.replay.play.worker JOB`. Each turn goes to standard output as a line of JSON, with
what its calls would have cost: {"turn": 3, "tokens": 4210, "usd": 0.01}. The result file holds {"result": …}
or {"error": …, "kind": …}.
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from aider_gardener.errors import GardenerError, ReplayError
from aider_gardener.replay.session.history import load_session
from aider_gardener.replay.session.session import Probe, Session, chained

if TYPE_CHECKING:
    from aider_gardener.replay.measure.result import ModelCall
    from aider_gardener.replay.play.model import Asker


def take_stdout() -> TextIO:
    """Standard output as it was; from now on whatever is printed goes to standard error."""
    ours = os.fdopen(os.dup(1), "w", encoding="utf-8")
    sys.stdout.flush()
    os.dup2(2, 1)
    return ours


def replay(job: dict[str, Any], out: TextIO) -> dict[str, Any]:
    """Do the job; the value to write as its result."""
    from aider_gardener.replay.measure.cost import usd_of
    from aider_gardener.replay.play.provenance import source_commit
    from aider_gardener.replay.play.runner import Runner
    from aider_gardener.replay.play.variants import variant_named

    told = 0

    def progress(turn: int, calls: Sequence[ModelCall]) -> None:
        nonlocal told
        new = range(told, len(calls))
        tokens = sum(calls[at].prompt_tokens + calls[at].completion_tokens for at in new)
        spent = {"turn": turn, "tokens": tokens, "usd": usd_of(calls, new)}
        told = len(calls)
        print(json.dumps(spent), file=out, flush=True)

    asker = asker_of(job)
    session = session_of(job)
    probes = job["probes"]
    summaries = job["summaries"]
    folder = Path(job["folder"])
    runner = Runner(
        session=session,
        variant=variant_named(job["variant"]),
        folder=folder,
        model_name=job["model"],
        history_tokens=job["history_tokens"],
        settings=job["settings"],
        probes=session.probes if probes is None else [read_probe(row) for row in probes],
        summaries=session.summaries if summaries is None else summaries,
        dump_dir=Path(job["dump_dir"]) if job["dump_dir"] else None,
        asker=asker,
        ask_edits=job["ask_edits"],
        vectors=Path(job["vectors"]) if job["vectors"] else None,
        map_tokens=job["map_tokens"],
        cache_prompts=job["cache_prompts"],
        first_turn=job["turns"][0] if job["turns"] else 1,
        progress=progress,
        source_commit=source_commit(),
    )
    (folder / "work").mkdir()
    os.chdir(folder / "work")
    return {"result": runner.run().to_json(texts=job["texts"])}


def session_of(job: dict[str, Any]) -> Session:
    """The session to replay, or the part of it that the job is about."""
    from aider_gardener.replay.play.jobs import SESSION_FILE
    from aider_gardener.replay.play.parts import part_of

    given = Path(job["folder"]) / SESSION_FILE
    if given.is_file():
        part: Session = pickle.loads(given.read_bytes())
        return part
    session = chained([load_session(path) for path in [job["path"], *job["then"]]])
    return part_of(session, tuple(job["turns"])) if job["turns"] else session


def asker_of(job: dict[str, Any]) -> Asker | None:
    """What asks a real model, if the job wants one; otherwise nothing gets out of this process any more."""
    if not job["ask_model"]:
        from aider_gardener.replay.play.sandbox import forbid_network

        forbid_network()
        return None
    import litellm

    from aider_gardener.replay.play.model import Asker, Cassette

    return Asker(job["ask_model"], Cassette(Path(job["cassette"])), litellm.completion)


def read_probe(row: dict[str, Any]) -> Probe:
    return Probe(**{**row, "answer_keys": tuple(row["answer_keys"])})


def main(arguments: list[str]) -> int:
    if len(arguments) != 1:
        print("usage: python -m aider_gardener.replay.play.worker JOB", file=sys.stderr)
        return 2
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # aider would take a Ctrl-C as the end of one reply
    job = json.loads(Path(arguments[0]).read_text(encoding="utf-8"))
    out = take_stdout()
    try:
        value = replay(job, out)
    except GardenerError as problem:
        value = {"error": str(problem), "kind": type(problem).__name__}
    except Exception as problem:  # reason: the parent has to learn of anything that ends a replay
        traceback.print_exc()
        value = {"error": f"the replay failed: {problem!r}", "kind": ReplayError.__name__}
    Path(job["result"]).write_text(json.dumps(value), encoding="utf-8")
    return 1 if "error" in value else 0


if __name__ == "__main__":
    code = main(sys.argv[1:])
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # threads that the host leaves behind must not hold the process
