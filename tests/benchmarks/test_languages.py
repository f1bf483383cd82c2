"""Questions in many languages: each is there, and none gives its passage away."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from made_vectors import LetterCounts

from bench import languages
from bench.languages import LANGUAGES, PASSAGES


def test_each_passage_is_asked_for_once_in_each_language() -> None:
    assert len(LANGUAGES) == 12 and len(PASSAGES) == 20
    assert all(asked.keys() == {"passage", *LANGUAGES} for asked in PASSAGES)
    for code in LANGUAGES:
        assert len({asked[code] for asked in PASSAGES} - {""}) == len(PASSAGES)


def test_no_question_repeats_a_number_or_a_path_of_its_passage() -> None:
    for asked in PASSAGES:
        told = set(re.findall(r"\d+|\S*[/_]\S*", asked["passage"]))
        for code in LANGUAGES:
            assert not told & set(re.findall(r"\d+|\S*[/_]\S*", asked[code])), asked[code]


def test_a_run_has_a_row_for_each_language(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "languages.json"
    few = {code: LANGUAGES[code] for code in ("en", "ko")}
    monkeypatch.setattr(languages, "LANGUAGES", few)
    monkeypatch.setattr(languages, "OTHERS", 20)
    monkeypatch.setattr(languages, "loading", lambda _choice: LetterCounts)
    assert languages.main(["--json", str(file)]) == 0
    assert [row["language"] for row in json.loads(file.read_text("utf-8"))["rows"]] == list(few.values())
    assert "| Korean | " in capsys.readouterr().out
