"""All settings: one frozen object. Each field says its meaning, unit, default and where it can be set.

A field `name` is the flag `--gardener-name` of `aider-gardener` and the variable `AIDER_GARDENER_NAME`;
`enabled` is `--gardener` / `--no-gardener` and `AIDER_GARDENER`.

A preset sets several that belong together; a setting that is given wins over it.

"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aider_gardener.errors import UsageError
from aider_gardener.messages import ContentClass

DEFAULT = "default"

PRESETS: Mapping[str, Mapping[str, Any]] = {
    "gentle": {
        "history_tokens": 16_000,
        "low_mark": 0.7,
        "keep_turns": 3,
        "throttle_tokens": 8_000,
    },
    DEFAULT: {},
    # Starts at 20,000 tokens, then keeps the last four turns
    # whole and at most 80 characters of each older text.
    "aggressive": {
        "history_tokens": 20_000,
        "low_mark": 0.05,
        "keep_turns": 4,
        "older_chars": 80,
    },
}
"""What each preset sets; every other setting keeps its default."""

ENV_PREFIX = "AIDER_GARDENER_"
TRUE_WORDS = frozenset({"1", "true", "yes", "on"})
FALSE_WORDS = frozenset({"0", "false", "no", "off", ""})

ANY_CLASS = "all"
TERMS = ("context_ttl", "summarise_after")
"""Settings that say turns by class."""
SHORT_NOTE = "note"
"""What `resume` is when it is just switched on."""

ON_A_SERVER = (
    "store must be a directory: a chat is kept on this machine first; `gardener store share` and"
    " `gardener store copy --to` bring it to a server"
)


def option(
    default: Any,
    help_text: str,
    *,
    choices: tuple[str, ...] = (),
    low: float = 0,
    high: float = 0,
    reaches_out: bool = False,
    switch: str = "",
) -> Any:
    """A settings field with its documentation and its legal values (`low`..`high` for numbers).

    `switch` is what a text stands for that may just be switched on, "" being off. `reaches_out`: it
    decides what is written, sent or deleted elsewhere, so that a host takes it from a repository's files only
    if its user agrees.
    """
    metadata = {
        "help": help_text, "choices": choices, "low": low, "high": high, "reaches_out": reaches_out,
        "switch": switch,
    }  # fmt: skip
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
    preset: str = option(
        "default",
        "Settings under one name; a setting that is given wins over it. gentle: keeps more, and longer."
        " aggressive: from 20,000 tokens of history on, the last 4 turns and 80 characters of what is older.",
        choices=tuple(PRESETS),
    )
    history_tokens: int = option(
        0,
        "Tokens of the past in a prompt above which it is compacted. 0: aider's --max-chat-history-tokens if"
        " given, else the model's limit in aider, or more where the price of tokens makes it worth.",
        low=0,
        high=100_000_000,
    )
    low_mark: float = option(
        0.4,
        "Share of that limit that a compaction goes down to.",
        low=0.05,
        high=0.95,
    )
    recall_tokens: int = option(
        5_000,
        "Most tokens that recalled text may use in one prompt, beside the history: a prompt that asks for the"
        " past may use all of it, an order a part; never more than a sixteenth of the window. 0: no recall.",
        low=0,
        high=1_000_000,
    )
    recall_threshold: float = option(
        0.2, "Least relevance, 0 to 1, of what is recalled into a prompt unasked.", low=0, high=1
    )
    recall_sessions: bool = option(
        False,
        "Let recall bring in passages of older sessions of the project unasked too, with lower weight. What"
        " was said to a local model never goes to a remote one that way.",
    )
    resume: str = option(
        "",
        "Without a value (or true): begin a chat with a short note on the last one in this project: prompts"
        " and their results, files edited, open errors, pinned entries. With an id of gardener sessions, or"
        " its beginning, or last: go on with that chat.",
        switch=SHORT_NOTE,
    )
    ask_for_originals: bool = option(
        False,
        "Let the model ask for a whole original: a line of its reply that names an id is answered with it.",
    )
    throttle_tokens: int = option(
        0,
        "Most tokens of one command's output, lint report or web page that enter the chat whole; a longer"
        " one enters compressed, the whole goes to the archive. 0: what 70 % of the window have room for.",
        low=0,
        high=100_000_000,
    )
    keep_turns: int = option(
        0,
        "The last so many turns stay whole as long as the prompt can be sent. 0: the last exchange.",
        low=0,
        high=10_000,
    )
    older_chars: int = option(
        0,
        "Once a plan is made, it shows at most so many characters of each text older than the turns kept."
        " 0: whatever the budget allows.",
        low=0,
        high=10_000,
    )
    context_ttl: str = option(
        "",
        "Turns after which a line of an entry is enough, by class, e.g. log=4,structured=10,all=30 (all"
        " leaves out what you typed). What is due goes with the next plan. Empty: never by age alone.",
    )
    summarise_after: str = option(
        "",
        "Turns after which an entry's compressed form is enough, by class, written like context_ttl."
        " Empty: never by age alone.",
    )
    rules_share: float = option(
        0.05,
        "Share of the history limit for the rules that you set in typed words (don't, never, must, always,"
        " use X not Y): they stay in the prompt when their messages no longer do. 0: off.",
        low=0,
        high=0.5,
    )
    chat_map: float = option(
        0.1,
        "Share of the history limit for the chat map: decisions, errors, names and numbers that no longer"
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
        reaches_out=True,
    )
    embedder: str = option(
        "use",
        "use: recall by meaning too, with a multilingual model that comes with the installation and runs on"
        " this machine. none: by words alone. minilm: with an English model, of the extra of this name."
        " fastembed:MODEL: with a model of fastembed's registry that is on this machine."
        " litellm:MODEL: with a provider's model through litellm, which sends every passage (secrets taken"
        " out) and every question over the network.",
        choices=("use", "none", "minilm", "fastembed:MODEL", "litellm:MODEL"),
        reaches_out=True,
    )
    order: str = option(
        "aider",
        "aider: the parts of a prompt stand as aider puts them. stable: files and map that have not changed"
        " for a while stand before the history, each file in a message of its own, what moves behind it, so"
        " that more of a prompt comes from the provider's cache.",
        choices=("aider", "stable"),
    )
    map_refresh: str = option(
        "mentions",
        "mentions: once some of the history is compacted, or with order stable, aider's repo map rests: it"
        " stays until it lacks a file or definition that you or the model mentioned, or is no longer true."
        " cold: only where it is no longer true or the provider's cache is lost anyway. aider: it is made for"
        " each prompt. Another --map-refresh than auto, aider's own option, is left alone.",
        choices=("mentions", "cold", "aider"),
    )
    commit_context: str = option(
        "full",
        "full: aider's weak model writes commit messages from the whole current messages. short: from their"
        " compressed forms and what you typed.",
        choices=("full", "short"),
    )
    retention: str = option(
        "off",
        "off: nothing leaves the archive by itself. prune: once a session what was never used and has lost"
        " its worth, or was not used for 30 days, is deleted for good; never what is pinned or of a live"
        " session.",
        choices=("off", "prune"),
        reaches_out=True,
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
        reaches_out=True,
    )
    llm_fallback: bool = option(
        False, "Above 95 % of the window, when compressed forms no longer help, let aider's LLM summarise."
    )

    status_line: bool = option(
        False, "After each reply, one line: how full the window is and how often the history was compacted."
    )
    report: bool = option(
        False, "At the end, one line: tokens sent and not sent, money saved, compactions, time taken."
    )
    archive_index: bool = option(
        False,
        "Keep the index of the project's sessions, CONTEXT_ARCHIVE.md beside the archive, up to date: at the"
        " end of a chat, after each 30,000 tokens of it, and at its start where a session is missing."
        " A line tells of new observations.",
    )
    tasks_file: str = option(
        "",
        "The list of tasks that /gardener tasks and gardener compress-context move done ones out of; a path"
        " that is not absolute begins in the repository. Empty: TASKS.md and TODO.md in its root.",
        reaches_out=True,
    )
    refine: bool = option(
        False,
        "Between turns, let a model shorten compressed forms further: one call at a time, one a minute, taken"
        " only if nothing was lost. Costs tokens.",
        reaches_out=True,
    )
    refine_model: str = option("", "The model that refines. Empty: aider's weak model.", reaches_out=True)

    given: dataclasses.InitVar[frozenset[str] | None] = None
    """Names of the settings that were given; None: those that differ from their defaults."""

    def __post_init__(self, given: frozenset[str] | None) -> None:
        if given is None:
            given = frozenset(f.name for f in dataclasses.fields(self) if getattr(self, f.name) != f.default)
        for field in dataclasses.fields(self):
            if field.metadata["switch"] and isinstance(getattr(self, field.name), bool):
                object.__setattr__(self, field.name, field.metadata["switch"] * getattr(self, field.name))
        for name, value in PRESETS.get(self.preset, {}).items():
            if name not in given:
                object.__setattr__(self, name, value)
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
        return cls(**values, given=frozenset(values))

    def terms(self) -> Terms:
        """When entries are due by their class. Raises UsageError for terms that cannot be read."""
        return Terms(
            parse_terms(self.context_ttl, "context_ttl"),
            parse_terms(self.summarise_after, "summarise_after"),
        )

    @property
    def store_path(self) -> Path | None:
        return Path(self.store).expanduser() if self.store else None

    def tasks_path(self, project: str) -> Path | None:
        """The list of tasks that is named; None: those in the root of the repository."""
        return Path(project) / Path(self.tasks_file).expanduser() if self.tasks_file else None


def variable(field_name: str) -> str:
    """The environment variable of a field."""
    return "AIDER_GARDENER" if field_name == "enabled" else ENV_PREFIX + field_name.upper()


def check_field(field: dataclasses.Field[Any], value: Any) -> None:
    """Raise UsageError unless `value` is legal for the field."""
    choices, low, high = (field.metadata[key] for key in ("choices", "low", "high"))
    if choices and not any(is_choice(value, choice) for choice in choices):
        raise UsageError(f"{field.name} must be one of {', '.join(filter(None, choices))}, not {value!r}")
    if field.name in TERMS:
        parse_terms(value, field.name)
    if field.name == "store" and "://" in value:
        raise UsageError(ON_A_SERVER)
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
    if field.metadata["switch"] and text.strip().lower() in TRUE_WORDS | FALSE_WORDS:
        return field.metadata["switch"] if text.strip().lower() in TRUE_WORDS else ""
    try:
        if kind is bool:
            word = text.strip().lower()
            if word not in TRUE_WORDS | FALSE_WORDS:
                raise ValueError(text)
            return word in TRUE_WORDS
        return kind(text.strip())
    except ValueError:
        raise UsageError(f"{name}={text!r} is not a {kind.__name__}; correct or unset it") from None


@dataclass(frozen=True)
class Terms:
    """After how many turns an entry is due: by class, and for single entries by their id (these win).

    `context_ttl`: then only a line of it is worth keeping. `summarise_after`: then its compressed form
    is enough.
    """

    context_ttl: Mapping[str, int] = dataclasses.field(default_factory=dict)
    summarise_after: Mapping[str, int] = dataclasses.field(default_factory=dict)
    own_ttl: Mapping[str, int] = dataclasses.field(default_factory=dict)
    own_summarise: Mapping[str, int] = dataclasses.field(default_factory=dict)

    def __bool__(self) -> bool:
        return any((self.context_ttl, self.summarise_after, self.own_ttl, self.own_summarise))


def parse_terms(text: str, name: str) -> dict[str, int]:
    """`log=4,structured=10,all=30` as turns by class. Raises UsageError, naming the setting."""
    found: dict[str, int] = {}
    classes = {cls.value for cls in ContentClass} | {ANY_CLASS}
    for item in filter(None, (part.strip() for part in text.split(","))):
        cls, _equals, turns = (part.strip() for part in item.partition("="))
        if cls not in classes or not turns.isdecimal() or not 1 <= int(turns) <= 100_000:
            raise UsageError(f"{name}: {item!r} is not CLASS=TURNS; classes are {', '.join(sorted(classes))}")
        found[cls] = int(turns)
    return found
