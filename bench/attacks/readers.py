"""What hangs a reader, or never ends: kinds of paths times all that read a path which others may choose.

    python -m bench.attacks.readers [--reader WORDS] [--json FILE]

Each attack is a fresh process with a home and a project of its own, and at most 1.5 GB. It holds if the
process ends in time, which for a hook is what its host gives it, the start of the interpreter included, and
says nothing but its answer, or one line.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bench.attacks.results import HELD, environment, keep, parser_of

MEMORY_BYTES = 3 << 29
COMMAND_SECONDS = 20
LARGE_BYTES, LINE_BYTES, MESSAGE_BYTES = 1 << 30, 200 << 20, 30 << 20
HOOK_SECONDS = {"UserPromptSubmit": 5, "PostToolUse": 5, "Stop": 10, "PreCompact": 60}
"""After how many seconds Claude Code goes on without an answer."""
GARDENER = [sys.executable, "-c", "from aider_gardener.cli import main; main()"]
ARCHIVE = ".aider.gardener"
TURN = {"type": "user", "timestamp": "2026-09-21T14:13:20Z", "message": {"role": "user"}}
PREPARED = """
import sys
from pathlib import Path
from aider_gardener.archive.archive import Archive
from aider_gardener.archive.store import open_store
from aider_gardener.messages import Message, Source
store = open_store(Path(".aider.gardener"))
archive = Archive(store, session="s", project=str(Path.cwd()), count=len, clock=lambda: 1.0)
archive.log(Message("user", "The queue listens on 9317."), turn=1, seq=0, source=Source(), at=1.0)
store.close()
"""
CALLED = """
import sys
from pathlib import Path
from aider_gardener.replay.session.record import text_of_file
text_of_file(Path(sys.argv[1], "repo0", "x"))
"""

Put = Callable[[Path], contextlib.AbstractContextManager[object]]
"""Puts something at a path, for as long as the attack goes on."""


# Kinds of paths


def once(make: Callable[[Path], object]) -> Put:
    @contextlib.contextmanager
    def put(path: Path) -> Iterator[None]:
        make(path)
        yield

    return put


def bound_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def sized(path: Path) -> None:
    path.touch()
    os.truncate(path, LARGE_BYTES)


def shut(path: Path) -> None:
    path.write_bytes(turns(3))
    path.chmod(0)


def turns(count: int, text: str = "Which port has the queue?") -> bytes:
    """So many lines of a transcript."""
    rows = ({**TURN, "message": {"role": "user", "content": f"{at}. {text}"}} for at in range(count))
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def heavy(name: str, blocks: Callable[[], Iterator[bytes]]) -> Put:
    """A large file, written once for all readers; one that is written to gets a copy."""

    def put(path: Path) -> None:
        made = Path(tempfile.gettempdir()) / f"gardener-readers-{os.getuid()}-{name}"
        if not made.exists():
            with made.with_suffix(".part").open("wb") as file:
                file.writelines(blocks())
            made.with_suffix(".part").replace(made)
        if path.parent.name == ARCHIVE:
            shutil.copyfile(made, path)
        else:
            os.link(made, path)

    return once(put)


def many_turns() -> Iterator[bytes]:
    block = turns(1_000, "The build of the queue went on, and its log said so in many words. " * 40)
    return (block for _ in range(LARGE_BYTES // len(block)))


def long_line(block: bytes, size: int) -> Iterator[bytes]:
    """Turns, between them one of many blocks."""
    yield turns(3) + b'{"type": "user", "message": {"role": "user", "content": ['
    yield from (block for _ in range(size // len(block)))
    yield b'{"type": "text", "text": ""}]}}\n' + turns(3)


def changing(change: Callable[[Path, int], object]) -> Put:
    """A file that a thread goes on to change."""

    @contextlib.contextmanager
    def put(path: Path) -> Iterator[None]:
        path.write_bytes(turns(3))
        ended = threading.Event()

        def work() -> None:
            for at in range(400):
                if not ended.wait(0.005):
                    change(path, at)

        thread = threading.Thread(target=work)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    return put


def grow(path: Path, _at: int) -> None:
    with path.open("ab") as file:
        file.write(turns(1) * 10_000)


def vanish(path: Path, at: int) -> None:
    if at % 2:
        path.write_bytes(turns(3))
    else:
        path.unlink(missing_ok=True)


LONG_BLOCK, SHORT_BLOCK = (
    json.dumps({"type": "text", "text": "The port. " * times}).encode() + b", " for times in (100_000, 1)
)
KINDS: dict[str, Put] = {
    "a FIFO": once(os.mkfifo),
    "a link to a device": once(lambda path: path.symlink_to("/dev/zero")),
    "a link to what waits": once(lambda path: path.symlink_to("/proc/kmsg")),
    "a link to itself": once(lambda path: path.symlink_to(path)),
    "a folder": once(lambda path: path.mkdir()),
    "a socket": once(bound_socket),
    "unreadable": once(shut),
    "that vanishes": changing(vanish),
    "that grows": changing(grow),
    "1 GB of nothing": once(sized),
    "1 GB of turns": heavy("turns", many_turns),
    "a line of 200 MB": heavy("line", lambda: long_line(LONG_BLOCK, LINE_BYTES)),
    "a line of 30 MB in large blocks": heavy("large", lambda: long_line(LONG_BLOCK, MESSAGE_BYTES)),
    "a line of 30 MB in small blocks": heavy("small", lambda: long_line(SHORT_BLOCK, MESSAGE_BYTES)),
    "open tags": once(lambda path: path.write_bytes(turns(3, "<system-reminder><bash-stdout>" * 100_000))),
    "deep": once(lambda path: path.write_bytes(b'{"a":[' * 500_000)),
    "not UTF-8": once(lambda path: path.write_bytes(b"\xff\xfe\x80{" * 50_000)),
    "zeros": once(lambda path: path.write_bytes(bytes(1 << 20))),
}
"""What a path may lead to."""


# Readers


@dataclass(frozen=True)
class Reader:
    """A process that reads a path: its command, in which {} is the path, and where in the project that is.
    `stdin` is what is said to it, None where the path itself is its standard input."""

    words: tuple[str, ...]
    path: str
    seconds: float = COMMAND_SECONDS
    stdin: Mapping[str, str] | str | None = ""
    code: str = ""
    beside: Mapping[str, str] = field(default_factory=dict)
    is_hook: bool = False

    def command(self, path: Path) -> list[str]:
        begun = [sys.executable, "-c", self.code] if self.code else GARDENER
        return [*begun, *(word.format(path) for word in self.words)]


def hook(event: str, path: str, *, given: bool = True) -> Reader:
    """A hook; of a transcript at the path, or with the path as its standard input."""
    said = {"session_id": "s", "prompt": "Which port has the queue?", "source": "startup"}
    said |= {"tool_name": "Bash", "transcript_path": "{}" if path.endswith(".jsonl") else "/none"}
    return Reader(("hook", event), path, HOOK_SECONDS[event], said if given else None, is_hook=True)


SESSION = json.dumps({"kind": "meta", "format": 1}) + '\n{"kind": "user", "turn": 1, "text": "a"}\n'
READERS: dict[str, Reader] = {
    **{f"{event}: transcript": hook(event, "t.jsonl") for event in HOOK_SECONDS},
    "UserPromptSubmit: what the host says": hook("UserPromptSubmit", "in", given=False),
    **{
        f"PostToolUse: {name}": hook("PostToolUse", f"{ARCHIVE}/{name}")
        for name in ("gardener.db.hooks-log", "encryption.json", ".gitignore")
    },
    "PostToolUse: lines": hook("PostToolUse", f"{ARCHIVE}/gardener.db.lines-{'0' * 32}.jsonl"),
    "PostToolUse: gardener.db": hook("PostToolUse", f"{ARCHIVE}/gardener.db"),
    "PostToolUse: gardener.db-wal": hook("PostToolUse", f"{ARCHIVE}/gardener.db-wal"),
    "recall: lines": Reader(("recall", "port"), f"{ARCHIVE}/gardener.db.lines-{'0' * 32}.jsonl"),
    "recall: gardener.db": Reader(("recall", "port"), f"{ARCHIVE}/gardener.db"),
    "doctor: gardener.db.hooks-log": Reader(("doctor",), f"{ARCHIVE}/gardener.db.hooks-log"),
    "compress FILE": Reader(("compress", "{}"), "x"),
    "store import FILE": Reader(("store", "import", "{}"), "x"),
    "store encrypt: key": Reader(("store", "encrypt", "--key", "file:{}"), "k"),
    "replay HISTORY": Reader(("replay", "{}", "--variant", "none"), "x.md"),
    "replay FOLDER: session.jsonl": Reader(("replay", "r", "--variant", "none"), "r/session.jsonl"),
    "replay FOLDER: probes.json": Reader(
        ("replay", "r", "--variant", "none"), "r/probes.json", beside={"r/session.jsonl": SESSION}
    ),
    "record: a file of the tree": Reader(("r",), "r/repo0/x", code=CALLED),
    **{
        f"install {host}: {name}": Reader(("install", host, "--project", "--dry-run"), name)
        for host, name in (
            ("codex", ".codex/config.toml"), ("codex", ".codex/hooks.json"), ("opencode", "opencode.json"),
            ("gemini", ".gemini/settings.json"), ("cursor", ".cursor/mcp.json"),
        )
    },
    "upkeep tasks: a list": Reader(("upkeep", "tasks", "--dry-run"), "TODO.md"),
    "upkeep index: its file": Reader(("upkeep", "index", "--output", "{}"), "index.md"),
    "patches check: a tree": Reader(
        ("patches", "check", "--to", "a"), "a/aider/commands.py", beside={"a/aider/__init__.py": ""}
    ),
}  # fmt: skip
"""All that read a path which somebody else may have made."""


@contextlib.contextmanager
def standard_input(reader: Reader, path: Path) -> Iterator[int]:
    """What a reader gets on its standard input: the path itself never ends where it is a FIFO."""
    if reader.stdin is None:
        flags = os.O_RDWR if path.is_fifo() else os.O_RDONLY | os.O_NONBLOCK
        place = os.devnull if path.is_dir() else path  # with a folder Python itself does not begin
        try:
            handle = os.open(place, flags)
        except OSError:  # what cannot be opened cannot be given
            handle = os.open(os.devnull, os.O_RDONLY)
        os.set_blocking(handle, True)
    else:
        said = json.dumps(reader.stdin) if reader.stdin else ""
        handle, end = os.pipe()
        os.write(end, said.replace('"{}"', json.dumps(str(path))).encode())
        os.close(end)
    try:
        yield handle
    finally:
        os.close(handle)


def prepared(folder: Path) -> dict[str, str]:
    """A home, and a project with an archive in it; returns the environment of the attacks."""
    environ = environment(folder / "home")
    (folder / "home").mkdir(parents=True)
    (folder / "project").mkdir()
    subprocess.run(["git", "init", "-q", str(folder / "project")], env=environ, check=True)
    made = [sys.executable, "-c", PREPARED]
    subprocess.run(made, cwd=folder / "project", env=environ, check=True)
    return environ


def attempt(reader: Reader, put: Put, folder: Path, environ: Mapping[str, str]) -> tuple[str, float]:
    """One attack in a copy of the project: "held" or what went wrong, and its seconds."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as work:
        project = Path(work, "project")
        shutil.copytree(folder / "project", project)
        for name, text in {**reader.beside, reader.path: ""}.items():
            (project / name).parent.mkdir(parents=True, exist_ok=True)
            (project / name).write_text(text)
        path = project / reader.path
        path.unlink()
        with put(path), standard_input(reader, path) as stdin, tempfile.TemporaryFile() as out:
            started = time.perf_counter()
            process = subprocess.Popen(
                reader.command(path), cwd=project, env=environ, stdin=stdin, stdout=out,
                stderr=subprocess.PIPE, start_new_session=True,
                preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES)),
            )  # fmt: skip
            try:
                _, told = process.communicate(timeout=reader.seconds)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.communicate()
                return "it did not end", reader.seconds
            seconds = time.perf_counter() - started
            out.seek(0)
            return verdict(reader, process.returncode, out.read(1 << 20), told), seconds


def verdict(reader: Reader, code: int, out: bytes, told: bytes) -> str:
    """Whether what a process said is in order."""
    last = told.decode("utf-8", "replace").strip().rpartition("\n")[2][:100]
    if b"Traceback" in told or b"MemoryError" in told:
        return f"it broke: {last}"
    if (reader.is_hook and (code or told)) or b"no such option" in told or b"no such command" in told:
        return f"it ended with {code}: {last}"
    if reader.is_hook and out:
        json.loads(out)
    return HELD if 0 <= code <= 2 else f"it ended with {code}: {last}"


def attack(only: str) -> dict[str, dict[str, Any]]:
    """What came of each reader with these words in its name, and how long the slowest took."""
    rows: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as folder:
        environ = prepared(Path(folder, "made"))
        for name, reader in READERS.items():
            if only not in name:
                continue
            found = {kind: attempt(reader, put, Path(folder, "made"), environ) for kind, put in KINDS.items()}
            failed = {kind: outcome for kind, (outcome, _) in found.items() if outcome != HELD}
            slowest = max(seconds for _, seconds in found.values())
            rows[name] = {"tried": len(found), "held": len(found) - len(failed), "failed": failed}
            rows[name] |= {"slowest_seconds": round(slowest, 1), "allowed_seconds": reader.seconds}
            print(name, rows[name], flush=True)
    return rows


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--reader", default="", help="Only readers with this in their names.")
    options = parser.parse_args()
    rows = attack(options.reader)
    tried, held = (sum(row[name] for row in rows.values()) for name in ("tried", "held"))
    keep("readers", {"tried": tried, "held": held, "readers": rows}, options.json)
    return int(tried - held)


if __name__ == "__main__":
    sys.exit(main())
