"""Which embedder the setting `embedder` names."""

from __future__ import annotations

from functools import partial

from aider_gardener.recall.embed import Load, RegisteredModel, load_embedder, loaded
from aider_gardener.recall.use import load_use

NOT_CALLED = "models of a provider ({name}) are not called from here"


def loading(choice: str) -> Load | None:
    """What loads the embedder that the setting names; None where nothing is to be embedded."""
    kind, _, name = choice.partition(":")
    if kind == "none":
        return None
    if kind == "litellm":  # reason: only a host knows how to call its provider
        return lambda: (None, NOT_CALLED.format(name=name))
    if kind == "fastembed":
        return partial(loaded, partial(RegisteredModel, name))
    return load_embedder if kind == "minilm" else load_use
