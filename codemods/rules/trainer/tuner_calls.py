"""Calls of the tuner by hand: `trainer.tuner.lr_find(...)`, and `trainer.lr_find(...)` of the releases to 0.9."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from codemods.code.calls import keyword
from codemods.code.source import CallNode, PythonFile
from codemods.lightning.calls import trainer_calls
from codemods.lightning.facts import TRAINER, Facts
from codemods.lightning.trainer_variables import is_trainer
from codemods.rewrite.keywords import replaced, with_keyword
from codemods.rule import Match, NodeEdit
from codemods.rules.trainer.callbacks import spelled
from codemods.rules.trainer.owners import attributes_within, is_trainers

if TYPE_CHECKING:
    import libcst as cst

TUNER = "from lightning.pytorch.tuner import Tuner"
RENAMED = {"train_dataloader": "train_dataloaders"}
"""What lr_find and scale_batch_size call an argument since 1.4."""
GONE = "`trainer.tuner` was removed in Lightning 2.0"
UNSEEN = "fixer cannot tell whether it is a Trainer's"
BEFORE_UPDATE = 11
"""How many arguments of lr_find stand before update_attr, in 1.9 as in 2.x."""
FINDS: Mapping[str, str] = {
    "scale_batch_size": (
        "the size that it finds may be another one: 1.x ended at the length of the data, and since 2.6 it ends at "
        "8192 and takes 5% off what a binary search finds"
    ),
    "lr_find": "the rate that it suggests may be another one, since 2.5.3 looks at the loss over the rate, not by step",
}
"""What a search finds otherwise (run on 1.9.5 and 2.6.6: 100 became 128 and 121, 9.1e-8 became 7.6e-8)."""
TAKEN = frozenset({
    "model", "train_dataloader", "train_dataloaders", "val_dataloaders", "datamodule", "min_lr", "max_lr", "mode",
    "num_training", "early_stop_threshold", "steps_per_trial", "init_val", "max_trials", "batch_arg_name",
    "update_attr", "method", "attr_name",
})  # fmt: skip
"""What the methods of the Tuner take by name (train_dataloader under its new one)."""
SHARED = {"lr_find": 3, "scale_batch_size": 1}
"""How many arguments stand first in the Trainer's own method of 0.9 as in the Tuner's of 2.x."""


def by_hand(file: PythonFile, facts: Facts) -> Iterator[Match]:
    """The tuner's methods called on `trainer.tuner` or on the Trainer, which need a Tuner of their own, and other reads
    of them."""
    called: set[ast.expr] = set()
    built = {call.node for call in trainer_calls(file)}
    for call in file.calls_near(SHARED):
        function = call.node.func
        if not isinstance(function, ast.Attribute) or function.attr not in SHARED:
            continue
        called.update((function, function.value))
        if isinstance(function.value, ast.Attribute) and function.value.attr == "tuner":
            yield from _tuners(file, facts, call, function.value)
        elif has_own(facts, function.attr):
            continue
        elif certain := function.value in built or is_trainers(file, facts, function, call.within):
            yield _searched(file, call, function)
        elif certain is None:
            yield _left(file, function, UNSEEN, function.attr)
    for node, within in attributes_within(file, frozenset({"tuner", *SHARED})):
        if node in called or not isinstance(node.ctx, ast.Load) or has_own(facts, node.attr):
            continue
        certain = node.value in built or is_trainers(file, facts, node, within)
        if certain is not False:
            method = node.attr if node.attr in SHARED else "lr_find"
            yield _left(file, node, "fixer cannot follow where it is used" if certain else UNSEEN, method)


def has_own(facts: Facts, method: str) -> bool:
    """Whether a Trainer of the project has a method of that name."""
    return any(method in item.methods for item in facts.classes() if facts.kind(item) == TRAINER)


def _tuners(file: PythonFile, facts: Facts, call: CallNode, owner: ast.Attribute) -> Iterator[Match]:
    """`trainer.tuner.lr_find(...)`."""
    assert isinstance(call.node.func, ast.Attribute)
    method = call.node.func.attr
    inner = CallNode(ast.Call(ast.Attribute(owner.value, "tuner", ast.Load()), [], []), call.scope, call.within)
    known = is_trainer(file, facts, inner)
    if known is False:
        return
    how = spelled(file, call, "tuner.Tuner")
    if isinstance(how, str) or known is None:
        yield _left(file, owner, how if isinstance(how, str) else UNSEEN, method)
        return
    edits = [NodeEdit(owner, partial(_tuner, text=how.text)), *_renamed(call)]
    reason = _kept(method, call.node, edits)
    yield Match(file.span(owner), GONE, "unsafe", reason, "M174", tuple(edits), how.imports)


def _searched(file: PythonFile, call: CallNode, function: ast.Attribute) -> Match:
    """`trainer.lr_find(...)`, which Trainers had up to 0.9; its rate was not set on the model (read in 0.9.0)."""
    if len(call.node.args) > SHARED[function.attr] or any(isinstance(item, ast.Starred) for item in call.node.args):
        why = "arguments without a name have other places since 1.0"
        return _left(file, function, f"{why}: write their names", function.attr)
    if other := next((item.arg for item in call.node.keywords if item.arg and item.arg not in TAKEN), None):
        return _left(file, function, f"the Tuner's takes no `{other}=`", function.attr)
    how = spelled(file, call, "tuner.Tuner")
    if isinstance(how, str):
        return _left(file, function, how, function.attr)
    edits = [NodeEdit(function.value, partial(_built_of, text=how.text)), *_renamed(call)]
    reason = _kept(function.attr, call.node, edits)
    return Match(file.span(function), _gone(function.attr), "unsafe", reason, None, tuple(edits), how.imports)


def _gone(method: str) -> str:
    return f"`trainer.{method}()` was removed in Lightning 1.0"


def _renamed(call: CallNode) -> list[NodeEdit]:
    return [
        NodeEdit(call.node, partial(replaced, name=old, new=((new, None),)))
        for old, new in RENAMED.items()
        if keyword(call.node, old) and not keyword(call.node, new)
    ]


def _left(file: PythonFile, node: ast.Attribute, why: str, method: str) -> Match:
    advice = f"write `Tuner(trainer).{method}(...)`, with `{TUNER}`"
    if method == "lr_find":
        advice += "; its lr_find sets the model's rate unless given `update_attr=False`"
    message, row = (GONE, "M174") if node.attr == "tuner" else (_gone(node.attr), None)
    return Match(file.span(node), message, "manual", f"Not rewritten: {why}; {advice}.", row)


def _kept(method: str, call: ast.Call, edits: list[NodeEdit]) -> str:
    """Why a call of the tuner is rewritten, with the edit that it needs to do the same. lr_find sets the model's rate
    by default since 2.0 (run on 1.9.5 and 2.6.6)."""
    reason = f"A Tuner is built of it; {FINDS[method]}"
    if method != "lr_find" or len(call.args) > BEFORE_UPDATE or keyword(call, "update_attr"):
        return f"{reason}."
    edits.append(NodeEdit(call, partial(with_keyword, name="update_attr", text="False")))
    reason += "; by itself it sets the model's rate since 2.0, and did not before"
    if any(isinstance(item, ast.Starred) for item in call.args) or any(item.arg is None for item in call.keywords):
        reason += "; fixer assumes that `*` or `**` does not give them too"
    return f"{reason}."


def _tuner(node: cst.Attribute, *, text: str) -> cst.Call:
    import libcst as cst

    return cst.Call(func=cst.parse_expression(text), args=[cst.Arg(node.value)])


def _built_of(node: cst.BaseExpression, *, text: str) -> cst.Call:
    import libcst as cst

    return cst.Call(func=cst.parse_expression(text), args=[cst.Arg(node)])
