"""Recorded outputs of tools, and the checks that the tests of their compressors share."""

from __future__ import annotations

from pathlib import Path

from aider_gardener.compress.base import MARKER, Compressor, Context
from aider_gardener.messages import Compressed, Focus
from aider_gardener.reading import facts

FOLDER = Path(__file__).resolve().parent / "data" / "outputs"
ENTRY = "g0123456789"


def output(name: str) -> str:
    """The text of tests/data/outputs/<name>.txt, line ends as they are."""
    return (FOLDER / f"{name}.txt").read_bytes().decode("utf-8", "replace")


def context(kind: str = "", *, words: tuple[str, ...] = (), paths: tuple[str, ...] = ()) -> Context:
    """A context with an entry id; tokens are counted by the estimate."""
    return Context(kind=kind, entry_id=ENTRY, focus=Focus(frozenset(words), frozenset(paths)))


def compressed(compress: Compressor, text: str, ctx: Context | None = None) -> Compressed:
    """The compressed form, after the checks that hold for every one."""
    ctx = ctx or context()
    result = compress(text, ctx)
    assert len(result.text) <= len(text)
    assert compress(text, ctx) == result
    assert compress(result.text, ctx).text == result.text
    if result.text != text:
        head = result.text.split("\n")[0]
        assert MARKER.match(head)
        assert ENTRY in head
    return result


def ratio(text: str, result: Compressed) -> float:
    """Tokens after by tokens before."""
    count = context().count
    return count(result.text) / count(text)


def assert_kept(text: str, result: Compressed, kind: str) -> None:
    """Every fact of this kind that the independent scan finds stands in the compressed form."""
    found = facts.extract(text, kind)
    assert found, "nothing to check: the scan finds no fact"
    assert facts.missing(found, result.text) == []
