"""What a chat of Claude Code cost; `tests/data/usage` has the usage numbers of one that Claude Code 2.1.197 held
with a subagent, and said at its end that it cost $0.159474."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from aider_gardener.cli.root import main
from aider_gardener.errors import GardenerError, SessionError
from aider_gardener.replay.measure.usage import chat_cost

CHAT = Path(__file__).resolve().parents[2] / "data" / "usage" / "chat.jsonl"
TOLD_DOLLARS = 0.159474
LOG = "\n".join(f"2026-01-01 10:00:{n % 60:02} INFO worker {n} took {n * 7} ms" for n in range(800))
PRICES = {"input": 3e-6, "read": 3e-7, "written": 3.75e-6, "output": 1.5e-5}


def answer(number: int, at: str, *, read: int = 0, written: int = 0, hour: int = 0, **more: object) -> str:
    usage = {
        "input_tokens": 0, "cache_read_input_tokens": read, "cache_creation_input_tokens": written + hour,
        "output_tokens": 10, "cache_creation": {"ephemeral_1h_input_tokens": hour},
    }  # fmt: skip
    message = {"id": f"m{number}", "model": "claude-sonnet-4-5", "content": [], "usage": usage}
    return line(type="assistant", timestamp=f"2026-01-01T{at}Z", message=message, **more)


def line(**record: object) -> str:
    return json.dumps(record) + "\n"


def written(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "chat.jsonl"
    path.write_text("".join(lines), encoding="utf-8")
    return path


def test_the_cost_is_what_claude_code_itself_said() -> None:
    cost = chat_cost(CHAT)
    assert cost.dollars == pytest.approx(TOLD_DOLLARS, rel=0.02)
    records = [json.loads(row) for row in CHAT.read_text(encoding="utf-8").splitlines()]
    assert cost.calls < len(records), "an answer of several blocks counts once"


@pytest.mark.parametrize(
    ("gap", "before", "cold"),
    [
        ("10:04:59", {"written": 1000}, 0),
        ("10:05:01", {"written": 1000}, 1),
        ("10:59:00", {"hour": 1000}, 0),
        ("11:01:00", {"hour": 1000}, 1),
    ],
)
def test_a_prompt_after_the_cache_has_gone_is_cold(
    tmp_path: Path, gap: str, before: dict[str, int], cold: int
) -> None:
    path = written(tmp_path, answer(1, "10:00:00", **before), answer(2, gap, written=1200))
    cost = chat_cost(path)
    assert cost.cold == cold
    assert cost.cold_dollars == pytest.approx(cold * 1000 * (PRICES["written"] - PRICES["read"]))


def test_a_subagent_counts_once_wherever_it_stands_and_has_a_cache_of_its_own(tmp_path: Path) -> None:
    own = answer(2, "10:06:00", written=300, isSidechain=True)
    path = written(tmp_path, answer(1, "10:00:00", written=1000), own, answer(3, "10:07:00", written=1200))
    deep = path.with_suffix("") / "subagents" / "workflows" / "w1" / "agent-1.jsonl"
    deep.parent.mkdir(parents=True)
    deep.write_text(own + answer(4, "10:06:01", written=400, isSidechain=True), encoding="utf-8")
    cost = chat_cost(path)
    assert (cost.calls, cost.cold) == (4, 1)
    assert cost.cold_dollars == pytest.approx(1000 * (PRICES["written"] - PRICES["read"]))


def test_behind_a_compaction_nothing_was_to_be_had_from_the_cache(tmp_path: Path) -> None:
    bound = line(type="system", subtype="compact_boundary", timestamp="2026-01-01T10:10:00Z")
    path = written(tmp_path, answer(1, "10:00:00", written=9000), bound, answer(2, "10:20:00", written=900))
    assert chat_cost(path).cold == 0


def test_a_long_result_is_paid_by_every_call_up_to_a_compaction(tmp_path: Path) -> None:
    call = {"type": "tool_use", "id": "t", "name": "Bash", "input": {"command": "cat log"}}
    result = {"type": "tool_result", "tool_use_id": "t", "content": LOG}
    saved = []
    for calls in (1, 3):
        lines = [
            line(type="assistant", timestamp="2026-01-01T10:00:00Z", message={"content": [call]}),
            line(type="user", timestamp="2026-01-01T10:00:01Z", message={"content": [result]}),
            *(answer(number, f"10:00:0{number + 2}", read=20_000) for number in range(calls)),
            line(type="system", subtype="compact_boundary", timestamp="2026-01-01T10:01:00Z"),
            answer(9, "10:02:00", read=20_000),
        ]
        cost = chat_cost(written(tmp_path, *lines))
        assert cost.long == 1
        saved.append(cost.long_dollars)
    once = saved[0] / PRICES["written"]
    assert once > 4_000 and saved[1] == pytest.approx(once * (PRICES["written"] + 2 * PRICES["read"]))


def test_costs_that_the_prices_miss_end_it_before_anything_is_said(tmp_path: Path) -> None:
    right = 1000 * PRICES["written"] + 10 * PRICES["output"]
    chat_cost(written(tmp_path, answer(1, "10:00:00", written=1000, costUSD=right * 1.01)))
    with pytest.raises(SessionError, match="its own costs are"):
        chat_cost(written(tmp_path, answer(1, "10:00:00", written=1000, costUSD=right * 1.05)))


def test_without_a_price_or_usage_it_says_so(tmp_path: Path) -> None:
    with pytest.raises(GardenerError, match="zork-9: litellm's table has no price"):
        chat_cost(written(tmp_path, answer(1, "10:00:00", written=9).replace("claude-sonnet-4-5", "zork-9")))
    fast = answer(1, "10:00:00", written=9).replace('"output_tokens"', '"speed": "fast", "output_tokens"')
    with pytest.raises(GardenerError, match="fast: litellm's table has no price"):
        chat_cost(written(tmp_path, fast))
    with pytest.raises(SessionError, match="holds no usage numbers"):
        chat_cost(
            written(tmp_path, line(type="assistant", message={"usage": {"input_tokens": "x"}}), "no json\n")
        )


def test_replay_tells_the_cost_of_a_transcript() -> None:
    said = CliRunner().invoke(main, ["replay", str(CHAT)])
    assert said.exit_code == 0 and "cost $0.16 by its own usage numbers: 14 calls" in said.output
    value = json.loads(CliRunner().invoke(main, ["replay", str(CHAT), "--json", "-"]).output)
    assert value[str(CHAT)]["models"] == ["claude-sonnet-4-5"]
    for more in (
        [str(CHAT.parent)],
        ["--html", "a.html"],
        ["--full"],
        ["--variant", "none"],
        ["--history-tokens", "9"],
    ):
        mixed = CliRunner().invoke(main, ["replay", str(CHAT), *more])
        assert mixed.exit_code == 2 and "name transcripts alone" in mixed.output
