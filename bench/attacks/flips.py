"""One flipped bit in an archive: what is lost, what is shown altered without a word, what hangs.

    python -m bench.attacks.flips [--flips N] [--seed S] [--json FILE]

Each flip is of a random bit of the file (every fifth of its header or first page), in a copy of one archive
of 50 entries in two sessions, which a process of its own opens, reads, adds to and verifies. Three tenths as
many are of one without the copy of the last session's end, and of an encrypted one. `lost` counts flips after
which an entry cannot be read any more, `silent` those after which a text is shown that was never written, or
an entry is missing, without a line that says so, `hung` those over 20 seconds, `raised` those that a chat
would feel, `unmended` those after which a second check still finds something.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import tempfile
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from aider_gardener.archive.store import Store, open_store
from aider_gardener.archive.store.encryption import VARIABLE
from aider_gardener.errors import StoreError
from bench.attacks.chat import put
from bench.attacks.results import in_child, keep, parser_of

ENTRIES, SESSIONS, SECONDS = 50, ("one", "two"), 20
FIRST_PAGE_BYTES = 4_096


def text_of(number: int) -> str:
    """What entry `number` says: short and long ones, so that some need pages of their own."""
    return f"entry {number} " + f"says the quick fox {number * 7} times; é " * (3 + 40 * (number % 7))


def short_of(number: int) -> str:
    return f"entry {number} in short"


def fill(place: Path, key_source: str = "") -> list[str]:
    """An archive as two ended sessions leave it; returns the ids in order."""
    ids = []
    for at, session in enumerate(SESSIONS):
        store = open_store(place, key_source=key_source)
        store.open_session(session, project="p", started_at=1.0)
        for number in range(at, ENTRIES, len(SESSIONS)):
            text, short = text_of(number), short_of(number)
            said = put(store, text, session=session, seq=number, at=1.0 + number, short=short)
            ids.append((number, said.id))
            store.record_event(session, number, "plan", {"entry_ids": [said.id]}, 1.0)
        store.set_state(session, "frame", json.dumps({"window": 1_000}))
        store.close()
    return [stored_id for _, stored_id in sorted(ids)]


def outcome(place: Path, ids: list[str]) -> list[str]:
    """What a flip did, as words of lost, silent and raised; [] where everything held."""
    store = open_store(place)
    said: list[str] = [store.notice]
    found: list[str] = []
    lost: set[int] = set()
    for number, stored_id in enumerate(ids):
        try:
            text = store.original(stored_id)
        except StoreError as error:
            said.append(str(error))
            text = None
        if text is None:
            lost.add(number)
        elif text != text_of(number):
            found.append("silent")
        found += short_forms(store, number, stored_id, said)
        said.append(store.notice)
    found += sessions(store, ids, lost, said)
    goes_on(store, found)
    said += store.verify()
    left = store.verify()
    if lost:
        found.append("lost")
        if not any(word for word in said if word):
            found.append("silent")
    if left and not lost:
        found.append("unmended")
    store.close()
    return found


def short_forms(store: Store, number: int, stored_id: str, said: list[str]) -> list[str]:
    try:
        made = store.renditions(stored_id)
    except StoreError as error:
        said.append(str(error))
        return []
    wrong = any(each.text != short_of(number) for each in made.values())
    return ["silent"] if wrong else []


def sessions(store: Store, ids: list[str], lost: set[int], said: list[str]) -> list[str]:
    """Whether the sessions still have their entries, each once and in order."""
    found = []
    for at, session in enumerate(SESSIONS):
        wanted = [text_of(number) for number in range(at, ENTRIES, len(SESSIONS))]
        got = [entry.content for entry in store.session_entries(session)]
        said.append(store.notice)
        if any(text not in wanted for text in got) or (got != wanted and not any(said)):
            found.append("silent")
    return found


def goes_on(store: Store, found: list[str]) -> None:
    """A message that comes now is stored and read again."""
    text = "the chat goes on"
    if store.original(put(store, text, session="three").id) != text:
        found.append("lost")


def flip(place: Path, bit: int) -> None:
    """Turn over one bit of the archive's file."""
    with open(place / "gardener.db", "r+b") as file:
        file.seek(bit // 8)
        byte = file.read(1)[0]
        file.seek(bit // 8)
        file.write(bytes([byte ^ (1 << bit % 8)]))


def tried(whole: Path, hurt: Callable[[Path], None], ids: list[str], *, with_copy: bool) -> list[str]:
    """The outcome of hurting a copy of an archive, in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "store"
        shutil.copytree(whole, place)
        if not with_copy:
            for each in place.glob("*.copy"):
                each.unlink()
        hurt(place)

        def work() -> Any:
            signal.alarm(SECONDS)
            return outcome(place, ids)

        told: list[str] | str | None = in_child(work)
        return told if isinstance(told, list) else ["raised", told] if told else ["hung"]


def attack(flips: int, seed: int, *, with_copy: bool, key_source: str = "") -> dict[str, Any]:
    """So many flips; the count of each outcome, and the bits whose outcome was not clean."""
    rng = random.Random(seed)
    counts: Counter[str] = Counter()
    bad: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory() as folder:
        whole = Path(folder) / "whole"
        ids = fill(whole, key_source)
        size = (whole / "gardener.db").stat().st_size
        for number in range(flips):
            bit = rng.randrange((FIRST_PAGE_BYTES if number % 5 == 0 else size) * 8)
            found = tried(whole, partial(flip, bit=bit), ids, with_copy=with_copy)
            counts.update(set(found) & {"lost", "silent", "raised", "hung", "unmended"} or {"held"})
            if found:
                bad[str(bit)] = found
    kept = {"with_copy": with_copy, "encrypted": bool(key_source)}
    return {"flips": flips, "bytes": size, **kept, "counts": dict(counts), "bad": bad}


def main() -> None:
    options = parser_of(__doc__, flips=1_000, seed=1).parse_args()
    os.environ[VARIABLE] = "ab" * 32
    few = options.flips * 3 // 10
    runs = [
        attack(options.flips, options.seed, with_copy=True),
        attack(few, options.seed, with_copy=False),
        attack(few, options.seed, with_copy=True, key_source="env"),
    ]
    keep("flips", {"runs": runs}, options.json)


if __name__ == "__main__":
    main()
