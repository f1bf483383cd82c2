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
    from aider_gardener.patches.change import Changed
    from aider_gardener.patches.mail import PatchMail
    from aider_gardener.patches.series import Series
    from aider_gardener.patches.tree import Tree

FOLDER = click.Path(file_okay=False, path_type=Path)
TREE_HELP = "A source tree of aider, or an environment with it.  [default: the aider beside this command]"


@click.group(short_help="Apply the patches for aider itself, or take them out.")
def patches() -> None:
    """Apply the patches for aider itself, take them out again, or look how things stand."""


def tree_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say which tree, which patches and how to answer."""

    @json_option
    @click.option("--patches", "folder", type=FOLDER, help="Folder of the series.  [default: as shipped]")
    @click.option("--upto", metavar="N", help="The patches from the first to this one.")
    @click.option("--only", multiple=True, metavar="NAMES", help="Only these: numbers or names, with commas.")
    @click.option("--to", type=FOLDER, metavar="DIR", help=TREE_HELP)
    @wraps(command)
    def wrapped(
        to: Path | None, folder: Path | None, only: Sequence[str], upto: str | None, as_json: bool
    ) -> Any:
        from aider_gardener.errors import UsageError
        from aider_gardener.patches.series import read_series
        from aider_gardener.patches.tree import find_tree

        if only and upto is not None:
            raise UsageError("give either --only or --upto")
        series = read_series(folder)
        return command(series, find_tree(to), series.chosen(only, upto), as_json)

    return wrapped


@patches.command(short_help="Say which patches a tree has and whether the others apply.")
@tree_options
def check(series: Series, tree: Tree, chosen: Sequence[PatchMail], as_json: bool) -> None:
    """Say which patches a tree has and whether the others apply; exit 1 when it is not a known tree.

    Known is aider as released with patches of the series, no change of them interrupted. In another tree,
    such as a clone of aider's main branch, each patch is tried all the same. Changes nothing.
    """
    from aider_gardener.patches.check import checkup

    report = checkup(series, tree, chosen)
    put(report.record(), as_json, report.table)
    if report.problem:
        if not as_json:
            click.echo(f"gardener: {report.problem}", err=True)
        sys.exit(1)


@patches.command(short_help="Apply the patches that are not in the tree yet.")
@tree_options
def apply(series: Series, tree: Tree, chosen: Sequence[PatchMail], as_json: bool) -> None:
    """Apply the patches that are not in the tree yet: all of them or none.

    Refuses another release of aider, files that are neither as released nor as the patches make them, and a
    patch without those it needs. Tests and documents are left out of an installed aider. The released files
    are kept in .gardener-patches in the tree. A change that was interrupted is put back first.
    """
    from aider_gardener.patches.change import apply as apply_patches

    changed = apply_patches(series, tree, chosen)
    tell("applied", "There is nothing to apply: the tree has them", tree, changed, as_json)


@patches.command()
@tree_options
def revert(series: Series, tree: Tree, chosen: Sequence[PatchMail], as_json: bool) -> None:
    """Take the patches out of the tree again: all of them or none.

    What an older version of the series was applied to goes back to the released files that were kept.
    """
    from aider_gardener.patches.change import revert as revert_patches

    changed = revert_patches(series, tree, chosen)
    tell("reverted", "There is nothing to revert: the tree has none of them", tree, changed, as_json)


def tell(word: str, nothing: str, tree: Tree, changed: Changed, as_json: bool) -> None:
    """Say what was done."""
    from aider_gardener.patches.swap import FOLDER as KEPT

    if as_json:
        record = {
            word: [patch.name for patch in changed.patches],
            "files": list(changed.files),
            "tree": str(tree.root),
            "recovered": changed.recovered,
        }
        put(record, as_json, None)
        return
    if changed.recovered:
        click.echo("An interrupted change was put back first.")
    for patch in changed.patches:
        click.echo(f"{word} {patch.number:04d} {patch.subject}")
    if not changed.files:
        click.echo(f"{nothing} ({tree.root}).")
        return
    kept = f"; the released files are kept in {tree.root / KEPT}" if word == "applied" else ""
    click.echo(f"{len(changed.files)} files changed in {tree.root}{kept}.")
