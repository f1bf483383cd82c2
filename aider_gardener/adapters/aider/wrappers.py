"""What takes aider's place: general wrappers, each of which runs a hook of ours beside the original.

The rule of every wrapper: the original's signature, the original's path when the gardener is off, and every
statement of ours in a `Guard`, so that no exception of ours reaches the host. A hook gets the coder, its
gardener and the arguments of the call; where there is no gardener it is not called.
"""

from __future__ import annotations

import inspect
from argparse import ArgumentParser
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import wraps
from typing import Any

from aider_gardener.adapters.aider import announce, commands, link
from aider_gardener.adapters.aider.coder import HostCoder, HostCommands, HostIO
from aider_gardener.adapters.aider.guard import Guard, GuardedContext
from aider_gardener.adapters.aider.options import add_options
from aider_gardener.adapters.aider.origins import Origins

UPGRADE_HINT = (
    "aider-gardener brings its own aider {version}, so aider is not upgraded by itself. To upgrade both:"
    " uv tool upgrade aider-gardener, or pipx reinstall aider-gardener,"
    " or pip install -U aider-gardener aider-chat"
)

Wrap = Callable[[Any], Any]
"""Gets what aider has at a patch point, returns what takes its place."""
Hook = Callable[..., Any]


def beside(
    *,
    before: Hook | None = None,
    instead: Hook | None = None,
    after: Hook | None = None,
    result: Hook | None = None,
    run: Hook = link.run,
) -> Wrap:
    """The original with hooks of ours: `before` and `after` it, `instead` of it where that returns anything.
    `result` gets what the original returned before the arguments; what it makes of that, if anything, is
    returned. `run` calls a hook: with the coder and its gardener, or `guarded` with the coder alone."""

    def wrap(original: Any) -> Any:
        @wraps(original)
        def wrapper(owner: Any, *args: Any, **options: Any) -> Any:
            coder = _coder_of(owner)
            if before:
                run(before, coder, *args, **options)
            made = run(instead, coder, *args, **options) if instead else None
            if made is not None:
                return made
            made = original(owner, *args, **options)
            if after:
                run(after, coder, *args, **options)
            changed = run(result, coder, made, *args, **options) if result else None
            return made if changed is None else changed

        return wrapper

    return wrap


def around(hook: Hook, *, run: Hook = link.run) -> Wrap:
    """The original runs within the context that the hook makes, to the end of what it yields."""

    def wrap(original: Any) -> Any:
        def context(owner: Any, *args: Any, **options: Any) -> GuardedContext:
            coder = _coder_of(owner)
            return GuardedContext(coder, lambda: run(hook, coder, *args, **options))

        @wraps(original)
        def stream(*args: Any, **options: Any) -> Iterator[Any]:
            with context(*args, **options):
                yield from original(*args, **options)

        @wraps(original)
        def wrapper(*args: Any, **options: Any) -> Any:
            with context(*args, **options):
                return original(*args, **options)

        return stream if inspect.isgeneratorfunction(original) else wrapper

    return wrap


def added(value: Any) -> Wrap:
    """What is put where aider has nothing, or in the place of what must not run."""
    return lambda _original: value


def command(function: Callable[..., Any], name: str) -> Wrap:
    """A command of ours is added, or what completes one. If it fails, only it has failed."""

    @wraps(function)
    def wrapper(self: HostCommands, *args: str) -> Any:
        with Guard(self.coder, name):
            return function(self, *args)
        return []

    return added(wrapper)


def _coder_of(owner: Any) -> Any:
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
