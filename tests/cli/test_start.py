"""Where `gardener` begins."""

from __future__ import annotations

import subprocess
import sys


def test_hook_has_a_page_of_help_and_no_other_call_of_it_has_an_exit_code() -> None:
    command = [sys.executable, "-m", "aider_gardener.cli", "hook"]
    shown = subprocess.run([*command, "--help"], capture_output=True, text=True, check=True)
    assert "It ends with 0 whatever happens" in shown.stdout
    nothing = subprocess.run(
        [*command, "Stop", "more"], input="{}", capture_output=True, text=True, check=True
    )
    assert nothing.stdout == nothing.stderr == ""
