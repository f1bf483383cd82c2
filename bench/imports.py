"""How long it takes to import transcripts, and what of that is spent where.

    python -m bench.imports [--megabytes N] [--profile] [--folder FOLDER]

The transcripts have the records that Claude Code 2.1 writes, envelope, usage and `toolUseResult` included,
around texts of the recorded sessions with names and numbers of their own: two thirds of the bytes are what
tools gave back, half of that twice, as in files that people have.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import random
import re
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from aider_gardener.archive.store import open_store
from aider_gardener.replay.imports import Imported, files_named, find, take_in
from aider_gardener.replay.session.session import Session, SessionEvent, load_folder

SESSIONS = Path(__file__).resolve().parent.parent / "recorded_sessions"
NAME = re.compile(r"[A-Za-z]+(?:_[A-Za-z]+)+|[a-z]+[A-Z][A-Za-z]+|\b[1-9]\d{2,}\b")
"""What is called otherwise in each chat: names of several words, and numbers of three digits or more."""
PROJECT = "/srv/shop"
BYTES_A_CHAT = 350_000
USAGE = {
    "input_tokens": 4, "cache_creation_input_tokens": 812, "cache_read_input_tokens": 41_210,
    "output_tokens": 331,
    "server_tool_use": {"web_search_requests": 0, "web_fetch_requests": 0}, "service_tier": "standard",
    "cache_creation": {"ephemeral_1h_input_tokens": 0, "ephemeral_5m_input_tokens": 812}, "inference_geo": "",
    "iterations": [], "speed": "standard",
}  # fmt: skip


def other_names(rng: random.Random) -> Callable[[re.Match[str]], str]:
    """What stands for a name, the same each time: as long, one letter or digit of its middle another."""
    renamed: dict[str, str] = {}

    def other(found: re.Match[str]) -> str:
        name = found.group()
        if name not in renamed:
            at = rng.randrange(1, len(name) - 1)
            letters = "0123456789" if name[at].isdigit() else "abcdefghijklmnopqrstuvwxyz"
            renamed[name] = name if name[at] == "_" else name[:at] + rng.choice(letters) + name[at + 1 :]
        return renamed[name]

    return other


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--profile", action="store_true")
    parser.add_argument(
        "--folder", type=Path, help="where the transcripts are written; by default nowhere for long"
    )
    options = parser.parse_args(argv)
    with TemporaryDirectory() as folder:
        place = options.folder or Path(folder, "chats")
        if not place.exists():
            write(place, options.megabytes * 1_000_000)
        store = open_store(Path(folder, "archive"))
        profile = cProfile.Profile()
        began, cpu = time.perf_counter(), time.process_time()
        if options.profile:
            profile.enable()
        found = Imported()
        take_in(store, PROJECT, find(files_named(place), PROJECT, only_own=False, found=found), found)
        profile.disable()
        seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
        size = sum(each.stat().st_size for each in place.rglob("*.jsonl"))
        print(
            f"{size / 1e6:.1f} MB, {found.messages:,} messages: {seconds:.1f} s, {cpu:.1f} s of one processor"
        )
        if options.profile:
            pstats.Stats(profile).sort_stats("cumulative").print_stats(60)
            pstats.Stats(profile).sort_stats("tottime").print_stats(40)
        store.close()
    return 0


def write(folder: Path, size: int) -> None:
    """Transcripts of at least `size` bytes altogether."""
    folder.mkdir(parents=True)
    rng = random.Random(7)
    sessions = [load_folder(each) for each in sorted(SESSIONS.iterdir()) if each.is_dir()]
    while size > 0:
        chat = str(uuid.UUID(int=rng.getrandbits(128)))
        text = "".join(f"{json.dumps(each)}\n" for each in records(rng, sessions, chat))
        (folder / f"{chat}.jsonl").write_text(text, encoding="utf-8")
        size -= len(text.encode())


def records(rng: random.Random, sessions: Sequence[Session], chat: str) -> Iterator[dict[str, Any]]:
    """One chat."""
    at, length = 1_790_000_000 + rng.randrange(10_000_000), 0
    while length < BYTES_A_CHAT:
        session = rng.choice(sessions)
        other = other_names(rng)
        begin = rng.randrange(1, session.turn_count)
        for turn in range(begin, min(begin + 12, session.turn_count + 1)):
            for event in session.turn(turn):
                for record in told(rng, event, lambda text: NAME.sub(other, text), session.repo0):  # noqa: B023
                    at += rng.randrange(1, 40)
                    stamp = time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(at))
                    own = {
                        "parentUuid": str(uuid.UUID(int=rng.getrandbits(128))), "isSidechain": False,
                        "userType": "external", "cwd": PROJECT, "sessionId": chat, "version": "2.1.197",
                        "gitBranch": "main", "timestamp": stamp,
                        "uuid": str(uuid.UUID(int=rng.getrandbits(128))),
                    }  # fmt: skip
                    length += len(json.dumps(record)) + 400
                    yield {**own, **record}


def told(rng: random.Random, event: SessionEvent, other: Any, tree: Path | None) -> Iterator[dict[str, Any]]:
    """The records of one event: a reply with what the model looked at and changed besides."""
    if event.kind == "user":
        yield {"type": "user", "message": {"role": "user", "content": other(event.text)}}
    elif event.kind == "reply":
        yield said(rng, {"type": "thinking", "thinking": "", "signature": "c2ln" * 60})
        yield said(rng, {"type": "text", "text": other(event.text)})
        yield from looked(rng, other, tree)
    elif event.kind == "command":
        given = {"command": other(event.command), "description": "Run what was asked for"}
        output = other(event.output)
        yield from called(rng, "Bash", given, output, {"stdout": output, "stderr": "", "interrupted": False})


def looked(rng: random.Random, other: Any, tree: Path | None) -> Iterator[dict[str, Any]]:
    """A file that is read, and edited."""
    names = sorted(each for each in tree.rglob("*.*") if each.is_file()) if tree else []
    if not names:
        return
    path = rng.choice(names)
    text = other(path.read_text(encoding="utf-8", errors="replace"))
    name = f"{PROJECT}/{path.name}"
    lines = text.splitlines()
    shown = "\n".join(f"{number:6}→{line}" for number, line in enumerate(lines, 1))
    file = {
        "filePath": name,
        "content": text,
        "numLines": len(lines),
        "startLine": 1,
        "totalLines": len(lines),
    }
    yield from called(rng, "Read", {"file_path": name}, shown, {"type": "text", "file": file})
    old = "\n".join(lines[:6])
    edit = {"file_path": name, "old_string": old, "new_string": old + "\n# checked\n", "replace_all": False}
    more = {"filePath": name, "oldString": old, "newString": old + "\n# checked\n", "originalFile": text}
    yield from called(rng, "Edit", edit, f"The file {name} has been updated.", more)


def called(
    rng: random.Random, name: str, given: dict[str, Any], output: str, more: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    call = f"toolu_{rng.getrandbits(80):020x}"
    yield said(rng, {"type": "tool_use", "id": call, "name": name, "input": given})
    block = {"type": "tool_result", "tool_use_id": call, "content": output, "is_error": False}
    yield {"type": "user", "message": {"role": "user", "content": [block]}, "toolUseResult": more}


def said(rng: random.Random, block: dict[str, Any]) -> dict[str, Any]:
    message = {
        "id": f"msg_{rng.getrandbits(80):020x}", "type": "message", "role": "assistant",
        "model": "claude-opus-4-8", "content": [block], "stop_reason": None, "usage": USAGE,
    }  # fmt: skip
    return {"type": "assistant", "message": message, "requestId": "req_011"}


if __name__ == "__main__":
    raise SystemExit(main())
