"""What `configure_optimizers` returns, as far as the code shows it."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from codemods.scopes import Scope, bind
from codemods.syntax import Function, own_nodes, returns

SCHEDULERS = "torch.optim.lr_scheduler."
CLOSURE = ("LBFGS", "SAM", "ASAM")


@dataclass(frozen=True)
class Scheduler:
    """A learning rate scheduler: stepped every `step` or every `epoch`."""

    interval: str


@dataclass(frozen=True)
class Optimization:
    """One optimizer and its schedulers."""

    schedulers: tuple[Scheduler, ...] = ()


class NotPlain(Exception):
    """The code does not show what `configure_optimizers` returns, or it is more than a plain loop can do."""


def read_optimizers(function: Function, scope: Scope) -> Optimization:
    """The optimizer and schedulers that a `configure_optimizers` returns.

    Takes one optimizer, a tuple or list pair of lists, or a dict with `optimizer` and `lr_scheduler`, through
    names that are bound once. Raises NotPlain with the reason.
    """
    values = [node.value for node in returns(function) if node.value is not None]
    if len(values) != 1:
        raise NotPlain("configure_optimizers has more than one return, or none")
    reader = _Reader(function, bind(function, scope=scope))
    return reader.result(values[0])


def _changed_in_place(function: Function) -> set[str]:
    """The names that are used otherwise than as they stand in a display or a `return`: `name.append(...)`."""
    parents = {child: node for node in ast.walk(function) for child in ast.iter_child_nodes(node)}
    return {
        node.id
        for node in ast.walk(function)
        if isinstance(node, ast.Name)
        and isinstance(node.ctx, ast.Load)
        and not isinstance(parents[node], ast.Dict | ast.List | ast.Tuple | ast.Return)
    }


class _Reader:
    def __init__(self, function: Function, scope: Scope) -> None:
        self.scope = scope
        self.bound: dict[str, list[ast.expr]] = {}
        self.touched: set[str] = set()
        self.changed = _changed_in_place(function)
        stored = [
            node.id for node in ast.walk(function) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
        ]
        for node in own_nodes(function):
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        self.bound.setdefault(target.id, []).append(node.value)
                    else:
                        self.touched |= {item.id for item in ast.walk(target) if isinstance(item, ast.Name)}
            elif isinstance(node, ast.AugAssign | ast.Delete):
                self.touched |= {item.id for item in ast.walk(node) if isinstance(item, ast.Name)}
        self.touched |= {name for name in stored if stored.count(name) > len(self.bound.get(name, []))}

    def value(self, node: ast.expr) -> ast.expr:
        """What a name stands for, where it is bound once."""
        if not isinstance(node, ast.Name):
            return node
        values = self.bound.get(node.id, [])
        if len(values) != 1 or node.id in self.touched:
            raise NotPlain(f"configure_optimizers returns `{node.id}`, which is not bound once")
        if isinstance(values[0], ast.Dict | ast.List | ast.Tuple) and node.id in self.changed:
            raise NotPlain(f"configure_optimizers uses `{node.id}` before it returns it, and may change it")
        return self.value(values[0])

    def result(self, node: ast.expr) -> Optimization:
        node = self.value(node)
        if isinstance(node, ast.Dict):
            return self._from_dict(node)
        if isinstance(node, ast.Tuple | ast.List):
            return self._from_sequence(node)
        self._optimizer(node)
        return Optimization()

    def _from_dict(self, node: ast.Dict) -> Optimization:
        items = self._items(node)
        if "optimizer" not in items or set(items) - {"optimizer", "lr_scheduler", "monitor"}:
            raise NotPlain("configure_optimizers returns a dict with other keys than optimizer and lr_scheduler")
        self._optimizer(self.value(items["optimizer"]))
        if "lr_scheduler" not in items:
            return Optimization()
        return Optimization((self._scheduler(items["lr_scheduler"]),))

    def _from_sequence(self, node: ast.Tuple | ast.List) -> Optimization:
        lists = [self._list(item) for item in node.elts]
        if len(lists) == 2 and lists[0] is not None and lists[1] is not None:
            self._one_optimizer(lists[0])
            return Optimization(tuple(self._scheduler(item) for item in lists[1]))
        self._one_optimizer(node.elts)
        return Optimization()

    def _list(self, node: ast.expr) -> list[ast.expr] | None:
        bound = self.bound.get(node.id, []) if isinstance(node, ast.Name) else [node]
        if len(bound) != 1 or not isinstance(bound[0], ast.List | ast.Tuple):
            return None
        found = self.value(node)
        return found.elts if isinstance(found, ast.List | ast.Tuple) else None

    def _one_optimizer(self, nodes: list[ast.expr]) -> None:
        if len(nodes) != 1:
            raise NotPlain("configure_optimizers returns several optimizers")
        self._optimizer(self.value(nodes[0]))

    def _optimizer(self, node: ast.expr) -> None:
        if not isinstance(node, ast.Call):
            raise NotPlain("configure_optimizers does not return an optimizer that is built there")
        name = self.scope.resolve(node.func) or ""
        if not name.startswith("torch.optim."):
            raise NotPlain("the optimizer is not one of torch.optim, so it may need a closure")
        if name.rsplit(".")[-1] in CLOSURE:
            raise NotPlain(f"{name} needs a closure, which manual optimization does not give it")

    def _items(self, node: ast.Dict) -> dict[str, ast.expr]:
        if not all(isinstance(key, ast.Constant) for key in node.keys):
            raise NotPlain("configure_optimizers returns a dict whose keys are not all literals")
        return {key.value: value for key, value in zip(node.keys, node.values, strict=True)}  # type: ignore[union-attr]

    def _scheduler(self, node: ast.expr) -> Scheduler:
        node = self.value(node)
        interval = "epoch"
        if isinstance(node, ast.Dict):
            items = self._items(node)
            for key, value in items.items():
                if key not in ("scheduler", "interval", "frequency", "name"):
                    raise NotPlain(f"the scheduler's `{key}` has no plain equal in a manual loop")
                if key == "frequency" and not (isinstance(value, ast.Constant) and value.value == 1):
                    raise NotPlain("the scheduler has a frequency other than 1")
            given = items.get("interval", ast.Constant("epoch"))
            if not isinstance(given, ast.Constant) or given.value not in ("step", "epoch"):
                raise NotPlain("the scheduler's interval is not a literal 'step' or 'epoch'")
            interval = given.value
            node = self.value(items.get("scheduler", ast.Constant(None)))
        name = self.scope.resolve(node.func) if isinstance(node, ast.Call) else None
        if not name or not name.startswith(SCHEDULERS):
            raise NotPlain("the scheduler is not one of torch.optim.lr_scheduler, built in configure_optimizers")
        if name.endswith(".ReduceLROnPlateau"):
            raise NotPlain("ReduceLROnPlateau steps on a monitored metric after validation")
        return Scheduler(interval)
