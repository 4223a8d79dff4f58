"""The arguments of a metric, and what they become."""

from __future__ import annotations

import ast
import re
from collections.abc import Set
from dataclasses import dataclass
from itertools import pairwise

from codemods.code.source import PythonFile
from codemods.rules.metrics.table import PASSED

FIRST = {"Accuracy": "threshold"}
ALWAYS = frozenset({"num_classes", "average", "compute_on_step", "preds", "target", *PASSED})
GLOBAL = {
    "mdmc_average": ("global",),
    "multiclass": (None,),
    "pos_label": (None, 1),
    "subset_accuracy": (False,),
    "top_k": (None,),
}
TASKS = ("binary", "multiclass", "multilabel")


@dataclass(frozen=True)
class Arguments:
    """The arguments of a call: keywords by name, `data` the predictions and targets of a function, `extent` the
    characters between the parentheses, `items` their texts as (name, text) pairs. `reason` says why it cannot be read,
    `tasked` that it has a task already."""

    keywords: dict[str, ast.expr]
    data: tuple[ast.expr, ast.expr] | None
    extent: tuple[int, int]
    items: tuple[tuple[str, str], ...]
    lead: str
    between: str
    tail: str
    plain: bool
    reason: str = ""
    tasked: bool = False

    def named(self, name: str) -> ast.expr | None:
        """The value of a keyword."""
        return self.keywords.get(name)

    def names(self) -> set[str]:
        """The names of all keywords."""
        return set(self.keywords)

    @property
    def handled(self) -> set[str]:
        """The keywords that need no row: those of every metric, and those that say what is so anyway."""
        told = {
            name
            for name, values in GLOBAL.items()
            if isinstance(node := self.named(name), ast.Constant) and node.value in values
        }
        return {*ALWAYS, *told}

    def written(self, task: str, size: str | None) -> str | None:
        """The text between the parentheses with the task; None where a comment would be lost."""
        if not self.plain:
            return None
        label = "num_labels" if task == "multilabel" else "num_classes"
        added = [f'task="{task}"', *([f"{label}={size}"] if size and task != "binary" else [])] if task else []
        return self._with(added, {"num_classes"} if task else set())

    def at_once(self) -> str | None:
        """The same of the metric for classes that counts over all of them, which takes no threshold."""
        if not self.plain:
            return None
        return self._with(['average="micro"'], {"average", "threshold", "num_classes"})

    def _with(self, added: list[str], dropped: Set[str]) -> str:
        gone = {name for name in (*GLOBAL, "compute_on_step") if name in self.handled and name in self.keywords}
        kept = [text for name, text in self.items if name and name not in gone | dropped]
        first = [text for name, text in self.items if not name]
        every = [*first, *added, *kept]
        return f"{self.lead}{self.between.join(every)}{self.tail}" if every else ""


def read_arguments(file: PythonFile, call: ast.Call, metric: str, function: bool) -> Arguments:
    """The arguments of a call of a metric; the first of a class is named."""
    positional = 2 if function else 0
    data = (call.args[0], call.args[1]) if function and len(call.args) >= 2 else None
    keywords = {item.arg: item.value for item in call.keywords if item.arg}
    items = [("", file.source_of(node)) for node in call.args[:positional]]
    reason, tasked = "", False
    for index, node in enumerate(call.args[positional:]):
        name = FIRST.get(metric, "num_classes") if not function else "num_classes"
        tasked = tasked or (isinstance(node, ast.Constant) and node.value in TASKS)
        if index or isinstance(node, ast.Starred) or (function and metric != "ConfusionMatrix") or not metric:
            reason = "an argument is given by position"
            items.append(("", file.source_of(node)))
        else:
            keywords[name] = node
            items.append((name, f"{name}={file.source_of(node)}"))
    for item in call.keywords:
        if item.arg is None:
            reason = "arguments arrive by **"
        items.append((item.arg or "**", file.source_of(item)))
    if function and not data and {"preds", "target"} <= keywords.keys():
        data = keywords["preds"], keywords["target"]
    extent, lead, between, tail, plain = _layout(file, call)
    return Arguments(keywords, data, extent, tuple(items), lead, between, tail, plain, reason, tasked)


def _layout(file: PythonFile, call: ast.Call) -> tuple[tuple[int, int], str, str, str, bool]:
    """The characters between the parentheses: where, what leads and ends them, what stands between two arguments, and
    whether that is nothing but white space and commas."""
    start, end = file.offsets(call.func)[1], file.offsets(call)[1] - 1
    start = file.text.index("(", start) + 1
    nodes: list[ast.expr | ast.keyword] = [*call.args, *call.keywords]
    spans = sorted(file.offsets(node) for node in nodes)
    if not spans:
        inside = file.text[start:end]
        return (start, end), "", ", ", "", not inside.strip()
    gaps = [file.text[first[1] : second[0]] for first, second in pairwise(spans)]
    lead, tail = file.text[start : spans[0][0]], file.text[spans[-1][1] : end]
    plain = not lead.strip() and re.fullmatch(r"\s*,?\s*", tail) is not None
    plain = plain and all(re.fullmatch(r"\s*,\s*", gap) for gap in gaps)
    between = gaps[0] if gaps else f",{lead}" if "\n" in lead else ", "
    return (start, end), lead, between, tail, plain
