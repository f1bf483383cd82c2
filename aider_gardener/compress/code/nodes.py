"""The names that grammars give to functions, containers, blocks and literals, and the parsers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

FUNCTIONS = frozenset({
    "function_definition", "function_declaration", "function_expression", "arrow_function",
    "method_definition", "function",
    "generator_function_declaration", "generator_function", "method_declaration", "constructor_declaration",
    "function_item",
    "compact_constructor_declaration", "static_initializer", "lambda_expression", "func_literal",
    "closure_expression",
    "local_function_statement", "accessor_declaration", "operator_declaration", "destructor_declaration",
    "method", "singleton_method",
    "anonymous_method_expression", "secondary_constructor", "anonymous_function", "init_declaration",
    "lambda", "do_block",
    "conversion_operator_declaration", "indexer_declaration", "anonymous_function_creation_expression",
    "function_statement",
})  # fmt: skip
ANONYMOUS = frozenset({
    "arrow_function", "function_expression", "lambda_expression", "func_literal", "closure_expression",
    "anonymous_method_expression",
    "lambda", "do_block", "generator_function", "anonymous_function",
    "anonymous_function_creation_expression",
})  # fmt: skip
CONTAINERS = frozenset({
    "class_definition", "class_declaration", "class", "module", "interface_declaration", "enum_declaration",
    "struct_item", "enum_item",
    "impl_item", "trait_item", "mod_item", "type_declaration", "struct_specifier", "class_specifier",
    "namespace_declaration",
    "record_declaration", "struct_declaration", "type_alias_declaration", "enum_specifier",
    "singleton_class", "abstract_class_declaration",
    "internal_module", "object_declaration", "protocol_declaration", "macro_definition", "const_item",
    "static_item",
})  # fmt: skip
IMPORTS = frozenset({
    "import_statement", "import_from_statement", "future_import_statement", "import_declaration",
    "use_declaration", "using_directive",
    "preproc_include", "import_spec_list",
})  # fmt: skip
BLOCKS = frozenset({
    "block", "statement_block", "compound_statement", "constructor_body", "body_statement", "function_body",
    "do_group", "switch_body",
    "statements", "then", "else", "switch_block", "declaration_list_body", "control_structure_body",
})  # fmt: skip
SCRIPT = frozenset({
    "expression_statement", "command", "pipeline", "list", "if_statement", "for_statement",
    "while_statement", "with_statement",
    "try_statement", "switch_statement", "for_in_statement", "case_statement", "redirected_statement",
    "call", "if", "unless", "c_style_for_statement",
    "assert_statement", "delete_statement", "match_statement", "global_statement", "test_command",
    "compound_statement",
})  # fmt: skip
LITERALS = frozenset({
    "list", "dictionary", "set", "tuple", "array", "object", "array_expression", "initializer_list",
    "literal_value", "hash",
    "array_initializer", "array_creation_expression", "initializer_expression", "token_tree", "enum_body",
    "enum_variant_list",
    "enumerator_list", "enum_member_declaration_list", "table_constructor",
})  # fmt: skip
STRINGS = frozenset(
    {
        "string",
        "template_string",
        "raw_string_literal",
        "heredoc_body",
        "verbatim_string_literal",
        "string_literal",
        "text_block",
    }
)
COMMENTS = frozenset({"comment", "line_comment", "block_comment", "doc_comment"})
NAMED_CALLS = frozenset({"call_expression", "call", "invocation_expression", "method_invocation"})
STRING_ARGUMENTS = frozenset(
    {"string", "template_string", "interpreted_string_literal", "string_literal", "raw_string_literal"}
)


@lru_cache(maxsize=32)
def parser_for(language: str) -> Any:
    """The parser of a language, or None when there is no grammar for it."""
    from grep_ast.tsl import get_parser  # reason: loading the grammars is slow and not always needed

    try:
        return get_parser(language)
    except Exception:  # reason: the pack raises LookupError, AttributeError or OSError by version
        return None


@dataclass(frozen=True)
class Fold:
    """Rows `start:end` to be replaced by one comment. `braces`: the comment may join the braces around
    it; `plain`: no statement is needed there; `text`: what to write, "{}" for the count."""

    start: int
    end: int
    braces: bool = False
    plain: bool = False
    text: str = ""
    indent: str | None = None


def end_row(node: Any) -> int:
    """The last row of a node; one that ends just behind a line end belongs to the row before."""
    row, column = int(node.end_point[0]), int(node.end_point[1])
    return row - 1 if column == 0 and row > node.start_point[0] else row
