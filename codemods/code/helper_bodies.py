"""What a helper does, in the words of the method that calls it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container
from typing import Any, NamedTuple

from codemods.code.names import Names
from codemods.code.nodes import every_node
from codemods.code.syntax import is_super
from codemods.code.tree_copies import (
    BLOCKS,
    DEFINING,
    LOOPS,
    at,
    changed,
    replaced,
    run_at,
    twin,
    with_statements,
)

LEAVING = (ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal, ast.Lambda, ast.Import, ast.ImportFrom)
Called = Callable[[ast.Call], list[ast.expr] | None]
"""What a call gives a helper in order, the object whose method it is first; None where it calls another."""


def can_stand_elsewhere(
    helper: ast.FunctionDef, returning: bool = False, beside: bool = False, local: Container[str] = ()
) -> bool:
    """Whether a function's statements do the same in another; with `returning` where the other gives back what it
    does, with any number of `return`, with `beside` where the other is a method of the same class. Defaults are
    constants, or names that are `local` to the other and stand for one thing in it."""
    arguments = helper.args
    if helper.decorator_list or arguments.vararg or arguments.kwarg:
        return False
    if not all(isinstance(item, ast.Constant) or getattr(item, "id", None) in local for item in _defaults(helper)):
        return False
    every = [item for statement in helper.body for item in every_node(statement)]
    leaving = (ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal) if returning else LEAVING
    if any(isinstance(item, leaving if returning else (*leaving, *DEFINING)) for item in every):
        return False
    above = sum(isinstance(item, ast.Name) and item.id == "super" for item in every)
    if above and not (beside and above == sum(map(is_super, every)) and not any(map(_has_scope, every))):
        return False
    left = [item for item in every if isinstance(item, ast.Return)]
    return returning or not left or (len(left) == 1 and helper.body[-1] is left[0] and left[0].value is not None)


def _has_scope(node: ast.AST) -> bool:
    return isinstance(node, (*DEFINING, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp))


def _defaults(helper: ast.FunctionDef) -> list[ast.expr]:
    return [*helper.args.defaults, *(item for item in helper.args.kw_defaults if item)]


def inlined(method: Any, helper: ast.FunctionDef, given: Called, within: bool = False) -> Any:
    """The method with the helper's statements where it calls it; None where it does not, or not plainly. `within` says
    that the helper stands in the method, and so reads its names."""
    own, inner = Names(method), Names(helper)
    if own.open or inner.open or (not within and (inner.said - inner.parameters) & own.stores.keys()):
        return None
    anywhere = within or can_stand_elsewhere(helper)
    taken = frozenset(own.said)
    local = frozenset(own.stores) - own.elsewhere
    caller = _InliningCaller(taken, local, _ended(method, local))
    turning = {id(each) for item in every_node(method) if isinstance(item, LOOPS) for each in every_node(item)}
    found = False

    def block(body: list[ast.stmt], last: bool) -> list[ast.stmt] | None:
        nonlocal found
        for index, statement in enumerate(body):
            call = getattr(statement, "value", None)
            if isinstance(statement, ast.Expr | ast.Assign | ast.Return) and isinstance(call, ast.Call):
                arguments = given(call)
                new = None
                if id(call) in turning and inner.bound:
                    continue  # what it has bound in one turn would be there in the next
                if not anywhere and not isinstance(statement, ast.Return):
                    continue
                by_name = None if arguments is None else arguments_by_name(helper, arguments, call.keywords)
                if by_name is not None:
                    ends = last and statement is body[-1]
                    new = _instead(statement, by_name, _InlinedHelper(helper, inner), caller, ends)
                if new is not None:
                    found = True
                    return [*body[:index], *new, *body[index + 1 :]]
        return None

    def swap(node: ast.AST) -> ast.AST | None:
        fields = {}
        for name in BLOCKS:
            body = getattr(node, name, None)
            if not found and isinstance(body, list) and body and (new := block(body, node is method)) is not None:
                fields[name] = new
        return changed(node, **fields) if fields else None

    made = with_statements(method, swap, deeper=False)
    return made if found else None


def _ended(method: Any, local: frozenset[str]) -> frozenset[str]:
    """The locals of a function that nothing reads behind a `return`: no `finally`, and no function inside it."""
    every = [item for item in every_node(method) if item is not method]
    if any(isinstance(item, ast.Try | ast.With | ast.AsyncWith) for item in every):
        return frozenset()
    inner = (item for item in every if isinstance(item, (*DEFINING, ast.Lambda, ast.GeneratorExp)))
    return local - {each.id for item in inner for each in every_node(item) if isinstance(each, ast.Name)}


class _InlinedHelper(NamedTuple):
    node: ast.FunctionDef
    names: Names


class _InliningCaller(NamedTuple):
    """What calls a helper: the names that are said in it, those that are its own, and those among these that nothing
    reads behind a `return`."""

    said: Container[str]
    local: Container[str]
    ended: Container[str]

    def hands_on(self, given: ast.expr) -> bool:
        """Whether what it gives is the same wherever in the helper it is read."""
        return isinstance(given, ast.Constant) or (isinstance(given, ast.Name) and given.id in self.local)

    def is_done_with(self, name: str, given: ast.expr) -> bool:
        """Whether a parameter that a helper binds anew is called what it is given, which is not read again where it
        gives back what the helper does."""
        return isinstance(given, ast.Name) and given.id == name and name in self.ended


def _read_later(helper: ast.FunctionDef) -> frozenset[str]:
    """The names that a function reads in what may be run behind it."""
    inner = (item for item in every_node(helper) if isinstance(item, (*DEFINING, ast.Lambda, ast.GeneratorExp)))
    every = (each for item in inner if item is not helper for each in every_node(item))
    return frozenset(each.id for each in every if isinstance(each, ast.Name))


def _may_change(given: ast.expr, late: bool, moving: bool) -> bool:
    """Whether a name that is given may stand for something else where it is read."""
    return isinstance(given, ast.Name) and (late or moving)


def arguments_by_name(
    helper: ast.FunctionDef, given: list[ast.expr], keywords: list[ast.keyword]
) -> dict[str, ast.expr] | None:
    """What a call gives each parameter of a helper, in the order in which it is worked out; None where that is not
    plain."""
    arguments = helper.args
    places = [item.arg for item in (*arguments.posonlyargs, *arguments.args)]
    free = {*places[len(arguments.posonlyargs) :], *(item.arg for item in arguments.kwonlyargs)}
    names = [*places[: len(given)], *(item.arg or "" for item in keywords)]
    if len(given) > len(places) or any(isinstance(item, ast.Starred) for item in given):
        return None
    if len(set(names)) < len(names) or any(item.arg not in free for item in keywords):
        return None
    found = dict(zip(names, [*given, *(item.value for item in keywords)], strict=True))
    late = places[len(places) - len(arguments.defaults) :] if arguments.defaults else []
    defaults = [*zip(late, arguments.defaults, strict=True)]
    defaults += [
        (item.arg, value) for item, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if value
    ]
    found = {**found, **{name: value for name, value in defaults if name not in found}}
    return found if len(found) == len(places) + len(arguments.kwonlyargs) else None


def _instead(
    statement: ast.Expr | ast.Assign | ast.Return,
    by_name: dict[str, ast.expr],
    helper: _InlinedHelper,
    caller: _InliningCaller,
    ends: bool,
) -> list[ast.stmt] | None:
    """The helper's statements in the words of the method that calls it; `ends` says that the method does so with the
    statement."""
    rebound = helper.names.bound & by_name.keys()
    if any(name in caller.said for name in helper.names.bound - rebound):
        return None
    ended = {name for name in rebound if isinstance(statement, ast.Return) and caller.is_done_with(name, by_name[name])}
    later = _read_later(helper.node)
    moving = any(isinstance(each, ast.NamedExpr) for item in by_name.values() for each in every_node(item))
    same = {
        name for name, item in by_name.items() if caller.hands_on(item) and not _may_change(item, name in later, moving)
    }
    kept = {name: item for name, item in by_name.items() if name not in ended and (name in rebound or name not in same)}
    first = [_bound(name, item) for name, item in kept.items()]
    if any(name in caller.said for name in kept):
        return None

    def swap(node: ast.AST) -> ast.AST | None:
        plain = isinstance(node, ast.Name) and node.id not in kept and node.id not in ended
        value = by_name.get(node.id) if isinstance(node, ast.Name) and plain else None
        if isinstance(value, ast.Name) and value.id == getattr(node, "id", ""):
            return None
        return at(value, node) if isinstance(value, ast.Name | ast.Constant) else None

    body = [*first, *(replaced(run_at(twin(item), statement), swap) for item in helper.node.body)]
    last = body[-1]
    left = [item for each in body for item in every_node(each) if isinstance(item, ast.Return)]
    if isinstance(statement, ast.Return):
        leaves = isinstance(last, ast.Return | ast.Raise)
        return body if leaves or ends else None
    if not left:
        return body if isinstance(statement, ast.Expr) else None
    if left != [last] or not isinstance(last, ast.Return) or last.value is None:
        return None
    return [*body[:-1], changed(statement, value=last.value)]


def _bound(name: str, value: ast.expr) -> ast.stmt:
    """An assignment of what a helper is given to its parameter."""
    target = ast.copy_location(ast.Name(name, ast.Store()), value)
    return ast.copy_location(ast.Assign(targets=[target], value=value, type_comment=None), value)
