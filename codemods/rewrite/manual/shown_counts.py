"""Counts of steps that a script takes out of a checkpoint and only shows in its messages."""

from __future__ import annotations

import ast

from codemods.code.nodes import parents_of, walked
from codemods.code.source import PythonFile
from codemods.code.syntax import Function
from codemods.lightning.callers import Callers
from codemods.lightning.facts import Facts

SAYS = frozenset({"print", "info", "debug", "warning"})
"""The last parts of the names of functions that write their arguments out."""
Parents = dict[ast.AST, ast.AST]


def shown_alone(facts: Facts, file: PythonFile, word: str) -> frozenset[int]:
    """The ids of the constants that are the key by which a file asks for a count, or whether there is one, where the
    count comes into nothing but messages; none of them where one name may carry it elsewhere."""
    keys = [node for node in walked(file.tree) if isinstance(node, ast.Constant) and node.value == word]
    parents = parents_of(file.tree) if keys else {}
    asked = [key for key in keys if _is_asked_for(key, parents)]
    taken = [key for key in keys if (read := _read(key, parents)) and _is_shown(facts, file, read, parents)]
    return frozenset(map(id, [*asked, *taken]))


def _is_asked_for(key: ast.Constant, parents: Parents) -> bool:
    """`"global_step" in checkpoint`."""
    test = parents.get(key)
    return isinstance(test, ast.Compare) and test.left is key and isinstance(test.ops[0], ast.In | ast.NotIn)


def _read(key: ast.Constant, parents: Parents) -> ast.Subscript | None:
    """`checkpoint["global_step"]`, read."""
    node = parents.get(key)
    return node if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load) and node.slice is key else None


def _is_shown(facts: Facts, file: PythonFile, value: ast.expr, parents: Parents) -> bool:
    """Whether a value is only written out, by itself or by the names that it is handed on by."""
    names: set[str] = set()
    return _goes_into_messages(facts, file, value, parents, names) and _are_shown(facts, file, names, parents)


def _are_shown(facts: Facts, file: PythonFile, names: set[str], parents: Parents) -> bool:
    """Whether whatever bears one of some names in a file, whatever it stands for there, is only written out."""
    seen: set[str] = set()
    while left := names - seen:
        seen |= left
        for node in walked(file.tree):
            if isinstance(node, ast.Name) and node.id in left and isinstance(node.ctx, ast.Load):
                if not _goes_into_messages(facts, file, node, parents, names):
                    return False
            elif isinstance(node, ast.arg | ast.keyword) and node.arg in left:
                return False
    return True


def _goes_into_messages(facts: Facts, file: PythonFile, value: ast.expr, parents: Parents, names: set[str]) -> bool:
    """Whether a value goes into a message, or to names, which are added; what a function returns goes to the names
    that take its result."""
    element, above = value, parents.get(value)
    if isinstance(above, ast.IfExp) and above.test is not element:
        element, above = above, parents.get(above)
    if _is_said(element, parents):
        return True
    place = above.elts.index(element) if isinstance(above, ast.Tuple) and isinstance(element, ast.expr) else None
    above = parents.get(above) if isinstance(above, ast.Tuple) else above
    if isinstance(above, ast.Assign):
        return _is_taken(above, names)
    return isinstance(above, ast.Return) and _is_returned(facts, file, above, place, parents, names)


def _is_said(value: ast.AST, parents: Parents) -> bool:
    """Whether a value is an argument of what writes it out, by itself or as a part of a text; a file may be read."""
    above = parents.get(value)
    while above is not None and (isinstance(above, ast.FormattedValue | ast.JoinedStr) or _fills(value, above)):
        value, above = above, parents.get(above)
    if not isinstance(above, ast.Call) or value not in above.args or any(item.arg == "file" for item in above.keywords):
        return False
    return ast.unparse(above.func).rpartition(".")[2] in SAYS


def _fills(value: ast.AST, call: ast.AST) -> bool:
    """`"{:06}".format(value)`."""
    template = call.func if isinstance(call, ast.Call) and value in call.args else None
    known = isinstance(template, ast.Attribute) and isinstance(template.value, ast.Constant)
    return known and template.attr == "format"  # type: ignore[union-attr]


def _is_taken(node: ast.Assign, names: set[str]) -> bool:
    targets = [part for target in node.targets for part in (target.elts if isinstance(target, ast.Tuple) else [target])]
    if not all(isinstance(target, ast.Name) for target in targets):
        return False
    whole = not isinstance(node.value, ast.Tuple) and isinstance(node.targets[0], ast.Tuple)
    names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return not whole


def _is_returned(
    facts: Facts, file: PythonFile, node: ast.Return, place: int | None, parents: Parents, names: set[str]
) -> bool:
    """Whether what a function returns is taken by names that are only written out, in every file that calls it."""
    above: ast.AST | None = node
    while above is not None and not isinstance(above, Function):
        above = parents.get(above)
    if above is None or parents.get(above) is not file.tree:
        return False
    there: dict[str, tuple[PythonFile, set[str]]] = {}
    for other, use, _ in Callers(facts, file, facts.open).of(file, None, above.name):
        around = parents if other is file else parents_of(other.tree)
        if _is_wrapped(use, around):
            continue
        target = _target_of(use, around, place)
        if not isinstance(target, ast.Name):
            return False
        there.setdefault(other.path, (other, set()))[1].add(target.id)
    names |= there.pop(file.path, (file, set()))[1]
    return all(_are_shown(facts, other, taken, parents_of(other.tree)) for other, taken in there.values())


def _is_wrapped(use: ast.expr, parents: Parents) -> bool:
    """`load = cached(load)`: the name stands for what gives the same."""
    call = parents.get(use)
    taken = parents.get(call) if call else None
    wrapped = isinstance(call, ast.Call) and call.args[:1] == [use] and isinstance(taken, ast.Assign)
    return wrapped and [ast.unparse(item) for item in taken.targets] == [ast.unparse(use)]  # type: ignore[union-attr]


def _target_of(use: ast.expr, parents: Parents, place: int | None) -> ast.expr | None:
    """What takes the result of a call of a function, or the element of it that has a place."""
    call = parents.get(use)
    taken = parents.get(call) if isinstance(call, ast.Call) and call.func is use else None
    if not isinstance(taken, ast.Assign) or len(taken.targets) > 1:
        return None
    target = taken.targets[0]
    if place is None:
        return target
    inside = isinstance(target, ast.Tuple) and place < len(target.elts)
    return target.elts[place] if inside else None  # type: ignore[attr-defined]
