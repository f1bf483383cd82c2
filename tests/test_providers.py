"""Which providers are the user's own machines."""

from __future__ import annotations

import pytest

from aider_gardener.providers import is_local, provider_name


@pytest.mark.parametrize(
    ("model", "provider", "address", "local"),
    [
        ("gpt-4o", "openai", "", False),
        ("ollama_chat/qwen3", "", "", True),
        ("ollama/qwen3", "ollama", "http://127.0.0.1:11434", True),
        ("ollama/qwen3", "ollama", "https://models.example.com", False),
        ("openai/local-model", "", "http://localhost:1234/v1", True),
        ("openai/local-model", "openai", "http://192.168.1.20:8080/v1", True),
        ("openai/local-model", "openai", "http://[::1]:8080/v1", True),
        ("openai/local-model", "openai", "10.0.0.3:8080", True),
        ("openai/hosted", "openai", "https://user:word@api.example.com:443/v1", False),
        ("openai/hosted", "openai", "https://localhost.example.com/v1", False),
        ("openai/hosted", "openai", "https://example.com/?x=http://localhost", False),
        ("openai/hosted", "openai", "8.8.8.8", False),
        ("lm_studio/phi", "", "", True),
        ("lm_studio/phi", "", "https://example.com", False),
        ("something", "", "", False),
        ("something", "", "not an address at all", False),
        ("openai/x", "openai", "http://[bad", False),
    ],
)
def test_a_provider_is_local_by_name_and_address(model: str, provider: str, address: str, local: bool) -> None:
    name = provider_name(model, provider=provider, address=address)
    assert name and is_local(name) is local


def test_what_was_never_sent_is_not_called_local() -> None:
    assert not is_local("")
