"""Compare the prompts of what is really shipped: aider with the patch series and the gardener beside it.

Replays recorded sessions with the same settings on aider's source: with the fixes alone, and with the whole
series, which has calls of a history provider. Every prompt is written out, and the files are compared byte by
byte. `interface` must send what `stock` sends: aider's own summaries do not change by it. `fewer`, with only
those patch points that the series does not retire, and `provider`, with none, must send what `installed`
sends, with all of them. Exit 0 when all are the same, 1 when not, 2 when a replay could not be carried out.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from patch_tests import WANTED, record, write_files
from patches_page import ROOT, digest_of, replay_table
from upstream_tests import RunFailed, fetch, unpack

import aider_gardener
from aider_gardener.patches.series import Series, read_series
from aider_gardener.patches.tree import patched, read_files
from aider_gardener.plan.view import NOTE_HEAD
from aider_gardener.replay.play.jobs import play
from aider_gardener.replay.play.sandbox import environment
from aider_gardener.replay.play.variants import Job
from aider_gardener.replay.session.history import load_session
from aider_gardener.settings import Settings

SESSIONS = ("queue-incident", "ledger-api")
LIMIT_SECONDS = 1_800
SEAMS_FILE = "seams"
"""In a replay's folder: how many patch points of aider were in force."""


@dataclass(frozen=True)
class Side:
    """A way to have a history tended: on the whole series or the fixes alone, by a variant of the replay, and
    with these settings. `as_in`: the side whose prompts these must be."""

    name: str
    what: str
    variant: str
    whole: bool
    as_in: str = ""


SIDES = (
    Side("stock", "the fixes; aider's summaries", "stock", whole=False),
    Side("interface", "the whole series; aider's summaries", "stock", whole=True, as_in="stock"),
    Side("installed", "the fixes and install()", "gardener", whole=False),
    Side("fewer", "the whole series and install()", "gardener", whole=True, as_in="installed"),
    Side("provider", "the whole series and its option", "gardener", whole=True, as_in="installed"),
)  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    """Replay, compare, print; see the module's text for the exit codes."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("sessions", nargs="*", default=list(SESSIONS), help="names of recorded sessions")
    parser.add_argument("--side", help=argparse.SUPPRESS)  # how this calls itself
    parser.add_argument("--job", help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.job:
        return replay(options.side, Path(options.job))
    try:
        with tempfile.TemporaryDirectory(prefix="patches-replay-", ignore_cleanup_errors=True) as folder:
            return compare(Path(folder), options.sessions)
    except RunFailed as error:
        print(f"patches replay: {error}", file=sys.stderr)
        return 2


def compare(folder: Path, sessions: Sequence[str]) -> int:
    """Replay on every side, compare what was dumped, print and record a row for each."""
    series = read_series(ROOT / "patches")
    dumped: dict[str, Mapping[str, bytes]] = {}
    rows = {}
    for side in SIDES:
        tree = make_tree(series, folder / side.name, side)
        for session in sessions:
            seams = run(side, tree, folder / f"prompts-{side.name}", session)
        found = dumped[side.name] = prompts(folder / f"prompts-{side.name}")
        wanted = dumped[side.as_in or side.name]
        different = sorted(name for name in {*found, *wanted} if found.get(name) != wanted.get(name))
        rows[side.name] = {
            "what": side.what,
            "prompts": len(found),
            "compacted": sum(NOTE_HEAD.partition(";")[0].encode() in text for text in found.values()),
            "different": len(different),
            "as in": side.as_in,
            "seams": seams,
        }
        for name in different[:10]:
            print(f"  {side.name}: {name}")
    found_now = {"series": digest_of(series.patches, "aider/"), "sessions": sorted(sessions), "sides": rows}
    print(replay_table(series.patches, {"replay": found_now}))
    record("replay", found_now)
    same = all(row["prompts"] and not row["different"] for row in rows.values())
    return 0 if same else 1


def make_tree(series: Series, folder: Path, side: Side) -> Path:
    """aider's source with the fixes, or with the whole series."""
    source = unpack(fetch(), folder, WANTED)
    patches = [patch for patch in series.patches if side.whole or patch.subject.startswith("fix:")]
    write_files(source, patched(read_files(source, series.paths()), patches))
    return source


def with_entry_points(folder: Path) -> Path:
    """A folder that tells Python of this package's entry points as its installation does."""
    found = folder / f"aider_gardener-{aider_gardener.__version__}.dist-info"
    found.mkdir(parents=True, exist_ok=True)
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    _, _, rest = text.partition('[project.entry-points."aider.history_providers"]\n')
    lines = rest.partition("\n\n")[0].replace('"', "")
    (found / "entry_points.txt").write_text(f"[aider.history_providers]\n{lines}\n", "utf-8")
    (found / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: aider-gardener\nVersion: {aider_gardener.__version__}\n", "utf-8"
    )
    return folder


def run(side: Side, tree: Path, dump: Path, session: str) -> int:
    """Replay in a process of its own that finds this aider before the installed one; returns how many patch
    points of aider were in force."""
    job = Job(
        replace(load_session(ROOT / "recorded_sessions" / session), probes=()),
        side.variant,
        dump_dir=dump.resolve(),
    )
    folder = tree.parent / f"work-{session}"
    (folder / "home").mkdir(parents=True)
    job_file = folder / "job.pickle"
    job_file.write_bytes(pickle.dumps(job))
    told = with_entry_points(tree.parent / "entry-points")
    paths = [str(tree), str(told), str(ROOT), str(ROOT / "tools"), os.environ.get("PYTHONPATH", "")]
    environ = {**environment(folder / "home", os.environ), "PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, str(Path(__file__)), "--side", side.name, "--job", str(job_file)]
    try:
        done = subprocess.run(command, env=environ, capture_output=True, timeout=LIMIT_SECONDS, check=False)
    except subprocess.TimeoutExpired as error:
        raise RunFailed(
            f"the replay of {session}, {side.name}, took longer than {LIMIT_SECONDS} s"
        ) from error
    if done.returncode:
        words = "\n".join(done.stderr.decode("utf-8", "replace").strip().splitlines()[-8:])
        raise RunFailed(f"the replay of {session}, {side.name}, ended with {done.returncode}: {words}")
    print(f"patches replay: {session}, {side.name}: done", flush=True)
    return int((folder / SEAMS_FILE).read_text("utf-8"))


def replay(side: str, job: Path) -> int:
    """One side: replay a session, in this process, and note how many patch points were in force."""
    import aider

    if not (Path(aider.__file__).parents[1] / "pyproject.toml").is_file():
        print(f"aider came from {aider.__file__}, which is not the patched source", file=sys.stderr)
        return 2
    from aider_gardener.adapters.aider.install import in_force

    if side == "provider":
        use_the_provider()
    end, seams = aider_gardener.uninstall, job.parent / SEAMS_FILE
    seams.write_text("0", "utf-8")

    def count_and_end() -> None:
        seams.write_text(str(in_force()), "utf-8")
        end()

    aider_gardener.uninstall = count_and_end
    play(pickle.loads(job.read_bytes()), job.parent, lambda: None)
    return 0


def use_the_provider() -> None:
    """Have the replay give its settings to the provider that aider finds by its entry point, as its command
    line would; nothing of aider is replaced."""
    from aider_gardener.adapters.aider import link

    def configure(settings: Settings | None = None) -> None:
        chosen = settings or Settings()
        from aider.coders.base_coder import Coder
        from aider.history_provider import make_provider

        given = {field.name: getattr(chosen, field.name) for field in fields(Settings)}
        default = vars(Settings())
        options = [f"{name}={value}" for name, value in given.items() if value != default[name]]
        given_to_aider = make_provider("gardener", options)
        Coder.default_history = staticmethod(lambda _summarizer: given_to_aider)
        Coder.gardener = property(link.gardener_of)  # how the replay looks at what the gardener did
        link.state.background = False

    aider_gardener.install = configure
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
