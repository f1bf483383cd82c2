"""What everyday work costs over many entries, beside 10,000: seconds of the processor and memory.

    python -m bench.attacks.sizes [--entries 200000] [--beside N] [--folder FOLDER] [--json FILE]

The archives are those of bench.attacks.start. A chat opens each, takes three turns, recalls, shows what it
holds, forgets an entry and a session, is checked, lets all go that retention does (all of the older
sessions), and ends, in one process. `growth` is the time over that of the small archive, in units of the
growth of the archive: above 1 it grows faster.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

from bench.attacks.start import made
from bench.provenance import made_on

RESULTS = Path(__file__).resolve().parent.parent / "results" / "attacks" / "sizes.json"
LEAST_SECONDS = 0.05
"""Below that a time is noise, and its growth none."""


def measured(directory: Path) -> dict[str, Any]:
    """Seconds of each step in this process, by the processor, and the most memory that it took after it."""
    from aider_gardener.archive.retention import RetentionPolicy, proposal, prune
    from aider_gardener.archive.store import open_to_read
    from aider_gardener.gardener.files import project_index
    from aider_gardener.gardener.past_chats import project_status
    from bench.attacks.chat import Played

    found: dict[str, Any] = {}

    def step(name: str, work: Callable[[], Any]) -> Any:
        began, clock = time.process_time(), time.perf_counter()
        result = work()
        found[name] = {
            "seconds": round(time.process_time() - began, 3),
            "clock": round(time.perf_counter() - clock, 3),
            "resident_mb": round(psutil.Process().memory_info().rss / 1e6),
        }
        return result

    chat = step("open", lambda: Played(directory, name="now"))
    for number in range(3):
        step(f"turn {number + 1}", chat.turn)
    step("recall", lambda: chat.gardener.recall("cache_key ledger_total of entry 77"))
    step("pressure", chat.gardener.pressure)
    step("sessions", lambda: chat.store.sessions("p"))
    step("status", lambda: (chat.store.stats(), project_status(chat.store, "p")))
    stored = chat.store.session_entries("s3")
    step("forget", lambda: chat.store.forget([stored[7].id]))
    step("forget a session", lambda: chat.store.forget_session("s5"))
    step("gc, shown", lambda: proposal(chat.store, RetentionPolicy()))
    step("index", lambda: project_index(chat.store, "p"))
    step("verify", chat.store.verify)
    step("open to read", lambda: open_to_read(directory).close())
    step("gc of all", lambda: prune(chat.store, RetentionPolicy()))
    step("end", chat.close)
    return found


def run(count: int, folder: Path | None) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(dir=folder) as root:
        directory = Path(root) / "archive"
        began = time.process_time()
        size = made(directory, count, is_large=False)
        adding = time.process_time() - began
        command = [sys.executable, "-m", "bench.attacks.sizes", "--child", str(directory)]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        adds = {"seconds": round(adding, 3)}
        return {"file_mb": round(size / 1e6), "steps": {"adding all": adds, **json.loads(done.stdout)}}


def main() -> None:
    form = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=form)
    parser.add_argument("--entries", type=int, default=60_000)
    parser.add_argument("--beside", type=int, default=10_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--json", type=Path, default=RESULTS)
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        print(json.dumps(measured(options.child)))
        return
    small, large = (run(count, options.folder) for count in (options.beside, options.entries))
    times = options.entries / options.beside
    for name, row in large["steps"].items():
        before = max(LEAST_SECONDS, small["steps"][name]["seconds"])
        row["growth"] = round(max(LEAST_SECONDS, row["seconds"]) / before / times, 2)
        was, memory = small["steps"][name]["seconds"], row.get("resident_mb", "")
        print(f"{name:18}{was:9.3f} s{row['seconds']:9.3f} s  growth {row['growth']:.2f}  {memory}")
    value = {
        "command": f"python -m bench.attacks.sizes --entries {options.entries} --beside {options.beside}",
        "made_on": made_on(),
        "runs": {str(options.beside): small, str(options.entries): large},
    }
    options.json.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
