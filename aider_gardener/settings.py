"""All settings: one frozen object. Each field says its meaning, unit, default and where it can be set.

A field `name` is the flag `--gardener-name` of `aider-gardener` and the variable `AIDER_GARDENER_NAME`.
`--no-gardener` and `AIDER_GARDENER=false` are short for the mode off. A preset sets several that belong
together; a setting that is given wins over it.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aider_gardener import files
from aider_gardener.errors import UsageError
from aider_gardener.messages import ContentClass, Level

DEFAULT, OFF = "default", "off"
OWN, ANNOUNCED = "own", "told"
NOTES, FULL = "notes", "full"

PRESETS: Mapping[str, Mapping[str, object]] = {
    DEFAULT: {},
    "aggressive": {"history_tokens": 20_000, "keep_turns": 4},
}
"""What each preset sets; every other setting keeps its default."""
LOW_MARKS = {DEFAULT: 0.4, "aggressive": 0.05}

SWITCH = "AIDER_GARDENER"
TRUE_WORDS = frozenset({"1", "true", "yes", "on"})
FALSE_WORDS = frozenset({"0", "false", "no", "off", ""})

ANY_CLASS = "all"
WHOLE_TURNS = 6
"""How many turns `incremental` keeps whole when it is just switched on."""
SIZE = re.compile(r"(\d{1,7}) ?([MG])B", re.IGNORECASE)
OPEN_CHOICES = {"NAME": re.compile(r"[\w.-]+"), "file:PATH": re.compile(r"file:.+", re.DOTALL), "SIZE": SIZE}
"""Choices that stand for many values."""
SHORT_NOTE = "note"
"""What `resume` is when it is just switched on."""

ON_A_SERVER = (
    "store must be a directory: a chat is kept on this machine first; `gardener store share` and"
    " `gardener store copy --to` bring it to a server"
)


def option(
    default: object,
    help_text: str,
    *,
    choices: tuple[str, ...] = (),
    most: int = 0,
    from_repository: str = "",
    switch: str | int = "",
) -> Any:
    """A settings field with its documentation and its legal values (0 to `most` for numbers).

    `switch` is what stands for a value that may just be switched on, "" or 0 being off. `from_repository` is
    what a host does about a value that a repository's files give. OWN: it decides what is written, sent or
    deleted elsewhere, and is not taken. ANNOUNCED: it keeps the chat out of the archive or brings older chats
    into prompts, and a line says so. "": it is taken.
    """
    about = {
        "help": help_text,
        "choices": choices,
        "most": most,
        "from_repository": from_repository,
        "switch": switch,
    }
    return dataclasses.field(default=default, metadata=about)


@dataclass(frozen=True)
class Settings:
    """How the gardener behaves. Build it with `from_env`, or by keywords; it checks itself."""

    mode: str = option(
        "garden",
        "garden: archive, compact, recall. observe: archive and report, change nothing in any prompt. off:"
        " stock aider, as --no-gardener and AIDER_GARDENER=false.",
        choices=("garden", "observe", OFF),
        from_repository=ANNOUNCED,
    )
    preset: str = option(
        DEFAULT,
        "Settings under one name; a setting that is given wins over it. aggressive: room is made above 20,000"
        " tokens of history; the last 4 turns and 80 characters of what is older stay.",
        choices=tuple(PRESETS),
    )
    history_tokens: int = option(
        0,
        "Tokens of the past in a prompt above which it is compacted. 0: aider's --max-chat-history-tokens if"
        " given, else the model's limit in aider, or more where the price of tokens makes it worth.",
        most=100_000_000,
    )
    recall_tokens: int = option(
        3_200,
        "Most tokens that recalled text may use in one prompt, beside the history: a question may use all of"
        " it, an order a tenth; never more than a sixteenth of the window. 0: no recall.",
        most=1_000_000,
    )
    recall_sessions: bool = option(
        False,
        "Let recall bring in passages of older sessions of the project unasked too, where one of them clearly"
        " fits. What was said to a local model never goes to a remote one that way.",
        from_repository=ANNOUNCED,
    )
    resume: str = option(
        "",
        "Without a value (or true): begin a chat with a short note on the last one in this project. With an"
        " id of gardener sessions, or its beginning, or last: go on with that chat.",
        switch=SHORT_NOTE,
        from_repository=ANNOUNCED,
    )
    ask_for_originals: bool = option(
        False,
        "Let the model ask for a whole original: a line of its reply that names an id is answered with it.",
        from_repository=ANNOUNCED,
    )
    throttle_tokens: int = option(
        0,
        "Most tokens of one command's output, lint report or web page that enter the chat whole; a longer"
        " one enters compressed, the whole goes to the archive. 0: what 70 % of the window have room for.",
        most=100_000_000,
    )
    keep_turns: int = option(
        0,
        "The last so many turns stay whole as long as the prompt can be sent. 0: the last exchange.",
        most=10_000,
    )
    ttl: str = option(
        "",
        "Turns after which a short form of an entry is enough, by class: log=4 (a line of it after 4 turns),"
        " structured=3/10 (its compressed form after 3, a line after 10), code=5/ (the compressed form only),"
        " all=30 (all but what you typed). What is due goes with the next plan. Empty: never by age alone.",
    )
    incremental: int = option(
        0,
        "Keep the last so many turns whole (without a value: 6) and compile all older ones into a rolling"
        " summary of fixed size, so that prompts stay flat however long the session is. 0: off.",
        most=1_000,
        switch=WHOLE_TURNS,
    )
    store: str = option(
        "",
        "Directory of the archive; a relative one is in the project's, wherever you work in it. Empty: "
        ".aider.gardener in the repository, else a user-level directory.",
        from_repository=OWN,
    )
    store_key: str = option(
        "",
        "Where the key of an encrypted archive is: keyring (the system's), env (the variable"
        " AIDER_GARDENER_KEY) or file:PATH (a file that only its owner may read). New archives are encrypted"
        " then; gardener store encrypt encrypts one that exists. Empty: not encrypted.",
        choices=("", "keyring", "env", "file:PATH"),
        from_repository=OWN,
    )
    retention: str = option(
        OFF,
        "off: nothing leaves the archive by itself. prune: once a session what was never used and has lost"
        " its worth, or was not used for 30 days, is deleted for good; never what is pinned or of a live"
        " session. A size such as 500MB or 2GB: that, and the oldest of the least important where the archive"
        " is larger.",
        choices=(OFF, "prune", "SIZE"),
        from_repository=OWN,
    )
    embedder: str = option(
        "use",
        "use: recall by meaning too, with a multilingual model that comes with the installation and runs on"
        " this machine. none: by words alone. NAME: with the embedder of that name of an installed package.",
        choices=("use", "none", "NAME"),
        from_repository=OWN,
    )
    files: str = option(
        "auto",
        "append: each file of the chat is sent once, whole, and after that what changed of it, as diffs, so"
        " that most of a prompt comes from the provider's cache. aider: all files are sent anew behind the"
        " history, as aider does. auto: append from where aider would rewrite its history on, with models"
        " that have a price for cached tokens and are not small.",
        choices=("auto", "append", "aider"),
    )
    status_line: str = option(
        NOTES,
        "notes: a dim line where something is recalled or room is made. full: besides, after each reply how"
        " full the window is and how often room was made, and at the end tokens sent and not sent, money"
        " saved, time taken. Empty, or off: none of these.",
        choices=("", NOTES, FULL),
        switch=FULL,
    )
    llm: str = option(
        "",
        "What a model may be asked for, which costs tokens. fallback: above 95 % of the window, when short"
        " forms no longer help, aider's summary. refine: between turns the weak model shortens compressed"
        " forms further, one call a minute, taken only if nothing was lost. both. Empty: nothing.",
        choices=("", "fallback", "refine", "both"),
        from_repository=OWN,
    )

    given: dataclasses.InitVar[frozenset[str] | None] = None
    """Names of the settings that were given; None: those that differ from their defaults."""

    def __post_init__(self, given: frozenset[str] | None) -> None:
        fields = dataclasses.fields(self)
        if given is None:
            given = frozenset(field.name for field in fields if getattr(self, field.name) != field.default)
        values = {name: value for name, value in PRESETS.get(self.preset, {}).items() if name not in given}
        for field in fields:
            value = values.get(field.name, getattr(self, field.name))
            if field.metadata["switch"] and isinstance(value, bool):
                kind: type = type(field.default)
                value = field.metadata["switch"] if value else kind()
            check(field, value)
            object.__setattr__(self, field.name, value)

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None, **overrides: object) -> Settings:
        """Settings from `AIDER_GARDENER_*` variables; keyword arguments that are not None win. What is
        switched off is off, whatever mode a variable names.

        Raises UsageError, naming the variable, for a value that cannot be used.
        """
        environ = os.environ if environ is None else environ
        word = environ.get(SWITCH, "true").strip().lower()
        if word not in TRUE_WORDS | FALSE_WORDS:
            raise UsageError(f"{SWITCH}={environ[SWITCH]!r} is not true or false; correct or unset it")
        values: dict[str, Any] = {key: value for key, value in overrides.items() if value is not None}
        if word in FALSE_WORDS:
            values.setdefault("mode", OFF)
        for field in dataclasses.fields(cls):
            if field.name not in values and (name := variable(field.name)) in environ:
                values[field.name] = parse(field, environ[name], name)
        return cls(**values, given=frozenset(values))

    @property
    def enabled(self) -> bool:
        return self.mode != OFF

    @property
    def low_mark(self) -> float:
        """The share of the history's limit that a compaction goes down to."""
        return LOW_MARKS[self.preset]

    @property
    def older_chars(self) -> int:
        """Characters shown of each text older than the turns kept, once a plan is made; 0: as many as fit."""
        return 80 if self.preset == "aggressive" else 0

    @property
    def has_status(self) -> bool:
        return self.status_line == FULL

    @property
    def prunes(self) -> bool:
        return self.retention != OFF

    @property
    def store_limit(self) -> int:
        """Megabytes that the archive may take; 0: no limit."""
        size = SIZE.fullmatch(self.retention)
        return int(size[1]) * (1_000 if size[2].upper() == "G" else 1) if size else 0

    def terms(self) -> Terms:
        return parse_terms(self.ttl)

    @property
    def store_path(self) -> Path | None:
        return files.in_home(self.store) if self.store else None


def variable(field_name: str) -> str:
    return f"{SWITCH}_{field_name.upper()}"


def parse(field: dataclasses.Field[object], text: str, name: str) -> object:
    """The value that `text` means for the field; `name` is where it came from. Raises UsageError for one that
    cannot be used."""
    kind: type = type(field.default)
    word = text.strip().lower()
    switch = True if kind is bool else field.metadata["switch"]
    if switch and word in TRUE_WORDS | FALSE_WORDS and not (kind is int and word.isdecimal()):
        return switch if word in TRUE_WORDS else kind()
    if word == "false" and OFF in field.metadata["choices"]:  # what YAML reads in an unquoted off
        return OFF
    try:
        value = None if kind is bool else kind(text.strip())
    except ValueError:
        value = None
    if value is None:
        meant = {bool: "true or false", int: "a whole number"}.get(kind, "a number")
        raise UsageError(f"{name}={text!r} is not {meant}; correct or unset it")
    check(field, value, name)
    return value


def check(field: dataclasses.Field[object], value: Any, name: str = "") -> None:
    """Raise UsageError unless `value`, which came from `name`, is legal for the field."""
    name, choices, most = name or field.name, field.metadata["choices"], field.metadata["most"]
    if choices and not any(_is_choice(value, choice) for choice in choices):
        raise UsageError(f"{name} must be one of {', '.join(filter(None, choices))}, not {value!r}")
    if field.name == "ttl":
        parse_terms(value)
    if field.name == "store" and "://" in value:
        raise UsageError(ON_A_SERVER)
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if most and (not is_number or not 0 <= value <= most):
        raise UsageError(f"{name} must be a number from 0 to {most:g}, not {value!r}")


def _is_choice(value: object, choice: str) -> bool:
    form = OPEN_CHOICES.get(choice)
    return bool(form.fullmatch(value)) if form and isinstance(value, str) else bool(value == choice)


Terms = Mapping[tuple[str, Level], int]
"""After how many turns a line of an entry, or its compressed form, is enough: by class or the entry's id, and
the level; 0: never."""


def parse_terms(text: str) -> Terms:
    """`log=4,structured=3/10,code=5/,all=30` as turns by class. Raises UsageError."""
    terms: dict[tuple[str, Level], int] = {}
    classes = sorted({ANY_CLASS, *(cls.value for cls in ContentClass)})
    for item in filter(None, map(str.strip, text.split(","))):
        cls, _, turns = map(str.strip, item.partition("="))
        short, _, line = map(str.strip, turns.rpartition("/"))
        given = {level: n for level, n in ((Level.COMPRESSED, short), (Level.LINE, line)) if n}
        is_legal = all(number.isdecimal() and 1 <= int(number) <= 100_000 for number in given.values())
        if cls not in classes or not given or not is_legal:
            names = ", ".join(classes)
            raise UsageError(f"ttl: {item!r} is not CLASS=TURNS or CLASS=TURNS/TURNS; classes are {names}")
        terms |= {(cls, level): int(number) for level, number in given.items()}
    return terms
