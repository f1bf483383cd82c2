"""Embedders by choice, beside the one that ships: a provider's through litellm, or another local model.

Importing this loads nothing heavy. Vectors of different embedders never compare: each has a name of its
own in the archive, which for a local model holds the beginning of its file's hash.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import threading
import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aider_gardener.recall.backlog import Load
from aider_gardener.recall.embed import (
    LIBRARIES,
    LIBRARY,
    Embedder,
    EmbedderError,
    load_embedder,
    native,
    one_line,
    readable,
    return_memory,
    silenced,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]

API_TEXTS, API_SECONDS, API_TRIES = 64, 30.0, 3
"""Texts in one request, how long it may take, and how often it is tried."""
PROBE = "dimension"
"""Embedded once to learn how long the vectors of a provider's model are."""
ABSENT = (
    "the model {name} is not on this machine; fetch it once with"
    " `python -c \"from fastembed import TextEmbedding; TextEmbedding('{name}')\"`"
)


def loading(choice: str) -> Load | None:
    """What loads the embedder that the setting names; None where nothing is to be embedded."""
    kind, _, name = choice.partition(":")
    if kind == "none":
        return None
    if kind == "litellm":
        return partial(loaded, lambda: ApiEmbedder(name))
    if kind == "fastembed":
        return partial(loaded, lambda: RegisteredModel(name))
    return load_embedder


def loaded(make: Any) -> tuple[Embedder | None, str]:
    """An embedder ready to answer and "", or None and why there is none."""
    try:
        embedder: Embedder = make()
        embedder.load()
    except EmbedderError as error:
        return None, str(error)
    return embedder, ""


def import_or_refuse(library: str) -> None:
    try:
        importlib.import_module(library)
    except ImportError as error:
        raise EmbedderError(f"the package {library} is not installed") from error


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


class ApiEmbedder:
    """A provider's model, called through litellm with the keys that litellm finds in the environment.

    Secrets are taken out of every text before it leaves, questions included.
    """

    question_seconds = 2.0
    texts_at_once = API_TEXTS

    def __init__(self, model: str) -> None:
        self.model = model
        self.name = f"litellm:{model}"
        self.dim = 0

    @property
    def loaded(self) -> bool:
        return self.dim > 0

    def load(self) -> None:
        if not self.loaded:
            self.dim = int(self._ask([PROBE]).shape[1])

    def unload(self) -> None:
        """Nothing is held that could be given back."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

        from aider_gardener.archive.store.redact import redact

        self.load()
        clean = [redact(readable(text)).text or " " for text in texts]
        found = [self._ask(clean[at : at + API_TEXTS]) for at in range(0, len(clean), API_TEXTS)]
        return np.concatenate(found) if found else np.empty((0, self.dim), dtype=np.float32)

    def _ask(self, texts: list[str]) -> Vectors:
        litellm: Any = importlib.import_module("litellm")
        chatty, litellm.suppress_debug_info = litellm.suppress_debug_info, True
        try:
            answer = litellm.embedding(
                model=self.model, input=texts, timeout=API_SECONDS, num_retries=API_TRIES - 1
            )
            found = unit_rows([row["embedding"] for row in answer.data])
        except EmbedderError:
            raise
        except Exception as error:  # a provider's error may quote the text: only its kind is passed on
            raise EmbedderError(f"{self.name} does not answer ({type(error).__name__})") from None
        finally:
            litellm.suppress_debug_info = chatty
        if len(found) != len(texts) or self.dim not in (0, found.shape[1]):
            raise EmbedderError(f"{self.name} gave vectors of another shape than before")
        return found


class RegisteredModel:
    """A model of fastembed's registry, from this machine's files only: nothing is downloaded."""

    def __init__(self, registered: str, *, threads: int = 1) -> None:
        self.registered = registered
        self.threads = threads
        self.name = f"fastembed:{registered}"
        self.dim = 0
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
        import numpy as np

        model = self._ready()
        found = np.empty((len(texts), self.dim), dtype=np.float32)
        for row, text in enumerate(texts):  # one by one: a text has one vector whatever stands beside it
            with native():
                found[row] = unit_rows(list(model.embed([readable(text)], batch_size=1)))[0]
        return found

    def _ready(self) -> Any:
        with self._lock:
            if self._model is None:
                with silenced():
                    for library in LIBRARIES:
                        with native():
                            import_or_refuse(library)
                    self.dim, file = self._described()
                    self._model, folder = self._opened()
                self.name = f"fastembed:{self.registered}@{file_hash(folder / file)[:12]}"
            return self._model

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

    def _opened(self) -> tuple[Any, Path]:
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


def file_hash(path: Path) -> str:
    """The SHA-256 of a file, hex."""
    digest = hashlib.sha256()
    try:
        with path.open("rb") as handle:
            while block := handle.read(1 << 20):
                digest.update(block)
    except OSError as error:
        raise EmbedderError(f"{path.name} cannot be read ({one_line(error)})") from error
    return digest.hexdigest()
