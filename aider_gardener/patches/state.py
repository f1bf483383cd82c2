"""What a tree is: which patches stand in it, and what its files are without them or with others."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from aider_gardener.errors import PatchError
from aider_gardener.patches.git import Files, apply, copied
from aider_gardener.patches.mail import PatchMail
from aider_gardener.patches.series import Series, digest
from aider_gardener.patches.tree import Tree


@dataclass(frozen=True)
class PatchState:
    """What a tree is: the patches applied, the files as released, and the files that are neither."""

    applied: tuple[PatchMail, ...]
    pristine: dict[str, str | None]
    now: dict[str, str | None]
    strange: tuple[str, ...]


def state_of(series: Series, tree: Tree) -> PatchState:
    """Take the patches out in reverse order, as far as each comes out whole; what is left must be aider
    as released. A tree that was patched by `git am` is recognised just as well."""
    now = tree.read_all(series.paths())
    applied: list[PatchMail] = []
    with copied(tree, now) as copy:
        for patch in reversed(series.patches):
            diff = diff_for(tree, patch)
            if diff and not apply(copy, diff, "--reverse"):
                applied.insert(0, patch)
        files = copy.read_all(now)
    return PatchState(tuple(applied), files, now, tuple(strange_files(series, files)))


def diff_for(tree: Tree, patch: PatchMail) -> str:
    """What a patch does to the files that belong into the tree."""
    return "".join(diff for path, diff in patch.diffs.items() if tree.holds(path))


def strange_files(series: Series, files: Files) -> Iterable[str]:
    """The files that are not as released."""
    for path, text in files.items():
        expected = series.upstream.files.get(path)
        if (digest(text) if text is not None else None) != expected:
            yield path


def with_patches(pristine: Files, patches: Iterable[PatchMail], tree: Tree) -> dict[str, str | None]:
    """The files with the patches applied, in the order given. Raises PatchError when one does not apply."""
    with copied(tree, pristine) as copy:
        for patch in patches:
            diff = diff_for(tree, patch)
            if diff and (fault := apply(copy, diff)):
                raise PatchError(f"{patch.name} does not apply: {fault}")
        return copy.read_all(pristine)


def would_apply(pristine: Files, patches: Iterable[PatchMail], tree: Tree) -> bool:
    """Whether the patches apply in the order given: what `with_patches` finds out, in one call of git."""
    diff = "".join(diff_for(tree, patch) for patch in patches)
    with copied(tree, pristine) as copy:
        return not diff or not apply(copy, diff, "--check")
