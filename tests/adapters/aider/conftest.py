"""A real aider over a real repository, with a scripted model: the only fake."""

from __future__ import annotations

import atexit
import dataclasses
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from aider_gardener import install, uninstall
from aider_gardener.replay.play.calls import completion
from aider_gardener.settings import Settings

EDIT = """Here is the change.

{path}
```python
<<<<<<< SEARCH
{old}
=======
{new}
>>>>>>> REPLACE
```
"""


def streamed(text: str, model: str) -> Iterator[Any]:
    """The chunks of a streamed response that says `text`, as aider reads them."""
    from litellm.types.utils import Delta, ModelResponseStream, StreamingChoices

    for start in range(0, len(text), 400):
        delta = Delta(content=text[start : start + 400], role="assistant")
        yield ModelResponseStream(
            id="chatcmpl-replay",
            created=0,
            model=model,
            choices=[StreamingChoices(index=0, delta=delta, finish_reason=None)],
        )
    yield ModelResponseStream(
        id="chatcmpl-replay",
        created=0,
        model=model,
        choices=[StreamingChoices(index=0, delta=Delta(), finish_reason="stop")],
    )


class ScriptedModel:
    """Answers litellm calls from a list (then with "Fine."), commit messages apart; keeps the requests."""

    def __init__(self) -> None:
        self.replies: list[str | BaseException] = []
        self.requests: list[list[dict[str, Any]]] = []
        self.calls: list[dict[str, Any]] = []
        self.commit_calls = 0
        self.summary_calls = 0
        self.prompt_tokens: Callable[[list[dict[str, Any]]], int] = lambda _messages: 10
        """What it says of the length of a prompt."""

    def complete(self, **options: Any) -> Any:
        messages = [dict(message) for message in options["messages"]]
        first = str(messages[0]["content"])
        self.calls.append(options)
        if first.startswith("You are an expert software engineer that generates concise"):
            self.commit_calls += 1
            text = "fix: a change"
        elif "summarize" in first.lower()[:40]:
            self.summary_calls += 1
            text = "I asked you about things."
        else:
            self.requests.append(messages)
            answer = self.replies.pop(0) if self.replies else "Fine."
            if isinstance(answer, BaseException):
                raise answer
            text = answer
        return (
            streamed(text, options["model"])
            if options.get("stream")
            else completion(text, options["model"], self.prompt_tokens(messages), 5)
        )

    def last_prompt(self) -> str:
        """Everything of the last request, as one text."""
        return "\n".join(str(message["content"]) for message in self.requests[-1])


class Driver:
    """Types into aider's own loop, as aider.main does, and keeps what aider says."""

    def __init__(self, coder: Any, model: ScriptedModel, said: list[str]) -> None:
        self.coder = coder
        self.model = model
        self.said = said

    def type(self, text: str) -> None:
        from aider.coders.base_coder import Coder
        from aider.commands import SwitchCoder

        try:
            self.coder.run(with_message=text)
        except SwitchCoder as switch:
            options = {"io": self.coder.io, "from_coder": self.coder, **switch.kwargs}
            options.pop("show_announcements", None)
            self.coder = Coder.create(**options)

    def ask(self, *questions: str, reply: str = "Noted.") -> None:
        for question in questions:
            self.model.replies.append(reply)
            self.type(question)

    @property
    def history(self) -> list[dict[str, Any]]:
        return [*self.coder.done_messages, *self.coder.cur_messages]

    @property
    def last_said(self) -> str:
        return "\n".join(self.said)


@cache
def committed() -> Path:
    """A git repository with one Python file, made once."""
    root = Path(tempfile.mkdtemp(prefix="gardener-tests-project-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    (root / "app.py").write_text("def greet():\n    return 'hello'\n", encoding="utf-8")
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "start"]):
        subprocess.run(["git", *words], cwd=root, check=True)
    return root


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of it; the working directory."""
    root = tmp_path / "project"
    shutil.copytree(committed(), root)
    monkeypatch.chdir(root)
    return root


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> ScriptedModel:
    import litellm
    from aider.waiting import WaitingSpinner

    scripted = ScriptedModel()
    monkeypatch.setattr(WaitingSpinner.__init__, "__defaults__", ("", 0.01))  # each commit would wait 0.15 s
    monkeypatch.setattr(litellm, "completion", scripted.complete)
    monkeypatch.setenv("AIDER_SANITY_CHECK_TURNS", "1")
    return scripted


MakeDriver = Callable[..., Driver]


@pytest.fixture
def drive(repository: Path, model: ScriptedModel) -> MakeDriver:
    """Makes a driver over aider's own Coder, as aider.main would build it; takes Coder's keywords."""

    def make(fnames: Sequence[str] = ("app.py",), model_name: str = "gpt-4o", **options: Any) -> Driver:
        from aider.coders.base_coder import Coder
        from aider.io import InputOutput
        from aider.models import Model

        said: list[str] = []
        io = InputOutput(pretty=False, yes=True, fancy_input=False, chat_history_file=repository / ".chat.md")
        for name in ("tool_output", "tool_warning", "tool_error"):
            keep_lines(io, name, said)
        defaults: dict[str, Any] = {
            "edit_format": "diff",
            "auto_lint": False,
            "stream": False,
            "map_tokens": 0,
        }
        coder = Coder.create(
            main_model=Model(model_name), io=io, fnames=list(fnames), **{**defaults, **options}
        )
        return Driver(coder, model, said)

    return make


def keep_lines(io: Any, name: str, said: list[str]) -> None:
    original = getattr(io, name)

    def keep(*messages: Any, **options: Any) -> Any:
        said.extend(str(message) for message in messages)
        return original(*messages, **options)

    setattr(io, name, keep)


@pytest.fixture
def gardened() -> Iterator[Callable[..., None]]:
    """Installs the gardener with the given settings; takes it out at the end."""

    def put_in(**options: Any) -> None:
        install(Settings(**options))

    yield put_in
    uninstall()


Begin = Callable[..., Driver]


@pytest.fixture
def begin(drive: MakeDriver, gardened: Callable[..., None]) -> Begin:
    """Begins a chat under a gardener with the given settings, whose process is a new one; what is none of them
    is a keyword of Coder's."""

    def made(**options: Any) -> Driver:
        uninstall()
        given = {field.name for field in dataclasses.fields(Settings)} & options.keys()
        gardened(**{name: options[name] for name in given})
        return drive(**{name: value for name, value in options.items() if name not in given})

    return made


@pytest.fixture
def driver(begin: Begin) -> Driver:
    """A chat under a gardener as it is by default."""
    return begin()


@pytest.fixture(autouse=True)
def clean_after() -> Iterator[None]:
    yield
    uninstall()
