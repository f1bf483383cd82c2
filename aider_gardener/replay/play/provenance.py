"""What a replay's result depends on."""

from __future__ import annotations

import hashlib
import json
import platform
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from aider_gardener import __version__
from aider_gardener.errors import ReplayError
from aider_gardener.replay.measure.result import Provenance
from aider_gardener.replay.play.sandbox import git

if TYPE_CHECKING:
    from aider_gardener.replay.play.runner import Runner


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


def provenance(runner: Runner) -> Provenance:
    """The provenance of a finished replay."""
    model = runner.main_model  # the chat may have switched since
    probes = json.dumps([vars(probe) for probe in runner.probes], sort_keys=True)
    settings = {**(runner.variant.settings or {}), **(runner.settings or {})}
    return Provenance(
        gardener=__version__,
        commit=runner.source_commit,
        aider=version_of("aider-chat"),
        litellm=version_of("litellm"),
        model=model.name,
        weak_model=model.weak_model.name,
        tokenizer=tokenizer_name(model.name),
        window_tokens=int(model.info.get("max_input_tokens") or 0),
        history_tokens=history_budget(runner),
        settings=settings,
        session_sha256=runner.session.sha256,
        probes_sha256=hashlib.sha256(probes.encode()).hexdigest(),
        python=platform.python_version(),
    )


def history_budget(runner: Runner) -> int:
    """Tokens that the variant gives the history: the gardener's budget, or the summariser's limit."""
    gardener = getattr(runner.coder, "gardener", None)
    return int(gardener.budget if gardener is not None else runner.coder.summarizer.max_tokens)


def tokenizer_name(model: str) -> str:
    """What counts the tokens of a message for this model: litellm's own choice, by name."""
    import litellm

    if "gpt-4o" in model:
        return "o200k_base"
    chosen = litellm.utils._select_tokenizer(model)
    kind = chosen.get("type", "")
    return str(getattr(chosen.get("tokenizer"), "name", "") or kind)
