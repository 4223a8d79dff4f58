"""The areas under curves: of two classes, which they took alone without a number of classes, and of several.

Run with torchmetrics 0.3 to 0.10: what is given for several classes, or labels, was refused by AUROC without
`num_classes=`, and taken as one row of two classes by AveragePrecision; with `pos_label=1` as without it. With
`num_classes=` both took what they were given for several classes as it is, where 1.9 takes softmax of logits: they give
the same numbers for probabilities alone.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from codemods.code.nodes import walk
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import results
from codemods.finding import Fix
from codemods.lightning.facts import Facts
from codemods.rules.metrics.arguments import Arguments
from codemods.rules.metrics.metric_attributes import feeds, method_of
from codemods.rules.metrics.prediction_kind import DEEPEST, origin
from codemods.rules.metrics.prediction_steps import Method

AREA, PRECISION = AREAS = "AUROC", "AveragePrecision"
BINARY = "Without num_classes= it took two classes alone, and gave the same numbers before and after in a run"
CAUGHT = f"{BINARY}; where all targets are of one class it gives 0 now, and releases before 0.7 raised what is caught."
SEVERAL = "Its input is multiclass probabilities: it gave the same numbers before and after in a run."
CAUGHT_OF_SEVERAL = (
    "Its input is multiclass probabilities; where a class does not occur it gives 0 for that now, and releases "
    "before 0.6 raised what is caught."
)
LOGITS = (
    f"{BINARY}; fixer assumes that it is given probabilities: logits are taken for them where all of a batch lie "
    "between 0 and 1."
)
NO_POSITIVE = (
    f"{BINARY}, but where no target is positive: it gives 0 now, and gave nan. fixer assumes that it is given targets "
    "that are whole numbers, and predictions that are none: others are refused now."
)


def of_two_classes(
    file: PythonFile, facts: Facts, call: CallNode, metric: str, function: bool, given: Arguments
) -> tuple[Fix, str] | None:
    """How surely a metric is one of two classes by the way it is called alone, and why; None for any other."""
    classes = given.named("num_classes")
    alone = classes is None or (isinstance(classes, ast.Constant) and classes.value == 1)
    if metric not in AREAS or not alone or given.named("average") or given.names() - given.handled:
        return None
    if function and not given.data:
        return None
    if metric == PRECISION:
        return "unsafe", NO_POSITIVE
    if _catches(file):
        return "unsafe", CAUGHT
    if function:
        return "safe", f"{BINARY}."
    return ("safe", f"{BINARY}.") if is_fed_probabilities(file, facts, call) else ("unsafe", LOGITS)


def of_several(
    file: PythonFile, facts: Facts, call: CallNode, metric: str, given: Sequence[ast.expr]
) -> tuple[Fix, str] | None:
    """How surely the area under a curve is the same for several classes, and why; `given` are the arguments of a
    function. None for logits, and for what may be such."""
    method = method_of(file, call) if given else None
    sure = _are_probable(given[0], method) if method else not given and is_fed_probabilities(file, facts, call)
    if not sure:
        return None
    return ("unsafe", CAUGHT_OF_SEVERAL) if metric == AREA and _catches(file) else ("safe", SEVERAL)


def is_fed_probabilities(file: PythonFile, facts: Facts, call: CallNode) -> bool:
    """Whether all that a metric is given is seen to be probabilities."""
    found = feeds(file, facts, call).found
    return bool(found) and all(each.call.args and _are_probable(each.call.args[0], each.method) for each in found)


def _catches(file: PythonFile) -> bool:
    """Whether anything in a file catches what a call may raise, be it far from the call: imports that fail apart."""
    handlers = (each for node in walk(file.tree) if isinstance(node, ast.Try) for each in node.handlers)
    said = (ast.unparse(each.type) if each.type else "" for each in handlers)
    return "suppress(" in file.text or any("ImportError" not in kind and "ModuleNotFound" not in kind for kind in said)


def _are_probable(preds: ast.expr, method: Method, depth: int = 0) -> bool:
    """Whether predictions are seen to be made by a sigmoid, or are a part of those of a softmax."""
    found = origin(preds, method)
    if found is None or depth > DEEPEST:
        return False
    if found.kind in ("sigmoid", "softmax"):
        return True
    called = found.method.called_method(found.base)
    if called:
        given = [_part(value, found.index) for value in results(called.node)]
        return bool(given) and all(each is not None and _are_probable(each, called, depth + 1) for each in given)
    return isinstance(found.base, ast.Subscript) and _are_probable(found.base.value, found.method, depth + 1)


def _part(value: ast.expr, index: int | None) -> ast.expr | None:
    if index is None:
        return value
    return value.elts[index] if isinstance(value, ast.Tuple) and len(value.elts) > index else None
