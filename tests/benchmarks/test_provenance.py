"""On what figures depend."""

from __future__ import annotations

from bench.provenance import code, made_on, processor


def test_the_code_and_the_machine_are_named() -> None:
    made = made_on()
    assert made["code"] == code() and len(code()) == 12
    assert made["cores"] and made["cpu"] == processor()
