"""Applying and reverting: what to do is computed first, whole; then one swap does it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from dataclasses import dataclass

from aider_gardener import files
from aider_gardener.errors import PatchError, UsageError
from aider_gardener.patches.mail import PatchMail
from aider_gardener.patches.series import Series, digest
from aider_gardener.patches.state import PatchState, state_of, with_patches
from aider_gardener.patches.swap import FOLDER, is_interrupted, recover, swap, write_through
from aider_gardener.patches.tree import Tree

RECORD = "applied.json"
"""What the last change left in the tree, with copies of the released files in the folder `released`."""


@dataclass(frozen=True)
class Changed:
    """What a command did. `recovered`: an interrupted change was put back first."""

    patches: tuple[PatchMail, ...]
    files: tuple[str, ...]
    recovered: bool = False


def apply(series: Series, tree: Tree, chosen: Sequence[PatchMail]) -> Changed:
    """Apply the patches that do not stand in the tree yet. Raises PatchError, and changes nothing, when the
    tree is not aider as released plus patches of this series; UsageError when a needed patch is missing."""
    recovered = recover(tree.root)
    state = known_state(series, tree)
    missing = [patch for patch in chosen if patch not in state.applied]
    wanted = [patch for patch in series.patches if patch in state.applied or patch in missing]
    for patch, numbers in series.lacking(wanted).items():
        needed = ", ".join(f"{number:04d}" for number in numbers)
        raise UsageError(f"{patch.name} needs {needed}: name {'it' if len(numbers) == 1 else 'them'} too")
    return turn_into(series, tree, state, wanted, missing, recovered)


def revert(series: Series, tree: Tree, chosen: Sequence[PatchMail]) -> Changed:
    """Take out the patches that stand in the tree. Raises as `apply` does.

    A tree that an older version of this series was applied to goes back to the released files kept then.
    """
    recovered = recover(tree.root)
    if len(chosen) == len(series.patches) and (old := older_state(series, tree)):
        swap(tree.root, old)
        forget(tree)
        return Changed((), tuple(sorted(old)), recovered)
    state = known_state(series, tree)
    leaving = [patch for patch in chosen if patch in state.applied]
    staying = [patch for patch in state.applied if patch not in leaving]
    for patch in series.lacking(staying):
        raise UsageError(f"{patch.name} needs what would be taken out: revert it too")
    return turn_into(series, tree, state, staying, leaving, recovered)


def turn_into(
    series: Series,
    tree: Tree,
    state: PatchState,
    wanted: Sequence[PatchMail],
    moved: Sequence[PatchMail],
    recovered: bool,
) -> Changed:
    """Make the tree hold exactly the wanted patches, in the order of the series."""
    after = with_patches(state.pristine, wanted, tree)
    changes = {path: text for path, text in after.items() if text != state.now[path]}
    if changes:
        keep_released(tree, state.pristine)
        swap(tree.root, changes)
        if wanted:
            remember(tree, wanted, after)
        else:
            forget(tree)
    return Changed(tuple(moved), tuple(sorted(changes)), recovered)


def known_state(series: Series, tree: Tree) -> PatchState:
    """The tree's state. Raises PatchError when it is not one that the series knows."""
    refuse_version(series, tree)
    state = state_of(series, tree)
    if state.strange:
        if older_state(series, tree):
            raise PatchError("an older version of the patches is applied; first `gardener patches revert`")
        raise PatchError(strange_words(series, state))
    return state


def refuse_version(series: Series, tree: Tree) -> None:
    """Raise PatchError when the tree is another release, or its version cannot be told."""
    if tree.version != series.upstream.version:
        raise PatchError(
            f"{tree.root} holds aider {tree.version}; the patches are for {series.upstream.version}"
        )


def strange_words(series: Series, state: PatchState) -> str:
    count = len(state.strange)
    more = f" and {count - 3} more" if count > 3 else ""
    return (
        f"{', '.join(state.strange[:3])}{more} {'differs' if count == 1 else 'differ'} from aider"
        f" {series.upstream.version} and from what the patches make of it; restore aider's own files first"
    )


def keep_released(tree: Tree, pristine: dict[str, str | None]) -> None:
    """Keep a copy of each released file that a patch may change."""
    for path, text in pristine.items():
        copy = tree.root / FOLDER / "released" / path
        if text is not None and not copy.exists():
            copy.parent.mkdir(parents=True, exist_ok=True)
            write_through(copy, text)


def remember(tree: Tree, patches: Sequence[PatchMail], files: dict[str, str | None]) -> None:
    rows = {path: digest(text) if text is not None else None for path, text in files.items()}
    record = {"patches": {patch.name: patch.sha256 for patch in patches}, "files": rows}
    write_through(tree.root / FOLDER / RECORD, json.dumps(record, indent=1))


def forget(tree: Tree) -> None:
    shutil.rmtree(tree.root / FOLDER, ignore_errors=True)


def older_state(series: Series, tree: Tree) -> dict[str, str | None] | None:
    """The released files, when the tree is as an older version of the series left it; else None."""
    record = tree.root / FOLDER / RECORD
    if not record.is_file() or is_interrupted(tree.root):
        return None
    recorded = json.loads(files.read(record, files.PEOPLE_BYTES))
    current = {patch.name: patch.sha256 for patch in series.patches}
    if recorded["patches"].items() <= current.items():
        return None
    now = tree.read_all(recorded["files"])
    found = {path: digest(text) if text is not None else None for path, text in now.items()}
    if any(found[path] != recorded["files"][path] for path in now):
        return None
    kept = Tree(tree.root / FOLDER / "released", tree.version, tree.is_source)
    return {path: text for path in now if (text := kept.read(path)) != now[path]}
