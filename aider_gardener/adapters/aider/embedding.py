"""Embeddings by a provider's model, called through litellm as aider calls it."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from aider_gardener.archive.store.redact import redact
from aider_gardener.recall import embedders
from aider_gardener.recall.embed import MINILM_SCALE, EmbedderError, Load, loaded, readable, unit_rows

if TYPE_CHECKING:
    from aider_gardener.recall.embed import Vectors

API_TEXTS, API_SECONDS, API_TRIES = 64, 30.0, 3
"""Texts in one request, how long it may take, and how often it is tried."""


def loading(choice: str) -> Load | None:
    """What loads the embedder that the setting names; None where nothing is to be embedded."""
    kind, _, name = choice.partition(":")
    return partial(loaded, partial(ApiEmbedder, name)) if kind == "litellm" else embedders.loading(choice)


class ApiEmbedder:
    """A provider's model, called through litellm with the keys that litellm finds in the environment.

    Secrets are taken out of every text before it leaves, questions included.
    """

    scale = MINILM_SCALE
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
            self.dim = int(self._ask(["dimension"]).shape[1])

    def unload(self) -> None:
        """Nothing is held that could be given back."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        import numpy as np

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
