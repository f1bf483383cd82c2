"""Imported by the process that replays are forked off, beside the host: the core, and the encoding of the
model that a replay has by default. What it holds none of them loads; the encoding none could, without a
network: all counts would be 0."""

from __future__ import annotations

from contextlib import suppress

import tiktoken

import aider_gardener.adapters.aider.install
import aider_gardener.archive.store
import aider_gardener.gardener.gardener
import aider_gardener.replay.play.runner  # noqa: F401  # reason: imported for its time, like those before it
from aider_gardener.replay.play.variants import Job

with suppress(Exception):  # reason: a replay that needs it tells of the fault
    tiktoken.encoding_for_model(Job.model)
