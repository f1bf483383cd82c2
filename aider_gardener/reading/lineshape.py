"""What one line looks like: a log record, a stack frame, a listing row, code, prose, …

The segmenter groups lines by shape; the classifier counts shapes. A shape is judged from one line
alone, so that both stay linear in the size of the text.

"""

from __future__ import annotations

from collections import Counter

from aider_gardener.reading.late import late
from aider_gardener.reading.output import legible, without_codes

SAMPLE_HEAD, SAMPLE_MIDDLE, SAMPLE_TAIL = 240, 120, 120
SAMPLE_WIDTH = 400

LEVEL = r"(?:DEBUG|INFO|WARN|WARNING|ERROR|FATAL|CRITICAL|TRACE|NOTICE|SEVERE)"

_SHAPES = (
    ("marker", r"\s*\[… .*\]$"),
    (
        "trace",
        r"[\s|+-]*(?:Exception Group )?Traceback \(most recent call last\):|[\s|]*File \"[^\"]+\", line \d+"
        r"|\s+at \S.*[:(]\d+\)?|Caused by: |During handling of the above|The above exception was the direct"
        r"|goroutine \d+ \[|panic: |thread '[^']*' panicked|Exception in thread |\s+\d+: +0x[0-9a-f]+ "
        r"|\s+from \S+:\d+:in |\s+\.\.\. \d+ more$|(?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Warning"
        r"|Interrupt)(?::\s|$)",
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
        r"\s*[✓✔✗✖×✘▶ℹ] ?\S|\S+::\S+ +(?:PASSED|FAILED|ERROR|SKIPPED|XFAIL)|(?:PASSED|FAILED|ERROR|SKIPPED"
        r"|XFAIL) +\S+|={3,} .* ={3,}$|_{3,} .* _{3,}$|\s*--- (?:PASS|FAIL|SKIP): |=== (?:RUN|PAUSE|CONT) "
        r"|(?:ok|FAIL|\?) {0,2}\t\S|test \S+.* \.\.\. (?:ok|FAILED|ignored)|(?:not )?ok \d+ |# (?:pass|fail"
        r"|tests) \d+|(?:PASS|FAIL) +\S+\.\w+|E {3}|Tests run: |\[(?:INFO|ERROR|WARNING)\] |TAP version \d+"
        r"|\S+\.py [.FEsxX]+ +\[ *\d+%\]",
    ),
    (
        "build",
        r"\s+(?:Compiling|Checking|Finished|Running|Downloading|Building|Blocking|Updating) \S|npm (?:ERR!"
        r"|error|warn|WARN|notice)|(?:Collecting|Requirement already satisfied:|Successfully (?:installed"
        r"|uninstalled|built)|Downloading|Using cached) ?\S|(?:error|warning)(?:\[\w+\])?: \S|\s*(?:--> |\|$"
        r"|\d+ \| )|\s*= (?:help|note): |make(?:\[\d+\])?: |\s*\d+:\d+\s+(?:error|warning)\s|ninja: "
        r"|\[\d+/\d+\] |\[ *\d+%\] (?:Building|Linking|Built)|(?:gcc|g\+\+|clang|cc|rustc) -",
    ),
    (
        "location",
        r"(?:\w:\\)?[^\s:(]+\.\w+(?::\d+|\(\d+[,)])[:,)]|[^\s:()]+[./]\w+:\d+[:-]|\S+:\S+\.\w+:\d+:",
    ),
    (
        "gitlog",
        r"commit [0-9a-f]{7,40}(?: \(.*\))?$|(?:Author|AuthorDate|Date|Merge|CommitDate|Commit): +\S|(?:[*"
        r"|\\/ ]+ )?[0-9a-f]{7,12} (?:\(.*?\) )?\S| \S.* \| +(?:\d+ [+-]*|Bin .*)$| \d+ files? changed",
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
SHAPE = late("|".join(f"(?P<{name}>{pattern})" for name, pattern in _SHAPES))

CODE_LINE = late(
    r"\s*(?:(?:async )?def \w+\(|class \w+.*[:{]\s*$|(?:from [\w.]+ )?import [\w.{*\"'(]|#include [<\"]"
    r"|#(?:if|define|endif|ifdef)\b|(?:export |public |private |protected |static |final |abstract |async "
    r"|pub(?:\(\w+\))? |internal |override )+\S|(?:const|let|var|fn|func|struct|enum|impl|trait|interface"
    r"|namespace|using|package|module|require|use) [\w:.{*\"'(<\[]+.*|(?:if|for|while|switch|elif|else|try"
    r"|catch|match|unless|until|with)\b.*[:{(]\s*$|\}? ?else(?: if.*)? ?[{:]?\s*$|return\b.*|(?:raise|throw"
    r"|yield|await|assert|break|continue|end|fi|done|esac|pass|then|do)\b[^.]*$|@\w[\w.]*(?:\(.*)?$"
    r"|///? ?\S.*|/\*\*?.*|\*/|#!\s*/.*|[\w.\[\]\"'*&>-]+(?: ?: ?[\w<>\[\], ]+)? [-+*/|&]?:?= .+"
    r"|[\w.:>\[\]()-]+\(.*\)?[;,{:]?\s*$|.*[;{]\s*$|[)}\]]+[;,]*(?: ?[=>:{].*)?\s*$"
    r"|<\/?[A-Za-z][\w.-]*(?: .*)?/?>.*)"
)
PROSE_LINE = late(r"\s*(?:[>*_(\"'`“«¿¡]*)[^\W\d_]")
_WORD = late(r"[^\W\d_]{1,}(?:['’-][^\W\d_]+)*")
UNSPACED = (("\u3040", "\u30ff"), ("\u3400", "\u9fff"), ("\uac00", "\ud7af"))
"""From which letter to which writing has few or no spaces: kana, Han characters, Hangul."""

WORD_CHARS = 40
"""Words are no longer on the mean: rows of data without spaces are none."""

MACHINE = frozenset({"trace", "diff", "log", "test", "build", "location", "gitlog", "listing", "jsonish"})
"""Shapes that a person doesn't type: several in a row in a typed message were pasted."""

KEY_CHARS = 240
"""A line's kind is told by its first characters only, so that long lines cost no more than short ones."""

VARIABLE = late(r'(?<==)(?:"[^"]*"|[^\s,;&)\]}"]+)|(?<![\w%+-])[\w%+-]*\d[\w.:%+-]*')
"""What differs in a program's lines of one kind: values, and words with a digit."""


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
    if unspaced := unspaced_letters(text):
        return unspaced * 3 >= len(text)
    words = text.split()
    if len(words) < 5 or len(text) > WORD_CHARS * len(words):
        return False
    plain = sum(1 for word in words if word.strip("*_`\"'“”‘’«».,;:!?()[]…–—-").isalpha())
    return plain * 10 >= len(words) * 7


def unspaced_letters(text: str) -> int:
    """How many letters of the text are of UNSPACED scripts."""
    if text.isascii() or max(text) < UNSPACED[0][0]:
        return 0
    return sum(first <= letter <= last for letter in text for first, last in UNSPACED)


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
