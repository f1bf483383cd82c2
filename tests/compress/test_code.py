"""Folded code keeps its skeleton."""

from __future__ import annotations

import subprocess
import sys

import pytest

from aider_gardener.compress.base import Context
from aider_gardener.compress.code.tree import endless
from aider_gardener.compress.registry import compress_text
from aider_gardener.messages import Compressed, ContentClass, Focus

BODY = "\n".join(f"        step_{i} = compute(step_{i - 1}, factor={i})" for i in range(1, 9))
PYTHON = f'''"""What the module is about.

More words about it that nobody needs,
over several lines.
"""

from __future__ import annotations

import os

LIMIT = 36
TABLE = {{
{chr(10).join(f'    "key{i}": {i},' for i in range(30))}
}}


@register
class Ledger(Base):
    """Keeps the books."""

    rate: int = 3

    def post(self, amount: int) -> int:
        """Post an amount.

        The amount is in minor units
        and never negative.
        """
        step_0 = amount
{BODY}
        def nested(x):
            y = x * 2
            z = y + amount
            return z + 11111111
        return nested(step_8)

    def size(self) -> int:
        return 1


async def main(path: str) -> None:
    import json
    for line in open(path):
        record = json.loads(line)
        print(record["idempotency_key"], record["amount"], flush=True)
        await store(record)
'''

BRACES = {
    "javascript": "import fs from 'fs';\nexport const LIMIT = 3;\nexport function load(path) {\n%s\n}\nclass A {\n  run(x) {\n%s\n  }\n}\ndescribe('a', () => {\n  it('works', () => {\n%s\n  });\n});\n",
    "typescript": "import { a } from './a';\nexport interface P { x: number }\nexport async function load(p: P): Promise<void> {\n%s\n}\nexport class A {\n  private run(x: number): void {\n%s\n  }\n  stop(): void {\n%s\n  }\n}\n",
    "java": "package a;\nimport java.util.List;\npublic class A {\n  private int x = 1;\n  @Override\n  public int run(int y) {\n%s\n  }\n  A() {\n%s\n  }\n  void stop() {\n%s\n  }\n}\n",
    "go": 'package a\n\nimport "fmt"\n\ntype P struct {\n\tX int\n}\n\nfunc (p *P) Run() {\n%s\n}\n\nfunc Load() {\n%s\n}\n\nfunc Stop() {\n%s\n}\n',
    "rust": "use std::io;\n\npub struct P { x: u32 }\n\nimpl P {\n    pub fn run(&self) {\n%s\n    }\n    fn stop(&self) {\n%s\n    }\n}\n\nfn load() {\n%s\n}\n",
    "c": "#include <stdio.h>\n#define LIMIT 3\n\nstatic int run(int x) {\n%s\n}\n\nint load(void) {\n%s\n}\n\nint stop(void) {\n%s\n}\n",
    "csharp": "using System;\nnamespace A {\n  public class P {\n    public int X { get; set; }\n    public int Run(int y) {\n%s\n    }\n    P() {\n%s\n    }\n    void Stop() {\n%s\n    }\n  }\n}\n",
}
NAMES = {"javascript": ["load", "run", "describe('a'", "it('works'"], "typescript": ["load", "run", "stop", "interface P"],
         "java": ["run(int y)", "A()", "stop()", "int x = 1"], "go": ["Run()", "Load()", "Stop()", "X int"],
         "rust": ["fn run", "fn stop", "fn load", "struct P"], "c": ["run(int x)", "load(void)", "stop(void)", "#define LIMIT"],
         "csharp": ["Run(int y)", "P()", "Stop()", "X {"]}  # fmt: skip
RUBY = "require 'json'\n\nclass A\n  LIMIT = 3\n  def run(x)\n%s\n  end\n\n  def self.load\n%s\n  end\nend\n"


def compress(text: str, language: str, **focus: frozenset[str]) -> Compressed:
    return compress_text(text, ContentClass.CODE, Context(language, language, Focus(**focus)))


def test_python_keeps_its_skeleton() -> None:
    text = compress(PYTHON, "python").text
    assert len(text) < 0.45 * len(PYTHON)
    for kept in ("from __future__ import annotations", "import os", "LIMIT = 36", '"key0": 0', "@register", "class Ledger(Base):", "rate: int = 3",
                 '"""Keeps the books."""', "def post(self, amount: int) -> int:", "Post an amount.", "def nested(x):", "async def main(path: str)",
                 "import json", "What the module is about."):  # fmt: skip
        assert kept in text, kept
    assert "        return 1" in text, "one-line functions stay"
    for gone in ("step_4", '"key29"', "over several lines", "minor units", "await store"):
        assert gone not in text, gone


@pytest.mark.parametrize("language", list(BRACES))
def test_languages_with_braces_keep_signatures(language: str) -> None:
    body = "\n".join(f"    call{i}(value, {i});" for i in range(12))
    if language == "go":
        body = body.replace(";", "")
    text = BRACES[language] % (body, body, body)
    folded = compress(text, language).text
    assert "call7" not in folded and "lines …" in folded
    for name in NAMES[language]:
        assert name in folded


def test_ruby_keeps_its_methods() -> None:
    body = "\n".join(f"    puts value_{i}" for i in range(12))
    folded = compress(RUBY % (body, body), "ruby").text
    assert (
        "def run(x)" in folded
        and "def self.load" in folded
        and "LIMIT = 3" in folded
        and "value_7" not in folded
    )


def test_lines_in_focus_stay_where_the_word_is_rare() -> None:
    assert "idempotency_key" not in compress(PYTHON, "python").text
    focused = compress(PYTHON, "python", words=frozenset({"idempotency_key"})).text
    assert "idempotency_key" in focused
    assert "step_4" not in compress(PYTHON, "python", words=frozenset({"step"})).text, (
        "common words say nothing"
    )


def test_an_unknown_language_folds_by_indentation_and_says_so() -> None:
    text = "\n".join(
        f"routine R{i}\n" + "\n".join(f"    do thing {i} {j}" for j in range(9)) for i in range(6)
    )
    folded = compress(text, "nonsense").text
    assert folded.count("    … 9 lines …\n") == 5 and "routine R5" in folded


def test_broken_code_is_still_folded() -> None:
    broken = PYTHON.replace("def size(self) -> int:", "def size(self -> int:")
    folded = compress(broken, "python").text
    assert "class Ledger(Base):" in folded and len(folded) < len(broken)


def test_short_code_stays_whole() -> None:
    result = compress("def f():\n    return 1\n", "python")
    assert result.lossless and result.text == "def f():\n    return 1\n"


def test_minified_code_is_cut_in_its_middle() -> None:
    text = "var a=1;" * 5_000
    folded = compress(text, "javascript").text
    assert len(folded) < 600 and "characters" in folded


@pytest.mark.parametrize(
    ("language", "unit"),
    [("markdown", "- "), ("agda", "'"), ("perl", "`${"), ("bash", "|#\n| aa|" + "a|" * 45 + "4]\n")],
)
def test_what_ends_or_holds_a_parser_for_ever_is_not_parsed(language: str, unit: str) -> None:
    text = "\n".join(
        [f"sub a{i} {{ return {i}; }}" for i in range(200)] + [unit * (1_100 if len(unit) < 9 else 1)]
    )
    program = (
        "import sys; from aider_gardener.compress.base import Context; from aider_gardener.compress.registry import compress_text;"
        "from aider_gardener.messages import ContentClass;"
        "print(len(compress_text(sys.stdin.read(), ContentClass.CODE, Context(sys.argv[1], sys.argv[1])).text))"
    )
    made = subprocess.run(
        [sys.executable, "-c", program, language], input=text, capture_output=True, text=True, timeout=120
    )
    assert made.returncode == 0 and int(made.stdout) > 0


def test_brackets_that_nothing_closes_are_not_parsed_by_the_thousand() -> None:
    assert endless("%w(" * 1_001, "csharp")
    assert not endless("f(" * 900 + ")" * 900 + "[]{}" * 5_000, "csharp")
