"""Classes of which parts stand elsewhere in the module, put together: what a base has that one class alone is below,
functions that a class takes for methods, classes that a function makes once."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import Any

from codemods.code.imports import ModuleNames
from codemods.code.inlining import has_private
from codemods.code.members import alias
from codemods.code.names import Function, Names
from codemods.code.nodes import every_node
from codemods.code.tree_copies import DEFINING, at, changed, replaced

MAKING = frozenset({"__init_subclass__", "__new__", "__class_getitem__", "__slots__", "__set_name__"})
"""What a class may have that runs, or counts, where another is made of it."""
RENAMED = re.compile(r"on_|\w+_end$")
"""Hooks that may get another name: an abstract one asks for a method of its own."""
REFLECTING = frozenset({"__mro__", "mro", "__bases__", "__base__", "__subclasses__", "__qualname__", "__dict__"})
"""What tells of which classes another is made."""
MARKS = frozenset({"property", "staticmethod", "classmethod"})


def put_together(tree: ast.Module, known: ModuleNames) -> ast.Module:
    """The module with its classes put together as far as its own statements say what is in them."""
    for step in (_of_functions, _with_functions, _with_bases):
        before = None
        while before is not tree:
            before, known = tree, known.of(tree)
            tree = step(tree, known)
    return tree


def _with_bases(tree: ast.Module, known: ModuleNames) -> ast.Module:
    """The module with what a base has in the one class that stands below it."""
    above = {base.id for item in tree.body if isinstance(item, ast.ClassDef) for base in _names(item.bases)}
    if not above & {item.name for item in tree.body if isinstance(item, ast.ClassDef)} or _is_told(known):
        return tree
    for base in tree.body:
        if not isinstance(base, ast.ClassDef) or base.name not in above or not _can_move(base, known):
            continue
        for below in tree.body[tree.body.index(base) + 1 :]:
            made = _joined(below, base) if isinstance(below, ast.ClassDef) else None
            if made is not None:
                body = [made if item is below else item for item in tree.body if item is not base]
                return changed(tree, body=body)
    return tree


def _is_told(known: ModuleNames) -> bool:
    """Whether a module may tell of which classes another is made, or does something where one is."""
    said = {item.attr for item in known.nodes[ast.Attribute]} | known.said
    making = known.taken & {"__init_subclass__", "__set_name__"} or any(
        item.arg == "metaclass" for node in known.nodes[ast.ClassDef] for item in node.keywords
    )
    return bool(making or said & REFLECTING or "vars" in known.names.reads)


def _names(nodes: Iterable[ast.expr]) -> Iterator[ast.Name]:
    return (item for item in nodes if isinstance(item, ast.Name))


def _can_move(node: ast.ClassDef, known: ModuleNames) -> bool:
    """Whether a class is read once, and has the same in it wherever in the module it is defined."""
    if known.names.reads[node.name] != 1 or not known.is_fixed(node):
        return False
    if node.decorator_list or node.keywords or has_private(node):
        return False
    return all(is_still(item, known) for item in node.body)


def is_still(node: ast.stmt, known: ModuleNames) -> bool:
    """Whether a statement of a class does the same wherever in the module it is run."""
    if isinstance(node, ast.FunctionDef):
        marks = all(
            known.dotted(item) or getattr(item, "id", "") in MARKS - known.taken or _is_asked_for(item, known)
            for item in node.decorator_list
        )
        defaults = [*node.args.defaults, *(item for item in node.args.kw_defaults if item)]
        return marks and node.name not in MAKING and all(isinstance(item, ast.Constant) for item in defaults)
    if isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)):
        return True
    named = isinstance(node, ast.Assign) and all(isinstance(item, ast.Name) for item in node.targets)
    return (
        named
        and isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Constant)
        and not _members([node]) & MAKING
    )


def _is_asked_for(node: ast.expr, known: ModuleNames) -> bool:
    """Whether a decorator is what a quiet call with constants gives."""
    given = [*node.args, *(item.value for item in node.keywords)] if isinstance(node, ast.Call) else []
    return isinstance(node, ast.Call) and known.is_quiet(node) and all(isinstance(item, ast.Constant) for item in given)


def _members(body: Iterable[ast.stmt]) -> set[str]:
    """The names that statements of a class bind in it."""
    found: set[str] = set()
    for node in body:
        if isinstance(node, DEFINING):
            found.add(node.name)
        else:
            inner = (item for item in every_node(node) if isinstance(item, ast.Name))
            found |= {item.id for item in inner if not isinstance(item.ctx, ast.Load)}
    return found


def _unwritten(node: ast.ClassDef) -> set[str]:
    """The methods that a class leaves to those below."""
    names = [item.name for item in node.body if isinstance(item, ast.FunctionDef)]
    return {item.name for item in node.body if is_unwritten(item) and names.count(item.name) == 1}  # type: ignore[attr-defined]


def is_unwritten(node: ast.stmt) -> bool:
    """Whether a statement defines a method that does nothing, or refuses to."""
    if not isinstance(node, ast.FunctionDef) or (node.decorator_list and RENAMED.match(node.name)):
        return False
    body = [item for item in node.body if not (isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant))]
    return all(isinstance(item, ast.Pass) or _refuses(item) for item in body)


def _refuses(node: ast.stmt) -> bool:
    raised = node.exc if isinstance(node, ast.Raise) else None
    return getattr(raised.func if isinstance(raised, ast.Call) else raised, "id", "") == "NotImplementedError"


def _read_in_class(node: ast.ClassDef) -> set[str]:
    """The names that are read while the body of a class is run."""
    parts: list[ast.AST] = []
    for item in node.body:
        if isinstance(item, Function):
            parts += [*item.decorator_list, *item.args.defaults, *(each for each in item.args.kw_defaults if each)]
            parts += [
                each.annotation for each in every_node(item.args) if isinstance(each, ast.arg) and each.annotation
            ]
            parts += [item.returns] if item.returns else []
        else:
            parts.append(item)
    every = (inner for part in parts for inner in every_node(part))
    return {item.id for item in every if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Load)}


def _joined(below: ast.ClassDef, base: ast.ClassDef) -> ast.ClassDef | None:
    """A class with what its first base has, less the methods that this leaves to it; None where it is another's, or
    where both have something else of one name."""
    first = below.bases[0] if below.bases else None
    if not isinstance(first, ast.Name) or first.id != base.name or has_private(below):
        return None
    if base.bases and (len(below.bases) > 1 or base.keywords):
        return None
    theirs, own = _members(base.body), _members(below.body)
    if own & MAKING:
        return None
    asked = {item.attr for item in every_node(below) if isinstance(item, ast.Attribute) and _is_super(item.value)}
    over = theirs & own
    if not over <= _unwritten(base) or theirs & (asked | _read_in_class(below)):
        return None
    if own & _read_in_class(base):
        return None
    said = [item for item in below.body[:1] if isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant)]
    more = [item for item in base.body if not isinstance(item, ast.Pass | ast.Expr) and not _members([item]) & over]
    rest = [item for item in below.body[len(said) :] if not isinstance(item, ast.Pass)]
    bases = [*(at(item, first) for item in base.bases), *below.bases[1:]]
    body = [*said, *more, *rest]
    made = changed(below, bases=bases, body=body or below.body)
    vars(made).update(scattered=True)
    return made


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super"


def _with_functions(tree: ast.Module, known: ModuleNames) -> ast.Module:
    """The module with its functions in the one class that takes each for a method, in it or right behind."""
    functions = {item.name: item for item in tree.body if isinstance(item, ast.FunctionDef)}
    if not functions:
        return tree
    for index, node in enumerate(tree.body):
        if isinstance(node, ast.ClassDef):
            for statement in node.body:
                name, own = alias(statement) or ("", "")
                helper = functions.get(own)
                if helper is not None and isinstance(statement, ast.Assign) and _can_be_method(helper, known):
                    method = changed(helper, name=name)
                    made = changed(node, body=[method if item is statement else item for item in node.body])
                    return _instead(tree, {id(node): made}, helper)
        owner, name, own = _set_behind(node)
        helper = functions.get(own)
        place = next(
            (item for item in tree.body[:index] if isinstance(item, ast.ClassDef) and item.name == owner), None
        )
        if helper is None or place is None or not known.is_fixed(place) or place.decorator_list:
            continue
        between = tree.body[tree.body.index(place) + 1 : index]
        still = all(isinstance(item, Function) or _set_behind(item)[0] == owner for item in between)
        if still and name not in _members(place.body) | MAKING and _can_be_method(helper, known):
            made = changed(place, body=[*place.body, changed(helper, name=name)])
            return _instead(tree, {id(place): made}, helper, node)
    return tree


def _instead(tree: ast.Module, new: dict[int, ast.ClassDef], *gone: ast.stmt) -> ast.Module:
    for made in new.values():
        vars(made).update(scattered=True)
    return changed(tree, body=[new.get(id(item), item) for item in tree.body if all(item is not one for one in gone)])


def _set_behind(node: ast.stmt) -> tuple[str, str, str]:
    """The three names of `Class.name = function`."""
    target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
    if (
        not isinstance(node, ast.Assign)
        or not isinstance(target, ast.Attribute)
        or not isinstance(node.value, ast.Name)
    ):
        return "", "", ""
    return (target.value.id, target.attr, node.value.id) if isinstance(target.value, ast.Name) else ("", "", "")


def _can_be_method(helper: ast.FunctionDef, known: ModuleNames) -> bool:
    """Whether a function of the module does the same as a method of a class, and is nothing else."""
    if known.names.reads[helper.name] != 1 or not known.is_fixed(helper) or helper.decorator_list:
        return False
    if has_private(helper) or not is_still(helper, known):
        return False
    if any(isinstance(item, ast.Name) and item.id == "super" for item in every_node(helper)):
        return False
    annotated = (item.annotation for item in every_node(helper.args) if isinstance(item, ast.arg))
    return not any(annotated) and helper.returns is None


def _of_functions(tree: ast.Module, known: ModuleNames) -> ast.Module:
    """The module with classes where a function that makes one is called, once."""
    makers = {item.name: item for item in tree.body if isinstance(item, ast.FunctionDef) and _made_by(item)}
    for index, node in enumerate(tree.body if makers else ()):
        call = node.value if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        target = node.targets[0] if isinstance(node, ast.Assign) else None
        maker = makers.get(getattr(call.func, "id", "")) if isinstance(call, ast.Call) else None
        if maker is None or not isinstance(call, ast.Call) or not isinstance(target, ast.Name):
            continue
        made = _unfolded(maker, call, target.id, known)
        if made is not None:
            body: list[ast.stmt] = [*tree.body[:index], made, *tree.body[index + 1 :]]
            return changed(tree, body=[item for item in body if item is not maker])
    return tree


def _made_by(maker: ast.FunctionDef) -> ast.ClassDef | None:
    """The class that a function makes and gives back, where it does nothing else."""
    body = [item for item in maker.body if not (isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant))]
    if len(body) != 2 or not isinstance(body[0], ast.ClassDef) or not isinstance(body[1], ast.Return):
        return None
    given = body[1].value
    return body[0] if isinstance(given, ast.Name) and given.id == body[0].name else None


def _unfolded(maker: ast.FunctionDef, call: ast.Call, name: str, known: ModuleNames) -> ast.ClassDef | None:
    """The class that a call of a function makes, with what it is given in the place of the parameters."""
    node, arguments = _made_by(maker), maker.args
    places = [item.arg for item in (*arguments.posonlyargs, *arguments.args)]
    if node is None or maker.decorator_list or arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
        return None
    if known.names.reads[maker.name] != 1 or not known.is_fixed(maker) or call.keywords:
        return None
    names = Names(maker)
    given: dict[str, Any] = dict(zip(places, call.args, strict=False))
    if len(call.args) != len(places) or names.open or any(names.stores[item] != 1 for item in places):
        return None
    if not all(_is_fixed(item, known) for item in call.args) or names.stores[node.name] != 1:
        return None
    taken = {item.id for value in call.args for item in every_node(value) if isinstance(item, ast.Name)}
    said = known.names.stores[name] - names.stores[name] == 1 and (name == node.name or name not in names.said)
    if not said or taken & (names.bound | names.elsewhere) or (name != node.name and names.loads[node.name][1:]):
        return None

    def swap(item: ast.AST) -> ast.AST | None:
        value = given.get(item.id) if isinstance(item, ast.Name) else None
        return at(value, item) if value is not None else None

    new = replaced(node, swap)
    return new if name == node.name else changed(new, name=name)


def _is_fixed(node: ast.expr, known: ModuleNames) -> bool:
    """Whether an argument is the same wherever in the module it is read."""
    if isinstance(node, ast.Constant) or known.dotted(node) is not None:
        return True
    return isinstance(node, ast.Name) and known.names.stores[node.id] == 1
