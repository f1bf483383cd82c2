"""The --gardener flags, made from the settings, so that flags, variables and docs cannot drift."""

from __future__ import annotations

import argparse
import dataclasses
import os
from collections.abc import Callable, Sequence
from typing import Any

from aider_gardener.errors import UsageError
from aider_gardener.settings import RETIRED, Settings, parse, variable

RETIRED_GIVEN = "retired_gardener_settings"


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add a group with one flag for each setting. A flag that is not given is None."""
    group = parser.add_argument_group("Gardener settings")
    group.add_argument(
        "--gardener", action=argparse.BooleanOptionalAction, default=None, help="Use the gardener, or not."
    )
    for field in dataclasses.fields(Settings):
        default = f" (default: {field.default!r})" if field.default != "" else ""
        own: dict[str, Any] = {"help": (field.metadata["help"] + default).replace("%", "%%")}
        if isinstance(field.default, bool):
            group.add_argument(flag(field.name), action=argparse.BooleanOptionalAction, default=None, **own)
            continue
        choices = "{" + ",".join(field.metadata["choices"]) + "}"
        value = "N" if isinstance(field.default, int) else "VALUE"
        own |= {"metavar": choices if field.metadata["choices"] else value, "type": _converter(field)}
        names = [flag(field.name)]
        if word := field.metadata["switch"]:
            # aider gives what its files and variables say as the last of these names.
            names.insert(0, flag(field.name, "--no-gardener-"))
            own |= {"action": Switch, "nargs": "?", "const": word, "dest": f"gardener_{field.name}"}
            own["env_var"] = variable(field.name)
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
