"""`fixer fleet ...`: the commands that work on many repositories."""

from __future__ import annotations

import shlex
from contextlib import ExitStack
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fixer.errors import CommandEnded, UsageError

if TYPE_CHECKING:
    from fixer.fleet.asked import FleetOptions
    from fixer.fleet.pool import FleetEngine

app = typer.Typer(
    name="fleet",
    help="Repair many repositories, and go on where a run was ended.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


class EngineName(str, Enum):
    """The engines that `--engine` takes."""

    pool = "pool"
    ray = "ray"


StateFolder = Annotated[
    Path, typer.Option("--state", help="Folder of the fleet: its state, clones, results and pages.", metavar="FOLDER")
]
FOLDER = Path("fixer-fleet")


@app.command()
def run(
    what: Annotated[
        list[str] | None,
        typer.Argument(
            help="A FLEET.toml, or paths and git addresses of repositories, or files with one of these a line "
            "[default: those of the run before].",
            metavar="FLEET.toml | REPOSITORIES",
            show_default=False,
        ),
    ] = None,
    org: Annotated[
        list[str] | None,
        typer.Option("--org", help="All repositories of github:NAME or gitlab:GROUP.", metavar="FORGE:NAME"),
    ] = None,
    state: StateFolder = FOLDER,
    no_verify: Annotated[bool, typer.Option("--no-verify", help="Run no code of any repository.")] = False,
    engine: Annotated[EngineName, typer.Option(help="Where plans and proofs are made.")] = EngineName.pool,
    address: Annotated[
        str | None, typer.Option(help="Ray cluster to use [default: one on this machine].", metavar="ADDRESS")
    ] = None,
    release: Annotated[bool, typer.Option("--release", help="Deliver the rest, after the first ones.")] = False,
    again: Annotated[
        bool, typer.Option("--again", help="Look at all repositories again, also at those that are done.")
    ] = False,
) -> int:
    """Work on a fleet until nothing is left to do. Exits with 1 if a repository failed, with 2 if it was stopped."""
    from fixer.console import complain
    from fixer.fleet.asked import NOBODY, read_fleet, under_rules, unproven
    from fixer.fleet.driver import RELEASED, Driver
    from fixer.fleet.locking import alone
    from fixer.fleet.organisations import repositories_of
    from fixer.fleet.state import FILE, opened
    from fixer.fleet.status import live, text
    from fixer.tokens import take

    top, tokens, goes_on = state.absolute(), take(), not what and not org
    fleet = None if goes_on and (top / FILE).is_file() else read_fleet(what or [], more=bool(org))
    for one in org or ():
        fleet = fleet and fleet.and_of(repositories_of(one, tokens), f"--org {one}")
    with ExitStack() as stack:
        stack.enter_context(alone(top))
        held = stack.enter_context(opened(top, make=True))
        fleet = fleet or held.fleet()
        if not fleet.repositories:
            raise UsageError(NOBODY)
        fleet = under_rules(fleet)
        repositories = unproven(fleet.repositories) if no_verify else fleet.repositories
        made = _engine(engine, address, fleet.options)
        held.keep(fleet.options)
        held.enroll(repositories)
        if again:
            held.renew()
        if release:
            held.set_note(RELEASED, "yes")
        say = stack.enter_context(live(held))
        end = Driver(top, held, made, fleet.options, tokens, say).run()
        typer.echo(text(held, end.waits), nl=False)
        failed = any(row.state == "failed" for row in held.rows())
    if end.stopped:
        complain(f"the fleet stopped: {end.stopped}; `{_go_on(state)}` goes on")
        raise CommandEnded(2)
    return 1 if failed else 0


def _go_on(state: Path) -> str:
    """The command that goes on with a fleet."""
    return "fixer fleet run" + ("" if state == FOLDER else f" --state {shlex.quote(str(state))}")


def _engine(name: EngineName, address: str | None, options: FleetOptions) -> FleetEngine:
    """The engine that was asked for. Raises UsageError."""
    if name is EngineName.ray:
        from fixer.fleet.ray_engine import RayEngine

        return RayEngine(address, options.plans, options.proofs)
    if address:
        raise UsageError(f"--address {address}: that is Ray's; give --engine ray with it, or leave it out")
    from fixer.fleet.pool import ProcessPool

    return ProcessPool(options.plans, options.proofs)


@app.command()
def status(
    state: StateFolder = FOLDER,
    watch: Annotated[bool, typer.Option("--watch", help="Show it again and again, until the run ends.")] = False,
    every: Annotated[bool, typer.Option("--all", help="List every repository.")] = False,
) -> None:
    """Say how many repositories are done, proven, waiting and failed, and why."""
    from fixer.fleet.locking import is_held
    from fixer.fleet.state import opened
    from fixer.fleet.status import text, watched

    top = state.absolute()
    with opened(top) as held:
        if watch:
            watched(held, lambda: is_held(top))
        typer.echo(text(held, every=every), nl=False)


@app.command()
def retry(
    names: Annotated[
        list[str] | None, typer.Argument(help="Repositories, by name [default: all that failed].", metavar="NAMES")
    ] = None,
    state: StateFolder = FOLDER,
) -> None:
    """Queue repositories again; the next run, or the one that is going on, begins them anew."""
    from fixer.fleet.state import opened

    with opened(state.absolute()) as held:
        chosen = held.retry(names or [])
    typer.echo(f"queued again: {', '.join(chosen) or 'none, since none failed'}")


@app.command()
def stop(state: StateFolder = FOLDER) -> None:
    """Have a run end once what it is doing is done; `fixer fleet run` goes on."""
    from fixer.fleet.driver import STOP
    from fixer.fleet.locking import is_held
    from fixer.fleet.state import opened

    top = state.absolute()
    with opened(top) as held:
        if not is_held(top):
            raise UsageError(f"{state}: this fleet is not running; `fixer fleet status` shows its state")
        held.set_note(STOP, "yes")
    typer.echo(f"the run ends once what it is doing is done; `{_go_on(state)}` goes on")


@app.command()
def schema() -> None:
    """Print the JSON Schema of a FLEET.toml, for editors."""
    import json

    from fixer.fleet.asked import schema as of_file

    typer.echo(json.dumps(of_file(), indent=2))


@app.command()
def report(
    state: StateFolder = FOLDER,
    html: Annotated[Path | None, typer.Option(help="Write it as one HTML file.", metavar="FILE")] = None,
    csv: Annotated[Path | None, typer.Option(help="Write a line a repository.", metavar="FILE")] = None,
    parquet: Annotated[Path | None, typer.Option(help="Write a row a repository.", metavar="FILE")] = None,
    json: Annotated[Path | None, typer.Option(help="Write it as one JSON object.", metavar="FILE")] = None,
) -> None:
    """Write how a fleet stands: by repository, by rule, by what is left by hand. Without a file, JSON is printed."""
    from fixer.fleet import report as reports
    from fixer.fleet.state import opened
    from fixer.options import writable

    top = state.absolute()
    asked = {"html": html, "csv": csv, "parquet": parquet, "json": json}
    places = {name: writable(f"--{name} {to}", to) for name, to in asked.items() if to}
    with opened(top) as held:
        found = reports.of_fleet(held, top)
    for name, place in places.items():
        if name == "parquet":
            place.write_bytes(reports.as_parquet(found))
            continue
        if name == "html":
            text = reports.as_html(found, place.absolute().parent)
        else:
            text = reports.as_csv(found) if name == "csv" else reports.as_json(found)
        place.write_bytes(text.encode("utf-8", "replace"))
    if not places:
        typer.echo(reports.as_json(found), nl=False)
