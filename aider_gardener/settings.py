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
    rules_share: float = option(
        0.05,
        "Share of the history budget for the rules that you set in typed words (don't, never, must, always,"
        " use X not Y): they stay in the prompt when their messages no longer do. 0: off.",
        low=0,
        high=0.5,
    )
    chat_map: float = option(
        0.0,
        "Share of the history budget for the chat map: decisions, errors, names and numbers that no longer"
        " stand in the prompt. 0: off.",
        low=0,
        high=0.5,
    )
    incremental: bool = option(
        False,
        "Keep the last turns whole and compile all older ones into a rolling summary of fixed size, so that"
        " prompts stay flat however long the session is.",
    )
    incremental_turns: int = option(
        6, "How many turns stay whole with --gardener-incremental.", low=1, high=1_000
    )
    store: str = option(
        "",
        "Directory of the archive. Empty: .aider.gardener in the repository, else a user-level directory.",
    )
    embedder: str = option(
        "minilm",
        "minilm: recall by meaning too, with a small model that comes with the installation and runs on this"
        " machine. none: by words alone.",
        choices=("minilm", "none"),
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
    if choices and value not in choices:
        raise UsageError(f"{field.name} must be one of {', '.join(choices)}, not {value!r}")
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if high and (not is_number or not low <= value <= high):
        raise UsageError(f"{field.name} must be a number from {low:g} to {high:g}, not {value!r}")


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
