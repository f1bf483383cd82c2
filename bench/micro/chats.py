"""A long chat as aider would hold it: prompts, replies with edits, outputs of commands and test runs."""

from __future__ import annotations

import random

from aider_gardener.messages import Message, TokenCounter
from bench.inputs import edit_block, made, name, paragraph, word

RAN = "I ran this command:\n\n{command}\n\nAnd got this output:\n\n{output}"
COMMANDS = {"pytest -v": "pytest", "make -k": "gcc", "tail service.log": "app-log", "git diff": "diff"}
COMMITTED = "I committed the changes with git hash {sha:07x} & git commit message: {message}"
OUTPUT_CHARS = 6_000


def long_chat(tokens: int, count: TokenCounter, *, seed: int = 3) -> list[Message]:
    """Finished exchanges of at least so many tokens, each with an output, a prompt and an edit."""
    rng = random.Random(seed)
    found: list[Message] = []
    held = turn = 0
    while held < tokens:
        turn += 1
        added = exchange(rng, turn)
        held += sum(count(message.content) for message in added)
        found += added
    return found


def exchange(rng: random.Random, turn: int) -> list[Message]:
    """A command's output with aider's answer to it, then a prompt and a reply that edits a file."""
    command, kind = list(COMMANDS.items())[turn % len(COMMANDS)]
    output = made(kind, OUTPUT_CHARS, seed=turn)
    asked = f"The {word(rng)} of {name(rng)} is wrong: never use more than {rng.randrange(1000)} of them."
    return [
        Message("user", RAN.format(command=command, output=output)),
        Message("assistant", "Ok."),
        Message("user", asked),
        Message("assistant", f"{paragraph(rng, turn)}{edit_block(rng, turn)}{paragraph(rng, turn)}"),
        Message("user", COMMITTED.format(sha=rng.randrange(16**7), message=word(rng))),
        Message("assistant", "Ok."),
    ]


def next_exchange(seed: int) -> list[Message]:
    """What one more turn brings."""
    return exchange(random.Random(f"next {seed}"), seed)
