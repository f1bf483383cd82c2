"""The frames of stack traces in any language, and whether one is the project's own or a library's."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

LIBRARY_PATH = re.compile(
    r"site-packages|dist-packages|node_modules|^node:|\(node:|(?:^|[/\\])node:|internal/(?:process|modules|"
    r"timers)|^internal|[/\\]lib[/\\]python\d|[/\\]Lib[/\\](?!site)\w+\.py|[/\\]Lib[/\\](?:asyncio|unittest|"
    r"concurrent|json|threading|importlib|multiprocessing|http|urllib)\b|<frozen|<string>|"
    r"<__array_function__|^bun:|[/\\]\.cargo[/\\]registry|^/rustc/|/rustlib/|library/(?:std|core|alloc|"
    r"test)/|[/\\]go[/\\]pkg[/\\]mod|/usr/(?:local/)?(?:lib/)?go(?:-[\d.]+)?/src/|/go/src/(?:runtime|testing|"
    r"net|os)/|hostedtoolcache|[/\\](?:gems|rubies|\.rbenv|\.rvm)[/\\]|[/\\]vendor[/\\]|"
    r"[/\\]Python\.framework[/\\]|[/\\]python\d[\d.]*[/\\]lib[/\\]"
)
LIBRARY_NAME = re.compile(
    r"^(?:app//|java\.\w+/|jdk\.\w+/)?(?:javax?|jdk|sun|com\.sun|kotlin|kotlinx|scala|groovy|org\.(?:junit|"
    r"opentest4j|apache|gradle|springframework|hibernate|mockito|assertj|hamcrest|testng|codehaus|eclipse|"
    r"aspectj|jboss|slf4j)|reactor|io\.(?:netty|micronaut|quarkus|vertx|grpc)|ch\.qos|com\.(?:fasterxml|"
    r"google|zaxxer)|junit|worker\.org|System|Microsoft|Xunit|NUnit|InvokeStub_|lambda_method|runtime|"
    r"testing|reflect|created by testing|std|core|alloc|test|backtrace|rust_begin_unwind|__rust|_start|"
    r"__libc|<?(?:alloc|core|std)::)(?:[.:\b$(@]|$|\()"
)
FOREIGN = re.compile(
    r"/usr/|\.so\b|\.dylib|<null>|\?\? |sysdeps/|csu/|libsanitizer|__interceptor|^\[internal|^\{main\}|"
    r"/stdlib/| from /(?:lib|usr)|/vendor/|std::|\b_start\b|node::|v8::|\((?:package:(?:test|flutter)|dart:)"
)

PYTHON = re.compile(r'^[\s|+-]*File "([^"]+)", line \d+(?:,? in .*)?$')
SHORT = re.compile(r"^([\w./\\-]+\.py):\d+: in \S")
NUMBERED = re.compile(
    r"^\s*(?:frame )?#\d+:? +(?=0x[0-9a-f]|.* at \S+:\d|.* from /|\S+\.\w+\(\d+\)|\{main\}|\[internal|"
    r"<signal|.*\((?:package|dart|file):|.*\+0x[0-9a-f]+\)|.* \S+\.(?:cc?|cpp|cxx|hh?|hpp|rs|go|swift|"
    r"mm?):\d+)(.*)$"
)
MEMORY = re.compile(r"^==\d+==\s+(?:at|by) 0x[0-9A-Fa-f]+: (.*)$|^\s*\d+: 0x[0-9a-f]+ +(\S.*)$")
NAMED = re.compile(
    r"^\s*(?:\d+: )?(?:from |# |\[\d+\] )?(\.?[\w/~.@:+-]*\.(?:rb|erb|rake|lua|php)):\d+:?(?: ?in\b.*)?$|"
    r"^\s+from (\S+):\d+:in |^\s+(?:\([\w. ]+\) )?(\S+\.(?:exs?|erl|eex)):\d+: |"
    r"^\s+.* called at (\S+) line \d+|^\s*(\S+\.dart) \d+:\d+\s+\S|^\s{2,}\S.* \((\S+\.py):\d+\)$|"
    r"^.* called at (\S+):\d+:\d+ in |^\s+@ .*?(\S+):\d+"
)
CALL = re.compile(
    r"^\s*(?:created by )?[\w./*()\[\]·~{}$-]*[\w)\]]\(.*\)$|^\s*created by \S|^\s*\d+: (?:0x[0-9a-f]+ - )?\S"
)
PLACE = re.compile(r"^\s+(?:at )?(\S+\.\w+):\d+(?::\d+)?(?: \+0x[0-9a-f]+)?$")
AT = re.compile(r"^\s*(?:\d+: )?(?:at|❯|›) (?:async )?(\S.*)$")
AT_LIKE = re.compile(r"[\w>\])]\(|\((?:native|index \d+)\)|:\d+\)?(?: \{)?$|<anonymous>|<Jasmine>|:line \d+$")
PAREN = re.compile(r"\(([^()]*)\)\s*(?:\{|~?\[[^\]]*\])?$| in (\S.*):line \d+$")


SIGN = re.compile(r"\.\w+:\d|\", line |#\d|0x|at |❯|›|from |@ |\.dart ")
"""Without one of these a line is no frame of its own."""


class Frame(NamedTuple):
    """A frame of a stack: its rows, the one of them that names its file, what it is called, whose it is."""

    rows: range
    place: int
    name: str
    own: bool


@lru_cache(maxsize=20_000)
def is_library(path_or_name: str) -> bool:
    """True for a file path or a qualified function name that is not the project's own."""
    return bool(LIBRARY_PATH.search(path_or_name) or LIBRARY_NAME.match(path_or_name))


def frame_at(lines: Sequence[str], row: int) -> Frame | None:
    """The frame that begins in the row."""
    line = lines[row]
    signed = SIGN.search(line)
    for pattern in (PYTHON, SHORT, NUMBERED, MEMORY, NAMED) if signed else ():
        if (found := pattern.match(line)) and not (
            pattern is NAMED and line.endswith(("Error)", "Exception)"))
        ):
            name = next((part for part in found.groups() if part), line)
            return Frame(range(row, row + 1), row, name, not (is_library(name) or FOREIGN.search(name)))
    below = PLACE.match(lines[row + 1]) if row + 1 < len(lines) else None
    if below and CALL.match(line):
        name = line.strip().removeprefix("created by ").lstrip("0123456789: ")
        return Frame(range(row, row + 2), row + 1, name, not (is_library(below[1]) or is_library(name)))
    found = AT.match(line) if signed else None
    if not found or not AT_LIKE.search(found[1]):
        return None
    name = found[1]
    inside = PAREN.search(name)
    place = (inside and (inside[1] or inside[2])) or name
    own = ("." in place or ":" in place) and not (is_library(name) or is_library(place))
    return Frame(range(row, row + 1), row, name, own)
