"""Where a stack frame is, in any language, and whose code that is."""

from __future__ import annotations

import pytest

from aider_gardener.compress.places import frame_place, is_library


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ('  File "app/main.py", line 12, in run', "app/main.py:12"),
        ("    at load (/srv/shop/lib/cart.js:31:17)", "/srv/shop/lib/cart.js:31:17"),
        ("    at async file:///srv/shop/run.mjs:3:1", "file:///srv/shop/run.mjs:3:1"),
        ("\tat com.acme.Rates.load(Rates.java:44)", "Rates.java:44"),
        ("\tat java.base/java.lang.Thread.run(Thread.java:840)", ""),
        ("   at Shop.Cart.Total() in /srv/Cart.cs:line 23", "/srv/Cart.cs:23"),
        ("    at new <anonymous> (native)", ""),
        ("  # ./lib/cart.rb:31:in `find'", "./lib/cart.rb:31"),
        ("the total at checkout was 3", None),
        ("E   AssertionError: 3 != 4", None),
    ],
)
def test_the_place_of_a_frame(line: str, place: str | None) -> None:
    assert frame_place(line) == place


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
