"""`gardener compress`: one text from a file or stdin, to be read or parsed."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import click

from aider_gardener import files
from aider_gardener.cli.pipe import figures, is_binary, put_bytes
from aider_gardener.cli.root import as_json, json_option, put
from aider_gardener.errors import UsageError
from aider_gardener.messages import Source, SourceKind
from aider_gardener.tokens import approximate, default_counter

SOURCE_WORDS = {"run": SourceKind.COMMAND} | {kind.value: kind for kind in SourceKind}
del SOURCE_WORDS["stub"], SOURCE_WORDS["remembered"]  # nobody has such texts in a file
TOO_LARGE = files.TOO_LARGE.format(limit=files.NAMED_BYTES)


@click.command(short_help="Shorten a text by its class, without a model.")
@click.argument("file", default="-", required=False)
@click.option(
    "--source",
    "source_text",
    metavar="KIND[: DETAIL]",
    help='Where it came from, e.g. "run: pytest -q", "web: URL", "typed".',
)
@click.option("--focus", multiple=True, metavar="WORDS", help="Favour text with these words (repeatable).")
@json_option
def compress(file: str, source_text: str | None, focus: tuple[str, ...]) -> None:
    """Compress the text in FILE (or stdin) by its class, without a model. What is no text passes as it is."""
    from aider_gardener.compress.message import compress_message
    from aider_gardener.compress.shorten import focus_on, source_of

    data = read_bytes(file)
    binary = is_binary(data)
    if binary and not as_json():
        put_bytes(data)
        return
    text = "" if binary else data.decode("utf-8", "replace")
    count = default_counter() if as_json() else approximate
    source = parse_source(source_text) or source_of(text)
    started = time.perf_counter()
    result = compress_message(text, source, focus=focus_on(focus), count=count)
    ms = (time.perf_counter() - started) * 1000
    tokens = figures(text, result.text, count)
    before, after = tokens["tokens_before"], tokens["tokens_after"]
    is_all = result.lossless and not binary
    ratio, whole = after / before if before else 1.0, None if file == "-" or is_all else file
    if as_json():
        cls = None if binary else result.cls.value
        report = {"class": cls, "text": result.text, **tokens, "ratio": round(ratio, 4), "binary": binary}
        put({**report, "ms": round(ms, 2), "engine": result.engine, "whole": whole}, str)
        return
    what = f"{result.cls.value}, read as {result.engine}" if result.engine else result.cls.value
    facts = (
        f"Kept {after:,} of about {before:,} tokens ({ratio:.0%}) of a text of class {what}, in {ms:.0f} ms"
    )
    shown = (result.text.removesuffix("\n") + "\n").encode("utf-8", "replace")
    put_bytes(data if result.text == text else shown)
    click.echo(f"{facts}; the whole is {whole}." if whole else f"{facts}.", err=True)


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
