"""LIT115: DDP of 1.x looked for unused parameters by itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from codemods.code.nodes import walk
from codemods.code.source import CallNode, PythonFile
from codemods.lightning.arguments import current, once
from codemods.lightning.calls import trainer_calls
from codemods.lightning.eras import era
from codemods.lightning.facts import Facts
from codemods.lightning.kinds import stated_once
from codemods.lightning.layer_uses import LayerUses, layer_uses
from codemods.rewrite.ddp import looking, with_argument
from codemods.rule import Example, Match, NodeEdit, Rule, best_levels

NAMING = ("strategy", "accelerator", "distributed_backend")
LOOKED = ("ddp", "ddp_spawn")
COST = "looking for them costs a pass over the graph in each step, which freezing it, or using it, saves"
CLASSES = ("DDPPlugin", "DDPSpawnPlugin", "DDPStrategy", "DDPSpawnStrategy")


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for call in trainer_calls(file):
        if any(_tells(_value(file, call, item)) for item in call.node.keywords) or _evaluates(file, facts, call):
            continue
        trained = _trained(file, facts, call)
        left = trained is not None and bool(_left_out(*trained)) and era(facts, "2.0.0") != "after"
        old = bool({item.arg for item in call.node.keywords} & (once() - current()))
        for item in call.node.keywords:
            if item.arg in (*NAMING, "plugins") and (place := _looks(file, call, item, old or left)):
                yield _match(file, item, place, trained)


def _match(file: PythonFile, item: ast.keyword, place: ast.expr, trained: tuple[str, LayerUses] | None) -> Match:
    message = "since Lightning 2.0 DDP no longer looks for parameters without a gradient"
    told = _left_out(*trained) if trained else ""
    if not told:
        reached = f"{_of_step(*trained)}; " if trained and trained[1].used else ""
        reason = (
            f"Not rewritten: {reached}if the model leaves parameters unused, which 1.x looked for by itself, training "
            'fails in its second step; then write `strategy="ddp_find_unused_parameters_true"`.'
        )
        return Match(file.span(place), message, "manual", reason, "B07")
    edit = None
    if isinstance(place, ast.Call):
        edit = NodeEdit(place, partial(with_argument, name="find_unused_parameters", value="True"))
    elif place is item.value and not isinstance(place, ast.Name):
        edit = NodeEdit(item, looking)
    if item.arg != "strategy" or edit is None:
        reason = f'Not rewritten: {told}; write `strategy="ddp_find_unused_parameters_true"`, or freeze it.'
        return Match(file.span(place), message, "manual", reason, "B07")
    reason = f"{told[:1].upper()}{told[1:]}, which 1.x looked for by itself; {COST}."
    return Match(file.span(place), message, "unsafe", reason, "B07", (edit,))


def _trained(file: PythonFile, facts: Facts, call: CallNode) -> tuple[str, LayerUses] | None:
    """The class that a Trainer trains, if that is one, and the uses of its layers."""
    known = facts.files[file.path].trainers if file.path in facts.files else ()
    here = [each for each in known if each.line == call.node.lineno]
    fits = {name for each in here for name in (*each.fits, *each.fits_at_once)}
    if len(here) != 1 or len(fits) != 1 or None in fits:
        return None
    [name] = fits
    found = facts.find_opened(name, file.path) if name else None
    uses = layer_uses(found[0], facts, found[1]) if found else None
    return (found[1].qualname, uses) if found and uses else None


def _left_out(name: str, uses: LayerUses) -> str:
    """What a class leaves without a gradient, in all steps or in some."""
    never = [f"`self.{each}`" for each in uses.never]
    if never:
        return f"no training step of {name} gives {' and '.join(never)} a gradient"
    at_times = [f"`self.{each}` a gradient only where `{test}` says so" for each, test in uses.at_times]
    return f"training steps of {name} give {' and '.join(at_times)}" if at_times else ""


def _of_step(name: str, uses: LayerUses) -> str:
    listed = ", ".join(f"`self.{each}`" for each in uses.used)
    return f"the training step of {name} uses {listed}, and fixer cannot tell what else the model holds"


def _evaluates(file: PythonFile, facts: Facts, call: CallNode) -> bool:
    """Whether a Trainer only tests, validates and predicts: nothing of the model has a gradient there."""
    known = facts.files[file.path].trainers if file.path in facts.files else ()
    return any(trainer.evaluates for trainer in known if trainer.line == call.node.lineno)


def _tells(value: ast.expr) -> bool:
    """Whether an argument says itself whether DDP looks for them."""
    return any(isinstance(node, ast.keyword) and node.arg == "find_unused_parameters" for node in walk(value))


def _value(file: PythonFile, call: CallNode, item: ast.keyword) -> ast.expr:
    """What an argument is given, there or in the one value of a variable."""
    return (stated_once(file, call, item.value.id) if isinstance(item.value, ast.Name) else None) or item.value


def _looks(file: PythonFile, call: CallNode, item: ast.keyword, old: bool) -> ast.expr | None:
    """What names a strategy of 1.x that looked for them."""
    value = _value(file, call, item)
    old = old or any(isinstance(node, ast.Constant) and node.value is None for node in walk(value))
    for node in walk(value):
        counts = item.arg in NAMING and (old or item.arg != "strategy")
        if counts and isinstance(node, ast.Constant) and node.value in LOOKED:
            return item.value
        if isinstance(node, ast.Call) and (dotted := call.scope.resolve(node.func)):
            name = dotted.rpartition(".")[2]
            ours = dotted.startswith("lightning.pytorch.") and name in CLASSES
            told = any(other.arg is None for other in node.keywords)
            if ours and not told and (old or name.endswith("Plugin")):
                return node
    return None


_IMPORT = "from pytorch_lightning import Trainer\n\n"
OLD = f'{_IMPORT}trainer = Trainer(gpus=2, strategy="ddp")\n'
NEW = f'{_IMPORT}trainer = Trainer(accelerator="gpu", devices=2, strategy="ddp")\n'
LEFT = """\
from pytorch_lightning import LightningModule, Trainer
from torch import nn


class Net(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)
        self.head = nn.Linear(2, 2)

    def training_step(self, batch, batch_idx):
        return self.layer(batch).sum()


trainer = Trainer(gpus=2, strategy="ddp")
trainer.fit(Net())
"""

RULE = Rule(
    code="LIT115",
    name="ddp-unused-parameters",
    summary="DDP of 1.x looked for unused parameters by itself",
    why=(
        "Lightning 2.0 left find_unused_parameters at torch's default, False (pull request 16611, breakage B07), which "
        "the upgrade guide does not list: a step that leaves a parameter without a gradient makes the next one fail. "
        "Where the training step of the module that the Trainer fits leaves a layer of its constructor without one, in "
        "all steps, under `no_grad` alone or but where a condition on the step says so, DDP is told to look for it "
        "(run on 2.6.6, which fails without). That costs a pass over the graph in each step. A frozen layer needs "
        "nothing. Elsewhere it is named where a Trainer is written for 1.x: fixer cannot tell what layers of others "
        "leave unused inside, as the pooler of a transformer whose pooled output goes unread, so that no use of all "
        "layers proves that nothing is needed; most models need nothing. With several optimizers OPT001 answers it."
    ),
    fix="unsafe",
    versions="Lightning 1.x -> 2.0 and later",
    triggers=(b"Trainer(", b"from_argparse_args("),
    words=tuple(name.encode() for name in (*LOOKED, *CLASSES)),
    check=_check,
    rows=partial(best_levels, (("B07", "unsafe"), ("G16611", "unsafe"))),
    examples=(
        Example(OLD, OLD),
        Example(NEW, NEW),
        Example(LEFT, LEFT.replace('"ddp"', '"ddp_find_unused_parameters_true"')),
    ),
    references=("https://github.com/Lightning-AI/pytorch-lightning/pull/16611",),
)
