"""A corpus is rated by what its files hold; their folders only tell what is true."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from aider_gardener.tokens import approximate
from bench.evaluate import class_of_folder, evaluate_corpus, main, render

PYTHON = (
    "import os\nfrom typing import Any\n\n\ndef load(path: str) -> Any:\n"
    "    with open(path) as f:\n        return f.read()\n\n\nclass A:\n    x = 1\n"
)
LOG = "".join(f"2024-01-02 03:04:{i:02},123 INFO app: request {i} served\n" for i in range(9))
FILES = {
    "log_app": LOG,
    "json": '{"a": 1, "b": [1, 2, {"c": null}]}',
    "source_py": PYTHON,
    "traceback_py": PYTHON,
}


def corpus(root: Path) -> Path:
    for folder, text in FILES.items():
        (root / folder).mkdir()
        (root / folder / "file.txt").write_text(text, encoding="utf-8")
    return root


def test_evaluating_a_corpus_sees_content_only(tmp_path: Path) -> None:
    report = evaluate_corpus(corpus(tmp_path), approximate)
    assert report.accuracy == 0.75
    assert [file.path for file in report.files if file.truth is not file.found] == ["traceback_py/file.txt"]
    assert "3 of 4 right: 75.0%" in render(report)
    assert report.record()["wrong"][0]["found"] == "code"


def test_the_command_prints_the_matrix_and_writes_the_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "figures.json"
    assert main([str(corpus(tmp_path)), "--json", str(target)]) == 0
    assert "3 of 4 right: 75.0%" in capsys.readouterr().out
    assert json.loads(target.read_text("utf-8"))["accuracy"] == 0.75


def test_a_folder_without_classes_is_refused(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(SystemExit, match="2"):
            main([str(folder)])


def test_folder_names_stand_for_classes() -> None:
    named = {"test_jvm": "log", "ci_build": "log", "npm_pip": "log", "lint_tsc": "log", "log_app": "log", "traceback_other": "error",
             "json_github_api": "structured", "yaml": "structured", "diff": "diff", "grep_ls": "listing", "git_log": "listing",
             "source_md": "prose", "source_tsx": "code"}  # fmt: skip
    assert {name: getattr(class_of_folder(name), "value", None) for name in named} == named
    assert class_of_folder("photos") is None
