"""Where the secrets of a text are: credentials of known services, private keys, and values assigned to a name
that says it is a secret.

What a terminal coloured and what was broken over lines is read as one (`flattened`). Every step takes time by
the size of the text alone.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Generator, Iterable, Iterator
from itertools import repeat

from aider_gardener.archive.store.formats import (
    BEFORE_WORD_CHARS,
    FORMATS,
    PREFIXES,
    TOKEN,
)
from aider_gardener.archive.store.looks import Looks, is_idle, is_strong, kind_of, looks
from aider_gardener.messages import LONG_CHARS
from aider_gardener.reading.late import late
from aider_gardener.reading.seeking import Places, seeker

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
    r"[\w+/=.-]{40,1000}(?:\r?\n[ \t>|+]{0,80}(?:(?=\S{0,400}\d)(?=\S{0,400}[A-Z])(?=\S{0,400}[a-z])"
    r"[\w+/=-]{16,400}|[\w+/-]{4,400}=)=?[ \t]{0,20}(?=\r?\n|\Z)){0,200}",
    re.ASCII,
)
"""A long secret that may go on in lines of nothing but its own characters."""

NAME_WORDS = tuple(
    'pass|"assword|pw|secret|token|credential|creds|key|auth|_api|psk|identif|salt|seed|login'
    "|kennwort|schlüssel|contrase|senha|wachtwoord|hasło|haslo|lösenord|parola|şifre|clave|heslo|salasana"
    "|jelsz|adgangskode|парол|密码|密碼|密钥|密鑰|口令|パスワード|비밀번호|암호".split("|")
)
SOUGHT = frozenset(("private", *NAME_WORDS, *(word for item in FORMATS for word in item.words)))
NAME_CHARS = 80
NAME_BEHIND, NAME_AHEAD = re.compile(r"[\w.]*(?:-(?!-)[\w.]*)*"), re.compile(r"[\w-]{0,60}")
_GAP, _OPEN, _QUOTE = r"[ \t]{0,20}", r"[\\\"'`\]*]{0,9}", r"\\{0,7}(?:\"\"\"|[\"'`])"
_SCHEME = r"(?:(?i:bearer|basic|token|apikey|key)[ \t]{1,9})?"
_CHARS = r"[^\s\"'`<>,;&(){}\[\]$\\]+"
_BARE = rf"{_CHARS}(?:(?:[&,;](?![\w.-]{{1,40}}[=:])|\\(?![\"'nrt])|\${{1,2}}(?![$({{])){_CHARS})*"
_WITHIN = r"(?:(?!(?P=quote))(?:\\[\"']|\\(?![\"'])|[^\n\\])){4,4000}"
ASSIGNED = late(
    rf"""(?:
    # password: | and its lines
    {_OPEN}:{_GAP}[|>][+-]?\d?[ \t]*(?P<block>(?:\r?\n[ \t]{{1,80}}\S{{3,}}[^\s:][ \t]*(?=\r?\n|\Z)){{1,200}})
    # <password>x</password>
    |(?:["']?|(?:[ ][\w:.-]{{1,40}}=["'][^"'<>]{{0,99}}["']){{1,4}})>(?P<element>[^\s<>]{{4,4000}})(?=</)
    # password = x, apiKey: str = x, "Authorization": x
    |(?:(?:\[\d{{0,4}}\])?{_OPEN}{_GAP}
    (?:(?::|[ ]As[ ]){_GAP}(?![0-9a-f]{{6}}\])[\w.\[\]|&<>?';* ]{{1,40}}(?==[^=\r\n]))?
    (?P<sign>[:?]=|=>|:\*\*|<-|->|\u2192|\uff1a|::(?=\s)|\?:|={{1,3}}>?|!==?|:-?|[ ][|\u2014\u2013][ ]){_GAP}
    # define('PASSWORD', 'x')
    |(?P<called>["']{_GAP},{_GAP})(?={_QUOTE})
    # --password x, WITH PASSWORD 'x'
    |(?P<blank>[ \t]{{1,20}}(?:\d[ ]|(?:(?i:with)[ ]\w{{1,40}}[ ])?(?i:by)[ ]{{1,9}})?))
    # {0x7F, 0x45}, "x", bytes.fromhex("x"), env.KEY || "x", x
    (?:\{{\s?(?P<bytes>(?:0x[0-9A-Fa-f]{{2}},?\s?){{8,64}})
    |(?P<call>(?:(?:[\w.$\[\]"']{{1,60}}[ ](?:\|\||\?\?|or)|&\w{{1,30}})[ ])?(?:[\w.:]{{1,40}}[(\[]){{0,2}})
    [\w.@$]{{0,12}}?(?P<quote>{_QUOTE}){_SCHEME}
    (?P<quoted>{_WITHIN}(?:(?P=quote)[ ]->[ ](?P=quote){_WITHIN})?)(?P=quote)(?![ ]?:)
    |(?P<words>(?(sign)(?<=[ ])[^\W\d_]{{2,20}}(?:[ ][\w!?.-]{{1,20}}){{1,6}}(?=[ \t]*\r?(?:\n|\Z))|(?!)))
    |{_SCHEME}(?P<bare>{_BARE}))
)""",
    re.VERBOSE,
)
"""A value that belongs to the name that ends here."""
TYPE = late(r"[A-Z][A-Za-z\d.]*(?:[?!]|[A-Z][a-z]*)|[a-z]+[A-Z][A-Za-z]*")
"""A type's name or a variable's, as code has it where settings have a value."""
VALUE_END = re.compile(r"[\"';,]?[ \t]{0,20}\|?[ \t]{0,20}(?:#.*)?(?=\r?\n|\Z)|(?P<listed>[ ]{0,3}[,}(])")
PATH_BEHIND = re.compile(r"\w:\Z")
SETTING = re.compile(r"[ \t+>]*(?:(?:[-*#;$]|//|export|set|env|ENV|ARG) ){0,3}[ \t]*(?:[\w-]+\.)*\Z")
"""What stands before a name in a line of settings."""
INI = late(
    r"(?:\n|\A)[ \t]*(?:\[[\w .:-]{1,60}\]|[\w.-]{1,60} = [\w/:@-][\w./:@-]*)\r?\n[ \t]*(?:[\w-]+\.)*\Z"
)
"""A line of settings without quotes, or their heading."""
NEAR_CHARS = 120
"""So far behind its name a value of such looks is taken for its own."""
CANDIDATE = re.compile(
    r"\[redacted:[a-z-]+:[0-9a-f]{6}\]|(?:[\w.@-]{1,40}[=:]{1,2}(?=[^\s=/]))?"
    r"(?P<value>[^\s\"'`<>,;(){}\[\]|\\]{5,200}[^\s\"'`<>,;(){}\[\]|\\.:?])"
)
_NEITHER = r"\s\"'`<>,;(){}\[\]|\\"
LIKELY = re.compile(rf"[{_NEITHER}](?=[^{_NEITHER}]{{6}})(?=[^{_NEITHER}\d]*\d)[^{_NEITHER}]*?[^\W\d_]")
LEADS = re.compile(r"[vVdDbBsSſ](?i:(?<=v)alue|(?<=d)efault|(?<=b)ody|(?<=s)tring)[\"']?[ \t:=>]")
"""What a value near its name has: letters and digits in one, or a word before that says that it follows. A
search skips to their first characters."""
SENTENCE_END = re.compile(r"[.!]?(?:\s|\Z)(?<! )|[.!] ")
LED = late(
    r"(?:[:=>→：(\]?<›»]|(?:は|是)|\s--?\w{1,20}"
    r"|(?:\b(?:is|was)|'s)(?: still| now)?|\b(?:from|to|as|by|\d|ist|lautet|est|es|é|è))[\s\[({-]{0,8}\Z"
)
GIVEN = re.compile(
    r"(?i)(?:(?:value|--body)[\"']?[ \t:=>]{1,9}"
    r"|(?:default|body|string)[\"']?[ \t]{0,9}[:=>]{1,2}[ \t]?)[\"'… ]{0,2}\Z"
)
PLAIN = re.compile(r"[A-Za-z\d][\w.!*^#&~$%+-]*={0,2}")
HASHED = late(r"(?i)hash|sha|md5|digest|sum|fingerprint|commit|revision|\bid\b|\bh1:")
"""What a run of hexadecimal digits behind it is."""
DIGIT, SIGN = re.compile(r"\d"), re.compile(r"[!*^#&~$%]")
KEY_WORDS = re.compile(r"(?i)\b(?:api|access|private|signing|encryption|master|licen[cs]e|unseal) key\Z")
HEX = re.compile(r"(?i)(?:0x)?[0-9a-f-]{7,}")
SHAPE = late(
    r"(?i)[a-z_]\w*(?:\.[a-z_]\w*)+|[\d.:/-]+t[\d.:]+\S*|\S*(?:\.[a-z]\w{0,4}|[\d.]\.\d+|\.so\.\d)"
    r"|[\d.]+[a-z%]{1,3}|[\w-]+[~=]+[\w.-]{1,7}|[a-z/]+:[\d.]+|.*sha-?\d{1,3}"
)
"""Ids, hashes, times, addresses, versions and files."""
HEADING = re.compile(r"[\w \t.()/#\"*`|,;+-]{1,1000}\r?")
SEPARATORS = re.compile(r"\||\t|,|;| {2,}")
"""What stands between the cells of a table."""


def flattened(text: str) -> tuple[str, Callable[[int], int]]:
    """A text without what is no part of a value, and what tells where its characters stand in the whole."""
    cuts, removed, parts, past = list[int](), [0], list[str](), 0
    is_broken = "\x1b" in text or ("\\" in text and "\\u001b" in text) or BROKEN.search(text)
    for match in WITHIN_VALUES.finditer(text) if is_broken else ():
        parts.append(text[past : match.start()])
        past = match.end()
        cuts.append(match.start() - removed[-1])
        removed.append(removed[-1] + past - match.start())
    return "".join([*parts, text[past:]]), lambda at: at + removed[bisect_right(cuts, at)]


KINDS = ("password", "secret", "key")
NEEDS = {
    "text": (Looks.WORD, Looks.MIX, Looks.STRONG),
    "likely": (Looks.MIX, Looks.RANDOM, Looks.STRONG),
    "loose": (Looks.RANDOM, Looks.RANDOM, Looks.STRONG),
    "beside": (Looks.RANDOM, Looks.RANDOM, Looks.NEVER),
    "far": (Looks.STRONG, Looks.STRONG, Looks.NEVER),
    "none": (Looks.NEVER, Looks.NEVER, Looks.NEVER),
}
"""What the value of each kind of name has to look like, by how the two are joined."""

REDACTED, REDACTED_CHARS = "[redacted:", 40
"""How a placeholder begins, and its most characters."""


def find(text: str) -> list[Found]:
    """Every secret of a text; spans may overlap."""
    flat, place = flattened(text.replace("\0", "\n"))
    places, found = seeker(flat, PREFIXES if len(text) > LONG_CHARS else (), SOUGHT), []
    for start, end, kind in (*_keys(flat, places), *_formats(flat, places), *_named(flat, places)):
        lines = LINES.match(flat, start)
        last = max(end, lines.end() if lines else 0) - 1
        if not _is_redacted(flat, start):
            found.append((place(start), place(last) + 1, kind))
    return found


def _is_redacted(text: str, at: int) -> bool:
    """Whether a place is within what stands for a secret."""
    begin = text.rfind(REDACTED, max(0, at - REDACTED_CHARS), at)
    return begin >= 0 and "]" not in text[begin:at]


def _keys(text: str, places: Places) -> Iterator[Found]:
    """Private keys: what stands behind the line that begins one, and before one that ends it."""
    stop = 0
    for at in places("private"):
        begin, ends = _around(KEY_BEGINS, text, at), _around(KEY_ENDS, text, at)
        if begin and begin.start() >= stop:
            last = min(len(text), begin.end() + KEY_CHARS)
            dashes = text.find("----", begin.end(), last)
            body = KEY_BODY.match(text, begin.end(), last if dashes < 0 else dashes)
            stop = body.end() if body else last
            runs = LONG_RUN.findall(text, begin.end(), stop)
            if 2 * sum(map(len, runs)) > stop - begin.end():  # mostly a key's characters
                yield begin.end(), stop, "private-key"
        tail = ends and KEY_TAIL.search(text, max(0, ends.start() - KEY_CHARS), ends.start())
        if tail:
            yield *tail.span(), "private-key"


def _around(expression: re.Pattern[str], text: str, at: int) -> re.Match[str] | None:
    found = expression.finditer(text, max(0, at - MARK_CHARS), at + MARK_CHARS)
    return next((match for match in found if match.start() <= at < match.end()), None)


def _formats(text: str, places: Places) -> Iterator[Found]:
    for token in _tokens(text, places):
        if not is_idle("token", token[1]):
            yield *token.span(1), "token"
    for item in FORMATS:
        for word in item.words:
            end = 0
            for match in filter(None, map(item.expression.match, repeat(text), places(word))):
                at = match.start()
                before = _before(item.before, text, at) if item.before else match
                if at >= end and before:
                    first = before if before.lastindex else match
                    start = first.start(first.lastindex or 0)
                    last = match if match.lastindex else before
                    stop = last.end(last.lastindex or 0)
                    if not is_idle(item.kind, text[start:stop]):
                        yield start, stop, item.kind
                end = max(end, match.end())


def _tokens(text: str, places: Places) -> Iterable[re.Match[str]]:
    """Tokens with a prefix: of a very long text only where one of the prefixes stands."""
    if len(text) <= LONG_CHARS:
        return TOKEN.finditer(text)
    begins = sorted({at for prefix in PREFIXES for at in places(prefix)})
    tried = (TOKEN.match(text, at) or TOKEN.match(text, max(0, at - 1)) for at in begins)
    return filter(None, tried)


def _before(expression: re.Pattern[str], text: str, at: int) -> re.Match[str] | None:
    near = max(0, at - BEFORE_WORD_CHARS)
    return expression.search(text, max(near, text.rfind("\n", near, at) + 1), at)


def _named(text: str, places: Places) -> Iterator[Found]:
    """Values that belong to a name that says it is a secret's."""
    for word in NAME_WORDS:
        end = below = 0
        for at in places(word):
            if at < end or _is_redacted(text, at):
                continue
            ahead = NAME_AHEAD.match(text, at + len(word))
            stop = end = ahead.end() if ahead else at + len(word)
            start, before = at, text[at - 1 : at]
            if before in "_-." or before.isalnum():
                behind = NAME_BEHIND.match(text[max(0, at - NAME_CHARS) : at][::-1])
                start -= len(behind[0].rstrip("-.0123456789") if behind else "")
            kind = kind_of(text[start:stop])
            if kind or word in ("login", "credential", "auth", "identif"):
                yield from _telling(text, start, stop, kind)
            if kind == "key" and text[start - 1 : start] == " " and KEY_WORDS.search(text, start - 12, stop):
                kind = "secret"
            if kind:
                match = ASSIGNED.match(text, stop)
                joint = _joint(text, start, stop, match) if match else "none"
                value = match[match.lastgroup or 0].strip("\\\"'") if match else ""
                if match and match["block"]:
                    value = "".join(value.split())
                if match and _is_value(text[start:stop], kind, value, joint):
                    yield *match.span(match.lastgroup or 0), "password" if kind == "password" else "secret"
                else:
                    if at >= below:
                        below = yield from _below(text, at)
                    if not (match and match["sign"]):
                        yield from _near(text, start, stop, kind)
                end = match.end() if match and match["bare"] and match["sign"] else stop


def _is_value(name: str, kind: str, value: str, joint: str) -> bool:
    """Whether a value looks as a secret must look that stands so beside its name."""
    need = NEEDS[joint][KINDS.index(kind)]
    if kind == "secret" and len(value) < 8:
        need = max(need, Looks.RANDOM)
    return looks(name, value, joint == "text") >= need


def _joint(text: str, start: int, stop: int, match: re.Match[str]) -> str:
    """How a value is joined to its name, a key of NEEDS."""
    how, name, sign = match.lastgroup or "", text[start:stop], match["sign"] or ""
    value, joined = match[how], text[stop : match.start(how)]
    before, follows = text[max(0, start - 8) : start], text[match.end() : match.end() + 1]
    if (sign == ":" and PATH_BEHIND.search(before)) or (how == "bare" and follows in tuple("({[]$")):
        return "none"
    if sign[:1] == " ":  # the next cell of a table
        return "loose" if not follows.strip() else "none"
    if match["call"]:  # what stands in a call or in brackets is often a name
        return "loose"
    if sign[-2:] in ("==", "!="):  # what a value is compared with is often a word of a test
        return "likely"
    if how not in ("bare", "words"):
        is_keyword = name.isupper() or before[-1:] in (":", "-")
        is_text = sign or how == "element" or is_keyword
        return "text" if is_text else "likely"
    end = VALUE_END.match(text, match.end())
    is_alone, is_tight = end is not None and not end["listed"], joined == "="
    line = text.rfind("\n", max(0, start - 80), start) + 1
    is_begin = SETTING.match(text, line, start) is not None
    is_yaml = joined.strip(" \t*`\"'") == ":" and (how == "words" or not TYPE.fullmatch(value))
    is_ini = joined.strip() == "=" and INI.search(text, max(0, start - 200), start) is not None
    is_setting = is_alone and is_begin and (is_tight or is_yaml or is_ini)
    if how == "words":
        return "likely" if is_setting else "none"
    is_pair = is_tight and before[-1:] in tuple(" ?&;-") and (follows or " ") in "&; \t\r\n"
    is_header = sign == ":" and len(value) >= 16 and ("-" in name or before[-1:] in ("'", '"'))
    is_typed = not sign and (before.endswith(("ENV ", "-")) or "BY" in joined)
    if is_setting or is_pair or is_header or is_typed or (is_tight and name.isupper()):
        return "text"
    if not sign:
        return "beside"
    is_listed = sign[0] == ":" and len(value) >= 8 and follows in tuple(" },")
    is_argument = is_tight and not (follows in tuple(",)") and value.isidentifier())
    return "likely" if is_alone or is_argument or is_listed else "loose"


def _near(text: str, start: int, at: int, kind: str) -> Iterator[Found]:
    """Values by their looks near a name that is followed by no value of its own: in the words, arguments or
    items behind it, or alone in one of the next lines."""
    name, found, past, is_password = text[start:at], at, at, kind == "password"
    if kind == "key" or not (
        LIKELY.search(text, at, at + NEAR_CHARS) or LEADS.search(text, at, at + NEAR_CHARS)
    ):
        return
    while match := CANDIDATE.search(text, past, found + NEAR_CHARS):
        past = match.end()
        value, (begin, end) = match["value"], match.span("value")
        if not value:
            return
        gap, before, follows = text[found:begin], text[begin - 1], text[end : end + 3]
        is_quoted = before in "\"'`>" and follows.startswith("</" if before == ">" else before)
        is_given, is_below = GIVEN.search(gap) is not None, "\n" in gap
        if not (is_given or (len(value) >= 8 and DIGIT.search(value))):
            continue
        is_led = is_quoted or is_given or LED.search(gap) is not None
        is_first = not gap.rpartition("\n")[2].strip(" \t-+*")
        is_alone = is_quoted or SENTENCE_END.match(follows) is not None
        is_led = is_led or (is_alone and not gap.strip())
        if is_below and not is_alone:
            continue
        is_told = is_led and gap.rstrip(" \"'`")[-1:].isalpha() and not HASHED.search(gap)
        is_next = is_below and is_first
        is_cased = not (value.islower() or value.isupper())
        is_key = (is_told and len(value) >= 16) or (is_next and len(value) in (32, 36))
        if is_given:
            joint = "text" if is_alone else "likely"
        elif is_next and is_cased:
            joint = "likely"
        elif SHAPE.fullmatch(value) or (HEX.fullmatch(value) and not is_key):
            joint = "none"
        elif is_next:
            joint = "loose"
        elif "/" in value or (is_below and not is_password) or gap.count("\n") > 1:
            joint = "far"
        elif is_led and is_password:
            joint = "likely"
        elif is_led:
            joint = "far" if "/" in gap or len(DIGIT.findall(value)) < 2 else "text"
        else:
            joint = "none"
        if _is_value(name, kind, value, joint):
            found = end
            yield begin, end, "password" if is_password else "secret"


def _telling(text: str, start: int, stop: int, kind: str) -> Iterator[Found]:
    """Values that look as secrets in the same line as a name, whatever stands between."""
    begin = max(text.rfind("\n", max(0, start - NEAR_CHARS), start) + 1, start - NEAR_CHARS)
    end = text.find("\n", stop, stop + NEAR_CHARS)
    if end < 0 and begin == start - NEAR_CHARS:  # so long a line is none that people read
        return
    end = stop + NEAR_CHARS if end < 0 else end
    for match in CANDIDATE.finditer(text, begin, end) if LIKELY.search(text, begin, end) else ():
        value, (first, last) = match["value"] or "", match.span("value")
        gap, is_code = text[max(begin, first - 16) : first], text[last : last + 1] in tuple("([]")
        if is_code or first <= start < last or HASHED.search(gap) or SHAPE.fullmatch(value):
            continue
        is_cased = not (value.islower() or value.isupper()) and (kind == "password" or is_strong(value))
        is_enough = (is_cased or SIGN.search(value)) and len(value) >= 8 and PLAIN.fullmatch(value)
        if is_enough and looks("", value, False) >= Looks.MIX:
            yield first, last, "secret"


def _below(text: str, at: int) -> Generator[Found, None, int]:
    """Cells of a table below the heading at `at`; gives where the table ends."""
    begin, end = text.rfind("\n", max(0, at - 1000), at) + 1, text.find("\n", at, at + 1000)
    separator = SEPARATORS.search(text, begin, end) if HEADING.fullmatch(text, begin, end) else None
    if end < 0 or separator is None:
        return at
    heads, column = _cells(text[begin:end], separator[0]), len(_cells(text[begin:at], separator[0])) - 1
    while (
        end >= 0
        and len(heads) > 1
        and kind_of(heads[column]) in ("password", "secret")
        and heads[column].count(" ") < 3
        and not any(cell[:1].isdigit() for cell in heads)
    ):
        begin, end = end + 1, text.find("\n", end + 1)
        line = text[begin : len(text) if end < 0 else end]
        cells = _cells(line, separator[0])
        if len(cells) == len(heads):
            value = cells[column]
            start = begin + line.find(value, len("|".join(cells[:column])))
            kind, is_plain = kind_of(heads[column]), value.islower() and " " not in value
            need = Looks.WORD if is_plain else Looks.SIGNED
            if looks(heads[column], value, is_plain) >= (need if kind == "password" else Looks.RANDOM):
                yield start, start + len(value), kind
        elif any(map(str.isalnum, line)):
            break
    return begin


def _cells(line: str, mark: str) -> list[str]:
    """A line's cells; what stands in quotes is one."""
    line = re.sub(r'"[^"]*"', lambda quoted: quoted[0].replace(mark[0], "\0"), line)
    cells = re.split(r" {2,}", line.lstrip()) if mark[0] == " " else line.split(mark)
    return [cell.strip(" \t\r\"'`*").replace("\0", mark[0]) for cell in cells]
