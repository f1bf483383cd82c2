"""The table of seams: each row once, with its reasons and its stand-in, for the aider that is declared."""

from __future__ import annotations

from importlib.metadata import requires

import pytest

from aider_gardener.adapters.aider import seams, wrappers


@pytest.mark.parametrize("seam", seams.SEAMS, ids=lambda seam: seam.name)
def test_every_seam_says_why(seam: seams.Seam) -> None:
    assert seam.reason
    assert seam.retired_by


def test_every_row_stands_once_and_names_a_stand_in() -> None:
    names = [seam.name for seam in seams.SEAMS]
    assert len(set(names)) == len(names)
    assert [seam.make for seam in seams.SEAMS if not callable(getattr(wrappers, seam.make, None))] == []


def test_the_supported_aider_is_the_one_that_is_required() -> None:
    asked = [text for text in requires("aider-gardener") or [] if text.startswith("aider-chat")]
    assert [text for text in asked if "extra ==" not in text] == [f"aider-chat=={seams.SUPPORTED}"]
