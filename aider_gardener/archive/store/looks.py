"""What a name says of its value, and what a value looks like: whether the one can be the other's secret."""

from __future__ import annotations

import re
from enum import IntEnum
from functools import lru_cache

from aider_gardener.reading.late import late


class Looks(IntEnum):
    """What a value looks like: no secret, a word beyond ASCII, words, words with signs, with digits, with
    letters and digits, letters and digits in no order, and many of those. NEVER is what none looks like."""

    NONE, FOREIGN, WORD, SIGNED, DIGIT, MIX, RANDOM, STRONG, NEVER = range(9)


PASSWORD_WORDS = (
    r"passw(?:or)?[dt]|\"assword|passphrase|passcode|(?<!by)(?<!com)(?<!tres)(?<!sur)passe?\b|pwd|(?<!b)pw\b"
    r"|psk\b"
    r"|identif(?:ied|y)\b|kennwort|contrase\w{2,3}|senha|wachtwoord"
    r"|has[łl]o|lösenord|parola\b|şifre|\bclave\b|\bheslo|salasana|jelsz[óo]|adgangskode|парол\w{0,2}|密码|密碼|口令"
    r"|パスワード|비밀번호|암호"
)
SECRET_NAME = late(
    rf"(?i){PASSWORD_WORDS}|secret(?!sm|ar[iy]|i(?:on|ve)|ly)|token(?!i[sz])|credential|\bcreds\b"
    r"|\b_?auth\b|masterauth|authorization|(?:recovery|backup)[_ -]codes?|(?:\b|_)(?:salt|seed)$"
    r"|(?:api|access|auth|private|client|account|service|signing|encryption|record"
    r"|master|app|license|shared|webhook|consumer|subscription|deploy)[_. -]?(?:key|schlüssel)"
    r"|(?:zugangs|zugriffs|lizenz)schlüssel|密钥|密鑰"
)
"""A name that speaks of a secret."""
PASSWORD = late(
    rf"(?i)(?:{PASSWORD_WORDS})s?\d*(?:[_-](?:prod|dev|staging|live|old|new|plain|clear|value|root|admin|\d))?$"
)
"""A name whose value is a secret however it looks."""
KEY_NAME = late(
    r"(?i)\A(?!.*(?:public|cache|object|sort|idempotency|partition|foreign|hash))"
    r".*(?:(?:\b|[_\d]|(?-i:[a-z](?=K)))keys?[\W\d]*|_auth|_api|[._]login)$"
)
"""A name that speaks of a secret only if its value is one by its looks."""
STRONG = re.compile(
    r"(?=(?:[^\d\s]*\d){3})(?:(?=\S*[a-z])(?=\S*[A-Z])|(?=(?:0x)?[0-9a-f]{32}))[\w+/=~-]{20,4000}"
)
"""A value that no name, number or word looks like."""
LAST_WORD = re.compile(r"([A-Z]?[a-z]+|[A-Z]+)[\W\d_]*$")
NO_SECRETS_END = frozenset(
    "algorithm arn cost count endpoint error expires expiry field file format from hash header help hint id "
    "index kind label length limit message mode name path pattern placeholder policy prefix provider re ref "
    "regex rule size state status stdin text title ttl type url uri version".split()
)
"""Words at the end of a name that speak of a secret and hold none."""
NO_VALUE = late(
    r"(?i)^(?:[<\[{(%*.#^\\].*|(?:null|true|false|\w{1,2})[,;].*"
    r"|[,+;)}&?:|=].*[(){};=].*|\$[a-z_(].*|your[_ -].*|\d{1,4}"
    r"|@[\w./~-]+\.[a-z]{2,4}|[\d./%:]*[./%:][\d./%:]*"
    r"|\d+(?:\.\d+)?e[+-]?\d+"
    r"|.*(?:\$\{|\{\{|%\(|%s|<[a-z_ -]+>|\.\.\.|…|\(\?|\[a-z|\[0-9|\\[sdwb]|\*{3}|x{5}|\[redacted:).*"
    r"|(?:(?:big)?u?int|float|str|bytes|utf-?)\d{1,3}(?:array|_t|mb4|le|be)?"
    r"|(?:required|nullable|sometimes|string)\|.*|!(?:vault|secret|env|ref|sub)|-{1,2}[a-z].*|(?-i:_?[A-Z]+(?:\d?_[A-Z\d]+)*_?)"
    r"|(?:os|process|env|settings|config|secrets|self|this|props|args|vars?)\..*)$"
)
"""Templates, lookups, expressions, types and numbers."""
WEAK = late(
    r"(?i)(?=.*[^\W\d_])(?!(?:\D*\d){5})(?:[\d\W_x]|test(?:ing|er)?|demo|dummy|fake|mock|sample|example"
    r"|placeholder|wrong|invalid|bad|good|foo|bar|any|boolean|none|null|nil|never|unknown|plain|hashed|encrypted"
    r"|new|old|my|your|some|the|users?|admin|guest|root|secret|pass(?:word|wd|phrase)?|pwd|pw|tokens?|key"
    r"|credentials?|baz|abc|xyz|qwerty|default|local|dev|value|str(?:ing)?|bytes|number|integer|object"
    r"|true|false|undefined|optional|required|name|login|auth|api|client|letmein|change|me|text"
    r"|option|flag|argument|hidden|email|data|bool|int|float|uuid|char|list|array|dict|map)+"
)
"""A value of such words and at most four digits guards nothing: a test's login, a placeholder, a field."""
LABEL = late(
    rf"(?i)(?=.*(?:{PASSWORD_WORDS}|pass|secret|token|auth|login|credential|user|reset|key))"
    r"[^\W\d_]+(?:[-_/.:][^\W\d_]+){0,20}[-_.]?v?\d?"
)
ATTRIBUTE = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+")
PLACE = re.compile(r"[\w.]+\(.*|arn:.*|(?:https?://|\.{0,2}/|~/).*|[a-z][\w.]*@[\w-]+(?:\.[\w-]+)+")
"""Calls, paths, addresses."""
_ASKS = (
    rf"(?i).*[.?!:…]|.*(?:{PASSWORD_WORDS}|secret|token|login|credential|\bkeys?\b).*"
    r"|(?:.*\s)?(?:is|are|be|must|has|not|your?|please|too|required|invalid|missing|characters|ist|bitte|nicht|ihre?"
    r"|zeichen|est|votre)(?:\s.*)?"
)
ASKS = late(_ASKS)
SENTENCE = late(
    _ASKS
    + r"|(?=(?:\S+\s){3})(?:.*\s)?(?:the|an?|to|of|for|at|or|and|no|with|when|if|it|der|die|das|eine?|und"
    r"|oder|mit|les?|la|une?|pour|el|los|para|su)\s.*"
)
"""Words for people: what ends as a sentence, names what it asks for, or has a sentence's small words, as a
phrase that is a secret may."""
ENTRY_ID = re.compile(r"g[0-9a-f]{9}")
"""The id of a message, which stands behind words of any kind in notes."""
KEY_ID = re.compile(r"(?:0x)?(?:[0-9A-F]{8}){1,2}|[0-9A-Fa-f]{40}")
MIXED = re.compile(r"(?=.*\d)(?=.*[^\W\d_])", re.DOTALL)
WORDY = re.compile(r"[A-Za-z]+\d{0,2}|\d{1,4}|v\d+")


@lru_cache(4_096)
def kind_of(name: str) -> str:
    """What a name says of its value: "password", a secret however it looks; "secret", one if it looks so;
    "key", one if it looks like nothing else; "", none."""
    if ends_otherwise(name):
        return ""
    if SECRET_NAME.search(name):
        return "password" if PASSWORD.search(name) else "secret"
    return "key" if KEY_NAME.search(name) else ""


def looks(name: str, value: str, is_literal: bool) -> Looks:
    """What a value looks like that belongs to a name; what is no text but code is seldom more than a name."""
    value = value.strip().rstrip(";,")
    if is_no_secret(name, value):
        return Looks.NONE
    if len(value) >= 8 and len(set(value)) >= 7 and MIXED.match(value) and not is_wordy(value):
        is_lookup = not is_literal and ATTRIBUTE.fullmatch(value) and not is_strong(value.rpartition(".")[2])
        return Looks.NONE if is_lookup else Looks.STRONG if is_strong(value) else Looks.RANDOM
    if has_digit(value):
        return Looks.MIX if MIXED.match(value) else Looks.DIGIT
    if value.isalpha() and not value.isascii():
        return Looks.FOREIGN
    is_word = value.replace("_", "").isalpha() or not value.isascii() or ATTRIBUTE.fullmatch(value)
    return Looks.WORD if is_word else Looks.SIGNED


@lru_cache(4_096)
def ends_otherwise(name: str) -> bool:
    """Whether a name's last word says that it holds no secret: `password_file`."""
    last = LAST_WORD.search(name)
    return last is not None and not NO_SECRETS_END.isdisjoint((last[1].lower(), last[1].lower().rstrip("s")))


def is_no_secret(name: str, value: str) -> bool:
    """Whether a value is recognised as none: a template, a number, a place, the name again, a sentence."""
    if len(value) < 4 or any(form.fullmatch(value) for form in (NO_VALUE, WEAK, LABEL, ENTRY_ID)):
        return True
    if PLACE.fullmatch(value) and not is_strong(value):
        return True
    if ("sign" in name.lower() and KEY_ID.fullmatch(value)) or (name.lower() == "pass" and value.isdigit()):
        return True
    if " " not in value:
        return False
    sentence = ASKS if "phrase" in name.lower() or name.isupper() else SENTENCE
    return sentence.fullmatch(value) is not None


def is_idle(kind: str, value: str) -> bool:
    """Whether what stands in a secret's place is none: a template, a word, the port of `http://a:8080@x`, a
    dummy of one character."""
    if kind in ("pin", "phrase"):
        return False
    if NO_VALUE.match(value) or WEAK.fullmatch(value):
        return True
    return kind != "password" and (
        len(set(value)) < 6 or (kind == "authorization" and is_wordy(value.rstrip("=")))
    )


def is_strong(value: str) -> bool:
    """Whether a value looks like no name, number or word."""
    return STRONG.fullmatch(value) is not None


def is_wordy(value: str) -> bool:
    """Whether a value is words and a short number: `step-3`, `user_token_v2`, `test/fixture1.json`."""
    parts = [part for part in re.split(r"[-_./:\s]+", value) if part]
    return all(map(WORDY.fullmatch, parts)) and (len(parts) > 1 or len(value) < 16)


def has_digit(text: str) -> bool:
    return any(map(str.isdigit, text))
