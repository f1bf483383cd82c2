"""What one turn that compacts goes through: `python -m bench.once`.

How often texts are redacted, segmented and counted in it, and how many files, classes and functions of ours
it enters. A real Coder with a scripted model; the turn brings one message and one reply. Redactions are scans
of a text; counts are calls of the token counter, those of a text that it remembers too.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

import aider_gardener
from aider_gardener import install, tokens
from aider_gardener.archive.store.redact import redact
from aider_gardener.reading.segments import segment
from aider_gardener.replay.play import sandbox
from aider_gardener.replay.play.calls import completion
from aider_gardener.settings import Settings
from bench.inputs import made

TURNS = 8
OURS = str(Path(aider_gardener.__file__).parent)
COUNTERS = [code for code in tokens.counter.__code__.co_consts if getattr(code, "co_name", "") == "count"]
NAMES = {redact.__code__: "redactions", segment.__code__: "segmented", COUNTERS[0]: "counted"}


def counted_turn(coder: Any) -> Counter[str]:
    """The calls in the turn after some that made the history outgrow its limit."""
    for turn in range(TURNS):
        coder.run(with_message=f"Why does this fail?\n\n{made('pytest', 6_000, seed=turn)}")
    assert coder.gardener.state.archive.store.events(kind="plan"), "the history was compacted"
    found = Counter(dict.fromkeys(NAMES.values(), 0))
    entered: dict[str, set[object]] = {"files": set(), "classes": set(), "functions": set()}

    def look(frame: FrameType, event: str, _argument: object) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(OURS):
            return
        if code in NAMES:
            found[NAMES[code]] += 1
        if not code.co_name.startswith("<"):
            entered["files"].add(code.co_filename)
            entered["functions"].add((code.co_filename, code.co_firstlineno))
            owner = type(frame.f_locals.get("self"))
            if owner.__module__.startswith(aider_gardener.__name__):
                entered["classes"].add(owner)

    sys.setprofile(look)
    coder.run(with_message="How long is the lease of a worker?")
    sys.setprofile(None)
    return found + Counter({what: len(places) for what, places in entered.items()})


if __name__ == "__main__":
    with TemporaryDirectory() as name:
        folder = Path(name)
        kept = sandbox.environment(folder / "home", os.environ)
        os.environ.clear()
        os.environ.update(kept)
        os.chdir(sandbox.make_repository(folder, None, 1_700_000_000.0))
        import litellm
        from aider import coders, io, models

        replies = (f"A lease of part {part} is {30 + part} seconds." for part in range(TURNS + 1))
        litellm.completion = lambda **asked: completion(next(replies), asked["model"], 10, 5)
        install(Settings(history_tokens=2_000, embedder="none"))
        screen = io.InputOutput(pretty=False, yes=True, fancy_input=False, chat_history_file=folder / "md")
        coder = coders.Coder.create(models.Model("gpt-4o"), "ask", io=screen, stream=False)
        for what, calls in counted_turn(coder).items():
            print(f"{what:12} {calls:4}")
