"""Putting the seams in and taking them out."""

from __future__ import annotations

import subprocess
import sys

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


@pytest.mark.parametrize("seam", seams.SEAMS, ids=lambda seam: seam.name)
def test_every_seam_says_why(seam: seams.Seam) -> None:
    assert seam.reason
    assert seam.retired_by


def test_an_unsupported_aider_runs_as_it_is(tmp_path: object) -> None:
    code = (
        "import sys; from aider.commands import Commands; del Commands._clear_chat_history\n"
        "sys.argv = ['aider-gardener', '--version']\n"
        "from aider_gardener.adapters.aider.cli import main; main()"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert run.returncode == 0
    assert "0.86.2" in run.stdout
    assert run.stderr.count("\n") == 1
    assert "running aider without the gardener" in run.stderr
