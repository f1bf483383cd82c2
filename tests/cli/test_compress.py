"""`gardener compress` reads a file or stdin and answers for people or programs."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from aider_gardener import files
from aider_gardener.cli.root import main

LOG = "".join(f"2024-05-01 10:{i // 60:02}:{i % 60:02} INFO worker job={i} done\n" for i in range(300))


def test_json_holds_the_promised_keys_and_nothing_else_is_printed() -> None:
    result = CliRunner().invoke(main, ["compress", "--json"], input=LOG)
    report = json.loads(result.stdout)
    assert result.exit_code == 0
    assert {"class", "text", "tokens_before", "tokens_after", "ratio", "ms", "engine"} <= set(report)
    assert report["class"] == "log" and report["tokens_after"] < 0.2 * report["tokens_before"]


def test_the_text_goes_to_stdout_and_the_figures_to_stderr() -> None:
    result = CliRunner().invoke(main, ["compress"], input=LOG)
    assert result.stderr.startswith("Kept ") and "tokens" in result.stderr and "Kept" not in result.stdout


@pytest.mark.parametrize("data", ["a\x9b\u202eb\r\n".encode(), b"no line end", b"", b"caf\xe9\n"])
def test_a_text_that_is_not_shortened_goes_into_a_pipe_as_it_is(data: bytes) -> None:
    assert CliRunner().invoke(main, ["compress"], input=data).stdout_bytes == data


def test_a_short_form_has_one_line_end_at_its_end() -> None:
    shown = CliRunner().invoke(main, ["compress"], input=LOG).stdout
    assert len(shown) < len(LOG) and shown.endswith("\n") and not shown.endswith("\n\n")


def test_source_and_focus(tmp_path: Path) -> None:
    path = tmp_path / "x.py"
    path.write_text(
        "def f():\n" + "".join(f"    value_{i} = compute({i})\n" for i in range(40)), encoding="utf-8"
    )
    folded = CliRunner().invoke(main, ["compress", str(path), "--source", "file: x.py"])
    assert "… 40 lines …" in folded.stdout
    focused = CliRunner().invoke(main, ["compress", str(path), "--focus", "value_17"])
    assert "value_17 = compute(17)" in focused.stdout and "value_16" not in focused.stdout
    sourced = CliRunner().invoke(main, ["compress", str(path), "--source", "run: cat x.py", "--json"])
    assert json.loads(sourced.stdout)["class"] == "code"


@pytest.mark.skipif(os.name != "posix", reason="needs FIFOs")
def test_what_is_no_file_or_too_large_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(tmp_path / "fifo")
    for name in ("fifo", "/dev/zero", "."):
        result = CliRunner().invoke(main, ["compress", str(tmp_path / name)])
        assert result.exit_code == 2 and "not a regular file; name a file, or pipe text in" in result.stderr
    monkeypatch.setattr(files, "NAMED_BYTES", 9)
    (tmp_path / "large").write_text("0123456789")
    for arguments in ([str(tmp_path / "large")], []):
        result = CliRunner().invoke(main, ["compress", *arguments], input="0123456789")
        assert result.exit_code == 2 and "larger than" in result.stderr


def test_json_says_of_a_binary_file_that_it_is_one_and_where_it_is(tmp_path: Path) -> None:
    (file := tmp_path / "a.bin").write_bytes(b"\x00\xff\xfe\x80" * 99)
    report = json.loads(CliRunner().invoke(main, ["compress", "--json", str(file)]).stdout)
    assert (report["binary"], report["class"], report["text"], report["whole"]) == (True, None, "", str(file))


@pytest.mark.parametrize("data", [b"", b"\x00\xff\xfe\x80", "🙂".encode() * 5, b"\r\n\r\n"])
def test_any_bytes_are_read(data: bytes) -> None:
    for arguments in ([], ["--json"]):
        assert CliRunner().invoke(main, ["compress", *arguments], input=data).exit_code == 0
