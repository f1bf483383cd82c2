"""Outputs of tools that are read by a parser of their own, one small file each, on a common frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from aider_gardener.compress import builds, logs, testruns
from aider_gardener.compress.base import Context, unchanged
from aider_gardener.compress.pieces import Reader
from aider_gardener.compress.tools import (
    ansible,
    bundlers,
    cmake,
    costs,
    described,
    django,
    docker,
    environments,
    formatting,
    helm,
    latex,
    linters,
    plans,
    preparing,
    progress,
    pulumi,
    resolution,
    sanitizers,
    sessions,
    tables,
    terraform,
    threads,
    valgrind,
    worktrees,
)
from aider_gardener.compress.tools.frame import read_with
from aider_gardener.messages import Compressed, ContentClass
from aider_gardener.reading.detectors import detect_build, detect_test_run
from aider_gardener.reading.tools import CLASSES

READERS: Mapping[str, Reader] = {
    # What a program in trouble writes.
    "sanitizer": sanitizers.read,
    "threads": threads.read,
    "valgrind": valgrind.read,
    # Builds and deployments.
    "terraform": terraform.read,
    "ansible": ansible.read,
    "helm": helm.read,
    "docker": docker.read,
    "cmake": cmake.read,
    "packages": resolution.read,
    "bundler": bundlers.read,
    "bandit": linters.bandit,
    "shellcheck": linters.shellcheck,
    "sqlfluff": linters.sqlfluff,
    "formatting": formatting.read,
    "django": django.read,
    "configure": preparing.configure,
    "hooks": preparing.hooks,
    "latex": latex.read,
    "pulumi": pulumi.read,
    # Tables, listings and sessions.
    "table": tables.read,
    "kubectl-describe": described.read,
    "sql-session": sessions.read,
    "importtime": costs.read,
    "training": progress.read,
    "git-status": worktrees.read,
    "git-merge": worktrees.read_merge,
    "diffstat": worktrees.read_stat,
    "git-blame": worktrees.read_blame,
    "git-branch": worktrees.read_branches,
    "query-plan": plans.read,
    # Test runs.
    "nox": environments.read,
    "tox": environments.read,
}
"""The reader of each kind that `reading.tools` can tell."""

BEFORE_TESTS = frozenset({"packages", "cmake", "django", "configure", "bundler"})
"""What often runs before the tests in one output: where tests ran too, that is told."""


def compress(text: str, ctx: Context) -> Compressed:
    """The output of a known tool by its parser; by another where the parser does not know it after all."""
    cls = CLASSES[ctx.kind]
    if ctx.kind in BEFORE_TESTS and detect_test_run(text):
        return testruns.compress(text, replace(ctx, kind=detect_test_run(text)))
    return read_with(READERS[ctx.kind], text, ctx, cls, ctx.kind) or _otherwise(text, cls, ctx)


def _otherwise(text: str, cls: ContentClass, ctx: Context) -> Compressed:
    """What a parser did not know after all: a listing by its rows, a build as such, else as a log."""
    if cls is not ContentClass.LOG:
        return read_with(tables.read, text, ctx, cls, ctx.kind) or unchanged(text, cls, ctx.kind)
    build = detect_build(text)
    return builds.compress(text, replace(ctx, kind=build)) if build else logs.compress(text, ctx)


__all__ = ["READERS", "compress"]
