"""A compressed traceback keeps type, message, causes, the project's frames and the top ones."""

from __future__ import annotations

import pytest
from tool_outputs import assert_kept, compressed, context, output, ratio

from aider_gardener.compress import errors


@pytest.mark.parametrize("name", ["py_threads", "java_stack"])
def test_exceptions_and_own_frames_are_kept(name: str) -> None:
    text = output(name)
    result = compressed(errors.compress, text)
    assert_kept(text, result, "error")
    assert ratio(text, result) <= 0.75


def web_traceback(library: int) -> str:
    """A traceback through a framework: two own frames, many of libraries, two causes."""
    frame = '  File "/srv/venv/lib/python3.12/site-packages/web/layer{0}.py", line {0}, in call\n    return self.inner(request)'
    own = '  File "/srv/shop/shop/views.py", line 41, in checkout\n    total = rates.load(currency)'
    return "\n".join(
        [
            "Traceback (most recent call last):",
            '  File "/srv/shop/shop/rates.py", line 9, in load\n    return TABLE[currency]',
            "KeyError: 'usd'",
            "",
            "The above exception was the direct cause of the following exception:",
            "",
            "Traceback (most recent call last):",
            *(frame.format(n) for n in range(1, library)),
            own,
            '  File "/srv/shop/shop/rates.py", line 11, in load\n    raise RateError(currency) from error',
            "shop.rates.RateError: no rate for usd on 2026-03-01",
        ]
    )


def test_library_frames_fold() -> None:
    text = web_traceback(30)
    result = compressed(errors.compress, text)
    assert ratio(text, result) <= 0.5
    assert "KeyError: 'usd'" in result.text
    assert "shop.rates.RateError: no rate for usd on 2026-03-01" in result.text
    assert 'File "/srv/shop/shop/views.py", line 41, in checkout' in result.text
    assert "[… 26 library frames]" in result.text
    assert "The above exception was the direct cause" in result.text


def test_a_short_traceback_stays_whole() -> None:
    text = web_traceback(2)
    assert errors.compress(text, context()).text == text


def test_go_panics_keep_the_message_and_own_frames() -> None:
    routines = [
        f"goroutine {n} [select]:\nnet/http.(*conn).serve(0xc0000{n})\n\t/usr/local/go/src/net/http/server.go:{1800 + n} +0x1f\n"
        f"created by net/http.(*Server).Serve in goroutine 1\n\t/usr/local/go/src/net/http/server.go:3086 +0x5cb\n"
        for n in range(20, 50)
    ]
    head = (
        "panic: assignment to entry in nil map\n\ngoroutine 1 [running]:\nmain.(*Cart).Add(...)\n\t/srv/shop/cart.go:22\n"
        "main.main()\n\t/srv/shop/main.go:9 +0x1d\n\n"
    )
    result = compressed(errors.compress, head + "\n".join(routines))
    assert "panic: assignment to entry in nil map" in result.text
    assert "/srv/shop/cart.go:22" in result.text
    assert "/srv/shop/main.go:9" in result.text
    assert ratio(head + "\n".join(routines), result) <= 0.75


def test_recursion_is_told_once() -> None:
    shown = compressed(errors.compress, output("py_recursion")).text
    assert "Previous line repeated" in shown
    assert "RecursionError: maximum recursion depth exceeded" in shown


def test_the_same_stack_of_many_threads_is_told_once() -> None:
    shown = compressed(errors.compress, output("py_threads")).text
    assert shown.count("sqlite3.OperationalError: database is locked") == 1
    assert "frames as above]" in shown or "more stacks like those above]" in shown


def test_exception_groups_keep_every_leaf() -> None:
    shown = compressed(errors.compress, output("py_group")).text
    assert "unhandled errors in a TaskGroup (2 sub-exceptions)" in shown
    assert "JSONDecodeError: Expecting property name" in shown
    assert "RuntimeError: cannot load '{bad'" in shown
    assert "KeyError: 'currency'" in shown


def own_frames(number: int) -> str:
    frames = "".join(
        f'  File "/srv/shop/app/module_{n}.py", line {10 * n + 7}, in step_{n}\n    result = self.step_{n + 1}(order, retries={n}, deadline=deadline)\n             ^^^^^^^^^^^^^^^^^^^^^^^^^^^\n'
        for n in range(number)
    )
    return (
        f"Traceback (most recent call last):\n{frames}shop.errors.StockError: sku 17 has -3 left, wanted 5\n"
    )


@pytest.mark.parametrize("number", [8, 12, 20])
def test_long_stacks_of_project_frames_lose_code_before_frames(number: int) -> None:
    text = own_frames(number)
    result = compressed(errors.compress, text)
    assert ratio(text, result) <= 0.75
    assert all(f'module_{n}.py", line {10 * n + 7}, in step_{n}' in result.text for n in range(number))
    assert f"result = self.step_{number}(" in result.text and "result = self.step_1(" not in result.text
    assert "StockError: sku 17 has -3 left, wanted 5" in result.text
