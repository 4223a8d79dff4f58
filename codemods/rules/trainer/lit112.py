"""LIT112: Trainer(resume_from_checkpoint=...), which is an argument of fit now."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import is_none
from codemods.lightning.facts import Facts
from codemods.lightning.guards import guard_of
from codemods.lightning.kept import calls_of, escapes, is_steady, kept_in
from codemods.lightning.keywords import builds_trainer, is_commented, keyword, replaced, with_keyword
from codemods.rule import Example, Match, NodeEdit, Rule, best_levels

NAME = "resume_from_checkpoint"
MESSAGE = f"`{NAME}=` of Trainer was removed in Lightning 2.0"
ROW = "M168"


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for call in file.calls_near([NAME]):
        item = keyword(call.node, NAME)
        if item is None or is_none(item.value) or not builds_trainer(call):
            continue
        guard = guard_of(file, call, NAME)
        if guard == "both":
            continue
        fits = _fits(file, call, item) if guard == "none" else "it stands under a version check"
        if isinstance(fits, str):
            text = file.source_of(item.value)
            advice = f"give fit(..., ckpt_path={text}) instead"
            yield Match(file.span(item), MESSAGE, "manual", f"Not rewritten: {fits}; {advice}.", ROW)
            continue
        text = file.source_of(item.value)
        edits = [NodeEdit(call.node, partial(replaced, name=NAME, new=()))]
        edits += [NodeEdit(fit.node, partial(with_keyword, name="ckpt_path", text=text)) for fit in fits]
        yield Match(file.span(item), MESSAGE, "safe", "It is an argument of fit since 1.5.", ROW, tuple(edits))


def _fits(file: PythonFile, call: CallNode, item: ast.keyword) -> list[CallNode] | str:
    """The `fit` calls that take the checkpoint, or why they cannot be told."""
    if is_commented(file, call.node, item, beside=False):
        return "a comment stands beside it"
    if not is_steady(file, call, item.value):
        return "its value may change before fit"
    name = kept_in(file, call)
    if name is None:
        return "what becomes of the Trainer is not seen"
    fits = calls_of(file, call, name, "fit")
    if escapes(file, call, name):
        return f"`{name}` is handed on, perhaps to another fit"
    if not fits:
        return "its fit is not seen here"
    if any(keyword(fit.node, "ckpt_path") or any(other.arg is None for other in fit.node.keywords) for fit in fits):
        return "fit is given a checkpoint already, or may be"
    return fits


_IMPORT = "from pytorch_lightning import Trainer\n\n\n"
BEFORE = (
    f"{_IMPORT}def train(args, model):\n"
    "    trainer = Trainer(max_epochs=3, resume_from_checkpoint=args.resume)\n    trainer.fit(model)\n"
)
AFTER = (
    f"{_IMPORT}def train(args, model):\n"
    "    trainer = Trainer(max_epochs=3)\n    trainer.fit(model, ckpt_path=args.resume)\n"
)
LEFT = f"{_IMPORT}def build(args):\n    return Trainer(resume_from_checkpoint=args.resume)\n"

RULE = Rule(
    code="LIT112",
    name="trainer-resume",
    summary="`Trainer(resume_from_checkpoint=...)` becomes `fit(ckpt_path=...)`",
    why=(
        "Lightning 1.5 gave fit the argument and 2.0 removed Trainer's (guide rows M050 and M168, pull requests "
        "9693 and 10061). It moves where every fit of the Trainer is seen and the value is still the same there."
    ),
    fix="safe",
    versions="Lightning 0.7 - 1.9 -> 2.0 and later",
    triggers=(NAME.encode(),),
    check=_check,
    rows=partial(best_levels, (("M050", "safe"), ("M168", "safe"))),
    examples=(Example(BEFORE, AFTER), Example(LEFT, LEFT)),
    breaks_in="2.0.0",
    needs="1.5.0",
    references=("https://github.com/Lightning-AI/pytorch-lightning/pull/10061",),
)
