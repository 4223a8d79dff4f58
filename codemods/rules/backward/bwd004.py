"""BWD004: hooks on parameters that are after the accumulated gradient, but run too early for it or by a detour."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from packaging.requirements import InvalidRequirement, Requirement

from codemods.code.nodes import every_node
from codemods.code.source import CallNode, PythonFile
from codemods.finding import Fix
from codemods.lightning.facts import Facts
from codemods.lightning.pins.specifier import admits_from
from codemods.rule import Example, Match, NodeEdit, Rule, touches
from codemods.rules.backward import accumulate_grad_hooks, gradient_stealing
from codemods.rules.backward.accumulate_grad_hooks import NEW, is_parameter, runs_over_parameters
from codemods.rules.backward.device import Device, empty_list, find_devices
from codemods.rules.backward.gradient_stealing import emptied
from codemods.rules.backward.hooks import (
    GradientHook,
    asks_first,
    body_of,
    find_hook,
    followed,
    gives_back,
    may_give_back,
    reads,
    takes_anything,
    use_of,
)
from codemods.rules.backward.hooks_before_accumulation import premature

if TYPE_CHECKING:
    import libcst as cst

CODE = "BWD004"
NEEDED = "2.1.0"
NODE = "a hook is set on a parameter's AccumulateGrad node"
EARLY = "a hook on a parameter runs before the gradient that it reads is accumulated"
BEHIND = "a hook on a parameter steps its optimizer before the gradient is accumulated"
BEHIND_REASON = (
    "A tensor hook runs before accumulation, so each step uses the gradient of the backward pass before; "
    "register_post_accumulate_grad_hook (torch >= 2.1) runs after it."
)
STEPPING = "a hook that steps the optimizer runs on every backward pass, while the loop accumulates gradients"
NODE_REASON = (
    "register_post_accumulate_grad_hook (torch >= 2.1) runs at the same point, needs no dummy graph and nothing to "
    "keep alive."
)
EARLY_REASON = (
    "A tensor hook runs before accumulation, when p.grad is None or that of the backward pass before; "
    "register_post_accumulate_grad_hook (torch >= 2.1) runs after it."
)
STEPPING_REASON = (
    "Not rewritten: the hook runs after each backward pass, so every micro-batch is a step of its own, with a loss "
    "that is divided for the sum. Count the passes in the hook and step on the last one, or do not accumulate."
)


def _present(file: PythonFile) -> bool:
    return "register_hook" in file.text or NEW in file.text


def _collect(file: PythonFile) -> tuple[str, ...] | None:
    """The attributes that keep AccumulateGrad nodes alive in a file."""
    if "next_functions" not in file.text:
        return None
    kept = {
        found.attr
        for function in _functions(file)
        for device in find_devices(function)
        for found in device.lists
        if isinstance(found, ast.Attribute)
    }
    return tuple(sorted(kept)) or None


def _context(collected: Mapping[str, Any]) -> tuple[bytes, ...]:
    return tuple(sorted({name.encode() for names in collected.values() for name in names}))


def _functions(file: PythonFile) -> list[ast.AST]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return [file.tree, *(node for node in every_node(file.tree) if isinstance(node, kinds))]


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    level, why = _torch(facts)
    devices = (
        [device for function in _functions(file) for device in find_devices(function)]
        if ("next_functions" in file.text)
        else []
    )
    yield from _device_matches(file, facts, devices, level, why)
    for call in file.calls:
        function = call.node.func
        if not isinstance(function, ast.Attribute) or len(call.node.args) != 1:
            continue
        if function.attr == "register_hook":
            yield from _tensor_hook(file, call, function.value, level, why)
        elif function.attr == NEW and _steps(find_hook(call.node.args[0], call, file)) and _accumulates(file):
            yield Match(file.span(call.node), STEPPING, "manual", STEPPING_REASON)


def _torch(facts: Facts) -> tuple[Fix, str]:
    """The best level that the project's requirements on torch allow, and why it is not safe.

    Requirements may be those of an example: one that excludes torch 2.1 decides nothing beside one that admits it.
    One that admits older releases too is raised along with the rewrite.
    """
    found = [pin for pin in map(_requirement, facts.pins) if pin and pin.name == "torch" and str(pin.specifier)]
    late = [pin for pin in found if admits_from(str(pin.specifier), NEEDED)]
    if found and not late:
        return "manual", f"Not rewritten: `{found[0]}` has no {NEW}; raise it to 2.1 first."
    old = next((pin for pin in found if pin not in late), None)
    if old:
        return "unsafe", f"`{old}`, which another requirement contradicts, has no release that has it."
    return "safe", ""


def _requirement(text: str) -> Requirement | None:
    try:
        return Requirement(text)
    except InvalidRequirement:
        return None


def _device_matches(file: PythonFile, facts: Facts, devices: list[Device], level: Fix, why: str) -> Iterator[Match]:
    calls = {call.node: call for call in file.calls}
    appends = [ast.dump(found) for device in devices for found in device.lists]
    plain = {}
    for device in devices:
        if device.calls and not _serves_both(calls[device.calls[0]]):
            plain[device] = _device_refusal(file, facts, device, calls, appends)
    for device, refusal in plain.items():
        stuck = refusal or next((other for other in plain.values() if other), None) if device.lists else refusal
        place = file.span(device.calls[0])
        if stuck or level == "manual":
            yield Match(place, NODE, "manual", f"Not rewritten: {stuck}. {NODE_REASON}" if stuck else why)
            continue
        edits = [NodeEdit(call, partial(_registered, parameter=ast.unparse(device.parameter))) for call in device.calls]
        edits += [NodeEdit(node, _removed) for node in (*device.made, *device.kept)]
        for found in device.lists:
            made = empty_list(file, found, appends.count(ast.dump(found)))
            if made and all(edit.node is not made for edit in edits):
                edits.append(NodeEdit(made, _removed))
        yield Match(place, NODE, level, f"{NODE_REASON} {why}".strip(), edits=tuple(edits), unit=file.path)


def _serves_both(call: CallNode) -> bool:
    """Whether the function around a registration also knows the new one, for a newer torch."""
    return (
        any(
            (isinstance(node, ast.Attribute) and node.attr == NEW)
            or (isinstance(node, ast.Constant) and node.value == NEW)
            for node in every_node(call.within[-1])
        )
        if call.within
        else False
    )


def _device_refusal(
    file: PythonFile, facts: Facts, device: Device, calls: Mapping[ast.Call, CallNode], appends: list[str]
) -> str | None:
    if device.stray:
        return "the node is used in another way too"
    for call in device.calls:
        hook = find_hook(call.args[0], calls[call], file)
        if hook is None or not takes_anything(hook):
            return "what is registered may use its arguments, and the new hook gets the parameter"
    for found in device.lists:
        if empty_list(file, found, appends.count(ast.dump(found))) is None:
            return f"`{ast.unparse(found)}`, which keeps the nodes, is used elsewhere in the file"
        if isinstance(found, ast.Attribute):
            others = facts.mentions.get(found.attr.encode(), frozenset()) - {file.path}
            if others:
                return f"`{found.attr}`, which keeps the nodes, is named in {min(others)}"
    return None


def _tensor_hook(file: PythonFile, call: CallNode, receiver: ast.expr, level: Fix, why: str) -> Iterator[Match]:
    hook = find_hook(call.node.args[0], call, file)
    if hook is None:
        return
    found = list(_followed(file, call, hook, receiver, level, why))
    yield from found
    told = None if found else premature(file, call, hook, receiver)
    if told:
        yield Match(file.span(call.node), told[0], "manual", told[1])


def _followed(
    file: PythonFile, call: CallNode, hook: GradientHook, receiver: ast.expr, level: Fix, why: str
) -> Iterator[Match]:
    """Hooks of which it is plain what they do with the parameter that they are set on."""
    left = hook.parameters()
    if hook.through == "" and left and left[0] == "self":
        left = left[1:]
    empty = emptied(hook, left[0]) if left else None
    if empty:
        yield _taking(file, call, hook, empty, level, why)
        return
    if not isinstance(receiver, ast.Name) or not is_parameter(receiver.id, call, file):
        return
    seen = [followed(hook, name, call, file) for name in hook.stands_for(receiver.id)]
    known = [each for each in seen if use_of(each)]
    if not known or not left:
        return
    steps = any(use_of(each) == "steps" for each in known)
    if reads(hook.function, left[0]) or gives_back(hook.function):
        if steps:
            reason = f"Not rewritten: it reads what it gets, or gives it back. {BEHIND_REASON}"
            yield Match(file.span(call.node), BEHIND, "manual", reason)
        return
    own = hook.default_for(receiver.id)
    late = hook.through == "" and own is None and runs_over_parameters(receiver.id, call)
    found = accumulate_grad_hooks.edits(file, call, hook, own or (receiver.id if late else "_"))
    message, told = (BEHIND, BEHIND_REASON) if steps else (EARLY, EARLY_REASON)
    if level == "manual" or isinstance(found, str):
        reason = why or f"Not rewritten: {found}. {told} It gets the parameter."
        yield Match(file.span(call.node), message, "manual", reason)
        return
    if late and level == "safe":
        level, why = "unsafe", f"Until now every hook read the gradient of the loop's last `{receiver.id}`."
    elif level == "safe" and (steps or any(asks_first(*each) for each in known[0])):
        looks = "steps" if steps else "looks whether there is a gradient"
        level, why = "unsafe", f"The hook {looks}, so it ran, one backward pass late."
    elif level == "safe" and (given := may_give_back(hook, call, file)) is not None:
        level, why = "unsafe", f"fixer assumes that `{ast.unparse(given)}` gives None, as such a hook has to."
    yield Match(file.span(call.node), message, level, f"{told} {why}".strip(), edits=found)


def _taking(file: PythonFile, call: CallNode, hook: GradientHook, empty: str, level: Fix, why: str) -> Match:
    place = file.span(call.node)
    found = gradient_stealing.edits(file, call, hook, empty)
    if level == "manual" or isinstance(found, str):
        reason = f"Not rewritten: {found}. {gradient_stealing.ADVICE}" if isinstance(found, str) else why
        return Match(place, gradient_stealing.MESSAGE, "manual", reason)
    doubt = "The same as long as p.grad is None before the pass, and no other file looks at p.grad after it."
    return Match(
        place, gradient_stealing.MESSAGE, "unsafe", f"{gradient_stealing.ADVICE} {doubt} {why}".strip(), edits=found
    )


def _steps(hook: GradientHook | None) -> bool:
    return hook is not None and any(
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "step"
        and not node.args
        for node in body_of(hook.function)
    )


def _accumulates(file: PythonFile) -> bool:
    """Whether a file divides by what it also counts modulo in a condition, and goes backward."""
    nodes = list(every_node(file.tree))
    divided = {ast.dump(node.right) for node in nodes if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div)}
    counted = {
        ast.dump(inner.right)
        for node in nodes
        if isinstance(node, ast.If)
        for inner in every_node(node.test)
        if isinstance(inner, ast.BinOp) and isinstance(inner.op, ast.Mod)
    }
    return bool(divided & counted) and bool(file.attributes("backward"))


@touches("whole")
def _removed(node: Any) -> cst.RemovalSentinel:
    import libcst as cst

    return cst.RemoveFromParent()


def _registered(node: cst.Call, parameter: str) -> cst.Call:
    import libcst as cst

    return node.with_changes(func=cst.Attribute(cst.parse_expression(parameter), cst.Name(NEW)))


BEFORE = """\
class Reducer:
    def __init__(self, module, reduce):
        self.module, self.reduce = module, reduce
        self.grad_accs = []
        for p in module.parameters():
            if p.requires_grad:
                p_tmp = p.expand_as(p)
                grad_acc = p_tmp.grad_fn.next_functions[0][0]
                grad_acc.register_hook(self.make_hook(p))
                self.grad_accs.append(grad_acc)

    def make_hook(self, p):
        def hook(*unused):
            self.reduce(p.grad)

        return hook
"""
AFTER = """\
class Reducer:
    def __init__(self, module, reduce):
        self.module, self.reduce = module, reduce
        for p in module.parameters():
            if p.requires_grad:
                p.register_post_accumulate_grad_hook(self.make_hook(p))

    def make_hook(self, p):
        def hook(*unused):
            self.reduce(p.grad)

        return hook
"""
EARLY_BEFORE = """\
import math
from functools import partial


class Reducer:
    def attach(self, module):
        for p in module.parameters():
            p.register_hook(partial(self.reduce, p))

    def reduce(self, p, grad):
        self.sums[p] += math.log(p.grad.norm())
"""
EARLY_AFTER = (
    EARLY_BEFORE.replace("register_hook(partial(self.reduce, p))", f"{NEW}(self.reduce)")
    .replace("(self, p, grad)", "(self, p)")
    .replace("from functools import partial\n", "")
)
MASK = """\
def freeze(module, mask):
    for p in module.parameters():
        p.register_hook(lambda grad: grad * mask)
"""

RULE = Rule(
    code=CODE,
    name="gradient-hooks",
    summary="hooks after the accumulated gradient become `register_post_accumulate_grad_hook`",
    why=(
        "A hook that `Tensor.register_hook` sets on a parameter gets the incoming gradient before it is accumulated: "
        "what it reads in `p.grad` is None, or that of the backward pass before. The usual detour is a hook on the "
        "parameter's AccumulateGrad node, found through a dummy graph, which runs after accumulation as long as "
        "something keeps the node alive. torch 2.1 has register_post_accumulate_grad_hook for both; it gets the "
        "parameter and returns nothing. Hooks that read, mask, clip or return the incoming gradient, and hooks on "
        "activations, are left alone."
    ),
    fix="safe",
    versions="torch 2.1 and later",
    torch=NEEDED,
    triggers=(b"register_hook", NEW.encode()),
    check=_check,
    examples=(Example(BEFORE, AFTER), Example(EARLY_BEFORE, EARLY_AFTER), Example(MASK, MASK)),
    collect=_collect,
    context=_context,
    present=_present,
    references=(
        "https://docs.pytorch.org/docs/stable/generated/torch.Tensor.register_post_accumulate_grad_hook.html",
        "https://github.com/hpcaitech/ColossalAI/issues/5601",
    ),
)
