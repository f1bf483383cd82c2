"""Which tool wrote an output, by signs that only its own lines bear; `compress.tools` reads them."""

from __future__ import annotations

import re
from collections import Counter

from aider_gardener.messages import ContentClass
from aider_gardener.reading.output import sample

LOG, ERROR, LISTING = ContentClass.LOG, ContentClass.ERROR, ContentClass.LISTING
CODE = ContentClass.CODE

LEAST = 3
"""A kind is told from so much weight of its signs."""


def early(sign: str, lines: int = 8) -> str:
    """The pattern of a sign that begins a line behind at most so many lines of an output."""
    return rf"\A(?:[^\n]{{0,300}}\n){{0,{lines}}}?(?:{sign})"


STAT_HEAD = r"\A(?:Updating \S+\nFast-forward.*\n|Merge made by .*\n)?"
BLAMED = r"^\^?[0-9a-f]{7,40} (?:\S+ +)?\(.{1,60} \d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4} +\d+\)"

SIGNS: tuple[tuple[str, ContentClass, int, re.Pattern[str]], ...] = tuple(
    (kind, cls, weight, re.compile(pattern, re.MULTILINE))
    for kind, cls, weight, pattern in (
        # What a program in trouble writes.
        ("sanitizer", ERROR, 3, r"^(?:==\d+==)?(?:ERROR|WARNING): (?:\w+Sanitizer|ThreadSanitizer): "),
        ("sanitizer", ERROR, 3, r"^SUMMARY: \w+Sanitizer: "),
        (
            "valgrind",
            ERROR,
            3,
            r"^==\d+== (?:Memcheck|Helgrind|DRD|HEAP SUMMARY:|ERROR SUMMARY:|Using Valgrind)",
        ),
        ("threads", ERROR, 3, r"^Full thread dump |^Found (?:one|\d+) Java-level deadlocks?"),
        ("threads", ERROR, 2, r"^\"[^\"\n]+\" (?:#\d+ |daemon |prio=).*\n\s+java\.lang\.Thread\.State: "),
        ("threads", ERROR, 1, r"^\s+java\.lang\.Thread\.State: "),
        ("threads", ERROR, 3, r"^Thread \d+ \((?:Thread 0x|LWP ).*\):?\n#0 "),
        ("threads", ERROR, 3, r"^(?:Thread \d+ .*|Program) (?:received|terminated with) signal SIG"),
        ("sanitizer", ERROR, 3, r"^WARNING: DATA RACE$"),
        # Builds and deployments.
        (
            "terraform",
            LOG,
            3,
            r"^ *# \S+ (?:will be (?:created|destroyed|updated in-place|replaced|read during apply)|"
            r"must be replaced|"
            r"is tainted, so must be replaced|has changed$|has been deleted$)",
        ),
        (
            "terraform",
            LOG,
            3,
            r"^Plan: \d+ to (?:add|import)|^(?:Apply|Destroy) complete! |^No changes\. (?:Your inf|Infra)",
        ),
        (
            "terraform",
            LOG,
            3,
            r"^│ Error: |^Error: .*\n(?:.*\n){0,3}  (?:on|with) \S+\.tf(?:\.json)? line \d+",
        ),
        (
            "terraform",
            LOG,
            2,
            r"^\S+: (?:Refreshing state|Still (?:creating|destroying|"
            r"modifying))\.\.\. \[",
        ),
        ("ansible", LOG, 4, r"^(?:PLAY|TASK|RUNNING HANDLER) (?:\[.*\] |RECAP )\*{3,}"),
        (
            "ansible",
            LOG,
            3,
            r"^(?:fatal|failed): \[\S+\].*=> |^ERROR! .*\n(?:.*\n){0,3}The error appears to be in '",
        ),
        ("helm", LOG, 3, r"^LAST DEPLOYED: .*\nNAMESPACE: |^==> Linting |^\d+ chart\(s\) linted"),
        (
            "helm",
            LOG,
            3,
            r"^(?:Error|\[ERROR\] \S+): (?:(?:INSTALLATION|UPGRADE|ROLLBACK|"
            r"UNINSTALL(?:ATION)?) FAILED: |template: \S+/templates/|"
            r"execution error at \(|YAML parse error on |unable to build kubernetes objects|"
            r"parse error at \()",
        ),
        (
            "helm",
            LOG,
            3,
            r'^Release "[^"]+" (?:has been upgraded|does not exist\.)|^STATUS: (?:deployed|failed|'
            r"pending-\w+)$",
        ),
        (
            "docker",
            LOG,
            4,
            r"^#\d+ (?:\[internal\] |\[(?:\S+ )?\d+/\d+\] |DONE \d|CACHED$|\d+\.\d+ )|"
            r"^Step \d+/\d+ ?: [A-Z]+ ",
        ),
        ("docker", LOG, 3, r"^ ?=> (?:ERROR |CACHED )?\[[^\]]*\d+/\d+\] |^\[\+\] (?:Building|Running) "),
        (
            "docker",
            LOG,
            3,
            r"^ *(?:\S )?(?:Container|Network|Volume) \S+ +(?:Creat|Start|Healthy|Error|Waiting|Exited|"
            r"Recreat|Running|Stopp|Remov)",
        ),
        (
            "docker",
            LOG,
            4,
            r"^ERROR: failed to (?:solve|build): |^Error response from daemon: |"
            r"^dependency failed to start: ",
        ),
        ("cmake", LOG, 4, r"^-- Configuring (?:incomplete|done)|^CMake (?:Error|Generate step failed)"),
        ("cmake", LOG, 3, r"^-- The \w+ compiler identification is |^CMake (?:Deprecation )?Warning"),
        (
            "packages",
            LOG,
            3,
            r"^npm (?:ERR!|error) code (?!ELIFECYCLE|ELSPROBLEMS|1$)\w+|^npm (?:ERR!|"
            r"error) ERESOLVE ",
        ),
        (
            "packages",
            LOG,
            3,
            r"^ERROR: (?:ResolutionImpossible|Cannot install |Could not find a version|"
            r"No matching distribution|Failed building|"
            r"Could not build wheels|Failed to build installable)|^The conflict is caused by:|"
            r"^ERROR: pip's dependency resolver",
        ),
        (
            "packages",
            LOG,
            3,
            r"^\s*error: (?:subprocess-exited-with-error|metadata-generation-failed|"
            r"legacy-install-failure)",
        ),
        (
            "packages",
            LOG,
            3,
            r"^\s*(?:×|error:) (?:No solution found when resolving|Failed to (?:build|download|fetch) |"
            r"failed to select a version for)|"
            r"\bversion solving failed\.$",
        ),
        (
            "packages",
            LOG,
            3,
            r"^\s?ERR_PNPM_|^➤ YN00(?:02|60|82|86|09): .|^error (?:Couldn't find |"
            r"Found incompatible module)",
        ),
        (
            "packages",
            LOG,
            3,
            r"^Your requirements could not be resolved|^Bundler could not find compatible|"
            r"^Could not find compatible versions|"
            r"^(?:LibMamba)?UnsatisfiableError|^PackagesNotFoundError|"
            r"^The following packages have unmet dependencies",
        ),
        (
            "bundler",
            LOG,
            4,
            r"^error during build:|^[✗x] Build failed in |^✘ \[ERROR\] |^Failed to compile\.$|"
            r"^webpack \S+ compiled with \d+ (?:error|warning)",
        ),
        ("bandit", LOG, 4, r"^>> Issue: \[B\d+:"),
        ("bandit", LOG, 3, r"^Total issues \(by severity\):|^\tTotal issues \(by severity\):"),
        ("shellcheck", LOG, 4, r"^In \S.* line \d+:\n.*\n *\^-*\^? SC\d+"),
        ("sqlfluff", LOG, 4, r"^== \[.+\] FAIL\b|^L: +\d+ \| P: +\d+ \| +[A-Z]+\d* \|"),
        ("formatting", LOG, 3, r"^\[warn\] Code style issues|^ERROR: \S+ Imports are incorrectly sorted"),
        ("formatting", LOG, 2, r"^(?:Oh no!|All done!) |^\d+ files? (?:would be re|already |re)formatted"),
        ("formatting", LOG, 1, r"^[Ww]ould reformat:? \S|^error: cannot format \S"),
        ("django", LOG, 4, r"^System check identified \d|^SystemCheckError: |^Operations to perform:\n"),
        ("configure", LOG, 4, r"^configure: (?:error|WARNING|creating)|^The Meson build system$"),
        ("configure", LOG, 2, r"^checking (?:for|whether|build system) .*\.\.\. "),
        ("hooks", LOG, 5, r"^\S.{3,80}?\.{3,}(?:\(no files to check\))?(?:Passed|Failed|Skipped)$"),
        ("latex", LOG, 4, r"^This is (?:pdf|Xe|Lua|LuaHB)?TeX, Version"),
        ("pulumi", LOG, 4, r"^(?:Previewing (?:update|destroy)|Updating|Destroying) \(\S+\)"),
        # Tables, listings and sessions.
        (
            "table",
            LISTING,
            3,
            early(r"(?:NAMESPACE +)?NAME +(?:READY|STATUS|DESIRED|TYPE|COMPLETIONS|REFERENCE) +"),
        ),
        (
            "table",
            LISTING,
            3,
            early(r"(?:NAMESPACE +)?LAST SEEN +(?:COUNT +)?TYPE +REASON +(?:KIND|OBJECT) +"),
        ),
        ("table", LISTING, 3, early(r"CONTAINER ID +(?:IMAGE|NAME) +")),
        (
            "sql-session",
            LISTING,
            3,
            r"^\(\d+ rows?\)$|^\d+ rows? in set(?:, \d+ warnings?)? \([\d.]+ (?:sec|min)",
        ),
        (
            "sql-session",
            LISTING,
            3,
            r"^ERROR \d{4} \([0-9A-Z]{5}\)|^Empty set(?:, \d+ warnings?)? \([\d.]+ sec\)",
        ),
        (
            "sql-session",
            LISTING,
            3,
            r"^(?:mysql|sqlite|MariaDB \[[^\]\n]*\])> \S|^[\w$-]{1,60}(?:=[#*!]|=\*[#>]|=![#>]|\(#) \S",
        ),
        (
            "sql-session",
            LISTING,
            3,
            r"^Query OK, \d+ rows? affected|^(?:Runtime|Parse) error (?:near|in) line \d+",
        ),
        ("sql-session", LISTING, 3, r'^ +(?:Table|View|Partitioned table|Index) "\w+\.\w+"$'),
        ("sql-session", LISTING, 2, r"^(?:psql:\S+ )?ERROR:  \S"),
        ("sql-session", LISTING, 2, r"^(?:DETAIL|HINT):  \S|^LINE \d+: \S"),
        (
            "sql-session",
            LISTING,
            2,
            r"^(?:INSERT \d+|UPDATE|DELETE|COPY|SELECT) \d+$|^(?:ROLLBACK|COMMIT|BEGIN)$",
        ),
        ("query-plan", LISTING, 3, r"^(?:-> +)?[A-Z][\w ]+ \(cost=[\d.]+\.\.[\d.]+ rows=\d+ width=\d+\)"),
        ("query-plan", LISTING, 3, r"-> +[A-Z][^\n(]{1,200}\(cost=[\d.]+ rows=\d+\)"),
        (
            "kubectl-describe",
            LISTING,
            3,
            early(r"Name: {2,}\S+\n(?:Namespace|Roles|Labels|StorageClass): {2,}\S"),
        ),
        ("kubectl-describe", LISTING, 2, r"^Events:(?: +<none>|\n  Type +Reason +Age +From +Message)$"),
        ("git-status", LISTING, 3, early(r"[^\s(].{0,80}\n(?:  [(（].*git .*[)）]\n){1,4}(?:\n|\t\S)")),
        (
            "git-status",
            LISTING,
            3,
            early(r"(?:On branch|HEAD detached (?:at|from)|Auf Branch|Sur la branche|En la rama) \S"),
        ),
        (
            "git-status",
            LISTING,
            3,
            early(r"(?:\x1b\S*)?## \S+?(?:\.\.\.\S+)?(?: \[.*\])?\n[ MTADRCU?]{2} \S"),
        ),
        ("git-status", LISTING, 3, r"\A(?:[ MTADRCU]{2} \S.*\n){2,40}\?\? \S"),
        ("git-merge", LISTING, 4, early(r"(?:CONFLICT|KONFLIKT|CONFLIT|CONFLICTO) \(.{3,40}\): ", 80)),
        ("git-merge", LISTING, 3, early(r"Automatic merge failed|error: could not apply [0-9a-f]{7}", 80)),
        ("git-merge", LISTING, 3, early(r" ! \[(?:remote )?rejected\] |error: failed to push some refs", 80)),
        (
            "git-merge",
            LISTING,
            3,
            early(r"error: (?:The following untracked|Your local changes to the following)", 80),
        ),
        ("git-blame", LISTING, 3, BLAMED + r".*\n" + BLAMED),
        (
            "git-branch",
            LISTING,
            3,
            early(r"[* +] \S+ +[0-9a-f]{7,12} (?:\[\S+/\S+(?:: .*)?\] )?\S.*\n[* +] \S+ +[0-9a-f]{7,12} "),
        ),
        ("importtime", LISTING, 3, r"^import time: self \[us\] \||^import time: +\d+ \| +\d+ \|"),
        ("training", LOG, 2, r"(?:^|\r|\x1b\[2K)\W{0,4}[Ee]poch[ :=#\[]*\d+"),
        ("training", LOG, 1, r"\b(?:val_|train_|valid_)?(?:loss|acc|accuracy|f1|auc)\b\s?[:=]\s?-?\d"),
        ("sql-session", LISTING, 4, r"^-\[ RECORD \d+ \][-+]*$|^\*{5,} \d+\. row \*{5,}$"),
        ("table", LISTING, 3, early(r"(?:Package|Name) +Version(?: +\S.*)?\n-+ -+")),
        (
            "table",
            LISTING,
            3,
            early(r" *(?:[A-Z][A-Z0-9()%#/:_-]+(?: [A-Z/]+)?(?: {2,}| *\t)){3,}[A-Z][A-Z0-9()%#/ _-]+$"),
        ),
        (
            "table",
            LISTING,
            3,
            early(r"(?:Filesystem|Dateisystem|Sys\. de fichiers|S\.ficheros) +\S.{10,80} \S+$"),
        ),
        (
            "table",
            LISTING,
            3,
            early(r" *(?:USER|UID|PID|F) +(?:PID|PPID|UID|TTY|USER) +\S.* (?:COMMAND|CMD)$"),
        ),
        (
            "table",
            LISTING,
            3,
            early(r"top - \d\d:\d\d:\d\d up |(?:Netid +)?State +Recv-Q +Send-Q |Proto +Recv-Q +Send-Q "),
        ),
        (
            "table",
            LISTING,
            3,
            early(r" *UNIT +LOAD +ACTIVE +SUB +|COMMAND +PID +.*USER +FD +|NAME +CPU\(cores\) "),
        ),
        ("table", LISTING, 3, r"\A(?:\d+(?:[.,]\d+)?[KMGT]?\t\S.*\n){3}"),
        ("git-branch", LISTING, 3, early(r"stash@\{\d+\}: (?:WIP on|On|[Aa]uf|WIP auf) ")),
        ("table", LISTING, 3, early(r"\|\|/ +\S+ +\S.*\n\+\+\+-=+")),
        ("git-status", LISTING, 3, r"\A(?:[MADRCTU]\d{0,3}\t\S.*\n){3}"),
        ("diffstat", LISTING, 3, STAT_HEAD + r" \S.{0,300} \| +(?:\d+ [+-]*|Bin .*)\n"),
        ("table", LISTING, 3, early(r"\+(?:-{3,}\+)+\n\| .*\|\n\+(?:[-=]{3,}\+)+$|\| NVIDIA-SMI \d")),
        ("table", LISTING, 3, r"\A(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +\d+ \S.*\n){3}"),
        ("sql", CODE, 5, early(r"-- (?:PostgreSQL database dump|MySQL dump|MariaDB dump)\b")),
        # Test runs.
        # They hold what other tools print: their own signs weigh more.
        ("nox", LOG, 9, r"^nox > Running session \S"),
        ("nox", LOG, 9, r"^nox > Session \S+ (?:failed|was successful|skipped|aborted)"),
        ("tox", LOG, 9, r"^[\w.-]+: commands\[\d+\]> \S|^[\w.-]+ run-test: commands\[\d+\] \| \S"),
        ("tox", LOG, 9, r"^  [\w.-]+: (?:OK|FAIL code -?\d+|SKIP) \([\d.]+"),
    )
)
"""Kind, its class, the weight of the sign, and the sign: a line or lines of the output."""

WITHIN_TESTS = frozenset({"sanitizer"})
"""Kinds that a run of tests may hold: then it is the run that is told."""

CLASSES = {kind: cls for kind, cls, _, _ in SIGNS}
KINDS = frozenset(CLASSES)


def detect_tool(text: str) -> str:
    """The kind of a tool's output ("sanitizer", …) or "". Each sign counts once, however often it occurs."""
    seen = sample(text)
    scores: Counter[str] = Counter()
    for kind, _, weight, sign in SIGNS:
        if sign.search(seen):
            scores[kind] += weight
    best = scores.most_common(1)
    return best[0][0] if best and best[0][1] >= LEAST else ""
