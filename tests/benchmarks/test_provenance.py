"""On what figures depend, and which results are told to be of other code."""

from __future__ import annotations

import json
from pathlib import Path

from bench.provenance import code, made_on, of_other_code, processor


def test_the_code_and_the_machine_are_named() -> None:
    made = made_on()
    assert made["code"] == code() and len(code()) == 12
    assert made["cores"] and made["cpu"] == processor()


def test_results_of_other_code_are_named_with_their_commits(tmp_path: Path) -> None:
    here, other = made_on(), {**made_on(), "code": "0" * 12, "commit": "abc"}
    files = {
        "same.json": {"provenance": here},
        "other.json": {"provenance": other},
        "parts.json": {"embedders": {"a": {"provenance": here}, "b": {"provenance": {**other, "commit": "def"}}}},
        "list.json": [{"made_on": {**other, "commit": "fed"}}, {"made_on": here}],
        "grid.json": {"provenance": other},
    }  # fmt: skip
    for name, value in files.items():
        (tmp_path / name).write_text(json.dumps(value), "utf-8")
    old = dict(here)
    del old["code"]
    (tmp_path / "old.json").write_text(json.dumps({"provenance": {**old, "commit": "123"}}), "utf-8")
    assert list(of_other_code(tmp_path)) == [
        "list.json: fed",
        "old.json: 123",
        "other.json: abc",
        "parts.json: def",
    ]
