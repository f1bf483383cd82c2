"""How long `gardener replay` takes for chat histories of several sizes, beside another version of it.

    python -m bench.replay_times --before CHECKOUT [--json FILE] [--only "NAME;..."]

The histories are those of bench/histories.py. Each is replayed by the code in CHECKOUT and at once after it
by this one, in a terminal of its own, under the same variants. Noted are the seconds to the first sign of
life and in all, processor seconds of all its processes, and the most memory that they held together. Other
work on the machine adds to times by the clock, so what counts is their ratio, and processor time.
"""

from __future__ import annotations

import argparse
import json
import os
import pty
import re
import resource
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from bench.histories import made
from bench.provenance import made_on

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results" / "replay-times.json"
FORMAT = 1
VARIANTS = ("stock", "stock-fixed", "gardener")
HISTORIES: dict[str, tuple[int, bool]] = {
    "0.1 MB": (100_000, False),
    "1 MB": (1_000_000, False),
    "1 MB, one chat": (1_000_000, True),
    "4 MB": (4_000_000, False),
    "20 MB": (20_000_000, False),
}
"""Name, and bytes and whether it is one chat."""

LOOK_SECONDS = 0.2
ESCAPE = re.compile(rb"\x1b\[[0-9;?]*[A-Za-z]")


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--before", type=Path, help="a checkout of the version to compare with")
    parser.add_argument("--json", type=Path, default=RESULTS, help="where the figures go")
    parser.add_argument("--only", default=";".join(HISTORIES), help="take these anew, apart by semicolons")
    options = parser.parse_args(argv)
    old = json.loads(options.json.read_text("utf-8"))["rows"] if options.json.is_file() else []
    rows = {row["name"]: row for row in old}
    for name, (size, one_chat) in HISTORIES.items():
        if name in options.only.split(";"):
            rows[name] = {"name": name, **timed(made(size, one_chat=one_chat), options.before)}
            print(json.dumps(rows[name]), flush=True)
    value = {
        "format": FORMAT,
        "kind": "replay-times",
        "provenance": made_on(),
        "variants": VARIANTS,
        "rows": [rows[name] for name in HISTORIES if name in rows],
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    return 0


def timed(history: str, before: Path | None) -> dict[str, Any]:
    """The figures of one history, of both versions."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ".aider.chat.history.md"
        path.write_text(history, encoding="utf-8")
        found: dict[str, Any] = {
            "bytes": path.stat().st_size,
            "chats": history.count("\n# aider chat started at "),
        }
        if before is not None:
            found["before"] = run(path, before.resolve())
        return {**found, "now": run(path, ROOT)}


def run(path: Path, checkout: Path) -> dict[str, Any]:
    """Replay a history with the code of a checkout, in a terminal."""
    terminal, theirs = pty.openpty()
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "aider_gardener.cli", "replay", str(path), "--variant", ",".join(VARIANTS)],
        cwd=path.parent,
        env={**os.environ, "PYTHONPATH": str(checkout), "TERM": "xterm", "COLUMNS": "400"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    memory = Memory(process.pid)
    memory.start()
    signs = watched(terminal, began)
    code = process.wait()
    seconds = time.perf_counter() - began
    memory.over.set()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if code:
        raise SystemExit(f"{checkout}: the replay of {path} ended with {code}")
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {**signs, "seconds": round(seconds, 1), "cpu": round(used, 1), "megabytes": memory.most >> 20}


def watched(terminal: int, began: float) -> dict[str, float | None]:
    """When a terminal showed something first."""
    first: float | None = None
    while True:
        try:
            read = os.read(terminal, 1 << 16)
        except OSError:  # the other end is closed
            read = b""
        if not read:
            os.close(terminal)
            return {"sign": first}
        if first is None and ESCAPE.sub(b"", read).strip():
            first = round(time.perf_counter() - began, 1)


class Memory(threading.Thread):
    """Looks again and again at how much memory the processes of a session hold together, in bytes."""

    def __init__(self, session: int) -> None:
        super().__init__(daemon=True)
        self.session = session
        self.most = 0
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.wait(LOOK_SECONDS):
            self.most = max(self.most, held_by(self.session))


def held_by(session: int) -> int:
    """Bytes that the processes of a session hold, as Linux counts them."""
    pages = 0
    for place in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = place.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if int(fields[3]) == session:
            pages += int(fields[21])
    return pages * os.sysconf("SC_PAGE_SIZE")


if __name__ == "__main__":
    sys.exit(main())
