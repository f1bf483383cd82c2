"""What `gardener store` prints for people."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any

from rich import box
from rich.table import Table


def pruning_table(entries: Sequence[Mapping[str, Any]], done: str) -> Table:
    """What may go, by class and reason, with what was done about it underneath."""
    groups: defaultdict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for entry in entries:
        groups[entry["class"], entry["reason"].partition(",")[0]].append(entry)
    table = Table(box=box.SIMPLE, caption=done, caption_justify="left", caption_style="")
    table.add_column("class")
    table.add_column("why")
    for name in ("entries", "tokens", "bytes"):
        table.add_column(name, justify="right")
    for (cls, reason), found in sorted(groups.items()):
        sums = (len(found), sum(each["tokens"] for each in found), sum(each["bytes"] for each in found))
        table.add_row(cls, reason, *(f"{number:,}" for number in sums))
    return table
