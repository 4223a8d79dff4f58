"""What a script's command line says of its values: the type of each option, and which names hold them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from codemods.code.source import AssignNode, CallNode, PythonFile
from codemods.lightning.facts import literal

PARSED = ("parse_args", "parse_known_args")
LIGHTNINGS = "gpus"
"""The kind of Lightning's own option: a number, or text with a comma."""
_TYPES = {"int", "float", "str", "bool"}
_DECLARING = ("add_argument", "add_argparse_args")


@dataclass(frozen=True)
class Options:
    """The kinds of each option's values (`int`, `float`, `number` for a float that is a whole number by default, `str`,
    `bool`, `list` or `?`; None may be among the values of any) and the functions that hand out what was parsed."""

    kinds: Mapping[str, frozenset[str]]
    parsers: frozenset[str]


def read_options(file: PythonFile) -> Options:
    """The options that a file declares."""
    kinds: dict[str, set[str]] = {}
    for call in file.calls_near(_DECLARING):
        function = call.node.func
        if isinstance(function, ast.Attribute) and function.attr == "add_argument" and (name := _dest(call.node)):
            kinds.setdefault(name, set()).add(_kind(call.node))
        elif isinstance(function, ast.Attribute) and function.attr == "add_argparse_args":
            kinds.setdefault("gpus", set()).add(LIGHTNINGS)
    parsers = frozenset(
        item.name
        for call in file.calls_near(PARSED)
        if _is_parse(call.node)
        for item in call.within
        if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    return Options({name: frozenset(found) for name, found in kinds.items()}, parsers)


def default_of(file: PythonFile, call: CallNode, node: ast.expr) -> tuple[bool, object]:
    """What `args.name` is where the command line does not say, as (True, value): the literal default, or None, of the
    file's one option of that name. (False, None) where that is not seen, or something else may come of it."""
    if not isinstance(node, ast.Attribute) or kind_of_option(file, call, node, (read_options(file),)) is None:
        return False, None
    found = [item.node for item in file.calls_near(["add_argument"]) if _dest(item.node) == node.attr]
    if len(found) != 1 or not _is_optional(found[0]) or is_changed(file, node.attr):
        return False, None
    given = {item.arg: item.value for item in found[0].keywords}
    if {"action", "required"} & given.keys():
        return False, None
    return literal(given["default"]) if "default" in given else (True, None)


def is_always_given(file: PythonFile, name: str) -> bool:
    """Whether every option of that name in a file gives a value, whatever the command line says: it is required, or a
    flag."""
    found = [item.node for item in file.calls_near(["add_argument"]) if _dest(item.node) == name]
    plain = bool(found) and all(map(_is_direct, found)) and not is_changed(file, name)
    return plain and all(_is_flag(call) or _is_required(call) for call in found)


def is_direct(file: PythonFile, name: str) -> bool:
    """Whether what the command line says of the options of a name is a value of a plain type, never None."""
    return all(_is_direct(item.node) for item in file.calls_near(["add_argument"]) if _dest(item.node) == name)


def _is_direct(call: ast.Call) -> bool:
    given = {item.arg: item.value for item in call.keywords}
    kind = given.get("type")
    known, choices = literal(given["choices"]) if "choices" in given else (True, ())
    plain = kind is None or (isinstance(kind, ast.Name) and kind.id in _TYPES)
    return plain and not {"nargs", None} & given.keys() and known and None not in choices


def is_changed(file: PythonFile, name: str) -> bool:
    """Whether a file sets an option otherwise than by the command line: by the defaults of its parser, or by the name
    of an attribute."""
    for call in file.calls_near(["set_defaults", "setattr", "update"]):
        function = call.node.func
        told = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        if told == "set_defaults" and any(item.arg in (None, name) for item in call.node.keywords):
            return True
        if (
            told == "setattr"
            and len(call.node.args) > 1
            and literal(call.node.args[1]) in ((True, name), (False, None))
        ):
            return True
        if told == "update" and isinstance(function, ast.Attribute) and _is_dictionary(function.value):
            return True
    return any(
        isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load) and _is_dictionary(node.value)
        for node, _ in file.nodes_near(["vars", "__dict__"])
    )


def _is_dictionary(node: ast.expr) -> bool:
    """Whether an expression is the dictionary of an object."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "vars"
    return isinstance(node, ast.Attribute) and node.attr == "__dict__"


def _is_flag(call: ast.Call) -> bool:
    given = {item.arg for item in call.keywords}
    return _kind(call) == "bool" and "action" in given and "default" not in given


def _is_required(call: ast.Call) -> bool:
    given = {item.arg: item.value for item in call.keywords}
    if "nargs" in given:
        return False
    return not _is_optional(call) or ("required" in given and literal(given["required"]) == (True, True))


def _is_optional(call: ast.Call) -> bool:
    """Whether an option may be left out: its name begins with a dash."""
    first = call.args[0] if call.args else None
    return isinstance(first, ast.Constant) and isinstance(first.value, str) and first.value.startswith("-")


def _dest(call: ast.Call) -> str | None:
    given = next((item.value for item in call.keywords if item.arg == "dest"), None)
    if isinstance(given, ast.Constant) and isinstance(given.value, str):
        return given.value
    names = [item.value for item in call.args if isinstance(item, ast.Constant) and isinstance(item.value, str)]
    long = [name for name in names if name.startswith("--")] or names
    return long[0].lstrip("-").replace("-", "_") if long else None


def _kind(call: ast.Call) -> str:
    given = {item.arg: item.value for item in call.keywords if item.arg}
    action = given.get("action")
    if action is not None:
        flag = isinstance(action, ast.Constant) and action.value in ("store_true", "store_false")
        return "bool" if flag else "?"
    if "nargs" in given:
        nargs = given["nargs"]
        return "list" if isinstance(nargs, ast.Constant) and nargs.value == "+" else "?"
    default = given.get("default")
    plain = default is None or isinstance(default, ast.Constant | ast.UnaryOp)
    value = default.value if isinstance(default, ast.Constant) else None
    kind = given.get("type")
    if kind is None:
        return "str" if plain and (value is None or isinstance(value, str)) else "?"
    if not isinstance(kind, ast.Name) or kind.id not in _TYPES or not plain:
        return "?"
    if kind.id == "int" and isinstance(value, float | str):
        return "?"
    if kind.id == "float" and type(value) in (int, bool):
        return "number"
    return kind.id if kind.id != "str" or value is None or isinstance(value, str) else "?"


def _is_parse(node: ast.expr | None) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in PARSED


def kind_of_option(file: PythonFile, call: CallNode, node: ast.expr, known: Iterable[Options]) -> str | None:
    """The kind of `args.name`, where `args` is what a command line gave and every option of that name has it."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return None
    if any(isinstance(other.ctx, ast.Store) for other in file.attributes(node.attr)):
        return None
    options = tuple(known)
    own = read_options(file).kinds.get(node.attr)
    kinds = own or {kind for item in options for kind in item.kinds.get(node.attr, ())}
    if len(kinds) != 1 or not _is_namespace(file, call, node.value.id, options):
        return None
    return next(iter(kinds))


def _is_namespace(file: PythonFile, call: CallNode, name: str, known: Iterable[Options]) -> bool:
    parsers = {parser for item in known for parser in item.parsers}
    functions = [item for item in call.within if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)]
    assigned = [
        value
        for item in _statements(file, name)
        if not functions or functions[-1] in item.within or not item.within
        for value in [item.node.value]
    ]
    if not assigned:
        every = [
            argument.arg for function in functions for argument in [*function.args.args, *function.args.kwonlyargs]
        ]
        return name in every
    return all(_is_parse(value) or _called(value) in parsers for value in assigned)


def _statements(file: PythonFile, name: str) -> list[AssignNode]:
    direct = file.assignments_to(name)
    unpacked = [
        item
        for item in file.assignments
        if isinstance(item.node, ast.Assign)
        and any(
            isinstance(target, ast.Tuple | ast.List)
            and any(isinstance(part, ast.Name) and part.id == name for part in target.elts)
            for target in item.node.targets
        )
    ]
    return [*direct, *unpacked]


def _called(node: ast.expr | None) -> str | None:
    function = node.func if isinstance(node, ast.Call) else None
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", None)
