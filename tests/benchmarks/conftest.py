"""What the tests of benches share: results name the code that they are of by a hash, here of one room of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bench.grid import cells


@pytest.fixture(scope="module", autouse=True)
def one_room() -> Iterator[None]:
    """To hash all of the package takes six seconds in each process."""
    cells.code_hash.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cells, "PACKAGE", cells.PACKAGE / "plan")
        yield
    cells.code_hash.cache_clear()
