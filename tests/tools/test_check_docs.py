"""The comparison of the documentation with the code sees each kind of fault."""

from __future__ import annotations

from pathlib import Path

import check_docs
import pytest


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project: pages under docs/, modules under aider_gardener/."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "aider_gardener" / "plan").mkdir(parents=True)
    monkeypatch.setattr(check_docs, "ROOT", tmp_path)
    monkeypatch.setattr(check_docs, "PACKAGE", tmp_path / "aider_gardener")
    monkeypatch.setattr(check_docs, "DOCS", tmp_path / "docs")
    monkeypatch.setattr(check_docs, "SITE", tmp_path / "mkdocs.yml")
    return tmp_path


def test_links_to_missing_files_and_headings_are_faults(project: Path) -> None:
    (project / "docs" / "b.md").write_text("# One `two`, three\n", "utf-8")
    (project / "docs" / "a.md").write_text(
        "[ok](b.md#one-two-three) [no](b.md#four) [gone](c.md) [out](https://example.com)\n```\n[code](d.md)\n```\n",
        "utf-8",
    )
    assert list(check_docs.links()) == [
        "docs/a.md:1: b.md#four names no heading of that page",
        "docs/a.md:1: c.md does not exist",
    ]


def test_a_page_of_the_site_links_to_the_site_only(project: Path) -> None:
    (project / "README.md").write_text("# Top\n[down](docs/a.md)\n", "utf-8")
    (project / "docs" / "a.md").write_text("[up](../README.md)\n", "utf-8")
    assert list(check_docs.links()) == [
        "docs/a.md:1: ../README.md is not in docs/, where the site has its pages: name it as code"
    ]


def test_the_menu_of_the_site_names_every_page_and_no_other(project: Path) -> None:
    (project / "docs" / "deep").mkdir()
    for name in ("index.md", "deep/a.md", "deep/b.md"):
        (project / "docs" / name).touch()
    menu = "slugify: !!python/name:of.mkdocs ''\nnav:\n  - index.md\n  - Deep:\n      - A: deep/a.md\n      - c.md\n"
    check_docs.SITE.write_text(menu, "utf-8")
    assert list(check_docs.unlisted()) == [
        "mkdocs.yml: docs/deep/b.md has no place in the menu (nav)",
        "mkdocs.yml: the menu names docs/c.md, which does not exist",
    ]


def test_what_a_page_names_of_the_code_is_there(project: Path) -> None:
    (project / "aider_gardener" / "plan" / "view.py").touch()
    page = "`plan/view.py` `plan/` `aider_gardener/plan/view.py` `off/on` `plan/vew.py`\n```\n`gone/`\n```\n`tests/plan/`\n"
    (project / "docs" / "how-it-works.md").write_text(page, "utf-8")
    (project / "docs" / "store.md").write_text("`gone/`\n", "utf-8")
    assert list(check_docs.lost()) == [
        "docs/how-it-works.md:1: there is no plan/vew.py",
        "docs/how-it-works.md:5: there is no tests/plan/",
    ]
