"""The note on what is settled: what it names, when it changes, what it may cost."""

from __future__ import annotations

from made_entries import make_gardener, message, talk

from aider_gardener.gardener.care import rules_without_room
from aider_gardener.gardener.compactions import show
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.messages import Level, Plan
from aider_gardener.notes.chatmap import FACTS_SHARE, MAP_HEAD, RULES_HEAD, RULES_SHARE, MapNote, name_lines
from aider_gardener.notes.names import gather
from aider_gardener.plan.goals import Frame
from aider_gardener.plan.planner import Applied

RULE = "Never touch the table ledger_lines."
FILL = " ".join(f"Sentence {n} explains the part {n} at some length and in passing." for n in range(25))


def rounds(gardener: Gardener, *opening: tuple[str, str], turns: int = 30, hide: bool = True) -> None:
    """A chat with the opening exchanges and many more; then all but the last is hidden."""
    messages = talk(*opening, *((f"question {n}", f"Answer {n}. {FILL}") for n in range(turns)))
    gardener.sync(messages, [message("user", "and now?")])
    if hide:
        levels = dict.fromkeys(range(len(messages) - 2), Level.HIDDEN)
        show(gardener.state, levels, "test")


def note(gardener: Gardener, around: str = "") -> str:
    return gardener.map_note(lambda: around)


def test_a_rule_is_noted_once_its_message_is_hidden_and_not_before() -> None:
    gardener = make_gardener(history_tokens=2_000)
    rounds(gardener, (RULE, "Noted."))
    assert f"[1] {RULE}" in note(gardener).splitlines()
    levels = {seq: level for seq, level in gardener.state.chat.levels.items() if seq > 1}
    show(gardener.state, levels, "the rule's own message stands again")
    assert RULE not in note(gardener)


def test_no_note_says_a_secret_again() -> None:
    gardener = make_gardener(history_tokens=2_000)
    opening = "Never log mysql://root:Ge4imWort99@db7.nord.de/lager, the token is ghp_16C7e42F292c6912E7710c838347Ae178B4a."
    rounds(gardener, (opening, "Noted: ledger_lines of db7.nord.de."))
    told = note(gardener)
    assert "db7.nord.de" in told and "Ge4imWort99" not in told and "ghp_16C7" not in told


def test_rules_take_the_room_of_names_before_one_of_them_is_left_out() -> None:
    gardener = make_gardener(history_tokens=1_024)
    told = [f"Never touch the table ledger_{name}." for name in "one two six ten red blue".split()]
    rounds(gardener, *((rule, "It is in ledger/post_entry.py and mod_a.py.") for rule in told), hide=True)
    assert [rule.text for rule in gardener.constraints()] == told
    assert all(rule in note(gardener) for rule in told)
    assert rules_without_room(gardener.state) == []


def test_a_rule_that_has_no_room_in_prompts_is_named() -> None:
    gardener = make_gardener(history_tokens=1_024)
    told = [
        f"Never touch the table {number * 'x'}_rows in the module of {number * 'y'}_lines."
        for number in range(20)
    ]
    rounds(gardener, *((rule, "Noted.") for rule in told), hide=True)
    out = [rule.text for rule in rules_without_room(gardener.state)]
    assert out and out == [rule for rule in told if rule not in note(gardener)]


def test_at_hard_pressure_only_the_rules_are_noted() -> None:
    gardener = make_gardener(history_tokens=2_000, incremental=1)
    rounds(gardener, (RULE, "It is in ledger/post_entry.py."))
    assert "ledger/post_entry.py" in note(gardener)
    gardener.state.frame = Frame(window=1_000, parts={"files": 990})
    assert note(gardener).splitlines()[1:] == [RULES_HEAD, f"[1] {RULE}"]


def test_the_note_stays_the_same_until_the_view_changes() -> None:
    gardener = make_gardener(history_tokens=2_000)
    rounds(gardener, (RULE, "It is in ledger/post_entry.py."))
    first = note(gardener)
    assert "ledger/post_entry.py" in first
    done = list(gardener.state.chat.done)
    more = talk(("and now?", "See ledger/post_entry.py again."), ("Never rename the column.", "Ok then."))
    gardener.sync([*done, *more], [message("user", "next")])
    assert note(gardener) == first
    show(
        gardener.state,
        {**gardener.state.chat.levels, gardener.state.chat.next_seq - 3: Level.HIDDEN},
        "test",
    )
    assert "Never rename the column." in note(gardener)


def test_what_stands_elsewhere_in_the_prompt_is_not_named() -> None:
    gardener = make_gardener(history_tokens=2_000)
    rounds(gardener, ("where is it?", "In alpha_module.py, made by beta_maker."))
    text = note(gardener, around="alpha_module.py\n```\nx = 1\n```")
    assert "beta_maker" in text
    assert "alpha_module.py" not in text


def test_decisions_of_user_and_model_are_noted() -> None:
    gardener = make_gardener(history_tokens=2_000)
    rounds(gardener, ("let's go with the ring buffer", "Agreed, we'll use a ring buffer of 512 slots."))
    text = note(gardener)
    assert "[1] let's go with the ring buffer" in text
    assert [one.is_users for one in gardener.decisions()] == [True, False]


def test_the_note_fits_its_share_of_the_budget() -> None:
    gardener = make_gardener()
    opening = ((f"Never touch part_{n}_x.py. let's use lib_{n}", f"See mod_{n}/a.py") for n in range(12))
    rounds(gardener, *opening)
    state = gardener.state
    for budget in range(80, 3_000, 30):
        made = MapNote().renewed(state.archive, state.chat, budget, around=str)
        most = max(FACTS_SHARE, RULES_SHARE) * budget + state.count(MAP_HEAD)
        assert made.tokens == state.count(made.text) <= most


def test_a_plan_with_its_note_never_makes_the_prompt_longer() -> None:
    gardener = make_gardener(history_tokens=1_500)
    rounds(gardener, *((f"Never touch part_{n}_x.py.", f"See mod_{n}/a.py") for n in range(20)), hide=False)
    before = gardener.state.history_used
    assert gardener.compact_if_due() is not None
    assert gardener.state.history_used + gardener.state.count(note(gardener)) <= before


def test_what_the_last_plan_saved_is_the_most_that_the_note_may_add_beside_the_rules() -> None:
    gardener = make_gardener(history_tokens=2_000)
    rounds(gardener, (RULE, "See alpha_module.py and beta_maker."))

    def made(*saved: int) -> str:
        state, plans = gardener.state, [Applied(1, Plan((), "", tokens, 0)) for tokens in saved]
        return MapNote().renewed(state.archive, state.chat, 4_000, around=str, plans=plans).text

    assert "beta_maker" in made()
    assert "beta_maker" in made(200)
    for saved in (35, 5):
        assert RULE in made(saved)
        assert "beta_maker" not in made(saved)


def test_names_go_by_the_turn_they_first_came_up_in() -> None:
    gardener = make_gardener(history_tokens=2_000)
    rounds(gardener, ("see one_thing", "yes"), ("see two_thing and one_thing", "yes"), turns=3)
    names = gather(gardener.state.chat.all_entries())
    lines = name_lines(names, "", gardener.state.chat.turn, 100)
    assert lines == ["[1] one_thing", "[2] two_thing"]
