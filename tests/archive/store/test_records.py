"""A record that is none is refused, and nothing of what it came with is kept; what is taken can be read."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from made_lines import put
from made_search import rows_in

from aider_gardener.archive.store import open_store, records
from aider_gardener.errors import StoreError
from aider_gardener.messages import Level, Rendition

STRANGE: list[Any] = [
    None, 2**70, -1, 1.5, float("nan"), "", "x", "\ud800", "a\0b", True, [], {}, [[]], [[0]], [[0, 5, "x"]],
    [[0, 5, "x", "", ""]], [["bad", "t", 1]], [["line", 5, 1]], {"entry_id": 5}, {"entry_ids": [{}]},
]  # fmt: skip


def test_an_export_with_one_strange_value_is_taken_whole_or_not_at_all(tmp_path: Path) -> None:
    store = open_store(None)
    store.open_session("s1", project="p", started_at=1.0)
    stored = put(store, "some text", renditions=(Rendition(Level.LINE, "stub", 1),))
    put(store, "some text", seq=3)
    store.record_event("s1", 1, "swap", {"entry_id": stored.id}, 1.0)
    store.set_state("s1", "k", "v")
    store.export(tmp_path / "out")
    rows = [json.loads(line) for line in (tmp_path / "out").read_text().splitlines()]
    seed = random.randrange(1 << 32)
    chance, refused = random.Random(seed), 0
    for _ in range(200):
        some = json.loads(json.dumps(rows))
        row = chance.choice(some)
        row[chance.choice(list(row))] = chance.choice(STRANGE)
        (tmp_path / "in").write_text("".join(json.dumps(each) + "\n" for each in some))
        other = open_store(None)
        try:
            other.import_(tmp_path / "in")
        except StoreError:
            refused += 1
            assert other.stats().entries == rows_in(other, "sessions") == 0, seed
        else:
            assert [each.content for each in other.session_entries("s1")] or row["kind"] in (
                "said",
                "session",
            )
            for each in [each for info in other.sessions("p") for each in other.session_entries(info.id)]:
                other.renditions(each.id)
            assert (other.events(), other.verify()) and other.export(tmp_path / "again"), seed
        other.close()
    assert 50 < refused < 200


def test_a_value_in_another_archive_that_is_no_text_is_told_as_damage() -> None:
    """As where pages of two states of it are mixed."""
    damaged = open_store(None)
    put(damaged, "some text", renditions=(Rendition(Level.LINE, "stub", 1),))
    damaged.database.write(lambda db: db.execute("UPDATE renditions SET text = 5"))
    with pytest.raises(ValueError, match="damaged"):
        list(records.export_of_other(damaged.database.live))


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('{"kind": "meta", "format": 1}', "is no export of a format that this version reads (2)"),
        ('{"kind": "meta", "format": 3}', "is no export of a format"),
        ('{"kind": "meta", "format": "3"}', "is no export of a format"),
        ('{"kind": "session"}', "is no export of a format"),
        (
            '{"kind": "meta", "format": 2}\n{"kind": "pin", "id": "g1", "pinned": true}',
            ", line 2, cannot be read",
        ),
        ('{"kind": "meta", "format": 2}\n' + "[" * 100_000, ", line 2, cannot be read"),
        ("{}", ", line 1, cannot be read"),
        ("not json", ", line 1, cannot be read"),
        (None, "cannot be read (No such file"),
        ("", "is empty"),
    ],
)
def test_what_is_no_export_of_this_version_is_told(tmp_path: Path, text: str | None, told: str) -> None:
    if text is not None:
        (tmp_path / "in").write_text(text)
    with pytest.raises(StoreError) as refused:
        open_store(None).import_(tmp_path / "in")
    assert told in str(refused.value)
