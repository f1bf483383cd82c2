"""What other agents get from the archive: what comes back in Claude Code after compactions, how long its
hooks and the tools of the MCP server take, and what the list of the tools costs.

    python -m bench.agents [recall] [times] [--entries N ...] [--rounds N] [--folder FOLDER] [--json FILE]

`recall`: each recorded session is told as a transcript of Claude Code, which puts a short summary in place of
everything whenever CONTEXT_TOKENS stand in its window; each probe is asked as a prompt at its turn. Scored is
what stands in the window by itself, and with what the hook adds. `times`: each hook as a process of its own,
from its start until it leaves its host, and each tool over standard input and output, in archives of several
sizes (the archives are those of bench/micro).
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from aider_gardener.adapters.claude_code.hooks import Hooks
from aider_gardener.adapters.mcp.server import TOOLS
from aider_gardener.archive.store import open_store
from aider_gardener.replay.measure.probes import score, texts_of_turn
from aider_gardener.replay.play.report import find_paths
from aider_gardener.replay.session.session import Session, load_folder
from aider_gardener.settings import Settings
from aider_gardener.tokens import default_counter
from bench.claude_transcript import Host, play
from bench.dominance import RECORDED
from bench.micro.archives import archive_of, question
from bench.provenance import made_on

RESULTS = Path(__file__).with_name("results") / "agents.json"
CONTEXT_TOKENS = 12_000
ENTRIES = (1_000, 10_000, 100_000)
ROUNDS = 40
BEHIND_SECONDS = 0.6
"""What a hook archives behind its answer is over by then."""
PROJECT = "project"
LOG = "\n".join(f"2026-01-01 10:00:{n % 60:02} INFO worker {n} took {n * 7} ms" for n in range(800))
WAYS = ("alone", "words")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("parts", nargs="*", help="recall, times; by default both")
    parser.add_argument("--entries", nargs="+", type=int, default=ENTRIES)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--folder", type=Path, default=Path("build/bench"), help="where archives are built")
    parser.add_argument("--json", type=Path, default=RESULTS)
    options = parser.parse_args(argv)
    parts = options.parts or ["recall", "times"]
    old = json.loads(options.json.read_text(encoding="utf-8")) if options.json.exists() else {}
    value: dict[str, Any] = {**old, "format": 1, "kind": "agents", "listing_tokens": listing_tokens()}
    if "recall" in parts:
        value["recall"] = {"provenance": made_on(), "rows": recall_rows()}
    if "times" in parts:
        rows = [
            row
            for entries in options.entries
            for row in times_rows(archive_of(entries, options.folder), entries, options.rounds)
        ]
        value["times"] = {"provenance": made_on(), "rows": rows}
    options.json.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    print(f"{', '.join(parts)} in {options.json.name}")
    return 0


def listing_tokens() -> int:
    """The tokens of the list of all tools as a client gets it."""
    tools = [
        listed.model_dump(exclude_none=True, by_alias=True, mode="json") for listed, _run in TOOLS.values()
    ]
    return default_counter()(json.dumps(tools))


# What comes back


def recall_rows() -> list[dict[str, Any]]:
    """For each recorded session and way: probes present and supported, and the characters added a prompt."""
    rows = []
    for path in find_paths([RECORDED]):
        session = load_folder(path)
        for way in WAYS:
            rows.append({"session": session.name, "way": way, **asked(session, way)})
            print(rows[-1], flush=True)
    return rows


def asked(session: Session, way: str) -> dict[str, Any]:
    """Play a session with compactions, and ask its probes."""
    with TemporaryDirectory() as folder:
        host = Host(Path(folder, "transcript.jsonl"))
        store = open_store(Path(folder, ".aider.gardener"))
        hooks = Hooks(store, folder, settings=Settings(), clock=lambda: host.now)
        present = supported = probes = compactions = 0
        added: list[int] = []
        for turn in play(host, session):
            if sum(map(len, host.context)) / 4 > CONTEXT_TOKENS:
                hooks.ingest(host.payload("PreCompact", trigger="auto"))
                host.compact()
                compactions += 1
            if way != "alone" and turn > 1:
                hooks.ingest(host.payload("Stop"))
            for probe in session.probes:
                if probe.ask_at_turn == turn:
                    given = host.payload("UserPromptSubmit", prompt=probe.question)
                    answer = {} if way == "alone" else hooks.answer("UserPromptSubmit", given)
                    note = answer.get("hookSpecificOutput", {}).get("additionalContext", "")
                    found = score(probe, texts_of_turn(session, probe.about_turn), [*host.context, note])
                    probes, present = probes + 1, present + found.present
                    supported += found.supported
                    added.append(len(note))
        store.close()
    mean = round(statistics.mean(added)) if added else 0
    return {
        "probes": probes,
        "present": present,
        "supported": supported,
        "compactions": compactions,
        "added_chars": mean,
    }


# How long it takes


def times_rows(archive: Path, entries: int, rounds: int) -> list[dict[str, Any]]:
    """Milliseconds, median and 95th percentile, of each hook and each tool in an archive."""
    with TemporaryDirectory() as folder:
        project = Path(folder, PROJECT)
        project.mkdir()
        (project / "app.py").touch()
        for words in (["init", "-q"], ["add", "app.py"]):
            subprocess.run(["git", *words], check=True, cwd=project)
        shutil.copytree(archive, project / ".aider.gardener", ignore=shutil.ignore_patterns("ready"))
        host = transcript_in(project)
        rows = [
            {"entries": entries, "what": name, "way": "process", **times}
            for name, times in hook_times(host, project, rounds)
        ]
        found = asyncio.run(tool_times(project, entries, rounds))
        rows += [{"entries": entries, "what": name, "way": "tool", **times} for name, times in found]
    for row in rows:
        print(row, flush=True)
    return rows


def transcript_in(project: Path) -> Host:
    """A transcript with a compaction behind it, half of a recorded session's turns taken in."""
    session = load_folder(find_paths([RECORDED])[0])
    host = Host(project / "transcript.jsonl")
    for turn in play(host, session):
        if turn == session.turn_count // 2:
            host.compact()
            break
    return host


def hook_times(host: Host, project: Path, rounds: int) -> Iterator[tuple[str, dict[str, float]]]:
    """Each hook again and again as the host calls it; a turn of the chat comes between prompts."""
    result = {"stdout": LOG, "stderr": "", "interrupted": False, "isImage": False}
    events: dict[str, Callable[[int], dict[str, Any]]] = {
        "PreCompact": lambda n: {"trigger": "auto"},
        "UserPromptSubmit": lambda n: {"prompt": f"Which limit did we set, and why, in case {n}?"},
        "PostToolUse, a small result": lambda n: {
            "tool_name": "Bash",
            "tool_input": {"command": f"ls {n}"},
            "tool_response": {**result, "stdout": f"{n}.log"},
        },
        "PostToolUse, a large result": lambda n: {
            "tool_name": "Bash",
            "tool_input": {"command": f"cat {n}.log"},
            "tool_response": {**result, "stdout": f"run {n}\n{LOG}"},
        },
        "Stop": lambda n: {},
        "SessionStart": lambda n: {"source": "compact"},
    }
    for name, given in events.items():
        event, taken = name.partition(",")[0], []
        for n in range(rounds):
            host.ask(f"Go on with step {n} of {name}.")
            host.run(f"make step-{n}", f"step {n} done\n" * 20)
            host.answer(f"Step {n} is done.")
            answered(host, "Stop", {}, project)  # as behind each turn
            time.sleep(BEHIND_SECONDS)
            began = time.perf_counter()
            answered(host, event, given(n), project)
            taken.append(time.perf_counter() - began)
        yield name, percentiles(taken)


def answered(host: Host, event: str, given: Mapping[str, Any], project: Path) -> None:
    """One hook as the host calls it, until it has left."""
    subprocess.run(
        [sys.executable, "-m", "aider_gardener.cli", "hook", event],
        input=json.dumps(host.payload(event, **given)).encode(),
        capture_output=True,
        check=True,
        cwd=project,
        env=environment(),
    )


async def tool_times(project: Path, entries: int, rounds: int) -> list[tuple[str, dict[str, float]]]:
    """Each tool that only looks, asked over standard input and output."""
    import random

    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client

    rng = random.Random(5)
    arguments: dict[str, Callable[[], dict[str, Any]]] = {
        "recall": lambda: {"query": question(rng, entries)},
        "timeline": dict,
        "context_pressure": dict,
    }
    started = StdioServerParameters(
        command=sys.executable,
        args=["-m", "aider_gardener.cli", "mcp", "--project", str(project)],
        env=environment(),
    )
    found = []
    async with stdio_client(started) as (reading, writing), ClientSession(reading, writing) as client:
        await client.initialize()
        await client.call_tool("recall", arguments["recall"]())
        for name, given in arguments.items():
            taken = []
            for _round in range(rounds):
                began = time.perf_counter()
                answer = await client.call_tool(name, given())
                taken.append(time.perf_counter() - began)
                if answer.isError:
                    raise RuntimeError(f"{name} failed")
            found.append((name, percentiles(taken)))
    return found


def percentiles(seconds: Sequence[float]) -> dict[str, float]:
    """Median and 95th percentile in milliseconds."""
    ordered = sorted(seconds)
    p95 = ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))]
    return {"p50_ms": round(1_000 * statistics.median(ordered), 1), "p95_ms": round(1_000 * p95, 1)}


def environment() -> dict[str, str]:
    """The environment without settings of the gardener's; Python keeps what it compiled, as for users."""
    left_out = ("AIDER_GARDENER", "PYTHONDONTWRITEBYTECODE")
    return {name: value for name, value in os.environ.items() if not name.startswith(left_out)}


if __name__ == "__main__":
    raise SystemExit(main())
