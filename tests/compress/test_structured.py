"""Data keeps its shape, its outliers and the fields that were named."""

from __future__ import annotations

import json

import pytest
import yaml

from aider_gardener.adapters.aider.provider import default_counter
from aider_gardener.compress import Context, compress_text
from aider_gardener.messages import Compressed, ContentClass, Focus

RECORDS = [
    {
        "id": i,
        "state": "done",
        "ms": 20 + i % 7,
        "owner": {"name": f"user{i}", "team": {"room": {"floor": 3}}},
    }
    for i in range(300)
]
RECORDS[217] = {**RECORDS[217], "state": "stuck", "ms": 90_000}


def compress(text: str, kind: str, *words: str) -> Compressed:
    return compress_text(
        text, ContentClass.STRUCTURED, Context(kind, focus=Focus(frozenset(words)), entry_id="g123456789")
    )


def test_an_array_keeps_its_first_items_and_its_outliers() -> None:
    text = json.dumps(RECORDS, indent=2)
    shown = compress(text, "json").text
    assert len(shown) < 0.1 * len(text)
    assert '"id": 0' in shown and '"stuck"' in shown and "90000" in shown
    assert "more of the same shape" in shown
    assert (
        shown.startswith("[… json array of 300, abridged from")
        and "whole: g123456789]" in shown.split("\n")[0]
    )


def test_deep_parts_are_counted() -> None:
    deep = {
        f"part{i}": {"kind": f"k{i}", "nested": {"more": {"x" * 30: "y" * 50, "z" * 30: ["w" * 40] * 9}}}
        for i in range(11)
    }
    shown = compress(json.dumps(deep, indent=1), "json").text
    assert "{… 2 keys …}" in shown and all(f'"part{i}": {{' in shown for i in range(11))


def test_named_fields_stay_at_any_depth() -> None:
    text = json.dumps(
        {"data": [{**record, "Cursor": f"c{i}.YWJj"} for i, record in enumerate(RECORDS)]}, indent=1
    )
    assert "c1.YWJj" in compress(text, "json").text and "c7.YWJj" not in compress(text, "json").text
    assert 'data[7].Cursor: "c7.YWJj"' in compress(text, "json", "cursor").text


def test_values_that_name_a_path_in_focus_stay() -> None:
    text = json.dumps([{"filePath": f"/app/src/part{i}.ts", "messages": [f"unused {i}"]} for i in range(90)])
    focused = compress_text(
        text, ContentClass.STRUCTURED, Context("json", focus=Focus(paths=frozenset({"src/part77.ts"})))
    ).text
    assert "src/part77.ts" in focused and "src/part77.ts" not in compress(text, "json").text


def test_json_with_comments_and_json_lines() -> None:
    commented = (
        "{\n"
        + "".join(f'  "key{i}": {{"url": "http://x/{i}", "n": {i}, }}, // why\n' for i in range(80))
        + "}\n"
    )
    assert "object of 80 keys" in compress(commented, "json").text
    lines = "".join(json.dumps(record) + "\n" for record in RECORDS)
    assert '"stuck"' in compress(lines, "jsonl").text


def test_a_manifest_keeps_what_matters() -> None:
    package = {"name": "shop", "version": "1.2.3", "scripts": {"test": "node --test"}, "dependencies": {"zod": "^3.1.0"},
               "devDependencies": {f"dev{i}": "^1.0.0" for i in range(20)}, "description": "x " * 900}  # fmt: skip
    shown = compress(json.dumps(package, indent=2), "json").text
    for kept in ("shop", "1.2.3", "test: node --test", "zod@^3.1.0", "dev19@^1.0.0"):
        assert kept in shown


def test_a_lock_file_names_the_direct_packages() -> None:
    packages = {"": {"name": "shop", "dependencies": {"zod": "^3"}}, **{f"node_modules/dep{i}": {"version": f"{i}.0.0", "integrity": "sha512-" + "x" * 80} for i in range(200)},
                "node_modules/zod": {"version": "3.22.1"}}  # fmt: skip
    text = json.dumps({"name": "shop", "lockfileVersion": 3, "packages": packages}, indent=2)
    shown = compress(text, "json").text
    assert "zod@3.22.1" in shown and "dep7" not in shown and len(shown) < 0.02 * len(text)


@pytest.mark.parametrize("value", [{"openapi": "3.1.0", "info": None, "paths": {"/a": {"get": {"responses": None}}, "/b": 3}, "components": []},
                                   {"apiVersion": "v1", "kind": "List", "items": [1, {"metadata": []}], "metadata": 4},
                                   {"apiVersion": "v1", "kind": "Pod", "spec": [[1], {"image": "x"}]},
                                   {"Resources": {"A": {"Type": "T", "Properties": 3}}, "Outputs": 4},
                                   {"name": "x", "dependencies": [1], "bin": {"a": 1}},
                                   {"lockfileVersion": 3, "packages": {"": {"dependencies": 7}, "node_modules/a": 4}}])  # fmt: skip
def test_known_documents_with_surprising_values_do_not_raise(value: object) -> None:
    text = json.dumps({**value, "filler": "word " * 400}, indent=1)  # type: ignore[dict-item]  # reason: the list holds dicts only
    assert len(compress(text, "json").text) < len(text)


def test_an_api_description_lists_its_operations() -> None:
    api = {"openapi": "3.1.0", "info": {"title": "Shop", "version": "2"}, "paths": {f"/v1/item{i}": {"get": {"summary": f"get {i}", "responses": {"200": {"description": "ok " * 30}}}} for i in range(30)},
           "components": {"schemas": {"Item": {"properties": {"id": {}, "price": {}}}}}}  # fmt: skip
    shown = compress(json.dumps(api, indent=1), "json").text
    assert "GET /v1/item29 → 200 — get 29" in shown and "schema Item: id?, price?" in shown


def test_yaml_keeps_keys_and_counts_items() -> None:
    text = "version: 2\nservices:\n" + "".join(
        f"  web{i}:\n    image: app:{i}\n    env:\n      - A={i}\n      - B={i}\n" for i in range(60)
    )
    shown = compress(text, "yaml").text
    assert "web0: app:0" in shown and "web59: app:59" in shown
    assert len(shown) < 0.5 * len(text)


def test_unknown_yaml_keeps_its_shape_and_stays_yaml() -> None:
    text = (
        "# settings\nteam: payments\nlimits:\n  daily: 500\n"
        + "rules:\n"
        + "".join(
            f"  - name: rule{i}\n    when: {{amount: {i}}}\n    then: [hold, notify]\n" for i in range(80)
        )
    )
    shown = compress(text, "yaml").text
    assert len(shown) < 0.25 * len(text)
    assert yaml.safe_load(shown.partition("\n")[2])["team"] == "payments"
    assert (
        "daily: 500" in shown
        and "name: rule0" in shown
        and "# … 77 more of the same shape: rule3, rule4" in shown
    )


def test_an_alias_bomb_stays_small() -> None:
    text = (
        "a0: &a0 [x, x]\n"
        + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 12))
        + "pad: '"
        + "z" * 2_000
        + "'\n"
    )
    assert len(compress(text, "yaml").text) < len(text)


@pytest.mark.parametrize("size", [40, 120, 400])
def test_large_documents_come_to_a_quarter_at_most(size: int) -> None:
    count = default_counter()
    for text, kind in (
        (json.dumps({f"screen{i}": {f"label{j}": f"Words number {j} on screen {i}" for j in range(9)} for i in range(size)}, indent=2), "json"),
        ("".join(f"key{i}:\n  owner: team{i}\n  note: some words about it {i}\n  tags: [a{i}, b{i}]\n  nested: {{x: {i}, y: {{z: {i}}}}}\n" for i in range(2 * size)), "yaml"),
        ("".join(f"[tool.part{i}]\nvalue = {i}\nwords = \"some of them {i}\"\nitems = [1, 2, {i}]\n\n" for i in range(2 * size)), "toml"),
        ("".join(f"SERVICE_{i}_URL=https://svc{i}.example.org/path\n" for i in range(6 * size)), "env"),
    ):  # fmt: skip
        assert count(text) > 2_000
        shown = compress_text(text, ContentClass.STRUCTURED, Context(kind, count=count)).text
        assert count(shown) <= 0.25 * count(text), kind


def test_toml_counts_repeated_tables() -> None:
    text = "version = 3\n\n" + "".join(
        f'[[package]]\nname = "dep{i}"\nversion = "{i}.0"\nchecksum = "{"ab" * 32}"\n\n' for i in range(150)
    )
    shown = compress(text, "toml").text
    assert "149 more [[package]]" in shown and "dep1 1.0" in shown and len(shown) < 0.25 * len(text)


def test_a_table_keeps_head_tail_and_columns() -> None:
    text = "id,state,amount\n" + "".join(f"{i},{'ok' if i % 9 else 'late'},{i * 1.5}\n" for i in range(400))
    shown = compress(text, "csv").text
    for kept in (
        "id,state,amount",
        "0,late,0.0",
        "399,ok,598.5",
        "396 more rows",
        "state: ok × 355, late × 45",
        "amount: 0 … 598.5",
    ):
        assert kept in shown


def test_a_table_keeps_rows_that_stand_out() -> None:
    rows = [f"{i},{20 + i % 9},ok" for i in range(400)]
    rows[250] = "250,90000,lost"
    shown = compress("id,ms,state\n" + "\n".join(rows) + "\n", "csv").text
    assert "\n250,90000,lost\n" in shown and "247 more rows" in shown and "148 more rows" in shown


def test_short_documents_stay_whole() -> None:
    assert compress('{"a": 1}', "json").lossless


def test_unreadable_json_is_cut_by_lines_or_in_its_middle() -> None:
    pretty = json.dumps(RECORDS, indent=2)[:-40]
    assert len(compress(pretty, "json").text) < 0.3 * len(pretty)
    minified = json.dumps(RECORDS)[:-40]
    assert len(compress(minified, "json").text) < 0.3 * len(minified)
