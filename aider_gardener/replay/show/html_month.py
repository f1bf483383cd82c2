"""Writes the report of a month as a page that needs nothing else: figures, chats, tasks, observations."""

from __future__ import annotations

from pathlib import Path

from aider_gardener.gardener.past_chats import Month, day_of, done_line
from aider_gardener.phrases import sums_text
from aider_gardener.replay.show.page import rendered, write_private


def write_month(found: Month, path: Path) -> None:
    """Write the page, readable by its owner only; ReplayError if that fails."""
    write_private(path, html_of(found))


def html_of(found: Month) -> str:
    """The text of the whole page."""
    most = max((chat.prompt_tokens + max(chat.saved_tokens, 0) for chat in found.chats), default=0)
    return rendered(
        "month.html.jinja",
        found=found,
        name=Path(found.project).name,
        sums=sums_text(found.sums) if found.sums else "",
        done=done_line(found.totals),
        days=[day_of(chat.last_at) for chat in found.chats],
        widths=[width(chat.prompt_tokens, most) for chat in found.chats],
    )


def width(tokens: int, most: int) -> int:
    """The share of the largest chat in hundredths."""
    return round(100 * tokens / most) if most else 0
