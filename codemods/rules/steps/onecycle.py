"""OneCycleLR that is given epochs and the steps of one, which are multiplied."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from codemods.code.syntax import Function, own_nodes
from codemods.rule import touches
from codemods.rules.steps.step_count_terms import Count, Leaf, TermReader

if TYPE_CHECKING:
    import libcst as cst

ONE_CYCLE = "torch.optim.lr_scheduler.OneCycleLR"


def one_cycles(function: Function, reader: TermReader) -> Iterator[tuple[ast.Call, Count]]:
    """The calls of OneCycleLR with a number of epochs and a `steps_per_epoch` that is computed by hand, each with the
    number of steps that they come to."""
    for node in own_nodes(function):
        if not isinstance(node, ast.Call) or reader.resolve(node.func) != ONE_CYCLE:
            continue
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        if not {"epochs", "steps_per_epoch"} <= set(given) or "total_steps" in given:
            continue
        epochs, steps = reader.read(given["epochs"]), reader.read(given["steps_per_epoch"])
        if epochs is None or steps is None or epochs != Count(epochs.over) or epochs.shape[0] != ("epochs",):
            continue
        if not steps.over and steps.number > 1 and steps.shape[1] and "batch_size" in steps.shape[1]:
            steps = replace(steps, over=(Leaf("samples", given["steps_per_epoch"], "named"),), number=1, cut=1)
        total = replace(steps, over=(*steps.over, *epochs.over))
        if steps.is_epoch and total.is_total:
            yield node, total


@touches("arguments")
def with_total(call: cst.Call, *, text: str) -> cst.Call:
    """The call with `total_steps` in the place of `steps_per_epoch`, and without `epochs`."""
    import libcst as cst

    from codemods.rewrite.edits import without_arguments

    args = [
        item.with_changes(keyword=cst.Name("total_steps"), value=cst.parse_expression(text))
        if item.keyword and item.keyword.value == "steps_per_epoch"
        else item
        for item in call.args
    ]
    return without_arguments(call.with_changes(args=args), frozenset({"epochs"}))
