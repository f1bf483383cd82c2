"""What of hostile texts a terminal is given raw: by every command of `gardener`, and every one in the chat.

    python -m bench.attacks.terminal [--projects N] [--seed N] [--json FILE]

Each project has generated sequences in all that somebody else may have written: prompts, replies, rules and
decisions, outputs and their commands, tasks, the names of its folder, its files and what lies beside its
archive. The commands are those that are registered, each with every option. Standard output and error are
terminals; what they are given holds if nothing in it is a control or turns the order of letters round.
"""

from __future__ import annotations

import builtins
import io
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from bench.attacks.results import environment, in_child, keep, parser_of
from bench.model_server import keep_prices

WORD = "kestrel"
"""Stands in every text, so that it is found."""
TURNING = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
MARKS = "\u200b\u200e\u200f\u061c\u2060\ufeff"
SERVERS = {"hook", "mcp"}
"""What they print is the protocol of a host, which is no terminal."""
TYPED = (
    "", "last", "1", "--full", "--json", "all", "kestrel", "--yes last", "session", "take 1", "refuse 1",
    "add Never touch {hostile}", "edit 1 Always {hostile}", "drop 1", "--dry-run", "{hostile}",
)  # fmt: skip
"""What may be typed behind a command of the chat."""


# Hostile texts


def hostile(rng: random.Random) -> str:
    """A few sequences that a terminal obeys or that hide something, some of them cut off or nested."""

    def number() -> str:
        return str(rng.choice((0, 1, 2, 5, 6, 7, 8, 25, 1049, 9999)))

    def string() -> str:
        opened = rng.choice("\x1b] \x1bP \x1b_ \x1b^ \x1bX \x9d \x90 \x9f \x9e \x98".split())
        body = rng.choice(("52;c;ZXZpbA==", "0;title", "8;;file://evil", "1337;File=:QQ==", "$q q", "9;4;1"))
        return opened + body[: rng.choice((2, 99))] + rng.choice(("\x07", "\x1b\\", "\x9c", "", ""))

    kinds: Sequence[Callable[[], str]] = (
        lambda: rng.choice(("\x1b[", "\x9b")) + ";".join(number() for _ in range(rng.randint(0, 3)))
        + rng.choice("ABCDHJKLMPSTXfhlmnrsu@") ,
        lambda: "\x1b[?" + number() + rng.choice("hl"),
        string,
        lambda: "\x1b" + rng.choice("cDEHMNOZ78=>#(%"),
        lambda: chr(rng.choice((*range(1, 9), 11, 12, 13, *range(14, 32), 127))),
        lambda: chr(rng.randrange(0x80, 0xA0)),
        lambda: rng.choice("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c"),
        lambda: rng.choice("\u200b\u2060\ufeff\u2028\u2029"),
        lambda: "".join(chr(0xE0000 + ord(letter)) for letter in "evil"),
        lambda: "\x1b\x1b[0m[2J",
        lambda: "\x1b[\x1b[1m31m",
        lambda: "fine\rgone\x1b[K",
    )  # fmt: skip
    return "".join(rng.choice(kinds)() + rng.choice(("", "", "x", " ")) for _ in range(rng.randint(1, 4)))


def name(rng: random.Random) -> str:
    """One that a file may have."""
    return re.sub(r"[/\n\r\x85\u2028\u2029]", "", hostile(rng)) + f"{rng.randrange(999)}"


BAR = re.compile(r"\r(?:\x1b\[\?25l)?Importing  \[[#-]+\] +\d+%[ \d:d]*(?:\x1b\[\?25h)?")
"""How far an import is. A terminal is to obey it, and nothing of a text stands in it."""


def raw(text: str) -> list[str]:
    """The characters of a text that a terminal should not have been given."""
    return [
        char
        for char in BAR.sub("", text)
        if (char not in "\n\t" and unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp"))
        or unicodedata.bidirectional(char) in TURNING
        or char in MARKS
        or 0xE0000 <= ord(char) < 0xE0080
    ]


# A project with them


class Screen(io.TextIOWrapper):
    """A terminal that keeps what it is given; who reads from it is at its end."""

    def __init__(self) -> None:
        super().__init__(io.BytesIO(), "utf-8", "surrogatepass", newline="", write_through=True)

    def isatty(self) -> bool:
        return True

    def said(self) -> str:
        self.flush()
        assert isinstance(self.buffer, io.BytesIO)
        return self.buffer.getvalue().decode("utf-8", "replace")


@contextmanager
def terminal() -> Iterator[Screen]:
    """Standard streams are one terminal, on which questions are asked and answered by a return."""
    screen, streams, ask = Screen(), (sys.stdin, sys.stdout, sys.stderr), builtins.input

    def answer(question: object = "") -> str:
        screen.write(str(question))
        return ""

    sys.stdin = sys.stdout = sys.stderr = screen
    builtins.input = click.termui.visible_prompt_func = answer
    try:
        yield screen
    finally:
        sys.stdin, sys.stdout, sys.stderr = streams
        builtins.input = click.termui.visible_prompt_func = ask


class Project:
    """A repository in which chats were held, all of it hostile. It is the working directory from then on."""

    def __init__(self, around: Path, seed: int) -> None:
        self.rng = random.Random(seed)
        self.home = around / "home"
        self.root = around / f"project {name(self.rng)}"
        self.archive = self.root / ".aider.gardener"
        for folder in (self.home, self.root):
            folder.mkdir()
        keep_prices(self.home)
        os.environ |= {"HOME": str(self.home), "XDG_DATA_HOME": str(self.home), "TERM": "dumb"}
        self.file = self.root / f"app {name(self.rng)}.py"
        self.file.write_text(f"# {WORD} {self.text()}\n", "utf-8", "replace")
        self.folder = self.root / f"folder {name(self.rng)}"
        self.folder.mkdir()
        shutil.copy(self.file, self.folder)
        (self.root / "printer.py").write_text(
            f"print({self.text()!r}.encode('utf-8', 'replace').decode() * 9)\nraise SystemExit(1)\n", "utf-8"
        )
        for words in (["init", "-q"], ["add", "."]):
            subprocess.run(["git", *words], cwd=self.root, check=True, capture_output=True)
        os.chdir(self.root)

    def text(self) -> str:
        """A hostile sentence."""
        return f"{hostile(self.rng)} {WORD} {hostile(self.rng)} of {hostile(self.rng)}"

    def coder(self) -> Any:
        """aider's own Coder here, with a model that answers hostile words."""
        import litellm
        from aider.coders.base_coder import Coder
        from aider.io import InputOutput
        from aider.models import Model

        from aider_gardener.replay.play.calls import completion

        def complete(**options: Any) -> Any:
            text = f"We'll use {self.text()} instead of that. Done: {self.text()}. " * 12
            return completion(text, options["model"], 10, 5)

        litellm.completion = complete
        history = self.root / ".chat.md"
        screen = InputOutput(pretty=False, yes=True, fancy_input=False, chat_history_file=history)
        return Coder.create(
            main_model=Model("gpt-4o"), io=screen, fnames=[str(self.file)], edit_format="ask", stream=False,
            map_tokens=0,  # aider's spinner writes to the terminal while it makes one
        )  # fmt: skip

    def chats(self) -> Any:
        """Hold three chats of the same words, so that an observation is made of them; the last
        one's coder."""
        preference = f"no, use {self.text()}, not requests"
        for number in range(3):
            coder = self.coder()
            coder.run(with_message=preference)
            coder.run(with_message=f"/run {sys.executable} printer.py # {hostile(self.rng)}")
            coder.run(with_message=f"Never touch the table {self.text()}! What of it, {number}?")
            for _ in range(3):
                coder.run(with_message=f"Why {self.text()}? " + "More words of it follow. " * 12)
        (self.root / "TASKS.md").write_text(
            f"- [x] done {self.text()}\n- [ ] open {self.text()}\n", "utf-8", "replace"
        )
        return coder

    def leave(self) -> None:
        """What lies beside the archive, and the id of an entry that holds the word."""
        from aider_gardener.archive.store import open_to_read

        for kind in ("damaged", "foreign", "removed"):
            (self.archive / f"gardener.db.{kind}-{name(self.rng)}").write_bytes(b"SQLite format 3\0")
        (self.archive / "gardener.db.hooks-log").write_text(self.text(), "utf-8", "replace")
        store = open_to_read(self.archive)
        found = [
            entry
            for info in store.sessions(str(self.root.resolve()))
            for entry in store.session_entries(info.id)
            if WORD in entry.content
        ]
        store.close()
        self.entry = found[-1].id
        shutil.copytree(self.archive, self.home / "archive")

    def put_back(self) -> None:
        """The archive as it was left."""
        shutil.rmtree(self.archive, ignore_errors=True)
        shutil.copytree(self.home / "archive", self.archive)


# Its commands


def leaves(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """Every command that is registered below one, with its name."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for each in command.list_commands(context):
            found = command.get_command(context, each)
            assert found is not None
            yield from leaves(found, (*path, each))
    if not isinstance(command, click.Group) or command.invoke_without_command:
        yield " ".join(path), command


def calls(project: Project) -> Iterator[tuple[str, list[str]]]:
    """Every command of `gardener` by its name and in words: with what it needs, then with each option."""
    from aider_gardener.cli.root import main

    for path, command in leaves(main):
        if path in SERVERS:
            continue
        patches = path.startswith("patches")
        words = [*path.split(), *(["--to", str(project.folder)] if patches else [])]  # not what is installed
        given = [
            value
            for each in command.params
            if isinstance(each, click.Argument) and (each.required or each.name in ("file", "entry_ids"))
            for value in values(each, project)
        ]
        yield path, [*words, *given]
        for option in command.params:
            if isinstance(option, click.Option) and not (patches and option.name == "to"):
                rest = [] if option.is_flag else values(option, project)
                for flag in [*option.opts[:1], *option.secondary_opts[:1]]:
                    yield path, [*words, flag, *rest, *given]


def values(parameter: click.Parameter, project: Project) -> list[str]:
    """What may stand for a parameter."""
    kind = parameter.type
    known = {
        "session": ["last"], "query": [WORD], "numbers": ["1"], "file": [str(project.file)],
        "entry_id": [project.entry], "entry_ids": [project.entry], "class_name": ["log"],
        "command": ["--", sys.executable, "printer.py"],
    }  # fmt: skip
    if parameter.name in known:
        return known[parameter.name]
    if isinstance(kind, click.Path) and kind.exists:
        return [str(project.file if kind.file_okay else project.folder)]
    if isinstance(kind, click.Path):
        return [str(project.root / name(project.rng))]
    is_number = isinstance(kind, click.types.IntParamType | click.types.FloatParamType)
    return ["1"] if is_number else [project.text()]


def record_of(words: Sequence[str]) -> str:
    """What a terminal is given by `gardener` with these words."""
    from aider_gardener.cli.root import main

    with terminal() as screen:
        try:
            main(list(words), prog_name="gardener")
        except SystemExit:
            pass
        return screen.said()


def lines(project: Project) -> Iterator[tuple[str, str]]:
    """Every command of the chat by its name, and a line with it."""
    from aider_gardener.adapters.aider.commands import COMMANDS, STEPS

    for command in (*COMMANDS, *(f"/gardener {step}" for step in STEPS)):
        for typed in TYPED:
            yield command, f"{command} {typed.format(hostile=project.text())}".strip()


def attack(seed: int) -> dict[str, list[int]]:
    """One project: of each command how often it said something, how often that held, and how often something
    was made visible in it."""
    from aider_gardener import install, uninstall
    from aider_gardener.settings import Settings

    found: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0, 0])

    def note(command: str, said: str) -> None:
        if said:
            is_shown = bool(re.search(r"\\(?:x[0-9a-f]{2}|u20|u06|r|U000e)", said))
            found[command] = [
                sum(pair) for pair in zip(found[command], (1, not raw(said), is_shown), strict=True)
            ]

    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder), seed)
        install(Settings(history_tokens=600, embedder="none"))  # words alone find all of it
        coder = project.chats()
        coder.io.yes = None
        last = ""
        for command, line in lines(project):
            if command != last:
                coder.run(with_message=f"And {project.text()}?")
            last = command
            with terminal() as screen:
                coder.commands.run(line)
                note(command, screen.said())
        uninstall()
        project.leave()
        for command, words in calls(project):
            project.put_back()
            note(f"gardener {command}", record_of(words))
        os.chdir("/")
    return dict(found)


def outcome_of(seed: int) -> dict[str, list[int]]:
    """The same in a process of its own."""

    def work() -> dict[str, list[int]]:
        environ = environment(Path(tempfile.gettempdir())) | {"OPENAI_API_KEY": "any"}
        os.environ.clear()
        os.environ.update(environ)
        return attack(seed)

    found: dict[str, list[int]] | str | None = in_child(work)
    assert isinstance(found, dict), found
    return found


def main() -> int:
    parser = parser_of(__doc__, projects=8, seed=1)
    options = parser.parse_args()
    sums: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for seed in range(options.seed, options.seed + options.projects):
        for command, row in outcome_of(seed).items():
            sums[command] = [sum(pair) for pair in zip(sums[command], row, strict=True)]
    tried, held, _ = map(sum, zip(*sums.values(), strict=True))
    given = {
        command: f"{row[0] - row[1]} of {row[0]}" for command, row in sorted(sums.items()) if row[0] > row[1]
    }
    found = {"commands": len(sums), "tried": tried, "held": held, "raw": given}
    keep("terminal", found, options.json)
    return tried - held


if __name__ == "__main__":
    sys.exit(main())
