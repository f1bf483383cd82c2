"""What aider's start shows of the gardener: that it is on, and its version."""

from __future__ import annotations

import argparse
import os
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from aider_gardener.adapters.aider import link
from aider_gardener.adapters.aider.coder import HostCoder
from aider_gardener.adapters.aider.guard import ATTRIBUTE
from aider_gardener.adapters.aider.options import retired_lines
from aider_gardener.adapters.aider.provider import history_limit
from aider_gardener.errors import UsageError


def announce(coder: HostCoder) -> None:
    """Say what the gardener does in this chat, where it is not off."""
    for gone in retired_lines(getattr(coder.commands, "args", None)):
        coder.io.tool_warning(f"aider-gardener: {gone}")
    if said := line(coder):
        coder.io.tool_output(said)


def line(coder: HostCoder) -> str:
    """What the gardener does in this chat; "" where it is off. A setting that cannot be used is told here,
    and the gardener stays off. None is made: that waits for the first prompt."""
    from aider_gardener.plan.goals import history_budget

    if link.is_sub(coder) or (ATTRIBUTE in coder.__dict__ and link.gardener_of(coder) is None):
        return ""
    try:
        settings = link.settings_of(coder)
    except UsageError:
        link.gardener_of(coder)  # says what is wrong
        return ""
    if not settings.enabled:
        return ""
    where = shown(link.archive_directory(coder, settings), Path(coder.root or os.getcwd()))
    if settings.mode == "observe":
        return f"gardener watching: prompts stay as they are, archive {where}"
    info, (limit, given) = coder.main_model.info, history_limit(coder)
    window, is_free = (
        int(info.get("max_input_tokens") or 0),
        not given and not info.get("input_cost_per_token"),
    )
    budget = history_budget(settings.history_tokens, limit, window=window, is_free=is_free)
    return f"gardener on: history up to {budget:,} tokens, archive {where}"


def shown(path: Path, root: Path) -> str:
    """A path as one would type it in the directory `root`."""
    for base, mark in ((root, ""), (Path.home(), "~/")):
        if path.is_relative_to(base) and path != base:
            return mark + path.relative_to(base).as_posix()
    return str(path)


def name_both(parser: argparse.ArgumentParser) -> None:
    """Let --version tell the gardener's version too; aider's stays the last word."""
    try:
        ours = version("aider-gardener")
    except PackageNotFoundError:  # run from a folder that is not installed
        return
    for action in parser._actions:  # reason: argparse has no other way to one of its actions
        if isinstance(action, argparse._VersionAction) and action.version:
            action.version = f"aider-gardener {ours}, {action.version.replace('%(prog)s', 'aider')}"
