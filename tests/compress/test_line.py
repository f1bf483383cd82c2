"""One line says what mattered in a message."""

from __future__ import annotations

from aider_gardener.compress.line import line_form
from aider_gardener.messages import Source, SourceKind
from aider_gardener.reading.source import infer_source
from aider_gardener.tokens import approximate

EDIT = """src/rates.py
```python
<<<<<<< SEARCH
def rate(region):
    return 0.19
=======
def rate(region: str) -> int:
    table = load_table()
    return table[region]
>>>>>>> REPLACE
```
"""
REPLY = f"""Sure, happy to help!

I keep the rates in parts per million, because 8.875 % does not fit into basis points. The loader stays internal.

{EDIT}
After this the callers must divide by 1_000_000. Nothing else changes in the modules that import it.
"""


def run(command: str, output: str) -> str:
    return f"I ran this command:\n\n{command}\n\nAnd got this output:\n\n{output}\n"


def test_the_line_of_a_reply_names_files_symbols_and_the_reason() -> None:
    line = line_form(REPLY, Source(SourceKind.REPLY), entry_id="g123456789", token_limit=80)
    assert "rates.py (rate)" in line and "parts per million" in line and line.endswith("[g123456789]")
    assert "happy to help" not in line


def test_the_line_of_a_failed_test_run_names_the_failure() -> None:
    output = "==== test session starts ====\n" + "".join(
        f"tests/test_a.py::test_{i} PASSED\n" for i in range(60)
    )
    output += "tests/test_a.py::test_x FAILED\n==== FAILURES ====\n____ test_x ____\n>       assert 3 == 4\nE       assert 3 == 4\n\ntests/test_a.py:9: AssertionError\n"
    output += "==== short test summary info ====\nFAILED tests/test_a.py::test_x - assert 3 == 4\n==== 1 failed, 60 passed in 0.31s ====\n"
    content = run("pytest -v", output)
    line = line_form(content, infer_source("user", content), entry_id="g123456789")
    assert line.startswith("ran pytest -v:") and "1 failed" in line and "test_x" in line
    assert approximate(line) <= 60


def test_the_line_of_typed_words_prefers_constraints() -> None:
    content = "hi, I hope all is well with you and yours today.\n\nthe weather here is fine.\n\nplease never log request bodies, legal ticket LGR-311, and keep retention at 36 hours.\n\nthanks a lot!"
    line = line_form(content, Source(SourceKind.TYPED), entry_id="g123456789", token_limit=36)
    assert "LGR-311" in line and "36 hours" in line


def test_short_messages_are_their_own_line() -> None:
    assert line_form("cap 30, agreed", Source(SourceKind.TYPED)) == "cap 30, agreed"
