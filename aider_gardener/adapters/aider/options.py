"""The --gardener flags, made from the settings, so that flags, variables and docs cannot drift."""

from __future__ import annotations

import argparse
import dataclasses
import os
from collections.abc import Sequence
from typing import Any

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
        text = (field.metadata["help"] + default).replace("%", "%%")
        if isinstance(field.default, bool):
            group.add_argument(flag(field), action=argparse.BooleanOptionalAction, default=None, help=text)
        elif field.metadata["switch"]:
            # aider gives what its files and variables say as the last of these names.
            names = ("--no-" + flag(field).removeprefix("--"), flag(field))
            own: dict[str, Any] = {"env_var": variable(field.name), "metavar": metavar(field), "help": text}
            own["dest"] = f"gardener_{field.name}"
            word = field.metadata["switch"]
            group.add_argument(*names, action=Switch, nargs="?", const=word, type=converter(field), **own)
        else:
            group.add_argument(
                flag(field), type=converter(field), default=None, metavar=metavar(field), help=text
            )
    for name in RETIRED:
        given = "gardener-" + name.replace("_", "-")
        names = (f"--no-{given}", f"--{given}")
        group.add_argument(
            *names, action=Retired, nargs="?", dest=RETIRED_GIVEN, const=name, help=argparse.SUPPRESS
        )


class Retired(argparse.Action):
    """A flag that there was: noted, so that the user is told what to use now, and passed over."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: object,
        option_string: str | None = None,
    ) -> None:
        setattr(namespace, self.dest, {*(getattr(namespace, self.dest, None) or ()), str(self.const)})


def retired_lines(args: object) -> list[str]:
    """What the user is told of the retired settings that were given, a line each."""
    names = sorted(getattr(args, RETIRED_GIVEN, None) or ())
    return [f"--gardener-{name.replace('_', '-')} is no longer a setting: {RETIRED[name]}" for name in names]


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


def flag(field: dataclasses.Field[Any]) -> str:
    """The flag of a setting."""
    return "--gardener-" + field.name.replace("_", "-")


def metavar(field: dataclasses.Field[Any]) -> str:
    if field.metadata["choices"]:
        return "{" + ",".join(field.metadata["choices"]) + "}"
    return {int: "N", float: "X"}.get(type(field.default), "VALUE")


def converter(field: dataclasses.Field[Any]) -> Any:
    """Turns the text of a flag into its value, with argparse's own kind of error."""

    def convert(text: str) -> Any:
        from aider_gardener.errors import UsageError
        from aider_gardener.settings import check_field

        try:
            value = parse(field, text, flag(field))
            check_field(field, value)
        except UsageError as error:
            raise argparse.ArgumentTypeError(str(error)) from None
        return value

    return convert
