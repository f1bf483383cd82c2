"""Whatever of ours raises, aider goes on: an exception in every public function of the adapter in turn, and in one
of each module below it, none listed by hand."""

from __future__ import annotations

import functools
import importlib
import inspect
import logging
import pkgutil
import signal
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import aider_gardener
from aider_gardener import uninstall
from aider_gardener.adapters.aider import link
from aider_gardener.adapters.aider.cli import try_to_install
from aider_gardener.adapters.aider.wrappers import ATTRIBUTE, guard
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.settings import Settings

from .conftest import EDIT, Driver, MakeDriver, ScriptedModel
from .test_overflow import rejection

NOT_IN_A_CHAT = ("replay", "patches", "cli")
"""Rooms that no chat goes through."""
ADAPTER = "aider_gardener.adapters.aider."
GUARDS = ("guard", "guarded", "guarded_context")
"""What catches the faults of all others has nothing around it."""


class Injected(Exception):
    """What is raised."""


Place = tuple[Any, str]
"""A module or class, and the name of a function there."""


def modules() -> Iterator[Any]:
    for found in pkgutil.walk_packages(aider_gardener.__path__, "aider_gardener."):
        if found.name.split(".")[1] not in NOT_IN_A_CHAT and not found.name.endswith("__main__"):
            yield importlib.import_module(found.name)


@cache
def places() -> list[Place]:
    """Every public function and method of the package that a chat can come through."""
    found: dict[tuple[str, str], Place] = {}
    for module in modules():
        for name, value in vars(module).items():
            if name.startswith("_") or name in GUARDS or getattr(value, "__module__", "") != module.__name__:
                continue
            if inspect.isclass(value):
                for inner, method in vars(value).items():
                    if not inner.startswith("_") and is_function(method):
                        found[module.__name__, f"{name}.{inner}"] = (value, inner)
            elif is_function(value):
                found[module.__name__, name] = (module, name)
    return [found[key] for key in sorted(found)]


def is_function(value: Any) -> bool:
    return isinstance(value, staticmethod | classmethod | property) or inspect.isroutine(value)


def module_of(place: Place) -> str:
    owner, _name = place
    return str(owner.__module__ if inspect.isclass(owner) else owner.__name__)


def named(place: Place) -> str:
    owner, name = place
    return f"{module_of(place)}.{f'{owner.__qualname__}.' if inspect.isclass(owner) else ''}{name}"


@cache
def known() -> dict[int, list[Place]]:
    """Where in our modules each value is known, by its identity."""
    found = defaultdict[int, list[Place]](list)
    for name, module in sys.modules.items():
        if name.startswith("aider_gardener"):
            for key, value in vars(module).items():
                found[id(value)].append((module, key))
    return found


@contextmanager
def replaced(place: Place, wrap: Callable[[Callable[..., Any]], Callable[..., Any]]) -> Iterator[None]:
    """The function wrapped wherever it is known: at its place, and where other modules imported it."""
    owner, name = place
    old = vars(owner)[name]
    if isinstance(old, property):
        new: Any = property(wrap(old.fget))
    elif isinstance(old, staticmethod | classmethod):
        new = type(old)(wrap(old.__func__))
    else:
        new = wrap(old)
    holders = {(owner, name), *(() if inspect.isclass(owner) else known().get(id(old), ()))}
    for holder, key in holders:
        setattr(holder, key, new)
    try:
        yield
    finally:
        for holder, key in holders:
            setattr(holder, key, old)


Chat = Callable[[Driver], None]
LONG = "It is so. " + "word " * 150


def asks_and_edits(driver: Driver) -> None:
    driver.ask(*(f"question {n}: never touch part_{n}.py" for n in range(2)), reply=LONG)
    edit = EDIT.format(path="app.py", old="    return 'hello'", new="    return 'bye'")
    driver.ask("make it say goodbye", reply=edit)
    driver.type("/run echo some output")
    driver.ask("what was part_1.py about?", reply="Nothing.")


def switches_and_overflows(driver: Driver) -> None:
    driver.ask("/ask question 2: " + "word " * 80, reply=LONG)
    driver.model.replies.append(rejection())
    driver.ask("and now? " + "word " * 50)
    driver.type("/clear")
    driver.type("/chat-mode ask")
    driver.ask("last one")


def uses_commands(driver: Driver) -> None:
    driver.ask(*(f"question {n}: never touch part_{n}.py" for n in range(2)), reply=LONG)
    gardener = driver.coder.gardener
    first = gardener.state.chat.entries[0].id if gardener else "g1"
    for command in (
        "context-pressure",
        "recall part",
        "gardener plan",
        "gardener undo",
        "gardener constraints",
    ):
        driver.type(f"/{command}")
    for command in ("pin", "why", "unpin", "restore", "forget --yes"):
        driver.type(f"/{command} {first}")
    driver.type("/gardener off")
    driver.ask("last one")


CHATS: tuple[Chat, ...] = (asks_and_edits, switches_and_overflows, uses_commands)
TYPED = {
    asks_and_edits: ["question 0", "question 1", "make it say goodbye", "what was part_1"],
    switches_and_overflows: ["question 2", "and now?", "last one"],
    uses_commands: ["question 0", "question 1", "last one"],
}
"""What the user typed and the model must get, whatever happens."""


def eager() -> Settings:
    """Settings that leave little unused."""
    return Settings(history_tokens=250, embedder="none", ask_for_originals=True, status_line=True)


def held(drive: MakeDriver, model: ScriptedModel, chat: Chat, settings: Settings) -> Driver:
    """Hold a chat from its start to its end."""
    model.requests.clear()
    model.replies.clear()
    try_to_install()
    link.state.settings = settings
    driver = drive(use_git=False)
    Path("app.py").write_text("def greet():\n    return 'hello'\n", encoding="utf-8")
    chat(driver)
    return driver


def called(drive: MakeDriver, model: ScriptedModel, chat: Chat) -> list[Place]:
    """The functions that a chat comes through."""
    seen: set[str] = set()

    def noting(place: Place) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
            @functools.wraps(function)
            def noted(*args: Any, **options: Any) -> Any:
                seen.add(named(place))
                return function(*args, **options)

            return noted

        return wrap

    with ExitStack() as stack:
        for place in places():
            stack.enter_context(replaced(place, noting(place)))
        held(drive, model, chat, eager())
    uninstall()
    return [place for place in places() if named(place) in seen]


def raising(fired: list[bool]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def injected(*_args: Any, **_options: Any) -> Any:
            fired.append(True)
            raise Injected

        return injected

    return wrap


def tried(drive: MakeDriver, model: ScriptedModel) -> list[tuple[Chat, Place]]:
    """Each function that is to raise, and the first chat that comes through it."""
    first: dict[str, tuple[Chat, Place]] = {}
    for chat in CHATS:
        known = set(first)
        reached = [place for place in called(drive, model, chat) if named(place) not in known]
        first |= {named(place): (chat, place) for place in reached}
    names = {
        name if ADAPTER in name else (chat, module_of(place)): name for name, (chat, place) in first.items()
    }
    return [first[name] for name in names.values()]


@pytest.mark.timeout(900)
def test_no_fault_of_ours_ends_a_turn_or_loses_a_message(
    drive: MakeDriver,
    model: ScriptedModel,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(link.state, "background", False)
    logging.disable(logging.CRITICAL)
    faults: list[str] = []
    for chat, place in tried(drive, model):
        fired: list[bool] = []
        settings = eager()
        try:
            with replaced(place, raising(fired)):
                driver = held(drive, model, chat, settings)
            is_off = driver.coder.__dict__.get(ATTRIBUTE) is None
        except Exception as error:
            faults.append(f"{named(place)}: {type(error).__name__}: {error}")
            continue
        finally:
            uninstall()
        sent = "\n".join(str(message["content"]) for request in model.requests for message in request)
        said = [*driver.said, *capsys.readouterr().err.splitlines()]
        if lost := [text for text in TYPED[chat] if text not in sent]:
            faults.append(f"{named(place)}: the model never got {lost}")
        elif fired and is_off and not any("aider-gardener" in line for line in said):
            faults.append(f"{named(place)}: without a word")
    logging.disable(logging.NOTSET)
    assert faults == [], "\n".join(faults)


def test_a_fault_is_told_in_one_line_and_traced_only_to_those_who_ask(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    said: list[str] = []
    secret = f"{7 * 6} words of the user"
    coder: Any = SimpleNamespace(io=SimpleNamespace(tool_warning=said.append))
    with caplog.at_level(logging.ERROR, "aider_gardener"), guard(coder):
        raise Injected(secret)
    assert said == ["aider-gardener stopped in this chat (Injected); aider goes on without it."]
    assert coder._gardener is None
    assert capsys.readouterr().err == ""
    assert "test_guard.py" in caplog.text
    assert secret not in caplog.text


def test_ctrl_c_is_the_hosts() -> None:
    with pytest.raises(KeyboardInterrupt), guard(None):
        raise KeyboardInterrupt


def test_ctrl_c_waits_for_what_ours_has_begun_and_pressed_twice_does_not(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace_chat, presses = Gardener.replace_chat, [1]

    def interrupted(gardener: Gardener, chat: Any) -> None:
        for _ in range(presses.pop() if presses else 0):
            signal.raise_signal(signal.SIGINT)
        replace_chat(gardener, chat)

    monkeypatch.setattr(Gardener, "replace_chat", interrupted)
    with pytest.raises(KeyboardInterrupt):
        driver.type("first")
    assert not driver.model.requests and signal.getsignal(signal.SIGINT) is signal.default_int_handler
    driver.ask("second")
    state = driver.coder.gardener.state
    assert "first" in driver.model.last_prompt() and not state.busy
    presses.append(2)
    with pytest.raises(KeyboardInterrupt):
        driver.type("third")
    assert "third" not in [entry.content for entry in state.chat.entries.values()]
