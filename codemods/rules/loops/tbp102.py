"""TBP102: automatic_optimization = False in front of super().__init__(), which switches it on again."""

from __future__ import annotations

from collections.abc import Iterator

from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import super_init_index
from codemods.lightning.facts import MODULE, Facts
from codemods.rule import Example, Match, NodeEdit, Rule
from codemods.rules.loops.classes import FLAG, OptimizedModule, collect, flag_index, loops
from codemods.rules.loops.optimization_intent import ASKED, not_plain, raw_backwards, steps_itself
from codemods.rules.loops.optimizer_events import is_laid_out
from codemods.rules.loops.steps import Move, Steps
from codemods.rules.loops.trainers import WORDS, refusing

CODE = "TBP102"


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    manual = {id(loop.item.node): loop for loop in loops(file, facts, CODE)}
    for item, _ in facts.classes_of(file, MODULE):
        yield from _class_match(file, item, manual.get(id(item.node)))


def _class_match(file: PythonFile, item: ClassNode, loop: OptimizedModule | None) -> Iterator[Match]:
    init = item.methods.get("__init__")
    flag = flag_index(init) if init else None
    called = super_init_index(init) if init else None
    if init is None or flag is None or called is None or flag > called:
        return
    if loop is not None and loop.state != "lost":
        return
    place = file.span(init.body[flag])
    message = f"`{FLAG} = False` is set before `super().__init__()`, which resets it to True"
    if loop is None or not steps_itself(file, loop):
        reason = (
            "Not rewritten: Lightning optimizes automatically as it is, and "
            "fixer cannot tell whether the training step does so "
            "itself. Delete the line, or set it after `super().__init__()` and make the steps in training_step."
        )
        yield Match(place, message, "manual", reason)
        return
    why = refusing(loop.facts, loop.fact) or not_plain(file, loop)
    if not is_laid_out(init):
        why = "two statements of the constructor share a line"
    if why:
        yield Match(place, message, "manual", f"Not rewritten: {why}.")
        return
    change = Steps((Move((("body", flag),), (("body", called),), after=True),))
    raws = raw_backwards(file, loop)
    backwards = tuple(NodeEdit(raw.call.node, raw.change) for raw in raws if raw.change)
    reason = "The training step makes its own optimizer steps, as the line intends."
    yield Match(place, message, "safe", reason, edits=(NodeEdit(init, change), *backwards))


BEFORE = """\
import torch
from lightning.pytorch import LightningModule


class Model(LightningModule):
    def __init__(self):
        self.automatic_optimization = False
        super().__init__()
        self.layer = torch.nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        for part in batch.split(4):
            optimizer.zero_grad()
            self.manual_backward(self.layer(part).mean())
            optimizer.step()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
"""
LINES = "        self.automatic_optimization = False\n        super().__init__()\n"
AFTER = BEFORE.replace(LINES, "".join(reversed(LINES.splitlines(keepends=True))))

RULE = Rule(
    code=CODE,
    name="manual-flag-lost",
    summary="`automatic_optimization = False` moves after `super().__init__()`",
    why=(
        "LightningModule's constructor sets automatic_optimization to True, so that what was set before is lost "
        "without an error, and Lightning optimizes automatically."
    ),
    fix="safe",
    versions="any Lightning",
    triggers=(FLAG.encode(), *WORDS),
    check=_check,
    collect=collect,
    present=lambda file: FLAG in file.text,
    mentions=ASKED,
    examples=(Example(BEFORE, AFTER), Example(AFTER, AFTER)),
)
