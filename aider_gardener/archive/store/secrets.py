"""What a secret looks like: formats of known tokens, credentials in URLs and headers, and values
assigned to a name that says it is a secret.

Cheap literal triggers come first; only lines that hold one are looked at with expressions and with
the format and keyword plugins of detect-secrets. Its entropy plugins are left out: on code and logs
nearly all they report are hashes and ids.

Each format of a token, and each place of a credential, is a row of a table.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, NamedTuple

Found = tuple[int, int, str]
"""Start, end and kind of a secret in a text."""

KNOWN = "known"
PLACEHOLDER = re.compile(r"\[redacted:[a-z-]+:[0-9a-f]{6}\]")


SECRET_NAMES = (
    "password", "passwd", "passphrase", "pwd", "pass", "secret", "token", "credential", "api_key", "apikey",
    "api-key", "access_key", "accesskey", "access-key", "auth_key", "authkey", "private_key", "privatekey",
    "private-key", "client_key", "account_key", "service_key", "signing_key", "encryption_key", "master_key",
)  # fmt: skip
NAME = (
    r"(?i:[\w.-]*(?:passw(?:or)?d|passphrase|pwd|secret|token|credentials?|"
    r"(?:api|access|auth|private|client|account|service|signing|encryption|master)[_-]?key)[\w-]*"
    r"|[\w-]*[_-]pass|pass)"
)
QUOTED = re.compile(
    rf"(?<![\w.-])({NAME})[\"'`\]]*\s*(?::=|=>|[:=]=?=?|!==?)\s*[\w.]*?([\"'`])([^\"'`\n]{{4,400}})\2"
)
CALLED = re.compile(rf"(?<![\w.-])({NAME})[\"'`\]]*\s*\(\s*([\"'`])([^\"'`\n]{{4,400}})\2")
SHELL = re.compile(r"(?<![\w$])([A-Z][A-Z0-9_]*)=([^\s\"'`$()<>{}\[\],;&|]{4,400})")
CONFIG = re.compile(
    rf"^[\s>+-]*(?:export\s+|set\s+|-\s+)?[\"']?({NAME})[\"']?\s*[:=]\s*([^\s\"'`]{{4,400}})\s*(?:#.*)?$"
)
_SIGN = r"[\w-]{0,40}[\"'`\]]{0,2}\s{0,4}(?::=|=>|={1,3}|!==?|[:(,])\s{0,4}"
_QUOTED_OR = r"(?:(?:[\w.]{0,8}[\"'`])[^\s\"'`]{4}|"
ASSIGNMENT = re.compile(
    rf"(?i)(?:pass|pwd){_SIGN}{_QUOTED_OR}[^\s\"'`]{{4}})"
    rf"|(?:secret|token|credential|key){_SIGN}{_QUOTED_OR}(?![\d.]+(?:\W|$))[^\s\"'`]{{8}})"
    r"|[\"'`]\s{0,4}[!=]==?\s{0,4}\w{0,40}(?:pass|pwd|secret|token|credential|key)"
)
"""A cheap look at a line: is anything assigned to, or compared with, a secret's name at all?"""
LOOSE = frozenset({"password", "url-password", "url-token", "authorization"})
"""Kinds known by what stands around the value: the value itself may be a template or a word."""
PLUGIN_TRIGGERS = (
    "sq0csp", "artifactory", "_auth", "cloudant", "ibm", "softlayer", "twilio", "discord", "mailchimp",
)  # fmt: skip
NAME_ONLY = re.compile(f"^(?:{NAME})$")

PRIVATE_KEY = re.compile(
    r"-----BEGIN ([A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?)-----(.*?)(?:-----END \1-----|\Z)", re.DOTALL
)
KEY_LINE = re.compile(r"(?:[A-Za-z-]{1,30}: [^\n]*\n|[\s>|+\-\"',\\]|[A-Za-z0-9+/=]+)*")
PUTTY_KEY = re.compile(
    r"PuTTY-User-Key-File-\d.*?Private-Lines: \d+\s*\n((?:[A-Za-z0-9+/=]+\n?)+)", re.DOTALL
)

NOT_A_SECRET = re.compile(
    r"(?i)^(?:[<\[{(%*.#].*|.*(?:\$\{|\{\{|%\(|%s|<[a-z_ -]+>|\.\.\.|…).*|x{3,}.*|\*+|your[_ -].*|"
    r"my[_ -]?(?:password|secret|token|key|api[_ -]?key)|change[_ -]?me.*|"
    r"(?:the[_ -])?(?:placeholder|example|dummy|redacted|sample)[\w-]*|"
    r"none|null|nil|true|false|undefined|optional|required|string|str|bytes|number|integer|object|boolean|any|"
    r"pass(?:word|wd|phrase)?|secret|token|api[_-]?key|credentials?|(?:os|process|env|settings|config)\..*)$"
)
CODE_LIKE = re.compile(
    r"[(){}\[\]<>$]|::|->|=>|^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+[;,]?$|^(?:https?://|/|\./|~/)"
)
TYPE_LIKE = re.compile(
    r"^(?:[A-Z][a-z]+)*(?:U?[iI]nt|[fF]loat|[sS]tr(?:ing)?|[bB]ytes|[uif]|utf-?)\d+\w*[;,]?$"
)


class Format(NamedTuple):
    """A token format: one of `triggers` (lower case) stands in its line, group 1 is the secret."""

    kind: str
    triggers: tuple[str, ...]
    pattern: re.Pattern[str]


def _format(kind: str, triggers: str, pattern: str) -> Format:
    return Format(kind, tuple(triggers.split()), re.compile(pattern))


FORMATS: tuple[Format, ...] = (
    _format("api-key", "sk-", r"(?<![\w-])(sk-(?:[a-z]{2,12}-(?:v\d-)?|api\d\d-)*[A-Za-z0-9_-]{20,})"),
    _format("api-key", "aiza", r"\b(AIza[0-9A-Za-z_-]{35})"),
    _format("api-key", "gsk_ xai- pplx- r8_ hf_", r"\b((?:gsk_|xai-|pplx-|r8_|hf_)[A-Za-z0-9]{20,})"),
    _format("api-key", "dapi dop_v1_ lin_api_", r"\b((?:dapi|dop_v1_|lin_api_)[A-Za-z0-9]{32,})"),
    _format("api-key", "shpat_ shpss_ shpca_ ntn_", r"\b((?:shp(?:at|ss|ca)_|ntn_)[A-Za-z0-9]{30,})"),
    _format("token", "ya29.", r"\b(ya29\.[A-Za-z0-9_-]{20,})"),
    _format("token", "ghp_ gho_ ghu_ ghs_ ghr_", r"\b(gh[pousr]_[A-Za-z0-9_]{36,})"),
    _format("token", "github_pat_", r"\b(github_pat_[A-Za-z0-9_]{22,})"),
    _format("token", "glpat- gldt- glrt- glptt-", r"\b(gl(?:pat|dt|rt|ptt)-[A-Za-z0-9_-]{20,})"),
    _format("token", "xox", r"\b(xox[abeoprs]-[A-Za-z0-9-]{10,})"),
    _format("token", "xapp-", r"\b(xapp-\d-[A-Za-z0-9-]{20,})"),
    _format("webhook", "hooks.slack.com", r"hooks\.slack\.com/(?:services|workflows)/([A-Za-z0-9/_-]{20,})"),
    _format("webhook", "/api/webhooks/", r"/api/webhooks/(\d{10,}/[A-Za-z0-9_-]{20,})"),
    _format("api-key", "k_live_ k_test_", r"\b([rs]k_(?:live|test)_[A-Za-z0-9]{10,})"),
    _format("token", "whsec_", r"\b(whsec_[A-Za-z0-9+/=]{24,})"),
    _format("token", "npm_", r"\b(npm_[A-Za-z0-9]{36})"),
    _format("token", "pypi-", r"\b(pypi-[A-Za-z0-9_-]{50,})"),
    _format("api-key", "sg.", r"\b(SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{30,})"),
    _format("aws-key", "akia asia abia acca", r"\b((?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16})\b"),
    _format(
        "aws-secret",
        "aws secretaccesskey secret_access_key",
        r"(?i:secret[_-]?(?:access[_-]?)?key)[\"']?\s*[:=]{1,2}\s*[\"']?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])",
    ),
    _format("jwt", "eyj", r"\b(eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?)"),
    _format(
        "azure-key", "accountkey= sharedaccesskey=", r"(?i:AccountKey|SharedAccessKey)=([A-Za-z0-9+/=]{40,})"
    ),
    _format("azure-key", "sig=", r"[?&]sig=([A-Za-z0-9%+/=_-]{30,})"),
    _format("age-key", "age-secret-key-", r"(AGE-SECRET-KEY-1[0-9A-Z]{50,})"),
    _format("telegram", ":aa", r"\b(\d{8,10}:AA[A-Za-z0-9_-]{33})"),
    _format(
        "url-password", "@", r"\b[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@\"'`<>]{0,200}:([^\s/@\"'`<>]{1,200})@"
    ),
    _format("url-token", "@", r"\bhttps?://([A-Za-z0-9_-]{20,})@[\w.-]+"),
    _format(
        "authorization",
        "authorization bearer",
        r"(?i:authorization[\"']?\s*[:=,]\s*[\"']?(?:bearer|basic|token|apikey)\s+|\bbearer\s+)"
        r"([A-Za-z0-9+/=._~-]{16,})",
    ),
    _format("password", "curl", r"\bcurl\b[^\n]*?\s(?:-u|--user)[ =]?[\"']?[^\s:\"']+:([^\s\"']+)"),
    _format(
        "password",
        "--pass --token --secret --api --pwd",
        r"--(?:pass(?:word|phrase|wd)?|pwd|token|secret|api-?key)(?:=| (?=\S*\d))[\"']?"
        r"([^\s\"'<>$\-][^\s\"'<>]{5,})",
    ),
    _format(
        "password",
        "mysql redis psql",
        r"\b(?:mysql(?:dump|admin)?\b[^\n]*?\s-p|redis-cli\b[^\n]*?\s-a\s+)([^\s\"'$-]{6,})",
    ),
)

BY_TRIGGER = tuple((trigger, item) for item in FORMATS for trigger in item.triggers)


def find(text: str) -> list[Found]:
    """Every secret of a text; spans may overlap."""
    lowered = text.lower()
    if len(lowered) != len(text):
        lowered = "".join(char.lower() if len(char.lower()) == 1 else char for char in text)
    found = list(_blocks(text, lowered))
    for start, line, fold in _candidate_lines(text, lowered):
        found += [(start + a, start + b, kind) for a, b, kind in _in_line(line, fold)]
    done = [match.span() for match in PLACEHOLDER.finditer(text)] if "[redacted:" in lowered else []
    return [item for item in found if not any(item[0] < end and start < item[1] for start, end in done)]


def _blocks(text: str, lowered: str) -> Iterator[Found]:
    """Private keys: what stands between the lines that name them."""
    if "private key" in lowered:
        for match in PRIVATE_KEY.finditer(text):
            body = KEY_LINE.match(text, match.start(2), match.end(2))
            end = body.end() if body else match.start(2)
            if len(text[match.start(2) : end].strip()) >= 16:
                yield match.start(2), end, "private-key"
    if "putty-user-key-file" in lowered:
        for match in PUTTY_KEY.finditer(text):
            yield match.start(1), match.end(1), "private-key"


@lru_cache(maxsize=1)
def _triggers() -> tuple[str, ...]:
    formats = {trigger for item in FORMATS for trigger in item.triggers}
    words = {*SECRET_NAMES, *PLUGIN_TRIGGERS, *formats}
    return tuple(word for word in words if not any(other != word and other in word for other in words))


def _candidate_lines(text: str, lowered: str) -> Iterator[tuple[int, str, str]]:
    """The lines that hold a trigger, each once: start, line, line in lower case."""
    starts: set[int] = set()
    for trigger in _triggers():
        at = lowered.find(trigger)
        while at >= 0:
            starts.add(lowered.rfind("\n", 0, at) + 1)
            end = lowered.find("\n", at)
            at = lowered.find(trigger, end) if end >= 0 else -1
    for start in sorted(starts):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        yield start, text[start:end], lowered[start:end]


def _in_line(line: str, fold: str) -> list[Found]:
    if len(line) > LONG_LINE:
        return _in_long_line(line, fold)
    return list(_found_in_line(line, fold))


LONG_LINE = 4_000
OVERLAP = 500


def _in_long_line(line: str, fold: str) -> list[Found]:
    """A long line (minified code, one-line JSON) is searched in pieces that overlap."""
    found = []
    for at in range(0, len(line), LONG_LINE - OVERLAP):
        piece, folded = line[at : at + LONG_LINE], fold[at : at + LONG_LINE]
        found += [(at + a, at + b, kind) for a, b, kind in _found_in_line(piece, folded)]
    return found


@lru_cache(maxsize=4_096)
def _found_in_line(line: str, fold: str) -> tuple[Found, ...]:
    found = list(_formats(line, fold))
    if ASSIGNMENT.search(line):
        found += _assigned(line)
        found += _by_plugins(line, keywords=True)
    elif any(word in fold for word in PLUGIN_TRIGGERS):
        found += _by_plugins(line, keywords=False)
    return tuple(found)


def _formats(line: str, fold: str) -> Iterator[Found]:
    for item in dict.fromkeys([item for trigger, item in BY_TRIGGER if trigger in fold]):
        for match in item.pattern.finditer(line):
            if item.kind not in LOOSE or not NOT_A_SECRET.match(match.group(1)):
                yield match.start(1), match.end(1), item.kind


def _assigned(line: str) -> Iterator[Found]:
    for pattern in (QUOTED, CALLED):
        for match in pattern.finditer(line):
            if _is_plausible(match.group(1), match.group(3), quoted=True):
                yield match.start(3), match.end(3), _kind(match.group(1))
    for match in SHELL.finditer(line):
        name, value = match.groups()
        if NAME_ONLY.match(name) and _is_plausible(name, value, quoted=True) and not CODE_LIKE.search(value):
            yield match.start(2), match.end(2), _kind(name)
    for match in CONFIG.finditer(line):
        if _is_plausible(match.group(1), match.group(2), quoted=False):
            yield match.start(2), match.end(2), _kind(match.group(1))


def _kind(name: str) -> str:
    lowered = name.lower()
    if "pass" in lowered or "pwd" in lowered:
        return "password"
    return next((word for word in ("token", "secret", "credential") if word in lowered), "key")


def _is_plausible(name: str, value: str, *, quoted: bool) -> bool:
    """Whether a value assigned to a secret's name is one, and no word, type, lookup or template."""
    value = value.strip().rstrip(";,")
    if len(value) < 4 or NOT_A_SECRET.match(value) or " " in value or TYPE_LIKE.match(value):
        return False
    if not quoted and CODE_LIKE.search(value):
        return False
    digit = any(char.isdigit() for char in value)
    letter = any(char.isalpha() for char in value)
    if _kind(name) == "password" and re.search(r"(?i)(?:pass\w*|pwd)$", name):
        return quoted or (digit and letter) or not value.replace("_", "").isalpha()
    if re.search(
        r"(?i)(?:count|limit|type|name|id|url|uri|path|file|ttl|budget|tokens|header|prefix|version)s?$", name
    ):
        return False
    return len(value) >= 8 and digit and letter and entropy(value) >= 2.8 and not _is_wordy(value)


def _is_wordy(value: str) -> bool:
    """Whether a value is words and a short number: `step-3`, `user_token_v2`, `test/fixture1.json`."""
    parts = [part for part in re.split(r"[-_./:\s]+", value) if part]
    return all(re.fullmatch(r"[A-Za-z]+\d{0,2}|\d{1,4}|v\d+", part) for part in parts) and (
        len(parts) > 1 or len(value) < 16
    )


def entropy(text: str) -> float:
    """Shannon entropy in bits a character."""
    counts = [text.count(char) for char in set(text)]
    return -sum(n / len(text) * math.log2(n / len(text)) for n in counts)


def _by_plugins(line: str, *, keywords: bool) -> Iterator[Found]:
    """What detect-secrets finds in a line; keyword hits only where the value is plausible."""
    for plugin, is_keyword in _plugins():
        if is_keyword and not keywords:
            continue
        for value in plugin.analyze_string(line):
            value = value[0] if isinstance(value, tuple) else value
            if not value or (is_keyword and not _is_plausible("key", value, quoted=True)):
                continue
            at = line.find(value)
            if at >= 0:
                yield at, at + len(value), "key" if is_keyword else _slug(plugin.secret_type)


def _slug(words: str) -> str:
    return "-".join(words.lower().split())


PLUGINS = (
    "artifactory.ArtifactoryDetector", "azure_storage_key.AzureStorageKeyDetector",
    "cloudant.CloudantDetector",
    "discord.DiscordBotTokenDetector", "github_token.GitHubTokenDetector", "gitlab_token.GitLabTokenDetector",
    "ibm_cloud_iam.IbmCloudIamDetector", "ibm_cos_hmac.IbmCosHmacDetector", "mailchimp.MailchimpDetector",
    "npm.NpmDetector", "openai.OpenAIDetector", "pypi_token.PypiTokenDetector", "sendgrid.SendGridDetector",
    "slack.SlackDetector", "softlayer.SoftlayerDetector", "square_oauth.SquareOAuthDetector",
    "stripe.StripeDetector", "telegram_token.TelegramBotTokenDetector", "twilio.TwilioKeyDetector",
    "keyword.KeywordDetector",
)  # fmt: skip


@lru_cache(maxsize=1)
def _plugins() -> tuple[tuple[Any, bool], ...]:
    """The plugins of detect-secrets that know formats, and its keyword plugin; none without it."""
    from importlib import import_module

    found = []
    for name in PLUGINS:
        module, _, cls = name.partition(".")
        try:
            plugin = getattr(import_module(f"detect_secrets.plugins.{module}"), cls)()
        except (ImportError, AttributeError):
            continue
        found.append((plugin, cls == "KeywordDetector"))
    return tuple(found)
