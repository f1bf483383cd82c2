"""What a mutant is: one small fault in a module's source, made on its syntax tree.

A comparison is moved by its boundary or turned round, an operator or a sign swapped, a condition negated,
`min` and `max` or `any` and `all` exchanged, a number changed, a statement or a named argument left out, the
bound of a slice dropped. Types, decorators and texts are left alone: a wrong type is mypy's to find, and
another word in a sentence is no fault of the algorithm.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult,
    ast.Mod: ast.Mult,
    ast.Pow: ast.Mult,
    ast.BitOr: ast.BitAnd,
    ast.BitAnd: ast.BitOr,
}
ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)
OPPOSITES = {"min": "max", "max": "min", "any": "all", "all": "any"}
CHECKS_ITSELF = ("strict",)
"""Arguments that only make a call complain about a fault elsewhere."""
PLAIN = (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.NamedExpr)
"""Conditions that are negated as a whole; in others an operator is there to be changed."""
SMALL = 10
"""Whole numbers below this are one higher in a mutant, others twice as high; fractions are left out."""
TELLING_CHARS = 24
"""A changed expression that is shorter is shown with what stands around it."""
Function = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass(frozen=True)
class Mutant:
    """One fault: `number` among those of its module, and a key that says what it is and stays the same as
    long as the function's name and the expression do."""

    key: str
    number: int


@dataclass(frozen=True)
class Site:
    """A place in a tree where a fault can be made: what is put into a field of which node. `node` is the one
    that it is told of, with the nodes above it, the outermost first."""

    above: tuple[ast.AST, ...]
    node: ast.AST
    owner: ast.AST
    field: str
    value: object

    def make(self) -> object:
        """Put the fault in; returns what was there."""
        before = getattr(self.owner, self.field)
        setattr(self.owner, self.field, self.value)
        return before


@lru_cache(maxsize=32)
def mutants(source: str) -> tuple[Mutant, ...]:
    """Every mutant of a module, in the order of its text."""
    found, seen = [], Counter[str]()
    for number, site in enumerate(list(sites(ast.parse(source)))):
        key = description(site)
        seen[key] += 1
        found.append(Mutant(key if seen[key] == 1 else f"{key} #{seen[key]}", number))
    return tuple(found)


def mutated(source: str, number: int) -> ast.Module:
    """The tree of a module with one fault in it."""
    tree = ast.parse(source)
    list(sites(tree))[number].make()
    return ast.fix_missing_locations(tree)


def description(site: Site) -> str:
    """The function, and the expression before and after."""
    names = [node.name for node in site.above if isinstance(node, (*Function, ast.ClassDef))]
    shown = next(
        node for node in (site.node, *reversed(site.above)) if is_telling(node) or isinstance(node, ast.stmt)
    )
    before = text_of(shown)
    stood = site.make()
    after = text_of(shown)
    setattr(site.owner, site.field, stood)
    return f"{'.'.join(names) or 'module'}: {before} → {after if after != before else 'left out'}"


def is_telling(node: ast.AST) -> bool:
    return isinstance(node, ast.expr) and len(ast.unparse(node)) >= TELLING_CHARS


def text_of(node: ast.AST) -> str:
    """A node as one line; of a statement with a body only its head."""
    if isinstance(node, ast.stmt) and hasattr(node, "body"):
        node = copy.copy(node)
        node.body = []
        for field in ("orelse", "finalbody", "handlers", "decorator_list"):
            if hasattr(node, field):
                setattr(node, field, [])
    return " ".join(ast.unparse(node).split())


def sites(tree: ast.Module) -> Iterator[Site]:
    """Every place where a fault can be made, in the order of the text."""
    yield from _inside(tree, (), set())


def _inside(node: ast.AST, above: tuple[ast.AST, ...], bound: set[str]) -> Iterator[Site]:
    """The places in and below a node; `bound` are the names that have a value already in its function."""
    if isinstance(node, Function):
        bound = {one.arg for one in [*node.args.args, *node.args.kwonlyargs]}
    for field, value in changes(node):
        yield Site(above, node, node, field, value)
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list"):
            continue
        if isinstance(node, ast.keyword) and node.arg in CHECKS_ITSELF:
            continue
        if isinstance(value, ast.AST):
            yield from _child(node, field, value, None, above, bound)
        elif isinstance(value, list):
            for at, child in enumerate(value):
                if isinstance(child, ast.AST):
                    yield from _child(node, field, child, at, above, bound)


def _child(
    node: ast.AST, field: str, child: ast.AST, at: int | None, above: tuple[ast.AST, ...], bound: set[str]
) -> Iterator[Site]:
    if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
        return

    def put(new: ast.AST) -> object:
        held = getattr(node, field)
        return new if at is None else [*held[:at], new, *held[at + 1 :]]

    path = (*above, node)
    if isinstance(child, ast.expr) and is_condition(node, field) and isinstance(child, PLAIN):
        yield Site(above, node, node, field, put(ast.UnaryOp(ast.Not(), child)))
    if isinstance(child, ast.UnaryOp) and isinstance(child.op, ast.Not | ast.USub):
        yield Site(above, node, node, field, put(child.operand))
    if isinstance(node, ast.Return) and isinstance(child, ast.BinOp) and is_arithmetic(child):
        yield Site(above, node, node, field, put(ast.UnaryOp(ast.USub(), child)))
    if isinstance(child, ast.stmt) and can_be_left_out(child, path, bound):
        yield Site(path, child, node, field, put(ast.Pass()))
    yield from _inside(child, path, bound)
    if isinstance(child, ast.Assign):
        bound |= {target.id for target in child.targets if isinstance(target, ast.Name)}


def is_condition(node: ast.AST, field: str) -> bool:
    return field == "ifs" or (field == "test" and isinstance(node, ast.If | ast.While | ast.IfExp))


def is_arithmetic(node: ast.BinOp) -> bool:
    """Whether it makes a number out of others: as a result it gets another sign."""
    return isinstance(node.op, ARITHMETIC) and not joins_text(node)


def can_be_left_out(node: ast.stmt, above: tuple[ast.AST, ...], bound: set[str]) -> bool:
    """Whether the function still means something without a statement: no import, no first binding of a name,
    no `return` at its end."""
    inside = any(isinstance(one, Function) for one in above)
    if isinstance(node, ast.Return):
        return inside and not isinstance(above[-1], Function)
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Call) and inside
    if isinstance(node, ast.Assign):
        return inside and all(
            target.id in bound if isinstance(target, ast.Name) else not isinstance(target, ast.Tuple)
            for target in node.targets
        )
    return isinstance(node, ast.AugAssign | ast.Continue | ast.Break | ast.Raise)


def changes(node: ast.AST) -> Iterator[tuple[str, object]]:
    """The faults that are made in a node itself, each as a field and what is put there."""
    if isinstance(node, ast.Compare):
        for at, op in enumerate(node.ops):
            yield "ops", [*node.ops[:at], COMPARISONS[type(op)](), *node.ops[at + 1 :]]
    elif isinstance(node, ast.BoolOp):
        yield "op", ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif isinstance(node, ast.BinOp | ast.AugAssign):
        if type(node.op) in OPERATORS and not joins_text(node):
            yield "op", OPERATORS[type(node.op)]()
    elif isinstance(node, ast.Constant):
        if isinstance(node.value, bool | int | float):
            yield "value", other(node.value)
    elif isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id in OPPOSITES:
            yield "func", ast.Name(OPPOSITES[node.func.id], ast.Load())
        for given in node.keywords:
            if given.arg and given.arg not in CHECKS_ITSELF:
                yield "keywords", [each for each in node.keywords if each is not given]
    elif isinstance(node, ast.Slice):
        if node.lower:
            yield "lower", None
        if node.upper:
            yield "upper", None


def joins_text(node: ast.BinOp | ast.AugAssign) -> bool:
    """Whether it puts texts or lists together: with another operator it would only raise."""
    parts = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.value,)
    return any(
        isinstance(part, ast.JoinedStr | ast.List | ast.ListComp | ast.Tuple)
        or (isinstance(part, ast.Constant) and isinstance(part.value, str))
        for part in parts
    )


def other(value: object) -> object:
    """The value that a mutant has in place of a number or a truth."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, float):
        return 0.0 if value else 1.0
    if not isinstance(value, int):
        raise TypeError(f"no number: {value!r}")
    return value + 1 if abs(value) < SMALL else value * 2
