"""All settings: one frozen object. Each field says its meaning, unit, default and where it can be set.

A field `name` is the flag `--gardener-name` of `aider-gardener` and the variable `AIDER_GARDENER_NAME`;
`enabled` is `--gardener` / `--no-gardener` and `AIDER_GARDENER`.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aider_gardener.errors import UsageError

ENV_PREFIX = "AIDER_GARDENER_"
TRUE_WORDS = frozenset({"1", "true", "yes", "on"})
FALSE_WORDS = frozenset({"0", "false", "no", "off", ""})


def option(
    default: Any, help_text: str, *, choices: tuple[str, ...] = (), low: float = 0, high: float = 0
) -> Any:
    """A settings field with its documentation and its legal values (`low`..`high` for numbers)."""
    metadata = {"help": help_text, "choices": choices, "low": low, "high": high}
    return dataclasses.field(default=default, metadata=metadata)


@dataclass(frozen=True)
class Settings:
    """How the gardener behaves. Build it with `from_env`, or by keywords; it checks itself."""

    enabled: bool = option(True, "Use the gardener. Off: stock aider.")
    mode: str = option(
        "garden",
        "garden: archive, compress, recall. observe: archive and report, change nothing in any prompt.",
        choices=("garden", "observe"),
    )
    history_tokens: int = option(
        0,
        "Tokens that everything of the past may use in a prompt: renditions and recall together."
        " 0: aider's --max-chat-history-tokens if given, else a default by the model's window.",
        low=0,
        high=100_000_000,
    )
    low_mark: float = option(
        0.5,
        "Share of what the history may use beside recall that a plan goes down to once that is passed.",
        low=0.05,
        high=0.95,
    )
    recall_share: float = option(
        0.4,
        "Share of the history budget that recalled text may use in one prompt. 0: no recall.",
        low=0,
        high=0.9,
    )
    recall_threshold: float = option(
        0.2, "Least relevance, 0 to 1, of what is recalled into a prompt unasked.", low=0, high=1
    )
    store: str = option(
        "",
        "Directory of the archive. Empty: .aider.gardener in the repository, else a user-level directory.",
    )
    embedder: str = option(
        "minilm",
        "minilm: recall by meaning too, with a small model that comes with the installation and runs on this"
        " machine. none: by words alone. fastembed:MODEL: with a model of fastembed's registry that is on"
        " this machine, such as a multilingual one. litellm:MODEL: with a provider's model through litellm,"
        " which sends every passage (secrets taken out) and every question over the network.",
        choices=("minilm", "none", "fastembed:MODEL", "litellm:MODEL"),
    )
    retention: str = option(
        "off",
        "off: nothing leaves the archive by itself. prune: once a session what was never used and has lost"
        " its worth, or was not used for 30 days, is deleted for good; never what is pinned or of a live"
        " session.",
        choices=("off", "prune"),
    )
    store_limit: int = option(
        0,
        "Megabytes that the archive may take. With retention prune the oldest of the least important go"
        " first; with retention off a line says that it is larger. 0: no limit.",
        low=0,
        high=10_000_000,
    )
    store_key: str = option(
        "",
        "Where the key of an encrypted archive is: keyring (the system's), env (the variable"
        " AIDER_GARDENER_KEY) or file:PATH (a file that only its owner may read). New archives are encrypted"
        " then; gardener store encrypt encrypts one that exists. Empty: not encrypted.",
        choices=("", "keyring", "env", "file:PATH"),
    )
    llm_fallback: bool = option(
        False, "Above 95 % of the window, when compressed forms no longer help, let aider's LLM summarise."
    )

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            check_field(field, getattr(self, field.name))

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None, **overrides: Any) -> Settings:
        """Settings from `AIDER_GARDENER_*` variables; keyword arguments that are not None win.

        Raises UsageError, naming the variable, for a value that cannot be used.
        """
        environ = os.environ if environ is None else environ
        values: dict[str, Any] = {}
        for field in dataclasses.fields(cls):
            name = variable(field.name)
            if name in environ:
                values[field.name] = parse(field, environ[name], name)
        values.update({key: value for key, value in overrides.items() if value is not None})
        return cls(**values)

    @property
    def store_path(self) -> Path | None:
        return Path(self.store).expanduser() if self.store else None


def variable(field_name: str) -> str:
    """The environment variable of a field."""
    return "AIDER_GARDENER" if field_name == "enabled" else ENV_PREFIX + field_name.upper()


def check_field(field: dataclasses.Field[Any], value: Any) -> None:
    """Raise UsageError unless `value` is legal for the field."""
    choices, low, high = (field.metadata[key] for key in ("choices", "low", "high"))
    if choices and not any(is_choice(value, choice) for choice in choices):
        raise UsageError(f"{field.name} must be one of {', '.join(filter(None, choices))}, not {value!r}")
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if high and (not is_number or not low <= value <= high):
        raise UsageError(f"{field.name} must be a number from {low:g} to {high:g}, not {value!r}")


def is_choice(value: Any, choice: str) -> bool:
    """Whether a value is a choice; a word in capitals behind a colon stands for any text."""
    prefix, colon, open_part = choice.partition(":")
    if not (colon and open_part.isupper() and isinstance(value, str)):
        return bool(value == choice)
    return value.startswith(prefix + colon) and len(value) > len(prefix + colon)


def parse(field: dataclasses.Field[Any], text: str, name: str) -> Any:
    """The value that `text` means for the field; `name` is where it came from, for the error."""
    kind: type = type(field.default)
    try:
        if kind is bool:
            word = text.strip().lower()
            if word not in TRUE_WORDS | FALSE_WORDS:
                raise ValueError(text)
            return word in TRUE_WORDS
        return kind(text.strip())
    except ValueError:
        raise UsageError(f"{name}={text!r} is not a {kind.__name__}; correct or unset it") from None
