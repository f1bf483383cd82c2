"""The core serves any host: it runs where neither aider nor litellm can be imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from test_layering import IMPORTS, TALKS_TO_HOSTS, room

NO_HOST = """
import importlib, pkgutil, sys

HOSTS = {"aider", "litellm"}

class NoHost:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in HOSTS:
            raise ImportError(f"the core asked for {name}")

sys.meta_path.insert(0, NoHost())

import aider_gardener

for room in sys.argv[1:]:
    package = importlib.import_module(f"aider_gardener.{room}")
    for found in pkgutil.walk_packages(getattr(package, "__path__", ()), package.__name__ + "."):
        importlib.import_module(found.name)

assert not HOSTS & set(sys.modules)
"""


def test_every_room_of_the_core_is_imported_without_a_host(root: Path) -> None:
    """That a chat is held so too say the tests of the plain adapter."""
    rooms = sorted(set(map(room, IMPORTS)) - {*TALKS_TO_HOSTS})
    command = [sys.executable, "-c", NO_HOST, *rooms]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
