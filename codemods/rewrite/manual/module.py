"""What a class itself has to show before its training step can be written for manual optimization."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from typing import TypeGuard

from codemods.code.nodes import walk
from codemods.code.source import CallNode, ClassNode, PythonFile
from codemods.code.syntax import (
    Function,
    is_plain,
    mentions,
    own_nodes,
    parameters,
    returns,
    self_assignments,
    self_name,
    super_init_index,
    taken_name,
    targets_of,
)
from codemods.lightning.optimization import FLAG, answer, told
from codemods.rewrite.manual.optimizers import NotPlain

STEP_END = "training_step_end"
CALLED = ("toggle_optimizer", "untoggle_optimizer", "optimizers", "manual_backward")
NOT_CARRIED = {
    STEP_END: "it is no longer called",
    "lr_scheduler_step": "overridden, fixer cannot tell its place in a manual loop",
    **dict.fromkeys(CALLED, "overridden, and the loop calls it"),
}
"""Methods that no manual loop can do without a person, and why."""
BEFORE_STEP = "on_before_optimizer_step"


def not_plain(method: Function, named: str = "") -> str:
    """The reason for which a method that is not plain is left: its first decorator by name, or which one it is not."""
    if method.decorator_list:
        return f"{method.name} is decorated with `@{ast.unparse(method.decorator_list[0])}`"
    return f"{method.name} is not an ordinary method{named and f' of {named}'}"


def judge_place(
    file: PythonFile,
    item: ClassNode,
    refused: Mapping[str, str],
    helper: str,
    imports: Iterable[tuple[str, str | None]],
) -> None:
    """Raises NotPlain where the class defines one of the `refused` methods, where there is no place for the method
    `helper` and for `imports`, or where the class cannot be told from another."""
    for hook, why in refused.items():
        if hook in item.methods and not (hook == STEP_END and _calls_its_end(item)):
            raise NotPlain(f"the class defines `{hook}`: {why}")
    if helper in item.methods:
        raise NotPlain(f"the class already has a method `{helper}`")
    taken = taken_name(file.scope.bindings, imports)
    if taken:
        raise NotPlain(f"this file uses the name `{taken}` for something else")
    if sum(other.qualname == item.qualname for other in file.classes) > 1:
        raise NotPlain("the file defines two classes of that name")


def _calls_its_end(item: ClassNode) -> bool:
    """Whether the step of a class hands its result to `training_step_end` itself, as LIT211 makes it."""
    step = item.methods.get("training_step")
    called = (node.func for node in own_nodes(step) if isinstance(node, ast.Call)) if step else ()
    return any(
        isinstance(node, ast.Attribute) and node.attr == STEP_END and ast.unparse(node.value) == "self"
        for node in called
    )


def judge_before_step(item: ClassNode) -> None:
    """Raises NotPlain where clipping has no place at the end of `on_before_optimizer_step`."""
    before = item.methods.get(BEFORE_STEP)
    if before and (not is_plain(before) or not parameters(before) or returns(before)):
        raise NotPlain(f"{not_plain(before)}, so clipping has no place at its end")


def is_manual(file: PythonFile, item: ClassNode) -> bool:
    """Whether the class switches automatic optimization off itself, be it where that is lost."""
    found = answer([told(file, item)])
    return found.kind == "manual" or found.lost


def judge_callers(file: PythonFile, item: ClassNode) -> None:
    """Raises NotPlain where the file calls or names training_step, or sets automatic_optimization of a class to
    something else than True."""
    called = {id(call.node.func) for call in file.calls if isinstance(call.node.func, ast.Attribute)}
    if any(id(node) in called for node in file.attributes("training_step")):
        raise NotPlain("the file calls training_step itself")
    named = mentions(file.tree, "training_step")
    if named:
        raise NotPlain(f"training_step is used by name in line {named[0]}")
    judge_flag(file, item)


def judge_flag(file: PythonFile, item: ClassNode) -> None:
    """Raises NotPlain where automatic_optimization of a class, or of what may be one, is set to something else than
    True, or elsewhere than in a constructor, whose value would be lost."""
    plain = {node for other in file.classes for node in plain_flags(other)}
    of_others = {
        target
        for other in file.classes
        if not _are_related(file, item, other)
        for method in other.methods.values()
        for node in self_assignments(method, FLAG)
        for target in targets_of(node)
    }
    stored = [node.lineno for node in file.attributes(FLAG) if is_set(node) and node not in plain | of_others]
    for line in (*mentions(file.tree, FLAG), *stored):
        raise NotPlain(f"automatic_optimization is set other than to True in __init__, or named, in line {line}")


def _are_related(file: PythonFile, one: ClassNode, other: ClassNode) -> bool:
    """Whether a class of a file, by the names of bases, is or has both of two others among its own, or may become so:
    one speaks of the other, is decorated, or classes are built by `type`."""
    both = {one.node.name, other.node.name}
    spoken = any(
        isinstance(node, ast.Name) and node.id == name
        for item, name in ((one, other.node.name), (other, one.node.name))
        for node in walk(item.node)
    )
    if spoken or one.node.decorator_list or any(map(_is_class_built, file.calls_near(["type"]))):
        return True
    return len(both) == 1 or any(both <= _line(file, item) for item in file.classes)


def _is_class_built(call: CallNode) -> bool:
    return len(call.node.args) == 3 and ast.unparse(call.node.func).rpartition(".")[2] == "type"


def _line(file: PythonFile, item: ClassNode) -> set[str]:
    """The last names of a class and of its bases, as far as the file has these."""
    found: set[str] = set()
    names = [item.node.name]
    while names:
        name = names.pop()
        if name not in found:
            found.add(name)
            bases = (base for each in file.classes if each.node.name == name for base in each.node.bases)
            names += [inner.rpartition(".")[2] for base in bases if (inner := ast.unparse(base).partition("[")[0])]
    return found


def plain_flags(item: ClassNode) -> set[ast.AST]:
    """Where the constructor of a class sets automatic_optimization to True."""
    init = item.methods.get("__init__")
    return {
        target
        for node in (self_assignments(init, FLAG) if init else ())
        if is_true(node.value)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
    }


def is_true(node: ast.AST | None) -> bool:
    return isinstance(node, ast.Constant) and node.value is True


def is_set(node: ast.AST) -> TypeGuard[ast.Attribute]:
    """Whether a node is an attribute automatic_optimization that gets a value, or is deleted."""
    return isinstance(node, ast.Attribute) and node.attr == FLAG and not isinstance(node.ctx, ast.Load)


def judge_by_hand(step: Function) -> None:
    """Raises NotPlain where a training step goes backward or steps by hand, which Lightning did too."""
    handed = {
        target.id
        for node in own_nodes(step)
        if isinstance(node, ast.Assign) and _hands_out(node.value)
        for each in node.targets
        for target in walk(each)
        if isinstance(target, ast.Name)
    }
    for node in own_nodes(step):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        owner = node.func.value
        stepped = (isinstance(owner, ast.Name) and owner.id in handed) or _hands_out(owner)
        if node.func.attr == "manual_backward" or (node.func.attr == "step" and stepped):
            raise NotPlain(
                f"training_step optimizes by hand in line {node.lineno}, while Lightning optimized what it returns"
            )


def _hands_out(node: ast.expr) -> bool:
    """Whether an expression is `self.optimizers()`, or one of what it gives."""
    node = node.value if isinstance(node, ast.Subscript) else node
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "optimizers"


def judge_constructor(item: ClassNode) -> None:
    """Raises NotPlain where there is no place in `__init__` for the flag."""
    init = item.methods.get("__init__")
    if init:
        judge_order(init)
        if not self_assignments(init, FLAG) and super_init_index(init) is None:
            raise NotPlain("__init__ has no simple `super().__init__(...)` after which the flag could be set")
        if self_name(init) != "self":
            raise NotPlain("__init__ does not call its instance `self`")


def judge_order(init: Function) -> None:
    """Raises NotPlain where a constructor sets the flag before that of a base class does."""
    called = [
        node.lineno
        for node in own_nodes(init)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "__init__"
    ]
    if any(node.lineno < max(called, default=0) for node in self_assignments(init, FLAG)):
        raise NotPlain("automatic_optimization is set before `super().__init__()`, where it is lost")
