"""Settings that reach out of a repository are not taken from its files."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from aider_gardener import install, uninstall
from aider_gardener.adapters.aider import link
from aider_gardener.adapters.aider.options import SHOWN_CHARS
from aider_gardener.errors import UsageError
from aider_gardener.settings import Settings

CONFIG = ".aider.conf.yml"
OUTSIDE = "AIDER_GARDENER_STORE"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository, the working directory, and beside it a home of its own."""
    home, place = tmp_path / "home", tmp_path / "repo"
    home.mkdir()
    place.mkdir()
    for name in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(name, str(home))
    monkeypatch.chdir(place)
    return place


@contextmanager
def process() -> Iterator[None]:
    """What a process of its own would be: what aider does to the environment ends with it."""
    before = dict(os.environ)
    install()
    try:
        yield
    finally:
        uninstall()
        os.environ.clear()
        os.environ.update(before)


def started(*words: str) -> tuple[Settings, list[str]]:
    """The settings of a chat in a process of its own."""
    with process():
        return begun(*words)


def begun(*words: str) -> tuple[Settings, list[str]]:
    """The settings of a chat, read in the steps and the order in which aider's `main` does it, and what is
    said."""
    import aider.main

    said, root = list[str](), str(Path.cwd())
    files = [str(Path.home() / CONFIG), str(Path(root) / CONFIG)]
    parser = aider.main.get_parser(files, root)
    aider.main.load_dotenv_files(root, parser.parse_known_args(list(words))[0].env_file, "utf-8")
    args = parser.parse_args(list(words))
    os.environ.update(pair.split("=", 1) for pair in args.set_env)
    io = SimpleNamespace(tool_warning=said.append)
    coder: Any = SimpleNamespace(root=root, io=io, commands=SimpleNamespace(args=args))
    return link.settings_of(coder), said


@pytest.mark.parametrize(
    ("file", "text", "name"),
    [
        (".env", "AIDER_GARDENER_STORE={outside}", "store"),
        (".env", "AIDER_GARDENER_STORE=${{HOME}}/../outside", "store"),
        (".env", "AIDER_GARDENER_EMBEDDER=theirs", "embedder"),
        (".env", "AIDER_GARDENER_RETENTION=prune", "retention"),
        (".env", "AIDER_GARDENER_STORE_KEY=file:/dev/zero", "store_key"),
        (".env", "AIDER_GARDENER_LLM=refine", "llm"),
        (".aider.conf.yml", "gardener-llm: both", "llm"),
        (".aider.conf.yml", "gardener-store: {outside}", "store"),
        (".aider.conf.yml", "gardener-embedder: theirs", "embedder"),
        (".aider.conf.yml", "set-env:\n- AIDER_GARDENER_STORE={outside}", "store"),
        (".aider.conf.yml", "env-file: sub/other.env", "store"),
    ],
)
def test_a_repository_cannot_reach_out(project: Path, file: str, text: str, name: str) -> None:
    outside = project.parent / "outside"
    (project / file).write_text(text.format(outside=outside))
    (project / "sub").mkdir()
    (project / "sub" / "other.env").write_text(f"{OUTSIDE}={outside}")
    found, said = started()
    assert getattr(found, name) == getattr(Settings(), name)
    assert len(said) == 1 and name in said[0] and "\n" not in said[0]
    assert not outside.exists()


def test_a_repository_may_switch_off(project: Path) -> None:
    (project.parent / "home" / CONFIG).write_text("gardener-retention: prune\ngardener-llm: refine")
    (project / CONFIG).write_text("gardener-embedder: none\ngardener-retention: off")
    assert started() == (Settings(embedder="none", retention="off", llm="refine"), [])


def test_what_the_user_gives_is_taken(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside, home = str(project.parent / "outside"), project.parent / "home"
    monkeypatch.setenv(OUTSIDE, outside)
    assert started()[0].store == outside
    (project / ".env").write_text(f"{OUTSIDE}=/elsewhere")
    assert started()[0].store == outside, "the user's own comes back"
    monkeypatch.delenv(OUTSIDE)
    (project / ".env").unlink()
    assert started("--gardener-store", outside)[0].store == outside
    assert started("--set-env", f"{OUTSIDE}={outside}")[0].store == outside
    (home / ".env").write_text(f"{OUTSIDE}=${{HOME}}/kept")
    assert started()[0].store == f"{home}/kept"
    (project / ".env").write_text("HOME=/theirs")
    assert started()[0].store == f"{home}/kept", "a name in it is the user's too"
    (home / ".env").unlink()
    (project / ".env").unlink()
    (home / CONFIG).write_text(f"gardener-store: {outside}")
    assert started() == (Settings(store=outside), [])
    (project / CONFIG).write_text("gardener-store: /elsewhere")
    assert started()[0].store == outside


def test_where_another_packages_embedder_leads_may_not_be_changed(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIDER_GARDENER_EMBEDDER", "mine")
    assert started()[0].embedder == "mine"
    (project / ".env").write_text("AIDER_GARDENER_EMBEDDER=theirs\nOPENAI_API_BASE=http://127.0.0.1:9")
    found, said = started()
    assert found.embedder == "use" and "embedder='mine with OPENAI_API_BASE=http://127.0.0.1:9'" in said[0]
    monkeypatch.setenv("OPENAI_API_BASE", "http://mine.example")  # as aider's main does with the flag
    (project / ".env").write_text("")
    assert started("--openai-api-base=http://mine.example") == (Settings(embedder="mine"), [])


def test_a_file_of_the_users_that_the_repositorys_hide_is_refused_as_it_would_be_without(
    project: Path,
) -> None:
    (project.parent / "home" / CONFIG).write_text("gardener-retention: sometimes")
    (project / CONFIG).write_text("gardener-retention: prune")
    with pytest.raises(UsageError, match="retention must be"):
        started()


def test_a_repository_cannot_name_another_home(project: Path) -> None:
    (project / ".env").write_text("XDG_DATA_HOME=.data\nHOME=.home")
    with process():
        begun()
        user = link.state.origins.user if link.state.origins else None
        assert user is not None and not user.is_relative_to(project)
        assert sys.platform != "linux" or user.is_relative_to(project.parent / "home")


@pytest.mark.parametrize(("name", "value"), [("store", "~/kept"), ("store_key", "file:~/kept.key")])
def test_the_users_home_is_the_users(project: Path, name: str, value: str) -> None:
    home = project.parent / "home"
    (home / CONFIG).write_text(f"gardener-{name.replace('_', '-')}: {value}")
    (project / ".env").write_text(f"HOME={project}\nUSERPROFILE={project}")
    found, said = started()
    assert getattr(found, name) == value.replace("~", str(home))
    assert len(said) == 1 and value.replace("~", str(project))[:SHOWN_CHARS] in said[0]


def test_a_repository_cannot_give_the_key_of_an_archive(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / ".env").write_text("AIDER_GARDENER_KEY=known")
    with process():
        assert begun("--gardener-store-key", "env")[1] == [
            "aider-gardener: not taken from this repository's files: store_key='env with AIDER_GARDENER_KEY';"
            " give it on the command line or in your own ~/.env or ~/.aider.conf.yml"
        ]
        assert "AIDER_GARDENER_KEY" not in os.environ
    monkeypatch.setenv("AIDER_GARDENER_KEY", "mine")
    with process():
        assert begun("--gardener-store-key", "env")[0].store_key == "env"
        assert os.environ["AIDER_GARDENER_KEY"] == "mine"


@pytest.mark.parametrize(
    ("file", "text", "name", "value"),
    [
        (".env", "AIDER_GARDENER=false", "mode", "off"),
        (".aider.conf.yml", "gardener: false", "mode", "off"),
        (".aider.conf.yml", "gardener-mode: off", "mode", "off"),
        (".aider.conf.yml", "gardener-resume: last", "resume", "last"),
        (".env", "AIDER_GARDENER_RECALL_SESSIONS=true", "recall_sessions", True),
        (".env", "AIDER_GARDENER_ASK_FOR_ORIGINALS=true", "ask_for_originals", True),
    ],
)
def test_what_keeps_a_chat_out_of_the_archive_or_brings_older_ones_back_is_told(
    project: Path, file: str, text: str, name: str, value: object
) -> None:
    (project / file).write_text(text)
    with process():
        found, said = begun()
        assert getattr(found, name) == value
        assert said == [f"aider-gardener: set by this repository's files: {name}='{value}'"]
        assert begun()[1] == [], "once for a process"


def test_aider_that_starts_anew_for_another_repository_forgets_nothing(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / ".env").write_text(f"{OUTSIDE}={project.parent / 'outside'}")
    (project / "other").mkdir()
    with process():
        begun()
        monkeypatch.chdir(project / "other")
        assert begun()[0].store == ""
