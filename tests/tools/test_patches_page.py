"""What follows from the mails of the series is up to date, and is made anew where it is not."""

from __future__ import annotations

import shutil
from pathlib import Path

import patches_page
import pytest
from made_tree import SERIES, installed_tree
from patches_page import derived, main, upstream_text

from aider_gardener.errors import PatchError
from aider_gardener.patches.series import Upstream, digest


def test_the_page_is_fresh() -> None:
    """When this fails run `python tools/patches_page.py`."""
    assert main(["--check"]) == 0


def test_what_is_stale_is_said_and_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(shutil.copytree(SERIES.folder, tmp_path / "patches"))
    shutil.copytree(SERIES.folder.parent / "bench" / "results", tmp_path / "bench" / "results")
    monkeypatch.setattr(patches_page, "ROOT", tmp_path)
    (folder / "series").write_text("", "utf-8")
    assert main(["--check"]) == 1 and (folder / "series").read_text("utf-8") == ""
    assert main([]) == 0 and main(["--check"]) == 0
    (folder / "README.md").write_text("no table", "utf-8")
    assert main([]) == 2


def test_each_edited_file_has_the_hash_of_the_release(tmp_path: Path) -> None:
    tree = installed_tree(tmp_path)
    named = Upstream("0.86.2", "x.tar.gz", "0", dict.fromkeys(SERIES.upstream.files, ""))
    known = {path: found for path, found in SERIES.upstream.files.items() if not path.startswith("aider/")}
    text = upstream_text(
        Upstream(named.version, named.source, named.sha256, known), SERIES.patches, tree.read
    )
    assert f"{digest(str(tree.read('aider/commands.py')))}  aider/commands.py\n" in text
    assert "aider/context.py" not in text  # a patch makes it
    with pytest.raises(PatchError, match="--source"):
        upstream_text(Upstream("0.86.2", "x", "0", {}), SERIES.patches, lambda path: None)
    with pytest.raises(PatchError, match="not as aider 0"):
        upstream_text(named, SERIES.patches, tree.read)


def test_the_derived_files_are_three() -> None:
    assert set(derived(SERIES.folder, lambda path: None)) == {"series", "UPSTREAM", "README.md"}
