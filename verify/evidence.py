"""What a proof recorded and what it means: the words that the rest of fixer reports."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

Rung = Literal["conforms", "trains", "same"]
Verdict = Literal["repaired", "preserved", "changed", "regressed", "inconclusive"]
Outcome = Literal[Verdict, "repaired in part", "preserved in part", "not executed"]
"""What is said of a group or of one commit: a verdict, or that what it rests on executed a part or nothing of it."""
Role = Literal["baseline", "target"]
How = Literal[
    "executed", "read", "installed", "same code", "document",
    "arguments", "not loaded", "not called", "not read", "not told", "not installed", "not run",
]  # fmt: skip
FactKind = Literal[
    "ran", "compared", "explained by", "also", "not compared", "not executed", "provided", "next"
]  # fmt: skip

BY_HAND = "replace by hand, where it stops: "
"""How the next step begins where a tree stops at a use that no rule rewrote."""
RUNGS: tuple[Rung, ...] = ("conforms", "trains", "same")
_IN_THE_COPY = re.compile(r"/[^\s'\"=]*?/fixer-verify-[^/\s]+/[^/\s]+/(?:tree/[^/\s]+|home)/")
"""What comes before a path of the project in the copy of it that ran."""
_ADDRESS = re.compile(r"\bat 0x[0-9a-fA-F]+")
_IN_PART: Mapping[Verdict, Outcome] = {"preserved": "preserved in part", "repaired": "repaired in part"}
_COVERED: tuple[How, ...] = ("executed", "read", "installed", "same code", "document")
_RUNS: tuple[How, ...] = ("arguments", "not loaded", "not called", "not read", "not told")


@dataclass(frozen=True)
class Fact:
    """One thing that a proof says besides its verdict, as a sentence in plain text.

    `ran`: what was executed, and on what. `compared`: which numbers, and how far they are apart at most.
    `explained by`: the finding without which the numbers are the same. `also`: what else was seen. `not compared` and
    `not executed`: what the verdict says nothing of. `provided`: what the runs had besides the project's files and
    packages. `next`: what its owner can do. `paste` is that as lines for the project's pyproject.toml, empty where it
    is nothing of settings.
    """

    kind: FactKind
    text: str
    paste: str = ""


@dataclass(frozen=True)
class FileCoverage:
    """What the runs that a verdict rests on executed of one changed file, as it is in the tree after.

    `executed`: code that was changed ran; `read`: a configuration was opened; `installed`: the environment was
    installed from a manifest; `arguments`: all that was changed in some function is what a Trainer is given, and a
    Trainer was given that and trained a module alone, while nothing else of the file ran; `same code`: only
    comments and texts were changed; `document`: nothing that a training reads or installs. `not loaded`, `not
    called` (the file was loaded, no function that was changed in it was called), `not read`, `not told` (the run
    ended before it could say), `not installed` and `not run` (what is neither code, configuration nor manifest) are
    the rest. `called` and `idle` are the changed functions that were called and those that were not, as far as
    calls were seen; `times` says how often each of `called` was, and is empty where that was not counted. `argued`
    are the functions of which that was done with the arguments of their Trainer; they are not among `idle`.
    """

    path: str
    how: How
    called: tuple[str, ...] = ()
    idle: tuple[str, ...] = ()
    times: tuple[int, ...] = ()
    argued: tuple[str, ...] = ()

    @property
    def is_covered(self) -> bool:
        """Whether something of it was executed, or there is nothing in it to execute."""
        return self.how in _COVERED

    @property
    def is_left_by_runs(self) -> bool:
        """Whether a run could have executed or read it, and did not."""
        return self.how in _RUNS

    @property
    def is_loaded(self) -> bool:
        """Whether the runs executed the file as a whole, whatever they called of it."""
        return self.how in ("executed", "read", "not called")


@dataclass(frozen=True)
class Share:
    """What the proof of a group says of one of its codes, which is one commit: of the files that it changed, as far
    as it changed them."""

    code: str
    outcome: Outcome
    files: tuple[FileCoverage, ...]


@dataclass(frozen=True)
class RequirementFit:
    """How an environment stands to what the manifests of its tree ask for.

    `files` are the manifests. `differs` has what is there in another release than they ask for: its name, what they ask
    for, what is there. `added` has what is there although nothing that they ask for brings it, and without which the
    tree does not run. `why` says why it is not what they ask for as a whole, `excluded` why nothing could be. `newest`
    says that what has no pin is there in the release of today, `today` how the tree ended with those, where it was run
    with older ones instead. `missing` is asked for and does not install or load here, and nothing that ran imports it.
    """

    files: tuple[str, ...]
    differs: tuple[tuple[str, str, str], ...] = ()
    added: tuple[str, ...] = ()
    why: str = ""
    excluded: str = ""
    newest: bool = False
    today: str = ""
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Environment:
    """The versions in which one of the two trees ran.

    `packages` are (distribution, version) pairs, sorted; `reason` says why these versions were chosen. `manifests` are
    the files of the tree that it was installed from, as they ask.
    `asked` tells how they stand to what the tree after asks for, None where no manifest of it names Lightning, and of
    the baseline.
    """

    role: Role
    python: str
    packages: tuple[tuple[str, str], ...]
    reason: str
    manifests: tuple[str, ...] = ()
    asked: RequirementFit | None = None


@dataclass(frozen=True)
class Failure:
    """The exception that ended a run: its type, its text and the place in the tree (`path:line`)."""

    type: str
    message: str
    place: str | None

    @property
    def said(self) -> str:
        """The text, with paths of the copy that ran as they are in the tree."""
        return _IN_THE_COPY.sub("", self.message)

    def is_like(self, other: Failure) -> bool:
        """Whether another run failed with the same words, wherever its copy and its objects lay."""
        mine, theirs = (_ADDRESS.sub("", each.said) for each in (self, other))
        return (self.type, mine) == (other.type, theirs)


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
class LostGradient:
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
    `nodes` that it asks for, how many epochs lie between validations (`every`), and where batches are of fewer, the
    `samples` that they were to have. `unheld` names the trainable parameters that no optimizer holds. Where a script
    calls `fit` more than once, `metrics` and `weights` hold those of each call, the earlier ones as `fit 1: name`.
    `devices` is how many trained together: what is here is what the first of them saw. `digest` is of all weights and
    buffers at the end, `peak_memory` in bytes, `step_seconds` the usual time from step to step. `output` is the end of
    what the process wrote.
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
    lost: tuple[LostGradient, ...] = ()
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
    `notes` name what was left out or stood in for. `trainer` is where the Trainer of the project stands whose changed
    arguments it was trained with, empty where it was fixer's own. The rest is as in Evidence, for this module alone.
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
    furthest: str | None = None
    facts: tuple[Fact, ...] = ()
    trainer: str = ""


@dataclass(frozen=True)
class Evidence:
    """The proof of one group of codemods: the base tree in the baseline against the final tree in the target.

    `rung` is the highest one that was run and held for the final tree, None where none was. `reason` is one short
    sentence; what else there is to know is in `facts`. `problems` are
    names, arguments and hooks in the changed files that the target does not have; `left` the same for files
    that were not changed. `alone` has the modules that were trained by themselves where no script gets to `fit`;
    `before` and `after` are then those of the first of them. `max_difference` is the largest absolute difference
    over losses, learning rates and final weights, None where nothing could be compared; `furthest` is where it is
    (`loss 12`). `unexecuted` has the changed
    files that what the verdict rests on neither executed nor read. `touched` has every changed file with what was
    executed of it, `shares` what that says of each code.
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
    furthest: str | None = None
    facts: tuple[Fact, ...] = ()
    touched: tuple[FileCoverage, ...] = ()
    shares: tuple[Share, ...] = ()

    @property
    def stops_by_hand(self) -> bool:
        """Whether the patched tree ended at a use that is left to do by hand."""
        return any(fact.kind == "next" and fact.text.startswith(BY_HAND) for fact in self.facts)

    @property
    def outcome(self) -> Outcome:
        """The verdict, as far as something of each changed file was executed: `preserved` of a part alone is
        `preserved in part`."""
        return outcome_of(self.verdict, self.touched)


def outcome_of(verdict: Verdict, touched: Iterable[FileCoverage]) -> Outcome:
    """A verdict on files of which these were executed as `touched` says. Other verdicts than `preserved` and
    `repaired` claim nothing of what did not run."""
    return verdict if all(file.is_covered for file in touched) else _IN_PART.get(verdict, verdict)
