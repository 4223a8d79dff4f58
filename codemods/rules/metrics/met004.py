"""MET004: metrics in a plain dictionary or list of a LightningModule."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.code.nodes import every_node
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, is_self_attribute, self_name, targets_of
from codemods.lightning.facts import MODULE, Facts
from codemods.rule import Example, Match, Rule
from codemods.rules.metrics.table import is_of_torchmetrics

MAKES = {"dict": "dictionary", "list": "list", "tuple": "tuple"}
DISPLAYS: dict[type[ast.expr], str] = {
    ast.Dict: "dictionary", ast.DictComp: "dictionary", ast.List: "list", ast.ListComp: "list", ast.Tuple: "tuple",
}  # fmt: skip
REGISTERS = frozenset({"ModuleDict", "ModuleList", "MetricCollection", "add_module", "register_module", "setattr"})
MOVES = frozenset({"to", "cuda"})
MESSAGE = "`self.{}` keeps metrics in a {}, where Lightning does not find them"
REASON = (
    "Not rewritten: Lightning moves what a module registers alone, so that these stay on the CPU while a GPU trains "
    "and fail there, and since 1.4 `self.log` of one of them is an error. Write "
)
DICTIONARY = (
    "`torch.nn.ModuleDict({...})`, which takes no key with a dot or with the name of one of its own methods, as "
    "`train`; or `torchmetrics.MetricCollection({...})` where all are given the same."
)
LIST = "`torch.nn.ModuleList([...])`, or `torchmetrics.MetricCollection([...])` where all are given the same."


@dataclass(frozen=True)
class KeptMetrics:
    """An attribute with metrics in something that is no module, and where one is put there."""

    name: str
    container: str
    place: ast.stmt


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for item, _ in facts.classes_of(file, MODULE):
        told = set[str]()
        for kept in _kept(item):
            if kept.name not in told and not any(_looks_after(method, kept.name) for method in item.methods.values()):
                told.add(kept.name)
                advice = DICTIONARY if kept.container == "dictionary" else LIST
                yield Match(file.span(kept.place), MESSAGE.format(kept.name, kept.container), "manual", REASON + advice)


def _kept(item: ClassNode) -> Iterator[KeptMetrics]:
    empty: dict[str, str] = {}
    for method in item.methods.values():
        for node in every_node(method):
            for target in targets_of(node):
                name = _own(target, method)
                container = _container(node.value, method) if name else ""  # type: ignore[attr-defined]
                if name and container and isinstance(node, ast.stmt):
                    empty[name] = container
                    if _holds_metrics(node.value, method, item):  # type: ignore[attr-defined]
                        yield KeptMetrics(name, container, node)
    for method in item.methods.values():
        for node in every_node(method):
            name = _filled(node, method, item)
            if name in empty and isinstance(node, ast.stmt):
                yield KeptMetrics(name, empty[name], node)


def _own(node: ast.expr, method: Function) -> str:
    """The attribute of its instance that a method speaks of."""
    own = isinstance(node, ast.Attribute) and is_self_attribute(node, node.attr, self_name(method))
    return node.attr if own and isinstance(node, ast.Attribute) else ""


def _container(node: ast.expr, method: Function) -> str:
    """What Python's own container an expression makes, empty for anything else."""
    if isinstance(node, ast.Name):
        bound = _bound(node, method)
        return _container(bound, method) if bound is not None and not isinstance(bound, ast.Name) else ""
    if isinstance(node, ast.Call):
        return MAKES.get(node.func.id, "") if isinstance(node.func, ast.Name) else ""
    return DISPLAYS.get(type(node), "")


def _bound(name: ast.Name, method: Function) -> ast.expr | None:
    """The one value that a method gives a local name."""
    every = [*every_node(method)]
    stores = [
        node for node in every if isinstance(node, ast.Name) and node.id == name.id and isinstance(node.ctx, ast.Store)
    ]
    values = [node.value for node in every for target in targets_of(node) if target in stores]  # type: ignore[attr-defined]
    return values[0] if len(stores) == len(values) == 1 else None


def _holds_metrics(node: ast.expr, method: Function, item: ClassNode) -> bool:
    """Whether a metric is made in a container, or in one inside it."""
    if isinstance(node, ast.Name):
        bound = _bound(node, method)
        return bound is not None and not isinstance(bound, ast.Name) and _holds_metrics(bound, method, item)
    parts: list[ast.expr | None] = []
    if isinstance(node, ast.Dict):
        parts = [*node.values]
    elif isinstance(node, ast.List | ast.Tuple):
        parts = [*node.elts]
    elif isinstance(node, ast.DictComp | ast.ListComp):
        parts = [node.value if isinstance(node, ast.DictComp) else node.elt]
    elif isinstance(node, ast.Call):
        parts = [*node.args, *(word.value for word in node.keywords)] if _container(node, method) else []
    return any(part is not None and (_is_metric(part, item) or _holds_metrics(part, method, item)) for part in parts)


def _is_metric(node: ast.expr, item: ClassNode) -> bool:
    dotted = item.scope.resolve(node.func) or "" if isinstance(node, ast.Call) else ""
    return is_of_torchmetrics(dotted) and dotted.rpartition(".")[2][:1].isupper()


def _filled(node: ast.AST, method: Function, item: ClassNode) -> str:
    """The attribute to whose value a statement adds a metric."""
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript) and _is_metric(node.value, item):
        return _own(node.targets[0].value, method)
    call = node.value if isinstance(node, ast.Expr) else None
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "append":
        return _own(call.func.value, method) if call.args and _is_metric(call.args[0], item) else ""
    return ""


def _looks_after(method: Function, name: str) -> bool:
    """Whether a method registers the metrics of an attribute, or moves them, one by one or all at once."""
    for node in every_node(method):
        if isinstance(node, ast.Call):
            function = _called(node)
            spoken = node.args if function in REGISTERS else [node.func] if function in MOVES else []
            if any(_speaks_of(part, name, method) for part in spoken):
                return True
        loops = [node] if isinstance(node, ast.For) else getattr(node, "generators", [])
        over = any(_speaks_of(loop.iter, name, method) for loop in loops)
        if over and any(isinstance(each, ast.Call) and _called(each) in REGISTERS | MOVES for each in every_node(node)):
            return True
    return False


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _speaks_of(node: ast.expr, name: str, method: Function) -> bool:
    return any(isinstance(each, ast.Attribute) and _own(each, method) == name for each in every_node(node))


BEFORE = """\
import pytorch_lightning as pl
from torchmetrics import MeanSquaredError


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.metrics = {"mse": MeanSquaredError()}

    def validation_step(self, batch, batch_idx):
        for name, metric in self.metrics.items():
            self.log(name, metric(self(batch), batch))
"""
MOVED = BEFORE.replace("metric(self", "metric.to(self.device)(self")
REGISTERED = (
    BEFORE.replace("{", "torch.nn.ModuleDict({").replace("}", "})").replace("import pyt", "import torch\nimport pyt")
)

RULE = Rule(
    code="MET004",
    name="unregistered-metrics",
    summary="Metrics in a plain dictionary or list, which no Trainer moves to the device",
    why=(
        "torch registers modules that are attributes of a module, and no others: what a dictionary or a list holds is "
        "not moved to the GPU, and Lightning cannot reset it. Since 1.4 `self.log` looks for the attribute of a metric "
        "that is logged, and fails where there is none (read in 1.3.8, 1.4.9 and 2.6.6)."
    ),
    fix="manual",
    stops=False,
    versions="any; logged as metrics: Lightning before 1.4",
    triggers=(b"torchmetrics", b".metrics"),
    check=_check,
    examples=(Example(BEFORE, BEFORE), Example(MOVED, MOVED), Example(REGISTERED, REGISTERED)),
)
