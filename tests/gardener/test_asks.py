"""The form in which a model asks for an original."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aider_gardener.gardener.asks import FORM, HINT, requested

ONE, TWO = "g0123456ab", "gfedcba987"


@pytest.mark.parametrize(
    ("reply", "ids"),
    [
        (f'<recall id="{ONE}"/>', [ONE]),
        (f'Let me look.\n  <recall id="{ONE}" />  \n<recall id="{TWO}"/>\nand wait', [ONE, TWO]),
        (f'<recall id="{ONE}"/>\n<recall id="{ONE}"/>', [ONE]),
        (f'text <recall id="{ONE}"/>', []),
        (f'<recall id="{ONE}"/> text', []),
        (f'> <recall id="{ONE}"/>', []),
        ('<recall id="g12"/>', []),
        ('<recall id="g…"/>', []),
        (f'```xml\n<recall id="{ONE}"/>\n```\n', []),
        (f'```xml\n<a/>\n```\n<recall id="{ONE}"/>', [ONE]),
        (f'````\n```\n<recall id="{ONE}"/>\n````\n<recall id="{TWO}"/>', [TWO]),
        (f'~~~\n<recall id="{ONE}"/>', []),
    ],
)
def test_a_request_is_a_line_of_its_own_outside_code(reply: str, ids: list[str]) -> None:
    assert requested(reply) == ids


def test_the_hint_itself_asks_for_nothing() -> None:
    assert requested(HINT) == []
    assert FORM.search(HINT.replace("g…", ONE))


@given(st.text(alphabet='<recal id="g0123456789/>`~\n ', max_size=200))
def test_any_text_is_read(reply: str) -> None:
    assert all(len(each) >= 10 for each in requested(reply))
