"""How often a LightningModule steps its optimizers in one training step."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.code.nodes import walk
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, is_self_attribute, own_nodes, self_name, uses
from codemods.lightning.facts import Facts
from codemods.lightning.optimization import Optimization, optimization, said_by

LOOPS = (ast.For, ast.While, ast.AsyncFor)
INDEX = "optimizer_idx"
SCHEDULERS = ("lr_schedulers", "lr_scheduler_configs")
"""How code comes to the schedulers of a module, or of a Trainer."""
SCHEDULES = re.compile(r"sched|lr(_|$)|LR|cosine|cycl|decay|anneal|warm", re.IGNORECASE)
"""What schedulers, and what makes them, are called."""
WITH_OPTIMIZER = ("configure_optimizers", "optimizer_step", "lr_scheduler_step")
"""Methods that Lightning calls no more often than the optimizer steps."""


def optimized(facts: Facts, file: PythonFile, item: ClassNode) -> Optimization:
    """How a class of a file is optimized."""
    known = facts.of_class(file, item)
    return optimization(facts, file, known) if known else said_by(file, item) or "automatic"


def stepping(facts: Facts, file: PythonFile, item: ClassNode) -> str | None:
    """Why one batch may be more, or less, than one step of one optimizer; None where it is one under automatic
    optimization, or plainly one under manual."""
    known = facts.of_class(file, item)
    related = [*(facts.ancestry(known) or ()), *facts.subclasses(known)] if known else []
    local = {other.qualname: other for other in file.classes}
    classes = [item, *(local[fact.name] for fact in related if fact.path == file.path and fact.name in local)]
    if any("training_step" in other.methods and _optimizer_index(other.methods["training_step"]) for other in classes):
        return "several optimizers step in one batch, which the count does not know"
    kinds = {fact: optimization(facts, file, fact) for fact in related}
    for fact, kind in kinds.items():
        if kind == "unknown" or (kind == "manual" and fact.path != file.path):
            return f"{fact.name} ({fact.path}) may optimize by hand"
    if "manual" not in {*kinds.values(), optimized(facts, file, item)}:
        return None
    for other in classes:
        step = other.methods.get("training_step")
        if step and (why := _irregular(step)):
            return why
    return None


def _optimizer_index(step: Function) -> bool:
    """Whether a step is told which optimizer it is for, other than by a default that it never reads."""
    names = [argument.arg for argument in step.args.args]
    if INDEX not in names:
        return False
    return names.index(INDEX) < len(names) - len(step.args.defaults) or bool(uses(step, INDEX))


def _irregular(step: Function) -> str | None:
    """Why a manual training_step does not step one optimizer once."""
    optimizers = held_by(step, "optimizers")
    steps = list(steps_of(step, optimizers, "optimizers"))
    if len(optimizers) > 1 or len(steps) > 1:
        return "several optimizers step in one batch, which the count does not know"
    if not steps:
        return "training_step steps the optimizer in code that fixer cannot follow"
    for node in walk(step):
        if isinstance(node, LOOPS) and any(inner is steps[0] for inner in walk(node)):
            return "the optimizer steps in a loop, several times a batch"
        if isinstance(node, ast.If) and any(inner is steps[0] for inner in walk(node)):
            return "the optimizer does not step in every batch"
    return None


def stepped_by_hand(facts: Facts, file: PythonFile, item: ClassNode) -> str | None:
    """Where a class that optimizes automatically, a relative of it or a function of the project steps a scheduler
    itself, other than with the optimizer; None where nothing is seen to."""
    classes = list(_relatives(facts, file, item))
    if any(optimized(facts, where, other) != "automatic" for where, other in classes):
        return None
    for where, other in classes:
        schedulers = _schedulers(other)
        for name, method in other.methods.items():
            asks = any(isinstance(node, ast.Attribute) and node.attr in SCHEDULERS for node in walk(method))
            for node in walk(method) if name not in WITH_OPTIMIZER else ():
                owner = node.func.value if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) else None
                if owner is None or node.func.attr != "step":  # type: ignore[attr-defined]
                    continue
                text = ast.unparse(owner)
                if (
                    text in schedulers
                    or SCHEDULES.search(text.rpartition(".")[2])
                    or (asks and not _is_optimizer(text))
                ):
                    away = "" if where.path == file.path else f"{where.path}, "
                    return f"{name} steps a scheduler itself ({away}line {node.lineno})"  # type: ignore[attr-defined]
    return "a function of the project steps the schedulers of a module" if _stepped_elsewhere(facts) else None


def _is_optimizer(text: str) -> bool:
    return text.rpartition(".")[2].startswith("opt")


def _relatives(facts: Facts, file: PythonFile, item: ClassNode) -> Iterator[tuple[PythonFile, ClassNode]]:
    """A class, its bases in the project and the classes below it, each with its file."""
    yield file, item
    known = facts.of_class(file, item)
    for fact in [*facts.ancestry(known)[1:], *facts.subclasses(known)] if known else []:
        where = file if fact.path == file.path else facts.open(fact.path)
        yield from ((where, other) for other in (where.classes if where else ()) if other.qualname == fact.name)  # type: ignore[misc]


def _schedulers(item: ClassNode) -> set[str]:
    """The attributes that a class keeps its schedulers in."""
    return {
        ast.unparse(target)
        for method in item.methods.values()
        for node in own_nodes(method)
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call)
        for target in node.targets
        if isinstance(target, ast.Attribute) and SCHEDULES.search(ast.unparse(node.value.func).rpartition(".")[2])
    }


def times_scheduled(facts: Facts, file: PythonFile, item: ClassNode) -> str | None:
    """How often a class that optimizes by hand steps each of its schedulers in a batch, as an expression of `self`:
    "1", or what a loop over a range counts to. None where that is not seen, or may be different: a step that can end
    early, a class below with a step of its own, schedulers that are stepped elsewhere."""
    step = item.methods.get("training_step")
    if step is None or optimized(facts, file, item) != "manual" or _has_other_steps(facts, file, item):
        return None
    names = held_by(step, "lr_schedulers")
    calls = list(steps_of(step, names, "lr_schedulers"))
    asked, here = (
        [node for node in nodes if is_self_attribute(node, "lr_schedulers", self_name(step))]
        for nodes in (walk(item.node), own_nodes(step))
    )
    if not calls or len({ast.unparse(call.func) for call in calls}) < len(calls) or len(asked) > len(here):
        return None
    if any("." in name for name in names) or _stepped_elsewhere(facts):
        return None
    if any(isinstance(node, ast.Return) and node is not step.body[-1] for node in own_nodes(step)):
        return None
    times = {_times(item, step, call) for call in calls}
    return times.pop() if len(times) == 1 else None


def _stepped_elsewhere(facts: Facts) -> bool:
    """Whether a function of the project steps the schedulers of a module that is not its own, or of a Trainer."""
    for path in sorted(path for word in SCHEDULERS for path in facts.mentions.get(word.encode(), ())):
        file = facts.open(path)
        functions = [node for node in walk(file.tree) if isinstance(node, Function)] if file else []
        for function in functions:
            nodes = [node for node in walk(function) if isinstance(node, ast.Attribute)]
            others = [node for node in nodes if node.attr in SCHEDULERS and getattr(node.value, "id", "") != "self"]
            if others and any(node.attr == "step" for node in nodes):
                return True
    return False


def _has_other_steps(facts: Facts, file: PythonFile, item: ClassNode) -> bool:
    """Whether a class below one has a training step of its own."""
    known = facts.of_class(file, item)
    below = facts.subclasses(known) if known else ()
    return any("training_step" in fact.methods for fact in below)


def _times(item: ClassNode, step: Function, call: ast.Call) -> str | None:
    """How often a statement of a step runs in a batch."""
    around = [node for node in walk(step) if node is not step and isinstance(node, ast.stmt)]
    around = [node for node in around if any(inner is call for inner in walk(node))]
    loop = around[0] if len(around) == 2 else None
    if len(around) == 1 and isinstance(around[0], ast.Expr):
        return "1"
    if isinstance(loop, ast.For) and not loop.orelse and isinstance(loop.iter, ast.Call):
        name, limits = loop.iter.func, loop.iter.args
        known = len(limits) == 1 and (_is_count(limits[0]) or _is_setting(item, limits[0], self_name(step)))
        leaves = any(isinstance(node, ast.Break | ast.Continue | ast.Return) for node in walk(loop))
        return ast.unparse(limits[0]) if known and not leaves and ast.unparse(name) == "range" else None
    return None


def _is_count(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) is int and node.value > 0


def _is_setting(item: ClassNode, node: ast.expr, me: str) -> bool:
    """Whether an expression is an attribute of the instance, however deep, that no method but the constructor sets."""
    if not isinstance(node, ast.Attribute):
        return False
    texts = {ast.unparse(node)}
    while isinstance(node.value, ast.Attribute):
        node = node.value
        texts.add(ast.unparse(node))
    set_later = (
        isinstance(inner, ast.Attribute) and not isinstance(inner.ctx, ast.Load) and ast.unparse(inner) in texts
        for name, method in item.methods.items()
        if name != "__init__"
        for inner in own_nodes(method)
    )
    return isinstance(node.value, ast.Name) and node.value.id == me and not any(set_later)


def held_by(step: Function, given: str) -> list[str]:
    """The names that hold what `self.optimizers()` or `self.lr_schedulers()` gives."""
    me, found = self_name(step), list[str]()
    for node in (node for node in own_nodes(step) if isinstance(node, ast.Assign)):
        for target in node.targets:
            names = target.elts if isinstance(target, ast.Tuple | ast.List) else [target]
            if _gives(node.value, given, me):
                found += map(ast.unparse, names)
            elif isinstance(node.value, ast.Tuple) and len(names) == len(node.value.elts):
                paired = zip(names, node.value.elts, strict=True)
                found += [ast.unparse(name) for name, value in paired if _gives(value, given, me)]
    return list(dict.fromkeys(found))


def _gives(node: ast.expr, given: str, me: str) -> bool:
    if isinstance(node, ast.Subscript):
        node = node.value
    return isinstance(node, ast.Call) and is_self_attribute(node.func, given, me)


def steps_of(step: Function, names: list[str], given: str) -> Iterator[ast.Call]:
    """The calls of `step()` of some optimizers or schedulers, or of what `self` gives itself."""
    me = self_name(step)
    for node in own_nodes(step):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "step":
            value = node.func.value
            if ast.unparse(value) in names or _gives(value, given, me):
                yield node
