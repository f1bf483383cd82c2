"""Questions in many languages: each is there, none gives its passage away, and each embedder has its place."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from made_vectors import LetterCounts

from bench import languages
from bench.language_questions import LANGUAGES, PASSAGES, Asked


def test_each_passage_is_asked_for_once_in_each_language() -> None:
    assert tuple(LANGUAGES) == Asked._fields[1:] and len(LANGUAGES) == 12
    for field in LANGUAGES:
        questions = [getattr(asked, field) for asked in PASSAGES]
        assert all(questions) and len(set(questions)) == len(PASSAGES) == 20


def test_no_question_repeats_a_number_or_a_path_of_its_passage() -> None:
    for asked in PASSAGES:
        told = set(re.findall(r"\d+|\S*[/_]\S*", asked.passage))
        for question in asked[1:]:
            assert not told & set(re.findall(r"\d+|\S*[/_]\S*", question)), question


FEW = {field: name for field, name in LANGUAGES.items() if name in ("English", "Korean")}


def test_words_find_what_has_them_and_a_run_keeps_the_other_embedders(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "languages.json"
    rows = {"provenance": {}, "rows": []}
    file.write_text(json.dumps({"format": languages.FORMAT, "embedders": {"other": rows}}), "utf-8")
    monkeypatch.setattr(languages, "LANGUAGES", FEW)
    monkeypatch.setattr(languages, "loading", lambda _choice: lambda: (LetterCounts(), ""))
    assert languages.main(["--embedder", "letters", "--json", str(file)]) == 0
    found = json.loads(file.read_text("utf-8"))["embedders"]
    assert found["other"] == rows and set(found) == {"other", "letters"}
    assert [row["language"] for row in found["letters"]["rows"]] == list(FEW.values())
    assert "| Korean | " in capsys.readouterr().out
