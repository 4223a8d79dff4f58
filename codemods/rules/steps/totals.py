"""Where the methods of a class compute the number of steps of a whole training."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TypeGuard

from codemods.code.calls import last_name
from codemods.code.nodes import parents_of, walk
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, own_nodes, returns, self_name
from codemods.rules.steps.modules import reader_of
from codemods.rules.steps.onecycle import one_cycles
from codemods.rules.steps.optimization import SCHEDULES
from codemods.rules.steps.step_count_terms import ROUNDS, Count, Leaf, TermReader

STEP_NAME = re.compile(r"steps?($|_)|iter(ation)?s?$|t_max|t_total", re.IGNORECASE)
TOTAL_NAME = re.compile(r"(total|num_train\w*)_(training_)?steps?$", re.IGNORECASE)
NO_TOTAL = re.compile(r"epoch|warm|batch|val_|eval|test|log_", re.IGNORECASE)
TOTAL_AT = {
    "OneCycleLR": 2,
    "CosineAnnealingLR": 1,
    "PolynomialLR": 1,
    **dict.fromkeys(
        (
            "get_linear_schedule_with_warmup",
            "get_cosine_schedule_with_warmup",
            "get_cosine_with_hard_restarts_schedule_with_warmup",
            "get_polynomial_decay_schedule_with_warmup",
        ),
        2,
    ),
}
"""At which position schedulers of torch and transformers take all steps."""
COMPUTES = (*ROUNDS, "abs", "dict", "max", "min")
TELLS = ("print", "debug", "info", "warn", "warning", "rank_zero_info")
TOTALS = ("num_training_steps", "total_steps", "T_max", "t_total", "total_iters", "first_cycle_steps", "max_iters")
BUILDS = re.compile(r"configure_optimizers|setup|on_(fit|train)_start|.*(sched|optim|step).*", re.IGNORECASE)


@dataclass(frozen=True)
class StepTotal:
    """A count of all steps: the method it stands in, the expression (None where the method is nothing else), and
    the count that it is."""

    item: ClassNode
    function: Function
    node: ast.expr | None
    count: Count
    reader: TermReader

    @property
    def trainer(self) -> str:
        return f"{self_name(self.function)}.trainer"


def places(file: PythonFile) -> tuple[StepTotal, ...]:
    """Every count of all steps in the classes of a file, worked out once."""
    if "totals" not in file.memo:
        file.memo["totals"] = tuple(_places(file))
    found: tuple[StepTotal, ...] = file.memo["totals"]
    return found


def _places(file: PythonFile) -> Iterator[StepTotal]:
    for item in file.classes:
        for function in item.methods.values():
            if not any(isinstance(node, ast.Attribute | ast.Name) for node in own_nodes(function)):
                continue
            reader = reader_of(item, function)
            whole = whole_method(function, reader)
            if whole:
                yield StepTotal(item, function, None, whole, reader)
            elif BUILDS.fullmatch(function.name):
                for node, count in _inline(function, reader):
                    yield StepTotal(item, function, node, count, reader)


def whole_method(function: Function, reader: TermReader) -> Count | None:
    """The count that a method or property returns and does nothing else for."""
    values = [node.value for node in returns(function)]
    if not values or any(value is None for value in values) or not STEP_NAME.search(function.name):
        return None
    if NO_TOTAL.search(function.name) or not all(map(_is_pure, function.body)):
        return None
    counts = [reader.read(value) for value in values if value is not None]
    totals = [count for count in counts if count is not None and count.is_total]
    known = all(count is not None and (count.is_total or count.is_limit) for count in counts)
    return totals[0] if totals and known else None


def _is_pure(node: ast.stmt) -> bool:
    """Whether a statement does no more than compute local values, or fail."""
    if isinstance(node, ast.If):
        return all(map(_is_pure, [*node.body, *node.orelse]))
    if isinstance(node, ast.Assign):
        return all(isinstance(target, ast.Name) for target in node.targets)
    if isinstance(node, ast.AnnAssign):
        return isinstance(node.target, ast.Name)
    if isinstance(node, ast.Expr):
        call = node.value
        loads = isinstance(call, ast.Call) and ast.unparse(call.func).endswith(".reset_train_dataloader")
        return loads or isinstance(call, ast.Constant)
    return isinstance(node, ast.Return | ast.Pass | ast.Raise | ast.Assert)


def _inline(function: Function, reader: TermReader) -> Iterator[tuple[ast.expr, Count]]:
    """The outermost expressions of a method that compute all steps and are kept or handed on as that."""
    parents = parents_of(function)
    for node in _nodes(function):
        whole = isinstance(node, ast.BinOp | ast.Call) or is_told(node, reader)
        if not (whole and isinstance(node, ast.expr)) or _inside_count(node, parents, reader):
            continue
        count = reader.read(node)
        if not count or not (count.is_total or (count.is_epoch and count.under)):
            continue
        if _is_min(node) and not is_limited(node, reader):
            continue
        pattern = STEP_NAME if count.is_total else TOTAL_NAME
        if _serves_as_steps(node, parents, pattern) or (count.is_total and _is_handed_on(function, node, parents)):
            yield node, count
    yield from one_cycles(function, reader)


def _nodes(function: Function) -> Iterator[ast.AST]:
    """The nodes of a method, those of the functions in it too."""
    for node in own_nodes(function):
        yield from walk(node) if isinstance(node, ast.Lambda | Function) else (node,)


def _is_handed_on(function: Function, node: ast.expr, parents: Mapping[ast.AST, ast.AST]) -> bool:
    """Whether a scheduler takes the value for all steps, by position or by a name whatever that is, or a function of
    the step divides by it."""
    if _is_total_argument(node, parents):
        return True
    outer = parents.get(node)
    if isinstance(outer, ast.BinOp) and isinstance(outer.op, ast.Div) and outer.right is node:
        return isinstance(outer.left, ast.Name) and outer.left.id in _parameters_around(node, parents)
    names = {target.id for target in getattr(outer, "targets", ()) if isinstance(target, ast.Name)}
    return any(
        isinstance(use, ast.Name) and use.id in names and _is_total_argument(use, parents) for use in _nodes(function)
    )


def _is_total_argument(node: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> bool:
    outer = parents.get(node)
    if isinstance(outer, ast.keyword):
        return outer.arg in TOTALS
    if not isinstance(outer, ast.Call) or node not in outer.args:
        return False
    name = outer.func.attr if isinstance(outer.func, ast.Attribute) else getattr(outer.func, "id", "")
    return TOTAL_AT.get(name) == outer.args.index(node)


def _parameters_around(node: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> set[str]:
    """The parameters of the function inside a method that a node stands in."""
    outer = parents.get(node)
    while outer is not None and not isinstance(outer, ast.Lambda | Function):
        outer = parents.get(outer)
    within = isinstance(outer, ast.Lambda | Function) and parents.get(outer) is not None
    return {item.arg for item in outer.args.args} if within and isinstance(outer, ast.Lambda | Function) else set()


def limits(file: PythonFile) -> tuple[StepTotal, ...]:
    """Every `trainer.max_steps` that a class of a file takes for the number of all steps, whatever it is, worked out
    once."""
    if "limits" not in file.memo:
        file.memo["limits"] = tuple(_limits(file)) if file.attributes("max_steps") else ()
    found: tuple[StepTotal, ...] = file.memo["limits"]
    return found


def _limits(file: PythonFile) -> Iterator[StepTotal]:
    for item in file.classes:
        for function in item.methods.values():
            reader, parents = reader_of(item, function), parents_of(function)
            read = [node for node in _nodes(function) if _is_limit(node, reader)]
            plain = BUILDS.fullmatch(function.name) and not any(_is_judged(node, parents) for node in read)
            for node in read if plain else ():
                if _serves_as_steps(node, parents, STEP_NAME) or _is_handed_on(function, node, parents):
                    yield StepTotal(item, function, node, Count((Leaf("max_steps", node, "trainer"),)), reader)


def _is_limit(node: ast.AST, reader: TermReader) -> TypeGuard[ast.Attribute]:
    return isinstance(node, ast.Attribute) and node.attr == "max_steps" and reader.is_trainer(node.value)


def _is_judged(node: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> bool:
    """Whether a value is compared, chosen, or put beside others."""
    outer = parents.get(node)
    return isinstance(outer, ast.Compare | ast.BoolOp | ast.IfExp | ast.If | ast.UnaryOp) or (
        isinstance(outer, ast.Call) and _is_min(outer)
    )


def is_told(node: ast.AST, reader: TermReader) -> bool:
    """Whether an expression is `trainer.max_steps` where that was given, and else a count of all steps."""
    if not isinstance(node, ast.IfExp):
        return False
    test, negated = node.test, False
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test, negated = test.operand, True
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        given = _GIVEN.get((type(test.ops[0]), ast.unparse(test.comparators[0])))
        test = test.left
    else:
        given = True
    if given is None or not _is_limit(test, reader):
        return False
    limit, count = (node.body, node.orelse) if given is not negated else (node.orelse, node.body)
    counted = reader.read(count)
    return _is_limit(limit, reader) and counted is not None and counted.is_total


_GIVEN = {
    (ast.Gt, "0"): True, (ast.GtE, "0"): True, (ast.Gt, "-1"): True, (ast.NotEq, "-1"): True, (ast.IsNot, "None"): True,
    (ast.NotEq, "None"): True, (ast.Lt, "0"): False, (ast.LtE, "0"): False, (ast.Eq, "-1"): False,
    (ast.Is, "None"): False, (ast.Eq, "None"): False,
}  # fmt: skip
"""How people ask whether a Trainer was given `max_steps`, and what it means where the answer is yes."""


def _inside_count(node: ast.expr, parents: Mapping[ast.AST, ast.AST], reader: TermReader) -> bool:
    outer = parents.get(node)
    if outer is not None and is_told(outer, reader):
        return True
    if not isinstance(outer, ast.BinOp | ast.Call) or (isinstance(outer, ast.Call) and outer.func is node):
        return False
    count = reader.read(outer)
    return (
        count is not None and (count.is_total or count.is_epoch) and (not _is_min(outer) or is_limited(outer, reader))
    )


def is_limited(node: ast.expr, reader: TermReader) -> bool:
    """Whether an expression is the lesser of `trainer.max_steps` and a count."""
    if not (isinstance(node, ast.Call) and _is_min(node) and len(node.args) == 2 and not node.keywords):
        return False
    counts = [reader.read(item) for item in node.args]
    return ast.unparse(node.func) == "min" and [bool(count and count.is_limit) for count in counts].count(True) == 1


def _is_min(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("min", "max")


def _serves_as_steps(node: ast.expr, parents: Mapping[ast.AST, ast.AST], pattern: re.Pattern[str]) -> bool:
    """Whether the value gets a name that says steps, or is a scheduler's argument of that meaning."""
    outer = parents.get(node)
    while isinstance(outer, ast.BinOp | ast.IfExp) or (isinstance(outer, ast.Call) and _is_min(outer)):
        if isinstance(outer, ast.BinOp):
            return False
        node, outer = outer, parents.get(outer)
    if isinstance(outer, ast.keyword):
        return outer.arg in TOTALS
    targets = _targets(node, parents)
    names = [target.id if isinstance(target, ast.Name) else getattr(target, "attr", "") for target in targets]
    return bool(names) and all(pattern.search(name) and not NO_TOTAL.search(name) for name in names)


def _targets(node: ast.expr, parents: Mapping[ast.AST, ast.AST]) -> list[ast.expr]:
    """What an expression is assigned to, alone or in its place of a tuple."""
    outer = parents.get(node)
    if isinstance(outer, ast.Tuple):
        around = parents.get(outer)
        target = around.targets[0] if isinstance(around, ast.Assign) and around.value is outer else None
        same = isinstance(target, ast.Tuple) and len(target.elts) == len(outer.elts)
        return [target.elts[outer.elts.index(node)]] if same and isinstance(target, ast.Tuple) else []
    if isinstance(outer, ast.Assign):
        return outer.targets
    return [outer.target] if isinstance(outer, ast.AnnAssign | ast.NamedExpr) else []


def uses(file: PythonFile, place: StepTotal, parents: Mapping[ast.AST, ast.AST]) -> list[ast.AST]:
    """The mentions of what a count is kept in, the count itself where it is kept in nothing."""
    if place.node is None:
        return [*file.attributes(place.function.name)]
    target = next(iter(_targets(place.node, parents)), None)
    return [place.node] if target is None else _mentions(file, place, place.function, target)


def _mentions(file: PythonFile, place: StepTotal, function: Function, target: ast.expr) -> list[ast.AST]:
    """The mentions of a name in a method, or of an attribute in the file; not of another class's own."""
    if isinstance(target, ast.Name):
        return [node for node in _nodes(function) if isinstance(node, ast.Name) and node.id == target.id]
    if not isinstance(target, ast.Attribute):
        return [target]
    found = file.attributes(target.attr)
    apart = set[int]()
    for item in file.classes:
        inside = {id(node) for node in walk(item.node)} if item.node is not place.item.node else set()
        own = [node for node in found if id(node) in inside and getattr(node.value, "id", "") == "self"]
        if any(isinstance(node.ctx, ast.Store) for node in own):
            apart |= set(map(id, own))
    return [node for node in found if id(node) not in apart]


def reaches_scheduler(file: PythonFile, place: StepTotal) -> bool:
    """Whether the value is seen to be an argument of something that schedules: itself, or by the name that it gets."""
    if isinstance(place.node, ast.Call) and any(item.arg == "steps_per_epoch" for item in place.node.keywords):
        return True
    parents = parents_of(file.tree)
    return any(_is_scheduled(use, parents) for use in uses(file, place, parents))


def used_otherwise(file: PythonFile, place: StepTotal) -> int | None:
    """The line of the first use of the value that neither ends in something that schedules nor only tells it; None
    where there is none, the place's own where no use does."""
    if not reaches_scheduler(file, place):
        return (place.node or place.function).lineno
    if isinstance(place.node, ast.Call) and any(item.arg == "steps_per_epoch" for item in place.node.keywords):
        return None
    parents = parents_of(file.tree)
    pending, seen = uses(file, place, parents), set[tuple[Function, str]]()
    while pending:
        use = pending.pop(0)
        if not isinstance(getattr(use, "ctx", None), ast.Store) and not _is_scheduled(use, parents):
            targets = _passed_to(use, parents)
            if targets is None:
                return use.lineno  # type: ignore[attr-defined,no-any-return]
            function = outermost_function(use, parents) or place.function
            for target in targets:
                if (key := (function, ast.unparse(target))) not in seen:
                    seen.add(key)
                    pending += _mentions(file, place, function, target)
    return None


def outermost_function(node: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> Function | None:
    """The outermost function that a node stands in."""
    found, outer = None, parents.get(node)
    while outer is not None:
        found, outer = outer if isinstance(outer, Function) else found, parents.get(outer)
    return found


def _passed_to(node: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> list[ast.expr] | None:
    """The names and attributes that get what is made of a value, none where it is only told or compared with a number;
    None where it goes elsewhere."""
    outer = parents.get(node)
    mixed = False
    while isinstance(outer, ast.expr | ast.keyword) and not isinstance(outer, ast.Compare):
        if isinstance(outer, ast.Call) and last_name(outer.func) not in COMPUTES:
            return [] if last_name(outer.func) in TELLS else None
        if isinstance(outer, ast.BinOp):
            mixed = mixed or not isinstance(outer.left if outer.right is node else outer.right, ast.Constant)
        node, outer = outer, parents.get(outer)
    if isinstance(outer, ast.Compare):
        others = [side for side in (outer.left, *outer.comparators) if side is not node]
        return [] if not mixed and all(isinstance(side, ast.Constant) for side in others) else None
    if isinstance(outer, ast.Return):
        while outer is not None and not isinstance(outer, Function):
            outer = parents.get(outer)
        inside = isinstance(outer, Function) and not isinstance(parents.get(outer), ast.ClassDef)
        return [ast.Name(outer.name, ast.Load())] if inside and isinstance(outer, Function) else None
    if isinstance(outer, ast.Assert):
        return []
    targets = outer.targets if isinstance(outer, ast.Assign) else [getattr(outer, "target", None)]
    named = [target for target in targets if isinstance(target, ast.Name | ast.Attribute)]
    return list(named) if len(named) == len(targets) and isinstance(outer, ast.Assign | ast.AnnAssign) else None


def divided_again(file: PythonFile, place: StepTotal) -> int | None:
    """The line in which the value is changed in place, or divided by what Lightning's count knows already; None where
    that is a count of its own, or happens nowhere."""
    parents = parents_of(file.tree)
    others = [other.node for other in places(file) if other.node is not None and other.node is not place.node]
    counted = {id(node) for other in others for node in walk(other)}
    for use in uses(file, place, parents):
        node, outer = use, parents.get(use)
        if isinstance(outer, ast.AugAssign) and outer.target is use:
            return outer.lineno
        while id(use) not in counted and isinstance(outer, ast.BinOp | ast.Call):
            if isinstance(outer, ast.BinOp) and isinstance(outer.op, ast.Div | ast.FloorDiv) and outer.left is node:
                under = place.reader.read(outer.right)
                if under and any(under.all(role) for role in ("accumulate", "devices", "batch_size")):
                    return outer.lineno
            node, outer = outer, parents.get(outer)
    return None


def _is_scheduled(node: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> bool:
    steps = _outwards(node, parents)
    return any(_is_schedule(inner, outer) or getattr(outer, "arg", None) in TOTALS for inner, outer in steps)


def schedule_around(node: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> ast.Call | None:
    """The innermost call of what makes a schedule that a node is given to."""
    steps = _outwards(node, parents)
    return next((outer for inner, outer in steps if isinstance(outer, ast.Call) and _is_schedule(inner, outer)), None)


def _outwards(node: ast.AST, parents: Mapping[ast.AST, ast.AST]) -> Iterator[tuple[ast.AST, ast.expr | ast.keyword]]:
    """Each expression or keyword that a node stands in, with what of it holds the node."""
    outer = parents.get(node)
    while isinstance(outer, ast.expr | ast.keyword):
        yield node, outer
        node, outer = outer, parents.get(outer)


def _is_schedule(node: ast.AST, outer: ast.AST) -> bool:
    if not isinstance(outer, ast.Call) or outer.func is node:
        return False
    return SCHEDULES.search(ast.unparse(outer.func)) is not None
