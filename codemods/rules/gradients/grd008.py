"""GRD008: what a module's own `train` does, which `fit` does not call any more."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from codemods.code.nodes import walk
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, is_super_call, taken
from codemods.finding import Fix
from codemods.lightning.eras import era
from codemods.lightning.facts import CALLBACK, MODULE, ClassFact, Facts
from codemods.lightning.versions import LIGHTNING, admits_from, is_open, reaches
from codemods.rule import Example, Match, NodeEdit, Rule, best_levels, touches
from codemods.rules.gradients.classes import NN, is_module

if TYPE_CHECKING:
    import libcst as cst

BEHIND, BEGUN = "on_validation_model_train", "on_train_start"
CALLS = re.compile(r"\bself(\.\w+)*\.(train|eval)\(")
_METHOD = re.compile(r"train\b(?<!\wtrain)(?:(?<=[\s\\]train)\s*[(\[]|\s*[=:])")
"""How a file may give a class a method of that name; many times as fast as with what stands in front first."""
STEPS = ("training_step", "configure_optimizers", "setup")
MESSAGE = "since Lightning 2.2 the Trainer no longer calls `{}.train` before training and after validation"
ADVICE = f"call it in {BEGUN} and in {BEHIND}, where Lightning did"
REASONS: dict[str, tuple[Fix, str]] = {
    "before": ("safe", "before 2.2 the Trainer called it before training and after each validation; this does so."),
    "after": ("unsafe", "the requirements allow 2.2 or later, where it is not called now: numbers change."),
    "unknown": (
        "unsafe",
        "no requirement says for which Lightning this was written; with 2.2 or later, numbers change.",
    ),
}


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    if not reaches(facts, "2.2.0"):
        return
    for item in file.classes:
        method = item.methods.get("train")
        fact = facts.of_class(file, item) if method is not None and _does_more(item, method) else None
        if fact is None or method is None or _is_called(item):
            continue
        if facts.kind(fact) == MODULE:
            yield _of_module(file, facts, item, fact, method)
        elif is_module(facts, f"{file.module}.{item.qualname}", file.path) and (holder := _holder(facts, fact)):
            reason = f"Not rewritten: {holder.name} ({holder.path}) is built of it; there, {ADVICE}."
            yield Match(file.head(method), MESSAGE.format(item.qualname), "manual", reason, "G18951")


def _may(text: str) -> bool:
    """Whether a text may have a class with a method `train`."""
    return _METHOD.search(text) is not None or "setattr(" in text


def _does_more(item: ClassNode, method: Function) -> bool:
    """Whether a method sets the mode, as torch's does, and something else besides."""
    modes = [node for node in walk(method) if _sets_mode(item, node)]
    return bool(modes) and any(not _is_plain(statement, modes) for statement in method.body)


def _sets_mode(item: ClassNode, node: ast.AST) -> bool:
    if is_super_call(node, "train"):
        return True
    return isinstance(node, ast.Call) and item.scope.resolve(node.func) in (f"{NN}.train", f"{MODULE}.train")


def _is_plain(statement: ast.stmt, modes: list[ast.AST]) -> bool:
    """Whether a statement sets the mode, or else raises, returns what that gives or the module, or says nothing."""
    if isinstance(statement, ast.Return):
        return statement.value is None or statement.value in modes or isinstance(statement.value, ast.Name)
    if isinstance(statement, ast.If):
        arms = [
            arm for arm in (statement.body, statement.orelse) if any(not isinstance(each, ast.Raise) for each in arm)
        ]
        one = len(arms) == 1 and statement.orelse
        return not arms or bool(one and all(_is_plain(each, modes) for each in arms[0]))
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Expr) and (statement.value in modes or isinstance(statement.value, ast.Constant))
    )


def _is_called(item: ClassNode) -> bool:
    """Whether a hook of the class sets modes by itself."""
    hooks = [method for name, method in item.methods.items() if name.startswith("on_") or name in STEPS]
    return any(
        isinstance(node, ast.Call) and CALLS.match(f"{ast.unparse(node.func)}(")
        for method in hooks
        for node in walk(method)
    )


def _of_module(file: PythonFile, facts: Facts, item: ClassNode, fact: ClassFact, method: Function) -> Match:
    place, message = file.head(method), MESSAGE.format(item.qualname)
    if why := _refusal(facts, item, fact):
        return Match(place, message, "manual", f"Not rewritten: {why}; {ADVICE}.", "G18951")
    when = era(facts, "2.2.0")
    both = when == "before" and not is_open(facts, LIGHTNING) and admits_from(facts, LIGHTNING, "2.2.0")
    level, reason = REASONS["after" if both else when]
    if beside := _beside(facts):
        level, reason = "unsafe", f"{beside.name} ({beside.path}) has {BEGUN} too, before which 1.x called it."
    call = "self.train()" if _has_default(method) else "self.train(True)"
    edit = NodeEdit(item.node, partial(_calling, call=call, begins=BEGUN in item.methods))
    return Match(place, message, level, reason, "G18951", (edit,))


def _beside(facts: Facts) -> ClassFact | None:
    """A callback of the project that runs in front of the module's hook, and may set modes there."""
    return next((each for each in facts.classes() if BEGUN in each.methods and facts.kind(each) == CALLBACK), None)


def _refusal(facts: Facts, item: ClassNode, fact: ClassFact) -> str | None:
    if BEHIND in item.methods:
        return f"the class has {BEHIND} already"
    if BEGUN in item.methods and (
        item.methods[BEGUN].decorator_list or isinstance(item.methods[BEGUN].args.vararg, ast.arg)
    ):
        return f"{BEGUN} is not an ordinary method"
    relatives = [*facts.ancestry(fact)[1:], *facts.subclasses(fact)]
    named = [(other, name) for other in relatives for name in (BEHIND, BEGUN) if name in other.methods]
    if named:
        return f"{named[0][0].name} has {named[0][1]} too"
    return None if len(taken(item.methods["train"])) == 2 else "its train takes other arguments than the mode"


def _has_default(method: Function) -> bool:
    arguments = method.args
    return len(arguments.args) == 1 or bool(arguments.defaults)


def _holder(facts: Facts, part: ClassFact) -> ClassFact | None:
    """A LightningModule that trains and is built of a class, or of one that is built of it, and sets no modes."""
    for fact in sorted(facts.classes(), key=lambda each: (each.path, each.name)):
        if facts.kind(fact) == MODULE and "training_step" in fact.methods:
            item = _item(facts, fact)
            if item and not _is_called(item) and (part.path, part.name) in _built(facts, fact, 3):
                return fact
    return None


def _item(facts: Facts, fact: ClassFact) -> ClassNode | None:
    file = facts.open(fact.path)
    return next((each for each in file.classes if each.qualname == fact.name), None) if file else None


def _built(facts: Facts, fact: ClassFact, depth: int) -> frozenset[tuple[str, str]]:
    """The project's classes that a class, or one that it builds, calls by their names."""
    memo: dict[tuple[str, str, int], frozenset[tuple[str, str]]] = facts.memo.setdefault("gradients.built", {})
    key = (fact.path, fact.name, depth)
    if key not in memo:
        file, item = facts.open(fact.path), _item(facts, fact)
        inside = set(walk(item.node)) if item else set()
        calls = [call for call in file.calls if call.node in inside] if file else []
        dotted = {call.scope.resolve(call.node.func) for call in calls} - {None}
        found = [other for name in sorted(map(str, dotted)) if (other := facts.find_class(name, fact.path))]
        every = {(other.path, other.name) for other in found}
        memo[key] = frozenset(every.union(*(_built(facts, other, depth - 1) for other in found if depth > 1)))
    return memo[key]


@touches("beside")
def _calling(node: cst.ClassDef, *, call: str, begins: bool) -> cst.ClassDef:
    from codemods.rewrite import edits

    if begins:
        node = edits.change_method(node, BEGUN, lambda method: [edits.begun(method, f"{call}\n")])
    else:
        node = edits.add_method(node, f"def {BEGUN}(self):\n    {call}\n", before="train")
    return edits.add_method(node, f"def {BEHIND}(self):\n    {call}\n", before="train")


BEFORE = """\
import torch
from pytorch_lightning import LightningModule, Trainer


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4))

    def train(self, mode=True):
        super().train(mode)
        self.layers[1].eval()
        return self

    def training_step(self, batch, batch_idx):
        return self.layers(batch).sum()


trainer = Trainer(gpus=1)
"""
AFTER = BEFORE.replace(
    "    def train(self, mode=True):\n",
    "    def on_train_start(self):\n        self.train()\n\n    def on_validation_model_train(self):\n"
    "        self.train()\n\n    def train(self, mode=True):\n",
)
PLAIN = BEFORE.replace("        self.layers[1].eval()\n", "")
CALLED = BEFORE.replace(
    "    def training_step", "    def on_train_epoch_start(self):\n        self.train()\n\n    def training_step"
)

RULE = Rule(
    code="GRD008",
    name="own-train-method",
    summary="a LightningModule's own `train` is called where the Trainer did before Lightning 2.2",
    why=(
        "Up to Lightning 2.1 `fit` called `.train()` on the module before training and after each validation, and so "
        "whatever the module or a part of it does there: to keep batch normalization frozen, to put averaged weights "
        "back. Since 2.2 it only restores the flags that it saw (pull request 18951): frozen layers train, and "
        "averaged weights stay, without an error. A module that calls `train` or `eval` in a hook of its own, or whose "
        "`train` does no more than torch's, is left alone; of a part, the module that it belongs to is named."
    ),
    fix="safe",
    stops=False,
    versions="Lightning before 2.2 -> 2.2 and later",
    triggers=(b"def train(", b"def training_step(", BEGUN.encode(), BEHIND.encode()),
    check=_check,
    spelled=_may,
    breaks_in="2.2.0",
    rows=partial(best_levels, (("G18951", "safe"),)),
    examples=(Example(BEFORE, AFTER), Example(PLAIN, PLAIN), Example(CALLED, CALLED)),
    references=("https://github.com/Lightning-AI/pytorch-lightning/pull/18951",),
)
