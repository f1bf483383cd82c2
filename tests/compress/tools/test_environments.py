"""Of nox and tox each session's outcome stands, and what its own tool said in that tool's short form."""

from __future__ import annotations

from tool_outputs import context

from aider_gardener.compress.registry import compress_text
from aider_gardener.messages import ContentClass

SETUP = "\n".join(f"nox > python -m pip install package-{number}" for number in range(30))
DOTS = "." * 72 + " [ 50%]\n"
NOX = f"""nox > Running session tests
{SETUP}
nox > pytest -q
{DOTS * 20}
=================================== FAILURES ===================================
__________________________________ test_depth __________________________________

    def test_depth():
>       assert pond.depth() == 4
E       assert 3 == 4

tests/test_pond.py:8: AssertionError
=========================== short test summary info ============================
FAILED tests/test_pond.py::test_depth - assert 3 == 4
1 failed, 1440 passed in 3.10s
nox > Command pytest -q failed with exit code 1
nox > Session tests failed.
nox > Running session types
nox > mypy pond
pond/frog.py:3: error: Missing return statement  [return]
Found 1 error in 1 file (checked 2 source files)
nox > Command mypy pond failed with exit code 1
nox > Session types failed.
nox > Ran 2 sessions:
nox > * tests: failed
nox > * types: failed
"""


def shown(text: str, kind: str) -> str:
    return compress_text(text, ContentClass.LOG, context(kind)).text


def test_each_session_is_told_by_the_compressor_of_its_tool() -> None:
    text = shown(NOX, "nox")
    for fact in ("1 failed, 1440 passed", "tests/test_pond.py:8", "assert 3 == 4", "pond/frog.py:3: error"):
        assert fact in text
    assert "package-7" not in text and "....." not in text


def test_every_outcome_stands() -> None:
    text = shown(NOX, "nox")
    for outcome in ("Session tests failed.", "Session types failed.", "* tests: failed", "* types: failed"):
        assert outcome in text


def test_an_environment_that_was_skipped_has_not_failed() -> None:
    text = shown(
        "\n".join(f".pkg: build step {number}> python -m build --step {number}" for number in range(40))
        + "\npy312: commands[0]> pytest\n12 passed in 0.10s\n"
        "docs: skipped because could not find python interpreter with spec(s): py38\n"
        "  py312: OK (1.71=setup[0.61]+cmd[1.10] seconds)\n  docs: SKIP (0.01 seconds)\n"
        "  congratulations :) (2.00 seconds)",
        "tox",
    )
    assert "docs: SKIP" in text and "py38" in text and "12 passed" in text and "congratulations" in text
    assert "FAIL" not in text and "--step 7" not in text
