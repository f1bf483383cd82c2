"""What a report tells of a request: what it was made of, by the words that begin a message and by its parts."""

from __future__ import annotations

from made_replays import made_call, made_result, made_session

from aider_gardener.plan.view import NOTE_HEAD
from aider_gardener.recall.recall import NOTE_HEAD as RECALLED_HEAD
from aider_gardener.replay.show.html_detail import ReplayDetail, detail_of, layer_shares


def test_the_layers_of_a_request_add_up_to_its_tokens() -> None:
    edit = "a.py\n```python\n<<<<<<< SEARCH\nx = 1\n=======\nx = 2\n>>>>>>> REPLACE\n```\n"
    calls = [
        made_call(
            1,
            [
                ("system", "s" * 50),
                ("repo", "m" * 40),
                ("files", "f" * 30),
                ("done", edit),
                ("done", f"{NOTE_HEAD} [1] x"),
                ("cur", "what now?"),
                ("reminder", "r" * 10),
            ],
        )
    ]
    detail: ReplayDetail = detail_of(made_result(calls, turns=1), made_session(("what now?", "fine")))
    layers = detail.requests[0].layers
    assert abs(sum(layers.values()) - detail.requests[0].tokens) <= len(layers)
    assert layers["system"] == 60 and layers["map"] == 40 and layers["files"] == 30
    assert layers["notes"] == len(f"{NOTE_HEAD} [1] x") and layers["edit"] > 50 and layers["prompt"] == 9


def test_notes_and_what_was_recalled_are_layers_of_their_own() -> None:
    assert layer_shares("user", f"{NOTE_HEAD} [1] x") == {"notes": 1.0}
    assert layer_shares("user", f"{RECALLED_HEAD} [1] x") == {"recalled": 1.0}
    assert layer_shares("assistant", "") == {"prose": 1.0}
    assert (
        sum(layer_shares("user", "why?\n\nTraceback (most recent call last):\n  x\nValueError: y").values())
        == 1.0
    )
