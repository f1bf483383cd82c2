"""Writes one chat as an HTML page to be read: what was said, and beside each original the shorter forms in
which prompts held it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aider_gardener.gardener.past_chats import Said, Transcript
from aider_gardener.messages import Fidelity
from aider_gardener.notes.last_chat import when as minute
from aider_gardener.replay.show.page import rendered, write_private

FOLDED_LINES = 30
"""Of a text with more lines than that only the beginning is seen before it is unfolded."""


def write_transcript(transcript: Transcript, path: Path) -> None:
    """Write the page, readable by its owner only; ReplayError if that fails."""
    write_private(path, html_of(transcript))


def html_of(transcript: Transcript) -> str:
    """The text of the whole page."""
    chat = transcript.chat
    return rendered(
        "transcript.html.jinja",
        chat=chat,
        title=title_of(chat.first_prompt) or f"session {chat.short}",
        began=minute(chat.started_at),
        ended=minute(chat.last_at),
        turns=[
            {"number": turn.number, "at": minute(turn.said[0].at), "said": [row(said) for said in turn.said]}
            for turn in transcript.turns
        ],
        shorter=sum(bool(said.shown) for turn in transcript.turns for said in turn.said),
    )


def title_of(prompt: str) -> str:
    """A first prompt as the page's title: its first words."""
    words = " ".join(prompt.split())
    return words if len(words) <= 80 else words[:80].rsplit(" ", 1)[0] + " …"


def row(said: Said) -> dict[str, Any]:
    """A message as the template needs it."""
    lines = said.text.splitlines()
    return {
        "said": said,
        "long": len(lines) > FOLDED_LINES,
        "begins": "\n".join(lines[:3]),
        "lines": len(lines),
        "forms": [
            {"turn": form.turn, "tokens": form.tokens, "text": form.text}
            for form in said.shown
            if form.level is not Fidelity.FULL
        ],
    }
