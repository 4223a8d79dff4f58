"""The commands that work on no project: they tell of rules, settings, kept runs and environments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fixer import options as opt
from fixer.reports import OutputFormat


def rules(
    words: Annotated[
        list[str] | None, typer.Argument(help="Only rules of these codes, levels or words.", metavar="WORDS")
    ] = None,
) -> None:
    """List the rules."""
    from fixer.reports.rules import table

    typer.echo(table(words or []), nl=False)


def explain(
    code: Annotated[
        str, typer.Argument(help="Code of a rule, such as TBP001, or a word of fixer, such as rung.", metavar="CODE")
    ],
) -> None:
    """Explain a rule, or a word of the reports."""
    from fixer.reports.rules import page

    typer.echo(page(code), nl=False)


def report(
    run: Annotated[
        str | None,
        typer.Argument(help="Name of a kept run, or how it begins [default: this project's newest].", metavar="RUN"),
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write it as one HTML file.", metavar="FILE")] = None,
    output_format: opt.Format = OutputFormat.text,
    verbose: opt.Verbose = False,
    listed: Annotated[bool, typer.Option("--list", help="List this project's runs, and how each ended.")] = False,
) -> int:
    """Show again what a run found, changed and proved."""
    from fixer import runs
    from fixer.console import aside, save, show
    from fixer.kept_runs import identity

    project = identity(Path())
    if listed:
        lines = runs.listed(project)
        typer.echo(lines, nl=False) if lines else aside(runs.nothing_of(project))
        return 0
    place = opt.writable(f"--html {html}", html) if html else None
    found = runs.found(run, project)
    result = runs.load(found)
    if place:
        save(result, [(OutputFormat.html, place)])
    else:
        show(result, output_format, verbose=verbose)
    if kept := runs.recordings(found):
        aside(f"recorded: {kept}")
    return 0


def config(path: opt.PathArgument = Path()) -> None:
    """Show the settings that hold for a run, and where each comes from."""
    from fixer.console import aside
    from fixer.project import open_settings
    from fixer.reports.settings import table
    from fixer.settings import SharedOptions, in_words, options_for

    project = open_settings(path)
    options_for(SharedOptions(path), project)
    typer.echo(table(project.config, in_words()), nl=False)
    for message in project.about_settings:
        aside(message)


def cache(
    prune: Annotated[
        float | None,
        typer.Option(min=0, help="Remove what was not used for so many days.", metavar="DAYS"),
    ] = None,
    clear: Annotated[bool, typer.Option("--clear", help="Remove all of them.")] = False,
) -> None:
    """List the environments kept for proofs, or remove them. So too what is remembered of projects."""
    from fixer.cache import listed, pruned

    typer.echo(listed() if prune is None and not clear else pruned(0 if clear else prune or 0), nl=False)


def init(
    path: Annotated[Path, typer.Argument(help="Project to begin with [default: .].", show_default=False)] = Path(),
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Write without asking.")] = False,
) -> int:
    """Write settings and the files for CI that fit the project. They are shown first; none is overwritten."""
    import sys

    from fixer.starters import begin

    start = begin(path)
    typer.echo(start.text(), nl=False)
    if not start.starters:
        return 0
    if not yes and not sys.stdin.isatty():
        typer.echo("nothing is written; --yes writes it")
        return 0
    if yes or typer.confirm("Write this?"):
        start.write()
        typer.echo(f"written: {', '.join(one.path for one in start.starters)}")
    return 0


COMMANDS = (init, rules, explain, report, config, cache)
