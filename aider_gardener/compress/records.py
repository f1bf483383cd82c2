"""Records of trouble as compilers, linters, type checkers, builds and searches write them.

A record begins with a head: a place, a severity, a code and a message, of which some may be missing. The
lines that belong to it follow: where it is, the code it points at, labels, notes, help. They need their head
and are worth less; the first record of a form shows more of them than the next. What a tool says of all its
records is how it ended. Lines that only tell that work goes on are noise.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Sequence
from math import log2
from typing import NamedTuple

from aider_gardener.compress.outline import CAUSE, CONTEXT, DETAIL, NOISE, OUTCOME, WARNING, Note
from aider_gardener.compress.quoting import NAMES_PLACE, form_of
from aider_gardener.reading.alarms import alarm, tells_outcome
from aider_gardener.reading.late import late

FATAL_WORDS = (
    "erreur fatale", "error fatal", "errore fatale", "erro fatal", "фатальная ошибка",
    "критическая ошибка", "фатальна помилка", "致命错误", "致命的错误", "嚴重錯誤", "致命錯誤",
    "致命的エラー", "致命的なエラー", "치명적 오류", "치명적인 오류", "błąd krytyczny", "krytyczny błąd",
    "ölümcül hata", "önemli hata", "fatale fout",
)  # fmt: skip
ERROR_WORDS = (
    "error", "Error", "ERROR", "fatal error", "syntax error", "internal compiler error",
    "sorry, unimplemented", "Fehler", "schwerwiegender Fehler",
    "interner Compiler-Fehler", "Schwerwiegend", "erreur", "errore", "erro", "ошибка",
    "помилка", "错误", "錯誤", "エラー", "오류", "에러", "błąd", "hata", "fel", "fout", "fejl",
    "virhe", "chyba", "σφάλμα", "eroare", "ralat", "kesalahan", "lỗi", *FATAL_WORDS,
)  # fmt: skip
WARNING_WORDS = (
    "warning", "Warning", "WARNING", "Warnung", "attention", "avertissement", "aviso",
    "advertencia", "advertência", "attenzione", "avviso", "предупреждение",
    "попередження", "警告", "경고", "ostrzeżenie", "uyarı", "varning", "waarschuwing",
    "advarsel", "varoitus", "varování", "προειδοποίηση",
)  # fmt: skip
NOTE_WORDS = (
    "note", "Note", "info", "remark", "hint", "message", "Anmerkung",
    "Hinweis", "nota", "замечание", "примечание", "附注", "备注", "附註", "注意", "備考", "注釈",
    "참고", "알림", "uwaga", "notka", "bilgi", "not", "anteckning", "opmerking", "примітка",
    "зауваження",
)  # fmt: skip
STYLE_WORDS = ("style", "performance", "portability", "information")

SEVERITY = {
    **dict.fromkeys(ERROR_WORDS, "error"),
    **dict.fromkeys((*WARNING_WORDS, *STYLE_WORDS), "warning"),
    **dict.fromkeys(NOTE_WORDS, "note"),
}
"""The severity that each word stands for: "error", "warning" or "note"."""

ANY_SEVERITY = "|".join(sorted(SEVERITY, key=len, reverse=True))


LINE_CHARS = 600
"""So much of a line is looked at."""

MESSAGE_LINES = 8
"""So many lines are explained of a message under its head; a place alone is looked back for as far."""

BRACKETED = late(r"\[[^\[\]]*\]")
"""In a line that says how a step ended: which."""

ENDING = 12
"""How a command ended is no record alone but in so many last lines."""

MATCH = 4.0
"""What a line is worth that a search found."""

WORDS = rf"{ANY_SEVERITY}|(?i:fatal(?: error)?|severe|critical|warn|err)"
PATH = r"(?P<path>(?:[A-Za-z]:(?=[\\/]))?[^\s:()|\"'`=<>*]{1,200}?)"
PLACED = late(
    r"\s*(?:(?P<tag>[ewiEWF]|(?:[✘▲×!] )?\[(?i:error|warn(?:ing)?|fatal|err|info)\]|\*\* \(\w+\)|"
    r"%?(?i:fatal error|error|warning|syntaxerror)(?:-\w+)?|vet|\S{0,200}\bld(?:\.\w+)?):?\s+)?(?:file://)?"
    rf"{PATH}(?P<at>:\[\d+,\d+\]|:\d+(?:[:.]\d+)?(?:-\d+(?:[:.]\d+)?)?|\(\d+(?:[,:]\d+)*\)|"
    r":\(\.[\w.$]+\+0x[0-9a-f]+\)|: \(\d+, \d+\)|: line \d+(?:, col \d+,)?|"
    r" :(?= (?:fatal )?[ew]\w+ [A-Z]+\d))(?=[\s:：,]|$)(?P<rest>.*)$"
)

PLACE = late(rf"(?:File \"|In )?{PATH}(?::\d+(?::\d+)?:?|\"?,? line \d+(?:, characters \d+-\d+)?:?)$")
FILE = late(r"(?:.*[\w)\]+-]\.[A-Za-z]\w{0,7}|.*[\\/][\w.+-]+|Makefile|Dockerfile|BUILD)$")
SEVERE = late(
    rf"[\s:：–-]*(?P<severity>{WORDS}|[CWEFR](?=: ))(?:\[(?P<code>[\w./-]+)\])?"
    rf"(?:[ \u00a0\u202f]?[:：]|(?=\s+[A-Z]+\d)|\s\s+|\s[•-]\s|$)\s*(?P<message>.*)$"
)
CODED = late(
    r"[\s:–-]*(?P<code>[A-Z]{1,8}-?\d{2,6}(?:/[\w-]+)?|\(\w+(?:\.\w+)?\d+\)|lint/\S+)"
    rf"[:\s]\s*(?:\[\*\] )?(?:(?P<severity>{WORDS}): )?(?P<message>.*)$"
)
BARE = late(
    r"\s*(?:[✘▲×!➤✖⨯] ?)?(?:[\w./+-]{1,200}: )?"
    rf"\[?(?P<severity>{WORDS})\]?(?:\[(?P<code>[\w./:-]+)\])?"
    r"(?:[ \u00a0\u202f]?[:：!]|\s[•-]|(?<=\])|(?<=ERROR)|(?<=WARN)|(?<=WARNING))(?:\s+(?P<message>.*)|$)"
)

NAMED = late(
    r"(?:➤ |>> Issue: \[|\S{1,200}: \(| |\s*\^-*\^? )?(?P<code>YN\d{4}|ERR_\w+|[EW](?=: )|E[A-Z]{3,}(?=: )|"
    r"B\d{3}:\w+|SC\d{4}|\w+\.[EWCI]\d+)[\]):]* +(?P<message>\S.*)$"
)
OVER_PLACE = late(
    r"\s*(?:[×⚠✖✘] )?(?P<code>\[?[A-Z]{1,4}\d{3,4}\]?|\[?[A-Z]{2,}_[A-Z_]+\]?|\w{0,80}(?:Error|Exception)|"
    r"[\w@/-]{1,80}\([\w/-]+\))[:\s]+(?:\[\*\] )?(?P<message>.+)$"
)
RULE = late(r"[\s=─━*+-]*$")
NEXT_PLACE = late(r"\s*(?:-->|[╭┌])")
SNIPPET = late(r"\s*(?:[>❯→]\s*)?[\d\s]*[|│┆·╵]|\d+ +[+-](?: |$)|\s*\d+: |[\s|│]*[\^~¯-]+[\s^~]*$")
POINTS = late(r"[\s|│·╰─┬╭╵]*[\^~┬▲¯](?P<label>.*)$")
COUNTED = late("error|warning|problem|issue|offen|violation|vulnerab|file")
COUNTS = late(
    r"\b\d+ (?:[\w()/.-]+ ){0,3}?(?:errors?|warnings?|problems?|issues?|offen[sc]es?|violations?)\b|"
    r"\b(?:errors?|warnings?|problems|issues)(?: found)?: *\d+\b|\b\d+ vulnerabilit|"
    r"\b\d+ files? (?:would|will|were|was|left|inspected|reformatted|scanned|with)"
)
BROKEN = late(
    r"E$|E9|F5|F6|F7|F82|F83|F40[4-7]|PLE|[EF]\d{4}$|TS\d|CS\d|MSB|LNK|\[?[A-Z]+_[A-Z_]+|PRS|S[IM]?999|"
    r"\w+\.E\d|\w+(?:Error|Exception)$"
)
"""Codes of what cannot work; the others are about style."""


class Record(NamedTuple):
    """A head: "" where it names none; `found` where it has a place and a text, as what a search finds."""

    severity: str = ""
    code: str = ""
    message: str = ""
    file: str = ""
    found: bool = False

    @property
    def form(self) -> Hashable:
        """What records have in common that say the same."""
        return self.severity, self.code, form_of(self.message)


def read(lines: Sequence[str]) -> dict[int, Note]:
    """What is known of records and of the builds around them; nothing where there is no record."""
    reader = _Reader(lines)
    for row, line in enumerate(reader.lines):
        if line.strip():
            reader.line(row, line)
    reader.tell_matches()
    return reader.notes if reader.records else {}


class _Reader:
    """Reads line by line.

    `head` is the row of the record that the next lines may belong to, `under` that of its last note or its
    own, `place` that of a place alone. -1 stands for none.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = [line[:LINE_CHARS] for line in lines] + [""]
        self.notes: dict[int, Note] = {}
        self.matches: dict[int, Record] = {}
        self.seen: Counter[Hashable] = Counter()
        self.head = self.under = self.place = -1
        self.record = Record()
        self.form = self.record.form
        self.records = self.depth = self.told = 0
        self.worth = 0.0

    def line(self, row: int, line: str) -> None:
        """Explain the line, or let it end what stood above it."""
        inner = self.head >= 0 and SNIPPET.match(line)
        if not inner and self._ended(row, line):
            return
        if RULE.match(line):
            return
        record = None if inner else self._record(row, line)
        if record is not None and record.severity == "note" and self.head >= 0:
            self._below(row, min(self.worth - 2, DETAIL), self.head)
            self.under = row
        elif record is not None:
            self._open(row, line, record)
        elif self.head >= 0 and self._belongs(row, line):
            self._tell(row, line)
        else:
            self.head = -1
            self.place = row if PLACE.match(line) else self.place

    def _say(self, row: int, worth: float, above: int = -1, form: Hashable = None) -> None:
        self.notes[row] = Note(worth, above, form)

    def _below(self, row: int, worth: float, above: int) -> None:
        """A line that belongs to the head: worth less for each doubling of the records of its form."""
        self._say(row, worth - 2 * log2(max(1, self.seen[self.form])), above, row)

    def _ended(self, row: int, line: str) -> bool:
        """What the tool says of all its records, or how the build ended."""
        bare = line.strip()
        if len(bare) > 240 or line.startswith("     "):
            return False
        ends = tells_outcome(bare) and not bare.startswith("error: ")
        small = bare.lower()
        if not ends and not (COUNTED.search(small) and COUNTS.search(small) and not PLACED.match(bare)):
            return False
        self.records += ends and row >= len(self.lines) - ENDING
        self.seen["counts"] += not ends
        form = ("ends", form_of(BRACKETED.sub("", bare))) if ends else None
        self._say(row, OUTCOME - (0 if ends else 2 + 1.5 * log2(self.seen["counts"])), -1, form)
        self.head = -1
        return True

    def _record(self, row: int, line: str) -> Record | None:
        """The head that the line is, if it is one."""
        found = PLACED.match(line)
        placed = _placed(found) if found else None
        if placed is not None:
            return placed
        found = BARE.match(line)
        if found and (found["message"] or self.head < 0) and " => {" not in line:
            record = _coded(found["severity"], found["message"] or "", code=found["code"] or "")
            return record if record.severity != "note" or self.head >= 0 else None
        found = OVER_PLACE.match(line) if NEXT_PLACE.match(self.lines[row + 1]) else NAMED.match(line)
        return Record(_rank(found["code"]), found["code"], found["message"]) if found else None

    def _open(self, row: int, line: str, record: Record) -> None:
        """A new head: worth less if its file, its code or the very line were seen before."""
        severity = record.severity or _rank(record.code)
        worth = self.worth = {"error": CAUSE, "warning": WARNING, "note": DETAIL}[severity]
        form = self.form = record.form
        repeats = ((form, record.file), 1.0), (record.code, 0.6), (("line", line.strip()), 3.0)
        for key, less in repeats:
            self.seen[key] += 1
            worth -= less * log2(self.seen[key]) if key else 0
        self.seen[form] += 1
        above = -1
        if not record.file and 0 <= self.place < row <= self.place + MESSAGE_LINES:
            above = self.place
            self.notes.setdefault(above, Note(CONTEXT))
        if record.found:
            self.matches[row] = record
        self.records += 1
        self.head = self.under = row
        self.record, self.told, self.depth = record, 0, len(line) - len(line.lstrip())
        named = severity == "error" and bool(record.file) and not record.found
        self.notes[row] = Note(max(worth, NOISE / 2), above, form, named)

    def _belongs(self, row: int, line: str) -> bool:
        """True for a line that belongs to the head above."""
        if len(line) - len(line.lstrip()) > self.depth:
            return True
        if SNIPPET.match(line) or line.startswith("help: ") or POINTS.match(self.lines[row + 1]):
            return True
        said = self.record.message
        return row - self.head <= 1 + self.told and (not said or said.endswith(":"))

    def _tell(self, row: int, line: str) -> None:
        """A line below a head: where it is, its message, what it labels or shows."""
        self.told += 1
        own = self.under == self.head
        points, pointed = POINTS.match(line), POINTS.match(self.lines[row + 1])
        above, worth = self.under, CONTEXT / 2
        if not self.record.file and NAMES_PLACE.search(line):
            worth, self.record = 0.75 * self.worth, self.record._replace(file=line)
        elif points:
            worth = self.worth / 2 if own and any(map(str.isalpha, points["label"])) else worth
            above = row - 1 if row - 1 in self.notes and self.notes[row - 1].above == above else above
        elif SNIPPET.match(line) or pointed:
            worth = self.worth / 3 if own and (pointed or ">" in line[:8]) else worth
        elif alarm(line) == "error":
            worth = max(self.worth - 2 - 0.3 * self.told, CONTEXT)
        elif self.told <= MESSAGE_LINES:
            message = self.worth / 2 if self.record.message.strip(" :") else self.worth - 0.5
            worth = max(message - 0.3 * self.told, CONTEXT)
        else:
            return
        self._below(row, worth, above)

    def tell_matches(self) -> None:
        """Lines with a place and a text alone are records where one space stands before the text; of a tool
        whose other records have more they lead to these; else a search found them."""
        spaced = {row for row, record in self.matches.items() if re.match(r":? \S", record.message)}
        found_all = self.records == len(self.matches) >= 2 * len(spaced)
        for row, record in self.matches.items():
            worth, above = CONTEXT, self.notes[row].above
            if found_all:
                places = record.file, ("in", record.file.rpartition("/")[0])
                self.seen.update(places)
                worth = MATCH - log2(self.seen[places[0]]) - 0.2 * log2(self.seen[places[1]])
            if found_all or row not in spaced:
                self._say(row, worth, above, row)


def _placed(found: re.Match[str]) -> Record | None:
    """A head with a place; without a severity and a code it may be what a search found."""
    path, rest, tag = found["path"], found["rest"], found["tag"] or ""
    if rest[:1] in "： " or rest[1:2] in " \t" or not rest.strip(":"):
        record = _coded(tag, rest, path)
        if record.severity or record.code:
            return None if path.isdigit() else record
    if found.start("path") or not FILE.match(path) or not rest.strip(":： "):
        return None
    return Record("error", "", rest, path, found=not tag and found["at"][0] == ":")


def _severity(word: str) -> str:
    """ "error", "warning" or "note": what a tool's word or sign stands for."""
    bare = word.strip("[]%: ✘▲×!").split("-")[0]
    small = bare.lower()
    by_letter = "warning" if small[:1] in ("w", "c", "r", "⚠") else "note" if small[:1] in "iℹ" else "error"
    return SEVERITY.get(bare) or SEVERITY.get(small) or by_letter


def _rank(code: str) -> str:
    """ "error" for a code that stands for what cannot work, "warning" for one of style."""
    return "error" if not code or BROKEN.match(code) else "warning"


def _coded(tag: str, rest: str, file: str = "", code: str = "") -> Record:
    """The record that stands behind a place or a tag."""
    severity = _severity(tag) if tag.strip() else ""
    found = SEVERE.match(rest)
    if found:
        severity, code, rest = _severity(found["severity"]), found["code"] or code, found["message"]
    found = None if code else CODED.match(rest)
    if found:
        code, rest = found["code"], found["message"]
        severity = _severity(found["severity"]) if found["severity"] else severity
    return Record(severity or (_rank(code) if code else ""), code, rest.strip(" :-"), file)
