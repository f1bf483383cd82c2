"""Imported by the process that replays are forked off: the host, the core, the lexers of its map, and the
encoding of the model that a replay has by default. What it holds none of them loads; the encoding none could,
without a network: all counts would be 0.

A Ctrl-C ends it without a word: Python's answer would be a traceback of the imports.
"""

from __future__ import annotations

import importlib
import signal
from contextlib import suppress

signal.signal(signal.SIGINT, signal.SIG_DFL)
if hasattr(signal, "pthread_sigmask"):  # it was begun with the signal blocked
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})

for name in (
    "aider.coders",
    "networkx",
    "scipy.sparse",
    "litellm.litellm_core_utils.default_encoding",
    "aider_gardener.adapters.aider.install",
    "aider_gardener.archive.store",
    "aider_gardener.gardener.gardener",
    "aider_gardener.replay.play.runner",
):
    importlib.import_module(name)

with suppress(Exception):  # reason: a replay that needs it tells of the fault
    importlib.import_module("pygments.lexers").guess_lexer_for_filename("a.py", "")  # which loads them all
    import tiktoken

    from aider_gardener.replay.play.variants import Job

    tiktoken.encoding_for_model(Job.model)
