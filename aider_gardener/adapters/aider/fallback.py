"""The last resort above 95 % of the window, only if the user allowed it: aider's own summary by an LLM."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from aider_gardener.adapters.aider import link
from aider_gardener.messages import Entry, SourceKind

if TYPE_CHECKING:
    from aider_gardener.gardener import Gardener

DECISIONS_LISTED = 40
DECISION_CHARS = 240
ASK_TO_KEEP = "Keep each of these decisions and rules of mine, word for word, in the summary:"
KEPT_HEAD = "Decisions and rules of mine that stand:"


def last_resort(coder: Any, gardener: Gardener) -> bool:
    """Let aider's summariser replace the finished exchanges; whether it did.

    What the user decided goes into its prompt, and what of it the summary lacks is added behind it. The
    originals stay in the archive. The history stays as it is when the summary fails or saves nothing.
    """
    from aider_gardener.compactions import history_used
    from aider_gardener.view import FILLER

    waiting = len(coder.cur_messages)
    while waiting and coder.cur_messages[waiting - 1]["role"] == "user":
        waiting -= 1
    finished = [*coder.done_messages, *coder.cur_messages[:waiting]]
    if not finished:
        return False
    kept = decisions(gardener.chat.all_entries())
    listed = "\n".join(f"- {text}" for text in kept)
    asked = [{"role": "user", "content": f"{ASK_TO_KEEP}\n{listed}"}] if kept else []
    try:
        summary = coder.summarizer.summarize_all([*asked, *finished])
    except Exception as error:  # reason: whatever the model or the network does, the history stays
        coder.io.tool_warning(
            f"aider-gardener: the summary failed ({type(error).__name__}); the history stays as it is."
        )
        return False
    summary = with_decisions(summary, kept)
    after = sum(gardener.count(str(message["content"])) for message in summary)
    if after >= history_used(gardener):
        coder.io.tool_warning("aider-gardener: the summary saved nothing; the history stays as it is.")
        return False
    hidden = gardener.hide_finished()
    link.show(coder, gardener)
    pinned = coder.done_messages
    coder.done_messages = [*summary, {"role": "assistant", "content": FILLER}, *pinned]
    link.take_in(coder, gardener)
    coder.io.tool_output(
        f"aider-gardener: {hidden} older messages were summarised by the LLM (window above 95 %)."
    )
    return True


def decisions(entries: Iterable[Entry]) -> list[str]:
    """The sentences the user typed that decide, require or forbid something, the newest last."""
    from aider_gardener.compress.prose_sentences import DECISION, units

    found: dict[str, None] = {}
    for entry in entries:
        if entry.source.kind is SourceKind.TYPED:
            for unit in units(entry.content[:20_000]):
                text = " ".join(entry.content[unit.start : unit.end].split())
                if unit.kind != "code" and len(text) <= DECISION_CHARS and DECISION.search(text):
                    found.pop(text, None)
                    found[text] = None
    return list(found)[-DECISIONS_LISTED:]


def with_decisions(summary: list[dict[str, Any]], kept: list[str]) -> list[dict[str, Any]]:
    """The summary, with the decisions that it does not state added to its last message."""
    said = " ".join(" ".join(str(message["content"]).split()) for message in summary)
    lacking = [text for text in kept if text not in said]
    if not lacking or not summary:
        return summary
    listed = "\n".join(f"- {text}" for text in lacking)
    last = summary[-1]
    return [*summary[:-1], {**last, "content": f"{last['content']}\n\n{KEPT_HEAD}\n{listed}"}]
