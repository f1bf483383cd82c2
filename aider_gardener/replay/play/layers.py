"""What a page shows of a replay beside its figures: its prompts by layer, and texts without secrets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache

from aider_gardener.archive.store.redact import Redactor
from aider_gardener.messages import ContentClass
from aider_gardener.plan.view import NOTE_HEAD
from aider_gardener.reading.segments import segment
from aider_gardener.reading.source import infer_source
from aider_gardener.recall.recall import NOTE_HEAD as RECALLED_HEAD
from aider_gardener.replay.measure.result import ModelCall, ReplayResult, Swapped
from aider_gardener.replay.play.calls import short_hash

SYSTEM, MAP, FILES, NOTES, RECALLED = "system", "map", "files", "notes", "recalled"

LAYERS: Mapping[str, str] = {
    SYSTEM: "system prompt, examples, reminder",
    MAP: "repository map",
    FILES: "files of the chat",
    NOTES: "notes or a summary in place of the past",
    RECALLED: "recalled from the archive",
    ContentClass.PROMPT.value: "chat: the user's words",
    ContentClass.PROSE.value: "chat: prose",
    ContentClass.CODE.value: "chat: code",
    ContentClass.EDIT.value: "chat: edit blocks",
    ContentClass.DIFF.value: "chat: diffs",
    ContentClass.ERROR.value: "chat: errors",
    ContentClass.LOG.value: "chat: logs and test runs",
    ContentClass.STRUCTURED.value: "chat: structured data",
    ContentClass.LISTING.value: "chat: listings",
}
"""What a prompt is made of, from the bottom of the stack to its top: name and meaning."""

PART_LAYERS = {
    **dict.fromkeys(("system", "examples", "reminder"), SYSTEM),
    "repo": MAP,
    **dict.fromkeys(("readonly", "files", "bases", "diffs"), FILES),
}


def for_page(result: ReplayResult, texts: Mapping[str, str]) -> ReplayResult:
    """The result with the layers of its calls, and no secret in its texts: a history file that is replayed
    was never redacted. `texts` are those of all messages by their hash."""

    @cache
    def shares(sha: str) -> dict[str, float]:
        text = texts.get(sha, "")
        spoken = short_hash({"role": "assistant", "content": text}) == sha
        return layer_shares("assistant" if spoken else "user", text)

    redactor = Redactor()
    for text in texts.values():  # what is a secret in one text is one in all
        redactor(text)

    def clean(text: str) -> str:
        return redactor(text).text

    def cleaned(swap: Swapped) -> Swapped:
        return replace(
            swap,
            original=clean(swap.original),
            rendition=clean(swap.rendition),
            source=clean(swap.source),
        )

    return replace(
        result,
        calls=tuple(replace(call, layers=layers_of(call, shares)) for call in result.calls),
        compactions=tuple(
            replace(event, swaps=tuple(map(cleaned, event.swaps))) for event in result.compactions
        ),
        carried=tuple(replace(one, text=clean(one.text)) for one in result.carried),
        quoted=tuple(replace(one, text=clean(one.text)) for one in result.quoted),
    )


def layers_of(call: ModelCall, shares: Callable[[str], Mapping[str, float]]) -> dict[str, int]:
    """The tokens of a call by layer; they may add up to a few less than all. `shares` has those of a message
    of the chat by its hash."""
    sums: dict[str, float] = {}
    for sha, tokens, part in call.prompt:
        layer = PART_LAYERS.get(part)
        for name, share in {layer: 1.0}.items() if layer else shares(sha).items():
            sums[name] = sums.get(name, 0.0) + tokens * share
    return {name: round(tokens) for name, tokens in sums.items()}


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
