"""What tokens of known services look like, and where commands, headers and addresses hold a credential.

Each format is a row: words of which one stands in its line, and an expression whose first group that took
part is the secret. Prefixes, alphabets and lengths are those that the services document; lengths are lower
bounds where a service has changed its own. An expression is compiled when its word is first met.
"""

from __future__ import annotations

import re
from functools import cache
from typing import NamedTuple


class Format(NamedTuple):
    """A token format: one of `triggers` (lower case) stands in its line."""

    kind: str
    triggers: tuple[str, ...]
    expression: str

    def matches(self, line: str) -> list[tuple[int, int]]:
        """Where the secrets of this format stand in a line."""
        return [match.span(match.lastindex or 0) for match in compiled(self.expression).finditer(line)]


@cache
def compiled(expression: str) -> re.Pattern[str]:
    """The expression, compiled once."""
    return re.compile(expression)


def _format(kind: str, triggers: str, expression: str) -> Format:
    return Format(kind, tuple(triggers.split()), expression)


def _prefixed(kind: str, prefixes: str, rest: str) -> Format:
    """Tokens that begin with one of some prefixes, of which each is its own trigger."""
    words = prefixes.split()
    begins = "|".join(re.escape(word) for word in words)
    return Format(kind, tuple(word.lower() for word in words), rf"{APART}((?:{begins}){rest})")


APART = r"(?:(?<![A-Za-z0-9+_])|(?<=\\[nrt]))"
"""What a token begins after; in JSON also the end of a line that is written out."""

TOKENS: tuple[Format, ...] = (
    _format("api-key", "sk-", r"(?<![\w-])(sk-(?:[a-z]{2,12}-(?:v\d-)?|api\d\d-)*[A-Za-z0-9_-]{20,})"),
    _prefixed("api-key", "AIza", r"[0-9A-Za-z_-]{35}"),
    _prefixed("api-key", "gsk_ xai- pplx- r8_ hf_ fw_ csk-", r"[A-Za-z0-9]{20,}"),
    _prefixed("api-key", "nvapi- tvly-", r"[A-Za-z0-9_-]{20,}"),
    _prefixed("api-key", "dapi dop_v1_ doo_v1_ dor_v1_ lin_api_ lin_oauth_", r"[A-Za-z0-9]{32,}"),
    _prefixed("api-key", "shpat_ shpss_ shpca_ shppa_ ntn_ secret_", r"[A-Za-z0-9]{30,}"),
    _prefixed(
        "api-key", "xkeysib- xsmtpsib- PMAK- NRAK- NRJS- NRII- CFPAT- pnu_ pul- rdme_", r"[A-Za-z0-9-]{19,}"
    ),
    _prefixed(
        "api-key", "rubygems_ CLOJARS_ bkua_ figd_ figo_ sbp_ nfp_ nfc_ phx_ sgp_ aio_", r"[A-Za-z0-9_-]{24,}"
    ),
    _prefixed(
        "api-key", "pscale_tkn_ pscale_pw_ pscale_oauth_ EZAK EZTK fo1_ fm2_ oy2", r"[A-Za-z0-9_=.-]{32,}"
    ),
    _prefixed("api-key", "glsa_ glc_ sntrys_ sntryu_ ops_eyJ", r"[A-Za-z0-9+/_=-]{30,}"),
    _prefixed("api-key", "dt0c01. LTAI AKCp cmVmd key-", r"[A-Za-z0-9.]{20,}"),
    _prefixed("token", "dckr_pat_ dckr_oat_ hvs. hvb. hvr. tskey-", r"[A-Za-z0-9_-]{20,}"),
    _format("token", ".atlasv1.", rf"{APART}([A-Za-z0-9]{{14}}\.atlasv1\.[A-Za-z0-9_=-]{{40,}})"),
    _prefixed("token", "ATATT3 ATCTT3 ATBB ATSTT3", r"[A-Za-z0-9_=-]{24,}"),
    _prefixed("token", "dp.pt. dp.st. dp.ct. dp.sa. dp.said. dp.scim. dp.audit.", r"[A-Za-z0-9_.-]{40,}"),
    _prefixed("token", "sq0atp- sq0csp- EAAA EAAB EAAC EAAD EAAG EAAM", r"[A-Za-z0-9_=-]{20,}"),
    _prefixed("token", "ya29. 1//0 GOCSPX-", r"[A-Za-z0-9_-]{20,}"),
    _prefixed("token", "ghp_ gho_ ghu_ ghs_ ghr_", r"[A-Za-z0-9_]{36,}"),
    _prefixed("token", "github_pat_", r"[A-Za-z0-9_]{22,}"),
    _prefixed(
        "token",
        "glpat- gldt- glrt- glptt- glcbt- glagent- glsoat- glft- glimt- glffct-",
        r"[A-Za-z0-9_.-]{20,}",
    ),
    _format("token", "xox", r"\b(xox[abceoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,})"),
    _prefixed("token", "xapp-", r"\d-[A-Za-z0-9-]{20,}"),
    _format(
        "token",
        "discord bot token client.run .login( mta mte mti otk ody",
        rf"{APART}([MNO][A-Za-z0-9_-]{{22,28}}\.[A-Za-z0-9_-]{{6,7}}\.[A-Za-z0-9_-]{{27,45}})",
    ),
    _format(
        "webhook",
        "hooks.slack.com",
        r"hooks\.slack\.com/(?:services|workflows|triggers)/([A-Za-z0-9/_-]{20,})",
    ),
    _format("webhook", "/api/webhooks/", r"/api/webhooks/(\d{10,}/[A-Za-z0-9_-]{20,})"),
    _format("webhook", "webhook.office.com", r"webhook\.office\.com/webhookb2/([\w@/-]{60,})"),
    _format("api-key", "k_live_ k_test_ k_org_", r"\b([rs]k_(?:live|test|org)_[A-Za-z0-9]{10,})"),
    _prefixed("token", "whsec_", r"[A-Za-z0-9+/=]{24,}"),
    _prefixed("token", "npm_", r"[A-Za-z0-9]{36}"),
    _prefixed("token", "pypi-", r"[A-Za-z0-9_-]{50,}"),
    _format("token", "cargo cio", r"\b(cio[A-Za-z0-9]{32})\b"),
    _format("api-key", "sg.", r"\b(SG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{30,})"),
    _format("api-key", "-us", r"\b([0-9a-f]{32}-us\d{1,2})\b"),
    _format("api-key", "twilio", r"\b(SK[0-9a-f]{32})\b"),
    _format("api-key", "pat", r"\b(pat[A-Za-z0-9]{14}\.[a-f0-9]{64})\b"),
    _format("api-key", "a3-", r"\b(A3-[A-Z0-9]{6}(?:-[A-Z0-9]{5,11}){3,5})\b"),
    _format("aws-key", "akia asia abia acca", r"\b((?:AKIA|ASIA|ABIA|ACCA)[0-9A-Z]{16})\b"),
    _format(
        "aws-secret",
        "secretaccesskey secret_access_key secret_key secret-key",
        r"(?i:secret[_-]?(?:access[_-]?)?key)[\"']?\s{0,20}[:=|]{1,2}\s{0,20}[\"']?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+])",
    ),
    _format("jwt", "eyj", r"\b(eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?)"),
    _format(
        "azure-key", "accountkey= sharedaccesskey=", r"(?i:AccountKey|SharedAccessKey)=([A-Za-z0-9+/=]{40,})"
    ),
    _format("azure-key", "sig=", r"[?&]sig=([A-Za-z0-9%+/=_-]{30,})"),
    _format("azure-key", "q~", r"(?<![\w.~-])([\w.~-]{3}\dQ~[\w.~-]{31,34})(?![\w.~-])"),
    _prefixed("age-key", "AGE-SECRET-KEY-1", r"[0-9A-Z]{50,}"),
    _format("telegram", ":aa", r"\b(\d{8,10}:AA[A-Za-z0-9_-]{33})"),
)
"""Tokens that are known by themselves."""

PLACES: tuple[Format, ...] = (
    _format(
        "url-password", "@", r"\b[A-Za-z][A-Za-z0-9+.-]{0,30}://[^\s/:@\"'`<>]{0,200}:([^\s/@\"'`<>]{1,200})@"
    ),
    _format("url-token", "@", r"\bhttps?://([A-Za-z0-9_-]{20,200})@[\w.-]"),
    _format(
        "authorization",
        "authorization bearer",
        r"(?i:authorization[\"']?\s{0,9}[:=,]\s{0,9}[\"']?(?:bearer|basic|token|apikey|key)\s{1,9}|\bbearer\s{1,9})"
        r"([A-Za-z0-9+/=._~-]{16,})",
    ),
    _format(
        "cookie",
        "cookie:",
        r"(?i)[\s;]([\w.-]{0,40}(?:sess|sid|auth(?!or)|token|jwt)[\w.-]{0,40})=([^\s;\"']{16,})",
    ),
    _format("password", "curl", r"\s(?:-u|--user|--proxy-user)[ =]?[\"']?[^\s:\"']{1,200}:([^\s\"']+)"),
    _format(
        "password",
        "--pass --pwd",
        r"--(?:pass(?:word|phrase|wd)?|pwd)(?:=| (?=\S{0,200}[^\sA-Za-z\"',.]\S))[\"']?"
        r"([^\s\"'<>$\-|][^\s\"'<>|]{5,})",
    ),
    _format(
        "password",
        "--token --secret --api -key",
        r"--(?:[a-z]{2,12}-)?(?:token|secret|(?:api|auth|secret|access)-?key)(?:=| (?=\S{0,200}\d))"
        r"[\"']?([^\s\"'<>$\-][^\s\"'<>]{5,})",
    ),
    _format(
        "password",
        "mysql redis mariadb",
        r"\b(?:(?:mysql|mariadb)(?:dump|admin)?\b.*?\s-p|redis-cli\b.*?\s-a\s{1,9})([^\s\"'$-]{6,})",
    ),
    _format(
        "password",
        "sshpass",
        r"\bsshpass\s{1,9}-p\s{0,9}(?:\"([^\"$]{4,})\"|'([^']{4,})'|([^\s\"'$][^\s\"']{3,}))",
    ),
    _format(
        "password",
        "login",
        r"\blogin\b.*?\s-p[ =]{0,2}(?:\"([^\"$]{4,})\"|'([^']{4,})'|([^\s\"'$<-][^\s\"']{5,}))",
    ),
    _format("password", "htpasswd", r"\bhtpasswd\s.{0,200}?\s([^\s\"'$|<>-][^\s\"'|<>]{5,})\s*$"),
    _format("password", "smbclient rpcclient", r"\s-U\s{0,9}[\"']?[^\s%\"']{1,100}%([^\s\"']{4,})"),
    _format("password", "pass:", r"-pass(?:in|out)?\s{1,9}pass:([^\s\"'$]{4,})"),
    _format(
        "password",
        "machine default",
        r"(?:\bmachine\s{1,9}\S{1,200}|^\s{0,9}default)(?:\s{1,9}(?:login|account)\s{1,9}\S{1,200}){0,2}"
        r"\s{1,9}password\s{1,9}([^\s\"'<$]{4,})",
    ),
    _format(
        "password",
        "securestring",
        r"(?i:ConvertTo-SecureString)\s{1,9}(?:-String\s{1,9})?(?:\"([^\"$]{4,})\"|'([^']{4,})')",
    ),
    _format("key", "_auth", r"(?<![\w])_auth[\"']?\s{0,9}[=:]\s{0,9}[\"']?([A-Za-z0-9+/]{12,}={0,2})"),
    _format("key", '"auth"', r"\"auth\"\s{0,9}:\s{0,9}\"([A-Za-z0-9+/]{12,}={0,2})\""),
)
"""Credentials that are known by what stands around them: the value itself may be a template or a word."""

FORMATS = (*TOKENS, *PLACES)
