"""The state of a Git work tree in any language: branch, conflicts, and the files of each group by name; and
what merges, rebases, pulls and pushes say when they stop.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from aider_gardener.compress.base import Context
from aider_gardener.compress.frame import plural
from aider_gardener.compress.pieces import MUST, Reading

FILE = re.compile(r"^\t(?:(?P<state>[^\s:：][^:：\t]{0,40}?)[:：] *)?(?P<path>\S.*)$")
ADVICE = re.compile(r"^ {2,}[(（].*(?:git |\"git)")
SHORT = re.compile(r"^(?P<state>[ MTADRCU?!]{2}(?= )|[MADRCTU]\d{0,3}(?=\t))[ \t](?P<path>\S.*)$")
SHORT_BRANCH = re.compile(r"^## ")
UNMERGED = frozenset({"DD", "AU", "UD", "UA", "DU", "AA", "UU"})
GROUP_OF = {"??": "untracked", "!!": "ignored"}
MOST_NAMES, NAMES_CHARS = 12, 320
MOST_STATES = 60


def read(lines: Sequence[str], ctx: Context) -> Reading | None:
    """`git status`, long or short."""
    short = sum(1 for line in lines if SHORT.match(line))
    solid = sum(1 for line in lines if line.strip())
    if short >= 0.8 * solid and short >= 2:
        return _short(lines)
    reading = Reading()
    plainly: list[tuple[int, str]] = []
    counts: Counter[str] = Counter()

    def flush() -> None:
        if plainly:
            reading.add(plainly[0][0], names_of([path for _, path in plainly]))
            plainly.clear()

    for at, line in enumerate(lines):
        if not line.strip():
            continue
        found = FILE.match(line[:1_000])
        if found and found["state"]:
            counts["changed"] += 1
            shown = f"\t{found['state']}: {found['path']}"
            reading.add(at, shown, MUST if counts["changed"] <= MOST_STATES else 4.0)
        elif found:
            counts["named"] += 1
            plainly.append((at, found["path"]))
        elif ADVICE.match(line):
            reading.add(at, line, 1.0 if "--abort" in line or "--continue" in line else 0.3)
        else:
            flush()
            reading.add(at, line, MUST)
    flush()
    if not counts and solid > 12:
        return None
    told = [f"{counts['changed']} with a state"] if counts["changed"] else []
    told += [f"{counts['named']} named only"] if counts["named"] else []
    reading.summary, reading.kept = ", ".join(told) or "no files", dict(counts)
    return reading


def names_of(paths: Sequence[str]) -> list[str]:
    """Names on a line: all where they are few, else the first and the last, and how many of each ending."""
    if len(paths) <= MOST_NAMES or sum(map(len, paths)) <= NAMES_CHARS:
        return ["\t" + path for path in paths] if len(paths) <= 3 else ["\t" + ", ".join(paths)]
    endings = Counter(_ending(path) for path in paths)
    told = ", ".join(f"{number} {ending}" for ending, number in endings.most_common(6))
    usual = endings.most_common(1)[0][0]
    odd = [path for path in paths if _ending(path) != usual and endings[_ending(path)] <= 3][:MOST_NAMES]
    shown = list(dict.fromkeys([*paths[: MOST_NAMES // 2], *odd, *paths[-2:]]))
    return [f"\t{len(paths)} ({told}): {', '.join(shown)}, …"]


def _ending(path: str) -> str:
    name = path.rstrip("/").rpartition("/")[2]
    return (
        "folders" if path.endswith("/") else "." + name.rpartition(".")[2] if "." in name[1:] else "no ending"
    )


def _short(lines: Sequence[str]) -> Reading:
    reading = Reading()
    groups: dict[str, list[str]] = {}
    first: dict[str, int] = {}
    for at, line in enumerate(lines):
        found = SHORT.match(line)
        if not found:
            reading.add(at, line) if line.strip() else None
            continue
        state = found["state"]
        if state in UNMERGED:
            reading.add(at, f"{line}  (conflict)")
            continue
        groups.setdefault(state, []).append(found["path"])
        first.setdefault(state, at)
    for state, paths in groups.items():
        reading.add(first[state], [f"{state} {told.strip()}" for told in names_of(paths)])
    told = [f"{GROUP_OF.get(state, state.strip() or state)} {len(paths)}" for state, paths in groups.items()]
    conflicts = sum(1 for line in lines if line[:2] in UNMERGED and SHORT.match(line))
    told += [plural(conflicts, "conflict")] if conflicts else []
    reading.summary, reading.kept = ", ".join(told), {state: len(paths) for state, paths in groups.items()}
    return reading


STEP = re.compile(
    r"^(?:Auto-merging|Applying: |Rebasing \(|remote: (?:Counting|Compressing|Enumerating|Total|Resolving)|"
    r"(?:Receiving|Resolving|Unpacking|Writing|Counting|Compressing|Enumerating) )"
)


def read_merge(lines: Sequence[str], ctx: Context) -> Reading | None:
    """What a merge, rebase, pull or push wrote: conflicts and refusals, files that changed in short."""
    reading = Reading()
    counts: Counter[str] = Counter()
    stats: list[tuple[int, str]] = []
    for at, line in enumerate(lines):
        if not line.strip():
            continue
        if re.match(r"^ \S.* \| +(?:\d+|Bin)", line):
            stats.append((at, line))
            continue
        conflict = line.startswith(("CONFLICT", "KONFLIKT", "CONFLIT"))
        counts["conflicts"] += conflict
        step = bool(STEP.match(line))
        must = not step and (counts["lines"] < 120 or conflict)
        counts["lines"] += must
        reading.add(at, line, MUST if must else 1.0 if step else 4.0)
    for number, (at, line) in enumerate(stats):
        reading.add(at, line, 3.0 - number / len(stats))
    if not counts["lines"]:
        return None
    reading.summary = (
        plural(counts["conflicts"], "conflict") if counts["conflicts"] else plural(len(lines), "line")
    )
    reading.kept = {"conflicts": counts["conflicts"]}
    return reading


STAT_ROW = re.compile(r"^ (?P<path>\S.*?) +\| +(?P<size>\d+|Bin)(?P<rest>.*)$")


def read_stat(lines: Sequence[str], ctx: Context) -> Reading | None:
    """What changed by file: the most changed, what was renamed or is binary, and the sum."""
    reading = Reading(room=1.3)
    rows: list[tuple[int, int, str]] = []
    for at, line in enumerate(lines):
        found = STAT_ROW.match(line[:600])
        if found:
            size = int(found["size"][:9]) if found["size"].isdecimal() else 0
            rows.append(
                (size, at, f" {found['path']} | {found['size']}{found['rest'].rstrip('+-').rstrip()}")
            )
        elif line.strip():
            must = at >= len(lines) - 4 or "files changed" in line or len(rows) == 0
            reading.add(at, line, MUST if must else 3.0)
    if not rows:
        return None
    for number, (_, at, told) in enumerate(sorted(rows, key=lambda row: (-row[0], row[1]))):
        odd = "=>" in told or "Bin" in told
        reading.add(at, told, MUST if number < 12 else 4.0 if odd else 2.0 - number / len(rows))
    reading.summary, reading.kept = plural(len(rows), "file"), {"files": len(rows)}
    return reading


BLAMED = re.compile(
    r"^(?P<hash>\^?[0-9a-f]{7,40}) (?:(?P<file>\S+) +)?\((?P<author>.{1,60}?) +(?P<date>\d{4}-\d\d-\d\d) "
    r"\d\d:\d\d:\d\d [+-]\d{4} +(?P<line>\d+)\) ?(?P<code>.*)$"
)


def read_blame(lines: Sequence[str], ctx: Context) -> Reading | None:
    """Lines that one commit wrote, together: who, when, which lines, and the first of them."""
    reading = Reading()
    authors: Counter[str] = Counter()
    commits: Counter[str] = Counter()
    last = ""
    block: list[tuple[int, str]] = []
    held: list[tuple[int, re.Match[str], list[tuple[int, str]]]] = []
    for at, line in enumerate(lines):
        found = BLAMED.match(line[:600])
        if not found:
            reading.add(at, line, 2.0) if line.strip() else None
            continue
        authors[found["author"]] += 1
        commits[found["hash"]] += 1
        if found["hash"] != last:
            block = []
            held.append((at, found, block))
        block.append((int(found["line"]), found["code"]))
        last = found["hash"]
    if not held:
        return None
    newest = max(found["date"] for _, found, _ in held)
    for at, found, block in held:
        span = f"{block[0][0]}" + (f"–{block[-1][0]}" if len(block) > 1 else "")
        head = f"{found['hash']} {found['author']} {found['date']} line {span}: {_first(block)}"
        must = found["date"] == newest or commits[found["hash"]] <= 2 or len(held) <= 40
        reading.add(at, head, MUST if must and len(held) <= 150 else 4.0)
        for number, (row, code) in enumerate(block[1:]):
            reading.add(at + (number + 1) / 10_000, f"  {row}: {code}", 1.0 if code.strip() else 0.1)
    who = ", ".join(f"{name} ×{number}" for name, number in authors.most_common(8))
    reading.summary = f"{plural(sum(authors.values()), 'line')} of {plural(len(commits), 'commit')}: {who}"
    reading.kept = {"commits": len(commits)}
    return reading


def _first(block: Sequence[tuple[int, str]]) -> str:
    return next((code.strip() for _, code in block if code.strip()), "")


BRANCH = re.compile(
    r"^(?P<mark>[* +]) (?P<name>\S+|\(.*?\)) +(?P<hash>[0-9a-f]{7,40}) "
    r"(?:\[(?P<upstream>[^\]]*)\] )?(?P<subject>.*)$"
)


def read_branches(lines: Sequence[str], ctx: Context) -> Reading | None:
    """`git branch -vv`: the one that is checked out, those behind, ahead or without their upstream."""
    reading = Reading(room=1.5)
    counts: Counter[str] = Counter()
    for at, line in enumerate(lines):
        found = BRANCH.match(line[:600])
        if not found:
            reading.add(at, line) if line.strip() else None
            continue
        counts["branches"] += 1
        state = (found["upstream"] or "").partition(": ")[2]
        counts["gone"] += state == "gone"
        telling = found["mark"] != " " or bool(state) or not found["upstream"]
        shown = " ".join(line.split()) if found["mark"] != " " else "  " + " ".join(line.split())
        reading.add(at, shown, MUST if telling and counts["branches"] <= 80 else 3.0)
    if not counts["branches"]:
        return None
    gone = f", {counts['gone']} of them gone upstream" if counts["gone"] else ""
    reading.summary = f"{counts['branches']} branches{gone}"
    reading.kept = {"branches": counts["branches"]}
    return reading
