"""What the chats of a project show again and again: corrections, preferences and faults of several sessions.

What was seen in three different sessions is worth a rule, which the user is to take or to refuse. Two
sentences say the same where they want and ban nearly the same things, by the stems of their words: precise
rather than eager, as a proposal that is wrong costs the user more than one that comes a session later.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from aider_gardener.archive.store.stopwords import stop_words
from aider_gardener.archive.store.words import UNSPACED, index_words, stem
from aider_gardener.errors import spared
from aider_gardener.messages import Entry, SourceKind
from aider_gardener.notes.markdown import code, flat
from aider_gardener.notes.names import faults_of
from aider_gardener.notes.rules import (
    NEGATIVE,
    NUMBER,
    cut,
    is_rule,
    is_spoken,
    typed_words,
    without_ending,
    without_lead,
)
from aider_gardener.reading.sentences import WORD, units
from aider_gardener.reading.source import is_failed_edit
from aider_gardener.reading.speech import NO_RULE, RULE_WORDS, masked

SESSIONS_SEEN = 3
"""What was seen in so many different sessions is proposed."""
FADES_DAYS = 28.0
"""What was not seen for so long is proposed no more, until it is seen again."""
DAY = 86_400.0
SAME = 0.6
"""Two sentences say the same that share so much of what either wants and bans."""
MOST_STEMS = 24
"""A sentence of more is about too much to be a rule that is said again."""
KIND_RULE, KIND_TEST, KIND_ERROR, KIND_LINT, KIND_EDIT = "rule", "test", "error", "lint", "edit"

CORRECTS = re.compile(
    r"^\W*(?:no|nope|wrong|again|once more|stop|nein|falsch|nochmals?|noch ?mal|noch einmal|schon wieder|non"
    r"|encore(?: une fois)?|faux|otra vez|de nuevo|mal)\s*[,:;!.–—-]+\s*(?=\S)"
    r"|^\W*(?:not|pas|nicht)\b[^.?!]{2,80}?, (?!(?:because|since|as|but|weil|mais|pero)\b)\S"
    r"|\b(?:as|like) i (?:\w+ )?(?:said|told you|asked)\b"
    r"|\bi (?:already |just )?(?:said|told you|asked (?:you|for))\b"
    r"|\bhow often do i\b|\byou(?:'ve)? (?:again |still |keep |forgot|did it again)"
    r"|\bwie gesagt\b|\bhabe? ich (?:\w+ )?gesagt\b|\bich (?:sagte|habe? (?:\w+ ){0,2}gesagt)\b"
    r"|\bcomme (?:je l'ai )?dit\b|\bje (?:t'|vous )?l?'?ai (?:déjà )?dit\b|\bj'ai (?:déjà )?dit\b"
    r"|\bcomo (?:te |ya )*dije\b|\b(?:ya )?te (?:lo )?(?:he dicho|dije)\b|\bhe dicho\b"
    r"|^(?:不对|错了|再说一遍|我说过)|我说过|说过了|^(?:違う|違います|いや|もう一度)|と言った|言いました",
    re.IGNORECASE,
)
"""Says that something is to be otherwise, or was said before."""
BANS = re.compile(
    r"^\W*(?:no|zero|keine?n?|aucune?|pas d[e'’]|ningún|ninguna|sin) ?\w[^.?!]{2,60}$|\bonly(?:\W*$|, )"
    r"|\bbefore you (?:say|call|commit|edit|touch|change|answer|start|push)\b",
    re.IGNORECASE,
)
"""Briefer orders than those that stand as rules after they were said once."""
FOR_ONCE = re.compile(
    r"\b(?:yet|for now|for the moment|at the moment|just this once|this time|today|until i say|until i tell"
    r"|todavía|por ahora|aún|pour l'instant|pour le moment|encore pas|noch (?:nicht|nichts|keine?n?)|vorerst"
    r"|erst mal)\b|暂时|现在先|まだ|今は",
    re.IGNORECASE,
)
"""Holds for a while only."""
REASON = re.compile(
    r"\s(?:because|since|so that|otherwise|or else|weil|denn|sonst|damit|parce que|car|sinon|porque|ya que"
    r"|si no)\b|[(（—–]|\s-\s|因为|否则|ので|から、",
    re.IGNORECASE,
)
"""Where what a sentence orders ends and why begins."""
CLAUSE = re.compile(
    r"[,;:.!，、；：。！]+(?:\s+|$)|[，、；：。！]|\s(?:but|and then|sondern|aber|mais|pero|sino)\s", re.I
)
ORDERS = re.compile(
    r"^\W*(?:please |also |just |then |always |only )*(?:use|keep|write|take|prefer|always|only|instead|make"
    r"|put|call|name|run|stick|go|leave|return|raise|log|read|split|pass|move|verwende|nimm|benutze?|nutze?|schreib|immer|nur|lass"
    r"|sondern|utilise[rz]?|garde[rz]?|mets|toujours|préfère|usa|utiliza|pon|siempre|mantén|escribe)\b"
    r"|^\s*(?:请|使用|用|改用)|\b(?:only|nur|seulement|solo)\W*$",
    re.IGNORECASE,
)
"""A clause behind a ban that orders something else."""
TELLS = re.compile(
    r"^\W*(?:they|it|it'?s|that|that'?s|this|these|those|there|which|who|he|she|we|i|i'?m|er|sie|es|das|wir"
    r"|ich|il|elle|c'est|ça|on|je|nous|eso|esto|ellos|lo)\b(?! (?:want|prefer|always|never|must)\b)"
    r"|^\W*(?:(?:the|a|our|its|his|my|der|die|das|le|la|les|el|los|las) [^,]{1,40}?|\w+) (?:is|are|has|have"
    r"|was|were|had|ist|sind|hat|haben|war|est|sont|ont|es|son|fue|tiene|tienen|lleva)\b",
    re.IGNORECASE,
)
"""A clause behind the first that explains; so do those behind it, up to the next order."""
MANNER = RULE_WORDS | frozenset(
    "wrong nope said told asked already forgot forget still once please just really again often stop sure"
    " good fine ok okay yes thing things file files code way one ones part time line lines bit also instead"
    " every important rule"
    " nie niemals immer nur bitte nicht kein keine keinen statt sondern verwende benutze nutze nimm schreib"
    " wieder gesagt habe ich du nein falsch noch mal nochmal einmal wie neu neue neuen neuer neues"
    " jamais toujours pas non plus plutôt utilise utiliser utilisez dit déjà comme encore fois merci faut il"
    " on tu nouveau nouveaux nouvelle nouvelles"
    " nunca siempre usa utiliza usar vez lugar dije dicho ya te he como otra nuevo favor hay que pon solo no"
    " en de el la los las un una y nueva nuevos nuevas"
    " füge hinzu hinzufügen ändere ajoute ajouter ajoutez touche modifie añade añadas agrega toca toques"
    " tocar".split()
)
"""Words that say how, not what."""
LEFT = re.compile(
    r"\b(?:as (?:it|they) (?:is|are|was|were)|as[- ]is|alone|untouched|frozen|like (?:it is|they are))\b",
    re.I,
)
"""Other words for "unchanged"."""
OF_SUBJECT = re.compile(
    r"\b(?:is|are|be|must|should|may|can|shall|gets?|do|does|will|darf|dürfen|soll|sollen|muss|werden|wird|doit"
    r"|doivent|debe|deben|se)\s*$",
    re.IGNORECASE,
)
"""What stands before a "not" that bans something of the subject, so that the subject belongs to the ban."""
ELISION = re.compile(r"(?i)\b(?:[cdjlmnst]|qu)['’](?=\w)")
WEAK = frozenset("test chang edit comment name text file code file work fix".split())
"""A stem that alone says too little of what is meant."""

PARAMETERS = re.compile(r"\[.*$")
LINTED = re.compile(
    r"^\S+:\d+:\d+: (?P<flake>[A-Z]{1,4}\d{2,5})\b|\b(?:error|warning) (?P<tsc>TS\d{3,5}):"
    r"|^(?:error|warning)\[(?P<rust>[A-Z]\d{4})\]:"
    r"|^ +\d+:\d+ +(?:error|warning) +\S.{0,200}? {2,}(?P<eslint>[@a-z][\w/@-]+)$"
    r"|: (?:error|note): .{1,200} \[(?P<mypy>[a-z]+(?:-[a-z]+)+)\]$",
    re.M,
)
"""The code under which a linter or compiler reports, with the line that it is in."""
UNMATCHED = re.compile(r"failed to exactly match lines in (\S+)")
FIGURES = re.compile(r"0x[0-9a-fA-F]+|\d+(?:[.,]\d+)*")
READ_CHARS = 200_000
"""Of a report no more is read for its codes."""


@dataclass(frozen=True)
class Said:
    """One session: its entries, oldest first."""

    session: str
    entries: Sequence[Entry]


@dataclass(frozen=True)
class Sighting:
    """One thing seen: what it is of, in its words, and where. `key` is the same for the same fault; sentences
    are compared by their meaning."""

    kind: str
    text: str
    key: str
    session: str
    turn: int
    at: float
    entry_id: str


@dataclass(frozen=True)
class Observation:
    """What was seen in several sessions, with a proposal for a rule. `evidence` is one sighting a session,
    the oldest first; `id` stays the same while that is there."""

    kind: str
    proposal: str
    evidence: tuple[Sighting, ...]

    @property
    def id(self) -> str:
        first = self.evidence[0]
        name = f"{first.kind}\n{first.key or first.text}"
        return "o" + hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()[:6]

    @property
    def last_at(self) -> float:
        return self.evidence[-1].at

    def is_faded(self, now: float) -> bool:
        """Whether it was not seen for 28 days."""
        return now - self.last_at > FADES_DAYS * DAY


def observed(sessions: Iterable[Said], least: int = SESSIONS_SEEN) -> list[Observation]:
    """What was seen in at least so many of the sessions, in the order of its first sight."""
    return gathered((seen for each in sessions for seen in sightings(each)), least)


def gathered(seen: Iterable[Sighting], least: int = SESSIONS_SEEN) -> list[Observation]:
    """What of some sightings is of at least so many sessions, in the order of its first sight."""
    sentences = Alike()
    faults: dict[tuple[str, str], list[Sighting]] = {}
    for sighting in sorted(seen, key=lambda each: (each.at, each.session, each.turn)):
        if sighting.kind == KIND_RULE:
            sentences.add(sighting)
        else:
            faults.setdefault((sighting.kind, sighting.key), []).append(sighting)
    groups = [*sentences.groups, *faults.values()]
    found = (observation(group) for group in groups if len({s.session for s in group}) >= least)
    return sorted(found, key=lambda each: (each.evidence[0].at, each.id))


def observation(group: Sequence[Sighting]) -> Observation:
    """A group of sightings, with the rule that it is proposed as."""
    kind = group[0].kind
    latest = list({s.session: s for s in group}.values())
    proposal = flat(typical(group)) if kind == KIND_RULE else fault_rule(kind, group[-1], len(latest))
    return Observation(kind, proposal, tuple(sorted(latest, key=lambda s: (s.at, s.session))))


def fault_rule(kind: str, last: Sighting, sessions: int) -> str:
    """The rule that a recurring fault is proposed as."""
    often = f"in {sessions} sessions"
    if kind == KIND_TEST:
        return f"{code(last.key)} failed {often}: run it before an edit is called done."
    if kind == KIND_LINT:
        return f"Write code without {code(last.key)}, which was reported {often}."
    if kind == KIND_EDIT:
        return f"Copy SEARCH lines for {code(last.key)} from it as it stands: they did not match {often}."
    return f"{code(last.text)} came up {often}: see to it that it does not come back."


def typical(group: Sequence[Sighting]) -> str:
    """The words of the sighting that says what all say: nearest to the others, of these the newest."""
    meant = [meaning(s.text) for s in group]
    nearness = [sum(likeness(one, other) for other in meant) for one in meant]
    best = max(range(len(group)), key=lambda at: (round(nearness[at], 6), group[at].at, at))
    return group[best].text


class Alike:
    """Sentences in groups that say the same: one joins a group of which at least half say what it does."""

    def __init__(self) -> None:
        self.groups: list[list[Sighting]] = []
        self._meant: list[list[Meaning]] = []
        self._by_stem: dict[str, set[int]] = {}

    def add(self, sighting: Sighting) -> None:
        """Put a sentence into its group, or into one of its own."""
        meant = meaning(sighting.text)
        if not meant.is_telling:
            return
        near = sorted({at for name in meant.stems for at in self._by_stem.get(name, ())})
        rated = [
            (sum(says_same(meant, other) for other in self._meant[at]) / len(self._meant[at]), -at)
            for at in near
        ]
        share, at = max(rated, default=(0.0, 0))
        if share < 0.5:
            at = -len(self.groups)
            self.groups.append([])
            self._meant.append([])
        self.groups[-at].append(sighting)
        self._meant[-at].append(meant)
        for name in meant.stems:
            self._by_stem.setdefault(name, set()).add(-at)


@dataclass(frozen=True)
class Meaning:
    """What a sentence wants and what it bans, as stems, and the figures in it."""

    wanted: frozenset[str]
    banned: frozenset[str]
    numbers: frozenset[str]

    @property
    def stems(self) -> frozenset[str]:
        return self.wanted | self.banned

    @property
    def is_telling(self) -> bool:
        """Whether it says enough, and not too much, to be known again."""
        return bool(self.stems - WEAK) and len(self.stems) <= MOST_STEMS


@lru_cache(maxsize=8_192)
def meaning(sentence: str) -> Meaning:
    """What a sentence wants and bans: its clauses up to the reason that it gives."""
    said = (
        CORRECTS.sub(" ", masked_names(sentence), count=1)
        if CORRECTS.match(sentence)
        else masked_names(sentence)
    )
    begins = REASON.search(said, 3)
    said = said[: begins.start()] if begins and stems_of(said[: begins.start()]) else said
    wanted: set[str] = set()
    banned: set[str] = set()
    kept: list[str] = []
    bans = tells = False
    for clause in filter(str.strip, CLAUSE.split(said)):
        orders, negative = ORDERS.search(clause), NEGATIVE.search(clause)
        tells = bool(kept) and not orders and (tells or TELLS.match(clause) is not None)
        if tells:
            continue
        kept.append(clause)
        bans = bans and not orders
        before, behind = (clause[: negative.start()], clause[negative.end() :]) if negative else (clause, "")
        (banned if bans or (negative and OF_SUBJECT.search(before)) else wanted).update(stems_of(before))
        banned |= stems_of(behind)
        bans = bans or negative is not None
    numbers = frozenset(number.rstrip(".,") for clause in kept for number in NUMBER.findall(clause))
    return Meaning(frozenset(wanted - banned), frozenset(banned), numbers)


def masked_names(sentence: str) -> str:
    """A sentence without the marks around its quotations and code, one word for what is to stay."""
    return LEFT.sub("unchanged", sentence.replace("’", "'").replace("`", "").replace('"', ""))


def stems_of(text: str) -> frozenset[str]:
    """The stems of the words that say what a text is about; of scripts without spaces pairs of characters."""
    words = [word.lower().strip("'.-").replace("-", "") for word in WORD.findall(ELISION.sub("", text))]
    common = stop_words(words) | MANNER
    found: set[str] = set()
    for word in words:
        if UNSPACED.search(word):
            found.update(pair.text for pair in index_words(word))
        elif len(word) > 1 and not word[0].isdigit() and common.isdisjoint((word, without_ending(word))):
            found.add(stem(word) or word)
    return frozenset(found)


def likeness(one: Meaning, other: Meaning) -> float:
    """The share of what two sentences want and ban that both do."""
    both = len(one.wanted & other.wanted) + len(one.banned & other.banned)
    either = len(one.stems | other.stems) + len(one.wanted & other.banned) + len(one.banned & other.wanted)
    return both / either if either else 0.0


def says_same(one: Meaning, other: Meaning) -> bool:
    """Whether two sentences want and ban the same, and name no different figures."""
    if one.numbers and other.numbers and one.numbers != other.numbers:
        return False
    shared = (one.wanted & other.wanted) | (one.banned & other.banned)
    return bool(shared - WEAK) and likeness(one, other) >= SAME


def sightings(said: Said) -> Iterator[Sighting]:
    """What one session shows that might be seen again in another."""
    failing: set[str] = set()
    for entry in said.entries:
        found: list[tuple[str, str, str]] = []
        with spared("reader of observations"):
            found = [*sentences_in(entry), *faults_in(entry)]
        for kind, text, key in found:
            if kind == KIND_TEST:
                if key in failing:
                    continue
                failing.add(key)
            yield Sighting(kind, flat(text), key, said.session, entry.turn, entry.created_at, entry.id)


def sentences_in(entry: Entry) -> Iterator[tuple[str, str, str]]:
    """The sentences of typed words that set a rule or correct something."""
    for text in corrections_in(typed_words(entry)):
        yield KIND_RULE, text, ""


@lru_cache(maxsize=2_048)
def corrections_in(text: str) -> tuple[str, ...]:
    """The sentences that set a rule for longer, or correct something, in order, each on one line."""
    found = []
    for unit in units(text):
        sentence = without_lead(text[unit.start : unit.end])
        if unit.kind in ("heading", "code", "row") or not sentence or sentence.endswith(("?", "？")):
            continue
        if (
            not FOR_ONCE.search(sentence)
            and is_spoken(sentence)
            and (is_rule(sentence) or corrects(sentence))
        ):
            found.append(cut(sentence))
    return tuple(dict.fromkeys(found))


def corrects(sentence: str) -> bool:
    """Whether a sentence says that something is to be otherwise, was said before, or is banned in a word."""
    said = masked(sentence)
    return CORRECTS.search(said) is not None or (BANS.search(said) is not None and not NO_RULE.search(said))


def faults_in(entry: Entry) -> Iterator[tuple[str, str, str]]:
    """The tests that fail, errors, codes of linters and edits that did not apply, of an entry."""
    kind = entry.source.kind
    if kind is SourceKind.NOTICE and is_failed_edit(entry.content):
        for path in dict.fromkeys(UNMATCHED.findall(entry.content)):
            yield KIND_EDIT, path, path
    if kind not in (SourceKind.COMMAND, SourceKind.TEST, SourceKind.LINT):
        return
    for text in faults_of(entry) if kind is not SourceKind.LINT else ():
        if "::" in text and " " not in PARAMETERS.sub("", text):
            name = PARAMETERS.sub("", text)
            yield KIND_TEST, name, name
        elif ": " in text:
            yield KIND_ERROR, text, FIGURES.sub("#", text)
    found = (match[match.lastgroup or 0] for match in LINTED.finditer(entry.content[:READ_CHARS]))
    for name in dict.fromkeys(found):
        yield KIND_LINT, name, name
