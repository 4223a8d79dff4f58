"""LIT114: arguments of fit, validate, test and tune under old names, and Trainer's by position."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from codemods.code.calls import class_around, keyword, keywords
from codemods.code.scopes import canonical
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import is_super_call, taken
from codemods.lightning.arguments import signatures
from codemods.lightning.calls import trainer_calls
from codemods.lightning.facts import TRAINER, Facts, is_trainer_call
from codemods.lightning.trainer_variables import assigned_to, is_trainer, reads_lightning
from codemods.rewrite.keywords import by_name, replaced
from codemods.rule import Example, Match, NodeEdit, Rule, best_levels
from codemods.rules.trainer.tuner_calls import has_own

RENAMED = {
    ("fit", "train_dataloader"): ("train_dataloaders", "M017"),
    ("tune", "train_dataloader"): ("train_dataloaders", "M017"),
    ("validate", "val_dataloaders"): ("dataloaders", "M018"),
    ("test", "test_dataloaders"): ("dataloaders", "M018"),
}
NEVER = {
    ("fit", "val_dataloader"): "val_dataloaders",
    ("validate", "val_dataloader"): "dataloaders",
    ("test", "test_dataloader"): "dataloaders",
    ("predict", "predict_dataloader"): "dataloaders",
    ("predict", "test_dataloaders"): "dataloaders",
}
"""What no release took, and plainly means."""
OLD = {**{key: new for key, (new, _) in RENAMED.items()}, **NEVER}


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for call in file.calls_near([name for _, name in OLD]):
        function = call.node.func
        for item in call.node.keywords:
            key = (function.attr if isinstance(function, ast.Attribute) else "", item.arg or "")
            if key in OLD:
                yield from _renamed(file, facts, call, item, *key)
    for call in _positional(file):
        if is_trainer_call(call):
            yield _by_position(file, call)


def _positional(file: PythonFile) -> list[CallNode]:
    return [call for call in trainer_calls(file) if call.node.args]


def _present(file: PythonFile) -> bool:
    return any(name in file.text for _, name in OLD) or bool(_positional(file))


def _renamed(
    file: PythonFile, facts: Facts, call: CallNode, item: ast.keyword, method: str, old: str
) -> Iterator[Match]:
    new, row = OLD[method, old], RENAMED.get((method, old), ("", None))[1]
    known = _is_lightnings_own(file, facts, call, method) or is_trainer(file, facts, call)
    message = f"`{old}=` of Trainer.{method} was renamed to `{new}=` in Lightning 1.4"
    same = "The same argument."
    if (method, old) in NEVER:
        message, same = f"`{old}=` of Trainer.{method} is `{new}=`", "No release took it: the call is a TypeError."
    if (method, old) in NEVER and (not known or has_own(facts, method)):
        return
    if known is False:
        if _may_be(file, call):
            reason = (
                f"Not rewritten: fixer cannot tell on what `{method}` is called; if it "
                f"is Lightning's Trainer, rename the argument to `{new}=`."
            )
            yield Match(file.span(item), message, "manual", reason, row)
        return
    if new in keywords(call.node):
        yield Match(file.span(item), message, "manual", f"Not rewritten: `{new}=` is given too; keep one.", row)
        return
    edit = NodeEdit(call.node, partial(replaced, name=old, new=((new, None),)))
    if (method, old) in NEVER:
        yield Match(file.span(item), message, "unsafe", f"{same} fixer assumes that it means `{new}=`.", row, (edit,))
    elif known:
        yield Match(file.span(item), message, "safe", same, row, (edit,))
    else:
        reason = f"{same.rstrip('.')}, if this is Lightning's Trainer."
        yield Match(file.span(item), message, "unsafe", reason, row, (edit,))


def _is_lightnings_own(file: PythonFile, facts: Facts, call: CallNode, method: str) -> bool:
    """Whether `super().method(...)` in a Trainer of the project is Lightning's own: no class between has one."""
    owner = class_around(file, call.within) if is_super_call(call.node, method) else None
    fact = facts.of_class(file, owner) if owner else None
    if fact is None or any(method in item.methods for item in facts.ancestry(fact)[1:]):
        return False
    return any(isinstance(base, str) and canonical(base) == TRAINER for base in facts.lineage(fact))


def _may_be(file: PythonFile, call: CallNode) -> bool:
    """Whether a name may stand for a Trainer though it is not called so: the file imports Lightning, and gives it
    nothing that a class of another name builds, nor says what it is."""
    function = call.node.func
    owner = function.value if isinstance(function, ast.Attribute) else None
    if not isinstance(owner, ast.Name | ast.Attribute) or not reads_lightning(file):
        return False
    text = ast.unparse(owner)
    if text in ("self", "cls"):
        return False
    arguments = [
        item
        for outer in call.within
        if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef)
        for item in taken(outer)
        if item.arg == text
    ]
    classes = [
        value
        for value in assigned_to(file, text)
        if isinstance(value, ast.Call) and ast.unparse(value.func).rpartition(".")[2][:1].isupper()
    ]
    return not classes and not any(item.annotation for item in arguments)


def names_by_position(call: ast.Call) -> list[str] | None:
    """The names of a Trainer call's positional arguments, where every release that takes its keywords agrees."""
    given = {item.arg for item in call.keywords if item.arg}
    fitting = {
        names[: len(call.args)]
        for release, names in signatures()["__init__"].items()
        if not release.startswith("2.") and given <= set(names)
    }
    if len(fitting) != 1 or any(isinstance(item, ast.Starred) for item in call.args):
        return None
    names = list(next(iter(fitting)))
    return names if len(names) == len(call.args) and not given & set(names) else None


def _by_position(file: PythonFile, call: CallNode) -> Match:
    message = "Trainer takes its arguments only by name since 2.0, and reads positional ones in another order"
    names = names_by_position(call.node)
    place = file.span(call.node.args[0])
    if names is None or keyword(call.node, names[0]):
        reason = "Not rewritten: which arguments these are differs between releases; write their names."
        return Match(place, message, "manual", reason, "G17022")
    edit = NodeEdit(call.node, partial(by_name, names=tuple(names)))
    shown = ", ".join(f"`{each}`" for each in names)
    reason = f"In every release that takes this call {'it is' if len(names) == 1 else 'they are'} {shown}."
    return Match(place, message, "safe", reason, "G17022", (edit,))


_IMPORT = "from pytorch_lightning import Trainer\n\n"
BEFORE = (
    f"{_IMPORT}trainer = Trainer(logger, max_epochs=3)\n"
    "trainer.fit(model, train_dataloader=train, val_dataloaders=val)\n"
    "trainer.test(model, test_dataloaders=test)\n"
)
AFTER = (
    f"{_IMPORT}trainer = Trainer(logger=logger, max_epochs=3)\n"
    "trainer.fit(model, train_dataloaders=train, val_dataloaders=val)\ntrainer.test(model, dataloaders=test)\n"
)
LEFT = "from engine import Engine\n\nengine = Engine()\nengine.fit(model, train_dataloader=train)\n"

RULE = Rule(
    code="LIT114",
    name="fit-arguments",
    summary="Arguments of `fit`, `validate` and `test` under the names that they have now, Trainer's by name",
    why=(
        "Lightning 1.4 renamed train_dataloader= of fit and the loaders of validate and test (guide rows M017 and "
        "M018, pull request 7431; M017 prints the new name wrong), and the old names went in 1.6. Trainer takes its "
        "arguments by name since 2.0, but a decorator binds values by position in a new order: silent."
    ),
    fix="safe",
    versions="Lightning 0.7 - 1.9 -> 2.0 and later",
    triggers=(b"train_dataloader", b"val_dataloader", b"test_dataloader", b"predict_dataloader", b"Trainer("),
    check=_check,
    present=_present,
    rows=partial(best_levels, (("M017", "safe"), ("M018", "safe"), ("G17022", "safe"))),
    examples=(Example(BEFORE, AFTER), Example(LEFT, LEFT)),
    breaks_in="1.6.0",
    needs="1.4.0",
)
