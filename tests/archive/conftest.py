"""What the tests of archives share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from aider_gardener.archive.store import Store


@pytest.fixture(autouse=True)
def closed_at_the_end() -> Iterator[None]:
    """A test closes an archive only where something comes of it: all that it opened are closed behind it."""
    begin, opened = Store.__init__, list[Store]()

    def noted(store: Store, *given: Any, **named: Any) -> None:
        begin(store, *given, **named)
        opened.append(store)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "__init__", noted)
        yield
    for store in opened:
        store.close()
