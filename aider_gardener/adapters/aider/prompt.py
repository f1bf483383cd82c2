"""What happens around aider's making of a prompt: garden before, recall after.

Above 95 % of the window, and only if the user allowed it, aider's own summary by an LLM is the last resort.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from aider_gardener.adapters.aider import call, layout, link, provider
from aider_gardener.adapters.aider.coder import Chunks, HostCoder, Terminal, text_of
from aider_gardener.messages import Level, Plan
from aider_gardener.phrases import applied_text, counted, limit_passed, recalled
from aider_gardener.plan.chat import question
from aider_gardener.plan.goals import Frame
from aider_gardener.plan.layout import Layout
from aider_gardener.plan.view import FILLER, has_edit
from aider_gardener.reading.source import is_for_the_user

if TYPE_CHECKING:
    from aider_gardener.gardener.gardener import Gardener
    from aider_gardener.gardener.state import ChatState
    from aider_gardener.gardener.throttle import Throttled
    from aider_gardener.recall.recall import Recalled

CHARS_A_TOKEN = 4


def before(coder: HostCoder, gardener: Gardener) -> bool:
    """Archive what is new and apply the plan that is due; returns whether the gardener acts."""
    link.bind(coder, gardener)
    link.sync(coder, gardener)
    state = gardener.state
    in_chat = {relative(coder, name) for name in coder.abs_fnames}
    if not in_chat.issuperset(state.frame.files):  # the user made room, and how much the next prompt tells
        state.frame = replace(state.frame, parts={**state.frame.parts, "files": 0})
    if (plan := gardener.compact_if_due()) is not None:
        _report(coder, state, plan)
    may_ask = state.settings.llm in ("fallback", "both") and state.acts and not state.is_preview
    if may_ask and state.is_hard:
        last_resort(coder, gardener)
    return state.acts


def after(coder: HostCoder, gardener: Gardener, chunks: Chunks) -> None:
    """Take the measure of the prompt; use a cold cache for pending work; lay it out and put in what is
    settled and what is recalled."""
    state = gardener.state
    coder.__dict__[call.PENDING_LINE] = ""
    grows = layout.grows(coder, state)
    around = frame_of(coder, state, chunks)
    if not grows:
        state.layout = Layout()
    else:  # laid out anew or behind the last prompt, it takes so much
        most = {name: max(tokens, state.frame.parts.get(name, 0)) for name, tokens in around.parts.items()}
        around = replace(around, parts=most)
    state.frame = around
    if not state.acts:
        return
    cold = is_cold(coder, state, chunks, grows=grows)
    _compact_measured(coder, gardener, chunks, cold=cold)
    files = "\n".join(map(text_of, [*chunks.readonly_files, *chunks.chat_files]))
    last, found = "", state.recalled.quoted
    if grows or layout.grows(coder, state):
        last = layout.arrange(coder, gardener, chunks, cold=cold)
    else:
        place_map_note(gardener, chunks)
    state.frame = frame_of(coder, state, chunks, last)
    if layout.last_user(chunks.cur) is not None:
        asked = question(reversed(state.chat.asked_of()))
        words = "" if asked is None or is_for_the_user(asked.content) else asked.content
        note = gardener.recall_note(words, f"{files}\n{state.note.text}")
        place_before_question(note, chunks)
    place_before_question(last, chunks)
    if state.settings.status_line and state.recalled.quoted is not found:
        line = _recalled(state, state.recalled.quoted)
        was_shown = coder.num_reflections and line == _recalled(state, found)  # for the prompt before
        coder.__dict__[call.PENDING_LINE] = "" if was_shown else line
    if notice := state.archive.take_notice():
        Terminal(coder.io).tool_warning(f"aider-gardener: {notice}")


def _compact_measured(coder: HostCoder, gardener: Gardener, chunks: Chunks, *, cold: bool) -> None:
    """Apply the plan that is due by the measure of this very prompt, and cut what waits where it could not be
    sent otherwise; the prompt has the chat as it stands then."""
    from aider_gardener.gardener.throttle import fit_open

    is_reminded = bool(chunks.cur) and chunks.cur[-1] not in coder.cur_messages
    reminder = chunks.cur[-1:] if is_reminded else []  # before a plan changes what it was made of
    plan = gardener.compact_if_due(cold=cold)
    cut = fit_open(gardener.state)
    if plan is not None or cut:
        chunks.done = coder.done_messages
        chunks.cur = [*coder.cur_messages[: len(coder.cur_messages) - len(reminder)], *reminder]
        _report(coder, gardener.state, plan, cut)


def _report(coder: HostCoder, state: ChatState, plan: Plan | None, cut: Sequence[Throttled] = ()) -> None:
    """Say in one line what was compacted, and how to take it back where the chat has the command; and what
    was cut."""
    if plan is not None:
        one = state.plans[-1]
        limit = ""
        if plan.tokens_before > one.high:
            # Where most turns come later than a cache lasts, writing it would cost more.
            would_serve = provider.caches_if_asked(coder) and state.usage.is_served
            limit = limit_passed(one.set_by, one.high, caches_if_asked=would_serve)
        if state.settings.status_line and not state.is_preview:
            line = applied_text(plan, limit, has_undo=hasattr(coder.commands, "cmd_gardener"))
            Terminal(coder.io).dim(f"aider-gardener: {line}")
    for item in cut:
        Terminal(coder.io).tool_warning(f"aider-gardener: {item.line()}")


def _recalled(state: ChatState, found: Sequence[Recalled]) -> str:
    """What was recalled for a prompt, "" for nothing."""
    own = state.archive.session
    turns = [item.turn for item in found if item.session == own]
    return recalled(turns, len(found) - len(turns)) if found else ""


# What is put in


def place_map_note(gardener: Gardener, chunks: Chunks) -> None:
    """Put the note on what is settled before the history, behind what is compacted at its beginning."""
    note = gardener.map_note(lambda: layout.around(chunks))
    if not note:
        return
    messages, chat = chunks.done or chunks.cur, gardener.state.chat
    is_compacted = len(messages) > 1 and any(piece.is_note for piece in (chat.done or chat.cur)[:1])
    at = 2 if is_compacted and messages[1]["content"] == FILLER else 0
    with_note = [*messages[:at], *layout.pair(note), *messages[at:]]  # new: the host keeps its own lists
    if chunks.done:
        chunks.done = with_note
    else:
        chunks.cur = with_note


def place_before_question(text: str, chunks: Chunks) -> None:
    """Put a text, if there is one, just before the last user message."""
    at = layout.last_user(chunks.cur)
    if text and at is not None:
        chunks.cur[at:at] = layout.pair(text)


# What is measured


def is_cold(coder: HostCoder, state: ChatState, chunks: Chunks, *, grows: bool) -> bool:
    """Whether the provider's cache holds nothing of the history: the model or what stands before it
    differs from the last prompt, or that was long ago. Before the history of a prompt that only grows nothing
    changes, and a mode with a system text of its own has a cache of its own."""
    before = [] if grows else [*chunks.system, *chunks.examples, *chunks.readonly_files, *chunks.repo]
    state.prefix = state.prefix.with_prompt(hash((coder.main_model.name, grows, *map(text_of, before))))
    return state.is_cold


def frame_of(coder: HostCoder, state: ChatState, chunks: Chunks, last: str = "") -> Frame:
    """The prompt around the history, in tokens by part, and the files of the chat. `last` is told of them
    besides."""
    updates = [message for message in chunks.done if getattr(message, "part", "") == "diffs"]
    around = {
        "system": [*chunks.system, *chunks.examples, *chunks.reminder],
        "map": chunks.repo,
        "files": [*chunks.readonly_files, *chunks.chat_files, *updates],
    }
    parts = {name: sum(state.count(text_of(m)) for m in messages) for name, messages in around.items()}
    parts["files"] += state.count(last) if last else 0
    if state.note.tokens:
        parts["notes"] = state.note.tokens

    files = {relative(coder, name): estimate(name) for name in sorted(coder.abs_fnames)}
    read_only = tuple(relative(coder, name) for name in sorted(coder.abs_read_only_fnames))
    return replace(state.frame, parts=parts, files=files, read_only=read_only)


def relative(coder: HostCoder, name: str) -> str:
    """How a file is called from the project's folder on."""
    if coder.repo:
        return coder.get_rel_fname(name).replace(os.sep, "/")
    path, project = Path(name), link.project_of(coder)  # aider's name begins at its root
    return (path.relative_to(project) if path.is_relative_to(project) else path).as_posix()


def estimate(path: str) -> int:
    """A file's tokens, estimated from its size; 0 when it is not there."""
    try:
        return os.path.getsize(path) // CHARS_A_TOKEN
    except OSError:
        return 0


# Instead of aider's summaries


def forget_edits(coder: HostCoder, gardener: Gardener) -> bool:
    """Show the edits of the chat in their compressed form, before another edit format: the new coder would
    imitate their blocks, and the host asks its LLM for a summary here. Returns whether the gardener acts."""
    from aider_gardener.gardener import compactions

    state = gardener.state
    if not state.acts:
        return False
    link.sync(coder, gardener)
    levels = dict(state.chat.levels)
    for entry in state.chat.all_entries():
        if has_edit(entry) and entry.seq not in levels:
            renditions = state.archive.renditions(entry)
            shorter = (f for f in (Level.COMPRESSED, Level.LINE) if f in renditions)
            levels[entry.seq] = next(shorter, Level.HIDDEN)
    if edits := len(levels) - len(state.chat.levels):
        compactions.show(state, levels, "the edit format changed")
        if state.settings.status_line:
            line = f"the edit format changed: {counted(edits, 'message')} with edits now in short form"
            Terminal(coder.io).dim(f"aider-gardener: {line}")
    return True


def last_resort(coder: HostCoder, gardener: Gardener) -> None:
    """Let aider's summariser replace the finished exchanges.

    What the user decided stands in the note before the history. The originals stay in the archive. The
    history stays as it is when the summary fails or saves nothing.
    """
    from aider_gardener.gardener.compactions import hide_finished

    waiting = len(coder.cur_messages)
    while waiting and coder.cur_messages[waiting - 1]["role"] == "user":
        waiting -= 1
    finished = [*coder.done_messages, *coder.cur_messages[:waiting]]
    if not finished:
        return
    state, why = gardener.state, "saved nothing"
    try:
        summary = coder.summarizer.summarize_all(finished)
    except Exception as error:  # reason: whatever the model or the network does, the history stays
        summary, why = [], f"failed ({type(error).__name__})"
    tokens = sum(state.count(str(message["content"])) for message in summary)
    if not summary or tokens >= state.history_used:
        Terminal(coder.io).tool_warning(f"aider-gardener: the summary {why}; the history stays as it is.")
        return
    hidden = hide_finished(state)
    coder.done_messages = [*summary, {"role": "assistant", "content": FILLER}, *coder.done_messages]
    gardener.sync(coder.done_messages, coder.cur_messages)
    Terminal(coder.io).tool_output(
        f"aider-gardener: {hidden} older messages were summarised by the LLM (window above 95 %)."
    )
