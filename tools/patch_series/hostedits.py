"""The lines that hook the gardener into aider's own modules, made from the table of seams.

Where the adapter replaces an attribute at run time, the patch puts the same stand-in as a decorator above the
definition, or adds an attribute at the end of the class.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from aider_gardener.adapters.aider.seams import Seam
from aider_gardener.errors import PatchError
from patch_series.diff import lines_of

HOOKS = "gardened"
IMPORT = f"from aider.gardener.host import wrappers as {HOOKS}"
PLACES = {"aider.main:get_parser": "aider.args:get_parser"}
"""Where a name is defined that the adapter replaces in the module that imports it."""

MAY_STAND = frozenset(["cmd_context_pressure"])
"""What aider has itself when another patch of the series is applied."""


def definition_of(seam: Seam) -> tuple[str, str]:
    """The file in which a seam's attribute is defined, and its path there."""
    module, _, path = PLACES.get(seam.name, seam.name).partition(":")
    return module.replace(".", "/") + ".py", path


def hooked(text: str, seams: Iterable[Seam], file: str) -> str:
    """The file with the hooks of these seams. Raises PatchError when a definition is not found."""
    added: dict[str, list[str]] = {}
    for seam in seams:
        *outer, attribute = definition_of(seam)[1].split(".")
        if seam.signature:
            text = decorated(text, outer, attribute, seam.make, file)
        else:
            standing = f'vars().get("{attribute}")' if attribute in MAY_STAND else "None"
            added.setdefault(outer[0], []).append(f"{attribute} = {HOOKS}.{seam.make}({standing})")
    for class_name, lines in added.items():
        text = with_attributes(text, class_name, lines, file)
    return text if IMPORT in text else with_import(text, file)


def decorated(text: str, outer: list[str], name: str, make: str, file: str) -> str:
    """The text with a decorator as the first line above a definition."""
    body: list[ast.stmt] = ast.parse(text).body
    for class_name in outer:
        body = class_of(body, class_name, file).body
    for node in body:
        if isinstance(node, ast.FunctionDef) and node.name == name:
            at = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) - 1
            lines = lines_of(text)
            lines.insert(at, f"{' ' * node.col_offset}@{HOOKS}.{make}\n")
            return "".join(lines)
    raise PatchError(f"{file} has no {'.'.join([*outer, name])}: the table of seams is for another aider")


def with_attributes(text: str, class_name: str, added: list[str], file: str) -> str:
    """The text with attributes at the end of a class."""
    end = class_of(ast.parse(text).body, class_name, file).end_lineno or 0
    lines = lines_of(text)
    lines[end:end] = ["\n", *(f"    {line}\n" for line in added)]
    return "".join(lines)


def class_of(body: list[ast.stmt], name: str, file: str) -> ast.ClassDef:
    for node in body:
        if isinstance(node, ast.ClassDef) and node.name == name:
            return node
    raise PatchError(f"{file} has no class {name}: the table of seams is for another aider")


def with_import(text: str, file: str) -> str:
    """The text with the import of the hooks in its sorted place among aider's own."""
    lines = lines_of(text)
    imports = [node for node in ast.parse(text).body if isinstance(node, ast.ImportFrom)]
    own = [node for node in imports if node.level == 0 and str(node.module).split(".")[0] == "aider"]
    relative = [node for node in imports if node.level]
    after = [node for node in own if str(node.module) < "aider.gardener.host"]
    if after:
        lines.insert(after[-1].end_lineno or 0, IMPORT + "\n")
    elif own:
        lines.insert(own[0].lineno - 1, IMPORT + "\n")
    elif relative:
        lines[relative[0].lineno - 1 : relative[0].lineno - 1] = [IMPORT + "\n", "\n"]
    else:
        raise PatchError(f"{file} imports nothing from aider: there is no place for the import of the hooks")
    return "".join(lines)
