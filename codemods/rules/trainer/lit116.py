"""LIT116: what a Trainer runs on where the code does not say so, which changed without an error."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from codemods.code.calls import keywords
from codemods.code.literals import literal
from codemods.code.notebook import Notebook
from codemods.code.source import CallNode, PythonFile
from codemods.lightning.calls import trainer_calls
from codemods.lightning.facts import Facts, is_trainer_call
from codemods.lightning.versions import LIGHTNING, admits_below, admits_from, reaches
from codemods.rewrite.keywords import with_keyword
from codemods.rule import Example, Match, NodeEdit, Rule, best_levels
from codemods.rules.trainer.builders import HARDWARE

SAID = frozenset({
    *HARDWARE, "devices", "distributed_backend", "num_nodes", "auto_select_gpus", "strategy", "plugins",
})  # fmt: skip
TESTS = frozenset({"test", "tests"})
CPU = (
    "1.x trained on the CPU here, 2.x takes every accelerator that it finds; delete accelerator= if that is what "
    "you want."
)


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    old = not admits_from(facts, LIGHTNING, "2.0.0")
    for call in trainer_calls(file):
        if not is_trainer_call(call):
            continue
        if old and not _is_test(file.path) and _says_nothing(call):
            message = "a Trainer without accelerator= takes every accelerator that it finds since Lightning 2.0"
            edit = NodeEdit(call.node, partial(with_keyword, name="accelerator", text='"cpu"'))
            yield Match(file.span(call.node.func), message, "unsafe", CPU, "G16847", (edit,))
        if reaches(facts, "2.1.0") and admits_below(facts, LIGHTNING, "2.1.0"):
            yield from _devices(file, call)


def _is_test(path: str) -> bool:
    """Whether a file is one of tests, which run wherever they are."""
    *folders, name = path.split("/")
    return bool(TESTS & set(folders)) or name.startswith("test_") or name == "conftest.py"


def _says_nothing(call: CallNode) -> bool:
    """Whether a call says nothing of the hardware, itself or by arguments that are not seen."""
    given = {item.arg for item in call.node.keywords}
    return not (call.node.args or None in given or SAID & given)


def _devices(file: PythonFile, call: CallNode) -> Iterator[Match]:
    """Values of `devices=` that mean something else since 2.1."""
    given = keywords(call.node)
    devices, accelerator = given.get("devices"), given.get("accelerator")
    if devices is None:
        return
    value = literal(devices)[1]
    if value == "auto" and isinstance(file, Notebook):
        message = 'devices="auto" is one device in a notebook since Lightning 2.1'
        reason = "Not rewritten: write `devices=-1` where all of several are meant."
        yield Match(file.span(devices), message, "manual", reason, "M314")
    core = value[0] if isinstance(value, list) and len(value) == 1 else None
    if type(core) is int and core > 0 and isinstance(accelerator, ast.Constant) and accelerator.value == "tpu":
        message = "a TPU core is counted from 0 since Lightning 2.1"
        reason = f"Not rewritten: if the code was written for an older release, write `devices=[{core - 1}]`."
        yield Match(file.span(devices), message, "manual", reason, "M309")


BEFORE = "from pytorch_lightning import Trainer\n\ntrainer = Trainer(max_epochs=3)\n"
AFTER = BEFORE.replace("=3", '=3, accelerator="cpu"')
CORE = 'from pytorch_lightning import Trainer\n\ntrainer = Trainer(accelerator="tpu", devices=[1])\n'

RULE = Rule(
    code="LIT116",
    name="trainer-hardware",
    summary="What a Trainer runs on where the code does not say so",
    why=(
        'Lightning 2.0 made accelerator, devices and strategy "auto" (pull request 16847): a Trainer that names none '
        "took the CPU in 1.x, and takes every GPU now, without an error. It is named where the requirements allow 1.x "
        'alone, tests left out. 2.1 takes one device for devices="auto" in notebooks (guide row M314) and counts TPU '
        "cores from 0 (M309)."
    ),
    fix="unsafe",
    versions="Lightning 1.x -> 2.0 and later",
    triggers=(b"Trainer(",),
    check=_check,
    rows=partial(best_levels, (("G16847", "unsafe"), ("M314", "manual"), ("M309", "manual"))),
    examples=(Example(BEFORE, AFTER, pins=("pytorch-lightning==1.9.5",)), Example(BEFORE, BEFORE), Example(CORE, CORE)),
    needs="1.7.0",
    references=("https://github.com/Lightning-AI/pytorch-lightning/pull/16847",),
)
