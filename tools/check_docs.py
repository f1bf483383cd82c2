"""Compare the documentation with the code: links, the site's menu, paths, commands, settings, figures.

Prints one line per fault and exits 1 if there is any. A page of docs/ links only to what the site holds, and
stands in its menu; what docs/contributing.md and docs/how-it-works.md name of the code is there. The parts of
pages that are made from code or results are compared by the tools that make them.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import benchmark_tables
import patches_page
import reference_pages
import yaml
from pages import faults as section_faults

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "aider_gardener"
DOCS = ROOT / "docs"
SITE = ROOT / "mkdocs.yml"
TOOLS = (benchmark_tables, patches_page, reference_pages)
"""Each makes sections of pages."""
ABOUT_CODE = ("contributing.md", "how-it-works.md")

LINK = re.compile(r"\]\((?P<target>[^)\s]+)(?:\s+\"[^\"]*\")?\)")
HEADING = re.compile(r"^(?P<level>#{1,6})\s+(?P<title>.+?)\s*#*\s*$")
FENCE = re.compile(r"^\s*(```|~~~)")
CODE_PATH = re.compile(r"`((?:\w+/)+(?:\w+\.(?:py|json|toml))?)`")
"""A file or folder in code letters, from the root of the repository or of the package."""


def main() -> int:
    """Run every check over the repository this file is in."""
    faults = [*links(), *unlisted(), *lost()]
    for tool in TOOLS:
        faults += section_faults(tool.SECTIONS, tool.TOOL)
    for fault in faults:
        print(fault, file=sys.stderr)
    print(f"docs: {len(pages())} pages checked, {len(faults)} faults")
    return 1 if faults else 0


def pages() -> list[Path]:
    """All Markdown of the project itself; recordings bring their own and are left alone."""
    top = sorted(ROOT.glob("*.md"))
    folders = (ROOT / name for name in ("docs", "patches", "bench"))
    return [*top, *(path for folder in folders for path in sorted(folder.rglob("*.md")))]


def prose(page: Path) -> Iterator[tuple[int, str]]:
    """Numbered lines outside code fences."""
    fenced = False
    for number, line in enumerate(page.read_text("utf-8").splitlines(), 1):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            yield number, line


def anchors(page: Path) -> set[str]:
    """The fragments that headings get on a web view: lower case, words joined by hyphens."""
    found: set[str] = set()
    for _, line in prose(page):
        if heading := HEADING.match(line):
            kept = re.sub(r"[^\w\- ]", "", heading["title"].lower())
            slug, number = kept.replace(" ", "-"), 0
            while (candidate := f"{slug}-{number}" if number else slug) in found:
                number += 1
            found.add(candidate)
    return found


def links() -> Iterator[str]:
    """Relative links that lead nowhere; addresses of other sites are not followed."""
    for page in pages():
        for number, line in prose(page):
            for link in LINK.finditer(line):
                target = link["target"]
                if re.match(r"[a-z][a-z0-9+.-]*:", target):
                    continue
                path, _, fragment = target.partition("#")
                file = page if not path else (page.parent / path)
                where = f"{page.relative_to(ROOT).as_posix()}:{number}"
                if not file.exists():
                    yield f"{where}: {target} does not exist"
                elif page.is_relative_to(DOCS) and not file.resolve().is_relative_to(DOCS):
                    yield f"{where}: {target} is not in docs/, where the site has its pages: name it as code"
                elif fragment and file.suffix == ".md" and fragment not in anchors(file):
                    yield f"{where}: {target} names no heading of that page"


def unlisted() -> Iterator[str]:
    """Pages that the site's menu leaves out, and pages that it names and that are not there."""
    listed = set(menu_pages(yaml.load(SITE.read_text("utf-8"), yaml.BaseLoader)["nav"]))
    there = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    for name in sorted(there - listed):
        yield f"{SITE.name}: docs/{name} has no place in the menu (nav)"
    for name in sorted(listed - there):
        yield f"{SITE.name}: the menu names docs/{name}, which does not exist"


def menu_pages(entry: Any) -> Iterator[str]:
    """The pages below an entry of the site's menu: a page, a titled one, or a list."""
    if isinstance(entry, str):
        yield entry
    else:
        for below in entry.values() if isinstance(entry, dict) else entry:
            yield from menu_pages(below)


def lost() -> Iterator[str]:
    """Files and folders of the code that the pages about it name and that are not there."""
    for page in (DOCS / name for name in ABOUT_CODE if (DOCS / name).exists()):
        for number, line in prose(page):
            for named in CODE_PATH.findall(line):
                if not any((place / named).exists() for place in (ROOT, PACKAGE)):
                    yield f"{page.relative_to(ROOT).as_posix()}:{number}: there is no {named}"


if __name__ == "__main__":
    sys.exit(main())
