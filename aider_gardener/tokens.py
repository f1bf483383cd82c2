"""Token counting: the model's own tokenizer, cached by content, safe on any text."""

from __future__ import annotations

import json
import re
from binascii import a2b_base64
from collections.abc import Callable, Iterable, Iterator
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TypeVar

from aider_gardener.messages import LONG_CHARS, TokenCounter, remembered, text_key

MESSAGE_OVERHEAD_TOKENS = 4
"""What chat formats add to a message beside its text (role and separators)."""

PIECE_CHARS = 4_000
"""Texts are counted in pieces: byte-pair encoders are quadratic on long runs of one letter."""

CACHED_COUNTS = 16_384
"""Of so many texts the count is kept, of short ones and of long ones."""

CACHED_CHARS = 1_000
"""Of longer texts the cache keeps a hash: a chat's outputs must not stay in memory for being counted."""

LONG = 400
LONG_RUN = re.compile(rf"\S{{{LONG},}}|\s{{{LONG},}}")

ENCODING, ESTIMATE = "cl100k_base", "a quarter of the bytes"
"""How tokens are counted where no model is named, and where the encoding is not at hand."""
ENCODING_FILE = "litellm_core_utils/tokenizers/9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
MODELS_FILE = "model_prices_and_context_window_backup.json"
ENCODED_TOKENS = 100_256
SPLIT = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)
"""Where cl100k_base parts a text before it joins bytes to tokens."""

SAMPLES, SAMPLE_CHARS = 128, 1_000
"""So many pieces of a text longer than LONG_CHARS are counted, of so many characters."""

Row = TypeVar("Row")


def approximate(text: str) -> int:
    """Estimate tokens without a tokenizer: a quarter of the UTF-8 bytes, at least 1 for any text."""
    return (len(text.encode("utf-8", "replace")) + 3) // 4 if text else 0


def counter(encode: Callable[[str], int]) -> TokenCounter:
    """Wrap a tokenizer's count of one text: cached by content, long texts counted in pieces.

    Pieces end at line ends, so the sum differs from the exact count by less than one token a piece. Of texts
    longer than LONG_CHARS a sample is counted. Runs of 400 or more characters without a space are estimated,
    never encoded; where there are few words, long runs of white space are by their first 400.
    """

    def count_piece(piece: str) -> int:
        words = piece.split()
        if len(piece) < LONG * len(words) and all(len(word) < LONG for word in words):
            return encode(piece)
        total, at = 0, 0
        for match in LONG_RUN.finditer(piece):
            before, run = piece[at : match.start()], match.group()
            total += encode(before) if before else 0
            total += encode(run[:LONG]) * len(run) // LONG if run.isspace() else approximate(run)
            at = match.end()
        return total + (encode(piece[at:]) if piece[at:] else 0)

    def count_all(text: str) -> int:
        if len(text) > LONG_CHARS:
            return _sampled(text, count_all)
        clean = text.encode("utf-8", "replace").decode("utf-8")
        return sum(count_piece(piece) for piece in pieces(clean))

    count_short = lru_cache(maxsize=CACHED_COUNTS)(count_all)
    count_long = remembered(CACHED_COUNTS, key=text_key)(count_all)

    def count(text: str) -> int:
        if not text:
            return 0
        return count_short(text) if len(text) <= CACHED_CHARS else count_long(text)

    return count


@lru_cache(maxsize=1)
def default_counter() -> TokenCounter:
    """Counts by cl100k_base, without any download; `approximate` where that is missing. For where no model is
    named. It takes a tenth of a second to load."""
    try:
        encode = _encoding()
    except Exception:  # reason: litellm moves the file between releases, or is not there; the estimate serves
        return approximate
    return counter(lambda text: len(encode(text)))


def _shipped(name: str) -> bytes:
    """A file that litellm ships: nothing is fetched, and litellm, which takes seconds, not imported."""
    home = find_spec("litellm")
    return (Path((home.origin if home else None) or "").parent / name).read_bytes()


@cache
def model_row(model: str) -> dict[str, Any]:
    """What the table that litellm ships says of a model, its window and prices; nothing for one that is not
    in it, nor where there is no table."""
    try:
        table = json.loads(_shipped(MODELS_FILE))
    except Exception:  # reason: litellm moves the file between releases, or is not there
        return {}
    return table.get(model) or table.get(model.rpartition("/")[2]) or {}


def window_of(model: str) -> int:
    """The most tokens of a prompt for a model by that table; 0 where it is not there."""
    row = model_row(model)
    return int(row.get("max_input_tokens") or row.get("max_tokens") or 0)


def _encoding() -> Callable[[str], list[int]]:
    from tiktoken import Encoding

    rows = _shipped(ENCODING_FILE).split()
    ranks = dict(zip(map(a2b_base64, rows[::2]), map(int, rows[1::2]), strict=True))
    return Encoding(
        ENCODING, pat_str=SPLIT, mergeable_ranks=ranks, special_tokens={}, explicit_n_vocab=ENCODED_TOKENS
    ).encode_ordinary


def _sampled(text: str, count: TokenCounter) -> int:
    """The tokens of a text, extrapolated from SAMPLES pieces at equal distances."""
    step = len(text) // SAMPLES
    parts = [text[at : at + SAMPLE_CHARS] for at in range(0, step * SAMPLES, step)]
    return round(sum(map(count, parts)) * len(text) / sum(map(len, parts)))


def pieces(text: str, size: int = PIECE_CHARS) -> Iterator[str]:
    """A text in pieces of about `size` characters, cut at line ends where there are any."""
    at = 0
    while at < len(text):
        end = min(at + size, len(text))
        if end < len(text):
            line_end = text.rfind("\n", at, end)
            end = line_end + 1 if line_end > at else end
        yield text[at:end]
        at = end


def fitting(
    rows: Iterable[Row], room: int, cost: Callable[[Row], int], *, gaps: bool = True, least: int = 0
) -> Iterator[Row]:
    """Those of the rows, the worthiest first, that fit in `room` tokens together, as they are chosen.

    One that is too long is passed over, or without `gaps` is the end; so is a rest of `least` tokens.
    """
    for row in rows:
        if room <= least:
            return
        needed = cost(row)
        if needed <= room:
            room -= needed
            yield row
        elif not gaps:
            return
