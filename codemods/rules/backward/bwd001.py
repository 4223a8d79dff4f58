"""BWD001: backward passes that go around manual_backward under manual optimization."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from codemods.code.calls import method_around
from codemods.code.nodes import walk
from codemods.code.source import CallNode, ClassNode, PythonFile
from codemods.code.syntax import Function, is_self_attribute, self_name
from codemods.lightning.class_family import definitions
from codemods.lightning.facts import CALLBACK, MODULE, ClassFact, Facts
from codemods.rule import Example, Match, NodeEdit, Rule, best_levels
from codemods.rules.backward import callbacks
from codemods.rules.backward.imports import unused
from codemods.rules.backward.names import MethodNames
from codemods.rules.backward.raw import AUTOGRAD, RawBackward, built_by, read_raw
from codemods.rules.backward.training import ROOTS, STEPS, ProjectTraining, collect

CODE = "BWD001"
MESSAGE = "a backward pass under manual optimization does not use manual_backward"
WITH_OPTIMIZER = "manual_backward is given an optimizer, which Lightning 2 uses as the gradient"
UNHEARD = {"on_before_backward", "on_after_backward"}
INITIALIZED = b"amp.initialize"
SCALING = (16, "16", "16-mixed")


def _present(file: PythonFile) -> bool:
    return "backward" in file.text and bool(file.classes)


def _context(collected: Mapping[str, Any]) -> tuple[bytes, ...]:
    manual = any(noted.mode in ("manual", "unknown") for found in collected.values() for noted in found)
    return (b"Trainer", *definitions({"backward", *UNHEARD})) if manual else ()


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    notes = ProjectTraining(facts, CODE)
    by_class: dict[ast.AST, list[tuple[CallNode, Function]]] = {}
    for call in file.calls_near(["backward"]):
        function = call.node.func
        if isinstance(function, ast.Attribute) and function.attr in ("backward", "manual_backward"):
            place = method_around(call)
            if place:
                by_class.setdefault(place[0], []).append((call, place[1]))
    for item in file.classes:
        fact = notes.fact(file, item) if item.node in by_class else None
        if fact and (facts.kind(fact) in (MODULE, None) or _is_mixed_in(facts, fact)):
            yield from _class_matches(file, notes, item, fact, by_class[item.node])
        elif fact and facts.kind(fact) == CALLBACK:
            for call, method in by_class[item.node]:
                yield from callbacks.match(file, notes, call, method)


def _is_mixed_in(facts: Facts, fact: ClassFact) -> bool:
    """Whether the class is no LightningModule by itself, but a part of one."""
    return any(facts.kind(other) == MODULE for other in facts.subclasses(fact))


def _class_matches(
    file: PythonFile, notes: ProjectTraining, item: ClassNode, fact: ClassFact, calls: list[tuple[CallNode, Function]]
) -> Iterator[Match]:
    facts = notes.facts
    modes = notes.modes(fact)
    if facts.kind(fact) == "other":
        modes = {notes.mode(other) for other in facts.subclasses(fact)}
    if modes == {"automatic"}:
        if facts.kind(fact) == MODULE:
            yield from _automatic(file, facts, fact, item, notes.reached(fact, STEPS), calls)
        return
    reached = notes.reached(fact, ROOTS) - {"backward"}
    asked = [(call, method) for call, method in calls if method.name in reached or _calls_manual(call)]
    found = [raw for call, method in asked if (raw := _read(call, item, method, fact, facts))]
    found = [raw for each in found if (raw := _unless_own(each, facts, fact))]
    if modes != {"manual"} or facts.kind(fact) != MODULE:
        why = (
            "Its bases cannot be followed to LightningModule."
            if facts.kind(fact) != MODULE
            else "automatic_optimization is not clearly False here and in every subclass."
        )
        bound = [raw for raw in found if not (_is_manual(raw) and facts.kind(fact) == MODULE)]
        known = [replace(raw, level="manual", reason=f"{why} {raw.reason}", change=None) for raw in bound]
        found = [known[bound.index(raw)] if raw in bound else raw for raw in found]
    stepped = _unwrapped_step(file, item, reached)
    scaled = [walk(raw.apex.items[0].context_expr.func) for raw in found if raw.apex]  # type: ignore[attr-defined]
    lost = Counter(name.id for nodes in scaled for name in nodes if isinstance(name, ast.Name))
    yield from (_match(file, raw, item, lost) for raw in _together(_settled(found, facts, stepped)))


def _read(call: CallNode, item: ClassNode, method: Function, fact: ClassFact, facts: Facts) -> RawBackward | None:
    """What to do with a call, given also the rest of its class."""
    if any(isinstance(node, ast.Name) and node.id == "staticmethod" for node in method.decorator_list):
        return (
            None
            if call.node.args
            else RawBackward(call, "manual", "It is in a static method, which has no module to call.")
        )
    names = MethodNames(method)
    raw = read_raw(call, item, method, names)
    if raw is None or raw.change is None:
        return raw
    if names.instance_is_hidden:
        reason = f"`{self_name(method)}` is bound again in this method, and may not be the module here."
        return replace(raw, level="manual", reason=reason, change=None)
    function = call.node.func
    if isinstance(function, ast.Attribute) and is_self_attribute(function, "backward", self_name(method)):
        owner = _overrides(facts, fact)
        if owner:
            reason = (
                f"`backward` is overridden in {owner}: call manual_backward(loss), which calls it with the loss alone."
            )
            return replace(raw, level="manual", reason=reason, change=None)
    read = _reads_gradient(method)
    if read == "input":
        reason = (
            "The gradient of an input is read after it: under mixed precision manual_backward would give it scaled. "
            "torch.autograd.grad(loss, input) gives it alone and leaves the weights' gradients as they are."
        )
        return replace(raw, level="manual", reason=reason, change=None, alone=True)
    if read == "weights" and raw.level == "safe":
        reason = f"{raw.reason} Gradients are read by hand here: under 16-mixed they are scaled from now on."
        return replace(raw, level="unsafe", reason=reason)
    return raw


def _overrides(facts: Facts, fact: ClassFact, method: str = "backward") -> str | None:
    relatives = [*(facts.ancestry(fact) or ()), *facts.subclasses(fact)]
    return next((f"{other.name} ({other.path})" for other in relatives if method in other.methods), None)


def _unless_own(raw: RawBackward, facts: Facts, fact: ClassFact) -> RawBackward | None:
    """What to do with a call of `manual_backward` where a class of the project takes what it is given; None where that
    is the method itself."""
    if not _is_manual(raw):
        return raw
    if _overrides(facts, fact, "manual_backward"):
        return None
    if owner := _overrides(facts, fact):
        reason = f"Not rewritten: `backward` is overridden in {owner}, which Lightning 2 gives the optimizer."
        return replace(raw, level="manual", reason=reason, change=None)
    return raw


def _reads_gradient(method: Function) -> str | None:
    """Whether a method reads `.grad` of something that it asks a gradient for (`input`), or of anything else."""
    read = {
        ast.dump(node.value)
        for node in walk(method)
        if isinstance(node, ast.Attribute)
        and node.attr == "grad"
        and isinstance(node.ctx, ast.Load)
        and not (isinstance(node.value, ast.Attribute) and node.value.attr == "autograd")
        and not (isinstance(node.value, ast.Name) and node.value.id in ("autograd", "torch"))
    }
    if not read:
        return None
    asked = {
        ast.dump(node.value).replace("Store()", "Load()")
        for node in walk(method)
        if isinstance(node, ast.Attribute)
        and (
            node.attr in ("requires_grad_", "retain_grad")
            or (node.attr == "requires_grad" and isinstance(node.ctx, ast.Store))
        )
    }
    for node in walk(method):
        if isinstance(node, ast.Assign) and any(
            isinstance(inner, ast.Attribute) and inner.attr in ("requires_grad_", "Variable")
            for inner in walk(node.value)
        ):
            asked |= {ast.dump(target).replace("Store()", "Load()") for target in node.targets}
        if isinstance(node, ast.Assign) and any(
            isinstance(inner, ast.keyword) and inner.arg == "requires_grad" for inner in walk(node.value)
        ):
            asked |= {ast.dump(target).replace("Store()", "Load()") for target in node.targets}
    return "input" if read & asked else "weights"


def _settled(found: list[RawBackward], facts: Facts, stepped: int | None) -> Iterator[RawBackward]:
    """The calls of a class, with what Trainers and hooks elsewhere in the project say."""
    heard = _heard(facts)
    scaling = next(
        (
            f"{trainer.path}:{trainer.line}"
            for trainer in facts.trainers
            if (given := trainer.argument("precision")) and given.literal and given.value in SCALING
        ),
        None,
    )
    for raw in found:
        if raw.apex and facts.mentions.get(INITIALIZED):
            reason = (
                f"amp.initialize of apex is called in {min(facts.mentions[INITIALIZED])}: remove that, let the "
                "Trainer scale (precision), and call self.manual_backward(loss) instead."
            )
            yield replace(raw, level="manual", reason=reason, change=None)
        elif raw.own_scaler and scaling:
            reason = (
                f"The Trainer at {scaling} scales the loss too: take the module's own GradScaler out, with its step "
                "and update, and call self.manual_backward(loss)."
            )
            yield replace(raw, level="manual", reason=reason, change=None)
        elif stepped and raw.change and not _is_manual(raw) and not raw.own_scaler:
            reason = (
                f"The step in line {stepped} is that of a plain torch optimizer, which does not unscale the gradients: "
                "under 16-mixed take it from self.optimizers() too."
            )
            if scaling:
                yield replace(raw, level="manual", reason=f"Not rewritten: {reason}", change=None)
            else:
                yield replace(raw, level="unsafe", reason=f"{raw.reason} {reason}")
        elif raw.level == "safe" and heard and not _is_manual(raw):
            yield replace(raw, level="unsafe", reason=f"{raw.reason} It calls {heard}, which was not called before.")
        else:
            yield raw


def _unwrapped_step(file: PythonFile, item: ClassNode, reached: frozenset[str]) -> int | None:
    """The line of a step that Lightning has no part in: of a torch optimizer that the module keeps itself, or got
    by `optimizers(use_pl_optimizer=False)`."""
    for call in file.calls_near(("step",)):
        place = method_around(call)
        function = call.node.func
        if place is None or place[0] is not item.node or place[1].name not in reached or call.node.args:
            continue
        if isinstance(function, ast.Attribute) and function.attr == "step":
            built = built_by(function.value, item, place[1], MethodNames(place[1]), call.scope)
            plain = any(
                name.startswith("torch.optim.") and not name.startswith("torch.optim.lr_scheduler.") for name in built
            )
            if plain or _is_unwrapped(function.value, MethodNames(place[1])):
                return call.node.lineno
    return None


def _is_unwrapped(node: ast.expr, names: MethodNames) -> bool:
    if isinstance(node, ast.Attribute):
        return node.attr == "optimizer" and names.is_optimizer(node.value)
    bound = names.bound.get(node.id, []) if isinstance(node, ast.Name) else []
    return any(
        isinstance(inner, ast.keyword) and inner.arg == "use_pl_optimizer" and names.is_optimizer(item.value)
        for item in bound
        for inner in walk(item.value)
        if not (isinstance(inner, ast.keyword) and isinstance(inner.value, ast.Constant) and inner.value.value is True)
    )


def _heard(facts: Facts) -> str | None:
    for other in facts.classes():
        hooks = sorted(other.methods & UNHEARD)
        if hooks and facts.kind(other) in (CALLBACK, MODULE, None):
            return f"{hooks[0]} of {other.name} ({other.path})"
    return None


def _together(found: Iterator[RawBackward]) -> list[RawBackward]:
    """A class is rewritten whole or not at all, and at the level of its least certain place."""
    every = list(found)
    bound = [raw for raw in every if not raw.alone]
    stuck = next((raw for raw in bound if raw.change is None), None)
    unsafe = next((raw for raw in bound if raw.level == "unsafe"), None)
    if stuck:
        why = f"Not rewritten, since line {stuck.call.node.lineno} of the same class is not:"
        return [
            raw
            if raw.alone or raw.change is None
            else replace(raw, level="manual", reason=f"{why} {stuck.reason}", change=None)
            for raw in every
        ]
    if unsafe:
        return [replace(raw, level="unsafe") if raw.level == "safe" else raw for raw in every]
    return every


def _match(file: PythonFile, raw: RawBackward, item: ClassNode, lost: Counter[str]) -> Match:
    """`lost` counts the uses of apex that go with all of them, so that the last edit takes out its import."""
    message = WITH_OPTIMIZER if _is_manual(raw) else MESSAGE
    edits: tuple[NodeEdit, ...] = (NodeEdit(raw.apex or raw.call.node, raw.change),) if raw.change else ()
    if raw.apex and raw.change:
        edits += tuple(unused(file, lost))
    unit = f"{file.path}:{item.qualname}" if raw.change else ""
    return Match(file.span(raw.call.node), message, raw.level, raw.reason, edits=edits, unit=unit)


def _is_manual(raw: RawBackward) -> bool:
    return _calls_manual(raw.call)


def _calls_manual(call: CallNode) -> bool:
    """Whether a call is of `manual_backward`, which is judged wherever it stands."""
    return isinstance(call.node.func, ast.Attribute) and call.node.func.attr == "manual_backward"


def _automatic(
    file: PythonFile,
    facts: Facts,
    fact: ClassFact,
    item: ClassNode,
    reached: frozenset[str],
    calls: list[tuple[CallNode, Function]],
) -> Iterator[Match]:
    """A backward pass in a training_step whose loss Lightning takes: its gradient is zeroed before it is used."""
    methods = [method for name, method in item.methods.items() if name in reached and name != "backward"]
    for call, method in calls:
        read = read_raw(call, item, method, MethodNames(method)) if _calls_manual(call) else None
        raw = _unless_own(read, facts, fact) if read else None
        if raw:
            yield _match(file, raw, item, Counter())
    if any(_reads_gradient(method) or _steps(method) for method in methods):
        return
    for call, method in calls:
        raw = read_raw(call, item, method, MethodNames(method)) if method in methods else None
        if raw and raw.change and call.scope.resolve(call.node.func) != AUTOGRAD and not _is_manual(raw):
            reason = (
                "Not rewritten: Lightning zeroes the gradients after training_step and runs its own backward on the "
                "loss it returns. Remove this call, or set self.automatic_optimization "
                "= False and write the steps yourself."
            )
            yield Match(
                file.span(call.node),
                "a backward pass inside training_step under automatic optimization",
                "manual",
                reason,
            )


def _steps(method: Function) -> bool:
    return any(
        isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "step"
        for node in walk(method)
    )


BEFORE = """\
from lightning.pytorch import LightningModule


class Model(LightningModule):
    def __init__(self, net):
        super().__init__()
        self.automatic_optimization = False
        self.net = net

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        loss = self.net(batch).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
"""
AFTER = BEFORE.replace("loss.backward()", "self.manual_backward(loss)")
SUM = BEFORE.replace("loss.backward()", "(loss + self.penalty(batch)).backward(retain_graph=True)")
SUM_AFTER = BEFORE.replace("loss.backward()", "self.manual_backward(loss + self.penalty(batch), retain_graph=True)")
HOOK = BEFORE.replace("loss.backward()", "self.backward(loss)")
OLD = BEFORE.replace("loss.backward()", "self.manual_backward(loss, optimizer)")
OVERRIDDEN = AFTER + "\n    def backward(self, loss, *args, **kwargs):\n        loss.backward(*args, **kwargs)\n"
PLAIN = BEFORE.replace("(LightningModule)", "(Module)").replace(
    "lightning.pytorch import Lightning", "torch.nn import "
)

RULE = Rule(
    code=CODE,
    name="raw-backward",
    summary="`loss.backward()` under manual optimization becomes `self.manual_backward(loss)`",
    why=(
        "Under manual optimization only `self.manual_backward(loss)` scales the loss for mixed precision and prepares "
        "data parallelism. With `loss.backward()`, `self.backward(loss)` or `torch.autograd.backward(loss)` DDP never "
        "reduces the gradients: the ranks train apart, without any error; under 16-mixed the step fails, since nothing "
        "was scaled. The optimizer as a second argument of `manual_backward` is from before Lightning 1.2 and is "
        "passed on as the gradient today, under automatic optimization too. Gradients of inputs, the `backward` hook, "
        "automatic optimization and Fabric are left alone."
    ),
    fix="safe",
    versions="every Lightning release since 1.2",
    triggers=(b"automatic_optimization", b"backward(", b"def training_step"),
    check=_check,
    rows=partial(best_levels, (("B19", "safe"),)),
    examples=(
        Example(BEFORE, AFTER),
        Example(SUM, SUM_AFTER),
        Example(HOOK, AFTER),
        Example(OLD, AFTER),
        Example(OVERRIDDEN, OVERRIDDEN),
        Example(PLAIN, PLAIN),
    ),
    needs="1.5.0",
    collect=collect,
    context=_context,
    present=_present,
    mentions=(INITIALIZED,),
    references=("https://lightning.ai/docs/pytorch/stable/model/manual_optimization.html",),
)
