"""Lists of paths by directory: the same set of paths."""

from __future__ import annotations

import random
import time

import pytest

from aider_gardener.compress.paths import relaid


def paths_of(lines: list[str]) -> list[str]:
    """The paths that the lines say, read by their notation."""
    found: list[str] = []
    directory = ""
    for line in lines:
        head, colon, rest = line.partition("/:")
        if colon:
            directory = head + "/"
        elif not line.startswith("  "):
            directory, rest = "", line
        else:
            rest = line
        found += [directory + name for name in rest.split("  ") if name.strip()]
    return sorted(path.replace("/ ", "/") for path in found)


def listing(seed: int) -> list[str]:
    chance = random.Random(seed)
    folders = ["", "src/", "src/a.b/", "./docs/", "/usr/lib/", "src/deep/er/", ".ci/"]
    names = [
        "main.py",
        "util.py",
        "README",
        ".env",
        "x.tar.gz",
        "index.ts",
        "sub/",
        "Makefile",
        "a@b.c",
        "é.md",
    ]
    paths = {chance.choice(folders[1:]) + name for name in names for _ in range(5)}
    return sorted(paths | set(names[:4]), key=lambda _: chance.random())


@pytest.mark.parametrize("seed", range(20))
def test_holds_exactly_the_paths_of_the_original(seed: int) -> None:
    paths = listing(seed)
    lines = relaid("\n".join(paths) + "\n")
    assert lines and len(lines) < len(paths)
    assert paths_of(lines) == sorted(paths)


def test_a_line_says_the_directory_and_its_names_those_of_one_ending_together() -> None:
    lines = relaid(
        "\n".join(["b/x.py", "b/y.md", "b/z.py", *(f"c/file_{at}.txt" for at in range(30)), "c/odd.lock"])
    )
    assert lines and lines[0] == "b/: x.py  z.py  y.md" and lines[1] == "c/:" and lines[-1] == "  odd.lock"


def test_what_is_no_path_stands_behind_the_paths() -> None:
    lines = relaid("\n".join([*(f"a/n{at}.c" for at in range(20)), "find: ‘b’: Permission denied"]))
    assert lines and lines[-1] == "find: ‘b’: Permission denied"


@pytest.mark.parametrize(
    "text",
    [
        "one word a line\n" * 40,
        "main\nfeature/login\nfix\n" * 3,
        "".join(f"src/a{at}.c:{at}: error: no\n" for at in range(30)),
        "".join(f"d{at}/only.txt\n" for at in range(30)),
        "".join(f"https://example.org/{at}\n" for at in range(30)),
        "│ " * 20_000 + "\n" + " " * 20_000,
    ],
)
def test_other_texts_stay_as_they_are(text: str) -> None:
    assert relaid(text) is None


def test_a_long_list_takes_little_time() -> None:
    started = time.process_time()
    assert relaid("".join(f"src/a{at % 100}/b{at}.py\n" for at in range(100_000)))
    assert time.process_time() - started < 4
