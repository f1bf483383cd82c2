"""The parts of pages that tools make: one that was changed by hand is told (that all are fresh, `make docs` says)."""

from __future__ import annotations

import re
from pathlib import Path

import check_docs
import pytest

PART = re.compile(r"<!-- ([\w -]+?) -->\n(.*?)<!-- /\1 -->", re.DOTALL)


def test_a_figure_that_was_typed_in_is_told_in_every_part(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    read, seen = Path.read_text, list[str]()

    def read_changed(path: Path, *options: str, **named: str) -> str:
        def change(part: re.Match[str]) -> str:
            seen.append(f"{path.name} {part[1]}")
            return part[0].replace(part[2], re.sub(r"[A-Za-z0-9](?=\W*$)", "~", part[2], count=1))

        text = read(path, *options, **named)
        return PART.sub(change, text) if path.suffix == ".md" else text

    monkeypatch.setattr(Path, "read_text", read_changed)
    assert check_docs.main() == 1
    told = capsys.readouterr().err
    assert len(set(seen)) > 20
    assert not [each for each in seen if each.split()[0] not in told and each.split()[1] not in told]
