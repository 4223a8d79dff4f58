"""What a hand-written count of steps is made of: batches, samples, epochs, accumulation, devices."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

from codemods.code.calls import last_name

Role = Literal["batches", "samples", "epochs", "batch_size", "accumulate", "devices", "limit", "max_steps", "estimated"]
Origin = Literal["trainer", "loader", "named"]

NAMED: tuple[tuple[Role, re.Pattern[str]], ...] = tuple(
    (role, re.compile(pattern, re.IGNORECASE))  # type: ignore[misc]
    for role, pattern in (
        ("accumulate", r"(?!effective|total)(.*_)?(accum\w*|accm\w*|agb|grad_acc\w*|update_every)"),
        ("epochs", r"((max|num|n|train|training|total)_)*epochs|(max|num|n|total)_epoch"),
        ("batch_size", r"(.*_)?batch_?sizes?(_per_(gpu|device))?|bs"),
        ("devices", r"((num|n)_)?(gpus?|devices?|nodes|processes|tpu_cores)|world_size|ngpus?"),
        ("limit", r"limit_train_batches|train_percent_check"),
        ("samples", r"(num|n|len)_(train(ing)?_)?(samples|examples|images|data)(_per_epoch)?"),
        ("samples", r"(train(ing)?_)?(dataset|data|set|trainset)_(size|len|length)|train_size"),
        ("batches", r"((num|n)_)?(train(ing)?_)?(batches|batches_per_epoch)"),
        ("batches", r"(train(ing)?_)?(steps|iters|iterations)_per_epoch"),
    )
)
"""What an identifier says of the number that it holds, where its value cannot be followed. The first that fits."""

OF_TRAINER: Mapping[str, Role] = {
    "max_epochs": "epochs",
    "accumulate_grad_batches": "accumulate",
    "limit_train_batches": "limit",
    "num_training_batches": "batches",
    "max_steps": "max_steps",
    "estimated_stepping_batches": "estimated",
    **dict.fromkeys(
        ("num_gpus", "gpus", "tpu_cores", "num_processes", "devices", "num_devices", "world_size", "num_nodes"),
        "devices",
    ),
}
"""Attributes of a Trainer, the removed ones among them (run on 1.8.6, 1.9.5 and 2.6.6)."""

SAID: Mapping[str, Role] = {
    "accumulate_grad_batches": "accumulate",
    **dict.fromkeys(("devices", "gpus", "num_nodes"), "devices"),
}
"""What a Trainer's arguments say of the expressions that it is given."""
GONE = ("num_gpus", "gpus", "tpu_cores", "num_processes", "devices")
LOADERS = re.compile(r"(train(ing)?_?)?(data_?)?loaders?|train_dl", re.IGNORECASE)
DATASETS = re.compile(r"(train(ing)?_?)?(data_?)?set|train(ing)?_?(data|ds)|dataset_train", re.IGNORECASE)
NUMERIC = ("math", "numpy", "torch", "builtins")
"""Where a function that rounds comes from; one of the project that is called alike may do anything."""
SEVERAL = (ast.List, ast.Tuple, ast.Dict, ast.ListComp, ast.DictComp)
"""Several loaders in one, whose length is their number."""
ROUNDS = {"int": "floor", "floor": "floor", "ceil": "ceil", "round": "round", "float": ""}


@dataclass(frozen=True)
class Leaf:
    """A factor of a count: what it is, where it stands, and how that is known."""

    role: Role
    node: ast.expr
    origin: Origin


@dataclass(frozen=True)
class Count:
    """A product of factors over others. `marks` say how it is rounded (`floor`, `ceil`, `divided` where it is not),
    whether accumulation windows reach over epochs (`spans`), and whether it is another number in some cases (`cases`);
    `number` is its literal factor, `cut` the literal number that divides it somewhere on the way."""

    over: tuple[Leaf, ...] = ()
    under: tuple[Leaf, ...] = ()
    marks: frozenset[str] = frozenset()
    number: float = 1
    cut: float = 1

    @property
    def shape(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Its roles above and below the line, limits left out; a limit alone stands for batches."""
        over = Counter(leaf.role for leaf in self.over if leaf.role != "limit")
        under = Counter(leaf.role for leaf in self.under if leaf.role != "limit")
        if not over and not under and self.over:
            over = Counter(["batches"])
        both = over & under
        return tuple(sorted((over - both).elements())), tuple(sorted((under - both).elements()))

    @property
    def is_number(self) -> bool:
        return not self.over and not self.under

    @property
    def is_counted(self) -> bool:
        """Whether it is made of what a training counts: epochs, batches, samples or steps."""
        return any(leaf.role in ("epochs", "batches", "samples", "estimated") for leaf in self.over)

    @property
    def epochs_cancel(self) -> bool:
        """Whether epochs stand above the line and below it."""
        return all(any(leaf.role == "epochs" for leaf in side) for side in (self.over, self.under))

    @property
    def is_epoch(self) -> bool:
        """Whether it is the number of optimizer steps of one epoch."""
        return not self.epochs_cancel and replace(self, over=(*self.over, *_EPOCHS)).is_total

    @property
    def is_limit(self) -> bool:
        """Whether it is `trainer.max_steps` and nothing else."""
        return [leaf.role for leaf in self.over] == ["max_steps"] and not self.under and self.number == 1

    @property
    def is_total(self) -> bool:
        """Whether it is the number of optimizer steps of a whole training, as people write it."""
        over, under = self.shape
        if self.epochs_cancel:
            over = tuple(sorted((*over, "epochs")))
        if (self.number, self.cut) != (1, 1) or len(set(under) - {"devices"}) != len(
            [role for role in under if role != "devices"]
        ):
            return False
        if not under and over in (("estimated",), ("epochs", "estimated")):
            return self.epochs_cancel
        allowed = {"accumulate", "devices", "batch_size"}
        if over == ("batches", "epochs"):
            return set(under) <= allowed
        return over == ("epochs", "samples") and {"batch_size"} <= set(under) <= allowed

    def first(self, role: Role) -> Leaf | None:
        """The first factor of that role, above the line or below."""
        return next((leaf for leaf in (*self.over, *self.under) if leaf.role == role), None)

    def all(self, role: Role) -> list[Leaf]:
        return [leaf for leaf in (*self.over, *self.under) if leaf.role == role]


_STEPS = 5000
_EPOCHS = (Leaf("epochs", ast.Name("epochs", ast.Load()), "named"),)


class TermReader:
    """Reads expressions as counts. `values` gives what is assigned to a plain name where the expression stands,
    `is_trainer` whether an expression is a Lightning Trainer, `resolve` the dotted name of a function, `datasets` the
    names that loaders are made of, `result` what a call of a function of the project computes, `said` what texts are
    known to stand for."""

    def __init__(
        self,
        values: Callable[[str], list[ast.expr]],
        is_trainer: Callable[[ast.expr], bool],
        resolve: Callable[[ast.expr], str | None],
        datasets: Container[str] = (),
        result: Callable[[ast.Call], ast.expr | None] = lambda call: None,
        said: Mapping[str, Role] = MappingProxyType({}),
    ) -> None:
        self.values, self.is_trainer, self.resolve = values, is_trainer, resolve
        self.datasets, self.result, self.said = datasets, result, said
        self.reading: list[str] = []
        self.names: dict[str, Count | None] = {}
        self.steps = iter(range(_STEPS))

    def read(self, node: ast.expr) -> Count | None:
        """The count that an expression is, None where it is none, or not within some thousand steps: names that lead to
        each other make more ways than can be gone."""
        self.steps = iter(range(_STEPS))
        return self._read(node)

    def _read(self, node: ast.expr) -> Count | None:
        if next(self.steps, None) is None:
            return None
        if isinstance(node, ast.Constant):
            return _number(node.value)
        if isinstance(node, ast.Name | ast.Attribute | ast.Subscript) and (role := self.said.get(ast.unparse(node))):
            return Count((Leaf(role, node, "named"),))
        if isinstance(node, ast.Name):
            return self._name(node)
        if isinstance(node, ast.Attribute):
            return self._attribute(node)
        if isinstance(node, ast.Subscript):
            return self._item(node)
        if isinstance(node, ast.BinOp):
            return self._operation(node)
        if isinstance(node, ast.IfExp):
            return _agreed([self._read(node.body), self._read(node.orelse)])
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or):
            first = self._read(node.values[0])
            return replace(first, marks=first.marks | {"cases"}) if first and first.is_counted else first
        return self._call(node) if isinstance(node, ast.Call) else None

    def _item(self, node: ast.Subscript) -> Count | None:
        """One of several numbers that are called what each of them is."""
        found = self._read(node.value)
        if found is None or len(found.over) != 1 or found != Count(found.over):
            return None
        return Count((replace(found.over[0], node=node),))

    def _name(self, node: ast.Name) -> Count | None:
        if node.id in self.reading:
            return Count(marks=frozenset({"itself"}))
        if self.reading:
            return self._followed(node)
        if node.id not in self.names:
            self.names[node.id] = self._followed(node)
        return self.names[node.id]

    def _followed(self, node: ast.Name) -> Count | None:
        """What a name stands for, by its values or else by what it says."""
        role = named(node.id)
        values = [] if role == "accumulate" else self.values(node.id)
        self.reading.append(node.id)
        try:
            found = _agreed([self._read(value) for value in values]) if values else None
        finally:
            self.reading.pop()
        is_part = role == "samples" and found is not None and found.shape == (("samples",), ()) and found.number < 1
        if role and (found is None or found.is_number or is_part):
            return Count((Leaf(role, node, "named"),))
        return found

    def _attribute(self, node: ast.Attribute) -> Count | None:
        if self.is_trainer(node.value):
            role = OF_TRAINER.get(node.attr)
            return Count((Leaf(role, node, "trainer"),)) if role else None
        role = named(node.attr)
        return Count((Leaf(role, node, "named"),)) if role else None

    def _operation(self, node: ast.BinOp) -> Count | None:
        left = self._read(node.left)
        right = self._read(node.right) if left is not None else None
        if left is None or right is None:
            return None
        marks = left.marks | right.marks
        if isinstance(node.op, ast.Mult):
            number, cut = left.number * right.number, left.cut * right.cut
            return Count((*left.over, *right.over), (*left.under, *right.under), marks, number, cut)
        if not isinstance(node.op, ast.Div | ast.FloorDiv) or not right.number:
            return None
        marks |= {"floor" if isinstance(node.op, ast.FloorDiv) else "divided"}
        if "epochs" in left.shape[0] and "accumulate" in right.shape[0]:
            marks |= {"spans"}
        number = 1 if left.number == right.number == 1 else left.number / right.number
        cut = left.cut * right.number * right.cut
        return Count((*left.over, *right.under), (*left.under, *right.over), marks, number, cut)

    def _call(self, node: ast.Call) -> Count | None:
        dotted = self.resolve(node.func)
        name = (dotted or last_name(node.func) or "").rpartition(".")[2]
        own = dotted is not None and dotted.partition(".")[0] not in NUMERIC
        if own and (name in ROUNDS or name in ("len", "min", "max")):
            return self._inside(node)
        if name == "len" and len(node.args) == 1:
            return self._length(node)
        if name in ROUNDS and node.args:
            found = self._read(node.args[0])
            if found is None or not ROUNDS[name] or "divided" not in found.marks:
                return found
            return replace(found, marks=(found.marks - {"divided"}) | {ROUNDS[name]})
        if name in ("min", "max") and node.args:
            return _agreed([self._read(item) for item in node.args], least=1 if name == "max" else 0)
        if name in ("device_count", "get_world_size"):
            return Count((Leaf("devices", node, "named"),))
        if (
            name == "get"
            and node.args
            and isinstance(node.args[0], ast.Constant)
            and isinstance(node.args[0].value, str)
        ):
            role = named(node.args[0].value)
            return Count((Leaf(role, node, "named"),)) if role else None
        return self._inside(node)

    def _inside(self, node: ast.Call) -> Count | None:
        """What a function of the project computes, which may call itself."""
        called = f"{ast.unparse(node.func)}()"
        inside = self.result(node) if called not in self.reading else None
        if inside is None:
            return None
        self.reading.append(called)
        try:
            return self._read(inside)
        finally:
            self.reading.pop()

    def _length(self, node: ast.Call) -> Count | None:
        if self.is_loader(node.args[0]):
            return Count((Leaf("batches", node, "loader"),))
        if self._is_dataset(node.args[0]):
            return Count((Leaf("samples", node, "named"),))
        return None

    def is_loader(self, node: ast.expr) -> bool:
        """Whether an expression is the training loader."""
        if isinstance(node, ast.Name):
            return self._follow(node.id, self.is_loader, LOADERS)
        if isinstance(node, ast.Call):
            name = last_name(node.func) or ""
            return name == "train_dataloader" or name.endswith("DataLoader") or name == "dataloader"
        if isinstance(node, ast.Attribute):
            fits = LOADERS.fullmatch(node.attr.lstrip("_")) is not None
            return fits and (node.attr != "loaders" or self.is_loader(node.value))
        return False

    def _is_dataset(self, node: ast.expr) -> bool:
        if isinstance(node, ast.Name):
            return node.id in self.datasets or self._follow(node.id, self._is_dataset, DATASETS)
        if isinstance(node, ast.Call):
            return (last_name(node.func) or "").endswith("Dataset")
        return isinstance(node, ast.Attribute) and DATASETS.fullmatch(node.attr.lstrip("_")) is not None

    def _follow(self, name: str, asks: Callable[[ast.expr], bool], pattern: re.Pattern[str]) -> bool:
        values = [] if name in self.reading else self.values(name)
        self.reading.append(name)
        try:
            if any(map(asks, values)):
                return all(map(asks, values))
            known = any(
                isinstance(value, SEVERAL) or self.is_loader(value) or self._is_dataset(value) for value in values
            )
            return not known and pattern.fullmatch(name) is not None
        finally:
            self.reading.pop()


def _number(value: object) -> Count | None:
    """A literal; a fraction divides too."""
    if type(value) is not int and type(value) is not float:
        return None
    number: float = value
    return Count(number=number, cut=1 / number if number % 1 else 1)


def named(name: str) -> Role | None:
    """What an identifier says of its number."""
    return next((role for role, pattern in NAMED if pattern.fullmatch(name.lstrip("_"))), None)


def _agreed(counts: Iterable[Count | None], least: float = 0) -> Count | None:
    """One count for alternatives: those that are a number, `max_steps` or the name itself say nothing, the others
    have to be of one shape. A number above `least` in the place of a count, and other epochs, are marked as cases."""
    found = list(counts)
    known = [item for item in found if item is not None]
    if len(known) < len(found):
        return None
    telling = [item for item in known if not item.is_number and not item.is_limit]
    if not telling:
        return next((item for item in known if item.is_limit), known[0] if known else None)
    if len({item.shape for item in telling}) > 1 or len({item.number for item in telling}) > 1:
        return None
    best = max(telling, key=lambda item: sum(leaf.role != "limit" for leaf in (*item.over, *item.under)))
    marks = frozenset[str]().union(*(item.marks for item in known)) - {"itself"}
    numbers = [item for item in known if item.is_number and "itself" not in item.marks and item.number > least]
    epochs = {" ".join(ast.unparse(leaf.node) for leaf in item.all("epochs")) for item in telling}
    if (numbers and best.is_counted) or len(epochs) > 1:
        marks |= {"cases"}
    return replace(best, marks=marks, cut=max((item.cut for item in telling), key=lambda cut: abs(cut - 1)))
