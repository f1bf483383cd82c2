"""Where a message came from, told from the wrappers that the host puts around it."""

from __future__ import annotations

import pytest

from aider_gardener.messages import Source, SourceKind
from aider_gardener.reading.source import failed_edit, infer_source, own_output


@pytest.mark.parametrize(
    "command",
    ["pytest -q", "python -m pytest tests", "npm test", "npm run test -- --watch=false", "cargo test", "go test ./...", "node --test test/",
     "cd app && make check", "PYTHONPATH=. python -m unittest", "./gradlew test", "bun test", "tox -e py311"],
)  # fmt: skip
def test_commands_that_test_are_told_from_others(command: str) -> None:
    text = f"I ran this command:\n\n{command}\n\nAnd got this output:\n\n1 passed\n"
    assert infer_source("user", text) == Source(SourceKind.TEST, command)


@pytest.mark.parametrize(
    "command", ["ls", "git log -3", "cat latest.txt", "python tools/contest.py", "grep -rn attest ."]
)
def test_commands_that_do_not_test(command: str) -> None:
    text = f"I ran this command:\n\n{command}\n\nAnd got this output:\n\n1 passed\n"
    assert infer_source("user", text).kind is SourceKind.COMMAND


def test_other_sources() -> None:
    assert infer_source("user", "Output from ls -la\ntotal 4\n") == Source(SourceKind.COMMAND, "ls -la")
    web = "Here is the content of https://example.org/x:\n\n# Title\n"
    assert infer_source("user", web) == Source(SourceKind.WEB, "https://example.org/x")
    assert (
        infer_source("user", "\n# Fix any errors below, if possible.\n\na.py:1: E1").kind is SourceKind.LINT
    )
    assert infer_source("assistant", "Ok.").kind is SourceKind.NOTICE
    assert infer_source("assistant", "Ok. I will do that.").kind is SourceKind.REPLY
    assert infer_source("user", "please add a test").kind is SourceKind.TYPED
    assert infer_source("user", "^C KeyboardInterrupt").kind is SourceKind.NOTICE, (
        "aider says it, not the user"
    )


def test_failed_edits_are_notices_and_recognised() -> None:
    failed = (
        "# 1 SEARCH/REPLACE block failed to match!\n\n## SearchReplaceNoExactMatch: This SEARCH block failed"
    )
    malformed = "src/a.py\n<<<<<<< SEARCH\nx\n\n^^^ Expected `=======`"
    patches = [
        "Error parsing patch content: Could not find patch context:\nx = 1",
        "Unexpected error parsing patch: list index out of range",
        "Error applying action 'Update' to a.py: UPDATE Error: File does not exist: a.py",
    ]
    hunk = "UnifiedDiffNoMatch: hunk failed to apply!\n\na.py does not contain"
    for text in (failed, malformed, hunk, *patches):
        assert failed_edit(text) == "not applied"
        assert infer_source("user", text).kind is SourceKind.NOTICE
    assert (
        failed_edit(f"{failed}\n# The other 2 SEARCH/REPLACE blocks were applied successfully.\n")
        == "applied in part"
    )
    assert not failed_edit("why did the SEARCH/REPLACE block fail to match?")


@pytest.mark.parametrize(
    "command",
    [
        "gardener recall 'which port'",
        "cd /src && gardener recall port | head -3",
        "A=1 uv run gardener restore g1234",
        "bash -lc 'gardener recall port'",
        "sudo timeout 5 gardener why g1234",
        r"C:\tools\gardener.exe sessions",
        ".venv/bin/python -m aider_gardener.cli recall port",
        "mcp__gardener__recall which port",
        "mcp__plugin_aider-gardener_gardener__get g1234",
    ],
)
def test_what_our_own_commands_and_tools_show_is_told_from_the_shells(command: str) -> None:
    assert own_output(Source(SourceKind.COMMAND, command))
    assert not own_output(Source(SourceKind.TYPED, command))


@pytest.mark.parametrize(
    "command",
    ["gardener run -- make", "gardener compress a.log", "grep -r 'gardener recall' docs", "cat gardener", ""],
)
def test_what_others_say_stays_the_shells(command: str) -> None:
    assert not own_output(Source(SourceKind.COMMAND, command))
