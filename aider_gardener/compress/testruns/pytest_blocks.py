"""Reading the FAILURES and ERRORS sections of pytest: one block a test, in any traceback style."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from aider_gardener.compress.errors.library import is_library
from aider_gardener.compress.errors.places import PY_FRAME
from aider_gardener.compress.testruns.blocks import dedent
from aider_gardener.compress.testruns.run import Failure

HEAD = re.compile(r"^_+ (.*[^_ ].*?) _+$")
ERROR_HEAD = re.compile(r"^ERROR (?:at (setup|teardown) of|collecting) (.+)$")
LOCATION = re.compile(r"^(\S[^:\n]*(?::[\\/][^:\n]*)?):(\d+): ?(.*)$")
CAPTURED = re.compile(r"^-{2,} (?:Captured|live|generated|benchmark|Hypothesis)\b.* -{2,}$")
NOTABLE = re.compile(r"error|exception|warn|fail|traceback|critical|falsifying|timeout", re.IGNORECASE)
LINE_STYLE = re.compile(
    r"^(\S+?\.py):(\d+): (\w[\w.]*(?:Error|Exception|Failed|Exit|Warning|Interrupt)\b.*)$"
)
CHAIN = ("During handling of the above", "The above exception was the direct cause")


def block_failures(body: Sequence[str]) -> Iterator[Failure]:
    """The failures of one section, in order."""
    title = ""
    block: list[str] = []
    for line in body:
        head = HEAD.match(line) if line[:1] == "_" else None
        if head:
            yield from _finished(title, block)
            title, block = head.group(1), []
        else:
            block.append(line)
    yield from _finished(title, block)


def _finished(title: str, block: Sequence[str]) -> Iterator[Failure]:
    if title:
        yield block_failure(title, block)
        return
    for line in block:
        found = LINE_STYLE.match(line)
        if found:
            place = f"{found.group(1)}:{found.group(2)}"
            yield Failure(place, "FAILED", [found.group(3)], [place])


def block_failure(title: str, block: Sequence[str]) -> Failure:
    """One test's block: its last exception in full, earlier ones of the chain by their first line."""
    error = ERROR_HEAD.match(title)
    outcome = "ERROR" if error else "FAILED"
    name = re.sub(r"^\[gw\d+\] \w+ -- .*$", "", error.group(2) if error else title) or title
    failure = Failure(name, outcome)
    groups, output = _scan(block, failure)
    messages = [dedent(group) for group in groups if any(line.strip() for line in group)]
    if messages:
        chain = [group[0] for group in messages[:-1]]
        failure.message = [*messages[-1], *(f"(after: {line.strip()})" for line in chain)]
    elif not failure.message:
        failure.message = _native_message(block)
    failure.output = [line for line in output if NOTABLE.search(line)]
    return failure


def _scan(block: Sequence[str], failure: Failure) -> tuple[list[list[str]], list[str]]:
    groups: list[list[str]] = []
    output: list[str] = []
    library, captured, in_message = "", False, False
    for line in block:
        first = line[:1]
        if first == "-" and CAPTURED.match(line):
            captured = True
            continue
        if captured:
            if line.strip() and len(output) < 400:
                output.append(line)
            continue
        if first == "E" and (line.startswith("E  ") or line == "E"):
            if not in_message:
                groups.append([])
            groups[-1].append(line[1:])
            in_message = True
            continue
        in_message = False
        if first == ">" and line.startswith(">  "):
            failure.source = line[1:].strip()
        place = _place(line, first)
        if place and is_library(place):
            library = place
        elif place:
            failure.where.append(place)
            library = ""
    if library:
        failure.where.append(library)
    return groups, output


def _place(line: str, first: str) -> str:
    if first == " " and line.lstrip()[:5] == "File ":
        found = PY_FRAME.match(line)
        return f"{found.group(1)}:{found.group(2)}" if found else ""
    if first in ("", " ", "_", "E", ">", "(") or ":" not in line:
        return ""
    found = LOCATION.match(line)
    if found and (found.group(3) == "" or re.match(r"in |\w[\w.]*$|\w[\w.]*: ", found.group(3))):
        return f"{found.group(1)}:{found.group(2)}"
    return ""


def _native_message(block: Sequence[str]) -> list[str]:
    """The exception's lines at the end of a native traceback."""
    last: list[str] = []
    for line in block:
        if CAPTURED.match(line):
            break
        if re.match(r"^\w[\w.]*(?:Error|Exception|Failed|Exit|Interrupt|Warning|Timeout)\b", line):
            last = [line]
        elif last and line.strip() and not line.startswith(('  File "', "Traceback", *CHAIN)):
            last.append(line)
    return last[:40]
