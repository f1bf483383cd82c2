"""The file:line of a stack frame, in any language, and whether it is the project's own or a library's."""

from __future__ import annotations

import re
from functools import lru_cache

LIBRARY_PATH = re.compile(
    r"site-packages|dist-packages|node_modules|^node:|\(node:|(?:^|[/\\])node:|internal/(?:process|"
    r"modules|timers)|^internal|"
    r"[/\\]lib[/\\]python\d|[/\\]Lib[/\\](?!site)\w+\.py|[/\\]Lib[/\\](?:asyncio|unittest|"
    r"concurrent|json|threading|"
    r"importlib|multiprocessing|http|urllib)\b|<frozen|<string>|<__array_function__|^bun:|"
    r"[/\\]\.cargo[/\\]registry|^/rustc/|/rustlib/|library/(?:std|core|alloc|test)/|"
    r"[/\\]go[/\\]pkg[/\\]mod|/usr/(?:local/)?(?:lib/)?go(?:-[\d.]+)?/src/|/go/src/(?:runtime|"
    r"testing|net|os)/|"
    r"hostedtoolcache|[/\\](?:gems|rubies|\.rbenv|\.rvm)[/\\]|[/\\]vendor[/\\]|"
    r"[/\\]Python\.framework[/\\]|[/\\]python\d[\d.]*[/\\]lib[/\\]"
)
LIBRARY_NAME = re.compile(
    r"^(?:app//|java\.\w+/|jdk\.\w+/)?(?:javax?|jdk|sun|com\.sun|kotlin|kotlinx|scala|groovy|"
    r"org\.(?:junit|opentest4j|"
    r"apache|gradle|springframework|hibernate|mockito|assertj|hamcrest|testng|codehaus|eclipse|"
    r"aspectj|jboss|slf4j)|"
    r"reactor|io\.(?:netty|micronaut|quarkus|vertx|grpc)|ch\.qos|com\.(?:fasterxml|google|zaxxer)|"
    r"junit|worker\.org|"
    r"System|Microsoft|Xunit|NUnit|InvokeStub_|lambda_method|"
    r"runtime|testing|reflect|created by testing|"
    r"std|core|alloc|test|backtrace|rust_begin_unwind|__rust|_start|__libc|<?(?:alloc|core|"
    r"std)::)(?:[.:\b$(@]|$|\()"
)

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


@lru_cache(maxsize=20_000)
def is_library(path_or_name: str) -> bool:
    """True for a file path or a qualified function name that is not the project's own."""
    return bool(LIBRARY_PATH.search(path_or_name) or LIBRARY_NAME.match(path_or_name))


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
