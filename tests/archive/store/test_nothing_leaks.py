"""No byte of a secret in any file that the product writes: forty kinds of secrets are said, printed, cut
short, recalled, exported, recorded and shown; then every file is searched."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from made_entries import words
from made_replays import made_result

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.store import Store, open_store
from aider_gardener.archive.store.redact import Clean, Known, Redacted, redact
from aider_gardener.gardener.compactions import compact_to
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.messages import (
    ContentClass,
    Entry,
    Focus,
    Level,
    Message,
    Rendition,
    Source,
    SourceKind,
    entry_id,
)
from aider_gardener.plan.goals import Goal
from aider_gardener.replay.measure.result import Carried
from aider_gardener.replay.measure.summary import make_report
from aider_gardener.replay.session.history import load_history
from aider_gardener.replay.session.record import SessionFolder
from aider_gardener.replay.show.replay_page import page_of
from aider_gardener.settings import Settings
from bench.secrets import Snippet, snippets

WINDOW_CHARS = 12
TALK = " ".join(f"Detail {n} of the answer is about step {n * 3} of it." for n in range(24))
LOG = "\n".join(f"2026-03-01 10:00:{n % 60:02} INFO shop.http GET /orders/{n} took={n}ms" for n in range(50))
KEY_LINES = [f"MII{n:02}" + "AbCdEfGh0123456789+/IjKlMnOpQrStUvWxYz0123456789aBcDeFgHiJ" for n in range(26)]


@pytest.fixture(scope="module")
def found() -> list[Snippet]:
    """A labelled snippet of each of forty kinds whose secrets are found; how many are not is told by the
    bench."""
    first = {one.kind: one for one in reversed(snippets()) if one.secrets and one.is_right}
    return list(first.values())[:: max(1, len(first) // 40)]


def key(kind: str, indent: str = "", lines: list[str] = KEY_LINES) -> str:
    name = f"{kind}PRIVATE " + "KEY"
    return "\n".join(indent + line for line in (f"-----BEGIN {name}-----", *lines, f"-----END {name}-----"))


def windows(secret: str) -> Iterator[str]:
    """What of a secret must not be found: all of a short one, each stretch of a long one."""
    for line in secret.split("\n"):
        if len(line) <= WINDOW_CHARS:
            yield line
        else:
            yield from (line[at : at + WINDOW_CHARS] for at in range(len(line) - WINDOW_CHARS + 1))


def leaks(folder: Path, secrets: list[str], harmless: str) -> list[str]:
    """Stretches of secrets that stand in a file, and in which; what is said anyway is none."""
    left = []
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            held = path.read_bytes().decode("utf-8", "replace").casefold()
            stretches = {held[at : at + WINDOW_CHARS] for at in range(len(held))}
            for secret in secrets:
                for window in windows(secret):
                    whole = len(window) == WINDOW_CHARS
                    there = window.casefold() in (stretches if whole else held)
                    if there and window not in harmless:
                        left.append(f"{path.name}: {window!r}")
    return left


def said(found: list[Snippet]) -> list[Message]:
    """A chat that says each of them, in its own words or as a command prints them."""
    messages = []
    for number, one in enumerate(found):
        if number % 2:
            text = (
                f"I ran this command:\n\ncat settings\n\nAnd got this output:\n\n{LOG}\n{one.text}\n{LOG}\n"
            )
        else:
            text = f"Why does this fail?\n\n{one.text}\n"
        messages += [Message("user", text), Message("assistant", f"Look at {one.text}\n\n{TALK}")]
    return messages


def harmless_of(messages: list[Message], secrets: list[str]) -> str:
    text = "\n".join(message.content for message in messages)
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, "\0")
    return text


def test_a_chat_with_forty_kinds_of_secrets_writes_none(tmp_path: Path, found: list[Snippet]) -> None:
    secrets = [secret for one in found for secret in one.secrets]
    assert len(found) >= 40
    store = open_store(tmp_path / "archive")
    archive = Archive(store, session="s", project="p", count=words, clock=lambda: 1_000.0)
    gardener = Gardener(Settings(), archive)
    messages, held = said(found), list[dict[str, Any]]()
    for at in range(2, len(messages) + 1, 40):
        gardener.enter_turn()
        held += [{"role": one.role, "content": one.content} for one in messages[len(held) : at]]
        gardener.sync(held, [])
        compact_to(gardener.state, Goal(high=4_000, low=2_000))
        gardener.leave_turn()
    assert gardener.state.chat.levels, "plans were applied"
    entries = list(gardener.state.chat.entries.values())
    forms = [level for entry in entries for level in store.renditions(entry.id)]
    assert min(forms.count(Level.COMPRESSED), forms.count(Level.LINE)) >= 40
    live = {entry.content for entry in entries}
    assert {message.content for message in messages[:at]} <= live, "the chat itself keeps what was said"
    for one in found:
        gardener.recall(one.text, token_limit=500)
        archive.event(1, "why", {"reason": one.text, "more": [one.text], one.text: 1})
        archive.save_value("note", {"said": one.text, "files": {one.text: 1}})
    gardener.undo(every=True)
    store.export(tmp_path / "out.jsonl")
    assert leaks(tmp_path, secrets, harmless_of(messages, secrets)) == []
    store.close()
    other = open_store(tmp_path / "other")
    other.import_(tmp_path / "out.jsonl")
    other.close()
    assert leaks(tmp_path / "other", secrets, harmless_of(messages, secrets)) == []


def test_recordings_pages_and_histories_that_are_read_hold_none(tmp_path: Path, found: list[Snippet]) -> None:
    secrets = [secret for one in found for secret in one.secrets]
    folder = SessionFolder(tmp_path / "recorded", keep_files=False)
    folder.begin({"title": "", "test_cmd": "curl -u ci:r4venFeather9 http://x", "files": []}, {})
    for one in found:
        folder.add("command", command="cat x", output=f"{LOG}\n{one.text}", subject=one.text)
    carried = tuple(Carried(one.text, True, 1, 4, True) for one in found)
    result = replace(made_result(turns=2), carried=carried)
    (tmp_path / "page.html").write_text(page_of(make_report([result])), "utf-8")
    replies = "".join(f"\n#### what of it?  \n\n{LOG}\n{one.text}\n\n> Tokens: 1k sent.  \n" for one in found)
    (tmp_path.parent / "h.md").write_text(
        f"\n# aider chat started at 2025-01-01 10:00:00\n{replies}", "utf-8"
    )
    read = load_history(tmp_path.parent / "h.md")
    (tmp_path / "read.json").write_text(json.dumps([vars(event) for event in read.events]), "utf-8")
    said_anyway = harmless_of([Message("user", one.text) for one in found], secrets)
    assert leaks(tmp_path, [*secrets, "r4venFeather9"], said_anyway) == []


@pytest.mark.parametrize("kind", ["RSA ", "", "ENCRYPTED ", "OPENSSH "])
@pytest.mark.parametrize("indent", ["", "      "])
def test_the_short_forms_of_a_key_hold_no_line_of_it(tmp_path: Path, kind: str, indent: str) -> None:
    store = open_store(tmp_path)
    archive = Archive(store, session="s", project="p", count=words, clock=lambda: 1_000.0)
    text = f"I ran this command:\n\ncat k\n\nAnd got this output:\n\n{LOG}\n{key(kind, indent)}\n{LOG}\n"
    for seq, content in enumerate((text, f"Here it is:\n\n{key(kind, indent)}\n\nPlease install it.")):
        entry = archive.add(Message("user", content), turn=1, seq=seq, focus=Focus(frozenset({"key", "mii"})))
        assert entry.content == content
        assert archive.renditions(entry) == store.renditions(entry.id)
    tail = archive.add(Message("user", "\n".join(KEY_LINES[5:9])), turn=2, seq=3, focus=Focus())
    assert "MII05" not in (store.original(tail.id) or ""), "a key's line is known wherever it stands later"
    store.close()
    assert leaks(tmp_path, KEY_LINES, "") == []


SECRET = "n1mbusCloud7"
SAID = f"it ran with DB_PASSWORD={SECRET} set"
SAME_LENGTH = SAID.replace("DB_PASSWORD=", "anything_is ")
Write = Callable[[Store, str], object]


def entry(content: str, detail: str = "") -> Entry:
    return Entry(
        entry_id("user", content), "s", 1, 0, "user", content, Source(SourceKind.COMMAND, detail),
        ContentClass.PROSE, (), 9, created_at=1.0,
    )  # fmt: skip


def rendition(text: str) -> Rendition:
    return Rendition(Level.LINE, text, 9)


def add(store: Store, content: str, detail: str = "", short: str = "short") -> Entry:
    new = entry(content, detail)
    return store.add(new, chunks=[(0, len(content))], renditions=[rendition(short)])


ENTRANCES: dict[str, Write] = {
    "content": add,
    "detail": lambda store, text: add(store, "ok", detail=text),
    "rendition": lambda store, text: add(store, "ok", short=text),
    "put_renditions": lambda store, text: store.put_renditions(add(store, "ok").id, [rendition(text)]),
    "record_event": lambda store, text: store.record_event("s", 1, "kind", {"a": [{"b": text}]}, 1.0),
    "set_state": lambda store, text: store.set_state("s", "key", text),
    "set_state in JSON": lambda store, text: store.set_state("s", "key", json.dumps({"a": [text]})),
}
"""Every way on which a text comes into a store, of which no other makes a copy."""


@pytest.mark.parametrize("write", ENTRANCES.values(), ids=ENTRANCES)
def test_every_entrance_scans_what_is_not_marked_as_clean(tmp_path: Path, write: Write) -> None:
    for text, folder in ((SAID, tmp_path / "scanned"), (Clean(SAID), tmp_path / "marked")):
        store = open_store(folder)
        write(store, text)
        store.close()
    assert leaks(tmp_path / "scanned", [SECRET], "") == []
    if write is not ENTRANCES["set_state in JSON"]:  # json.dumps gives a plain text
        assert leaks(tmp_path / "marked", [SECRET], "") != [], "else nothing could be found above"


def fill(store: Store, text: str) -> None:
    for write in ENTRANCES.values():
        write(store, text)


def test_what_is_imported_is_scanned_wherever_it_stands(tmp_path: Path) -> None:
    with_none, told = open_store(None), tmp_path / "told.jsonl"
    fill(with_none, SAME_LENGTH)
    with_none.export(told)
    held = told.read_text(encoding="utf-8")
    assert held.count(SAME_LENGTH) >= len(ENTRANCES) - 2, "two of them put the same text at the same place"
    told.write_text(held.replace(SAME_LENGTH, SAID), encoding="utf-8")
    store = open_store(tmp_path / "archive")
    store.import_(told)
    store.close()
    assert leaks(tmp_path / "archive", [SECRET], "") == []


def test_what_is_taken_over_from_a_strangers_archive_is_scanned(tmp_path: Path) -> None:
    stranger = open_store(tmp_path / "stranger")
    fill(stranger, Clean(SAID))
    store = open_store(tmp_path / "archive")
    store.copy_from(stranger)
    stranger.close()
    store.close()
    assert leaks(tmp_path / "archive", [SECRET], "") == []


def test_a_text_is_scanned_once_on_the_way_in(monkeypatch: pytest.MonkeyPatch) -> None:
    archive = Archive(open_store(None), session="s", project="p", count=words, clock=lambda: 1_000.0)
    scanned: list[str] = []

    def counted(text: str, known: Known | None = None) -> Redacted:
        scanned.append(text)
        return redact(text, known)

    monkeypatch.setattr("aider_gardener.archive.store.redact.redact", counted)
    said = (f"{LOG}\n{SAID}\n{LOG}", "short", f"short, with {SAID}")
    for seq, content in enumerate(said):
        source = Source(SourceKind.COMMAND, f"make {seq}")
        entry = archive.add(Message("user", content), turn=1, seq=seq, focus=Focus(), source=source)
        assert SECRET not in (archive.store.original(entry.id) or "")
    assert sorted(scanned) == sorted([*said, "make 0", "make 1", "make 2"])
