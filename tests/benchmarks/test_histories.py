"""Made chat histories: the same on each run, of the size asked for, and read as what they were made of."""

from __future__ import annotations

from pathlib import Path

from aider_gardener.replay.session.history import load_history
from bench.histories import made


def test_a_history_is_the_same_twice_and_has_the_size_asked_for() -> None:
    text = made(200_000)
    assert text == made(200_000)
    assert 200_000 <= len(text.encode()) < 240_000
    assert made(200_000, seed=2) != text


def test_it_is_read_as_many_chats_of_mixed_length_with_replies_commits_and_outputs(tmp_path: Path) -> None:
    path = tmp_path / "h.md"
    path.write_text(made(600_000), encoding="utf-8")
    session = load_history(path)
    restarts = [event.turn for event in session.of_kind("restart")]
    lengths = [after - before for before, after in zip([0, *restarts], restarts, strict=False)]
    assert session.meta["chats"] == len(restarts) + 1 > 5
    assert min(lengths) < 15 < 30 < max(lengths)
    assert session.meta["model"] == "gpt-4o" and session.edit_format == "diff"
    for kind in ("reply", "command", "confirm", "commit"):
        assert len(session.of_kind(kind)) > session.turn_count / 10
    replies = [event.text for event in session.of_kind("reply")]
    assert len(set(replies)) > 0.9 * len(replies)


def test_one_chat_is_one(tmp_path: Path) -> None:
    path = tmp_path / "h.md"
    path.write_text(made(100_000, one_chat=True), encoding="utf-8")
    assert load_history(path).meta["chats"] == 1
