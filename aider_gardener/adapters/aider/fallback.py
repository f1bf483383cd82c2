"""The last resort above 95 % of the window, only if the user allowed it: aider's own summary by an LLM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from aider_gardener.adapters.aider import link
from aider_gardener.messages import Entry

if TYPE_CHECKING:
    from aider_gardener.gardener.gardener import Gardener

ASK_TO_KEEP = "Keep each of these decisions and rules of mine, word for word, in the summary:"
KEPT_HEAD = "Decisions and rules of mine that stand:"


def last_resort(coder: Any, gardener: Gardener) -> bool:
    """Let aider's summariser replace the finished exchanges; whether it did.

    What the user decided goes into its prompt, and what of it the summary lacks is added behind it. The
    originals stay in the archive. The history stays as it is when the summary fails or saves nothing.
    """
    from aider_gardener.gardener.compactions import history_used
    from aider_gardener.plan.view import FILLER

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


def decisions(entries: Sequence[Entry]) -> list[str]:
    """What the user set as a rule or decided and still holds, in the user's words, the newest last."""
    from aider_gardener.notes.decisions import decided
    from aider_gardener.notes.rules import standing

    said = [(rule.seq, rule.text) for rule in standing(entries)]
    said += [(item.seq, item.text) for item in decided(entries) if item.is_users]
    return list(dict.fromkeys(text for _seq, text in sorted(said)))


def with_decisions(summary: list[dict[str, Any]], kept: list[str]) -> list[dict[str, Any]]:
    """The summary, with the decisions that it does not state added to its last message."""
    said = " ".join(" ".join(str(message["content"]).split()) for message in summary)
    lacking = [text for text in kept if text not in said]
    if not lacking or not summary:
        return summary
    listed = "\n".join(f"- {text}" for text in lacking)
    last = summary[-1]
    return [*summary[:-1], {**last, "content": f"{last['content']}\n\n{KEPT_HEAD}\n{listed}"}]
