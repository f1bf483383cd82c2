"""Where a message came from, read off the fixed texts that aider wraps around what it adds.

The strings are aider 0.86's; a test compares them with the installed aider.
"""

from __future__ import annotations

import re

from aider_gardener.messages import Source, SourceKind
from aider_gardener.reading.late import late

RUN_HEAD = "I ran this command:\n\n"
RUN_MIDDLE = "\n\nAnd got this output:\n\n"
SHELL_HEAD = "Output from "
WEB_HEAD = "Here is the content of "
WEB_MIDDLE = ":\n\n"
LINT_HEAD = "# Fix any errors below, if possible."

INTERRUPTION = "^C KeyboardInterrupt"
"""Of an answer that the user broke off; behind the question where nothing of it had come."""
BY_EDITOR = "I made those changes to the files."
"""Behind an architect's reply that its editor has carried out; which commits it made is not said."""
NOTICE_HEADS = (
    "I committed the changes with git hash ",
    "I updated the files.",
    "I didn't see any properly formatted edits in your reply?!",
    "I edited the files myself.",
    BY_EDITOR,
    "I added these files to the chat: ",
    "I did `git reset --hard HEAD~1` to discard the last edits.",
    "I spoke to you previously about a number of things.",
    "I switched to a new code base.",
    "I have updated the set of files added to the chat.",
    "The LLM did not conform to the edit format.",
    INTERRUPTION,
)
ACKNOWLEDGEMENTS = frozenset(
    {
        "Ok.",
        "Ok, I won't try and edit those files without asking first.",
        "Ok, any changes I propose will be to those files.",
        "Ok, I will use these files as references.",
        "Ok, I will use these images as references.",
        "Ok, I will use that as the true, current contents of the files.",
        "Ok, based on your requests I will suggest which files need to be edited and then"
        " stop and wait for your approval.",
    }
)
ANSWER = Source(SourceKind.REPLY, "/ask")
"""Of a reply in a mode that edits no file: what looks like an edit there is code that it speaks of."""
NOT_APPLIED = "not applied"
LAST_CHAT = Source(SourceKind.STUB, "the last chat")
"""Of the note that a chat begins with on the one before it."""
NOTE_END = "(End of quotes.)"
"""How a note that quotes ends."""
_OWN_COMMAND = late(
    r"^mcp__[\w-]*gardener[\w-]*__|(?:^|[;&|(\n])[ \t]*"
    r"(?:(?:\w+=\S*|(?:uv|poetry|pipx)\s+run|uvx|sudo|env|time|nohup|xargs|timeout\s+\S+|\w{0,3}sh\s+-l?c)\s+)*['\"]?"
    r"(?:(?:\S*[/\\])?gardener(?:\.exe)?|(?:\S*/)?python[\d.]*\s+-m\s+aider_gardener\.cli)"
    r"\s+(?!run\b|compress\b)\w"
)
"""A tool or command of ours that shows what is in the archive."""
_FOR_THE_USER = late(
    r"\s*(?:I've written your instructions in comments in the code|Find the \"AI\" comments below \(marked"
    r"|# Question: .*?\n\n# Relevant docs:\n)",
    re.S,
)
_FAILED_EDIT = late(
    r"# \d+ SEARCH/REPLACE blocks? failed to match!|UnifiedDiff(?:NoMatch|NotUnique): hunk failed to apply!"
    r"|No filename provided before .{1,20} in file listing"
    r"|(?:E|Unexpected e)rror (?:parsing patch(?: content)?: |applying action ')"
)
_OTHERS_APPLIED = late(
    r"^# The other \d+ SEARCH/REPLACE blocks? were applied |^Note: some hunks did apply ", re.M
)
_MALFORMED = late(r"\n\^\^\^ (?:Expected `|Bad/missing filename\.).*$", re.S)


def infer_source(role: str, content: str) -> Source:
    """The source of a message as far as its text tells; `detail` is the command line or URL."""
    head = content[:4_000].lstrip()
    if role == "assistant":
        return Source(SourceKind.NOTICE if content.strip() in ACKNOWLEDGEMENTS else SourceKind.REPLY)
    if role not in ("user", ""):
        return Source(SourceKind.NOTICE if role == "system" else SourceKind.UNKNOWN)
    if head.startswith(RUN_HEAD.strip()):
        parts = command_parts(content)
        if parts:
            return command_source(parts[0])
    if head.startswith(SHELL_HEAD) and "\n" in head:
        return command_source(head[len(SHELL_HEAD) :].split("\n", 1)[0])
    if head.startswith(WEB_HEAD) and ":\n" in head:
        url = head[len(WEB_HEAD) :].split(":\n", 1)[0]
        if url and not any(c.isspace() for c in url):
            return Source(SourceKind.WEB, url)
    if head.startswith(LINT_HEAD):
        return Source(SourceKind.LINT)
    if head.startswith(NOTICE_HEADS) or failed_edit(content):
        return Source(SourceKind.NOTICE)
    return Source(SourceKind.TYPED)


def command_source(command: str) -> Source:
    """The source of what a command line gave."""
    from aider_gardener.reading.classify import (  # late: looking up needs no classes
        COMMAND_CHARS,
        TEST_COMMAND,
    )

    command = command.strip()
    return Source(
        SourceKind.TEST if TEST_COMMAND.search(command[:COMMAND_CHARS]) else SourceKind.COMMAND, command
    )


def own_output(source: Source) -> bool:
    """Whether what was run shows what is archived already: of that no new original is made."""
    if source.kind not in (SourceKind.COMMAND, SourceKind.TEST):
        return False
    from aider_gardener.reading.classify import COMMAND_CHARS  # late: looking up needs no classes

    return _OWN_COMMAND.search(source.detail[:COMMAND_CHARS]) is not None


def command_parts(content: str) -> tuple[str, int] | None:
    """The command line of a run wrapper and the offset where its output starts, or None."""
    start = content.find(RUN_HEAD)
    if start < 0 or content[:start].strip():
        return None
    middle = content.find(RUN_MIDDLE, start)
    if middle < 0:
        return None
    return content[start + len(RUN_HEAD) : middle], middle + len(RUN_MIDDLE)


def is_for_the_user(content: str) -> bool:
    """True for what aider says in its user's name: its words around the comments of watched files, and around
    its own documentation for /help."""
    return _FOR_THE_USER.match(content[:4_000]) is not None


def failed_edit(content: str) -> str:
    """What became of an edit by what aider says where one did not apply or could not be read; "" for another
    text."""
    if not (_FAILED_EDIT.search(content[:400]) or _MALFORMED.search(content[-600:])):
        return ""
    return "applied in part" if _OTHERS_APPLIED.search(content[-600:]) else NOT_APPLIED
