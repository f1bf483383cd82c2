"""A repository that sets what it can: what is taken from its files, what without a word?

    python -m bench.attacks.settings [--json FILE]

Each setting, the switch and each variable that leads a setting elsewhere, in each file of a repository that
aider reads settings from, with hostile values, where the user has given nothing and where the user has given
something else. aider's own parser and loader read them, in the order of its `main`, and nobody is there to be
asked. `taken`: what decides where is written, sent and deleted is not what the user gave. `silent`: a setting
that leaves the archive without the chat, or brings older chats into prompts, is taken and no line says so.
"""

from __future__ import annotations

import dataclasses
import itertools
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from aider_gardener import install, uninstall
from aider_gardener.settings import Settings
from bench.attacks.results import HELD, keep, parser_of

THEIRS = "theirs"
REACHING = ("store", "store_key", "embedder", "retention", "llm")
"""What decides where is written and sent, what is deleted, and whether a model is paid for."""
TOLD = ("mode", "resume", "recall_sessions", "ask_for_originals")
"""What leaves the archive without the chat, or brings older chats into prompts: taken, with a line."""
VALUES: dict[str, tuple[str, ...]] = {
    "store": ("{out}/theirs", "~/theirs", "../theirs", ".", "/dev/shm/theirs"),
    "store_key": ("file:/dev/zero", "file:{out}/theirs", "env", "keyring", '""', "null"),
    "embedder": (THEIRS,),
    "retention": ("prune", "1MB"),
    "llm": ("refine", "both"),
    "mode": ("off", "observe"),
    "resume": ("last", "true"),
    "recall_sessions": ("true",),
    "ask_for_originals": ("true",),
    "preset": ("aggressive",),
    "ttl": ("all=1",),
    "files": ("aider",),
}
OWN: dict[str, str] = {
    "store": "~/mine",
    "store_key": "file:~/mine.key",
    "embedder": "mine",
    "retention": "2GB",
    "llm": "fallback",
}
"""What the user gives in the own ~/.aider.conf.yml, which a repository's overrides in aider's order."""
LEADING = {
    "HOME": ("store", "store_key"),
    "USERPROFILE": (),
    "XDG_DATA_HOME": (),
    "AIDER_GARDENER_KEY": ("store_key",),
    "OPENAI_API_BASE": ("embedder",),
    "HTTPS_PROXY": ("embedder",),
    "AIDER_GARDENER_DATABASE_URL": (),
}
SOURCES = (".env", ".aider.conf.yml", "set-env", "env-file", "config and .env")


class Case(NamedTuple):
    """One thing that a repository sets, in one way; `own` is what the user gave of it before."""

    source: str
    name: str
    value: str
    own: str

    def __str__(self) -> str:
        beside = f" beside the user's {self.own}" if self.own else ""
        return f"{self.source} sets {self.name} to {self.value}{beside}"


def cases() -> Iterator[Case]:
    names = [each.name for each in dataclasses.fields(Settings)]
    for source, name in itertools.product(SOURCES, names):
        owns = ("", OWN[name]) if name in OWN else ("",)
        for value, own in itertools.product(VALUES.get(name, ("1",)), owns):
            yield Case(source, name, value, own)
    for source, word in itertools.product(SOURCES, ("false", "off")):
        yield Case(source, "", word, "")
    for source, variable in itertools.product((".env", "set-env", "env-file"), LEADING):
        for name in LEADING[variable]:
            own = "env" if variable == "AIDER_GARDENER_KEY" else OWN[name]
            yield Case(source, variable, "{out}/theirs", f"{name}: {own}")


def planted(case: Case, repo: Path, out: Path) -> None:
    """Write the files of the repository."""
    value = case.value.format(out=out)
    is_variable = case.name in LEADING
    flag = f"gardener-{case.name.replace('_', '-')}".rstrip("-")
    variable = case.name if is_variable else f"AIDER_GARDENER_{case.name.upper()}".rstrip("_")
    pair = f"{variable}={value}"
    if case.source in (".env", "config and .env"):
        (repo / ".env").write_text(pair + "\n")
    if case.source in (".aider.conf.yml", "config and .env"):
        (repo / ".aider.conf.yml").write_text(f"{flag}: {value}\n")
    if case.source == "set-env":
        (repo / ".aider.conf.yml").write_text(f"set-env:\n- {pair}\n")
    if case.source == "env-file":
        (repo / ".aider.conf.yml").write_text("env-file: sub/other.env\n")
        (repo / "sub").mkdir()
        (repo / "sub" / "other.env").write_text(pair + "\n")


def attempt(case: Case, folder: Path) -> str:
    """What comes of one case, in this process."""
    home, repo, out = (folder / name for name in ("home", "repo", "out"))
    for each in (home, repo, out):
        each.mkdir()
    os.environ.update(HOME=str(home), USERPROFILE=str(home), XDG_DATA_HOME=str(home / "data"))
    os.environ["AIDER_GARDENER_KEY"] = "mine"
    own_name, _, own = case.own.rpartition(": ")
    own_name = own_name or case.name
    if own:
        (home / ".aider.conf.yml").write_text(f"gardener-{own_name.replace('_', '-')}: {own}\n")
    os.chdir(repo)
    wanted = read(repo, home)[0]
    planted(case, repo, out)
    os.environ.update(HOME=str(home), USERPROFILE=str(home), XDG_DATA_HOME=str(home / "data"))
    found, said, key = read(repo, home)
    if found is None:
        return HELD
    for name in REACHING:
        if name == "embedder" and case.name in LEADING and getattr(found, name) == "use":
            continue  # where nobody can be asked, no other package's embedder is led anywhere
        if getattr(found, name) != getattr(wanted, name):
            return f"taken: {name}={getattr(found, name)!r}, not {getattr(wanted, name)!r}"
    if found.store_key == "env" and key != "mine":
        return "taken: the key that the repository knows"
    changed = [name for name in TOLD if getattr(found, name) != getattr(wanted, name)]
    if changed and not any(name in line for name in changed for line in said):
        return f"silent: {', '.join(changed)}"
    return HELD


def read(repo: Path, home: Path) -> tuple[Any, list[str], str]:
    """The settings of a chat, as aider's `main` reads them, with the paths they come to, None where they are
    refused; what is said; the key that an archive would get."""
    import aider.main

    from aider_gardener.adapters.aider import link
    from aider_gardener.errors import UsageError

    said: list[str] = []
    before = dict(os.environ)
    install()
    try:
        configs = [str(home / ".aider.conf.yml"), str(repo / ".aider.conf.yml")]
        parser = aider.main.get_parser(configs, str(repo))
        aider.main.load_dotenv_files(str(repo), parser.parse_known_args([])[0].env_file, "utf-8")
        args = parser.parse_args([])
        os.environ.update(pair.split("=", 1) for pair in args.set_env)
        io = SimpleNamespace(yes=True, prompt_session=None, tool_warning=said.append)
        coder: Any = SimpleNamespace(root=str(repo), io=io, commands=SimpleNamespace(args=args))
        found = link.settings_of(coder)
        places = {name: _place(getattr(found, name)) for name in ("store", "store_key")}
        shown = SimpleNamespace(**(dataclasses.asdict(found) | places))
        return shown, said, os.environ.get("AIDER_GARDENER_KEY", "")
    except (UsageError, SystemExit):  # refused, as any other setting that cannot be used
        return None, said, ""
    finally:
        uninstall()
        os.environ.clear()
        os.environ.update(before)


def _place(value: str) -> str:
    """A path as it comes to be used."""
    kind, colon, path = value.rpartition(":")
    return kind + colon + os.path.expanduser(path)


def attack() -> dict[str, Any]:
    """All cases; how many held, and what did not."""
    before, here = dict(os.environ), Path.cwd()
    bad: dict[str, str] = {}
    count = 0
    for name in [name for name in os.environ if name.startswith(("AIDER_", "XDG_", "GIT_"))]:
        del os.environ[name]
    clean = dict(os.environ)
    for case in cases():
        count += 1
        with tempfile.TemporaryDirectory() as folder:
            try:
                outcome = attempt(case, Path(folder))
            except (Exception, SystemExit) as error:  # reason: whatever it is, it is the result
                outcome = f"raised: {type(error).__name__}: {error}"
            finally:
                os.chdir(here)
                os.environ.clear()
                os.environ.update(clean)
        if outcome != HELD:
            bad[str(case)] = outcome.replace(folder, "…")
    os.environ.update(before)
    return {"tried": count, "held": count - len(bad), "bad": bad}


def main() -> int:
    options = parser_of(__doc__).parse_args()
    found = attack()
    keep("settings", found, options.json)
    return len(found["bad"])


if __name__ == "__main__":
    sys.exit(main())
