"""LIT226: checkpoints that hold more than tensors and plain values, which are refused unless they are trusted."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise

from codemods.code.literals import literal
from codemods.code.nodes import every_node, walk
from codemods.code.source import CallNode, ClassNode, PythonFile
from codemods.code.syntax import is_none, targets_of
from codemods.lightning.calls import fitted_class
from codemods.lightning.facts import Facts
from codemods.lightning.trainer_variables import is_trainer
from codemods.lightning.versions import LIGHTNING, admits_below, admits_from, reaches
from codemods.rewrite.keywords import with_keyword
from codemods.rule import Example, Match, NodeEdit, Rule, best_levels, touches
from codemods.rules.modules.lit222 import class_asked
from codemods.rules.modules.own_checkpoints import LOADS, is_of_this_run

CODE = "LIT226"
LAST = ("validate", "test", "predict")
RUNS = ("fit", *LAST)
_SPELLED = re.compile(rf"\.[\s\\]*(?:{'|'.join((LOADS, *RUNS))})\b|(?<![.\w])getattr\(|\b(?:methodcaller|attrgetter)\(")
"""How a file may load a checkpoint."""
PARSES = ("parse_args", "parse_known_args")
MAKES = ("argparse.Namespace", "omegaconf.")
MADE_BY = ("Namespace(", "OmegaConf.")
OBJECTS = ("Namespace", "DictConfig", "Module", "Callable", "PretrainedConfig", "ListConfig")
"""The last names of types whose values torch does not load unless told to."""
CALLED = ("args", "hparams", "opt", "opts", "cfg", "conf", "config")
"""What such arguments are called where nothing says what they are."""


OWN = (
    "{name} saves an argument that seems to be an object (save_hyperparameters); the file is trusted, since this run "
    "has written it."
)
OLD = "loading a checkpoint from before Lightning 1.5 fails since Lightning 2.6 with torch 2.6"
OLD_REASON = (
    "Not rewritten: it holds the classes of callbacks, which are not "
    "loaded. If you trust the file, which can run code, "
    "write {}. Checkpoints that are written from now on hold only their names."
)


@dataclass(frozen=True)
class HyperparameterSummary:
    """What a file tells: its classes that save an object among their hyperparameters; the arguments that others save,
    of which nothing says what they are, as (class, name, place); and the calls that are given an object, as (dotted
    name, keyword or place)."""

    saving: frozenset[str] = frozenset()
    open: frozenset[tuple[str, str, int]] = frozenset()
    given: frozenset[tuple[str, str | int]] = frozenset()


def _collect(file: PythonFile) -> HyperparameterSummary | None:
    saved = {item.qualname: _saved_arguments(item) for item in file.classes}
    saving = {name for name, each in saved.items() if any(map(_is_object, each))}
    told = HyperparameterSummary(
        frozenset(saving),
        frozenset(
            (name, argument.arg, place)
            for name, each in saved.items()
            for argument, place in each.items()
            if name not in saving and argument.annotation is None
        ),
        frozenset(_given(file)),
    )
    return told if told != HyperparameterSummary() else None


def _saved_arguments(item: ClassNode) -> dict[ast.arg, int]:
    """The arguments that the constructor saves by their names, with their places; `save_hyperparameters(args)` saves
    what a Namespace holds instead (run on 2.6.6)."""
    init = item.methods.get("__init__")
    if init is None or "save_hyperparameters" not in {getattr(node, "attr", "") for node in every_node(init)}:
        return {}
    every = [*init.args.args[1:], *init.args.kwonlyargs]
    calls = [
        node
        for node in walk(init)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "save_hyperparameters"
    ]
    saved: set[str] = set().union(*(_saved(call, {each.arg for each in every}) for call in calls))
    return {each: place for place, each in enumerate(every) if each.arg in saved}


def _given(file: PythonFile) -> Iterator[tuple[str, str | int]]:
    """The calls that are given a Namespace or a configuration that the file makes."""
    made = {
        name
        for item in file.assignments
        if isinstance(item.node.value, ast.Call) and _makes_object(file, item.node.value)
        for name in _first_names(targets_of(item.node))
    }
    for call in file.calls_near(made) if made else ():
        dotted = call.scope.resolve(call.node.func)
        if dotted and dotted.rpartition(".")[2][:1].isupper():
            yield from ((dotted, place) for place, value in enumerate(call.node.args) if _is_one(value, made))
            yield from ((dotted, item.arg) for item in call.node.keywords if item.arg and _is_one(item.value, made))


def _is_one(node: ast.expr, names: set[str]) -> bool:
    return isinstance(node, ast.Name) and node.id in names


def _makes_object(file: PythonFile, call: ast.Call) -> bool:
    """Whether a call makes a Namespace or a configuration."""
    if isinstance(call.func, ast.Attribute) and call.func.attr in PARSES:
        return True
    return (file.scope.resolve(call.func) or "").startswith(MAKES)


def _first_names(targets: Sequence[ast.expr]) -> set[str]:
    """The names that are set to a value, or to the first of its parts."""
    firsts = [target.elts[0] if isinstance(target, ast.Tuple) and target.elts else target for target in targets]
    return {first.id for first in firsts if isinstance(first, ast.Name)}


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


def _saving(facts: Facts) -> set[tuple[str, str]]:
    """The classes that save an object, as (path, name): by what they say, or by what a call gives them."""
    told: dict[str, HyperparameterSummary] = facts.collected(CODE)
    found = {(path, name) for path, each in told.items() for name in each.saving}
    for path, each in told.items():
        for dotted, place in each.given:
            fact = facts.find_class(dotted, path)
            asked = told[fact.path].open if fact and fact.path in told else frozenset()
            if fact and any(name == fact.name and place in (word, at) for name, word, at in asked):
                found.add((fact.path, fact.name))
    return found


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    old = not admits_from(facts, LIGHTNING, "1.5.0")
    if not (facts.collected(CODE) or old) or not reaches(facts, "2.6.0") or not admits_below(facts, LIGHTNING, "2.6.0"):
        return
    if CODE not in facts.memo:
        facts.memo[CODE] = _saving(facts)
    saving: set[tuple[str, str]] = facts.memo[CODE]
    for call in file.calls_near((LOADS, "ckpt_path", *LAST)) if saving or old else ():
        function = call.node.func
        if not isinstance(function, ast.Attribute) or function.attr not in (LOADS, *RUNS) or _is_told(call.node):
            continue
        if _was_told(file, call, function.attr):
            continue
        name = None
        if function.attr == LOADS:
            name = _saved_by(file, facts, call, function.value, saving)
        elif (
            saving
            and function.attr in RUNS
            and _resumes(call, function.attr)
            and is_trainer(file, facts, call) is not False
        ):
            name = _run_with(file, facts, call, saving)
        if name:
            yield _match(file, facts, call, name)
        elif (
            old
            and function.attr == LOADS
            and not isinstance(function.value, ast.Call)
            and not is_of_this_run(file, facts, call)
        ):
            yield Match(
                file.span(call.node), OLD, "manual", OLD_REASON.format(_trusting(file, facts, call)), "B08", stops=False
            )


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
        for node in walk(line)
    )


def _saved_by(
    file: PythonFile, facts: Facts, call: CallNode, owner: ast.expr, saving: set[tuple[str, str]]
) -> str | None:
    """The class that a checkpoint is loaded into, or one below or above it, where it saves an object; of a name that
    stands for several classes, any."""
    named = file.assignments_to(owner.id) if isinstance(owner, ast.Name) else []
    values = [item.node.value for item in named if isinstance(item.node.value, ast.Name | ast.Attribute)]
    for value in [owner, *values]:
        dotted = call.scope.resolve(value)
        fact = facts.find_class(dotted, file.path) if dotted else None
        above = facts.ancestry(fact) if fact else ()
        if found := next((item.name for item in above if (item.path, item.name) in saving), None):
            return found
    return None


def _run_with(file: PythonFile, facts: Facts, call: CallNode, saving: set[tuple[str, str]]) -> str | None:
    """The class that a Trainer loads a checkpoint into, where it saves an object: that of the model which the call is
    given, or else of those that the same Trainer fits in the same function; any class, where this is not seen."""
    owner = ast.unparse(call.node.func.value) if isinstance(call.node.func, ast.Attribute) else ""
    fits = [
        other
        for other in file.calls_near(["fit"])
        if isinstance(other.node.func, ast.Attribute)
        and other.node.func.attr == "fit"
        and ast.unparse(other.node.func.value) == owner
        and other.within == call.within
    ]
    given = call.node.args or any(item.arg == "model" for item in call.node.keywords)
    named = [fitted_class(other, file) for other in ([call] if given else fits)]
    if not named or None in named:
        return min(name for _, name in saving)
    every = [fact for name in named if name and (fact := facts.find_class(name, file.path))]
    held = (item.name for fact in every for item in facts.ancestry(fact) if (item.path, item.name) in saving)
    return next(held, None)


def _resumes(call: CallNode, method: str) -> bool:
    """Whether a checkpoint is loaded: one that is named, or the best one, where no model is given."""
    given = {item.arg: item.value for item in call.node.keywords}
    if "ckpt_path" in given:
        return not is_none(given["ckpt_path"])
    return method in LAST and not call.node.args and not {"model", None} & given.keys()


def _match(file: PythonFile, facts: Facts, call: CallNode, name: str) -> Match:
    message = "loading a checkpoint that holds an object fails since Lightning 2.6 with torch 2.6"
    if is_of_this_run(file, facts, call):
        edit = NodeEdit(call.node, touches("arguments")(partial(with_keyword, name="weights_only", text="False")))
        reason = OWN.format(name=name)
        return Match(file.span(call.node), message, "safe", reason, "B08", (edit,), needs="2.6.0")
    reason = (
        f"Not rewritten: {name} saves an argument that seems to be an object (save_hyperparameters), which is not "
        f"loaded. If you trust the file, which can run code, write {_trusting(file, facts, call)}."
    )
    return Match(file.span(call.node), message, "manual", reason, "B08")


def _trusting(file: PythonFile, facts: Facts, call: CallNode) -> str:
    """The call as it loads any object: of the class, where LIT222 asks that in the place of an instance."""
    function = call.node.func
    given = [*map(file.source_of, call.node.args), *(file.source_of(item) for item in call.node.keywords)]
    of_class = isinstance(function, ast.Attribute) and function.attr == LOADS
    asked = class_asked(file, facts, call, function) if of_class and isinstance(function, ast.Attribute) else None
    by = f"{asked.text}.{LOADS}" if asked and asked.fix != "manual" else file.source_of(function)
    return f"`{by}({', '.join([*given, 'weights_only=False'])})`"


HELD = """\
from pytorch_lightning import LightningModule, Trainer


class Model(LightningModule):
    def __init__(self, args):
        super().__init__()
        self.save_hyperparameters()


model = Model.load_from_checkpoint("last.ckpt")
"""
OWN_RUN = """\


def main(args):
    trainer = Trainer()
    trainer.fit(Model(args))
    return Model.load_from_checkpoint(trainer.checkpoint_callback.best_model_path)
"""
WRITTEN = f"{HELD.rpartition('model = ')[0].rstrip()}\n{OWN_RUN}"
TRUSTED = WRITTEN.replace("best_model_path)", "best_model_path, weights_only=False)")
PLAINLY = HELD.replace("self, args", "self, width: int")

RULE = Rule(
    code=CODE,
    name="checkpoint-objects",
    summary="Loading checkpoints that hold objects, which torch refuses",
    why=(
        "Since Lightning 2.6 (pull request 21072) torch decides how a checkpoint is loaded, since torch 2.6 with "
        "tensors and plain values alone: one that holds an argparse.Namespace among its hyperparameters fails with "
        "an UnpicklingError (breakage B08), and so does one of Lightning before 1.5, which holds the classes of "
        "callbacks (run on 2.6.6). Whether a file is to be trusted is not in the code, but for one that the run has "
        "written itself, by a `fit` before it in the same function: nothing else is rewritten."
    ),
    fix="safe",
    versions="Lightning 2.6 and later",
    triggers=tuple(
        word.encode()
        for word in (LOADS, "ckpt_path", "save_hyperparameters", ".test(", ".validate(", ".predict(", *PARSES, *MADE_BY)
    ),
    check=_check,
    collect=_collect,
    spelled=lambda text: _SPELLED.search(text) is not None,
    examples=(Example(WRITTEN, TRUSTED), Example(HELD, HELD), Example(PLAINLY, PLAINLY)),
    rows=partial(best_levels, (("B08", "safe"), ("G21072", "safe"))),
    references=("https://github.com/Lightning-AI/pytorch-lightning/pull/21072",),
)
