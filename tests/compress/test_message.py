"""Whole messages: words stay, what surrounds them goes by its class, and one line says what mattered."""

from __future__ import annotations

from aider_gardener.compress.line import line_form
from aider_gardener.compress.message import compress_message
from aider_gardener.messages import ContentClass, Source, SourceKind
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


def test_a_reply_keeps_its_reasons_and_shows_edits_as_a_line() -> None:
    result = compress_message(REPLY, Source(SourceKind.REPLY), entry_id="g123456789")
    assert "because 8.875 % does not fit into basis points" in result.text
    assert "[… edited src/rates.py: rate (+3 −2)]" in result.text
    assert "SEARCH" not in result.text and result.engine == "edits"


def test_typed_words_stay_and_the_paste_shrinks() -> None:
    log = "".join(
        f"2024-05-01 10:{i // 60:02}:{i % 60:02} INFO worker job={i} done in {i % 17} ms\n"
        for i in range(400)
    )
    words = "why is job 217 late? do not touch the schema, 3.31.1 is what runs there"
    content = f"{words}\n\n```\n{log}```\n\nand keep it short"
    result = compress_message(content, Source(SourceKind.TYPED), entry_id="g123456789")
    assert words in result.text and "and keep it short" in result.text
    assert len(result.text) < 0.15 * len(content)
    assert result.cls is ContentClass.PROMPT


def test_the_wrapper_of_a_command_becomes_short() -> None:
    content = run("python tools/report.py --all", "".join(f"row {i}: value {i * 3}\n" for i in range(300)))
    result = compress_message(content, infer_source("user", content))
    assert result.text.startswith("Ran: python tools/report.py --all\nOutput:\n")
    assert compress_message(result.text, infer_source("user", content)).text == result.text


def test_a_command_that_printed_nothing() -> None:
    content = run("true", "")
    source = infer_source("user", content)
    assert "true" in compress_message(content, source).text
    assert "true" in line_form(content, source, entry_id="g123456789")


def test_fences_stay_around_what_is_folded() -> None:
    code = "\n".join(
        f"def f{i}(x):\n    addition = x + {i}\n    product = addition * {i}\n    c = b - {i}\n    return c\n"
        for i in range(12)
    )
    result = compress_message(f"look:\n\n```python\n{code}```\n", Source(SourceKind.TYPED))
    assert result.text.count("```") == 2 and "def f11(x):" in result.text and "lines …" in result.text


def test_edits_of_a_file_with_blank_lines_between_are_one_line() -> None:
    blocks = [
        f"a.py\n<<<<<<< SEARCH\nx{n} = 1\n=======\nx{n} = {'2' * 60}\n>>>>>>> REPLACE\n" for n in range(3)
    ]
    made = compress_message("\n".join(blocks), Source(SourceKind.REPLY)).text
    assert made.count("a.py") == 1 and "+3 −3" in made


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


def test_tables_that_a_program_declares_get_short_though_they_have_no_bodies() -> None:
    columns = "    id bigint NOT NULL,\n    owner integer,\n    made timestamp DEFAULT now()\n"
    tables = [f"CREATE TABLE t{n} (\n{columns});\n" for n in range(90)]
    tables[40] = "CREATE TABLE invoices (\n    id bigint NOT NULL,\n    amount numeric(5,2)\n);\n"
    found = compress_message("\n".join(tables), Source(SourceKind.COMMAND, "pg_dump -s"))
    assert found.cls is ContentClass.CODE
    assert "CREATE TABLE invoices (\n" in found.text and "    amount numeric(5,2)\n" in found.text
    assert len(found.text) < 600
