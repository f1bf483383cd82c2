"""`gardener replay`: arguments in, table, JSON and plot out."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import click

from aider_gardener.errors import GardenerError, UsageError

if TYPE_CHECKING:
    from aider_gardener.replay.measure.summary import ReplayReport

DEFAULT_MODEL = "gpt-4o"


@dataclass(frozen=True)
class Options:
    """What was asked for, checked as far as that goes without reading a session."""

    paths: tuple[Path, ...]
    variants: tuple[str, ...]
    model: str
    history_tokens: int | None
    map_tokens: int | None
    cache_prompts: bool
    probes: Path | None
    summaries: Path | None
    dump_prompts: Path | None
    json: str | None
    plot: Path | None
    html: Path | None
    ask_model: str
    cassette: Path | None

    @property
    def json_file(self) -> Path | None:
        return Path(self.json) if self.json not in (None, "", "-") else None


@click.command("replay", short_help="Replay chats with and without the gardener.")
@click.argument("paths", nargs=-1, metavar="PATH...", type=click.Path(path_type=Path))
@click.option(
    "--variant",
    "variants",
    multiple=True,
    metavar="NAME,...",
    help="Ways to treat the past, apart by commas.  [default: stock,stock-fixed,gardener]",
)
@click.option(
    "--model",
    default=DEFAULT_MODEL,
    show_default=True,
    metavar="NAME",
    help="Model whose window, tokenizer and limits hold. None is called.",
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
@click.option(
    "--probes",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Probes to ask in place of the session's own.",
)
@click.option(
    "--summaries",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Recorded summaries in place of the session's own.",
)
@click.option(
    "--dump-prompts",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Write each prompt to DIR/<session>/<variant>/<turn>-<n>.json.",
)
@click.option(
    "--json",
    "json",
    metavar="FILE",
    help="Write everything as JSON; '-' is standard output, and nothing else then goes there.",
)
@click.option(
    "--plot",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Draw tokens per request over turns (.svg, .png or .pdf).",
)
@click.option(
    "--html",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Write a report to read in a browser: prompts, compactions, probes, prices.",
)
@click.option(
    "--ask-model",
    default="",
    metavar="NAME",
    help="Ask this model, with your key, for summaries and answers to probes. It costs money.",
)
@click.option(
    "--cassette",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Where the answers of --ask-model are kept; what is in it is not asked again.",
)
def replay(paths: tuple[Path, ...], variants: tuple[str, ...], **given: Any) -> None:
    """Replay recorded sessions or any .aider.chat.history.md with and without the gardener.

    No model is called and no key is needed, unless you give --ask-model: replies come from the recording.
    Each PATH is a recorded session's folder or a chat history file. Of a transcript of Claude Code (.jsonl)
    it is told what it cost by its own usage numbers, and what of that a warm cache and short outputs spare.
    """
    try:
        if transcripts := [
            path for path in paths if path.suffix == ".jsonl" and path.name != "session.jsonl"
        ]:
            return tell_costs(paths, transcripts, given)
        options = Options(paths=paths, variants=chosen_variants(variants), **given)
        check_options(options)
        run(options)
    except KeyboardInterrupt:
        fail("stopped before anything was finished; no table, JSON, plot or report was made", 1)
    except UsageError as problem:
        fail(str(problem), 2)
    except GardenerError as problem:
        fail(str(problem), 1)


def tell_costs(paths: Sequence[Path], transcripts: Sequence[Path], given: Mapping[str, Any]) -> None:
    """Say what chats of Claude Code cost."""
    from aider_gardener.replay.measure.usage import chat_cost, told

    if len(transcripts) < len(paths) or given["json"] not in (None, "-"):
        raise UsageError("name transcripts alone, with no option but --json -")
    costs = {str(path): chat_cost(path) for path in transcripts}
    if given["json"]:
        click.echo(json.dumps({path: asdict(cost) for path, cost in costs.items()}))
    else:
        click.echo("\n".join(f"{path}: {told(cost)}" for path, cost in costs.items()))


def fail(message: str, code: int) -> NoReturn:
    """One line on standard error, then the end."""
    click.echo(f"gardener replay: {' '.join(message.split())}", err=True)
    sys.exit(code)


def chosen_variants(given: Sequence[str]) -> tuple[str, ...]:
    """The variants of all --variant options, each once; the default ones if there are none."""
    from aider_gardener.replay.play.variants import DEFAULT_VARIANTS, variant_named

    names = [name.strip() for text in given for name in text.split(",") if name.strip()]
    for name in names:
        variant_named(name)
    if given and not names:
        raise UsageError(f"--variant names nothing; try --variant {','.join(DEFAULT_VARIANTS)}")
    return tuple(dict.fromkeys(names)) or DEFAULT_VARIANTS


def check_options(options: Options) -> None:
    """UsageError for what would only show after minutes of work."""
    if not options.paths:
        raise UsageError("name at least one recorded session folder or .aider.chat.history.md")
    if bool(options.ask_model) != bool(options.cassette):
        raise UsageError("--ask-model and --cassette go together: answers are paid for, so they are kept")
    if options.plot is not None:
        from aider_gardener.replay.show.chart import check_suffix

        check_suffix(options.plot)
    for target in (options.plot, options.json_file, options.html):
        if target is not None and target.is_dir():
            raise UsageError(f"{target}: is a folder; name a file")


def check_model(name: str) -> None:
    """UsageError if nothing is known of the model's window."""
    import os

    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    from aider.models import MODEL_ALIASES
    from litellm import model_cost

    full = MODEL_ALIASES.get(name, name)
    row = model_cost.get(full) or model_cost.get(full.split("/", 1)[-1]) or {}
    if not row.get("max_input_tokens"):
        raise UsageError(
            f"--model {name}: its window is not known; name a model that litellm knows, "
            f"such as {DEFAULT_MODEL}"
        )


def run(options: Options) -> None:
    """Read the sessions, replay them, show what came of it."""
    from aider_gardener.replay.play.report import find_paths, read_sessions, run_tasks, tasks_for
    from aider_gardener.replay.session.session import load_probes, load_summaries
    from aider_gardener.replay.show.progress import watching

    paths = find_paths(options.paths)
    if len(paths) > 1 and (options.probes or options.summaries):
        raise UsageError("--probes and --summaries belong to one session; name one PATH with them")
    with watching() as watcher:
        sessions = read_sessions(paths, watcher)
        if options.probes:
            sessions = [replace(sessions[0], probes=load_probes(options.probes))]
        if options.summaries:
            sessions = [replace(sessions[0], summaries=load_summaries(options.summaries))]
        check_model(options.model)
        tasks = tasks_for(
            sessions,
            options.variants,
            model=options.model,
            history_tokens=options.history_tokens,
            map_tokens=options.map_tokens,
            cache_prompts=options.cache_prompts,
            dump_dir=options.dump_prompts,
            ask_model=options.ask_model,
            cassette=options.cassette,
            page=options.html is not None,
        )
        report = run_tasks(tasks, watcher)
    if report.stopped:
        stopped(report, options)
    show(report, options)


def stopped(report: ReplayReport, options: Options) -> NoReturn:
    """Show the table of what was finished, apart from where JSON was to go; no file is made of it."""
    from aider_gardener.replay.show.table import print_report
    from aider_gardener.tables import Screen

    said = f"{report.stopped}; the table shows these alone"
    for_json = options.json == "-"
    click.echo(f"PARTIAL: {said}\n", err=for_json)
    print_report(report, Screen(stderr=for_json))
    fail(f"{said}, and no JSON, plot or report was made", 1)


def show(report: ReplayReport, options: Options) -> None:
    """Write the files that were asked for; the table goes to standard output unless JSON does."""
    if options.json == "-":
        from aider_gardener.replay.measure.summary import report_json

        click.echo(json.dumps(report_json(report)))
    if options.json_file is not None:
        from aider_gardener.replay.measure.summary import write_report

        write_report(report, options.json_file)
    if options.plot is not None:
        from aider_gardener.replay.show.chart import write_plot

        write_plot(report.results, options.plot)
    if options.html is not None:
        from aider_gardener.replay.show.replay_page import write_page

        write_page(report, options.html)
    if options.json != "-":
        from aider_gardener.replay.show.table import print_report
        from aider_gardener.tables import Screen

        print_report(report, Screen())
    for kind, target in (("JSON", options.json_file), ("plot", options.plot)):
        if target is not None:
            click.echo(f"{kind} written to {target}", err=True)
    if options.html is not None:
        click.echo(f"report written to {options.html}; it holds parts of the chat", err=True)
