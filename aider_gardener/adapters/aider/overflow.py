"""Tells whether a provider's error means that the prompt was too long."""

from __future__ import annotations

import re

PHRASES = re.compile(
    r"context[ _-]?(?:length|window|size)|maximum context|too many (?:input )?tokens|prompt is too long"
    r"|exceeds? the (?:available|model'?s) context|input (?:is )?too long",
    re.I,
)
OVERFLOW_ERRORS = frozenset({"ContextWindowExceededError"})
REQUEST_ERRORS = frozenset({"BadRequestError", "APIError", "InvalidRequestError"})


def is_overflow(error: BaseException) -> bool:
    """Whether the error says that the prompt exceeds the window.

    litellm's own class says so; local servers send a plain bad request with words to that effect.
    """
    names = {cls.__name__ for cls in type(error).__mro__}
    if names & OVERFLOW_ERRORS:
        return True
    return bool(names & REQUEST_ERRORS) and PHRASES.search(str(error)) is not None
