"""The `fit` calls of a Trainer that is not built where it is fitted: kept on an attribute, or given back by a function,
whatever files they are in."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import partial

from codemods.code.nodes import every_node, walk
from codemods.code.scopes import ROOT, canonical
from codemods.code.source import CallNode, ClassNode, PythonFile
from codemods.code.syntax import Function, is_self_attribute, own_nodes, returns, self_name, targets_of
from codemods.lightning.class_family import family
from codemods.lightning.facts import Facts
from codemods.lightning.instance_types import times_spoken
from codemods.lightning.trainer_variables import calls_of, escapes, kept_in

Fit = tuple[PythonFile, CallNode]


def fits_elsewhere(facts: Facts, file: PythonFile, call: CallNode, newer: PythonFile | None) -> list[Fit] | str:
    """The `fit` calls of a Trainer, each with its file, or why they cannot be told; `newer` is another file that may be
    newer than the facts, as `file` may."""
    if (name := _attribute(call)) is not None:
        return _of_attribute(facts, file, call, name)
    function = call.within[0] if len(call.within) == 1 else None
    if not isinstance(function, ast.FunctionDef) or function.decorator_list or not _gives(function, call, file):
        return "fixer cannot follow where the Trainer is used"
    found: list[Fit] = []
    known = 1
    for other, use in uses_of(facts, file, function, newer or file):
        known += 1
        if isinstance(use, CallNode):
            fits = _of_made(facts, other, use)
            if isinstance(fits, str):
                return fits
            found += [(other, fit) for fit in fits]
    if known != times_spoken(facts, function.name):
        return f"fixer cannot find every use of `{function.name}`"
    return found or "fixer cannot find its `fit`"


def _attribute(call: CallNode) -> str | None:
    """The attribute of `self` that alone keeps a Trainer."""
    method = call.within[-1] if call.within else None
    if not isinstance(method, Function) or len(call.within) != 2 or not isinstance(call.within[0], ast.ClassDef):
        return None
    for node in own_nodes(method):
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        if target is not None and node.value is call.node and isinstance(target, ast.Attribute):  # type: ignore[attr-defined]
            return target.attr if is_self_attribute(target, target.attr, self_name(method)) else None
    return None


def _of_attribute(facts: Facts, file: PythonFile, call: CallNode, name: str) -> list[Fit] | str:
    """The `fit` calls of what a class keeps in an attribute: all that the project does with an attribute of that name
    must be seen not to be of this one, or to be one of these."""
    item = next((each for each in file.classes if each.node is call.within[0]), None)
    fact = facts.of_class(file, item)
    if item is None or fact is None or facts.kind(fact) != "other":
        return "the class that holds it has a base class that fixer cannot read"
    word = re.compile(rb"\b" + name.encode() + rb"\b")
    fits: list[Fit] = []
    for path, source in sorted(facts.sources.items()):
        if name.encode() not in source.unescaped or not word.search(source.unescaped):
            continue
        other = file if path == file.path else facts.open(path)
        if other is None:
            if source.kind in ("python", "notebook"):
                return f"`{name}` is mentioned in {path}"
            continue
        kin = {each.name for each in (fact, *family(facts, fact)) if each.path == path}
        if path not in facts.files:
            kin = {each.qualname for each in other.classes if any(map(partial(_may_be_kin, each), each.node.bases))}
        found = _of_uses(other, kin, item.qualname if other is file else "", name, call)
        if isinstance(found, str):
            return found
        fits += [(other, fit) for fit in found]
    return fits or "fixer cannot find every call of its `fit`"


def _of_uses(file: PythonFile, kin: set[str], owner: str, name: str, call: CallNode) -> list[CallNode] | str:
    """The `fit` calls of an attribute in a file, of which `kin` are the classes whose instances may have it and `owner`
    the one that sets it; or why not all can be told."""
    classes = [item for item in file.classes if item.qualname in kin]
    if any(_is_bound_in(item, name) for item in classes):
        return f"`{name}` is set more than once"
    if any(isinstance(node, ast.Constant) and node.value == name for node in every_node(file.tree)):
        return f"`{name}` is mentioned by name in {file.path}"
    called = {id(other.node.func): other for other in file.calls_near([".fit"])}
    above = {id(node.value): node for node in every_node(file.tree) if isinstance(node, ast.Attribute)}
    own = {id(node): item.qualname for item in file.classes for node in _own(item, name)}
    fits: list[CallNode] = []
    for node in file.attributes(name):
        taken = above.get(id(node))
        home = own.get(id(node))
        if home is not None and home not in kin:
            continue
        if not isinstance(node.ctx, ast.Load):
            if home is None:
                return "fixer cannot find every call of its `fit`"
            if home != owner or not _is_kept_by(file, node, call):
                return f"`{name}` is set more than once"
        elif taken is None:
            return f"`{name}` is passed on, perhaps to another fit"
        elif taken.attr == "fit":
            if home is None or home != owner or id(taken) not in called:
                return "fixer cannot find every call of its `fit`"
            fits.append(called[id(taken)])
    return fits


def _may_be_kin(item: ClassNode, base: ast.expr) -> bool:
    """Whether a base of a class in a file that was not read may be one of the project's."""
    dotted = item.scope.resolve(base)
    return dotted is None or not (canonical(dotted).startswith((ROOT, "torch.")) or dotted == "object")


def _own(item: ClassNode, name: str) -> Iterator[ast.Attribute]:
    """The readings and settings of an attribute of the instance in the methods of a class."""
    for method in item.methods.values():
        this = self_name(method)
        for node in every_node(method):
            if isinstance(node, ast.Attribute) and node.attr == name and getattr(node.value, "id", "") == this:
                yield node


def _is_bound_in(item: ClassNode, name: str) -> bool:
    """Whether the body of a class binds a name."""
    return name in item.methods or any(
        isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load)
        for statement in item.node.body
        if not isinstance(statement, Function)
        for node in every_node(statement)
    )


def _is_kept_by(file: PythonFile, node: ast.Attribute, call: CallNode) -> bool:
    """Whether an attribute is what a call is assigned to."""
    return any(node in targets_of(item.node) for item in file.assignments if item.node.value is call.node)


def _gives(function: ast.FunctionDef, call: CallNode, file: PythonFile) -> bool:
    """Whether all that a function gives back is what a call in it builds, which it does nothing else with."""
    given = [node.value for node in returns(function)]
    if all(node is call.node for node in given):
        return bool(given)
    name = kept_in(file, call)
    loads = [node for node in walk(function) if isinstance(node, ast.Name) and node.id == name]
    held = {id(node.value) for node in walk(function) if isinstance(node, ast.Attribute) and node.attr != "fit"}
    plain = all(isinstance(node, ast.Name) and node.id == name for node in given)
    return (
        plain
        and bool(given)
        and sum(isinstance(node.ctx, ast.Store) for node in loads) == 1
        and all(
            isinstance(node.ctx, ast.Store) or id(node) in held or any(node is item for item in given) for node in loads
        )
    )


def uses_of(
    facts: Facts, home: PythonFile, function: ast.FunctionDef, newer: PythonFile
) -> Iterator[tuple[PythonFile, CallNode | None]]:
    """Where the project speaks of a function: the calls of it, and its imports."""
    for path, source in sorted(facts.sources.items()):
        if source.kind not in ("python", "notebook") or function.name.encode() not in source.unescaped:
            continue
        file = next((known for known in (newer, home) if known.path == path), None) or facts.open(path)
        if file is None:
            continue
        for node in file.imports:
            for alias in node.names:
                if alias.name == function.name and alias.asname is None and isinstance(node, ast.ImportFrom):
                    yield file, None
        for call in file.calls_near([function.name]):
            dotted = call.scope.resolve(call.node.func)
            if dotted is None:
                continue
            found = facts.find_definition(dotted, path)
            if dotted == f"{home.module}.{function.name}" or (found and found[1].name == function.name):
                yield file, call


def _of_made(facts: Facts, file: PythonFile, call: CallNode) -> list[CallNode] | str:
    """The `fit` calls of what a call gives."""
    if now := fits_at_once(file, call):
        return now
    name = kept_in(file, call)
    if name is None:
        return "fixer cannot follow where the Trainer is used"
    if escapes(facts, file, call, name, "fit"):
        return f"`{name}` is passed on, perhaps to another fit"
    return calls_of(file, call, name, "fit")


def fits_at_once(file: PythonFile, call: CallNode) -> list[CallNode]:
    """The `fit` that is called of what a call gives, without a name for that."""
    return [other for other in file.calls_near([".fit"]) if _is_fit_of(other, call.node)]


def _is_fit_of(call: CallNode, owner: ast.Call) -> bool:
    function = call.node.func
    return isinstance(function, ast.Attribute) and function.attr == "fit" and function.value is owner
