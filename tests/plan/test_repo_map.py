"""The map of the repository as it rests."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aider_gardener.plan.repo_map import MISSED, MapNow, Mentions, RestingMap, files_of

OLD = "\napp.py:\n⋮\n│def greet(name):\n⋮\n\nshop/cart.py:\n│class Cart:\n"
OTHER = "\nother.py:\n│def settle(order):\n"
STAMPS: dict[str, object] = {"app.py": 1, "shop/cart.py": 2, "other.py": 3}


def now(
    listing: str, *, files: tuple[str, ...] = (), words: tuple[str, ...] = (), **changed: object
) -> MapNow:
    stamps = {**STAMPS, **{name.replace("_", "."): stamp for name, stamp in changed.items()}}
    mentions = Mentions(frozenset(files), frozenset(words))
    return MapNow("Map:\n", listing, stamps.get, lambda: mentions)


def resting() -> RestingMap:
    return RestingMap().anew(now(OLD))


LISTINGS = st.dictionaries(
    st.sampled_from(list(STAMPS)), st.lists(st.sampled_from(["│a", "│b", "⋮"]), max_size=3)
).map(lambda files: "".join(f"\n{name}:\n" + "".join(f"{line}\n" for line in files[name]) for name in files))


@given(LISTINGS, st.lists(LISTINGS, max_size=8))
def test_what_was_sent_stands_whatever_maps_come_and_nothing_is_lost_for_long(
    first: str, later: list[str]
) -> None:
    found, run = RestingMap().anew(now(first)), dict[str, int]()
    for listing in later:
        found, _ = found.next(now(listing))
        shown = {name: set(lines.splitlines()) for name, lines in found.shown.items()}
        new = {name: set(lines.splitlines()) for name, lines in files_of(listing).items()}
        lacking = {name for name in new if name not in shown or not new[name] <= shown[name]}
        run = {name: run.get(name, 0) + 1 for name in lacking}
        assert found.text == ("Map:\n" + first if first else "")
        assert all(times < MISSED for times in run.values())


def test_what_is_spoken_of_is_added_at_once() -> None:
    for spoken in (now(OLD + OTHER, files=("other.py",)), now(OLD + OTHER, words=("settle",))):
        found, added = resting().next(spoken)
        assert added == "other.py:\n│def settle(order):"
        assert not found.next(spoken)[1], "once"
    assert not resting().next(now(OLD + OTHER, words=("def", "an")))[1]


def test_what_several_maps_in_succession_show_is_added() -> None:
    found, added = resting(), ""
    for number in range(1, MISSED + 1):
        found, added = found.next(now(OLD + OTHER))
        assert bool(added) is (number == MISSED)
    again, _ = resting().next(now(OLD + OTHER))
    again, _ = again.next(now(OLD))
    assert not again.next(now(OLD + OTHER))[1], "in succession"


def test_what_changed_on_the_disk_is_shown_again_and_what_is_gone_named() -> None:
    changed = OLD.replace("greet(name)", "greet(name, title)")
    found, added = resting().next(now(changed, app_py=9))
    assert added.startswith("app.py:\n") and "title" in added and not found.next(now(changed, app_py=9))[1]
    gone = now("\nshop/cart.py:\n│class Cart:\n", app_py=None)
    found, added = resting().next(gone)
    assert added == "No longer there: app.py" and not found.next(gone)[1]


def test_where_nothing_behind_it_is_cached_it_is_made_anew_if_anything_is_new() -> None:
    assert resting().anew(now("\napp.py:\n│def greet(name):\n")) == resting()
    assert resting().anew(now(OLD + OTHER)).text.endswith(OTHER)
    assert resting().anew(now(OLD, app_py=9)).stamps["app.py"] == 9
    found, _ = resting().next(now(OLD + OTHER, words=("settle",)))
    assert found.anew(now(OLD + OTHER)).listing == OLD + OTHER
