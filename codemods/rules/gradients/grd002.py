"""GRD002: a training step, or what its loss is made of, that runs with gradients switched off."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from codemods.code.nodes import walk
from codemods.code.source import PythonFile
from codemods.code.syntax import Function, own_nodes
from codemods.lightning.facts import Facts
from codemods.rule import Example, Match, NodeEdit, Rule
from codemods.rules.gradients.find import CUTS, DetachedLoss, lost_losses, present, steps_of
from codemods.rules.gradients.values import Cut

if TYPE_CHECKING:
    import libcst as cst

ENDS = "backward fails with `element 0 of tensors does not require grad`"
STEP = "training never worked with it: the backward pass needs the graph that it prevents."
SHARED = "training never worked with it. Code that calls the method without a Trainer now keeps a graph."
ADVICE = "if the layers inside it should be trained, remove it; if not, the loss needs a layer that is trained"


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    done: set[ast.AST] = set()
    for lost in lost_losses(file, facts):
        places = [cut for cut in lost.cuts if cut.how == "no_grad" and (cut.via or cut.path == file.path)]
        alone = all(cut.how == "no_grad" for cut in lost.cuts)
        for cut in places:
            if cut.node not in done:
                done.add(cut.node)
                yield _match(file, lost, cut, alone and len(places) == 1)


def _match(file: PythonFile, lost: DetachedLoss, cut: Cut, alone: bool) -> Match:
    node: Any = cut.node
    method = next((item for item in lost.item.methods.values() if node in set(walk(item))), None)
    if method is None:
        place: Any = cut.via or node
        message = f"The loss is made of what runs under `{ast.unparse(node)}` ({cut.path}:{node.lineno}): {ENDS}"
        return Match(file.span(place), message, "manual", ADVICE)
    blocks = (item for item in walk(method) if isinstance(item, ast.With))
    block = next((item for item in blocks if any(part.context_expr is node for part in item.items)), None)
    if block is not None:
        return _block(file, lost, method, block, node, alone)
    text = file.source_of(node)
    if node not in method.decorator_list:
        return Match(file.span(node), f"The loss is computed after `{text}`: {ENDS}", "manual", ADVICE)
    message = f"`{method.name}` runs under `@{text}`, and the loss is made of it: {ENDS}"
    if not alone:
        return Match(file.span(node), message, "manual", ADVICE)
    reason, level = (STEP, "safe") if method is lost.step else (SHARED, "unsafe")
    edit = NodeEdit(method, lambda function: _undecorated(function, text))
    return Match(file.span(node), message, level, reason, edits=(edit,))  # type: ignore[arg-type]


def _block(
    file: PythonFile, lost: DetachedLoss, method: Function, block: ast.With, node: ast.expr, alone: bool
) -> Match:
    message = f"The loss is computed in `with {file.source_of(node)}:`: {ENDS}"
    index = next(index for index, item in enumerate(block.items) if item.context_expr is node)
    plain = (
        not isinstance(node, ast.Name)
        and block.items[index].optional_vars is None
        and method is lost.step
        and _makes_loss(lost, block)
        and not _has_comment(file, block)
    )
    if not (alone and plain):
        return Match(file.span(node), message, "manual", ADVICE)
    change = _opened if len(block.items) == 1 else partial(_without, index=index)
    return Match(file.span(node), message, "safe", STEP, edits=(NodeEdit(block, change),))


def _makes_loss(lost: DetachedLoss, block: ast.With) -> bool:
    """Whether a block holds the `return` of the loss, or all that is assigned to the name that is returned."""
    inside = set(walk(block))
    if lost.place in inside:
        return True
    value = getattr(lost.place, "value", None)
    if isinstance(value, ast.Dict):
        found = [item for key, item in zip(value.keys, value.values, strict=True) if _is_loss(key)]
        value = found[0] if found else None
    if not isinstance(value, ast.Name):
        return False
    stored = [
        node
        for node in own_nodes(lost.step)
        if isinstance(node, ast.Name) and node.id == value.id and not isinstance(node.ctx, ast.Load)
    ]
    return bool(stored) and all(node in inside for node in stored)


def _is_loss(key: ast.expr | None) -> bool:
    return isinstance(key, ast.Constant) and key.value == "loss"


def _has_comment(file: PythonFile, node: ast.With) -> bool:
    return file.has_comment(node.lineno, node.lineno)


def _undecorated(function: cst.FunctionDef, text: str) -> cst.FunctionDef:
    """The method without the decorator of that text; comments above it stay."""
    import libcst as cst

    module = cst.Module([])
    kept = [item for item in function.decorators if module.code_for_node(item.decorator) != text]
    first = function.decorators[0].leading_lines if function.decorators[0] not in kept else ()
    changed = function.with_changes(decorators=kept)
    if not kept:
        above = [*function.leading_lines, *first, *function.lines_after_decorators]
        changed = changed.with_changes(leading_lines=above, lines_after_decorators=[])
    return changed


def _without(block: cst.With, *, index: int) -> cst.With:
    """The block without one of its contexts, laid out as it was."""
    items = [item for place, item in enumerate(block.items) if place != index]
    return block.with_changes(items=[*items[:-1], items[-1].with_changes(comma=block.items[-1].comma)])


def _opened(block: cst.With) -> Any:
    """What stands in the block, without it."""
    import libcst as cst

    body: list[Any] = list(block.body.body)
    if not isinstance(block.body, cst.IndentedBlock):
        return block
    body[0] = body[0].with_changes(leading_lines=[*block.leading_lines, *body[0].leading_lines])
    return cst.FlattenSentinel(body)


_TOP = """\
import torch
import torch.nn.functional as F
from lightning.pytorch import LightningModule


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)

"""
_TAIL = """
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
"""
_STEP = """\
    def training_step(self, batch, batch_idx):
        x, y = batch
        loss = F.mse_loss(self.layer(x), y)
        return loss
"""
_BLOCK = _STEP.replace(
    "        loss = F.mse_loss(self.layer(x), y)\n",
    "        with torch.no_grad():\n            loss = F.mse_loss(self.layer(x), y)\n",
)
_TEACHER = """\
    def training_step(self, batch, batch_idx):
        x, _ = batch
        with torch.no_grad():
            target = self.teacher(x)
        return F.mse_loss(self.layer(x), target)
"""

RULE = Rule(
    code="GRD002",
    name="step-without-gradients",
    summary="`training_step` no longer runs under `no_grad` or `inference_mode`",
    why=(
        "A loss that is computed under `torch.no_grad()` or `torch.inference_mode()`, by a decorator or in a block, "
        "has no history, and the backward pass fails with 'element 0 of tensors does not require grad'. Lightning "
        "switches gradients off for validation, test and prediction itself. Targets of a teacher, metrics and "
        "everything else that only a part of the loss depends on stay as they are."
    ),
    fix="safe",
    versions="every Lightning",
    triggers=(b"training_step", *(word.encode() for word in CUTS)),
    check=_check,
    among=steps_of,
    present=present,
    examples=(
        Example(_TOP + "    @torch.no_grad()\n" + _STEP + _TAIL, _TOP + _STEP + _TAIL),
        Example(_TOP + _BLOCK + _TAIL, _TOP + _STEP + _TAIL),
        Example(_TOP + _TEACHER + _TAIL, _TOP + _TEACHER + _TAIL),
    ),
    references=("https://docs.pytorch.org/docs/stable/notes/autograd.html#locally-disabling-gradient-computation",),
)
