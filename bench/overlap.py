"""How many words a question has in common with the turn that answers it: probes, paraphrased probes, prompts.

    python -m bench.overlap [--json FILE]

A search by words finds a turn by the words that the question shares with it, so a set of questions is as hard
as it shares few. Three sets are held side by side. `probes.json` is what a replay asks. `paraphrased.json`
holds eight of each session's probes asked again in other words. Prompts are what was really typed, each with
every older turn whose facts its reply uses again: nobody wrote these to be looked up.

Nothing is replayed, so it is not known which files stood in a prompt: a fact that stands in any file of the
session, in its path or in any earlier code block of a reply is not counted as remembered.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from aider_gardener.archive.store.words import index_words, stem
from aider_gardener.errors import GardenerError
from aider_gardener.reading.sentences import STOPWORDS
from aider_gardener.replay.measure.carryover import AGE_TURNS, facts_in, said_besides_replies
from aider_gardener.replay.measure.probes import (
    STOP_WORDS,
    surroundings,
    texts_of_turn,
)
from aider_gardener.replay.session.history import load_session
from aider_gardener.replay.session.session import RESTART, Probe, Session, load_probes
from bench.provenance import made_on
from bench.retrieval import ROOT, messages_of

LARGEST_FILE = 1_000_000
RECORDED = ROOT / "recorded_sessions"
RESULTS = Path(__file__).with_name("results") / "overlap.json"
FORMAT = 1
SPANISH = frozenset(
    "a al algo antes aqui asi aun cada como con cual cuales cuando cuanta cuantas cuanto cuantos de"
    " del desde donde dos el ella ellas ellos en entre era eran es esa esas ese eso esos esta estaba"
    " estan estas este esto estos fue ha habia han hasta hay la las le les lo los mas me mi mis mucho"
    " muy nada ni no nos nuestra nuestro o otra otro para pero por porque que quien se sea ser si sin"
    " sobre son su sus tambien tan te tenia tiene todo todos tu tus un una uno unos y ya yo".split()
)
"""Words that tell nothing in the one session that is in Spanish."""
PARAPHRASED = "paraphrased.json"
SETS = ("probes", "paraphrased", "prompts")
CODE_BLOCK = re.compile(r"(?:^.*\n)?^```[\s\S]*?(?:^```|\Z)", re.MULTILINE)
"""A block of code with the line above it, which names its file."""


@dataclass(frozen=True)
class Asked:
    """A question or prompt, with an older turn that it needs and what is needed of it."""

    question: str
    about_turn: int
    keys: tuple[str, ...]


@dataclass(frozen=True)
class Shares:
    """Of a question's content words, the shares that stand in the turn and beside what is needed of it."""

    turn: float
    beside: float


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--json", type=Path, default=RESULTS, help="where the results go")
    options = parser.parse_args(argv)
    found: dict[str, dict[str, list[Shares]]] = {}
    try:
        for folder in sorted(path.parent for path in RECORDED.glob("*/session.jsonl")):
            session = load_session(folder)
            found[folder.name] = measured(session, load_probes(folder / PARAPHRASED))
    except GardenerError as problem:
        print(f"bench.overlap: {problem}", file=sys.stderr)
        return 1
    value = {
        "format": FORMAT,
        "kind": "overlap",
        "provenance": made_on(),
        "all": {name: figures(one for each in found.values() for one in each[name]) for name in SETS},
        "sessions": {
            session: {name: figures(of) for name, of in each.items()} for session, each in found.items()
        },
    }
    options.json.parent.mkdir(parents=True, exist_ok=True)
    options.json.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    print(f"written to {options.json.name}")
    return 0


def measured(session: Session, paraphrased: Sequence[Probe]) -> dict[str, list[Shares]]:
    """The shares of each question of a session, by set; questions without a content word are left out."""
    sets = (of_probes(session.probes), of_probes(paraphrased), of_prompts(session))
    return {
        name: [shares for asked in each if (shares := shares_of(session, asked)) is not None]
        for name, each in zip(SETS, sets, strict=True)
    }


def figures(found: Iterable[Shares]) -> dict[str, Any]:
    """How many questions, their mean shares (None without any), and how many share no word with the turn."""
    shares = list(found)
    return {
        "questions": len(shares),
        "turn": round(fmean(one.turn for one in shares), 4) if shares else None,
        "beside": round(fmean(one.beside for one in shares), 4) if shares else None,
        "nothing_shared": sum(not one.turn for one in shares),
    }


def of_probes(probes: Iterable[Probe]) -> Iterator[Asked]:
    for probe in probes:
        yield Asked(probe.question, probe.about_turn, probe.answer_keys)


def of_prompts(session: Session) -> Iterator[Asked]:
    """Each prompt that was typed, once for each older turn whose facts its replies use again.

    As in the replay's carry-over, a fact was last said `AGE_TURNS` or more turns before, and not in the turn
    itself but by the reply. `keys` are these facts.
    """
    last_said: dict[str, int] = {}
    written = facts_of_files(session)
    for turn in range(1, session.turn_count + 1):
        replies = [event.text for event in session.of_kind("reply", turn)]
        given = facts_in("\n".join(said_besides_replies(session, turn))).facts
        facts = facts_in("\n".join(replies)).facts - given - written
        needed: dict[int, set[str]] = {}
        for fact in facts:
            if last_said.get(fact, turn) <= turn - AGE_TURNS:
                needed.setdefault(last_said[fact], set()).add(fact)
        typed = [message.content for event in session.of_kind("user", turn) for message in messages_of(event)]
        for about, of_turn in sorted(needed.items()):
            if typed:
                yield Asked("\n".join(typed), about, tuple(sorted(of_turn)))
        written |= facts_in("\n".join(block for text in replies for block in CODE_BLOCK.findall(text))).facts
        last_said |= dict.fromkeys(facts_in("\n".join(texts_of_turn(session, turn))).facts, turn)
        if session.of_kind(RESTART, turn):
            last_said.clear()


def facts_of_files(session: Session) -> set[str]:
    """The facts in all files that the session begins with or that others write in it, and in their paths."""
    texts = [f"{event.path}\n{event.text}" for event in session.of_kind("file")]
    root = session.repo0
    if root is not None:
        for path in sorted(root.rglob("*")):
            if path.is_file() and path.stat().st_size <= LARGEST_FILE:
                texts.append(path.relative_to(root).as_posix())
                texts.append(path.read_bytes().decode("utf-8", "replace"))
    return set(facts_in("\n".join(texts)).facts)


def shares_of(session: Session, asked: Asked) -> Shares | None:
    """The shares of one question; None where it has no content word."""
    words = telling_words(asked.question)
    if not words:
        return None
    said = "\n".join(texts_of_turn(session, asked.about_turn))
    beside = " ".join(word for key in asked.keys for word in surroundings([key], said))
    in_turn, close = (shared_words(asked.question, text) for text in (said, beside))
    return Shares(len(in_turn) / len(words), len(close) / len(words))


def telling_words(question: str) -> set[str]:
    """A question's content words: what recall looks for, without very common words."""
    common = STOPWORDS | STOP_WORDS | SPANISH
    return {word for word in index_words(question) if len(word) > 1 and word not in common}


def shared_words(question: str, text: str) -> set[str]:
    """The question's content words that stand in a text, in any form, as recall compares."""
    stems = set(map(stem, index_words(text)))
    return {word for word in telling_words(question) if stem(word) in stems}


if __name__ == "__main__":
    sys.exit(main())
