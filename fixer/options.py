"""The options that commands share, declared once."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fixer.errors import UsageError
from fixer.reports import OutputFormat

if TYPE_CHECKING:
    from verify.evidence import Rung


class Namespace(str, Enum):
    """The namespaces that `--namespace` takes."""

    lightning = "lightning"
    pytorch_lightning = "pytorch_lightning"


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
    bool, typer.Option("--unsafe-fixes", help="Also make the changes that are only probably right.")
]
Target = Annotated[str | None, typer.Option(help="Lightning release to move to [default: 2.6.6].", metavar="VERSION")]
Spaces = Annotated[
    Namespace | None,
    typer.Option("--namespace", help="Take all of Lightning from there [default: as the project mainly does]."),
]
Format = Annotated[OutputFormat, typer.Option("--output-format", help="How the result is printed.")]
Files = Annotated[
    list[str] | None,
    typer.Option(
        "--output-file", help="Also write the result to a file; may be given several times.", metavar="FORMAT:PATH"
    ),
]
Jobs = Annotated[int | None, typer.Option(min=1, help="Processes to use [default: one a core].", metavar="NUMBER")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Show every place and number, and each reason.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say only how it ended.")]
CheckPins = Annotated[
    bool,
    typer.Option(
        "--check-pins", help="Resolve the requirements of the result, without installing, and say what comes."
    ),
]
FindingsCount = Annotated[
    bool, typer.Option("--exit-non-zero-on-findings", help="Exit with 1 when something is left for a person.")
]
PythonPath = Annotated[
    Path | None, typer.Option("--python", help="Interpreter to train the result with.", metavar="PATH")
]
Timeout = Annotated[float | None, typer.Option(min=1, help="Seconds for each tree that is run.", metavar="SECONDS")]
Read = Annotated[
    list[Path] | None,
    typer.Option(
        "--read", help="Folder outside the project that its code may read; may be given again.", metavar="PATH"
    ),
]
Require = Annotated[
    RequiredRung | None, typer.Option(help="Exit with 1 unless every change reaches this rung of the proof.")
]


@dataclass(frozen=True)
class Shown:
    """How a result is told: the format on standard output, further files, and how much is said; with `statistics`
    the text counts findings by rule."""

    format: OutputFormat
    files: tuple[tuple[OutputFormat, Path], ...]
    verbose: bool
    quiet: bool
    statistics: bool = False


def shown(format: OutputFormat, files: list[str] | None, verbose: bool, quiet: bool, statistics: bool = False) -> Shown:
    """What the command line says of the report. Raises UsageError for a file that could not be written."""
    return Shown(format, tuple(_file(text) for text in files or ()), verbose, quiet, statistics)


def _file(text: str) -> tuple[OutputFormat, Path]:
    """`html:report.html` as format and path."""
    name, _, path = text.partition(":")
    if name not in OutputFormat.__members__ or not path:
        known = ", ".join(OutputFormat.__members__)
        raise UsageError(f"--output-file {text}: give FORMAT:PATH, such as html:report.html; the formats are {known}")
    if not Path(path).absolute().parent.is_dir():
        raise UsageError(f"--output-file {text}: there is no folder {Path(path).parent}; make it first")
    return OutputFormat(name), Path(path)


def rung(required: RequiredRung | None) -> Rung | None:
    """The rung that the user asked for."""
    return required.value if required else None


def folders(places: list[Path] | None) -> tuple[Path, ...]:
    """The folders that were named; raises UsageError for one that is not there."""
    for place in places or ():
        if not place.exists():
            raise UsageError(f"--read {place}: there is no such folder; name one that is there")
    return tuple(places or ())


def codes(text: str | None) -> tuple[str, ...] | None:
    """`"TBP001, LIT"` as its parts; None stays None."""
    return None if text is None else tuple(part.strip() for part in text.split(",") if part.strip())
