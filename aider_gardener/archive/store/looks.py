"""What a name says of its value, and what a value looks like: whether the one can be the other's secret."""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache

from aider_gardener.reading.late import late


class Looks(IntEnum):
    """What a value looks like: no secret, words, letters and digits, these in no order, many of them. Nothing
    looks like NEVER."""

    NONE, WORD, MIX, RANDOM, STRONG, NEVER = range(6)


PASSWORD_WORDS = (
    r"pass(?:w(?:or)?[dt]|ord)|passphrase|passcode|(?<!by)(?<!com)passe?\b|pwd|(?<!b)pw\b"
    r"|psk\b|identified\b|kennwort|contrase\w{2,3}|senha|wachtwoord"
    r"|has[łl]o|lösenord|parola\b|şifre|\bclave\b|\bheslo|salasana|jelsz[óo]|adgangskode|kodeord|lozink[ae]|\bgeslo|\bparool|парол\w{0,2}|密码|密碼|口令"
    r"|パスワード|비밀번호|암호"
    r"|كلمة (?:ال)?(?:مرور|سر)|पासवर्ड|סיסמ[הא]|κωδικ(?:ός|ό)\b|mật khẩu|รหัสผ่าน|kata sandi|\bmdp\b"
)
SECRET_NAME = late(
    rf"(?i){PASSWORD_WORDS}|secret(?!sm|ar[iy]|i(?:on|ve)|ly)|token(?!i[sz])|credential|\bcreds\b"
    r"|\b_?auth\b|authorization|(?:\b|_)(?:salt|seed|pepper)$"
    r"|(?:api|access|auth|private|client|account|service|encryption|record"
    r"|master|app|license|shared|webhook|consumer|subscription|deploy)[_. -]?(?:key|schlüssel)"
    r"|signing[_. -]key|(?:zugangs|zugriffs|lizenz)schlüssel|密钥|密鑰"
)
"""A name that speaks of a secret."""
PASSWORD = late(rf"(?i)(?:{PASSWORD_WORDS})(?:e?[snt])?\d*$")
"""A name whose value is a secret however it looks."""
CHOSEN = late(rf"(?i){PASSWORD_WORDS}|secret")
"""A name whose value people may choose; others are made by machines, and never words."""
KEY_NAME = late(
    r"(?i)\A(?!.*(?:public|cache|sort|partition))"
    r".*(?:keys?[\W\d]*|_api|_pat|[._]login)$"
)
"""A name that speaks of a secret only if its value is one by its looks."""
STRONG = re.compile(
    r"(?=[^\d\s]*\d+[^\d\s]+\d)(?=(?:[^\d\s]*\d){3})"
    r"(?:(?=\S*[a-z])(?=\S*[A-Z])|(?=(?:0x)?(?:[0-9a-f]{32}|[0-9A-F]{48})))[\w+/=~-]{20,4000}"
)
"""A value that no name, number or word looks like."""
NO_SECRETS_END = late(
    r"(?i)(?:algo|algorithm|arn|backend|class|cost|count|encoding|endpoint|error|expires|expiry|field|file|format|from|hash|header|help|hint|id"
    r"|index|kind|label|length|limit|message|mode|name|path|pattern|placeholder|policy|prefix|publickeytoken|provider|re|ref|regex"
    r"|rule|second|size|state|status|stdin|text|title|ttl|type|url|uri|validator|version)s?[\W\d_]*$"
)
"""Words at the end of a name that speak of a secret and hold none."""
NO_VALUE = late(
    r"(?i)^(?:[<\[{(%*.#^\\].*|[,+;)}&?:|=].*[(){};=].*|\$[a-z_(].*|your[_ -].*|\d{1,4}"
    r"|[\d./%:]*[./%:][\d./%:]*|(?:null|true|false|\w{1,2})[,;].*"
    r"|.*(?:\$\{|\{\{|%s|<[a-z_ -]+>|\.\.\.|…|\[a-z|\[0-9|\\[sdwb]|\*{3}|x{5}).*"
    r"|(?:(?:big)?u?int|float|str|bytes|utf-?)\d{1,3}(?:array|_t|mb4|le|be)?|(?:required|string)\|.*"
    r"|\W+|\d{4}-\d\d-\d\d[t\d:.z+-]*|[a-z_]{2,40}=[^=].*|0x(?:[\da-f]{1,16}|[\da-f]{40})|(?:MIGfMA0|MII[BC]IjAN|MFkwEwYH).*|!(?:vault|secret|env)|-{1,2}[a-z][a-z-]*\d{0,5}(?:[\s=,].*)?|(?-i:_?[A-Z]+(?:\d?_[A-Z\d]+)*_?|Test[A-Z]\w*)"
    r"|(?:os|process|env|settings|config|secrets|self|this|props|args|vars?)\..*)$"
)
"""Templates, lookups, expressions, types and numbers."""
WEAK = late(
    r"(?i)(?=.*[^\W\d_])(?!(?:\D*\d){5})(?:[\d\W_x]|test(?:ing|er)?|demo|dummy|error|warn|fake|mock|sample|example"
    r"|placeholder|wrong|invalid|bad|good|foo|bar|any|boolean|none|null|nil|never|unknown|plain|hashed|encrypted"
    r"|new|old|my|your|some|the|users?|admin|guest|root|secret|pass(?:w[o0]rd|wd|phrase)?|pwd|pw|tokens?|key"
    r"|credentials?|baz|abc|xyz|qwerty|default|local|dev|value|str(?:ing)?|bytes|number|integer|object"
    r"|true|false|undefined|optional|required|name|login|auth|api|client|letmein|change|me|text"
    r"|option|flag|argument|hidden|email|data|bool|int|float|uuid|char|list|array|dict|map)+"
)
"""A value of such words and at most four digits guards nothing: a test's login, a placeholder, a field."""
LABEL = late(
    rf"(?i)(?=(?:.*(?:[\W_]|(?-i:[a-z](?=[A-Z]))))?(?:{PASSWORD_WORDS}|pass|secret|token|auth|login|credential|user|reset|key))"
    r"[^\W\d_]+(?:[-_/.:][^\W\d_]+){0,20}[-_.]?v?\d?"
)
PLACE = re.compile(r"[\w.]+\(.*|arn:.*|(?:[a-z]+://|\.{0,2}/|~/).*|[a-z][\w.]*@[\w-]+(?:\.[\w-]+)+")
"""Calls, paths, addresses."""
SENTENCE = late(
    rf"(?i).*[.?!:…]|.*(?:{PASSWORD_WORDS}|secret|token|login|credential|\bkeys?\b).*"
    r"|(?:.*\s)?(?:is|are|be|must|not|your?|please|required|invalid|ist|bitte|nicht|est|votre)(?:\s.*)?"
)
"""Words for people: what ends as a sentence, names what it asks for, or has a sentence's small words."""
ENTRY_ID = re.compile(r"g[0-9a-f]{9}")
"""The id of a message, which stands behind words of any kind in notes."""
MIXED = re.compile(r"(?=.*\d)(?=.*[^\W\d_])", re.DOTALL)
WORDY = re.compile(r"[A-Za-z]+\d{0,2}|\d{1,4}|v\d+")


@lru_cache(4_096)
def kind_of(name: str) -> str:
    """What a name says of its value: "password", a secret however it looks; "secret", one if it looks so;
    "token", one if it is no words; "key", one if it looks like nothing else; "", none."""
    if NO_SECRETS_END.search(name):
        return ""
    if SECRET_NAME.search(name):
        return "password" if PASSWORD.search(name) else "secret" if CHOSEN.search(name) else "token"
    return "key" if KEY_NAME.search(name) else ""


def looks(value: str) -> Looks:
    """What a value looks like that belongs to a name."""
    if is_no_secret(value):
        return Looks.NONE
    if len(value) >= 8 and len(set(value)) >= 7 and MIXED.match(value) and not is_wordy(value):
        return Looks.STRONG if is_strong(value) else Looks.RANDOM
    if MIXED.match(value):
        return Looks.MIX
    return Looks.NONE if value.isalpha() and not value.isascii() else Looks.WORD


def is_no_secret(value: str) -> bool:
    """Whether a value is recognised as none: a template, a number, a place, the name again, a sentence."""
    if len(value) < 4 or any(form.fullmatch(value) for form in (NO_VALUE, WEAK, LABEL, ENTRY_ID)):
        return True
    if PLACE.fullmatch(value) and not is_strong(value):
        return True
    return " " in value and SENTENCE.fullmatch(value) is not None


def is_idle(kind: str, value: str) -> bool:
    """Whether what stands in a secret's place is none: a template, a word, the port of `http://a:8080@x`."""
    is_name = kind in ("authorization", "cookie") and is_wordy(value.rstrip("="))
    return is_name or NO_VALUE.match(value) is not None or WEAK.fullmatch(value) is not None


def is_strong(value: str) -> bool:
    """Whether a value looks like no name, number or word."""
    return STRONG.fullmatch(value) is not None


def is_wordy(value: str) -> bool:
    """Whether a value is words and a short number: `step-3`, `user_token_v2`, `test/fixture1.json`."""
    parts = [part for part in re.split(r"[-_./:+\s]+", value) if part]
    return all(map(WORDY.fullmatch, parts)) and (len(parts) > 1 or len(value) < 16)
