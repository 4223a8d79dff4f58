"""GRD001: a loss that is taken out of the graph on its way to the backward pass."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from codemods.code.nodes import walk
from codemods.code.source import PythonFile
from codemods.code.syntax import Function
from codemods.lightning.facts import Facts
from codemods.rewrite.advice import shortened
from codemods.rule import Example, Match, NodeEdit, Rule
from codemods.rules.gradients.find import CUTS, DetachedLoss, lost_losses, present, steps_of
from codemods.rules.gradients.values import Cut

if TYPE_CHECKING:
    import libcst as cst

SPELLED = {
    "tensor": "is rebuilt by `{}`, which copies the number and not the graph",
    "listed": "is rebuilt by `{}`, which copies the numbers and not the graph",
    "metric": "is what `{}` counts, which has no gradient",
    "item": "is turned into a number by `{}`",
    "data": "is taken out of the graph by `{}`",
    "detach": "is taken out of the graph by `{}`",
    "numpy": "leaves torch by `{}`",
    "float": "is turned into a number by `{}`",
    "integer": "is turned into whole numbers by `{}`, which has no gradient",
    "argmax": "goes through `{}`, which has no gradient",
    "comparison": "goes through the comparison `{}`, which has no gradient",
}
ADVICE = {
    "listed": "write `torch.stack(...)` of the losses themselves, without `.item()` inside",
    "metric": "return a loss that has a gradient, such as `torch.nn.functional.cross_entropy(...)`, and log this",
    "numpy": "compute it with functions of torch, such as `torch.mean(...)`",
    "integer": "compute the loss from the values before it, without `{}`",
    "argmax": "compute the loss from the scores, as `{}` does, and use this for metrics alone",
    "comparison": "it is a metric: return a loss that has a gradient, such as `{}`, and log this",
}
REMOVED = frozenset({"tensor", "item", "data", "detach", "float"})
SAFE = "the loss has to be differentiated: without this it keeps its history, and its value is the same."
NUMBERS = frozenset({"item", "float"})
KEEPERS = "Other callers get the history too."
OTHERS = "Other callers get a tensor now, not a number."
HARMLESS = frozenset({"log", "log_dict", "print", "info", "debug", "update", "add_scalar", "set_postfix"})


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    done: set[ast.AST] = set()
    for lost in lost_losses(file, facts):
        seen = [cut for cut in lost.cuts if cut.via or cut.path == file.path]
        own = [cut for cut in seen if cut.how != "no_grad" and cut.node not in done]
        done.update(cut.node for cut in own)
        refused = _refused(file, lost)
        others = next(filter(None, (_others(file, lost, cut) for cut in own)), "")
        for cut in own:
            yield _match(file, lost, cut, refused, others)


def _match(file: PythonFile, lost: DetachedLoss, cut: Cut, refused: str, others: str) -> Match:
    node: Any = cut.node
    place: Any = cut.via or node
    text = " ".join((ast.unparse(node) if cut.via else file.source_of(node)).split())
    shown = text if len(text) <= 50 else f"{text[:49]}…"
    ends = (
        "no gradient arrives, without an error"
        if lost.silent
        else "backward fails with `element 0 of tensors does not require grad`"
    )
    where = f" ({cut.path}:{node.lineno})" if cut.via else ""
    message = f"The loss {SPELLED[cut.how].format(shown)}{where}: {ends}"
    unit = f"{file.path}:{lost.item.qualname}.{lost.step.name}"
    if refused:
        return Match(file.span(place), message, "manual", refused, unit=unit)
    edit = NodeEdit(node, _EDITS[cut.how])
    if others:
        return Match(file.span(place), message, "unsafe", f"{SAFE} {others}", edits=(edit,), unit=unit)
    return Match(file.span(place), message, "safe", SAFE, edits=(edit,), unit=unit)


def _others(file: PythonFile, lost: DetachedLoss, cut: Cut) -> str:
    """What others meet who call the code that a cut stands in; empty where the class alone does, or nothing changes."""
    if _is_inside(cut.node, lost.item.node):
        return ""
    if cut.how in NUMBERS:
        return OTHERS
    return "" if any(_is_inside(cut.node, item.node) for item in file.classes) else KEEPERS


def _is_inside(node: ast.AST, around: ast.AST) -> bool:
    return any(inner is node for inner in walk(around))


def _refused(file: PythonFile, lost: DetachedLoss) -> str:
    """Why the places of a loss are not rewritten; empty where they are."""
    if lost.partly:
        line = getattr(lost.place, "lineno", 0)
        return f"only the `return` in line {line} passes it on: return the loss itself there, or None to skip the batch"
    for cut in lost.cuts:
        if cut.how == "no_grad":
            return "it is also computed without gradients (GRD002): decide on that first"
        if cut.how not in REMOVED:
            return ADVICE[cut.how].format(_instead(cut))
        if cut.path != file.path:
            return "not rewritten, since it is in another file: remove it there, the value is the same"
    inherited = lost.step not in lost.item.methods.values()
    if inherited and any(not _is_inside(cut.node, lost.item.node) for cut in lost.cuts):
        return "not rewritten, since other classes inherit it too: remove it, the value is the same"
    for cut in lost.cuts:
        if cut.how == "tensor" and (why := _unwrappable(cut.node)):
            return why
        if not cut.sure:
            return "fixer cannot tell whether what is inside has a gradient itself: remove this if it has"
    every = [method for item in file.classes for method in item.methods.values()]
    every += [node for node in file.tree.body if isinstance(node, Function)]
    method = [node for node in every if any(_is_inside(cut.node, node) for cut in lost.cuts)]
    used = next((place for item in method if (place := _used_elsewhere(item, lost.cuts))), None)
    if lost.silent and not all(cut.how == "tensor" or cut.node not in lost.revived for cut in lost.cuts):
        return "`requires_grad` is set on it afterwards, which only hides the error: remove both"
    if used is not None:
        return (
            f"the number is also used in line {used}, which may not work "
            "with a tensor: keep both under names of their own"
        )
    return ""


def _instead(cut: Cut) -> str:
    """What to compute in the place of what has no gradient: of the largest score, the cross entropy of the scores."""
    if cut.how not in ("argmax", "comparison"):
        return shortened(ast.unparse(cut.node))
    sides = [cut.node.left, *cut.node.comparators] if isinstance(cut.node, ast.Compare) else [cut.node]
    for index, side in enumerate(sides):
        if isinstance(side, ast.Call) and isinstance(side.func, ast.Attribute) and side.func.attr == "argmax":
            of_torch = isinstance(side.func.value, ast.Name) and side.func.value.id == "torch"
            scores = next(iter(side.args), None) if of_torch else side.func.value
            target = shortened(ast.unparse(sides[1 - index])) if len(sides) == 2 else "..."
            return f"torch.nn.functional.cross_entropy({shortened(ast.unparse(scores)) if scores else '...'}, {target})"
    return "torch.nn.functional.cross_entropy(..., ...)"


def _unwrappable(node: ast.AST) -> str:
    """Why a call that builds a tensor anew cannot simply give way to what it is given."""
    if not isinstance(node, ast.Call) or len(node.args) != 1 or isinstance(node.args[0], ast.Starred):
        return "pass the value itself on"
    if isinstance(node.func, ast.Attribute) and node.func.attr == "new_tensor":
        return "it also takes type and device from another tensor: pass the value itself on"
    if isinstance(node.args[0], ast.List | ast.Tuple | ast.ListComp | ast.GeneratorExp):
        return "write `torch.stack([...])` of the losses themselves, without `.item()` inside"
    if any(item.arg not in ("requires_grad", "device") for item in node.keywords):
        return "it also changes the type: write `.to(...)` on the value itself"
    return ""


def _used_elsewhere(method: Function, cuts: Sequence[Cut]) -> int | None:
    """The line of another use of a name that holds the number than logging and the way to the loss."""
    tainted = {cut.node for cut in cuts}
    held: set[str] = set()
    way: set[ast.stmt] = set()
    statements = [node for node in walk(method) if isinstance(node, ast.stmt) and not hasattr(node, "body")]
    grown = True
    while grown:
        before = len(held), len(way)
        for statement in statements:
            inside = list(walk(statement))
            touches = any(node in tainted for node in inside) or any(
                isinstance(node, ast.Name) and node.id in held and isinstance(node.ctx, ast.Load) for node in inside
            )
            if touches and isinstance(statement, ast.Assign | ast.AugAssign | ast.AnnAssign):
                targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
                if all(isinstance(target, ast.Name) for target in targets):
                    held.update(target.id for target in targets if isinstance(target, ast.Name))
                    way.add(statement)
        grown = (len(held), len(way)) != before
    for statement in statements:
        if statement in way or isinstance(statement, ast.Return):
            continue
        loaded = [
            node
            for node in walk(statement)
            if isinstance(node, ast.Name) and node.id in held and isinstance(node.ctx, ast.Load)
        ]
        if loaded and not _is_harmless(statement):
            return statement.lineno
    tests = [node.test for node in walk(method) if isinstance(node, ast.If | ast.While | ast.IfExp)]
    return next(
        (test.lineno for test in tests for node in walk(test) if isinstance(node, ast.Name) and node.id in held),
        None,
    )


def _is_harmless(statement: ast.stmt) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call):
        return False
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return name in HARMLESS or name == "manual_backward"


def _base(node: cst.Call) -> Any:
    """`x.item()` without the method."""
    import libcst as cst

    return cst.ensure_type(node.func, cst.Attribute).value


def _owner(node: cst.Attribute) -> Any:
    return node.value


def _argument(node: cst.Call) -> Any:
    """What a call is given, in parentheses where it needs them."""
    import libcst as cst

    value = node.args[0].value
    simple = cst.Name | cst.Attribute | cst.Call | cst.Subscript
    if isinstance(value, simple) or value.lpar:
        return value
    return value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])


_EDITS: dict[str, Callable[[Any], Any]] = {
    "tensor": _argument,
    "float": _argument,
    "item": _base,
    "detach": _base,
    "data": _owner,
}

_HEAD = """\
import torch
import torch.nn.functional as F
from lightning.pytorch import LightningModule


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        x, y = batch
"""
_TAIL = """
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
"""


def _example(*lines: str) -> str:
    return _HEAD + "".join(f"        {line}\n" for line in lines) + _TAIL


_LOSS = "loss = F.mse_loss(self.layer(x), y)"
_ITEM = _example("loss = F.mse_loss(self.layer(x), y).item()", 'self.log("loss", loss)', "return torch.tensor(loss)")
_PLAIN = _example(_LOSS, 'self.log("loss", loss)', "return loss")
_REVIVED = _example(_LOSS, "return torch.tensor(loss, requires_grad=True)")
_LOGGED = _example(_LOSS, 'self.log("loss", loss.item())', "return {'loss': loss, 'shown': loss.detach()}")
_METRIC = _example("right = self.layer(x).argmax(1) == y", "return {'loss': right.float().mean()}")

RULE = Rule(
    code="GRD001",
    name="cut-loss",
    summary="`torch.tensor(loss)`, `.item()`, `.detach()` and `.data` are taken out of the way to the loss",
    why=(
        "`torch.tensor(loss)` copies a number, and `.item()`, `.data`, `.detach()` and `.numpy()` leave the graph "
        "behind: what `training_step` then returns fails with 'element 0 of tensors does not require grad', or, with "
        "`requires_grad=True` put on it as tutorials advise, trains nothing and says nothing. The values of the step "
        "are followed through names, branches, loops and the class's own methods; a place is named where no way back "
        "to a parameter is left. A value that is only logged, or a constant factor, is none."
    ),
    fix="safe",
    versions="every Lightning",
    triggers=(b"training_step", *(word.encode() for word in CUTS)),
    check=_check,
    among=steps_of,
    present=present,
    examples=(
        Example(_ITEM, _PLAIN),
        Example(_REVIVED, _example(_LOSS, "return loss")),
        Example(_LOGGED, _LOGGED),
        Example(_METRIC, _METRIC),
    ),
)
