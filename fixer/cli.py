"""The command line: arguments in, one call of the library, one report out."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from copy import copy
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.exceptions import TyperException

from fixer import __version__, about
from fixer import options as opt
from fixer.errors import CommandEnded, UsageError, of_the_system
from fixer.fleet.commands import app as fleet
from fixer.reports import OutputFormat

if TYPE_CHECKING:
    from fixer.pipeline import Progress
    from fixer.result import Result

app = typer.Typer(
    name="fixer",
    help="Repairs PyTorch Lightning projects, moves them to a current Lightning, and proves the result by running it.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def start(argv: Sequence[str]) -> int:
    """Runs the command line and returns the exit code: 0, 1, 2 (errors of use or of fixer) or 130."""
    try:
        code = _parser(argv[0] if argv else "")(list(argv), standalone_mode=False)
        if code == INTERRUPTED:
            raise KeyboardInterrupt
        return code if isinstance(code, int) else 0
    except typer.Exit as error:
        return error.exit_code
    except TyperException as error:
        return _misused(argv, error)
    except UsageError as error:
        return _failed(argv, str(error))
    except CommandEnded as error:
        return error.code
    except (KeyboardInterrupt, typer.Abort):
        return _failed(argv, "interrupted", INTERRUPTED)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except OSError as error:
        return _failed(argv, of_the_system(error))
    except Exception as error:
        import traceback

        traceback.print_exc()
        return _failed(argv, f"a bug in fixer: {type(error).__name__}: {error}; please report it with the trace above")


@cache
def _parser(name: str) -> Any:
    """What reads the arguments of a command; of every command where none has that name. To make it for all of them
    takes as long as a small command does."""
    part = copy(app)
    if name in COMMANDS:
        part.registered_commands = [one for one in app.registered_commands if _command_name(one.callback) == name]
        part.registered_groups = app.registered_groups if name == "fleet" else []
    return typer.main.get_command(part)


def _command_name(command: Any) -> str:
    """What a command is called by."""
    return str(command.__name__).replace("_", "-")


def _misused(argv: Sequence[str], error: TyperException) -> int:
    """Says what the parser did not understand; without any argument, the help."""
    context = getattr(error, "ctx", None)
    if not argv and context:
        sys.stderr.write(f"{context.get_help()}\n")
        return 2
    command = f"fixer {_named(context) or next(iter(argv), '')}"
    if command.split(" ")[1] not in COMMANDS:
        command = "fixer"
    message = error.format_message().rstrip(".")
    for words, plainer in _WORDS.items():
        message = message.replace(words, plainer)
    return _failed(argv, f"{message}; see `{command} --help`")


def _named(context: Any) -> str:
    """The command that the parser had got to: `run`, or `fleet run`."""
    within = _named(context.parent) if context and context.parent else ""
    return f"{within} {context.info_name}".strip() if context and context.parent else ""


def _failed(argv: Sequence[str], message: str, code: int = 2) -> int:
    from fixer.console import complain, show
    from fixer.result import Result
    from fixer.settings import NEWEST

    complain(message)
    wanted = _wanted_format(argv)
    asked = next((word for word in argv if word in COMMANDS), "run")
    if wanted is not OutputFormat.text and asked not in _LISTING:
        command = next((word for word in argv if word in _REPORTING), "run")
        with suppress(Exception):  # it may be the output that failed, or what the reports need
            show(Result(command, None, NEWEST, error=message), wanted)  # type: ignore[arg-type]
    return code


INTERRUPTED = 130
_REPORTING = ("run", "check", "diff", "fix", "verify", "demo")
_LISTING = ("rules", "config")
"""The commands whose JSON is no report."""
COMMANDS = (*_REPORTING, "undo", *map(_command_name, about.COMMANDS), "fleet")
_WORDS = {"a valid float range": "a number", "a valid int range": "a whole number", "x>=": "from "}


def _wanted_format(argv: Sequence[str]) -> OutputFormat:
    """The output format, read by hand: the parser may be what failed."""
    words = [part for word in argv for part in word.split("=", 1)]
    for flag, value in pairwise(words):
        if flag == "--output-format" and value in OutputFormat.__members__:
            return OutputFormat(value)
    return OutputFormat.text


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"fixer {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


@app.command()
@opt.expanded
def run(
    look: opt.RuleOptions,
    proof: opt.Proof,
    shown: opt.OutputOptions,
    base: Annotated[str | None, typer.Option(help="Commit to start from [default: HEAD].", metavar="REV")] = None,
    branch: Annotated[
        str | None, typer.Option(help="Branch to make [default: fixer/lightning-VERSION].", metavar="NAME")
    ] = None,
    force: Annotated[
        bool,
        typer.Option("--force", help="Replace a branch that has commits of others; offer again what was refused."),
    ] = False,
    no_verify: opt.NoVerify = False,
    go_on: Annotated[
        bool,
        typer.Option("--continue", help="Continue the last proof of this commit, which was interrupted or cut short."),
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Do everything except make the branch.")] = False,
    prove_unsafe: Annotated[
        bool,
        typer.Option(
            "--prove-unsafe", help="Try the changes that are probably right; keep those that the proof confirms."
        ),
    ] = False,
    push: Annotated[str | None, typer.Option(help="Push the branch to this remote.", metavar="REMOTE")] = None,
    pr: Annotated[
        bool, typer.Option("--pr", help="Open or update the pull request for it, on GitHub or GitLab.")
    ] = False,
    check_pins: opt.CheckPins = False,
    exit_non_zero_on_findings: opt.FindingsCount = False,
) -> int:
    """Repair a repository on a new branch, and prove the result. The proof runs the project's code before and after."""
    from fixer import pipeline
    from verify.sandbox.process import scratch

    asked, readable, rung, python = look.asked(check_pins=check_pins), proof.folders(), proof.rung, proof.interpreter()
    given, budget = proof.given("--no-verify" if no_verify else None), proof.seconds()
    with scratch() as records:
        how = pipeline.RunOptions(
            base, branch, force, dry_run, not no_verify, python, proof.timeout, rung, readable, push, pr, records,
            budget, go_on, given=given, prove_unsafe=prove_unsafe,
        )  # fmt: skip
        return _report(
            lambda progress: pipeline.run(asked, how, progress),
            lambda result: pipeline.exit_code(result, require=rung, findings_count=exit_non_zero_on_findings),
            shown,
            keep=records,
            of=look.path,
        )


@app.command()
@opt.expanded
def check(
    look: opt.RuleOptions,
    shown: opt.OutputOptions,
    statistics: Annotated[
        bool, typer.Option("--statistics", help="Count the findings of each rule instead of listing them.")
    ] = False,
    baseline: Annotated[
        Path | None, typer.Option(help="Leave out the findings that this file names.", metavar="FILE")
    ] = None,
    write_baseline: Annotated[
        Path | None, typer.Option(help="Write the findings to this file as known.", metavar="FILE")
    ] = None,
    timings: Annotated[
        bool, typer.Option("--timings", help="Show how long each rule took; files that are cached take no time.")
    ] = False,
) -> int:
    """List what the rules find, and change nothing. Exits with 1 if there is anything."""
    from fixer import pipeline

    how = pipeline.CheckOptions(baseline, write_baseline, timings)
    return _report(
        lambda progress: pipeline.check(look.asked(), progress, how),
        lambda result: 0 if write_baseline and not result.error else pipeline.exit_code(result),
        shown,
        statistics=statistics,
    )


@app.command()
@opt.expanded
def diff(look: opt.RuleOptions, shown: opt.OutputOptions, check_pins: opt.CheckPins = False) -> int:
    """Show the changes that `fix` would make, and make none. Exits with 1 if anything is found."""
    from fixer import pipeline

    asked = look.asked(check_pins=check_pins)
    return _report(lambda progress: pipeline.diff(asked, progress), pipeline.exit_code, shown)


@app.command()
@opt.expanded
def fix(
    look: opt.RuleOptions,
    shown: opt.OutputOptions,
    exit_non_zero_on_findings: opt.FindingsCount = False,
    interactive: Annotated[
        bool, typer.Option("--interactive", "-i", help="Show each change, and ask whether to make it.")
    ] = False,
) -> int:
    """Change the files in place; `fixer undo` puts them back. Nothing is run and no branch is made."""
    from fixer import pipeline

    talk = None
    if interactive:
        from fixer.choosing.terminal import terminal

        talk = terminal()
    return _report(
        lambda progress: pipeline.fix(look.asked(), progress, talk),
        lambda result: pipeline.exit_code(result, findings_count=exit_non_zero_on_findings),
        shown,
        talks=interactive,
    )


@app.command()
def undo(path: opt.PathArgument = Path()) -> int:
    """Put back the files that the last `fix` in a folder changed. A file that was changed since is left."""
    from fixer.console import aside, complain
    from fixer.undo import NothingToUndo, last_of, put_back

    try:
        done = put_back(last_of(path))
    except NothingToUndo as error:
        aside(str(error))
        return 0
    typer.echo("".join(f"{line}\n" for line in done.lines()), nl=False)
    if done.left:
        complain(done.complaint())
    return 2 if done.left else 0


@app.command()
@opt.expanded
def verify(
    proof: opt.Proof,
    shown: opt.OutputOptions,
    what: Annotated[
        list[str] | None,
        typer.Argument(
            help="Repository or folder, and a revision to prove against its parent, or two as OLD..NEW "
            "[default: the work tree against HEAD].",
            metavar="[PATH] [REV | REV..REV]",
            show_default=False,
        ),
    ] = None,
    base: Annotated[str | None, typer.Option(help="Revision to compare with [default: HEAD].", metavar="REV")] = None,
    head: Annotated[str | None, typer.Option(help="Revision to prove [default: the work tree].", metavar="REV")] = None,
    conforms: Annotated[
        bool,
        typer.Option("--conforms", help="Only check that the target has every name that the files use; run no code."),
    ] = False,
    target: opt.Target = None,
) -> int:
    """Run two trees, and say whether they train the same. Each runs in the versions that it pins."""
    from fixer import pipeline
    from fixer.comparison import ComparedTrees, compare
    from verify.sandbox.process import scratch

    rung = proof.rung or ("conforms" if conforms else None)
    trees, readable, python = ComparedTrees.named(what or [], base, head), proof.folders(), proof.interpreter()
    given, budget = proof.given("--conforms" if conforms else None), proof.seconds()
    with scratch() as records:
        return _report(
            lambda progress: compare(
                trees, conforms, target, python, proof.timeout, readable, progress, records, budget, rung, given
            ),
            lambda result: pipeline.exit_code(result, require=rung),
            shown,
            keep=records,
            of=trees.path,
        )


@app.command()
@opt.expanded
def demo(shown: opt.OutputOptions, no_verify: opt.NoVerify = False, budget: opt.Budget = None) -> int:
    """Go the whole way on a small broken project. It lies in a temporary repository."""
    from fixer import pipeline
    from fixer.demo import run_demo
    from verify.sandbox.process import scratch

    seconds = opt.budget_of(budget)
    with scratch() as records:
        return _report(
            lambda progress: run_demo(not no_verify, progress, records, seconds),
            pipeline.exit_code,
            shown,
            keep=records,
        )


def _report(
    work: Callable[[Progress], Result],
    code: Callable[[Result], int],
    shown: opt.OutputOptions,
    *,
    keep: Path | None = None,
    of: Path | None = None,
    statistics: bool = False,
    talks: bool = False,
) -> int:
    """Does the work and tells of it. With `keep`, where its recordings are, it is kept for `fixer report`, among the
    runs of the project at `of`, or of the demo. Work that talks to a person at the terminal has no line move there."""
    from fixer.console import complain, progress, remember, save, show
    from fixer.result import RunInterrupted

    files = shown.files()
    is_interrupted = False
    with progress(shown.quiet, plain=talks) as say:
        try:
            result = work(say)
        except RunInterrupted as stop:
            result, is_interrupted = stop.result, True
    if result.error and not is_interrupted:
        complain(result.error)
    with ExitStack() as whatever_fails:
        if keep:
            whatever_fails.callback(remember, result, keep, of, shown.quiet)
        whatever_fails.callback(save, result, files)
        show(result, shown.output_format, verbose=shown.verbose, quiet=shown.quiet, statistics=statistics)
    if is_interrupted:
        complain("interrupted")
        raise CommandEnded(INTERRUPTED)
    return code(result)


for _command in about.COMMANDS:
    app.command()(_command)
app.add_typer(fleet)
