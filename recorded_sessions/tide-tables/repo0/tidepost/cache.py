"""Keeps the heights of local days."""

import time
from collections import OrderedDict

from .predict import series
from .zones import day_bounds


class DayCache:
    """Least recently used; an entry lives `ttl` seconds."""

    def __init__(self, maxsize=366, ttl=3600, clock=time.time):
        self.maxsize, self.ttl, self.clock = maxsize, ttl, clock
        self.entries = OrderedDict()
        self.hits = self.misses = 0

    def key(self, harbour, day, step):
        return harbour.id, day

    def heights(self, harbour, day, step):
        key = self.key(harbour, day, step)
        now = int(self.clock())
        if key in self.entries and now - self.entries[key][0] < self.ttl:
            self.hits += 1
            self.entries.move_to_end(key)
            return self.entries[key][1]
        self.misses += 1
        found = series(harbour, *day_bounds(day, harbour.zone), step)
        self.entries[key] = (now, found)
        while len(self.entries) > self.maxsize:
            self.entries.popitem(last=False)
        return found
