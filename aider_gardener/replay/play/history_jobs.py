"""What is different about replaying a long chat history."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from aider_gardener.replay.play.jobs import Job
from aider_gardener.replay.play.results_run import Source
from aider_gardener.replay.play.variants import variant_named

LONG_BYTES = 1_000_000
"""From this size on the vectors of a history's passages take longer than everything else together."""

BY_WORDS = (
    "{names}: a history of {megabytes:.1f} MB, so recall went by words alone; "
    "--variant none,stock,gardener+embedder=minilm takes minutes and recalls by meaning too."
)


def is_long(source: Source) -> bool:
    """Whether the source is a chat history file of a size that makes embedding it a matter of minutes."""
    return not source.session.recorded and source.path.stat().st_size >= LONG_BYTES


def lightened(jobs: Iterable[tuple[Source, Job]]) -> list[tuple[Source, Job]]:
    """The jobs; those of long histories without an embedder, unless their variant names one."""
    return [(source, without_embedder(job) if is_long(source) else job) for source, job in jobs]


def without_embedder(job: Job) -> Job:
    settings = variant_named(job.variant).settings
    if settings is None or "embedder" in settings:
        return job
    return replace(job, settings={**(job.settings or {}), "embedder": "none"})


def long_notes(jobs: Sequence[tuple[Source, Job]]) -> list[str]:
    """What a reader must know of the histories that were recalled by words alone; at most one line."""
    found = {source.name: source for source, job in jobs if is_long(source) and by_words(job)}
    if not found:
        return []
    largest = max(source.path.stat().st_size for source in found.values())
    return [BY_WORDS.format(names=", ".join(found), megabytes=largest / 1_000_000)]


def by_words(job: Job) -> bool:
    return (job.settings or {}).get("embedder") == "none"
