"""Laws of a chat, whatever is typed into it: a state machine over aider's own Coder and a scripted model."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from aider_gardener import install, uninstall
from aider_gardener.adapters.aider import link
from aider_gardener.adapters.aider.call import FAKE_REPLY
from aider_gardener.gardener.compactions import compact_to, drafted
from aider_gardener.plan.goals import Goal
from aider_gardener.plan.view import FILLER
from aider_gardener.settings import Settings

from .conftest import EDIT, Driver, ScriptedModel

PROSE = "The worker hands batch {n} to shard {m}, which took {t} ms and wrote {w} rows. "
FILE = "def greet():\n    return 'hello 0'\n"


def prose(number: int, sentences: int) -> str:
    return "".join(PROSE.format(n=number, m=n % 7, t=n * 13, w=n * n) for n in range(sentences))


def alternates(messages: list[dict[str, Any]]) -> bool:
    roles = [message["role"] for message in messages if message["role"] != "system"]
    return all(first != second for first, second in itertools.pairwise(roles))


class Watched(ScriptedModel):
    """A scripted model that looks at each prompt of the chat as it comes in: aider catches what is raised here,
    so what is wrong is kept."""

    def __init__(self) -> None:
        super().__init__()
        self.driver: Driver | None = None
        self.wrong: list[str] = []

    def complete(self, **options: Any) -> Any:
        before = len(self.requests)
        try:
            return super().complete(**options)
        finally:
            if len(self.requests) > before:
                self.wrong += self.look_at(options["messages"])

    def look_at(self, messages: list[dict[str, Any]]) -> list[str]:
        from aider.sendchat import sanity_check_messages

        try:
            if not sanity_check_messages(messages):
                return ["its last message is not the user's"]
        except ValueError as error:
            return [str(error)]
        coder = self.driver.coder
        state, window = coder.gardener.state, coder.main_model.info["max_input_tokens"]
        is_over = sum(state.count(str(message["content"])) for message in messages) > window
        helps = is_over and drafted(state, Goal(high=1, low=1, hard=1)) is not None
        return ["it is over the window though a plan would help"] * helps


class ChatLaws(RuleBasedStateMachine):
    """Turns, commands, mode switches, interrupts, failures, clears and undo in any order."""

    home: Path

    @initialize(budget=st.sampled_from([20_000, 1_500, 600]), window=st.sampled_from([3_500, 0, 6_000]))
    def begin(self, budget: int, window: int) -> None:
        import litellm
        from aider.coders.base_coder import Coder
        from aider.io import InputOutput
        from aider.models import Model

        self.number = 0
        self.disturbed = True
        self.seen: list[dict[str, Any]] = []
        self.changes = 0
        subprocess.run(["git", "checkout", "-q", "-f", "-B", "laws", "start"], cwd=self.home, check=True)
        shutil.rmtree(self.home / ".aider.gardener", ignore_errors=True)
        install(Settings(history_tokens=budget, throttle_tokens=400, embedder="none"))
        link.state.background = False
        self.model = Watched()
        litellm.completion = self.model.complete
        model = Model("gpt-4o")
        if window:
            model.info = {**model.info, "max_input_tokens": window}
        io = InputOutput(pretty=False, yes=True, fancy_input=False)
        for name in ("tool_output", "tool_warning", "tool_error", "assistant_output"):
            setattr(io, name, self.hear)
        coder = Coder.create(
            main_model=model, io=io, fnames=["app.py"], edit_format="diff", stream=False,
            auto_lint=False, map_tokens=0,
        )  # fmt: skip
        self.said: list[str] = []
        self.driver = self.model.driver = Driver(coder, self.model, self.said)

    def hear(self, *messages: Any, **_options: Any) -> None:
        self.said += [str(message) for message in messages]

    def type(self, text: str) -> None:
        self.driver.type(text)
        assert not any("stopped in this chat" in line for line in self.said), self.said[-3:]

    @property
    def gardener(self) -> Any:
        return self.driver.coder.gardener

    # What a user and a provider do

    @rule(sentences=st.sampled_from([60, 12, 1]), words=st.sampled_from([0, 0, 0, 90]))
    def ask(self, sentences: int, words: int) -> None:
        self.number += 1
        self.model.replies.append(prose(self.number, sentences))
        self.type(f"/ask question {self.number} {prose(self.number, words)}")

    @rule(again=st.booleans())
    def edit(self, again: bool) -> None:
        self.number += 1
        old = Path("app.py").read_text(encoding="utf-8").splitlines()[1]
        new = f"    return 'hello {self.number}'"
        bad = EDIT.format(path="app.py", old="no such line", new="x")
        good = EDIT.format(path="app.py", old=old, new=new)
        self.model.replies += [bad, good] if again else [good]
        self.type(f"say hello {self.number}")
        self.model.replies.clear()

    @rule(lines=st.sampled_from([2, 40, 400]), fails=st.booleans())
    def run(self, lines: int, fails: bool) -> None:
        self.number += 1
        output = "\n".join(f"10:00:{n % 60:02} INFO {self.number} step {n} ok" for n in range(lines))
        import aider.commands

        aider.commands.run_cmd = lambda *_a, **_o: (int(fails), output + "\nERROR disk full")
        self.type("/test make check" if fails else "/run make all")

    @rule(where=st.sampled_from(["ask", "code", "diff", "whole"]))
    def switch(self, where: str) -> None:
        self.type(f"/chat-mode {where}")
        self.disturbed = True

    @rule()
    def interrupt(self) -> None:
        self.model.replies.append(KeyboardInterrupt())
        self.type("/ask this is stopped")
        self.disturbed = True

    @rule(kind=st.sampled_from(["overflow", "local", "twice", "key", "empty"]))
    def fail(self, kind: str) -> None:
        import litellm

        where: dict[str, Any] = {"model": "gpt-4o", "llm_provider": "openai"}
        errors: dict[str, list[str | BaseException]] = {
            "overflow": [litellm.ContextWindowExceededError(message="too long", **where)],
            "local": [litellm.BadRequestError(message="exceeds the available context size", **where)],
            "twice": [litellm.ContextWindowExceededError(message="too long", **where) for _ in range(2)],
            "key": [litellm.AuthenticationError(message="no key", **where)],
            "empty": [""],
        }
        self.number += 1
        self.model.replies += errors[kind]
        before = list(self.driver.history)
        self.type(f"/ask question {self.number} that fails")
        self.model.replies.clear()
        if kind == "twice" and len(self.gardener.state.plans) == self.changes:
            unanswered = before[-1:] and before[-1]["role"] == "user"
            closing = [{"role": "assistant", "content": FILLER}] if unanswered else []
            assert self.driver.history == [*before, *closing]
        self.disturbed = True

    @rule()
    def clear(self) -> None:
        self.type("/clear")
        assert self.driver.history == []
        self.disturbed = True

    @rule()
    def take_back_the_edit(self) -> None:
        self.type("/undo")
        self.disturbed = True

    @rule()
    def off_and_on(self) -> None:
        self.type("/gardener off")
        chat = self.gardener.state.chat
        assert all(len(piece.members) == 1 for piece in [*chat.done, *chat.cur])
        said = [entry for seq, entry in chat.entries.items() if seq not in chat.removed]
        assert sorted((e.role, e.content) for e in said) == sorted(
            (message["role"], message["content"]) for message in self.as_typed()
        )
        assert alternates(self.driver.history)
        assert not self.driver.coder.done_messages or self.driver.coder.done_messages[-1]["role"] != "user"
        self.type("/gardener on")
        self.disturbed = True

    @precondition(lambda self: len(self.driver.history) > 6)
    @rule()
    def compact_and_undo(self) -> None:
        coder, gardener = self.driver.coder, self.gardener
        link.sync(coder, gardener)
        before = self.as_typed()
        used = gardener.state.history_used
        plan = compact_to(gardener.state, Goal(high=max(1, used // 2), low=max(1, used // 4)))
        if plan is not None:
            assert alternates(self.driver.history)
            assert gardener.state.history_used == plan.tokens_after < plan.tokens_before == used
            gardener.undo()
        assert self.as_typed() == before
        self.disturbed = True

    def as_typed(self) -> list[dict[str, Any]]:
        """The history without what aider writes behind a message whose answer was interrupted."""
        ending = "\n^C KeyboardInterrupt"
        return [{**each, "content": each["content"].removesuffix(ending)} for each in self.driver.history]

    # What holds whatever they do

    @invariant()
    def each_prompt_is_legal_and_keeps_the_window_if_any_view_does(self) -> None:
        assert self.model.wrong == []

    @invariant()
    def the_chat_is_legal_and_says_only_what_was_said(self) -> None:
        assert alternates(self.driver.history)
        assert not any(message["content"] == FAKE_REPLY for message in self.driver.history)

    @invariant()
    def a_plan_saves_tokens(self) -> None:
        assert all(one.plan.tokens_after < one.plan.tokens_before for one in self.gardener.state.plans)

    @invariant()
    def the_same_chat_makes_the_same_prompt_and_no_second_plan(self) -> None:
        coder, gardener = self.driver.coder, self.gardener
        coder.format_messages()  # a plan made here leaves room in which aider may put its reminder next time
        first = coder.format_messages().all_messages()
        plans = len(gardener.state.plans)
        assert coder.format_messages().all_messages() == first
        assert len(gardener.state.plans) == plans
        assert alternates(first)

    @invariant()
    def without_a_compaction_the_prefix_stays(self) -> None:
        changes = len(self.gardener.state.plans)
        now = [dict(message) for message in self.driver.history]
        if changes == self.changes and not self.disturbed:
            assert now[: len(self.seen)] == self.seen
        self.seen, self.changes, self.disturbed = now, changes, False

    def teardown(self) -> None:
        uninstall()


@pytest.fixture
def surroundings(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A repository to work in; what the machine patches by hand is put back."""
    import aider.commands
    import litellm

    home = Path(tempfile.mkdtemp())
    (home / "app.py").write_text(FILE, encoding="utf-8")
    (home / ".gitignore").write_text(".aider*\n", encoding="utf-8")
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "start"], ["tag", "start"]):
        subprocess.run(["git", *words], cwd=home, check=True)
    kept = litellm.completion, aider.commands.run_cmd, link.state.background
    monkeypatch.chdir(home)
    ChatLaws.home = home
    yield
    litellm.completion, aider.commands.run_cmd, link.state.background = kept
    monkeypatch.chdir(os.path.dirname(home))
    shutil.rmtree(home, ignore_errors=True)


def test_laws_of_a_chat(surroundings: None) -> None:
    from hypothesis.stateful import run_state_machine_as_test

    run_state_machine_as_test(
        ChatLaws,
        settings=settings(
            max_examples=10,
            stateful_step_count=12,
            deadline=None,
            derandomize=True,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
            report_multiple_bugs=False,
        ),
    )
