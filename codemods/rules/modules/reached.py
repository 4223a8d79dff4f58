"""The parts of a module's methods that run when Lightning calls some of them, by the constants that they are given."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from codemods.code.conditions import decided
from codemods.code.literals import literal
from codemods.code.nodes import children, walk
from codemods.code.syntax import Function, self_name

Given = Mapping[str, Any]
EVALUATES = {"training": False}
"""What the attributes of a module are while a Trainer tests or predicts."""


@dataclass(frozen=True)
class ReachedMethod:
    """A method with the constants that some of its parameters are, and the method that Lightning calls."""

    name: str
    hook: str
    given: tuple[tuple[str, Any], ...] = ()


def reached(methods: Mapping[str, Function], hooks: frozenset[str]) -> Iterator[ReachedMethod]:
    """The methods that hooks call on their own instance, at any depth."""
    found = [ReachedMethod(name, name) for name in methods if name in hooks]
    for item in found:
        yield item
        own = self_name(methods[item.name])
        for node in running(methods[item.name], dict(item.given)):
            called = _called(node, own) if isinstance(node, ast.Call) else ""
            if called in methods and isinstance(node, ast.Call):
                given = _given(methods[called], node, dict(item.given))
                new = ReachedMethod(called, item.hook, given)
                if all((each.name, each.given) != (called, given) for each in found):
                    found.append(new)


def running(method: Function, given: Given) -> Iterator[ast.AST]:
    """The nodes of a method less those behind a condition that does not hold for what its parameters are."""
    own = self_name(method)
    trains = any(isinstance(node, ast.Attribute) and node.attr == "train" for node in walk(method))
    attributes = {} if trains else {f"{own}.{name}": value for name, value in EVALUATES.items()}
    told = partial(_told, {**given, **attributes})
    stack: list[ast.AST] = [method]
    while stack:
        node = stack.pop()
        yield node
        holds = decided(node.test, told) if isinstance(node, ast.If | ast.IfExp) else None
        parts: list[Any] = children(node)
        if holds is not None and isinstance(node, ast.If | ast.IfExp):
            arm: Any = node.body if holds else node.orelse
            parts = [node.test, *(arm if isinstance(arm, list) else [arm])]
        stack += reversed(parts)


def _called(call: ast.Call, own: str) -> str:
    """The method of the instance that is called, empty for another function."""
    if isinstance(call.func, ast.Name):
        return "forward" if call.func.id == own else ""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    return call.func.attr if isinstance(owner, ast.Name) and owner.id == own else ""  # type: ignore[attr-defined]


def _given(method: Function, call: ast.Call, known: Given) -> tuple[tuple[str, Any], ...]:
    """The parameters of a method that a call, or their default, makes a constant, and the method never binds anew."""
    arguments = [*method.args.posonlyargs, *method.args.args][1 if self_name(method) else 0 :]
    if any(isinstance(item, ast.Starred) for item in call.args) or any(item.arg is None for item in call.keywords):
        return ()
    values: dict[str, ast.expr] = {}
    named = [item.arg for item in arguments]
    if defaults := method.args.defaults:
        values.update(zip(named[-len(defaults) :], defaults[-len(named) :], strict=False))
    only = zip(method.args.kwonlyargs, method.args.kw_defaults, strict=True)
    values.update({item.arg: value for item, value in only if value is not None})
    values.update(zip(named, call.args, strict=False))
    values.update({item.arg: item.value for item in call.keywords if item.arg})
    stored = {node.id for node in walk(method) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    found = {}
    for name, value in values.items():
        told, constant = literal(value)
        if isinstance(value, ast.Name) and value.id in known:
            told, constant = True, known[value.id]
        if told and name not in stored and isinstance(constant, str | int | None):
            found[name] = constant
    return tuple(sorted(found.items()))


def _told(known: Given, node: ast.expr) -> bool | None:
    """Whether a part of a condition holds; None where that is not known."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        (one, left), (other, right) = _value(node.left, known), _value(node.comparators[0], known)
        return _compared(left, node.ops[0], right) if one and other else None
    told, value = _value(node, known)
    return bool(value) if told else None


def _compared(left: Any, operator: ast.cmpop, right: Any) -> bool | None:
    if isinstance(operator, ast.Eq | ast.Is):
        return bool(left == right)
    if isinstance(operator, ast.NotEq | ast.IsNot):
        return bool(left != right)
    if isinstance(operator, ast.In | ast.NotIn) and isinstance(right, list | tuple | set | dict):
        return (left in right) == isinstance(operator, ast.In)
    return None


def _value(node: ast.expr, known: Given) -> tuple[bool, Any]:
    name = ast.unparse(node) if isinstance(node, ast.Name | ast.Attribute) else ""
    return (True, known[name]) if name in known else literal(node)
