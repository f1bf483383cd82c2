"""A rule that was replaced is known by the chat it stands in, and by the archive of older ones."""

from __future__ import annotations

from made_entries import make_gardener, talk

from aider_gardener.gardener.replaced import rules_in
from aider_gardener.plan.chat import Chat

RULE, NEWER = "Keep the timeout at 30 seconds.", "Keep the timeout at 60 seconds."


def test_the_chat_and_the_archive_say_the_same() -> None:
    gardener = make_gardener()
    gardener.sync(talk((RULE, "ok"), ("go on", "done"), (NEWER, "ok")), [])
    state = gardener.state
    chat, store = state.chat, state.archive.store
    older, newer = chat.entries[0], chat.entries[4]
    replaced = rules_in(store)
    assert replaced(chat, older, older.content) == (newer, NEWER)
    stored = store.get(older.id)
    assert stored is not None
    found = replaced(Chat(), stored, stored.content)
    assert found is not None and (found[0].id, found[1]) == (newer.id, NEWER)
    assert replaced(chat, newer, newer.content) is None
    reply = chat.entries[1]
    assert replaced(chat, reply, reply.content) is None, "only what was typed sets a rule"
