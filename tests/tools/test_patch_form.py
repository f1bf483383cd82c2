"""The patches are in the form in which aider takes changes, what is not is found, and their figures are true."""

from __future__ import annotations

import json
import re
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from grid_tables import own_budget
from made_tree import SERIES, installed_tree
from patch_form import faults_of_code, faults_of_mail, look, main
from proposal_tables import RESULTS

from aider_gardener.patches import tree
from aider_gardener.patches.series import Patch
from bench.grid.means import PROBES, complete, ordinary, rows_of, total

CODE = 'import os\n\n\ndef size(path):\n    return os.stat(path).st_size + len("a")\n'


def fix(slug: str) -> Patch:
    return SERIES.find(slug)


def test_each_patch_is_small_in_aiders_form_and_about_aider_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In aider's own files; those of its tests come with its source, and `make test-upstream` looks at them."""
    assert look(installed_tree(tmp_path)) == 0, capsys.readouterr().out


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("From: Your Name <you@example.com>", "From: Somebody <s@example.org>", "it is from Somebody"),
        ("] fix: ", "] fix: " + "very " * 9, "its subject has more"),
        ("\n\nWith", "\n\n" + "With " * 20, "more than 76 columns"),
        ("\n---\n", "\n\nSigned-off-by: Somebody <s@example.org>\n---\n", "'Signed-off-by:'"),
        ("\n---\n", "\n---\nSeam: none\n", "'Seam:'"),
        ("\n---\n", "\n---\nMore of it.\n", "stands more than the list of files: More"),
        ("since it was restored", "since the gardener restored it", "'gardener'"),
    ],
)
def test_what_a_maintainer_would_ask_for_is_found(old: str, new: str, fault: str) -> None:
    text = fix("cleared-history").text
    assert old in text
    found = list(faults_of_mail(Patch("0001-x.patch", text.replace(old, new, 1))))
    assert any(fault in row for row in found)


def test_a_fix_that_is_too_large_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("patch_form.HOST_LINES", 0)
    assert list(faults_of_mail(fix("cleared-history"))) == [
        "it changes 1 lines of aider, 14 with tests, more than 0 or 100"
    ]


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("import os", "import os\nimport sys", "`sys` imported but unused"),
        ("import os", "import sys\nimport os\n\nprint(sys.path)", "un-sorted"),
        ("+ len", "+ 1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9 + 10 + 11 + 12 + 13 + 14 + 15 + 16 + len", "too long"),
        ('"a"', "'a'", "-    return os.stat(path).st_size + len('a')"),
    ],
)
def test_what_flake8_isort_and_black_would_say_is_found(old: str, new: str, fault: str) -> None:
    assert faults_of_code({"x.py": CODE}, {"x.py": CODE}) == []
    found = faults_of_code({"x.py": CODE}, {"x.py": CODE.replace(old, new)})
    assert any(fault in row for row in found)


def test_what_a_file_had_before_is_no_fault_of_a_fix() -> None:
    ugly = "import sys\n" + CODE.replace('"a"', "'a'")
    assert faults_of_code({"x.py": ugly}, {"x.py": "# Moved down\n" + ugly}) == []


def test_without_aider_nothing_can_be_looked_at(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--source", str(tmp_path)]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_the_price_of_summaries_is_as_measured() -> None:
    """When this fails the sessions were replayed anew: put what they show into the mail."""
    text = fix("summary-after-edit").text
    own = own_budget(complete(ordinary(rows_of(json.loads(RESULTS.read_text("utf-8"))))))
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
