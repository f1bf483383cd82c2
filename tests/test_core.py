"""The core serves any host: it runs where neither aider nor litellm can be imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from test_layering import IMPORTS, TALKS_TO_HOSTS, room

NO_HOST = """
import importlib, pkgutil, sys
from pathlib import Path

HOSTS = {"aider", "litellm"}

class NoHost:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in HOSTS:
            raise ImportError(f"the core asked for {name}")

sys.meta_path.insert(0, NoHost())

import aider_gardener
from aider_gardener.archive.archive import Archive
from aider_gardener.archive.store import open_store
from aider_gardener.gardener.gardener import Gardener
from aider_gardener.recall.backlog import Backlog
from aider_gardener.recall.embed import loading
from aider_gardener.settings import Settings

for room in sys.argv[2:]:
    package = importlib.import_module(f"aider_gardener.{room}")
    for found in pkgutil.walk_packages(getattr(package, "__path__", ()), package.__name__ + "."):
        importlib.import_module(found.name)

store = open_store(Path(sys.argv[1]))
settings = Settings(history_tokens=400)
backlog = Backlog(store, load=loading(settings.embedder), background=False)
count = lambda text: len(text.split())
archive = Archive(store, session="s", project="p", count=count, clock=lambda: 1_000.0, backlog=backlog)
gardener = Gardener(settings, archive)
done, plans = [], 0
for turn in range(12):
    gardener.enter_turn()
    code = f"def rows_{turn}(limit: int) -> list[str]:\\n" + "    limit += 1\\n" * 40
    asked = "the staging box kestrel listens on port 48213" if not turn else f"write part {turn}"
    reply = f"Part {turn}:\\n\\n```python\\n{code}```\\n"
    done += [{"role": "user", "content": asked}, {"role": "assistant", "content": reply}]
    gardener.sync(done, [])
    plans += gardener.compact_if_due() is not None
    done = list(gardener.state.chat.done)
    gardener.leave_turn()
    gardener.idle()
assert plans, "nothing was compacted"
assert "48213" in gardener.recall("which port has kestrel?")[0].text
store.close()
assert not HOSTS & set(sys.modules)
"""


def test_a_chat_without_a_host(tmp_path: Path, root: Path) -> None:
    rooms = sorted(set(map(room, IMPORTS)) - {*TALKS_TO_HOSTS})
    command = [sys.executable, "-c", NO_HOST, str(tmp_path), *rooms]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
