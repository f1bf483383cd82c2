"""What baselines make of past messages, each as a function and within its limit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aider_gardener.replay.play.baselines import (
    PASSAGE_CHARS,
    SEARCH_HEAD,
    SEARCH_SHARE,
    found_note,
    mask,
    newest_within,
    passages,
    ranked,
    without_older_outputs,
)
from aider_gardener.replay.play.jobs import Job, replay_all

MINI = Path(__file__).resolve().parents[2] / "data" / "sessions" / "mini"
TIGHT = 300


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


def words(messages: Any) -> int:
    return sum(len(message["content"].split()) for message in messages)


def output(command: str, text: str) -> dict[str, str]:
    return user(f"I ran this command:\n\n{command}\n\nAnd got this output:\n\n{text}\n")


def test_only_the_last_outputs_stay() -> None:
    past = [output(f"make {n}", "line\n" * 40) for n in range(4)]
    past.insert(2, user("and now?"))
    sent = without_older_outputs(past, 2)
    assert [m["content"] for m in sent if m][2:] == [m["content"] for m in past[2:]]
    assert "make 0" in sent[0]["content"] and "line" not in sent[0]["content"]  # type: ignore[index]
    assert past[0]["content"].count("line") == 40, "the chat itself is untouched"


def test_a_mask_is_never_longer_than_what_it_masks() -> None:
    short = output("ls", "a")["content"]
    assert len(mask(short)) <= len(short)


def test_the_newest_begin_with_one_of_the_users() -> None:
    past = [user("one two"), assistant("three four"), user("five"), assistant("six")]
    assert newest_within(past, 4, words) == [None, None, *past[2:]], "a reply never comes first"
    assert newest_within(past, 6, words) == past
    assert newest_within(past, 0, words) == [None] * 4


def test_a_search_finds_passages_by_any_word_the_rarest_first() -> None:
    past = [user("the lock of the queue"), assistant("kestrel holds port 48213"), user("the queue again")]
    assert next(text for _, text in ranked(past, "which port of the queue?")) == "kestrel holds port 48213"
    assert list(ranked(past, "??")) == [] and list(ranked([], "port")) == []
    assert list(ranked(past, 'NEAR("port" OR')) != [], "operators are words like others"


def test_passages_are_whole_paragraphs_of_limited_length() -> None:
    text = "\n\n".join(["a " * 100, "b " * 100, "c " * 700, "d"])
    found = list(passages(text))
    assert all(len(piece) <= PASSAGE_CHARS + 2 for piece in found)
    assert found[0].startswith("a ") and "b " in found[0] and found[-1].endswith("d")
    assert "".join(found).replace("\n", "") == text.replace("\n", "")


def test_a_note_of_what_was_found_fits_and_keeps_the_order_of_the_chat() -> None:
    hidden = [user("port one alpha"), assistant("nothing"), user("port two beta beta")]
    (said, answered) = found_note(hidden, "port beta", 100, 0, words)
    assert said["content"] == f"{SEARCH_HEAD}\n\nport one alpha\n\nport two beta beta"
    assert (said["role"], answered["role"]) == ("user", "assistant")
    head = words([said]) - 7
    assert "beta" in found_note(hidden, "port beta", head + 5, 0, words)[0]["content"]
    assert "alpha" not in found_note(hidden, "port beta", head + 5, 0, words)[0]["content"]
    assert found_note(hidden, "port beta", head + 5, 5, words) == []


def test_each_baseline_keeps_the_past_within_the_limit() -> None:
    names = ("tail", "first-last", "tail-search")
    results = dict(zip(names, replay_all([Job(MINI, n, history_tokens=TIGHT) for n in names]), strict=True))
    found = {sha for sha, text in results["tail-search"].texts.items() if text.startswith(SEARCH_HEAD)}
    assert found
    for name, result in results.items():
        kept = {
            sha: tokens for call in result.main_calls() for sha, tokens, part in call.prompt if part == "done"
        }
        assert kept, name
        for call in result.main_calls():
            past = sum(tokens for _, tokens, part in call.prompt if part == "done")
            assert past <= TIGHT + 20 or call.turn == 4, "the edit of a reflected turn moves its own messages"
    tail = [
        sum(t for _, t, part in call.prompt if part == "done") for call in results["tail-search"].main_calls()
    ]
    assert max(tail) <= TIGHT * SEARCH_SHARE + 20


def test_the_first_exchange_stays() -> None:
    result = replay_all([Job(MINI, "first-last", history_tokens=TIGHT)])[0]
    last = list(result.main_calls())[-1]
    past = [result.texts[sha] for sha, _, part in last.prompt if part == "done"]
    assert past[0].startswith("hello. this drives the sign at our door.")
    assert sum(tokens for _, tokens, part in last.prompt if part == "done") <= TIGHT + 20
