"""The gardener as a history provider, on an aider that has the interface of the patches."""

from __future__ import annotations

import ast
import inspect
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from made_tree import SERIES
from patched_aider import ROOT, patched, run_with
from patches_replay import with_entry_points

from aider_gardener.adapters.aider import link
from aider_gardener.adapters.aider.history import GardenerProvider, make
from aider_gardener.adapters.aider.layout import EDITABLE_HEAD
from aider_gardener.settings import Settings

from .conftest import Begin, Driver, MakeDriver
from .test_wrappers import chatter


def join(coder: Any, provider: GardenerProvider | None = None) -> GardenerProvider:
    """The coder's provider, once aider has told of the coder."""
    (provider or GardenerProvider()).notice("joined", [], [], coder, None)
    made: GardenerProvider = coder.history
    return made


def test_where_the_gardener_is_off_the_lists_stay_and_aider_summarises(begin: Begin) -> None:
    coder = begin(mode="off").coder
    provider = join(coder)
    coder.done_messages = [{"role": "user", "content": "A question"}, {"role": "assistant", "content": "Ok."}]
    before = coder.done_messages, coder.cur_messages
    assert provider.fit(*before) == before and provider.summarizes
    assert provider.shorten(*before, ValueError("too long")) is None
    coder.summarizer.summarize_all = lambda messages: [messages[0]]
    assert provider.new_format(coder.done_messages) == coder.done_messages[:1]
    assert provider.new_format([]) == []


def test_where_it_is_on_it_decides_and_nothing_is_summarised(begin: Begin) -> None:
    driver = begin(history_tokens=1_000)
    chatter(driver, 12)
    coder = driver.coder
    provider = join(coder)
    assert not provider.summarizes
    assert provider.fit(coder.done_messages, coder.cur_messages) == (coder.done_messages, coder.cur_messages)
    assert provider.new_format(coder.done_messages) is coder.done_messages
    before = coder.gardener.state.history_used
    shorter = provider.shorten(coder.done_messages, coder.cur_messages, ValueError("too long"))
    assert shorter == (coder.done_messages, coder.cur_messages)
    assert coder.gardener.state.history_used < before


def test_what_is_copied_for_elsewhere_is_aiders_own(begin: Begin) -> None:
    driver = begin(files="append", map_tokens=0)
    driver.ask("one", "two")
    coder, made = driver.coder, inspect.unwrap(type(driver.coder).format_chat_chunks)
    provider, copied = join(coder), made(coder)
    provider.add(copied)
    assert copied.all_messages() == made(coder).all_messages()
    coder.cur_messages += [{"role": "user", "content": "three"}]
    sent = made(coder)
    provider.add(sent)
    assert sent.readonly_files[0]["content"].startswith(EDITABLE_HEAD)


def test_a_history_that_was_restored_is_summarised_where_the_gardener_does_not_act(
    drive: MakeDriver, gardened: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """aider restores it before it tells of the coder, and asks then whether to summarise."""
    gardened(mode="observe")
    coder, started = drive().coder, []
    monkeypatch.setattr(type(coder), "summarize_start", lambda self: started.append(self.history.summarizes))
    coder.done_messages = [{"role": "user", "content": "A question"}, {"role": "assistant", "content": "Ok."}]
    join(coder)
    assert started == [True]


def test_a_fault_of_ours_leaves_the_host_its_own_way(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    provider = join(driver.coder)

    def broken(*_: Any) -> None:
        raise RuntimeError("ours")

    monkeypatch.setattr(link, "refresh", broken)
    provider.notice("end", [], [])  # of a turn that was not told of
    provider.notice("added", [], [])
    assert "aider-gardener stopped in this chat (RuntimeError)" in driver.last_said
    assert provider.summarizes


def test_a_coder_with_another_provider_has_no_gardener(begin: Begin) -> None:
    coder = begin().coder
    coder.history = object()
    assert link.is_sub(coder) and link.gardener_of(coder) is None
    coder.history = GardenerProvider()
    assert not link.is_sub(coder)


def test_a_provider_with_settings_needs_no_others_and_says_that_it_is_on(
    drive: MakeDriver, tmp_path: Path
) -> None:
    driver = drive()
    join(driver.coder, GardenerProvider(Settings(recall_tokens=7, store=str(tmp_path / "archive"))))
    assert link.settings_of(driver.coder).recall_tokens == 7
    assert "gardener on, " in driver.last_said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"recall": "0"}, "no option recall"),
        ({"recall_tokens": "many"}, "RECALL_TOKENS"),
        ({"store": "/elsewhere"}, "command line"),
        ({"ask_for_originals": "yes"}, "only in aider-gardener"),
    ],
)
def test_options_that_cannot_be_used_are_refused(options: dict[str, str], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        make(**options)


def test_options_become_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    made = make(recall_tokens="0", incremental="4").settings
    assert made is not None and (made.recall_tokens, made.incremental) == (0, 4)
    monkeypatch.setattr(sys, "argv", ["aider", "--history-option", "store=/elsewhere"])
    chosen = make(store="/elsewhere").settings
    assert chosen is not None and chosen.store == "/elsewhere"


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """aider with the whole series."""
    return patched(tmp_path_factory.mktemp("aider"), SERIES, SERIES.patches)


def test_the_life_of_a_message_is_the_same_with_fewer_wrappers(whole: Path) -> None:
    """The tests of the wrappers, on an aider that calls the provider instead; what architect's editor pays for
    a summary of its chat the series leaves to aider."""
    names, folder = ("wrappers", "overflow", "way_back"), ROOT / "tests/adapters/aider"
    tests = [str(folder / f"test_{name}.py") for name in names]
    chosen = "(test_wrappers or rejected_twice or longer_prompt or legally or linters)"
    tests += ["-k", f"{chosen} and not chat_of_a_helper"]
    out = run_with(whole, ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", *tests])
    assert " passed" in out and "failed" not in out


OWN_WAY = """
import sys
from aider.main import main
options = ["history_tokens=4000", "recall_tokens=0", f"store={sys.argv[1]}"]
sys.argv = ["aider", *options]
args = ["--model", "gpt-4o", "--yes-always", "--exit", "--no-git", "--no-show-model-warnings",
        "--history-provider", "gardener"]
for option in options:
    args += ["--history-option", option]
coder = main(args, return_coder=True)
from aider_gardener.adapters.aider import link
from aider_gardener.adapters.aider.install import in_force
gardener = link.gardener_of(coder)
print("settings", gardener.state.settings.history_tokens, gardener.state.settings.recall_tokens)
print("in force", in_force(), hasattr(type(coder), "gardener"))
coder.commands.cmd_clear("")
import threading
for thread in threading.enumerate():
    if "load_slow_imports" in thread.name:  # aider's: C++ that is loaded as Python ends may abort the process
        thread.join()
"""


def test_aider_finds_the_provider_by_its_entry_point_and_replaces_nothing(
    whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    told = with_entry_points(tmp_path / "entry-points")
    out = run_with(whole, ["-c", OWN_WAY, str(tmp_path / "archive")], beside=[told])
    assert "settings 4000 0" in out
    assert "in force 0 False" in out
    assert "gardener on, archive" in out


def test_the_gardener_has_each_method_of_the_interface() -> None:
    text = "".join(patch.diffs.get("aider/history_provider.py", "") for patch in SERIES.patches)
    wanted = dict(re.findall(r"^\+    def (\w+)(\(self.*\)):$", text, re.M))
    del wanted["__init__"]
    for name, parameters in wanted.items():
        function: Any = ast.parse(f"def f{parameters}: pass").body[0]
        given = [argument.arg for argument in function.args.args]
        own = inspect.signature(getattr(GardenerProvider, name)).parameters
        assert [name.removeprefix("_") for name in own][: len(given)] == given
    assert wanted.keys() == {"fit", "add", "new_format", "notice", "shorten"}
