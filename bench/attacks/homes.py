"""One project under another HOME, by root, by another user, by git, after an upgrade, with modes that let its
user not write or not read: who sees its archive?

    python -m bench.attacks.homes [--only WORDS] [--json FILE]

An archive is made under one HOME; then each command, a hook, an MCP server and a chat of aider run as in each
case. Where the archive is the user's a command holds if it sees what was said, nothing is set aside and all
files belong to the folder's owner. Where it is not, if it fails with a line that says why and changes no
byte: but a hook says nothing on standard output, and a chat goes on and says so in one line. The cases of
other users need root, which gives the child a user and no right but to read the interpreter's files. Where
modes forbid, they bind root too.
"""

from __future__ import annotations

import ctypes
import json
import os
import struct
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench.attacks.files import TALK
from bench.attacks.results import HELD, environment, keep_outcomes, parser_of

ARCHIVE = ".aider.gardener"
SAID, SECONDS = "the quokka lives in the attic", 120
OWNER, OTHER = 4321, 5432
SUITE = ("status", "recall quokka", "pressure", "doctor --json",
         "store verify", "store export out.jsonl", "sessions", "upkeep month", "mcp")  # fmt: skip
HOOKS = ("SessionStart", "UserPromptSubmit", "PostToolUse")
MADE = """
import sys
from pathlib import Path
from aider_gardener.archive.store import open_store
from bench.attacks.files import put
store = open_store(Path(".aider.gardener"))
store.open_session("s", project=str(Path.cwd()), started_at=1.0)
put(store, sys.argv[1])
store.close()
"""
NEWER = """
from pathlib import Path
import apsw
from aider_gardener.archive.store.schema import opened
db = opened(Path(".aider.gardener/gardener.db"), apsw.SQLITE_OPEN_READWRITE, "")
db.pragma("user_version", 99)
db.close()
"""
KEEP_CAPABILITIES, AMBIENT, RAISE, CAPABILITIES_3, READ_SEARCH = 8, 47, 2, 0x20080522, 2
SECURE_BITS, NO_ROOT = 28, 1


@dataclass(frozen=True)
class Case:
    """Who comes: as which user (None: as the owner), what a refusal must name ("" where there is none), what
    is done to the project before, whether modes bind root, whether a chat may write beside the archive."""

    user: int | None = None
    refused: str = ""
    before: Callable[[Path, Mapping[str, str]], object] = lambda _project, _environ: None
    is_owned: bool = False
    is_bound: bool = False
    is_beside: bool = False


def moded(mode: int, *, folder: int = 0o700) -> Callable[[Path, Mapping[str, str]], None]:
    def before(project: Path, _environ: Mapping[str, str]) -> None:
        (project / ARCHIVE / "gardener.db").chmod(mode)
        (project / ARCHIVE).chmod(folder)

    return before


def committed(project: Path, environ: Mapping[str, str]) -> None:
    for words in (["add", "-f", ".aider.gardener/gardener.db"], ["commit", "-qm", "theirs"]):
        subprocess.run(["git", "-C", str(project), *words], env=dict(environ), check=True)


def renewed(project: Path, environ: Mapping[str, str]) -> None:
    subprocess.run([sys.executable, "-c", NEWER], cwd=project, env=dict(environ), check=True)


CASES = {
    "another HOME": Case(),
    "root under sudo": Case(user=0, is_owned=True),
    "another user": Case(user=OTHER, refused="another user", is_owned=True),
    "committed": Case(refused="git tracks", before=committed),
    "newer": Case(refused="another version", before=renewed, is_beside=True),
    "mode 444": Case(before=moded(0o444), is_bound=True),
    "mode 000": Case(refused="permissions", before=moded(0), is_bound=True, is_beside=True),
    "in a folder of mode 555": Case(before=moded(0o600, folder=0o555), is_bound=True),
    "mode 444 in a folder of mode 555": Case(before=moded(0o444, folder=0o555), is_bound=True),
}


def become(user: int) -> None:
    """In a child before it begins: be that user, who may read what root may."""
    if not user:
        return
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    prctl(KEEP_CAPABILITIES, 1, 0, 0, 0)
    os.setgroups([])
    os.setgid(user)
    os.setuid(user)
    bits = 1 << READ_SEARCH
    head, data = struct.pack("=Ii", CAPABILITIES_3, 0), struct.pack("=6I", bits, bits, bits, 0, 0, 0)
    if ctypes.CDLL(None).capset(head, data) or prctl(AMBIENT, RAISE, READ_SEARCH, 0, 0):
        raise OSError("no capabilities")


def be_bound() -> None:
    """In a child before it begins: let modes bind it and what it runs, though it is root."""
    if os.geteuid() == 0:
        head, none = struct.pack("=Ii", CAPABILITIES_3, 0), struct.pack("=6I", *[0] * 6)
        ctypes.CDLL(None).prctl(SECURE_BITS, NO_ROOT, 0, 0, 0)
        ctypes.CDLL(None).capset(head, none)


def state(project: Path) -> dict[str, bytes]:
    place = project / ARCHIVE
    return {path.name: path.read_bytes() for path in place.iterdir() if path.is_file()}


def ran(
    words: list[str], project: Path, environ: Mapping[str, str], begin: Callable[[], None], given: str = ""
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, cwd=project, env=dict(environ), input=given, timeout=SECONDS, capture_output=True, text=True,
        check=False, preexec_fn=begin,
    )  # fmt: skip


def gardener(*words: str) -> list[str]:
    return [sys.executable, "-m", "aider_gardener.cli", *words]


def command(
    words: str, case: Case, project: Path, run: Callable[..., subprocess.CompletedProcess[str]]
) -> str:
    """One command of `gardener`."""
    before = state(project)
    done = run(gardener(*words.split()))
    told = " ".join((done.stdout + done.stderr).split())
    if case.refused:
        if done.returncode == 0 or case.refused not in told or "Traceback" in told:
            return f"exit {done.returncode}, says {told[-120:]!r}"
        return HELD if state(project) == before else "it changed the archive"
    exported = (project / "out.jsonl").read_text() if "export" in words else SAID
    sees = SAID in exported and (words != "recall quokka" or SAID in told)
    if words == "doctor --json":  # whose exit tells of more than the archive
        is_right = "sound, in" in told or (case.is_bound and "check its permissions" in told)
        return HELD if is_right else f"says {told[-120:]!r}"
    return HELD if done.returncode == 0 and sees else f"exit {done.returncode}, says {told[-120:]!r}"


def hook(event: str, case: Case, project: Path, run: Callable[..., subprocess.CompletedProcess[str]]) -> str:
    """One hook of Claude Code."""
    given = {"session_id": "h", "prompt": "Where does the quokka live?", "source": "startup"}
    given |= {"tool_name": "Bash", "transcript_path": "/none", "cwd": str(project)}
    before = state(project)
    done = run(gardener("hook", event), given=json.dumps(given))
    if done.returncode or "Traceback" in done.stderr:
        return f"exit {done.returncode}, says {done.stderr[-120:]!r}"
    if not case.refused:
        return HELD
    if done.stdout not in ("", "{}"):
        return f"says {done.stdout[:120]!r}"
    after = state(project)
    return HELD if all(after.get(name) == data for name, data in before.items()) else "it changed the archive"


def chat(case: Case, project: Path, run: Callable[..., subprocess.CompletedProcess[str]]) -> str:
    """A chat of aider's of four turns."""
    before = state(project)
    done = run([sys.executable, "-c", TALK, "gardener"])
    told = done.stdout + done.stderr
    if done.returncode or "Traceback" in told or "Noted." not in told:
        return f"exit {done.returncode}, says {told[-120:]!r}"
    lines = [line for line in told.splitlines() if line.startswith("aider-gardener:")]
    after = state(project)
    if case.refused:
        is_same = all(after.get(name) == data for name, data in before.items())
        is_alone = case.is_beside or set(after) == set(before)
        if not (is_same and is_alone):
            return "it changed the archive"
        return HELD if case.refused in " ".join(told.split()) else f"says {lines}"
    return HELD if any(b"What is x in step 3" in data for data in after.values()) else "nothing was kept"


def attempt(case: Case, work: Callable[..., str]) -> str:
    """One attack in a project of its own."""
    with tempfile.TemporaryDirectory() as folder:
        top, homes = Path(folder), [Path(folder, name) for name in ("home", "another")]
        project = top / "project"
        for each in (project, *homes):
            each.mkdir()
        environ = environment(homes[0])
        environ |= {"AIDER_GARDENER_EMBEDDER": "none", "PYTHONDONTWRITEBYTECODE": "1"}
        subprocess.run(["git", "init", "-q", str(project)], env=environ, check=True)
        if case.is_owned:
            for each in (top, project, homes[0]):
                os.chown(each, OWNER, OWNER)
        made = [sys.executable, "-c", MADE, SAID]
        done = ran(made, project, environ, partial(become, OWNER if case.is_owned else 0))
        if done.returncode:
            return f"no archive: {done.stderr[-120:]}"
        case.before(project, environ)
        environ["HOME"] = str(homes[1])
        if case.user:
            for each in (homes[1], project, *project.rglob("*")):
                if ARCHIVE not in each.parts:
                    os.chown(each, case.user, case.user)
        begin = be_bound if case.is_bound else partial(become, case.user or 0)
        outcome = work(case, project, lambda words, given="": ran(words, project, environ, begin, given))
        place = project / ARCHIVE
        hidden = [path.name for path in place.glob("gardener.db.foreign-*")]
        users = {path.stat().st_uid for path in (place, *place.iterdir())}
        if outcome == HELD and hidden:
            return "the archive was set aside"
        if outcome == HELD and case.is_owned and users != {OWNER}:
            return f"files of the users {sorted(users)}"
        return outcome.replace(folder, "…")


def attack(only: str) -> dict[str, str]:
    works: dict[str, Callable[..., str]] = {
        **{f"gardener {words}": partial(command, words) for words in SUITE},
        **{f"hook {event}": partial(hook, event) for event in HOOKS},
        "a chat": chat,
    }
    found: dict[str, str] = {}
    for name, case in CASES.items():
        if case.is_owned and os.geteuid():
            continue
        for what, work in works.items():
            if only in f"{name}: {what}":
                found[f"{name}: {what}"] = attempt(case, work)
                print(f"{name}: {what:24} {found[f'{name}: {what}']}", flush=True)
    return found


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--only", default="", help="Only those whose name has these words.")
    options = parser.parse_args()
    return keep_outcomes("homes", attack(options.only), options.json)


if __name__ == "__main__":
    sys.exit(main())
