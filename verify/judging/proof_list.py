"""A proof as a list: what ran, what was compared, what was not executed, and what its owner can do."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from verify.evidence import (
    BY_HAND,
    Alone,
    Environment,
    Evidence,
    Fact,
    FactKind,
    FileCoverage,
    How,
    Recording,
    Role,
    Rung,
)
from verify.judging.record import RunRecord, besides
from verify.judging.verdict import Judgement

SETTINGS = "under [tool.fixer.verify] in pyproject.toml"
NAME_A_SCRIPT = Fact("next", f'name a script that trains, with `script = "..."` and `args = [...]` {SETTINGS}')
_NAMED = 5
_LIGHTNING = ("pytorch-lightning", "lightning")
_ORDER: tuple[FactKind, ...] = (
    "ran", "compared", "explained by", "also", "not compared", "not executed", "provided", "next",
)  # fmt: skip
_WHY: dict[How, str] = {
    "arguments": "nothing of {them} ran but the changed arguments of its Trainer, which trained a module alone",
    "not loaded": "the run did not load {them}",
    "not called": "loaded, but no function that was changed in {them} was called",
    "not read": "the run did not read {them}",
    "not told": "the run ended before it told whether it loaded {them}",
    "not installed": "nothing was installed from {them}",
    "not run": "nothing that the run executes",
}


def facts_of(evidence: Evidence) -> tuple[Fact, ...]:
    """All that a proof says besides its verdict and its reason, in the order in which it is read."""
    found = dict.fromkeys(
        [*_ran(evidence), *_compared(evidence), *not_executed(evidence.touched), *evidence.facts, *_next(evidence)]
    )
    return tuple(sorted(found, key=lambda fact: _ORDER.index(fact.kind)))


# -- facts that a proof is given on its way


def restated(judgement: Judgement, reason: str) -> Judgement:
    """The judgement for another reason than that of the runs, which is kept."""
    return replace(judgement, reason=reason).with_facts(Fact("also", judgement.reason))


def stopped_after(trained: Judgement, judgement: Judgement) -> Judgement:
    """The judgement on a patched tree that `trained` as the one before did, and then stops at what is left to do by
    hand: no change is wrong for that."""
    if trained.verdict != "preserved":
        return judgement
    rung: Rung | None = "trains" if trained.rung == "same" else trained.rung
    return replace(judgement, verdict="inconclusive", rung=rung).with_facts(Fact("also", trained.reason))


def replace_by_hand(problem: str) -> Fact:
    """What to do where a tree stops at a use that no rule rewrote."""
    return Fact("next", f"{BY_HAND}{problem}")


def given(old: RunRecord | None, new: RunRecord) -> tuple[Fact, ...]:
    """What two runs of a script had besides the project's files and packages."""
    return tuple(Fact("provided", text) for text in besides(old, new))


def no_script(script: Evidence) -> Fact:
    """Why modules were trained by themselves."""
    fitted = script.after is not None and script.after.fitted
    return Fact("also", script.reason if fitted else f"no script got to `fit`: {script.reason}")


# -- facts that follow from what was recorded


def _ran(evidence: Evidence) -> Iterator[Fact]:
    if evidence.alone:
        for module in evidence.alone[:_NAMED]:
            yield Fact("ran", _module(module))
        if evidence.alone[_NAMED:]:
            yield Fact("ran", f"{len(evidence.alone) - _NAMED} more modules by themselves")
    elif evidence.after is not None:
        yield Fact("ran", _script(evidence.before, evidence.after))
    elif evidence.environments:
        yield Fact("ran", "nothing of the project")
    if versions := _versions(evidence.environments):
        yield Fact("ran", versions)
    for environment in evidence.environments:
        if environment.manifests:
            yield Fact("ran", f"{_called(environment.role)}, installed from {_few(environment.manifests)}")


def _called(role: Role) -> str:
    return "the tree before" if role == "baseline" else "the patched tree"


def _module(module: Alone) -> str:
    made = f"{module.module.rpartition(':')[2]}({module.arguments})"
    by = f", by what was changed for the Trainer at {module.trainer}" if module.trainer else ""
    return f"{made}, trained by itself on generated batches of {module.batch}{by}{_where(module.after)}"


def _script(before: Recording | None, after: Recording) -> str:
    """`train.py in both trees, 80 optimizer steps in 2 epochs, on cpu in 32-true`."""
    trees = "both trees" if before is not None else "the patched tree alone"
    epochs = f" in {after.epochs} epoch{'s' * (after.epochs != 1)}" if after.epochs else ""
    steps = f", {after.optimizer_steps} optimizer steps{epochs}" if after.fitted else ""
    return f"{after.script} in {trees}{steps}{_where(after)}"


def _where(recording: Recording) -> str:
    many = f"{recording.devices} devices of kind " if (recording.devices or 1) > 1 else ""
    precision = f" in {recording.precision}" if recording.precision else ""
    return f", on {many}{recording.device}{precision}" if recording.device else ""


def _versions(environments: Sequence[Environment]) -> str:
    """`Lightning 1.8.6 → 2.6.6, torch 2.13.0, Python 3.11.7`."""
    held = [dict(one.packages) for one in sorted(environments, key=lambda one: one.role == "target")]
    rows = [
        ("Lightning", [next((packages[name] for name in _LIGHTNING if name in packages), "") for packages in held]),
        ("torch", [packages.get("torch", "") for packages in held]),
        ("Python", [one.python for one in sorted(environments, key=lambda one: one.role == "target")]),
    ]
    return ", ".join(f"{name} {' → '.join(dict.fromkeys(filter(None, found)))}" for name, found in rows if any(found))


def _compared(evidence: Evidence) -> Iterator[Fact]:
    if evidence.max_difference is None:
        return
    place = f", at {evidence.furthest}" if evidence.furthest and evidence.max_difference else ""
    within = f" (tolerance {evidence.tolerance:.2g})" if evidence.tolerance is not None else ""
    yield Fact(
        "compared",
        f"losses, learning rates and weights: largest difference {evidence.max_difference:.2g}{place}{within}",
    )


def not_executed(touched: Iterable[FileCoverage]) -> Iterator[Fact]:
    """What of the changed files did not run, a line for each way of that, and the functions that nothing called."""
    files = list(touched)
    for how, why in _WHY.items():
        if found := [file.path for file in files if file.how == how]:
            yield Fact("not executed", f"{_few(found)}: {why.format(them='them' if found[1:] else 'it')}")
    if idle := [f"{name} ({file.path})" for file in files if file.how == "executed" for name in file.idle]:
        yield Fact("not executed", f"changed, but not called: {_few(idle)}")


def _next(evidence: Evidence) -> Iterator[Fact]:
    left = [file.path for file in evidence.touched if file.is_left_by_runs]
    if left and evidence.verdict in ("preserved", "repaired", "changed"):
        what = _few(left[:1]) if len(left) == 1 else "them"
        yield Fact("next", f"to prove {what} too, name a command that runs {'it' if len(left) == 1 else 'them'}, with "
                           f"`command = \"...\"` {SETTINGS}")  # fmt: skip
    if evidence.verdict == "changed":
        yield Fact("next", "look at both curves with `fixer report --html`, and decide whether the change is wanted")


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if names[_NAMED:] else "")
