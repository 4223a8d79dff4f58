"""What a rule reports: a place, what is wrong there, and how sure the repair is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Fix = Literal["safe", "unsafe", "manual"]


@dataclass(frozen=True, order=True)
class Span:
    """A place in a file of the base tree. Lines and columns are 1-based; columns count code points.

    `end_column` is the column after the last character.
    """

    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True)
class Finding:
    """A place that a rule names.

    `path` is relative to the project's root, with forward slashes. `fix` is the level of the repair at
    this place and `reason` says why it has that level (for `manual`: why it was not rewritten, and what
    to do instead). `row` is the id of the data row behind it, `cell` the 0-based cell of a notebook, `needs`
    the oldest Lightning that the rewritten place runs on, where that is not its rule's, `torchmetrics` the same of
    that. `stops` says that the place, left as it is, stops the program or its installation on the target.
    """

    code: str
    path: str
    span: Span
    message: str
    fix: Fix
    reason: str
    row: str | None = None
    cell: int | None = None
    applied: bool = False
    needs: str | None = None
    stops: bool = False
    torchmetrics: str | None = None

    @property
    def id(self) -> str:
        """A short name that stays the same while rule, file, place and row do."""
        import hashlib

        key = "\0".join(map(str, (self.code, self.row, self.path, self.cell, self.span.line, self.span.column)))
        digest = hashlib.blake2b(key.encode(errors="surrogatepass"), digest_size=4).hexdigest()
        return f"{self.code}-{digest}"
