from dataclasses import replace
from datetime import date, timedelta

from tidepost.cache import DayCache
from tidepost.library import load

DAY = date(2024, 6, 3)
HOUR = timedelta(hours=1)


def test_second_look_is_a_hit():
    cache = DayCache()
    first = cache.heights(load("averna"), DAY, HOUR)
    assert cache.heights(load("averna"), DAY, HOUR) == first
    assert (cache.hits, cache.misses) == (1, 1)


def test_steps_do_not_mix():
    cache = DayCache()
    assert len(cache.heights(load("averna"), DAY, HOUR)) == 24
    assert len(cache.heights(load("averna"), DAY, HOUR / 2)) == 48


def test_a_new_import_is_seen():
    cache = DayCache()
    harbour = load("averna")
    before = cache.heights(harbour, DAY, HOUR)
    lowered = replace(harbour, z0=harbour.z0 - 0.5)
    after = cache.heights(lowered, DAY, HOUR)
    assert [round(b - a, 6) for (_, a), (_, b) in zip(after, before)] == [0.5] * 24


def test_old_entries_expire():
    now = [1000.0]
    cache = DayCache(ttl=60, clock=lambda: now[0])
    cache.heights(load("averna"), DAY, HOUR)
    now[0] += 60
    cache.heights(load("averna"), DAY, HOUR)
    assert (cache.hits, cache.misses) == (0, 2)


def test_an_entry_is_kept_for_its_second():
    cache = DayCache(ttl=1)
    harbour = load("skerrow")
    for _ in range(2):
        cache.heights(harbour, DAY, timedelta(seconds=4))
    assert (cache.hits, cache.misses) == (1, 1)


def test_the_least_recently_used_goes_first():
    cache = DayCache(maxsize=2)
    harbour = load("averna")
    days = [DAY + timedelta(days=n) for n in range(3)]
    for day in (days[0], days[1], days[0], days[2], days[0]):
        cache.heights(harbour, day, HOUR)
    assert (cache.hits, cache.misses) == (2, 3)
