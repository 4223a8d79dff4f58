"""OPT003: several optimizers under automatic optimization, and a training step that cannot tell them apart."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, parameters, takes
from codemods.lightning.facts import MODULE, ClassFact, Facts
from codemods.lightning.optimization import FLAG, optimization
from codemods.rewrite.manual.configured import read_configured
from codemods.rewrite.manual.module import is_manual
from codemods.rewrite.manual.optimizers import NotPlain
from codemods.rule import Example, Match, Rule, best_levels
from codemods.rules.optimizers.module import INDEX, STEP

CODE = "OPT003"
ADVICE = (
    "Set `self.automatic_optimization = False` and in training_step, for each `optimizer` of `self.optimizers()`, "
    "write `self.toggle_optimizer(optimizer)`, its loss, `optimizer.zero_grad()`, `self.manual_backward(loss)`, "
    "`optimizer.step()` and `self.untoggle_optimizer(optimizer)`."
)


def _collect(file: PythonFile) -> tuple[str, ...] | None:
    return tuple(item.qualname for item in _candidates(file)) or None


def _candidates(file: PythonFile) -> list[ClassNode]:
    """The classes that may have several optimizers and whose step, where they have one, takes no `optimizer_idx`, as
    far as the file shows."""
    if "configure_optimizers" not in file.text:
        return []
    return [item for item in file.classes if _several(file, item)]


def _several(file: PythonFile, item: ClassNode) -> str:
    """How a class is said to have several optimizers; "" where it has one, or its step tells them apart."""
    step, configure = item.methods.get(STEP), item.methods.get("configure_optimizers")
    if configure is None or is_manual(file, item) or (step is not None and _tells_apart(step)):
        return ""
    try:
        found = read_configured(configure, item.scope)
    except NotPlain:
        return ""
    if (found.count or 0) > 1:
        return "has"
    return "may have" if found.count is None and (found.most is None or found.most > 1) else ""


def _tells_apart(step: Function) -> bool:
    """Whether a step takes the index, or a state whose rule says more."""
    return takes(step, INDEX) or takes(step, "hiddens")


def _inherited(facts: Facts, fact: ClassFact) -> Function | None:
    """The training step that a class takes over from another one of the project."""
    above = next((other for other in facts.ancestry(fact)[1:] if STEP in other.methods), None)
    found = facts.find_opened(f"{facts.files[above.path].module}.{above.name}", above.path) if above else None
    return found[1].methods.get(STEP) if found else None


def _below(file: PythonFile, facts: Facts, fact: ClassFact) -> Iterator[tuple[str, Function, Function | None]]:
    """The classes that train the optimizers of another one, each with a step of its own, twice where it stands here."""
    for child in facts.subclasses(fact):
        between = [one for one in facts.ancestry(child) if one != fact]
        if STEP not in child.methods or any("configure_optimizers" in one.methods for one in between):
            continue
        opened = facts.find_opened(f"{facts.files[child.path].module}.{child.name}", child.path)
        here = next((item for item in file.classes if child.path == file.path and item.qualname == child.name), None)
        found = (file, here) if here else opened
        if found and optimization(facts, found[0], child) != "manual" and not is_manual(*found):
            step = found[1].methods[STEP]
            yield child.name, step, step if here else None


def _context(collected: Mapping[str, Any]) -> tuple[bytes, ...]:
    return (FLAG.encode(),) if collected else ()


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for item in _candidates(file):
        fact = facts.of_class(file, item)
        if fact is None or facts.kind(fact) != MODULE or _is_manual(file, facts, fact):
            continue
        own = item.methods.get(STEP)
        how = _several(file, item)
        below = [*_below(file, facts, fact)] if own is None and how == "has" else []
        known = own or _inherited(facts, fact)
        if known is None and not below and how == "has" and not _steps_below(facts, fact):
            yield _unseen(file, item)
        for name, step, here in [(item.node.name, known, own), *below]:
            if step is None or _tells_apart(step):
                continue
            yield Match(
                file.head(here or item.methods["configure_optimizers"]),
                f"{name} {how} several optimizers, and a training step that takes no `optimizer_idx`",
                "manual",
                f"Not rewritten: {_before(step)}. {ADVICE}",
                "M214",
                stops=None if how == "has" else False,
            )


def _steps_below(facts: Facts, fact: ClassFact) -> bool:
    """Whether a class of the project that is mixed with one, or derives from it, has a training step."""
    return any(STEP in one.methods for child in facts.subclasses(fact) for one in facts.ancestry(child))


def _unseen(file: PythonFile, item: ClassNode) -> Match:
    """The match of a class whose step is added to it where fixer does not see it."""
    reason = (
        "Not rewritten: no training step is seen here. Where one is mixed in, 2.x refuses several optimizers under "
        f"automatic optimization. {ADVICE}"
    )
    message = f"{item.node.name} has several optimizers, which automatic optimization no longer takes"
    return Match(file.head(item.methods["configure_optimizers"]), message, "manual", reason, "M214", stops=False)


def _before(step: Function) -> str:
    """What became of several optimizers with such a step."""
    if step.args.vararg:
        return (
            f"with several `*{step.args.vararg.arg}` got the index in 1.x, and 2.x refuses several optimizers under "
            "automatic optimization"
        )
    extra = parameters(step)[2:]
    old = f" (before 0.6 `{extra[0]}` got the index, and what one turn kept served the next)" if extra else ""
    return (
        f"Lightning 0.6 to 1.9 refused to train several{old}, and 2.x refuses them under automatic optimization, so "
        "there is no earlier training to reproduce"
    )


def _is_manual(file: PythonFile, facts: Facts, fact: ClassFact) -> bool:
    """Whether a class, or what alone derives from it, has switched automatic optimization off."""
    below = [optimization(facts, file, child) for child in facts.subclasses(fact)]
    return optimization(facts, file, fact) == "manual" or (bool(below) and set(below) == {"manual"})


BEFORE = """\
import torch
from pytorch_lightning import LightningModule


class GAN(LightningModule):
    def training_step(self, batch, batch_idx):
        return self.discriminator(self.generator(batch)).mean()

    def configure_optimizers(self):
        generator = torch.optim.Adam(self.generator.parameters())
        return generator, torch.optim.Adam(self.discriminator.parameters())
"""
MANUAL = BEFORE.replace("    def training", "    automatic_optimization = False\n\n    def training")

RULE = Rule(
    code=CODE,
    name="several-optimizers-one-step",
    summary="Several optimizers and a training step that cannot tell them apart are named",
    why=(
        "Lightning 1.x raised a ValueError where several optimizers met a training step without `optimizer_idx`, and "
        "2.0 refuses several optimizers under automatic optimization altogether (guide row M214, pull request 16539). "
        "Which loss belongs to which optimizer is your decision."
    ),
    fix="manual",
    stops=True,
    versions="every Lightning",
    triggers=(b"def configure_optimizers",),
    check=_check,
    rows=partial(best_levels, (("M214", "manual"),)),
    examples=(Example(BEFORE, BEFORE), Example(MANUAL, MANUAL)),
    collect=_collect,
    context=_context,
    present=lambda file: bool(_candidates(file)),
    references=("https://github.com/Lightning-AI/pytorch-lightning/pull/16539",),
)
