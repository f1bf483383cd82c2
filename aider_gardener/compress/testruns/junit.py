"""Reading Maven surefire, Gradle and dotnet test (xunit, NUnit, MSTest)."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aider_gardener.compress.testruns.run import Failure, SuiteRun, digest

PREFIX = re.compile(r"^\[(?:INFO|ERROR|WARNING|WARN)\] ?")
SUREFIRE = re.compile(
    r"^(?P<id>[\w.$]+[.#(][^\n]*?)(?: --)? +Time elapsed: [\d.,]+ ?s(?:ec)? +<<< (?P<outcome>FAILURE|ERROR)!$"
)
CLASS_TOTAL = re.compile(r"^Tests run: \d+, +Failures: \d+.*(?:Time elapsed| - in | -- in )")
TOTAL = re.compile(
    r"^Tests run: \d+, +Failures: \d+, +Errors: \d+, +Skipped: \d+$|^BUILD (?:SUCCESS|FAILURE|"
    r"SUCCESSFUL|FAILED).*|"
    r"^\d+ tests? completed, .*|^(?:Failed|Passed)! +- .*|^Total tests: .*|^ +(?:Passed|Failed|"
    r"Skipped): \d+$|"
    r"^Test Run (?:Failed|Successful)\.|^Total time: .*|^ +Total time: .*"
)
GRADLE = re.compile(r"^(\S.* > .+?) (FAILED|PASSED|SKIPPED|STARTED)$")
GRADLE_ENDS = ("FAILED", "PASSED", "SKIPPED", "STARTED")
DOTNET = re.compile(r"^ +(Failed|Passed|Skipped) (\S.*?) \[(?:< )?[\d.,]+ ?(?:m?s|min).*\]$")
XUNIT_LIVE = re.compile(r"^\[xUnit\.net [\d:.]+\]")
RERUN = re.compile(r"^ {2}(\S+\.\S+?:\d+)(?:->\S+)? (.*)$|^ {2}(\S+\.\S+) » (.*)$")
HEADINGS = ("Error Message:", "Stack Trace:", "Standard Output Messages:")
AGAIN = re.compile(r"^\s*\d+\) +at ")
LISTED = 400
"""So many failures are looked through for the one that a line of the closing list repeats."""

NOISE = re.compile(
    r"^(?:-+$|-{2,}|T E S T S|Running |Results ?:|Failures: *$|Errors: *$|Scanning for|Building |"
    r"Finished at|from pom|"
    r"Nothing to compile|Copying|skip non existing|Using auto|Changes detected|Compiling|"
    r"Recompiling|Please refer|"
    r"-> \[Help|\[Help|To see the full|Re-run|For more information|Picked up|> Task|Downloading|Downloaded|"
    r"Reactor|  Determining|  Restored|  All projects|Test run for|VSTest|Microsoft \(R\)|Copyright|"
    r"Starting test|"
    r"A total of|Discovering|Discovered|Finished|Execution failed|\* Try:|\* Get more|> Run with|"
    r"Build started|Deprecated)"
)


class _Reader:
    def __init__(self) -> None:
        self.run = SuiteRun()
        self.failure: Failure | None = None
        self.block: list[str] = []
        self.maven = False

    def read(self, lines: Sequence[str]) -> SuiteRun:
        for line in lines:
            bare = PREFIX.sub("", line)
            self.maven = self.maven or (bare is not line and len(bare) < len(line))
            self.line(bare.rstrip(), line)
        self.close()
        self.run.totals = _joined(self.run.totals)
        return self.run

    def line(self, bare: str, line: str) -> None:
        if self.start(bare):
            return
        if TOTAL.match(bare):
            self.close()
            self.run.totals.append(bare.strip())
        elif CLASS_TOTAL.match(bare):
            self.close()
        elif XUNIT_LIVE.match(bare):
            return
        elif self.failure is not None:
            if (self.maven and len(bare) < len(line.rstrip())) or (
                bare and not bare[0].isspace() and self.gradle_end(bare)
            ):
                self.close()
            else:
                self.block.append(bare)
        elif bare.strip() and not NOISE.match(bare.strip()) and not self.listed(bare, line):
            self.run.outside.append(line)

    def start(self, bare: str) -> bool:
        """True for a line that reports the result of one test."""
        found = SUREFIRE.match(bare) if "<<< " in bare else None
        if found:
            self.close()
            if not found.group("id").startswith("Tests run:"):
                self.failure = Failure(found.group("id"), found.group("outcome"))
            return True
        found = GRADLE.match(bare) if bare.endswith(GRADLE_ENDS) else None
        state, name = (found.group(2), found.group(1)) if found else ("", "")
        if not found:
            dotnet = DOTNET.match(bare) if bare.endswith("]") else None
            state, name = (dotnet.group(1).upper(), dotnet.group(2)) if dotnet else ("", "")
        if not state:
            return False
        self.close()
        if state == "FAILED":
            self.failure = Failure(name)
        elif state == "PASSED":
            self.run.passed += 1
        elif state == "SKIPPED" and found:
            self.run.notes.append(f"skipped {name}")
        elif state == "SKIPPED":
            self.failure = Failure(name, "SKIPPED")
        return True

    def gradle_end(self, bare: str) -> bool:
        return not self.maven and bool(
            re.match(r"^(?:\d+ tests|FAILURE:|BUILD|> Task|\S.* > \S|Failed!|Test Run)", bare)
        )

    def listed(self, bare: str, line: str) -> bool:
        """Complete a failure from Maven's closing list: `Class.method:line message`."""
        found = RERUN.match(bare)
        if not found or not line.startswith("[ERROR]"):
            return False
        name, message = (
            (found.group(1), found.group(2)) if found.group(1) else (found.group(3), found.group(4))
        )
        method, _, number = name.partition(":")
        for failure in self.run.failures[:LISTED]:
            if (
                failure.id.replace("(", ".").replace("#", ".").endswith(method)
                or method.split(".")[-1] in failure.id
            ):
                return True
        self.run.failures.append(
            Failure(method, "FAILED", [message], [f"{method.split('.')[0]}:{number}"] if number else [])
        )
        return True

    def close(self) -> None:
        failure, block = self.failure, self.block
        self.failure, self.block = None, []
        if failure is None:
            return
        told = digest(_frames_first_own(line) for line in block)
        if failure.outcome == "SKIPPED":
            reason = [line.strip() for line in told.message if line.strip() not in HEADINGS]
            self.run.notes.append(" ".join(["skipped", failure.id, *reason[:2]]))
            return
        failure.message = [
            line for line in told.message if line.strip() not in HEADINGS and not AGAIN.match(line)
        ]
        failure.where = told.where[::-1][-3:]
        self.run.failures.append(failure)


def _frames_first_own(line: str) -> str:
    return line if not line.startswith("\t... ") and not re.match(r"^\s*--- End of", line) else ""


def _joined(totals: Sequence[str]) -> list[str]:
    """Totals without repeats; those of several modules stay apart."""
    return list(dict.fromkeys(totals))


def parse_junit(lines: Sequence[str]) -> SuiteRun:
    """Read the output of `mvn test`, `gradle test` or `dotnet test`."""
    return _Reader().read(lines)
