"""Cutting a message into spans of one class: explicit blocks (fences, edit blocks) first, then what was
pasted between a person's own words.
"""

from __future__ import annotations

from aider_gardener.messages import ContentClass, Segment, Source, SourceKind
from aider_gardener.reading import languages
from aider_gardener.reading.blocks import Block, find_blocks
from aider_gardener.reading.classify import Verdict, by_language, classify
from aider_gardener.reading.excerpt import excerpt, in_whole
from aider_gardener.reading.lineshape import MACHINE, line_shape
from aider_gardener.reading.output import without_codes
from aider_gardener.reading.source import ANSWER, SHELL_HEAD, WEB_HEAD, WEB_MIDDLE, command_parts

MIN_PASTE_LINES = 3
"""Fewer machine lines in a row than this stay part of the words around them."""

SCAN_LIMIT_CHARS = 400_000
"""So much of a message's words is searched for pastes line by line; what lies behind is taken whole."""

BLOCK_LIMIT = 400
"""So many blocks of a message are classified by their content, the rest by their fence only; and so many
pastes are told from the words around them."""

MOST_BLOCKS = 2_000
"""What stands behind so many blocks is told as words."""

_PROSE_KINDS = (ContentClass.PROSE, ContentClass.PROMPT)


def segment(content: str, source: Source = Source()) -> tuple[Segment, ...]:  # noqa: B008 - frozen
    """The spans of a message: they cover it, in order, without overlap. Linear in its size."""
    short = excerpt(content)
    if short is not content:
        return in_whole(segment(short, source), short, content)
    if not content:
        return ()
    kind = source.kind
    if kind in (SourceKind.NOTICE, SourceKind.STUB, SourceKind.LINT, SourceKind.FILE):
        return (_span(0, len(content), classify(content, source)),)
    if kind in (SourceKind.COMMAND, SourceKind.TEST):
        return _command(content, source)
    if kind is SourceKind.WEB:
        return _web(content)
    if kind is SourceKind.UNKNOWN:
        whole = classify(content, source)
        if whole[0] not in _PROSE_KINDS and content.lstrip()[:3] not in ("```", "~~~"):
            return (_span(0, len(content), whole),)
    return _mixed(content, source)


def _span(start: int, end: int, verdict: Verdict) -> Segment:
    cls, kind = verdict
    return Segment(start, end, cls, kind, kind if cls is ContentClass.CODE else "")


def _command(content: str, source: Source) -> tuple[Segment, ...]:
    """The wrapper's lines as prose of kind "wrapper", then the output by its own class."""
    parts = command_parts(content)
    if parts:
        body = parts[1]
    elif content.lstrip().startswith(SHELL_HEAD):
        body = content.find("\n") + 1
    else:
        body = 0
    head = [Segment(0, body, ContentClass.PROSE, "wrapper")] if body else []
    output = content[body:]
    if not output.strip():
        return (*head, Segment(body, len(content), ContentClass.LOG, "")) if output else tuple(head)
    return (*head, _span(body, len(content), classify(output, source)))


def _web(content: str) -> tuple[Segment, ...]:
    body = 0
    if content.startswith(WEB_HEAD):
        body = content.find(WEB_MIDDLE) + len(WEB_MIDDLE)
    head = [Segment(0, body, ContentClass.PROSE, "wrapper")] if body else []
    rest = segment(content[body:], Source())
    return (*head, *(Segment(s.start + body, s.end + body, s.cls, s.kind, s.language) for s in rest))


def _mixed(content: str, source: Source) -> tuple[Segment, ...]:
    """Words with blocks between them."""
    spans: list[Segment] = []
    at = 0
    command = ""
    for number, block in enumerate(find_blocks(content)):
        if number >= MOST_BLOCKS:
            break
        if block.start > at:
            spans.extend(_plain(content, at, block.start, source))
            if content[at : block.start].strip():
                command = ""
        spans.append(_block_span(content, block, source, command if number < BLOCK_LIMIT else None))
        command = _shell_command(content, block)
        at = block.end
    if at < len(content):
        spans.extend(_plain(content, at, len(content), source))
    return tuple(_joined(spans))


def _shell_command(content: str, block: Block) -> str:
    """The command line in a short shell fence: what follows it in the next fence is its output."""
    body = content[block.inner_start : block.inner_end].strip()
    shell = block.kind == "fence" and languages.language_name(block.info) in ("bash", "powershell")
    return body if shell and body and body.count("\n") < 3 and len(body) < 1_000 else ""


def _block_span(content: str, block: Block, source: Source, command: str | None) -> Segment:
    """The span of a block; `command` wrote it if it is not empty, None leaves its content unread."""
    if block.kind in ("search-replace", "patch") and source != ANSWER:
        return Segment(block.start, block.end, ContentClass.EDIT, block.kind)
    reply = source.kind is SourceKind.REPLY and source != ANSWER
    if block.kind == "udiff":
        cls = ContentClass.EDIT if reply else ContentClass.DIFF
        return Segment(block.start, block.end, cls, "udiff" if reply else "")
    if block.kind == "path-fence" and reply:
        language = languages.language_of_path(block.path) or languages.language_name(block.info)
        return Segment(block.start, block.end, ContentClass.EDIT, "whole-file", language)
    body = content[block.inner_start : block.inner_end]
    if command is None:
        return _span(block.start, block.end, by_language(block.info.split(" ")[0]) or (ContentClass.CODE, ""))
    origin = Source(SourceKind.COMMAND, command) if command and not block.info else Source()
    verdict = by_language(block.info.split(" ")[0]) or classify(body, origin, path=block.path)
    if verdict[0] is ContentClass.CODE and verdict[1] == "bash":
        verdict = _terminal(body, verdict)
    return _span(block.start, block.end, verdict)


def _terminal(body: str, verdict: Verdict) -> Verdict:
    """A fence marked as shell often holds a session's output rather than a script."""
    found = classify(body)
    return (
        found
        if found[0] in (ContentClass.LOG, ContentClass.LISTING, ContentClass.DIFF, ContentClass.ERROR)
        else verdict
    )


def _plain(content: str, start: int, end: int, source: Source) -> list[Segment]:
    """Words between blocks; runs of machine lines among them were pasted and get their own class."""
    words = ContentClass.PROMPT if source.kind is SourceKind.TYPED else ContentClass.PROSE
    base = Segment(start, end, words)
    text = content[start:end]
    if text.count("\n") < MIN_PASTE_LINES - 1:
        return [base]
    # Behind the limit words are not searched line by line: a large piece of them has one class.
    if end > SCAN_LIMIT_CHARS + len(text) // 4:
        if len(text) < SCAN_LIMIT_CHARS // 100:
            return [base]
        verdict = classify(text, source)
        return [base if verdict[0] is ContentClass.PROSE else _span(start, end, verdict)]
    spans: list[Segment] = []
    at = start
    for run_start, run_end in _machine_runs(text)[:BLOCK_LIMIT]:
        verdict = classify(text[run_start:run_end])
        if verdict[0] in _PROSE_KINDS:
            continue
        if start + run_start > at:
            spans.append(Segment(at, start + run_start, words))
        spans.append(_span(start + run_start, start + run_end, verdict))
        at = start + run_end
    if at < end:
        spans.append(Segment(at, end, words))
    return spans


def _machine_runs(text: str) -> list[tuple[int, int]]:
    """Spans of consecutive lines that nobody types: at least three machine lines, no words between."""
    runs: list[tuple[int, int]] = []
    at, begin, last_end, machine, quiet, words = 0, -1, 0, 0, 0, 0
    for line in [*text.splitlines(keepends=True), "\0end"]:
        shape = "end" if line == "\0end" else line_shape(without_codes(line[:800]).rstrip("\r\n"))
        # A strong line is one that only a machine writes; it alone begins a run. A weak one could be either:
        # it goes with the run around it, and ends it only when six follow each other. Once eight strong
        # lines have shown that a paste is going on, up to two lines of words inside it (a log's own prose)
        # don't end it either. The run stops at its last line that is no word and no blank.
        strong = shape in MACHINE or (shape == "code" and line.rstrip().endswith(("{", "}", ";", "):")))
        weak = shape in ("blank", "other", "code", "marker", "table", "yaml", "section", "assign") or line[
            :2
        ] in ("  ", "\t")
        if strong:
            begin = at if begin < 0 else begin
            machine, quiet, words = machine + 1, 0, 0
            last_end = at + len(line)
        elif begin >= 0 and shape != "end" and weak and quiet < 6:
            quiet += 1
            if shape != "blank" and shape != "prose":
                last_end = at + len(line)
        elif begin >= 0 and shape != "end" and words < 2 and machine >= 8:
            words += 1
        elif begin >= 0:
            if machine >= MIN_PASTE_LINES:
                runs.append((begin, last_end))
            begin, machine, quiet, words = -1, 0, 0, 0
        at += len(line)
    return runs


def _joined(spans: list[Segment]) -> list[Segment]:
    """Neighbouring spans of the same words become one."""
    joined: list[Segment] = []
    for span in spans:
        last = joined[-1] if joined else None
        if last and last.cls is span.cls and last.cls in _PROSE_KINDS and not last.kind and not span.kind:
            joined[-1] = Segment(last.start, span.end, last.cls)
        else:
            joined.append(span)
    return joined
