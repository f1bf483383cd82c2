"""What is called a mutant, how one is tried, and when the command is content."""

from __future__ import annotations

import ast
import importlib
import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from bench.mutants import run
from bench.mutants.faults import mutants, mutated
from bench.mutants.targets import FEWER, NAMED, TARGETS
from bench.mutants.trial import (
    KILLED,
    SURVIVED,
    TIMED_OUT,
    Faulty,
    dependents,
    import_anew,
    imports,
    in_a_fork,
)

SOURCE = '''
"""A module."""
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    LIMIT = 4

WEIGHT: float = 0.5


def least(values: list[int], floor: int = 3, *, strict: bool = False) -> int:
    """At least the floor."""
    if not values:
        return floor
    found = min(values)
    if found < floor and values:
        found = floor
    print("seen", end="", flush=True)
    return found - 20


def first(values: list[int]) -> list[int]:
    for value in zip(values, values, strict=True):
        if value in values:
            break
    return values[:2]
'''


def faults(source: str) -> set[str]:
    return {mutant.key for mutant in mutants(source)}


def test_each_kind_of_fault_is_made_once_and_texts_and_types_are_left_alone() -> None:
    call = "print('seen', end='', flush=True)"
    assert faults(SOURCE) == {
        "module: WEIGHT: float = 0.5 → WEIGHT: float = 0.0",
        "least: def least(values: list[int], floor: int=3, *, strict: bool=False) -> int:"
        " → def least(values: list[int], floor: int=4, *, strict: bool=False) -> int:",
        "least: def least(values: list[int], floor: int=3, *, strict: bool=False) -> int:"
        " → def least(values: list[int], floor: int=3, *, strict: bool=True) -> int:",
        "least: if not values: → if values:",
        "least: return floor → left out",
        "least: found = min(values) → found = max(values)",
        "least: found < floor and values → found <= floor and values",
        "least: found < floor and values → found < floor or values",
        "least: found = floor → left out",
        f"least: {call} → left out",
        f"least: {call} → print('seen', end='')",
        f"least: {call} → print('seen', end='', flush=False)",
        f"least: {call} → print('seen', flush=True)",
        "least: return found - 20 → return -(found - 20)",
        "least: return found - 20 → return found + 20",
        "least: return found - 20 → return found - 40",
        "first: if value in values: → if value not in values:",
        "first: break → left out",
        "first: return values[:2] → return values[:]",
        "first: return values[:2] → return values[:3]",
    }


def test_two_faults_of_one_description_have_keys_of_their_own() -> None:
    assert faults("def f(a):\n    g(a)\n    g(a)\n") == {"f: g(a) → left out", "f: g(a) → left out #2"}


@pytest.mark.parametrize("name", TARGETS)
def test_every_mutant_of_a_sample_is_another_program_that_compiles(name: str) -> None:
    source = run.source_of(name).read_text("utf-8")
    whole = ast.dump(ast.parse(source))
    for mutant in run.sampled(name, 5):
        tree = mutated(source, mutant.number)
        assert ast.dump(tree) != whole
        compile(tree, name, "exec")


def test_a_sample_is_the_same_each_time_and_grows_by_what_is_added() -> None:
    for name, tests in TARGETS.items():
        few, more = ({one.key for one in run.sampled(name, size)} for size in (5, 30))
        assert few <= more and len(more) >= FEWER.get(name, 30)
        assert all((run.ROOT / test).is_file() for test in tests)


@pytest.mark.parametrize(("name", "part"), NAMED)
def test_what_no_test_found_once_is_in_every_sample(name: str, part: str) -> None:
    assert any(part in mutant.key for mutant in run.sampled(name, 0))


forking = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

SCRIPT = """
import ast
import sys
from pathlib import Path
from bench.mutants.faults import mutants, mutated
from bench.mutants.trial import Faulty, trial
root = Path(sys.argv[1])
sys.path.insert(0, str(root))
path = root / "thing" / "calc.py"
source = path.read_text()
sound = Faulty("thing.calc", path, ast.parse(source))
print(trial(sound, ["test_calc.py"], root=root, seconds=60).outcome)
for mutant in mutants(source):
    fault = Faulty("thing.calc", path, mutated(source, mutant.number))
    ended = trial(fault, ["test_calc.py"], root=root, seconds=60)
    print(mutant.key, "|", ended.outcome, "|", ended.test.rpartition("::")[2])
assert "thing" not in sys.modules and path.read_text() == source
"""


@forking
def test_a_fault_that_a_test_sees_is_killed_by_it_and_no_file_is_touched(tmp_path: Path) -> None:
    (tmp_path / "thing").mkdir()
    (tmp_path / "thing" / "__init__.py").touch()
    code = "def half(number):\n    return number // 2\n\n\ndef unseen(number):\n    return number < 2\n"
    (tmp_path / "thing" / "calc.py").write_text(code, "utf-8")
    test = "from thing.calc import half\n\n\ndef test_half():\n    assert half(8) == 4\n"
    (tmp_path / "test_calc.py").write_text(test, "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(SCRIPT), str(tmp_path)],
        cwd=run.ROOT, env={**os.environ, "PYTHONPATH": str(run.ROOT)}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout.splitlines() == [
        SURVIVED,
        f"half: return number // 2 → return number * 2 | {KILLED} | test_half",
        f"half: return number // 2 → return number // 3 | {KILLED} | test_half",
        f"unseen: return number < 2 → return number <= 2 | {SURVIVED} | ",
        f"unseen: return number < 2 → return number < 3 | {SURVIVED} | ",
    ]


@forking
def test_what_never_ends_is_ended(tmp_path: Path) -> None:
    def for_ever(tell: object) -> int:
        while True:
            pass

    assert in_a_fork(for_ever, 0.2).outcome == TIMED_OUT
    ended = in_a_fork(lambda tell: (tell("tests/a.py::test"), 1)[1], 30)
    assert (ended.outcome, ended.test) == (KILLED, "tests/a.py::test")


def test_the_fault_is_in_the_module_that_is_imported_and_in_no_other(tmp_path: Path) -> None:
    path = tmp_path / "calc.py"
    path.write_text("LIMIT = 3\n", "utf-8")
    finder = Faulty("calc_with_a_fault", path, mutated("LIMIT = 3\n", 0))
    assert finder.find_spec("another") is None
    sys.meta_path.insert(0, finder)
    try:
        import calc_with_a_fault
    finally:
        sys.meta_path.remove(finder)
        sys.modules.pop("calc_with_a_fault", None)
    assert calc_with_a_fault.LIMIT == 4


def test_what_imports_a_module_is_imported_anew_with_it_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "some_package"
    (package / "room").mkdir(parents=True)
    for name, text in {
        "__init__": "",
        "room/__init__": "",
        "room/low": "",
        "room/other": "",
        "room/high": "from some_package.room import low\n",
        "top": "def f():\n    import some_package.room.high\n",
    }.items():
        (package / f"{name}.py").write_text(text, "utf-8")
    anew = dependents("some_package.room.low", imports(package))
    assert anew == {"some_package.room.low", "some_package.room.high", "some_package.top"}
    monkeypatch.syspath_prepend(str(tmp_path))
    before = [importlib.import_module(f"some_package.room.{name}") for name in ("low", "high", "other")]
    import_anew(anew)
    room = importlib.import_module("some_package.room")
    assert not hasattr(room, "low") and room.other is before[2]
    after = [importlib.import_module(f"some_package.room.{name}") for name in ("low", "high", "other")]
    assert [one is other for one, other in zip(before, after, strict=True)] == [False, False, True]
    import_anew({"some_package"})
    assert importlib.import_module("some_package").room is room, "a package has again what is below it"
    for name in [name for name in sys.modules if name.partition(".")[0] == "some_package"]:
        del sys.modules[name]


def trials(killed: int, *alive: str) -> list[dict[str, str]]:
    return [
        *({"key": f"k{n}", "outcome": KILLED} for n in range(killed)),
        *({"key": key, "outcome": SURVIVED} for key in alive),
    ]


@pytest.mark.parametrize(
    ("found", "told"),
    [
        (trials(9, "a"), []),
        (trials(9, "b"), ["survives without a reason: b", "it is no survivor: a"]),
        (trials(10), ["it is no survivor: a"]),
        (trials(5, "a"), ["fewer than 85% are killed"]),
    ],
)
def test_every_survivor_needs_a_reason_and_most_mutants_must_be_killed(
    found: list[dict[str, str]],
    told: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(run, "reasons", lambda: {"plan/evict": {"a": "a cache"}})
    assert run.verdict({"plan/evict": found}) == (1 if told else 0)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == len(told) and all(part in line for part, line in zip(told, lines, strict=True))


def test_what_was_tried_counts_as_long_as_nothing_that_it_depends_on_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own, other = TARGETS["plan/evict"][:2]
    stood = {
        "aider_gardener/a.py": "1",
        "tests/made.py": "2",
        own: "3",
        other: "4",
        "tests/cli/test_x.py": "5",
    }

    def of(test: str, **changed: str) -> str:
        return run.depends("plan/evict", test, {**stood, **changed})

    killed, alive = of(f"{own}::test"), of("")
    for file, matters_to_killed, matters_to_alive in (
        ("aider_gardener/a.py", True, True),
        ("tests/made.py", True, True),
        (own, True, True),
        (other, False, True),
        ("tests/cli/test_x.py", False, False),
    ):
        assert (of(f"{own}::test", **{file: "x"}) != killed) is matters_to_killed, file
        assert (of("", **{file: "x"}) != alive) is matters_to_alive, file


def test_committed_figures_are_those_of_every_module_and_each_survivor_has_its_reason() -> None:
    rows = json.loads(run.RESULTS.read_text("utf-8"))["rows"]
    assert [row["module"] for row in rows] == list(TARGETS)
    assert {row["module"]: set(row["survivors"]) for row in rows if row["survivors"]} == {
        name: set(why) for name, why in run.reasons().items() if why
    }
    assert all(row["killed"] + len(row["survivors"]) == row["tried"] for row in rows)
    assert sum(row["killed"] for row in rows) >= run.LEAST_SHARE * sum(row["tried"] for row in rows)
    assert all(reason.strip() for why in run.reasons().values() for reason in why.values())
