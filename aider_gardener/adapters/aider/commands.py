"""The gardener's commands about the chat as a whole: /context-pressure, /compact and /gardener.

A command is a function of aider's commands, the chat's gardener and what was typed behind it. Its docstring
is aider's help text; what it cannot do it raises as an error of ours.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aider_gardener.adapters.aider import link
from aider_gardener.adapters.aider.coder import HostCoder, HostCommands, Terminal
from aider_gardener.adapters.aider.wrappers import Guard
from aider_gardener.errors import GardenerError, UsageError
from aider_gardener.phrases import changes, counted, made_room, path_shown, short, status_text

if TYPE_CHECKING:
    from prompt_toolkit.completion import Completion
    from prompt_toolkit.document import Document
    from rich.console import RenderableType

    from aider_gardener.gardener.gardener import Gardener
    from aider_gardener.notes.rules import Constraint

    Work = Callable[["CommandLine", Gardener, str], None]


Completions = Callable[[HostCommands], list[str]]

COMMANDS: dict[str, tuple[Callable[[HostCommands, str], None], Callable[..., Any] | None]] = {}
"""What the user types to run a command of ours: its function, and what may be completed behind it."""
OFF = "The gardener is off in this chat (started with --no-gardener, or stopped by a fault)."
NOTHING_WORTH_IT = "There is nothing worth compacting now."
CONSTRAINTS_USAGE = "Usage: /gardener constraints [add TEXT | edit N TEXT | drop N]"
OBSERVATIONS_USAGE = "Usage: /gardener observations [take N | refuse N]"
TASKS_USAGE = "Usage: /gardener tasks [--dry-run]"


class CommandLine:
    """Where a command of ours was typed: the coder, and the terminal on which the command answers."""

    def __init__(self, coder: HostCoder) -> None:
        self.coder, self.io = coder, Terminal(coder.io)


def command(completions: Completions | None = None) -> Callable[[Work], Work]:
    """Makes a function `cmd_…` a command, which is run with a gardener that is up to date with the chat. If
    it fails, only it has failed."""

    def add(work: Work) -> Work:
        name = "/" + work.__name__.removeprefix("cmd_").replace("_", "-")

        @wraps(work)
        def run(self: HostCommands, args: str) -> None:
            with Guard(self.coder, name):
                _run(work, CommandLine(self.coder), args)

        def complete(self: HostCommands, document: Document, _event: object) -> Iterator[Completion]:
            """Those that hold what was typed; asked anew for each key, since ids come and go."""
            from prompt_toolkit.completion import Completion

            word, found = document.get_word_before_cursor(WORD=True), list[str]()
            with Guard(self.coder, "completion"):
                found = completions(self) if completions else []
            for text in found:
                if word.lower() in text.lower():
                    yield Completion(text, start_position=-len(word))

        COMMANDS[name] = run, complete if completions else None
        return work

    return add


def _run(work: Work, commands: CommandLine, args: str) -> None:
    """Run a command; without a gardener, for an error of ours or a notice of the archive a line says so."""
    gardener = link.gardener_of(commands.coder)
    if gardener is None:
        commands.io.tool_warning(OFF)
        return
    link.sync(commands.coder, gardener)
    store = gardener.state.archive.store
    before = store.notice
    try:
        work(commands, gardener, " ".join((args or "").split()))
    except GardenerError as error:
        commands.io.tool_error(str(error))
    if store.notice not in ("", before):
        commands.io.tool_warning(f"aider-gardener: {store.notice}")


def aiders_first(_coder: HostCoder, result: Any, _typed: str) -> Any:
    """The commands that a prefix matches: aider's own, where ours are only among them."""
    if result is None:
        return None
    matching, first_word, rest = result
    aiders = [name for name in matching if name not in COMMANDS]
    return (aiders if aiders and first_word not in matching else matching), first_word, rest


def put(commands: CommandLine, made: RenderableType) -> None:
    """Print a text or a table, line by line."""
    for line in text_of(made).split("\n"):
        commands.io.tool_output(line)


def text_of(made: RenderableType) -> str:
    from aider_gardener.tables import as_text

    return made if isinstance(made, str) else as_text(made)


def measure(coder: HostCoder, gardener: Gardener) -> None:
    """Take the measure of the prompt as it would be sent now; no plan is applied and nothing is kept."""
    with link.preview(coder, gardener) as state:
        coder.format_chat_chunks()
    gardener.state.frame = state.frame


@command()
def cmd_context_pressure(self: CommandLine, gardener: Gardener, args: str) -> None:
    "Report what the chat uses of the context window (--full: every table, --json: for programs)"
    from aider_gardener.tables import pressure_table

    if args not in ("", "--full", "--json"):
        raise UsageError("Usage: /context-pressure [--full|--json]")
    measure(self.coder, gardener)
    report = gardener.pressure()
    if args == "--json":
        self.io.tool_output(json.dumps(report.as_json(), ensure_ascii=False))
        return
    gardener.state.listed = tuple(report.largest_ids)
    put(self, pressure_table(report, gardener.state.chat.entries.values(), full=bool(args)))


@command()
def cmd_compact(self: CommandLine, gardener: Gardener, args: str) -> None:
    "Make room in the chat now, keeping whole what your words name: shows what it would do and asks"
    compact(self, gardener, args)


@command(lambda _self: list(STEPS))
def cmd_gardener(self: CommandLine, gardener: Gardener, args: str) -> None:
    "Memory: status, on, off, plan, compact, undo, constraints, decisions, archive, observations, tasks, help"
    action, _, words = args.partition(" ")
    step = STEPS.get(action or "status")
    if step is None or (words and not step.words):
        raise UsageError(USAGE)
    step.work(self, gardener, words)


def show_status(commands: CommandLine, gardener: Gardener, words: str) -> None:
    if words not in ("", "--json"):
        raise UsageError(USAGE)
    measure(commands.coder, gardener)
    status, root = gardener.status(), Path(commands.coder.root or os.getcwd())
    if words:
        commands.io.tool_output(json.dumps(status, ensure_ascii=False))
    else:
        put(commands, status_text({**status, "store": path_shown(Path(status["store"]), root)}))


def show_decisions(commands: CommandLine, gardener: Gardener, _words: str) -> None:
    lines = [f"[{one.turn}] {'you' if one.is_users else 'model'}: {one.text}" for one in gardener.decisions()]
    put(commands, "\n".join(lines) or "No decisions were found in this chat.")


def turn_on(commands: CommandLine, gardener: Gardener, _words: str) -> None:
    gardener.state.on = True
    commands.io.tool_output(f"The gardener is on (mode {gardener.state.settings.mode}).")


def turn_off(commands: CommandLine, gardener: Gardener, _words: str) -> None:
    given = gardener.give_back()
    gardener.state.on = False
    back = "every message stands whole"
    if given.messages:
        tokens = f"{given.tokens:,} tokens more of history"
        back = f"{counted(given.messages, 'message')} came back whole, {tokens}"
    commands.io.tool_output(
        f"The gardener is off: {back}. The history is sent as it stands, aider summarises as it does without"
        " us. It goes on archiving; /gardener on takes over again."
    )


def show_plan(commands: CommandLine, gardener: Gardener, focus: str) -> None:
    from aider_gardener.tables import plan_table

    measure(commands.coder, gardener)
    plan = gardener.plan(focus)
    if plan is None:
        commands.io.tool_output(NOTHING_WORTH_IT)
        return
    gardener.state.listed = tuple(swap.entry_id for swap in plan.swaps)
    put(commands, plan_table(plan))
    again = f"/compact {focus}".rstrip()
    commands.io.tool_output(f"This is a preview: nothing was changed. {again} does it.")


def compact(commands: CommandLine, gardener: Gardener, focus: str) -> None:
    """Show what a compaction would do, sparing what the focus names, and do it if the user agrees."""
    from aider_gardener.gardener import compactions

    state, io = gardener.state, commands.io
    if not state.acts:
        why = "is off" if not state.on else "only watches (--gardener-mode observe)"
        raise UsageError(f"The gardener {why} in this chat; nothing is compacted.")
    measure(commands.coder, gardener)
    with state.timed():
        asked = compactions.asked_for(state, focus)
    if asked is None:
        io.tool_output(NOTHING_WORTH_IT)
        return
    plan, named = asked.plan, asked.named
    history = f"{plan.tokens_before:,} → {plan.tokens_after:,} tokens of history"
    io.tool_output(f"{changes(plan, would=True)}: {history}.")
    if named:
        tokens, stay = short(sum(entry.tokens for entry in named)), "stays" if len(named) == 1 else "stay"
        messages = counted(len(named), "message")
        io.tool_output(f'{messages} that "{focus}" names {stay} untouched ({tokens} tokens).')
    elif focus:
        io.tool_output(f'Nothing in the chat fits "{focus}".')
    if not io.confirm_ask("Make room now?", default="y"):
        io.tool_output("Nothing was changed.")
        return
    with state.timed():
        compactions.apply(state, asked.draft, time.perf_counter())
    link.show(commands.coder, gardener)
    io.tool_output(f"M{made_room(plan)[1:]}.")


def undo(commands: CommandLine, gardener: Gardener, words: str) -> None:
    if words not in ("", "all"):
        raise UsageError(USAGE)
    changed = gardener.undo(every=bool(words))
    link.show(commands.coder, gardener)
    what = "every compaction of this chat" if words else "the last compaction"
    commands.io.tool_output(f"Took back {what}: {counted(changed, 'message')} changed.")


def constraints(commands: CommandLine, gardener: Gardener, words: str) -> None:
    """The rules that hold, listed with their turns and numbers, or one of them set, changed or dropped."""
    from aider_gardener.notes.rules import line

    what, _, rest = words.partition(" ")
    given, _, text = rest.partition(" ")
    number = int(given[:6]) if given.isdecimal() else None
    if not words:
        lines = [f"{n}. {line(rule)}" for n, rule in enumerate(gardener.constraints(), 1)]
        none = "No rules were set in this chat; /gardener constraints add TEXT sets one."
        put(commands, "\n".join(lines) or none)
    elif what == "add" and rest:
        _rule_set(commands, gardener, "Set", gardener.add_rule(rest))
    elif what == "edit" and number is not None and text:
        _rule_set(commands, gardener, f"Changed rule {given} to", gardener.edit_rule(number, text))
    elif what == "drop" and number is not None and not text:
        commands.io.tool_output(f"Dropped: {gardener.drop_rule(number).text}")
    else:
        raise UsageError(CONSTRAINTS_USAGE)


def _rule_set(commands: CommandLine, gardener: Gardener, done: str, rule: Constraint) -> None:
    """Say what was done, and why the rule would not stand in prompts."""
    from aider_gardener.gardener.care import has_room

    commands.io.tool_output(f"{done}: {rule.text}")
    if not gardener.state.acts:
        commands.io.tool_warning("It stands in no prompt as long as the gardener is off or only observes.")
    elif not has_room(gardener.state, rule):
        commands.io.tool_warning("It is longer than what rules may take of a prompt: say it in fewer words.")


def show_help(commands: CommandLine, _gardener: Gardener, _words: str) -> None:
    from aider_gardener.tables import two_columns

    commands.io.tool_output("/gardener and one of these words:")
    put(commands, two_columns((f"{word} {step.words}", step.does) for word, step in STEPS.items()))


def renew_index(commands: CommandLine, gardener: Gardener, _words: str) -> None:
    from aider_gardener.gardener import files

    archive = gardener.state.archive
    commands.io.tool_output(files.write_index(archive.store, archive.project) + ".")


def observations(commands: CommandLine, gardener: Gardener, words: str) -> None:
    """List what is proposed as a rule, or take or refuse one, which holds in this chat too."""
    from aider_gardener.gardener import learnt

    what, _, given = words.partition(" ")
    if words and (what not in ("take", "refuse") or not given):
        raise UsageError(OBSERVATIONS_USAGE)
    archive = gardener.state.archive
    store, project, clock = archive.store, archive.project, archive.clock
    if not words:
        lines = learnt.render(store, project, learnt.learnt(store, project, clock=clock))
    else:
        verdict = learnt.TAKEN if what == "take" else learnt.REFUSED
        lines = learnt.decide(store, project, given.split(), verdict, clock)
    put(commands, "\n".join(lines))
    gardener.state.taken = learnt.taken_rules(store, project)


def tasks(commands: CommandLine, gardener: Gardener, words: str) -> None:
    """Move what is checked off to TASK_ARCHIVE.md, or only say what would move."""
    from aider_gardener.gardener import done_tasks

    if words not in ("", "--dry-run"):
        raise UsageError(TASKS_USAGE)
    project = Path(gardener.state.archive.project)
    put(commands, "\n".join(done_tasks.moved(project, dry_run=bool(words))))


@dataclass(frozen=True)
class Step:
    """What a word behind /gardener does, what may stand behind it, and how it is explained."""

    work: Work
    does: str
    words: str = ""


STEPS: dict[str, Step] = {
    "status": Step(show_status, "how the gardener is set, what it did and saved", "[--json]"),
    "on": Step(turn_on, "let the gardener make room and recall again"),
    "off": Step(turn_off, "put every message back whole and leave prompts alone; archiving goes on"),
    "plan": Step(show_plan, "preview what /compact would do, and change nothing", "[WORDS]"),
    "compact": Step(compact, "make room now, sparing what the words name; the same as /compact", "[WORDS]"),
    "undo": Step(undo, "take back the last compaction, or all of this chat", "[all]"),
    "constraints": Step(constraints, "list the rules you set; change them", "[add|edit N|drop N]"),
    "decisions": Step(show_decisions, "list what was decided or rejected in this chat"),
    "archive": Step(renew_index, "write the index of this project's chats in Markdown"),
    "observations": Step(
        observations, "list what is proposed as a rule; take or refuse one", "[take N|refuse N]"
    ),
    "tasks": Step(tasks, "move what is checked off to TASK_ARCHIVE.md", "[--dry-run]"),
    "help": Step(show_help, "explain these words"),
}
USAGE = f"Usage: /gardener {'|'.join(STEPS)}; /gardener help says what each does"
