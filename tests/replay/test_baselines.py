"""What the baselines make of past messages."""

from __future__ import annotations

from aider_gardener.replay.play.baselines import BAG_HEAD, bag, mask, without_older_outputs


def output(command: str, text: str) -> dict[str, str]:
    return {
        "role": "user",
        "content": f"I ran this command:\n\n{command}\n\nAnd got this output:\n\n{text}\n",
    }


def test_only_the_last_outputs_stay() -> None:
    past = [output(f"make {n}", "line\n" * 40) for n in range(4)]
    past.insert(2, {"role": "user", "content": "and now?"})
    sent = without_older_outputs(past, 2)
    assert [m["content"] for m in sent if m][2:] == [m["content"] for m in past[2:]]
    assert "make 0" in sent[0]["content"] and "line" not in sent[0]["content"]  # type: ignore[index]
    assert past[0]["content"].count("line") == 40, "the chat itself is untouched"


def test_a_mask_is_never_longer_than_what_it_masks() -> None:
    short = output("ls", "a")["content"]
    assert len(mask(short)) <= len(short)


def words(text: str) -> int:
    return len(text.split())


def test_a_bag_is_the_newest_names_and_numbers_sorted_within_the_limit() -> None:
    past = [
        {"role": "user", "content": "please set retry_limit to 48213 in src/app.py, thanks"},
        {"role": "assistant", "content": "Done: maxRetries is 17 now."},
    ]
    head = words(BAG_HEAD)
    assert bag(past, 100, words) == BAG_HEAD + "17 48213 maxRetries retry_limit src/app.py"
    assert bag(past, head + 2, words) == BAG_HEAD + "17 maxRetries"
    assert bag(past, head, words) == ""
    assert bag([], 100, words) == ""
