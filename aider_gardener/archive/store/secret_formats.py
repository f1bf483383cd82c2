"""The formats of tokens, and credentials in URLs, headers and command lines: one row each."""

from __future__ import annotations

import re
from typing import NamedTuple


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
