"""Decorators that change nothing of what they are put on."""

from __future__ import annotations

import ast

from codemods.code.imports import ModuleNames
from codemods.code.nodes import every_node
from codemods.code.tree_copies import changed

NOTES = frozenset({
    "typing.final", "typing.no_type_check", "typing.override", "typing_extensions.final", "typing_extensions.override",
    "overrides.final", "overrides.override", "overrides.overrides", "torch.jit.export", "torch.jit.ignore",
    "torch.jit.unused",
})  # fmt: skip
"""Decorators that note something for a reader, a type checker or a compiler, and give back what they get."""

CALLED = frozenset({"__doc__", "__module__", "__name__", "__qualname__"})
ODD = (ast.Await, ast.Lambda, ast.NamedExpr, ast.Yield, ast.YieldFrom)


class Idle:
    """The decorators of a module that give back what they are put on, or what does the same."""

    def __init__(self, known: ModuleNames) -> None:
        self.known = known
        functions = [item for item in known.tree.body if isinstance(item, ast.FunctionDef)]
        self.same = {item.name for item in functions if _gives_back(item, known) and known.is_fixed(item)}
        self.makers = {item.name for item in functions if _makes(item, known) and known.is_fixed(item)}
        self.notes = any(name in NOTES or name.partition(".")[0] in LIBRARIES for name in known.imported.values())

    def __bool__(self) -> bool:
        return bool(self.same or self.makers or self.notes)

    def has(self, node: ast.expr) -> bool:
        """Whether a decorator is one of them."""
        if isinstance(node, ast.Name) and node.id in self.same:
            return True
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in self.makers:
            return all(map(self.known.is_quiet, [*node.args, *(item.value for item in node.keywords)]))
        return self.known.dotted(node) in NOTES


LIBRARIES = frozenset(name.partition(".")[0] for name in NOTES)


def _makes(node: ast.FunctionDef, known: ModuleNames) -> bool:
    """Whether a function makes such a decorator, and does nothing else."""
    body = _body(node)
    if len(body) != 2 or node.decorator_list or not isinstance(body[0], ast.FunctionDef):
        return False
    inner, last = body[0], body[1]
    back = isinstance(last, ast.Return) and isinstance(last.value, ast.Name) and last.value.id == inner.name
    own = {item.arg for item in every_node(node.args) if isinstance(item, ast.arg)}
    return back and "functools" not in own and _gives_back(inner, known)


def _gives_back(node: ast.FunctionDef, known: ModuleNames) -> bool:
    """Whether a function gives back its one argument, or what does the same, and does nothing else but to note
    something quiet on it."""
    arguments, body = [*node.args.posonlyargs, *node.args.args], _body(node)
    if node.args.vararg or node.args.kwarg or node.args.kwonlyargs or node.decorator_list or len(arguments) != 1:
        return False
    name = arguments[0].arg
    body = [item for item in body[:-1] if not (_is_note(item, name, known) or _says_name(item, name))] + body[-1:]
    if len(body) == 2:
        return _hands_on(body[0], body[1], arguments[0].arg, known)
    value = body[0].value if len(body) == 1 and isinstance(body[0], ast.Return) else None
    return isinstance(value, ast.Name) and value.id == arguments[0].arg


def _says_name(node: ast.stmt, name: str) -> bool:
    """Whether a statement asks for nothing of what goes by a name but what this is called."""
    every = list(every_node(node))
    told = {id(item.value) for item in every if isinstance(item, ast.Attribute) and item.attr in CALLED}
    plain = isinstance(node, ast.Expr | ast.Assign | ast.AugAssign) and not any(isinstance(item, ODD) for item in every)
    return plain and all(id(item) in told for item in every if getattr(item, "id", "") == name)


def _is_note(node: ast.stmt, name: str, known: ModuleNames) -> bool:
    """Whether a statement sets an attribute of what goes by a name, of which the module reads none."""
    target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
    own = isinstance(target, ast.Attribute) and getattr(target.value, "id", "") == name
    read = isinstance(target, ast.Attribute) and (
        target.attr in known.said
        or target.attr.startswith("__")
        or any(item.attr == target.attr and isinstance(item.ctx, ast.Load) for item in known.nodes[ast.Attribute])
    )
    return own and not read and isinstance(node, ast.Assign) and known.is_quiet(node.value)


def _body(node: ast.FunctionDef) -> list[ast.stmt]:
    return [item for item in node.body if not (isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant))]


def _hands_on(inner: ast.stmt, last: ast.stmt, name: str, known: ModuleNames) -> bool:
    """Whether a function gives back one that wraps its argument and hands everything on to it."""
    if not isinstance(inner, ast.FunctionDef) or not isinstance(last, ast.Return):
        return False
    body, given = _body(inner), inner.args
    if len(body) != 1 or len(inner.decorator_list) != 1 or not (given.vararg and given.kwarg) or given.kwonlyargs:
        return False
    wraps, call = inner.decorator_list[0], body[0]
    if not isinstance(call, ast.Return) or not isinstance(wraps, ast.Call):
        return False
    if known.dotted(wraps.func) != "functools.wraps":
        return False
    first = [item.arg for item in (*given.posonlyargs, *given.args)]
    values = (changed(wraps, func=ast.Name("wraps")), last.value, call.value)
    said = tuple(ast.unparse(item) for item in values if item)
    words = ", ".join([*first, f"*{given.vararg.arg}", f"**{given.kwarg.arg}"])
    taken = {*first, given.vararg.arg, given.kwarg.arg}
    return said == (f"wraps({name})", inner.name, f"{name}({words})") and name not in taken and not given.defaults
