"""nox and tox: what became of each session, and inside of it what its own tool says.

A session's output goes to the compressor of the tool that wrote it; setting up the environment is left out
unless it failed.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from aider_gardener.compress.base import Context
from aider_gardener.compress.frame import plural
from aider_gardener.compress.pieces import Reading

NOX = re.compile(r"^nox > (.*)$")
NOX_SETUP = re.compile(
    r"^(?:Creating virtual environment|Re-?using existing virtual|(?:\S*python\S* -m )?(?:uv )?pip install|"
    r"uv (?:pip|sync|venv)|conda|Missing interpreters will|Ran \d+ sessions?|Ran multiple sessions)"
)
NOX_OUTCOME = re.compile(
    r"^(?:\* \S.*: (?:success|failed|skipped|aborted)|Session .+? (?:was successful|failed|skipped|aborted|"
    r"interrupted)|Command .+ failed with exit code|Error|Command .+ not found|Ran )"
)
NOX_RUNNING = re.compile(r"^Running session (.+)$")
TOX_COMMAND = re.compile(
    r"^([\w.-]+): commands(?:_\w+)?\[\d+\]> (.*)$|^([\w.-]+) run-test: commands\[\d+\] \| (.*)$"
)
TOX_SETUP = re.compile(
    r"^(?:\.pkg\S*: |[\w.-]+: (?:install\w*> |recreate|remove tox env|venv> )|GLOB sdist-make: |[\w.-]+ "
    r"(?:create|inst|inst-nodeps|installdeps|installed|recreate|run-test-pre|develop-inst|wheel-make): )"
)
TOX_OUTCOME = re.compile(
    r"^ {2}[\w.-]+: (?:OK|FAIL|SKIP|IGNORED|NOT AVAILABLE|commands |skipped|ignored|keyboard)|"
    r"^(?:ERROR|SKIPPED|WARNING): |^[\w.-]+: (?:exit|failed|skipped|SKIP|FAIL|OK|FAIL code)\b|"
    r"^ {2}(?:evaluation failed|congratulations) |^ROOT: "
)
RULE = re.compile(r"^[_=]{8,} (?:summary|log start|log end) [_=]{8,}$|^=+ log end =+$")
PASSED_DOTS = re.compile(r"^\.+ *\[ *\d+%\]$")


@dataclass
class EnvironmentSession:
    """What one command printed: its command line, its lines, and the row at which they begin."""

    at: int
    command: str = ""
    lines: list[str] = field(default_factory=list)


def read(lines: Sequence[str], ctx: Context) -> Reading | None:
    """Every outcome; of each session's output what the compressor of its tool keeps."""
    reading = Reading()
    session = EnvironmentSession(0)
    sessions = 0
    for at, line in enumerate(lines):
        said, command = _said(line)
        if said is None:
            if not RULE.match(line) and not PASSED_DOTS.match(line):
                session.lines.append(line)
            continue
        _tell(reading, session, ctx)
        session = EnvironmentSession(at + 1, command)
        sessions += bool(NOX_RUNNING.match(said)) if NOX.match(line) else bool(command)
        if said:
            reading.add(at, said)
    _tell(reading, session, ctx)
    if not sessions:
        return None
    reading.summary = plural(sessions, "session") if NOX.match(lines[0]) else plural(sessions, "command")
    reading.kept = {"sessions": sessions}
    return reading


def _said(line: str) -> tuple[str | None, str]:
    """What the session runner itself says on a line ("" where nobody needs it), and the command it starts;
    None for a line of the session's tool."""
    nox = NOX.match(line)
    if nox:
        words = nox[1]
        if NOX_OUTCOME.match(words):
            return words, ""
        if NOX_SETUP.match(words):
            return "", ""
        return (words, "") if NOX_RUNNING.match(words) else ("", words)
    command = TOX_COMMAND.match(line)
    if command:
        return f"{command[1] or command[3]}: {command[2] or command[4]}", command[2] or command[4]
    if TOX_SETUP.match(line):
        return "", ""
    return (line.strip(), "") if TOX_OUTCOME.match(line) else (None, "")


def _tell(reading: Reading, session: EnvironmentSession, ctx: Context) -> None:
    """Put the short form of what a session's command printed."""
    text = "\n".join(session.lines).strip("\n")
    if not text.strip():
        return
    inner = replace(ctx, kind="", command=session.command, entry_id="")
    lines = ctx.within(text, inner) if ctx.within else text.split("\n")
    reading.add(session.at, [line for line in lines if line.strip()])
