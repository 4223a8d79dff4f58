"""Attributes of Lightning's objects that are gone, or that cannot be set any more."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator

from benchmarks.finishing import installed
from benchmarks.finishing.files import File, Violation
from benchmarks.finishing.program import Class, Program, is_super
from benchmarks.finishing.scopes import Function, Scope

READ_BY_OLD = {"LightningModule": frozenset({"truncated_bptt_steps"})}
"""What a project set on its own class for Lightning 1.x to read."""
LOOPS = ("fit_loop", "validate_loop", "test_loop", "predict_loop")


def attributes(program: Program, file: File) -> Iterator[Violation]:
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Attribute):
            scope = program.scopes[node]
            for found in _attribute(program, node, scope):
                if not _asked(program, node.attr, scope):
                    yield file.violation(node.end_lineno or node.lineno, "attribute", found)
        elif isinstance(node, ast.ClassDef):
            yield from _in_body(program, file, node)


def _attribute(program: Program, node: ast.Attribute, scope: Scope) -> Iterator[str]:
    if is_super(node.value) and scope.owner:
        yield from _behind_super(program, node, program.classes[scope.owner])
        return
    if isinstance(node.value, ast.Attribute) and node.value.attr in LOOPS:
        holder = program.instance(node.value.value, scope)
        loop = getattr(installed.live(), node.value.attr)
        known = holder and "Trainer" in program.family(holder.of) and isinstance(node.ctx, ast.Load)
        if known and not hasattr(loop, node.attr):
            yield f"Trainer.{node.value.attr}.{node.attr}"
        return
    instance = program.instance(node.value, scope)
    if instance is None or program.defines(instance.of, node.attr, isinstance(node.ctx, ast.Store)):
        return
    for each in program.lightning(instance.of)[:1]:
        kind = next((name for name in installed.families(each)), each.__name__)
        if isinstance(node.ctx, ast.Load):
            if installed.gone(each, node.attr) and node.attr not in program.set_from_outside:
                yield f"{kind}.{node.attr}"
        elif _is_read_only(each, node.attr) or (kind == "Trainer" and installed.gone(each, node.attr)):
            yield f"{kind}.{node.attr} = ..."


def _behind_super(program: Program, node: ast.Attribute, owner: Class) -> Iterator[str]:
    behind = program.chain(owner)[1:]
    if any(isinstance(each, Class) and node.attr in _names(each.node) for each in behind) or None in behind:
        return
    for each in (item for item in behind if isinstance(item, type)):
        if not hasattr(each, node.attr) and installed.gone(each, node.attr):
            yield f"super().{node.attr} of {each.__name__}"
            return


def _names(node: ast.ClassDef) -> set[str]:
    return {item.name for item in node.body if isinstance(item, Function)}


def _in_body(program: Program, file: File, node: ast.ClassDef) -> Iterator[Violation]:
    """Settings on the class or on `self` that Lightning 1.x read."""
    family = program.family(program.classes[node])
    read = frozenset().union(*(names for kind, names in READ_BY_OLD.items() if kind in family)) - program.read
    if not read:
        return
    for inner in ast.walk(node):
        for target in inner.targets if isinstance(inner, ast.Assign) else [getattr(inner, "target", None)]:
            name = target.attr if isinstance(target, ast.Attribute) else getattr(target, "id", "")
            on_self = isinstance(target, ast.Attribute) and ast.unparse(target.value) == "self"
            if name in read and (on_self or inner in node.body):
                yield file.violation(inner.lineno, "attribute", f"LightningModule.{name} = ...")


def _is_read_only(item: type, name: str) -> bool:
    found = inspect.getattr_static(item, name, None)
    return isinstance(found, property) and found.fset is None


def _asked(program: Program, name: str, scope: Scope) -> bool:
    """Whether the function asks by `hasattr` whether the attribute is there."""
    where = scope.method or scope.node
    return any(
        isinstance(node, ast.Call)
        and ast.unparse(node.func) in ("hasattr", "getattr")
        and len(node.args) > 1
        and isinstance(node.args[1], ast.Constant)
        and node.args[1].value == name
        for node in ast.walk(where)
    )
