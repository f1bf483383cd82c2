"""One replay, within a process of its own: a real coder fed turn by turn from a recording."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field, replace
from importlib import metadata
from pathlib import Path
from typing import Any

import litellm
from aider.coders.base_coder import Coder
from aider.coders.chat_chunks import ChatChunks
from aider.commands import SwitchCoder
from aider.models import Model

import aider_gardener
from aider_gardener.adapters.aider import link
from aider_gardener.adapters.aider.coder import text_of
from aider_gardener.errors import ReplayError
from aider_gardener.phrases import counted
from aider_gardener.replay.measure.carryover import carried
from aider_gardener.replay.measure.probes import score, texts_of_turn
from aider_gardener.replay.measure.result import (
    STOPPED,
    SUMMARY,
    Compaction,
    ProbeResult,
    Provenance,
    ReplayResult,
)
from aider_gardener.replay.play import host
from aider_gardener.replay.play.calls import Calls
from aider_gardener.replay.play.clock import SECONDS_PER_TURN, VirtualClock
from aider_gardener.replay.play.recorded import LeftRecording, Recorded
from aider_gardener.replay.play.sandbox import make_repository, set_commit_time
from aider_gardener.replay.play.variants import Job, summary_of, variant_named
from aider_gardener.replay.session.session import RESTART, SessionEvent
from aider_gardener.settings import Settings


class Watched:
    """What the gardeners of a replay did, noted turn by turn: a chat that starts anew has another one.
    `stopped` is the turn in which none was there any more, as after a fault of its own."""

    def __init__(self) -> None:
        self.plans: list[Compaction] = []
        self.overhead: dict[int, float] = {}
        self.stopped = 0
        self._gardener: Any = None
        self._plan_count = 0
        self._seconds_noted = 0.0

    def note_work(self, coder: object, turn: int) -> None:
        """Note what the coder's gardener did since the last look, as of this turn."""
        gardener = getattr(coder, "gardener", None)
        if gardener is None:
            self.stopped = self.stopped or turn
            return
        if gardener is not self._gardener:
            self._gardener, self._plan_count, self._seconds_noted = gardener, 0, 0.0
        applied = list(gardener.state.plans)
        for event in applied[self._plan_count :]:
            self.plans.append(plan_of(event, turn))
        self._plan_count = len(applied)
        seconds = gardener.state.seconds
        if seconds:
            self.overhead[turn] = self.overhead.get(turn, 0.0) + seconds - self._seconds_noted
        self._seconds_noted = seconds


def plan_of(event: Any, turn: int) -> Compaction:
    """A plan that was applied."""
    return Compaction(
        turn=turn,
        by="plan",
        applied=True,
        tokens_before=event.plan.tokens_before,
        tokens_after=event.plan.tokens_after,
        reason=event.plan.reason,
        seconds=float(event.seconds),
        swaps=event.plan.swaps,
    )


@dataclass
class Runner:
    """The state of one replay. `run` does all of it; variants and probes read the fields.

    `messages_before_turn` is how many messages the chat held when the current turn began. `on_turn` is called
    after each turn.
    """

    job: Job
    folder: Path
    on_turn: Callable[[], None] = lambda: None
    turn: int = 0
    messages_before_turn: int = 0
    compactions: list[Compaction] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)
    asked: list[ProbeResult] = field(default_factory=list)
    watched: Watched = field(default_factory=Watched)

    def run(self) -> ReplayResult:
        """Replay the whole session; ReplayError if it leaves its recording."""
        began = time.perf_counter()
        self.session, self.variant = self.job.session, variant_named(self.job.variant)
        clock = VirtualClock()
        clock.install()
        self.prepare(clock)
        try:
            for turn in range(1, self.session.turn_count + 1):
                self.run_turn(turn)
                self.on_turn()
            self.ask_probes(self.session.turn_count + 1, beyond=True)
        except LeftRecording as left:
            raise self.recorded.failure or ReplayError(str(left)) from left
        return self.result(time.perf_counter() - began)

    def prepare(self, clock: VirtualClock) -> None:
        self.clock = clock
        self.root = make_repository(self.folder, self.session.repo0, clock.now)
        summaries = self.session.summaries if self.variant.summaries else None
        self.recorded = Recorded(self.session, self.notices, summaries)
        counted = host.pin_surroundings(clock)
        host.answer_from_recording(self.recorded)
        host.refuse_edits_outside(self.root)
        if self.session.repo0 is None:
            host.accept_edits_as_recorded(self.recorded)
        self.io = host.ReplayIO(self.recorded)
        self.main_model = Model(self.job.model)
        folder = self.job.dump_dir and self.job.dump_dir / self.session.name / self.variant.name
        self.calls = Calls(self.recorded, counted, clock, self.main_model, folder)
        ChatChunks.all_messages = self.calls.watching(ChatChunks.all_messages)
        litellm.completion = self.calls.complete
        self.variant.prepare(self)
        if self.variant.settings is not None:
            budget = {"history_tokens": self.job.history_tokens} if self.job.history_tokens else {}
            aider_gardener.install(Settings(**{**budget, **self.variant.settings}))
            link.state.background = False
        self.coder = self.new_coder()

    def new_coder(self, restart: SessionEvent | None = None) -> Any:
        """A coder as at the start, or as the host was started anew: empty chat, the first model."""
        session = self.session
        if restart is not None:
            edit_format = restart.edit_format or session.edit_format
            session = replace(
                session, files=restart.files, read_only=restart.read_only, edit_format=edit_format
            )
        self.calls.main_model = self.main_model
        return host.make_coder(session, self.job, self.main_model, self.io, self.root)

    # -- turns

    def run_turn(self, turn: int) -> None:
        self.begin_turn(turn)
        for event in self.session.turn(turn):
            if event.kind == RESTART:
                self.watched.note_work(self.coder, turn)
                self.coder = self.new_coder(event)
            elif event.kind == "file":
                host.change_file(self.coder, self.root, event)
            elif event.kind == "user":
                self.ask_probes(turn)
                self.messages_before_turn = self.chat_length()
                self.feed(event.text)
        self.close_turn()

    def begin_turn(self, turn: int) -> None:
        self.turn = turn
        self.clock.now += SECONDS_PER_TURN
        set_commit_time(self.clock.now)
        self.recorded.begin_turn(turn)

    def feed(self, text: str) -> None:
        name = host.command_name(self.coder, text)
        if not text.strip() or name in host.SKIPPED_COMMANDS:
            self.notices.append(f"turn {self.turn}: {text.strip()[:40]!r} is not replayed")
            return
        try:
            self.coder.run(with_message=text)
        except SwitchCoder as switch:
            options = {"io": self.io, "from_coder": self.coder, **switch.kwargs}
            options.pop("show_announcements", None)
            self.coder = Coder.create(**options)
            self.calls.main_model = self.coder.main_model
        except SystemExit:
            self.notices.append(f"turn {self.turn}: aider wanted to exit")

    def close_turn(self) -> None:
        """Work off what runs between turns, and note what went otherwise than recorded."""
        if (gardener := getattr(self.coder, "gardener", None)) is not None:
            gardener.idle()
        self.watched.note_work(self.coder, self.turn)
        if self.recorded.failure:
            raise self.recorded.failure
        unused = self.recorded.unused_replies()
        if unused:
            self.notices.append(f"turn {self.turn}: {unused} recorded replies were not asked for")
        self.notices += [f"turn {self.turn}: aider reported {fault}" for fault in self.io.faults]
        self.io.faults.clear()

    def chat_length(self) -> int:
        return len(self.coder.done_messages) + len(self.coder.cur_messages)

    def ask_probes(self, turn: int, *, beyond: bool = False) -> None:
        """Ask the probes of a turn; with `beyond` all that are due after the last one."""
        prompts: dict[str, list[dict[str, object]]] = {}
        for number, probe in enumerate(self.session.probes, 1):
            if probe.ask_at_turn == turn or (beyond and probe.ask_at_turn > turn):
                prompt = prompts.get(probe.question) or self.prompt_of(probe.question)
                prompts[probe.question] = prompt
                self.calls.dump(f"{probe.ask_at_turn}-probe{number}", prompt)
                asked = [m["role"] == "user" and text_of(m).startswith(probe.question) for m in prompt]
                last = max((at for at, is_it in enumerate(asked) if is_it), default=None)
                sent = [text_of(message) for at, message in enumerate(prompt) if at != last]
                turn_texts = texts_of_turn(self.session, probe.about_turn)
                self.asked.append(score(probe, turn_texts, sent, number))

    def prompt_of(self, question: str) -> list[dict[str, object]]:
        """The prompt that a question would send now, put together leaving no trace."""
        with no_trace(self):
            self.messages_before_turn = self.chat_length()
            self.coder.cur_messages += [{"role": "user", "content": question}]
            return [dict(message) for message in self.coder.format_messages().all_messages()]

    # -- the result

    def result(self, seconds: float) -> ReplayResult:
        for kind, count in sorted(self.recorded.placeholders.items()):
            if kind != SUMMARY or self.variant.summaries:
                self.notices.append(
                    f"a placeholder stood in for what was not recorded: {counted(count, f'{kind} answer')}"
                )
        for call in self.calls.take_summaries():  # outside aider's summary thread, as at a mode switch
            compaction = summary_of(call.turn, [call], call.prompt_tokens, call.completion_tokens)
            self.compactions.append(replace(compaction, applied=True, reason="outside the summary thread"))
        gardened = self.variant.settings is not None
        if gardened and self.watched.stopped:
            self.notices.insert(0, f"turn {self.watched.stopped}: {STOPPED}")
        texts = self.calls.texts
        found = ReplayResult(
            session=self.session.name,
            variant=self.variant.name,
            turns=self.session.turn_count,
            provenance=provenance(self),
            calls=tuple(self.calls.all_calls),
            compactions=(*self.compactions, *self.watched.plans),
            probes=tuple(sorted(self.asked, key=lambda probe: probe.number)),
            carried=tuple(carried(self.session, self.calls.all_calls, texts)),
            notices=tuple(self.notices),
            texts=texts if self.job.texts else {},
            replay_seconds=seconds,
            overhead_seconds=self.watched.overhead,
        )
        if gardened:
            aider_gardener.uninstall()  # which closes its archive
        return found


@contextmanager
def no_trace(runner: Runner) -> Iterator[None]:
    """Within the block a prompt may be put together; afterwards the coder, its repository map, the gardener,
    the terminal and the replay's own books are what they were, the same objects with the same contents."""
    coder, before = runner.coder, []
    for one in filter(None, (coder, coder.repo_map, runner, runner.calls, runner.io)):
        containers = [value for value in vars(one).values() if isinstance(value, (list, set, dict))]
        before.append((vars(one), dict(vars(one)), [(value, value.copy()) for value in containers]))
    gardener: Any = getattr(coder, "gardener", None)
    try:
        with gardener.preview() if gardener is not None else nullcontext():
            yield
    finally:
        for attributes, values, contents in before:
            attributes.clear()
            attributes.update(values)
            for value, items in contents:
                value.clear()
                refill = value.extend if isinstance(value, list) else value.update
                refill(items)


def provenance(runner: Runner) -> Provenance:
    model = runner.main_model  # the chat may have switched since
    gardener = getattr(runner.coder, "gardener", None)
    chosen = litellm.utils._select_tokenizer(model.name)  # what counts the tokens of a message
    name = getattr(chosen.get("tokenizer"), "name", "")
    return Provenance(
        gardener=aider_gardener.__version__,
        aider=metadata.version("aider-chat"),
        litellm=metadata.version("litellm"),
        model=model.name,
        weak_model=model.weak_model.name,
        tokenizer="o200k_base" if "gpt-4o" in model.name else str(name or chosen.get("type", "")),
        window_tokens=int(model.info.get("max_input_tokens") or 0),
        history_tokens=int(gardener.state.budget if gardener else runner.coder.summarizer.max_tokens),
        settings=runner.variant.settings or {},
        session_sha256=runner.session.sha256,
        cache_prompts=runner.job.cache_prompts,
    )
