"""A chat in the order of the agent's own list."""

from __future__ import annotations

from aider_gardener.adapters.plain.chat import AgentChat, aligned
from aider_gardener.adapters.plain.reading import Item, items
from aider_gardener.messages import ContentClass, Entry, Fidelity, Message, Source, SourceKind, entry_id
from aider_gardener.plan.chat import Admit
from aider_gardener.plan.view import FILLER

from .agents import Sent, call, calls, result, said, user


def admit_as(item: Item) -> Admit:
    def admit(message: Message, turn: int, seq: int) -> Entry:
        is_asked = message.role == "user" and item.source is None
        source = item.source or Source(SourceKind.TYPED if is_asked else SourceKind.REPLY)
        name = entry_id(message.role, message.content)
        return Entry(name, "s", turn, seq, message.role, message.content, source, ContentClass.PROSE, (), 9)

    return admit


def chat_of(*messages: dict[str, object]) -> AgentChat:
    chat = AgentChat(shown_by=lambda e, level: e.content if level is Fidelity.FULL else f"short {e.seq}")
    chat.take(items(list(messages)), admit_as)
    return chat


def shown(chat: AgentChat, **fidelity: Fidelity) -> list[tuple[str, str]]:
    """What stands with the fidelities of the entries named s0, s1, …"""
    levels = {int(name[1:]): level for name, level in fidelity.items()}
    return [(piece.role, piece.content) for piece in chat.rendered(levels, chat.shown_by)[1]]


TALK: Sent = [
    user("one"),
    calls(call("a", "ls"), call("b", "pwd")),
    result("b", "home"),
    result("a", "files"),
    said("done"),
    user("two"),
]


def test_turns_count_by_what_the_user_typed() -> None:
    chat = chat_of(*TALK)
    assert [chat.entries[seq].turn for seq in chat.order] == [1, 1, 1, 1, 1, 2]
    assert chat.question() is chat.entries[5]


def test_results_are_shortened_in_their_places_while_their_call_is_whole() -> None:
    assert shown(chat_of(*TALK), s2=Fidelity.COMPRESSED, s3=Fidelity.HIDDEN)[1:5] == [
        ("assistant", "Called bash: command=ls\n\nCalled bash: command=pwd"),
        ("tool", "short 2"),
        ("tool", "short 3"),
        ("assistant", "done"),
    ]


def test_a_call_that_is_not_whole_goes_into_a_note_with_all_its_results() -> None:
    assert [role for role, _text in shown(chat_of(*TALK), s1=Fidelity.LINE)] == ["user", "assistant", "user"]
    text = shown(chat_of(*TALK), s1=Fidelity.LINE)[0][1]
    assert all(part in text for part in ("user: one", "reply: short 1", "shell: home", "shell: files"))


def test_the_last_question_and_calls_that_wait_stand_whatever_a_plan_says() -> None:
    chat = chat_of(*TALK, calls(call("c", "make")), result("c", "ok"))
    gone = {f"s{seq}": Fidelity.HIDDEN for seq in range(7)}
    assert [text for _role, text in shown(chat, **gone)] == ["two", "Called bash: command=make", "ok"]
    assert {entry.seq for entry in chat.all_entries() if entry.pinned} == {5, 6}
    assert not any(entry.pinned for entry in chat.entries.values())


def test_a_message_taken_out_is_gone_and_stands_whole_when_it_is_put_back() -> None:
    chat = chat_of(*TALK)
    chat.apply({4: Fidelity.HIDDEN}, *chat.rendered({4: Fidelity.HIDDEN}, chat.shown_by))
    assert chat.fidelity == {4: Fidelity.HIDDEN}
    assert chat.take(items([*TALK[:4], TALK[5]]), admit_as) == [] and chat.gone == {4}
    assert chat.take(items(TALK), admit_as) == [] and not chat.gone and not chat.fidelity
    assert [piece.members for piece in chat.cur] == [(0,), (1,), (2,), (3,), (4,), (5,)]


def test_the_same_words_at_the_end_are_said_anew() -> None:
    chat = chat_of(*TALK)
    (again,) = chat.take(items([*TALK, said("done")]), admit_as)
    assert again.seq == 6 and chat.order[-1] == 6


def test_words_that_were_taken_out_and_are_said_again_at_the_end_are_new() -> None:
    chat = chat_of(user("one"), user("yes"), user("two"))
    chat.take(items([user("one"), user("two")]), admit_as)
    (again,) = chat.take(items([user("one"), user("two"), user("yes")]), admit_as)
    assert again.seq == 3 and chat.gone == {1}


def test_what_was_cleared_does_not_stand_again_with_its_old_place() -> None:
    chat = chat_of(*TALK)
    chat.take(items([user("a"), user("b")]), admit_as)
    (again,) = chat.take(items([user("a"), user("one"), user("b")]), admit_as)
    assert again.seq >= chat.floor and 0 in chat.gone


def test_another_list_clears_the_chat() -> None:
    chat = chat_of(*TALK)
    chat.take(items([user("new")]), admit_as)
    assert chat.floor == 6 and chat.gone == set(range(6)) and chat.order == [6]
    chat.clear()
    assert chat.order == [] and chat.cur == []


def test_a_forgotten_call_takes_its_results_out_of_their_places() -> None:
    chat = chat_of(*TALK)
    chat.forget({chat.entries[1].id}, chat.shown_by)
    assert [piece.role for piece in chat.cur] == ["user", "assistant", "user"]
    chat.forget({chat.entries[3].id}, chat.shown_by)
    assert not any("files" in piece.content for piece in chat.cur)
    assert chat.cur[1].content in ("done", FILLER)


def test_lists_are_aligned_in_order() -> None:
    assert aligned("abcd", "abXcdY") == [0, 1, None, 2, 3, None]
    assert aligned("abc", "ac") == [0, 2]
    assert aligned("", "a") == [None] and aligned("a", "") == []
