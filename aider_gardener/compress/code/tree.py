"""Which rows of a source text to fold, by its syntax tree.

Grammars give functions, containers, blocks and literals names of their own: the tables have them. Of
comments the first rows stay, which say what it is about.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

from aider_gardener.reading.late import late
from aider_gardener.reading.output import legible

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

FUNCTIONS = frozenset(
    """function_definition function_declaration function_expression arrow_function method_definition
    function generator_function_declaration generator_function method_declaration
    constructor_declaration function_item compact_constructor_declaration static_initializer
    lambda_expression func_literal closure_expression local_function_statement accessor_declaration
    operator_declaration destructor_declaration method singleton_method anonymous_method_expression
    secondary_constructor anonymous_function init_declaration lambda do_block
    conversion_operator_declaration indexer_declaration anonymous_function_creation_expression
    function_statement""".split()
)
ANONYMOUS = frozenset(
    """arrow_function function_expression lambda_expression func_literal closure_expression
    anonymous_method_expression lambda do_block generator_function anonymous_function
    anonymous_function_creation_expression""".split()
)
CONTAINERS = frozenset(
    """class_definition class_declaration class module interface_declaration enum_declaration
    struct_item enum_item impl_item trait_item mod_item type_declaration struct_specifier
    class_specifier namespace_declaration record_declaration struct_declaration type_alias_declaration
    enum_specifier singleton_class abstract_class_declaration internal_module object_declaration
    protocol_declaration macro_definition const_item static_item""".split()
)
IMPORTS = frozenset(
    """import_statement import_from_statement future_import_statement import_declaration use_declaration
    using_directive preproc_include import_spec_list""".split()
)
BLOCKS = frozenset(
    """block statement_block compound_statement constructor_body body_statement function_body do_group
    switch_body statements then else switch_block declaration_list_body control_structure_body""".split()
)
LITERALS = frozenset(
    """list dictionary set tuple array object array_expression initializer_list literal_value hash
    array_initializer array_creation_expression initializer_expression token_tree enum_body
    enum_variant_list enumerator_list enum_member_declaration_list table_constructor""".split()
)
GRAMMARS = frozenset(
    """arduino bash c cpp csharp css cuda d dart elixir elm gdscript go groovy haskell hcl html java
    javascript julia kotlin lua make matlab nix objc ocaml php powershell proto python r ruby rust scala
    scheme scss solidity sql svelte swift tsx typescript vue zig""".split()
)
"""Languages of code whose grammar no text ended the process with (`bench.attacks.grammars`).

A scanner written in C that keeps open blocks in a buffer of 1,024 bytes overruns it: markdown's at 260
nested lists, perl's and agda's at deep quotes. Nothing catches that, so other grammars are not asked."""

TWO_PIPES = late(r"\|[\s\\]+\|")
SHELL_COMMENT = late(r"#[^\n]*")
BRACKET = late(r"[][(){}]")
DEEPEST = 1_000
"""A text whose brackets stand deeper in one another is not parsed."""

COMMENTS = frozenset({"comment", "line_comment", "block_comment", "doc_comment"})
NAMED_CALLS = frozenset({"call_expression", "call", "invocation_expression", "method_invocation"})
STRING_ARGUMENTS = frozenset(
    """string template_string interpreted_string_literal string_literal raw_string_literal""".split()
)

LITERAL_ROWS = 8
"""Data literals longer than this keep their first rows only."""

ERROR_SHARE = 0.3
"""Above this share of rows in error nodes, the tree is not trusted."""


PARSE_SECONDS = 1.0
"""A parse that takes longer is given up: on what is no code of a language its recovery is quadratic."""

DULL_SHARE = 0.5
"""Text of which more than this is dull (runs, drawings, dumps) is not parsed at all."""


@lru_cache(maxsize=32)
def parser_for(language: str) -> Parser | None:
    """The parser of one of the GRAMMARS, or None when the language has none."""
    if language not in GRAMMARS:
        return None
    from grep_ast.tsl import get_parser  # reason: loading the grammars is slow and not always needed

    try:
        parser = get_parser(language)
    except Exception:  # reason: the pack raises LookupError, AttributeError or OSError by version
        return None
    with warnings.catch_warnings(), suppress(AttributeError):
        warnings.simplefilter("ignore")  # reason: deprecated for a callback that crashes the interpreter
        parser.timeout_micros = int(PARSE_SECONDS * 1_000_000)
    found: Parser = parser
    return found


def parsed(text: str, language: str) -> Node | None:
    """The root of a text's tree, or None: no grammar, no code at all, or given up after PARSE_SECONDS."""
    parser = parser_for(language)
    if parser is None or len(legible(text)) < (1 - DULL_SHARE) * len(text):
        return None
    if endless(text, language):
        return None
    try:
        return parser.parse(text.encode("utf-8", "replace")).root_node
    except ValueError:
        parser.reset()
        return None


def endless(text: str, language: str) -> bool:
    """Whether a parse of the text might hold the process where no time limit ends it.

    Behind two pipes in a row, with nothing but blanks, line ends or comments between, the shell's grammar
    tries to recover in exponentially many ways (a chain of 22 takes 0.06 s, one of 45 hours) in one step.
    Others take seconds for a step within thousands of brackets that nothing closes, which is no code.
    """
    if language == "bash" and any(TWO_PIPES.search(each) for each in (text, SHELL_COMMENT.sub("", text))):
        return True
    depths = accumulate(1 if bracket in "([{" else -1 for bracket in BRACKET.findall(text))
    return max(depths, default=0) > DEEPEST


class Fold(NamedTuple):
    """Rows `start:end` to be left out."""

    start: int
    end: int


def end_row(node: Node) -> int:
    """The last row of a node; one that ends just behind a line end belongs to the row before."""
    row, column = int(node.end_point[0]), int(node.end_point[1])
    return row - 1 if column == 0 and row > node.start_point[0] else row


def comment_folds(children: Iterable[Node], focus: frozenset[int]) -> Iterator[Fold]:
    """Of comments of five and more rows the first two and the last stay."""
    run: list[Node] = []
    for child in [*children, None]:
        comment = child if child is not None and child.type in COMMENTS else None
        if comment is not None and (not run or comment.start_point[0] <= run[-1].end_point[0] + 1):
            run.append(comment)
            continue
        if run:
            start, end = run[0].start_point[0], end_row(run[-1])
            if end - start >= 4 and focus.isdisjoint(range(start, end + 1)):
                yield Fold(start + 2, end)
        run = [comment] if comment is not None else []


def tree_folds(text: str, language: str, focus: frozenset[int]) -> list[Fold] | None:
    """The folds of a text, or None when its language has no grammar or the tree is mostly errors."""
    root = parsed(text, language)
    if root is None:
        return None
    if root.has_error and _error_rows(root) > ERROR_SHARE * (root.end_point[0] + 1):
        return None
    return _Folder(text.split("\n"), language, focus).run(root)


def parses(text: str, language: str) -> bool:
    """True when the text has no syntax error in its language."""
    root = parsed(text, language)
    return root is not None and not root.has_error


def _error_rows(root: Node) -> int:
    rows, stack = 0, [root]
    while stack:
        node = stack.pop()
        if node.type == "ERROR":
            rows += node.end_point[0] - node.start_point[0] + 1
        elif node.has_error:
            stack.extend(node.children)
    return rows


class _Folder:
    """One walk over a tree. Iterative throughout: nesting may be deeper than the stack allows."""

    def __init__(self, lines: Sequence[str], language: str, focus: frozenset[int]) -> None:
        self.lines, self.language, self.focus = lines, language, focus
        self.closed = language != "python"
        self.folds: list[Fold] = []
        self.holding: set[int] = set()

    def run(self, root: Node) -> list[Fold]:
        self._mark_holders(root)
        stack: list[tuple[Node, bool]] = [(root, False)]
        while stack:
            node, inside = stack.pop()
            if node.end_point[0] - node.start_point[0] < 2:
                continue
            body = self._body(node) if node.type in FUNCTIONS else None
            if body is not None:
                stack.extend(self._fold_body(node, body))
            elif inside and node.type in BLOCKS:
                stack.extend(self._fold_body(node, node))
            elif not self._fold_value(node):
                self.folds.extend(comment_folds(node.children, self.focus))
                stack.extend((child, inside) for child in node.children)
        return [fold for fold in self.folds if self._worth(fold)]

    def _fold_value(self, node: Node) -> bool:
        """Fold a docstring or a long literal; False when the node is neither."""
        if node.type in LITERALS and node.id not in self.holding and self._fold_literal(node):
            return True
        return self._is_docstring(node) and self._fold_docstring(node)

    def _worth(self, fold: Fold) -> bool:
        rows = self.lines[fold.start : fold.end]
        return sum(map(bool, map(str.strip, rows))) >= 2 and sum(len(row.strip()) for row in rows) > 40

    def _mark_holders(self, root: Node) -> None:
        """Remember every node that has a named definition or an import somewhere below it."""
        stack = [root]
        while stack:
            node = stack.pop()
            if self._is_definition(node):
                above: Node | None = node
                while above is not None and above.id not in self.holding:
                    self.holding.add(above.id)
                    above = above.parent
            stack.extend(child for child in node.named_children if child.child_count)

    def _is_definition(self, node: Node) -> bool:
        kind = node.type
        if kind in IMPORTS or (kind in CONTAINERS and node.parent is not None):
            return True
        if kind in FUNCTIONS and kind not in ANONYMOUS:
            return True
        if kind in ("variable_declarator", "assignment_expression"):
            value = node.child_by_field_name("value") or node.child_by_field_name("right")
            return value is not None and value.type in ANONYMOUS and value.end_point[0] > value.start_point[0]
        return kind in NAMED_CALLS and self._is_named_call(node)

    def _is_named_call(self, node: Node) -> bool:
        """A call with a string and a function, like a test case or a route: it defines something."""
        arguments = node.child_by_field_name("arguments")
        block = node.child_by_field_name("block")
        inner = arguments.named_children if arguments is not None else []
        named = bool(inner) and any(child.type in STRING_ARGUMENTS for child in inner[:1])
        return named and (block is not None or any(child.type in ANONYMOUS for child in inner[1:]))

    def _body(self, node: Node) -> Node | None:
        body = node.child_by_field_name("body")
        if body is None:
            body = next((child for child in node.children if child.type in BLOCKS), None)
        return body if body is not None and (body.type in BLOCKS or self.language == "ruby") else None

    def _fold_body(self, owner: Node, body: Node) -> list[tuple[Node, bool]]:
        """Fold the statements of a body; those that hold definitions are returned to be walked."""
        header, last = self._limits(owner, body)
        deeper: list[tuple[Node, bool]] = []
        run: list[int] = []
        statements = list(body.named_children)
        if statements and statements[0].type in ("statements", "body_statement"):
            statements = [*statements[0].named_children, *statements[1:]]
        for index, statement in enumerate(statements):
            first, end = max(statement.start_point[0], header + 1), min(end_row(statement), last)
            if index == 0 and self._is_docstring(statement):
                self._flush(run)
                self._fold_docstring(statement)
                continue
            if statement.id in self.holding:
                self._flush(run)
                deeper.append((statement, True))
            elif self._in_focus(first, end):
                self._flush(run)
            elif first <= end:
                run = [min(run[0], first), end] if run else [first, end]
        self._flush(run)
        return deeper

    def _limits(self, owner: Node, body: Node) -> tuple[int, int]:
        """The last row of the header and the last row that may fold."""
        if not self.closed:
            parameters = owner.child_by_field_name("parameters")
            header = parameters.end_point[0] if parameters is not None else owner.start_point[0]
            return (header if owner is not body else body.start_point[0] - 1), end_row(body)
        opens = body.children[0].type in ("{", "do") if body.children else False
        if opens:
            return body.start_point[0], body.end_point[0] - 1
        parameters = owner.child_by_field_name("parameters")
        header = parameters.end_point[0] if parameters is not None else owner.start_point[0]
        return header, owner.end_point[0] - 1

    def _is_docstring(self, statement: Node) -> bool:
        if self.language != "python":
            return False
        if statement.type == "string":
            return statement.parent is not None and statement.parent.type in ("module", "block")
        inner = statement.named_children
        return statement.type == "expression_statement" and len(inner) == 1 and inner[0].type == "string"

    def _in_focus(self, first: int, end: int) -> bool:
        return (
            bool(self.focus) and end - first < 8 and any(row in self.focus for row in range(first, end + 1))
        )

    def _flush(self, run: list[int]) -> None:
        if len(run) == 2 and run[1] > run[0]:
            self.folds.append(Fold(run[0], run[1] + 1))
        run.clear()

    def _fold_docstring(self, node: Node) -> bool:
        """The first row with words stays, and the row that closes it."""
        start, end = node.start_point[0], end_row(node)
        first = start + 1 if self.lines[start].strip().strip("rbuRBU\"'") else start + 2
        closes = not self.lines[end].strip().strip("\"'")
        if closes and end - first >= 2:
            self.folds.append(Fold(first, end))
        return True

    def _fold_literal(self, node: Node) -> bool:
        start, end = node.start_point[0], node.end_point[0]
        if end - start < LITERAL_ROWS or any(row in self.focus for row in range(start, end)):
            return False
        items = [child for child in node.named_children if child.type not in COMMENTS]
        if len(items) < 4:
            return False
        first_hidden = next((item for item in items[2:] if item.start_point[0] > items[1].end_point[0]), None)
        if first_hidden is None or first_hidden.start_point[0] <= start:
            return False
        first, stop = first_hidden.start_point[0], min(end_row(items[-1]), end - 1)
        before = items[items.index(first_hidden) - 1]
        if before.end_point[0] >= first or stop - first < 3:
            return False
        self.folds.append(Fold(first, stop + 1))
        return True
