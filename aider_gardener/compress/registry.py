"""Which compressor serves which class and kind, and the guard that all of them stand behind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from importlib import import_module

from aider_gardener.compress.base import Compressor, Context, is_shorter, unchanged
from aider_gardener.errors import tolerating
from aider_gardener.messages import Compressed, ContentClass, Source, SourceKind
from aider_gardener.reading.classify import classify
from aider_gardener.reading.detectors import BUILD_SIGNS, TEST_SIGNS, detect_build, detect_test_run
from aider_gardener.reading.lineshape import sample_lines
from aider_gardener.reading.tools import KINDS as TOOL_KINDS

BY_CLASS: dict[ContentClass, Callable[[], Compressor]] = {
    ContentClass.PROMPT: lambda: import_module("aider_gardener.compress.prose").compress_prompt,
    ContentClass.PROSE: lambda: import_module("aider_gardener.compress.prose").compress,
    ContentClass.CODE: lambda: import_module("aider_gardener.compress.code").compress,
    ContentClass.STRUCTURED: lambda: import_module("aider_gardener.compress.structured").compress,
    ContentClass.EDIT: lambda: import_module("aider_gardener.compress.edits").compress,
    ContentClass.LOG: lambda: import_module("aider_gardener.compress.logs").compress,
    ContentClass.ERROR: lambda: import_module("aider_gardener.compress.errors").compress,
    ContentClass.LISTING: lambda: import_module("aider_gardener.compress.listings").compress,
    ContentClass.DIFF: lambda: import_module("aider_gardener.compress.diffs").compress,
}
"""Gives the compressor of a class. It is imported when its class first comes up: all together take a third of
a second, which a process that shortens one text need not wait for."""

DUMP = "sql"
"""A dump has a compressor of its own; all other kinds that `reading.tools` tells have a reader in `tools`."""
TEST_KINDS = frozenset(kind for kind, _weight, _sign in TEST_SIGNS)
BUILD_KINDS = frozenset({*(kind for kind, _weight, _sign in BUILD_SIGNS), "aider-lint"})
"""Kinds of logs with a compressor of their own: what the detectors return, and the host's lint report."""

DUMPED = frozenset({"", DUMP, "table"})
"""Kinds that SQL made to restore a database from may be taken for."""


def compressor_for(cls: ContentClass, kind: str, text: str) -> Compressor:
    """The compressor of a kind or class; logs of unknown kind are told apart by the detectors."""
    if kind in DUMPED and cls in (ContentClass.CODE, ContentClass.LISTING):
        from aider_gardener.compress.tools import dumps

        if dumps.is_dump(text):
            return dumps.compress
    if kind in TOOL_KINDS and kind != DUMP:
        from aider_gardener.compress import tools

        return tools.compress
    if cls is not ContentClass.LOG:
        return BY_CLASS[cls]()
    sample = "" if kind else "\n".join(sample_lines(text))
    if kind in TEST_KINDS or (sample and detect_test_run(sample)):
        from aider_gardener.compress import testruns

        return testruns.compress
    if kind in BUILD_KINDS or (sample and detect_build(sample)):
        from aider_gardener.compress import builds

        return builds.compress
    return BY_CLASS[cls]()


def lines_within(text: str, ctx: Context) -> list[str]:
    """The short form of a part of an output, by the class that its own lines tell."""
    cls, kind = classify(text, Source(SourceKind.COMMAND, ctx.command))
    return compress_text(text, cls, replace(ctx, kind=kind)).text.split("\n")


def compress_text(text: str, cls: ContentClass, ctx: Context) -> Compressed:
    """The compressed form of a text of one class: never longer, and stable when compressed again.

    The compressor runs until its output no longer shrinks, so a second call finds nothing to do. One that
    raises has come to its end: what it made before stands, else the text, and `failed` says so.
    """
    best = unchanged(text, cls, ctx.kind)
    inside = replace(ctx, within=lines_within)
    while best.text:
        result = best
        with tolerating(f"compressor of {cls.value}") as faults:
            result = compressor_for(cls, ctx.kind, best.text)(best.text, inside)
        if faults:
            return replace(best, failed=faults[0])
        if not is_shorter(result.text, best.text, ctx.count):
            break
        kept = {**result.kept, **best.kept} if best.kept else result.kept
        best = replace(result, cls=cls, kind=result.kind or best.kind, kept=kept, lossless=False)
    return best
