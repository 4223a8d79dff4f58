"""What a proof recorded and what it means: the words that the rest of fixer reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Rung = Literal["conforms", "trains", "same"]
Verdict = Literal["repaired", "preserved", "changed", "regressed", "inconclusive"]
Role = Literal["baseline", "target"]

RUNGS: tuple[Rung, ...] = ("conforms", "trains", "same")


@dataclass(frozen=True)
class Environment:
    """The versions in which one of the two trees ran.

    `packages` are (distribution, version) pairs, sorted; `reason` says why these versions were chosen.
    """

    role: Role
    python: str
    packages: tuple[tuple[str, str], ...]
    reason: str


@dataclass(frozen=True)
class Failure:
    """The exception that ended a run: its type, its text and the place in the tree (`path:line`)."""

    type: str
    message: str
    place: str | None


@dataclass(frozen=True)
class Gradient:
    """What one trainable parameter got in the training.

    `dtype` is its own type, `gradient` that of its gradient (None where none arrived). `reached` counts the backward
    passes that added to it, `zero` says that all it got was zero, `finite` that none was infinite or not a number.
    `losses` says where the losses that reached it are differentiated: `path:line`, or `training_step` where Lightning
    does it. `cut` names the first operation that took what was computed from it out of the graph, with its line,
    where nothing arrived and one was seen.
    """

    name: str
    dtype: str
    gradient: str | None
    reached: int
    zero: bool
    finite: bool
    losses: tuple[str, ...]
    cut: str | None


@dataclass(frozen=True)
class Lost:
    """A loss that no gradient flows back from: where it is differentiated, and the operation and line that took it
    out of the graph (None where none was seen)."""

    loss: str
    cut: str | None


@dataclass(frozen=True)
class Scheduler:
    """A learning rate scheduler at the end: its class, how often it was stepped, the rates that it came to, and the
    best value of the metric that it watches, if it does."""

    name: str
    steps: int
    rates: tuple[float, ...]
    best: float | None = None


@dataclass(frozen=True)
class Recording:
    """What the harness saw of one tree.

    `losses` has one number a backward pass, `learning_rates` one tuple (a number a parameter group) an
    optimizer step. `global_step` counts what the Trainer counts. `unreached` names the trainable
    parameters that got no gradient in any backward pass. `weights` are (parameter name, L2 norm) pairs at
    the end. `seconds` is wall time of the process. `gradients` has every trainable parameter, and `lost` the
    losses without a way back.

    `logged` has each metric as often as it was logged. `gradient_norms` has one number an optimizer step: the L2 norm
    of what it uses, after clipping. `graphs` has, for the first losses, how many operations each was computed with and
    how many of those change a type: where states are carried on uncut, the first grows. `autocast` is the type that a
    training step's layers are cast to, None where they are not. `planned` has the `batches` of an epoch, `epochs`,
    `max_steps` and optimizer `steps` of the whole training, by the project's own limits and loader, the `devices` and
    `nodes` that it asks for, and how many epochs lie between validations (`every`). `unheld` names the trainable
    parameters that no optimizer holds. Where a script calls `fit` more than once, `metrics` and `weights` hold those of
    each call, the earlier ones as `fit 1: name`. `devices` is how many trained together: what is here is what the first
    of them saw. `digest` is of all weights and buffers at the end, `peak_memory` in bytes, `step_seconds` the usual
    time from step to step. `output` is the end of what the process wrote.
    """

    script: str
    fitted: bool
    failure: Failure | None
    losses: tuple[float, ...]
    metrics: tuple[tuple[str, float], ...]
    learning_rates: tuple[tuple[float, ...], ...]
    optimizer_steps: int
    global_step: int | None
    epochs: int | None
    unreached: tuple[str, ...]
    weights: tuple[tuple[str, float], ...]
    device: str | None
    precision: str | None
    seconds: float
    devices: int | None = None
    gradients: tuple[Gradient, ...] = ()
    lost: tuple[Lost, ...] = ()
    logged: tuple[tuple[str, tuple[float, ...]], ...] = ()
    gradient_norms: tuple[float, ...] = ()
    graphs: tuple[tuple[int, int], ...] = ()
    autocast: str | None = None
    schedulers: tuple[Scheduler, ...] = ()
    planned: tuple[tuple[str, int | None], ...] = ()
    unheld: tuple[str, ...] = ()
    digest: str | None = None
    peak_memory: int | None = None
    step_seconds: float | None = None
    warnings: tuple[str, ...] = ()
    output: str = ""


@dataclass(frozen=True)
class Alone:
    """A LightningModule that was trained by itself, on batches that were made up.

    `module` is `path:class`. `arguments` says what it was built with and `batch` what each batch held, in words.
    `notes` name what was left out or stood in for. The rest is as in Evidence, for this module alone.
    """

    module: str
    arguments: str
    batch: str
    notes: tuple[str, ...]
    verdict: Verdict
    rung: Rung | None
    reason: str
    max_difference: float | None
    tolerance: float | None
    before: Recording | None
    after: Recording


@dataclass(frozen=True)
class Evidence:
    """The proof of one group of codemods: the base tree in the baseline against the final tree in the target.

    `rung` is the highest one that was run and held for the final tree, None where none was. `problems` are
    names, arguments and hooks in the changed files that the target does not have; `left` the same for files
    that were not changed. `alone` has the modules that were trained by themselves where no script gets to `fit`;
    `before` and `after` are then those of the first of them. `max_difference` is the largest absolute difference
    over losses, learning rates and final weights, None where nothing could be compared. `unexecuted` has the changed
    files that what the verdict rests on neither executed nor read.
    """

    group: str
    codes: tuple[str, ...]
    rung: Rung | None
    verdict: Verdict
    reason: str
    environments: tuple[Environment, ...] = ()
    before: Recording | None = None
    after: Recording | None = None
    max_difference: float | None = None
    tolerance: float | None = None
    problems: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    alone: tuple[Alone, ...] = ()
    unexecuted: tuple[str, ...] = ()
