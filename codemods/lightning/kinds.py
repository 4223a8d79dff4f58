"""What can be told of a value before the program runs: whether it is a number, some ids, a text."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from codemods.code.calls import innermost
from codemods.code.literals import literal
from codemods.code.nodes import every_node
from codemods.code.outline import Within
from codemods.code.scopes import Scope
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import Function, assigned_once, is_plain, is_shared, results, takes, targets_of
from codemods.lightning.annotated_kinds import kind_of_field, kind_of_held, kind_of_note
from codemods.lightning.attribute_stores import is_rebound
from codemods.lightning.click_options import kind_of_click
from codemods.lightning.computed import kind_of_computed, kind_of_literal
from codemods.lightning.configured_values import kind_of_configured
from codemods.lightning.facts import Facts
from codemods.lightning.file_memo import memo_of
from codemods.lightning.kept_dictionaries import kept_item
from codemods.lightning.options import kind_of_option
from codemods.lightning.parametrized import kind_of_parametrized
from codemods.lightning.stored_kinds import stored_before
from codemods.lightning.values import constants_of

DEEPEST = 3
"""Through how many names a value is followed."""


def is_repeatable(node: ast.expr) -> bool:
    """Whether an expression may be written twice: names, attributes and items, `len` of them, counts of devices."""
    if isinstance(node, ast.Attribute):
        return is_repeatable(node.value)
    if isinstance(node, ast.Subscript):
        return is_repeatable(node.value) and isinstance(node.slice, ast.Constant | ast.Name)
    if isinstance(node, ast.Call):
        plain = not node.keywords and all(map(is_repeatable, node.args))
        return plain and ast.unparse(node.func) in ("len", "int", "torch.cuda.device_count", "torch.cuda.is_available")
    return isinstance(node, ast.Name)


def part_of_choice(file: PythonFile, node: ast.expr) -> str:
    """The text of an expression as an arm, or the question, of `a if b else c`."""
    text = file.source_of(node)
    return f"({text})" if isinstance(node, ast.IfExp | ast.Lambda | ast.NamedExpr) else text


def kind_of(facts: Facts, file: PythonFile, call: CallNode, node: ast.expr, depth: int = 0) -> str:
    """`int` (None and bool may be among its values), `ids` (some, none missing), `str`, `float`, `number` (said to be a
    float, which a whole number is too), `gpus` (what Lightning's own option gave: a number or text with a comma),
    `bool`, `numbers` (a list of whole ones, or one), or `?`."""
    known: dict[tuple[int, int, int], tuple[str, CallNode, ast.expr]] = memo_of(file, facts).setdefault("kinds", {})
    asked = id(call.node), id(node), depth
    if asked not in known:
        known[asked] = _kind_of(facts, file, call, node, depth), call, node
    return known[asked][0]


def _kind_of(facts: Facts, file: PythonFile, call: CallNode, node: ast.expr, depth: int) -> str:
    if literal(node)[0]:
        return kind_of_literal(node)
    if isinstance(node, ast.IfExp):
        kinds = {kind_of(facts, file, call, part, depth) for part in (node.body, node.orelse)}
        return kinds.pop() if len(kinds) == 1 else _kind_of_lists(facts, file, call, node, depth)
    if isinstance(node, ast.List) and node.elts and not any(isinstance(item, ast.Starred) for item in node.elts):
        return "ids"
    if isinstance(node, ast.ListComp):
        source = node.generators[0].iter
        split = isinstance(source, ast.Call) and isinstance(source.func, ast.Attribute) and source.func.attr == "split"
        return "ids" if split and len(node.generators) == 1 and not node.generators[0].ifs else "?"
    if isinstance(node, ast.Name) and depth < DEEPEST:
        kind = _kind_of_name(facts, file, call, node.id, depth)
        return _kind_of_all(facts, file, call, node) if kind == "?" else kind
    if isinstance(node, ast.Attribute):
        return _kind_of_attribute(facts, file, call, node)
    kind = kind_of_computed(call.scope, node)
    if kind == "?" and isinstance(node, ast.Subscript):
        kept = kept_item(file, call.within, node)
        kind = _kind_of_all(facts, file, call, kept) if kept else "?"
        return kind_of_configured(facts, file, call, node) if kind == "?" else kind
    return _kind_of_returned(facts, file, call, node) if kind == "?" and isinstance(node, ast.Call) else kind


def _kind_of_returned(facts: Facts, file: PythonFile, call: CallNode, node: ast.Call) -> str:
    """The kind of all that a function of the project gives back, where that is written or worked out at its returns;
    `numbers` where it is whole ones, or lists of them."""
    dotted = call.scope.resolve(node.func)
    found = facts.find_definition(dotted, file.path) if dotted else None
    home, function = found or (file, None)
    if not isinstance(function, ast.FunctionDef) or not is_plain(function, named=True, starred=True):
        return "?"
    if is_rebound(facts, home.path, function.name) or len(home.scope.bindings.get(function.name, ())) > 1:
        return "?"
    scope, values = home.scope_within((function,)), [assigned_once(function, each) for each in results(function)]
    kinds = {_kind_of_one(scope, each) for each in values}
    if kinds == {"ids"}:
        return "numbers"
    return kinds.pop() if len(kinds) == 1 else "numbers" if kinds and kinds <= {"int", "ids", "numbers"} else "?"


def _kind_of_one(scope: Scope, value: ast.expr) -> str:
    if _is_list_of_ids(value):
        return "numbers"
    return kind_of_literal(value) if literal(value)[0] else kind_of_computed(scope, value)


def _kind_of_attribute(facts: Facts, file: PythonFile, call: CallNode, node: ast.Attribute) -> str:
    kind = kind_of_option(facts, file, call, node) or _kind_of_all(facts, file, call, node)
    if kind == "?":
        kind = kind_of_configured(facts, file, call, node)
    if kind == "?" and (value := stored_before(facts, file, call, node)) is not None:
        kind = kind_of_computed(file.scope, value)
    for told in (kind_of_field, kind_of_held):
        kind = told(facts, file, call, node) if kind == "?" else kind
    return kind


def _kind_of_all(facts: Facts, file: PythonFile, call: CallNode, node: ast.expr) -> str:
    """The kind of all that an expression may be, where all that is known."""
    found = constants_of(facts, file, call.within, node)
    kinds = found.kinds
    return next(iter(kinds)) if len(kinds) == 1 and not found.called else "?"


def _kind_of_name(facts: Facts, file: PythonFile, call: CallNode, name: str, depth: int) -> str:
    values = bound_to(facts, file, call, name)
    if len(values) == 1:
        return kind_of(facts, file, call, values[0], depth + 1)
    if values:
        return _kind_of_any(facts, file, call, values, depth)
    function = innermost(call.within, ast.FunctionDef)
    if function is None:
        return "?"
    kind = _kind_of_parameter(file, function, name)
    if kind == "?" or not is_stored(function, name):
        return kind
    given = _assigned(file, function, name) if depth < DEEPEST else None
    parts = [part for value in given or () for part in _arms(value, name)]
    same = given and all(kind_of(facts, file, call, part, depth + 1) == kind for part in parts)
    return kind if same else "?"


def _arms(node: ast.expr, name: str) -> list[ast.expr]:
    """What a value may be besides what a name was before: the arms of a choice, but for that name."""
    if isinstance(node, ast.IfExp):
        return [*_arms(node.body, name), *_arms(node.orelse, name)]
    return [] if isinstance(node, ast.Name) and node.id == name else [node]


def _kind_of_parameter(file: PythonFile, function: ast.FunctionDef, name: str) -> str:
    """The kind that an annotation, click or pytest states of a parameter."""
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    annotation = next((item.annotation for item in every if item.arg == name), None)
    if annotation is None and any(item.arg == name for item in every):
        kind = kind_of_click(file, function, name)
        return kind_of_parametrized(file, function, name) if kind == "?" else kind
    return kind_of_note(file.scope, annotation)


def _kind_of_lists(facts: Facts, file: PythonFile, call: CallNode, node: ast.IfExp, depth: int) -> str:
    """`numbers` where a choice is between lists of whole numbers, or one, and one of them, or nothing; else `?`."""
    found = _kind_of_any(facts, file, call, (node.body, node.orelse), depth)
    return found if found == "numbers" else "?"


def _kind_of_any(facts: Facts, file: PythonFile, call: CallNode, values: Sequence[ast.expr], depth: int) -> str:
    """The kind of one of several values; numbers and lists of them are `numbers`."""
    kinds = {
        "ids" if _is_list_of_ids(value) else kind_of(facts, file, call, value, depth + 1)
        for value in values
        if literal(value) != (True, None)
    }
    missing = any(literal(value) == (True, None) for value in values)
    if len(kinds) == 1 and not (missing and "ids" in kinds):
        return kinds.pop()
    return "numbers" if kinds and kinds <= {"int", "ids", "numbers"} else "?"


def _is_list_of_ids(node: ast.expr) -> bool:
    value = literal(node)[1]
    return isinstance(value, list) and bool(value) and all(type(item) is int for item in value)


def is_stored(space: ast.AST, name: str) -> bool:
    """Whether a name is bound anywhere below a node."""
    return any(
        isinstance(node, ast.Name) and node.id == name and type(node.ctx) is ast.Store for node in every_node(space)
    )


def bound_once(facts: Facts, file: PythonFile, call: CallNode, name: str) -> ast.expr | None:
    """The value of a name that the call's function, or else the module alone, binds by one plain assignment."""
    values = bound_to(facts, file, call, name)
    return values[0] if len(values) == 1 else None


def bound_to(facts: Facts, file: PythonFile, call: CallNode, name: str) -> list[ast.expr]:
    """The values of a name that the call's function, or else the module, binds by plain assignments alone; none where
    another file may bind it before the call."""
    space, values = _stated(file, call, name)
    later = bool(values) and space is file.tree and any(isinstance(item, Function) for item in call.within)
    shared = later and is_rebound(facts, file.path, name)
    return [] if shared else values


def stated_once(file: PythonFile, call: CallNode, name: str) -> ast.expr | None:
    """The one value that the file itself states for a name where a call stands."""
    values = _stated(file, call, name)[1]
    return values[0] if len(values) == 1 else None


def _is_of_another(within: Within, space: ast.AST, name: str) -> bool:
    """Whether what stands below some nodes binds a name of a function, class or comprehension inside a space, and not
    the space's."""
    around = next((item for item in reversed(within) if not isinstance(item, ast.Tuple | ast.List | ast.Starred)), None)
    inner = [item for item in within if item is not space and isinstance(item, Function | ast.Lambda | ast.ClassDef)]
    return isinstance(around, ast.comprehension) or (bool(inner) and not is_shared(inner[-1], name))


def _stated(file: PythonFile, call: CallNode, name: str) -> tuple[ast.AST, list[ast.expr]]:
    """The space that binds a name where a call stands, with the values if these are plain assignments alone."""
    functions = [item for item in call.within if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)]
    for space in [*reversed(functions), file.tree]:
        values = _assigned(file, space, name)
        if takes(space, name):
            return space, []
        if values or values is None:
            return space, values or []
    return file.tree, []


def _assigned(file: PythonFile, space: ast.AST, name: str) -> list[ast.expr] | None:
    """The values that a space gives a name by plain assignments; None where it binds it otherwise too."""
    stores = [
        node
        for node, within in file.nodes_near([name], space)
        if isinstance(node, ast.Name) and node.id == name and type(node.ctx) is ast.Store
        if not _is_of_another(within, space, name)
    ]
    if not stores:
        return []
    values = [
        node.value
        for node, _ in file.nodes_near([name], space)
        if isinstance(node, ast.Assign | ast.AnnAssign)
        and node.value is not None
        and any(target in stores for target in targets_of(node))
    ]
    return values if len(stores) == len(values) else None
