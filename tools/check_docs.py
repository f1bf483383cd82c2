"""Compare the documentation with the code: links, commands, options, chat commands, settings, figures.

Prints one line per fault and exits 1 if there is any. What is documented where:
docs/cli.md has a section for each `gardener` command (its heading names the command) with every option of it,
and names every command added to the chat; docs/settings.md has a row for each setting, made from its field
(`--write-settings` puts them there); the README's measured table is the one that readme_table.py makes;
docs/benchmark.md has those of benchmark_tables.py.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import benchmark_tables
import click
import proposal_tables
import readme_table

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "aider_gardener"
CLI_PAGE = ROOT / "docs" / "cli.md"
SETTINGS_PAGE = ROOT / "docs" / "settings.md"

LINK = re.compile(r"\]\((?P<target>[^)\s]+)(?:\s+\"[^\"]*\")?\)")
HEADING = re.compile(r"^(?P<level>#{1,6})\s+(?P<title>.+?)\s*#*\s*$")
FENCE = re.compile(r"^\s*(```|~~~)")
LISTED_OPTION = re.compile(r"^\s*(?:[-*]|\|)\s*`(?P<option>--[a-z][a-z-]*)")


def main() -> int:
    """Run every check over the repository this file is in; with `--settings` print their table instead, with
    `--write-settings` put it into docs/settings.md."""
    if sys.argv[1:] == ["--settings"]:
        print("\n".join(settings_table()))
        return 0
    if sys.argv[1:] == ["--write-settings"]:
        write_settings()
        return 0
    faults = [*links(), *commands(), *chat_commands(), *settings(), *readme_table.faults()]
    faults += [*proposal_tables.faults(), *benchmark_tables.faults()]
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"docs: {len(pages())} pages checked, {len(faults)} faults")
    return 1 if faults else 0


def pages() -> list[Path]:
    """All Markdown of the project itself; recordings bring their own and are left alone."""
    top = sorted(ROOT.glob("*.md"))
    folders = (ROOT / name for name in ("docs", "patches", "bench"))
    return [*top, *(path for folder in folders for path in sorted(folder.rglob("*.md")))]


def prose(page: Path) -> Iterator[tuple[int, str]]:
    """Numbered lines outside code fences."""
    fenced = False
    for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            yield number, line


def anchors(page: Path) -> set[str]:
    """The fragments that headings get on a web view: lower case, words joined by hyphens."""
    found: set[str] = set()
    for _, line in prose(page):
        if heading := HEADING.match(line):
            kept = re.sub(r"[^\w\- ]", "", heading["title"].lower())
            slug, number = kept.replace(" ", "-"), 0
            while (candidate := f"{slug}-{number}" if number else slug) in found:
                number += 1
            found.add(candidate)
    return found


def links() -> Iterator[str]:
    """Relative links that lead nowhere; addresses of other sites are not followed."""
    for page in pages():
        for number, line in prose(page):
            for link in LINK.finditer(line):
                target = link["target"]
                if re.match(r"[a-z][a-z0-9+.-]*:", target):
                    continue
                path, _, fragment = target.partition("#")
                file = page if not path else (page.parent / path)
                where = f"{page.relative_to(ROOT).as_posix()}:{number}"
                if not file.exists():
                    yield f"{where}: {target} does not exist"
                elif fragment and file.suffix == ".md" and fragment not in anchors(file):
                    yield f"{where}: {target} names no heading of that page"


def section(page: Path, name: str) -> str | None:
    """The text under the first heading that has `name` as a word of code or alone, sub-headings included."""
    wanted = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
    lines, level = [], 0
    for line in page.read_text("utf-8").splitlines():
        heading = HEADING.match(line)
        if level and heading and len(heading["level"]) <= level:
            break
        if not level and heading and wanted.search(heading["title"]):
            level = len(heading["level"])
        if level:
            lines.append(line)
    return "\n".join(lines) if lines else None


def command_tree(group: click.Command, path: str = "") -> Iterator[tuple[str, click.Command]]:
    """Each command that does something, by its full name: "replay", "store export"."""
    if isinstance(group, click.Group):
        context = click.Context(group)
        for name in group.list_commands(context):
            command = group.get_command(context, name)
            if command is not None and not command.hidden:
                yield from command_tree(command, f"{path} {name}".strip())
    else:
        yield path, group


def root_command() -> click.Command | None:
    """The click command behind `gardener`; None while the module is not there."""
    if not (PACKAGE / "cli").exists():
        return None
    module = importlib.import_module("aider_gardener.cli")
    found = [value for value in vars(module).values() if isinstance(value, click.Group)]
    return found[0] if found else None


def commands() -> Iterator[str]:
    """Commands and options of `gardener` that docs/cli.md lacks, and listed options that do not exist."""
    root = root_command()
    if root is None:
        if (PACKAGE / "cli").exists():
            yield "aider_gardener/cli: no click group found there"
        return
    if not CLI_PAGE.exists():
        yield "docs/cli.md is missing: it documents every `gardener` command"
        return
    for name, command in command_tree(root):
        text = section(CLI_PAGE, name)
        if text is None:
            yield f"docs/cli.md: no heading names `gardener {name}`"
            continue
        real = {
            option
            for parameter in command.params
            if isinstance(parameter, click.Option) and not parameter.hidden
            for option in (*parameter.opts, *parameter.secondary_opts)
            if option.startswith("--")
        }
        for option in sorted(real):
            if not re.search(rf"{re.escape(option)}(?![\w-])", text):
                yield f"docs/cli.md: `gardener {name}` lacks {option}"
        listed = {match["option"] for line in text.splitlines() if (match := LISTED_OPTION.match(line))}
        for option in sorted(listed - real - {"--help"}):
            yield f"docs/cli.md: `gardener {name}` lists {option}, which it does not take"


def chat_commands() -> Iterator[str]:
    """Commands added to aider's chat (functions `cmd_…` of the adapter) that docs/cli.md leaves out."""
    text = CLI_PAGE.read_text("utf-8") if CLI_PAGE.exists() else ""
    for path in sorted((PACKAGE / "adapters" / "aider").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("cmd_"):
                name = "/" + node.name.removeprefix("cmd_").replace("_", "-")
                if not re.search(rf"{re.escape(name)}(?![\w-])", text):
                    yield f"docs/cli.md: the chat command {name} is not documented"


def settings() -> Iterator[str]:
    """Settings whose row in docs/settings.md is missing or differs from the code."""
    if not (PACKAGE / "settings.py").exists():
        return
    if not SETTINGS_PAGE.exists():
        yield "docs/settings.md is missing: put the table there that `tools/check_docs.py --settings` prints"
        return
    lines = SETTINGS_PAGE.read_text("utf-8").splitlines()
    table = settings_table()
    for row in table[2:]:
        if row not in lines:
            name = row.split("`")[1]
            yield f"docs/settings.md: the row of {name} is not what `tools/check_docs.py --settings` prints"
    named = {row.split("`")[1] for row in table[2:]}
    for line in lines:
        if line.startswith("| `--") and line.split("`")[1] not in named:
            yield f"docs/settings.md: there is no setting {line.split('`')[1]}"


def write_settings() -> None:
    """Put the rows of the table into docs/settings.md in place of those that stand there."""
    lines = SETTINGS_PAGE.read_text("utf-8").splitlines()
    table = settings_table()
    start = next(number for number, line in enumerate(lines) if line == table[0])
    end = next((n for n in range(start, len(lines)) if not lines[n].startswith("|")), len(lines))
    lines[start:end] = table
    SETTINGS_PAGE.write_text("\n".join([*lines, ""]), "utf-8", newline="\n")


def settings_table() -> list[str]:
    """A Markdown table of all settings, from the fields themselves."""
    from aider_gardener.settings import Settings, variable

    rows = ["| flag | variable | default | meaning |", "|---|---|---|---|"]
    for field in dataclasses.fields(Settings):
        words = field.name.replace("_", "-")
        flag = "--gardener, --no-gardener" if field.name == "enabled" else f"--gardener-{words}"
        help_text = " ".join(field.metadata["help"].split()).replace("|", "\\|")
        rows.append(f"| `{flag}` | `{variable(field.name)}` | {shown(field.default)} | {help_text} |")
    return rows


def shown(default: object) -> str:
    """A default value as the table writes it; an empty text is left empty."""
    if isinstance(default, bool):
        return "on" if default else "off"
    return f"`{default}`" if default != "" else ""


if __name__ == "__main__":
    sys.exit(main())
