"""`gardener patches`: apply the patch series to an aider, take it out again, or only look."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aider_gardener.cli.root import json_option, put

if TYPE_CHECKING:
    from aider_gardener.patches.series import Patch, Series

FOLDER = click.Path(file_okay=False, path_type=Path)
TREE_HELP = "A source tree of aider, or an environment with it.  [default: the aider beside this command]"
INTERRUPTED = "a change was interrupted; `gardener patches apply` or `revert` puts the files back first"
APPLIED, APPLIES, FAILS = "applied", "applies", "does not apply"


@click.group(short_help="Apply the patches for aider itself, or take them out.")
def patches() -> None:
    """Apply the patches for aider itself, take them out again, or look how things stand."""


def tree_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say which tree, which patches and how to answer."""

    @json_option
    @click.option("--upto", metavar="N", help="The patches from the first to this one.")
    @click.option("--only", multiple=True, metavar="NAMES", help="Only these: numbers or names, with commas.")
    @click.option("--to", type=FOLDER, metavar="DIR", help=TREE_HELP)
    @wraps(command)
    def wrapped(to: Path | None, only: Sequence[str], upto: str | None, as_json: bool) -> Any:
        from aider_gardener.errors import UsageError
        from aider_gardener.patches.series import read_series
        from aider_gardener.patches.tree import find_tree

        if only and upto is not None:
            raise UsageError("give either --only or --upto")
        series = read_series()
        return command(series, find_tree(to), series.chosen(only, upto), as_json)

    return wrapped


@patches.command(short_help="Say which patches a tree has and whether the others apply.")
@tree_options
def check(series: Series, root: Path, chosen: Sequence[Patch], as_json: bool) -> None:
    """Say which patches a tree has and whether the others apply; exit 1 when one does neither.

    Each is tried in whatever aider it is, such as a clone of its main branch. Changes nothing.
    """
    from aider_gardener.patches.tree import JOURNAL, fault, state_of

    if (root / JOURNAL).exists():
        problem, states = INTERRUPTED, dict.fromkeys(chosen, "unknown")
    else:
        state = state_of(series, root)
        faults = {patch: fault(series, state, patch) for patch in chosen}
        problem = next((said for said in faults.values() if said), "")
        states = {
            patch: APPLIED if patch in state.applied else FAILS if said else APPLIES
            for patch, said in faults.items()
        }
    rows = [
        {"number": patch.number, "name": patch.name, "subject": patch.subject, "state": found}
        for patch, found in states.items()
    ]
    put({"tree": str(root), "problem": problem, "patches": rows}, as_json, lambda: table_of(root, rows))
    if problem:
        if not as_json:
            click.echo(f"gardener: {problem}", err=True)
        sys.exit(1)


def table_of(root: Path, rows: Sequence[dict[str, Any]]) -> Any:
    """The patches for people."""
    from rich.table import Table

    table = Table("patch", "what it does", "state", title=f"aider in {root}", title_justify="left")
    for row in rows:
        table.add_row(f"{row['number']:04d}", row["subject"], row["state"])
    return table


@patches.command(short_help="Apply the patches that are not in the tree yet.")
@tree_options
def apply(series: Series, root: Path, chosen: Sequence[Patch], as_json: bool) -> None:
    """Apply the patches that are not in the tree yet, with those that they need: all of them or none.

    Tests and documents are left out of an installed aider. A change that was interrupted is put back first.
    """
    change(series, root, chosen, as_json, "applied")


@patches.command(short_help="Take the patches out of the tree again.")
@tree_options
def revert(series: Series, root: Path, chosen: Sequence[Patch], as_json: bool) -> None:
    """Take the patches out of the tree again, with those that need them: all of them or none.

    Refuses where one of them was changed since: whether it is in the tree cannot be said then.
    """
    change(series, root, chosen, as_json, "reverted")


def change(series: Series, root: Path, chosen: Sequence[Patch], as_json: bool, word: str) -> None:
    """Apply or take out, and say what was done."""
    from aider_gardener.errors import PatchError
    from aider_gardener.patches.tree import fault, put_back, state_of, turn_into

    recovered = put_back(series, root)
    state = state_of(series, root)
    if word == "applied":
        needed = {other for patch in chosen for other in series.needed(patch)}
        wanted = [patch for patch in series.patches if patch in state.applied or patch in needed]
        moved = [patch for patch in wanted if patch not in state.applied]
    else:
        for patch in chosen:
            if patch not in state.applied and (said := fault(series, state, patch)):
                raise PatchError(f"whether it is in the tree cannot be said: {said}")
        wanted = [patch for patch in state.applied if not set(series.needed(patch)) & set(chosen)]
        moved = [patch for patch in state.applied if patch not in wanted]
    changed = turn_into(series, root, state, wanted)
    names = [patch.name for patch in moved]
    if as_json:
        put({word: names, "files": changed, "tree": str(root), "recovered": recovered}, as_json, None)
        return
    if recovered:
        click.echo("An interrupted change was put back first.")
    for patch in moved:
        click.echo(f"{word} {patch.number:04d} {patch.subject}")
    click.echo(f"{len(changed)} files changed in {root}." if moved else f"There is nothing to do in {root}.")
