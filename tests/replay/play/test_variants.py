"""Variants by name, settings changed in the name, and the newest messages beside a search of the rest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from aider_gardener.errors import UsageError
from aider_gardener.replay.play.jobs import Job, replay_job
from aider_gardener.replay.play.variants import (
    PASSAGE_CHARS,
    SEARCH_HEAD,
    SEARCH_SHARE,
    found_note,
    newest_within,
    passages,
    ranked,
    variant_named,
)
from aider_gardener.replay.session.history import load_session

MINI = load_session(Path(__file__).resolve().parents[2] / "data" / "sessions" / "mini")
TIGHT = 300


def test_settings_behind_a_plus_override_those_of_the_variant() -> None:
    found = variant_named("gardener+recall_tokens=1_000+embedder=none+status_line=yes")
    assert found.settings == {"recall_tokens": 1_000, "embedder": "none", "status_line": "full"}
    assert found.name == "gardener+recall_tokens=1_000+embedder=none+status_line=yes"
    assert variant_named("gardener").settings == {}, "the variant itself is as it was"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("best+recall_tokens=0", "unknown variant 'best'"),
        ("stock+recall_tokens=0", "stock has no settings of the gardener's to change"),
        ("gardener+recal_tokens=0", "'recal_tokens=0' is no setting=value; settings: "),
        ("gardener+embedder", "'embedder' is no setting=value"),
        ("gardener+embedder=glove:6B", "embedder must be one of use, none"),
        ("gardener+recall_tokens=lots", "recall_tokens='lots' is not a int"),
        ("gardener+keep_turns=20000", "keep_turns must be a number from 0 to "),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_line(name: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        variant_named(name)
    assert said in str(refused.value) and "\n" not in str(refused.value)


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def assistant(text: str) -> dict[str, str]:
    return {"role": "assistant", "content": text}


def words(messages: Any) -> int:
    return sum(len(message["content"].split()) for message in messages)


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


def test_the_newest_and_what_is_found_keep_within_the_limit() -> None:
    result = replay_job(Job(MINI, "tail-search", history_tokens=TIGHT, texts=True))
    assert any(text.startswith(SEARCH_HEAD) for text in result.texts.values())
    past = [sum(t for _, t, part in call.prompt if part == "done") for call in result.main_calls()]
    assert 0 < max(past) <= TIGHT * SEARCH_SHARE + 20


def test_settings_in_the_name_reach_the_gardener_and_the_provenance() -> None:
    name = "gardener+recall_tokens=0+embedder=none"
    result = replay_job(Job(MINI, name, history_tokens=TIGHT, texts=True))
    assert result.provenance.settings == {"recall_tokens": 0, "embedder": "none"} and result.variant == name
    assert not [text for text in result.texts.values() if "in case it helps with the next message" in text]
