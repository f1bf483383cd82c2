"""What takes aider's place: general wrappers, each of which runs a hook of ours beside the original.

The rule of every wrapper: the original's signature, the original's path when the gardener is off, and every
statement of ours in a `Guard`, so that no exception of ours reaches the host. A hook gets the arguments of
the call, the coder in the place of its commands.
"""

from __future__ import annotations

import inspect
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import wraps
from typing import Any

from aider_gardener.adapters.aider import announce, commands, link
from aider_gardener.adapters.aider.coder import HostCoder, HostCommands, HostIO
from aider_gardener.adapters.aider.guard import Guard, GuardedContext, guarded
from aider_gardener.adapters.aider.options import add_options
from aider_gardener.adapters.aider.origins import Origins

UPGRADE_HINT = (
    "aider-gardener brings its own aider {version}, so aider is not upgraded by itself. To upgrade both:"
    " uv tool upgrade aider-gardener, or pipx reinstall aider-gardener,"
    " or pip install -U aider-gardener aider-chat"
)

Wrap = Callable[[Any], Any]
"""Gets what aider has at a patch point, returns what takes its place."""


def before(hook: Callable[..., object]) -> Wrap:
    """The hook is called, then the original."""

    def wrap(original: Any) -> Any:
        @wraps(original)
        def wrapper(owner: Any, *args: Any, **options: Any) -> Any:
            guarded(hook, coder_of(owner), *args, **options)
            return original(owner, *args, **options)

        return wrapper

    return wrap


def after(hook: Callable[..., object]) -> Wrap:
    """The original is called, then the hook."""

    def wrap(original: Any) -> Any:
        @wraps(original)
        def wrapper(owner: Any, *args: Any, **options: Any) -> Any:
            result = original(owner, *args, **options)
            guarded(hook, coder_of(owner), *args, **options)
            return result

        return wrapper

    return wrap


def with_result(hook: Callable[..., Any]) -> Wrap:
    """After the original the hook gets its result, behind the coder; what it makes of it, if anything, is the
    result of the call."""

    def wrap(original: Any) -> Any:
        @wraps(original)
        def wrapper(owner: Any, *args: Any, **options: Any) -> Any:
            result = original(owner, *args, **options)
            changed = guarded(hook, coder_of(owner), result, *args, **options)
            return result if changed is None else changed

        return wrapper

    return wrap


def instead(hook: Callable[..., Any]) -> Wrap:
    """What the hook returns is the result of the call; only where that is None the original is called."""

    def wrap(original: Any) -> Any:
        @wraps(original)
        def wrapper(owner: Any, *args: Any, **options: Any) -> Any:
            done = guarded(hook, coder_of(owner), *args, **options)
            return original(owner, *args, **options) if done is None else done

        return wrapper

    return wrap


def around(hook: Callable[..., AbstractContextManager[Any]]) -> Wrap:
    """The original runs within the context that the hook makes, to the end of what it yields."""

    def wrap(original: Any) -> Any:
        @wraps(original)
        def stream(owner: Any, *args: Any, **options: Any) -> Iterator[Any]:
            with GuardedContext(hook, coder_of(owner), *args, **options):
                yield from original(owner, *args, **options)

        @wraps(original)
        def wrapper(owner: Any, *args: Any, **options: Any) -> Any:
            with GuardedContext(hook, coder_of(owner), *args, **options):
                return original(owner, *args, **options)

        return stream if inspect.isgeneratorfunction(original) else wrapper

    return wrap


def added(value: Any) -> Wrap:
    """What is put where aider has nothing, or in the place of what must not run."""
    return lambda _original: value


def command(function: Callable[[HostCommands, str], None]) -> Wrap:
    """A command of ours is added. If it fails, only it has failed, and its name is said."""
    name = commands.name_of(function)

    @wraps(function)
    def wrapper(self: HostCommands, args: str) -> None:
        with Guard(self.coder, name):
            function(self, args)

    return added(wrapper)


def completions(function: Callable[[HostCommands], list[str]]) -> Wrap:
    """What completes a command's argument is added."""

    @wraps(function)
    def wrapper(self: HostCommands) -> list[str]:
        with Guard(self.coder, "completion"):
            return function(self)
        return []

    return added(wrapper)


def coder_of(owner: Any) -> Any:
    """The coder that a call is about: its own, or that of its commands."""
    return getattr(owner, "coder", owner)


# Those of one patch point


def get_parser(original: Any) -> Any:
    """aider's parser with our flags; what it was made for tells where settings came from."""

    @wraps(original)
    def get_parser(default_config_files: list[str], git_root: str | None) -> ArgumentParser:
        parser: ArgumentParser = original(default_config_files, git_root)
        with Guard(None):
            add_options(parser)
            announce.name_both(parser)
            if default_config_files:  # aider starts; for another repository it does so again, files read
                known = link.state.origins
                link.state.origins = replace(known, parser=parser) if known else Origins(parser)
        return parser

    return get_parser


def without_ours(_coder: HostCoder, result: Any, _typed: str) -> Any:
    """The commands that a prefix matches: aider's own, where ours are only among them."""
    if result is None:
        return None
    matching, first_word, rest = result
    aiders = [command for command in matching if command not in commands.OURS]
    return (aiders if aiders and first_word not in matching else matching), first_word, rest


def no_upgrade(io: HostIO, latest_version: object = None) -> None:
    """In the place of an upgrade of aider: how both are upgraded."""
    from aider import __version__

    io.tool_output(UPGRADE_HINT.format(version=__version__))
