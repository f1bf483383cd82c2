"""What one line looks like: a log record, a stack frame, a listing row, code, prose, …

The segmenter groups lines by shape; the classifier counts shapes. A shape is judged from one line
alone, so that both stay linear in the size of the text.

"""

from __future__ import annotations

import re
from collections import Counter

from aider_gardener.reading.output import legible, without_codes

SAMPLE_HEAD, SAMPLE_MIDDLE, SAMPLE_TAIL = 240, 120, 120
SAMPLE_WIDTH = 400

LEVEL = r"(?:DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL|TRACE|NOTICE|SEVERE)"

_SHAPES = (
    ("marker", r"\s*\[… .*\]$"),
    (
        "trace",
        r"[\s|+-]*(?:Exception Group )?Traceback \(most recent call last\):|"
        r"[\s|]*File \"[^\"]+\", line \d+|\s+at \S.*[:(]\d+\)?|"
        r"Caused by: |During handling of the above|The above exception was the direct|"
        r"goroutine \d+ \[|panic: |thread '[^']*' panicked|Exception in thread |"
        r"\s+\d+: +0x[0-9a-f]+ |\s+from \S+:\d+:in |\s+\.\.\. \d+ more$|"
        r"(?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Warning|Interrupt)(?::\s|$)",
    ),
    (
        "diff",
        r"diff --git |@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@|\+\+\+ \S|--- [ab]?/?\S+\.\w+|"
        r"index [0-9a-f]{6,}\.\.[0-9a-f]{6,}",
    ),
    (
        "log",
        r"[\[(]?\d{4}[-/.]\d\d[-/.]\d\d[T _]\d\d:\d\d|[\[(]?\d\d:\d\d:\d\d[.,:\])\s]|"
        r"\d\d[-/.]\d\d(?:[-/.]\d\d)? \d\d:\d\d:\d\d|\d{6} \d{6} |[\w./-]+\.log\S* \d{4}-\d\d-\d\d \d\d:|"
        r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d |\S{6,12} \d\d:\d\d:\d\d[.,]\d|[IWEF]\d{4} \d\d:\d\d:|"
        r"\S+ \S+ \S+ \[\d+/\w{3}/\d{4}:|(?:time|ts|level|timestamp)=\S|"
        r"\[?" + LEVEL + r"[\]:|]|" + LEVEL + r"\s+\S|\[\s*\d+\.\d+\] |<\d+>",
    ),
    (
        "test",
        r"\s*[✓✔✗✖×✘▶ℹ] ?\S|\S+::\S+ +(?:PASSED|FAILED|ERROR|SKIPPED|XFAIL)|"
        r"(?:PASSED|FAILED|ERROR|SKIPPED|XFAIL) +\S+|={3,} .* ={3,}$|_{3,} .* _{3,}$|"
        r"\s*--- (?:PASS|FAIL|SKIP): |=== (?:RUN|PAUSE|CONT) |(?:ok|FAIL|\?) {0,2}\t\S|"
        r"test \S+.* \.\.\. (?:ok|FAILED|ignored)|(?:not )?ok \d+ |# (?:pass|fail|tests) \d+|"
        r"(?:PASS|FAIL) +\S+\.\w+|E {3}|Tests run: |\[(?:INFO|ERROR|WARNING)\] |TAP version \d+|"
        r"\S+\.py [.FEsxX]+ +\[ *\d+%\]",
    ),
    (
        "build",
        r"\s+(?:Compiling|Checking|Finished|Running|Downloading|Building|Blocking|Updating) \S|"
        r"npm (?:ERR!|error|warn|WARN|notice)|(?:Collecting|Requirement already satisfied:|"
        r"Successfully (?:installed|uninstalled|built)|Downloading|Using cached) ?\S|"
        r"(?:error|warning)(?:\[\w+\])?: \S|\s*(?:--> |\|$|\d+ \| )|\s*= (?:help|note): |"
        r"make(?:\[\d+\])?: |\s*\d+:\d+\s+(?:error|warning)\s|ninja: |\[\d+/\d+\] |"
        r"\[ *\d+%\] (?:Building|Linking|Built)|(?:gcc|g\+\+|clang|cc|rustc) -",
    ),
    (
        "location",
        r"(?:\w:\\)?[^\s:(]+\.\w+(?::\d+|\(\d+[,)])[:,)]|[^\s:()]+[./]\w+:\d+[:-]|"
        r"\S+:\S+\.\w+:\d+:",
    ),
    (
        "gitlog",
        r"commit [0-9a-f]{7,40}(?: \(.*\))?$|(?:Author|AuthorDate|Date|Merge|CommitDate|Commit): "
        r"+\S|(?:[*|\\/ ]+ )?[0-9a-f]{7,12} (?:\(.*?\) )?\S|"
        r" \S.* \| +(?:\d+ [+-]*|Bin .*)$| \d+ files? changed",
    ),
    (
        "listing",
        r"[-dlbcps][rwxsStT-]{9}[.+@]? |total \d+$|(?:[│|] *)*[├└`]── |\.{0,2}/?[\w@.+-]+(?:/[\w@.+ -]+)+/?$|"
        r"[\w@.+-]+\.\w{1,5}$|\d+(?:\.\d+)?[KMG]?\t\S+$",
    ),
    (
        "table",
        r"\s*\|.*\|\s*$|[+|][-=+|]{3,}$|[0-9a-f]{12} {3,}\S|"
        r"\s*(?:-> +)?[A-Z][^(\n]{2,160}\(cost=\d|import time: +(?:self \[us\]|\d+) \|",
    ),
    ("fence", r" {0,3}(?:`{3,}|~{3,})"),
    ("heading", r"#{1,6} \S|(?:={3,}|-{3,})\s*$"),
    ("jsonish", r"\s*\"[^\"]*\"\s*:\s|\s*[\]}][,;]?$|\s*[\[{]$|\s*\{.*\},?$|\s*\"[^\"]*\",?$"),
    ("section", r"\[\[?[\w.\-\"']+(?: [\w.\-\"']+)*\]?\]\s*$"),
    ("assign", r"[\w.-]+ = [\[{\"'\d]|[\w.-]+ = (?:true|false)|[A-Z_]{3,}=\S*$"),
    ("yaml", r"\s*(?:- )?[\w.$@/\"'-]+:(?: \S.*)?$"),
    ("bullet", r"\s*(?:[-*+•] |\d+[.)] )\S"),
)
SHAPE = re.compile("|".join(f"(?P<{name}>{pattern})" for name, pattern in _SHAPES))

CODE_LINE = re.compile(
    r"\s*(?:"
    r"(?:async )?def \w+\(|class \w+.*[:{]\s*$|(?:from [\w.]+ )?import [\w.{*\"'(]|#include [<\"]"
    r"|#(?:if|define|endif|ifdef)\b|"
    r"(?:export |public |private |protected |static |final |abstract |async |pub(?:\(\w+\))? |internal "
    r"|override )+\S|"
    r"(?:const|let|var|fn|func|struct|enum|impl|trait|interface|namespace|using|package|module|require"
    r"|use) [\w:.{*\"'(<\[]+.*|"
    r"(?:if|for|while|switch|elif|else|try|catch|match|unless|until|with)\b.*[:{(]\s*$|\}? ?else(?:"
    r" if.*)? ?[{:]?\s*$|"
    r"return\b.*|(?:raise|throw|yield|await|assert|break|continue|end|fi|done|esac|pass|then|do)\b[^.]*$|"
    r"@\w[\w.]*(?:\(.*)?$|///? ?\S.*|/\*\*?.*|\*/|#!\s*/.*|"
    r"[\w.\[\]\"'*&>-]+(?: ?: ?[\w<>\[\], ]+)? [-+*/|&]?:?= .+|[\w.:>\[\]()-]+\(.*\)?[;,{:]?\s*$|.*[;{]\s*$|"
    r"[)}\]]+[;,]*(?: ?[=>:{].*)?\s*$|<\/?[A-Za-z][\w.-]*(?: .*)?/?>.*"
    r")"
)
PROSE_LINE = re.compile(r"\s*(?:[>*_(\"'`“«¿¡]*)[^\W\d_]")
_WORD = re.compile(r"[^\W\d_]{1,}(?:['’-][^\W\d_]+)*")
CJK = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")

MACHINE = frozenset({"trace", "diff", "log", "test", "build", "location", "gitlog", "listing", "jsonish"})
"""Shapes that a person doesn't type: several in a row in a typed message were pasted."""

KEY_CHARS = 240
"""A line's kind is told by its first characters only, so that long lines cost no more than short ones."""

VARIABLE = re.compile(r'(?<==)(?:"[^"]*"|[^\s,;&)\]}"]+)|(?<![\w%+-])[\w%+-]*\d[\w.:%+-]*')
_CLOCK = r"\d\d:\d\d:\d\d(?:[.,:]\d+)?(?:Z|[+-]\d\d:?\d\d)?"
_DAY = r"\d{4}[-/.]\d\d[-/.]\d\d|\d\d[-/.]\d\d[-/.](?:\d{4}|\d\d)|\d{8}|\d\d[-.]\d\d"
ORIGIN = r"(?:[\w./@-]*\.(?:log|out|err|txt)[\w.:-]*[: ] ?|[\w.-]+ +\| |\[[\w-]+/[\w./-]+\] )?"
"""What may stand before the stamp of a record: the file, the container or the pod that it is from."""

STAMPS = (
    rf"(?:{_DAY})[T ,_-]{_CLOCK}|\d{{4}}[-/]\d\d[-/]\d\d[T ,]\d\d:\d\d\b|{_CLOCK}|\d{{6}} \d{{6}}\b|"
    rf"(?:[A-Z][a-z]{{2}} )?[A-Z][a-z]{{2}} +\d+ {_CLOCK}(?: \d{{4}})?|\d{{10}}(?:\.\d+)?(?= )|"
    rf"\d\d/[A-Z][a-z]{{2}}/\d{{4}}[: ]{_CLOCK}"
)
"""Times as logs write them: with the year first or last, in two digits or without, or seconds alone."""

STAMP = re.compile(rf"^{ORIGIN}\W{{0,2}}(?P<time>{STAMPS})")


def line_shape(line: str) -> str:
    """The shape of one line without its line end: a name of the table above, "code", "prose",
    "blank" or "other". ANSI codes must have been taken out."""
    line = legible(line[:SAMPLE_WIDTH])
    if not line or line.isspace():
        return "blank"
    match = SHAPE.match(line)
    if match and match.lastgroup:
        name = match.lastgroup
        if name in ("yaml", "heading", "listing") and is_sentence(line):
            return "prose"
        return name
    if is_sentence(line) and not line.rstrip().endswith(("{", ";")):
        return "prose"
    if CODE_LINE.match(line):
        return "code"
    return "prose" if PROSE_LINE.match(line) and len(_WORD.findall(line)) >= 2 else "other"


def is_sentence(line: str) -> bool:
    """True when most of the line is words with spaces between: natural language in any script."""
    text = line.strip()
    if CJK.search(text):
        return len(CJK.findall(text)) * 3 >= len(text)
    words = text.split()
    if len(words) < 5:
        return False
    plain = sum(1 for word in words if word.strip("*_`\"'“”‘’«».,;:!?()[]…–—-").isalpha())
    return plain * 10 >= len(words) * 7


def sample_lines(text: str) -> list[str]:
    """Up to 480 lines from the head, middle and tail, each cut at 400 characters, without ANSI codes.

    Looks at a bounded part of the text only, so its cost doesn't grow with it.
    """
    window = 64_000
    if len(text) <= 3 * window:
        lines = text.splitlines()
    else:
        middle = len(text) // 2
        lines = text[:window].splitlines()[:-1] or [text[:SAMPLE_WIDTH]]
        lines += text[middle : middle + window].splitlines()[1:-1]
        lines += text[-window:].splitlines()[1:]
    if len(lines) > SAMPLE_HEAD + SAMPLE_MIDDLE + SAMPLE_TAIL:
        at = (len(lines) - SAMPLE_MIDDLE) // 2
        lines = lines[:SAMPLE_HEAD] + lines[at : at + SAMPLE_MIDDLE] + lines[-SAMPLE_TAIL:]
    return [legible(without_codes(line[: 2 * SAMPLE_WIDTH])[:SAMPLE_WIDTH].rstrip()) for line in lines]


def shape_counts(lines: list[str]) -> Counter[str]:
    """How often each shape occurs among the lines, blank ones left out."""
    counts = Counter(line_shape(line) for line in lines)
    del counts["blank"]
    return counts


def guess_code_share(counts: Counter[str]) -> float:
    """The share of lines that may be code: code proper, and what code shares with data formats."""
    total = sum(counts.values())
    like = counts["code"] + counts["jsonish"] + counts["assign"] + counts["other"] * 0.5
    return like / total if total else 0.0


class Masker:
    """Masks words, remembering those it has seen: the words of a log repeat far more than its lines."""

    def __init__(self) -> None:
        self.known: dict[str, str] = {}

    def line(self, line: str) -> str:
        """The line with everything variable replaced, its time stamp cut off."""
        stamp = STAMP.match(line)
        known = self.known
        words = line[stamp.end() if stamp else 0 : KEY_CHARS].split(" ")
        return " ".join([known.get(word) or self.word(word) for word in words])

    def word(self, word: str) -> str:
        result = VARIABLE.sub("\0", word)
        if len(self.known) < 50_000:
            self.known[word] = result
        return result


def masked(line: str) -> str:
    """The line with everything variable replaced, its time stamp cut off."""
    return Masker().line(line)
