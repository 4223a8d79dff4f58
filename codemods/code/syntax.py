"""Small questions about `ast` that several rules ask."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, TypeGuard
from weakref import WeakKeyDictionary

from codemods.code.nodes import BLOCK_FIELDS, CHILD_FIELDS, LISTED, walk, walked

Function = ast.FunctionDef | ast.AsyncFunctionDef
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def says(text: str, node: ast.AST) -> bool:
    """Whether a text is what an expression is written as; of other nodes it is taken to be."""
    if not isinstance(node, ast.expr):
        return True
    try:
        return ast.unparse(ast.parse(f"({text})", mode="eval")) == ast.unparse(node)
    except (SyntaxError, ValueError):
        return False


def is_spelled(node: ast.expr, text: str) -> bool:
    """Whether an expression is spelled so, of a name or a chain of attributes as `ast.unparse` has it."""
    if isinstance(node, ast.Name):
        return node.id == text
    if isinstance(node, ast.Attribute) and not text.endswith(f".{node.attr}"):
        return False
    return ast.unparse(node) == text


_OWN: WeakKeyDictionary[ast.AST, tuple[ast.AST, ...]] = WeakKeyDictionary()


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a function's body in source order, without those of functions and classes inside it, and
    without operators and contexts."""
    if type(function) not in LISTED:
        return _own_nodes(function)
    found = _OWN.get(function)
    if found is None:
        found = _OWN[function] = tuple(_own_nodes(function))
    return iter(found)


def _own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    stack: list[Any] = list(reversed(getattr(function, "body", [])))
    while stack:
        node = stack.pop()
        if node is None or type(node) is str:
            continue
        yield node
        if isinstance(node, SCOPES):
            continue
        for name in CHILD_FIELDS.get(type(node), ()):
            value = getattr(node, name)
            if type(value) is list:
                stack.extend(reversed(value))
            else:
                stack.append(value)


def arms_of(node: ast.expr) -> list[ast.expr]:
    """What an expression may be: the arms of a choice, or itself."""
    return [*arms_of(node.body), *arms_of(node.orelse)] if isinstance(node, ast.IfExp) else [node]


def statements_below(node: ast.AST) -> Iterator[ast.stmt]:
    """The statements below a node, those of functions and classes too, in the order of `ast.walk`."""
    waiting = [node]
    for each in waiting:
        if each is not node and isinstance(each, ast.stmt):
            yield each
        for name in ("body", "handlers", "orelse", "finalbody", "cases"):
            inside = getattr(each, name, ())
            waiting.extend(inside if type(inside) is list else ())


def is_script_guard(node: ast.AST) -> TypeGuard[ast.If]:
    """Whether a node is `if __name__ == "__main__":` without an `else`."""
    return isinstance(node, ast.If) and not node.orelse and ast.unparse(node.test) == "__name__ == '__main__'"


def statements_in_order(space: ast.AST) -> list[ast.stmt]:
    """The statements of a function, or those that a module runs as a script, one behind the other."""
    body: list[ast.stmt] = getattr(space, "body", [])
    return [each for node in body for each in (node.body if is_script_guard(node) else [node])]


def returns(function: Function) -> list[ast.Return]:
    """The `return` statements of a function itself."""
    found: list[ast.Return] = []
    stack: list[Any] = function.body[::-1]
    while stack:
        node = stack.pop()
        if type(node) is ast.Return:
            found.append(node)
        elif not isinstance(node, SCOPES):
            for name in BLOCK_FIELDS.get(type(node), ()):
                stack += reversed(getattr(node, name))
    return found


def parameters(function: Function) -> list[str]:
    """The names of the positional parameters, `self` left out."""
    return [argument.arg for argument in [*function.args.posonlyargs, *function.args.args]][1:]


def taken(function: Function | ast.Lambda) -> list[ast.arg]:
    """Every parameter of a function, `self`, keyword-only ones, `*` and `**` with them."""
    given = function.args
    more = [item for item in (given.vararg, given.kwarg) if item]
    return [*given.posonlyargs, *given.args, *given.kwonlyargs, *more]


def takes(function: ast.AST, name: str) -> bool:
    """Whether what may be a function has a parameter of that name."""
    return isinstance(function, Function) and any(item.arg == name for item in taken(function))


def is_shared(function: ast.AST, name: str) -> bool:
    """Whether a function, or one in it, says that a name is not its own."""
    return any(isinstance(inner, ast.Global | ast.Nonlocal) and name in inner.names for inner in walk(function))


def root_name(node: ast.expr) -> str | None:
    """The name that a chain of attributes and items begins with."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def results(function: Function) -> list[ast.expr]:
    """What the `return` statements of a function give back, those without a value and of None left out."""
    return [node.value for node in returns(function) if node.value is not None and not is_none(node.value)]


def is_plain(function: Function, named: bool = False, decorated: bool = False, starred: bool = False) -> bool:
    """Whether a method is neither async, a generator nor, unless `decorated` holds, decorated, and takes no
    keyword-only arguments nor, unless `starred` holds, `*`, nor, unless `named` holds, `**`."""
    arguments = function.args
    return (
        isinstance(function, ast.FunctionDef)
        and (decorated or not function.decorator_list)
        and not (arguments.kwonlyargs or arguments.posonlyargs)
        and (starred or not arguments.vararg)
        and (named or not arguments.kwarg)
        and not any(isinstance(node, ast.Yield | ast.YieldFrom) for node in own_nodes(function))
    )


def self_name(function: Function) -> str:
    """What the method calls its instance, empty for a static method, which has none."""
    if any(isinstance(item, ast.Name) and item.id == "staticmethod" for item in function.decorator_list):
        return ""
    arguments = [*function.args.posonlyargs, *function.args.args]
    return arguments[0].arg if arguments else "self"


def uses(node: ast.AST, name: str) -> list[ast.Name]:
    """Every use of a plain name below a node, nested functions included."""
    return [item for item in walk(node) if isinstance(item, ast.Name) and item.id == name]


def is_bound(use: ast.Name) -> bool:
    """Whether a use of a name binds it, or takes it away, and does not read it."""
    return not isinstance(use.ctx, ast.Load)


def reads(node: ast.AST, name: str) -> list[ast.Name]:
    """Every use of a plain name below a node that needs it bound before, which one that only binds it does not."""
    if any(isinstance(item, ast.Nonlocal) and name in item.names for item in walk(node)):
        return uses(node, name)
    adding = {id(item.target) for item in walk(node) if isinstance(item, ast.AugAssign)}
    return [item for item in uses(node, name) if not isinstance(item.ctx, ast.Store) or id(item) in adding]


_MENTIONED: WeakKeyDictionary[ast.AST, Mapping[str, list[int]]] = WeakKeyDictionary()


def mentions(tree: ast.AST, name: str) -> list[int]:
    """The lines in which a name is read or written by itself, or stands in a string of its own: an alias, a
    lambda, `getattr`. Definitions, `something.name` and what is printed are not among them."""
    if tree not in _MENTIONED:
        _MENTIONED[tree] = _mentioned(tree)
    return _MENTIONED[tree].get(name, [])


def _mentioned(tree: ast.AST) -> dict[str, list[int]]:
    """The same lines of every name and string of a tree, in order."""
    calls = [node for node in walked(tree) if isinstance(node, ast.Call) and _prints(node)]
    printed = {id(item) for call in calls for item in call.args if isinstance(item, ast.Constant)}
    found: dict[str, list[int]] = {}
    for node in walked(tree):
        if isinstance(node, ast.Name):
            found.setdefault(node.id, []).append(node.lineno)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in printed:
            found.setdefault(node.value, []).append(node.lineno)
    return {name: sorted(lines) for name, lines in found.items()}


def _prints(call: ast.Call) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id == "print"


def assigned_once(function: Function, node: ast.expr) -> ast.expr:
    """What a name is assigned in a function, where it is by one statement; what is no such name, as it is."""
    if not isinstance(node, ast.Name):
        return node
    found = [
        each.value
        for each in own_nodes(function)
        if isinstance(each, ast.Assign) and any(is_name(target, node.id) for target in each.targets)
    ]
    return found[0] if len(found) == 1 else node


def assigned_to(space: ast.AST, name: str) -> list[ast.expr]:
    """What the statements `name = value` assign, those of functions inside too."""
    return [
        node.value
        for node in walk(space)
        if isinstance(node, ast.Assign) and any(is_name(target, name) for target in node.targets)
    ]


_ASSIGNED_TO_SELF: WeakKeyDictionary[ast.AST, dict[str, list[ast.Assign | ast.AnnAssign]]] = WeakKeyDictionary()


def self_assignments(function: Function, attribute: str) -> list[ast.Assign | ast.AnnAssign]:
    """The statements `self.attribute = value` of a method itself."""
    if (known := _ASSIGNED_TO_SELF.get(function)) is None:
        known = _ASSIGNED_TO_SELF[function] = {}
        name = self_name(function)
        for node in own_nodes(function):
            targets = (each for each in targets_of(node) if isinstance(each, ast.Attribute))
            for owned in {each.attr for each in targets if name and is_name(each.value, name)}:
                known.setdefault(owned, []).append(node)  # type: ignore[arg-type]
    return list(known.get(attribute, ()))


def targets_of(node: ast.AST) -> list[ast.expr]:
    """What a statement that assigns a value assigns it to; nothing for other nodes."""
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, ast.AnnAssign) and node.value is not None else []


def is_name(node: ast.AST, name: str) -> TypeGuard[ast.Name]:
    """Whether a node is a plain name, this one."""
    return isinstance(node, ast.Name) and node.id == name


def is_of_self(node: ast.AST) -> TypeGuard[ast.Attribute]:
    """Whether a node is an attribute of `self`."""
    return isinstance(node, ast.Attribute) and is_name(node.value, "self")


def is_self_attribute(node: ast.AST, attribute: str, name: str = "self") -> bool:
    """Whether a node is `self.attribute`."""
    return (
        isinstance(node, ast.Attribute)
        and node.attr == attribute
        and isinstance(node.value, ast.Name)
        and node.value.id == name
    )


def is_super(node: ast.AST) -> bool:
    """Whether it is `super()`."""
    plain = isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not (node.args or node.keywords)
    return plain and isinstance(node, ast.Call) and getattr(node.func, "id", "") == "super"


def is_super_call(node: ast.AST, method: str) -> bool:
    """Whether a node is a call `super().method(...)`."""
    return (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == method
        and isinstance(node.func.value, ast.Call)
        and isinstance(node.func.value.func, ast.Name)
        and node.func.value.func.id == "super"
    )


def super_init_index(function: Function) -> int | None:
    """The position of the statement `super().__init__(...)` in a constructor's body, None where it is not
    one of its own top-level statements."""
    for index, statement in enumerate(function.body):
        if isinstance(statement, ast.Expr) and is_super_call(statement.value, "__init__"):
            return index
    return None


def may_return_none(function: Function) -> bool:
    """Whether a function can end without a value: a bare `return`, `return None`, or running off its end."""
    values = [node.value for node in returns(function)]
    if not values or any(value is None or is_none(value) for value in values):
        return True
    return not always_leaves(function.body)


def bound_by(node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
    """The name that one part of an import binds."""
    return alias.asname or (alias.name.partition(".")[0] if isinstance(node, ast.Import) else alias.name)


def is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def is_false(call: ast.Call) -> bool:
    """Whether a call is given False and nothing else."""
    given = [*call.args, *(item.value for item in call.keywords)]
    return len(given) == 1 and isinstance(given[0], ast.Constant) and given[0].value is False


def is_made_frozen(node: ast.expr) -> bool:
    """Whether an expression is `make().requires_grad_(False).eval()`, by the last call that sets it."""
    while isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        if node.func.attr == "requires_grad_":
            return is_false(node)
        node = node.func.value
    return False


def is_last(body: list[ast.stmt], node: ast.stmt) -> bool:
    """Whether nothing of a block is run behind a statement of it, a branch or a `with` at its end included."""
    last = body[-1]
    if isinstance(last, ast.If):
        return is_last(last.body, node) or (bool(last.orelse) and is_last(last.orelse, node))
    return last is node or (isinstance(last, ast.With) and is_last(last.body, node))


def always_leaves(body: list[ast.stmt]) -> bool:
    """Whether a block never runs on to what stands behind it: it ends in a `return` or `raise` on every way."""
    last = body[-1]
    if isinstance(last, ast.Return | ast.Raise):
        return True
    if isinstance(last, ast.If):
        return bool(last.orelse) and always_leaves(last.body) and always_leaves(last.orelse)
    if isinstance(last, ast.With | ast.AsyncWith):
        return always_leaves(last.body)
    if isinstance(last, ast.Try):
        ends = [last.orelse or last.body, *(handler.body for handler in last.handlers)]
        return bool(last.finalbody and always_leaves(last.finalbody)) or all(map(always_leaves, ends))
    return False


def finally_leaves(function: Function) -> bool:
    """Whether a `finally` of a function can end it, or a loop, by itself: a `return` before it is then void."""
    return any(
        isinstance(inner, ast.Return | ast.Break | ast.Continue)
        for node in own_nodes(function)
        if isinstance(node, ast.Try)
        for statement in node.finalbody
        for inner in walk(statement)
    )


def crowded_return(function: Function) -> bool:
    """Whether another statement follows a `return` on its line."""
    for node in [function, *own_nodes(function)]:
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if isinstance(block, list) and any(
                isinstance(first, ast.Return) and second.lineno == first.end_lineno for first, second in pairwise(block)
            ):
                return True
    return False


def taken_name(bindings: Mapping[str, Collection[str]], imports: Iterable[tuple[str, str | None]]) -> str | None:
    """The first name that an import would bind and that a module's own bindings use for something else."""
    for module, name in imports:
        dotted = f"{module}.{name}" if name else module
        last = dotted.rpartition(".")[2]
        for bound in bindings.get(last, ()):
            again = bound.endswith(f".{last}") and bound.startswith(("pytorch_lightning.", "lightning."))
            if bound != dotted and not again:
                return last
    return None


def speaks_of(node: ast.AST, name: str) -> bool:
    """Whether a node is a name, attribute, parameter, keyword or string of that name."""
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and node.value.lstrip("-") == name
    if isinstance(node, ast.arg | ast.keyword):
        return node.arg == name
    return name == getattr(node, "id", None) or name == getattr(node, "attr", None)


def entries_of(node: ast.Dict) -> dict[object, ast.expr]:
    """What a dictionary holds under the keys that are constants."""
    pairs = zip(node.keys, node.values, strict=True)
    return {key.value: value for key, value in pairs if isinstance(key, ast.Constant)}
