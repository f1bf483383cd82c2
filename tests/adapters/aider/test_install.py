"""Putting the wrappers in and taking them out."""

from __future__ import annotations

import pytest

from aider_gardener import install, uninstall
from aider_gardener.adapters.aider import install as module
from aider_gardener.adapters.aider.install import at, in_force
from aider_gardener.adapters.aider.patch_points import PATCH_POINTS
from aider_gardener.errors import PatchPointError


def standing() -> dict[str, object]:
    return {point.name: at(point) for point in PATCH_POINTS}


def test_uninstall_puts_back_the_identical_objects() -> None:
    before = standing()
    install()
    during = standing()
    assert all(during[name] is not before[name] for name in before)
    install()
    assert all(standing()[name] is during[name] for name in before), "twice wraps once"
    uninstall()
    after = standing()
    assert all(after[name] is before[name] for name in before) and not in_force()


def test_a_changed_signature_is_refused_and_nothing_is_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    from aider.coders.base_coder import Coder

    monkeypatch.setattr(Coder, "format_chat_chunks", lambda self, extra: None)
    before = standing()
    with pytest.raises(
        PatchPointError, match=r"format_chat_chunks has the signature \(self, extra\); tried were 0\.83"
    ):
        install()
    after = standing()
    assert all(after[name] is before[name] for name in before)
    assert not in_force()


def test_the_version_does_not_matter_where_the_patch_points_match(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "installed_version", lambda: "0.99.0.dev7")
    install()
    assert in_force() == len(PATCH_POINTS)


def test_a_refusal_is_one_line_with_what_differs_and_which_versions_were_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from aider.coders.base_coder import Coder
    from aider.commands import Commands

    monkeypatch.setattr(module, "installed_version", lambda: "0.99.0")
    monkeypatch.delattr(Coder, "send")
    for name in ("raw_cmd_undo", "matching_commands", "_clear_chat_history"):
        monkeypatch.delattr(Commands, name)
    with pytest.raises(PatchPointError) as caught:
        install()
    assert not in_force()
    said = str(caught.value)
    assert said.startswith(
        "this aider (0.99.0) is not supported: aider.coders.base_coder:Coder.send is missing; "
    )
    assert "and 1 more; tried were 0.83.2 to 0.86.2" in said and "\n" not in said


@pytest.mark.parametrize("name", ["Coder", "Commands"])
def test_an_aider_without_the_class_of_a_patch_point_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    from aider import commands
    from aider.coders import base_coder

    monkeypatch.delattr(base_coder if name == "Coder" else commands, name)
    with pytest.raises(
        PatchPointError, match=f"{name}[.].* is missing .*has no attribute '{name}'.* more; tried"
    ) as caught:
        install()
    assert "\n" not in str(caught.value)
    assert not in_force()
