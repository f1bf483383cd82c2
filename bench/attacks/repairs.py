"""A damaged archive whose repair is killed, and one made of the pages of two states of itself.

    python -m bench.attacks.repairs [--kills N] [--mixtures N] [--seed S] [--json FILE]

Each kill ends a process that opens, verifies and closes a damaged copy of one archive, at a random moment;
another process then opens what is left. Each mixture takes every page from one of two states of an archive,
at random, as when an older one is copied over one that is open; the copy beside it is that of the newer
one, or there is none. `lost` counts runs after which an entry is missing, `silent` those of them in which no
line says so, `hung` those over 30 seconds, `failed` those in which the archive cannot be opened any more.
"""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from aider_gardener.archive.store import open_store
from bench.attacks.flips import fill, flip, text_of
from bench.attacks.results import keep, parser_of

SECONDS, PAGE_BYTES = 30, 4_096
OPENER = """
import sys
from pathlib import Path
from aider_gardener.archive.store import open_store
print("begins", flush=True)
store = open_store(Path(sys.argv[1]))
print(store.notice, *store.verify())
store.open_session("again", project="p", started_at=2.0)
store.close()
"""


def opening(place: Path) -> subprocess.Popen[bytes]:
    """A process that opens an archive, once it has begun to."""
    process = subprocess.Popen([sys.executable, "-c", OPENER, str(place)], stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    return process


def outcome(place: Path, ids: list[str], *told: str) -> str:
    """What a user finds afterwards, whom somebody has `told` something: held, lost or silent."""
    store = open_store(place)
    told = (*told, store.notice, *store.verify(), store.notice)
    texts = [store.original(stored_id) for stored_id in ids]
    missing = [number for number, text in enumerate(texts) if text != text_of(number)]
    store.close()
    if not missing:
        return "held"
    return "lost" if any(told) else "silent"


def killed(whole: Path, ids: list[str], chance: random.Random, seconds: float) -> str:
    """One kill within the repair of one flipped bit."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "store"
        shutil.copytree(whole, place)
        flip(place, chance.randrange(8 * (place / "gardener.db").stat().st_size))
        for _ in range(chance.randrange(1, 3)):  # the next one may be killed too
            process = opening(place)
            time.sleep(chance.random() * seconds)
            process.send_signal(signal.SIGKILL)
            process.wait()
        return outcome(place, ids)


def mixed(old: Path, new: Path, ids: list[str], chance: random.Random, *, with_copy: bool = True) -> str:
    """One mixture of the pages of two states; the copy is that of the newer one, or gone."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "store"
        shutil.copytree(new, place)
        states = [(each / "gardener.db").read_bytes() for each in (old, new)]
        share, pages = chance.random(), range(0, max(map(len, states)), PAGE_BYTES)
        parts = (states[chance.random() < share][at : at + PAGE_BYTES] for at in pages)
        (place / "gardener.db").write_bytes(b"".join(parts))
        if not with_copy:
            (place / "gardener.db.copy").unlink()
        process = opening(place)
        try:
            status = process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            return "hung"
        assert process.stdout is not None
        return "failed" if status else outcome(place, ids, process.stdout.read().decode().strip())


def main() -> None:
    options = parser_of(__doc__, kills=200, mixtures=500, seed=1).parse_args()
    chance = random.Random(options.seed)
    with tempfile.TemporaryDirectory() as folder:
        old, new = Path(folder) / "old", Path(folder) / "new"
        ids = fill(old)
        shutil.copytree(old, new)
        store = open_store(new)
        store.forget(ids[::7])
        store.close()
        fill(new)
        began = time.perf_counter()
        opening(old).wait()
        seconds = 2 * (time.perf_counter() - began)
        kills = Counter(killed(old, ids, chance, seconds) for _ in range(options.kills))
        mixtures = Counter(mixed(old, new, ids, chance) for _ in range(options.mixtures))
        alone = Counter(mixed(old, new, ids, chance, with_copy=False) for _ in range(options.mixtures))
    found = {"kills": kills, "mixtures": mixtures, "mixtures_without_copy": alone}
    keep("repairs", {name: dict(counts) for name, counts in found.items()}, options.json)


if __name__ == "__main__":
    main()
