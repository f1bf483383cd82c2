"""Maps that rest, measured in a chat over a small tree with a real aider."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path
from typing import Any

import pytest

from bench import maps
from bench.map_chat import Turn, Writer
from bench.maps import COST_HEAD, LOSS_HEAD, WAYS, main, measured, unpacked


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Ten files that use each other's functions."""
    root = tmp_path / "shop-1.0"
    (root / "shop").mkdir(parents=True)
    for n in range(10):
        parts = [f"def settle_part{n}(order: int) -> int:\n    return order + {n}\n"]
        for m in range(12):
            called = f"settle_part{(n + m) % 10}"
            parts.append(f"def worker_{n}_{m}(value: int) -> int:\n    return {called}(value)\n")
        (root / "shop" / f"part{n}.py").write_text("\n\n".join(parts), encoding="utf-8")
    return root


def test_each_way_of_a_chat_is_measured(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "maps.json"
    given = ["--source", str(tree), "--map-tokens", "200", "--turns", "24", "--seed", "3"]
    assert main([*given, "--json", str(target)]) == 0
    value = json.loads(target.read_text(encoding="utf-8"))
    assert (value["files"], value["seed"], value["turns"]) == (10, 3, 24) and value["provenance"]["aider"]
    rows = {row["way"]: row for row in value["rows"]}
    assert list(rows) == list(WAYS)
    stock = rows["gardener, always"]
    for row in rows.values():
        assert row["calls"] == stock["calls"] > 24 and row["orders"] == stock["orders"] > 0
        assert 0 < row["cached_tokens"] < row["prompt_tokens"]
        assert row["prompt_tokens"] - row["cached_tokens"] <= row["net_tokens"] < row["prompt_tokens"]
        assert 0 <= row["own_seconds"] < row["seconds"] and len(row["edited"]) <= row["lacking"]
    assert rows["aider alone"]["rested"] == 0
    assert stock["lacking"] == stock["rested"] == 0 and stock["changes"] >= stock["different_maps"] - 1 > 3
    assert rows["aider alone"]["compactions"] == 0 < stock["compactions"]
    assert stock["changes"] == stock["changes_unrested"]
    rested = rows["gardener"]
    assert 0 < rested["different_maps"] <= rested["changes"] + 1
    assert rested["changes"] <= rested["changes_unrested"]
    assert rested["changes"] < stock["changes"] and rested["cached_tokens"] > stock["cached_tokens"]
    both = capsys.readouterr().out.strip().split("\n\n")
    for shown, head in zip(both, (COST_HEAD, LOSS_HEAD), strict=True):
        assert len(shown.splitlines()) == 2 + len(WAYS)
        assert all(line.count("|") == len(head) + 1 for line in shown.splitlines())


def call(shown: str, wanted: str = "", shared: int = 0, fresh: str = "") -> dict[str, Any]:
    return {
        "wanted": wanted,
        "map": shown,
        "fresh": fresh or shown,
        "prompt": 2_000,
        "shared": shared,
        "seconds": 1.0,
        "making": 0.75,
    }


def test_what_a_map_lacks_of_the_first_ways_is_told_and_what_of_it_is_edited() -> None:
    texts = {"both": "\na.py:\n│x\n\nb.py:\n│y\n", "one": "\na.py:\n│x\n", "none": ""}
    first = {
        "maps": texts,
        "compactions": 0,
        "calls": [call("both"), call("both", "b.py"), call("both", "a.py")],
    }
    other = {
        "maps": texts,
        "compactions": 0,
        "calls": [
            call("none", shared=1_000),
            call("one", "b.py", 1_500),
            call("one", "a.py", 1_024, fresh="both"),
        ],
    }
    reference, row = measured(1_024, {"first": first, "other": other})
    assert (reference.lacking, reference.edited, reference.different_maps) == (0, (), 1)
    assert (row.lacking, row.edited, row.different_maps, row.changes) == (4, ("b.py",), 2, 1)
    assert (row.seconds, row.own_seconds) == (3.0, 0.75)
    assert (row.rested, row.rested_edited, reference.rested, row.changes_unrested) == (1, (), 0, 2)
    assert (row.prompt_tokens, row.cached_tokens, row.net_tokens) == (6_000, 2_524, 6_000 - 2_524 + 252)
    astray = {**other, "calls": [call("none"), call("one"), call("one")]}
    with pytest.raises(RuntimeError, match="another way"):
        list(measured(1_024, {"first": first, "other": astray}))


def test_an_open_order_is_about_a_file_that_the_map_shows_and_no_prompt_named(tree: Path) -> None:
    writer = Writer(tree, seed=1)
    writer.spoke_of("shop/part1.py")
    writer.prompted = {"shop/part1.py"}
    writer.in_chat = ["shop/part2.py"]
    turn = writer.open_order()
    assert not turn.chosen and not turn.replies
    writer.choose_from(turn, {f"shop/part{n}.py": "│def" for n in (1, 2, 3)} | {"shop/part4.py": ""})
    assert turn.chosen and turn.wanted == "shop/part3.py" and len(turn.replies) == 2
    assert "shop/part3.py" in turn.replies[0] and "<<<<<<< SEARCH" in turn.replies[1]
    nothing = Turn("open order", "", chosen=False)
    writer.choose_from(nothing, {})
    assert nothing.chosen and not nothing.wanted and len(nothing.replies) == 1


def test_a_chat_is_made_by_its_seed(tree: Path) -> None:
    one, same, other = (Writer(tree, seed) for seed in (1, 1, 2))
    said = [[each.turn().text for _ in range(20)] for each in (one, same, other)]
    assert said[0] == said[1] != said[2]


def test_a_source_package_is_unpacked_and_one_that_is_missing_is_told_in_a_line(
    tree: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    package = tmp_path / "shop-1.0.tar.gz"
    with tarfile.open(package, "w:gz") as archive:
        archive.add(tree, tree.name)
    assert len(list(unpacked(package, tmp_path / "unpacked").rglob("*.py"))) == 10
    assert main(["--source", str(tmp_path / "nowhere.tar.gz"), "--json", str(tmp_path / "x.json")]) == 2
    monkeypatch.setattr(maps, "FETCHER", tmp_path / "no_tool.py")
    assert main(["--json", str(tmp_path / "x.json")]) == 2
    told = capsys.readouterr().err.splitlines()
    assert len(told) == 2 and all("pip download" in line and "--source" in line for line in told)
