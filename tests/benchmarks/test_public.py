"""The published benchmarks: tiny sets of our own in each format, what is found in them, and wrong files."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import bench.public.__main__ as command
from bench.public import locomo, longmemeval
from bench.public.conversation import Conversation, Question, Said, spread
from bench.public.measure import EVERY, NAMES, SEVERAL, SINGLE, measured

DATA = Path(__file__).resolve().parents[1] / "data" / "public"
LOCOMO = DATA / "locomo" / "locomo10.json"
LONGMEMEVAL = DATA / "longmemeval" / "longmemeval_s.json"
PATHS = {"locomo": LOCOMO, "longmemeval": LONGMEMEVAL}


@pytest.fixture(autouse=True)
def _kept_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "FOLDER", tmp_path / "bench")
    monkeypatch.setattr(command, "VECTORS", tmp_path / "bench" / "vectors.sqlite")


def run(name: str, path: Path, *more: str) -> int:
    return command.main([name, "--data", str(path), "--embedder", "none", *more])


def result(tmp_path: Path, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((tmp_path / "bench" / f"public-{name}.json").read_text("utf-8"))
    return found


@pytest.mark.parametrize("name", PATHS)
def test_evidence_in_the_words_of_the_question_is_found_and_the_rest_told(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = {path: path.stat().st_mtime_ns for path in DATA.rglob("*")}
    assert run(name, PATHS[name]) == 0
    value = result(tmp_path, name)
    assert value["questions"] == 5 and value["judged"] == 3
    assert sum(value["left_out"].values()) == 2
    assert value["provenance"]["commit"] and value["embedder"] == "none"
    groups = value["groups"]
    assert [
        groups[group]["BM25 and windows"]["reached"]["5"]["questions"] for group in (EVERY, SINGLE, SEVERAL)
    ] in ([3, 2, 1], [3, 1, 2])
    for way in ("words and meaning", "words alone", "BM25 and windows"):
        single = groups[SINGLE][way]
        assert single["reached"]["5"]["all"] == single["reached"]["5"]["questions"]
        assert single["found_at"]["5"] == single["reached"]["5"]
        assert single["found"]["300"]["all"] == single["found"]["300"]["questions"]
        assert single["sessions"]["5"]["any"] == single["sessions"]["5"]["questions"]
    assert groups[EVERY]["words alone"] == groups[EVERY]["words and meaning"], "there is no embedder"
    told = capsys.readouterr().out
    assert "left out: 1 " in told and all(way in told for way in NAMES)
    assert {path: path.stat().st_mtime_ns for path in DATA.rglob("*")} == before, "nothing is written there"


def test_with_the_embedder_meaning_finds_what_is_asked_in_other_words(tmp_path: Path) -> None:
    said = [Said("1", "1", "user", "My physician told me to stop eating peanuts.")]
    said += [Said(str(n), "1", "user", f"Report {n} is filed under heading {n * 3}.") for n in range(2, 30)]
    asked = Question("Which food did the doctor forbid?", "made up", ("1",), ("1",))
    counted = measured([Conversation("c", tuple(said), (asked,))], tmp_path / "vectors.sqlite")
    ways = counted.tallies["made up"]
    assert ways["words and meaning"].reached[5].all == 1
    assert ways["BM25 and windows"].reached[20].all == ways["newest"].reached[20].all == 0
    assert ways["newest"].reached[5].questions == 1


def test_locomo_turns_carry_the_day_the_speaker_and_what_a_picture_shows() -> None:
    (chat,) = locomo.conversations(LOCOMO)
    said = {one.id: one for one in chat.said}
    assert len(said) == 20 and {one.session for one in chat.said} == {"D1", "D2", "D3"}
    assert said["D2:1"].role == "assistant" and said["D2:4"].role == "user"
    assert said["D2:1"].message.startswith("7:40 pm on 18 March, 2031\nOskar: Guess what")
    assert said["D1:6"].text.endswith("[shares a picture: a red accordion on a kitchen chair]")
    assert [asked.left_out for asked in chat.questions][3:] == ["adversarial", "evidence that is not there"]
    assert [asked.kind for asked in chat.questions][:3] == ["single hop", "several hops", "temporal"]
    assert next(locomo.conversations(LOCOMO.parent)).name == "tiny-1", "its folder does as well"


@pytest.mark.parametrize(
    ("cell", "ids"),
    [
        (["D8:6; D9:17"], ("D8:6", "D9:17")),
        (["D9:1 D4:4", "D9:1"], ("D9:1", "D4:4")),
        (["D:11:26", "D30:05"], ("D11:26", "D30:5")),
        (["D"], ()),
        ("D1:3", ("D1:3",)),
        (None, ()),
    ],
)
def test_locomo_evidence_is_read_however_it_is_written(cell: Any, ids: tuple[str, ...]) -> None:
    assert locomo.ids(cell) == ids


def test_longmemeval_sessions_stand_in_the_order_of_their_days() -> None:
    found = list(longmemeval.conversations(LONGMEMEVAL))
    assert [len(one.questions) for one in found] == [1] * 5
    assert list(dict.fromkeys(one.session for one in found[1].said)) == ["answer_2a", "filler_2", "answer_2b"]
    assert found[1].said[0].when == "2031/05/01 (Thu) 09:00"
    assert found[1].questions[0].sessions == ("answer_2a", "answer_2b")
    assert len(found[1].questions[0].messages) == 2
    assert [one.questions[0].left_out for one in found[2:]] == [
        "",
        "abstention",
        "no message marked as evidence",
    ]


def test_half_a_character_and_messages_said_twice_do_no_harm(tmp_path: Path) -> None:
    row = json.loads(LONGMEMEVAL.read_text("utf-8"))[0]
    row["haystack_sessions"][0][0]["content"] = "\ud83d"
    row["haystack_sessions"][0] *= 2
    row["haystack_sessions"][0].append({"role": "user", "content": ""})
    path = tmp_path / "odd.json"
    path.write_text(json.dumps([row]), "utf-8")
    assert run("longmemeval", path) == 0
    assert result(tmp_path, "longmemeval")["messages"] == 7


@pytest.mark.parametrize("name", PATHS)
@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("gone.json", None),
        ("other.json", '[{"text": "no benchmark at all"}]'),
        ("bare.json", '[{"conversation": 1, "haystack_sessions": 2, "probing_questions": "{", "chat": 3}]'),
        ("empty.json", "[]"),
        ("bytes.json", b"\xff\xfe\x00"),
        ("set.parquet", b"PAR1"),
    ],
)
def test_a_wrong_file_is_told_in_one_line(
    name: str, file: str, text: str | bytes | None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / file
    if text is not None:
        path.write_bytes(text.encode() if isinstance(text, str) else text)
    assert run(name, path) == 1
    told = capsys.readouterr()
    assert told.out == "" and told.err.startswith("bench.public: ") and told.err.count("\n") == 1
    assert not list((tmp_path / "bench").glob("*.json"))


def test_a_file_may_be_as_large_as_the_published_ones(tmp_path: Path) -> None:
    large = tmp_path / "longmemeval_s.json"
    large.write_bytes(LONGMEMEVAL.read_bytes() + b" " * (65 << 20))
    assert len(list(longmemeval.conversations(large))) == len(list(longmemeval.conversations(LONGMEMEVAL)))


def test_results_never_go_into_the_data_set(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = tmp_path / "locomo10.json"
    shutil.copy(LOCOMO, copy)
    assert run("locomo", copy, "--json", str(copy)) == 1
    assert "inside the data set" in capsys.readouterr().err
    assert copy.read_bytes() == LOCOMO.read_bytes()


def test_a_limited_run_is_spread_over_the_whole_file(tmp_path: Path) -> None:
    assert spread(list(range(10)), 3) == [0, 3, 6]
    assert spread([1, 2], 5) == spread([1, 2], None) == [1, 2]
    assert run("longmemeval", LONGMEMEVAL, "--conversations", "2") == 0
    assert result(tmp_path, "longmemeval")["conversations"] == 2
    with pytest.raises(SystemExit):
        run("longmemeval", LONGMEMEVAL, "--conversations", "0")


def test_the_pasts_of_many_questions_can_be_pooled(tmp_path: Path) -> None:
    alone = list(longmemeval.conversations(LONGMEMEVAL))
    (pool,) = longmemeval.pooled(alone, 1)
    assert len(pool.questions) == len(alone)
    said = {one.id: one.text for one in pool.said}
    assert len(said) == len(pool.said)
    for before, after in zip(alone, pool.questions, strict=True):
        own = {one.id: one.text for one in before.said}
        asked = before.questions[0]
        assert [own[name] for name in asked.messages] == [said[name] for name in after.messages]
    assert len(list(longmemeval.pooled(alone, 99))) == len(alone)
    assert run("longmemeval", LONGMEMEVAL, "--pool", "1") == 0
    assert result(tmp_path, "longmemeval")["conversations"] == 1
    assert run("locomo", LOCOMO, "--pool", "1") == 1
