"""aider's repo map, which rests between prompts as long as it shows what is spoken of (`plan.resting`).

aider takes what is mentioned from its current messages. Those may have been compacted, and a prompt that
was answered leaves them with the next edit: the map would change with either.
"""

from __future__ import annotations

import os
from dataclasses import replace
from typing import TYPE_CHECKING

from aider_gardener.adapters.aider import link
from aider_gardener.adapters.aider.coder import HostCoder
from aider_gardener.messages import SourceKind

if TYPE_CHECKING:
    from aider_gardener.gardener.gardener import Gardener
    from aider_gardener.plan.resting import Mentions, RestingMap

AUTO = "auto"
"""aider's --map-refresh where the user chose none: with any other the map is made as that says."""


def gardener_for_map(coder: HostCoder) -> Gardener | None:
    """The gardener, where it lets the map rest: not while prompts are to be as aider makes them."""
    gardener = link.active(coder)
    if gardener is None or getattr(coder.repo_map, "refresh", "") != AUTO:
        return None
    state = gardener.state
    return gardener if state.chat.fidelity or state.settings.files == "stable" else None


def original_texts(gardener: Gardener) -> str:
    """The current messages as they were said, whatever stands of them in the prompt."""
    return "".join(f"{entry.content}\n" for entry in gardener.state.chat.current_entries())


def settled(coder: HostCoder, gardener: Gardener, fresh: str, *, anew: bool) -> str:
    """The map for this prompt, given the one that aider made for it. `anew`: the user asked for a new one."""
    head = head_of(coder)
    if not fresh.startswith(head):
        return fresh
    state = gardener.state
    resting: RestingMap = replace(state.resting_map)
    state.resting_map = resting
    room = (coder.repo_map.max_map_tokens if coder.repo_map else 0, bool(coder.abs_fnames))
    chat_files = {coder.get_rel_fname(name) for name in coder.abs_fnames}

    def stamp(name: str) -> object:
        return stamp_of(os.path.join(coder.root, name))

    keeps = not anew and resting.holds(stamp, chat_files, room)
    if not keeps or resting.lacks(fresh[len(head) :], mentions(coder, gardener)):
        resting.replace(fresh[len(head) :], stamp, room)
    return head + resting.listing


def head_of(coder: HostCoder) -> str:
    """What aider writes above a map."""
    prefix = coder.repo_map.repo_content_prefix if coder.repo_map else None
    return (prefix or "").format(other="other " if chat_files_of(coder) else "")


def chat_files_of(coder: HostCoder) -> set[str]:
    """The files that aider keeps out of its map: those in the chat, and read-only ones of the repository."""
    return set(coder.abs_fnames) | (set(coder.abs_read_only_fnames) & set(coder.get_all_abs_files()))


def mentions(coder: HostCoder, gardener: Gardener) -> Mentions:
    """What the user typed since the last edit, and the files that the model named since then."""
    from aider_gardener.plan.resting import Mentions

    entries = gardener.state.chat.current_entries()
    typed = "\n".join(entry.content for entry in entries if entry.source.kind is SourceKind.TYPED)
    replies = "\n".join(entry.content for entry in entries if entry.role == "assistant")
    words = coder.get_ident_mentions(typed)
    files = coder.get_file_mentions(f"{typed}\n{replies}") | coder.get_ident_filename_matches(words)
    return Mentions(frozenset(files), frozenset(words))


def stamp_of(path: str) -> object:
    """What tells of a file that it was changed; None where it is not there."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size
