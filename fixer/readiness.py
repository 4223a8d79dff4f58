"""Whether a branch runs on the target, as one value that every report shows."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Stop:
    """A use that stops the branch on the target: its place there (`line` None where only the file is known), what is
    wrong, what to do, and the rule that names it (None where the proof does). In a notebook lines are counted in the
    0-based `cell`."""

    path: str
    line: int | None
    what: str
    todo: str
    code: str | None = None
    cell: int | None = None

    @property
    def place(self) -> str:
        """`path:line`, in a notebook `path:cell 3:line`, or the path alone."""
        cell = "" if self.cell is None else f"cell {self.cell + 1}:"
        return self.path if self.line is None else f"{self.path}:{cell}{self.line}"


@dataclass(frozen=True)
class Readiness:
    """Whether nothing is known that stops the branch on the target, the uses that do, and what the answer lacks
    (empty where a training showed all of it)."""

    ready: bool
    target: str
    stops: tuple[Stop, ...] = ()
    caveat: str = ""

    @property
    def places(self) -> int:
        """How many places stop the branch: several things may be wrong at one."""
        return len({stop.place for stop in self.stops})

    @property
    def headline(self) -> str:
        """The answer in one line."""
        if not self.ready:
            uses = "1 place fails" if self.places == 1 else f"{self.places} places fail"
            return f"Not ready to merge: {uses} on Lightning {self.target}"
        return f"Ready to merge, as far as fixer knows: {self.caveat}" if self.caveat else "Ready to merge"
