"""AMP006: `with a and b`, which enters b alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import pairwise

from codemods.code.scopes import Scope
from codemods.code.source import PythonFile
from codemods.lightning.facts import Facts
from codemods.rule import Example, Match, Rule, TextEdit
from codemods.rules.autocast.names import grad_of, region_of

_AND = re.compile(r"\s*\band\b")
MESSAGE = "`and` between contexts enters the last one alone"
REASON = (
    "Every context counts as true, so that `{}` is never entered. With "
    "a comma both are; training so far ran without it."
)
OR = "`or` between contexts enters the first one alone"
OR_REASON = "Not rewritten: every context counts as true, so `{}` is never entered; delete it, or put a comma there."


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for node, within in file.nodes_near(["and", "or"]):
        if not isinstance(node, ast.With | ast.AsyncWith):
            continue
        scope = file.scope_within(within)
        for item in node.items:
            joined = item.context_expr
            if isinstance(joined, ast.BoolOp) and all(_is_context(value, scope) for value in joined.values):
                yield _match(file, joined, len(node.items) > 1 or item.optional_vars is not None)


def _is_context(node: ast.expr, scope: Scope) -> bool:
    made = isinstance(node, ast.Call) and (grad_of(node, scope) or region_of(node, scope))
    return bool(made)


def _match(file: PythonFile, node: ast.BoolOp, beside: bool) -> Match:
    if isinstance(node.op, ast.Or):
        idle = " or ".join(map(file.source_of, node.values[1:]))
        return Match(file.span(node), OR, "manual", OR_REASON.format(idle))
    idle = " and ".join(map(file.source_of, node.values[:-1]))
    if beside and file.text[: file.offsets(node)[0]].rstrip().endswith("("):
        reason = f"Not rewritten: it is in brackets. {REASON.format(idle)}"
        return Match(file.span(node), MESSAGE, "manual", reason)
    places = [(file.offsets(first)[1], file.offsets(second)[0]) for first, second in pairwise(node.values)]
    edits = [
        TextEdit(start + found.start(), start + found.end(), ",")
        for start, end in places
        if (found := _AND.search(file.text[start:end]))
    ]
    return Match(file.span(node), MESSAGE, "unsafe", REASON.format(idle), edits=tuple(edits))


BEFORE = """\
import torch


def predict(model, batch):
    with torch.autocast("cuda") and torch.no_grad():
        return model(batch)
"""
AFTER = BEFORE.replace(" and torch", ", torch")
CHOICE = BEFORE.replace('torch.autocast("cuda")', "region")

RULE = Rule(
    code="AMP006",
    name="contexts-joined-by-and",
    summary="`with autocast(...) and no_grad():` enters both",
    why=(
        "`and` gives its last operand where those before it count as true, as every context does: the block runs "
        "without autocast, or with gradients, whatever the line seems to say, and nothing fails."
    ),
    fix="unsafe",
    versions="every torch",
    triggers=(b"autocast", b"no_grad", b"inference_mode", b"enable_grad", b"set_grad_enabled"),
    check=_check,
    present=lambda file: "with" in file.text and any(word in file.text for word in ("and", "or")),
    examples=(Example(BEFORE, AFTER), Example(CHOICE, CHOICE)),
    references=("https://docs.python.org/3/reference/expressions.html#boolean-operations",),
)
