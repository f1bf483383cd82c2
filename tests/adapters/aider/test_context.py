"""The gardener as a context provider, on an aider that has the interface of the patches."""

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
from aider_gardener.adapters.aider.context import GardenerContext, make, make_provider, token_rows
from aider_gardener.settings import Settings

from .conftest import MakeDriver
from .test_wrappers import chatter


class Stock:
    """aider's own provider, which notes what it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def tend(self, coder: Any) -> None:
        self.asked.append("tend")

    def new_format(self, coder: Any) -> list[dict[str, Any]]:
        self.asked.append("new_format")
        return []

    def wants_summary(self, coder: Any) -> bool:
        self.asked.append("wants_summary")
        return True

    def token_rows(self, coder: Any) -> list[tuple[int, str, str]]:
        return [(1, "stock", "")]

    def token_details(self, coder: Any) -> list[str]:
        return ["stock"]


@pytest.fixture
def stock() -> Stock:
    return Stock()


def test_where_the_gardener_is_off_aiders_own_provider_does_it(
    drive: MakeDriver, stock: Stock, gardened: Any
) -> None:
    gardened(mode="off")
    coder, context = drive().coder, GardenerContext(stock)
    context.tend(coder)
    assert context.new_format(coder) == [] and context.wants_summary(coder)
    assert context.token_rows(coder) == [(1, "stock", "")]
    assert context.token_details(coder) == ["stock"]
    assert stock.asked == ["tend", "new_format", "wants_summary"]


def test_where_it_is_on_aiders_own_provider_is_not_asked(
    drive: MakeDriver, stock: Stock, gardened: Any
) -> None:
    gardened(history_tokens=1_000)
    driver, context = drive(), GardenerContext(stock)
    chatter(driver, 12)
    coder = driver.coder
    context.tend(coder)
    assert not context.wants_summary(coder)
    assert context.new_format(coder) is coder.done_messages
    assert stock.asked == []

    rows = context.token_rows(coder)
    assert [name.split(",")[0] for _, name, _ in rows][:2] == ["chat history"] * 2
    state = coder.gardener.state
    assert sum(tokens for tokens, name, _ in rows if name.startswith("chat")) == state.history_used
    details = "\n".join(context.token_details(coder))
    assert "as said" in details and "stock" not in details


def test_a_chat_without_messages_has_no_rows(drive: MakeDriver, gardened: Any) -> None:
    gardened()
    coder = drive().coder
    assert token_rows(coder, coder.gardener) == []


def test_a_fault_of_ours_leaves_the_host_its_own_way(
    drive: MakeDriver, stock: Stock, gardened: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    gardened()
    driver, context = drive(), GardenerContext(stock)

    def broken(*_: Any) -> None:
        raise RuntimeError("ours")

    monkeypatch.setattr(link, "sync", broken)
    context.take_in(driver.coder)
    assert "aider-gardener stopped in this chat (RuntimeError)" in driver.last_said
    context.tend(driver.coder)
    assert stock.asked == ["tend"]


def test_a_coder_with_another_provider_has_no_gardener(
    drive: MakeDriver, stock: Stock, gardened: Any
) -> None:
    gardened()
    coder = drive().coder
    coder.context = stock
    assert link.is_sub(coder) and link.gardener_of(coder) is None
    coder.context = GardenerContext(stock)
    assert not link.is_sub(coder)


def test_installed_the_gardener_stands_for_aiders_own_provider_and_for_no_other(stock: Stock) -> None:
    made = make_provider(lambda name, options=(): stock)
    assert isinstance(made("summary"), GardenerContext) and made("summary").stock is stock
    assert made("another", ["a=b"]) is stock


def test_a_provider_with_settings_needs_no_others(drive: MakeDriver, stock: Stock, tmp_path: Path) -> None:
    coder = drive().coder
    coder.context = GardenerContext(stock, Settings(recall_tokens=7, store=str(tmp_path / "archive")))
    assert link.settings_of(coder).recall_tokens == 7
    assert coder.context.announcements(coder)[0].startswith("gardener on: ")
    assert GardenerContext(stock).announcements(coder) == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"recall": "0"}, "no option recall"),
        ({"recall_tokens": "many"}, "RECALL_TOKENS"),
        ({"store": "/elsewhere"}, "command line"),
        ({"ask_for_originals": "yes"}, "only in aider-gardener"),
    ],
)
def test_options_that_cannot_be_used_are_refused(
    options: dict[str, str], said: str, aider_with_context: None
) -> None:
    with pytest.raises(ValueError, match=said):
        make(**options)


def test_options_become_settings(aider_with_context: None, monkeypatch: pytest.MonkeyPatch) -> None:
    made = make(recall_tokens="0", incremental="4").settings
    assert made is not None and (made.recall_tokens, made.incremental) == (0, 4)
    monkeypatch.setattr(sys, "argv", ["aider", "--context-option", "store=/elsewhere"])
    chosen = make(store="/elsewhere").settings
    assert chosen is not None and chosen.store == "/elsewhere"


@pytest.fixture
def aider_with_context(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if this process's aider had the interface."""
    module: Any = type(sys)("aider.context")
    module.SummaryProvider = Stock
    monkeypatch.setitem(sys.modules, "aider.context", module)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """aider with the whole series."""
    return patched(tmp_path_factory.mktemp("aider"), SERIES, SERIES.patches)


def test_the_life_of_a_message_is_the_same_with_fewer_wrappers(whole: Path) -> None:
    """The tests of the wrappers, on an aider that calls the provider instead."""
    tests = [str(ROOT / "tests/adapters/aider" / f"test_{name}.py") for name in ("wrappers", "overflow")]
    out = run_with(whole, ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "0", *tests])
    assert " passed" in out and "failed" not in out


OWN_WAY = """
import ast
import inspect
import re
import sys
from aider.main import main
options = ["history_tokens=4000", "recall_tokens=0", f"store={sys.argv[1]}"]
sys.argv = ["aider", *options]
args = ["--model", "gpt-4o", "--yes-always", "--exit", "--no-git", "--no-show-model-warnings",
        "--context-provider", "gardener"]
for option in options:
    args += ["--context-option", option]
coder = main(args, return_coder=True)
from aider_gardener.adapters.aider import link
from aider_gardener.adapters.aider.install import in_force
gardener = link.gardener_of(coder)
print("settings", gardener.state.settings.history_tokens, gardener.state.settings.recall_tokens)
print("in force", in_force(), hasattr(type(coder), "gardener"))
coder.show_announcements()
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
    assert "gardener on: history up to 4,000 tokens" in out


def test_the_gardener_has_each_method_of_the_interface() -> None:
    text = "".join(patch.diffs.get("aider/context.py", "") for patch in SERIES.patches)
    wanted = dict(re.findall(r"^\+    def (\w+)(\(self.*\)):$", text, re.M))
    for name, parameters in wanted.items():
        function: Any = ast.parse(f"def f{parameters}: pass").body[0]
        given = [argument.arg for argument in function.args.args]
        assert list(inspect.signature(getattr(GardenerContext, name)).parameters) == given
    assert {"tend", "take_in", "add", "shrink", "announcements"} < wanted.keys()
