"""Ranking: how likely each passage holds what a question asks for.

A passage is scored by itself and by what stands around it: the words of the question that it holds, that
stand within three and within twelve passages of it, and in its session as a whole; and how near it and its
neighbours are in meaning. What answers a question often shares no word with it (a number in an output, a name
in a code block), but it stands where the question is spoken of.

Words weigh by their rarity (the idf of Robertson and Spärck Jones), and around a passage saturate and are
measured against the length as in Okapi BM25. The text of the best then tells two things more: what is itself
a question is seldom the answer, and what somebody said who is named in the question often is.

One set of WEIGHTS serves chats of two people, chats with a coding agent, and decisions in older chats; where
they come from, and what each sign brings: docs/decisions/0014.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from aider_gardener.archive.store.base import Evidence

    Floats = NDArray[np.float32]
    Numbers = NDArray[np.int64]
    Counts = NDArray[np.int32]
    Sums = NDArray[np.float64]
    Weight = Floats | np.float32

SATURATION, LENGTH_SHARE = 1.2, 0.75
"""Okapi's k1 and b."""
NEAR, FAR, NEIGHBOURS = 3, 12, 1
"""So many passages on each side are the windows of words, the near and the far one, and that of meaning."""


class Weights(NamedTuple):
    """What each sign counts. All but the last two are shares, 0 to 1, of what a passage could have (`first`
    that of the best by words alone and by meaning alone); these two stand for yes or no."""

    words: float = 1.5
    near: float = 1.5
    far: float = 1.5
    session: float = 2.0
    meaning: float = 1.0
    neighbours: float = 1.6
    first: float = 1.0
    asks: float = -0.35
    named: float = 0.5


WEIGHTS = Weights()
MOST = sum(WEIGHTS[:7])
"""What a passage may come to, about."""
FIRST = 10
QUESTION_ENDS = ("?", "？", "؟")
NAME = re.compile(r"^([\w'-]{2,40}):\s", re.MULTILINE)


class Scores(NamedTuple):
    """Of each of n passages its `relevance`, 0 to about 1; the share of the question's words that it holds
    (`words`), that stand within three passages of it (`near`) and in its `session`, by what they tell."""

    relevance: Floats
    words: Floats
    near: Floats
    session: Floats


def scores(evidence: Evidence, similarity: Floats) -> Scores:
    """Score n passages, given the cosine of each with the question (NaN where no vector is known)."""
    import numpy as np

    has_word = evidence.has_word
    begins, ends = session_bounds(evidence.sessions)
    lengths = sums(np.maximum(evidence.ends - evidence.starts, 1))
    counts = np.zeros((len(has_word), len(evidence) + 1), dtype=np.int32)
    np.cumsum(has_word, axis=1, out=counts[:, 1:])
    rarities = rarity(counts[:, -1], len(evidence))
    own = weighed(zip(rarities, has_word, strict=True), len(evidence))

    def window(reach: int) -> tuple[Numbers, Numbers]:
        """Where it begins and ends around each passage, within its session."""
        at = np.arange(len(evidence))
        return np.maximum(at - reach, begins), np.minimum(at + reach + 1, ends)

    def fit(low: Numbers, high: Numbers) -> Floats:
        return okapi(counts, low, high, lengths[high] - lengths[low])

    near, far = fit(*window(NEAR)), fit(*window(FAR))
    cosine = filled(similarity)
    low, high = window(NEIGHBOURS)
    total = sums(cosine)
    around = (total[high] - total[low]) / (high - low)
    found = WEIGHTS.words * own + WEIGHTS.near * near + WEIGHTS.far * far
    found += WEIGHTS.meaning * cosine + WEIGHTS.neighbours * around
    first_ones, of = np.unique(begins, return_inverse=True)
    session = fit(first_ones, ends[first_ones])[of]
    for each in (own, cosine):
        found += WEIGHTS.first * first(each)
    if begins.any():  # of one session there is nothing to tell
        found += WEIGHTS.session * session
    return Scores(found / MOST, own, near, session)


def okapi(counts: Counts, low: Numbers, high: Numbers, lengths: Sums) -> Floats:
    """BM25 of n texts of these lengths, as a share of what a text could have: `counts` says how often each
    word (a row a word) stands before each place, `low` and `high` where each text begins and ends. How many
    texts have a word is what it tells."""
    import numpy as np

    mean = lengths.sum() / max(len(lengths), 1)
    bound = (SATURATION * (1 - LENGTH_SHARE + LENGTH_SHARE * lengths / max(mean, 1))).astype(np.float32)
    each = (row[high] - row[low] for row in counts)  # one at a time: many passages have many numbers
    rows = ((rarity(np.count_nonzero(here), len(lengths)), here / (here + bound)) for here in each)
    return weighed(rows, len(lengths))


def weighed(rows: Iterable[tuple[Weight, Floats]], length: int) -> Floats:
    """The mean of rows of such a length, each with its weight. Without BLAS, whose threads would spin."""
    import numpy as np

    found = np.zeros(length, dtype=np.float32)
    weights: list[Weight] = []
    for weight, row in rows:
        found += weight * row
        weights.append(weight)
    total = float(np.array(weights, dtype=np.float32).sum())
    mean: Floats = found / np.float32(max(total, 1e-9))
    return mean


def rarity(holding: Counts | int, total: int) -> Floats:
    """What a word tells that so many of all texts hold."""
    import numpy as np

    found: Floats = np.log1p((total - holding + 0.5) / (holding + 0.5)).astype(np.float32)
    return found


def first(values: Floats) -> Floats:
    """The greatest value where it stands, half of the next, a third of the one behind it and so on for FIRST
    places; 0 for all others. Where words see nothing, as in a question in another language, the nearest in
    meaning would be lost among what fits by half."""
    import numpy as np

    found = np.zeros(len(values), dtype=np.float32)
    best = np.argpartition(-values, FIRST)[:FIRST] if len(values) > FIRST else np.arange(len(values))
    best = best[np.argsort(-values[best], kind="stable")]
    found[best] = np.maximum(values[best], 0) / np.arange(1, len(best) + 1)
    return found


def filled(similarity: Floats) -> Floats:
    """The cosines; for a passage whose vector is not known yet the mean of the others, 0 where none is."""
    import numpy as np

    lacks = np.isnan(similarity)
    if not lacks.any():
        return similarity
    mean = 0.0 if lacks.all() else float(similarity[~lacks].mean())
    return np.where(lacks, np.float32(mean), similarity)


def sums(values: Floats) -> Sums:
    """The sums of the first 0, 1, 2, … values."""
    import numpy as np

    found = np.zeros(len(values) + 1)
    np.cumsum(values, out=found[1:])
    return found


def session_bounds(sessions: Numbers) -> tuple[Numbers, Numbers]:
    """For each passage where the passages of its session begin and end; those of a session stand together."""
    import numpy as np

    starts = np.flatnonzero(np.r_[True, sessions[1:] != sessions[:-1]]) if len(sessions) else np.arange(0)
    sizes = np.diff(np.r_[starts, len(sessions)])
    return np.repeat(starts, sizes), np.repeat(starts + sizes, sizes)


def is_question(text: str) -> bool:
    return text.rstrip().endswith(QUESTION_ENDS)


def text_bonus(text: str, names: Collection[str]) -> float:
    """What the text of a passage adds to its relevance; `names` are the words of the question."""
    asks = WEIGHTS.asks * is_question(text)
    named = WEIGHTS.named * any(name.lower() in names for name in NAME.findall(text))
    return (asks + named) / MOST
