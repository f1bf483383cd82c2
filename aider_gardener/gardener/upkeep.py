"""Upkeep between turns that asks a model, and only if the user allowed it: once a minute and never while a
turn is on one compressed form is refined. A proposal takes the place of the form only if it is shorter, still
holds every number, path, symbol and name of it, and states none that the original does not hold. Indexing and
embedding are the backlog's; what has expired the next plan asks.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable

from aider_gardener.errors import fault_log
from aider_gardener.gardener.state import ChatState
from aider_gardener.messages import Level, TokenCounter
from aider_gardener.plan.planner import note_rendition

Ask = Callable[[str], str]
"""Sends one prompt to a model and gives its answer. May raise anything."""

SECONDS = 60.0
"""Between two rounds, and so between two calls."""
MOST_CALLS, MOST_FAILURES = 50, 3
"""A chat asks no more often, and no more once so many calls have failed: somebody pays for them."""
STOP_SECONDS = 1.0
LEAST_TOKENS, MOST_TOKENS = 150, 6_000
"""Shorter compressed forms are not worth a call, longer ones are left alone."""

PROMPT = (
    "Below is a shortened note on part of a programmer's chat. Make it shorter still. Keep every number,"
    " path, identifier, error message, id in brackets and proper name exactly as written, keep who said"
    " what, add nothing that is not there. Answer with the shorter note alone.\n\n{note}"
)
MARKS = "`'\"“”.,;:!?()[]{}<>…→-"
"""What stands around a word and is none of it."""


def begin(state: ChatState, ask: Ask, *, seconds: float = SECONDS) -> Callable[[], None]:
    """Begin the loop of one chat on a daemon thread if the settings allow to ask a model. Returns what ends
    it within a second, and may be called twice."""
    stopped, tried = threading.Event(), set[str]()

    def run() -> None:
        failures = 0
        while not stopped.wait(seconds) and len(tried) < MOST_CALLS and failures < MOST_FAILURES:
            try:
                refine(state, ask, tried)
            except Exception as error:  # reason: whatever the provider does, the algorithm's form stays
                failures += 1
                fault_log().info(
                    "upkeep is put off: %s", type(error).__name__
                )  # a message may quote the chat

    def stop() -> None:
        stopped.set()
        if thread.is_alive():
            thread.join(STOP_SECONDS)

    thread = threading.Thread(target=run, name="gardener-upkeep", daemon=True)
    if state.settings.llm in ("refine", "both"):
        thread.start()
    return stop


def refine(state: ChatState, ask: Ask, tried: set[str]) -> str:
    """Refine the longest form that stands nowhere yet and was not tried; the id of its entry, or "". What is
    answered counts for nothing once a turn is on. Of replies a plan shows no short form but by terms. Raises
    StoreError, and what `ask` does."""
    archive, chat = state.archive, state.chat
    if state.busy:
        return ""
    shown = {*chat.removed, *chat.levels}
    whole = [e for seq, e in dict(chat.entries).items() if seq not in shown and e.id not in tried]
    whole = [e for e in whole if e.role == "user" or state.policy.terms]
    pairs = ((entry, archive.renditions(entry).get(Level.COMPRESSED)) for entry in whole)
    forms = [(e, form) for e, form in pairs if form and LEAST_TOKENS <= form.tokens <= MOST_TOKENS]
    if not forms:
        return ""
    entry, form = max(forms, key=lambda row: (row[1].tokens, -row[0].seq))
    tried.add(entry.id)
    answer = ask(PROMPT.format(note=form.text)).strip()
    original = archive.without_secrets(entry).content
    is_void = state.busy or entry.seq in state.chat.levels
    if is_void or not is_better(form.text, answer, original, count=state.count):
        return ""
    archive.put_rendition(entry, note_rendition(entry, Level.COMPRESSED, answer, state.count))
    return entry.id


def facts(text: str) -> frozenset[str]:
    """The words of a text that a reader could look up or compare, numbers, paths, symbols and names among
    them: all but plain ones in small letters."""
    words = (word.strip(MARKS) for word in text.split())
    return frozenset(word for word in words if word and not (word.isalpha() and word.islower()))


def is_better(form: str, proposal: str, original: str, *, count: TokenCounter) -> bool:
    """Whether a proposal may take the place of a compressed form of an original."""
    if not proposal.strip() or count(proposal) >= count(form):
        return False
    has_facts = all(contains(fact, proposal) for fact in facts(form))
    return has_facts and all(fact in original or fact in form for fact in facts(proposal))


def contains(fact: str, text: str) -> bool:
    """Whether a fact stands in a text as a whole, not as part of a longer word or number."""
    return re.search(rf"(?<![\w]){re.escape(fact)}(?![\w])", text) is not None
