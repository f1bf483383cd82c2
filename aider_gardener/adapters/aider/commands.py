"""The gardener's commands: about the chat as a whole /context-pressure, /compact and /gardener; about what
was said /recall, and about single messages /forget, /pin, /unpin, /restore and /why.

A command is a function of where it was typed and of what was typed behind it. Its docstring is aider's help
text; what it cannot do it raises as an error of ours. A message is named by its id, the beginning of it, its
number in the list that was shown last, or `last`.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING

from aider_gardener.adapters.aider import link
from aider_gardener.adapters.aider.coder import HostCoder, HostCommands, Terminal
from aider_gardener.adapters.aider.wrappers import guard
from aider_gardener.archive.lookup import newest_id
from aider_gardener.errors import GardenerError, UsageError
from aider_gardener.messages import Entry
from aider_gardener.phrases import applied_text, changes, counted, path_shown, short, status_text
from aider_gardener.reading.output import squeeze
from aider_gardener.recall.request import typed, words

if TYPE_CHECKING:
    from rich.console import RenderableType

    from aider_gardener.gardener.gardener import Gardener
    from aider_gardener.gardener.state import ChatState
    from aider_gardener.notes.rules import Rule
    from aider_gardener.plan.chat import Chat
    from aider_gardener.recall.recall import Recalled

COMMANDS: dict[str, Callable[[HostCommands, str], None]] = {}
"""What the user types to run a command of ours, and its function."""
OFF = "The gardener is off in this chat (started with --no-gardener, or stopped by a fault)."
HISTORY_COPY = (
    "aider's own files keep their copies: .aider.chat.history.md and .aider.input.history"
    " (and --llm-history-file if you use it). Delete them there by hand: `gardener import` would bring a chat"
    " back."
)
NOTHING_PINNED = "Nothing is pinned in this chat; /pin ID holds a message, /pin last the newest."
NO_PIN = "As long as the gardener is off or only observes, aider summarises it with the rest."
CONSTRAINTS_USAGE = "Usage: /gardener constraints [add TEXT | edit N TEXT | drop N]"
NO_ROOM_FOR_RULE = "In prompts there is no room for {}: say rules in fewer words, or drop others."
NAMED_USAGE = "Usage: {} (ID, its beginning, a number of the last list, or last)"
WHOLE_SESSION, LAST, YES = "session", "last", "--yes"
SHOWN_HITS = 5
"""So many messages /recall lists, unless more passages were asked for: one screen."""
EMBEDDED_FIRST = 100
"""So many passages, the newest, get their vectors before a search, if they have none yet."""
QUOTED = re.compile(r"^> ?", re.MULTILINE)
"""What stands before each line of a text that a note quotes."""


@dataclass(frozen=True)
class CommandLine:
    """Where a command of ours was typed: the chat's coder and gardener, and the terminal that answers."""

    coder: HostCoder
    gardener: Gardener
    io: Terminal

    def put(self, renderable: RenderableType) -> None:
        """Print a text or a table, line by line."""
        from aider_gardener.tables import as_text

        for line in (renderable if isinstance(renderable, str) else as_text(renderable)).split("\n"):
            self.io.tool_output(line)

    def measure(self) -> bool:
        """Take the measure of the prompt as it would be sent now; no plan is applied and nothing is kept.
        Returns whether the provider's cache would hold nothing of its history."""
        with link.preview(self.coder, self.gardener) as state:
            self.coder.format_chat_chunks()
        self.gardener.state.frame = state.frame
        return state.is_cold


Work = Callable[[CommandLine, str], None]


def command(work: Work) -> Work:
    """Makes a function `cmd_…` a command, which is run with a gardener that is up to date with the chat. If
    it fails, only it has failed."""
    name = "/" + work.__name__.removeprefix("cmd_").replace("_", "-")

    @wraps(work)
    def run(self: HostCommands, args: str) -> None:
        with guard(self.coder, name):
            _run(work, self.coder, args)

    COMMANDS[name] = run
    return work


def _run(work: Work, coder: HostCoder, args: str) -> None:
    """Run a command; without a gardener, for an error of ours or a notice of the archive a line says so."""
    io, gardener = Terminal(coder.io), link.gardener_of(coder)
    if gardener is None:
        io.tool_warning(OFF)
        return
    link.sync(coder, gardener)
    try:
        work(CommandLine(coder, gardener, io), " ".join((args or "").split()))
    except GardenerError as error:
        io.tool_error(str(error))
    if notice := gardener.state.archive.take_notice():
        io.tool_warning(f"aider-gardener: {notice}")


def aiders_first(_coder: HostCoder, result: tuple[list[str], str, str] | None, _typed: str) -> object:
    """The commands that a prefix matches: aider's own, where ours are only among them."""
    if result is None:
        return None
    matching, first_word, rest = result
    aiders = [name for name in matching if name not in COMMANDS]
    return (aiders if aiders and first_word not in matching else matching), first_word, rest


# About the chat


@command
def cmd_context_pressure(at: CommandLine, args: str) -> None:
    "Report what the chat uses of the context window (--json: all figures, for programs)"
    from aider_gardener.tables import pressure_table

    if args not in ("", "--json"):
        raise UsageError("Usage: /context-pressure [--json]")
    report = at.gardener.pressure(cold=at.measure())
    if args == "--json":
        at.io.data(json.dumps(report.as_json(), ensure_ascii=False))
        return
    at.gardener.state.listed = tuple(report.largest_ids)
    at.put(pressure_table(report, at.gardener.state.chat.entries.values()))


@command
def cmd_compact(at: CommandLine, args: str) -> None:
    "Make room in the chat now, keeping whole what your words name: shows what it would do and asks"
    from aider_gardener.gardener import compactions

    args = " ".join(words(args.split(), "Usage: /compact [WORDS]"))
    state, io = at.gardener.state, at.io
    if not state.acts:
        why = "is off" if not state.on else "only watches (--gardener-mode observe)"
        raise UsageError(f"The gardener {why} in this chat; nothing is compacted.")
    at.measure()
    with state.timed():
        asked = compactions.asked_for(state, args)
    if asked is None:
        io.tool_output(_nothing_worth_it(state))
        return
    plan, named = asked.plan, asked.named
    history = f"{plan.tokens_before:,} → {plan.tokens_after:,} tokens of history"
    io.tool_output(f"{changes(plan, would=True)}: {history}.")
    if named:
        tokens, stay = short(sum(entry.tokens for entry in named)), "stays" if len(named) == 1 else "stay"
        messages = counted(len(named), "message")
        io.tool_output(f'{messages} that "{args}" names {stay} untouched ({tokens} tokens).')
    elif args:
        io.tool_output(f'Nothing in the chat fits "{args}".')
    if not io.confirm_ask("Make room now?", default="y"):
        io.tool_output("Nothing was changed.")
        return
    with state.timed():
        compactions.apply(state, asked, time.perf_counter())
    io.tool_output(f"M{applied_text(plan)[1:]}.")


def _nothing_worth_it(state: ChatState) -> str:
    from aider_gardener.gardener.compactions import goal_of

    marks = (
        f"the history has {state.history_used:,} tokens, and a compaction goes down to {goal_of(state).low:,}"
    )
    return f"There is nothing worth compacting now: {marks}."


@command
def cmd_gardener(at: CommandLine, args: str) -> None:
    "Memory: status, on, off, plan, undo, constraints, decisions, help"
    action, _, words = args.partition(" ")
    step = STEPS.get(action or "status")
    if step is None or (words and not step[1]):
        raise UsageError(USAGE)
    step[0](at, words)


def show_status(at: CommandLine, _words: str) -> None:
    status, root = at.gardener.status(cold=at.measure()), Path(at.coder.root or os.getcwd())
    at.put(status_text({**status, "store": path_shown(Path(status["store"]), root)}))


def show_decisions(at: CommandLine, _words: str) -> None:
    decisions = at.gardener.decisions()
    lines = [f"[{one.turn}] {'you' if one.is_users else 'model'}: {one.text}" for one in decisions]
    at.put("\n".join(lines) or "No decisions were found in this chat.")


def turn_on(at: CommandLine, _words: str) -> None:
    at.gardener.state.on = True
    at.io.tool_output(f"The gardener is on (mode {at.gardener.state.settings.mode}).")


def turn_off(at: CommandLine, _words: str) -> None:
    at.gardener.give_back()
    at.gardener.state.on = False
    at.io.tool_output(
        "The gardener is off: every message stands whole. The history is sent as it stands, aider summarises"
        " as it does without us. It goes on archiving; /gardener on takes over again."
    )


def show_plan(at: CommandLine, focus: str) -> None:
    from aider_gardener.tables import plan_table

    focus = " ".join(words(focus.split(), "Usage: /gardener plan [WORDS]"))
    at.measure()
    plan = at.gardener.plan(focus)
    if plan is None:
        at.io.tool_output(_nothing_worth_it(at.gardener.state))
        return
    at.gardener.state.listed = tuple(swap.entry_id for swap in plan.swaps)
    at.put(plan_table(plan))
    does_it = f" {f'/compact {focus}'.rstrip()} does it." if at.gardener.state.acts else ""
    at.io.tool_output(f"This is a preview: nothing was changed.{does_it}")


def undo(at: CommandLine, words: str) -> None:
    if words not in ("", "all"):
        raise UsageError(USAGE)
    changed = at.gardener.undo(every=bool(words))
    what = "every compaction of this chat" if words else "the last compaction"
    at.io.tool_output(f"Took back {what}: {counted(changed, 'message')} changed.")


def constraints(at: CommandLine, words: str) -> None:
    """The rules that hold, listed with their turns and numbers, or one of them set, changed or dropped."""
    from aider_gardener.gardener.care import rules_without_room
    from aider_gardener.notes.rules import line

    what, _, rest = words.partition(" ")
    given, _, text = rest.partition(" ")
    number = int(given[:6]) if given.isdecimal() else None
    if not words:
        rules = at.gardener.constraints()
        lines = [f"{n}. {line(rule)}" for n, rule in enumerate(rules, 1)]
        none = "No rules were set in this chat; /gardener constraints add TEXT sets one."
        at.put("\n".join(lines) or none)
        if out := rules_without_room(at.gardener.state):
            numbers = ", ".join(str(n) for n, rule in enumerate(rules, 1) if rule in out)
            at.io.tool_warning(NO_ROOM_FOR_RULE.format(numbers))
    elif what == "add" and rest:
        _rule_set(at, "Set", at.gardener.add_rule(rest))
    elif what == "edit" and number is not None and text:
        _rule_set(at, f"Changed rule {given} to", at.gardener.edit_rule(number, text))
    elif what == "drop" and number is not None and not text:
        at.io.tool_output(f"Dropped: {at.gardener.drop_rule(number).text}")
    else:
        raise UsageError(CONSTRAINTS_USAGE)


def _rule_set(at: CommandLine, done: str, rule: Rule) -> None:
    """Say what was done, and why the rule would not stand in prompts."""
    from aider_gardener.gardener.care import rules_without_room

    at.io.tool_output(f"{done}: {rule.text}")
    if not at.gardener.state.acts:
        at.io.tool_warning("It stands in no prompt as long as the gardener is off or only observes.")
    elif rule in rules_without_room(at.gardener.state):
        at.io.tool_warning(NO_ROOM_FOR_RULE.format("it"))


def show_help(at: CommandLine, _words: str) -> None:
    from aider_gardener.tables import two_columns

    at.io.tool_output("/gardener and one of these words:")
    at.put(two_columns((f"{word} {words}", does) for word, (_, words, does) in STEPS.items()))


STEPS: dict[str, tuple[Work, str, str]] = {
    "status": (show_status, "", "how the gardener is set, what it did and saved"),
    "on": (turn_on, "", "let it make room and recall again"),
    "off": (turn_off, "", "put every message back whole; archiving goes on"),
    "plan": (show_plan, "[WORDS]", "what /compact would do; changes nothing"),
    "undo": (undo, "[all]", "take back the last compaction, or all of this chat"),
    "constraints": (constraints, "[add|edit N|drop N]", "list the rules you set; change them"),
    "decisions": (show_decisions, "", "what was decided or rejected in this chat"),
    "help": (show_help, "", "explain these words"),
}
"""What a word behind /gardener does, what may stand behind it, and how it is explained."""
USAGE = f"Usage: /gardener {'|'.join(STEPS)}; /gardener help says what each does"


# About what was said


@command
def cmd_recall(at: CommandLine, args: str) -> None:
    "Find what was said before, in this chat, before a /clear and in older sessions of the project"
    from aider_gardener.archive.sessions import session_named
    from aider_gardener.recall.hits import as_text, hits
    from aider_gardener.recall.recall import recall_counted, recall_note
    from aider_gardener.terminal import columns

    state, archive = at.gardener.state, at.gardener.state.archive
    request = typed(args, lambda given: session_named(archive.store, archive.project, given).id)
    if archive.backlog is not None:  # the user waits; without a model of meanings words serve alone
        with contextlib.suppress(GardenerError), state.timed():
            archive.backlog.drain(EMBEDDED_FIRST)
    found = hits(recall_counted(archive, state.chat, request), archive.store.original)
    found = found[: max(SHOWN_HITS, request.passages)]
    if not found:
        at.io.tool_output("Nothing in the archive fits that. Try other words, or a name or number.")
        return
    state.listed = tuple(hit.best.entry_id for hit in found)
    here = shown_in(state.chat)
    in_prompt = [hit for hit in found if all(here(passage) for passage in hit.passages)]
    at.put(as_text(found, session=archive.session, columns=columns(), in_chat=in_prompt))
    if len(in_prompt) == len(found):
        at.io.tool_output("All of it stands in the chat already; nothing was added.")
        return
    numbers = "1" if len(found) == 1 else f"numbers such as 1 {len(found)}, all"
    wanted = picked(at.io.prompt_ask(f"Add to the chat? ({numbers}, none) [none]"), len(found))
    if not wanted:
        at.io.tool_output("Nothing was added.")
        return
    passages = [each for number in wanted for each in found[number - 1].passages if not here(each)]
    if not passages:
        at.io.tool_output("That stands in the chat already; nothing was added.")
        return
    note = recall_note(passages, session=archive.session)
    at.coder.cur_messages += at.gardener.add_note(note)
    at.io.tool_output(f"Added {state.count(note):,} tokens to the chat.")


def shown_in(chat: Chat) -> Callable[[Recalled], bool]:
    """Tells of a passage whether it stands in a chat anyway, whole or quoted in a note."""
    texts = [QUOTED.sub("", piece.content) for piece in [*chat.done, *chat.cur]]
    shown_text = squeeze("\n".join(texts))
    return lambda passage: squeeze(passage.text) in shown_text


def picked(answer: str, most: int) -> list[int]:
    """The numbers that an answer names, in its order. Raises UsageError."""
    words = [word for word in re.split(r"[\s,;]+", answer.strip().lower()) if word]
    if words in ([], ["n"], ["no"], ["none"]):
        return []
    if words in (["a"], ["all"], ["y"], ["yes"]):  # aider answers yes for a user who said --yes-always
        return list(range(1, most + 1))
    for word in words:
        if not word.isdecimal() or not 1 <= int(word[:6]) <= most:
            raise UsageError(f"{word} is no number from 1 to {most}; nothing was added")
    return list(dict.fromkeys(map(int, words)))


def named(at: CommandLine, args: str, usage: str, fits: Callable[[Entry], bool] = lambda _entry: True) -> str:
    """The id, or its beginning, of the one message that is named behind a command; `last` is the newest that
    somebody or something said and that `fits`. Raises UsageError."""
    listed = at.gardener.state.listed
    if not args or " " in args:
        raise UsageError(NAMED_USAGE.format(usage))
    if args.lower() == LAST:
        return newest_id(at.gardener.state.chat.all_entries(), fits)
    if not args.isdecimal():
        return args
    if not 1 <= int(args[:6]) <= len(listed):
        what = f"the last list had {counted(len(listed), 'message')}" if listed else "no list was shown yet"
        raise UsageError(f"there is no message {args}: {what}; /recall and /context-pressure show lists")
    if found := listed[int(args) - 1]:
        return found
    raise UsageError(f"number {args} is a note about several messages; name one by its id")


@command
def cmd_forget(at: CommandLine, args: str) -> None:
    "Delete a message for good, or with `session` all of this chat (--yes: without asking)"
    from aider_gardener.gardener import care, files

    words = args.split()
    given = " ".join(word for word in words if word != YES)
    entries, archive = at.gardener.state.chat.entries.values(), at.gardener.state.archive
    if given == WHOLE_SESSION:
        count = len({entry.id for entry in entries if entry.id})
        if not count:
            at.io.tool_output("There is nothing in this chat to forget.")
            return
        question = f"Delete all of this chat, {counted(count, 'message')}, for good, and empty the chat?"
    else:
        entry = care.find(at.gardener.state, named(at, given, f"/forget ID|{WHOLE_SESSION} [{YES}]"))
        first = " ".join(entry.content.split())[:60]
        question = f'Delete {entry.id} ("{first}", {counted(entry.tokens, "token")}) for good?'
    if YES not in words and not at.io.confirm_ask(question, default="n"):
        return
    if given == WHOLE_SESSION:
        forgotten = at.gardener.forget_session()
        rest = f" What other chats hold too stays theirs ({count - forgotten})." if count > forgotten else ""
        done = f"this chat: {counted(forgotten, 'message')}.{rest} The chat is empty."
    else:
        notes = at.gardener.forget(entry.id) - 1
        done = f"{entry.id} and {counted(notes, 'note')} that quoted it." if notes > 0 else f"{entry.id}."
    try:
        files.renew_index(archive.store, archive.project)
    except GardenerError as error:
        at.io.tool_warning(f"The index of sessions still holds it: {error}")
    at.io.tool_output(f"Forgot {done} {HISTORY_COPY}")


@command
def cmd_pin(at: CommandLine, args: str) -> None:
    "Hold a message whole in the chat; without a word after it list what is held"
    from aider_gardener.gardener.compactions import pinned_entries
    from aider_gardener.tables import entries_table

    if args:
        entry = at.gardener.pin(named(at, args, "/pin [ID]"))
        tokens = counted(entry.tokens, "token")
        at.io.tool_output(f"{entry.id} ({tokens}) stays whole in the chat; /unpin {entry.id} lets it go.")
        if not at.gardener.state.acts:
            at.io.tool_warning(NO_PIN)
    elif rows := pinned_entries(at.gardener.state):
        at.gardener.state.listed = tuple(entry.id for entry in rows)
        at.put(entries_table(rows))
    else:
        at.io.tool_output(NOTHING_PINNED)


@command
def cmd_unpin(at: CommandLine, args: str) -> None:
    "Let go of a pinned message: it may be compacted again"
    from aider_gardener.gardener.compactions import pinned_entries

    if args.lower() == LAST and not pinned_entries(at.gardener.state):
        raise UsageError(NOTHING_PINNED)
    entry = at.gardener.pin(named(at, args, "/unpin ID", lambda entry: entry.pinned), pinned=False)
    at.io.tool_output(f"{entry.id} is no longer pinned.")


@command
def cmd_restore(at: CommandLine, args: str) -> None:
    "Put an original back into the chat whole, in its place or at the end"
    chat = at.gardener.state.chat
    shorter = chat.levels.keys() - chat.forgotten
    found = at.gardener.restore(
        named(at, args, "/restore ID", lambda entry: not shorter or entry.seq in shorter)
    )
    entry, tokens = found.entry, counted(found.entry.tokens, "token")
    if not found.changed:
        at.io.tool_output(f"{entry.id} stands whole in the chat already.")
    elif found.in_place:
        at.io.tool_output(f"{entry.id} ({tokens}) stands whole in its place again.")
    else:
        at.io.tool_output(f"Added {entry.id} ({tokens}) to the end of the chat.")


@command
def cmd_why(at: CommandLine, args: str) -> None:
    "Tell why a message was shortened or left out, when, and what brings it back"
    from aider_gardener.tables import why_table

    why = at.gardener.why(named(at, args, "/why ID"))
    at.put(why_table(why, session=at.gardener.state.archive.session))
