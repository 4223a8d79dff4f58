"""Every optimizer and scheduler that `configure_optimizers` may return, and how sure that is."""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass, replace

from codemods.code.scopes import Scope, bind
from codemods.code.syntax import Function, is_none, returns
from codemods.rewrite.manual.built_optimizers import built_here
from codemods.rewrite.manual.deferred_expressions import later
from codemods.rewrite.manual.optimizers import CLOSURE, SCHEDULERS, NotPlain
from codemods.rewrite.manual.possible_values import Bindings, Items

PLATEAU = "ReduceLROnPlateau"
OPTIMIZERS = ("torch.optim.", "transformers.", "timm.optim.", "torch_optimizer.", "bitsandbytes.optim.")
BUILDERS = (SCHEDULERS, "transformers.")
SCHEDULER_KEYS = frozenset({"scheduler", "interval", "frequency", "name", "monitor", "strict", "reduce_on_plateau"})
OPTIMIZER_KEYS = frozenset({"optimizer", "lr_scheduler", "monitor", "frequency"})


@dataclass(frozen=True)
class Schedule:
    """How a scheduler is stepped: every `frequency`-th `step` or `epoch`, or, with a `monitor` (source text of the
    metric's name), by the value of a metric after validation. The frequency is source text where it is no literal."""

    interval: str = "epoch"
    frequency: int | str = 1
    monitor: str | None = None


@dataclass(frozen=True)
class ConfiguredOptimizers:
    """What `configure_optimizers` returns.

    `count` is the number of optimizers, None where it varies. `schedules` are those of its schedulers, in order;
    where not `fixed`, there may be fewer or more, all of them of these kinds. `frequencies` are the source texts of
    the optimizers' own (none, or one each). `doubts` say what was taken for granted of things built elsewhere.
    `most` is the largest number of optimizers, None where it has no bound.
    """

    count: int | None
    most: int | None
    schedules: tuple[Schedule, ...] = ()
    fixed: bool = True
    frequencies: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


def read_configured(function: Function, scope: Scope) -> ConfiguredOptimizers:
    """Reads every `return`, through names, `append` and comprehensions. Raises NotPlain with the reason."""
    values = [node.value for node in returns(function) if node.value is not None and not is_none(node.value)]
    if not values:
        raise NotPlain("configure_optimizers returns nothing")
    if isinstance(function, ast.AsyncFunctionDef) or function.decorator_list:
        raise NotPlain("configure_optimizers is decorated")
    reader = _OptimizerReader(function, bind(function, scope=scope))
    return _merged([reader.result(value) for value in values], reader)


def _merged(found: list[ConfiguredOptimizers], reader: _OptimizerReader) -> ConfiguredOptimizers:
    """What several returns have in common."""
    if len({item.frequencies for item in found}) > 1:
        raise NotPlain("configure_optimizers gives its optimizers a frequency in one return, and none in another")
    counts = {item.count for item in found}
    most = [item.most for item in found if item.most is not None]
    same = len({item.schedules for item in found}) == 1 and all(item.fixed for item in found)
    every = tuple(dict.fromkeys(schedule for item in found for schedule in item.schedules))
    return ConfiguredOptimizers(
        counts.pop() if len(counts) == 1 else None,
        max(most) if len(most) == len(found) else None,
        found[0].schedules if same else every,
        same,
        found[0].frequencies,
        tuple(dict.fromkeys(reader.doubts)),
    )


class _OptimizerReader:
    """Makes optimizers and schedulers out of what the names of a function stand for."""

    def __init__(self, function: Function, scope: Scope) -> None:
        self.scope = scope
        self.doubts: list[str] = []
        self.names = Bindings(function)

    def result(self, node: ast.expr) -> ConfiguredOptimizers:
        """What one return gives."""
        held = self.names.items(node)
        if held is None:
            choices = self.names.choices(node)
            if len(choices) != 1:
                return _merged([self.result(choice) for choice in choices], self)
            fields = self.fields(choices[0])
            if fields:
                return self._from_dicts([fields], True, True)
            found = self._from_optimizers(Items((choices[0],)))
            if self.doubts and not _is_class(choices[0]):
                raise NotPlain(
                    f"configure_optimizers returns the result of `{_short(choices[0])}`, which fixer cannot follow"
                )
            return found
        if len(held.items) == 2 and held.fixed and (optimizers := self.names.items(held.items[0])) is not None:
            return self._from_pair(optimizers, held.items[1])
        every = [[self.fields(choice) for choice in self.names.choices(item)] for item in held.items]
        dicts = [fields for choices in every for fields in choices if fields is not None]
        if not dicts:
            known = len(self.doubts)
            found = self._from_optimizers(held)
            if len(held.items) == 2 and len(self.doubts) > known + 1:
                raise NotPlain("configure_optimizers returns two things, which may be optimizers or lists")
            return found
        if any(len(choices) != 1 or choices[0] is None for choices in every):
            raise NotPlain("configure_optimizers returns optimizers and dicts of them together")
        return self._from_dicts(dicts, held.fixed, held.bound)

    def _from_optimizers(self, held: Items) -> ConfiguredOptimizers:
        for item in held.items:
            self.optimizer(item)
        return ConfiguredOptimizers(held.count, held.most)

    def _from_pair(self, optimizers: Items, schedulers: ast.expr) -> ConfiguredOptimizers:
        found = self._from_optimizers(optimizers)
        held = self.names.items(schedulers) or Items((schedulers,))
        schedules = tuple(self.schedule(item) for item in held.items)
        return replace(found, schedules=schedules, fixed=held.fixed)

    def _from_dicts(self, every: list[dict[str, ast.expr]], fixed: bool, bound: bool) -> ConfiguredOptimizers:
        schedules = []
        for fields in every:
            if "optimizer" not in fields or set(fields) - OPTIMIZER_KEYS:
                raise NotPlain("configure_optimizers returns a dict with other keys than optimizer and lr_scheduler")
            self.optimizer(fields["optimizer"])
            if "lr_scheduler" in fields:
                outer = fields.get("monitor") if len(every) == 1 else None
                schedules.append(self.schedule(fields["lr_scheduler"], outer))
        frequencies = [fields["frequency"] for fields in every if "frequency" in fields]
        if len(every) == 1 and fixed:
            frequencies = []
        if frequencies and not fixed:
            raise NotPlain(
                "configure_optimizers gives its optimizers a frequency, and fixer cannot tell how many it makes"
            )
        if frequencies and len(frequencies) != len(every):
            raise NotPlain("configure_optimizers gives some of its optimizers a frequency, and others none")
        counted = Items(tuple(fields["optimizer"] for fields in every), fixed, bound)
        texts = tuple(self.own(value) for value in frequencies)
        return ConfiguredOptimizers(counted.count, counted.most, tuple(schedules), fixed, texts)

    def fields(self, node: ast.expr) -> dict[str, ast.expr] | None:
        """The items of a dict, None where the node is none."""
        if isinstance(node, ast.Dict):
            if not all(isinstance(key, ast.Constant) for key in node.keys):
                raise NotPlain("configure_optimizers returns a dict whose keys are not all literals")
            return {str(key.value): value for key, value in zip(node.keys, node.values, strict=True)}  # type: ignore[union-attr]
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "dict":
            if node.args or not all(keyword.arg for keyword in node.keywords):
                raise NotPlain("configure_optimizers returns a dict whose keys are not all literals")
            return {str(keyword.arg): keyword.value for keyword in node.keywords}
        return None

    def optimizer(self, node: ast.expr) -> None:
        """Raises NotPlain where an element is no optimizer, or one that needs a closure."""
        for choice in self.names.choices(node):
            name = self.scope.resolve(choice.func) if isinstance(choice, ast.Call) else None
            classes = built_here(self.scope, choice) or {name or ""}
            if closing := [last for each in sorted(classes) if (last := each.rpartition(".")[2]) in CLOSURE]:
                raise NotPlain(f"{closing[0]} needs a closure, which manual optimization does not give it")
            if isinstance(choice, ast.Constant | ast.Dict | ast.List | ast.Tuple):
                raise NotPlain("configure_optimizers returns something that is not an optimizer")
            if not all(each.startswith(OPTIMIZERS) for each in classes) and not self._unbound(choice):
                self.doubts.append(f"fixer assumes that `{_short(choice)}` builds an optimizer that needs no closure")

    def _unbound(self, node: ast.expr) -> bool:
        """Whether a call's name is nowhere bound, so that it fails where it stands."""
        function = node.func if isinstance(node, ast.Call) else node
        if not isinstance(function, ast.Name) or hasattr(builtins, function.id):
            return False
        scope: Scope | None = self.scope
        while scope is not None:
            if function.id in scope.bindings or scope.stars:
                return False
            scope = scope.parent
        return True

    def schedule(self, node: ast.expr, monitor: ast.expr | None = None) -> Schedule:
        """How one scheduler is stepped. `monitor` is given where it stands beside it."""
        found = {self._schedule(choice, monitor) for choice in self.names.choices(node)}
        if len(found) != 1:
            raise NotPlain("configure_optimizers steps a scheduler in different ways")
        return found.pop()

    def _schedule(self, node: ast.expr, monitor: ast.expr | None) -> Schedule:
        fields = self.fields(node)
        if fields is None:
            return self._stepped(node, {"monitor": monitor} if monitor else {})
        unknown = sorted(set(fields) - SCHEDULER_KEYS)
        if unknown or "scheduler" not in fields:
            raise NotPlain(
                f"the scheduler's `{unknown[0] if unknown else 'dict'}` has no direct equivalent in a manual loop"
            )
        choices = self.names.choices(fields["scheduler"])
        found = {self._stepped(choice, fields) for choice in choices}
        if len(found) != 1:
            raise NotPlain("configure_optimizers steps a scheduler in different ways")
        return found.pop()

    def _stepped(self, node: ast.expr, fields: dict[str, ast.expr]) -> Schedule:
        name = (self.scope.resolve(node.func) if isinstance(node, ast.Call) else None) or ""
        if isinstance(node, ast.Constant):
            raise NotPlain("configure_optimizers may return None for a scheduler")
        interval = self.literal(fields, "interval", "epoch")
        frequency = self.literal(fields, "frequency", 1)
        if interval not in ("step", "epoch"):
            raise NotPlain("the scheduler's interval is not a literal 'step' or 'epoch'")
        if frequency is NotPlain:
            frequency = self.own(fields["frequency"])
        if not isinstance(frequency, int | str) or isinstance(frequency, bool) or frequency in (0, "None"):
            raise NotPlain("the scheduler's frequency is not a number")
        if self.literal(fields, "strict", True) is not True:
            raise NotPlain("the scheduler's monitor is not strict, so that it may be missing")
        plateau = self.literal(fields, "reduce_on_plateau", name.endswith(f".{PLATEAU}"))
        if plateau:
            if interval == "step" or "monitor" not in fields:
                raise NotPlain(f"{PLATEAU} is stepped every few batches, or without a metric")
            return Schedule("epoch", frequency, self.own(fields["monitor"]))
        if not name.startswith(BUILDERS):
            if self._unbound(node):
                return Schedule(interval, frequency)
            if "monitor" in fields:
                raise NotPlain(f"`{_short(node)}` may be a scheduler that is stepped by a metric")
            self.doubts.append(
                f"fixer assumes that `{_short(node)}` builds a scheduler that takes no metric, every {interval}"
            )
        return Schedule(interval, frequency)

    def own(self, node: ast.expr) -> str:
        """The text of an expression, which means the same in another method."""
        text = later(node, self.names, self.scope)
        if text is None:
            raise NotPlain(f"configure_optimizers computes `{_short(node)}`, which the loop needs too")
        return text

    def literal(self, fields: dict[str, ast.expr], key: str, default: object) -> object:
        node = fields.get(key)
        if node is None:
            return default
        choices = self.names.choices(node) if isinstance(node, ast.Name) and node.id in self.names.bound else [node]
        first = choices[0]
        return first.value if len(choices) == 1 and isinstance(first, ast.Constant) else NotPlain


def _is_class(node: ast.expr) -> bool:
    """Whether an expression calls something that is named as classes are, and so gives one object."""
    name = ast.unparse(node.func).rpartition(".")[2] if isinstance(node, ast.Call) else ""
    return name[:1].isupper()


def _short(node: ast.expr) -> str:
    text = ast.unparse(node.func if isinstance(node, ast.Call) else node)
    return text if len(text) <= 60 else f"{text[:57]}..."
