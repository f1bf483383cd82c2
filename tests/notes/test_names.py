"""Names of a chat: which words are worth naming."""

from __future__ import annotations

from dataclasses import replace

from made_entries import entry

from aider_gardener.messages import ContentClass, Entry, Source, SourceKind
from aider_gardener.notes.names import (
    Name,
    figures_in,
    is_name,
    mine,
    names_in,
)


def test_names_are_specific_words() -> None:
    named = ["post_entry", "src/app.py", "LedgerEntry", "camelCase", "v2x9", "a::b", "1.9.3"]
    assert [word for word in named if not is_name(word)] == []
    plain = ["the", "Because", "answer", "12", "48213", "0.12", "https://x.org/y", "x" * 100]
    assert [word for word in plain if is_name(word)] == []


def said(text: str, *, kind: SourceKind, cls: ContentClass = ContentClass.PROMPT, turn: int = 1) -> Entry:
    made = entry(turn, "assistant" if kind is SourceKind.REPLY else "user", text, turn=turn, cls=cls)
    return replace(made, source=Source(kind, "make"))


def test_a_name_weighs_by_who_said_it_and_where() -> None:
    typed, reply = SourceKind.TYPED, SourceKind.REPLY
    weights = [
        mine(said("see ring_buffer", kind=kind, cls=cls)).get("ring_buffer")
        for kind, cls in (
            (typed, ContentClass.PROMPT),
            (reply, ContentClass.PROSE),
            (SourceKind.COMMAND, ContentClass.LOG),
            (typed, ContentClass.CODE),
            (reply, ContentClass.EDIT),
            (SourceKind.NOTICE, ContentClass.PROSE),
            (SourceKind.STUB, ContentClass.PROSE),
        )
    ]
    assert weights == [3.0, 1.5, 0.4, 0.4, 0.3, None, None]


def test_of_an_output_no_column_of_ids_is_named() -> None:
    rows = "\n".join(
        f"WM3-{n} lot-A{n % 2} rssi=-{n} {n}.5 ms pump_{'abcdefgh'[n % 8]}" for n in range(101, 109)
    )
    listed = mine(said(rows, kind=SourceKind.COMMAND, cls=ContentClass.LOG))
    assert {"pump_a", "pump_h", "lot-A0", "lot-A1"} <= set(listed)
    assert not [name for name in listed if name.startswith("WM3-") or name.endswith(" ms")]
    typed = "swap WM3-101, WM3-102, WM3-103 and WM3-104"
    assert "WM3-104" in mine(said(typed, kind=SourceKind.TYPED)), "what is typed is meant"


def test_a_name_that_rests_for_forty_turns_is_worth_half() -> None:
    name = Name("ring_buffer", 1, 10, 0, weight=3.0)
    assert [name.score(turn) for turn in (5, 10, 50)] == [2.0, 2.0, 1.0]


def test_a_number_counts_with_its_unit_or_name_and_never_bare() -> None:
    text = (
        "It takes 30 s on port 8080 with timeout=105 and answers HTTP 503 since v1.2.3, or 10.2.4, of 2024-05-01:"
        " 105, 112 | 0.853 00.853 in 4985 lines, 12.50 EUR. See app.py:731 and line 733, at 16:40 the 16384."
    )
    assert figures_in(text) == (
        "30 s", "port 8080", "timeout=105", "HTTP 503", "4985 lines", "12.50 EUR",
    )  # fmt: skip
    assert names_in(text) == ("v1.2.3", "10.2.4", "2024-05-01", "app.py")
    assert figures_in("the release 1.9.3 is out, 240 is enough: [mill-4 105] and 1.10.0 goes") == ()
    assert figures_in(
        "Der Port liegt auf 5433, mit 135 Zeilen; con 500 filas, de 4000 a 5000; Nummer 107"
    ) == ("Nummer 107",)
    assert mine(said("port 8080 of [mill-blue-2]", kind=SourceKind.TYPED)) == {
        "mill-blue-2": 3.0,
        "port 8080": 1.5,
    }


def test_no_tail_of_a_colour_code_is_named() -> None:
    rows = [f"\x1b[31m2024-05-01\x1b[0m \x1b[1mFAILED\x1b[0m lease_{n} took 105 ms" for n in range(2_000)]
    whole = "\n".join(rows)
    texts = [f"{' ' * at}\n{whole}{' ' * at}" for at in range(40)]  # each cut in another place of a line
    texts += [
        whole[:9_000].replace("\x1b", before) for before in ("", "^[", "\\u001b", "\\x1b", "\\033", "\\e")
    ]
    for text in texts:
        named = mine(said(text, kind=SourceKind.COMMAND, cls=ContentClass.LOG))
        odd = [name for name in named if not name.startswith("lease_")]
        assert set(odd) <= {"2024-05-01", "105 ms"}, odd
