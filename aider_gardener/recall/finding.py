"""Finding: the passages that fit a question, best first, of what a request may reach."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations, islice
from math import log
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from aider_gardener.archive.archive import Archive
from aider_gardener.archive.passages import VERBATIM
from aider_gardener.archive.providers import may_go
from aider_gardener.archive.store.base import StoredPassage
from aider_gardener.archive.store.words import index_words, stem, stop_words
from aider_gardener.messages import ContentClass, Entry, SourceKind
from aider_gardener.plan.chat import Chat
from aider_gardener.reading.late import late
from aider_gardener.reading.speech import CORRECTS
from aider_gardener.recall.ranking import is_question, scores, text_bonus
from aider_gardener.recall.request import Request, excluded, sessions_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from aider_gardener.archive.store.base import Evidence

    Floats = NDArray[np.float32]
    Numbers = NDArray[np.int64]

READ_AT_ONCE, MOST_READ = 120, 2_000
"""So many of the best passages are looked up at once, and at most, for those that the request may reach."""
LEAST_TAKEN, MOST_TAKEN, TOKENS_EACH = 80, 240, 20
"""So many of these are compared at least and at most: one for so many tokens that may come, a quarter of what
a passage has."""
ONE_WORD = late(r"\W*[^\W\d]{1,15}\W*")
"""Such a passage that shares no word with the question, "Noted.", tells nothing."""
ASKED_AGAIN = 0.75
"""A question of which so much stands in the one that is asked is none that it answers."""
LEAST_COSINE = 0.1
"""What shares no word with the question, nor has one within three passages, must be so near in meaning; but
not for a prompt that asks for the past: its room is filled with what fits best, however little."""
COMPARED, SAME_WORDS, SAME_SHARE = 40, 5, 0.5
"""Of so many of the best, two that have so many words, and this part of what the words of either tell, in
common speak of the same thing: some two pairs a question."""
VALUE = late(r"\d|(?<=\w )[^\W\d_a-z]\w")
"""A number, or a name within a sentence."""
CLEAR_WORDS, CLEAR_COSINE, CLEAR_WORDS_ALONE = 0.15, 0.42, 0.3
"""Unasked, an older chat clearly fits from so much of what the question's words tell on, and such a cosine of
its nearest passage; by words alone where no vector is known. Chosen on half of sde-bench: all decisions that
14 of 16 bug reports hinge on come within 2,000 tokens, and anything at all for 5 of 165 prompts of the
recorded sessions, which have nothing to do with those chats (23 tokens a prompt)."""
OLDER_WEIGHT = 0.7
"""What a passage of an older session counts beside one of this chat, unasked."""


class Passage(NamedTuple):
    """A passage that may be recalled: `text` is `entry.content[start:end]` without colour codes.

    `relevance` is 0 to about 1. `amended`: what was said later of the same thing has other values.
    """

    entry: Entry
    start: int
    end: int
    text: str
    relevance: float = 0.0
    amended: bool = False


def passages(archive: Archive, chat: Chat, request: Request, words: Sequence[str]) -> list[Passage]:
    """The passages that fit best, best first, several times as many as the request has room for. Unasked,
    those of older chats are among them where one of these clearly fits."""
    evidence = archive.store.evidence(words, sessions_of(archive, request))
    found = of_evidence(archive, chat, request, evidence)
    if request.unasked and request.older:
        older = archive.store.evidence(words, archive.past_ids())
        others = of_evidence(archive, chat, request, older, are_older=True)
        found += [passage for passage in others if passage.entry.session != archive.session]
    found.sort(key=attrgetter("relevance"), reverse=True)
    return newest_first(found, telling_stems(request.query))


def of_evidence(
    archive: Archive, chat: Chat, request: Request, evidence: Evidence, *, are_older: bool = False
) -> list[Passage]:
    """The best passages of some evidence; of older chats only those of a chat that clearly fits."""
    import numpy as np

    if not len(evidence):
        return []
    similarity = cosines(archive, chat, request, evidence)
    scored, near = scores(evidence, similarity), np.nan_to_num(similarity)
    fills = request.unasked and not (request.order or are_older)
    fits = (scored.near > 0) | (near >= LEAST_COSINE) | fills
    if are_older:
        fits &= clearly_fit(evidence, scored.session, similarity)
    order = best_first(np.flatnonzero(fits), scored.relevance)
    names, asked = frozenset(index_words(request.query)), telling_stems(request.query)
    wanted = min(MOST_TAKEN, max(LEAST_TAKEN, request.token_limit // TOKENS_EACH))
    telling = (
        (at, passage)
        for at, passage in read(archive, chat, request, evidence, order)
        if scored.words[at] > 0 or near[at] >= LEAST_COSINE or not ONE_WORD.fullmatch(passage.text)
    )
    found = []
    for at, passage in islice(telling, wanted):
        relevance = float(scored.relevance[at]) + text_bonus(passage.text, names)
        relevance *= 0.0 if asks_again(passage.text, asked) else OLDER_WEIGHT if are_older else 1.0
        found.append(passage._replace(relevance=relevance))
    return found


def clearly_fit(evidence: Evidence, session: Floats, similarity: Floats) -> NDArray[np.bool_]:
    """Whether the chat of each passage fits a question clearly: as a whole by its words, and a passage of it
    by its meaning; where no vector of it is known by its words alone, and better."""
    import numpy as np

    _ids, at = np.unique(evidence.sessions, return_inverse=True)
    nearest = np.full(at.max() + 1, np.nan, dtype=np.float32)
    np.fmax.at(nearest, at, similarity)
    least = np.where(np.isnan(nearest), CLEAR_WORDS_ALONE, CLEAR_WORDS)[at]
    clear: NDArray[np.bool_] = (session >= least) & ~(nearest[at] < CLEAR_COSINE)
    return clear


def best_first(places: Numbers, relevance: Floats) -> Numbers:
    """Of these places the MOST_READ that are most relevant, best first."""
    import numpy as np

    own = relevance[places]
    if len(own) > MOST_READ:
        least = np.partition(own, -MOST_READ)[-MOST_READ]
        places, own = places[own >= least], own[own >= least]
    return places[np.argsort(-own, kind="stable")]


def asks_again(text: str, asked: frozenset[str]) -> bool:
    """Whether a text is the question itself of these words, asked before."""
    words = telling_stems(text) if is_question(text) else frozenset()
    return bool(words) and len(words & asked) >= ASKED_AGAIN * len(words)


def newest_first(found: list[Passage], asked: frozenset[str]) -> list[Passage]:
    """The passages, but that of two which were said of the same thing with other values, as a rule and what
    it was changed to, the later comes first, and the earlier says so. A value that is asked for, by the words
    `asked`, is none of these."""
    best = [passage for passage in found[:COMPARED] if is_spoken(passage)]
    times = [(passage.entry.created_at, passage.entry.seq) for passage in best]
    words = [telling_stems(passage.text) for passage in best]
    counts = Counter(word for each in words for word in each)

    def information(some: frozenset[str]) -> float:
        return sum(log(len(best) / counts[word]) for word in some)

    contents = [(information(each), values(each)) for each in words]
    relevance = {id(passage): passage.relevance for passage in found}
    amended = set[int]()
    for one, other in combinations(range(len(best)), 2):
        (all_one, values_one), (all_other, values_other) = contents[one], contents[other]
        differ, same = values_one ^ values_other, words[one] & words[other]
        if differ & asked or times[one] == times[other]:
            continue
        first, then = (best[at] for at in sorted((one, other), key=times.__getitem__))
        may_amend = values_one and values_other and differ and len(same) >= SAME_WORDS
        is_alike = may_amend and information(same) >= SAME_SHARE * min(all_one, all_other)
        if is_alike or corrects(then, first):
            relevance[id(then)] = max(relevance[id(then)], relevance[id(first)])
            amended.add(id(first))
    marked = [each._replace(relevance=relevance[id(each)], amended=id(each) in amended) for each in found]
    return sorted(marked, key=lambda each: (-each.relevance, each.amended))


def corrects(then: Passage, first: Passage) -> bool:
    """Whether the user took back with a short message what a short one said just before it: "No, 5433." """
    is_next = then.entry.session == first.entry.session and then.entry.turn == first.entry.turn + 1
    if not is_next or then.entry.source.kind is not SourceKind.TYPED or is_question(first.text):
        return False
    are_whole = all(len(each.entry.content.strip()) <= len(each.text) for each in (then, first))
    has_values = all(VALUE.search(each.text) for each in (then, first))
    return are_whole and has_values and CORRECTS.match(then.text) is not None


def is_spoken(passage: Passage) -> bool:
    """Whether somebody said it in prose: code, and what a program printed, is of its time anyway."""
    if passage.entry.source.kind not in (SourceKind.TYPED, SourceKind.REPLY):
        return False
    return class_at(passage.entry, passage.start) not in VERBATIM


def class_at(entry: Entry, place: int) -> ContentClass | None:
    """The class of the segment in which a place of an entry is; None in none."""
    return next((part.cls for part in entry.segments if part.start <= place < part.end), None)


def telling_stems(text: str) -> frozenset[str]:
    """The different words of a text, inflected forms as one, without the commonest."""
    words = index_words(text)
    common = stop_words(words)
    return frozenset(stem(word) for word in words if word not in common)


def values(words: frozenset[str]) -> frozenset[str]:
    """The numbers among words."""
    return frozenset(word for word in words if any(map(str.isdigit, word)))


def read(
    archive: Archive, chat: Chat, request: Request, evidence: Evidence, order: Numbers
) -> Iterator[tuple[int, Passage]]:
    """The passages at these places of the evidence that the request may reach, in this order, each once."""
    own, store = chat.seq_of, archive.store
    asked = (chat.entries[seq].id for seq in chat.open_exchange)
    closed = excluded(chat) if request.unasked else frozenset(asked)
    read_chunks, stored = set[int](), dict[str, Entry]()
    for begin in range(0, len(order), READ_AT_ONCE):
        chunks = {int(at): int(evidence.chunks[at]) for at in order[begin : begin + READ_AT_ONCE]}
        quoted = store.quoted(list(chunks.values()))
        others = {each.entry_id for each in quoted.values()} - own.keys() - stored.keys()
        stored |= store.get_many(others)
        for at, chunk in chunks.items():
            found = quoted.get(chunk)
            if found is None or chunk in read_chunks or found.entry_id in closed:
                continue
            read_chunks.add(chunk)
            seq = own.get(found.entry_id)
            entry = stored.get(found.entry_id) if seq is None else chat.entries[seq]
            if entry is None:
                continue
            if is_withheld(archive, request, entry):
                archive.withheld.add(entry.id)
            elif may_reach(archive, request, entry):
                yield at, Passage(entry, found.start, found.end, found.text)


def is_withheld(archive: Archive, request: Request, entry: Entry) -> bool:
    """Whether an entry stays where it was said, with a model of this machine."""
    is_own = request.unasked and entry.session == archive.session
    reader = archive.provider if request.unasked else request.reader
    return bool(reader) and not is_own and not may_go(entry.provider, reader)


def may_reach(archive: Archive, request: Request, entry: Entry) -> bool:
    """Whether a request may have what an entry says."""
    if not request.wants(entry):
        return False
    if not request.unasked:
        return True
    if entry.session == archive.session:
        return entry.seq >= request.floor
    return bool(archive.allowed([entry]))


def cosines(archive: Archive, chat: Chat, request: Request, evidence: Evidence) -> Floats:
    """How near each passage is in meaning: the cosine of its vector with the question's, NaN where one of the
    two is not known. In a chat what fits best by words is embedded first where it has no vector yet."""
    import numpy as np

    backlog = archive.backlog
    vector = backlog.query_vector(request.query) if backlog is not None else None
    if backlog is None or vector is None:
        return np.full(len(evidence), np.nan, dtype=np.float32)
    store, name = archive.store, backlog.embedder_name
    found = store.similarities(vector, embedder=name, chunks=evidence.chunks)
    lacking = np.flatnonzero(np.isnan(found))
    if len(lacking) and backlog.background:
        order = best_first(lacking, scores(evidence, found).relevance)
        wanted = islice(read(archive, chat, request, evidence, order), READ_AT_ONCE)
        first = (
            StoredPassage(each.entry.id, each.start, each.end, each.text, int(evidence.chunks[at]))
            for at, each in wanted
        )
        if backlog.embed_first(first):
            found = store.similarities(vector, embedder=name, chunks=evidence.chunks)
    return found
