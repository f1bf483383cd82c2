"""The patches are in the form in which aider takes changes, and their figures are true.

Aider's form is flake8, isort and black at 100 columns (its `.pre-commit-config.yaml`); ruff stands for them: what
it says of a file after a patch and did not say before is a fault.
"""

from __future__ import annotations

import email
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from benchmark_tables import RESULTS
from grid_tables import own_budget
from made_tree import BY_SLUG, SERIES, installed_tree
from patches_page import changes

from aider_gardener.patches import tree
from aider_gardener.patches.series import Patch
from bench.grid.means import PROBES, complete, ordinary, rows_of, total

SENDER = "Your Name <you@example.com>"
"""Stands where the sender's name goes, who also signs off."""
OURS = re.compile(
    r"gardener|^(?:Seam|Evidence|Needs|Forwarded|Last-Update|[A-Z][a-z]+(?:-[a-z]+)*-by): ", re.I | re.M
)
STAT = re.compile(r" (?:\S+ +\| +\d+ [+-]+|\d+ files? changed\b.*|create mode 100644 \S+)?")
ISORT = '--config=lint.isort.known-first-party=["aider"]'
LINTER = ("check", "--select", "E,W,F,I", "--ignore", "E203", "--output-format", "concise", ISORT)
FORMATTER = ("format", "--diff")


def fix(slug: str) -> Patch:
    return BY_SLUG[slug]


@pytest.mark.parametrize("patch", SERIES.patches, ids=lambda patch: patch.name)
def test_a_mail_is_short_and_about_aider_alone(patch: Patch) -> None:
    """As most changes that were merged there: 40 lines of aider, 100 with tests; 150 and 300 for one that makes
    a new file, such as the interface."""
    body, _, rest = patch.text.partition("\n\n")[2].partition("\n---\n")
    assert email.message_from_string(patch.text)["From"] == SENDER and len(patch.subject) <= 72
    assert [line for line in body.splitlines() if len(line) > 76] == []
    assert OURS.findall(patch.text) == []
    stat = rest.partition("diff --git ")[0].strip("\n").splitlines()
    assert [line for line in stat if not STAT.fullmatch(line)] == [], "more than the list of files"
    changed = {row.path: row.added + row.removed for row in changes(patch.text)}
    host = sum(lines for path, lines in changed.items() if not path.startswith("tests/"))
    most, most_in_all = (150, 300) if "\nnew file mode" in patch.text else (40, 100)
    assert host <= most and sum(changed.values()) <= most_in_all


def test_what_flake8_isort_and_black_say_of_aiders_files_they_said_before(tmp_path: Path) -> None:
    pristine = tree.read_files(installed_tree(tmp_path / "tree"), SERIES.paths())
    made: dict[str, dict[str, str | None]] = {"before": {}, "after": {}}
    for patch in SERIES.patches:
        needed = SERIES.needed(patch)
        for when, patches in (("before", needed[:-1]), ("after", needed)):
            files = tree.patched(pristine, patches)
            made[when] |= {f"{patch.name}/{path}": files[path] for path in patch.diffs if path in files}
    for command in (LINTER, FORMATTER):
        before, after = (told(command, made[when], tmp_path / when) for when in ("before", "after"))
        assert list((after - before).elements()) == []


def told(command: tuple[str, ...], files: Mapping[str, str | None], folder: Path) -> Counter[str]:
    """What ruff says of the files, line by line, without the places, which a patch moves."""
    for path, text in files.items():
        if text is not None and path.endswith(".py"):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, "utf-8")
    options = ["--isolated", "--no-cache", "--quiet", "--line-length", "100", "."]
    ruff = [sys.executable, "-m", "ruff", *command, *options]
    done = subprocess.run(ruff, cwd=folder, capture_output=True, text=True, encoding="utf-8", check=False)
    assert done.returncode <= 1, done.stderr
    said = re.sub(r":\d+:\d+: |^@@.*$", ": ", done.stdout, flags=re.M).splitlines()
    return Counter(line for line in said if command is LINTER or re.match(r"[-+](?![-+]{2} )", line))


def test_the_price_of_summaries_is_as_measured() -> None:
    """When this fails the sessions were replayed anew: put what they show into the mail."""
    text = fix("summary-after-edit").text
    own = own_budget(complete(ordinary(rows_of(json.loads((RESULTS / "grid.json").read_text("utf-8"))))))
    stock = own["stock"]
    _, asked = PROBES.count(stock)
    turns = sum(row["turns"] for row in stock)
    assert f"A replay of {len(stock)} recorded chats ({turns} turns) asked for\n{asked} details" in text
    for variant, words in (
        ("stock", "today"),
        ("stock-fixed", "with summaries"),
        ("none", "without summaries"),
    ):
        tokens = f"{total(own[variant], 'tokens_billed') / 1e6:.1f}M"
        line = rf"^    {words} +{tokens} +{PROBES.count(own[variant])[0]} of {asked}$"
        assert re.search(line, text, re.M), line
    used, lost = (sum(row["llm"][at] for row in stock) for at in (0, 1))
    dropped = (total(stock, "tokens_billed") - total(own["none"], "tokens_billed")) / 1e6
    assert f"{dropped:.1f}M tokens for {lost} summaries that were all dropped" in text
    assert used == 0


def test_the_turns_that_no_summary_had_are_as_many_as_is_said(tmp_path: Path) -> None:
    patch = fix("whole-head")
    before = tree.read_files(installed_tree(tmp_path), patch.diffs)
    lost, requests = {}, {}
    for when, files in (("before", before), ("after", tree.patched(before, [patch]))):
        lost[when], requests[when] = summarised(str(files["aider/history.py"]))
    assert requests["before"] == 1 and lost["after"] == 0
    assert f"{lost['before']} of the 120\nturns were neither" in patch.text
    assert f"at most 8 ({requests['after']} in the case above)" in patch.text
    notes = (SERIES.folder / "notes.yml").read_text("utf-8")
    assert (
        f"{lost['before']} of 120 turns are in no summary; after: 0, in {requests['after']} requests" in notes
    )


def summarised(source: str) -> tuple[int, int]:
    """How many of 120 turns of 200 words neither a request nor the result has, and how many requests."""
    module: Any = ModuleType("history")
    exec(compile(source, "aider/history.py", "exec"), vars(module))
    requests: list[str] = []

    def answer(messages: list[dict[str, str]]) -> str:
        requests.append(messages[-1]["content"])
        return "word " * 300

    def count(message: Any) -> int:
        return sum(map(count, message)) if isinstance(message, list) else len(message["content"].split())

    model = SimpleNamespace(name="x", info={}, token_count=count, simple_send_with_retries=answer)
    chat = [
        {"role": role, "content": f"{role}-{turn}. " + "word " * 99}
        for turn in range(120)
        for role in ("user", "assistant")
    ]
    result = module.ChatSummary(model, max_tokens=1024).summarize(chat)
    seen = "\n".join([*requests, *(message["content"] for message in result)])
    return sum(f"user-{turn}." not in seen for turn in range(120)), len(requests)
