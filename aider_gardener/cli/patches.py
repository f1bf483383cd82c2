"""`gardener patches`: apply the patch series to an aider, take it out again, or only look."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING

import click

from aider_gardener.cli.root import as_json, json_option, notify, put
from aider_gardener.phrases import counted

if TYPE_CHECKING:
    from aider_gardener.patches.series import Series

FOLDER = click.Path(file_okay=False, path_type=Path)
TREE_HELP = "A source tree of aider, or an environment with it.  [default: the aider beside this command]"


@click.group(short_help="Apply the patches for aider itself, or take them out.")
def patches() -> None:
    """Apply the patches for aider itself, take them out again, or look how things stand."""


def tree_options(command: Callable[..., object]) -> Callable[..., object]:
    """The options that say which tree and how to answer."""

    @json_option
    @click.option("--to", type=FOLDER, metavar="DIR", help=TREE_HELP)
    @wraps(command)
    def wrapped(to: Path | None) -> object:
        from aider_gardener.patches.series import read_series
        from aider_gardener.patches.tree import find_tree

        return command(read_series(), find_tree(to))

    return wrapped


@patches.command(short_help="Say which patches a tree has and whether the others apply.")
@tree_options
def check(series: Series, root: Path) -> None:
    """Say which patches a tree has and whether the others apply; exit 1 when one does neither.

    Each is tried in whatever aider it is, such as a clone of its main branch. Changes nothing.
    """
    from aider_gardener.patches.tree import fault, state_of
    from aider_gardener.tables import grid

    state = state_of(series, root)
    faults = {patch: fault(series, state, patch) for patch in series.patches}
    problem = next(filter(None, faults.values()), "")
    rows, cells = [], []
    for patch, found in faults.items():
        how = "applied" if patch in state.applied else "does not apply" if found else "applies"
        rows.append({"number": patch.number, "name": patch.name, "subject": patch.subject, "state": how})
        cells.append((f"{patch.number:04d}", patch.subject, how))
    put(
        {"tree": str(root), "problem": problem, "patches": rows},
        lambda: grid(("patch", "what it does", "state"), cells, title=f"aider in {root}"),
    )
    if problem:
        notify("" if as_json() else problem)
        sys.exit(1)


@patches.command(short_help="Apply the patches that are not in the tree yet.")
@tree_options
def apply(series: Series, root: Path) -> None:
    """Apply the patches that are not in the tree yet: all of them or none.

    Tests and documents are left out of an installed aider.
    """
    change(series, root, "applied")


@patches.command(short_help="Take the patches out of the tree again.")
@tree_options
def revert(series: Series, root: Path) -> None:
    """Take the patches out of the tree again: all of them or none.

    Refuses where one of them was changed since: whether it is in the tree cannot be said then.
    """
    change(series, root, "reverted")


def change(series: Series, root: Path, word: str) -> None:
    """Apply or take out, and say what was done."""
    from aider_gardener.errors import PatchError
    from aider_gardener.patches.tree import fault, state_of, turn_into

    state, is_wanted = state_of(series, root), word == "applied"
    moved = [patch for patch in series.patches if (patch in state.applied) != is_wanted]
    for patch in series.patches:
        if not is_wanted and patch not in state.applied and (problem := fault(series, state, patch)):
            raise PatchError(f"whether it is in the tree cannot be said: {problem}")
    changed = turn_into(root, state, series.patches if is_wanted else ())

    def shown() -> Iterator[str]:
        yield from (f"{word} {patch.number:04d} {patch.subject}" for patch in moved)
        done = f"{counted(len(changed), 'file')} changed" if moved else "There is nothing to do"
        yield f"{done} in {root}."

    put({word: [patch.name for patch in moved], "files": changed, "tree": str(root)}, shown)
