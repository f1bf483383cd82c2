"""Which lines are frames of a stack trace, in any language, and whose code they are in."""

from __future__ import annotations

import pytest

from aider_gardener.compress.traces import frame_at, is_library


@pytest.mark.parametrize(
    ("lines", "own"),
    [
        (['  File "app/main.py", line 12, in run'], True),
        (['  File "/usr/lib/python3.12/json/decoder.py", line 3, in f'], False),
        (["    at load (/srv/shop/lib/cart.js:31:17)"], True),
        (["    at async file:///srv/shop/run.mjs:3:1"], True),
        (["    at Module._compile (node:internal/modules/cjs/loader:1105:14)"], False),
        (["\tat com.acme.Rates.load(Rates.java:44)"], True),
        (["\tat java.base/java.lang.Thread.run(Thread.java:840)"], False),
        (["   at Shop.Cart.Total() in /srv/Cart.cs:line 23"], True),
        (["  # ./lib/cart.rb:31:in `find'"], True),
        (["#1  0x0000555 in turn (mill=0x7ff) at src/mill.c:58"], True),
        (["==411==    by 0x109220: main (main.c:9)"], True),
        (["#0 /srv/s/src/Order.php(19): Shop\\Stock->take('FIG-22', 9)"], True),
        (["example.org/quill.(*Page).Line(...)", "\t/srv/quill/page.go:58"], True),
        (["   3: skiff::oar::heading", "             at ./src/oar.rs:52:44"], True),
    ],
)
def test_a_frame_is_the_projects_or_a_librarys(lines: list[str], own: bool) -> None:
    frame = frame_at(lines, 0)
    assert frame is not None and frame.own is own and len(frame.rows) == len(lines)


@pytest.mark.parametrize(
    "line", ["the total at checkout was 3", "at the shop (yesterday)", "#12 Fix the stove", "x = f(1)"]
)
def test_other_lines_are_no_frames(line: str) -> None:
    assert frame_at([line], 0) is None


@pytest.mark.parametrize(
    ("path", "library"),
    [
        ("/srv/venv/lib/python3.12/site-packages/web/a.py:3", True),
        ("node_modules/express/index.js:9:1", True),
        ("/srv/.cargo/registry/src/serde/lib.rs:4", True),
        ("org.springframework.web.Filter.run", True),
        ("src/library/rates.py:3", False),
        ("app/vendors.py:8", False),
    ],
)
def test_libraries_are_told_from_the_projects_own(path: str, library: bool) -> None:
    assert is_library(path) is library
