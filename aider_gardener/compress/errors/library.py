"""Telling a project's own frames from those of libraries, runtimes and test runners."""

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


@lru_cache(maxsize=20_000)
def is_library(path_or_name: str) -> bool:
    """True for a file path or a qualified function name that is not the project's own."""
    return bool(LIBRARY_PATH.search(path_or_name) or LIBRARY_NAME.match(path_or_name))
