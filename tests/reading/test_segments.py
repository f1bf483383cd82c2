"""Messages are cut where their content changes, and their origin is read off aider's own words."""

from __future__ import annotations

from aider_gardener.messages import ContentClass, Source, SourceKind
from aider_gardener.reading.segments import find_blocks, segment
from aider_gardener.reading.source import command_parts, infer_source

TYPED, REPLY = Source(SourceKind.TYPED), Source(SourceKind.REPLY)

TRACEBACK = (
    'Traceback (most recent call last):\n  File "app/main.py", line 12, in run\n    load()\n'
    '  File "app/load.py", line 4, in load\n    raise ValueError("no rows")\nValueError: no rows\n'
)
BLOCK = "src/a.py\n```python\n<<<<<<< SEARCH\nx = 1\n=======\nx = 2\n>>>>>>> REPLACE\n```\n"


def classes(content: str, source: Source) -> list[tuple[str, str]]:
    return [
        (part.cls.value, part.kind)
        for part in segment(content, source)
        if content[part.start : part.end].strip()
    ]


def test_the_wrappers_are_the_installed_aiders_own() -> None:
    from aider import prompts
    from aider.coders.base_prompts import CoderPrompts

    run = prompts.run_output.format(command="ls -l", output="total 0\n")
    assert infer_source("user", run) == Source(SourceKind.COMMAND, "ls -l")
    assert run[command_parts(run)[1] :] == "total 0\n\n"
    notices = [
        prompts.undo_command_reply,
        prompts.added_files.format(fnames="a.py"),
        prompts.summary_prefix + "…",
        CoderPrompts.files_content_gpt_edits.format(hash="abc", message="fix"),
        CoderPrompts.files_content_gpt_edits_no_repo,
        CoderPrompts.files_content_gpt_no_edits,
        CoderPrompts.files_content_local_edits,
        "I made those changes to the files.",
    ]
    assert [infer_source("user", text).kind for text in notices] == [SourceKind.NOTICE] * len(notices)


def test_a_reply_with_edit_blocks() -> None:
    content = f"The value was wrong.\n\n{BLOCK}\nAnd the second file:\n\n{BLOCK}"
    assert classes(content, REPLY) == [
        ("prose", ""),
        ("edit", "search-replace"),
        ("prose", ""),
        ("edit", "search-replace"),
    ]


def test_an_edit_block_without_a_fence_and_with_crlf() -> None:
    content = "So:\r\n\r\nsrc/a.py\r\n<<<<<<< SEARCH\r\nx = 1\r\n=======\r\nx = 2\r\n>>>>>>> REPLACE\r\n"
    assert classes(content, REPLY) == [("prose", ""), ("edit", "search-replace")]


def test_whole_files_and_diffs_in_replies_are_edits_but_not_when_typed() -> None:
    whole = "Here:\n\nsrc/new.py\n```python\nprint(1)\n```\n"
    diff = "```diff\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n```\n"
    assert classes(whole, REPLY) == [("prose", ""), ("edit", "whole-file")]
    assert classes(diff, REPLY) == [("edit", "udiff")]
    assert classes(diff, TYPED) == [("diff", "unified-diff")]


def test_typed_words_with_an_unfenced_traceback() -> None:
    content = (
        "this happens since yesterday, what is it?\n\n"
        + TRACEBACK
        + "\nplease fix it without a new dependency"
    )
    assert [cls for cls, _ in classes(content, TYPED)] == ["prompt", "error", "prompt"]


def test_typed_words_with_pasted_json_and_a_log() -> None:
    json = "{\n" + "".join(f'  "key{i}": {i},\n' for i in range(9)) + '  "last": null\n}\n'
    log = "".join(f"2024-05-01 10:00:{i:02} INFO worker done job={i}\n" for i in range(12))
    content = f"look at this\n\n```json\n{json}```\n\nand at the log:\n\n{log}\nwhat now?"
    assert [cls for cls, _ in classes(content, TYPED)] == ["prompt", "structured", "prompt", "log", "prompt"]


def test_a_bullet_list_of_rules_is_not_a_paste() -> None:
    content = "rules:\n- stdlib only, no pip in the image\n- sqlite 3.31.1 in production\n- never log request bodies\n- keep 36 hours"
    assert classes(content, TYPED) == [("prompt", "")]


def test_fences_nested_in_markdown_and_left_open() -> None:
    nested = "```markdown\n# T\n```python\nx = 1\n```\nend\n```\nafter"
    assert [(block.start, nested[block.end :]) for block in find_blocks(nested)] == [(0, "after")]
    longer = "````\n```\ninner\n```\n````\nafter"
    assert [longer[block.end :] for block in find_blocks(longer)] == ["after"]
    open_ended = "words\n```python\nx = 1\n"
    assert [(block.start, block.end) for block in find_blocks(open_ended)] == [(6, len(open_ended))]
    tilde = "~~~\n```\n~~~\nafter"
    assert [tilde[block.end :] for block in find_blocks(tilde)] == ["after"]


def test_command_output_by_its_own_class() -> None:
    log = "".join(f"2024-05-01 10:00:{i:02} INFO worker done job={i}\n" for i in range(30))
    content = f"I ran this command:\n\npython app.py\n\nAnd got this output:\n\n{log}{TRACEBACK}"
    assert classes(content, infer_source("user", content)) == [
        ("prose", "wrapper"),
        ("log", "app-log"),
        ("error", "traceback-python"),
    ]


def test_a_diff_behind_a_test_run_stands_apart() -> None:
    run = "=== 3 passed in 0.2s ===\n" * 4
    diff = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n-x = 1\n+x = 2\n y = 3\n"
    content = f"I ran this command:\n\npytest -q; git diff\n\nAnd got this output:\n\n{run}{diff}"
    assert [cls for cls, _ in classes(content, infer_source("user", content))] == ["prose", "log", "diff"]


def test_many_tracebacks_leave_a_log_whole() -> None:
    log = "".join(f"2024-05-01 10:00:{i:02} ERROR job failed\n{TRACEBACK}" for i in range(9))
    assert len(segment(log, Source(SourceKind.COMMAND, "python app.py"))) == 1


def test_notices_and_stubs_are_left_alone() -> None:
    for kind in (SourceKind.NOTICE, SourceKind.STUB):
        assert [part.cls for part in segment(BLOCK, Source(kind))] == [ContentClass.PROSE]
