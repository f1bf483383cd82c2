"""What every page is made of: one HTML file that needs nothing else, no server, no network, no key.

Whatever a chat holds is text in it, never markup; a page's own script, if it has one, is the only one that
its content security policy lets run.
"""

from __future__ import annotations

import base64
import hashlib
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from aider_gardener.errors import ReplayError
from aider_gardener.phrases import counted

FOLDER = Path(__file__).parent / "html"


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner may read, in one go: a reader finds the old one or the new one.

    Raises ReplayError if that fails.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")  # mode 0600
        try:
            with os.fdopen(handle, "w", encoding="utf-8", errors="replace", newline="\n") as file:
                file.write(text)
            os.replace(name, path)
        except OSError:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as problem:
        raise ReplayError(f"{path}: cannot be written ({problem.strerror or problem})") from problem


def rendered(
    template: str,
    *,
    script: str = "",
    filters: Mapping[str, Callable[..., str]] | None = None,
    **values: Any,
) -> str:
    """The text of a page made from a template, whose values are escaped. `filters` are its own, beside those
    that write numbers."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(filters or {}, count="{:,}".format, counted=counted)
    page = environment.get_template(template)
    return page.render(**values, script=script, style=asset("report.css"), policy=policy(script))


def asset(name: str) -> str:
    """A part of the page that stands in it as it is; it must not hold an end tag."""
    text = (FOLDER / name).read_text(encoding="utf-8")
    if "</" in text:
        raise ReplayError(f"{name}: holds an end tag; install aider-gardener again")
    return text


def policy(script: str) -> str:
    """A content security policy under which only this script runs and nothing is fetched."""
    digest = base64.b64encode(hashlib.sha256(script.encode("utf-8")).digest()).decode()
    allowed = f"script-src 'sha256-{digest}'; " if script else ""
    return f"default-src 'none'; {allowed}style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
