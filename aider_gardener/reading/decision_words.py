"""The words by which a sentence decides something or rules it out, in several languages."""

from __future__ import annotations

import re

from aider_gardener.reading.speech import masked

RESOLVES = re.compile(
    r"\b(?:we|i)(?:'ll| will| shall|'m going to|'re going to| are going to| am going to) (?:use|keep"
    r"|go with|take"
    r"|stick|drop|skip|leave|not|do it|call|switch|stay|store)\b"
    r"|\blet'?s (?:go with|use|keep|take|stick|drop|call|do it|not|skip|stay|make it|say)\b"
    r"|\b(?:go|going|went) (?:with|for) \S+|\b(?:stick|sticking|stay|staying) with\b"
    r"|\b(?:we|i)(?:'ve| have)? (?:chose|chosen|choose|picked?|settled? (?:on|for)|opt(?:ed)? for|rejected)\b"
    r"|\b(?:(?:we|i)(?:'ve| have)? decided|(?:was|were|is|been) (?:decided|agreed|settled)|decided (?:to|on"
    r"|that"
    r"|against|for)|decision:|(?:as|we|i|you) (?:have )?agreed|the decision (?:is|was))|^\W*(?:agreed"
    r"|decided)\b"
    r"|\b(?:(?:is|are|was|were|you|we|i) (?:rejected|ruled out|discarded)|out of scope|off the table"
    r"|(?:we|i) won'?t (?:do|use|fix|add|change)|is not worth|we no longer (?:use|need)|is (?:out"
    r"|dead)(?! of| there)"
    r"|are (?:dead|out)(?! of| there)|(?:drop|dropping|dropped) support)\b"
    r"|^\W*(?:switch to|replace .{1,60} (?:with|by))\b|\b(?:we|i) (?:switch(?:ed)? to|replaced)\b"
    r"|\b(?:name|call) (?:it|them|this|the \w+) \S+"
    r"|\b(?:wir (?:nehmen|verwenden|bleiben|lassen)|entschieden|beschlossen|stattdessen|abgelehnt"
    r"|verworfen)\b"
    r"|\b(?:on (?:garde|prend|utilise|part sur)|décidé|choisi|au lieu de|plutôt que|rejeté|écarté)\b"
    r"|\b(?:vamos a usar|usaremos|nos quedamos con|decidimos|decidido|en lugar de|en vez de|descartado)\b"
    r"|(?:决定|我们(?:使用|采用|就用)|改用|而不是|放弃)|(?:に決め|決定|採用|にしましょう|ではなく|却下|見送)",
    re.IGNORECASE,
)
CHOICE = re.compile(
    r"^(?:ok(?:ay)?|good|fine|yes|agreed|then|go|do)?[\W_]*(?:option |variant |no\.? ?)?(?:[a-h]"
    r"|\d{1,2})\b(?:[.:,;] | then\b"
    r"| it is\b| and \d| please\b|$)",
    re.IGNORECASE,
)
"""A pick among what was offered: "C.", "option 2 then"."""
ASKS = re.compile(r"[?？][\"')\s]*$")
IF = re.compile(
    r"^\W*(?:if|when|should|shall|whether|maybe|perhaps|could|would|do you|ob|wenn|si|如果|もし)\b"
    r"|\b(?:not (?:yet )?decided|undecided|to be decided|have to decide|need to decide|decisions? (?:you|we"
    r"|i) (?:need|have))\b",
    re.IGNORECASE,
)
"""What only might be settled is not."""
PREFERS = re.compile(
    r"\b(?:instead of|rather than|in favou?r of|as opposed to|but not|and not)\b|\bnot (?:a|the) \S+ but\b"
    r"|(?:而不是|ではなく)|\b(?:statt|au lieu de|en lugar de|en vez de)\b",
    re.IGNORECASE,
)


def decides(sentence: str, *, is_users: bool = True) -> bool:
    """Whether a sentence settles or rejects something; of the model's only what it says it will do or
    has agreed to, for "instead of" explains in most of its sentences. Questions and conditions settle
    nothing."""
    if ASKS.search(sentence) or IF.search(sentence):
        return False
    said = masked(sentence)
    return bool(RESOLVES.search(said) or (is_users and PREFERS.search(said)))
