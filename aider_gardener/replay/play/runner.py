"""One replay, within a process of its own: a real coder fed turn by turn from a recording."""

from __future__ import annotations

import hashlib
import json
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from aider_gardener import __version__
from aider_gardener.errors import ReplayError
from aider_gardener.replay.measure.probes import Decoys, key_pattern, score, texts_of_turn
from aider_gardener.replay.measure.result import (
    SUMMARY,
    Compaction,
    DecoyResult,
    Measured,
    ModelCall,
    ProbeResult,
    Provenance,
    ReplayResult,
)
from aider_gardener.replay.play import host
from aider_gardener.replay.play.calls import Calls, PromptLog, tokens_by_part
from aider_gardener.replay.play.clock import SECONDS_PER_TURN, START, VirtualClock
from aider_gardener.replay.play.edits import EditsAsked
from aider_gardener.replay.play.gardened import Watched, idle, state, uninstall
from aider_gardener.replay.play.model import Asker, LeftRecording, RecordedModel, text_of
from aider_gardener.replay.play.provenance import tokenizer_name, version_of
from aider_gardener.replay.play.sandbox import make_repository, set_commit_time
from aider_gardener.replay.play.variants import Variant
from aider_gardener.replay.session.session import Probe, Session, SessionEvent

RESTART = "restart"
"""Kind of the event after which the host was started anew, with an empty chat."""

STOPPED = "turn {turn}: the gardener stopped with a fault of its own; from there on prompts are aider's"
UNRECORDED_REFLECTION = "(the next message was not recorded)"

REBOUND = (
    "summarizer_thread",
    "summarizing_messages",
    "summarized_done_messages",
    "fence",
    "warning_given",
)
"""Attributes of a coder that putting a prompt together may rebind."""

MAP_STATE = ("map_cache", "map_processing_time", "last_map")
"""Attributes of aider's repository map that change when a map is made."""


@dataclass
class Runner:
    """The state of one replay. `run` does all of it; variants and probes read the fields.

    `messages_before_turn` is how many messages the chat held when the current turn began. `first_turn` is
    where a session begins of which a part is replayed. `progress` is called after each turn with its number
    and all calls so far.
    """

    session: Session
    variant: Variant
    folder: Path
    model_name: str = "gpt-4o"
    history_tokens: int | None = None
    settings: Mapping[str, Any] | None = None
    probes: Sequence[Probe] = ()
    summaries: Sequence[str] = ()
    dump_dir: Path | None = None
    asker: Asker | None = None
    ask_edits: bool = False
    vectors: Path | None = None
    map_tokens: int | None = None
    cache_prompts: bool = False
    first_turn: int = 1
    progress: Callable[[int, Sequence[ModelCall]], None] | None = None
    source_commit: str = ""
    turn: int = 0
    messages_before_turn: int = 0
    compactions: list[Compaction] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    asked: list[ProbeResult] = field(default_factory=list)
    decoyed: list[DecoyResult] = field(default_factory=list)
    watched: Watched = field(default_factory=Watched)

    def run(self) -> ReplayResult:
        """Replay the whole session; ReplayError if it leaves its recording."""
        began = time.perf_counter()
        clock = VirtualClock(START + (self.first_turn - 1) * SECONDS_PER_TURN)
        with clock.installed():
            self.prepare(clock)
            try:
                for turn in range(self.first_turn, self.session.turn_count + 1):
                    self.run_turn(turn)
                    if self.progress:
                        self.progress(turn, self.calls.made)
                self.ask_probes(self.session.turn_count + 1, beyond=True)
            except LeftRecording as left:
                raise self.model.failure or ReplayError(str(left)) from left
            return self.result(time.perf_counter() - began)

    def prepare(self, clock: VirtualClock) -> None:
        """Patch the process, make the repository and the coder."""
        import litellm

        from aider_gardener.replay.play.aider_io import ReplayIO

        self.clock = clock
        self.decoys = Decoys(self.session, self.probes)
        self.root = make_repository(self.folder, self.session.repo0, clock.now)
        summaries = self.summaries if self.variant.summaries else None
        self.model = RecordedModel(self.session, summaries)
        self.commands = host.RecordedCommands(self.session, self.notices.append)
        self.prompts = PromptLog(self.dump_dir)
        self.counted = host.pin_surroundings(clock)
        host.answer_from_recording(self.commands)
        host.keep_edits_inside(self.root)
        host.lint_from_recording(self.recorded_lint_errors)
        if self.session.repo0 is None:
            host.accept_edits_as_recorded(self.recorded_commit, self.recorded_reflection)
        self.watch_prompts()
        self.io = ReplayIO(self.session)
        self.main_model = host.make_model(self.model_name)
        self.calls = Calls(self.model, self.prompts, self.counted, clock, self.main_model, self.asker)
        litellm.completion = self.calls.complete
        self.edits = EditsAsked(self.edit_of_model, lambda: self.turn)
        if self.asker is not None and self.ask_edits and self.session.repo0 is not None:
            self.edits.install()
        self.variant.prepare(self)
        self.install_gardener()
        self.coder = self.new_coder()

    def edit_of_model(self) -> str:
        """What the model that is asked replies to the last prompt."""
        assert self.asker is not None
        return self.calls.asked(self.asker, "edit", self.calls.last_prompt)

    def new_coder(self, restart: SessionEvent | None = None) -> Any:
        """A coder as at the start, or as the host was started anew: empty chat, the first model."""
        session = self.session
        if restart is not None:
            edit_format = restart.edit_format or session.edit_format
            session = replace(
                session, files=restart.files, read_only=restart.read_only, edit_format=edit_format
            )
        self.calls.main_model = self.main_model
        return host.make_coder(
            session,
            self.main_model,
            self.io,
            self.root,
            self.history_tokens,
            map_tokens=self.map_tokens,
            cache_prompts=self.cache_prompts,
        )

    def watch_prompts(self) -> None:
        from aider.coders.chat_chunks import ChatChunks

        ChatChunks.all_messages = self.prompts.watching(ChatChunks.all_messages)

    def install_gardener(self) -> None:
        if self.variant.settings is None:
            return
        from aider_gardener.replay.play.gardened import install

        install({**self.variant.settings, **(self.settings or {})}, self.history_tokens, self.vectors)

    # -- turns

    def run_turn(self, turn: int) -> None:
        """Ask the probes that are due, then feed the turn's input."""
        self.turn = turn
        self.clock.advance(SECONDS_PER_TURN)
        set_commit_time(self.clock.now)
        self.model.begin_turn(turn)
        self.commands.begin_turn(turn)
        self.io.answers.begin_turn(turn)
        self.lint_taken: set[int] = set()
        for stage in self.session.stages:
            if stage.first_turn == turn > 1:
                self.coder = host.enter_stage(self.coder, stage, self.root)
        for event in self.session.turn(turn):
            if event.kind == RESTART:
                self.watched.look(self.coder, turn)
                self.coder = self.new_coder(event)
            elif event.kind == "file":
                host.change_file(self.coder, self.root, event)
            elif event.kind == "user":
                self.ask_probes(turn)
                self.messages_before_turn = self.chat_length()
                self.feed(event.text)
        self.close_turn()

    def feed(self, text: str) -> None:
        """Hand over a typed text; and a command once more as a message, where it had a reply.

        Versions up to 0.63 sent what `/run`, `/add` and `/web` put into the chat at once; aider now waits
        for the next message. So the typed command is that message.
        """
        name = host.command_name(self.coder, text)
        if not text.strip() or name in host.SKIPPED_COMMANDS:
            self.notices.append(f"turn {self.turn}: {text.strip()[:40]!r} is not replayed")
        else:
            self.hand_over(text, preproc=True)
        if name and not self.session.recorded and not self.model.given and self.model.unused_replies():
            self.hand_over(text, preproc=False)

    def hand_over(self, text: str, *, preproc: bool) -> None:
        """As aider's own loop does; without `preproc` even a command is sent as it stands."""
        from aider.coders.base_coder import Coder
        from aider.commands import SwitchCoder

        try:
            self.coder.run(with_message=text, preproc=preproc)
        except SwitchCoder as switch:
            options = {"io": self.io, "from_coder": self.coder, **switch.kwargs}
            options.pop("show_announcements", None)
            self.coder = Coder.create(**options)
            self.calls.main_model = self.coder.main_model
        except SystemExit:
            self.notices.append(f"turn {self.turn}: aider wanted to exit")

    def close_turn(self) -> None:
        """Work off what runs between turns, and note what went otherwise than recorded."""
        idle(self.coder)
        self.watched.look(self.coder, self.turn)
        if self.model.failure:
            raise self.model.failure
        unused = self.model.unused_replies()
        if unused:
            self.notices.append(f"turn {self.turn}: {unused} recorded replies were not asked for")
        for kind, text in self.io.take_said():
            if kind == "warning" and "Traceback (most recent call last)" in text:
                self.notices.append(f"turn {self.turn}: aider reported {text.strip().splitlines()[-1]}")

    def chat_length(self) -> int:
        return len(self.coder.done_messages) + len(self.coder.cur_messages)

    def ask_probes(self, turn: int, *, beyond: bool = False) -> None:
        """Ask the probes of a turn; with `beyond` all that are due after the last one."""
        for number, probe in enumerate(self.probes, 1):
            if probe.ask_at_turn == turn or (beyond and probe.ask_at_turn > turn):
                self.asked.append(ask_probe(self, number, probe))

    # -- what the recording says at this point

    def since_last_reply(self, kind: str) -> list[SessionEvent]:
        """The turn's events of a kind between the reply last given and the next."""
        found, replies = [], 0
        for event in self.session.turn(self.turn):
            if event.kind == "reply":
                replies += 1
            elif event.kind == kind and replies == self.model.given:
                found.append(event)
        return found

    def recorded_lint_errors(self) -> str:
        if self.model.given in self.lint_taken:
            return ""
        self.lint_taken.add(self.model.given)
        texts = [event.text for event in self.since_last_reply("warning")]
        return next((text for text in texts if text.startswith(host.LINT_WARNING)), "")

    def recorded_commit(self) -> str:
        commits = self.since_last_reply("commit")
        return commits[0].text if commits else ""

    def recorded_reflection(self) -> str:
        """What made aider ask the model again, as far as it is known; "" after the last reply."""
        if not self.model.unused_replies():
            return ""
        texts = [event.text for kind in ("warning", "error") for event in self.since_last_reply(kind)]
        return "\n".join(texts) or UNRECORDED_REFLECTION

    # -- the result

    def result(self, seconds: float) -> ReplayResult:
        for kind, count in sorted(self.model.placeholders.items()):
            if kind != SUMMARY or self.variant.summaries:
                self.notices.append(f"{count} {kind} answers were not recorded; a placeholder stood in")
        self.note_other_summaries()
        if self.watched.stopped is not None:
            self.notices.insert(0, STOPPED.format(turn=self.watched.stopped))
        found = ReplayResult(
            session=self.session.name,
            variant=self.variant.name,
            turns=self.session.turn_count - self.first_turn + 1,
            provenance=provenance(self),
            calls=tuple(self.calls.made),
            compactions=(*self.compactions, *self.watched.plans),
            probes=tuple(sorted(self.asked, key=lambda probe: probe.number)),
            notices=tuple(self.notices),
            gardener=state(self.coder),
            measured=Measured(
                replay_seconds=seconds,
                plan_seconds=tuple(self.watched.plan_seconds),
                overhead_seconds=self.watched.overhead,
            ),
            texts=self.prompts.texts,
            decoys=tuple(sorted(self.decoyed, key=lambda decoy: decoy.number)),
            swaps=tuple(self.watched.swaps),
            quoted=tuple(self.watched.quoted),
            edits=tuple(self.edits.found),
        )
        if self.variant.settings is not None:
            uninstall()
        return found

    def note_other_summaries(self) -> None:
        """Summaries outside aider's summary thread, as at a mode switch: each rewrote the history."""
        for call in self.calls.take_summaries():
            self.compactions.append(
                Compaction(
                    turn=call.turn,
                    by="llm",
                    applied=True,
                    tokens_before=call.prompt_tokens,
                    tokens_after=call.completion_tokens,
                    calls=1,
                    prompt_tokens=call.prompt_tokens,
                    completion_tokens=call.completion_tokens,
                    reason="outside the summary thread",
                )
            )


@contextmanager
def untouched(coder: Any) -> Iterator[None]:
    """Within the block the coder may put a prompt together; afterwards its chat, files, repository
    map and pending summary are what they were, the same objects with the same contents."""
    done, cur = coder.done_messages, coder.cur_messages
    done_before, cur_before = list(done), list(cur)
    rebound = {name: getattr(coder, name) for name in REBOUND}
    files = set(coder.abs_fnames), set(coder.abs_read_only_fnames)
    repo_map = coder.repo_map
    map_state = {name: getattr(repo_map, name, None) for name in MAP_STATE} if repo_map else {}
    if repo_map:
        repo_map.map_cache = dict(repo_map.map_cache)
    try:
        yield
    finally:
        done[:], cur[:] = done_before, cur_before
        coder.done_messages, coder.cur_messages = done, cur
        for name, value in rebound.items():
            setattr(coder, name, value)
        coder.abs_fnames, coder.abs_read_only_fnames = files
        for name, value in map_state.items():
            setattr(repo_map, name, value)


@contextmanager
def no_trace(runner: Runner) -> Iterator[None]:
    """Like `untouched`, for the gardener, the terminal and the replay's own books as well."""
    coder = runner.coder
    compactions, summaries = list(runner.compactions), list(runner.calls.summaries)
    said, before = list(runner.io.said), runner.messages_before_turn
    asks = runner.io.num_user_asks
    gardener = getattr(coder, "gardener", None)
    with ExitStack() as stack:
        stack.enter_context(untouched(coder))
        if gardener is not None and hasattr(gardener, "preview"):
            stack.enter_context(gardener.preview())
        try:
            yield
        finally:
            runner.compactions, runner.calls.summaries = compactions, summaries
            runner.io.said, runner.messages_before_turn = said, before
            runner.io.num_user_asks = asks


def ask_probe(runner: Runner, number: int, probe: Probe) -> ProbeResult:
    """Put together the prompt that this question would send now, and score what it holds."""
    coder = runner.coder
    with no_trace(runner):
        runner.messages_before_turn = runner.chat_length()
        coder.cur_messages += [{"role": "user", "content": probe.question}]
        messages = coder.format_messages().all_messages()
        model = coder.main_model
        rows = runner.prompts.rows(messages, lambda m: runner.counted.of_message(model, m))
        tokens = runner.counted.of_messages(model, messages)
        sent = [text_of(m.get("content")) for m in without_question(messages, probe.question)]
    runner.prompts.dump(f"{probe.ask_at_turn}-probe{number}", messages)
    answer = None if runner.asker is None else runner.asker.ask("probe", messages)
    found = score(probe, texts_of_turn(runner.session, probe.about_turn), sent)
    runner.decoyed += runner.decoys.results(number, probe, "\n".join(sent))
    return ProbeResult(
        number=number,
        about_turn=probe.about_turn,
        ask_at_turn=probe.ask_at_turn,
        kind=probe.kind,
        question=probe.question,
        present=found.present,
        supported=found.supported,
        missing=found.missing,
        unsupported=found.unsupported,
        prompt_tokens=tokens,
        messages=len(messages),
        parts=tokens_by_part(rows),
        answer=answer,
        answered=answer is not None and all(key_pattern(key).search(answer) for key in probe.answer_keys),
    )


def without_question(messages: Sequence[Mapping[str, Any]], question: str) -> list[Mapping[str, Any]]:
    """The messages but the last one of the user's that begins with the question."""
    for at in range(len(messages) - 1, -1, -1):
        message = messages[at]
        if message["role"] == "user" and text_of(message.get("content")).startswith(question):
            return [*messages[:at], *messages[at + 1 :]]
    return list(messages)


def provenance(runner: Runner) -> Provenance:
    """The provenance of a finished replay."""
    model = runner.main_model  # the chat may have switched since
    probes = json.dumps([vars(probe) for probe in runner.probes], sort_keys=True)
    settings = {**(runner.variant.settings or {}), **(runner.settings or {})}
    return Provenance(
        gardener=__version__,
        commit=runner.source_commit,
        aider=version_of("aider-chat"),
        litellm=version_of("litellm"),
        model=model.name,
        weak_model=model.weak_model.name,
        tokenizer=tokenizer_name(model.name),
        window_tokens=int(model.info.get("max_input_tokens") or 0),
        history_tokens=history_budget(runner),
        settings=settings,
        session_sha256=runner.session.sha256,
        probes_sha256=hashlib.sha256(probes.encode()).hexdigest(),
        python=platform.python_version(),
        map_tokens=int(host.map_budget(model, runner.map_tokens)),
        cache_prompts=runner.cache_prompts,
    )


def history_budget(runner: Runner) -> int:
    """Tokens that the variant gives the history: the gardener's budget, or the summariser's limit."""
    gardener = getattr(runner.coder, "gardener", None)
    return int(gardener.state.budget if gardener is not None else runner.coder.summarizer.max_tokens)
