"""Which compressor serves which class and kind, and the guard that all of them stand behind."""

from __future__ import annotations

from dataclasses import replace

from aider_gardener.compress import (
    builds,
    code,
    diffs,
    edits,
    errors,
    listings,
    logs,
    prose,
    structured,
    testruns,
    tools,
)
from aider_gardener.compress.base import Compressor, Context, is_shorter, unchanged
from aider_gardener.compress.tools import dumps
from aider_gardener.errors import spared
from aider_gardener.messages import Compressed, ContentClass, Source, SourceKind
from aider_gardener.reading.classify import classify
from aider_gardener.reading.detectors import detect_build, detect_test_run
from aider_gardener.reading.lineshape import sample_lines

BY_CLASS: dict[ContentClass, Compressor] = {
    ContentClass.PROMPT: prose.compress_prompt,
    ContentClass.PROSE: prose.compress,
    ContentClass.CODE: code.compress,
    ContentClass.STRUCTURED: structured.compress,
    ContentClass.EDIT: edits.compress,
    ContentClass.LOG: logs.compress,
    ContentClass.ERROR: errors.compress,
    ContentClass.LISTING: listings.compress,
    ContentClass.DIFF: diffs.compress,
}

TEST_KINDS = frozenset(testruns.KINDS)
BUILD_KINDS = frozenset({*builds.KINDS, "aider-lint"})
"""Kinds of logs with a compressor of their own: what the detectors return, and the host's lint report."""

DUMPED = frozenset({"", "sql", "table"})
"""Kinds that SQL made to restore a database from may be taken for."""


def compressor_for(cls: ContentClass, kind: str, text: str) -> Compressor:
    """The compressor of a kind or class; logs of unknown kind are told apart by the detectors."""
    if kind in DUMPED and cls in (ContentClass.CODE, ContentClass.LISTING) and dumps.is_dump(text):
        return dumps.compress
    if kind in tools.READERS:
        return tools.compress
    if cls is not ContentClass.LOG:
        return BY_CLASS[cls]
    if kind in TEST_KINDS:
        return testruns.compress
    if kind in BUILD_KINDS:
        return builds.compress
    if not kind:
        sample = "\n".join(sample_lines(text))
        if detect_test_run(sample):
            return testruns.compress
        if detect_build(sample):
            return builds.compress
    return logs.compress


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
        with spared(f"compressor of {cls.value}") as faults:
            result = compressor_for(cls, ctx.kind, best.text)(best.text, inside)
        if faults:
            return replace(best, failed=faults[0])
        if not is_shorter(result.text, best.text, ctx.count):
            break
        kept = {**result.kept, **best.kept} if best.kept else result.kept
        best = replace(result, cls=cls, kind=result.kind or best.kind, kept=kept, lossless=False)
    return best
