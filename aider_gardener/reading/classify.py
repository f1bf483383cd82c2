"""The class of a text, decided by its structure, its source and a path where one is known; no model.

Of structured text it tells the data format too: JSON, YAML, TOML, variables, tables of values.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence

from aider_gardener.messages import ContentClass, Segment, Source, SourceKind
from aider_gardener.reading import languages
from aider_gardener.reading.detectors import is_diff, is_listing, is_log, is_run, is_traceback
from aider_gardener.reading.late import late
from aider_gardener.reading.lineshape import (
    KEY_CHARS,
    VARIABLE,
    guess_code_share,
    is_sentence,
    sample_lines,
    shape_counts,
)
from aider_gardener.reading.output import plain, squeeze

PARSE_LIMIT_CHARS = 200_000
"""Up to this size JSON is judged by parsing it, above by its lines."""

COMMAND_CHARS = 1_000
"""So much of a command line is looked at."""

_YAML_KEY = late(r"\s*(?:- )?[\"']?[\w.$@/-]+[\"']?:(?:\s|$)")
_YAML_BLOCK = late(r":\s+[|>][+-]?$")
_YAML_ITEM = late(r"\s*- \S")
_TOML_LINE = late(
    r"\s*(?:\[\[?[^\]]+\]\]?\s*(?:#.*)?$|[\w.\"'-]+(?:\.[\w\"'-]+)* ?= ?\S|\]\s*$|\"[^\"]*\",?\s*$"
    r"|'[^']*',?\s*$|#|\{ ?\w+ = )"
)
_SECTION = late(r"\[\[?[\w.\"' :/*-]+\]\]?\s*(?:#.*)?$")

Verdict = tuple[ContentClass, str]

CODE_STRENGTH = 0.30
"""Share of lines with signs of one language from which a text is code."""

SURE_STRENGTH = 0.5
"""From here on a text is code whatever its lines look like, unless they are sentences."""

PRINTED_LINES, PRINTED_SHARE = 5, 0.35
"""So many lines of which fewer are sentences were printed by a program and not written."""

PACKED_CHARS = 300
"""So long is one line at least of what was written without line ends."""

WRAPPED_CHARS = 66
"""A sentence in a line as long as that may go on in the next."""

_ENDS = late(r"[.!?:;,…。！？]['\")*_`”’]*\s*$")

TEST_COMMAND = late(
    r"(?:^|[\s;&|/])(?:pytest|py\.test|unittest|tox|nox|jest|vitest|mocha|ava|phpunit|rspec|ctest|nextest)\b"
    r"|\b(?:npm|yarn|pnpm|bun|deno|cargo|go|dotnet|swift|mix|rake|make|gradle|gradlew|mvnw?|flutter|dart"
    r"|bazel|lein|sbt)(?: -\S+| run| exec)* (?:run )?(?:test|check|verify)\b|--test\b"
)
LISTING_COMMAND = late(
    r"^(?:sudo )?(?:ls|ll|tree|find|du|df|ps|grep|rg|ag|ack|git (?:log|grep|ls-files|status|branch)|fd)\b"
)

SHOW_COMMAND = late(r"(?:cat|bat|head|tail|less|type|sed -n \S+)(?: -\S+)*(?: \d+)? ([^\s|;&<>*]+)$")
BANNER = late(r"^(?:={4,} .+ ={4,}|_{4,} .+ _{4,}|E   +\S.*|\S+:\d+: (?:error|warning): .*)$", re.M)
_FENCE = late(r"^ {0,3}(?:`{3,}|~{3,})", re.M)
_LINK_OR_BOLD = r"\[[^\]\n]+\]\([^)\n]+\)|(?<!\*)\*\*[^*\n]+\*\*(?!\*)"
_TEXT_MARKUP = late(rf"{_LINK_OR_BOLD}|^#{{2,6}} \S", re.M)
_INLINE_MARKUP = late(rf"{_LINK_OR_BOLD}|^#{{1,6}} \S|^\s*[-*] \S.*[a-z]", re.M)


def json_kind(text: str, solid: list[str]) -> str:
    """ "json", "jsonl" or "": by parsing small texts, by the shape of the lines of large or broken ones."""
    first = solid[0].lstrip("\ufeff \t")[:1] if solid else ""
    if first not in ("{", "["):
        return ""
    if len(text) <= PARSE_LIMIT_CHARS:
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            pass
        else:
            return "json" if isinstance(value, dict | list) else ""
    elif len(solid) == 1:  # whose end is not among what is looked at
        return "json" if text.rstrip().endswith("}" if first == "{" else "]") else ""
    per_line = sum(1 for line in solid if line.startswith("{") and line.endswith("}") and '":' in line)
    if len(solid) >= 2 and per_line >= 0.9 * len(solid):
        events = sum('"level"' in line or '"time' in line or '"Action":"' in line for line in solid)
        return "" if events > len(solid) / 2 else "jsonl"
    like = sum(1 for line in solid if _JSON_LINE.match(line))
    return "json" if like >= 0.75 * len(solid) and (like >= 3 or len(solid) < 3) else ""


_JSON_LINE = late(
    r"\s*(?:[\[\]{}]+,?\s*$|\"[^\"]*\"\s*:\s|\"(?:[^\"\\]|\\.)*\",?\s*$|[{\[].*[\]},]$"
    r"|-?\d[\d.eE+-]*,?\s*$|//)"
)


_ENV_LINE = late(r"(?:export )?[A-Za-z_][\w.]*=\S*|#")


def _outside_blocks(solid: list[str]) -> list[str]:
    """The lines without the text that stands as a block below a key of YAML: it may be prose, or code."""
    outside: list[str] = []
    depth = -1
    for line in solid:
        indent = len(line) - len(line.lstrip())
        if not 0 <= depth < indent:
            depth = indent if _YAML_BLOCK.search(line) else -1
            outside.append(line)
    return outside


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


def classify(text: str, source: Source | None = None, *, path: str = "") -> Verdict:
    """The class and kind of one homogeneous text.

    The kind refines the class in the words of `Segment.kind`: a detector's word, a data format, or a
    language. The content decides; source and path settle what it leaves open. Looks at a bounded
    sample, so the cost doesn't grow with the text.
    """
    source = source or Source()
    if source.kind in (SourceKind.NOTICE, SourceKind.STUB):
        return ContentClass.PROSE, ""
    if source.kind is SourceKind.LINT:
        return ContentClass.LOG, ""
    path = path or _shown_path(source)
    language = languages.language_of_path(path) if path else ""
    hinted = by_language(language) if language and language not in languages.LOGS else None
    return hinted or _by_content(text, source)


def _shown_path(source: Source) -> str:
    """The file whose content the text is: a file's own path, or what a command printed as it is."""
    if source.kind is SourceKind.FILE:
        return source.detail
    shown = SHOW_COMMAND.match(source.detail[:COMMAND_CHARS]) if source.kind is SourceKind.COMMAND else None
    return shown[1] if shown else ""


def by_language(language: str) -> Verdict | None:
    """The class that a fence's or a file's language stands for, or None when it says nothing."""
    name = languages.language_name(language)
    if name in languages.STRUCTURED:
        return ContentClass.STRUCTURED, name
    if name == "diff":
        return ContentClass.DIFF, ""
    if name in ("markdown", "rst"):
        return ContentClass.PROSE, name
    return (
        None
        if name in languages.NOT_CODE or not name.replace("_", "").isalnum()
        else (ContentClass.CODE, name)
    )


def _by_content(text: str, source: Source) -> Verdict:
    lines = sample_lines(text)
    solid = [line for line in lines if line.strip()]
    if not solid:
        return ContentClass.PROSE, ""
    if data := json_kind(text, solid):
        return ContentClass.STRUCTURED, data
    is_written = source.kind in (SourceKind.TYPED, SourceKind.REPLY)
    if not is_written and _is_packed(solid):
        return ContentClass.LOG, ""
    sample = plain("\n".join(lines))
    counts = shape_counts(solid)
    changed = sum(line[0] in "+-" for line in solid)
    if changed >= 0.1 * len(solid) and is_diff(sample):
        return ContentClass.DIFF, ""
    may_be_code = guess_code_share(counts) >= 0.1
    language, strength = languages.guess_language(solid) if may_be_code else ("", 0.0)
    code = strength >= CODE_STRENGTH and guess_code_share(counts) >= 0.3
    if strength >= SURE_STRENGTH and not code:
        code = sum(map(is_sentence, solid)) < 0.25 * len(solid)
    if (not code or len(BANNER.findall(sample)) >= 2) and (found := _detected(sample, counts)):
        return found
    outside = _outside_blocks(solid)
    if not code and (shaped := shaped_data(outside, shape_counts(outside))):
        return ContentClass.STRUCTURED, shaped
    if _is_markdown(sample, counts, len(solid), code):
        return ContentClass.PROSE, "markdown"
    if source.kind is not SourceKind.TYPED and _repeats(solid):
        return ContentClass.LOG, ""
    if code:
        return ContentClass.CODE, language
    return _undecided(counts, solid, language, strength, source)


def _detected(sample: str, counts: Counter[str]) -> Verdict | None:
    if is_run(sample, counts):
        return ContentClass.LOG, ""
    if is_traceback(sample, counts):
        others = sum(counts.values()) - counts["trace"]
        is_log_with_traces = counts["log"] >= max(8, 0.5 * others)
        return (ContentClass.LOG if is_log_with_traces else ContentClass.ERROR), ""
    if is_log(counts):
        return ContentClass.LOG, ""
    return (ContentClass.LISTING, "") if is_listing(sample, counts) else None


def _is_markdown(sample: str, counts: Counter[str], total: int, code: bool) -> bool:
    """By its markup; list marks alone are none: programs print them too."""
    fences = len(_FENCE.findall(sample))
    if sample.startswith("#!") or (code and not fences):
        return False
    if not fences and not _TEXT_MARKUP.search(sample):
        return False
    markup = len(_INLINE_MARKUP.findall(sample)) + fences
    words = counts["prose"] + counts["bullet"]
    return (words >= 0.35 * total and markup >= 3) or (fences >= 2 and words >= 2 and counts["heading"] >= 1)


def _repeats(solid: Sequence[str]) -> bool:
    """True when most lines differ in numbers and blanks only: a program reports what it does."""
    kinds = Counter(VARIABLE.sub("\0", squeeze(line)[:KEY_CHARS]) for line in solid)
    return sum(many for kind, many in kinds.items() if many >= 4 and "\0" in kind) >= 0.7 * len(solid)


def _undecided(
    counts: Counter[str], solid: Sequence[str], language: str, strength: float, source: Source
) -> Verdict:
    """What no rule claimed: the stronger of code, log and prose, with the source to settle ties."""
    total = len(solid)
    code_share = guess_code_share(counts)
    words = counts["prose"] + counts["bullet"] + counts["heading"]
    if strength >= 0.2 and code_share >= 0.35 and code_share * total > words:
        return ContentClass.CODE, language
    if source.kind in (SourceKind.COMMAND, SourceKind.TEST):
        listed = LISTING_COMMAND.match(source.detail[:COMMAND_CHARS])
        return (ContentClass.LISTING, "") if listed else (ContentClass.LOG, "")
    is_written = source.kind in (SourceKind.TYPED, SourceKind.REPLY)
    return (ContentClass.LOG, "") if not is_written and _is_printed(solid) else (ContentClass.PROSE, "")


def _is_packed(solid: Sequence[str]) -> bool:
    """True for few lines of which one is very long and no sentence, as what was minified, or dumped, has."""
    is_packed = (len(line) >= PACKED_CHARS and not is_sentence(line) for line in solid)
    return len(solid) < PRINTED_LINES and any(is_packed)


def _is_printed(solid: Sequence[str]) -> bool:
    """True for lines that a program printed: few are sentences that end, go on in the next, or are listed."""

    def ends_a_sentence(line: str) -> bool:
        ends = len(line) >= WRAPPED_CHARS or _ENDS.search(line) or _INLINE_MARKUP.match(line)
        return is_sentence(line) and bool(ends)

    fenced = any(map(_FENCE.match, solid))
    return (
        not fenced
        and len(solid) >= PRINTED_LINES
        and sum(map(ends_a_sentence, solid)) < PRINTED_SHARE * len(solid)
    )


def dominant_class(content: str, source: Source, segments: Sequence[Segment]) -> ContentClass:
    """The class of a whole message: prompt for anything typed by the user, otherwise the class that
    most of its characters belong to."""
    if source.kind is SourceKind.TYPED:
        return ContentClass.PROMPT
    if source.kind in (SourceKind.NOTICE, SourceKind.STUB) or not segments:
        return ContentClass.PROSE
    weights: Counter[ContentClass] = Counter()
    for segment in segments:
        weights[segment.cls] += segment.end - segment.start
    words = weights[ContentClass.PROSE] + weights[ContentClass.PROMPT]
    if source.kind is SourceKind.REPLY and weights[ContentClass.EDIT] == 0 and words * 4 >= len(content):
        return ContentClass.PROSE
    return weights.most_common(1)[0][0]
