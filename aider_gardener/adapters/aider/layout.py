"""Where files and aider's repo map stand in a prompt, and the cache breakpoints behind what rests.

aider's order is system, examples, read-only files, map, history, files, current messages. In a prompt that
only grows (`plan.layout`) the files stand before the history, and what changed of them in it: what stands
before takes the place of aider's read-only files, all finished exchanges that of its history, what is
nowhere else that of its files. So the chunks are sent in aider's own order, and its cache marks and pings
find what they look for.

A mode that only answers has a system text of its own, and with it no prefix in common with the orders before
and after it. So it is asked with that of the orders; its own words come last.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from itertools import groupby
from typing import TYPE_CHECKING

from aider_gardener.adapters.aider.coder import Chunks, HostCoder, HostMessage, text_of
from aider_gardener.messages import SourceKind
from aider_gardener.plan.layout import File, Layout, Sent
from aider_gardener.plan.repo_map import MapNow, Mentions
from aider_gardener.plan.view import FILLER
from aider_gardener.reading.source import failed_edit

if TYPE_CHECKING:
    from aider_gardener.gardener.gardener import Gardener
    from aider_gardener.gardener.state import ChatState

EDITABLE_HEAD = (
    "I have added these files to the chat, so you can go ahead and edit them. Each stands here whole. Where"
    " a message further down shows changes of one, its true content is what stands here with those changes"
    " made, one after the other. Any other message may quote an older version.\n"
)
READ_ONLY_HEAD = (
    "Here are files for reference; do not edit them. Each stands here whole; changes that are shown further"
    " down count.\n"
)
CHANGED_HEAD = (
    "Changes of the files, whoever made them. From here on each is as shown before with these changes made:\n"
)
WHOLE = "whole as it is now; what was shown of it before is out of date"
NEW = "new in the chat, whole"
MAP_HEAD = "More of the repository, as it is now:\n"
STATE_HEAD = (
    "The files of the chat as they are now, which edits must match (whatever the map says, they are in"
    " the chat):"
)
AS_BASE, AS_LATER = "as it stands in the list before the chat", "as it was shown whole later, not as before"
MODE_HEAD = (
    "For the message that follows these instructions hold, in the place of those at the beginning. Answer in"
    " words; no file is edited, and no edit blocks are wanted:"
)

MENTIONED_CHARS = 200_000
"""Of what was said last, more than most windows hold. aider keeps a map for each set of words it was asked
for: of outputs without an end both would grow with the chat."""
ANSWERS = frozenset({"ask", "context", "help"})
"""Modes that only answer: they are asked with the system text of the mode that edits."""

SMALL = re.compile(r"\b(?:mini|nano|haiku|flash|lite|small|tiny)\b|(?<!\d)[1-9]\d?b\b", re.I)
"""Models that are not trusted to put a file and its diffs together, by a word of their names: nobody has
tried. Strong ones were tried, blind, and each edit matched the file (docs/decisions/0012)."""


# The prompt that only grows


def grows(coder: HostCoder, state: ChatState) -> bool:
    """Whether this chat's prompts only grow. By default they begin to where aider would rewrite its history:
    within its limit prompts are aider's own. It must pay: the model has a price for cached tokens, its
    provider caches by itself or is asked to; and the model must be up to it."""
    choice = state.settings.files
    if not state.acts or choice == "aider":
        return False
    if choice == "append":
        return True
    prices = state.usage.prices
    if prices.cache_read >= prices.input or SMALL.search(coder.main_model.name):
        return False
    history = state.history_used
    return history > 0 and (state.layout.begun or bool(state.chat.levels) or history > state.budget)


def arrange(coder: HostCoder, gardener: Gardener, chunks: Chunks, *, cold: bool) -> str:
    """Lay out the prompt behind what was sent before. Returns what is to stand last before what the user
    asks: how the files are now, and the words of a mode that only answers."""
    from aider_gardener.gardener.care import amendments

    state = gardener.state
    at = last_user(chunks.cur)
    at = len(chunks.cur) if at is None else at
    history = [*chunks.done, *chunks.cur[:at]]
    files = files_of(coder)
    last, map_now = state.layout, _map_now(coder, gardener, chunks)
    note_keys = (tuple(amendments(state)), state.chat.forgotten)  # what the note goes by beside the history
    keys = [note_keys, *((message["role"], text_of(message)) for message in history)]
    whole = _not_matched(last, files, chunks.cur[at:])
    layout = last.next(files, map_now, keys, cold=cold, whole=whole)
    if wrong := layout.wrong(files):
        state.event("layout", files=sorted(wrong))
        layout = last.next(files, map_now, keys, cold=cold, whole=whole | wrong)
    if layout.renewals != last.renewals or state.note.key is None:  # it went as all was put back whole
        note = gardener.map_note(lambda: around(chunks))
    else:
        note = state.note.text
    head = tuple(dict(message) for message in (*chunks.system, *chunks.examples))  # aider marks its own
    rides = coder.edit_format in ANSWERS and layout.head not in ((), head)
    words = "\n".join(text_of(message) for message in chunks.system) if rides else ""
    state.layout = layout = replace(layout, head=layout.head if rides else head)
    if rides:
        chunks.system, chunks.examples = [dict(message) for message in layout.head], []
    images = [*_images(chunks.readonly_files), *_images(chunks.chat_files)]
    no_files = [] if coder.abs_fnames else [m for m in chunks.chat_files if m not in images]
    chunks.readonly_files = [*images, *_bases(coder, layout, files)]
    chunks.repo = _placed(layout.map.text, "repo") if layout.map.text else []
    chunks.done = [*_notes(coder, layout, note), *_with_updates(coder, layout, history)]
    chunks.chat_files = no_files
    chunks.cur = chunks.cur[at:]
    return _state_of(layout, words)


def pair(text: str) -> list[HostMessage]:
    """A text as messages: it speaks in the user's role and is answered, so that roles take turns."""
    return [{"role": "user", "content": text}, {"role": "assistant", "content": FILLER}]


def files_of(coder: HostCoder) -> list[File]:
    """The texts in the chat as aider reads them."""
    from aider.utils import is_image_file

    found = list[File]()
    for names, read_only in ((coder.abs_read_only_fnames, True), (coder.abs_fnames, False)):
        for name in sorted(name for name in names if not is_image_file(name)):
            content = coder.io.read_text(name, silent=True)  # aider has said it
            if content is not None:
                found.append(File(coder.get_rel_fname(name), content, read_only))
    return found


def _not_matched(layout: Layout, files: Sequence[File], asked: Sequence[HostMessage]) -> set[str]:
    """The files of which an edit has just failed to match, while they stand as more than one whole text."""
    text = text_of(asked[0]) if asked else ""
    if not failed_edit(text):
        return set()
    return {file.name for file in files if file.name in text and layout.diffs(file.name)}


def _images(messages: Sequence[HostMessage]) -> list[HostMessage]:
    """aider's messages with images, each with the answer to it."""
    found: list[HostMessage] = []
    for message, answer in zip(messages[::2], messages[1::2], strict=False):
        if not isinstance(message["content"], str):
            found += [message, answer]
    return found


def around(chunks: Chunks) -> str:
    """The text of a prompt around its history."""
    return "\n".join(map(text_of, [*chunks.system, *chunks.readonly_files, *chunks.repo, *chunks.chat_files]))


# Its messages


class Placed(dict[str, object]):
    """A message that the layout puts where the host has others. `part` says what of a prompt it is: "bases",
    "repo" (the map), "diffs" or "done" (a note on the history). With the bases go names and texts of all
    `files` as they are now: what this message and those behind it make for a reader."""

    def __init__(self, message: HostMessage, part: str, files: str = "") -> None:
        super().__init__(message)
        self.part, self.files = part, files


def _placed(text: str, part: str, files: str = "") -> list[HostMessage]:
    return [Placed(message, part, files) for message in pair(text)]


def _bases(coder: HostCoder, layout: Layout, files: Sequence[File]) -> list[HostMessage]:
    """What a compaction leaves as it is, with the map behind it. aider's second mark stands behind both."""
    found, now = list[HostMessage](), "\n".join(f"{file.name}\n{file.text}" for file in files)
    for read_only, group in groupby(layout.bases, lambda base: base.file.read_only):
        head = READ_ONLY_HEAD if read_only else EDITABLE_HEAD
        found += _placed(head + "".join(_whole(coder, base.file) for base in group), "bases", now)
    return found


def _notes(coder: HostCoder, layout: Layout, note: str) -> list[HostMessage]:
    """What a compaction makes anew: the gathered diffs and the note."""
    gathered = "".join(_shown(coder, each) for each in layout.gathered)
    found = _placed(CHANGED_HEAD + gathered, "diffs") if gathered else []
    return found + (_placed(note, "done") if note else [])


def _with_updates(coder: HostCoder, layout: Layout, history: Sequence[HostMessage]) -> list[HostMessage]:
    """The history with each update where it belongs."""
    found, done = list[HostMessage](), 0
    for update in layout.updates:
        at = update.at - 1  # the first key is not a message's
        files = "".join(_shown(coder, each) for each in update.files)
        parts = [CHANGED_HEAD + files if files else "", MAP_HEAD + update.map if update.map else ""]
        found += [*history[done:at], *_placed("\n".join(filter(None, parts)), "diffs")]
        done = at
    return [*found, *history[done:]]


def _whole(coder: HostCoder, file: File, words: str = "") -> str:
    return f"\n{file.name}{words and f', {words}:'}\n{coder.fence[0]}\n{file.text}{coder.fence[1]}\n"


def _shown(coder: HostCoder, sent: Sent) -> str:
    if sent.diff:
        return f"\n{sent.name}\n```diff\n{sent.diff}```\n"
    return _whole(coder, sent.file, NEW if sent.is_new else WHOLE)


def _state_of(layout: Layout, words: str) -> str:
    """What the files are now, a line each, and the words of the mode."""
    lines = [STATE_HEAD] if layout.since_whole else []
    bases = {id(base) for base in layout.bases}
    for name, (whole, *diffs) in layout.since_whole.items():
        shown_as = AS_BASE if id(whole) in bases else AS_LATER
        changes = "once" if len(diffs) == 1 else f"{len(diffs)} times"
        lines.append(f"- {name}: {shown_as}" + (f", then changed {changes}" if diffs else ""))
    return "\n".join([*lines, *(["", MODE_HEAD, "", words] if words else [])]).strip()


# Cache breakpoints


def set_breakpoints(coder: HostCoder, gardener: Gardener, chunks: Chunks) -> None:
    """Set the cache breakpoints that aider leaves free where a provider takes them, four of them.

    aider has set those behind system or examples, behind what comes before the history, and behind the
    files. In its own order one behind the history is set once some of it is compacted: below aider's limit
    requests are aider's own. In a prompt that only grows it stands behind the history and its updates.
    """
    if not (coder.add_cache_headers and gardener.state.acts):
        return
    if grows(coder, gardener.state):
        # What stands for no files is gone with the first one: no breakpoint behind it.
        chunks.chat_files = [{**each, "content": text_of(each)} for each in chunks.chat_files]
        chunks.done = [*chunks.done[:-1], *map(_marked, chunks.done[-1:])]
    elif gardener.state.chat.levels:
        mark_history(chunks)


def mark_history(chunks: Chunks) -> None:
    """Set a breakpoint behind what is done; where nothing is, behind the finished exchanges among the current
    messages, if there are any."""
    from aider_gardener.recall.recall import NOTE_HEAD

    if chunks.done:
        chunks.done = [*chunks.done[:-1], _marked(chunks.done[-1])]
        return
    at = (last_user(chunks.cur) or 0) - 1
    if at > 0 and str(chunks.cur[at - 1]["content"]).startswith(NOTE_HEAD):
        at -= 2  # what is recalled changes with each prompt
    if at >= 0 and isinstance(chunks.cur[at]["content"], str):
        chunks.cur[at] = _marked(chunks.cur[at])


def last_user(messages: Sequence[HostMessage]) -> int | None:
    """The place of the user's last message."""
    return next((at for at in reversed(range(len(messages))) if messages[at]["role"] == "user"), None)


def _marked(message: HostMessage) -> HostMessage:
    part = {"type": "text", "text": message["content"], "cache_control": {"type": "ephemeral"}}
    return {**message, "content": [part]}


# The map


def current_texts(coder: HostCoder, gardener: Gardener) -> str | None:
    """The end of the current messages as they were said, whatever of them is in the prompt: what the map's
    mentions are taken from. None while all of it is."""
    state = gardener.state
    if not (state.acts and (state.chat.levels or state.layout.begun)):
        return None
    return "".join(f"{entry.content}\n" for entry in state.chat.current_entries())[-MENTIONED_CHARS:]


def _map_now(coder: HostCoder, gardener: Gardener, chunks: Chunks) -> MapNow:
    """The map that aider has made, and what the user typed since the last edit and the files that the model
    named since then."""

    @cache
    def mentions() -> Mentions:
        entries = gardener.state.chat.current_entries()
        typed = "\n".join(entry.content for entry in entries if entry.source.kind is SourceKind.TYPED)
        replies = "\n".join(entry.content for entry in entries if entry.role == "assistant")
        words = coder.get_ident_mentions(typed)
        files = coder.get_file_mentions(f"{typed}\n{replies}") | coder.get_ident_filename_matches(words)
        return Mentions(frozenset(files), frozenset(words))

    def stamp(name: str) -> object:
        """What tells of a file that it was changed; None where it is not there."""
        try:
            found = os.stat(os.path.join(coder.root, name))
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size

    text = text_of(chunks.repo[0]) if chunks.repo else ""
    head = _map_head(coder) if text else ""
    head = head if text.startswith(head) else ""
    return MapNow(head, text[len(head) :], stamp, mentions)


def _map_head(coder: HostCoder) -> str:
    """What aider writes above a map. It keeps the files of the chat out of it, and read-only ones of the
    repository."""
    prefix = coder.repo_map.repo_content_prefix if coder.repo_map else None
    in_chat = coder.abs_fnames or coder.abs_read_only_fnames.intersection(coder.get_all_abs_files())
    return (prefix or "").format(other="other " if in_chat else "")
