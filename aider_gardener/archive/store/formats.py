"""What credentials of known services look like, as data.

Prefixes, alphabets and lengths are those that the services document; lengths are lower bounds where a service
has changed its own.
"""

from __future__ import annotations

import re
from typing import NamedTuple

BEFORE_WORD_CHARS = 80
"""At most so far before its word a credential begins."""


class Format(NamedTuple):
    """A credential's form: one of `words` (lower case) stands in its line, and the first group of the
    expression that took part is the secret."""

    kind: str
    words: tuple[str, ...]
    expression: re.Pattern[str]


APART = r"(?:(?<![\w+])|(?<=\\[nrt]))"
"""What a token begins after; in JSON also the end of a line that is written out."""

PREFIXES = {
    r"[A-Za-z0-9]{20,}": "gsk_ xai- pplx- r8_ hf_ fw_ csk-",
    r"[A-Za-z0-9]{30,}": """dapi dop_v1_ doo_v1_ dor_v1_ lin_api_ lin_oauth_ shpat_ shpss_ shpca_ shppa_ ntn_
        secret_ npm_ AKCp cio LTAI""",
    r"[A-Za-z0-9-]{19,}": "xkeysib- xsmtpsib- PMAK- NRAK- NRJS- NRII- CFPAT- HRKU- pul- pnu_ rdme_",
    r"[\w-]{20,}": """AIza nvapi- tvly- rubygems_ figd_ figo_ sbp_ phx_ nfp_ nfc_ sgp_ aio_ bkua_ CLOJARS_
        tskey- ya29. 1//0 GOCSPX- dckr_pat_ dckr_oat_ hvs. hvb. hvr. github_pat_ ghp_ gho_ ghu_ ghs_ ghr_
        pypi- sk- sk_live_ sk_test_ rk_live_ rk_test_ xapp- xoxa- xoxb- xoxe- xoxe.xoxp- xoxp- xoxr- xoxs-""",
    r"[\w.=+/-]{20,}": """glpat- gldt- glrt- glptt- glcbt- glagent- glsoat- glft- glimt- glffct- ATATT3 ATCTT3
        ATSTT3 ATBB sq0atp- sq0csp- dp.pt. dp.st. dp.ct. dp.sa. dp.said. dp.scim. dp.audit. dt0c01.
        pscale_tkn_ pscale_pw_ pscale_oauth_ EZAK EZTK fo1_ fm2_ oy2 glsa_ glc_ sntrys_ sntryu_ whsec_""",
    r"[\w.-]{60,}": "EAA SG.",
    r"[0-9a-f]{32}": "key-",
    r"[A-Z0-9]{16}(?!\w)": "AKIA ASIA ABIA ACCA",
    r"[A-Z0-9]{50,}": "AGE-SECRET-KEY-1",
    r"[\w-]{8,}\.eyJ[\w-]{8,}(?:\.[\w-]*)?": "eyJ",
    r"[A-Za-z0-9]{14}\.[a-f0-9]{64}": "pat",
    r"[A-Z0-9]{6}(?:-[A-Z0-9]{5,11}){3,5}": "A3-",
}
"""What follows the first characters of tokens that begin so."""

_VALUE = r"(?:\"([^\"$]{4,200})\"|'([^']{4,200})'|([^\s\"'$<|-][^\s\"'|<>]{3,200}))"
_AFTER_USER = r"([^\s/\"'`<>]+|(?!\d{1,5}[/?#])[^\s\"'`<>]{4,200})"
_TEXT, _TOLD = r"[\"'][^\"'\n]{1,200}[\"'],\s{0,9}", r"[\"']((?=\D{0,200}\d)[^\"'\s]{6,200})[\"']"
_LOGIN = rf"(?:redential|ogin|auth|onnect|mysqli)[(= ]{{1,5}}(?:{_TEXT}){{1,2}}{_TOLD}"
_CLIENT = r"\b(?:redis-cli|sshpass|login|ldap\w+|sqlcmd|mosquitto_\w+)\b.{0,200}?\s-[apwP][ =]{0,2}"

OTHERS = (
    ("token", ".atlasv1.", APART + r"([A-Za-z0-9]{14}\.atlasv1\.[\w=-]{40,})"),
    ("token", "-us", r"\b([0-9a-f]{32}-us\d{1,2})\b"),
    ("token", "twilio", r"\b(SK[0-9a-f]{32})\b"),
    ("token", ":aa", r"(?<!\d)(\d{8,10}:AA[\w-]{33})"),
    ("token", "q~", r"(?<![\w.~-])([\w.~-]{3}\dQ~[\w.~-]{31,34})(?![\w.~-])"),
    ("token", "discord token client .login(", APART + r"([MNO][\w-]{22,28}\.[\w-]{6,7}\.[\w-]{27,45})"),
    ("token", "sig=", r"[?&]sig=([\w%+/=-]{30,})"),
    ("webhook", "hooks.slack.com", r"hooks\.slack\.com/(?:services|workflows|triggers)/([\w/-]{20,})"),
    ("webhook", "/api/webhooks/", r"/api/webhooks/(\d{10,30}/[\w-]{20,})"),
    ("webhook", "webhook.office.com", r"webhook\.office\.com/webhookb2/([\w@/-]{60,})"),
    ("url-password", "://", rf"://(?:[^\s/:@\"'`<>\[]{{0,200}}:{_AFTER_USER}|([\w-]{{20,}}))@(?=[\w.\[-])"),
    ("url-password", "@tcp(", r"[\w.-]{1,100}:([^\s\"'`]{4,200})@tcp\("),
    ("password", ":5432: :*:", r"^[\w.*-]+:(?:\d+|\*):[\w.*-]+:[\w.*-]+:(\S{4,200})$"),
    ("private-key", "ls0tls1crudjti", r"(LS0tLS1CRUdJTiB(?:QUk|SU0|FQ|PUE|FT|EU)[\w+/=]{40,})"),
    ("authorization", "bearer basic", r"\b(?i:bearer|basic)\s{1,9}([\w+/=.~-]{16,})"),
    ("cookie", "cookie:", r"(?i)[\s;][\w.-]{0,40}(?:sess|sid|auth|token|jwt)[\w.-]{0,40}=([^\s;\"']{16,})"),
    ("password", "curl", r"\s(?:-u|--user|--proxy-user)[ =]?[\"']?[^\s:\"']{1,200}:([^\s\"']+)"),
    ("password", "mysql mariadb", r"\b(?:mysql|mariadb)\w{0,5}\b.{0,200}?\s-p([^\s\"'$-]{6,})"),
    ("password", "redis sshpass login ldap sqlcmd mosquitto_", _CLIENT + _VALUE),
    ("password", "password-stdin", r"\becho\s{1,9}[\"']?([^\s\"'$]{6,200})[\"']?\s{1,9}\|"),
    ("password", "htpasswd", r"\bhtpasswd\s.{0,200}?\s" + _VALUE + r"\s{0,20}$"),
    ("password", "smbclient rpcclient", r"\s-U\s{0,9}[\"']?[^\s%\"']{1,100}%([^\s\"']{4,})"),
    ("password", "pass:", r"-pass(?:in|out)?\s{1,9}pass:([^\s\"'$]{4,})"),
    ("password", "credential( login( auth=( connect( mysqli(", _LOGIN),
    ("password", "snmp-server sqlplus", r"\b(?:snmp-server community |sqlplus [^\s/]{1,80}/)([^\s@]{4,200})"),
    ("password", "securestring", r"(?i:ConvertTo-SecureString)\s{1,9}(?:-String\s{1,9})?" + _VALUE),
)
"""Tokens without a prefix, and credentials that are known by what stands around them."""


def _prefixed(rest: str, prefixes: list[str]) -> tuple[str, str, str]:
    return "token", " ".join(prefixes).lower(), rf"{APART}((?:{'|'.join(map(re.escape, prefixes))}){rest})"


_ROWS = (*(_prefixed(rest, prefixes.split()) for rest, prefixes in PREFIXES.items()), *OTHERS)
FORMATS = tuple(
    Format(kind, tuple(words.split()), re.compile(form, re.ASCII | re.MULTILINE))
    for kind, words, form in _ROWS
)
