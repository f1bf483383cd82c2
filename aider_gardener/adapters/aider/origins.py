"""Where a setting came from: the user, or a file of the repository, which a stranger may have written.

aider reads the `.env` and `.aider.conf.yml` of a repository as if its user had written them. What reaches out
of the repository is taken from there only after the user has agreed, once for the repository and the values.
Nothing is traced for that: aider's own parser is asked once more, without the repository's files, and what
comes out otherwise is the repository's.
"""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import hashlib
import json
import os
import re
import sys
from argparse import Namespace
from collections.abc import Mapping
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aider_gardener.errors import UsageError
from aider_gardener.settings import Settings, variable

if TYPE_CHECKING:
    from aider_gardener.adapters.aider.coder import HostIO

REACHING = tuple(each for each in dataclasses.fields(Settings) if each.metadata["reaches_out"])
STEERING = {
    "litellm": re.compile(r"(?i).*(?:_API_BASE|_BASE_URL|_ENDPOINT|_PROXY)"),
    "fastembed": re.compile(r"FASTEMBED_CACHE_PATH"),
}
"""Variables that decide where an embedder of this kind leads."""
HARMLESS = {"embedder": {"minilm", "use", "none"}, "retention": {"off"}, "llm": {"", "fallback"}}

QUESTION = "Let this repository's files set this for the gardener?"
NOT_TAKEN = (
    "aider-gardener: not taken from this repository's files: {what}; give it on the command line"
    " or in your own ~/.env or ~/.aider.conf.yml"
)
SHOWN_CHARS = 80


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

    def instead(self, io: HostIO, root: Path, args: Namespace) -> dict[str, str | None]:
        """What the user gives in place of what the repository's files set and may not, by setting; None:
        nothing, or something that these files lead elsewhere. Raises UsageError."""
        own, environ = self._without_files_of(root)
        texts = [text for text in vars(own).values() if isinstance(text, str)]
        moved = {n: v for n, v in os.environ.items() if environ.get(n) != v and v not in texts}
        given: dict[str, str] = {}
        for name in (each.name for each in REACHING):
            value = _value(name, args, os.environ)
            if led := _leading(value, moved):
                given[name] = f"{value} with {led}"
            elif value is not None and value != _value(name, own, environ):
                given |= {name: value} if value.lower() not in HARMLESS.get(name, ()) else {}
        if not given or self._agreed(io, root, given, ask=_can_ask(io, args)):
            return {}
        users = {name: _value(name, own, environ) for name in given}
        return {name: None if _leading(value, moved) else value for name, value in users.items()}

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
        what = ", ".join(f"{name}={value[:SHOWN_CHARS]!r}" for name, value in sorted(given.items()))
        said = ask and io.confirm_ask(QUESTION, default="n", subject=what, explicit_yes_required=True)
        if said:
            with contextlib.suppress(OSError):  # it is asked again next time
                file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                file.touch(mode=0o600)
        else:
            io.tool_warning(NOT_TAKEN.format(what=what))
        self.answers[key] = said
        return said


def _value(name: str, args: Namespace, environ: Mapping[str, str]) -> str | None:
    """What a setting comes to, as `settings_of` of `link` reads it; None where nothing is given."""
    given = getattr(args, f"gardener_{name}", None)
    value = environ.get(variable(name)) if given is None else str(given)
    return value if value is None else value.strip()


def _leading(value: str | None, moved: Mapping[str, str]) -> str:
    """Those of some variables, with their values, that decide where an embedder leads; "" for none."""
    names = STEERING.get((value or "").partition(":")[0])
    return " ".join(
        sorted(f"{name}={text}" for name, text in moved.items() if names and names.fullmatch(name))
    )


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
