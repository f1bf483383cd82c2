"""Which modules get mutants, and which tests have to find them.

The modules are those where a fault would show in no message and no crash, only in worse prompts: ranking,
segments, the planner, the archive and its store, recall, the view, the prompt. Each has the tests of its own
name and some of what is built on it, the quick ones first: a mutant is killed by the first that fails.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

COMPACTIONS = "tests/gardener/test_compactions.py"
RECALLING = (
    "tests/recall/test_ranking.py",
    "tests/recall/test_finding.py",
    "tests/recall/test_recall.py",
    "tests/recall/test_hits.py",
    "tests/gardener/test_past_chats.py",
    "tests/gardener/test_lookalikes.py",
)
STORING = (
    "tests/archive/test_entries.py",
    "tests/archive/test_archive.py",
    "tests/archive/test_store.py",
)

TARGETS: Mapping[str, Sequence[str]] = {
    "recall/ranking": RECALLING,
    "recall/finding": RECALLING,
    "recall/recall": RECALLING,
    "reading/segments": ("tests/reading/test_segments.py", "tests/reading/test_classify.py"),
    "plan/planner": ("tests/plan/test_planner.py", "tests/plan/test_evict.py", COMPACTIONS),
    "plan/evict": ("tests/plan/test_evict.py", "tests/plan/test_planner.py", COMPACTIONS),
    "plan/view": ("tests/plan/test_view.py", "tests/plan/test_chat.py", COMPACTIONS),
    "archive/archive": (*STORING[:2], "tests/gardener/test_stored_chat.py", COMPACTIONS),
    "archive/store/evidence": ("tests/archive/store/test_evidence.py", *RECALLING[:3]),
    "adapters/aider/prompt": ("tests/adapters/aider/test_prompt.py", "tests/adapters/aider/test_overflow.py"),
}
"""Module, without the package and `.py`, and its tests."""

FEWER: Mapping[str, int] = {"adapters/aider/prompt": 12}
"""At most so many mutants where each trial drives a real aider."""

NAMED: Sequence[tuple[str, str]] = (
    ("recall/ranking", "rarity: "),
    ("reading/segments", "_command: "),
    ("reading/segments", "_shell_command: "),
    ("reading/segments", "command if number < BLOCK_LIMIT"),
)
"""Mutants that no test found once; whatever the sample, they are in it. Module and a part of the key."""

WARM = (
    *("numpy", "apsw", "hypothesis", "aider.coders", "litellm", "pytest", "pytest_timeout"),
    *("xdist.plugin", "pytest_benchmark.plugin", "_hypothesis_pytestplugin", "anyio.pytest_plugin"),
)
"""What is loaded once beside the package, before the first mutant."""
