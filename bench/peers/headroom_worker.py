"""Runs headroom-ai's direct compressors, in an environment of its own: JSON lines in, JSON lines out.

In: {"kind", "text", "rounds"}; out: {"text", "seconds": [...]} or {"error"}. The first call of each
is not timed. Each kind of text goes to the compressor that its own router would choose for it.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable


def compressors() -> dict[str, Callable[[str], str]]:
    """Kind of text → the peer's compressor of it, with its defaults."""
    from headroom.transforms.code_compressor import CodeAwareCompressor
    from headroom.transforms.diff_compressor import DiffCompressor
    from headroom.transforms.log_compressor import LogCompressor
    from headroom.transforms.search_compressor import SearchCompressor
    from headroom.transforms.smart_crusher import SmartCrusher
    from headroom.transforms.text_crusher import TextCrusher

    return {
        "log": lambda text: str(LogCompressor().compress(text).compressed),
        "listing": lambda text: str(SearchCompressor().compress(text).compressed),
        "diff": lambda text: str(DiffCompressor().compress(text).compressed),
        "structured": lambda text: str(SmartCrusher().crush(text).compressed),
        "code": lambda text: str(CodeAwareCompressor().compress(text).compressed),
        "prose": lambda text: str(TextCrusher().compress(text).compressed),
    }


def answer(known: dict[str, Callable[[str], str]], kind: str, text: str, rounds: int) -> dict[str, object]:
    """One text compressed, with the seconds of each timed round."""
    compress = known[kind]
    shown, seconds = compress(text), []
    for _round in range(rounds):
        began = time.perf_counter()
        compress(text)
        seconds.append(time.perf_counter() - began)
    return {"text": shown, "seconds": seconds}


def main() -> None:
    known = compressors()
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            found = answer(known, asked["kind"], asked["text"], asked["rounds"])
        except Exception as problem:  # whatever it is, it is this peer's result for this text
            found = {"error": f"{type(problem).__name__}: {problem}"}
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
