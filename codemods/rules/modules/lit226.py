"""LIT226: checkpoints that hold more than tensors and plain values, which are refused unless they are trusted."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from itertools import pairwise

from codemods.code.nodes import every_node
from codemods.code.source import CallNode, ClassNode, PythonFile
from codemods.code.syntax import is_none
from codemods.lightning.facts import Facts, literal
from codemods.lightning.kept import is_trainer
from codemods.lightning.versions import LIGHTNING, admits_below, admits_from, reaches
from codemods.rule import Example, Match, Rule, best_levels

CODE = "LIT226"
LOADS = "load_from_checkpoint"
RUNS = ("fit", "validate", "test", "predict")
OBJECTS = ("Namespace", "DictConfig", "Module", "Callable", "PretrainedConfig", "ListConfig")
"""The last names of types whose values torch does not load unless told to."""
CALLED = ("args", "hparams", "opt", "opts", "cfg", "conf", "config")
"""What such arguments are called where nothing says what they are."""


OLD = "a checkpoint that Lightning before 1.5 wrote is refused since Lightning 2.6 with torch 2.6"
OLD_REASON = (
    "Not rewritten: it holds the classes of callbacks, which fail to load; give weights_only=False for such a file if "
    "you trust it, since it can run code. What is written from now on holds their names."
)


def _collect(file: PythonFile) -> frozenset[str] | None:
    """The classes of a file that save an object among their hyperparameters."""
    return frozenset(item.qualname for item in file.classes if _saves_object(item)) or None


def _saves_object(item: ClassNode) -> bool:
    """Whether the constructor saves its arguments by name, one of which is an object; `save_hyperparameters(args)`
    saves what a Namespace holds instead (run on 2.6.6)."""
    init = item.methods.get("__init__")
    if init is None or "save_hyperparameters" not in {getattr(node, "attr", "") for node in every_node(init)}:
        return False
    objects = {each.arg for each in [*init.args.args[1:], *init.args.kwonlyargs] if _is_object(each)}
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "save_hyperparameters"
        and bool(objects & _saved(node, objects))
        for node in ast.walk(init)
    )


def _is_object(argument: ast.arg) -> bool:
    if argument.annotation is None:
        return argument.arg in CALLED
    return ast.unparse(argument.annotation).partition("[")[0].rpartition(".")[2] in OBJECTS


def _saved(call: ast.Call, names: set[str]) -> set[str]:
    """Which of some arguments a call of `save_hyperparameters` saves."""
    if call.args:
        return {str(literal(node)[1]) for node in call.args if literal(node)[0]}
    ignored = next((literal(item.value)[1] for item in call.keywords if item.arg == "ignore"), None)
    return names - set([ignored] if isinstance(ignored, str) else ignored or [])


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    saving = {(path, name) for path, names in facts.collected(CODE).items() for name in names}
    old = not admits_from(facts, LIGHTNING, "1.5.0")
    if not (saving or old) or not reaches(facts, "2.6.0") or not admits_below(facts, LIGHTNING, "2.6.0"):
        return
    for call in file.calls_near((LOADS, "ckpt_path")):
        function = call.node.func
        if not isinstance(function, ast.Attribute) or _is_told(call.node) or _was_told(file, call, function.attr):
            continue
        if function.attr == LOADS and (name := _saved_by(file, facts, call, function.value, saving)):
            yield _match(file, call, name)
        elif old and function.attr == LOADS and not isinstance(function.value, ast.Call):
            yield Match(file.span(call.node), OLD, "manual", OLD_REASON, "B08", stops=False)
        elif saving and function.attr in RUNS and _resumes(call) and is_trainer(file, facts, call):
            yield _match(file, call, min(name for _, name in saving))


def _is_told(call: ast.Call) -> bool:
    """Whether a call says itself what may be loaded."""
    return any(item.arg == "weights_only" for item in call.keywords)


def _was_told(file: PythonFile, call: CallNode, name: str) -> bool:
    """Whether a call is what is left where the same one that says it was refused: by a Lightning before 2.6."""
    around = next((within for node, within in file.nodes_near([name]) if node is call.node), ())
    return any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == name
        and _is_told(node)
        for item, inner in pairwise(around)
        if isinstance(item, ast.Try) and inner in item.handlers
        for line in item.body
        for node in ast.walk(line)
    )


def _saved_by(
    file: PythonFile, facts: Facts, call: CallNode, owner: ast.expr, saving: set[tuple[str, str]]
) -> str | None:
    """The class that a checkpoint is loaded into, or one below or above it, where it saves an object."""
    dotted = call.scope.resolve(owner)
    fact = facts.find_class(dotted, file.path) if dotted else None
    above = facts.ancestry(fact) if fact else ()
    return next((item.name for item in above if (item.path, item.name) in saving), None)


def _resumes(call: CallNode) -> bool:
    return any(item.arg == "ckpt_path" and not is_none(item.value) for item in call.node.keywords)


def _match(file: PythonFile, call: CallNode, name: str) -> Match:
    message = "a checkpoint that holds an object is refused since Lightning 2.6 with torch 2.6"
    reason = (
        f"Not rewritten: {name} saves an argument that seems to be an object (save_hyperparameters), which fails to "
        "load; give weights_only=False if you trust the file, which can run code."
    )
    return Match(file.span(call.node), message, "manual", reason, "B08")


HELD = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def __init__(self, args):
        super().__init__()
        self.save_hyperparameters()


model = Model.load_from_checkpoint("last.ckpt")
"""
PLAINLY = HELD.replace("self, args", "self, width: int")

RULE = Rule(
    code=CODE,
    name="checkpoint-objects",
    summary="Loading checkpoints that hold objects is named: torch refuses them",
    why=(
        "Since Lightning 2.6 (pull request 21072) torch decides how a checkpoint is loaded, since torch 2.6 with "
        "tensors and plain values alone: one that holds an argparse.Namespace among its hyperparameters fails with "
        "an UnpicklingError (breakage B08), and so does one of Lightning before 1.5, which holds the classes of "
        "callbacks (run on 2.6.6). Whether a file is to be trusted is not in the code, so that nothing is "
        "rewritten."
    ),
    fix="manual",
    versions="Lightning 2.6 and later",
    triggers=(b"load_from_checkpoint", b"ckpt_path", b"save_hyperparameters"),
    check=_check,
    collect=_collect,
    examples=(Example(HELD, HELD), Example(PLAINLY, PLAINLY)),
    rows=partial(best_levels, (("B08", "manual"), ("G21072", "manual"))),
    references=("https://github.com/Lightning-AI/pytorch-lightning/pull/21072",),
)
