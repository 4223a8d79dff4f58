"""The options that commands share, declared once."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fixer.reports import OutputFormat

if TYPE_CHECKING:
    from verify.evidence import Rung


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
Format = Annotated[OutputFormat, typer.Option("--output-format", help="How the result is printed.")]
Jobs = Annotated[int | None, typer.Option(min=1, help="Processes to use [default: one a core].", metavar="NUMBER")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Say more.")]
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
Require = Annotated[
    RequiredRung | None, typer.Option(help="Exit with 1 unless every change reaches this rung of the proof.")
]


def rung(required: RequiredRung | None) -> Rung | None:
    """The rung that the user asked for."""
    return required.value if required else None


def codes(text: str | None) -> tuple[str, ...] | None:
    """`"TBP001, LIT"` as its parts; None stays None."""
    return None if text is None else tuple(part.strip() for part in text.split(",") if part.strip())
