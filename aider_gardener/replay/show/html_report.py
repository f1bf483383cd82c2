"""Writes a report as one HTML file that needs nothing else: no server, no network, no key.

Whatever a chat holds is text in it, never markup; the file's own script is the only one that its
content security policy lets run.
"""

from __future__ import annotations

import base64
import hashlib
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

from aider_gardener.errors import ReplayError
from aider_gardener.replay.measure.result import ReplayResult
from aider_gardener.replay.measure.summary import Report
from aider_gardener.replay.play.jobs import Source
from aider_gardener.replay.show.html_detail import LAYERS, Detail, detail_of
from aider_gardener.replay.show.html_page import page_value

FOLDER = Path(__file__).parent / "html"


@dataclass
class Details:
    """Collects the details of a report's results as they come in, from any thread."""

    found: dict[tuple[str, str], Detail] = field(default_factory=dict)
    recorded: dict[str, bool] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def look(self, source: Source, result: ReplayResult) -> None:
        """Take the details of one result; it must still have its texts."""
        detail = detail_of(result, source.session)
        with self.lock:
            self.found[result.session, result.variant] = detail
            self.recorded[result.session] = source.session.recorded


def write_html(report: Report, details: Details, path: Path) -> None:
    """Write the report, readable by its owner only; ReplayError if that fails."""
    text = html_of(report, details)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_private(path, text)
    except OSError as problem:
        raise ReplayError(f"{path}: cannot be written ({problem.strerror or problem})") from problem


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner may read, in one go: a reader finds the old one or the new one."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")  # mode 0600
    try:
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="\n") as file:
            file.write(text)
        os.replace(name, path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise


def html_of(report: Report, details: Details) -> str:
    """The text of the whole page."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["count"] = lambda value: f"{value:,}"
    script, style = (asset(name) for name in ("report.js", "report.css"))
    value: Mapping[str, Any] = page_value(report, details.found, details.recorded)
    page = environment.get_template("report.html.jinja")
    return page.render(**value, layers=LAYERS, script=script, style=style, policy=policy(script), tiles=TILES)


def asset(name: str) -> str:
    """A part of the page that stands in it as it is; it must not hold an end tag."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    if "</" in text:
        raise ReplayError(f"{name}: holds an end tag; install aider-gardener again")
    return text


def policy(script: str) -> str:
    """A content security policy under which only this script runs and nothing is fetched."""
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode()
    return (
        f"default-src 'none'; script-src 'sha256-{digest}'; style-src 'unsafe-inline'; "
        "base-uri 'none'; form-action 'none'"
    )


TILES: tuple[str, ...] = (
    "",
    "M0 4H8",
    "M4 0V8",
    "M0 8L8 0M-2 2L2 -2M6 10L10 6",
    "M0 0L8 8M-2 6L2 10M6 -2L10 2",
    "M2 2h2v2h-2z",
    "M0 2H8M0 6H8",
    "M2 0V8M6 0V8",
    "M0 4H8M4 0V8",
    "M0 0L8 8M0 8L8 0",
    "M1 1h1v1h-1zM5 5h1v1h-1z",
    "M0 4L2 2L4 4L6 2L8 4",
    "M0 1H4M4 5H8",
    "M1 0V4M5 4V8",
)
"""The pattern of each layer on a tile of 8 by 8, in the order of LAYERS: layers differ without colour."""
