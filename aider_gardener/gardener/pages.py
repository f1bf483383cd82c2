"""Sessions as Markdown for people: the whole account of one, and an index of all of them that stays small.

The same archive gives the same bytes on every machine: times are in UTC. Whatever was said stands on a line
of its own as plain words, so that nothing of it can be taken for a part of the page.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterable, Iterator, Sequence

from aider_gardener.archive.sessions import said_in, short_ids
from aider_gardener.archive.store.base import SessionInfo, Store
from aider_gardener.gardener.account import Account, Met, Reply, Run, Step, account
from aider_gardener.messages import SourceKind
from aider_gardener.notes.markdown import code, quoted
from aider_gardener.phrases import counted

MADE = "<!-- made by gardener archive, which writes it anew: what is changed here is lost -->"
"""The first line of every page, by which it is known as ours."""
SEAL = "\n<!-- as it was made: {} -->\n"
"""The last line of the index, by which it is known that nobody changed it."""
INDEX_SESSIONS, INDEX_BYTES = 200, 64 * 1024
"""Beyond so many sessions, or so many bytes, the older ones are a line a month."""
INDEX_MONTHS = 120
OLDER = "## Older sessions"
MONTH_BYTES = 80
"""Room for the line of a month, which is never longer."""
ASKED_CHARS, LINE_CHARS, SHORT_CHARS = 600, 300, 160
MOST_DECISIONS, MOST_ERRORS, MOST_RUNS = 40, 40, 8
INDEX_FILES, INDEX_LINES = 6, 3
COMMAND_CHARS = 100
WHERE = {SourceKind.LINT: "by the linter"}


def moment(at: float) -> str:
    """A time to the minute, in UTC."""
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(at))


def span(info: SessionInfo) -> str:
    """From when to when a session was held, in UTC."""
    began, ended = moment(info.started_at), moment(info.last_at)
    return f"{began} to {ended[11:] if began[:10] == ended[:10] else ended} UTC"


def session_page(found: Account, short: str) -> str:
    """The account of a session as a page. `short` is the beginning of its id that no other one has."""
    info = found.info
    did = [
        counted(info.turns, "turn"),
        counted(len(found.commits), "commit"),
        counted(len(found.files), "file"),
    ]
    lines = [
        MADE, "", f"# Session {short}", "", f"{span(info)}: {', '.join(did)} edited. Id {code(info.id)}.",
        "`gardener restore ID` prints the whole of what has an id in brackets here.", "",
        "## Asked and done", "", *(line for step in found.steps for line in step_lines(step)),
    ]  # fmt: skip
    lines += part(
        "Decided",
        (decision_line(one.text, one.turn, one.entry_id, one.is_users) for one in found.decisions),
        MOST_DECISIONS,
    )
    lines += part(
        "Rules set by the user", (said(rule.text, rule.turn, rule.entry_id) for rule in found.rules)
    )
    lines += part(
        "Files edited",
        (f"- {code(f.path)}: {counted(f.times, 'edit')}, the last in turn {f.turn}" for f in found.files),
    )
    lines += part("Errors met and mended", (mended_line(e) for e in found.errors if e.gone_turn), MOST_ERRORS)
    lines += part("Errors not seen to be gone", (open_line(e) for e in found.open_errors), MOST_ERRORS)
    lines += part("Pinned", (said(entry.content, entry.turn, entry.id) for entry in found.pinned))
    return "\n".join(lines) + "\n"


def part(title: str, rows: Iterable[str], most: int = 0) -> list[str]:
    """A part of the page with a line each, nothing where there is none;
    of more than `most` (0: all) the last ones."""
    lines = list(rows)
    if not lines:
        return []
    left = len(lines) - most if most else 0
    shown = [f"- ({counted(left, 'earlier one')} left out)", *lines[left:]] if left > 0 else lines
    return ["", f"## {title}", "", *shown]


def step_lines(step: Step) -> Iterator[str]:
    """A prompt, and below it what came of it."""
    asked = (
        f"{quoted(step.asked, ASKED_CHARS)} ({step.entry_id})" if step.asked else "(before the first prompt)"
    )
    yield f"- **Turn {step.turn}:** {asked}"
    for reply in step.replies:
        yield f"    - {reply_line(reply)}"
    for run in step.runs[-MOST_RUNS:]:
        yield f"    - {run_line(run)}"
    if len(step.runs) > MOST_RUNS:
        yield f"    - ({counted(len(step.runs) - MOST_RUNS, 'earlier run')} left out)"
    for commit in step.commits:
        yield f"    - committed {code(commit.hash)}: {quoted(commit.message)}"


def reply_line(reply: Reply) -> str:
    """What was answered and edited, with the reply's id."""
    files = ", ".join(code(path) for path in reply.edited)
    edited = [f"Edited {files}{', which was undone' if reply.undone else ''}."] if files else []
    said = [quoted(reply.line, LINE_CHARS)] if reply.line else []
    return " ".join([*said, *edited, f"({reply.entry_id})"])


def run_line(run: Run) -> str:
    """What was run, and what came out, with its id."""
    ran = f"ran {code(run.command, COMMAND_CHARS)}" if run.command else "linted"
    return f"{ran}: {quoted(run.line, LINE_CHARS)} ({run.entry_id})"


def decision_line(text: str, turn: int, stored_id: str, is_users: bool) -> str:
    who = "you" if is_users else "the model"
    return f"- {quoted(text)} (turn {turn}, {who}, {stored_id})"


def said(text: str, turn: int, stored_id: str) -> str:
    """A text with the turn that it was said in; what was set by hand has no id."""
    return f"- {quoted(text)} (turn {turn}{f', {stored_id}' if stored_id else ', by hand'})"


def mended_line(met: Met) -> str:
    return f"- {code(met.text)}: met in turn {met.first_turn}, gone in turn {met.gone_turn} ({met.entry_id})"


def open_line(met: Met) -> str:
    where = (
        f"by {code(met.command, COMMAND_CHARS)}" if met.command else WHERE.get(met.kind, "in what you typed")
    )
    return f"- {code(met.text)}: last met in turn {met.turn} {where} ({met.entry_id})"


def index_page(
    infos: Sequence[SessionInfo], short: Callable[[str], str], account_of: Callable[[SessionInfo], Account]
) -> str:
    """The index of sessions, given the newest first; only those that it shows are read by `account_of`.

    At most INDEX_SESSIONS of them and INDEX_BYTES in all: of the older ones a line a month.
    """
    head = [
        MADE, "", "# Context archive", "",
        f"{counted(len(infos), 'session')}, the newest first; times are UTC. `gardener archive ID` prints"
        " one, `gardener restore ID` a message whole.", "",
    ]  # fmt: skip
    months = len({moment(info.last_at)[:7] for info in infos})
    left = INDEX_BYTES - size([*head, sealed("")]) - MONTH_BYTES * (min(months, INDEX_MONTHS) + 4)
    lines, shown = [], 0
    for info in infos[:INDEX_SESSIONS]:
        block = index_lines(account_of(info), short(info.id))
        if size(block) > left:
            break
        left -= size(block)
        lines += block
        shown += 1
    return "\n".join([*head, *lines, *month_lines(infos[shown:])]).rstrip("\n") + "\n"


def size(lines: Iterable[str]) -> int:
    """The bytes that lines take in a file."""
    return sum(len(line.encode("utf-8", "replace")) + 1 for line in lines)


def index_lines(found: Account, short: str) -> list[str]:
    """A session in a few lines: where it began, what was done, decided and left open, and where it ended."""
    asked = [step.asked for step in found.steps if step.asked]
    files = [code(each.path, SHORT_CHARS) for each in found.files]
    more = f" and {len(files) - INDEX_FILES} more" if len(files) > INDEX_FILES else ""
    done = [counted(len(found.commits), "commit")] if found.commits else []
    done += [f"edited {', '.join(files[:INDEX_FILES])}{more}"] if files else []
    users = [one for one in found.decisions if one.is_users] or list(found.decisions)
    lines = [index_heading(found.info, short), ""]
    lines += [f"- **Asked first:** {quoted(asked[0], SHORT_CHARS)}"] if asked else []
    lines += [f"- **Done:** {'; '.join(done)}"] if done else []
    lines += [f"- **Last commit:** {quoted(found.commits[-1].message, SHORT_CHARS)}"] if found.commits else []
    lines += [
        f"- **Decided:** {quoted(one.text, SHORT_CHARS)} ({one.entry_id})" for one in users[-INDEX_LINES:]
    ]
    lines += [
        f"- **Open:** {code(met.text, SHORT_CHARS)} ({met.entry_id})"
        for met in found.open_errors[-INDEX_LINES:]
    ]
    lines += [f"- **Asked last:** {quoted(asked[-1], SHORT_CHARS)}"] if len(asked) > 1 else []
    return [*lines, ""]


def index_heading(info: SessionInfo, short: str) -> str:
    """The line under which a session stands in the index: it is another one once more was said."""
    return f"## {short}, {span(info)}, {counted(info.turns, 'turn')}"


def month_lines(infos: Sequence[SessionInfo]) -> list[str]:
    """Sessions as a line a month, the newest first; beyond INDEX_MONTHS all in one."""
    if not infos:
        return []
    months: dict[str, list[SessionInfo]] = {}
    for info in infos:
        months.setdefault(moment(info.last_at)[:7], []).append(info)
    rows = list(months.items())
    lines = [month_line(month, held) for month, held in rows[:INDEX_MONTHS]]
    rest = [info for _month, held in rows[INDEX_MONTHS:] for info in held]
    return [OLDER, "", *lines, *([month_line("before", rest)] if rest else [])]


def month_line(month: str, infos: Sequence[SessionInfo]) -> str:
    turns = sum(info.turns for info in infos)
    return f"- {month}: {counted(len(infos), 'session')}, {counted(turns, 'turn')}"


def is_ours(held: bytes | None) -> bool:
    """Whether a page may be written where these bytes stand: one of ours does, or nothing."""
    return not held or held.startswith(MADE.encode())


def sealed(page: str) -> str:
    """A page with a last line that tells whether it is still as it was made."""
    return page + SEAL.format(digest(page.encode("utf-8", "replace")))


def digest(held: bytes) -> str:
    return hashlib.sha256(held).hexdigest()[:16]


def is_as_made(held: bytes | None) -> bool:
    """Whether an index may be put where these bytes stand without being asked for: one does that nobody
    changed since it was made, or nothing."""
    page, begins, _rest = (held or b"").rpartition(SEAL.partition("{")[0].encode())
    return not held or (bool(begins) and is_ours(held) and held == page + SEAL.format(digest(page)).encode())


def project_index(store: Store, project: str, pace: Callable[[], None] = lambda: None) -> str:
    """The index of a project's sessions; `pace` is called before each is read. Raises StoreError."""
    infos = said_in(store, project)
    short = short_ids([info.id for info in infos])

    def read(info: SessionInfo) -> Account:
        pace()
        return account(store, info)

    return sealed(index_page(infos, short.__getitem__, read))
