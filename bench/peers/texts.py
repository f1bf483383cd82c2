"""The texts that all peers get, and the facts of each that a reader would look for.

Facts of test runs and builds are those of `aider_gardener.reading.facts`, which shares no code with the
compressors. For all else there are equally plain patterns here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from aider_gardener.messages import ContentClass
from aider_gardener.reading import facts
from aider_gardener.reading.facts import KEY_CHARS, Fact
from aider_gardener.reading.output import legible, plain, squeeze
from bench.inputs import GENERATORS, made, recorded

SESSIONS = Path(__file__).resolve().parents[2] / "recorded_sessions"

RECORDED_OUTPUTS: tuple[tuple[str, ContentClass, str, str], ...] = (
    ("pytest_v", ContentClass.LOG, "pytest", "test"),
    ("pytest_q", ContentClass.LOG, "pytest", "test"),
    ("unittest", ContentClass.LOG, "unittest", "test"),
    ("jest", ContentClass.LOG, "jest", "test"),
    ("cargo_test", ContentClass.LOG, "cargo-test", "test"),
    ("go_packages", ContentClass.LOG, "go-test", "test"),
    ("maven", ContentClass.LOG, "maven-test", "test"),
    ("node_spec", ContentClass.LOG, "node-test", "test"),
    ("gcc", ContentClass.LOG, "gcc", "build"),
    ("rustc", ContentClass.LOG, "rustc", "build"),
    ("tsc", ContentClass.LOG, "tsc", "build"),
    ("ruff_concise", ContentClass.LOG, "ruff", "build"),
    ("app_log", ContentClass.LOG, "", "log"),
    ("py_threads", ContentClass.ERROR, "traceback-python", "error"),
    ("java_stack", ContentClass.ERROR, "traceback-java", "error"),
    ("grep", ContentClass.LISTING, "", ""),
    ("paths", ContentClass.LISTING, "", ""),
    ("diff", ContentClass.DIFF, "", ""),
)
"""Stem of a file in tests/data/outputs, its class, its kind, and whose facts are looked for."""

RECORDED_FILES: tuple[tuple[str, ContentClass, str], ...] = (
    ("queue-incident/repo0/tools/simulate.py", ContentClass.CODE, ""),
    ("ledger-api/repo0/ledgerd/routes.py", ContentClass.CODE, ""),
    ("ledger-api/repo0/samples/statement_2024_03.json", ContentClass.STRUCTURED, "json"),
)
"""Files of the recorded sessions' repositories."""

GENERATED: tuple[tuple[str, int, str], ...] = (
    ("pytest", 270_000, "test"),
    ("gcc", 180_000, "build"),
    ("app-log", 260_000, "log"),
    ("records-json", 120_000, ""),
    ("python", 40_000, ""),
    ("prose", 40_000, ""),
    ("traceback", 6_000, "error"),
    ("grep", 60_000, ""),
    ("diff", 40_000, ""),
)
"""Kind in bench.inputs, characters, and whose facts are looked for."""

PATTERNS: dict[ContentClass, tuple[tuple[str, re.Pattern[str]], ...]] = {
    ContentClass.CODE: (("definition", re.compile(r"^\s*(?:async\s+)?(?:def|class)\s+(\w+)", re.M)),),
    ContentClass.LISTING: (("file", re.compile(r"^([\w./-]+\.\w+)(?=:|$)", re.M)),),
    ContentClass.DIFF: (("file", re.compile(r"^\+\+\+ b/(\S+)", re.M)),),
    ContentClass.STRUCTURED: (
        ("key", re.compile(r'"([^"\n]+)"\s*:')),
        ("rare value", re.compile(r'"(failed|error|rejected)"')),
    ),
    ContentClass.PROSE: (("name or number", re.compile(r"`([^`\n]+)`|\b(\w+_\w+|\d[\d.,]*\d)\b")),),
}

LEVEL = re.compile(r"^\W{0,2}[\d:.,TZ /+-]{8,32}\W{0,3}\b(ERROR|CRITICAL|FATAL|SEVERE)\b\W*(.*)$")
EXCEPTION = re.compile(
    r"^(?:Caused by: |Exception in thread \"[^\"]*\" )?((?:[\w$]+\.)*\w*(?:Error|Exception)\b.*)$"
)
PY_FRAME = re.compile(r'^\s*File "([^"]+)", line (\d+)')
LIBRARY = re.compile(r"site-packages|[/\\]lib[/\\]python|node_modules|node:|<frozen")

BRACKETED_PLACE = re.compile(r"\((\d+),(\d+)\)")
PLACE = re.compile(r"(.+?)[:(](\d+)[:,](\d+)\)?$")


@dataclass(frozen=True)
class Text:
    """A text to compress. `looked_for` names the scan of `facts`, "" takes the patterns here."""

    name: str
    cls: ContentClass
    kind: str
    text: str
    looked_for: str = ""

    def facts(self) -> list[Fact]:
        if self.looked_for in ("log", "error"):
            lines = [legible(line) for line in plain(self.text).split("\n")]
            found = (logged_errors if self.looked_for == "log" else exceptions)(lines)
            return [in_parts(fact) for fact in {(fact.kind, fact.text): fact for fact in found}.values()]
        if self.looked_for:
            return [in_parts(fact) for fact in facts.extract(self.text, self.looked_for)]
        return list(dict.fromkeys(plain_facts(self.text, self.cls)))


def in_full(kind: str, text: str, *keys: str) -> Fact:
    """A fact of which all keys must stand in a text."""
    return Fact(kind, text, tuple(squeeze(key)[:KEY_CHARS].rstrip() for key in keys or (text,)))


def logged_errors(lines: Sequence[str]) -> Iterator[Fact]:
    """What a log says at the level of an error."""
    for line in lines:
        found = LEVEL.match(line)
        if found:
            words = re.sub(r"\S*\d\S*|=\S+", "\0", found.group(2))
            longest = max(words.split("\0"), key=len).strip()
            yield in_full("logged error", words[:160], longest[:50])


def exceptions(lines: Sequence[str]) -> Iterator[Fact]:
    """What was raised, and the frames that are no library's."""
    for line in lines:
        found = EXCEPTION.match(line)
        if found:
            yield in_full("exception", found.group(1))
        frame = PY_FRAME.match(line)
        if frame and not LIBRARY.search(frame.group(1)):
            yield in_full("frame", f"{frame.group(1)}:{frame.group(2)}", frame.group(1)[-40:], frame.group(2))


def kept(looked_for: Sequence[Fact], shown: str) -> dict[str, tuple[int, int]]:
    """For each kind of fact how many a text holds, and how many there are."""
    return facts.kept(looked_for, BRACKETED_PLACE.sub(r":\1:\2", shown))


def in_parts(fact: Fact) -> Fact:
    """A compiler's error as path, line:column and the words before what is quoted: whoever lists the
    places of one message behind their file's name keeps them as well."""
    found = PLACE.match(fact.keys[0]) if fact.kind == "error" and len(fact.keys) > 1 else None
    if found is None:
        return fact
    words = re.split(r"['`\"‘“]", fact.keys[1])[0].strip() or fact.keys[1]
    return Fact(fact.kind, fact.text, (found.group(1), f"{found.group(2)}:{found.group(3)}", words))


def plain_facts(text: str, cls: ContentClass) -> Iterable[Fact]:
    """What the patterns of a class find; each must stand as it is."""
    for kind, pattern in PATTERNS.get(cls, ()):
        for found in pattern.finditer(text):
            said = next(group for group in found.groups() if group)
            yield Fact(kind, said, (squeeze(said),))


def texts() -> list[Text]:
    """All of them: real outputs and files first, then the big generated ones."""
    found = [Text(name, cls, kind, recorded(name), scan) for name, cls, kind, scan in RECORDED_OUTPUTS]
    for path, cls, kind in RECORDED_FILES:
        found.append(Text(Path(path).name, cls, kind, (SESSIONS / path).read_text(encoding="utf-8")))
    summaries = json.loads((SESSIONS / "queue-incident" / "summaries.json").read_text(encoding="utf-8"))
    found.append(Text("summaries of a chat", ContentClass.PROSE, "", "\n\n".join(summaries)))
    for name, chars, scan in GENERATED:
        cls, kind, _write = GENERATORS[name]
        found.append(Text(f"{name} (generated)", cls, kind, made(name, chars), scan))
    return found
