"""Pages that need nothing else: one HTML file, no server, no network, no script. A chat to be read, with the
shorter forms beside the originals.

Whatever a chat holds is text in a page, never markup.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from aider_gardener.files import write_private
from aider_gardener.gardener.past_chats import Said, Transcript
from aider_gardener.messages import Fidelity
from aider_gardener.notes.last_chat import when as minute
from aider_gardener.phrases import counted

TEMPLATES = Path(__file__).parent / "html"

FOLDED_LINES = 30
"""Of a text with more lines than that only the beginning is seen before it is unfolded."""


def rendered(template: str, **values: Any) -> str:
    """The text of a page made from a template, whose values are escaped."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(count="{:,}".format, counted=counted)
    return environment.get_template(template).render(values)


def write_transcript(transcript: Transcript, path: Path) -> None:
    """Write a chat, readable by its owner only; StoreError if that fails."""
    write_private(path, transcript_page(transcript))


def transcript_page(transcript: Transcript) -> str:
    chat = transcript.chat
    return rendered(
        "transcript.html.jinja",
        chat=chat,
        title=_title(chat.first_prompt) or f"session {chat.short}",
        began=minute(chat.started_at),
        ended=minute(chat.last_at),
        turns=[
            {"number": turn.number, "at": minute(turn.said[0].at), "said": [_row(said) for said in turn.said]}
            for turn in transcript.turns
        ],
        shorter=sum(bool(said.shown) for turn in transcript.turns for said in turn.said),
    )


def _title(prompt: str) -> str:
    """A first prompt as the page's title: its first words."""
    words = " ".join(prompt.split())
    return words if len(words) <= 80 else words[:80].rsplit(" ", 1)[0] + " …"


def _row(said: Said) -> dict[str, Any]:
    lines = said.text.splitlines()
    return {
        "said": said,
        "long": len(lines) > FOLDED_LINES,
        "begins": "\n".join(lines[:3]),
        "lines": len(lines),
        "forms": [form for form in said.shown if form.level is not Fidelity.FULL],
    }
