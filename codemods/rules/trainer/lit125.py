"""LIT125: `except KeyboardInterrupt` around `trainer.fit(...)`, which ends by SystemExit."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from codemods.code.calls import last_name
from codemods.code.nodes import walk
from codemods.code.source import CallNode, PythonFile
from codemods.lightning.facts import Facts
from codemods.lightning.trainer_variables import is_trainer
from codemods.lightning.versions import reaches
from codemods.rule import Example, Match, Rule, TextEdit

RUNS = ("fit", "validate", "test", "predict")
INTERRUPT, EXIT = "KeyboardInterrupt", "SystemExit"
LEFT_BY = frozenset({EXIT, "BaseException"})
MESSAGE = "`except KeyboardInterrupt` does not catch Ctrl+C during `{}`: it exits the program since Lightning 2.4"
REASON = (
    "Up to 2.3 Lightning caught it itself and `{run}` returned; since then it raises SystemExit, and neither the "
    "handler nor what follows runs. "
)
ASSUMED = "fixer assumes that the handler is for Ctrl+C, and that the program then goes on."
BY_HAND = (
    "Not rewritten: fixer cannot tell whether it is a Trainer; if so, write `except (KeyboardInterrupt, SystemExit):`."
)


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    if INTERRUPT not in file.text or not reaches(facts, "2.4.0"):
        return
    calls = [call for call in file.calls_near(RUNS) if last_name(call.node.func) in RUNS]
    for node in walk(file.tree) if calls else ():
        handler = _handler(node) if isinstance(node, ast.Try) else None
        found = _run(file, facts, node, calls) if handler and isinstance(node, ast.Try) else None
        if handler and handler.type and found:
            run, certain = found
            reason = REASON.format(run=run) + (ASSUMED if certain else BY_HAND)
            edits = (_with_exit(file, handler.type),) if certain else ()
            message = MESSAGE.format(run)
            yield Match(file.span(handler.type), message, "unsafe" if certain else "manual", reason, edits=edits)


def _handler(node: ast.Try) -> ast.ExceptHandler | None:
    """What handles Ctrl+C alone: where another handler, or this one, takes SystemExit too, it is seen to."""
    names = [_names(each) for each in node.handlers]
    if any(each.type is None for each in node.handlers) or any(LEFT_BY & set(each) for each in names):
        return None
    return next((each for each, named in zip(node.handlers, names, strict=True) if INTERRUPT in named), None)


def _names(handler: ast.ExceptHandler) -> list[str | None]:
    """The last names of what a handler takes."""
    node = handler.type
    parts = node.elts if isinstance(node, ast.Tuple) else [node] if node else []
    return [last_name(each) for each in parts]


def _run(file: PythonFile, facts: Facts, node: ast.Try, calls: list[CallNode]) -> tuple[str, bool] | None:
    """What a Trainer runs in a `try`, and whether it certainly is a Trainer's; None where nothing is."""
    inside = {id(each) for statement in node.body for each in walk(statement)}
    for call in calls:
        if id(call.node) in inside and (known := is_trainer(file, facts, call)) is not False:
            return last_name(call.node.func) or "", known is True
    return None


def _with_exit(file: PythonFile, node: ast.expr) -> TextEdit:
    """What a handler takes, and SystemExit."""
    taken = node.elts if isinstance(node, ast.Tuple) else [node]
    return TextEdit(*file.offsets(node), f"({', '.join([*map(file.source_of, taken), EXIT])})")


BEFORE = """\
from pytorch_lightning import Trainer

trainer = Trainer(max_epochs=3)
try:
    trainer.fit(model)
except KeyboardInterrupt:
    print("interrupted")
trainer.save_checkpoint("last.ckpt")
"""
AFTER = BEFORE.replace("except KeyboardInterrupt:", "except (KeyboardInterrupt, SystemExit):")
OTHER = BEFORE.replace("trainer.fit(model)", "evaluate(model)")

RULE = Rule(
    code="LIT125",
    name="interrupted-fit",
    summary="`except KeyboardInterrupt` around `trainer.fit(...)` takes SystemExit too",
    why=(
        "Up to Lightning 2.3 `fit` caught the KeyboardInterrupt of Ctrl+C and returned (`trainer/call.py` of 1.9.5 and "
        "2.3.3); since 2.4 it ends the program by SystemExit. A handler that is to save or evaluate what was trained "
        "until then is passed by, as is what follows it."
    ),
    fix="unsafe",
    versions="Lightning 2.4 and later",
    triggers=(INTERRUPT.encode(),),
    check=_check,
    examples=(Example(BEFORE, AFTER), Example(OTHER, OTHER)),
    references=("https://github.com/Lightning-AI/pytorch-lightning/pull/19976",),
)
