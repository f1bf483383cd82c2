"""The setting `embedder`: what it takes, and what it loads."""

from __future__ import annotations

import pytest

from aider_gardener.errors import UsageError
from aider_gardener.recall.embedders import loading
from aider_gardener.settings import Settings


@pytest.mark.parametrize("choice", ["", "litellm:", "fastembed:", "litellm", "other:model", "MiniLM", "use:"])
def test_the_setting_refuses_the_rest(choice: str) -> None:
    with pytest.raises(UsageError, match="embedder must be one of"):
        Settings(embedder=choice)


@pytest.mark.parametrize("choice", ["minilm", "none", "use", "fastembed:some/model"])
def test_nothing_is_loaded_where_nothing_is_to_be_embedded(choice: str) -> None:
    assert (loading(choice) is None) == (choice == "none")


def test_a_providers_model_is_the_hosts_to_call() -> None:
    load = loading("litellm:openai/fake")
    assert load is not None
    found, reason = load()
    assert found is None and "openai/fake" in reason
