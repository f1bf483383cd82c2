"""A chat over a tree of sources, made by a seed and held in a real aider: one way of it, in its own process.

    python -m bench.map_chat JOB

The first way that plays a chat writes it down, turn by turn; the others play what was written. Everything
that the model says is made here: an order's reply first asks for the file, if it is not in the chat, then
edits it. Some orders leave open which file is meant: the reply takes one that the map of that prompt shows.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import wraps
from pathlib import Path
from typing import Any

from aider_gardener.replay.play.clock import VirtualClock
from aider_gardener.replay.play.sandbox import forbid_network, git, make_repository, set_commit_time

# What reads the time when it is imported (the archive does) is imported once the clock is the virtual one.

MODEL = "gpt-4o"
SECONDS_PER_TURN, PAUSE_SECONDS, PAUSES = 40.0, 900.0, 0.06
"""Between prompts, and in the pauses that stand before so many of them: there the cache is lost."""
MOST_IN_CHAT = 3
"""So many files stay in the chat; with the next one, the oldest is dropped."""
LATELY = 8
"""An order is about one of so many files named last."""

KINDS = {"question": 0.34, "order": 0.22, "open order": 0.1, "output": 0.12, "follow-up": 0.22}
FOLLOW_UPS = ("And why?", "Go on.", "Is there a simpler way?", "What would break then?", "Say that shorter.",
              "Are you sure about that?", "What else should I know?", "OK, and the edge cases?")  # fmt: skip
CHANGES = ("keeps an empty value apart from a missing one", "does not read the file twice",
           "says what went wrong", "works where the path has a blank", "is safe to call again",
           "gives up after the third try", "handles very long lines")  # fmt: skip
SENTENCES = (
    "The work is done by `{name}`, which takes what the caller has prepared and returns early without it.",
    "Before that, `{other}` in {file} has looked at the same values, so nothing is checked twice here.",
    "What is left over goes to `{other}`, and {file} decides whether it is shown to the user or only kept.",
    "The order matters: the settings are read first, then the files, and only then is the model asked.",
    "If the list is empty, the function ends without a word; that is easy to overlook in the tests.",
    "A second caller is {file}, where `{other}` passes the result on unchanged and adds a line for the log.",
    "Errors are not caught at this place, since whoever calls `{name}` knows better what to say to the user.",
    "I would keep it that way, because each of the other paths through the code relies on that result.",
    "One thing is worth knowing: the value is kept between calls, so a change is seen with the next prompt.",
)

DEFINED = re.compile(r"^[ \t]*(?:async def|def|class) (?P<name>[A-Za-z]\w{4,})\b.*:[ \t]*$", re.MULTILINE)
EDIT = "Here is the change.\n\n{path}\n```\n<<<<<<< SEARCH\n{old}\n=======\n{new}\n>>>>>>> REPLACE\n```\n"
ASKS = "This belongs in `{path}`. Please add it to the chat, then I make the change."


GetMap = Callable[..., "str | None"]
"""Takes a coder and whether the map must be made anew."""


@dataclass
class Turn:
    """One turn. `output` is a command's message that enters the chat before, `wanted` the file that the
    replies ask for and edit, `drops` those that leave the chat before; `chosen` false: the reply is to
    choose the file."""

    kind: str
    text: str
    replies: list[str] = field(default_factory=list)
    wanted: str = ""
    chosen: bool = True
    pause: bool = False
    output: tuple[str, str] | None = None
    drops: list[str] = field(default_factory=list)


@dataclass
class Job:
    """One way of a chat. `gardened`: with the gardener. `refresh` is aider's --map-refresh. `chat` is the
    file that holds the turns; the way that finds none writes it."""

    way: str
    gardened: bool
    refresh: str
    tree: str
    folder: str
    chat: str
    result: str
    map_tokens: int
    turns: int
    seed: int
    history_tokens: int


class Writer:
    """Makes the turns of a chat from a tree's definitions."""

    def __init__(self, root: Path, seed: int) -> None:
        self.root = root
        self.random = random.Random(f"a chat about maps, {seed}")
        self.names = definitions(root)
        if len(self.names) < 2:
            raise ValueError(f"{root}: a chat needs two Python files that define something")
        self.prompted: set[str] = set()
        self.lately: list[str] = []
        self.in_chat: list[str] = [self.random.choice(list(self.names))]
        self.edits = 0

    def turn(self) -> Turn:
        """The next turn."""
        drops = self.in_chat[: max(0, len(self.in_chat) - MOST_IN_CHAT)]
        self.in_chat = self.in_chat[len(drops) :]
        kind = self.random.choices(list(KINDS), list(KINDS.values()))[0] if self.lately else "question"
        made = {
            "question": self.question,
            "order": self.order,
            "open order": self.open_order,
            "output": self.output,
            "follow-up": self.follow_up,
        }
        turn = made[kind]()
        return replace(turn, drops=drops, pause=self.random.random() < PAUSES)

    def question(self) -> Turn:
        file = self.random.choice(list(self.names))
        names = self.random.sample(self.names[file], min(len(self.names[file]), self.random.choice([1, 2])))
        command = self.random.choice(["/ask ", ""])
        self.prompted.add(file)
        text = f"{command}how does {' and '.join(names)} in {file} work?"
        return Turn("question", text, [self.prose(file)])

    def follow_up(self) -> Turn:
        return Turn("follow-up", self.random.choice(FOLLOW_UPS), [self.prose(self.lately[-1])])

    def output(self) -> Turn:
        """A search's output, and a question about it that names nothing."""
        word = self.random.choice(self.names[self.random.choice(list(self.names))])
        lines = [
            f"{file}:{number}:{line}"
            for file in self.random.sample(list(self.names), min(40, len(self.names)))
            for number, line in enumerate(read(self.root / file).splitlines(), 1)
            if word in line or self.random.random() < 0.01
        ]
        found = (f"git grep -n {word}", "\n".join(lines[: self.random.randint(40, 160)]))
        return Turn("output", "what do you make of that?", [self.prose(self.lately[-1])], output=found)

    def order(self) -> Turn:
        """An order about a function in a file that was named lately."""
        known = [file for file in self.lately[-LATELY:] if file in self.names and self.place_in(file)]
        file = self.random.choice(known or [file for file in self.names if self.place_in(file)])
        name, change = self.random.choice(self.names[file]), self.random.choice(CHANGES)
        self.prompted.add(file)
        turn = Turn("order", f"Change {name} of {Path(file).stem} so that it {change}.")
        self.choose(turn, file)
        return turn

    def open_order(self) -> Turn:
        """An order that leaves the file to the model."""
        change = self.random.choice(CHANGES)
        return Turn("open order", f"Make the change where it belongs, so that it {change}.", chosen=False)

    def choose_from(self, turn: Turn, shown: Mapping[str, str]) -> None:
        """Let an open order be about a file that the map shows and that no prompt has named."""
        known = [
            name
            for name, lines in shown.items()
            if lines and name not in self.prompted and name not in self.in_chat and self.place_in(name)
        ]
        turn.chosen = True
        if known:
            self.choose(turn, self.random.choice(sorted(known)))
        else:
            turn.replies = [self.prose(self.lately[-1])]

    def choose(self, turn: Turn, file: str) -> None:
        """Let the turn's replies ask for a file and edit it."""
        turn.wanted = file
        if file not in self.in_chat:
            turn.replies.append(ASKS.format(path=file))
            self.in_chat.append(file)
        self.spoke_of(file)
        self.edits += 1
        old = self.place_in(file)
        indent = old[: len(old) - len(old.lstrip())]
        new = f"{old}\n{indent}    # Change {self.edits} of this chat."
        turn.replies.append(EDIT.format(path=file, old=old, new=new))

    def place_in(self, file: str) -> str:
        """A line of a file that stands in it once: a definition, if there is one. "": none."""
        text = read(self.root / file)
        times = Counter(text.splitlines())
        once = [line for line, count in times.items() if count == 1 and line.strip() and "```" not in line]
        found = [line for line in once if DEFINED.match(line)] or once
        return self.random.choice(found) if found else ""

    def prose(self, file: str) -> str:
        """A reply about a file, of 100 to 600 words, which names others."""
        number = min(len(self.names), self.random.randint(2, 5))
        others = [file, *self.random.sample(list(self.names), number)]
        words, found = self.random.randint(100, 580), ""
        while len(found.split()) < words:
            other = self.random.choice(others)
            sentence = self.random.choice(SENTENCES)
            found += sentence.format(
                name=self.random.choice(self.names.get(file) or [Path(file).stem]),
                other=self.random.choice(self.names.get(other) or [Path(other).stem]),
                file=other,
            )
            found += "\n\n" if self.random.random() < 0.2 else " "
        for other in reversed(others):
            self.spoke_of(other)
        return found.strip()

    def spoke_of(self, file: str) -> None:
        self.lately = [*(name for name in self.lately if name != file), file]


def definitions(root: Path) -> dict[str, list[str]]:
    """The Python files of a tree that define something, each with the names."""
    found = {}
    for path in sorted(root.rglob("*.py")):
        names = sorted({match["name"] for match in DEFINED.finditer(read(path))})
        if names:
            found[path.relative_to(root).as_posix()] = names
    return found


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


class Player:
    """Plays one way of a chat. `calls` are those of the main model, `maps` their maps by hash."""

    def __init__(self, job: Job, root: Path, clock: VirtualClock) -> None:
        from aider_gardener.replay.measure.sharing import SentBefore
        from aider_gardener.replay.play import host
        from aider_gardener.replay.play.calls import PromptLog

        pin_tags()
        self.job, self.root, self.clock = job, root, clock
        self.counted = host.pin_surroundings(clock)
        self.prompts = PromptLog()
        self.sent = SentBefore(self.prompts.said)
        self.model = host.make_model(MODEL)
        self.writer: Writer | None = None
        self.turn = Turn("", "")
        self.replies: list[str] = []
        self.fresh = self.shown = ""
        self.seconds = self.making = 0.0
        self.warm_from = 0
        self.calls: list[dict[str, Any]] = []
        self.maps: dict[str, str] = {}

    def play(self) -> dict[str, Any]:
        """Play the chat; the value of the result."""
        chat = Path(self.job.chat)
        self.writer = Writer(self.root, self.job.seed)
        first = self.writer.in_chat[0]
        given = [Turn(**row) for row in json.loads(read(chat))] if chat.exists() else []
        coder = self.new_coder(first)
        coder.get_repo_map()  # reads the whole tree once, whichever way it is
        self.seconds = self.making = 0.0
        turns = []
        for number in range(self.job.turns):
            turn = given[number] if given else self.writer.turn()
            coder = self.play_turn(coder, turn)
            turns.append(turn)
        if not given:
            chat.write_text(json.dumps([asdict(turn) for turn in turns]), encoding="utf-8")
        gardener = getattr(coder, "gardener", None)
        compactions = len(gardener.state.plans) if gardener is not None else 0
        files = len(git(self.root, "ls-files").splitlines())
        return {"calls": self.calls, "maps": self.maps, "compactions": compactions, "files": files}

    def new_coder(self, first: str) -> Any:
        import litellm
        from aider.coders.base_coder import Coder
        from aider.io import InputOutput

        player = self

        class ChatIO(InputOutput):  # type: ignore[misc]  # reason: aider ships no types
            def confirm_ask(self, question: str, *_rest: Any, subject: Any = None, **_more: Any) -> bool:
                return bool(subject == player.turn.wanted) if question.startswith("Add file") else True

        Coder.get_repo_map = self.kept(Coder.get_repo_map)
        if self.job.gardened:
            from aider_gardener.replay.play.gardened import install

            install({"embedder": "none"}, self.job.history_tokens)
        else:
            from aider_gardener.replay.play.variants import VARIANTS

            VARIANTS["none"].prepare(self)  # type: ignore[arg-type]  # reason: it asks nothing of a replay
        Coder.get_repo_map = self.timed(Coder.get_repo_map)
        litellm.completion = self.complete
        io = ChatIO(pretty=False, yes=True, fancy_input=False)
        return Coder.create(
            main_model=self.model,
            io=io,
            fnames=[str(self.root / first)],
            edit_format="diff",
            auto_lint=False,
            stream=False,
            map_tokens=self.job.map_tokens,
            map_refresh=self.job.refresh,
            suggest_shell_commands=False,
            detect_urls=False,
        )

    def kept(self, get_repo_map: GetMap) -> GetMap:
        """aider's own function for a map; what it makes is kept as `fresh`."""

        @wraps(get_repo_map)
        def kept(coder: Any, force_refresh: bool = False) -> str | None:
            begun = time.thread_time()
            found = get_repo_map(coder, force_refresh)
            self.making += time.thread_time() - begun
            self.fresh = listing(coder, found or "")
            return found

        return kept

    def timed(self, get_repo_map: GetMap) -> GetMap:
        """The function as a prompt's maker calls it: its time is counted, what it makes is `shown`."""

        def timed(coder: Any, force_refresh: bool = False) -> str | None:
            begun = time.thread_time()
            found = get_repo_map(coder, force_refresh)
            self.seconds += time.thread_time() - begun
            self.shown = listing(coder, found or "")
            return found

        return timed

    def play_turn(self, coder: Any, turn: Turn) -> Any:
        """Hand a turn's text to aider; the coder that goes on."""
        from aider import prompts

        self.turn, self.replies = turn, list(turn.replies)
        self.clock.advance(PAUSE_SECONDS if turn.pause else SECONDS_PER_TURN)
        set_commit_time(self.clock.now)
        if turn.pause:
            self.warm_from = len(self.calls)
        if turn.output:
            said = prompts.run_output.format(command=turn.output[0], output=turn.output[1])
            coder.cur_messages += [
                {"role": "user", "content": said},
                {"role": "assistant", "content": "Ok."},
            ]
        for name in turn.drops:
            typed(coder, f"/drop {name}")
        coder.ignore_mentions.clear()  # what was refused before may be wanted now
        before = len(self.calls)
        coder = typed(coder, turn.text)
        if len(self.calls) - before != len(turn.replies):
            made, said = len(self.calls) - before, messages_end(coder)
            raise RuntimeError(f"{turn.text!r}: {made} calls for {len(turn.replies)} replies; last {said!r}")
        return coder

    def complete(self, **options: Any) -> Any:
        """Answer a call the way litellm would."""
        from aider_gardener.replay.measure.result import MAIN
        from aider_gardener.replay.play.model import completion, kind_of

        messages, name = list(options["messages"]), str(options["model"])
        if kind_of(messages, name, [self.model.name]) != MAIN:
            return completion("chore: a change", name, 10, 5)
        return completion(self.reply(messages), name, 10, 5)

    def reply(self, messages: Sequence[Mapping[str, Any]]) -> str:
        """Book a call of the main model, and answer it."""
        from aider_gardener.plan.order import files_of
        from aider_gardener.replay.measure.result import MAIN

        if not self.turn.chosen and self.writer is not None:
            self.writer.choose_from(self.turn, files_of(self.shown))
            self.replies = list(self.turn.replies)
        rows = self.prompts.rows(
            messages, lambda m: self.counted.of_message(self.model, m), ["cur"] * len(messages)
        )
        shared, _again = self.sent.add(MAIN, rows, lambda text: self.counted.of_text(self.model, text))
        self.calls.append({
            "kind": self.turn.kind, "wanted": self.turn.wanted, "map": self.noted(self.shown),
            "fresh": self.noted(self.fresh),
            "prompt": self.counted.of_messages(self.model, messages),
            "shared": max((tokens for call, tokens in shared if call >= self.warm_from), default=0),
            "seconds": self.seconds, "making": self.making,
        })  # fmt: skip
        self.seconds = self.making = 0.0
        return self.replies.pop(0) if self.replies else "Fine."

    def noted(self, shown: str) -> str:
        """Keep a map; its hash."""
        key = hashlib.sha256(shown.encode()).hexdigest()[:16]
        self.maps[key] = shown
        return key


def pin_tags() -> None:
    """Let no map depend on where the repository is: aider keeps the definitions of a name in a set, whose
    order would follow from their absolute paths."""
    from aider import repomap

    repomap.Tag.__hash__ = lambda tag: hash((tag.rel_fname, tag.line, tag.name, tag.kind))


def listing(coder: Any, shown: str) -> str:
    """A map without what the host writes above it, which depends on the mode and on the files in the chat."""
    head = coder.repo_map.repo_content_prefix or ""
    return shown.removeprefix(head.format(other="")).removeprefix(head.format(other="other "))


def messages_end(coder: Any) -> str:
    """What was said last, for the error when a chat goes another way than it was written."""
    return str(coder.cur_messages[-1]["content"])[-300:] if coder.cur_messages else ""


def typed(coder: Any, text: str) -> Any:
    """Type a text, as the host's own loop takes it; the coder that goes on."""
    from aider.coders.base_coder import Coder
    from aider.commands import SwitchCoder

    try:
        coder.run(with_message=text)
    except SwitchCoder as switch:
        options = {"io": coder.io, "from_coder": coder, **switch.kwargs}
        options.pop("show_announcements", None)
        return Coder.create(**options)
    return coder


def main(argv: Sequence[str]) -> int:
    job = Job(**json.loads(read(Path(argv[0]))))
    forbid_network()
    clock = VirtualClock()
    root = make_repository(Path(job.folder), Path(job.tree), clock.now)
    os.chdir(root)
    with clock.installed():
        value = Player(job, root, clock).play()
        if job.gardened:
            from aider_gardener.replay.play.gardened import uninstall

            uninstall()
    Path(job.result).write_text(json.dumps(value), encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
