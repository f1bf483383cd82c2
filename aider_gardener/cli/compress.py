"""`gardener compress` and `gardener classify`: one text from a file or stdin, to be read or parsed."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from aider_gardener import files
from aider_gardener.cli.pipe import figures, is_binary, put_bytes
from aider_gardener.cli.root import as_json, json_option, put
from aider_gardener.errors import UsageError
from aider_gardener.messages import Compressed, ContentClass, Segment, Source, SourceKind, TokenCounter
from aider_gardener.tokens import ESTIMATE, approximate, default_counter

SOURCE_WORDS = {kind.value: kind for kind in SourceKind} | {"run": SourceKind.COMMAND}
TOO_LARGE = files.TOO_LARGE.format(limit=files.NAMED_BYTES)
CLASS_NAMES = [cls.value for cls in ContentClass]


@click.command(short_help="Shorten a text by its class, without a model.")
@click.argument("file", default="-", required=False)
@click.option(
    "--class",
    "class_name",
    type=click.Choice(CLASS_NAMES),
    help="Take the text as of this class, don't classify.",
)
@click.option(
    "--source",
    "source_text",
    metavar="KIND[: DETAIL]",
    help='Where it came from, e.g. "run: pytest -q", "web: URL", "typed".',
)
@click.option(
    "--focus",
    "focus_words",
    multiple=True,
    metavar="WORDS",
    help="Favour text with these words (repeatable).",
)
@json_option
def compress(
    file: str, class_name: str | None, source_text: str | None, focus_words: tuple[str, ...]
) -> None:
    """Compress the text in FILE (or stdin) by its class, without a model. What is no text passes as it is."""
    data = read_bytes(file)
    if is_binary(data) and not as_json():
        put_bytes(data)
        return
    text = data.decode("utf-8", "replace")
    count = default_counter() if as_json() else approximate
    source = parse_source(source_text)
    started = time.perf_counter()
    result = _compressed(text, class_name, source, focus_words, count)
    ms = (time.perf_counter() - started) * 1000
    tokens = figures(text, result.text, count)
    before, after = tokens["tokens_before"], tokens["tokens_after"]
    report = {
        "class": result.cls.value, "text": result.text, **tokens,
        "ratio": round(after / before, 4) if before else 1.0, "ms": round(ms, 2),
        "engine": result.engine, "whole": None if file == "-" or result.lossless else file,
    }  # fmt: skip
    if as_json():
        put(report, str)
    else:
        _show(report)


@click.command(short_help="Say of which class a text is, and of what it is made.")
@click.argument("file", default="-", required=False)
@click.option(
    "--source", "source_text", metavar="KIND[: DETAIL]", help='Where it came from, e.g. "run: pytest -q".'
)
@json_option
def classify(file: str, source_text: str | None) -> None:
    """Say of which class the text in FILE (or stdin) is, and of which segments it is made."""
    from aider_gardener.compress.shorten import source_of
    from aider_gardener.reading.classify import dominant_class
    from aider_gardener.reading.segments import segment

    text = read_bytes(file).decode("utf-8", "replace")
    source = parse_source(source_text) or source_of(text)
    parts = segment(text, source)
    cls = dominant_class(text, source, parts).value
    segments = [_segment_record(text, part) for part in parts]
    head = f"{cls}  ({source.kind.value}{': ' + source.detail if source.detail else ''})"
    lines = (
        f"  lines {each['first_line']}-{each['last_line']}  {each['class']} {each['kind']}".rstrip()
        for each in segments
    )
    put({"class": cls, "source": source.kind.value, "segments": segments}, lambda: [head, *lines])


def _segment_record(text: str, part: Segment) -> dict[str, Any]:
    first = text.count("\n", 0, part.start) + 1
    last = first + text.count("\n", part.start, max(part.start, part.end - 1))
    return {
        "start": part.start, "end": part.end, "class": part.cls.value, "kind": part.kind,
        "language": part.language,
        "first_line": first, "last_line": last,
    }  # fmt: skip


def _compressed(
    text: str, class_name: str | None, source: Source | None, focus_words: Sequence[str], count: TokenCounter
) -> Compressed:
    """By the class given, or as a message of its source."""
    from aider_gardener.compress import Context, compress_message, compress_text
    from aider_gardener.compress.shorten import focus_on, source_of

    focus = focus_on(focus_words)
    if class_name:
        from aider_gardener.reading.classify import classify as classify_text

        found, kind = classify_text(text)
        kind = kind if found.value == class_name else ""
        language = kind if found is ContentClass.CODE else ""
        return compress_text(text, ContentClass(class_name), Context(kind, language, focus, "", count))
    return compress_message(text, source or source_of(text), focus=focus, count=count)


def parse_source(text: str | None) -> Source | None:
    """`KIND` or `KIND: DETAIL` as a source; None for None. Raises UsageError for an unknown kind."""
    from aider_gardener.compress.shorten import source_of

    if text is None:
        return None
    word, _, detail = text.partition(":")
    kind = SOURCE_WORDS.get(word.strip().lower())
    if kind is None:
        raise UsageError(f"unknown source {word.strip()!r}; use one of {', '.join(SOURCE_WORDS)}")
    detail = detail.strip()
    return source_of("", detail) if kind is SourceKind.COMMAND and detail else Source(kind, detail)


def read_bytes(file: str) -> bytes:
    """What is in a file, or comes in on stdin for "-"."""
    if file == "-":
        if sys.stdin is None or sys.stdin.isatty():
            raise UsageError("nothing to read: name a file, or pipe text in: pytest -q | gardener compress")
        data = sys.stdin.buffer.read(files.NAMED_BYTES + 1)
        if len(data) > files.NAMED_BYTES:
            raise UsageError(f"what comes in is {TOO_LARGE}; cut it first")
        return data
    try:
        return files.read(Path(file), files.NAMED_BYTES, follow=True)
    except OSError as error:
        raise UsageError(f"cannot read {file}: {error.strerror}; name a file, or pipe text in") from None


def _show(report: Mapping[str, Any]) -> None:
    """The text on standard output, the figures beside it."""
    about = "about " if report["counter"] == ESTIMATE else ""
    kept = f"{report['tokens_after']:,} of {about}{report['tokens_before']:,} tokens"
    what = f"{report['class']}, read as {report['engine']}" if report["engine"] else report["class"]
    facts = f"Kept {kept} ({report['ratio']:.0%}) of a text of class {what}, in {report['ms']:.0f} ms"
    put_bytes(f"{report['text']}\n".encode("utf-8", "replace"))
    click.echo(facts + (f"; the whole is {report['whole']}." if report["whole"] else "."), err=True)
