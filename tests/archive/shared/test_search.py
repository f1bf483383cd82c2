"""What the server finds: by words cut as the archive cuts them, and by meaning, in whatever may be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from shared_archives import Machines, Team

from aider_gardener.archive.shared import schema, search, sync
from aider_gardener.archive.shared.server import connected

if TYPE_CHECKING:
    from aider_gardener.archive.shared.server import Connection

DIMENSIONS = 384


def embedded(text: str) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """A vector by letters: texts with the same letters point the same way."""
    found = np.zeros(DIMENSIONS, dtype=np.float32)
    for letter in text.lower():
        found[ord(letter) % DIMENSIONS] += 1
    return found / np.linalg.norm(found)


def embed_all(machine: object) -> None:
    store = machine.store  # type: ignore[attr-defined]
    pending = store.vectors_pending(1_000, "letters")
    store.put_vectors([(each, embedded(each.text)) for each in pending], "letters")


def texts(connection: Connection, query: str, **more: object) -> list[str]:
    return [each.text for each in search.search(connection, query, **more)]  # type: ignore[arg-type]


def test_a_passage_comes_with_project_author_and_place(machines: Machines) -> None:
    one = machines("ana")
    (said,) = one.say("the gasket of the pump leaks")
    one.share()
    one.sync()
    with connected(one.environ) as ana:
        (found,) = search.search(ana, "gasket")
    assert (found.project, found.author, found.session, found.turn) == ("ana/pump", "ana", "s0", 1)
    assert (found.id, found.cls, found.text) == (said, "prose", "the gasket of the pump leaks")


def test_all_words_come_before_some_and_names_are_found_by_their_parts(machines: Machines) -> None:
    one = machines("ana")
    one.say("the user is away", "a name is a name", "def getUserName(): ...", "nothing of that")
    one.share()
    one.sync()
    with connected(one.environ) as ana:
        found = texts(ana, "user name")
    assert found[0] == "def getUserName(): ..." and set(found[1:]) == {"the user is away", "a name is a name"}


def test_any_text_is_a_safe_question(machines: Machines) -> None:
    one = machines("ana")
    one.say("it's a | trap & 'quoted' \\ !")
    one.share()
    one.sync()
    with connected(one.environ) as ana:
        for query in ("it's", "trap | & ! ( )", "'quoted' \\", "\0", "", ":*", "' || 'x", "\ud800"):
            texts(ana, query)
        assert texts(ana, "trap")


def test_an_excerpt_stands_around_the_word(machines: Machines) -> None:
    one = machines("ana")
    one.say("x " * 5_000 + "the gasket leaks " + "y " * 5_000)
    one.share()
    one.sync()
    with connected(one.environ) as ana:
        (found,) = texts(ana, "gasket")
    assert "gasket" in found and len(found) <= search.EXCERPT_CHARS


def test_meaning_finds_what_no_word_does_and_only_by_the_same_embedder(machines: Machines) -> None:
    one = machines("ana")
    one.say("listen", "zzzzzz", "wwwwww")
    one.share()
    embed_all(one)
    one.sync()
    with connected(one.environ) as ana:
        assert texts(ana, "silent") == []
        vector = embedded("silent").tolist()
        assert texts(ana, "silent", vector=vector, embedder="letters", limit=1) == ["listen"]
        assert texts(ana, "silent", vector=vector, embedder="another") == []


def test_many_vectors_of_others_do_not_hide_the_few_that_may_be_read(machines: Machines, team: Team) -> None:
    ana, bob = machines("ana"), machines("bob")
    ana.share("crowd")
    ana.say(*(f"silent {n:04d}" for n in range(300)))
    embed_all(ana)
    ana.sync()
    bob.share("own")
    bob.say("a text that is far from it")
    embed_all(bob)
    bob.sync()
    assert team.rows("SELECT count(*) FROM gardener.vectors") == [(301,)]
    for path in ("seqscan", "sort", "bitmapscan"):  # so few rows would be read without the index
        team.rows(f"ALTER DATABASE {team.database} SET enable_{path} = off")
    with connected(bob.environ) as connection:
        found = texts(connection, "qqq", vector=embedded("silent 0001").tolist(), embedder="letters")
    assert found == ["a text that is far from it"]


def test_vectors_have_an_index_that_is_used(machines: Machines, team: Team) -> None:
    one = machines("ana")
    one.share()
    one.say(*(f"text {n}" for n in range(50)))
    embed_all(one)
    assert one.sync().problem == ""
    team.rows("ANALYZE gardener.vectors")
    with connected(one.environ) as ana:
        kind = schema.vector_type(ana)
        operator = f"OPERATOR({kind.rpartition('.')[0]}.<#>)"
        ana.execute("SET enable_seqscan = off")
        plan = ana.execute(
            f"""EXPLAIN SELECT hash FROM gardener.vectors WHERE dimensions = 384
                ORDER BY (vector::{kind}(384)) {operator} '{sync.vector_text(embedded("x").tolist())}'::{kind}(384)
                LIMIT 5""".encode()
        ).fetchall()
    assert "vectors_of_384" in str(plan)


def test_what_was_forgotten_is_no_longer_found(machines: Machines, team: Team) -> None:
    one = machines("ana")
    said, _ = one.say("the gasket leaks", "something else")
    one.share()
    embed_all(one)
    one.sync()
    one.store.forget([said])
    one.sync()
    with connected(one.environ) as ana:
        assert texts(ana, "gasket", vector=embedded("the gasket leaks").tolist(), embedder="letters") == [
            "something else"
        ]
    assert team.rows("SELECT count(*) FROM gardener.vectors") == [(1,)]
