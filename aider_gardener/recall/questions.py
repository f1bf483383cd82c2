"""How much of the past a prompt asks for: a question about it wants more of it than an order to go on."""

from __future__ import annotations

import re

ORDINARY_SHARE = 0.1
"""What a prompt that asks for nothing may recall, as a share of what one that asks may."""
SHORT_WORDS = 60
"""A longer prompt brings what it is about along; it asks for the past only when it says so."""
LONG_WORDS = 250
UNSPACED_CHARS = 2.5
"""So many characters of a script without spaces count as a word."""

QUESTION = re.compile(r"[?？؟]|[吗呢嗎](?:[。？]|$)|(?:か|の)[。？]|까[.?？]?$")
PAST = re.compile(
    r"\b(?:again|agreed|already|before|decid(?:e|ed|ing)|earlier|forg[eo]t\w*|mention(?:ed)?|originally|"
    r"previous(?:ly)?|recall|remember|remind|said|say|same|still|told|used to|last time|"
    r"(?:my|our|the) (?:rules?|constraints?|decisions?)|as (?:i|we|you)|like (?:i|we|you)|"
    r"first day|(?:did|had|was|were) (?:i|we|you|it|that|the)|"
    r"vorher|vorhin|nochmal|gesagt|vereinbart|entschieden|erinner\w*|damals|"
    r"d[ée]j[àa]|avant|rappel\w*|d[ée]cid[ée]\w*|"
    r"antes|recuerd\w*|decid[ií]\w*|dij\w+)\b"
    r"|之前|刚才|记得|還記|还记|说过|決め|前に|覚え|さっき|전에|기억",
    re.IGNORECASE,
)
UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


def asks(prompt: str) -> bool:
    """Whether the prompt asks for something, or refers to what was said before."""
    length = words_in(prompt)
    if length <= SHORT_WORDS and QUESTION.search(prompt):
        return True
    return length <= LONG_WORDS and PAST.search(prompt) is not None


def words_in(prompt: str) -> float:
    """The length of a prompt in words, in any script."""
    return len(prompt.split()) + len(UNSPACED.findall(prompt)) / UNSPACED_CHARS


def recall_part(prompt: str) -> float:
    """The share of the recall budget that the prompt may use, 0 to 1."""
    return 1.0 if asks(prompt) else ORDINARY_SHARE
