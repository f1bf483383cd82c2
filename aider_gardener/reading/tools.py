"""Which tool wrote an output, by signs that only its own lines bear; `compress.tools` reads them."""

from __future__ import annotations

import re
from collections import Counter

from aider_gardener.messages import ContentClass
from aider_gardener.reading.output import sample

LOG, ERROR, LISTING = ContentClass.LOG, ContentClass.ERROR, ContentClass.LISTING

LEAST = 3
"""A kind is told from so much weight of its signs."""

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
            r"^npm (?:ERR!|error) code (?!ELIFECYCLE|1$)\w+|^npm (?:ERR!|"
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
        # Test runs.
    )
)
"""Kind, its class, the weight of the sign, and the sign: a line or lines of the output."""

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
