"""Records of trouble: what stands below a head, what a search found, and one of each code in a short form. How
tools write them is in tests/data/facts."""

from __future__ import annotations

from made_entries import words

from aider_gardener.compress.records import read
from aider_gardener.compress.shapes import shortened


def test_marks_below_the_code_are_worth_nothing_alone() -> None:
    found = read(["a.c:3:9: error: no tide here", "    3 |     tide = 1;", "      |     ^~~~"])
    assert found[2].worth == 0 < found[1].worth


def test_what_says_the_same_of_many_places_without_a_severity_leaves_room_for_the_rest() -> None:
    said = ["should have a comment", "should be in lower case", "is used twice"]
    lines = [f'a{at % 7}/b.proto:{at}:4:Field "name_{at}" {said[at % 3]}.' for at in range(90)]
    lines[60] = 'a1/b.proto:3:1:Previously present enum "Status" was deleted from file.'
    form = shortened("\n".join(lines), words).text
    assert lines[60] in form and "alike]" in form
    searched = [f"src/a{at}.py:{at}:    io.tell('no {sort} of {at}')" for at, sort in enumerate("abcdef" * 2)]
    assert len({note.form for note in read(searched).values()}) == 6, "a sentence in quotes tells them apart"


def test_a_short_form_keeps_each_code_once_and_the_sum() -> None:
    lines = [f"a{at % 9}.py:{at}:80: E501 line too long ({at} > 79 characters)" for at in range(80, 400)]
    lines[200:200] = ["a3.py:7:9: F821 undefined name 'lit'", "a4.py:8:1: W605 invalid escape sequence"]
    form = shortened("\n".join([*lines, "Found 322 errors."]), words).text
    assert "F821" in form and "W605" in form and form.endswith("Found 322 errors.")
    assert len({line.split(":")[0] for line in form.split("\n") if "E501" in line}) >= 3


def test_every_error_of_a_build_that_goes_on_is_named() -> None:
    lines: list[str] = []
    for n in range(80):
        kind = ("‘tank_{}’ undeclared (first use in this function)", "expected ‘;’ before ‘}}’ token")[n % 2]
        lines += [f"p{n}.c: In function ‘f’:", f"p{n}.c:{n}:9: error: {kind.format(n)}"]
        lines += ["    4 | int f(void) { return tank; }", "      |        ^~~~"] * 3
        lines.append(f"make: *** [Makefile:7: p{n}.o] Error 1")
    lines.append("make: Target 'all' not remade because of errors.")
    form = shortened("\n".join(lines), lambda text: len(text) // 4).text
    assert all(f"p{n}.c:{n}:9" in form for n in range(80)) and form.endswith(lines[-1])
    assert all(f"‘tank_{n}’" in form for n in range(0, 80, 2)) and form.count("undeclared (first") < 9
    assert len(form) < len("\n".join(lines)) // 4


def test_an_error_at_one_place_that_each_file_meets_leaves_room_for_the_rest() -> None:
    met = [
        "src/port.h:2:14: error: expected ';' before 'int'",
        "    2 | int crane_max",
        "      |              ^",
    ]
    lines = [line for n in range(90) for line in (f"In file included from src/gate{n}.c:1:", *met)]
    lines[200] = "src/lamp.c:7:9: warning: a lamp is lit twice"
    shown = shortened("\n".join(lines), words).text.split("\n")
    assert lines[200] in shown and sum(line.startswith(met[0]) for line in shown) <= 6


def test_an_address_with_its_port_is_no_place_in_a_file() -> None:
    assert read([f"worker-{at}  10.20.1.{at}:8301  alive  server" for at in range(9)]) == {}
    assert len(read([f"src/10.2/a{at}.c:83:1: note the cast" for at in range(9)])) == 9
