"""The map of the repository as it rests."""

from __future__ import annotations

from aider_gardener.plan.repo_map import MISSED, MapNow, RestingMap, files_of

OLD = "\napp.py:\n⋮\n│def greet(name):\n⋮\n\nshop/cart.py:\n│class Cart:\n"
OTHER = "\nother.py:\n│def settle(order):\n"
STAMPS: dict[str, object] = {"app.py": 1, "shop/cart.py": 2, "other.py": 3}


def now(
    listing: str, *, files: tuple[str, ...] = (), words: tuple[str, ...] = (), **changed: object
) -> MapNow:
    stamps = {**STAMPS, **{name.replace("_", "."): stamp for name, stamp in changed.items()}}
    return MapNow("Map:\n", listing, stamps.get, frozenset(files), frozenset(words))


def resting() -> RestingMap:
    return RestingMap().anew(now(OLD))


def test_the_files_of_a_map() -> None:
    assert files_of(OLD) == {"app.py": "⋮\n│def greet(name):\n⋮", "shop/cart.py": "│class Cart:"}
    assert files_of("a.py\nb.py:\n│x\n") == {"a.py": "", "b.py": "│x"}


def test_what_was_sent_stands_and_nothing_is_added_for_a_map_that_shows_less() -> None:
    found, added = resting().next(now("\napp.py:\n│def greet(name):\n"))
    assert not added and found.text == "Map:\n" + OLD


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
