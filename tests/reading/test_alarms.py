"""Lines that tell of trouble, and lines that only look like it."""

from __future__ import annotations

import pytest

from aider_gardener.reading.alarms import alarm, is_outcome


@pytest.mark.parametrize(
    "line",
    [
        "install: cannot create regular file '/usr/bin/x': Permission denied",
        "Error: pg_config executable not found.",
        "ValueError: no such harbour",
        "dial tcp 10.0.0.1:5432: connection refused",
        "× did not run successfully",
        "Schritt 3 fehlgeschlagen",
        "#  SIGSEGV (0xb) at pc=0x00007fd5b38d430c, pid=17639",
    ],
)
def test_trouble_is_alarming(line: str) -> None:
    assert alarm(line) == "error"


@pytest.mark.parametrize(
    "line",
    [
        "0 errors, 0 warnings",
        "Tests: 12, failed: 0",
        "cc -Wall -Werror -c error_handler.c",
        "Collecting http-errors==1.2",
        "a quiet line about the tide",
    ],
)
def test_counts_of_none_and_names_are_not(line: str) -> None:
    assert alarm(line) != "error"


@pytest.mark.parametrize(
    "line",
    [
        "make: *** [Makefile:4: app] Error 1",
        "make: *** [Makefile:4: app] Fehler 1",
        "collect2: error: ld returned 1 exit status",
        "Process completed with exit code 1",
        "##[error]The job was cancelled",
        "web-1 exited with code 137",
        "ninja: build stopped: subcommand failed.",
    ],
)
def test_how_a_command_ended_is_told(line: str) -> None:
    assert is_outcome(line)
