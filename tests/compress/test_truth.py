"""Laws of what no parser knows, over every text that lies in the tests: what tells of trouble stays, nothing is
counted that was not counted, and nothing is called repeated that differs in more than noise.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from aider_gardener.adapters.aider.provider import default_counter
from aider_gardener.compress import Context, logs
from aider_gardener.compress.logs.excerpt import ALARMS_SHARE, LEAST_TOKENS, WHOLE_TOKENS, WIDTH, same
from aider_gardener.reading.alarms import alarm
from aider_gardener.reading.output import clip, lines_of

DATA = Path(__file__).resolve().parent.parent / "data"
TEXTS = sorted(path for folder in ("outputs", "facts") for path in (DATA / folder).rglob("*.txt"))
REPEATED = re.compile(r"^(.*) \[repeated (\d+) times\]$")
ZERO = re.compile(r"\b0 (?:errors?|warnings?|failures?|failed|matches)\b", re.IGNORECASE)


@cache
def text_of(path: Path) -> str:
    return path.read_bytes().decode("utf-8", "replace")


def shuffled(path: Path, seed: int) -> str:
    """The lines of a text in another order, with some of them from the whole of the data."""
    rng = random.Random(seed)
    lines = text_of(path).split("\n") + text_of(rng.choice(TEXTS)).split("\n")[:200]
    rng.shuffle(lines)
    return "\n".join(lines[:1_500])


@pytest.mark.parametrize("seed", [0, 1], ids=["as printed", "shuffled"])
@pytest.mark.parametrize("folder", sorted({path.parent for path in TEXTS}), ids=lambda folder: folder.name)
def test_what_no_parser_knows_is_told_truly(folder: Path, seed: int) -> None:
    for path in folder.glob("*.txt"):
        text = shuffled(path, seed) if seed else text_of(path)[:400_000]
        assert falsehoods(text) == [], path.name


def falsehoods(text: str) -> list[str]:
    """What the short form of a text leaves out or tells though it is not so."""
    count = default_counter()
    shown = logs.compress(text, Context("output", count=count)).text
    lines = [line.rstrip() for line in lines_of(text) if line.strip()]
    if count(text) <= WHOLE_TOKENS:
        return [] if shown == text else ["a short text was changed"]
    head, *body = shown.split("\n")
    bare = [REPEATED.sub(r"\1", line) for line in body]
    times = set(Counter(map(same, lines)).values())
    found = [f"cut off: {line}" for line in (lines[0], lines[-1]) if clip(line, WIDTH) not in bare]
    found += [f"nothing counted: {head}"] if ZERO.search(head) else []
    for line in body:
        told = REPEATED.match(line)
        if told and line not in lines and int(told[2]) not in times:
            found.append(f"not so often: {line}")
    lost = {same(line) for line in lines if alarm(line) == "error"} - {
        same(line) for line in lines if clip(line, WIDTH) in bare
    }
    room = ALARMS_SHARE * LEAST_TOKENS - sum(count(clip(line, WIDTH)) + 1 for line in lines if alarm(line))
    return [*found, *(f"lost: {line}" for line in lost if room >= 0)]


@pytest.mark.parametrize(
    ("line", "level"),
    [
        ("make: *** [all] Error 2", "error"), ("0 errors, 0 warnings", ""), ("ok: [web] failed=0", ""),
        ("Process completed with exit code 1.", "error"), ("exit code 0", ""), ("src/error/handler.py", ""),
        ("bash: fo: command not found", "error"), ("Permission denied (publickey).", "error"),
        ("main.c:3:1: Fehler: »x« nicht deklariert", "error"), ("erreur : argument manquant", "error"),
        ("错误:未定义的引用", "error"), ("接続に失敗しました", "error"), ("ошибка: файл не найден", "error"),
        ("빌드 실패", "error"), ("HATA: dosya bulunamadı", "error"), ("خطأ في الاتصال", "error"),
        ("Lỗi kết nối", "error"), ("त्रुटि: फ़ाइल नहीं मिली", "error"), ("błąd składni", "error"),
        ("falha ao abrir", "error"), ("pod/web-1 CrashLoopBackOff", "error"), ("KeyError: 'x'", "error"),
        ("warning: unused", "warning"), ("注意: 古い", "warning"), ("test_error_paths PASSED", ""),
        ("failed=0 errors=3", "error"), ("java.io.IOException: x", "error"), ("all good", ""),
    ],
)  # fmt: skip
def test_trouble_is_told_in_the_languages_that_tools_speak(line: str, level: str) -> None:
    assert alarm(line) == level
