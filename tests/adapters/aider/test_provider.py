"""A coder's model: where its prompts go, how its tokens are counted, and what limit the user set."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from aider_gardener.adapters import is_loopback
from aider_gardener.adapters.aider.provider import history_limit, provider_of


def model(name: str = "gpt-4o", **given: Any) -> Any:
    return SimpleNamespace(**{"name": name, "info": {"litellm_provider": "openai"}, **given})


def test_only_this_machine_is_here() -> None:
    here = "http://localhost:8080/v1 localhost:11434 http://models.localhost http://127.0.0.1:1 https://[::1]:8080"
    away = "https://api.openai.com/v1 http://192.168.1.7:11434 http://localhost.example.com"
    assert all(map(is_loopback, [*here.split(), "0.0.0.0:11434"]))
    assert not any(map(is_loopback, [*away.split(), ""]))


@pytest.mark.parametrize(
    ("name", "info", "address", "provider"),
    [
        ("gpt-4o", {"litellm_provider": "openai"}, "", "openai"),
        ("gpt-4o", {"litellm_provider": "openai"}, "http://127.0.0.1:8080", "openai@loopback"),
        ("gpt-4o", {"litellm_provider": "openai"}, "https://proxy.example.com", "openai"),
        ("ollama/llama3", {}, "", "ollama"),
        ("ollama/llama3", {}, "http://localhost:11434", "ollama"),
        ("ollama/llama3", {}, "http://gpu.example.com:11434", "ollama@away"),
        ("some-model", {}, "", ""),
    ],
)
def test_an_address_that_contradicts_the_name_is_said(
    name: str, info: dict[str, str], address: str, provider: str
) -> None:
    extra = {"api_base": address} if address else None
    assert provider_of(model(name, info=info, extra_params=extra)) == provider


def test_an_address_in_a_variable_counts_and_the_models_own_goes_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OLLAMA_API_BASE", "http://gpu.example.com:11434")
    assert provider_of(model("ollama_chat/llama3", info={})) == "ollama_chat@away"
    own = {"base_url": "http://localhost:11434"}
    assert provider_of(model("ollama_chat/llama3", info={}, extra_params=own)) == "ollama_chat"


def coder(model_limit: int, summarizer_limit: int, given: int | None = None) -> Any:
    main = SimpleNamespace(max_chat_history_tokens=model_limit)
    return SimpleNamespace(
        main_model=main,
        commands=SimpleNamespace(args=SimpleNamespace(max_chat_history_tokens=given)),
        summarizer=SimpleNamespace(
            models=[SimpleNamespace(max_chat_history_tokens=2_048), main], max_tokens=summarizer_limit
        ),
    )


def test_the_limit_is_the_users_or_else_the_models() -> None:
    assert history_limit(coder(4_096, 4_096, given=900)) == (900, True)
    assert history_limit(coder(4_096, 4_096)) == (4_096, False)
    assert history_limit(coder(4_096, 2_048)) == (4_096, False)
    assert history_limit(coder(4_096, 777)) == (777, True)
    bare = coder(4_096, 4_096)
    bare.commands = None
    assert history_limit(bare) == (4_096, False)
