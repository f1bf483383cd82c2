"""The generated patches are what the package gives, and what is generated hangs together."""

from __future__ import annotations

import ast
import re
import shutil
from pathlib import Path

import pytest
from made_tree import SERIES, installed_tree
from patch_series import library
from patch_series.chain import CHAIN, hooks_of, library_of, of_host
from patch_series.hostedits import IMPORT, hooked
from patch_series.refresh import refreshed
from refresh_patches import main

from aider_gardener.adapters.aider.seams import SEAMS, Seam
from aider_gardener.errors import PatchError
from aider_gardener.patches.state import with_patches

WANTED = [part for part in CHAIN if part.wanted]
HOST = """import os

from aider import models
from aider.zoo import animals

from .dump import dump


class Coder:
    @classmethod
    def create(cls):
        pass

    def send(self):
        pass


def free():
    pass
"""


def seam(path: str, signature: str, make: str) -> Seam:
    return Seam("aider.x", path, signature, make, "a reason", "a change")


def test_the_generated_patches_are_fresh(tmp_path: Path) -> None:
    """When this fails run `python tools/refresh_patches.py`."""
    made = refreshed(SERIES.folder, installed_tree(tmp_path).read)
    assert made.stale(SERIES.folder) == []


def test_a_change_of_the_package_makes_them_stale(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = Path(shutil.copytree(SERIES.folder, tmp_path / "patches"))
    tree = installed_tree(tmp_path)
    real = library.text_of
    monkeypatch.setattr(library, "text_of", lambda name: real(name) + ("# new\n" if name == "tokens" else ""))
    made = refreshed(folder, tree.read)
    assert made.stale(folder)[0] == WANTED[0].name + ".patch"
    made.write(folder)
    assert made.stale(folder) == []
    assert "+# new\n" in (folder / f"{WANTED[0].name}.patch").read_text("utf-8")


def test_the_command_writes_what_its_check_found_stale(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = Path(shutil.copytree(SERIES.folder, tmp_path / "patches"))
    arguments = ["--patches", str(folder), "--to", str(installed_tree(tmp_path).root)]
    assert main(arguments) == 0
    capsys.readouterr()
    (folder / "series").write_text("", "utf-8")
    assert main([*arguments, "--check"]) == 1 and (folder / "series").read_text("utf-8") == ""
    assert main(arguments) == 0 and capsys.readouterr().out.split() == ["series", "series"]
    assert main([*arguments, "--check"]) == 0
    assert main(["--to", str(tmp_path)]) == 1 and "no aider in" in capsys.readouterr().err


def test_each_module_comes_once_and_after_all_that_it_imports() -> None:
    there: set[str] = set()
    for part in WANTED:
        brought = set(library_of(part))
        assert not brought & there
        there |= brought
        lacking = {name: library.imported(name) - there - library.NOT_TAKEN for name in brought}
        assert {name: sorted(missing) for name, missing in lacking.items() if missing} == {}


def test_nothing_but_names_of_imports_is_rewritten() -> None:
    for name in library_of(WANTED[0]):
        text, original = library.text_of(name), library.modules()[name].read_text("utf-8")
        back = re.sub(r"\baider\.gardener\.host\b", library.HOST, text)
        assert re.sub(r"\baider\.gardener\b", library.NAME, back) == original


def test_every_seam_that_aider_needs_is_hooked_once() -> None:
    hooked_seams = [found.name for part in CHAIN for found in hooks_of(part)]
    assert sorted(hooked_seams) == sorted(found.name for found in SEAMS if of_host(found))


def test_the_patched_modules_parse_and_import_only_what_is_there(tmp_path: Path) -> None:
    tree = installed_tree(tmp_path)
    files = with_patches(tree.read_all(SERIES.paths()), SERIES.patches, tree)
    for path, text in files.items():
        assert text is not None
        for node in ast.walk(ast.parse(text)):
            module = getattr(node, "module", None) if isinstance(node, ast.ImportFrom) else None
            if module and module.startswith("aider.gardener"):
                place = module.replace(".", "/")
                assert f"{place}.py" in files or f"{place}/__init__.py" in files, f"{path} imports {module}"


def test_no_data_and_no_name_of_the_package_is_left() -> None:
    for part in WANTED:
        patch = SERIES.find(part.name)
        for path, diff in patch.diffs.items():
            assert path.endswith((".py", ".in", ".txt", ".toml"))
            added = [line for line in diff.splitlines() if line.startswith("+")]
            assert not any("aider_gardener" in line for line in added), f"{patch.name}: {path}"


def test_hooks_stand_above_decorators_and_at_the_end_of_a_class() -> None:
    rows = [
        seam("Coder.create", "(cls)", "create"),
        seam("free", "()", "get_parser"),
        seam("Coder.gardener", "", "gardener_property"),
    ]
    lines = hooked(HOST, rows, "x.py").splitlines()
    assert lines[lines.index("    @classmethod") - 1] == "    @gardened.create"
    assert lines[lines.index("def free():") - 1] == "@gardened.get_parser"
    at = lines.index("    gardener = gardened.gardener_property(None)")
    assert lines[at - 2 : at] == ["        pass", ""]
    assert lines.index(IMPORT) == lines.index("from aider import models") + 1


def test_what_aider_may_have_itself_is_handed_to_the_hook() -> None:
    text = hooked(HOST, [seam("Coder.cmd_context_pressure", "", "cmd_context_pressure")], "x.py")
    assert (
        '    cmd_context_pressure = gardened.cmd_context_pressure(vars().get("cmd_context_pressure"))' in text
    )


def test_a_seam_that_is_not_there_is_refused() -> None:
    with pytest.raises(PatchError, match=r"x\.py has no Coder\.gone"):
        hooked(HOST, [seam("Coder.gone", "()", "send")], "x.py")
    with pytest.raises(PatchError, match="has no class Other"):
        hooked(HOST, [seam("Other.thing", "", "send")], "x.py")
