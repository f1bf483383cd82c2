"""The --gardener flags, made from the settings, so that flags, variables and docs cannot drift; and where a
setting came from: the user, or a file of the repository, which a stranger may have written.

aider reads the `.env` and `.aider.conf.yml` of a repository as if its user had written them. What reaches out
of the repository is never taken from there: it comes from the command line, the environment as it was before
aider read any file, and the two files in the user's home. Nothing is traced for that: aider's own parser is
asked once more with those alone.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import dataclasses
import os
import re
from argparse import Namespace
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aider_gardener.adapters.aider.coder import Terminal
from aider_gardener.errors import UsageError
from aider_gardener.settings import ANNOUNCED, OFF, OWN, SWITCH, Settings, parse

USERS_OWN, ANNOUNCED_NAMES = (
    [each.name for each in dataclasses.fields(Settings) if each.metadata["from_repository"] == kind]
    for kind in (OWN, ANNOUNCED)
)
SWITCHED_OFF = {"embedder": "none", "retention": "off", "llm": ""}
"""Of what is the user's own, what anybody may say: nothing is sent, deleted or asked for then."""
KEYS = re.compile(r"AIDER_GARDENER_KEY|(?:PYTHON_)?KEYRING_\w+|DBUS_SESSION_BUS_ADDRESS")
"""Variables that decide what an archive's key is. Nobody but us reads them: the user's are put back."""
LEADS = re.compile(r"(?i).*(?:_API_BASE|_BASE_URL|_ENDPOINT|_PROXY)")
"""Variables that decide where another package's embedder leads, should it ask a server."""

NOT_TAKEN = (
    "aider-gardener: not taken from this repository's files: {what}; give it on the command line"
    " or in your own ~/.env or ~/.aider.conf.yml"
)
TAKEN = "aider-gardener: set by this repository's files: {what}"
SHOWN_CHARS = 80


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add a group with one flag for each setting. A flag that is not given is None."""
    group = parser.add_argument_group("Gardener settings")
    group.add_argument(
        "--gardener", action=argparse.BooleanOptionalAction, default=None, help="Use the gardener, or not."
    )
    for row in dataclasses.fields(Settings):
        default = f" (default: {row.default!r})" if row.default != "" else ""
        own: dict[str, Any] = {"help": (row.metadata["help"] + default).replace("%", "%%")}
        if isinstance(row.default, bool):
            group.add_argument(flag(row.name), action=argparse.BooleanOptionalAction, default=None, **own)
            continue
        choices = "{" + ",".join(row.metadata["choices"]) + "}"
        value = "N" if isinstance(row.default, int) else "VALUE"
        own |= {"metavar": choices if row.metadata["choices"] else value, "type": _converter(row)}
        if word := row.metadata["switch"]:
            off, to = flag(row.name, "--no-gardener-"), f"gardener_{row.name}"
            group.add_argument(off, dest=to, action="store_const", const=type(word)(), help=argparse.SUPPRESS)
            own |= {"action": Switch, "nargs": "?", "const": word, "help": f"{own['help']} {off}: off."}
        group.add_argument(flag(row.name), **own)


class Switch(argparse.Action):
    """A flag that may be just switched on, or have a value behind it. A file that stands behind it is none:
    it belongs to the chat, as behind any other switch. What was switched off stays so: aider puts what its
    files and variables say behind the command line."""

    def __call__(
        self, parser: object, namespace: Namespace, values: object, option_string: object = None
    ) -> None:
        if isinstance(values, str) and values and os.path.exists(values):
            namespace.file = [*(getattr(namespace, "file", None) or []), values]
            values = self.const
        if getattr(namespace, self.dest) != type(self.const)():
            setattr(namespace, self.dest, values)


def flag(name: str, prefix: str = "--gardener-") -> str:
    """The flag of a setting."""
    return prefix + name.replace("_", "-")


def _converter(field: dataclasses.Field[object]) -> Callable[[str], object]:
    """Turns the text of a flag into its value, with argparse's own kind of error."""

    def convert(text: str) -> object:
        try:
            return parse(field, text, flag(field.name))
        except UsageError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return convert


def settings_given(args: Namespace, environ: Mapping[str, str]) -> Settings:
    """The settings of aider's command line and the variables. Raises UsageError."""
    prefix = "gardener_"
    given = {
        name.removeprefix(prefix): value for name, value in vars(args).items() if name.startswith(prefix)
    }
    switched: bool | None = getattr(args, "gardener", None)
    if switched is not None:
        environ = {**environ, SWITCH: "true"}
        given |= {} if switched else {"mode": OFF}
    return Settings.from_env(environ, **given)


# Where a setting came from


def _user_directory() -> Path:
    from aider_gardener.archive.store.location import user_directory  # only when an aider starts

    return user_directory()


@dataclass
class Origins:
    """What was known before aider read any file, and its parser, which has read the command line since.
    `warned` is what the user was told of."""

    parser: Any
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    home: Path = field(default_factory=lambda: Path(os.path.expanduser("~")))
    user: Path = field(default_factory=_user_directory)
    warned: set[str] = field(default_factory=set)

    def settings(self, io: object, args: Namespace) -> Settings:
        """The settings of a chat, with the user's own in place of what the repository's files set and may
        not. Raises UsageError."""
        found = settings_given(args, os.environ)
        alone, environ = self._without_the_repository()
        users = settings_given(alone, environ)
        from_repository = {
            name: getattr(found, name)
            for name in ANNOUNCED_NAMES
            if getattr(found, name) != getattr(users, name)
        }
        self._warn_once(io, TAKEN, from_repository)
        if not found.enabled:
            return found
        own: dict[str, Any] = {name: _in_home(getattr(users, name), self.home) for name in USERS_OWN}
        theirs = {name: _in_home(getattr(found, name), Path(os.path.expanduser("~"))) for name in USERS_OWN}
        own |= {name: off for name, off in SWITCHED_OFF.items() if theirs[name] == off}
        refused = {name: value for name, value in theirs.items() if value != own[name]}
        command_line = [text for text in vars(alone).values() if isinstance(text, str)]
        moved = [n for n, v in os.environ.items() if environ.get(n) != v and v not in command_line]
        if own["store_key"] in ("env", "keyring") and (keys := [*filter(KEYS.fullmatch, moved)]):
            refused["store_key"] = f"{own['store_key']} with {' '.join(keys)}"
            for name in keys:
                del os.environ[name]
            os.environ.update((name, environ[name]) for name in keys if name in environ)
        if own["embedder"] not in ("use", "none") and (led := [*filter(LEADS.fullmatch, moved)]):
            where = " ".join(f"{name}={os.environ[name]}" for name in led)
            refused["embedder"], own["embedder"] = f"{own['embedder']} with {where}", "use"
        self._warn_once(io, NOT_TAKEN, refused)
        return dataclasses.replace(
            found, **own, given=frozenset(each.name for each in dataclasses.fields(found))
        )

    def _warn_once(self, io: object, line: str, values: Mapping[str, object]) -> None:
        """Tell the user of values, once."""
        what = ", ".join(f"{name}={str(value)[:SHOWN_CHARS]!r}" for name, value in sorted(values.items()))
        if what and what not in self.warned:
            self.warned.add(what)
            Terminal(io).tool_warning(line.format(what=what))

    def _without_the_repository(self) -> tuple[Namespace, Mapping[str, str]]:
        """What aider's command line comes to with the user's own variables and files alone, and the
        variables. Raises UsageError."""

        def refuse(message: str) -> None:
            raise UsageError(message)

        environ, config = _with_file(self.environ, self.home / ".env"), "{}"
        with contextlib.suppress(OSError, ValueError):  # aider goes on without it too
            config = (self.home / ".aider.conf.yml").read_text("utf-8") or config
        words = self.parser.get_source_to_settings_dict().get("command_line", {}).get("", (None, []))[1]
        parser = copy.copy(self.parser)
        parser.error = refuse
        args: Namespace = parser.parse_known_args([*words], config_file_contents=config, env_vars=environ)[0]
        pairs = (pair.partition("=") for pair in args.set_env or ())
        return args, environ | {name.strip(): value.strip() for name, _, value in pairs}


def _in_home(value: str, home: Path) -> str:
    """A value of a setting, with the home of its author where it is a path there."""
    return re.sub(r"^(file:|)~(?=[/\\]|$)", lambda found: f"{found[1]}{home}", value.strip())


def _with_file(environ: Mapping[str, str], file: Path) -> dict[str, str]:
    """Variables and those of a file of the user's, with names in it resolved by the user's own, whatever a
    repository has set since."""
    from dotenv import dotenv_values
    from dotenv.variables import parse_variables

    both = dict(environ)
    with contextlib.suppress(OSError, ValueError):  # aider goes on without it too
        for name, text in dotenv_values(file, interpolate=False).items():
            if text is not None:
                both[name] = "".join(part.resolve(both) for part in parse_variables(text))
    return both
