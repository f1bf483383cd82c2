"""What is said is one line, and what is added stands behind it."""

from __future__ import annotations

from aider_gardener.archive.store.notice import Notice


def test_what_is_added_stands_behind_what_was_said() -> None:
    notice = Notice()
    notice.add([])
    assert notice.text == ""
    notice.add(["it was mended", "and more"])
    notice.add(["at last"])
    assert notice.text == "it was mended; and more; at last"
