"""What happens to a chat in aider: it is announced, begins or goes on with an older one, is handed on to the
next coder, has turns, and is cleared."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aider_gardener.adapters.aider import call, link, prompt
from aider_gardener.adapters.aider.coder import HostCoder, HostModel, Terminal
from aider_gardener.adapters.aider.provider import provider_of
from aider_gardener.adapters.aider.wrappers import ATTRIBUTE, guard
from aider_gardener.archive import sessions
from aider_gardener.archive.providers import may_go
from aider_gardener.archive.sessions import AIDER, LAST, SHORT_ID
from aider_gardener.errors import GardenerError, UsageError
from aider_gardener.phrases import counted, path_shown, when
from aider_gardener.reading.source import failed_edit
from aider_gardener.settings import SHORT_NOTE, Settings

if TYPE_CHECKING:
    from aider_gardener.archive.store import Store
    from aider_gardener.archive.store.base import SessionInfo
    from aider_gardener.gardener.gardener import Gardener
    from aider_gardener.gardener.state import ChatState

CLEARED = (
    "aider-gardener: what was said so far does not come back by itself; /recall WORDS still finds it,"
    " /forget session deletes it for good."
)
CLEARED_AT_END = "; it was cleared at its end, so nothing of it stands in prompts."


# The start


def announce(coder: HostCoder) -> None:
    """Say what the gardener does in this chat, where it is not off; so is said of a setting that cannot be
    used, and of a place. Otherwise no gardener is made: that waits for the first prompt."""
    from aider_gardener.archive.store.location import unusable

    if link.is_sub(coder) or (ATTRIBUTE in coder.__dict__ and link.gardener_of(coder) is None):
        return
    try:
        settings = link.settings_of(coder)
    except UsageError:
        link.gardener_of(coder)  # says what is wrong
        return
    if settings.enabled:
        does = "gardener on" if settings.mode == "garden" else "gardener watching: prompts stay as they are"
        directory = link.archive_directory(coder, settings)
        where = path_shown(directory, Path(coder.root or os.getcwd()))
        if unusable(directory):
            link.gardener_of(coder)  # says why
            where = "in memory"
        Terminal(coder.io).tool_output(f"{does}, archive {where}")


# Coders


def create(original: Any) -> object:
    """The wrapper of `Coder.create`: the chat goes on in the new coder, with no summary by a model."""
    plain = original.__func__

    def create(
        cls: type,
        main_model: HostModel | None = None,
        edit_format: str | None = None,
        io: object | None = None,
        from_coder: HostCoder | None = None,
        summarize_from_coder: bool = True,
        **kwargs: object,
    ) -> HostCoder:
        gardener = None
        with guard(from_coder):
            if from_coder is not None and not makes_helper(from_coder, kwargs):
                gardener = link.gardener_of(from_coder)
        if gardener is not None:
            kwargs["restore_chat_history"] = False
        summarise = summarize_from_coder and not (gardener and gardener.state.acts)
        coder: HostCoder = plain(cls, main_model, edit_format, io, from_coder, summarise, **kwargs)
        with guard(coder):
            take_over(coder, from_coder, gardener)
            before = from_coder.edit_format if from_coder else coder.edit_format
            if gardener and summarize_from_coder and coder.edit_format != before:
                prompt.forget_edits(coder, gardener)
        return coder

    wrapper: Any = wraps(plain)(create)
    return classmethod(wrapper)


def makes_helper(coder: HostCoder, options: dict[str, object]) -> bool:
    """Whether these options make a coder with a chat of its own: architect's editor, the lint fixer."""
    fresh_lists = "cur_messages" in options or "done_messages" in options
    editor = coder.edit_format == "architect" and options.get("map_tokens") == 0
    return fresh_lists or (editor and options.get("cache_prompts") is False)


def take_over(coder: HostCoder, before: HostCoder | None, gardener: Gardener | None) -> None:
    """Join a new coder to its chat: a new one, or that of the coder before it. Off or stopped there, it does
    not begin anew here."""
    if before is None:
        _begin(coder)
        return
    coder.__dict__[ATTRIBUTE] = gardener
    if gardener is not None:
        link.bind(coder, gardener)
    elif (its := link.gardener_of(before)) is not None and its.state.acts:
        # a helper's chat ends with its answer: nobody would read the summary that it begins
        coder.__dict__["summarize_start"] = lambda: None


def join(coder: HostCoder, before: HostCoder | None) -> None:
    """The same where aider has asked for what the new edit format needs, and given helpers a provider of
    their own."""
    gardener = link.gardener_of(before) if before else None
    if before is not None and gardener is not None and not before.done_messages:
        coder.done_messages = []  # cleared, and restored from aider's history file
    take_over(coder, before, gardener)


# An older chat


def _begin(coder: HostCoder) -> None:
    """Go on with the chat that the user named, or put the account of the last one into a new one, and tell
    the user in one line.

    Nothing happens when the chat has messages already (aider restored its history) or there is nothing to
    tell. The chat's gardener is made here only if it is wanted.
    """
    try:
        settings = link.settings_of(coder)
    except UsageError:  # said when the gardener is made
        return
    if not (settings.enabled and settings.resume):
        return
    gardener = link.gardener_of(coder, partial(session_for, coder))
    if gardener is None or not gardener.state.acts or coder.done_messages or coder.cur_messages:
        return
    link.refresh(coder, gardener)
    if settings.resume != SHORT_NOTE:
        _go_on(coder, gardener)
    elif (found := gardener.last_time()) is not None:
        from aider_gardener.reading.source import LAST_CHAT

        coder.done_messages = [*coder.done_messages, *gardener.add_note(found.note, LAST_CHAT.detail)]
        Terminal(coder.io).tool_output(f"aider-gardener: {found.line()}")


def _go_on(coder: HostCoder, gardener: Gardener) -> None:
    """Give the host the chat that its session was before, if any, with the files of its last prompt."""
    from aider_gardener.plan.view import FILLER

    archive = gardener.state.archive
    infos = archive.store.sessions(archive.project)
    info = next((each for each in infos if each.id == archive.session and each.entries), None)
    if info is None:
        return
    gardener.go_on(info)
    coder.done_messages, coder.cur_messages = [*coder.done_messages, *coder.cur_messages], []
    if coder.done_messages and coder.done_messages[-1]["role"] == "user":
        coder.done_messages = [*coder.done_messages, {"role": "assistant", "content": FILLER}]
    link.sync(coder, gardener)
    Terminal(coder.io).tool_output(_resumed_line(gardener.state, info))
    _put_back_files(coder, archive.store, info.id)


def session_for(coder: HostCoder, settings: Settings, store: Store, project: str) -> str:
    """The id of the session that a new chat goes on with; "" for a session of its own.

    Where that cannot be, one line says why.
    """
    given = settings.resume.strip()
    if given in ("", SHORT_NOTE):
        return ""
    try:
        if coder.done_messages or coder.cur_messages:
            raise UsageError(
                f"aider restored its own history: leave --restore-chat-history out to go on with {given}"
            )
        if settings.mode == "observe":
            raise UsageError("a chat is not gone on with in mode observe, which changes no prompt")
        return _chosen(coder, store, project, given).id
    except GardenerError as error:
        Terminal(coder.io).tool_warning(f"aider-gardener: {error}; this chat starts without it.")
        return ""


def _chosen(coder: HostCoder, store: Store, project: str, given: str) -> SessionInfo:
    """The session that is named so, if this process may go on with it. Raises UsageError."""
    if given.isdecimal() and len(given) < SHORT_ID:
        raise UsageError(f"{given} is no id (the numbers of `gardener sessions` change): type the id")
    found, elsewhere = sessions.project_sessions(store, project), store.open_elsewhere()
    hosts = {info.id: sessions.host_of(store, info.id) for info in found}
    free = [info for info in found if info.id not in elsewhere and hosts[info.id] == AIDER]
    is_last, model = given.lower() == LAST, coder.main_model
    info = free[0] if is_last and free else sessions.session_named(store, project, given)
    short = sessions.short_ids(list(hosts))[info.id]
    if hosts[info.id] != AIDER:
        where = f"was held in {hosts[info.id]}, which goes on with it"
        raise UsageError(f"session {short} {where}: /recall finds what was said there")
    if info.id in elsewhere:
        raise UsageError(f"session {short} is open in another process: end that chat first")
    floor, provider = sessions.clear_floor(store, info.id), provider_of(model)
    shown = [entry for entry in store.session_entries(info.id) if entry.active and entry.seq >= floor]
    if all(may_go(entry.provider, provider) for entry in shown):
        return info
    if is_last:
        raise UsageError(
            f"the last chat was held with a model of this machine and does not go to {model.name} unasked:"
            f" --gardener-resume={short} takes it up all the same"
        )
    Terminal(coder.io).tool_warning(
        "aider-gardener: that chat was held with a model of this machine; from here on it goes to"
        f" {model.name}."
    )
    return info


def _put_back_files(coder: HostCoder, store: Store, session: str) -> None:
    """Add the files of a session's last prompt to the chat with the host's own commands, which refuse what it
    refuses; a line names those that are gone."""
    from aider_gardener.gardener.stored_chat import last_frame

    frame, project = last_frame(store, session), Path(link.project_of(coder))
    here = {prompt.relative(coder, name) for name in (*coder.abs_fnames, *coder.abs_read_only_fnames)}
    wanted = [(name, "cmd_add") for name in frame.files]
    wanted += [(name, "cmd_read_only") for name in frame.read_only]
    lost = []
    for name, add in wanted:
        if name not in here and (project / name).is_file() and '"' not in name:
            getattr(coder.commands, add)(f'"{coder.get_rel_fname(str(project / name))}"')
        elif name not in here:
            lost.append(name)
    if lost:
        Terminal(coder.io).tool_warning(f"aider-gardener: no longer there, and not added: {', '.join(lost)}")


def _resumed_line(state: ChatState, info: SessionInfo) -> str:
    """What the user is told of the chat that is gone on with."""
    entries = [entry for entry in state.chat.all_entries() if entry.id]  # but what was forgotten
    whole = sum(entry.seq not in state.chat.levels for entry in entries)
    shown = f": {state.history_used:,} tokens of history, {whole} of {len(entries)} messages whole"
    end = f"{shown}; /clear drops it." if entries else CLEARED_AT_END
    return (
        f"aider-gardener: going on with the chat of {when(info.last_at)} ({counted(info.turns, 'turn')}){end}"
    )


# Turns


@contextmanager
def turn(
    coder: HostCoder, gardener: Gardener, user_message: str, *_options: object, **_named: object
) -> Iterator[None]:
    """A context of a turn of the user's, unless a command of one runs a prompt of its own (perhaps by another
    coder). What it has left behind is archived."""
    if gardener.enter_turn(user_message):
        link.bind(coder, gardener)
        link.refresh(coder, gardener)
    try:
        yield
    finally:
        if link.runs(coder, gardener):
            gardener.leave_turn()
            if gardener.state.acts and link.is_bound(coder, gardener):
                call.close_open_exchanges(coder, last=False)
            link.sync(coder, gardener)
            if not gardener.state.busy:
                _turn_over(coder, gardener)


def _turn_over(coder: HostCoder, gardener: Gardener) -> None:
    """After a turn: growth and sums are kept; the status line is shown to those who asked for it."""
    from aider_gardener.gardener import report

    state = gardener.state
    state.embed_if_soon()
    called = report.turn_over(state)
    if called and state.settings.has_status:
        Terminal(coder.io).tool_output(report.status_line(state.growth.points, len(state.plans)))
    link.state.sync_shared(gardener)


# What the user takes back


@contextmanager
def clearing(coder: HostCoder, gardener: Gardener) -> Iterator[None]:
    """A context in which the host clears the chat: afterwards nothing older comes back by itself, and the
    user is told that it is kept, and how to reach it where the chat has the commands for that."""
    link.sync(coder, gardener)
    entries = gardener.state.chat.all_entries()
    yield
    if link.runs(coder, gardener):
        gardener.clear()
        if entries and hasattr(coder.commands, "cmd_recall"):
            Terminal(coder.io).tool_output(CLEARED)


def clear(coder: HostCoder, gardener: Gardener) -> None:
    """The user clears the chat, and the host will say so afterwards."""
    with clearing(coder, gardener):
        pass


def edited(coder: HostCoder, gardener: Gardener, files: Collection[str | None]) -> None:
    """aider has made the edits of a reply, in these files: none of them in a dry run, or where a file could
    not be written, which it tells the model. What it tells of blocks that do not apply says which were."""
    told = coder.reflected_message or ""
    if not failed_edit(told):
        gardener.note_edit([] if coder.dry_run or told else [*filter(None, files)])


@contextmanager
def undoing(coder: HostCoder, gardener: Gardener, *_args: object) -> Iterator[None]:
    """A context of aider's /undo: a commit was undone if the repository is at another one afterwards."""
    before = coder.repo.get_head_commit_sha() if coder.repo else None
    yield
    if before and coder.repo and before != coder.repo.get_head_commit_sha() and link.runs(coder, gardener):
        gardener.edit_undone(before)
