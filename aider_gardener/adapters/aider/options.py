"""The --gardener flags, made from the settings, so that flags, variables and docs cannot drift."""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any

from aider_gardener.adapters.aider.defaults import is_offered
from aider_gardener.settings import Settings, parse


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add a group with one flag for each setting. A flag that is not given is None."""
    group = parser.add_argument_group("Gardener settings")
    for field in filter(lambda field: is_offered(field.name), dataclasses.fields(Settings)):
        default = f" (default: {field.default!r})" if field.default != "" else ""
        text = (field.metadata["help"] + default).replace("%", "%%")
        if field.name == "enabled":
            group.add_argument("--gardener", action=argparse.BooleanOptionalAction, default=None, help=text)
        elif isinstance(field.default, bool):
            group.add_argument(flag(field), action=argparse.BooleanOptionalAction, default=None, help=text)
        else:
            group.add_argument(
                flag(field), type=converter(field), default=None, metavar=metavar(field), help=text
            )


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
