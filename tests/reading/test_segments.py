"""Messages are cut where their content changes, and their origin is read off aider's own words."""

from __future__ import annotations

import pytest

from aider_gardener.messages import ContentClass, Source, SourceKind
from aider_gardener.reading import segments
from aider_gardener.reading.blocks import find_blocks
from aider_gardener.reading.segments import segment
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


def test_an_edit_block_without_a_fence_and_with_crlf() -> None:
    content = "So:\r\n\r\nsrc/a.py\r\n<<<<<<< SEARCH\r\nx = 1\r\n=======\r\nx = 2\r\n>>>>>>> REPLACE\r\n"
    assert classes(content, REPLY) == [("prose", ""), ("edit", "search-replace")]


def test_whole_files_and_diffs_in_replies_are_edits_but_not_when_typed() -> None:
    whole = "Here:\n\nsrc/new.py\n```python\nprint(1)\n```\n"
    diff = "```diff\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n```\n"
    assert classes(whole, REPLY) == [("prose", ""), ("edit", "whole-file")]
    assert classes(diff, REPLY) == [("edit", "udiff")]
    assert classes(diff, TYPED) == [("diff", "")]


def test_typed_words_with_an_unfenced_traceback() -> None:
    content = (
        "this happens since yesterday, what is it?\n\n"
        + TRACEBACK
        + "\nplease fix it without a new dependency"
    )
    assert [cls for cls, _ in classes(content, TYPED)] == ["prompt", "error", "prompt"]


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
    assert classes(content, infer_source("user", content)) == [("prose", "wrapper"), ("log", "")]


def test_notices_and_stubs_are_left_alone() -> None:
    for kind in (SourceKind.NOTICE, SourceKind.STUB):
        assert [part.cls for part in segment(BLOCK, Source(kind))] == [ContentClass.PROSE]


def cut(content: str, source: Source) -> list[tuple[str, str]]:
    """The class of each span, and its text."""
    return [(part.cls.value, content[part.start : part.end]) for part in segment(content, source)]


LOG = "".join(f"2024-05-01 10:00:{i:02} INFO worker done job={i}\n" for i in range(12))
ORDERS = "ord_1 LOST\nord_2 LOST\nord_3 kept\n"
"""Lines that only the command above them makes a log."""
CSV = "id,name,amount\n" + "".join(f"{i},ann,{i}.5\n" for i in range(9))
RUN, OUT = "I ran this command:\n\n", "\n\nAnd got this output:\n\n"
PAGE = "Here is the content of https://example.org/a:\n\n"


def test_what_the_host_wrote_above_an_output_stands_apart_from_it() -> None:
    for head in (f"{RUN}python app.py{OUT}", "Output from python app.py\n"):
        content = head + LOG
        assert cut(content, infer_source("user", content)) == [("prose", head), ("log", LOG)]
    nothing = f"{RUN}make{OUT}"
    assert cut(nothing, infer_source("user", nothing)) == [("prose", nothing)]
    blank = infer_source("user", f"{nothing}\n")
    assert cut(f"{nothing}\n", blank) == [("prose", nothing), ("log", "\n")]


def test_a_page_is_read_as_words_and_code_behind_its_address() -> None:
    content = f"{PAGE}Some words about it.\n\n```python\nx = 1\n```\nMore words.\n"
    assert cut(content, infer_source("user", content)) == [
        ("prose", PAGE),
        ("prose", "Some words about it.\n\n"),
        ("code", "```python\nx = 1\n```\n"),
        ("prose", "More words.\n"),
    ]


WORDS = "This is how it goes.\nIt takes a while.\n\nAnd it prints much.\nSo wait for it.\n\n"


@pytest.mark.parametrize(
    ("before", "between", "is_output"),
    [
        ("```bash\nnode stress.js\n```\n", "\n", True),
        ("```console\nnode stress.js\n```\n", "", True),
        ("```bash\ncd app\nmake\nnode stress.js\n```\n", "\n", True),
        ("```bash\ncd app\nmake\nmake more\nnode stress.js\n```\n", "\n", False),
        ("```bash\nnode stress.js " + "a" * 1_500 + "\n```\n", "\n", False),
        ("```bash\n\n```\n", "\n", False),
        ("```python\nimport stress\n```\n", "\n", False),
        ("run.sh\n```bash\nnode stress.js\n```\n", "\n", False),
        ("```bash\nnode stress.js\n```\n", "and something else:\n", False),
        ("", "", False),
    ],
)
def test_an_unmarked_fence_right_behind_a_command_is_what_the_command_printed(
    before: str, between: str, is_output: bool
) -> None:
    content = f"{WORDS}{before}{between}```\n{ORDERS}```\n{WORDS}"
    found = {text: cls for cls, text in cut(content, TYPED)}
    assert (found[f"```\n{ORDERS}```\n"] == "log") is is_output


def test_a_fence_is_what_its_mark_says_however_short_and_without_one_what_it_holds() -> None:
    assert classes("```python\nx\n```\n", REPLY) == [("code", "python")]
    assert classes(f"```\n{CSV}```\n", REPLY)[0][0] == "structured"
    assert classes(f"```bash\n{LOG}```\n", REPLY)[0][0] == "log"
    script = 'if [ -z "$1" ]; then\n  echo usage\n  exit 1\nfi\n'
    assert classes(f"```bash\n{script}```\n", REPLY) == [("code", "bash")]
    after = f"```bash\nnode stress.js\n```\n```json\n{ORDERS}```\n"
    assert classes(after, REPLY)[1][0] == "structured", "the mark decides, not the command"


@pytest.mark.parametrize(
    ("fence", "kind"),
    [
        ("```diff\n-a\n+b\n```\n", "udiff"),
        ("```\n--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-a\n+b\n```\n", "udiff"),
        ("```\n*** Begin Patch\n*** Update File: a.py\n-a\n+b\n*** End Patch\n```\n", "patch"),
        ("*** Begin Patch\n*** Update File: a.py\n-a\n+b\n*** End Patch\n", "patch"),
    ],
)
def test_each_form_of_an_edit_is_known(fence: str, kind: str) -> None:
    assert [(cls, name) for cls, name in classes(f"So:\n\n{fence}\nDone.", REPLY) if cls == "edit"] == [
        ("edit", kind)
    ]


@pytest.mark.parametrize("before", ["", "Words.\n\n", "A longer way to say what is done here.\n\n" * 12])
def test_the_line_with_the_path_belongs_to_its_edit_wherever_it_stands(before: str) -> None:
    assert cut(before + BLOCK, REPLY)[-1] == ("edit", BLOCK)


def test_what_a_command_printed_is_one_segment_whatever_stands_in_it() -> None:
    source = Source(SourceKind.COMMAND, "python app.py")
    for content in (f"{LOG}{LOG}{TRACEBACK}{CSV}", f"{TRACEBACK}{CSV}", f"\n\n{TRACEBACK}{LOG}"):
        assert [text for _cls, text in cut(content, source)] == [content]


@pytest.mark.parametrize("lines", [1, 2, 3, 12])
def test_three_lines_that_only_a_machine_writes_are_a_paste_and_fewer_are_not(lines: int) -> None:
    paste = "".join(LOG.splitlines(keepends=True)[:lines])
    content = f"look at this:\n{paste}what is it?\nI do not know.\n"
    assert cut(content, TYPED) == (
        [("prompt", "look at this:\n"), ("log", paste), ("prompt", "what is it?\nI do not know.\n")]
        if lines >= 3
        else [("prompt", content)]
    )


def test_far_behind_the_beginning_words_stay_words_and_a_paste_is_seen_as_a_whole(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(segments, "SCAN_LIMIT_CHARS", 200)
    fence = "```python\nx = 1\n```\n"
    words = "And then I thought about it again, and found that it is so.\n" * 8
    assert [cls for cls, _text in cut(f"{words}{fence}{words}", TYPED)] == ["prompt", "code", "prompt"]
    assert [cls for cls, _text in cut(f"{words}{fence}{LOG}", TYPED)] == ["prompt", "code", "log"]


def test_a_paste_ends_with_its_last_line_and_holds_what_is_indented_in_it() -> None:
    lines = LOG.splitlines(keepends=True)
    nested = "".join([*lines[:4], "    some words of the last job\n", *lines[4:], "max_jobs = 4\n"])
    for before in ("", "look at this:\n"):
        content = f"{before}{nested}\n\nwhat is it?\nI do not know.\n"
        found = cut(content, TYPED)
        assert found[-2:] == [("log", nested), ("prompt", "\n\nwhat is it?\nI do not know.\n")]
        assert "".join(text for _cls, text in found[:-2]) == before


def test_two_lines_of_a_trace_are_quoted_words_and_three_are_a_trace() -> None:
    trace = 'Exception in thread "main" java.lang.IllegalStateException: no pool\n\tat com.acme.Pool.get(Pool.java:17)\n'
    content = f"it says:\n{trace}what is it?\nI do not know.\n"
    assert cut(content, TYPED) == [("prompt", content)]
    trace += "\tat com.acme.Main.main(Main.java:5)\n"
    assert ("error", trace) in cut(f"it says:\n{trace}what is it?\nI do not know.\n", TYPED)
