"""What the server finds: by words cut as the archive cuts them, and by meaning, in whatever may be read."""

from __future__ import annotations

import numpy as np
from shared_archives import Machine, Machines, Team

from aider_gardener.archive.postgres import search
from aider_gardener.archive.postgres.server import connected

DIMENSIONS = 384


def embedded(text: str) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    """A vector by letters: texts with the same letters point the same way."""
    found = np.zeros(DIMENSIONS, dtype=np.float32)
    for letter in text.lower():
        found[ord(letter) % DIMENSIONS] += 1
    return found / np.linalg.norm(found)


def shared(machine: Machine, *texts: str, name: str = "pump", vectors: bool = False) -> list[str]:
    """Share a project, say texts and sync, with vectors or without; the ids."""
    machine.share(name)
    ids = machine.say(*texts)
    if vectors:
        pending = machine.store.vectors_pending(1_000, "letters")
        machine.store.put_vectors([(each, embedded(each.text)) for each in pending], "letters")
    assert machine.sync().problem == ""
    return ids


def texts(
    machine: Machine, query: str, near: str = "", embedder: str = "letters", limit: int = 10
) -> list[str]:
    vector = embedded(near).tolist() if near else ()
    with connected(machine.environ) as connection:
        found = search.search(connection, query, limit=limit, vector=vector, embedder=embedder)
    return [each.text for each in found]


def test_a_passage_comes_with_project_author_and_place_however_often_it_was_said(one: Machine) -> None:
    said, _ = shared(one, "the gasket of the pump leaks", "the gasket of the pump leaks")
    with connected(one.environ) as ana:
        (found,) = search.search(ana, "gasket")
    assert (found.project, found.author, found.session, found.turn, found.at) == (
        "ana/pump", "ana", "s0", 1, 1_002.0,
    )  # fmt: skip
    assert (found.id, found.cls, found.text) == (said, "prose", "the gasket of the pump leaks")


def test_all_words_come_before_some_and_names_are_found_by_their_parts(one: Machine) -> None:
    shared(one, "the user is away", "a name is a name", "def getUserName(): ...", "nothing of that")
    found = texts(one, "user name")
    assert found[0] == "def getUserName(): ..." and set(found[1:]) == {"the user is away", "a name is a name"}


def test_any_text_is_a_safe_question(one: Machine) -> None:
    shared(one, "it's a | trap & 'quoted' \\ !")
    for query in ("it's", "trap | & ! ( )", "'quoted' \\", "\0", "", ":*", "' || 'x", "\ud800"):
        texts(one, query)
    assert texts(one, "trap")


def test_meaning_finds_what_no_word_does_and_only_by_the_same_embedder(one: Machine) -> None:
    shared(one, "listen", "zzzzzz", "wwwwww", vectors=True)
    assert texts(one, "silent") == []
    assert texts(one, "silent", near="silent", limit=1) == ["listen"]
    assert texts(one, "silent", near="silent", embedder="another") == []


def test_many_vectors_of_others_do_not_hide_the_few_that_may_be_read(machines: Machines, team: Team) -> None:
    ana, bob = machines("ana"), machines("bob")
    shared(ana, *(f"silent {n:04d}" for n in range(120)), name="crowd", vectors=True)
    shared(bob, "a text that is far from it", name="own", vectors=True)
    assert team.rows("SELECT count(*) FROM gardener.passages") == [(121,)]
    for path in ("seqscan", "sort", "bitmapscan"):  # so few rows would be read without the index
        team.rows(f"ALTER DATABASE {team.database} SET enable_{path} = off")
    assert texts(bob, "qqq", near="silent 0001") == ["a text that is far from it"]


def test_words_and_vectors_have_indexes_that_are_used(one: Machine, team: Team) -> None:
    shared(one, *(f"text {n}" for n in range(50)), vectors=True)
    team.rows("ANALYZE gardener.passages")
    near = f"""SELECT hash FROM gardener.passages WHERE dimensions = 384
               ORDER BY (vector::vector(384)) <#> '{embedded("x").tolist()}'::vector(384) LIMIT 5"""
    worded = "SELECT hash FROM gardener.lines WHERE words @@ 'text'::tsquery"
    team.rows(f"ALTER DATABASE {team.database} SET enable_seqscan = off")
    assert "passages_of_384" in str(team.rows(f"EXPLAIN {near}"))
    assert "lines_by_words" in str(team.rows(f"EXPLAIN {worded}"))


def test_what_was_forgotten_is_no_longer_found_unless_it_stands_elsewhere_too(
    one: Machine, team: Team
) -> None:
    said, _ = shared(one, "the gasket leaks", "something else", vectors=True)
    one.say("something else", session="another")
    one.sync()
    one.store.forget([said])
    one.store.forget_session("another")
    one.sync()
    assert texts(one, "gasket", near="the gasket leaks") == ["something else"]
    assert team.rows("SELECT count(*) FROM gardener.passages") == [(1,)]
