"""The language of a path, of a fence, and of code that names none."""

from __future__ import annotations

import pytest

from aider_gardener.reading.languages import guess_language, language_of_path


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("src/app.py", "python"),
        ("web\\Cart.TSX", "tsx"),
        ("Makefile", "make"),
        ("deploy/Dockerfile", "dockerfile"),
        ("poetry.lock", "toml"),
        (".github/ci.yml", "yaml"),
        ("notes", ""),
        ("photo.png", ""),
    ],
)
def test_a_path_stands_for_a_language(path: str, language: str) -> None:
    assert language_of_path(path) == language


@pytest.mark.parametrize(
    ("code", "language"),
    [
        ("import os\n\n\ndef run(self) -> None:\n    if not self.ready:\n        return None\n", "python"),
        ("package main\n\nfunc run() error {\n\tif err != nil {\n\t\treturn nil\n\t}\n}\n", "go"),
        ("pub fn run(&self) -> u32 {\n    let mut total = 0;\n    println!(\"{}\", total);\n}\n", "rust"),
        ("select id from orders\nwhere total > 3\ngroup by id\norder by id;\n", "sql"),
    ],
)  # fmt: skip
def test_code_is_guessed_by_its_shapes(code: str, language: str) -> None:
    found, strength = guess_language(code.splitlines())
    assert found == language and strength > 0


def test_bars_of_progress_are_no_pipes() -> None:
    assert guess_language([f" {step}%|██    | {step}/100 [00:10<01:30]" for step in range(100)])[1] < 0.25
    assert guess_language(["sort names | uniq -c", "cat words | head"])[0] == "bash"


def test_blocks_of_settings_are_no_style_sheet() -> None:
    block = "server {\n    listen 80;\n    location / {\n        proxy_pass http://10.0.0.7;\n    }\n}\n"
    assert guess_language((block * 20).split("\n"))[1] < 0.25
