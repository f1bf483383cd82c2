"""A whole message: each segment by its class, the host's wrapper lines in a short form."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from aider_gardener.compress.base import PROMPT_WHOLE_TOKENS, Context, is_shorter, unchanged
from aider_gardener.compress.code import FOLDED
from aider_gardener.compress.code.tree import parses
from aider_gardener.compress.registry import compress_text
from aider_gardener.messages import Compressed, ContentClass, Focus, Segment, Source, SourceKind, TokenCounter
from aider_gardener.reading.classify import dominant_class
from aider_gardener.reading.excerpt import excerpt
from aider_gardener.reading.languages import DECLARES
from aider_gardener.reading.late import late
from aider_gardener.reading.output import message_without_codes
from aider_gardener.reading.segments import segment
from aider_gardener.tokens import approximate

_MARKER_LINE = late(r"^[ \t]*\[… .*\][ \t]*$", re.M)

SHORT_HEADS = ("Ran: ", "Content of ")
"""What the wrapper of a command's output and of a web page becomes."""

WHOLE_CODE_LINES = 6
"""Code blocks between words stay whole up to this many lines."""


def compress_message(
    content: str,
    source: Source,
    *,
    segments: Sequence[Segment] | None = None,
    focus: Focus = Focus(),  # noqa: B008 - frozen
    entry_id: str = "",
    count: TokenCounter = approximate,
) -> Compressed:
    """The compressed form of a message: never longer, stable when compressed again.

    What the user typed stays whole up to PROMPT_WHOLE_TOKENS, pastes inside it go by their class;
    applied edit blocks become one line a file; the host's own notices stay. `entry_id` is named in
    the markers that say what was left out.
    """
    whole, content = content, excerpt(content, focus.telling)
    if segments is None or content is not whole:
        segments = segment(content, source)
    content, parts = message_without_codes(content, segments)
    cls = dominant_class(content, source, parts)
    if source.kind in (SourceKind.NOTICE, SourceKind.STUB) or already_compressed(content, source):
        return unchanged(whole, cls)
    omitted_lines = whole.count("\n") - content.count("\n")
    ctx = Context("", "", focus, entry_id, count, omitted_lines)
    text, engine, failed = _shown(content, edits_together(content, parts), source, ctx)
    if not is_shorter(text, whole, count):
        return replace(unchanged(whole, cls), failed=failed)
    return Compressed(text, cls, engine, failed=failed)


def _shown(content: str, parts: Sequence[Segment], source: Source, ctx: Context) -> tuple[str, str, str]:
    """The parts in their short forms, one after the other, what shortened the largest, and what failed."""
    failed, engine, size = "", "", 0
    texts: list[str] = []
    largest = max(parts, key=lambda part: part.end - part.start, default=None)
    for part in parts:
        omitted_lines = ctx.omitted_lines if part is largest else 0  # what an excerpt leaves out
        own = replace(ctx, kind=part.kind, language=part.language, omitted_lines=omitted_lines)
        result = _part(content, part, source, own)
        if result.engine and part.end - part.start > size:
            engine, size = result.engine, part.end - part.start
        failed = failed or result.failed
        breaks = content[part.start - 1 : part.start] == "\n"
        if breaks and texts and texts[-1] and not texts[-1].endswith("\n"):
            texts.append("\n")
        texts.append(result.text)
    return "".join(texts), engine, failed


def already_compressed(content: str, source: Source) -> bool:
    """True when the message has a marker line of ours, folded rows, or a wrapper in its short form."""
    wrapped = bool(source.detail) and content.startswith(SHORT_HEADS)
    marked = "…" in content and bool(_MARKER_LINE.search(content) or FOLDED.search(content))
    return wrapped or marked


def edits_together(content: str, parts: Sequence[Segment]) -> list[Segment]:
    """Edit segments with only blank space between them become one."""
    joined: list[Segment] = []
    for part in parts:
        back = 2 if len(joined) > 1 and not content[joined[-1].start : joined[-1].end].strip() else 1
        last = joined[-back] if joined else None
        if last and part.cls is last.cls is ContentClass.EDIT and last.kind == part.kind != "whole-file":
            joined[-back:] = [replace(last, end=part.end)]
        else:
            joined.append(part)
    return joined


def _part(content: str, part: Segment, source: Source, ctx: Context) -> Compressed:
    text = content[part.start : part.end]
    if part.kind == "wrapper":
        return Compressed(_short_wrapper(text, source), part.cls)
    if part.cls is ContentClass.PROMPT and len(text) < 3 * PROMPT_WHOLE_TOKENS:
        return unchanged(text, part.cls)
    if part.cls is ContentClass.EDIT:
        return compress_text(text, part.cls, replace(ctx, entry_id=""))  # the whole message is named once
    head, body, tail = _unfenced(text)
    if head and part.cls is ContentClass.CODE and body.count("\n") <= WHOLE_CODE_LINES:
        return unchanged(text, part.cls)
    result = compress_text(body, part.cls, ctx)
    printed = source.kind in (SourceKind.COMMAND, SourceKind.TEST) and part.cls is ContentClass.CODE
    stays = printed and 2 * len(result.text) > len(body)
    if stays and (part.language in DECLARES or not parses(body, part.language)):  # rows, or hardly code
        result = compress_text(body, ContentClass.LOG, ctx)
    if result.lossless:
        return replace(result, text=text)
    middle = result.text if not tail or result.text.endswith("\n") else result.text + "\n"
    return replace(result, text=head + middle + tail)


def _short_wrapper(text: str, source: Source) -> str:
    if not source.detail:
        return text
    if source.kind is SourceKind.WEB:
        return f"{SHORT_HEADS[1]}{source.detail}:\n"
    return f"{SHORT_HEADS[0]}{source.detail}\nOutput:\n"


def _unfenced(text: str) -> tuple[str, str, str]:
    """A fenced block as (opening lines, body, closing line); ("", text, "") when there is no fence."""
    lines = text.split("\n")
    for index, line in enumerate(lines[:2]):
        mark = line.lstrip(" ")[:3]
        if mark in ("```", "~~~") and len(line) - len(line.lstrip(" ")) < 4:
            head = "\n".join(lines[: index + 1]) + "\n"
            body = text[len(head) :]
            stripped = body.rstrip()
            last = stripped.rfind("\n") + 1
            if stripped[last:].strip().startswith(mark) and not stripped[last:].strip().strip("`~"):
                return head, body[:last], body[last:]
            return head, body, ""
    return "", text, ""
