"""Putting the seams in and taking them out."""

from __future__ import annotations

import pytest

from aider_gardener import install, uninstall
from aider_gardener.adapters.aider import seams
from aider_gardener.adapters.aider.install import MISSING, holder_of, is_installed
from aider_gardener.errors import SeamError


def standing() -> dict[str, object]:
    found = {}
    for seam in seams.SEAMS:
        holder, attribute = holder_of(seam)
        found[seam.name] = holder.__dict__.get(attribute, MISSING)
    return found


def test_uninstall_puts_back_the_identical_objects() -> None:
    before = standing()
    install()
    during = standing()
    assert all(during[name] is not before[name] for name in before)
    uninstall()
    after = standing()
    assert all(after[name] is before[name] for name in before)


def test_installing_twice_wraps_once() -> None:
    install()
    once = standing()
    install()
    assert all(standing()[name] is once[name] for name in once)
    uninstall()
    assert not is_installed()


def test_uninstalling_twice_is_harmless() -> None:
    install()
    uninstall()
    uninstall()


def test_a_changed_signature_is_refused_and_nothing_is_touched(monkeypatch: pytest.MonkeyPatch) -> None:
    from aider.coders.base_coder import Coder

    monkeypatch.setattr(Coder, "format_chat_chunks", lambda self, extra: None)
    before = standing()
    with pytest.raises(SeamError, match=r"format_chat_chunks.*aider-chat==0\.86\.2"):
        install()
    after = standing()
    assert all(after[name] is before[name] for name in before)
    assert not is_installed()


def test_a_missing_seam_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from aider.commands import Commands

    monkeypatch.delattr(Commands, "_clear_chat_history")
    with pytest.raises(SeamError, match="_clear_chat_history is missing"):
        install()
    assert not is_installed()
