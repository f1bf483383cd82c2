"""What happens around aider's making of a prompt: garden before, recall after.

Above 95 % of the window, and only if the user allowed it, aider's own summary by an LLM is the last resort.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from aider_gardener.adapters.aider import link, order, overflow
from aider_gardener.adapters.aider.coder import Chunks, HostCoder, HostMessage, HostModel
from aider_gardener.messages import Entry, Fidelity, Plan, SourceKind
from aider_gardener.phrases import made_room
from aider_gardener.plan.goals import Frame
from aider_gardener.plan.usage import CACHE_SECONDS
from aider_gardener.reading.source import LAST_CHAT

if TYPE_CHECKING:
    from aider_gardener.gardener.gardener import Gardener
    from aider_gardener.gardener.state import ChatState
    from aider_gardener.notes.rules import Amendment

CHARS_A_TOKEN = 4

LAST_CHAT_LEFT = (
    "aider-gardener: the note on the last chat had to make room and no longer stands whole in the prompt;"
    " /restore {id} brings it back."
)
KEPT_HEAD = "Decisions and rules of mine that stand:"


def before(coder: HostCoder, gardener: Gardener) -> None:
    """Archive what is new and apply the plan that is due."""
    link.take_in(coder, gardener)
    state = gardener.state
    state.frame = replace(state.frame, parts={**state.frame.parts, "current": current(state)})
    if (plan := gardener.compact_if_due()) is not None:
        link.show(coder, gardener)
        tell_made_room(coder, gardener, plan)
    if state.settings.may_summarise and state.acts and state.is_hard:
        last_resort(coder, gardener)


def after(coder: HostCoder, gardener: Gardener, chunks: Chunks) -> None:
    """Take the measure of the prompt; use a cold cache for pending work; put in what is recalled."""
    state = gardener.state
    state.frame = frame_of(coder, state, chunks)
    if not state.acts:
        return
    parts = order.parts_of(coder, state, chunks) if state.settings.files == "stable" else None
    plan = gardener.compact_if_due(cold=is_cold(coder, state, chunks, parts))
    if plan is not None:
        tell_made_room(coder, gardener, plan)
    if overflow.fit_open(coder, gardener) or plan is not None:
        reminded = reminder_of(coder, chunks)
        link.show(coder, gardener)
        chunks.done = coder.done_messages
        chunks.cur = [*coder.cur_messages[: len(coder.cur_messages) - len(reminded)], *reminded]
    place_map(gardener, chunks)
    place_recall(coder, gardener, chunks)
    if parts is not None:
        order.arrange(state, chunks, parts, cold=is_idle(state))
    if notice := gardener.take_notice():
        coder.io.tool_warning(f"aider-gardener: {notice}")


def tell_made_room(coder: HostCoder, gardener: Gardener, plan: Plan) -> None:
    """Say in one line what was compacted, and how to take it back where the chat has the command; in another
    that the note on the last chat, which the user asked for, is among it."""
    line = made_room(plan, has_undo=hasattr(coder.commands, "cmd_gardener"))
    coder.io.tool_output(f"aider-gardener: {line}")
    for entry in last_chat_notes(gardener, plan):
        coder.io.tool_output(LAST_CHAT_LEFT.format(id=entry.id))


def last_chat_notes(gardener: Gardener, plan: Plan) -> list[Entry]:
    """The notes on the last chat that stood whole until this plan."""
    shortened = {swap.entry_id for swap in plan.swaps if swap.before is Fidelity.FULL}
    entries = (gardener.state.chat.entries[seq] for seq in gardener.state.chat.fidelity)
    return [entry for entry in entries if entry.source == LAST_CHAT and entry.id in shortened]


def reminder_of(coder: HostCoder, chunks: Chunks) -> list[HostMessage]:
    """The last message of the chunks, if the host has put its reminder into it."""
    return chunks.cur[-1:] if chunks.cur and chunks.cur[-1] not in coder.cur_messages else []


def is_cold(coder: HostCoder, state: ChatState, chunks: Chunks, parts: order.Parts | None) -> bool:
    """Whether the provider's cache holds nothing of the history: the model or what stands before it
    differs from the last prompt, or that was long ago. `parts` are given where they stand by rest."""
    before = [*chunks.system, *chunks.examples]
    if parts is None:
        before += [*chunks.readonly_files, *chunks.repo]
    elif order.breaks(state, parts):
        return True
    state.prefix = state.prefix.seen(hash((coder.main_model.name, *(text_of(m) for m in before))))
    return state.prefix.changed or is_idle(state)


def is_idle(state: ChatState) -> bool:
    """Whether the last call is so long ago that nothing of it is in the provider's cache."""
    return CACHE_SECONDS <= state.usage.idle_seconds < math.inf


def place_map(gardener: Gardener, chunks: Chunks) -> None:
    """Put the note on what is settled before the history, behind what is compacted at its beginning."""
    from aider_gardener.plan.view import FILLER

    beside = (*chunks.system, *chunks.readonly_files, *chunks.repo, *chunks.chat_files)
    note = gardener.map_note(lambda: "\n".join(text_of(m) for m in beside))
    if not note:
        return
    messages = chunks.done or chunks.cur
    chat = gardener.state.chat
    compacted = len(messages) > 1 and any(piece.is_note for piece in (chat.done or chat.cur)[:1])
    at = 2 if compacted and messages[1]["content"] == FILLER else 0
    pair = [{"role": "user", "content": note}, {"role": "assistant", "content": FILLER}]
    with_note = [*messages[:at], *pair, *messages[at:]]  # new: the host keeps its own lists
    if chunks.done:
        chunks.done = with_note
    else:
        chunks.cur = with_note


def place_recall(coder: HostCoder, gardener: Gardener, chunks: Chunks) -> None:
    """Put what is recalled for the user's question just before the last user message."""
    at = next((i for i in reversed(range(len(chunks.cur))) if chunks.cur[i]["role"] == "user"), None)
    if at is None:
        return
    standing = "\n".join(text_of(m) for m in [*chunks.readonly_files, *chunks.chat_files])
    note = gardener.recall_note(question_of(coder), f"{standing}\n{gardener.state.note.text}")
    if note:
        from aider_gardener.plan.view import FILLER

        pair = [{"role": "user", "content": note}, {"role": "assistant", "content": FILLER}]
        chunks.cur[at:at] = pair


def question_of(coder: HostCoder) -> str:
    """What the user asked: the last message of the current ones that was typed, else the last one."""
    from aider_gardener.reading.source import infer_source

    asked = [
        m["content"] for m in coder.cur_messages if m["role"] == "user" and isinstance(m["content"], str)
    ]
    typed = [text for text in asked if infer_source("user", text).kind is SourceKind.TYPED]
    return str((typed or asked or [""])[-1])


def text_of(message: HostMessage) -> str:
    """The text of a message; of several content parts the textual ones."""
    content = message["content"]
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content or [] if isinstance(part, dict))


def frame_of(coder: HostCoder, state: ChatState, chunks: Chunks) -> Frame:
    """The prompt around the history, in tokens by part, and the files of the chat."""

    def tokens(messages: Iterable[HostMessage]) -> int:
        return sum(state.count(text_of(m)) for m in messages)

    parts = {
        "system": tokens([*chunks.system, *chunks.examples, *chunks.reminder]),
        "map": tokens(chunks.repo),
        "files": tokens([*chunks.readonly_files, *chunks.chat_files]),
        "current": current(state),
    }
    if state.note.tokens:
        parts["notes"] = state.note.tokens
    files = {
        coder.get_rel_fname(name).replace(os.sep, "/"): estimate(name) for name in sorted(coder.abs_fnames)
    }
    held = sorted(coder.abs_read_only_fnames)
    read_only = tuple(coder.get_rel_fname(name).replace(os.sep, "/") for name in held)
    return replace(state.frame, parts=parts, files=files, read_only=read_only)


def current(state: ChatState) -> int:
    """Tokens of what waits for an answer. Of more than half the window only that much: rather than let
    one message push out the whole history, the message itself is cut."""
    from aider_gardener.plan.planner import open_tokens

    tokens = open_tokens(state.chat, state.count)
    return min(tokens, state.frame.window // 2) if state.frame.window else tokens


def estimate(path: str) -> int:
    """A file's tokens, estimated from its size; 0 when it is not there."""
    try:
        return os.path.getsize(path) // CHARS_A_TOKEN
    except OSError:
        return 0


def makes_sub_coder(from_coder: HostCoder, kwargs: dict[str, Any]) -> bool:
    """Whether `Coder.create` makes a helper with a chat of its own: architect's editor, the lint fixer."""
    fresh_lists = "cur_messages" in kwargs or "done_messages" in kwargs
    editor = from_coder.edit_format == "architect" and kwargs.get("map_tokens") == 0
    return fresh_lists or (editor and kwargs.get("cache_prompts") is False)


def forget_old_format(
    coder: HostCoder, gardener: Gardener, main_model: HostModel | None, edit_format: str | None
) -> None:
    """When the edit format changes, show old edits in their compressed form: the new coder would
    imitate their blocks. The host asks its LLM for a summary here."""
    model = main_model or coder.main_model
    target = model.edit_format if edit_format in (None, "code") and main_model else edit_format
    target = coder.edit_format if target in (None, "code") else target
    if target != coder.edit_format:
        forget_edits(coder, gardener)


def forget_edits(coder: HostCoder, gardener: Gardener) -> None:
    """Show the edits of the chat in their compressed form."""
    link.refresh(gardener, coder)
    link.take_in(coder, gardener)
    if strip_edits(gardener.state):
        link.show(coder, gardener)


def strip_edits(state: ChatState) -> int:
    """Swap every edit reply that stands in full for its compressed form; returns how many."""
    from aider_gardener.gardener.compactions import show
    from aider_gardener.plan.planner import has_edit

    rows = [e for e in state.chat.all_entries() if has_edit(e) and e.seq not in state.chat.fidelity]
    levels = dict(state.chat.fidelity)
    for entry in rows:
        made = state.archive.renditions(entry)
        levels[entry.seq] = next(
            (f for f in (Fidelity.COMPRESSED, Fidelity.LINE) if f in made), Fidelity.HIDDEN
        )
    if rows:
        show(state, levels, "the edit format changed")
    return len(rows)


def last_resort(coder: HostCoder, gardener: Gardener) -> bool:
    """Let aider's summariser replace the finished exchanges; whether it did.

    What the user decided is added to it word for word. The originals stay in the archive. The history stays
    as it is when the summary fails or saves nothing.
    """
    from aider_gardener.gardener.amendments import since_clear
    from aider_gardener.gardener.compactions import hide_finished
    from aider_gardener.plan.view import FILLER

    state = gardener.state
    waiting = len(coder.cur_messages)
    while waiting and coder.cur_messages[waiting - 1]["role"] == "user":
        waiting -= 1
    finished = [*coder.done_messages, *coder.cur_messages[:waiting]]
    if not finished:
        return False
    try:
        summary = coder.summarizer.summarize_all(finished)
    except Exception as error:  # reason: whatever the model or the network does, the history stays
        coder.io.tool_warning(
            f"aider-gardener: the summary failed ({type(error).__name__}); the history stays as it is."
        )
        return False
    if kept := decisions(state.chat.all_entries(), since_clear(state)):
        listed = "\n".join(f"- {text}" for text in kept)
        last = summary[-1]
        summary = [*summary[:-1], {**last, "content": f"{last['content']}\n\n{KEPT_HEAD}\n{listed}"}]
    after = sum(state.count(str(message["content"])) for message in summary)
    if after >= state.history_used:
        coder.io.tool_warning("aider-gardener: the summary saved nothing; the history stays as it is.")
        return False
    hidden = hide_finished(state)
    link.show(coder, gardener)
    pinned = coder.done_messages
    coder.done_messages = [*summary, {"role": "assistant", "content": FILLER}, *pinned]
    link.take_in(coder, gardener)
    coder.io.tool_output(
        f"aider-gardener: {hidden} older messages were summarised by the LLM (window above 95 %)."
    )
    return True


def decisions(entries: Sequence[Entry], amendments: Sequence[Amendment] = ()) -> list[str]:
    """What the user set as a rule or decided and still holds, in the user's words, the newest last."""
    from aider_gardener.notes.decisions import decided
    from aider_gardener.notes.rules import standing

    said = [(rule.seq, rule.text) for rule in standing(entries, amendments)]
    said += [(item.seq, item.text) for item in decided(entries) if item.is_users]
    return list(dict.fromkeys(text for _seq, text in sorted(said)))
