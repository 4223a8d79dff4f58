"""What Trainers lose, or hand over, when a class that they train does it itself: the same for every rule."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol

from codemods.code.source import PythonFile
from codemods.finding import Fix
from codemods.lightning.facts import Facts
from codemods.rewrite.manual.argument_transfer import handing_matches
from codemods.rewrite.manual.fit_sites import FitStatement
from codemods.rewrite.manual.trainers import TrainerSettings
from codemods.rule import Match, touches

if TYPE_CHECKING:
    import libcst as cst


class LoopTransfer(Protocol):
    """A class that gets a loop: what its Trainers give to it, and how sure and with what the rewrite goes together."""

    @property
    def given(self) -> TrainerSettings: ...

    @property
    def level(self) -> Fix: ...

    @property
    def unit(self) -> str: ...


def hand_over(
    file: PythonFile,
    facts: Facts,
    loops: Sequence[LoopTransfer],
    told: Mapping[FitStatement, str] = MappingProxyType({}),
) -> Iterator[Match]:
    """The places of a file where classes are given what their Trainers get from where it cannot be moved; `told` are
    statements that stand in front of a `fit` besides."""
    handing = [loop for loop in loops if loop.given.handed]
    if handing:
        first = min(handing, key=lambda loop: loop.level)
        given = [(loop.given.handed, loop.given.places) for loop in handing]
        yield from handing_matches(file, facts, given, first.level, first.unit, told)


@touches("arguments")
def without(node: cst.Call, *, names: frozenset[str]) -> cst.Call:
    """The call without arguments of those names."""
    from codemods.rewrite.edits import without_arguments

    return without_arguments(node, names)
