"""Where the secrets of a text are: credentials of known services, private keys, and values assigned to a name
that says it is a secret.

What a terminal coloured and what was broken over lines is read as one (`flattened`). Every step takes time by
the size of the text alone.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Generator, Iterable, Iterator

from aider_gardener.archive.store.looks import (
    FOREIGN_WORDS,
    FORMATS,
    STRONG,
    TELLING,
    TOKEN,
    Looks,
    is_idle,
    kind_of,
    looks,
)
from aider_gardener.reading.late import late
from aider_gardener.reading.seeking import Places, seeker

Span = tuple[int, int]
Found = tuple[int, int, str]
"""Start, end and kind of a secret in a text."""

_COLOUR = r"\x1b\[[0-9;?]{0,40}[@-~]|\\u001b\[[0-9;?]{0,40}[@-~]"
_NEXT_STRING = r"[ \t\\+]{0,20}\r?\n(?:[ \t]{1,80}|(?<=[\\+]\n))(?:\+[ \t]{0,20})?"
WITHIN_VALUES = late(rf"{_COLOUR}|\\\r?\n[ \t]{{0,80}}|\"{_NEXT_STRING}\"|'{_NEXT_STRING}'")
"""What is no part of a value that it stands in: a colour, the end of a line or of a string that goes on."""
BROKEN = re.compile(r"\n(?:(?<=[\"'\\+]\n)|(?<=[\"'\\+][ \t\r]\n))")
"""An end of a line that may be part of such: what a text has none of is read as it is."""
WITHIN_COPIES = re.compile(rf"{_COLOUR}|\\?\r?\n[ \t>|+]{{0,80}}")
"""What is no part of a known secret: colours and every end of a line."""

KEY_BEGINS = late(
    r"-----BEGIN(?:[A-Z0-9 +]|%20){0,40}PRIVATE(?:[ +]|%20)KEY(?: BLOCK)?-----"
    r"|-----BEGIN OpenVPN Static key V\d-----"
    r"|---- BEGIN SSH2 [A-Z ]{0,20}PRIVATE KEY ----|Private-Lines: \d{1,4}[ \t\r]*\n"
)
KEY_ENDS = re.compile(r"-{4,5} ?END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
KEY_BODY = re.compile(r"(?:[A-Za-z-]{1,30}: [^\n]*\n|\d{1,6}:|[\s>|+\-\"',\\%]|[A-Za-z0-9+/=]+)*")
MARK_CHARS = 60
"""So far around its word the line that begins or ends a key reaches."""
KEY_CHARS = 60_000
"""So long a private key may be, its frame of line numbers, quotes and colours included."""
_FRAME = r"[ \t>|\"',]{0,40}(?:\d{1,6}[:-][ \t]{0,8})?"
_TAIL_END = r"[\"',\\ \t\r]{0,20}\n"
KEY_TAIL = late(
    rf"(?m)^(?:{_FRAME}[A-Za-z0-9+/=]{{40,120}}{_TAIL_END}){{1,200}}"
    rf"(?:{_FRAME}[A-Za-z0-9+/=]{{1,120}}{_TAIL_END})?"
    r"[+ \t>|\"'\d:-]{0,40}\Z"
)
"""Lines of a key before the one that ends it."""
LONG_RUN = re.compile(r"[A-Za-z0-9+/=]{16,}")
LINES = re.compile(
    r"[\w+/=.-]{40,1000}(?:\r?\n[ \t>|+]{0,80}(?=\S{0,400}[\d=])(?:[\w+/-]{16,400}|[\w+/-]{4,400}=)=?"
    r"[ \t]{0,20}(?=\r?\n|\Z)){0,200}",
    re.ASCII,
)
"""A long secret that may go on in lines of nothing but its own characters."""

WINDOW_CHARS = 300
"""So far before and behind a word its form is looked for, and one that begins there so much further."""
NAME_WORDS = (
    *"pass pw secret token credential creds key auth _api psk identif salt seed pepper _pat login".split(),
    *("mdp", "schlüssel", "密钥", "密鑰", *FOREIGN_WORDS.split("|")),
)
KEY_KINDS = ("private", "static key")
"""Words of the lines that begin private keys."""
SOUGHT = frozenset((*KEY_KINDS, *NAME_WORDS, *TELLING, *(word for item in FORMATS for word in item.words)))
NAME_CHARS = 80
NAME_BEHIND, NAME_AHEAD = re.compile(r"[\w.-]*"), re.compile(r"(?:(?![是为は])[\w-]){0,60}")
_GAP, _OPEN, _QUOTE = r"[ \t]{0,20}", r"[\\\"'`\]*]{0,9}", r"\\{0,7}(?:\"\"\"|[\"'`])"
_SCHEME = r"(?:(?i:bearer|basic|token|apikey|key)[ \t]{1,9})?"
_CHARS = r"[^\s\"'`<>,;&(){}\[\]$\\，。；「」]+"
_BARE = rf"{_CHARS}(?:(?:[&,;](?![\w.-]{{1,40}}[=:])|\\(?![\"'nrt])|\${{1,2}}(?![$({{])){_CHARS})*"
_WITHIN = r"(?:(?!(?P=quote))(?:\\[\"']|\\(?![\"'])|[^\n\\])){4,4000}"
ASSIGNED = late(
    rf"""(?:
    # password: | and its lines
    {_OPEN}:{_GAP}[|>][+-]?\d?[ \t]*(?P<block>(?:\r?\n[ \t]{{1,80}}\S{{3,}}[^\s:][ \t]*(?=\r?\n|\Z)){{1,200}})
    # <password>x</password>, <key>password</key><string>x</string>
    |(?:(?:</\w{{1,40}}>\s{{0,40}}<\w{{1,40}})?|["']|[ ][^<>]{{1,200}})>(?P<element>[^\s<>]{{4,4000}})(?=</)
    # password = x, apiKey: str = x, "Authorization": x
    |(?:(?:[ ]?\[[\w*]{{0,24}}\])?{_OPEN}{_GAP}
    (?::{_GAP}[\w.\[\]|&<>?';* ]{{1,40}}(?==[^=\r\n]))?
    (?P<sign>[:?]=|:\*\*|<-|->|\u2192|\uff1a|::(?=\s)|\?:|={{1,3}}>?|!==?|:-?
    |[是为は](?={_GAP}「?[!-~]{{6,60}}(?:[\s,。、」]|です|\Z))){_GAP}  # password is x
    # name: PASSWORD, value: x
    |{_OPEN}(?P<given>[,=>]{{0,3}}\s{{1,40}}["']?(?i:value|default|body|string)
    (?:\(\d{{1,5}}\)|["']?[ \t]{{0,9}}[:=]>?){_GAP})
    # define('PASSWORD', 'x')
    |(?P<called>["']{_GAP},{_GAP})(?={_QUOTE})
    # --password x, WITH PASSWORD 'x'
    |(?P<blank>[ \t]{{1,20}}(?:(?i:by)[ ]{{1,9}})?))
    # {0x7F, 0x45}, "x", bytes.fromhex("x"), env.KEY || "x", x
    (?:\{{\s?(?P<bytes>(?:0x[0-9A-Fa-f]{{2}},?\s?){{8,64}})
    |(?P<call>(?:(?:[\w.$\[\]"']{{1,60}}[ ](?:\|\||\?\?|or)|&\w{{1,30}})[ ])?(?:[\w.:]{{1,40}}[(\[]){{0,2}})
    [\w.@$]{{0,12}}?(?P<quote>{_QUOTE}){_SCHEME}
    (?P<quoted>{_WITHIN})(?P=quote)
    |(?P<words>(?(sign)(?<=[ ])[^\W\d_]{{2,20}}(?:[ ][\w!?.-]{{1,20}}){{1,6}}(?=[ \t]*\r?(?:\n|\Z))|(?!)))
    |「?{_SCHEME}(?P<bare>{_BARE}))
)""",
    re.VERBOSE,
)
"""A value that belongs to the name that ends here."""
TYPE = late(r"[A-Z][A-Za-z\d.]*(?:[?!]|[A-Z][a-z]*)|[a-z]+[A-Z][A-Za-z]*")
"""A type's name or a variable's, as code has it where settings have a value."""
VALUE_END = re.compile(r"[\"';,]?[ \t]{0,20}\|?[ \t]{0,20}(?:#.*)?(?=\r?\n|\Z)")
INI = late(r"[ \t]*(?:\[[\w .:-]{1,60}\]|[\w.-]{1,60} = [\w./:@-]+)\r?\n[ \t]*(?:[\w-]+\.)*")
"""A line of settings without quotes, or their heading, and what stands before the next one's name."""
ARGUMENT_END = re.compile(r"\)|,\s")
PATH_BEHIND = re.compile(r"\w:\Z")
SETTING = re.compile(r"[ \t+>]*(?:[\w#;$/*-]{1,6} ){0,3}(?:[\w-]+\.)*\Z")
"""What stands before a name in a line of settings."""
NEAR_CHARS = 120
"""So far behind its name a value of such looks is taken for its own."""
LOGIN_CHARS = 24
"""So near behind the word a colon says that a login is told: `login for staging: ada / x`."""
LEAD_CHARS = 32
"""So far before a value stand the words that lead to it."""
_NEITHER = r"\s\"'`<>,;(){}\[\]|\\"
_LONG = rf"(?=[^{_NEITHER}]{{6}})"
_BEFORE = r"(?:[\w.@-]{1,40}[=:]{1,2}(?=[^\s=/])|\*\*(?!\*))?"
_VALUE = rf"{_BEFORE}(?P<value>[^{_NEITHER}]{{5,200}}[^{_NEITHER}.:?])"
LIKELY = re.compile(
    rf"(?<![^{_NEITHER}]){_LONG}(?:(?=\*{{3}})|(?=[^{_NEITHER}\d]*\d)(?=[^{_NEITHER}]*?[^\W\d_])){_VALUE}"
)
"""A value that looks like a secret, letters and digits in one, or stands where one stood: ***."""
NEAR_VALUE = re.compile(
    rf"[\d*](?:(?<=\*)\*\*|(?<=\d)(?<!\d\d)(?:[^{_NEITHER}]{{4}}|(?<=[^{_NEITHER}]{{4}}\d)))"
)
"""What stands in each that has eight characters: a number's first digit with four beside it. Most lines have
none, and it is looked for in a tenth of the time."""
NAMED_BEHIND = late(
    r"\s{1,9}(?:[#(]|//|--|<-|(?:is|as|ist|est|es)\b)[ ]?(?:[\w']{1,20}[ ]){0,3}?[\w'-]+"
    r"(?=[ \t]*(?:[^\w\s.'-]|\.?(?:[\r\n]|\Z))|[ ](?:of|for|in|on|from|to|and|but|gives|fails)\b)"
)
"""What stands from a value to the end of its name: `is the access token`, `# webhook secret`."""
SENTENCE_END = re.compile(r"[.!]|[\r\n\t]|\Z")
LED = late(
    r"(?:[:=>→：(\]?<›»]|は|是"
    r"|(?:\W(?:is|was|to|as|\d|ist|lautet|est|es|é|è|er|je)|'s)(?: still| now)?)[\s\[({-]{0,8}\Z"
)
PLAIN = re.compile(r"[A-Za-z\d][\w.!*^#&~$%+-]*={0,2}|[A-Za-z\d+/]{43}=|[A-Za-z\d+/]{86}==")
HASHED = late(
    r"(?i:hash|sha|md5|digest|sum|fingerprint|commit|revision|\bid\b|\bh1:|\"[xyn]\":)|[a-z]I[dD]\b"
)
"""What a run of hexadecimal digits behind it is."""
HIDDEN = late(r"[\"' ]{0,3}[:=]>?[ \"']{0,3}[(<][A-Za-z ]{3,40}[)>]")
"""Words in brackets in the place of a value."""
SIGN = re.compile(r"[!*^#&~$%]")
HEX = re.compile(r"(?i)(?:0x)?[0-9a-f-]{7,}")
SHAPE = late(
    r"[a-z_]\w*(?:\.[a-z_]\w*)+|[\d.:/-]+[tT][\d.:]+\S*|\S*(?:\.[a-z]\w{0,4}(?::\d+){0,2}|[\d.]\.\d+)"
    r"|[\d.]+[a-z%]{1,3}|[\w.-]+[~=:]+[\w.-]{1,7}|.*sha-?\d{1,3}|argon2\w{0,2}|v?\d+\.\d+\.\S*"
)
"""Ids, hashes, times, addresses, versions and files, in small letters."""
HEADING = re.compile(r"[^:={}<>]{1,1000}")
SEPARATORS = re.compile(r"\||\t|,|;| {2,}")
"""What stands between the cells of a table."""
QUOTED = re.compile(r'"[^"]*"')
LINE_BELOW = re.compile(r"\n(.*)")
INSERTED = late(
    r"([^()\n]{1,1000})\)\s{0,20}(?:(?i:values)\s{0,20}(?=\()|(?i:from\s{1,20}stdin)(?P<copied>[^\n]{0,80})(?=\n))"
)
INSERTED_ROW = re.compile(r"[\s,]{0,20}\(([^()\n]{1,4000})\)")
"""Names of columns behind their bracket, and a row of values for them; rows that are copied are lines."""


def flattened(text: str) -> tuple[str, Callable[[int], int]]:
    """A text without what is no part of a value, and what tells where its characters stand in the whole."""
    cuts, removed, parts, past = list[int](), [0], list[str](), 0
    is_broken = "\x1b" in text or "\\u001b" in text or BROKEN.search(text)
    for match in WITHIN_VALUES.finditer(text) if is_broken else ():
        parts.append(text[past : match.start()])
        past = match.end()
        cuts.append(match.start() - removed[-1])
        removed.append(removed[-1] + past - match.start())
    return "".join([*parts, text[past:]]), lambda at: at + removed[bisect_right(cuts, at)]


NEEDS = {
    "text": (Looks.WORD, Looks.MIX, Looks.RANDOM, Looks.STRONG),
    "likely": (Looks.MIX, Looks.RANDOM, Looks.RANDOM, Looks.STRONG),
    "beside": (Looks.RANDOM, Looks.RANDOM, Looks.RANDOM, Looks.STRONG),
    "far": (Looks.STRONG, Looks.STRONG, Looks.STRONG, Looks.NEVER),
    "none": (Looks.NEVER, Looks.NEVER, Looks.NEVER, Looks.NEVER),
}
"""What the value of each kind of name has to look like, by how the two are joined."""
KINDS = ("password", "secret", "token", "key")
TAKING = ("", *KINDS)
"""What a word says of the values in its line, from what takes most for secrets on."""
REDACTED = re.compile(r"\[redacted:[a-z-]{1,40}:[0-9a-f]{6}\]|ENC(?:\[[^\]\n]{1,4000}\]|\([^)\n]{1,4000}\))")
"""What stands in a secret's place: ours, and what SOPS or Jasypt encrypted."""


def find(text: str) -> list[Found]:
    """Every secret of a text; spans may overlap."""
    flat, place = flattened(text.replace("\0", "\n"))
    flat = REDACTED.sub(lambda match: "*" * len(match[0]), flat)
    places, found = seeker(flat, (), SOUGHT), []
    for start, end, kind in (*_keys(flat, places), *_formats(flat, places), *_named(flat, places)):
        lines = LINES.match(flat, start)
        found.append((place(start), place(max(end, lines.end() if lines else 0) - 1) + 1, kind))
    return found


def _keys(text: str, places: Places) -> Iterator[Found]:
    """Private keys: what stands behind the line that begins one, and before one that ends it."""
    stop = 0
    for at in sorted(at for word in KEY_KINDS for at in places(word)):
        near, past = max(0, at - MARK_CHARS), at + MARK_CHARS
        ends = KEY_ENDS.search(text, near, past)
        if begins := KEY_BEGINS.search(text, max(stop, near), past):
            start, last = begins.end(), begins.end() + KEY_CHARS
            dashes = text.find("----", start, last)
            body = KEY_BODY.match(text, start, last if dashes < 0 else dashes)
            stop = body.end() if body else start
            if LONG_RUN.search(text, start, stop):
                yield start, stop, "private-key"
        if ends and (tail := KEY_TAIL.search(text, max(0, ends.start() - KEY_CHARS), ends.start())):
            yield *tail.span(), "private-key"


def _formats(text: str, places: Places) -> Iterator[Found]:
    for token in TOKEN.finditer(text):
        if not is_idle("token", token[1]):
            yield *token.span(1), "token"
    for item in FORMATS:
        for word in filter(places, item.words):
            for begin, end in _windows(text, places(word)):
                for match in item.expression.finditer(text, begin, end):
                    start, stop = match.span(match.lastindex or 0)
                    if not is_idle(item.kind, text[start:stop]):
                        yield start, stop, item.kind


def _windows(text: str, there: Iterable[int]) -> Iterator[tuple[int, int]]:
    """The lines of these places, each with the WINDOW_CHARS behind it; what overlaps is one."""
    begin = end = 0
    for at in there:
        if at >= end - WINDOW_CHARS:
            first, last = _line(text, at, WINDOW_CHARS)
            if first > end > 0:
                yield begin, end
            begin, end = first if first > end else begin, last + WINDOW_CHARS
    yield begin, end


def _line(text: str, at: int, chars: int) -> tuple[int, int]:
    """Where the line of a place begins and ends, at most so many characters from it."""
    begin, end = max(0, at - chars), min(len(text), at + chars)
    stop = text.find("\n", at, end)
    return max(begin, text.rfind("\n", begin, at) + 1), end if stop < 0 else stop


def _named(text: str, places: Places) -> Iterator[Found]:
    """Values that belong to a name that says it is a secret's."""
    searched, taken = dict[Span, str](), set[Span]()
    for word in filter(places, TELLING):
        for at in places(word):
            yield from _telling(text, at + len(word), "", searched, taken)
    reached = set[tuple[str, int]]()
    for word in filter(places, NAME_WORDS):
        end = below = 0
        for at in places(word):
            if at < end:
                continue
            ahead = NAME_AHEAD.match(text, at + len(word))
            stop = end = ahead.end() if ahead else at + len(word)
            behind = NAME_BEHIND.match(text[max(0, at - NAME_CHARS) : at][::-1])
            start = at - len(behind[0].rstrip("-.0123456789") if behind else "")
            if text.startswith("</", max(0, start - 2)):  # an element was read from its beginning on
                continue
            name = text[start:stop]
            if name.lower() == "key":  # whose it is tells the word before
                name = " ".join(text[max(0, start - 12) : stop].split()[-2:])
            kind = kind_of(name)
            if kind:
                match = ASSIGNED.match(text, stop)
                joint = _joint(text, start, stop, match) if match else "none"
                value = match[match.lastgroup or 0].strip("\\\"'") if match else ""
                if match and looks(value) >= NEEDS[joint][KINDS.index(kind)]:
                    taken.add(span := match.span(match.lastgroup or 0))
                    yield *span, "password" if kind == "password" else "secret"
                elif not (value.startswith("***") or HIDDEN.match(text, stop)):  # where one stood
                    if at >= below:
                        below = yield from _below(text, at)
                    if not (match and match["sign"]) and text[stop : stop + 1] != ".":
                        yield from _near(text, stop, kind, reached)
                end = match.end() if match and match["sign"] else stop
            if kind or word in ("login", "credential", "auth", "identif"):
                is_told = name.lower() == "login" and ":" in text[stop : stop + LOGIN_CHARS]
                kind = kind or ("password" if is_told else "token")
                yield from _telling(text, stop, kind, searched, taken)


def _joint(text: str, start: int, stop: int, match: re.Match[str]) -> str:
    """How a value is joined to its name, a key of NEEDS."""
    how, name = match.lastgroup or "", text[start:stop]
    sign = ":" if match["given"] else match["sign"] or ""
    joined, before = text[stop : match.start(how)], text[max(0, start - 8) : start]
    follows = text[match.end() : match.end() + 1]
    is_option = before.endswith(("ENV ", " -", "--")) or "BY" in joined
    if follows in tuple("({[]$") or (sign == ":" and PATH_BEHIND.search(before)):
        return "none"
    if how == "element" and "</" in joined and text[start - 1 : start] != ">":  # a word of the one before
        return "none"
    if match["call"]:  # what stands in a call or in brackets is often a name
        return "beside"
    line = text.rfind("\n", max(0, start - 80), start) + 1
    is_first = match["given"] or SETTING.match(text, line, start)
    is_line = bool(is_first and VALUE_END.match(text, match.end()))
    if how not in ("bare", "words"):
        is_set = sign[-2:] not in ("", "==", "!=")  # what a value is compared with is often a word of a test
        is_set = is_set or is_option or how == "element" or name.isupper() or (is_line and not sign)
        return "text" if is_set else "likely"
    above = text.rfind("\n", max(0, line - 200), max(0, line - 1)) + 1
    is_yaml = sign == ":" and not TYPE.fullmatch(match[how])
    is_ini = joined.strip() == "=" and INI.fullmatch(text, above, start) is not None
    is_setting = is_line and (joined == "=" or is_yaml or is_ini)
    if how == "words":
        return "likely" if is_setting else "none"
    if is_setting or is_option or (joined == "=" and name.isupper()):
        return "text"
    is_name = ARGUMENT_END.match(text, match.end()) is not None
    return "likely" if sign and not is_name else "beside"


def _near(text: str, at: int, kind: str, reached: set[tuple[str, int]]) -> Iterator[Found]:
    """Values by their looks near a name that is followed by no value of its own: in the words, arguments or
    items behind it, or alone in one of the next lines. Each leads on to the next, so what is behind one that
    a name of this kind has `reached` before is found."""
    if kind == "key":
        return
    leads, is_password = at, kind == "password"
    while True:
        last = leads + NEAR_CHARS
        for match in _likely(text, leads, last):
            value, (begin, end) = match["value"], match.span("value")
            if value.startswith("***") or (kind, end) in reached:  # where one stood or was found
                return
            gap, follows = text[leads:begin], text[end : end + 3]
            is_quoted = text[begin - 1] in "\"'`>" and follows[:1] in tuple("\"'`<")
            is_below = "\n" in gap
            is_part = match.start() < begin or (is_below and not (is_quoted or SENTENCE_END.match(follows)))
            if is_part or len(value) < 8:
                continue
            is_led = is_quoted or bool(LED.search(gap[-LEAD_CHARS:]) and not HASHED.search(gap[-16:]))
            is_named = is_led and gap.rstrip(" \"'`")[-1:].isalpha() and not HASHED.search(gap)
            is_next = is_below and not gap.rpartition("\n")[2].strip()
            is_told = is_next or (gap.endswith(": ") and not HASHED.search(gap))
            is_key = is_named or (is_told and len(value) in (32, 36))
            if HEX.fullmatch(value):
                joint = "likely" if is_key else "none"
            elif not is_named and SHAPE.fullmatch(value if is_password and not is_quoted else value.lower()):
                joint = "none"
            elif not is_next and ("/" in value or (is_below and not is_password)):
                joint = "far"
            else:
                joint = "likely" if is_next or is_led else "none"
            if looks(value) >= NEEDS[joint][KINDS.index(kind)]:
                reached.add((kind, end))
                yield begin, end, "password" if is_password else "secret"
                leads = end
                break
        else:
            return


def _telling(text: str, at: int, kind: str, searched: dict[Span, str], taken: set[Span]) -> Iterator[Found]:
    """Values not `taken` yet that look as secrets in a line with a name that ends there, whatever is between.
    `searched` has the lines of the names before: one that takes as much for secrets finds nothing more."""
    line = begin, end = _line(text, at, NEAR_CHARS)
    if begin == at - NEAR_CHARS and text[end : end + 1] != "\n":  # so long a line is none that people read
        return
    if line in searched and TAKING.index(searched[line]) <= TAKING.index(kind):
        return
    searched[line] = kind
    for match in _likely(text, begin, end):
        value, (first, last) = match["value"], match.span("value")
        is_cased = not (value.islower() or value.isupper())
        is_mixed = is_cased and (kind in ("", "password") or STRONG.fullmatch(value))
        is_odd = is_mixed or (kind != "key" and SIGN.search(value))
        is_enough = len(value) >= 8 and is_odd and PLAIN.fullmatch(value)
        named = NAMED_BEHIND.match(text, last, end + 1)
        is_named = bool(named and kind_of(named[0].split()[-1]) in KINDS[:-1] and not HASHED.search(named[0]))
        need = Looks.MIX if is_enough else Looks.RANDOM if is_named or not kind else Looks.NEVER
        if need is Looks.NEVER or (first, last) in taken or SHAPE.fullmatch(value.lower()):
            continue
        if not HASHED.search(text, max(begin, first - 16), first) and looks(value) >= need:
            yield first, last, "secret"


def _likely(text: str, begin: int, end: int) -> Iterator[re.Match[str]]:
    """What matches LIKELY there, from the first run of eight characters on that has a digit, or of stars."""
    near = NEAR_VALUE.search(text, begin, end)
    return LIKELY.finditer(text, max(begin, text.rfind(" ", begin, near.start())), end) if near else iter(())


def _below(text: str, at: int) -> Generator[Found, None, int]:
    """Cells of a table below the heading at `at`, or of the rows that SQL inserts into columns named there;
    gives where the table ends."""
    begin, end = text.rfind("\n", max(0, at - 1000), at) + 1, text.find("\n", at, at + 1000)
    opens = text.rfind("(", begin, at)
    if inserted := INSERTED.match(text, opens + 1) if opens >= 0 else None:
        (begin, end), mark, copied = inserted.span(1), ",", inserted["copied"]
        row = INSERTED_ROW if copied is None else LINE_BELOW
        row_mark = "," if copied is None or "csv" in copied.lower() else "\t"
    elif end >= 0 and HEADING.fullmatch(text, begin, end) and (found := SEPARATORS.search(text, begin, end)):
        row, mark = LINE_BELOW, found[0]
        row_mark = mark
    else:
        return at
    heads = _cells(text[begin:end], mark)
    if len(heads) < 2 or any(cell[:1].isdigit() for cell in heads):
        return at
    column = len(_cells(text[begin:end], mark, at - begin)) - 1
    if kind_of(heads[column]) and heads[column].count(" ") < 3:
        end = inserted.end() if inserted else end
        while match := row.match(text, end):
            begin, end, line = match.start(1), match.end(), match[1]
            cells = _cells(line, row_mark)
            if len(cells) == len(heads):
                value = cells[column]
                start = begin + line.find(value, len("|".join(cells[:column])))
                kind = "password" if kind_of(heads[column]) == "password" else "secret"
                if looks(value) >= (Looks.WORD if kind == "password" else Looks.RANDOM):
                    yield start, start + len(value), kind
            elif any(map(str.isalnum, line)):
                break
    return begin


def _cells(line: str, mark: str, end: int | None = None) -> list[str]:
    """A line's cells, or those up to a place in it; what stands in quotes is one."""
    line = QUOTED.sub(lambda quoted: quoted[0].replace(mark[0], "\0"), line)[:end]
    cells = re.split(r" {2,}", line.lstrip()) if mark[0] == " " else line.split(mark)
    return [cell.strip(" \t\r\"'`*").replace("\0", mark[0]) for cell in cells]
