"""OPT005: `toggle_optimizer` and `untoggle_optimizer` by the index of the optimizer."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, is_self_attribute, own_nodes, self_name
from codemods.lightning.facts import MODULE, Facts
from codemods.rewrite.advice import brief
from codemods.rule import Example, Match, NodeEdit, Rule, best_levels

if TYPE_CHECKING:
    import libcst as cst

INDEX = "optimizer_idx"
MESSAGE = "Lightning 2.0 takes only the optimizer here, not its index"
SAME = "The optimizer itself says which parameters it has."


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for item in file.classes:
        for method in item.methods.values():
            calls = list(_calls(method))
            fact = facts.of_class(file, item) if calls else None
            if fact and facts.kind(fact) == MODULE:
                yield from _method_matches(file, item, calls)


def _calls(method: Function) -> Iterator[ast.Call]:
    """The calls of the two methods on `self`, each with its arguments."""
    for node in own_nodes(method):
        if isinstance(node, ast.Call) and any(
            is_self_attribute(node.func, name, self_name(method)) for name in ("toggle_optimizer", "untoggle_optimizer")
        ):
            yield node


def _method_matches(file: PythonFile, item: ClassNode, calls: list[ast.Call]) -> Iterator[Match]:
    toggled: dict[str, set[str]] = {}
    unit = f"{file.path}:{item.qualname}:{calls[0].lineno}"
    for call in calls:
        arguments = _arguments(call)
        if _name(call) == "toggle_optimizer" and len(arguments) == 2:
            toggled.setdefault(ast.unparse(arguments[1]), set()).add(ast.unparse(arguments[0]))
            yield Match(file.span(call), MESSAGE, "safe", SAME, edits=(NodeEdit(call, _without_index),), unit=unit)
    for call in calls:
        arguments = _arguments(call)
        if _name(call) != "untoggle_optimizer" or len(arguments) != 1:
            continue
        known = toggled.get(ast.unparse(arguments[0]), set())
        if len(known) == 1 and all(name.replace(".", "").isidentifier() for name in known):
            edit = NodeEdit(call, partial(_given, text=min(known)))
            yield Match(file.span(call), MESSAGE, "safe", SAME, edits=(edit,), unit=unit)
        elif known or isinstance(arguments[0], ast.Constant):
            number = brief(file, arguments[0])
            reason = (
                "Not rewritten: fixer cannot tell which optimizer the index stands for. "
                f"Write `{brief(file, call.func)}(self.optimizers()[{number}])`, or the variable that holds it."
            )
            yield Match(file.span(call), MESSAGE, "manual", reason)


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else ""


def _arguments(call: ast.Call) -> list[ast.expr]:
    """The arguments by position: the optimizer, then the index."""
    if any(isinstance(argument, ast.Starred) for argument in call.args) or any(
        keyword.arg not in ("optimizer", INDEX) for keyword in call.keywords
    ):
        return []
    return [
        *call.args,
        *(keyword.value for keyword in sorted(call.keywords, key=lambda each: str(each.arg))),
    ]


def _without_index(call: cst.Call) -> cst.Call:
    import libcst as cst

    kept = [
        argument
        for at, argument in enumerate(call.args)
        if (argument.keyword.value != INDEX if argument.keyword else at == 0)
    ]
    return call.with_changes(args=[each.with_changes(comma=cst.MaybeSentinel.DEFAULT) for each in kept])


def _given(call: cst.Call, text: str) -> cst.Call:
    import libcst as cst

    return call.with_changes(args=[cst.Arg(cst.parse_expression(text))])


BEFORE = """\
from pytorch_lightning import LightningModule


class GAN(LightningModule):
    def training_step(self, batch, batch_idx):
        generator, discriminator = self.optimizers()
        self.toggle_optimizer(generator, optimizer_idx=0)
        self.manual_backward(self.loss(batch))
        self.untoggle_optimizer(0)
"""
AFTER = BEFORE.replace("generator, optimizer_idx=0", "generator").replace(
    "untoggle_optimizer(0)", "untoggle_optimizer(generator)"
)
UNKNOWN = BEFORE.replace("        self.toggle_optimizer(generator, optimizer_idx=0)\n", "")

RULE = Rule(
    code="OPT005",
    name="toggle-by-index",
    summary="`toggle_optimizer(optimizer, index)` and `untoggle_optimizer(index)` take the optimizer alone",
    why=(
        "Lightning 2.0 took the index from `toggle_optimizer`, where it is a TypeError now, and made "
        "`untoggle_optimizer` take the optimizer (pull request 16560): given an index, it takes none for its own."
    ),
    fix="safe",
    versions="written for Lightning < 2.0; needs 2.0 or later after the rewrite",
    triggers=(b"toggle_optimizer",),
    check=_check,
    rows=partial(best_levels, (("G16560", "safe"),)),
    examples=(Example(BEFORE, AFTER), Example(AFTER, AFTER), Example(UNKNOWN, UNKNOWN)),
    breaks_in="2.0.0",
    needs="2.0.0",
    references=("https://github.com/Lightning-AI/pytorch-lightning/pull/16560",),
)
