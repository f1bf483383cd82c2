"""A chat in the order of the agent's own list."""

from __future__ import annotations

from dataclasses import dataclass, field

from aider_gardener.adapters.plain.chat import AgentList
from aider_gardener.adapters.plain.reading import Item, items
from aider_gardener.messages import ContentClass, Entry, Level, Message, Source, SourceKind, entry_id
from aider_gardener.plan.chat import Chat
from aider_gardener.plan.view import FILLER, NOTE_HEAD

from .agents import Sent, call, calls, result, said, user


def admit(item: Item, chat: Chat, message: Message) -> Entry:
    is_asked = message.role == "user" and item.source is None
    source = item.source or Source(SourceKind.TYPED if is_asked else SourceKind.REPLY)
    name, seq = entry_id(message.role, message.content), chat.next_seq
    turn = chat.turn_of(source)
    return Entry(name, "s", turn, seq, message.role, message.content, source, ContentClass.PROSE, (), 9)


def text_of(entry: Entry, level: Level) -> str:
    return entry.content if level is Level.FULL else f"short {entry.seq}"


@dataclass
class Agent:
    """An agent's list beside its chat, as the gardener holds them."""

    messages: AgentList = field(default_factory=AgentList)
    chat: Chat = field(default_factory=Chat)

    def take(self, sent: Sent) -> list[Entry]:
        self.messages, self.chat, added = self.messages.sync(self.chat, items(sent), admit, text_of)
        return added

    def forget(self, seq: int) -> None:
        self.chat = self.chat.forgetting({self.chat.entries[seq].id}, text_of)


def agent_of(*messages: dict[str, object]) -> Agent:
    agent = Agent()
    agent.take(list(messages))
    return agent


def shown(agent: Agent, **named: Level) -> list[tuple[str, str]]:
    """What stands with the levels of the entries named s0, s1, …"""
    levels = {int(name[1:]): level for name, level in named.items()}
    return [(piece.role, piece.content) for piece in agent.chat.shown_at(levels, text_of).cur]


TALK: Sent = [
    user("one"),
    calls(call("a", "ls"), call("b", "pwd")),
    result("b", "home"),
    result("a", "files"),
    said("done"),
    user("two"),
]


def test_user_and_assistant_take_turns_where_something_is_left_out() -> None:
    hidden = Level.HIDDEN
    roles = [role for role, _text in shown(agent_of(*TALK), s4=hidden)]
    assert roles == ["user", "assistant", "tool", "tool", "assistant", "user"]
    assert shown(agent_of(*TALK), s4=hidden)[4] == ("assistant", FILLER)
    assert shown(agent_of(*TALK), s0=hidden)[0] == ("user", NOTE_HEAD), "calls answer somebody"
    without = agent_of(said("a"), user("b"), user("c"), said("d"), said("e"))
    assert [role for role, _text in shown(without)] == ["assistant", "user", "user", "assistant", "assistant"]


def test_a_reply_whose_question_is_out_of_sight_stands_in_the_note() -> None:
    found = shown(
        agent_of(user("one"), said("done"), user("two"), said("well"), user("three")), s0=Level.HIDDEN
    )
    assert found[0] == ("user", f"{NOTE_HEAD}\n[1] reply: done")
    assert found[1:] == [("assistant", FILLER), ("user", "two"), ("assistant", "well"), ("user", "three")]


def test_a_hidden_result_says_where_the_whole_is() -> None:
    agent = agent_of(*TALK)
    marked = shown(agent, s3=Level.HIDDEN)[3]
    assert marked == ("tool", f"[… left out; whole: {agent.chat.entries[3].id}]")


def test_a_call_that_is_not_whole_goes_into_a_note_with_all_its_results() -> None:
    found = shown(agent_of(*TALK), s1=Level.LINE)
    assert [role for role, _text in found] == ["user", "assistant", "user"]
    for part in ("user: one", "reply: short 1", "shell: home", "shell: files"):
        assert part in found[0][1]


def test_the_last_question_and_calls_that_wait_stand_whatever_a_plan_says() -> None:
    agent = agent_of(*TALK, calls(call("c", "make")), result("c", "ok"))
    gone = {f"s{seq}": Level.HIDDEN for seq in range(7)}
    assert [text for _role, text in shown(agent, **gone)] == ["two", "bash make", "ok"]
    assert {entry.seq for entry in agent.chat.all_entries() if entry.pinned} == {5, 6}
    assert not any(entry.pinned for entry in agent.chat.entries.values())


def test_a_forgotten_call_takes_its_results_out_of_their_places() -> None:
    agent = agent_of(*TALK)
    agent.forget(1)
    assert [piece.role for piece in agent.chat.cur] == ["user", "assistant", "user"]
    agent.forget(3)
    assert not any("files" in piece.content for piece in agent.chat.cur)
    assert agent.chat.cur[1].content in ("done", FILLER)
