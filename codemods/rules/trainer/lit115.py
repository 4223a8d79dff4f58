"""LIT115: DDP of 1.x looked for unused parameters by itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from codemods.code.nodes import walk
from codemods.code.source import CallNode, PythonFile
from codemods.lightning.arguments import current, once
from codemods.lightning.calls import trainer_calls
from codemods.lightning.facts import Facts
from codemods.lightning.kinds import stated_once
from codemods.rule import Example, Match, Rule, best_levels

NAMING = ("strategy", "accelerator", "distributed_backend")
LOOKED = ("ddp", "ddp_spawn")
CLASSES = ("DDPPlugin", "DDPSpawnPlugin", "DDPStrategy", "DDPSpawnStrategy")


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for call in trainer_calls(file):
        if any(_tells(_value(file, call, item)) for item in call.node.keywords) or _evaluates(file, facts, call):
            continue
        old = {item.arg for item in call.node.keywords} & (once() - current())
        for item in call.node.keywords:
            if item.arg in (*NAMING, "plugins") and (place := _looks(file, call, item, bool(old))):
                message = "since Lightning 2.0 DDP no longer looks for parameters without a gradient"
                reason = (
                    "Not rewritten: if the model leaves parameters unused, which 1.x looked for by itself, training "
                    'fails in its second step; then write `strategy="ddp_find_unused_parameters_true"`.'
                )
                yield Match(file.span(place), message, "manual", reason, "B07")


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

RULE = Rule(
    code="LIT115",
    name="ddp-unused-parameters",
    summary="DDP of 1.x looked for unused parameters by itself",
    why=(
        "Lightning 2.0 left find_unused_parameters at torch's default, False (pull request 16611, breakage B07), which "
        "the upgrade guide does not list. It is named where a Trainer is written for 1.x; "
        "fixer cannot tell what the model needs, and most need nothing."
    ),
    fix="manual",
    versions="Lightning 1.x -> 2.0 and later",
    triggers=(b"Trainer(", b"from_argparse_args("),
    words=tuple(name.encode() for name in (*LOOKED, *CLASSES)),
    check=_check,
    rows=partial(best_levels, (("B07", "manual"), ("G16611", "manual"))),
    examples=(Example(OLD, OLD), Example(NEW, NEW)),
    references=("https://github.com/Lightning-AI/pytorch-lightning/pull/16611",),
)
