"""The --gardener flags, made from the settings, so that flags, variables and docs cannot drift; and where a
setting came from: the user, or a file of the repository, which a stranger may have written.

aider reads the `.env` and `.aider.conf.yml` of a repository as if its user had written them. What reaches out
of the repository is taken from there only after the user has agreed, once for the repository and the values.
Nothing is traced for that: aider's own parser is asked once more, without the repository's files, and what
comes out otherwise is the repository's.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import dataclasses
import hashlib
import json
import os
import re
import sys
from argparse import Namespace
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from io import StringIO
from pathlib import Path
from typing import Any

from aider_gardener.adapters.aider.coder import HostIO, Terminal
from aider_gardener.errors import UsageError
from aider_gardener.settings import ASKED, RETIRED, SWITCH, TOLD, Settings, parse, variable

RETIRED_GIVEN = "retired_gardener_settings"
ASKED_FOR, TOLD_OF = (
    [each.name for each in dataclasses.fields(Settings) if each.metadata["from_repository"] == kind]
    for kind in (ASKED, TOLD)
)
HARMLESS = {"embedder": {"use", "none"}, "retention": {"off"}, "llm": {"", "fallback"}}
STEERING = {
    "embedder": re.compile(r"(?i).*(?:_API_BASE|_BASE_URL|_ENDPOINT|_PROXY)"),
    "store_key": re.compile(r"AIDER_GARDENER_KEY|(?:PYTHON_)?KEYRING_\w+|DBUS_SESSION_BUS_ADDRESS"),
}
"""Variables that decide where another package's embedder leads, should it ask a server, and what an archive's
key is. Nobody but us reads the latter: the user's are put back."""

QUESTION = "Let this repository's files set this for the gardener?"
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
        names = [flag(row.name)]
        if word := row.metadata["switch"]:
            # aider gives what its files and variables say as the last of these names.
            names.insert(0, flag(row.name, "--no-gardener-"))
            own |= {"action": Switch, "nargs": "?", "const": word, "dest": f"gardener_{row.name}"}
            own["env_var"] = variable(row.name)
        group.add_argument(*names, **own)
    for name in RETIRED:
        names = [flag(name, "--no-gardener-"), flag(name)]
        own = {"action": "append", "nargs": "?", "const": name, "type": lambda _text, name=name: name}
        own |= {"dest": RETIRED_GIVEN, "env_var": variable(name), "help": argparse.SUPPRESS}
        group.add_argument(*names, **own)


def retired_lines(args: object) -> list[str]:
    """What the user is told of the retired settings that were given, a line each."""
    names = sorted(set(getattr(args, RETIRED_GIVEN, None) or ()))
    return [f"{flag(name)} is no longer a setting: {RETIRED[name]}" for name in names]


class Switch(argparse.Action):
    """A flag that may be just switched on or off, or have a value behind it. A file that stands behind it is
    none: it belongs to the chat, as behind any other switch."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        if isinstance(values, str) and values and os.path.exists(values):
            namespace.file = [*(getattr(namespace, "file", None) or []), values]
            values = self.const
        is_off = (option_string or "").startswith("--no-")
        if is_off and values != self.const:
            parser.error(f"argument {option_string}: expected no value")
        setattr(namespace, self.dest, type(self.const)() if is_off else values)


def flag(name: str, prefix: str = "--gardener-") -> str:
    """The flag of a setting."""
    return prefix + name.replace("_", "-")


def _converter(field: dataclasses.Field[Any]) -> Callable[[str], Any]:
    """Turns the text of a flag into its value, with argparse's own kind of error."""

    def convert(text: str) -> Any:
        try:
            return parse(field, text, flag(field.name))
        except UsageError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return convert


def name_both(parser: argparse.ArgumentParser) -> None:
    """Let --version tell the gardener's version too; aider's stays the last word."""
    try:
        ours = version("aider-gardener")
    except PackageNotFoundError:  # run from a folder that is not installed
        return
    for action in parser._actions:  # reason: argparse has no other way to one of its actions
        if isinstance(action, argparse._VersionAction) and action.version:
            action.version = f"aider-gardener {ours}, {action.version.replace('%(prog)s', 'aider')}"


def settings_given(
    args: Namespace, instead: Mapping[str, str | None], variables: Mapping[str, str] = os.environ
) -> Settings:
    """The settings of aider's command line and the variables. `instead` are the values of some of them that
    are the user's own; None: nothing. Raises UsageError."""
    prefix = "gardener_"
    given = {
        name.removeprefix(prefix): value for name, value in vars(args).items() if name.startswith(prefix)
    }
    environ = {name: value for name, value in variables.items() if name not in map(variable, RETIRED)}
    switched: bool | None = getattr(args, "gardener", None)
    if switched is not None:
        environ[SWITCH] = "true" if switched else "false"
    for name, own in instead.items():
        given.pop(name, None)
        environ.pop(variable(name), None)
        if own is not None:
            environ[variable(name)] = own
    return Settings.from_env(environ, **given)


# Where a setting came from


def _user_directory() -> Path:
    from aider_gardener.archive.store.location import user_directory  # only when an aider starts

    return user_directory()


@dataclass
class Origins:
    """What was known before aider read any file, and its parser, which has read the command line since."""

    parser: Any
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    home: Path = field(default_factory=lambda: Path(os.path.expanduser("~")))
    user: Path = field(default_factory=_user_directory)
    answers: dict[str, bool] = field(default_factory=dict)

    def settings(self, io: HostIO, root: Path, args: Namespace) -> Settings:
        """The settings of a chat: of what the repository's files give only what they may. Raises
        UsageError."""
        own, environ = self._without_files_of(root)
        found = settings_given(args, {})
        if found.enabled and (instead := self._instead(io, root, args, own, environ)):
            found = settings_given(args, instead)
        users = settings_given(own, {}, environ)
        changed = [name for name in TOLD_OF if getattr(found, name) != getattr(users, name)]
        what = _shown({name: str(getattr(found, name)) for name in changed})
        if what and not self.answers.setdefault(what, False):
            self.answers[what] = True
            Terminal(io).tool_warning(TAKEN.format(what=what))
        return found

    def _instead(
        self, io: HostIO, root: Path, args: Namespace, own: Namespace, environ: Mapping[str, str]
    ) -> dict[str, str | None]:
        """What the user gives in place of what the repository's files set and may not, by setting; None:
        nothing, or something that these files lead elsewhere."""
        texts = [text for text in vars(own).values() if isinstance(text, str)]
        moved = {n: v for n, v in os.environ.items() if environ.get(n) != v and v not in texts}
        given: dict[str, str] = {}
        for name in ASKED_FOR:
            value = _value(name, args, os.environ)
            if led := _leading(name, value, moved):
                given[name] = f"{value} with {led}"
            elif value != _value(name, own, environ) and not _is_harmless(name, value):
                given[name] = str(value)
        if not given or self._agreed(io, root, given, ask=_can_ask(io, args)):
            return {}
        for variable_name in filter(STEERING["store_key"].fullmatch, moved):
            os.environ.pop(variable_name)
            if variable_name in environ:
                os.environ[variable_name] = environ[variable_name]
        users = {name: _value(name, own, environ) for name in given}
        is_led = {"embedder": bool(_leading("embedder", users.get("embedder"), moved))}
        return {name: None if is_led.get(name) else value for name, value in users.items()}

    def _without_files_of(self, root: Path) -> tuple[Namespace, dict[str, str]]:
        """What aider's command line comes to without the files of a repository, and the variables then."""
        environ = dict(self.environ)
        for file in (self.home / ".aider" / "oauth-keys.env", self.home / ".env"):
            _load(file, environ)
        args = self._parsed(root, environ)
        if args.env_file and not inside(Path(args.env_file), root):
            _load(Path(args.env_file), environ)
            args = self._parsed(root, environ)
        pairs = (pair.partition("=") for pair in args.set_env or ())
        return args, environ | {name.strip(): value.strip() for name, _, value in pairs}

    def _parsed(self, root: Path, environ: Mapping[str, str]) -> Namespace:
        """What aider's parser makes of its command line with these variables and the user's own files."""
        opened, home_file = self.parser._config_file_open_func, self.home / ".aider.conf.yml"

        def open_own(path: str) -> Any:
            is_own = Path(path) == home_file or not inside(Path(path), root)
            return opened(path) if is_own else StringIO("{}")

        def refuse(message: str) -> None:
            raise UsageError(message)

        words = self.parser.get_source_to_settings_dict().get("command_line", {}).get("", (None, []))[1]
        parser = copy.copy(self.parser)  # reason: configargparse has no other way to leave files out
        parser._default_config_files, parser._config_file_open_func = [str(home_file)], open_own
        parser.error = refuse
        args: Namespace = parser.parse_known_args([*words], env_vars=environ)[0]
        return args

    def _agreed(self, io: HostIO, root: Path, given: Mapping[str, str], *, ask: bool) -> bool:
        """Whether the user lets the repository set this: as said before, or as asked now; says so if not."""
        text = json.dumps([os.path.realpath(root), sorted(given.items())])
        key = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        file = self.user / "agreed" / key
        if key in self.answers or file.exists():
            return self.answers.setdefault(key, True)
        what, shown = _shown(given), Terminal(io)
        said = ask and shown.confirm_ask(QUESTION, default="n", subject=what, explicit_yes_required=True)
        if said:
            with contextlib.suppress(OSError):  # it is asked again next time
                file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                file.touch(mode=0o600)
        else:
            shown.tool_warning(NOT_TAKEN.format(what=what))
        self.answers[key] = said
        return said


def _value(name: str, args: Namespace, environ: Mapping[str, str]) -> str | None:
    """What a setting comes to, as `settings_of` of `link` reads it, with the home of these variables; None
    where nothing is given."""
    given = getattr(args, f"gardener_{name}", None)
    value = environ.get(variable(name)) if given is None else str(given)
    if value is None or name not in ("store", "store_key"):
        return value if value is None else value.strip()
    home = environ.get("USERPROFILE" if os.name == "nt" else "HOME", "~")
    return re.sub(r"^(file:|)~(?=[/\\]|$)", lambda found: found[1] + home, value.strip())


def _shown(given: Mapping[str, str]) -> str:
    """Settings and what they are set to, for people."""
    return ", ".join(f"{name}={value[:SHOWN_CHARS]!r}" for name, value in sorted(given.items()))


def _is_harmless(name: str, value: str | None) -> bool:
    """Whether this value of a setting reaches nowhere."""
    return value is None or value in HARMLESS.get(name, ())


def _leading(name: str, value: str | None, moved: Mapping[str, str]) -> str:
    """Those of some variables that may lead the embedder elsewhere, with their values, or give another key;
    "" for none."""
    kind = (value or "").partition(":")[0]
    if name == "store_key" and kind in ("env", "keyring"):
        return " ".join(sorted(filter(STEERING[name].fullmatch, moved)))
    if name != "embedder" or _is_harmless(name, value):
        return ""
    found = ((each, text) for each, text in moved.items() if STEERING[name].fullmatch(each))
    return " ".join(sorted(f"{each}={text}" for each, text in found))


def _load(file: Path, environ: dict[str, str]) -> None:
    """Add the variables of a file of the user's, with names in them resolved by the user's own, whatever a
    repository has set since."""
    from dotenv import dotenv_values
    from dotenv.variables import parse_variables

    with contextlib.suppress(OSError, ValueError):  # aider goes on without it too
        for name, text in dotenv_values(file, interpolate=False).items():
            if text is not None:
                environ[name] = "".join(part.resolve(environ) for part in parse_variables(text))


def _can_ask(io: HostIO, args: Namespace) -> bool:
    """Whether somebody is there to answer."""
    has_message = bool(getattr(args, "message", None) or getattr(args, "message_file", None))
    is_there = bool(getattr(io, "prompt_session", None) or (sys.stdin and sys.stdin.isatty()))
    return io.yes is None and not has_message and is_there


def inside(path: Path, root: Path) -> bool:
    """Whether a file lies in the repository or the working directory, links followed."""
    real = Path(os.path.realpath(path))
    return any(real.is_relative_to(os.path.realpath(place)) for place in (root, Path.cwd()))
