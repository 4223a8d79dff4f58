"""Classes in their plain form: without bases, decorators and constructors that add nothing."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Container, Iterable, Mapping
from typing import Any

from codemods.code.decorators import Idle
from codemods.code.imports import ModuleNames
from codemods.code.names import Function
from codemods.code.nodes import every_node
from codemods.code.rows import unpacked
from codemods.code.syntax import is_super, taken
from codemods.code.tree_copies import DEFINING, at, changed, replaced, with_statements

ADMITTING = frozenset({"typing.Optional", "typing.Annotated", "typing_extensions.Annotated"})
"""What admits all that the first thing in its brackets admits."""


def plain_classes(tree: ast.Module, known: ModuleNames) -> ast.Module:
    """The module with its classes and functions in their plain form."""
    tree = _without_constructors(tree, known)
    known = known.of(tree)
    defined = [item for item in tree.body if isinstance(item, ast.ClassDef)]
    empty = {item.name: item for item in defined if _is_empty(item) and known.is_fixed(item)}
    above = Counter(base.id for item in known.nodes[ast.ClassDef] for base in item.bases if isinstance(base, ast.Name))
    for name, item in [*empty.items()]:
        if not item.bases and known.names.reads[name] != above[name]:
            del empty[name]  # what is of such a class may be asked for by it
    idle = Idle(known)
    built = _built(empty, known)
    functions = [*known.nodes[ast.FunctionDef], *known.nodes[ast.AsyncFunctionDef]]
    marked = bool(idle) and any(idle.has(mark) for item in functions for mark in item.decorator_list)
    later = _made_later(functions) if marked else set()

    def swap(node: ast.AST) -> ast.AST | None:
        fields: dict[str, Any] = {}
        if isinstance(node, Function):
            kept = [item for item in node.decorator_list if not idle.has(item)] if marked else node.decorator_list
            if len(kept) < len(node.decorator_list) and (node.lineno, node.col_offset) not in later:
                fields["decorator_list"] = kept
            if told and any(id(item) in told for item in taken(node)):
                fields["args"] = replaced(node.args, lambda item: _untold(item, told))
            if node.args.posonlyargs and not node.args.kwarg:
                fields["args"] = _by_name_too(fields.get("args", node.args))
        if isinstance(node, ast.ClassDef):
            alone = len(node.bases) == 1
            above = [new for item in node.bases for new in unpacked(item, known)]
            bases = [new for item in above for new in _above(item, empty, alone)]
            if len(bases) != len(node.bases) or any(
                one is not other for one, other in zip(bases, node.bases, strict=True)
            ):
                fields["bases"] = bases
        return changed(node, **fields) if fields else None

    every = known.nodes[ast.arg]
    told = {id(item) for item in every if item.annotation and _says_nothing(item.annotation, known)}
    ordered = any(item.posonlyargs for item in known.nodes[ast.arguments])
    spread = any(isinstance(base, ast.Starred) for item in known.nodes[ast.ClassDef] for base in item.bases)
    tree = with_statements(tree, swap, of=DEFINING) if empty or marked or told or ordered or spread else tree
    return replaced(tree, lambda node: built.get(id(node))) if built else tree


def _without_constructors(tree: ast.Module, known: ModuleNames) -> ast.Module:
    """The module without constructors that hand all that they are given to the one above, and do nothing else."""
    idle = {id(item) for node in known.nodes[ast.ClassDef] if node.bases for item in node.body if _hands_all_on(item)}
    if not idle or "super" in known.taken:
        return tree

    def swap(node: ast.AST) -> ast.AST | None:
        rest = [item for item in node.body if id(item) not in idle] if isinstance(node, ast.ClassDef) else []
        if not isinstance(node, ast.ClassDef) or len(rest) == len(node.body):
            return None
        return changed(node, body=rest or [ast.copy_location(ast.Pass(), node.body[0])])

    return with_statements(tree, swap, of=(ast.ClassDef,))


def _hands_all_on(node: ast.stmt) -> bool:
    """Whether a statement of a class is such a constructor."""
    if not isinstance(node, ast.FunctionDef) or node.name != "__init__" or node.decorator_list:
        return False
    given = node.args
    if not given.vararg or not given.kwarg or given.kwonlyargs or len([*given.posonlyargs, *given.args]) != 1:
        return False
    body = [item for item in node.body if not (isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant))]
    call = body[0].value if len(body) == 1 and isinstance(body[0], ast.Expr | ast.Return) else None
    function = call.func if isinstance(call, ast.Call) else None
    if not isinstance(call, ast.Call) or not isinstance(function, ast.Attribute) or not is_super(function.value):
        return False
    args = [getattr(item.value, "id", "") for item in call.args if isinstance(item, ast.Starred)]
    words = [getattr(item.value, "id", "") for item in call.keywords if item.arg is None]
    whole = len(args) == len(call.args) and len(words) == len(call.keywords)
    return whole and function.attr == node.name and args == [given.vararg.arg] and words == [given.kwarg.arg]


def _built(empty: Mapping[str, ast.ClassDef], known: ModuleNames) -> dict[int, ast.expr]:
    """The names of classes that add nothing where these are called with arguments, with their bases, where the file
    asks for nothing else of the classes."""
    calls = [item for item in known.nodes[ast.Call] if isinstance(item.func, ast.Name) and item.func.id in empty]
    if not calls or _tells_classes(known):
        return {}
    asked = {id(base) for item in known.nodes[ast.ClassDef] for base in item.bases} | {id(item.func) for item in calls}
    found: dict[int, ast.expr] = {}
    for call in calls:
        name = call.func.id
        bases = [item for item in empty[name].bases if _is_settled(item, known)]
        alone = all(id(load) in asked for load, _ in known.names.loads[name])
        if bases and alone and (call.args or call.keywords):
            found[id(call.func)] = at(bases[0], call.func)
            vars(found[id(call.func)]).update(named_by_class=True)
    return found


def _is_settled(base: ast.expr, known: ModuleNames) -> bool:
    """Whether a base is the same wherever in the module it is read."""
    return known.dotted(base) is not None or (isinstance(base, ast.Name) and known.names.stores[base.id] == 1)


def _tells_classes(known: ModuleNames) -> bool:
    """Whether a module may ask of which class something is."""
    asked = {"__class__", "__name__", "__qualname__", "__module__"}
    told = any(item.attr in asked for item in known.nodes[ast.Attribute])
    return told or bool({"type", "getattr", "vars"} & known.names.reads.keys())


def _made_later(functions: Iterable[Function]) -> set[tuple[int, int]]:
    """The places of functions inside others, whose decorators may be something else by then."""
    return {
        (item.lineno, item.col_offset)
        for each in functions
        for item in every_node(each)
        if isinstance(item, Function) and item is not each
    }


def _untold(node: ast.AST, told: Container[int]) -> ast.AST | None:
    return changed(node, annotation=None) if id(node) in told else None


def _by_name_too(arguments: ast.arguments) -> ast.arguments:
    """Parameters that may be given by name, too, which nobody does."""
    return changed(arguments, posonlyargs=[], args=[*arguments.posonlyargs, *arguments.args])


def _says_nothing(annotation: ast.expr, known: ModuleNames) -> bool:
    """Whether an annotation admits anything."""
    if isinstance(annotation, ast.Constant):
        return annotation.value == "Any" or (isinstance(annotation.value, str) and _is_nothing(annotation.value, known))
    if isinstance(annotation, ast.Name) and annotation.id == "object":
        return "object" not in known.taken
    if isinstance(annotation, ast.BinOp):
        return any(_says_nothing(item, known) for item in (annotation.left, annotation.right))
    if isinstance(annotation, ast.Subscript) and known.dotted(annotation.value) in ADMITTING:
        inner = annotation.slice.elts[:1] if isinstance(annotation.slice, ast.Tuple) else [annotation.slice]
        return any(_says_nothing(item, known) for item in inner)
    return known.dotted(annotation) == "typing.Any"


def _is_nothing(text: str, known: ModuleNames) -> bool:
    """The same of an annotation that is a string."""
    try:
        return _says_nothing(ast.parse(text, mode="eval").body, known)
    except (SyntaxError, ValueError):
        return False


def _is_empty(node: ast.ClassDef) -> bool:
    """Whether a class adds nothing to its base."""
    idle = all(
        isinstance(item, ast.Pass) or (isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant))
        for item in node.body
    )
    return idle and len(node.bases) <= 1 and not node.keywords and not node.decorator_list


def _above(base: ast.expr, empty: dict[str, ast.ClassDef], alone: bool) -> list[ast.expr]:
    """The bases of a class that adds nothing, instead of it; of one that has some where it is the only base."""
    if isinstance(base, ast.Name) and base.id in empty and (alone or not empty[base.id].bases):
        return [at(item, base) for item in empty[base.id].bases]
    return [base]
