"""What the host's notices in a chat history say, in the wording of every version."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

OPTIONS = r"(?:\(Y\)es/\(N\)o[ \w'/()]*\[\w+\]: |\[Y/n\] )?"
CONFIRM = re.compile(r"(?P<question>[^\n]*\?) " + OPTIONS + r"(?P<answer>y|n|a|s|d|yes|no)$", re.IGNORECASE)
WITH_SUBJECT = ("Add file", "Add URL", "Create new file", "Run shell command", "Allow edits", "Open ")
"""Beginnings of the questions that name what they are about in the notice before them."""
OUTPUT_QUESTION = "Add the output to the chat?"
"""Asked up to 0.63. Behind it stands the output, line by line; in most versions before it as well."""
OUTPUT_OPTIONS = re.compile(r"\s*(\(y/n/instructions\)|\(Y\)es/\(n\)o/message with instructions:)")
EDIT_ERROR = re.compile(r"The LLM did not conform|Malformed response #|Update exception #")
ABOUT_EDIT_ERRORS = re.compile(r"https://aider\.chat/|For more info see: https://aider\.chat/")
ENDS_A_TEXT = re.compile(
    r"Tokens: |Commit [0-9a-f]{7}|Applied edit to |Only \d+ reflections|\^C |Added \d+ lines? of output"
)
NOISE = re.compile(r"$|\^C |Retrying in \d|Initial repo scan|Repo-map ")
"""Notices that aren't the output of a test."""


@dataclass(frozen=True)
class Confirmation:
    """A question of the host, what it was about ("" where it names it itself), and the answer."""

    question: str
    subject: str
    answer: bool


@dataclass(frozen=True)
class AskedOutput:
    """Whether an output entered the chat, which, and what was typed to go with it ("" for nothing)."""

    added: bool
    output: str = ""
    instructions: str = ""


def confirmation(notices: Sequence[str], at: int) -> Confirmation | None:
    """What a notice asks; None for another one, and for one that `--yes` had logged twice."""
    notice = notices[at]
    found = CONFIRM.match(notice)
    before = notices[at - 1] if at else ""
    if not found or (notice == before and "(Y)es" not in notice):
        return None
    question = found.group("question")
    subject = before if question.startswith(WITH_SUBJECT) else ""
    return Confirmation(question, subject, found.group("answer")[0].lower() in "ya")


def typed_instructions(notice: str) -> str | None:
    """What was answered to the question whether to add an output; None if it was declined."""
    said = notice.removeprefix(OUTPUT_QUESTION)
    options = OUTPUT_OPTIONS.match(said)
    answer = (said[options.end() :] if options else said).strip()
    if answer.lower() in ("y", "yes") or (options and not answer):
        return ""
    return answer if options and answer.lower() not in ("n", "no") else None


def asked_output(notices: Sequence[str]) -> AskedOutput | None:
    """What became of the output of a `/run` up to 0.63; None where nothing was asked."""
    asked = [at for at, notice in enumerate(notices) if notice.startswith(OUTPUT_QUESTION)]
    if not asked:
        return None
    instructions = typed_instructions(notices[asked[0]])
    if instructions is None:
        return AskedOutput(added=False)
    shown = notices[asked[0] - 1] if asked[0] else ""
    lines = notices[asked[-1] + 1 :]
    output = shown if same_lines(shown, lines) else "\n".join(lines)
    return AskedOutput(added=True, output=output, instructions=instructions)


def failed_test_output(notices: Sequence[str]) -> str:
    """What `/test` of a version up to 0.63 put into the chat: only a test that failed; "" for none."""
    if notices and same_lines(notices[0], notices[1:]):
        return notices[0]
    if not notices or "\n" in notices[0] or NOISE.match(notices[0]):
        return ""
    return "\n".join(notices) if len(notices) > 1 else ""


def same_lines(shown: str, lines: Sequence[str]) -> bool:
    """Whether a text stands again in `lines`, a line each and without its indents."""
    texts = [line.strip() for line in shown.splitlines()]
    return bool(texts) and texts == [line.strip() for line in lines[: len(texts)]]


def lint_text(notices: Sequence[str], at: int) -> tuple[str, int]:
    """What the linter said, as it was shown, and the number of the notice behind it."""
    end = text_end(notices, at + 1)
    return "\n" + "\n".join(notices[at:end]) + "\n", end


def edit_error_text(notices: Sequence[str], at: int) -> tuple[str, int]:
    """What the model was told about edits that could not be made, and the notice behind it."""
    end = text_end(notices, at + 1)
    told = [line for line in notices[at + 1 : end] if not ABOUT_EDIT_ERRORS.match(line)]
    return "\n".join(told).strip(), end


def text_end(notices: Sequence[str], at: int) -> int:
    """The first notice from here on that says something else."""
    while at < len(notices) and not (CONFIRM.match(notices[at]) or ENDS_A_TEXT.match(notices[at])):
        at += 1
    return at
