"""What a proof is asked for, and what it works with."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from verify.budget import Budget, Clock
from verify.environments.building import cache_folder
from verify.environments.interpreters import Interpreter, inspect_named
from verify.environments.versions import ReadyEnvironment, RequiredVersions
from verify.evidence import Environment, Evidence, Rung
from verify.judging.recorded import Started
from verify.reading.entry import EntrySettings
from verify.reading.sources import Sources
from verify.sandbox.containment import Containment

TIMEOUT_S = 600.0


CALLED = "project"
"""How the folder of a copy is called where nothing says how the project's is."""


@dataclass(frozen=True)
class Request:
    """What to prove.

    `changed` are the posix paths that differ between the trees. `by_hand` are the places that rewrites left to a
    person, each a path and what was said of it. `baseline_below` is the release that the old
    code must be older than, None if unknown. The pins are requirement strings of lightning, pytorch-lightning,
    torch and torchmetrics. `python` names an interpreter to use for the target instead of building an
    environment, `baseline_python` one for the baseline. `own_torch` asks for a baseline on the torch that the project
    pins. `timeout` is in seconds for each executed tree. `cache` is where environments are kept. `readable` are
    folders outside the trees that the project may read, as far as reading is bounded at all. `conforms_only` runs
    nothing of the project. `written` is the ISO day on which the code was last written, None where that is not known.
    `lasted` says which release was the last to have a name or a hook that is gone (`utilities.cli.CALLBACK_REGISTRY`,
    `Callback.on_init_end`). `records` is a folder to keep what both trees recorded in, None to keep nothing.
    `accelerator` is "auto" for the best that the machine has and both trees know, "cpu" for the CPU; `devices` is how
    many train a script together. `start` is what is to be run, None for what the settings of the tree after say.
    `packages` are requirements that the user adds to those of the project.
    `as_asked` runs the tree after in what its manifests ask for, where that can be had.
    `clock` says how long all of it may take, None for as long as `Budget` says. `finished` is a folder to keep the runs
    in that came to their end, and to take them from. `required` is the rung that is asked for: what is proven without a
    run reaches *conforms* at most. `data` is a folder whose files lie in both trees as well. `called` is the name of
    the folder that a tree is copied to, which code may look for.
    """

    group: str
    codes: tuple[str, ...]
    changed: tuple[str, ...]
    target: str
    baseline_below: str | None
    before_pins: tuple[str, ...]
    after_pins: tuple[str, ...]
    python: Path | None = None
    timeout: float = TIMEOUT_S
    cache: Path | None = None
    baseline_python: Path | None = None
    own_torch: bool = False
    readable: tuple[Path, ...] = ()
    conforms_only: bool = False
    written: str | None = None
    lasted: Mapping[str, str] = field(default_factory=dict)
    records: Path | None = None
    accelerator: str = "auto"
    devices: int = 1
    by_hand: tuple[tuple[str, str], ...] = ()
    start: EntrySettings | None = None
    packages: tuple[str, ...] = ()
    as_asked: bool = True
    clock: Clock | None = None
    finished: Path | None = None
    required: Rung | None = None
    data: Path | None = None
    called: str = CALLED


@dataclass
class ProofProgress:
    """What a proof knows so far: what it is at, whether names were looked up, with what the target lacks, what each
    script came to, what one says whose second run was not made, and what modules alone did."""

    doing: str = "making the environments"
    looked: bool = False
    problems: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    scripts: list[Evidence] = field(default_factory=list)
    once: Evidence | None = None
    alone: Evidence | None = None


@dataclass(frozen=True)
class Bench:
    """What a proof works with: where, with what, and how it is told to stop."""

    folder: Path
    request: Request
    contained: Containment
    stop: threading.Event
    progress: Callable[[str], None]
    pairs: list[tuple[RequiredVersions, RequiredVersions, Pair]] = field(default_factory=list)
    started: list[Started] = field(default_factory=list)
    watching: dict[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    """How the trees are watched otherwise than at first, by script: both alike, and in each further run."""
    built: list[Mapping[str, Any]] = field(default_factory=list)
    """What scripts built modules of the project with, as runs record it."""
    clock: Clock = field(default_factory=lambda: Clock(Budget()))
    known: ProofProgress = field(default_factory=ProofProgress)
    digests: dict[Path, str] = field(default_factory=dict)
    before: Sources | None = None
    """The tree whose variables both are lent: what the other one reads besides is not made up."""

    @property
    def cache(self) -> Path:
        return self.request.cache or cache_folder()

    def named(self, python: Path | None) -> Interpreter | None:
        """What an interpreter is that was asked for."""
        return inspect_named(python, self.contained) if python else None


@dataclass(frozen=True)
class Pair:
    """The environments of the two trees; the baseline is None where it cannot be had, and `missing` says why."""

    before: ReadyEnvironment | None
    after: ReadyEnvironment
    contained: str
    missing: str = ""

    @property
    def environments(self) -> tuple[Environment, ...]:
        found = [ready.environment for ready in (self.before, self.after) if ready]
        return tuple(replace(one, reason=f"{one.reason}; {self.contained}") for one in found)
