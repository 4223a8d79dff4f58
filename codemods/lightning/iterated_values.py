"""What a name gets one after the other, or beside others: by a loop, an unpacking, a walrus, a parametrized test."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TypeGuard

from codemods.code.literals import literal
from codemods.code.nodes import walked
from codemods.code.syntax import Function, is_name, targets_of
from codemods.code.tree_copies import replaced

Loop = ast.For | ast.AsyncFor | ast.comprehension
_SEVERAL = (ast.List, ast.Tuple, ast.Set)
_DEEP = 4


def unpacked(space: ast.AST, outer: ast.Module, name: str) -> Iterator[ast.expr | None]:
    """The values that a space gives a name by anything but a plain assignment; None for what cannot be seen. Names of
    what a loop goes through are looked up in the space, and in the module `outer`."""
    for node in walked(space):
        if isinstance(node, ast.NamedExpr):
            yield from _bound(node.target, [node.value], name)
        elif isinstance(node, Loop):
            yield from _bound(node.target, _elements(node.iter, (space, outer), 0), name)
        elif isinstance(node, ast.Assign):
            for target in node.targets:
                if not isinstance(target, ast.Name):
                    yield from _bound(target, [node.value], name)
        elif isinstance(node, ast.withitem) and node.optional_vars is not None:
            yield from _bound(node.optional_vars, [], name)


def parametrized(function: Function, outer: ast.Module, name: str) -> Iterator[ast.expr]:
    """The values that `pytest.mark.parametrize` gives a parameter."""
    for item in function.decorator_list:
        if not isinstance(item, ast.Call) or getattr(item.func, "attr", "") != "parametrize":
            continue
        given = dict(zip(("argnames", "argvalues"), item.args, strict=False))
        given |= {word.arg: word.value for word in item.keywords if word.arg}
        names, values = given.get("argnames"), given.get("argvalues")
        words, single = _words(names)
        if name in words and values is not None:
            for value in _elements(values, (outer,), 0):
                yield from _of_case(value, words.index(name), 0 if single else len(words))


def _words(node: ast.expr | None) -> tuple[list[str], bool]:
    """The names that a parametrized test says, and whether each case is the value of a single one."""
    names = literal(node)[1] if node is not None else None
    if isinstance(names, str):
        words = [word.strip() for word in names.split(",") if word.strip()]
        return words, len(words) == 1
    several = names if isinstance(names, list | tuple) else ()
    return list(several) if all(isinstance(word, str) for word in several) else [], False


def _of_case(value: ast.expr, index: int, count: int) -> Iterator[ast.expr]:
    """What one case of a parametrized test, which may be a `pytest.param(...)`, gives one of so many parameters; none
    where the case itself is the value of the only one."""
    if isinstance(value, ast.Call) and ast.unparse(value.func) in ("pytest.param", "param"):
        yield from value.args[index : index + 1]
    elif not count:
        yield value
    elif isinstance(value, ast.Tuple | ast.List) and len(value.elts) == count:
        yield value.elts[index]


def _bound(target: ast.expr, values: Sequence[ast.expr], name: str) -> Iterator[ast.expr | None]:
    """What a target, or a part of it, that is the name gets of the values."""
    if isinstance(target, ast.Name) and target.id == name:
        yield from values or (None,)
    elif isinstance(target, ast.Tuple | ast.List):
        for index, inner in enumerate(target.elts):
            fitting = [v for v in values if isinstance(v, ast.Tuple | ast.List) and len(v.elts) == len(target.elts)]
            yield from _bound(inner, [value.elts[index] for value in fitting], name)


def _elements(node: ast.expr, spaces: Sequence[ast.AST], depth: int) -> list[ast.expr]:
    """The items of what is spelled out, also behind a name; none where they cannot be seen."""
    if isinstance(node, _SEVERAL):
        return node.elts
    if isinstance(node, ast.Name) and depth < _DEEP:
        return [item for value in _assigned(spaces, node.id) for item in _elements(value, spaces, depth + 1)]
    if not isinstance(node, ast.Call):
        return []
    if isinstance(node.func, ast.Name) and node.func.id == "enumerate" and node.args:
        return [ast.Tuple([ast.Constant(0), item]) for item in _elements(node.args[0], spaces, depth + 1)]
    if isinstance(node.func, ast.Attribute) and node.func.attr in ("values", "items") and not node.args:
        held = node.func.value
        found = _assigned(spaces, held.id) if isinstance(held, ast.Name) else [held]
        pairs = [
            pair for item in found if isinstance(item, ast.Dict) for pair in zip(item.keys, item.values, strict=True)
        ]
        if node.func.attr == "values":
            return [value for _, value in pairs]
        return [ast.Tuple([key or ast.Constant(None), value]) for key, value in pairs]
    return []


def _assigned(spaces: Sequence[ast.AST], name: str) -> list[ast.expr]:
    """What plain assignments in the first space that has some make of a name."""
    for space in spaces:
        found = [
            node.value
            for node in walked(space)
            if isinstance(node, ast.Assign | ast.AnnAssign)
            and node.value is not None
            and any(isinstance(target, ast.Name) and target.id == name for target in targets_of(node))
        ]
        if found:
            return found
    return []


def keys_listed(node: ast.expr) -> list[tuple[ast.Constant, ast.expr | None]]:
    """The keys, with their values, of a list of pairs, of `zip([...], [...])` and `dict.fromkeys([...], value)`; none
    where it is not spelled out."""
    if isinstance(node, _SEVERAL):
        pairs = [item.elts for item in node.elts if isinstance(item, ast.Tuple | ast.List) and len(item.elts) == 2]
        return [(key, value) for key, value in pairs if _is_key(key)] if len(pairs) == len(node.elts) else []
    if not isinstance(node, ast.Call) or not node.args or not isinstance(node.args[0], _SEVERAL):
        return []
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    keys = node.args[0].elts
    if name == "fromkeys":
        value = node.args[1] if node.args[1:] else ast.copy_location(ast.Constant(None), node)
        return [(key, value) for key in keys if _is_key(key)]
    values = node.args[1] if name == "zip" and node.args[1:] else None
    known = values.elts if isinstance(values, ast.List | ast.Tuple) else [None] * len(keys)
    return [(key, value) for key, value in zip(keys, known, strict=False) if _is_key(key)] if name == "zip" else []


def keys_gone_through(
    node: ast.DictComp | ast.GeneratorExp | ast.ListComp, spaces: Sequence[ast.AST]
) -> list[tuple[ast.Constant, ast.expr]]:
    """The texts that a comprehension goes through one by one and makes keys of, each with what it makes its value."""
    target = node.generators[0].target
    if not isinstance(node, ast.DictComp) or not isinstance(target, ast.Name) or not is_name(node.key, target.id):
        return []
    keys = [item for item in _elements(node.generators[0].iter, spaces, 0) if _is_key(item)]
    swaps = (partial(_instead, name=target.id, key=key) for key in keys)
    return [(key, replaced(node.value, swap)) for key, swap in zip(keys, swaps, strict=True)]


def _instead(node: ast.AST, *, name: str, key: ast.Constant) -> ast.Constant | None:
    return key if is_name(node, name) else None


def _is_key(node: ast.expr) -> TypeGuard[ast.Constant]:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
