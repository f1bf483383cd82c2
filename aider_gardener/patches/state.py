"""Which patches stand in a tree, found out from its files alone."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from aider_gardener.errors import PatchError
from aider_gardener.patches.mail import PatchMail
from aider_gardener.patches.series import Series, digest
from aider_gardener.patches.tree import Tree

Files = Mapping[str, str | None]
"""Texts by path; None is a file that is not there."""


@dataclass(frozen=True)
class State:
    """What a tree is: the patches applied, the files as released, and the files that are neither."""

    applied: tuple[PatchMail, ...]
    pristine: dict[str, str | None]
    now: dict[str, str | None]
    strange: tuple[str, ...]


def state_of(series: Series, tree: Tree) -> State:
    """Take the patches out in reverse order, as far as each comes out whole; what is left must be aider
    as released. A tree that was patched by `git am` is recognised just as well."""
    now = tree.read_all(series.paths())
    files = dict(now)
    applied: list[PatchMail] = []
    for patch in reversed(series.patches):
        taken_out = without(patch, files, tree)
        if taken_out is not None:
            files.update(taken_out)
            applied.insert(0, patch)
    return State(tuple(applied), files, now, tuple(strange_files(series, files)))


def without(patch: PatchMail, files: Files, tree: Tree) -> dict[str, str | None] | None:
    """The patch's files before it, or None when it does not stand in them."""
    changes = [change.reverse() for change in patch.changes if tree.holds(change.path)]
    try:
        return {change.path: change.apply(files.get(change.path)) for change in changes} if changes else None
    except PatchError:
        return None


def strange_files(series: Series, files: Files) -> Iterable[str]:
    """The files that are not as released."""
    for path, text in files.items():
        expected = series.upstream.files.get(path)
        if (digest(text) if text is not None else None) != expected:
            yield path


def with_patches(pristine: Files, patches: Iterable[PatchMail], tree: Tree) -> dict[str, str | None]:
    """The files with the patches applied, in the order given. Raises PatchError when one does not apply."""
    files = dict(pristine)
    for patch in patches:
        for change in patch.changes:
            if tree.holds(change.path):
                try:
                    files[change.path] = change.apply(files.get(change.path))
                except PatchError as error:
                    raise PatchError(f"{patch.name} does not apply: {error}") from error
    return files
