"""An archive, a file of lines and an export of a newer version: what is changed, and what is said of them?

    python -m bench.attacks.newer [--json FILE]

Each `gardener` command is run on an archive with a higher version and a table that nobody here knows, then a
chat is held beside it. A command holds if it fails with one line that calls the archive newer, and leaves
every file as it is; the chat, if its words are kept and the archive stays byte for byte.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import apsw
from click.testing import CliRunner

from aider_gardener.archive.store import lines, open_store, records, schema
from aider_gardener.cli.root import main as cli
from bench.attacks.files import filled, put
from bench.attacks.results import HELD, keep_outcomes, parser_of

COMMANDS = (
    "status", "recall fox", "upkeep month", "sessions", "forget --session s --yes", "why g1", "pin g1",
    "unpin g1", "forget g1 --yes", "restore g1", "pressure", "upkeep index", "upkeep session last", "upkeep",
    "upkeep observations", "doctor", "store status", "store verify", "store export out.jsonl",
    "store import in.jsonl", "store gc --yes", "store encrypt --key env",
    "store decrypt", "store copy --to elsewhere", "store copy --from other", "store unshare",
    "store share --status",
)  # fmt: skip


def renewed(path: Path) -> None:
    """Make an archive one of a version to come."""
    with contextlib.closing(schema.opened(path, apsw.SQLITE_OPEN_READWRITE, "")) as db:
        db.execute("CREATE TABLE later (x)")
        db.pragma("user_version", schema.VERSION + 3)


def state(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def command(words: str) -> str:
    """One command in a project whose archive is newer."""
    place = Path(".aider.gardener").resolve()
    renewed(filled(place, "mine"))
    filled(Path("other").resolve(), "another archive")
    Path("in.jsonl").write_text(json.dumps({"kind": "meta", "format": records.FORMAT}) + "\n")
    Path("in.db").write_bytes((Path("other") / "gardener.db").read_bytes())
    before = state(Path.cwd())
    found = CliRunner().invoke(cli, words.split())
    after = state(Path.cwd())
    if changed := sorted(name for name, data in after.items() if before.get(name) != data):
        return f"it wrote {', '.join(changed)}"
    if set(before) - set(after):
        return "it removed files"
    said = [line for line in found.output.splitlines() if "newer" in line]
    if found.exit_code == 0 or not said:
        return f"exit {found.exit_code}, says {found.output.strip()[-150:]!r}"
    return (
        HELD
        if found.exit_code in (1, 2) and "damaged" not in found.output
        else f"says {found.output[-150:]!r}"
    )


def chat() -> str:
    """A chat beside it, twice, and after an upgrade all of it is there."""
    place = Path(".aider.gardener").resolve()
    path = filled(place, "mine")
    old = path.read_bytes()
    renewed(path)
    kept = path.read_bytes()
    for text in ("said later", "said last"):
        store = open_store(place)
        put(store, text)
        if store.notice.count("newer") != 1 or "\n" in store.notice or "damaged" in store.notice:
            return f"says {store.notice!r}"
        store.close()
        if path.read_bytes() != kept:
            return "the archive is another one"
    path.write_bytes(old)  # as the version that it is of reads it
    store = open_store(place)
    found = sorted(entry.content for entry in store.session_entries("s"))
    store.close()
    return HELD if found == ["mine", "said last", "said later"] else f"it has {found}"


def newer_lines() -> str:
    """Lines that a newer version wrote while the archive could not be written."""
    place = Path(".aider.gardener").resolve()
    filled(place, "mine")
    path = place / f"gardener.db.lines-{'ab' * 16}.jsonl"
    first = {"kind": "meta", "format": records.FORMAT + 1, "host": "h", "pid": 1, "started": "1"}
    path.write_bytes(lines._framed(first, path))  # reason: as the newer version would
    data = path.read_bytes()
    store = open_store(place)
    put(store, "said later")
    notice = store.notice
    store.close()
    if not path.exists() or path.read_bytes() != data:
        return "they are gone"
    return HELD if "newer" in notice and "none that this version" not in notice else f"says {notice!r}"


def newer_export() -> str:
    filled(Path(".aider.gardener").resolve(), "mine")
    Path("in.jsonl").write_text(json.dumps({"kind": "meta", "format": records.FORMAT + 1}) + "\n")
    found = CliRunner().invoke(cli, ["store", "import", "in.jsonl"])
    return HELD if found.exit_code == 1 and "newer" in found.output else f"says {found.output.strip()!r}"


ATTACKS: dict[str, Callable[[], str]] = {
    "a chat": chat, "lines of a newer version": newer_lines, "an export of a newer version": newer_export,
}  # fmt: skip


def attack() -> dict[str, str]:
    found: dict[str, str] = {}
    here, before = Path.cwd(), dict(os.environ)
    tries: dict[str, Callable[[], str]] = {
        **{f"gardener {words}": partial(command, words) for words in COMMANDS},
        **ATTACKS,
    }
    for name, work in tries.items():
        with tempfile.TemporaryDirectory() as folder:
            repo = Path(folder) / "repo"
            repo.mkdir()
            os.environ.update(HOME=folder, XDG_DATA_HOME=folder, AIDER_GARDENER_KEY="ab" * 32)
            subprocess.run(["git", "init", "-q", str(repo)], check=True)
            os.chdir(repo)
            try:
                found[name] = work().replace(folder, "…")
            except Exception as error:  # reason: whatever it is, it is the result
                found[name] = f"raised {type(error).__name__}: {error}"
            finally:
                os.chdir(here)
                os.environ.clear()
                os.environ.update(before)
    return found


def main() -> int:
    options = parser_of(__doc__).parse_args()
    return keep_outcomes("newer", attack(), options.json)


if __name__ == "__main__":
    sys.exit(main())
