"""Prompts that only grow, made by a real aider: each file once, then what changed."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from adapters.aider.conftest import EDIT, Begin, Driver, MakeDriver, ScriptedModel
from aider_gardener.adapters.aider import layout
from aider_gardener.plan.diffs import apply
from aider_gardener.plan.usage import Call
from aider_gardener.recall.recall import NOTE_HEAD

FILES = {
    f"part{n}.py": "".join(f"def part{n}_{m}():\n    return {m}\n\n\n" for m in range(9)) for n in range(1, 5)
}
Prompt = list[dict[str, Any]]
SHOWN = re.compile(
    r"\n(?P<name>[^\n]+?)(?:, (?:whole|new)[^\n]*:)?\n(?:```diff\n(?P<diff>@@\n.*?)```\n|```\n(?P<whole>.*?)```\n)",
    re.DOTALL,
)
"""How a prompt shows a file: whole or as a diff."""


@pytest.fixture
def chat(repository: Path, begin: Begin) -> Driver:
    """A chat over four files whose prompts only grow from the first on."""
    for name, text in FILES.items():
        (repository / name).write_text(text, encoding="utf-8")
    return begin(files="append", fnames=list(FILES), map_tokens=0)


def edit(driver: Driver, name: str, line: int, to: str) -> None:
    before = Path(name).read_text(encoding="utf-8").split("\n")[line - 1 : line + 1]
    after = [before[0], f"    return {to}"]
    driver.ask(f"change {name}", reply=EDIT.format(path=name, old="\n".join(before), new="\n".join(after)))


def said(prompt: Prompt) -> list[str]:
    return [
        "".join(str(part.get("text", "")) for part in m["content"])
        if isinstance(m["content"], list)
        else str(m["content"])
        for m in prompt
    ]


def read(prompt: Prompt) -> dict[str, str]:
    """The files as one who reads the prompt from its beginning knows them."""
    found: dict[str, str] = {}
    for text in said(prompt):
        if text.startswith((layout.EDITABLE_HEAD, layout.READ_ONLY_HEAD, layout.CHANGED_HEAD)):
            for shown in SHOWN.finditer(text.partition("\n")[2]):
                name, made = shown["name"], shown["diff"]
                found[name] = apply(found[name], made) if made else shown["whole"]
    return found


def on_disk(driver: Driver) -> dict[str, str]:
    names = [*driver.coder.abs_fnames, *driver.coder.abs_read_only_fnames]
    texts = {driver.coder.get_rel_fname(name): driver.coder.io.read_text(name) for name in names}
    return {name: text for name, text in texts.items() if text is not None}


def alternates(prompt: Prompt) -> bool:
    roles = [message["role"] for message in prompt if message["role"] != "system"]
    return roles[0] == "user" and all(one != other for one, other in pairwise(roles))


def count_of(prompt: Prompt, text: str) -> int:
    return sum(text in each for each in said(prompt))


def faults(driver: Driver) -> list[str]:
    return [line for line in driver.said if "stopped" in line]


def test_files_stand_once_and_changes_where_they_were_made(chat: Driver, model: ScriptedModel) -> None:
    chat.ask("what does part1 do?")
    first = model.requests[-1]
    edit(chat, "part2.py", 1, "20")
    edit(chat, "part3.py", 5, "30")
    chat.ask("go on")
    prompt = model.requests[-1]
    assert read(prompt) == on_disk(chat)
    bases = next(at for at, text in enumerate(said(first)) if text.startswith(layout.EDITABLE_HEAD))
    assert prompt[: bases + 2] == first[: bases + 2], "the files stand where they stood"
    assert "+    return 20\n" in chat_of(prompt) and count_of(prompt, "return 8\n\n\n```") == 1
    assert f"- part2.py: {layout.AS_BASE}, then changed once" in said(prompt)[-3 - is_reminded(prompt)]
    assert alternates(prompt) and not faults(chat)


def chat_of(prompt: Prompt) -> str:
    return "\n".join(said(prompt))


def is_reminded(prompt: Prompt) -> bool:
    return bool(prompt[-1]["role"] == "system")


def test_a_prompt_goes_on_where_the_one_before_ended(chat: Driver, model: ScriptedModel) -> None:
    for number in range(6):
        edit(chat, f"part{1 + number % 4}.py", 5, str(number * 11))
    for former, last in pairwise(model.requests):
        ends = max(at for at, text in enumerate(said(former)) if text.startswith(layout.STATE_HEAD))
        assert last[:ends] == former[:ends]
    assert read(model.requests[-1]) != on_disk(chat), "the last edit came after the prompt"


def test_any_change_whoever_made_it_is_read_right(
    chat: Driver, model: ScriptedModel, repository: Path
) -> None:
    chance = random.Random(7)
    for turn in range(25):
        name = chance.choice(list(FILES))
        match chance.randrange(7):
            case 0:
                (repository / name).write_bytes(b"one\r\ntwo\r\nlast line without an end")
            case 1:
                (repository / name).write_text("", encoding="utf-8")
            case 2:
                text = (repository / name).read_text(encoding="utf-8")
                (repository / name).write_text(text + f"x = {turn}\u2028\n", encoding="utf-8")
            case 3:
                (repository / name).write_text("same\n" * chance.randrange(200), encoding="utf-8")
            case 4:
                chat.type(f"/drop {name}")
            case 5:
                chat.type(f"/{chance.choice(['add', 'read-only'])} {name}")
            case 6:
                (repository / name).write_text(
                    FILES[name].replace("return 4", f"return {turn}"), encoding="utf-8"
                )
        chat.ask(f"question {turn}")
        assert read(model.requests[-1]) == on_disk(chat) and alternates(model.requests[-1]), turn
    assert not faults(chat)


def with_files(begin: Begin, repository: Path) -> Driver:
    """A chat with some files whose history is soon compacted."""
    for name, text in FILES.items():
        (repository / name).write_text(text, encoding="utf-8")
    return begin(files="append", history_tokens=1_500, fnames=list(FILES), map_tokens=0)


def test_a_compaction_leaves_the_files_and_gathers_the_diffs(
    begin: Begin, repository: Path, model: ScriptedModel
) -> None:
    driver = with_files(begin, repository)
    for number in range(8):
        edit(driver, f"part{1 + number % 4}.py", 5, str(number * 11))
        driver.ask("tell me more", reply="Words of an answer. " * 60)
    assert driver.coder.gardener.state.plans
    for request in model.requests:
        assert alternates(request)
    driver.ask("and now?")
    assert read(model.requests[-1]) == on_disk(driver) and not faults(driver)


def test_an_edit_that_did_not_match_brings_the_file_whole(chat: Driver, model: ScriptedModel) -> None:
    edit(chat, "part1.py", 5, "50")
    wrong = EDIT.format(path="part1.py", old="    return nowhere to be found", new="    return 1")
    model.replies += [wrong, "I see."]
    chat.type("change it")
    prompt = model.requests[-1]
    assert f"part1.py, {layout.WHOLE}:" in chat_of(prompt) and read(prompt) == on_disk(chat)


def test_a_file_that_a_reply_holds_whole_is_read_right_where_that_edit_was_undone(
    begin: Begin, repository: Path
) -> None:
    (repository / "long.txt").write_text("word\n" * 300, encoding="utf-8")
    driver = begin(files="append", map_tokens=0, edit_format="whole", fnames=["app.py", "long.txt"])
    driver.ask("hello", "hello again")
    for word in ("one", "two"):
        driver.ask("be polite", reply=f"app.py\n```\ndef greet():\n    return '{word}'\n```\n")
        driver.ask("go on")
    driver.ask("be polite", reply="app.py\n```\ndef greet():\n    return 'three'\n```\n")
    driver.type("/undo")
    driver.ask("and now?")
    prompt = driver.model.requests[-1]
    assert read(prompt) == on_disk(driver) and "'two'" in read(prompt)["app.py"]
    state = next(text for text in said(prompt) if text.startswith(layout.STATE_HEAD))
    assert "reply" not in state, "the last reply that shows it is not what it is"


def test_a_chat_of_nothing_but_questions_has_the_words_of_its_mode_once(
    chat: Driver, model: ScriptedModel
) -> None:
    chat.ask("/ask why?", "/ask and then?")
    assert count_of(model.requests[-1], "expert code analyst") == 1
    assert not count_of(model.requests[-1], layout.MODE_HEAD)


@pytest.mark.parametrize(("mode", "minutes"), [("ask", 0), ("ask", 12), ("context", 0)])
def test_a_mode_that_answers_is_asked_below_the_head_of_the_mode_that_edits(
    mode: str, minutes: int, chat: Driver, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also once the cache is cold, for the next order."""
    edit(chat, "part2.py", 5, "20")
    state = chat.coder.gardener.state
    now = state.archive.clock() + 60 * minutes
    monkeypatch.setattr(state.usage, "_clock", lambda: now)
    assert state.is_cold == (minutes > 0)
    chat.ask(f"/{mode} why?", reply=" ".join(FILES))
    chat.ask("do it")
    order, question, again = model.requests[-3:]
    heads = [request[0] for request in (order, question, again)]
    assert heads[0] == heads[1] == heads[2]
    words = [text for text in said(question) if layout.MODE_HEAD in text]
    assert len(words) == 1 and "expert code analyst" in words[0] and "SEARCH/REPLACE" not in words[0]
    assert not count_of(again, layout.MODE_HEAD)


def test_another_model_is_not_asked_below_the_head_of_the_one_before(
    chat: Driver, model: ScriptedModel
) -> None:
    edit(chat, "part2.py", 5, "20")
    chat.type("/model claude-sonnet-4-5")
    chat.ask("/ask why?")
    question = model.requests[-1]
    assert "SEARCH/REPLACE" not in chat_of(question[:1]) and not count_of(question, layout.MODE_HEAD)
    edit(chat, "part2.py", 9, "30")
    chat.ask("/ask and why?")
    assert model.requests[-1][0] == model.requests[-2][0] and count_of(model.requests[-1], layout.MODE_HEAD)


def test_modes_get_a_legal_prompt(chat: Driver, model: ScriptedModel) -> None:
    for number, mode in enumerate(("ask", "architect", "context", "help")):
        edit(chat, "part2.py", 5, f"2{number}")
        chat.type(f"/chat-mode {mode}")
        chat.ask("what now?")
        chat.type("/chat-mode code")
    edit(chat, "part3.py", 5, "30")
    assert all(alternates(request) for request in model.requests) and not faults(chat)


def test_room_is_made_for_a_large_file_before_it_is_first_sent(
    begin: Begin, model: ScriptedModel, repository: Path
) -> None:
    (repository / "large.txt").write_text("a line of words in a file\n" * 1_000, encoding="utf-8")
    driver = begin(files="append", map_tokens=0, history_tokens=20_000)
    driver.coder.main_model.info = {**driver.coder.main_model.info, "max_input_tokens": 12_000}
    driver.ask(*(f"question {n}" for n in range(12)), reply="Words of an answer. " * 100)
    driver.type("/add large.txt")
    driver.ask("and what is in it?")
    assert "a line of words" in chat_of(model.requests[-1])
    assert driver.coder.main_model.token_count(model.requests[-1]) < 12_000 and not faults(driver)


@pytest.mark.parametrize(
    ("files", "line", "lines"),
    [("append", "a line of words in a file\n", 400), ("aider", "1 2 3 4 5 6 7\n", 200)],
)
def test_a_file_that_was_dropped_makes_room_and_nothing_else_has_to(
    begin: Begin, repository: Path, files: str, line: str, lines: int
) -> None:
    """The second has four times the tokens that its size tells."""
    (repository / "large.txt").write_text(line * lines, encoding="utf-8")
    driver = begin(files=files, map_tokens=0, history_tokens=20_000, fnames=["app.py", "large.txt"])
    driver.coder.main_model.info = {**driver.coder.main_model.info, "max_input_tokens": 12_000}
    state = driver.coder.gardener.state
    while state.tokens_around + state.history_used < 8_100:
        driver.ask("tell me more", reply="Words of an answer. " * 45)
    driver.ask("and the rest", reply="Words of an answer. " * 250)
    assert state.tokens_around + state.history_used > 9_200 and not state.plans
    driver.type("/drop large.txt")
    driver.ask("and now?")
    assert not state.plans and not faults(driver)


@pytest.mark.parametrize("line", ["a line of words in a file\n", "0 1 2 3 4 5 6 7 8 9\n"])
def test_a_file_that_fits_no_window_takes_nothing_from_the_history(
    begin: Begin, repository: Path, line: str
) -> None:
    """Nothing that could leave the history would make the prompt fit. The second has more tokens than its size
    tells."""
    (repository / "huge.txt").write_text(line * 4_000, encoding="utf-8")
    driver = begin(map_tokens=0)
    driver.coder.main_model.info = {**driver.coder.main_model.info, "max_input_tokens": 12_000}
    driver.ask("one", "two", "three", "four")
    driver.type("/add huge.txt")
    driver.ask("what is in it?")
    driver.type("/drop huge.txt")
    driver.ask("and now?")
    assert not driver.coder.gardener.state.plans and "recalled" not in driver.last_said


@pytest.mark.parametrize("fnames", [["app.py"], []])
def test_a_restored_history_that_ends_in_a_question_is_closed_where_it_ends(
    begin: Begin, model: ScriptedModel, fnames: list[str]
) -> None:
    """As each does, for its last words are "/exit": in prompts the files of the chat stand behind it."""
    driver = begin(map_tokens=0, fnames=fnames)
    driver.coder.done_messages = [{"role": "user", "content": "/exit"}]
    driver.ask("go on")
    assert alternates(model.requests[-1])


def marks(messages: Sequence[dict[str, Any]]) -> list[int]:
    return [at for at, m in enumerate(messages) if "cache_control" in str(m["content"])]


def test_three_breakpoints_stand_where_prompts_rest(chat: Driver, model: ScriptedModel) -> None:
    chat.coder.add_cache_headers = True
    chat.ask("one")
    edit(chat, "part2.py", 5, "20")
    chat.ask("two")
    chat.ask("/ask three")
    former, last = model.requests[-2:]
    assert len(marks(former)) == 3
    behind = max(marks(former)) + 1
    assert said(last)[:behind] == said(former)[:behind]
    sent = chat.coder.format_messages()
    pinged = sent.cacheable_messages()
    assert said(pinged) == said(sent.all_messages()[: len(pinged)])
    assert not marks(chat.coder.done_messages), "aider's list is its own"


def test_a_breakpoint_stands_behind_what_a_compaction_leaves(
    begin: Begin, repository: Path, model: ScriptedModel
) -> None:
    driver = with_files(begin, repository)
    driver.coder.add_cache_headers = True
    for number in range(4):
        edit(driver, "part1.py", 5, str(number * 11))
        driver.ask("tell me more", reply="Words of an answer. " * 60)
    driver.type("/compact")
    driver.ask("and now?")
    former, last = model.requests[-2:]
    shared = next(
        at for at, pair in enumerate(zip(said(former), said(last), strict=False)) if len({*pair}) > 1
    )
    assert shared < max(marks(former)), "the history is another one"
    read_from_cache = said(last)[: 1 + max(at for at in {*marks(former)} & {*marks(last)} if at < shared)]
    assert any(text.startswith(layout.EDITABLE_HEAD) for text in read_from_cache)


def big(driver: Driver, turns: int) -> None:
    driver.ask(*(f"question {n}" for n in range(turns)), reply="Words of an answer. " * 100)


@pytest.mark.parametrize(
    ("model_name", "cached", "begins"),
    [
        ("gpt-4o", False, True),
        ("gpt-4o-mini", False, False),
        ("gemini/gemini-2.5-pro", False, True),
        ("claude-sonnet-4-5", False, False),
        ("claude-sonnet-4-5", True, True),
        ("ollama/llama3", False, False),
    ],
)
def test_by_default_it_begins_at_aiders_limit_where_it_pays(
    begin: Begin, model_name: str, cached: bool, begins: bool
) -> None:
    driver = begin(history_tokens=1_000, map_tokens=0, model_name=model_name, cache_prompts=cached)
    driver.ask("one")
    assert not count_of(driver.model.requests[-1], layout.EDITABLE_HEAD), (
        "within the limit prompts are aider's"
    )
    big(driver, 8)
    assert bool(count_of(driver.model.requests[-1], layout.EDITABLE_HEAD)) is begins
    driver.type("/clear")
    driver.ask("new", "again")
    assert not count_of(driver.model.requests[-1], layout.EDITABLE_HEAD)
    assert not faults(driver)


def test_a_layout_that_would_be_read_wrong_is_made_whole_and_said(
    chat: Driver, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    from aider_gardener.plan import layout as plan

    chat.ask("one")
    monkeypatch.setattr(plan, "diff", lambda old, new: "@@\n-nothing like it\n+another\n")
    edit(chat, "part2.py", 5, "20")
    chat.ask("two")
    assert read(model.requests[-1]) == on_disk(chat)
    archive = chat.coder.gardener.state.archive
    events = archive.store.events(archive.session)
    assert [event.data for event in events if event.kind == "layout"] == [{"files": ["part2.py"]}]


def test_the_map_rests_and_what_is_spoken_of_is_added(begin: Begin, repository: Path) -> None:
    import subprocess

    for n in range(12):
        helpers = "".join(
            f"def helper_{n}_{m}(value):\n    return settle_part{n}(value)\n\n\n" for m in range(30)
        )
        (repository / f"shop{n}.py").write_text(f"def settle_part{n}(order):\n    return {n}\n\n\n{helpers}")
    for words in (["add", "."], ["commit", "-qm", "parts"]):
        subprocess.run(["git", *words], cwd=repository, check=True)
    driver = begin(files="append", map_tokens=400)
    driver.ask("what does settle_part3 do?", "and settle_part3 again?", "thanks, and settle_part9?")
    driver.ask("compare settle_part3 with settle_part9")
    first = next(m for m in driver.model.requests[0] if str(m["content"]).startswith("Here are summaries"))
    for request in driver.model.requests:
        assert first in request, "the map that was sent stands"
    more = [m for m in driver.model.requests[-1] if layout.MAP_HEAD in str(m["content"])]
    assert more and "settle_part9" in chat_of([first, *more])
    assert not faults(driver)


def test_a_cold_cache_is_spoken_of_before_it_is_paid(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    driver = begin(history_tokens=20_000, map_tokens=0)
    big(driver, 30)
    state, cold = driver.coder.gardener.state, "gone cold after 12 min: this prompt costs $0."
    now = state.archive.clock()
    monkeypatch.setattr("aider_gardener.gardener.report.COLD_WORTH", 0.001)

    def wait() -> None:
        monkeypatch.setattr(state.usage, "_clock", lambda: now + 720)
        driver.ask("still there?")
        monkeypatch.setattr(state.usage, "_clock", lambda: now)

    wait()
    assert not [line for line in driver.said if "gone cold" in line], "nothing was ever cached"
    state.usage.add(Call(9_000, 1, cached_tokens=8_000), state.usage.prices)
    wait()
    said_of_it = [line for line in driver.said if cold in line]
    assert len(said_of_it) == 1 and "/compact before it would have saved $0." in said_of_it[0]


def test_a_cache_that_aider_keeps_warm_goes_cold_after_its_last_ping(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver.coder.add_cache_headers = driver.coder.ok_to_warm_cache = True
    driver.coder.num_cache_warming_pings = 2
    driver.coder.cache_warming_thread = True  # none is to run here
    driver.ask("hello")
    usage, found = driver.coder.gardener.state.usage, []
    now = usage._clock()
    for minutes in (6, 14, 16):
        monkeypatch.setattr(usage, "_clock", lambda at=now + 60 * minutes: at)
        found.append(usage.is_cold)
    assert found == [False, False, True]


@pytest.mark.parametrize(
    ("name", "caches"), [("gpt-4o", True), ("anthropic/claude-sonnet-4-20250514", False)]
)
def test_where_a_stream_has_no_usage_numbers_a_cold_cache_is_told_of_a_provider_that_caches(
    begin: Begin, monkeypatch: pytest.MonkeyPatch, name: str, caches: bool
) -> None:
    driver = begin(model_name=name, stream=True)
    big(driver, 3)
    usage = driver.coder.gardener.state.usage
    monkeypatch.setattr("aider_gardener.gardener.report.COLD_WORTH", 0.001)
    later = usage._clock() + 720
    monkeypatch.setattr(usage, "_clock", lambda: later)
    driver.ask("still there?")
    told = [line for line in driver.said if "cache has probably gone cold after 12 min" in line]
    assert len(told) == caches
    assert (usage.prices.cache_read < usage.prices.input) == caches, "nor do the marks count on one"


def test_old_code_of_a_file_in_the_chat_is_not_recalled_and_the_list_of_files_stands_last(
    drive: MakeDriver, gardened: Any, model: ScriptedModel, repository: Path
) -> None:
    gardened(files="append", history_tokens=1_200)
    (repository / "ledger.py").write_text("ESCROW_LIMIT = 1\n", encoding="utf-8")
    driver = drive(fnames=["app.py", "ledger.py"], map_tokens=0)
    why = "The auditors in Kiel asked for it: the escrow account must hold a week of refunds.\n\n"
    for old, new in ((1, 47), (47, 99)):
        change = EDIT.format(path="ledger.py", old=f"ESCROW_LIMIT = {old}", new=f"ESCROW_LIMIT = {new}")
        said_why = why if old == 1 else "Raised once more.\n\n"
        driver.ask("raise the limit", reply=said_why + change.removeprefix("Here is the change.\n\n"))
    big(driver, 12)
    driver.ask("/ask what did the auditors in Kiel ask for, and what was the ESCROW_LIMIT = then?")
    prompt = said(model.requests[-1])
    recalled = [text for text in prompt if text.startswith(NOTE_HEAD)]
    assert len(recalled) == 1 and "auditors in Kiel" in recalled[0]
    assert "ESCROW_LIMIT = 47" not in recalled[0], "it is 99 now, and stands so in the file"
    last = next(at for at, text in enumerate(prompt) if text.startswith(layout.STATE_HEAD))
    assert prompt.index(recalled[0]) < last and prompt[last + 2].startswith("what did the auditors")


def test_an_image_stands_in_a_prompt_that_only_grows(
    chat: Driver, model: ScriptedModel, repository: Path
) -> None:
    (repository / "plan.png").write_bytes(b"no real one")
    chat.coder.abs_fnames.add(str(repository / "plan.png"))
    chat.ask("what is drawn there?")
    parts = [part for m in model.requests[-1] if isinstance(m["content"], list) for part in m["content"]]
    assert "image_url" in [part["type"] for part in parts] and alternates(model.requests[-1])


@pytest.mark.parametrize(
    ("said_so_far", "marked"),
    [
        (["u", "a", "u"], [1]),
        (["u", "a", "u", "a"], [1]),
        (["u", "a", NOTE_HEAD, "a", "u"], [1]),
        (["u", "a", "u", "a", NOTE_HEAD, "a", "u"], [3]),
        ([NOTE_HEAD, "a", "u"], []),
        (["u"], []),
        (["a"], []),
    ],
)
def test_the_mark_of_the_history_stands_behind_what_is_finished(
    said_so_far: list[str], marked: list[int]
) -> None:
    def said_so() -> Prompt:
        return [{"role": "assistant" if t == "a" else "user", "content": t} for t in said_so_far]

    chunks: Any = SimpleNamespace(done=[], cur=said_so())
    layout.mark_history(chunks)
    assert marks(chunks.cur) == marked
    chunks = SimpleNamespace(done=said_so(), cur=said_so())
    layout.mark_history(chunks)
    assert (marks(chunks.done), marks(chunks.cur)) == ([len(said_so_far) - 1], [])


def test_what_stands_for_no_files_has_no_breakpoint(
    begin: Begin, model: ScriptedModel, repository: Path
) -> None:
    chat = begin(files="append", fnames=[], map_tokens=0)
    chat.coder.add_cache_headers = True
    chat.ask("one", "two")
    prompt = model.requests[-1]
    none = chat.coder.gpt_prompts.files_no_full_files
    assert none in said(prompt) and 0 < len(marks(prompt)) <= 4
    at = said(prompt).index(none)
    assert not {at, at + 1} & set(marks(prompt))


def test_the_words_for_the_map_do_not_grow_with_the_chat(
    chat: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layout, "MENTIONED_CHARS", 4_000)
    for turn in range(6):  # without an edit all of it is current
        chat.ask(f"what is in part{turn}.py? " + " ".join(f"w{turn}_{n}" for n in range(200)))
    text = chat.coder.get_cur_message_text()
    assert len(text) <= 4_000 and "w5_199" in text and "w0_0" not in text


def test_what_is_copied_for_elsewhere_has_each_file_as_it_is_and_moves_no_prompt(
    chat: Driver, model: ScriptedModel, monkeypatch: pytest.MonkeyPatch
) -> None:
    copied: list[str] = []
    monkeypatch.setattr("pyperclip.copy", copied.append)
    edit(chat, "part2.py", 1, "20")
    edit(chat, "part3.py", 5, "30")
    chat.ask("go on")
    before = chat.coder.gardener.state.layout
    chat.type("/copy-context add a test")
    assert all(text in copied[0] for text in on_disk(chat).values())
    assert layout.EDITABLE_HEAD not in copied[0] and copied[0].rstrip().endswith("add a test")
    assert chat.coder.gardener.state.layout is before
    chat.ask("and now?")
    assert said(model.requests[-1])[:9] == said(model.requests[-2])[:9] and not faults(chat)
