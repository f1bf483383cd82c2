"""Pictures of the chat's screens, made from a real terminal: `aider-gardener` at 80 columns and 24 lines, a
recorded session as its model.

    python tools/screens.py

The first inputs of the session are typed, then a command for each picture. What it prints becomes an SVG of
the same name. The run takes about a minute and needs no key and no network.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from io import StringIO
from pathlib import Path

from rich._export_format import CONSOLE_SVG_FORMAT
from rich.console import Console
from rich.text import Text
from terminal import COLUMNS, ENTER, Terminal

from aider_gardener.replay.session.history import load_session
from aider_gardener.replay.session.session import Session
from bench.model_server import ModelServer, Script, keep_prices

ROOT = Path(__file__).resolve().parent.parent
SESSION = ROOT / "recorded_sessions" / "queue-incident"
PICTURES = ROOT / "docs" / "images" / "screens"
INPUTS = 13
"""So many of its inputs are typed."""
COMMANDS = {
    "context-pressure": "/context-pressure",
    "gardener": "/gardener",
    "recall": "/recall which busy timeout does the reaper use",
    "compact": "/compact the busy timeout",
}
"""The command that is typed for each picture; its first question is left open."""
ANSWERS = {
    "Add file to the chat?": "d",
    "Add URL to the chat?": "d",
    "to the chat?": "y",
    "Add to the chat?": "none",
    "Make room now?": "n",
}
"""What is answered to aider's and our questions, the first that fits."""
QUESTION = re.compile(r"\[(Yes|No|none)\]:?$")
FONT_FACES = re.compile(r"@font-face \{\{.*?\}\}\s*", re.DOTALL)
"""What would fetch fonts from the network."""


def play(session: Session, cwd: Path, inputs: int) -> dict[str, list[str]]:
    """Type the first inputs of a session, then the commands; the lines of each picture."""
    with ModelServer(Script.of_session(session)) as server:
        environ = {"OPENAI_API_BASE": server.url, "OPENAI_API_KEY": "any", "HOME": str(cwd.parent)}
        environ |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "PYTHONPATH": str(ROOT)}
        quiet = ["--no-check-update", "--no-show-release-notes", "--no-analytics", "--no-gitignore"]
        program = [sys.executable, "-m", "aider_gardener.adapters.aider.cli", "--model", "gpt-4o", *quiet]
        terminal = Terminal(program, cwd=cwd, environ=environ)
        try:
            terminal.wait(lambda: prompts(terminal) > 1 and terminal.last == ">")
            screens = {"start": since(terminal.said, "Aider v")}
            for typed in [event.text for event in session.events if event.kind == "user"][:inputs]:
                before = prompts(terminal)
                terminal.paste(typed)
                answer(terminal, before)
            for name, command in COMMANDS.items():
                before = prompts(terminal)
                terminal.keys(command + ENTER)
                settle(terminal, before)
                screens[name] = since(terminal.said, f"> {command[:20]}")
                answer(terminal, before)
        finally:
            terminal.close()
    return screens


def prompts(terminal: Terminal) -> int:
    """How often the program has asked for an input: aider draws a line across the terminal above each."""
    return sum(len(line) == COLUMNS and set(line) == {"─"} for line in terminal.said)


def settle(terminal: Terminal, before: int) -> None:
    """Wait for a question, or for an input to be asked for once more than `before`."""
    terminal.wait(lambda: prompts(terminal) > before or bool(QUESTION.search(terminal.last)))


def answer(terminal: Terminal, before: int) -> None:
    """Answer what is asked until the next input is asked for."""
    while prompts(terminal) == before:
        settle(terminal, before)
        if QUESTION.search(terminal.last):
            asked = "".join([line for line in terminal.screen if line][-2:])
            terminal.keys(next(answer for words, answer in ANSWERS.items() if words in asked) + ENTER)
            terminal.wait(lambda: True)


def since(lines: list[str], beginning: str) -> list[str]:
    """The lines from the last that begins so, up to where the next input would be typed."""
    at = max(number for number, line in enumerate(lines) if line.startswith(beginning))
    found = lines[at:]
    while found and (found[-1] in ("", ">") or set(found[-1]) == {"─"}):
        found.pop()
    return found


def svg(lines: list[str], title: str) -> str:
    """A picture of a screen. It names no font that would have to be fetched."""
    console = Console(record=True, width=COLUMNS, file=StringIO(), force_terminal=True)
    for line in lines:
        console.print(Text(line, style="green" if line.startswith("> ") else ""), crop=False, no_wrap=True)
    template = FONT_FACES.sub("", CONSOLE_SVG_FORMAT).replace(
        "Fira Code", "DejaVu Sans Mono, Menlo, Consolas"
    )
    return console.export_svg(
        title=title, code_format=template, unique_id=f"screen-{title.split()[-1].strip('/')}"
    )


def main() -> int:
    session = load_session(SESSION)
    with tempfile.TemporaryDirectory(prefix="gardener-screens-") as folder:
        project = Path(folder) / "millrace"
        shutil.copytree(SESSION / "repo0", project)
        keep_prices(Path(folder))
        for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "start"]):
            environ = {**os.environ, "GIT_AUTHOR_NAME": "you", "GIT_AUTHOR_EMAIL": "you@example.org"}
            environ |= {"GIT_COMMITTER_NAME": "you", "GIT_COMMITTER_EMAIL": "you@example.org"}
            subprocess.run(["git", *words], cwd=project, check=True, env=environ)
        screens = play(session, project, INPUTS)
    for name, lines in screens.items():
        title = COMMANDS.get(name, "aider-gardener").split()[0]
        (PICTURES / f"{name}.svg").write_text(svg(lines, title), encoding="utf-8", newline="\n")
        print("\n".join(["", f"--- {name}", *lines]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
