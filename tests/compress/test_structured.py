"""Data keeps its shape, its outliers and the fields that were named."""

from __future__ import annotations

import json

import pytest

from aider_gardener.compress import Context, compress_text
from aider_gardener.messages import Compressed, ContentClass, Focus

RECORDS = [{"id": i, "state": "done", "ms": 20 + i % 7, "owner": {"name": f"user{i}", "team": {"room": {"floor": 3}}}} for i in range(300)]
RECORDS[217] = {**RECORDS[217], "state": "stuck", "ms": 90_000}


def compress(text: str, kind: str, *words: str) -> Compressed:
    return compress_text(text, ContentClass.STRUCTURED, Context(kind, focus=Focus(frozenset(words)), entry_id="g123456789"))


def test_an_array_keeps_its_first_items_and_its_outliers() -> None:
    text = json.dumps(RECORDS, indent=2)
    shown = compress(text, "json").text
    assert len(shown) < 0.1 * len(text)
    assert '"id": 0' in shown and '"stuck"' in shown and "90000" in shown
    assert "more of the same shape" in shown
    assert shown.startswith("[… json array of 300, abridged from") and "whole: g123456789]" in shown.split("\n")[0]


def test_deep_parts_are_counted() -> None:
    assert "{… 1 key …}" in compress(json.dumps({"data": RECORDS, "page": 1}, indent=1), "json").text


def test_named_fields_stay_at_any_depth() -> None:
    text = json.dumps({"data": RECORDS, "page": {"a": {"b": {"c": {"d": {"e": {"Cursor": "c1.YWJj"}}}}}}}, indent=1)
    assert "c1.YWJj" not in compress(text, "json").text
    assert "page.a.b.c.d.e.Cursor: \"c1.YWJj\"" in compress(text, "json", "cursor").text


def test_json_with_comments_and_json_lines() -> None:
    commented = "{\n" + "".join(f'  "key{i}": {{"url": "http://x/{i}", "n": {i}, }}, // why\n' for i in range(80)) + "}\n"
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
    assert "GET /v1/item29 → 200 — get 29" in shown and "schema Item: id, price" in shown


def test_yaml_keeps_keys_and_counts_items() -> None:
    text = "version: 2\nservices:\n" + "".join(f"  web{i}:\n    image: app:{i}\n    env:\n      - A={i}\n      - B={i}\n" for i in range(60))
    shown = compress(text, "yaml").text
    assert "version: 2" in shown and "web0:" in shown and "image: app:0" in shown
    assert len(shown) < 0.5 * len(text) and "… " in shown


def test_toml_counts_repeated_tables() -> None:
    text = "version = 3\n\n" + "".join(f'[[package]]\nname = "dep{i}"\nversion = "{i}.0"\nchecksum = "{"ab" * 32}"\n\n' for i in range(150))
    shown = compress(text, "toml").text
    assert "149 more [[package]]" in shown and "dep1 1.0" in shown and len(shown) < 0.25 * len(text)


def test_a_table_keeps_head_tail_and_columns() -> None:
    text = "id,state,amount\n" + "".join(f"{i},{'ok' if i % 9 else 'late'},{i * 1.5}\n" for i in range(400))
    shown = compress(text, "csv").text
    for kept in ("id,state,amount", "0,late,0.0", "399,ok,598.5", "396 more rows", "state: ok × 355, late × 45", "amount: 0 … 598.5"):
        assert kept in shown


def test_short_documents_stay_whole() -> None:
    assert compress('{"a": 1}', "json").lossless


def test_unreadable_json_is_cut_by_lines_or_in_its_middle() -> None:
    pretty = json.dumps(RECORDS, indent=2)[:-40]
    assert len(compress(pretty, "json").text) < 0.3 * len(pretty)
    minified = json.dumps(RECORDS)[:-40]
    assert len(compress(minified, "json").text) < 0.3 * len(minified)
