"""The options that commands share, declared once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import dataclass, is_dataclass
from enum import Enum
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fixer.errors import UsageError
from fixer.reports import OutputFormat
from fixer.timing import seconds_of

if TYPE_CHECKING:
    from fixer.command_line_entry import EntryOptions
    from fixer.settings import SharedOptions
    from verify.evidence import Rung


class Namespace(str, Enum):
    """The namespaces that `--namespace` takes."""

    lightning = "lightning"
    pytorch_lightning = "pytorch_lightning"


class ListFormat(str, Enum):
    """How a list is printed."""

    text = "text"
    json = "json"


class RequiredRung(str, Enum):
    """The rungs that `--require` takes."""

    conforms = "conforms"
    trains = "trains"
    same = "same"


PathArgument = Annotated[
    Path, typer.Argument(help="Repository, folder or file to look at [default: .].", show_default=False)
]
Select = Annotated[str | None, typer.Option(help="Only these rules: codes or prefixes, with commas.", metavar="CODES")]
Ignore = Annotated[
    str | None, typer.Option(help="Not these rules: codes, prefixes or CODE:ROW, with commas.", metavar="CODES")
]
UnsafeFixes = Annotated[
    bool, typer.Option("--unsafe-fixes", help="Also make the changes that are probably right, but not certain.")
]
Target = Annotated[str | None, typer.Option(help="Lightning release to move to [default: 2.6.6].", metavar="VERSION")]
Spaces = Annotated[
    Namespace | None,
    typer.Option(
        "--namespace", help="Package to import Lightning from everywhere [default: the one the project mainly uses]."
    ),
]
Plugins = Annotated[
    str | None,
    typer.Option(
        help="Rules of others, in the place of those of the settings: folders, .py and .toml files, with commas.",
        metavar="PATHS",
    ),
]
TrustPlugins = Annotated[
    bool, typer.Option("--trust-plugins", help="Load the Python rules that the settings of the project name.")
]
Format = Annotated[OutputFormat, typer.Option("--output-format", help="How the result is printed.")]
ListedAs = Annotated[ListFormat, typer.Option("--output-format", help="How it is printed.")]
Files = Annotated[
    list[str] | None,
    typer.Option(
        "--output-file", help="Also write the result to a file; may be given several times.", metavar="FORMAT:PATH"
    ),
]
Jobs = Annotated[int | None, typer.Option(min=1, help="Processes to use [default: one a core].", metavar="NUMBER")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show every place, every number and each reason.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show only the last line.")]
NoVerify = Annotated[bool, typer.Option("--no-verify", help="Run none of the project's code.")]
CheckPins = Annotated[
    bool,
    typer.Option(
        "--check-pins", help="Resolve the requirements of the result, without installing, and show the releases."
    ),
]
FindingsCount = Annotated[
    bool, typer.Option("--exit-non-zero-on-findings", help="Exit with 1 when something is left to repair.")
]
PythonPath = Annotated[
    Path | None, typer.Option("--python", help="Interpreter to train the result with.", metavar="PATH")
]


def _seconds(number: float | None) -> float | None:
    if number is not None and not isfinite(number):
        raise typer.BadParameter(f"{number} is not a number of seconds")
    return number


Timeout = Annotated[
    float | None,
    typer.Option(min=1, callback=_seconds, help="Seconds that each run of the project may take.", metavar="SECONDS"),
]


def budget_of(text: str | None) -> float | None:
    """The seconds that `--budget` says; raises UsageError for what is no time."""
    try:
        return None if text is None else seconds_of(text)
    except ValueError as error:
        raise UsageError(f"--budget: {error}") from None


Budget = Annotated[
    str | None,
    typer.Option(
        "--budget",
        help="Minutes for the whole run, besides environments: 15, 15m or 900s [default: 10].",
        metavar="MINUTES",
    ),
]
Read = Annotated[
    list[Path] | None,
    typer.Option(
        "--read", help="Folder outside the project that its code may read; may be given several times.", metavar="PATH"
    ),
]
Script = Annotated[
    str | None, typer.Option(help="Script that trains, instead of the one in the settings.", metavar="PATH")
]
ProjectCommand = Annotated[
    str | None,
    typer.Option(
        help="Command line that trains, such as 'python -m pkg.train', instead of a script.", metavar="COMMAND"
    ),
]
ScriptArgs = Annotated[str | None, typer.Option(help="Arguments of the script, as in a shell.", metavar="ARGS")]
Variables = Annotated[
    list[str] | None,
    typer.Option(
        help="Environment variable for the script, as NAME=VALUE; may be given several times.", metavar="NAME=VALUE"
    ),
]
Require = Annotated[
    RequiredRung | None,
    typer.Option(help="Exit with 1 unless every change reaches this rung of the proof (see `fixer explain rung`)."),
]


@dataclass(frozen=True)
class RuleOptions:
    """What the commands take that look at a project with the rules."""

    path: PathArgument = Path()
    select: Select = None
    ignore: Ignore = None
    unsafe_fixes: UnsafeFixes = False
    target: Target = None
    namespace: Spaces = None
    jobs: Jobs = None
    plugins: Plugins = None
    trust_plugins: TrustPlugins = False

    def asked(self, *, check_pins: bool = False) -> SharedOptions:
        """What is asked for, in fixer's own words."""
        from fixer.settings import SharedOptions

        return SharedOptions(
            self.path,
            codes(self.select),
            codes(self.ignore),
            self.unsafe_fixes,
            self.target,
            self.jobs,
            check_pins,
            namespace=self.namespace and self.namespace.value,
            plugins=codes(self.plugins),
            trust_plugins=self.trust_plugins,
        )


@dataclass(frozen=True)
class Proof:
    """What the commands take that run code of the project."""

    python: PythonPath = None
    timeout: Timeout = None
    budget: Budget = None
    read: Read = None
    require: Require = None
    script: Script = None
    command: ProjectCommand = None
    args: ScriptArgs = None
    env: Variables = None

    def given(self, runs: str | None) -> EntryOptions:
        """What is to be run, for this one time. `runs` is the option that has nothing run, where it was given. Raises
        UsageError for what cannot be meant."""
        from fixer.command_line_entry import given

        asked = given(self.script, self.command, self.args, self.env or ())
        if asked.option and runs:
            raise UsageError(f"{asked.option}: {runs} runs nothing; leave out one of the two")
        return asked

    @property
    def rung(self) -> Rung | None:
        """The rung that the proof has to reach."""
        return self.require.value if self.require else None

    def seconds(self) -> float | None:
        """The seconds that the proof may take; raises UsageError for what is no time."""
        return budget_of(self.budget)

    def interpreter(self) -> Path | None:
        """The interpreter to train the result with; raises UsageError where there is no such file."""
        if self.python and not self.python.exists():
            raise UsageError(f"--python {self.python}: there is no such file; give the path of an interpreter")
        return self.python

    def folders(self) -> tuple[Path, ...]:
        """The folders that may be read; raises UsageError for one that is not there."""
        for place in self.read or ():
            if not place.exists():
                raise UsageError(f"--read {place}: there is no such folder; name one that is there")
        return tuple(self.read or ())


@dataclass(frozen=True)
class OutputOptions:
    """How a result is told."""

    output_format: Format = OutputFormat.text
    output_file: Files = None
    verbose: Verbose = False
    quiet: Quiet = False

    def files(self) -> tuple[tuple[OutputFormat, Path], ...]:
        """The files to write besides. Raises UsageError for one that could not be written."""
        return tuple(_file(text) for text in self.output_file or ())


def expanded(command: Callable[..., object]) -> Callable[..., Any]:
    """The command with the options of each class among its parameters in place of that class."""
    signature = inspect.signature(command, eval_str=True)
    parameters: dict[str, inspect.Parameter] = {}
    classes: dict[str, type[Any]] = {}
    for name, parameter in signature.parameters.items():
        taken = {name: parameter}
        if isinstance(parameter.annotation, type) and is_dataclass(parameter.annotation):
            classes[name] = parameter.annotation
            taken = dict(inspect.signature(parameter.annotation, eval_str=True).parameters)
        parameters |= taken

    @functools.wraps(command)
    def call(**given: Any) -> object:
        made = {
            name: cls(**{option: given.pop(option) for option in inspect.signature(cls).parameters})
            for name, cls in classes.items()
        }
        return command(**made, **given)

    call.__annotations__ = {name: parameter.annotation for name, parameter in parameters.items()}
    call.__signature__ = signature.replace(parameters=list(parameters.values()))  # type: ignore[attr-defined]
    return call


def _file(text: str) -> tuple[OutputFormat, Path]:
    """`html:report.html` as format and path."""
    name, _, path = text.partition(":")
    if name not in OutputFormat.__members__ or not path:
        known = ", ".join(OutputFormat.__members__)
        raise UsageError(f"--output-file {text}: give FORMAT:PATH, such as html:report.html; the formats are {known}")
    return OutputFormat(name), writable(f"--output-file {text}", Path(path))


def writable(option: str, path: Path) -> Path:
    """The path; raises UsageError where there is no folder to write it to, or it is one itself."""
    if not path.absolute().parent.is_dir():
        raise UsageError(f"{option}: there is no folder {path.parent}; make it first")
    if path.is_dir():
        raise UsageError(f"{option}: {path} is a folder; name a file in it")
    return path


def codes(text: str | None) -> tuple[str, ...] | None:
    """`"TBP001, LIT"` as its parts; None stays None."""
    return None if text is None else tuple(part.strip() for part in text.split(",") if part.strip())
