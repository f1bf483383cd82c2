"""What an HTML report tells of one replay: what its prompts were made of, what was swapped, which facts
came back. Worked out while the result still has its texts, which are then let go."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache

from aider_gardener.archive.store.redact import Redactor
from aider_gardener.messages import ContentClass
from aider_gardener.plan.view import NOTE_HEAD
from aider_gardener.reading.segments import segment
from aider_gardener.reading.source import infer_source
from aider_gardener.recall.recall import NOTE_HEAD as RECALLED_HEAD
from aider_gardener.replay.measure.carryover import Carried, carried
from aider_gardener.replay.measure.result import Compaction, ModelCall, Quoted, ReplayResult, Swapped
from aider_gardener.replay.play.calls import short_hash
from aider_gardener.replay.session.session import Session

SYSTEM, MAP, FILES, NOTES, RECALLED = "system", "map", "files", "notes", "recalled"

LAYERS: tuple[tuple[str, str], ...] = (
    (SYSTEM, "system prompt, examples, reminder"),
    (MAP, "repository map"),
    (FILES, "files of the chat"),
    (NOTES, "notes or a summary in place of the past"),
    (RECALLED, "recalled from the archive"),
    (ContentClass.PROMPT.value, "chat: the user's words"),
    (ContentClass.PROSE.value, "chat: prose"),
    (ContentClass.CODE.value, "chat: code"),
    (ContentClass.EDIT.value, "chat: edit blocks"),
    (ContentClass.DIFF.value, "chat: diffs"),
    (ContentClass.ERROR.value, "chat: errors"),
    (ContentClass.LOG.value, "chat: logs and test runs"),
    (ContentClass.STRUCTURED.value, "chat: structured data"),
    (ContentClass.LISTING.value, "chat: listings"),
)
"""What a prompt is made of, from the bottom of the stack to its top: name and meaning."""

PART_LAYERS = {
    "system": SYSTEM,
    "examples": SYSTEM,
    "reminder": SYSTEM,
    "repo": MAP,
    "readonly": FILES,
    "files": FILES,
    "bases": FILES,
    "diffs": FILES,
}

ClassShares = Callable[[str], Mapping[str, float]]


@dataclass(frozen=True)
class LayeredRequest:
    """One request of the main model: its tokens in all, and by layer (they may add up to a few less)."""

    turn: int
    call: int
    tokens: int
    layers: Mapping[str, int]


@dataclass(frozen=True)
class ReplayDetail:
    """One replay as a report shows it; `plan_seconds` and `swaps` go with its compactions by plan."""

    requests: tuple[LayeredRequest, ...]
    compactions: tuple[Compaction, ...]
    plan_seconds: tuple[float, ...]
    swaps: tuple[Swapped, ...]
    carried: tuple[Carried, ...]
    quoted: tuple[Quoted, ...] = ()


def detail_of(result: ReplayResult, session: Session) -> ReplayDetail:
    """The details of one replay; needs the result's texts."""

    @cache
    def shares(sha: str) -> dict[str, float]:
        text = result.texts.get(sha, "")
        spoken = short_hash({"role": "assistant", "content": text}) == sha
        return layer_shares("assistant" if spoken else "user", text)

    clean = Redactor()
    for text in result.texts.values():  # what is a secret in one text is one in all
        clean(text)
    return ReplayDetail(
        requests=tuple(request_of(call, shares) for call in result.main_calls()),
        compactions=result.compactions,
        plan_seconds=result.measured.plan_seconds,
        swaps=tuple(without_secrets(swap, clean) for swap in result.swaps),
        quoted=tuple(replace(one, text=clean(one.text).text) for one in result.quoted),
        carried=tuple(replace(one, text=clean(one.text).text) for one in carried(result, session)),
    )


def without_secrets(swap: Swapped, clean: Redactor) -> Swapped:
    """A swap as a page may hold it: a history file that is replayed was never redacted."""
    original, rendition = clean(swap.original).text, clean(swap.rendition).text
    return replace(swap, original=original, rendition=rendition, source=clean(swap.source).text)


def request_of(call: ModelCall, shares: ClassShares) -> LayeredRequest:
    """A call with its tokens by layer."""
    sums: dict[str, float] = {}
    for sha, tokens, part in call.prompt:
        layer = PART_LAYERS.get(part)
        for name, share in {layer: 1.0}.items() if layer else shares(sha).items():
            sums[name] = sums.get(name, 0.0) + tokens * share
    return LayeredRequest(
        call.turn, call.call, call.prompt_tokens, {name: round(n) for name, n in sums.items()}
    )


def layer_shares(role: str, text: str) -> dict[str, float]:
    """The layers of one message of the chat, by its share of characters; they add up to 1."""
    from aider import prompts

    if text.startswith(RECALLED_HEAD):
        return {RECALLED: 1.0}
    if text.startswith((NOTE_HEAD, prompts.summary_prefix)):
        return {NOTES: 1.0}
    found: dict[str, float] = {}
    for piece in segment(text, infer_source(role, text)):
        name = piece.cls.value
        found[name] = found.get(name, 0.0) + (piece.end - piece.start) / len(text)
    return found or {ContentClass.PROSE.value: 1.0}
