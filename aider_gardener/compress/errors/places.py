"""The file:line of a stack frame, in any language."""

from __future__ import annotations

import re

from aider_gardener.compress.errors.library import is_library

PY_FRAME = re.compile(r'^\s*File "([^"]+)", line (\d+)(?:, in (.*))?$')
JS_FRAME = re.compile(
    r"^\s*(?:at|❯|›) (?:async )?(?:(.*?) \(?)?((?:file://)?[^\s()]+:\d+(?::\d+)?)\)?(?: \{)?$"
)
JS_BARE = re.compile(
    r"^\s*(?:at|❯) (?:async )?\S.*\((?:index \d+|<anonymous>|native)\)(?: \{)?$|"
    r"^\s*at (?:new )?<anonymous>.*$"
)
JAVA_FRAME = re.compile(
    r"^\s*at ([\w$.<>/@-]+)\(([\w$]+\.\w+:\d+|Native Method|Unknown Source|[^)]*)\)(?: ~?\[.*)?$"
)
NET_FRAME = re.compile(r"^\s*at (\S.*?\)) in (\S.*):line (\d+)$")
NET_BARE = re.compile(r"^\s*at [\w.`<>\[\],+]+\(.*\)$")
RUBY_FRAME = re.compile(r"^\s*(?:# |from )?(\.?[/\w][\w./-]*\.(?:rb|php):\d+)(?::in .*)?$")
BARE_FRAME = re.compile(
    r"^\s*(?:(?:async )?(?:new )?\w[\w.<>#$]*(?: \[as \w+\])? \()((?:file://)?[^\s()]+:\d+:\d+)\)$"
)


def frame_place(line: str) -> str | None:
    """The file:line of a stack frame, "" for a frame without one, None for any other line."""
    head = line.lstrip()[:6]
    if head.startswith("File "):
        found = PY_FRAME.match(line)
        return f"{found.group(1)}:{found.group(2)}" if found else None
    if head.startswith(("at ", "❯ ", "› ")):
        return _at_frame(line)
    if line.rstrip().endswith(("(<anonymous>)", "(index 0)")) or line.lstrip().startswith("node:internal/"):
        return ""
    found = BARE_FRAME.match(line) or RUBY_FRAME.match(line)
    return found.group(1) if found else None


def _at_frame(line: str) -> str | None:
    found = NET_FRAME.match(line)
    if found:
        return "" if is_library(found.group(1)) else f"{found.group(2)}:{found.group(3)}"
    found = JAVA_FRAME.match(line)
    if found and "://" not in line and not re.search(r":\d+:\d+\)", line):
        return "" if is_library(found.group(1)) or ":" not in found.group(2) else found.group(2)
    found = JS_FRAME.match(line)
    if found:
        return found.group(2)
    return "" if JS_BARE.match(line) or NET_BARE.match(line) else None
