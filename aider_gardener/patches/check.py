"""Looking at a tree without changing it: which patches it has, and whether the others would apply."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from aider_gardener.errors import PatchError
from aider_gardener.patches.change import known_state
from aider_gardener.patches.mail import PatchMail
from aider_gardener.patches.series import Series
from aider_gardener.patches.state import PatchState, state_of, would_apply
from aider_gardener.patches.swap import is_interrupted
from aider_gardener.patches.tree import Tree

INTERRUPTED = "a change was interrupted; `gardener patches apply` or `revert` puts the files back first"
APPLIED, APPLIES, FAILS, UNKNOWN = "applied", "applies", "does not apply", "unknown"


@dataclass(frozen=True)
class PatchReport:
    """What was found. `problem` is one line, "" when the tree is as released plus patches."""

    tree: Tree
    rows: tuple[tuple[PatchMail, str], ...]
    problem: str

    def record(self) -> dict[str, Any]:
        """The report for programs."""
        patches = [
            {
                "number": patch.number,
                "name": patch.name,
                "subject": patch.subject,
                "state": state,
                "needs": list(patch.needs),
            }
            for patch, state in self.rows
        ]
        return {
            "tree": str(self.tree.root),
            "kind": "source" if self.tree.is_source else "installed",
            "version": self.tree.version,
            "problem": self.problem,
            "patches": patches,
        }

    def table(self) -> Any:
        """The report for people."""
        from rich.table import Table

        table = Table(title=f"aider {self.tree.version} in {self.tree.root}", title_justify="left")
        for column in ("patch", "what it does", "state", "needs"):
            table.add_column(column)
        for patch, state in self.rows:
            needs = " ".join(f"{number:04d}" for number in patch.needs)
            table.add_row(f"{patch.number:04d}", patch.subject, state, needs)
        return table


def checkup(series: Series, tree: Tree, chosen: Sequence[PatchMail]) -> PatchReport:
    """Look at the tree. Never raises for what is wrong with it: the report says so.

    Each patch is tried on a tree that is not the release too, such as a clone of aider's main branch.
    """
    problem, rows = "", []
    state: PatchState | None = None
    if is_interrupted(tree.root):
        problem = INTERRUPTED
    else:
        try:
            state = known_state(series, tree)
        except PatchError as error:
            problem = str(error)
            state = readable_state(series, tree)
    for patch in chosen:
        found = standing(series, tree, state, patch) if state else UNKNOWN
        rows.append((patch, found))
        if found == FAILS:
            problem = problem or f"{patch.name} does not apply to this tree"
    return PatchReport(tree, tuple(rows), problem)


def readable_state(series: Series, tree: Tree) -> PatchState | None:
    """The state of a tree that is not known; None where even its files cannot be read."""
    try:
        return state_of(series, tree)
    except PatchError:
        return None


def standing(series: Series, tree: Tree, state: PatchState, patch: PatchMail) -> str:
    """Whether the patch is applied, or would apply with what it needs beside what is applied."""
    if patch in state.applied:
        return APPLIED
    numbers = {patch.number}
    for other in reversed(series.patches):
        if other.number in numbers:
            numbers.update(other.needs)
    wanted = [other for other in series.patches if other in state.applied or other.number in numbers]
    return APPLIES if would_apply(state.pristine, wanted, tree) else FAILS
