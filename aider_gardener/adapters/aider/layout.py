"""Where files and aider's repo map stand in a prompt, and the cache breakpoints behind what rests.

aider's order is system, examples, read-only files, map, history, files, current messages. In the order of
rest (`plan.order`) each file is a message of its own and stands where it rests: what stands before the
history takes the place of aider's read-only files, what stands in it is put between two exchanges, and
what stands behind it takes the place of aider's files. So the chunks are sent in aider's own order, and its
cache marks and pings find what they look for.

The map rests between prompts as long as it shows what is spoken of (`plan.order`). aider takes what is
mentioned from its current messages. Those may have been compacted, and a prompt that was answered leaves them
with the next edit: the map would change with either.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from aider_gardener.adapters.aider.coder import Chunks, HostCoder, HostMessage
from aider_gardener.messages import SourceKind
from aider_gardener.plan.order import Mentions, Part

if TYPE_CHECKING:
    from aider_gardener.gardener.gardener import Gardener
    from aider_gardener.gardener.state import ChatState

AUTO = "auto"
"""aider's --map-refresh where the user chose none: with any other the map is made as that says."""


# The order of rest


Placed = dict[Part, list[HostMessage]]
"""Parts with their messages."""


@dataclass(frozen=True)
class Parts:
    """The files and the map of a prompt, each for itself; `rest` is what aider sends beside the files of the
    chat (images, or a word that there are none)."""

    placed: Placed
    rest: list[HostMessage]


def parts_of(coder: HostCoder, state: ChatState, chunks: Chunks) -> Parts | None:
    """The parts of a prompt as aider has put it together; None where its texts are not what is known."""
    prompts = coder.gpt_prompts
    read_blocks = quoted(coder, coder.abs_read_only_fnames, "read-only")
    read_only = split(chunks.readonly_files, prompts.read_only_files_prefix, read_blocks)
    files = split(chunks.chat_files, prompts.files_content_prefix, quoted(coder, coder.abs_fnames, "file"))
    if read_only is None or files is None:
        return None
    found = [*read_only, *files]
    if chunks.repo:
        text = str(chunks.repo[0]["content"])
        found.append(("map", text.removeprefix(_map_head(coder)), chunks.repo))
    placed = {Part(name, hash(text), state.count(text)): messages for name, text, messages in found}
    rest = [*chunks.readonly_files[2 if read_only else 0 :], *chunks.chat_files[2 if files else 0 :]]
    return Parts(placed, rest)


def quoted(coder: HostCoder, names: set[str], kind: str) -> Iterator[tuple[str, str]]:
    """The name and the text of each file, as aider quotes it."""
    from aider.utils import is_image_file

    for name in names:
        content = coder.io.read_text(name)
        if content is not None and not is_image_file(name):
            relative = coder.get_rel_fname(name)
            yield f"{kind} {relative}", f"\n{relative}\n{coder.fence[0]}\n{content}{coder.fence[1]}\n"


def split(
    messages: Sequence[HostMessage], prefix: str, blocks: Iterator[tuple[str, str]]
) -> list[tuple[str, str, list[HostMessage]]] | None:
    """aider's message with all files as one for each file, aider's own words before and behind it: name,
    text, messages. Nothing where there are no files; None where aider makes another message of them."""
    found = list(blocks)
    if not found:
        return []
    whole = prefix + "".join(text for _, text in found)
    if len(messages) < 2 or messages[0]["content"] != whole:
        return None
    asked, answer = messages[:2]
    return [(name, text, [{**asked, "content": prefix + text}, dict(answer)]) for name, text in found]


def arrange(state: ChatState, chunks: Chunks, parts: Parts, *, cold: bool) -> None:
    """Put each part where it rests."""
    history = _exchanges(state, chunks.done)
    messages = {part.name: each for part, each in (*parts.placed.items(), *history.items())}
    state.order = replace(state.order)
    sent = state.usage.totals.calls
    order = state.order.arrange([*parts.placed], [*history], sent=sent, cold=cold)
    places = [at for at, part in enumerate(order) if part.is_history]
    first, end = (places[0], places[-1] + 1) if places else (len(order), len(order))

    def joined(found: Sequence[Part]) -> list[HostMessage]:
        return [message for part in found for message in messages[part.name]]

    chunks.readonly_files = joined(order[:first])
    chunks.repo = []
    chunks.done = joined(order[first:end])  # new: the host keeps its own list
    chunks.chat_files = [*joined(order[end:]), *parts.rest]
    state.frame = replace(state.frame, behind=state.order.behind_history)


def _exchanges(state: ChatState, done: Sequence[HostMessage]) -> Placed:
    """The history cut where a user message follows a reply: only there something can stand between."""
    cut: list[list[HostMessage]] = []
    for message in done:
        if not cut or (message["role"] == "user" and cut[-1][-1]["role"] == "assistant"):
            cut.append([])
        cut[-1].append(message)
    texts = ["\n".join(f"{m['role']}: {m['content']}" for m in messages) for messages in cut]
    parts = [Part(place, hash(text), state.count(text)) for place, text in enumerate(texts)]
    return dict(zip(parts, cut, strict=True))


# Cache breakpoints


def set_breakpoints(coder: HostCoder, gardener: Gardener, chunks: Chunks) -> None:
    """Set the cache breakpoints that aider leaves free where a provider takes them, four of them.

    aider has set those behind system or examples, behind what comes before the history, and behind the
    files. In its own order one behind the finished exchanges is only worth it once some are compacted. In the
    order of rest there is one behind the history and one behind the finished exchanges among the current
    messages or, where there are none, behind the files.
    """
    if not (coder.add_cache_headers and gardener.state.acts):
        return
    if gardener.state.settings.files != "stable":
        if gardener.state.chat.fidelity:
            mark_history(chunks)
    elif chunks.done:
        chunks.done = [*chunks.done[:-1], _marked(chunks.done[-1])]
        if mark_history(chunks):
            chunks.chat_files = [_unmarked(message) for message in chunks.chat_files]


def mark_history(chunks: Chunks) -> bool:
    """Set a breakpoint behind the finished exchanges that stand after the files; whether there are any."""
    from aider_gardener.recall.recall import NOTE_HEAD

    at = (last_user(chunks.cur) or 0) - 1
    if at > 0 and str(chunks.cur[at - 1]["content"]).startswith(NOTE_HEAD):
        at -= 2  # what is recalled changes with each prompt
    if at < 0 or not isinstance(chunks.cur[at]["content"], str):
        return False
    chunks.cur[at] = _marked(chunks.cur[at])
    return True


def last_user(messages: Sequence[HostMessage]) -> int | None:
    """The place of the user's last message."""
    return next((at for at in reversed(range(len(messages))) if messages[at]["role"] == "user"), None)


def _marked(message: HostMessage) -> HostMessage:
    part = {"type": "text", "text": message["content"], "cache_control": {"type": "ephemeral"}}
    return {**message, "content": [part]}


def _unmarked(message: HostMessage) -> HostMessage:
    """The message without a breakpoint; aider's is the only part of a text."""
    content = message["content"]
    if isinstance(content, list) and len(content) == 1 and "cache_control" in content[0]:
        return {**message, "content": content[0]["text"]}
    return message


# The map


def rests(coder: HostCoder, state: ChatState) -> bool:
    """Whether the map may rest: not while prompts are to be as aider makes them."""
    is_due = bool(state.chat.fidelity) or state.settings.files == "stable"
    return state.acts and is_due and getattr(coder.repo_map, "refresh", "") == AUTO


def current_texts(coder: HostCoder, gardener: Gardener) -> str | None:
    """The current messages as they were said, whatever of them is in the prompt: what the map's mentions are
    taken from. None where the map does not rest."""
    if not rests(coder, gardener.state):
        return None
    return "".join(f"{entry.content}\n" for entry in gardener.state.chat.current_entries())


def resting_map(
    coder: HostCoder, gardener: Gardener, fresh: str | None, force_refresh: bool = False
) -> str | None:
    """The map for this prompt, given the one that aider made for it; None: that one. `force_refresh`: the
    user asked for a new one."""
    if not fresh or not rests(coder, gardener.state) or not fresh.startswith(head := _map_head(coder)):
        return None
    state = gardener.state
    resting = state.resting_map = replace(state.resting_map)
    room = (coder.repo_map.max_map_tokens if coder.repo_map else 0, bool(coder.abs_fnames))
    chat_files = {coder.get_rel_fname(name) for name in coder.abs_fnames}

    def stamp(name: str) -> object:
        return _stamp_of(os.path.join(coder.root, name))

    is_true = not force_refresh and resting.holds(stamp, chat_files, room)
    if not is_true or resting.lacks(fresh[len(head) :], _mentions(coder, gardener)):
        resting.replace(fresh[len(head) :], stamp, room)
    return head + resting.listing


def _map_head(coder: HostCoder) -> str:
    """What aider writes above a map. It keeps the files of the chat out of it, and read-only ones of the
    repository."""
    prefix = coder.repo_map.repo_content_prefix if coder.repo_map else None
    in_chat = coder.abs_fnames or coder.abs_read_only_fnames.intersection(coder.get_all_abs_files())
    return (prefix or "").format(other="other " if in_chat else "")


def _mentions(coder: HostCoder, gardener: Gardener) -> Mentions:
    """What the user typed since the last edit, and the files that the model named since then."""
    entries = gardener.state.chat.current_entries()
    typed = "\n".join(entry.content for entry in entries if entry.source.kind is SourceKind.TYPED)
    replies = "\n".join(entry.content for entry in entries if entry.role == "assistant")
    words = coder.get_ident_mentions(typed)
    files = coder.get_file_mentions(f"{typed}\n{replies}") | coder.get_ident_filename_matches(words)
    return Mentions(frozenset(files), frozenset(words))


def _stamp_of(path: str) -> object:
    """What tells of a file that it was changed; None where it is not there."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
