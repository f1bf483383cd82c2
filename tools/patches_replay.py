"""Compare the prompts of the patch series with those of the gardener that patches aider at run time.

Replays recorded sessions twice with the same settings: once on aider with the fixes of the series and this
package's `install()`, once on aider with the whole series, in which nothing is replaced at run time. Every
prompt is written out, and the files are compared byte by byte. Exit 0 when all are the same, 1 when not.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from patch_series.library import PACKAGE
from patch_tests import record, unpack, write_files
from upstream_tests import RunFailed, fetch

from aider_gardener.patches.series import Series, read_series
from aider_gardener.patches.state import with_patches
from aider_gardener.patches.tree import tree_at
from aider_gardener.replay.play.jobs import Job, job_value
from aider_gardener.replay.play.sandbox import environment

ROOT = Path(__file__).resolve().parent.parent
SESSIONS = ("queue-incident", "ledger-api")
SIDES = ("installed", "patched")
LIMIT_SECONDS = 1_800


def main(argv: Sequence[str] | None = None) -> int:
    """Replay, compare, print; see the module's text for the exit codes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("sessions", nargs="*", default=list(SESSIONS), help="names of recorded sessions")
    parser.add_argument("--side", choices=SIDES, help=argparse.SUPPRESS)  # how this calls itself
    parser.add_argument("--job", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.job:
        return replay(options.side, options.job)
    try:
        with tempfile.TemporaryDirectory(prefix="patches-replay-", ignore_cleanup_errors=True) as folder:
            return compare(Path(folder), options.sessions)
    except RunFailed as error:
        print(f"patches replay: {error}", file=sys.stderr)
        return 2


def compare(folder: Path, sessions: Sequence[str]) -> int:
    """Make both trees, replay on both, compare what was dumped."""
    series = read_series(ROOT / "patches")
    dumps = {}
    for side in SIDES:
        tree = make_tree(series, folder / side, side)
        dumps[side] = folder / f"prompts-{side}"
        for session in sessions:
            run(side, tree, dumps[side], session)
    first, second = (prompts(dumps[side]) for side in SIDES)
    different = sorted(name for name in {*first, *second} if first.get(name) != second.get(name))
    print(f"{len(first)} and {len(second)} prompts, {len(different)} of them differ")
    for name in different[:10]:
        print(f"  {name}")
    result = {"prompts": len(first), "different": len(different), "sessions": sorted(sessions)}
    record("replay", result)
    return 1 if different or not first else 0


def make_tree(series: Series, folder: Path, side: str) -> Path:
    """aider's source with the fixes, and for the patched side with the chain too."""
    source = unpack(fetch(), folder)
    tree = tree_at(source)
    patches = [patch for patch in series.patches if side == "patched" or patch.is_fix]
    write_files(source, with_patches(tree.read_all(series.paths()), patches, tree))
    if side == "patched":  # the model's tokenizer, which the patches leave to an extra
        shutil.copytree(
            PACKAGE / "recall" / "data", source / "aider" / "gardener" / "recall" / "data", dirs_exist_ok=True
        )
    return source


def run(side: str, tree: Path, dump: Path, session: str) -> None:
    """Replay in a process of its own that finds this aider before the installed one."""
    job = Job(ROOT / "recorded_sessions" / session, "gardener", probes=(), dump_dir=dump)
    folder = tree.parent / f"work-{session}"
    (folder / "home").mkdir(parents=True)
    value = job_value(job, folder, folder / "result.json")
    (folder / "job.json").write_text(json.dumps(value), "utf-8")
    paths = [str(tree), str(ROOT), str(ROOT / "tools"), os.environ.get("PYTHONPATH", "")]
    environ = {**environment(folder / "home", os.environ), "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, str(Path(__file__)), "--side", side, "--job", str(folder / "job.json")]
    try:
        done = subprocess.run(command, env=environ, capture_output=True, timeout=LIMIT_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise RunFailed(f"the replay of {session}, {side}, took longer than {LIMIT_SECONDS} s") from error
    if done.returncode:
        words = "\n".join(done.stderr.decode("utf-8", "replace").strip().splitlines()[-8:])
        raise RunFailed(f"the replay of {session}, {side}, ended with {done.returncode}: {words}")
    print(f"patches replay: {session}, {side}: done", flush=True)


def replay(side: str, job: str) -> int:
    """One side: replay a session with the variant `gardener`, in this process."""
    import aider

    if not (Path(aider.__file__).parents[1] / "pyproject.toml").is_file():
        print(f"aider came from {aider.__file__}, which is not the patched source", file=sys.stderr)
        return 2
    if side == "patched":
        take_the_gardener_inside()
    from aider_gardener.replay.play.worker import main as work

    return work([job])


def take_the_gardener_inside() -> None:
    """Have the replay give its settings to aider's own gardener: nothing of aider is replaced."""
    import aider.gardener.host.link as link
    from aider.gardener.settings import Settings

    import aider_gardener

    def configure(settings: object = None) -> None:
        link.state.settings = Settings(**vars(settings)) if settings is not None else None
        link.state.background = False

    aider_gardener.install = configure  # the replay's own doing, not aider's
    aider_gardener.uninstall = link.state.close


def prompts(folder: Path) -> dict[str, bytes]:
    """Every dumped prompt by its path."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*.json"))
        if json.loads(path.read_text("utf-8"))
    }


if __name__ == "__main__":
    code = main()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)  # threads that aider leaves behind must not hold the process
