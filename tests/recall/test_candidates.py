"""A question about the past may recall more than an order to go on; what vectors find has one scale."""

from __future__ import annotations

import pytest
from made_vectors import LetterCounts

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.store import Chunk, open_store
from aider_gardener.messages import ContentClass, Entry, Source, SourceKind, entry_id
from aider_gardener.recall.backlog import Backlog
from aider_gardener.recall.candidates import ORDINARY_SHARE, asks, near_in_meaning, recall_part
from aider_gardener.recall.embed import MINILM_SCALE, Scale

ASKING = [
    "how long do we keep the keys?",
    "which port did I give you on the first day",
    "read my rule about logs again. undid it",
    "do it the way we said, same numbers",
    "no: the same header as before",
    "wie lange heben wir die Schlüssel auf?",
    "nimm den Port, den ich vorhin gesagt habe",
    "quel port as-tu choisi déjà",
    "限制是多少？",
    "之前的端口还要用",
    "ポートは何番でしたか。",
    "포트가 몇 번이었나요?",
]
GOING_ON = [
    "do 1, 2 and 3",
    "add a test for the parser, in a file of its own",
    "commit",
    "the build is green, now write the changelog",
    "bitte die Tests laufen lassen",
    "写一个测试",
]


@pytest.mark.parametrize("prompt", ASKING)
def test_these_ask_for_the_past(prompt: str) -> None:
    assert asks(prompt)
    assert recall_part(prompt) == 1.0


@pytest.mark.parametrize("prompt", GOING_ON)
def test_these_go_on(prompt: str) -> None:
    assert not asks(prompt)
    assert recall_part(prompt) == ORDINARY_SHARE


def test_a_long_paste_with_a_question_mark_in_it_is_no_question_about_the_past() -> None:
    paste = "GET /pages?limit=10 200 12ms " * 60
    assert not asks(f"the log of the run:\n{paste}")


def test_similarities_are_on_one_scale_whatever_the_embedder() -> None:
    """A cosine of another embedder counts as MiniLM's that says the same."""

    def nearest(scale: Scale) -> list[float]:
        store, embedder = open_store(None), LetterCounts(scale=scale)
        for seq, text in enumerate(("abc", "abd", "xyz")):
            entry = Entry(
                id=entry_id("user", text), session="s", turn=1, seq=seq, role="user", content=text,
                source=Source(SourceKind.TYPED), cls=ContentClass.PROSE, segments=(), tokens=1,
            )  # fmt: skip
            store.add(entry, chunks=[Chunk(entry.id, 0, len(text))])
        archive = Archive.reading(store)
        archive.backlog = Backlog(store, load=lambda: (embedder, ""), background=False)
        archive.backlog.drain()
        hits = near_in_meaning(archive, "abc", limit=3, session=None, min_seq=None)
        store.close()
        return [hit.similarity for hit in hits]

    cosines = nearest(MINILM_SCALE)
    assert cosines[0] == pytest.approx(1, abs=1e-3) and cosines == sorted(cosines, reverse=True)
    wider = Scale(0.0, 1.2)
    assert nearest(wider) == pytest.approx([0.1 + cosine / 2 for cosine in cosines])
