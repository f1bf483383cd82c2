"""Write the table of aider's releases in docs/hosts.md, or with `--check` compare it; `--take` tries them.

Each release is installed with its own dependencies and ours into an environment of its own, by uv, and the
adapter's tests are run there: chats with a scripted model. Where its pins leave no room for our requirements,
only its patch points are looked at: its wheel, without dependencies, is read before the installed aider.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.metadata import requires
from importlib.metadata import version as distribution_version
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from packaging.requirements import Requirement
from packaging.version import Version
from pages import NOTHING, BadResults, Section, results, table
from pages import main as write_page

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "bench" / "results" / "aider-versions.json"
PAGE = ROOT / "docs" / "hosts.md"
NAME, FORMAT = "aider-versions", 1
COMMAND = "make aider-versions"
TOOL = "aider_versions"
HEAD = ("aider", "patch points as expected", "resolves", "accepted", "tests passed")
VERSIONS = (
    *("0.82.0", "0.82.1", "0.82.2", "0.82.3", "0.83.0", "0.83.1", "0.83.2", "0.84.0"),
    *("0.85.0", "0.85.1", "0.85.2", "0.85.3", "0.85.4", "0.85.5", "0.86.0", "0.86.1", "0.86.2"),
)
TESTS = (
    "entry_commands",
    "install",
    "overflow",
    "prompt",
    "resume",
    "sending",
    "way_back",
    "wrappers",
)
"""Those of tests/adapters/aider that are run: they hold conversations, and name no version of aider."""
TEST_TOOLS = ("hypothesis", "pytest", "pytest-timeout", "pytest-xdist")
LIMIT_SECONDS = 900
CONCLUSION = re.compile(r",? we can conclude that .*?(?:\.(?= And because )|$)")
"""What uv's explanation concludes from facts, at the end of each of its sentences."""

POINTS = """
import json
from aider_gardener.adapters.aider.install import installed_version, mismatches, needed_points
found = {"version": installed_version(), "seams": len(needed_points()), "differs": mismatches()}
print(json.dumps(found))
"""

Row = dict[str, Any]


class NotTried(BadResults):
    """A release that could not be fetched or run; the message says why."""


def main(argv: Sequence[str] | None = None) -> int:
    """Try releases if asked to, then write the table or compare it; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--take", nargs="*", metavar="VERSION", help="try these releases (default: all)")
    parser.add_argument("--uv", default="uv", metavar="PATH", help="the program uv (default: that of PATH)")
    options, rest = parser.parse_known_args(argv)
    if options.take is not None:
        keep(tried(version, options.uv) for version in options.take or VERSIONS)
    return write_page(SECTIONS, TOOL, rest)


def section() -> str:
    """The text between the markers, with a line end last."""
    return "\n".join(shown(results(RESULTS, NAME, FORMAT))) + "\n"


def shown(value: Mapping[str, Any]) -> Iterator[str]:
    """A row a release, newest first, and how they were tried."""
    rows = sorted(value["rows"], key=lambda row: Version(row["version"]), reverse=True)
    yield from table(HEAD, [cells(row) for row in rows])
    made_by = value["provenance"]
    yield ""
    yield f"`{COMMAND}`, commit {made_by['commit'] or 'unknown'}, Python {made_by['python']}."
    yield from ("", *found) if (found := list(differences(rows))) else ()


def cells(row: Row) -> list[str]:
    """The cells of a release."""
    points = f"{row['seams'] - len(row['differs'])} of {row['seams']}"
    tests = NOTHING if row["unresolved"] else f"{row['passed']} of {row['tests']}"
    yes_or_no = ("no" if row[name] else "yes" for name in ("unresolved", "differs"))
    return [row["version"], points, *yes_or_no, tests]


def differences(rows: Iterable[Row]) -> Iterator[str]:
    """What does not match, cannot be installed or did not pass, each with the releases it is true of."""
    found: dict[str, list[str]] = {}
    for row in rows:
        failed = [f"the test `{name}` fails" for name in row.get("failed", ())]
        unresolved = [shortened(row["unresolved"], row["version"])] if row["unresolved"] else []
        for problem in (*row["differs"], *unresolved, *failed):
            found.setdefault(problem, []).append(row["version"])
    for problem, versions in found.items():
        yield f"- {', '.join(versions)}: {problem}"


def shortened(message: str, version: str) -> str:
    """Why uv finds no environment: the facts that its explanation rests on, without what it concludes."""
    named = message.partition("Because ")[2].replace(f"aider-chat=={version}", "it").rstrip(".")
    facts = CONCLUSION.sub("", named).replace(" And because ", " and ").split(" and ")
    told = (
        fact.replace("you require", "the gardener requires") for fact in facts if fact != "you require it"
    )
    return " and ".join(told) or message


def tried(version: str, uv: str) -> Row:
    """The row of one release, tried in an environment of its own where there can be one."""
    print(f"aider {version}", file=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="aider-release-", ignore_cleanup_errors=True) as place:
        folder = Path(place)
        problem = environment(version, uv, folder / "environment")
        program, paths = python_of(folder / "environment"), [ROOT]
        if problem:
            program, paths = sys.executable, [unpacked(version, folder), ROOT]
        environ = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), "PYTHONUTF8": "1"}
        found: Row = json.loads(ran([program, "-c", POINTS], environ))
        if found["version"] != version:
            raise NotTried(f"aider {found['version']} was looked at, not {version}")
        row = {**found, "unresolved": problem}
        return row if problem else {**row, **outcomes(program, environ, folder)}


def environment(version: str, uv: str, place: Path) -> str:
    """Make an environment with the release, what the gardener requires, and what its tests do; returns why
    that cannot be, in one line, or ""."""
    asked = [line for line in requires("aider-gardener") or [] if not line.startswith("aider-chat")]
    tools = [f"{name}=={distribution_version(name)}" for name in TEST_TOOLS]
    ran([uv, "venv", "--quiet", "--python", sys.executable, str(place)], os.environ)
    command = [uv, "pip", "install", "--quiet", "--python", python_of(place)]
    done = subprocess.run(
        [*command, f"aider-chat=={version}", *filter(without_extra, asked), *tools],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    return " ".join(done.stderr.split()) if done.returncode else ""


def python_of(place: Path) -> str:
    """The Python of an environment."""
    return str(place / ("Scripts" if os.name == "nt" else "bin") / "python")


def without_extra(line: str) -> bool:
    """Whether a requirement holds here without any extra."""
    marker = Requirement(line).marker
    return marker is None or marker.evaluate({"extra": ""})


def unpacked(version: str, folder: Path) -> Path:
    """The release below `folder`, fetched by pip without its dependencies."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:"]
    ran([*command, "--dest", str(folder), f"aider-chat=={version}"], os.environ)
    source = folder / "source"
    with zipfile.ZipFile(next(folder.glob("aider_chat-*.whl"))) as wheel:
        wheel.extractall(source)
    return source


def outcomes(program: str, environ: Mapping[str, str], folder: Path) -> Row:
    """How many of the adapter's tests there are, and how many pass."""
    report = folder / "tests.xml"
    files = [f"tests/adapters/aider/test_{name}.py" for name in TESTS]
    command = [program, "-m", "pytest", "-n", "0", "-q", "-p", "no:cacheprovider", f"--junitxml={report}"]
    done = subprocess.run(
        [*command, *files], cwd=ROOT, env=environ, capture_output=True, text=True, timeout=LIMIT_SECONDS
    )
    if not report.exists():
        raise NotTried(f"the tests ended with {done.returncode}: {done.stdout[-500:]}")
    suite = next(ElementTree.parse(report).iter("testsuite"))
    count = {name: int(suite.get(name, 0)) for name in ("tests", "failures", "errors", "skipped")}
    failed = [case.get("name", "") for case in suite.iter("testcase") if case.find("failure") is not None]
    passed = count["tests"] - count["failures"] - count["errors"] - count["skipped"]
    return {"tests": count["tests"] - count["skipped"], "passed": passed, "failed": failed}


def ran(command: Sequence[str], environ: Mapping[str, str]) -> str:
    """What a command prints. Raises NotTried where it fails."""
    try:
        done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False)
    except FileNotFoundError as error:
        raise NotTried(f"{command[0]} is not there: install it, or name uv with --uv") from error
    if done.returncode:
        raise NotTried(f"{' '.join(command[:3])} failed: {(done.stderr or done.stdout).strip()[-500:]}")
    return done.stdout


def keep(rows: Iterable[Row]) -> None:
    """Keep each row as it is made, in place of that of the same release."""
    from bench.provenance import made_on

    for row in rows:
        kept = results(RESULTS, NAME, FORMAT)["rows"] if RESULTS.exists() else []
        others = [old for old in kept if old["version"] != row["version"]]
        ordered = sorted([*others, row], key=lambda one: Version(one["version"]))
        value = {"format": FORMAT, "kind": NAME, "provenance": made_on(), "rows": ordered}
        RESULTS.write_text(json.dumps(value, indent=1) + "\n", "utf-8", newline="\n")


SECTIONS = [Section(PAGE, NAME, section)]


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main())
