"""headroom-ai in front of the messages: a program for the replay's variant `filter`.

Each past message of the user's that holds a command's output goes to `headroom.compress` as the bare
output, which it handles best, and comes back in aider's wrapper; all others go as they are. Options are
those of its coding-agent use with user messages allowed and without its learned model. It runs in the
environment that has headroom-ai.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

RAN, OUTPUT = "I ran this command:", "And got this output:\n\n"
OPTIONS = {"compress_user_messages": True, "compress_system_messages": False, "kompress_model": "disabled"}
MODEL = "gpt-4"


def split(content: str) -> tuple[str, str]:
    """aider's wrapper before an output, and what follows it; ("", content) for any other message."""
    head, found, rest = content.partition(OUTPUT)
    return (head + found, rest) if found and content.startswith(RAN) else ("", content)


def rewritten(past: list[dict[str, Any]], current: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The past messages as headroom would send them; as they are where it answers otherwise."""
    from headroom import compress

    parts = [split(message["content"]) for message in past]
    bare = [{**message, "content": rest} for message, (_head, rest) in zip(past, parts, strict=True)]
    found = compress([*bare, *current], model=MODEL, **OPTIONS).messages[: len(past)]
    if [message.get("role") for message in found] != [message["role"] for message in past]:
        return past
    return [
        {**message, "content": head + str(shown["content"])}
        for message, (head, _rest), shown in zip(past, parts, found, strict=True)
    ]


def main() -> None:
    os.environ.update(HF_HUB_OFFLINE="1", DO_NOT_TRACK="1")
    for line in sys.stdin:
        asked = json.loads(line)
        print(json.dumps({"past": rewritten(asked["past"], asked["current"])}), flush=True)


if __name__ == "__main__":
    main()
