"""`gardener replay`: arguments in, table, JSON, plot and page out."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from aider_gardener.cli.pipe import progress_bar
from aider_gardener.cli.root import FILE
from aider_gardener.errors import ReplayError, UsageError
from aider_gardener.tokens import window_of

if TYPE_CHECKING:
    from aider_gardener.replay.measure.result import ReplayResult
    from aider_gardener.replay.measure.summary import ReplayReport
    from aider_gardener.replay.play.variants import Job
    from aider_gardener.replay.session.session import Session

DEFAULT_MODEL = "gpt-4o"
PATH = click.Path(path_type=Path)


@click.command("replay", short_help="Replay chats with and without the gardener.")
@click.argument("paths", nargs=-1, metavar="PATH...", type=PATH)
@click.option(
    "--variant",
    "variants",
    multiple=True,
    metavar="NAME,...",
    help="Ways to treat the past, apart by commas.  [default: stock,stock-fixed,gardener]",
)
@click.option(
    "--model",
    metavar="NAME",
    help="Model whose window, tokenizer, limits and prices hold. None is called.  [default: that of the "
    f"chat, where it is known, else {DEFAULT_MODEL}]",
)
@click.option(
    "--history-tokens",
    type=click.IntRange(min=1),
    metavar="N",
    help="Budget of the history in tokens.  [default: the model's]",
)
@click.option(
    "--map-tokens",
    type=click.IntRange(min=0),
    metavar="N",
    help="Budget of the repository map in tokens, 0 for none.  [default: the model's]",
)
@click.option(
    "--cache-prompts",
    is_flag=True,
    help="Run aider with its --cache-prompts: a map that is made anew only for other files, and marks.",
)
@click.option("--probes", type=FILE, metavar="FILE", help="Probes to ask in place of the session's own.")
@click.option(
    "--dump-prompts",
    type=PATH,
    metavar="DIR",
    help="Write each prompt to DIR/<session>/<variant>/<turn>-<n>.json.",
)
@click.option("--full", is_flag=True, help="Show all figures and what they mean, of each chat.")
@click.option(
    "--json",
    "json_target",
    type=click.Path(dir_okay=False, allow_dash=True),
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
    help="Write a report to read in a browser: the verdict, prices, what was lost, compactions.",
)
def replay(paths: tuple[Path, ...], variants: tuple[str, ...], **options: Any) -> None:
    """Replay recorded sessions or any .aider.chat.history.md with and without the gardener.

    No model is called and no key is needed: replies come from the recording. Each PATH is a recorded
    session's folder or a chat history file. The last lines say whether the gardener is worth it for these
    chats. Of a transcript of Claude Code (.jsonl) it is told what it cost by its own usage numbers, and what
    of that a warm cache and short outputs spare.
    """
    transcripts = [path for path in paths if path.suffix == ".jsonl" and path.name != "session.jsonl"]
    if transcripts:
        tell_costs(paths, transcripts, {**options, "variants": variants})
        return
    try:
        run(paths, chosen_variants(variants), **options)
    except KeyboardInterrupt:
        raise ReplayError("stopped; no table, JSON, plot or report was made") from None


def tell_costs(paths: Sequence[Path], transcripts: Sequence[Path], given: Mapping[str, Any]) -> None:
    from aider_gardener.replay.measure.usage import chat_cost, told

    others = [value for name, value in given.items() if name != "json_target" and value]
    if len(transcripts) < len(paths) or others or given["json_target"] not in (None, "-"):
        raise UsageError("name transcripts alone, with no option but --json -")
    costs = {str(path): chat_cost(path) for path in transcripts}
    if given["json_target"]:
        click.echo(json.dumps({path: asdict(cost) for path, cost in costs.items()}))
    else:
        click.echo("\n".join(f"{path}: {told(cost)}" for path, cost in costs.items()))


def chosen_variants(given: Sequence[str]) -> tuple[str, ...]:
    """The variants of all --variant options, each once; the default ones if there are none."""
    from aider_gardener.replay.play.variants import DEFAULT_VARIANTS, variant_named

    names = [name.strip() for text in given for name in text.split(",") if name.strip()]
    for name in names:
        variant_named(name)
    if given and not names:
        raise UsageError(f"--variant names nothing; try --variant {','.join(DEFAULT_VARIANTS)}")
    return tuple(dict.fromkeys(names)) or DEFAULT_VARIANTS


def run(
    paths: Sequence[Path],
    variants: Sequence[str],
    *,
    model: str | None,
    probes: Path | None,
    dump_prompts: Path | None,
    full: bool,
    json_target: str | None,
    plot: Path | None,
    html: Path | None,
    **host: Any,
) -> None:
    """Check what would only show after minutes of work, read the sessions, replay them, show what came of it.
    `host` are options of aider's."""
    from aider_gardener.replay.measure.summary import make_report, report_json
    from aider_gardener.replay.play.report import find_paths, notes, read_sessions
    from aider_gardener.replay.play.variants import Job
    from aider_gardener.replay.session.session import load_probes
    from aider_gardener.replay.show.table import print_report
    from aider_gardener.tables import Screen

    if not paths:
        raise UsageError("name at least one recorded session folder or .aider.chat.history.md")
    if plot is not None:
        from aider_gardener.replay.show.chart import check_suffix

        check_suffix(plot)
    sessions = read_sessions(find_paths(paths))
    if probes and len(sessions) > 1:
        raise UsageError("--probes belongs to one session; name one PATH with it")
    if probes:
        sessions = [replace(sessions[0], probes=load_probes(probes))]
    if model and not _is_known(model):
        raise UsageError(f"--model {model}: its window is not known; name one that litellm knows")
    jobs = [
        Job(
            session,
            variant,
            model=model or model_of(session),
            dump_dir=dump_prompts and dump_prompts.resolve(),
            **host,
        )
        for session in sessions
        for variant in variants
    ]
    results = replayed(jobs)
    report = make_report(results, notes(jobs, results))
    if json_target == "-":
        click.echo(json.dumps(report_json(report)))
    else:
        print_report(report, Screen(), full=full)
    write_files(report, Path(json_target) if json_target not in (None, "-") else None, plot, html)


def replayed(jobs: Sequence[Job]) -> list[ReplayResult]:
    """Run the jobs; on standard error a terminal shows how many turns are done, elsewhere each replay is a
    line. How long it will take is not said: the last turns of a chat take much longer than the first."""
    from aider_gardener.replay.play.jobs import replay_all

    turns = sum(job.session.turn_count for job in jobs)

    def say(text: str) -> None:
        if not sys.stderr.isatty():
            click.echo(text, err=True)

    say(f"replaying {turns:,} turns, those of all variants together")
    with progress_bar(turns, "turns replayed", by_time=False) as bar:
        return replay_all(
            jobs,
            lambda: bar.update(1),
            lambda result: say(f"replayed {result.session} under {result.variant}"),
        )


def model_of(session: Session) -> str:
    """The model that a chat was held with, where litellm knows it."""
    name = str(session.meta.get("model") or "")
    return name if name and _is_known(name) else DEFAULT_MODEL


def _is_known(name: str) -> bool:
    """Whether a model's window is known."""
    from aider.models import MODEL_ALIASES

    return window_of(MODEL_ALIASES.get(name, name)) > 0


def write_files(report: ReplayReport, json_file: Path | None, plot: Path | None, html: Path | None) -> None:
    if json_file is not None:
        from aider_gardener.replay.measure.summary import write_report

        write_report(report, json_file)
        click.echo(f"JSON written to {json_file}", err=True)
    if plot is not None:
        from aider_gardener.replay.show.chart import write_plot

        write_plot(report.results, plot)
        click.echo(f"plot written to {plot}", err=True)
    if html is not None:
        from aider_gardener.replay.show.replay_page import write_page

        write_page(report, html)
        click.echo(f"report written to {html}; it holds parts of the chat", err=True)
