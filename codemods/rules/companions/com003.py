"""COM003: torch.load of files that may hold more than tensors."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from codemods.code.source import PythonFile
from codemods.lightning.facts import Facts
from codemods.lightning.keywords import with_keyword
from codemods.lightning.versions import TORCH, admits_below, admits_from
from codemods.rule import Example, Match, NodeEdit, Rule, touches

SINCE = "2.6"
NAME = "weights_only"
MESSAGE = "torch.load refuses whatever is no tensor since torch 2.6, unless it is told otherwise"
REASON = (
    "What the file holds is not seen: a whole model, hyperparameters or NumPy's numbers are read by weights_only=False "
    "alone, as up to torch 2.5; give it for files that you trust, since such a file can run code."
)
UNPACKED = f"Not rewritten: `**` may bring weights_only. {REASON}"


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    if not (admits_from(facts, TORCH, SINCE) and admits_below(facts, TORCH, SINCE)):
        return
    weights = {id(node) for node in _weights(file)}
    for call in file.calls_near(["load"]):
        told = {item.arg for item in call.node.keywords}
        if call.scope.resolve(call.node.func) != "torch.load" or NAME in told or id(call.node) in weights:
            continue
        if None in told:
            yield Match(file.span(call.node), MESSAGE, "manual", UNPACKED)
        else:
            edit = touches("arguments")(partial(with_keyword, name=NAME, text="False"))
            yield Match(file.span(call.node), MESSAGE, "unsafe", REASON, edits=(NodeEdit(call.node, edit),))


def _weights(file: PythonFile) -> Iterator[ast.expr]:
    """What goes straight into `load_state_dict`, which takes tensors alone."""
    for call in file.calls_near(["load_state_dict"]):
        if isinstance(call.node.func, ast.Attribute) and call.node.func.attr == "load_state_dict":
            yield from call.node.args[:1]


BEFORE = """\
import torch


def restore(path):
    checkpoint = torch.load(path, map_location="cpu")
    return checkpoint["args"], checkpoint["state_dict"]
"""
AFTER = BEFORE.replace('="cpu")', '="cpu", weights_only=False)')
WEIGHTS = "import torch\n\n\ndef restore(model, path):\n    model.load_state_dict(torch.load(path))\n"

RULE = Rule(
    code="COM003",
    name="loads-tensors-alone",
    summary="`torch.load` of files that may hold more than tensors says so",
    why=(
        "torch 2.6 made `weights_only=True` the default of `torch.load` (pull request 137602): files that hold a whole "
        "model, a Namespace of hyperparameters, or arrays of NumPy's, end with an UnpicklingError. A project "
        "that moves to a current Lightning gets a current torch with it. Whether a file is to be trusted is for "
        "its owner to say, so the change is never made unasked."
    ),
    fix="unsafe",
    versions="torch 2.6 and later",
    triggers=(b"torch",),
    words=(b"load",),
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
