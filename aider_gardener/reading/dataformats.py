"""Which data format a text is written in: JSON, YAML, TOML, variables, tables of values."""

from __future__ import annotations

import json
import re
from collections import Counter

from aider_gardener.compress.structured.yaml_text import read_yaml
from aider_gardener.reading.lineshape import is_sentence

PARSE_LIMIT_CHARS = 200_000
"""Up to this size JSON is judged by parsing it, above by its lines."""

_YAML_KEY = re.compile(r"\s*(?:- )?[\"']?[\w.$@/-]+[\"']?:(?:\s|$)")
_YAML_ITEM = re.compile(r"\s*- \S")
_TOML_LINE = re.compile(
    r"\s*(?:\[\[?[^\]]+\]\]?\s*(?:#.*)?$|[\w.\"'-]+(?:\.[\w\"'-]+)* ?= ?\S|\]\s*$|\"[^\"]*\",?\s*$"
    r"|'[^']*',?\s*$|#|\{ ?\w+ = )"
)
_SECTION = re.compile(r"\[\[?[\w.\"' :/*-]+\]\]?\s*(?:#.*)?$")


def json_kind(text: str, solid: list[str]) -> str:
    """ "json", "jsonl" or "": by parsing small texts, by the shape of the lines of large or broken ones."""
    first = solid[0].lstrip("\ufeff \t")[:1]
    if first not in ("{", "["):
        return ""
    if len(text) <= PARSE_LIMIT_CHARS:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            pass
        else:
            return "json" if isinstance(value, dict | list) else ""
    per_line = sum(1 for line in solid if line.startswith("{") and line.endswith("}") and '":' in line)
    if len(solid) >= 2 and per_line >= 0.9 * len(solid):
        return "" if sum('"level"' in line or '"time' in line for line in solid) > len(solid) / 2 else "jsonl"
    like = sum(1 for line in solid if _JSON_LINE.match(line))
    return "json" if like >= 0.75 * len(solid) and (like >= 3 or len(solid) < 3) else ""


_JSON_LINE = re.compile(
    r"\s*(?:[\[\]{}]+,?\s*$|\"[^\"]*\"\s*:\s|\"(?:[^\"\\]|\\.)*\",?\s*$|[{\[].*[\]},]$"
    r"|-?\d[\d.eE+-]*,?\s*$|//)"
)


_ENV_LINE = re.compile(r"(?:export )?[A-Za-z_][\w.]*=\S*|#")


def parsed_yaml(text: str, solid: list[str]) -> str:
    """ "yaml" for a text that the parser reads as nested data, however much prose its strings hold."""
    keys = sum(1 for line in solid if _YAML_KEY.match(line))
    if keys < max(4, 0.15 * len(solid)) or not any(line.startswith(("  ", "- ")) for line in solid):
        return ""
    stack, depth, found, plain, sentences = [read_yaml(text)], 0, 0, 0, 0
    for node in stack:
        if found > 2_000:
            break
        if isinstance(node, dict):
            plain += sum(1 for key in node if " " not in key)
            found += len(node)
        inner = list(node.values()) if isinstance(node, dict) else node if isinstance(node, list) else []
        depth += sum(1 for item in inner if isinstance(item, dict))
        lines = (item for item in inner if isinstance(item, str) and "\n" not in item)
        sentences += sum(1 for line in lines if is_sentence(line))
        stack.extend(item for item in inner if isinstance(item, dict | list))
    like = found >= 6 and depth >= 2 and plain >= 0.8 * found and sentences <= 0.4 * found
    return "yaml" if like else ""


def shaped_data(solid: list[str], counts: Counter[str]) -> str:
    """ "toml", "env", "yaml", "csv", "tsv" or "" by the shape of the lines that are not blank."""
    total = len(solid)
    sections = sum(1 for line in solid if _SECTION.match(line))
    toml = sum(1 for line in solid if _TOML_LINE.match(line))
    if sections and toml >= 0.7 * total and any(" = " in line or "=" in line for line in solid):
        return "toml"
    pairs = sum(1 for line in solid if _ENV_LINE.match(line))
    if total >= 3 and pairs >= 0.95 * total and any("=" in line for line in solid):
        return "env"
    keys = sum(1 for line in solid if _YAML_KEY.match(line))
    yaml = keys + sum(1 for line in solid if _YAML_ITEM.match(line) and not _YAML_KEY.match(line))
    comments = sum(1 for line in solid if line.lstrip().startswith("#"))
    prose = counts["prose"] + counts["heading"] - comments
    nested = any(line.startswith(("  ", "- ")) for line in solid)
    sentences = sum(1 for line in solid if is_sentence(line) and not line.lstrip().startswith("#"))
    shaped = keys >= max(2, 0.3 * total) and nested and yaml + comments >= 0.55 * total
    if shaped and prose < 0.15 * total and sentences < 0.35 * total:
        return "yaml"
    for mark, name in ((",", "csv"), ("\t", "tsv"), (";", "csv")):
        cells = Counter(line.count(mark) for line in solid)
        width, rows = cells.most_common(1)[0]
        if width >= 2 and total >= 3 and rows >= 0.9 * total and sentences <= 0.2 * total:
            return name
    return ""
