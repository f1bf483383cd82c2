"""What the recording answers at each point of a replay: replies, outputs, confirmations, lint errors."""

from __future__ import annotations

import re
from collections.abc import Sequence

from aider_gardener.errors import ReplayError
from aider_gardener.replay.measure.result import COMMIT, MAIN, OTHER, SUMMARY
from aider_gardener.replay.session.session import Session, SessionEvent

UNRECORDED_REPLY = "(no reply recorded)"
UNRECORDED_COMMIT = "chore: change without a recorded message"
UNRECORDED_REFLECTION = "(the next message was not recorded)"

SUMMARY_PLACEHOLDER = (
    "I asked you about several parts of the program, one after the other, and you answered or "
    "changed the code. You proposed a next step after each, and I agreed or corrected you. "
) * 16
"""Stands for a summary that was not recorded: about as long as the models' own ones, no facts."""

LINT_WARNING = "\n# Fix any errors below"
"""How the text begins that aider shows and reflects after lint errors."""

DEFAULTS = (
    ("Add file to the chat?", False),
    ("Add URL to the chat?", False),
    ("Run shell command", False),
    ("Attempt to fix", False),
    ("Open ", False),
    ("Create new file?", True),
    ("Allow edits to file", True),
    ("Try to proceed anyway?", True),
)
"""Answers to questions that the recording doesn't hold, by the question's beginning."""


class LeftRecording(BaseException):
    """Ends a replay that asks for what was not recorded.

    No subclass of Exception: aider's broad handlers would report it in the chat and go on.
    """


class Recorded:
    """The events of a session, handed out in order, turn by turn, each once.

    `summaries` are the answers to aider's summarising prompts, in order; None gives placeholders. `given`
    counts the replies of the turn that were handed out, `placeholders` what stood in, by kind of call.
    `notices` take what went otherwise than recorded; `failure` holds the reason after the replay left its
    recording.
    """

    def __init__(self, session: Session, notices: list[str], summaries: Sequence[str] | None = None) -> None:
        self.session = session
        self.notices = notices
        self.summaries = summaries
        self.summaries_given = 0
        self.placeholders: dict[str, int] = {}
        self.failure: ReplayError | None = None
        self.begin_turn(0)

    def begin_turn(self, turn: int) -> None:
        self.turn = turn
        self.given = 0
        self.replies, self.commits, self.commands, self.confirms = (
            self.session.of_kind(kind, turn) for kind in ("reply", "commit", "command", "confirm")
        )
        self.lint_taken: set[int] = set()
        self.typed_at = next((event.at for event in self.session.of_kind("user", turn)), None)

    def unused_replies(self) -> int:
        """How many recorded replies of the turn nobody asked for."""
        return len(self.replies) - self.given

    # -- calls of a model

    def answer(self, kind: str) -> str:
        """The recorded answer to the next call of a kind in this turn, or a placeholder."""
        if kind == SUMMARY:
            at, self.summaries_given = self.summaries_given, self.summaries_given + 1
            if self.summaries is not None and at < len(self.summaries):
                return self.summaries[at]
            return self.placeholder(SUMMARY, SUMMARY_PLACEHOLDER)
        if kind == COMMIT and self.commits:
            return self.commits.pop(0).text
        if kind in (COMMIT, OTHER):
            return self.placeholder(kind, UNRECORDED_COMMIT if kind == COMMIT else UNRECORDED_REPLY)
        if self.unused_replies():
            self.given += 1
            return self.replies[self.given - 1].text
        if not self.session.recorded or self.since_last_reply("error"):  # such as of the provider
            return self.placeholder(MAIN, UNRECORDED_REPLY)
        closest = "none, it holds no reply"
        if replies := self.session.of_kind("reply"):
            near = min(reversed(replies), key=lambda event: abs(event.turn - self.turn))
            closest = f"the reply of turn {near.turn} that begins {near.text.strip()[:60]!r}"
        self.failure = ReplayError(
            f"{self.session.name}: turn {self.turn} asks for reply {self.given + 1}, the recording "
            f"has {len(self.replies)}; closest recorded event: {closest}"
        )
        raise LeftRecording(str(self.failure))

    def placeholder(self, kind: str, text: str) -> str:
        self.placeholders[kind] = self.placeholders.get(kind, 0) + 1
        return text

    # -- commands, pages and questions

    def take_command(self, command: str) -> SessionEvent | None:
        """The recorded run of a command; a different spelling only if one run is left."""
        exact = [event for event in self.commands if event.command.strip() == command.strip()]
        found = exact[0] if exact else self.commands[0] if len(self.commands) == 1 else None
        if found is not None:
            self.commands.remove(found)
        return found

    def run_cmd(self, command: str, *_: object, **__: object) -> tuple[int, str | None]:
        """Stands in for aider's `run_cmd`: gives the output that was recorded, runs nothing."""
        event = self.take_command(command)
        if event is not None:
            return event.exit_status, event.output
        notice = f"turn {self.turn}: the command {command[:60]!r} has no recorded output; skipped"
        self.notices.append(notice)
        return 0, None

    def scrape(self, url: str) -> str:
        """The recorded text of a web page, empty where there is none."""
        event = self.take_command(f"/web {url}")
        return event.output if event else ""

    def confirm(self, question: str, subject: str, default: str) -> bool:
        """The recorded answer to a question about a subject, or about one that one side doesn't name."""
        alike = [event for event in self.confirms if shape(event.question) == shape(question)]
        exact = [event for event in alike if event.subject == subject]
        loose = [event for event in alike if not (event.subject and subject)]
        for event in [*exact, *loose][:1]:
            self.confirms.remove(event)
            return event.answer
        for beginning, answer in DEFAULTS:
            if question.startswith(beginning):
                return answer
        return default.lower().startswith("y")

    # -- what stands between the reply last given and the next

    def since_last_reply(self, kind: str) -> list[str]:
        """The texts of the events of a kind there."""
        found, replies = [], 0
        for event in self.session.turn(self.turn):
            if event.kind == "reply":
                replies += 1
            elif event.kind == kind and replies == self.given:
                found.append(event.text)
        return found

    def lint_errors(self) -> str:
        """What lint said, the first time it is asked for; "" for nothing."""
        if self.given in self.lint_taken:
            return ""
        self.lint_taken.add(self.given)
        found = self.since_last_reply("warning")
        return next((text for text in found if text.startswith(LINT_WARNING)), "")

    def commit(self) -> str:
        return next(iter(self.since_last_reply("commit")), "")

    def reflection(self) -> str:
        """What made aider ask the model again, as far as it is known; "" after the last reply."""
        if not self.unused_replies():
            return ""
        found = [*self.since_last_reply("warning"), *self.since_last_reply("error")]
        return "\n".join(found) or UNRECORDED_REFLECTION


def shape(asked: str) -> str:
    """A question without its numbers: token counts in it depend on the tokenizer."""
    return re.sub(r"\d+(\.\d+)?k?", "#", asked)
