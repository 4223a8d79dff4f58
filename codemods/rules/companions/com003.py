"""COM003: torch.load of files whose use shows that they hold more than tensors."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import partial

from codemods.code.nodes import walk
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import Function
from codemods.lightning.facts import Facts
from codemods.lightning.versions import TORCH, admits_below, admits_from
from codemods.rewrite.keywords import with_keyword
from codemods.rule import Example, Match, NodeEdit, Rule, touches

SINCE = "2.6"
NAME = "weights_only"
MESSAGE = "torch.load loads only tensors and plain values since torch 2.6, unless weights_only=False is given"
OBJECTS = frozenset({
    "eval", "train", "state_dict", "load_state_dict", "parameters", "named_parameters", "modules", "named_modules",
    "children",
})  # fmt: skip
"""Methods that a whole model has, and what holds tensors alone has not."""
KEYS = frozenset({"args", "hparams", "hyper_parameters", "config", "cfg", "opt"})
"""Under what objects are kept beside weights: a Namespace, a configuration."""
REASON = (
    "{} expects a whole model, or objects next to the weights, which need weights_only=False, the default up to torch "
    "2.5; do so only for files that you trust, since such a file can run code."
)
_NAMED = re.compile(
    r"torch\b(?<!\wtorch)(?:[\s)\\]*\.[\s\\]*load\b|(?<=from torch)\s+import\b[^\n]*(?:\bload\b|[(*\\])"
    r"|(?<=import torch)\s+as\b|(?<!import torch)(?<!from torch)(?![\s\\]*\.))"
)
"""The function, or torch under a name of which it may be asked."""
UNPACKED = "Not rewritten: `**` may give weights_only. {}"


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    if not (admits_from(facts, TORCH, SINCE) and admits_below(facts, TORCH, SINCE)):
        return
    for call in file.calls_near(["load"]):
        told = {item.arg for item in call.node.keywords}
        if call.scope.resolve(call.node.func) != "torch.load" or NAME in told:
            continue
        line = _asked_for_more(file, call)
        if not line:
            continue
        reason = REASON.format(f"Line {line}")
        if None in told:
            yield Match(file.span(call.node), MESSAGE, "manual", UNPACKED.format(reason))
        else:
            edit = touches("arguments")(partial(with_keyword, name=NAME, text="False"))
            yield Match(file.span(call.node), MESSAGE, "unsafe", reason, edits=(NodeEdit(call.node, edit),))


def _may(text: str) -> bool:
    """Whether a text may call the function."""
    return _NAMED.search(text) is not None or "getattr(" in text or "import_module" in text


def _asked_for_more(file: PythonFile, call: CallNode) -> int:
    """The line that asks what is loaded for what no tensor and no table of tensors has; 0 where none does."""
    space = next((item for item in reversed(call.within) if isinstance(item, Function)), file.tree)
    every = [node for node in walk(space) if isinstance(node, ast.expr | ast.Assign)]
    made = (node.targets[0] for node in every if isinstance(node, ast.Assign) and node.value is call.node)
    name = next((target.id for target in made if isinstance(target, ast.Name)), None)
    return min((node.lineno for node in every if _asks(node, call.node, name)), default=0)


def _asks(node: ast.AST, loaded: ast.Call, name: str | None) -> bool:
    def is_it(other: ast.AST) -> bool:
        return other is loaded or (isinstance(other, ast.Name) and other.id == name)

    match node:
        case ast.Attribute(value=owner, attr=attribute):
            return attribute in OBJECTS and is_it(owner)
        case ast.Subscript(value=owner, slice=ast.Constant(value=key)):
            return key in KEYS and is_it(owner)
        case ast.Call(func=function):
            return is_it(function)
    return False


BEFORE = """\
import torch


def restore(path):
    checkpoint = torch.load(path, map_location="cpu")
    return checkpoint["args"], checkpoint["state_dict"]
"""
AFTER = BEFORE.replace('="cpu")', '="cpu", weights_only=False)')
WEIGHTS = "import torch\n\n\ndef restore(model, path):\n    model.load_state_dict(torch.load(path)['state_dict'])\n"

RULE = Rule(
    code="COM003",
    name="loads-tensors-alone",
    summary="`torch.load` of files that hold more than tensors says so",
    why=(
        "torch 2.6 made `weights_only=True` the default of `torch.load` (pull request 137602): files that hold a whole "
        "model, or a Namespace of hyperparameters beside the weights, end with an UnpicklingError. A project that "
        "moves to a current Lightning gets a current torch with it. What the code reads from it "
        "says what a file holds. Whether it can be trusted is your decision, so that the change is never made unasked."
    ),
    fix="unsafe",
    versions="torch 2.6 and later",
    triggers=(b"torch",),
    words=(b"load",),
    spelled=_may,
    check=_check,
    examples=(
        Example(BEFORE, AFTER),
        Example(AFTER, AFTER),
        Example(WEIGHTS, WEIGHTS),
        Example(BEFORE, BEFORE, pins=("torch<2.6",)),
    ),
    stops=False,
    references=("https://github.com/pytorch/pytorch/pull/137602",),
)
