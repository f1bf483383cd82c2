"""Cuts the text of an `.aider.chat.history.md` into what each part is: header, prompt, notice, reply.

What the host writes, line by line (two spaces end a line that it wrote itself):

- a header, when it starts: an empty line, `# aider chat started at DATE TIME`, an empty line;
- a prompt: an empty line, then each line as `#### text` and two spaces;
- a notice: `> text` and two spaces; a notice of several lines has `> ` on the first one only and the
  two spaces on the last one only (warnings have both on each line); no empty line before it;
- a reply: an empty line, the text as the model wrote it, stripped, and an empty line.

Between a header and the first prompt the host writes notices only, whatever they look like.

So a reply may hold anything, headings and quotes included. What ends it is decided thus: a header;
two empty lines and a prompt line; an empty line and a run of `> ` lines that all end in two spaces.
Within a fence or an edit block, which a reply that was cut off leaves open, only notices that follow
a reply for certain end it, and a run of notices with a prompt, a header or nothing behind it.

Ambiguous by the format, and how it is read: a reply that holds a `> ` line or, after two empty
lines, a `#### ` line, each ending in exactly two spaces, is cut there; two replies with no notice
between are one; line ends other than a line feed in prompts become line feeds; white space at the
end of a prompt is gone; `<blank>` is an empty prompt.

Notices are read in the wording of every version of the host.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

HEADER = re.compile(r"# [Aa]ider chat started at \d{4}-\d\d-\d\d \d\d:\d\d(:\d\d)?\s*$")
FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)$")
SEARCH = re.compile(r"<{5,9} (SEARCH|ORIGINAL|HEAD)\b")
REPLACE = re.compile(r">{5,9} (REPLACE|UPDATED|[a-z])")
"""The marks of edit blocks through all versions; `HEAD` may also begin a conflict of git."""
USAGE = re.compile(r"Tokens: [\d.,]+[kKmM]? sent")
AFTER_REPLY = re.compile(
    r"Tokens: [\d.,]+[kKmM]? sent|Applied edit to |Did not apply edit to |Skipping edits to "
    r"|Commit [0-9a-f]{7,} |Committing .* before applying|The LLM did not conform"
    r"|Only \d+ reflections|Allow (creation|edits) |Malformed response #|Update exception #"
    r"|Model \S+ has hit a token limit|\^C (again|Keyboard)|Retrying in \d|litellm\.\w+Error"
    r"|Exception while updating files|Failed to apply edit to |[Ss]ummariz\w+ (unexpectedly )?failed"
    r"|Add these files to the chat\? |.*\(Y\)es/\(N\)o"
)
KNOWN_NOTICE = re.compile(
    AFTER_REPLY.pattern + r"|Added? |Create new file|Attempt to fix|Run shell command|Running "
    r"|Scraping |Retrying in|litellm\.|Model:? .*(token limit|edit format)|\^C|Unable to |Can't "
    r"|Dropping |Removed |https://aider\.chat|# Fix any errors|Aider v|Main model:|Weak model:"
    r"|Git repo|Repo-map|Use /help|You can use /undo"
)
SILENT_COMMANDS = frozenset({"/git", "/settings", "/map", "/tokens", "/models"})
"""Commands that show long texts and ask no model: all that follows them is notice."""

CONFIRM = re.compile(r"[^\n]*\? (?:\(Y\)es/\(N\)o|\[Y/n\]|(?:y|n|a|s|d|yes|no)$)", re.IGNORECASE)
EDIT_ERROR = re.compile(r"The LLM did not conform|Malformed response #|Update exception #")
ABOUT_EDIT_ERRORS = re.compile(r"https://aider\.chat/|For more info see: https://aider\.chat/")
ENDS_A_TEXT = re.compile(
    r"Tokens: |Commit [0-9a-f]{7}|Applied edit to |Only \d+ reflections|\^C |Added \d+ lines? of output"
)


@dataclass(frozen=True)
class Span:
    """One part of the file: `kind` is header, prompt, notice or reply.

    Consecutive notices are one span; `notices` are its single ones, of one line or of several.
    Prompts, notices and replies have lost what the host added.
    """

    kind: str
    text: str
    notices: tuple[str, ...] = ()


def spans(text: str) -> Iterator[Span]:
    yield from _Scanner(text).run()


class _Scanner:
    """The lines and a position; each `read_*` takes one part and moves the position behind it."""

    def __init__(self, text: str) -> None:
        self.raw = text.split("\n")
        self.lines = [line.rstrip("\r") for line in self.raw] if "\r" in text else self.raw
        self.at = 0
        self.bare = self.is_bare(0)
        self.silent = False

    def run(self) -> Iterator[Span]:
        last, blanks = "", 1
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not line.strip():
                blanks, self.at = blanks + 1, self.at + 1
                continue
            notices: tuple[str, ...] = ()
            if self.header_here(self.at):
                kind, text = "header", line.strip()
                self.at, self.silent = self.at + 1, True
                self.bare = self.is_bare(self.at)
            elif blanks and self.prompt_line(line):
                kind, text = "prompt", self.read_prompt()
                self.silent = text.split(None, 1)[:1] != [] and text.split()[0] in SILENT_COMMANDS
            elif self.notice_here(last, blanks):
                notices = self.read_notices()
                kind, text = "notice", "\n".join(notices).rstrip()
            else:
                kind, text = "reply", self.read_reply()
            last, blanks = kind, self.blanks_before(self.at)
            if text or kind == "prompt":
                yield Span(kind, text, notices)

    def is_bare(self, at: int) -> bool:
        """Whether an editor has taken the white space off the line ends of the chat that begins here: what
        was said since it saved the file has it again."""
        marked = set[bool]()
        while at < len(self.lines) and not self.header_here(at):
            if self.lines[at].startswith(("#### ", "> ")):
                marked.add(self.lines[at].endswith("  "))
            at += 1
        return marked == {False}

    def ends_marked(self, line: str) -> bool:
        return self.bare or line.endswith("  ")

    def blanks_before(self, at: int) -> int:
        count = 0
        while at - count > 0 and count < 2 and not self.lines[at - count - 1].strip():
            count += 1
        return count

    def header_here(self, at: int) -> bool:
        line = self.lines[at]
        if not line.startswith("# ") or not HEADER.match(line):
            return False
        before = at == 0 or not self.lines[at - 1].strip()
        return before and (at + 1 >= len(self.lines) or not self.lines[at + 1].strip())

    def prompt_line(self, line: str) -> bool:
        return line.startswith("####") and self.ends_marked(line) and line[4:5] in ("", " ")

    def notice_here(self, last: str, blanks: int) -> bool:
        line = self.lines[self.at]
        if self.silent or (last == "notice" and not blanks):
            return True
        if not line.startswith(">") or line[1:2] not in ("", " "):
            return False
        if last in ("", "header", "reply") or not blanks:
            return True
        return self.ends_marked(line) and bool(KNOWN_NOTICE.match(line[2:]))

    def read_prompt(self) -> str:
        found = []
        while self.at < len(self.lines) and self.prompt_line(self.lines[self.at]):
            body = self.lines[self.at][4:]
            body = body[:-2] if body.endswith("  ") else body
            found.append(body[1:] if body.startswith(" ") else body)
            self.at += 1
        return "\n".join(found).rstrip()

    def read_notices(self) -> tuple[str, ...]:
        """Take notices up to the next empty line; an open one goes on to its two spaces."""
        found: list[list[str]] = []
        is_open = False
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if self.header_here(self.at) or (self.blanks_before(self.at) and self.prompt_line(line)):
                break
            if not line and not is_open and not self.silent:
                break
            begins = line.startswith("> ") or line == ">"
            if not found or (begins and (not is_open or KNOWN_NOTICE.match(line[2:]))):
                found.append([line[2:] if begins else line])
            else:
                found[-1].append(line)
            is_open = not line.endswith("  ") and not self.bare
            self.at += 1
        return tuple("\n".join(part.rstrip() for part in parts).rstrip() for parts in found)

    def read_reply(self) -> str:
        start, fence, editing = self.at, "", False
        self.at += 1
        fence, editing = _fence_after(self.lines[start], fence, editing)
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if line[:1] in ("#", ">") and self.reply_ends(bool(fence) or editing):
                break
            fence, editing = _fence_after(line, fence, editing)
            self.at += 1
        written_on_windows = start > 0 and self.raw[start - 1].endswith("\r")
        source = self.lines if written_on_windows else self.raw
        return "\n".join(source[start : self.at]).strip()

    def reply_ends(self, fenced: bool) -> bool:
        line, blanks = self.lines[self.at], self.blanks_before(self.at)
        if not blanks:
            return False
        if line.startswith("#"):
            return self.header_here(self.at) or (blanks > 1 and self.prompt_line(line))
        if line[1:2] not in ("", " "):
            return False
        if USAGE.match(line[2:]) and self.usage_complete(self.at):
            return True
        notice = self.first_notice(self.at)
        if fenced:
            return self.ends_marked(line) and (
                bool(AFTER_REPLY.match(notice)) or self.run_is_the_hosts(self.at)
            )
        if self.bare or KNOWN_NOTICE.match(notice):
            return self.ends_marked(line) and bool(KNOWN_NOTICE.match(notice))
        return self.run_is_marked(self.at)

    def first_notice(self, at: int) -> str:
        """The first notice from here on that isn't empty: the host sets empty ones before some."""
        while at + 1 < len(self.lines) and self.lines[at].rstrip() == ">":
            at += 1
        return self.lines[at][2:] if self.lines[at].startswith("> ") else ""

    def usage_complete(self, at: int) -> bool:
        """A usage line ends in two spaces, or its costs follow on a line of their own that does."""
        following = self.lines[at + 1] if at + 1 < len(self.lines) else ""
        return self.ends_marked(self.lines[at]) or (
            following.startswith("Cost: $") and self.ends_marked(following)
        )

    def run_is_marked(self, at: int) -> bool:
        """Whether every `>` line from here to the next other line ends in two spaces."""
        return all(line.endswith("  ") for line in self.lines[at : self.run_end(at)])

    def run_is_the_hosts(self, at: int) -> bool:
        """Whether a marked run of `>` lines says what only the host says, or ends the turn."""
        if self.bare or not self.run_is_marked(at):
            return False
        end = self.run_end(at)
        if any(AFTER_REPLY.match(line[2:]) for line in self.lines[at:end]):
            return True
        if end + 1 >= len(self.lines):
            return True
        behind = self.lines[end + 1]
        return not self.lines[end] and (self.header_here(end + 1) or self.prompt_line(behind))

    def run_end(self, at: int) -> int:
        while at < len(self.lines) and self.lines[at].startswith(">"):
            at += 1
        return at


def _fence_after(line: str, fence: str, editing: bool) -> tuple[str, bool]:
    """The fence that is open behind a line ("" for none), and whether an edit block is."""
    if editing:
        return fence, not REPLACE.match(line)
    if SEARCH.match(line):
        return fence, True
    match = FENCE.match(line)
    if not match:
        return fence, False
    mark, info = match.groups()
    if not fence:
        return ("" if mark[0] == "`" and "`" in info else mark), False
    closes = mark[0] == fence[0] and len(mark) >= len(fence) and not info.strip()
    return ("" if closes else fence), False


def text_end(notices: Sequence[str], at: int) -> int:
    """The first notice from here on that says something else."""
    while at < len(notices) and not (CONFIRM.match(notices[at]) or ENDS_A_TEXT.match(notices[at])):
        at += 1
    return at
