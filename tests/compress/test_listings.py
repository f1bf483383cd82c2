"""A compressed listing shows groups with counts, the first of each, and what stands out."""

from __future__ import annotations

import pytest
from tool_outputs import compressed, context, output, ratio

from aider_gardener.compress import listings

KINDS = {
    "grep": "grep", "paths": "paths", "git_log_stat": "git-log", "git_log_oneline": "git-log", "table": "table",
    "profile": "profile", "npm_ls": "npm-ls",
}  # fmt: skip


@pytest.mark.parametrize("name", [name for name in KINDS if name != "profile"])
def test_long_listings_meet_their_target(name: str) -> None:
    text = output(name)
    assert ratio(text, compressed(listings.compress, text)) <= 0.22


def test_matches_are_grouped_by_file() -> None:
    text = "\n".join(f"src/part_{n % 12}.py:{n}:    total = rate * {n}  # keep" for n in range(600))
    shown = compressed(listings.compress, text).text
    assert "600 matches in 12 files" in shown
    assert "src/part_7.py: 50 matches" in shown


def test_a_match_in_a_file_of_the_chat_is_favoured() -> None:
    text = "\n".join(f"src/part_{n % 40}.py:{n}:    total = rate * {n}  # keep" for n in range(2_000))
    shown = compressed(listings.compress, text, context(paths=("src/part_7.py",))).text
    assert "7: total = rate * 7" in shown


def test_folders_are_told_with_counts() -> None:
    text = "\n".join(f"src/app/module_{n % 9}/file_{n}.{'tsx' if n % 3 else 'css'}" for n in range(900))
    shown = compressed(listings.compress, text).text
    assert "900 paths in 9 folders" in shown
    assert "src/app/module_4/ 100 files" in shown


def test_a_long_listing_names_the_largest() -> None:
    rows = [f"-rw-r--r-- 1 dev dev {n * 11:>9} Mar  1 10:{n % 60:02} report_{n}.csv" for n in range(300)]
    rows.insert(120, "-rw-r--r-- 1 dev dev 734003200 Mar  1 10:11 dump.sql")
    rows.insert(7, "drwxr-xr-x 3 dev dev      4096 Mar  1 10:11 archive")
    shown = compressed(listings.compress, "total 812\n" + "\n".join(rows)).text
    assert "dump.sql 734003200" in shown
    assert "archive/" in shown


def test_a_drawn_tree_becomes_folders() -> None:
    rows = ["."]
    for n in range(20):
        rows.append(f"├── part_{n}")
        rows += [f"│   ├── file_{n}_{m}.py" for m in range(12)] + [f"│   └── last_{n}.md"]
    shown = compressed(listings.compress, "\n".join(rows)).text
    assert "260 paths in 20 folders" in shown
    assert "part_19/" in shown


def test_git_log_keeps_tags_authors_and_span() -> None:
    shown = compressed(listings.compress, output("git_log_stat")).text
    assert "60 commits by 4 authors" in shown
    assert "71a4815a2" in shown
    assert "Capture UnknownModelError, not ValueError [1 file +1 −1: llm/cli.py]" in shown
    assert "more commits" in shown


def test_a_table_keeps_marked_and_extreme_rows() -> None:
    shown = compressed(listings.compress, output("table")).text
    assert shown.split("\n")[1].startswith("order          region")
    assert "ord_43pnx8pmaw" in shown
    assert "over the silent limit: 0" in shown


def test_dependencies_keep_direct_ones_and_trouble() -> None:
    shown = compressed(listings.compress, output("npm_ls")).text
    assert "eslint@10.15.0" in shown
    assert "UNMET OPTIONAL DEPENDENCY" in shown


def test_a_profile_keeps_its_most_costly_rows() -> None:
    shown = compressed(listings.compress, output("profile")).text
    assert "147360 function calls in 0.402 seconds" in shown
    assert "9662 0.339" in shown
