"""aider in a replay: real coder, real edits, but pinned surroundings and recorded answers.

Everything here patches the running process and is never undone: a replay has a process of its own.
"""

from __future__ import annotations

import hashlib
import os
import platform
from collections.abc import Iterator
from functools import update_wrapper, wraps
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock

import litellm
from aider import commands as aider_commands
from aider import linter, models, repo, repomap, run_cmd
from aider.coders import base_coder
from aider.coders.base_coder import Coder
from aider.io import InputOutput

from aider_gardener.replay.play.clock import CachedTokenCount, VirtualClock
from aider_gardener.replay.play.recorded import Recorded
from aider_gardener.replay.play.variants import Job
from aider_gardener.replay.session.session import Session, SessionEvent

SKIPPED_COMMANDS = frozenset(
    "copy copy_context edit editor exit git help load multiline_mode paste quit report save settings "
    "voice".split()
)
"""Commands that leave the sandbox, wait for a person or need what no recording holds."""


class SortedNames(set[str]):
    """A set that is iterated in sorted order: aider puts files into prompts as its sets come."""

    def __iter__(self) -> Iterator[str]:
        return iter(sorted(super().__iter__()))


def sorted_set_property(name: str) -> property:
    """An attribute that keeps whatever set it is given as SortedNames."""
    place = f"_sorted_{name}"

    def put(self: object, value: object) -> None:
        self.__dict__[place] = SortedNames(value) if isinstance(value, set) else value

    return property(lambda self: self.__dict__.get(place), put)


def pin_surroundings(clock: VirtualClock) -> CachedTokenCount:
    """Make aider's prompts and decisions independent of machine, time, paths and network."""

    repo.WaitingSpinner = base_coder.WaitingSpinner = MagicMock()  # aider's waits at its end
    base_coder.platform = SimpleNamespace(**{**vars(platform), "platform": lambda: "Linux-replay"})
    base_coder.datetime = clock.datetime_class()
    Coder.abs_fnames = sorted_set_property("abs_fnames")
    Coder.abs_read_only_fnames = sorted_set_property("abs_read_only_fnames")
    trees: dict[str, object] = {}  # by file, with its time: each coder makes a map of its own of them
    repomap.RepoMap.tree_context_cache = property(lambda _map: trees, lambda _map, _empty: None)
    counted = CachedTokenCount(models.Model.token_count)
    models.Model.token_count = lambda model, given: (
        counted.of_messages(model, given) if type(given) is list else counted.once(model, given)
    )
    manager = models.model_info_manager  # limits and prices come from litellm's own table
    manager._cache_loaded = True
    manager.content = litellm.model_cost
    manager._update_cache = lambda: None
    manager.openrouter_manager._update_cache = lambda: None
    manager.openrouter_manager.content = {"data": []}
    manager.openrouter_manager._cache_loaded = True
    if hasattr(manager, "fetch_openrouter_model_info"):
        manager.fetch_openrouter_model_info = lambda model: {}
    return counted


def answer_from_recording(recorded: Recorded) -> None:
    """Outputs of commands, web pages and lint errors come from the recording, whatever is installed here."""

    def lint_edited(self: Any, fnames: object) -> str:
        errors = recorded.lint_errors()
        if errors:
            self.io.tool_warning(errors)
        return errors

    for module in (aider_commands, base_coder, run_cmd):
        module.run_cmd = recorded.run_cmd
    aider_commands.install_playwright = lambda io: False
    aider_commands.Scraper = lambda **_options: SimpleNamespace(scrape=recorded.scrape)
    linter.Linter.lint = lambda self, fname, cmd=None: None
    linter.Linter.run_cmd = lambda self, cmd, rel_fname, code: None
    Coder.lint_edited = update_wrapper(lint_edited, Coder.lint_edited)


def refuse_edits_outside(root: Path) -> None:
    """Refuse edits of a reply to any file outside the repository."""
    allowed_to_edit = Coder.allowed_to_edit
    inside = os.path.join(os.path.realpath(root), "")

    def guarded(self: Any, path: str) -> object:
        if not os.path.realpath(self.abs_root_path(path)).startswith(inside):
            self.io.tool_warning(f"Skipping edits to {path}, it lies outside the repository.")
            return None
        return allowed_to_edit(self, path)

    Coder.allowed_to_edit = guarded


def accept_edits_as_recorded(recorded: Recorded) -> None:
    """For a session without its tree: an edit counts as made where the recording has a commit, and
    the model is asked again where the recording has a further reply."""

    @wraps(Coder.apply_updates)  # the signature that `install` looks for
    def apply_updates(self: Any) -> set[str]:
        self.replayed_commit = recorded.commit()
        self.reflected_message = recorded.reflection() or None
        return {"replayed"} if self.replayed_commit else set()

    def auto_commit(self: Any, edited: object, context: str | None = None) -> str | None:
        if context:
            return None
        message = self.replayed_commit
        sha = hashlib.sha1(message.encode("utf-8", "replace")).hexdigest()[:7]
        notice: str = self.gpt_prompts.files_content_gpt_edits.format(hash=sha, message=message)
        return notice

    Coder.apply_updates = apply_updates
    Coder.auto_commit = auto_commit


class ReplayIO(InputOutput):  # type: ignore[misc]  # reason: aider ships no types
    """An InputOutput without a terminal: confirmations come from the recording, nothing is shown. `faults`
    are the last lines of tracebacks that aider reported as warnings."""

    def __init__(self, recorded: Recorded) -> None:
        self.recorded = recorded
        self.faults: list[str] = []
        super().__init__(pretty=False, fancy_input=False, yes=None, line_endings="lf")

    def confirm_ask(
        self, question: str, default: str = "y", subject: str | None = None, *_: object, **__: object
    ) -> bool:
        self.num_user_asks += 1
        return self.recorded.confirm(question, subject or "", default)

    def prompt_ask(self, question: str, default: str = "", *_: object, **__: object) -> str:
        return default

    def offer_url(self, *_: object, **__: object) -> bool:
        return False

    def tool_output(self, *_: object, **__: object) -> None:
        """Nothing is shown."""

    assistant_output = print = tool_output

    def tool_error(self, *_: object, **__: object) -> None:
        self.num_error_outputs += 1

    def tool_warning(self, message: str = "", *_: object, **__: object) -> None:
        if "Traceback (most recent call last)" in str(message):
            self.faults.append(str(message).strip().splitlines()[-1])


def make_coder(session: Session, job: Job, model: Any, io: object, root: Path) -> object:
    """A Coder as aider's own start makes it, over the repository, without a terminal.

    With the job's `cache_prompts` the map is only made anew when files change, and a model that takes marks
    gets them; no cache is kept warm.
    """
    limit = job.history_tokens or model.max_chat_history_tokens
    return Coder.create(
        main_model=model,
        edit_format=session.edit_format,
        io=io,
        repo=repo.GitRepo(io, [], str(root), models=model.commit_message_models()),
        fnames=[str(root / name) for name in session.files if (root / name).is_file()],
        read_only_fnames=[str(root / name) for name in session.read_only if (root / name).is_file()],
        stream=False,
        auto_lint=session.auto_lint,
        test_cmd=session.test_cmd or None,
        commands=aider_commands.Commands(io, None),
        summarizer=base_coder.ChatSummary([model.weak_model, model], limit),  # or what a gardener put there
        map_tokens=model.get_repo_map_tokens(),
        map_refresh="files" if job.cache_prompts else "auto",
        cache_prompts=job.cache_prompts,
        chat_language="English",
    )


def change_file(coder: Any, root: Path, event: SessionEvent) -> None:
    """Do what someone else did to a file: write or remove it, and put it into the chat where recorded."""
    path = root / event.path
    if event.gone:
        path.unlink(missing_ok=True)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    data = event.text.encode("utf-8", "replace")
    if not path.is_file() or path.read_bytes() != data:
        path.write_bytes(data)
    if event.in_chat:
        coder.abs_fnames.add(str(path))


def command_name(coder: Any, text: str) -> str:
    """The command a typed text would run, as in `cmd_<name>`; "" for a plain message."""
    if not text or not coder.commands.is_command(text):
        return ""
    if text.startswith("!"):
        return "run"
    names, first_word, _rest = coder.commands.matching_commands(text) or ([], "", "")
    name = names[0] if len(names) == 1 else first_word
    return str(name).lstrip("/").replace("-", "_")
