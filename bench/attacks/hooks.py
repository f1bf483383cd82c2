"""What holds up a hook of Claude Code, or makes it lose or show what it must not: a disk, a lock, something
else in place of a file of its host's.

    python -m bench.attacks.hooks [--json FILE]

Each attack is a fresh project and one hook as its host calls it. It holds if the process ends with 0 before
its host waits no more, says nothing but one JSON object (while a lock is held what a prompt needs), shows
nothing of a file that is not its session's, calls nothing whole that is not archived whole, and if all that
the transcript says is in the archive some seconds after the disturbance is over.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from aider_gardener.adapters.claude_code.client import EVENTS
from aider_gardener.archive.store import schema
from bench.attacks.results import HELD, environment, keep, parser_of
from bench.claude_transcript import Host

HOOK = "from aider_gardener.cli import main; main()"
SLOW = """
import time
from aider_gardener.archive.store import schema
real = schema.opened
schema.opened = lambda *given, **more: (time.sleep({seconds}), real(*given, **more))[1]
"""
SHOWN = """
from pathlib import Path
from aider_gardener.archive.store import open_store
store = open_store(Path(".aider.gardener"))
print(*[entry.content for entry in store.session_entries("simulated")], sep="\\x00", end="")
store.close()
"""
FACT, QUESTION = "Never use the port 8080, our queue listens on 9317.", "Which port has the queue?"
LOG = "\n".join(f"2026-01-01 10:00:{n % 60:02} INFO worker {n} took {n * 7} ms" for n in range(1_500))
SECRET, HUGE_BYTES, CUT_CHARS = "TOP SECRET", 1 << 30, 30_000
SETTLED_SECONDS = 20.0

Put = Callable[["Scene"], contextlib.AbstractContextManager[str]]
"""Disturbs a scene; gives the code to run before the hook."""


@dataclass(frozen=True)
class Scene:
    """A project with a chat that was compacted once."""

    project: Path
    host: Host
    environ: dict[str, str]

    @property
    def kept(self) -> Path:
        """Where the host keeps a long output."""
        return self.host.path.with_suffix("") / "tool-results" / "b1.txt"

    def python(self, code: str, *args: str, said: str = "") -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, "-c", code, *args]
        return subprocess.run(
            command, input=said.encode(), capture_output=True, cwd=self.project, env=self.environ, timeout=120
        )

    def given(self, event: str) -> str:
        result = {"stdout": LOG[:CUT_CHARS], "stderr": "", "interrupted": False, "isImage": False}
        kept = {"persistedOutputPath": str(self.kept), "persistedOutputSize": len(LOG)}
        more: dict[str, dict[str, Any]] = {
            "UserPromptSubmit": {"prompt": QUESTION},
            "SessionStart": {"source": "compact"},
            "PostToolUse": {
                "tool_name": "Bash",
                "tool_input": {"command": "cat app.log"},
                "tool_response": {**result, **kept},
            },
        }
        return json.dumps(self.host.payload(event, **more.get(event, {})))


@contextlib.contextmanager
def nothing(_scene: Scene) -> Iterator[str]:
    yield ""


def slow(seconds: float) -> Put:
    @contextlib.contextmanager
    def put(_scene: Scene) -> Iterator[str]:
        yield SLOW.format(seconds=seconds)

    return put


def locked(how: str, seconds: float = 0.0) -> Put:
    """A lock that has been held for so long, and met by a hook."""

    @contextlib.contextmanager
    def put(scene: Scene) -> Iterator[str]:
        held = schema.opened(
            scene.project / ".aider.gardener" / "gardener.db", apsw.SQLITE_OPEN_READWRITE, ""
        )
        held.execute(f"BEGIN {how}")
        if seconds:
            scene.python(HOOK, "hook", "UserPromptSubmit", said=scene.given("UserPromptSubmit"))
            time.sleep(seconds)
        try:
            yield ""
        finally:
            held.close()

    return put


def kept_as(make: Callable[[Path], object]) -> Put:
    @contextlib.contextmanager
    def put(scene: Scene) -> Iterator[str]:
        scene.kept.unlink()
        make(scene.kept)
        yield ""

    return put


def huge(path: Path) -> None:
    path.touch()
    os.truncate(path, HUGE_BYTES)


def linked(path: Path) -> None:
    other = path.parents[3] / "elsewhere.txt"
    other.write_text(f"{SECRET}\n{LOG}", encoding="utf-8")
    path.symlink_to(other)


@contextlib.contextmanager
def many_marks(scene: Scene) -> Iterator[str]:
    """Boundaries that are none, a million in a line, and many lines of them."""
    for count in (1_000_000, *[1] * 20_000):
        scene.host.write({"type": "progress", "data": ["compact_boundary"] * count})
    yield ""


ALL, TOOL, ASKING = tuple(EVENTS), ("PostToolUse",), ("UserPromptSubmit", "SessionStart")
ATTACKS: dict[str, tuple[Put, tuple[str, ...]]] = {
    "nothing": (nothing, ALL),
    "a disk that takes 2 s to open the archive": (slow(2), ALL),
    "a disk that takes 30 s to open the archive": (slow(30), ALL),
    "a lock that is held": (locked("IMMEDIATE"), ALL),
    "a lock that another hook has met": (locked("IMMEDIATE", 4), ALL),
    "an exclusive lock that is held": (locked("EXCLUSIVE"), ALL),
    "a whole output of 1 GiB": (kept_as(huge), TOOL),
    "a FIFO in place of the whole output": (kept_as(os.mkfifo), TOOL),
    "a device in place of the whole output": (kept_as(lambda path: path.symlink_to("/dev/zero")), TOOL),
    "a folder in place of the whole output": (kept_as(Path.mkdir), TOOL),
    "a link out of the session's folder": (kept_as(linked), TOOL),
    "no whole output": (kept_as(lambda path: None), TOOL),
    "a million marks of boundaries that are none": (many_marks, ASKING),
}
"""What is put in the way, and of which events."""


def scene_in(folder: Path) -> Scene:
    project = folder / "project"
    (project / ".git").mkdir(parents=True)
    environ = environment(folder) | {"CLAUDE_PROJECT_DIR": str(project)}
    scene = Scene(project, Host(folder / "chat" / "t.jsonl"), environ)
    scene.kept.parent.mkdir(parents=True)
    scene.kept.write_text(LOG, encoding="utf-8")
    scene.host.ask(FACT)
    scene.host.ask("Something else.")
    scene.python(HOOK, "hook", "Stop", said=scene.given("Stop"))
    scene.host.compact()
    scene.host.ask("What the hook finds.")
    settled(scene, FACT)
    return scene


def settled(scene: Scene, *texts: str) -> bool:
    """Whether texts come into the archive in time."""
    until = time.monotonic() + SETTLED_SECONDS
    while not (found := set(texts) <= set(scene.python(SHOWN).stdout.decode().split("\x00"))):
        if time.monotonic() > until:
            break
        time.sleep(0.2)
    return found


def attempt(name: str, event: str, put: Put) -> tuple[str, float]:
    """One attack: "held" or what went wrong, and the seconds of the hook."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        scene = scene_in(Path(folder))
        with put(scene) as before:
            began = time.perf_counter()
            done = scene.python(before + HOOK, "hook", event, said=scene.given(event))
            seconds = time.perf_counter() - began
        said = done.stdout.decode("utf-8", "replace")
        if done.returncode or done.stderr:
            return f"it ended with {done.returncode}: {done.stderr.decode()[-100:]}", seconds
        if seconds > EVENTS[event]:
            return "its host had gone on without it", seconds
        if said and not isinstance(json.loads(said), dict):
            return "it said no JSON object", seconds
        if "a lock" in name and event == "UserPromptSubmit" and FACT not in said:
            return "it gave no answer", seconds
        if SECRET in said or settled_now(scene, SECRET):
            return "it read a file that is not its session's", seconds
        if "the whole is" in said and not settled(scene, LOG):
            return "it calls a part the whole", seconds
        scene.python(HOOK, "hook", "Stop", said=scene.given("Stop"))
        if not settled(scene, FACT, "Something else.", "What the hook finds."):
            return "what was said is not in the archive", seconds
        return HELD, seconds


def settled_now(scene: Scene, text: str) -> bool:
    return text in scene.python(SHOWN).stdout.decode()


def main() -> int:
    options = parser_of(__doc__).parse_args()
    rows: dict[str, Any] = {}
    for name, (put, events) in ATTACKS.items():
        found = {event: attempt(name, event, put) for event in events}
        failed = {event: outcome for event, (outcome, _) in found.items() if outcome != HELD}
        rows[name] = {"tried": len(found), "held": len(found) - len(failed), "failed": failed}
        rows[name]["seconds"] = {event: round(taken, 2) for event, (_, taken) in found.items()}
        print(name, rows[name], flush=True)
    tried, held = (sum(row[key] for row in rows.values()) for key in ("tried", "held"))
    keep("hooks", {"tried": tried, "held": held, "attacks": rows}, options.json)
    return int(tried - held)


if __name__ == "__main__":
    sys.exit(main())
