"""Where a setting came from: the user, or a file of the repository, which a stranger may have written.

aider reads the `.env` and `.aider.conf.yml` of a repository as if its user had written them. What reaches out
of the repository is taken from there only after the user has agreed, once for the repository and the values.
What cannot be shown to be the user's counts as the repository's.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aider_gardener.settings import Settings, variable

if TYPE_CHECKING:
    from aider_gardener.adapters.aider.coder import HostIO

REACHING = tuple(each for each in dataclasses.fields(Settings) if each.metadata["reaches_out"])
STEERING = (
    ("embedder", "litellm:", re.compile(r"(?i).*(?:_API_BASE|_BASE_URL|_ENDPOINT|_PROXY)")),
    ("embedder", "fastembed:", re.compile(r"FASTEMBED_CACHE_PATH")),
)
"""Variables that decide where what a setting names leads: setting, how its value begins, names."""

LED = "{value} with {names}"
HARMLESS = {"embedder": {"minilm", "use", "none"}, "retention": {"off"}, "llm": {"", "fallback"}}
CONFIG_BYTES = 1_000_000

QUESTION = "Let this repository's files set this for the gardener?"
NOT_TAKEN = (
    "aider-gardener: not taken from this repository's files: {what}; give it on the command line"
    " or in your own ~/.env or ~/.aider.conf.yml"
)
SHOWN_CHARS = 80


@dataclass
class Origins:
    """What was known before aider read any file, and its parser, which knows where each value came from."""

    parser: Any
    environ: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))
    home: Path = field(default_factory=lambda: Path(os.path.expanduser("~")))
    user: Path = field(default_factory=lambda: user_directory())
    answers: dict[str, bool] = field(default_factory=dict)

    def of_repository(self, root: Path, args: Any) -> dict[str, str]:
        """The settings that reach out and come from the repository, as texts by their names."""
        sources = self.parser.get_source_to_settings_dict()
        own = [str(word) for word in next(iter(sources.get("command_line", {}).values()), (None, []))[1]]
        from_files: set[str] = set()
        for source, found in sources.items():
            kind, _, place = source.partition("|")
            if kind != "config_file":
                continue
            if self._is_own_file(Path(place), root, own):
                own += [str(each) for _, value in found.values() for each in listed(value)]
            else:
                from_files |= {action.dest for action, _ in found.values() if action is not None}
        env_file = None if "env_file" in from_files else getattr(args, "env_file", None)
        variables = dict(self._foreign_variables(own, root, env_file))
        given: dict[str, str] = {}
        for each in REACHING:
            value, name = getattr(args, f"gardener_{each.name}", None), variable(each.name)
            if f"gardener_{each.name}" in from_files:
                given[each.name] = str(value)
            elif name in variables and (value is None or str(value) == variables[name].strip()):
                given[each.name] = variables[name]
        for setting, start, names in STEERING:
            value = getattr(args, f"gardener_{setting}", None) or os.environ.get(variable(setting), "")
            led = sorted(f"{name}={variables[name]}" for name in variables if names.fullmatch(name))
            if led and value.startswith(start):
                given[setting] = LED.format(value=value, names=" ".join(led))
        return {
            name: text for name, text in given.items() if text.strip().lower() not in HARMLESS.get(name, ())
        }

    def own_value(self, name: str, refused: str) -> str | None:
        """What the user gave for a setting before a file of the repository changed it; None: nothing.

        Nothing either if the repository changed where that leads.
        """
        own = self.environ.get(variable(name)) or self._of_home(name)
        return None if own is not None and refused.startswith(LED.format(value=own, names="")) else own

    def _of_home(self, name: str) -> str | None:
        """What the user's file in the home gives for a setting."""
        import yaml

        from aider_gardener.archive.store import files

        try:
            found = yaml.safe_load(files.read(self.home / ".aider.conf.yml", CONFIG_BYTES, follow=True))
            value = found.get("gardener-" + name.replace("_", "-"))
        except (OSError, ValueError, AttributeError, yaml.YAMLError):
            return None
        return None if value is None else str(value)

    def _is_own_file(self, path: Path, root: Path, words: list[str]) -> bool:
        """Whether a file of settings is the user's: in the home, or named by the command line and outside."""
        if path == self.home / ".aider.conf.yml":
            return True
        named = any(word == str(path) or word.endswith(f"={path}") for word in words)
        return named and not inside(path, root)

    def _foreign_variables(
        self, own: list[str], root: Path, env_file: str | None
    ) -> Iterator[tuple[str, str]]:
        """The variables that are not as they were at the start, and which nothing of the user's explains."""
        from dotenv import dotenv_values

        places = [self.home / ".env", self.home / ".aider" / "oauth-keys.env"]
        if env_file and env_file in own and not inside(Path(env_file), root):
            places.append(Path(env_file))
        explained = [dotenv_values(place) for place in places if place.is_file()]
        for name, value in os.environ.items():
            if self.environ.get(name) == value or any(found.get(name) == value for found in explained):
                continue
            if value in own or any(word.endswith(f"{name}={value}") for word in own):
                continue
            yield name, value

    def agreed(self, io: HostIO, root: Path, given: Mapping[str, str], *, ask: bool) -> bool:
        """Whether the user lets the repository set this: as said before, or as asked now; says so if not."""
        value = json.dumps([os.path.realpath(root), sorted(given.items())])
        name = hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
        if name not in self.answers:
            self.answers[name] = (self.user / "agreed" / name).exists() or self._asked(io, name, given, ask)
        return self.answers[name]

    def _asked(self, io: HostIO, name: str, given: Mapping[str, str], ask: bool) -> bool:
        what = ", ".join(f"{key}={value[:SHOWN_CHARS]!r}" for key, value in sorted(given.items()))
        if ask and io.confirm_ask(QUESTION, default="n", subject=what, explicit_yes_required=True):
            try:
                (self.user / "agreed").mkdir(mode=0o700, parents=True, exist_ok=True)
                (self.user / "agreed" / name).touch(mode=0o600)
            except OSError:  # it is asked again next time
                pass
            return True
        io.tool_warning(NOT_TAKEN.format(what=what))
        return False


def user_directory() -> Path:
    """The folder of this user's data, which is imported from the archive only when an aider starts."""
    from aider_gardener.archive.store.location import user_directory

    return user_directory()


def can_ask(io: HostIO, args: Any) -> bool:
    """Whether somebody is there to answer."""
    has_message = bool(getattr(args, "message", None) or getattr(args, "message_file", None))
    is_there = getattr(io, "prompt_session", None) is not None or (
        sys.stdin is not None and sys.stdin.isatty()
    )
    return io.yes is None and not has_message and is_there


def inside(path: Path, root: Path) -> bool:
    """Whether a file lies in the repository or the working directory, links followed."""
    real = Path(os.path.realpath(path))
    return any(real.is_relative_to(os.path.realpath(place)) for place in (root, Path.cwd()))


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
