"""What a resting repository map spares and what it loses, in a long chat over a large tree.

    python -m bench.maps [--source DIR_OR_SDIST] [--map-tokens N ...] [--turns N] [--seed N] [--json FILE]

The tree is aider's own source package. A chat about it is made by a seed and held in a real aider with a
scripted model, in each way once: aider alone, the gardener, whose map rests, and the gardener with a map made
anew for every prompt (`--map-refresh always`). What the model says
and edits is the same in all. Counted are the maps, what a prefix cache can read of the prompts, and what a
map lacks of the one that the gardener lets aider make for that prompt.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from aider_gardener.plan.order import files_of
from aider_gardener.replay.play.sandbox import copy_tree, environment, temporary_folder
from bench.map_chat import Job
from bench.provenance import made_on

ROOT = Path(__file__).resolve().parent.parent
RESULTS = Path(__file__).resolve().parent / "results" / "maps.json"
FETCHER = ROOT / "tools" / "upstream_tests.py"
FORMAT = 1

WAYS: Mapping[str, tuple[bool, str]] = {
    "gardener, always": (True, "always"),
    "aider alone": (False, "auto"),
    "gardener": (True, "auto"),
}
"""Each way, whether with the gardener, and aider's --map-refresh. The first writes the chat, and its maps are
those that the others are held against."""

HISTORY_TOKENS = 3_000
"""Small, so that the history is compacted early."""
LEAST_CACHED = 1_024
"""Providers keep no shorter beginning of a prompt."""
CACHED_PRICE = 0.1
"""What a token from the cache costs of the price of another."""

COST_HEAD = (
    "map tokens", "way", "calls", "different maps", "changes", "without rest", "prompt tokens", "from cache",
    "net tokens", "ms a map", "of it ours",
)  # fmt: skip
LOSS_HEAD = (
    "map tokens", "way", "calls for a file", "lacks of the first way's", "edited", "lacks of its own",
    "edited",
)  # fmt: skip
"""Of the two tables: what maps cost, and what they lack."""


class NoSource(Exception):
    """The tree is not there."""


@dataclass(frozen=True)
class Row:
    """One way of a chat: `prompt_tokens` of all calls, of which `cached_tokens` were sent before as a
    prompt's beginning and not yet lost in a pause. `changes_unrested`: so often had the map changed if each
    that aider made had been taken.

    `lacking` sums the files that each call's map lacks of the first way's, `edited` are those among them
    that the reply asks for or edits. `rested` and `rested_edited` are the same beside the map that aider
    made for this very prompt, and that was not taken. `seconds` of the processor went into the maps,
    `own_seconds` of them not into aider's own making. `compactions` of the history
    were made, and `orders` calls ask for a file or edit it.
    """

    map_tokens: int
    way: str
    calls: int
    different_maps: int
    changes: int
    changes_unrested: int
    prompt_tokens: int
    cached_tokens: int
    net_tokens: int
    lacking: int
    edited: tuple[str, ...]
    rested: int
    rested_edited: tuple[str, ...]
    seconds: float
    own_seconds: float
    compactions: int
    orders: int


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--source", type=Path, help="a folder, or the source package as .tar.gz")
    parser.add_argument("--map-tokens", type=int, nargs="+", default=[1_024, 4_096], metavar="N")
    parser.add_argument("--turns", type=int, default=60, metavar="N")
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--json", type=Path, default=RESULTS, help="where the figures go")
    options = parser.parse_args(argv)
    try:
        with temporary_folder() as folder:
            tree = unpacked(options.source or fetched(), folder / "source")
            files = 0
            rows: list[Row] = []

            def results_at(map_tokens: int) -> dict[str, Any]:
                return played(tree, folder / str(map_tokens), map_tokens, options.turns, options.seed)

            with ThreadPoolExecutor(max_workers=2) as pool:
                for map_tokens, results in zip(
                    options.map_tokens, pool.map(results_at, options.map_tokens), strict=True
                ):
                    files = next(iter(results.values()))["files"]
                    rows += measured(map_tokens, results)
    except NoSource as problem:
        print(f"bench.maps: {problem}", file=sys.stderr)
        return 2
    value = {
        "kind": "maps",
        "format": FORMAT,
        "provenance": made_on(),
        "source": (options.source or Path("aider_chat-0.86.2.tar.gz")).name,
        "files": files,
        "turns": options.turns,
        "seed": options.seed,
        "history_tokens": HISTORY_TOKENS,
        "rows": [asdict(row) for row in rows],
    }
    print(tables([asdict(row) for row in rows]))
    options.json.write_text(json.dumps(value, indent=1) + "\n", encoding="utf-8")
    return 0


def fetched() -> Path:
    """aider's source package, where the tool that runs aider's own tests keeps it, or gets it."""
    spec = importlib.util.spec_from_file_location(FETCHER.stem, FETCHER)
    if spec is None or spec.loader is None or not FETCHER.is_file():
        raise NoSource(how_to_get_it("tools/upstream_tests.py is missing"))
    tool = importlib.util.module_from_spec(spec)
    sys.modules[FETCHER.stem] = tool  # its dataclasses look themselves up
    spec.loader.exec_module(tool)
    try:
        found: Path = tool.fetch()
    except tool.RunFailed as problem:
        raise NoSource(how_to_get_it(str(problem))) from problem
    return found


def how_to_get_it(problem: str) -> str:
    command = "pip download --no-deps --no-binary aider-chat aider-chat==0.86.2"
    return f"{problem}; get it with `{command}` and give it as --source"


def unpacked(source: Path, target: Path) -> Path:
    """The tree of a source package or folder, as a folder of files only."""
    if source.is_dir():
        copy_tree(source, target)
        return target
    if not source.is_file():
        raise NoSource(how_to_get_it(f"{source} is not there"))
    try:
        with tarfile.open(source) as archive:
            members = [member for member in archive.getmembers() if member.isfile()]
            if hasattr(tarfile, "data_filter"):
                archive.extraction_filter = tarfile.data_filter
            archive.extractall(target, members=members)
    except (OSError, tarfile.TarError) as problem:
        raise NoSource(how_to_get_it(f"{source} cannot be unpacked ({problem})")) from problem
    return next(target.iterdir())


def played(tree: Path, folder: Path, map_tokens: int, turns: int, seed: int) -> dict[str, Any]:
    """What each way's process found."""
    results = {}
    for number, (way, (gardened, refresh)) in enumerate(WAYS.items()):
        place = folder / str(number)
        (place / "home").mkdir(parents=True)
        result = place / "result.json"
        job = Job(
            way=way,
            gardened=gardened,
            refresh=refresh,
            tree=str(tree),
            folder=str(place / "work"),
            chat=str(folder / "chat.json"),
            result=str(result),
            map_tokens=map_tokens,
            turns=turns,
            seed=seed,
            history_tokens=HISTORY_TOKENS,
        )
        (place / "job.json").write_text(json.dumps(asdict(job)), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-m", "bench.map_chat", str(place / "job.json")],
            cwd=ROOT,
            env=environment(place / "home", os.environ),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            check=False,
        )
        if done.returncode:
            raise RuntimeError(f"{way} at {map_tokens} tokens ended badly:\n{done.stderr[-2000:]}")
        results[way] = json.loads(result.read_text(encoding="utf-8"))
    return results


def measured(map_tokens: int, results: Mapping[str, Any]) -> Iterator[Row]:
    """The figures of each way."""
    reference = next(iter(results.values()))
    for way, found in results.items():
        calls, maps = found["calls"], [call["map"] for call in found["calls"]]
        if [call["wanted"] for call in calls] != [call["wanted"] for call in reference["calls"]]:
            raise RuntimeError(f"{way}: the chat went another way")
        cached = sum(call["shared"] for call in calls if call["shared"] >= LEAST_CACHED)
        tokens = sum(call["prompt"] for call in calls)
        lost = [lacking(found, call["map"], reference, other["map"])
                for call, other in zip(calls, reference["calls"], strict=True)]  # fmt: skip
        rested = [lacking(found, call["map"], found, call["fresh"]) for call in calls]
        yield Row(
            map_tokens=map_tokens,
            way=way,
            calls=len(calls),
            different_maps=len(set(maps)),
            changes=changes(maps),
            changes_unrested=changes([call["fresh"] for call in calls]),
            prompt_tokens=tokens,
            cached_tokens=cached,
            net_tokens=round(tokens - cached + CACHED_PRICE * cached),
            lacking=sum(map(len, lost)),
            edited=edited(calls, lost),
            rested=sum(map(len, rested)),
            rested_edited=edited(calls, rested),
            seconds=round(sum(call["seconds"] for call in calls), 2),
            own_seconds=round(sum(call["seconds"] - call["making"] for call in calls), 2),
            compactions=found["compactions"],
            orders=sum(bool(call["wanted"]) for call in calls),
        )


def changes(maps: Sequence[str]) -> int:
    """How often a map is another one than that of the call before."""
    return sum(one != other for one, other in pairwise(maps))


def lacking(found: Mapping[str, Any], here: str, other: Mapping[str, Any], there: str) -> set[str]:
    """The files that the other map shows and this one does not; maps by their hashes in results."""
    return set(files_of(other["maps"][there])) - set(files_of(found["maps"][here]))


def edited(calls: Sequence[Mapping[str, Any]], lost: Sequence[set[str]]) -> tuple[str, ...]:
    """Of the files lost at each call those that its reply asks for or edits."""
    return tuple(call["wanted"] for call, names in zip(calls, lost, strict=True) if call["wanted"] in names)


def tables(rows: Sequence[Mapping[str, Any]]) -> str:
    both = ((COST_HEAD, map(cost_cells, rows)), (LOSS_HEAD, map(loss_cells, rows)))
    return "\n\n".join(table(head, cells) for head, cells in both)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [f"| {' | '.join(head)} |", f"|---:|---|{'---:|' * (len(head) - 2)}"]
    return "\n".join([*lines, *(f"| {' | '.join(cells)} |" for cells in rows)])


def cost_cells(row: Mapping[str, Any]) -> list[str]:
    share = row["cached_tokens"] / max(1, row["prompt_tokens"])
    return [
        f"{row['map_tokens']:,}", row["way"], str(row["calls"]), str(row["different_maps"]),
        str(row["changes"]), str(row["changes_unrested"]), f"{row['prompt_tokens']:,}", f"{share:.1%}",
        f"{row['net_tokens']:,}",
        *(f"{1_000 * row[key] / max(1, row['calls']):.0f}" for key in ("seconds", "own_seconds")),
    ]  # fmt: skip


def loss_cells(row: Mapping[str, Any]) -> list[str]:
    return [
        f"{row['map_tokens']:,}", row["way"], str(row["orders"]), f"{row['lacking']:,}",
        str(len(row["edited"])), f"{row['rested']:,}", str(len(row["rested_edited"])),
    ]  # fmt: skip


if __name__ == "__main__":
    raise SystemExit(main())
