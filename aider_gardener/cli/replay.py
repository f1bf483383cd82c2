"""`gardener replay`: arguments in, table, JSON and page out."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aider_gardener.cli.pipe import progress_bar
from aider_gardener.cli.root import FILE, FileType
from aider_gardener.errors import UsageError
from aider_gardener.files import check_place, write_private
from aider_gardener.tokens import window_of

if TYPE_CHECKING:
    from aider_gardener.replay.measure.result import ReplayResult
    from aider_gardener.replay.measure.summary import ReplayReport
    from aider_gardener.replay.play.variants import Job

DEFAULT_MODEL, DEFAULT_VARIANTS = "gpt-4o", "stock,stock-fixed,gardener"
PATH = click.Path(path_type=Path)


@click.command("replay", short_help="Replay chats with and without the gardener.")
@click.argument("paths", nargs=-1, metavar="PATH...", type=PATH)
@click.option(
    "--variant",
    "variants",
    multiple=True,
    metavar="NAME,...",
    help=f"Ways to treat the past, apart by commas.  [default: {DEFAULT_VARIANTS}]",
)
@click.option(
    "--model",
    metavar="NAME",
    help="Model whose window, tokenizer, limits and prices hold. None is called.  [default: that of the "
    f"chat, where it is known, else {DEFAULT_MODEL}]",
)
@click.option(
    "--history-tokens",
    type=click.IntRange(1),
    metavar="N",
    help="Budget of the history in tokens.  [default: the model's]",
)
@click.option(
    "--cache-prompts",
    is_flag=True,
    help="Run aider with its --cache-prompts: a map that is made anew only for other files, and marks.",
)
@click.option(
    "--dump-prompts",
    type=click.Path(file_okay=False, path_type=Path, resolve_path=True),
    metavar="DIR",
    help="Write each prompt to DIR/<session>/<variant>/<turn>-<n>.json.",
)
@click.option("--full", is_flag=True, help="Show all figures and what they mean, of each chat.")
@click.option(
    "--json",
    "json_target",
    type=FileType(dir_okay=False, allow_dash=True),
    metavar="FILE",
    help="Write everything as JSON; '-' is standard output, and nothing else then goes there.",
)
@click.option(
    "--plot", type=FILE, metavar="FILE", help="Draw tokens per request over turns (.svg, .png or .pdf)."
)
@click.option(
    "--html",
    type=FILE,
    metavar="FILE",
    help="Write a report to read in a browser: verdict, prices, a chart, what was lost, compactions.",
)
def replay(
    paths: tuple[Path, ...],
    variants: tuple[str, ...],
    model: str | None,
    dump_prompts: Path | None,
    full: bool,
    json_target: str | None,
    plot: Path | None,
    html: Path | None,
    **host: Any,
) -> None:
    """Replay recorded sessions or any .aider.chat.history.md with and without the gardener.

    No model is called and no key is needed: replies come from the recording. Each PATH is a recorded
    session's folder or a chat history file. The last lines say whether the gardener is worth it for these
    chats. Of a transcript of Claude Code (.jsonl) it is told what it cost by its own usage numbers, and what
    of that a warm cache and short outputs spare.
    """
    from aider_gardener.replay.measure.summary import make_report, report_json
    from aider_gardener.replay.play.report import notes
    from aider_gardener.replay.show.table import print_report
    from aider_gardener.tables import plain

    if transcripts := [path for path in paths if path.suffix == ".jsonl" and path.name != "session.jsonl"]:
        options = (variants, model, dump_prompts, full, plot, html, *host.values())
        if len(transcripts) < len(paths) or any(options) or json_target not in (None, "-"):
            raise UsageError("name transcripts alone, with no option but --json -")
        print_costs(transcripts, as_json=json_target is not None)
        return
    names = variant_names(variants)
    if not paths:
        raise UsageError(
            "name a recorded session's folder, an .aider.chat.history.md or a .jsonl of Claude Code"
        )
    json_file = Path(json_target) if json_target not in (None, "-") else None
    check_targets(json_file, plot, html, dump_prompts and dump_prompts / "1-1.json")
    jobs = jobs_for(paths, names, model, dump_dir=dump_prompts, **host)
    results = replayed(jobs)
    report = make_report(results, notes(jobs, results))
    if json_target == "-":
        click.echo(json.dumps(report_json(report)))
    else:
        print_report(report, plain(), full=full)
    write_files(report, json_file, plot, html)


def print_costs(transcripts: Sequence[Path], *, as_json: bool) -> None:
    """What chats of Claude Code cost by their own numbers."""
    from aider_gardener.replay.measure.usage import chat_cost, cost_text

    costs = {str(path): chat_cost(path) for path in transcripts}
    if as_json:
        click.echo(json.dumps({path: asdict(cost) for path, cost in costs.items()}))
    else:
        click.echo("\n".join(f"{path}: {cost_text(cost)}" for path, cost in costs.items()))


def variant_names(given: Sequence[str]) -> list[str]:
    """The variants that were named, each once. Raises UsageError for one that there is not."""
    from aider_gardener.replay.play.variants import variant_named

    names = dict.fromkeys(name.strip() for name in (",".join(given) or DEFAULT_VARIANTS).split(","))
    for name in names:
        variant_named(name)
    return list(names)


def check_targets(json_file: Path | None, plot: Path | None, html: Path | None, prompt: Path | None) -> None:
    """Raise UsageError, before anything is played, for a file that cannot be written or drawn."""
    for target in filter(None, (json_file, plot, html, prompt)):
        check_place(target)
    if plot is not None:
        from aider_gardener.replay.show.chart import check_suffix

        check_suffix(plot)


def jobs_for(paths: Sequence[Path], names: Sequence[str], model: str | None, **host: Any) -> list[Job]:
    """Each chat under each variant, for the model that is named, else its own. Raises UsageError for a path
    without a chat and for a model whose window is not known."""
    from aider_gardener.replay.play.report import find_paths, read_sessions
    from aider_gardener.replay.play.variants import Job

    sessions = read_sessions(find_paths(paths))
    if model and not _has_window(model):
        raise UsageError(f"--model {model}: its window is not known; name one that litellm knows")
    jobs = []
    for session in sessions:
        own = str(session.meta.get("model") or "")
        used = model or (own if own and _has_window(own) else DEFAULT_MODEL)
        jobs += [Job(session, name, model=used, **host) for name in names]
    return jobs


def write_files(report: ReplayReport, json_file: Path | None, plot: Path | None, html: Path | None) -> None:
    """Write a report to the files that were named, and say so on standard error."""
    if json_file is not None:
        from aider_gardener.replay.measure.summary import report_json

        write_private(json_file, json.dumps(report_json(report), ensure_ascii=False, indent=1) + "\n")
        click.echo(f"JSON written to {json_file}", err=True)
    if plot is not None:
        from aider_gardener.replay.show.chart import write_plot

        write_plot(report.results, plot)
        click.echo(f"plot written to {plot}", err=True)
    if html is not None:
        from aider_gardener.replay.show.replay_page import page_of

        write_private(html, page_of(report))
        click.echo(f"report written to {html}; it holds parts of the chat", err=True)


def replayed(jobs: Sequence[Job]) -> list[ReplayResult]:
    """Run the jobs; on standard error a terminal shows how many turns are done, elsewhere each replay is a
    line. How long it will take is not said: the last turns of a chat take much longer than the first."""
    from aider_gardener.replay.play.jobs import replay_all

    def done(result: ReplayResult) -> None:
        if not sys.stderr.isatty():
            click.echo(f"replayed {result.session} under {result.variant}", err=True)

    turns = sum(job.session.turn_count for job in jobs)
    with progress_bar(turns, "turns replayed", by_time=False) as bar:
        return replay_all(jobs, lambda: bar.update(1), done)


def _has_window(name: str) -> bool:
    """Whether a model's window is known."""
    from aider.models import MODEL_ALIASES

    return window_of(MODEL_ALIASES.get(name, name)) > 0
