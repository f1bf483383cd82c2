"""/gardener constraints: the rules that the user set, listed, added, edited and dropped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aider_gardener.adapters.aider.coder import HostCommands
from aider_gardener.errors import GardenerError

if TYPE_CHECKING:
    from aider_gardener.gardener.gardener import Gardener
    from aider_gardener.notes.rules import Constraint

USAGE = "Usage: /gardener constraints [add TEXT | edit N TEXT | drop N]"


def constraints(commands: HostCommands, gardener: Gardener, args: str) -> None:
    """Run the command behind the word "constraints"."""
    what, _, rest = args.strip().partition(" ")
    number, _, text = rest.strip().partition(" ")
    try:
        if not what:
            show(commands, gardener)
        elif what == "add" and rest.strip():
            tell(commands, gardener, "Set", gardener.add_rule(rest))
        elif what == "edit" and number.isdecimal() and text.strip():
            tell(commands, gardener, f"Changed rule {number} to", gardener.edit_rule(int(number[:6]), text))
        elif what == "drop" and number.isdecimal() and not text.strip():
            rule = gardener.drop_rule(int(number[:6]))
            commands.io.tool_output(f"Dropped: {rule.text}")
        else:
            commands.io.tool_error(USAGE)
    except GardenerError as error:
        commands.io.tool_error(str(error))


def show(commands: HostCommands, gardener: Gardener) -> None:
    """The rules that hold, numbered, each with the turn in which it was set."""
    from aider_gardener.notes.rules import line

    held = gardener.constraints()
    for number, rule in enumerate(held, 1):
        commands.io.tool_output(f"{number}. {line(rule)}")
    if not held:
        commands.io.tool_output("No rules were set in this chat; /gardener constraints add TEXT sets one.")


def tell(commands: HostCommands, gardener: Gardener, done: str, rule: Constraint) -> None:
    """Say what was done, and why the rule would not stand in prompts."""
    from aider_gardener.gardener.amendments import has_room

    commands.io.tool_output(f"{done}: {rule.text}")
    if not gardener.state.acts:
        commands.io.tool_warning("It stands in no prompt as long as the gardener is off or only observes.")
    elif not has_room(gardener.state, rule):
        commands.io.tool_warning("It is longer than what rules may take of a prompt: say it in fewer words.")
