"""What a replay's result depends on: versions, the commit, the tokenizer."""

from __future__ import annotations

from importlib import metadata
from pathlib import Path

from aider_gardener.errors import ReplayError
from aider_gardener.replay.play.sandbox import git


def version_of(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def source_commit() -> str:
    """The commit of the checkout this package runs from, with "+" if changed; "" elsewhere."""
    package = Path(__file__).resolve().parents[2]
    if not (package.parent / ".git").exists():
        return ""
    try:
        commit = git(package.parent, "rev-parse", "--short=12", "HEAD").strip()
        changed = git(package.parent, "status", "--porcelain", "--", str(package)).strip()
    except ReplayError:
        return ""
    return commit + ("+" if changed else "")


def tokenizer_name(model: str) -> str:
    """What counts the tokens of a message for this model: litellm's own choice, by name."""
    import litellm

    if "gpt-4o" in model:
        return "o200k_base"
    chosen = litellm.utils._select_tokenizer(model)
    kind = chosen.get("type", "")
    return str(getattr(chosen.get("tokenizer"), "name", "") or kind)
