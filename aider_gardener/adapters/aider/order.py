"""A prompt in the order of rest (`plan.order`): a message for each file, and each where it rests.

aider sends system, examples, read-only files, map, history, files, current messages. Here what stands before
the history takes the place of aider's read-only files, what stands in it is put between two exchanges, and
what stands behind it takes the place of aider's files. So the chunks are sent in aider's own order, and its
cache marks and pings find what they look for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from aider_gardener.adapters.aider.coder import Chunks, HostCoder, HostMessage
from aider_gardener.adapters.aider.repomap import head_of
from aider_gardener.plan.order import Part

if TYPE_CHECKING:
    from aider_gardener.gardener.state import ChatState

MAP, READ_ONLY, FILE = "map", "read-only", "file"


@dataclass(frozen=True)
class Placed:
    """A part and its messages, and what the order goes by."""

    part: Part
    messages: list[HostMessage]


@dataclass(frozen=True)
class Parts:
    """The files and the map of a prompt, each for itself; `rest` is what aider sends beside the files of the
    chat (images, or a word that there are none)."""

    placed: list[Placed]
    rest: list[HostMessage]


def parts_of(coder: HostCoder, state: ChatState, chunks: Chunks) -> Parts | None:
    """The parts of a prompt as aider has put it together; None where its texts are not what is known."""
    prompts = coder.gpt_prompts
    read_only = split(chunks.readonly_files, prompts.read_only_files_prefix, read_blocks(coder))
    files = split(chunks.chat_files, prompts.files_content_prefix, file_blocks(coder))
    if read_only is None or files is None:
        return None
    found = [*read_only, *files]
    if chunks.repo:
        text = str(chunks.repo[0]["content"])
        found.append((MAP, text.removeprefix(head_of(coder)), chunks.repo))
    placed = [Placed(Part(name, hash(text), state.count(text)), messages) for name, text, messages in found]
    return Parts(
        placed, [*chunks.readonly_files[2 * bool(read_only) :], *chunks.chat_files[2 * bool(files) :]]
    )


def exchanges(state: ChatState, done: Sequence[HostMessage]) -> list[Placed]:
    """The history cut where a user message follows a reply: only there something can stand between."""
    starts = [
        at for at, message in enumerate(done)
        if at == 0 or (message["role"] == "user" and done[at - 1]["role"] == "assistant")
    ]  # fmt: skip
    found = []
    for place, start in enumerate(starts):
        messages = list(done[start : starts[place + 1] if place + 1 < len(starts) else len(done)])
        text = "\n".join(f"{m['role']}: {m['content']}" for m in messages)
        found.append(Placed(Part(place, hash(text), state.count(text)), messages))
    return found


def breaks(state: ChatState, parts: Parts) -> bool:
    """Whether the history falls out of the cache with this prompt, whatever becomes of it."""
    return state.order.breaks([one.part for one in parts.placed])


def arrange(state: ChatState, chunks: Chunks, parts: Parts, *, cold: bool) -> None:
    """Put each part where it rests."""
    history = exchanges(state, chunks.done)
    messages = {one.part.name: one.messages for one in [*parts.placed, *history]}
    state.order = replace(state.order)
    order = state.order.arrange(
        [one.part for one in parts.placed],
        [one.part for one in history],
        sent=state.usage.totals.calls,
        cold=cold,
    )
    said = [at for at, part in enumerate(order) if part.is_history]
    first, end = (said[0], said[-1] + 1) if said else (len(order), len(order))

    def joined(found: Sequence[Part]) -> list[HostMessage]:
        return [message for part in found for message in messages[part.name]]

    chunks.readonly_files = joined(order[:first])
    chunks.repo = []
    chunks.done = joined(order[first:end])  # new: the host keeps its own list
    chunks.chat_files = [*joined(order[end:]), *parts.rest]
    state.frame = replace(state.frame, behind=state.order.behind_history)


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


def file_blocks(coder: HostCoder) -> Iterator[tuple[str, str]]:
    """The name and the text of each file of the chat, as aider quotes it."""
    yield from quoted(coder, coder.abs_fnames, FILE)


def read_blocks(coder: HostCoder) -> Iterator[tuple[str, str]]:
    """The same of each read-only file."""
    yield from quoted(coder, coder.abs_read_only_fnames, READ_ONLY)


def quoted(coder: HostCoder, names: set[str], kind: str) -> Iterator[tuple[str, str]]:
    from aider.utils import is_image_file

    for name in names:
        content = coder.io.read_text(name)
        if content is not None and not is_image_file(name):
            relative = coder.get_rel_fname(name)
            text = f"\n{relative}\n{coder.fence[0]}\n{content}{coder.fence[1]}\n"
            yield f"{kind} {relative}", text


def mark(chunks: Chunks) -> None:
    """Set the four cache breakpoints that a provider allows where most rests: behind system or examples,
    behind what stands before the history, behind the history, and behind the finished exchanges among the
    current messages or, where there are none, behind the files. aider has set the first, second and last."""
    if chunks.done:
        chunks.done = [*chunks.done[:-1], marked(chunks.done[-1])]
        if mark_history(chunks):
            chunks.chat_files = [unmarked(message) for message in chunks.chat_files]


def mark_history(chunks: Chunks) -> bool:
    """Set a cache breakpoint behind the finished exchanges that stand after the files; whether there are any.

    aider sets three (examples, map, files); providers that take breakpoints allow four.
    """
    last_user = next((i for i in reversed(range(len(chunks.cur))) if chunks.cur[i]["role"] == "user"), 0)
    notes = 2 if last_user >= 2 and is_recall_pair(chunks.cur[last_user - 2 : last_user]) else 0
    at = last_user - notes - 1
    if at < 0 or not isinstance(chunks.cur[at]["content"], str):
        return False
    chunks.cur[at] = marked(chunks.cur[at])
    return True


def is_recall_pair(pair: list[HostMessage]) -> bool:
    from aider_gardener.recall.recall import NOTE_HEAD

    return isinstance(pair[0]["content"], str) and pair[0]["content"].startswith(NOTE_HEAD)


def marked(message: HostMessage) -> HostMessage:
    """The message with a breakpoint behind it."""
    part = {"type": "text", "text": message["content"], "cache_control": {"type": "ephemeral"}}
    return {**message, "content": [part]}


def unmarked(message: HostMessage) -> HostMessage:
    """The message without a breakpoint; aider's is the only part of a text."""
    content = message["content"]
    if isinstance(content, list) and len(content) == 1 and "cache_control" in content[0]:
        return {**message, "content": content[0]["text"]}
    return message
