"""Whether a value is a secret, by the name that it is assigned to and by what it says itself.

A name's last word tells what it holds: `password` does, `password_hint` does not. A value that is a word of a
language, a type, a lookup, a template or a test's login is none.
"""

from __future__ import annotations

import math
import re
from functools import lru_cache

NAME = re.compile(
    r"(?i:[\w.-]*(?:passw(?:or)?d|passphrase|pwd|secret|token(?!i[sz])|credentials?|(?:api|access|auth|private|client|account|"
    r"service|signing|encryption|master|app|license|shared|webhook|consumer|subscription|deploy)[_-]?key)[\w-]*"
    r"|[\w-]*[_-]pass|pass)|\w*[a-z]Pass"
)
NOT_A_SECRET = re.compile(
    r"(?i)^(?:[<\[{(%*.#^\\].*|[,+;)&?:|=].*[(){};=].*|\$[a-z_(][\w)]*|"
    r".*(?:\$\{|\{\{|%\(|%s|<[a-z_ -]+>|\.\.\.|…|\(\?|\[a-z|\\[sdwb]).*|x{3,}.*|"
    r".*\*{3}.*|your[_ -].*|"
    r"my[_ -]?(?:password|secret|token|key|api[_ -]?key)|change[_ -]?me.*|"
    r"(?:the[_ -])?(?:placeholder|example|dummy|redacted|sample)[\w-]*|"
    r"none|null|nil|true|false|undefined|optional|required|string|str|bytes|number|integer|object|boolean|any|"
    r"pass(?:word|wd|phrase)?|secret|token|api[_-]?key|credentials?|"
    r"(?:os|process|env|settings|config|secrets|self|this|props|args|vars?)\..*)$"
)
WEAK = re.compile(
    r"(?i)(?:test(?:ing|er)?|demo|dummy|fake|mock|sample|example|wrong|invalid|incorrect|bad|good|new|old|my|your|"
    r"some|the|users?|admin|guest|root|secret|pass(?:word|wd|phrase)?|pwd|pw|tokens?|key|foo|bar|baz|qux|abc|xyz|"
    r"qwerty|default|local|dev|value|string|name|login|auth|api|client|letmein|welcome|text|hidden|email|data|[\d\W_])+"
)
"""A value of such words alone guards nothing: a test's login, a placeholder, a name of a field."""
WEAK_DIGITS = 4
CODE_LIKE = re.compile(
    r"[(){}\[\]<>$]|::|->|=>|^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+[;,]?$|^(?:https?://|/|\./|~/)"
)
TYPE_LIKE = re.compile(
    r"^(?:[A-Z][a-z]+)*(?:U?[iI]nt|[fF]loat|[sS]tr(?:ing)?|[bB]ytes|[uif]|utf-?)\d{1,3}(?:(?:Clamped)?Array|x\d{1,2}|_t|mb4|le|be)?[;,]?$"
)
CAPITALISED = re.compile(r"(?:[A-Z][a-z]+)+")
LABEL = re.compile(r"[A-Za-z]+(?:[-_/.:][A-Za-z]+){0,20}[-_.]?v?\d{0,2}")
SPEAKS = re.compile(r"(?i)passw|pwd|secret|token|auth|login|credential|user|reset|key")
GETTERS = re.compile(
    r"(?i)(?:get|check|is|has|test|validate|find|parse|verify|hash|delete|reset|show|expect|assert)"
)
PASSWORD_ENDS = re.compile(r"(?i)(?:passw(?:or)?ds?|passphrase|passcode|pass|pwd)\d*$")
NAME_WORDS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
NO_SECRETS_END = frozenset(
    "count limit type name id url uri path file ttl budget tokens header prefix suffix version re regex "
    "regexp pattern format hint label placeholder title text message msg error help field column index "
    "endpoint class length size policy hash hasher algorithm expiry expires days seconds minutes status "
    "state provider ref env var kind mode strength sha digest checksum fingerprint".split()
)
"""Words at the end of a name that speak of a secret and hold none."""


def is_secret_name(name: str) -> bool:
    """Whether what has this name is a secret."""
    return NAME.fullmatch(name) is not None


def kind_of(name: str) -> str:
    """The kind of a secret by its name."""
    lowered = name.lower()
    if "pass" in lowered or "pwd" in lowered:
        return "password"
    return next((word for word in ("token", "secret", "credential") if word in lowered), "key")


def is_weak(value: str) -> bool:
    """Whether a value is made of words that guard nothing: `wrong-password`, `test1234`."""
    return (
        WEAK.fullmatch(value) is not None
        and any(map(str.isalpha, value))
        and sum(map(str.isdigit, value)) <= WEAK_DIGITS
    )


@lru_cache(maxsize=4_096)
def is_plausible(name: str, value: str, *, quoted: bool) -> bool:
    """Whether a value assigned to a secret's name is one, and no word, type, lookup or template."""
    value = value.strip().rstrip(";,")
    if len(value) < 4 or NOT_A_SECRET.match(value) or TYPE_LIKE.match(value) or is_weak(value):
        return False
    if " " in value and not is_noise(value):
        return False
    if not quoted and CODE_LIKE.search(value):
        return False
    words = NAME_WORDS.findall(name)
    if (words and words[-1].lower().removesuffix("s") in NO_SECRETS_END) or words[-1:] == ["tokens"]:
        return False
    if LABEL.fullmatch(value) and SPEAKS.search(value):
        return False
    digit = any(char.isdigit() for char in value)
    letter = any(char.isalpha() for char in value)
    if PASSWORD_ENDS.search(name):
        if quoted:
            return not (value.isalpha() and (not value.isascii() or CAPITALISED.fullmatch(value)))
        return (digit and letter) or (value.isascii() and not value.replace("_", "").isalpha())
    return len(value) >= 8 and digit and letter and entropy(value) >= 2.8 and not is_wordy(value)


def is_noise(value: str) -> bool:
    """Whether a value with blanks is drawn from all keys of a keyboard, as no sentence is."""
    marks = sum(not char.isalnum() and char not in " .,!?'’-()" for char in value)
    return marks >= 3 and any(map(str.isdigit, value)) and len(value) >= 20 and 3 * value.count(" ") < marks


def is_wordy(value: str) -> bool:
    """Whether a value is words and a short number: `step-3`, `user_token_v2`, `test/fixture1.json`."""
    parts = [part for part in re.split(r"[-_./:\s]+", value) if part]
    return all(re.fullmatch(r"[A-Za-z]+\d{0,2}|\d{1,4}|v\d+", part) for part in parts) and (
        len(parts) > 1 or len(value) < 16
    )


def entropy(text: str) -> float:
    """Shannon entropy in bits a character."""
    counts = [text.count(char) for char in set(text)]
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts)
