"""Cases, and training them on one release or on two."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from tests.training.interpreters import release_of
from tests.training.processes import worker
from tests.training.records import Record, assert_same, read

SECONDS = 60.0


@dataclass(frozen=True)
class Case:
    """A program of one or more files, and how to run it.

    `script` runs as `__main__`; where it is None, `function` of `module` is called with `arguments`, and what it
    returns (JSON alone) comes back. `trainer` is handed to every Trainer over what the program gives it.
    `proof` is a specification of the proof's harness: it then runs and records the program in its own way.
    `processes` above 1 starts that many ranks on gloo: the program asks for `Trainer(devices=2, strategy="ddp")`.
    """

    files: Mapping[str, str]
    script: str | None = "train.py"
    module: str = "train"
    function: str = "main"
    arguments: tuple[Any, ...] = ()
    trainer: Mapping[str, Any] = field(default_factory=dict)
    proof: Mapping[str, Any] | None = None
    processes: int = 1
    seed: int = 1
    seconds: float = SECONDS


def train(files: Mapping[str, str], on: str = "target", **how: Any) -> Record:
    """Train a program on a release of Lightning, `target` being the one that runs the tests; `how` is Case's."""
    return train_many([(Case(files, **how), on)])[0]


def train_many(cases: Iterable[tuple[Case, str]]) -> list[Record]:
    """Train each case on its release, different releases at once."""
    asked = [(case, release_of(on)) for case, on in cases]
    for release in dict.fromkeys(release for _, release in asked):
        worker(release)
    for case, release in asked:
        worker(release).ask(asdict(case))
    return [read(release, worker(release).answer()) for _, release in asked]


def same(
    before: Mapping[str, str],
    after: Mapping[str, str],
    old: str = "1.9.5",
    new: str = "target",
    tolerance: float = 1e-6,
    logged: bool = True,
    **how: Any,
) -> tuple[Record, Record]:
    """Train one program on an old release and another on a new one; they must train the same."""
    was, is_now = train_many([(Case(before, **how), old), (Case(after, **how), new)])
    assert_same(was, is_now, tolerance, logged)
    return was, is_now
