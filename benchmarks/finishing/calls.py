"""Names that are not there, and calls with arguments or values that the installed Lightning refuses."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from typing import Any

from benchmarks.finishing import installed
from benchmarks.finishing.files import File, Violation
from benchmarks.finishing.program import Class, Program, is_super
from benchmarks.finishing.scopes import Scope, from_module

ROOT = re.compile(r"^(lightning\.pytorch|pytorch_lightning|lightning)\b")
REFUSED_BEHIND = {("manual_backward", 2), ("manual_backward", 3)}
"""Numbers of positional arguments that the signature lets through, and what it hands them to refuses."""
NEVER_TAKEN = {
    "DDPStrategy": {"num_nodes", "sync_batchnorm"},
    "PyTorchProfiler": {"profiled_functions", "output_filename"},
}
"""Arguments that `**kwargs` lets through, which are refused behind it."""


def spelled(dotted: str) -> str:
    """A dotted name with the package under one name, whichever the project imports."""
    return ROOT.sub("pl", dotted)


def names(program: Program, file: File) -> Iterator[Violation]:
    """Imports and attribute chains that lead nowhere."""
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Import):
            asked = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            module = from_module(node, file)
            asked = [module if alias.name == "*" else f"{module}.{alias.name}" for alias in node.names]
        else:
            continue
        for dotted, alias in zip(asked, node.names, strict=True):
            if program.is_lightning(dotted) and installed.first_missing(dotted):
                yield file.violation(alias.lineno, "name", spelled(dotted))
    yield from _chains(program, file)


def _chains(program: Program, file: File) -> Iterator[Violation]:
    inner = {node.value for node in ast.walk(file.tree) if isinstance(node, ast.Attribute)}
    for node in ast.walk(file.tree):
        if not isinstance(node, ast.Attribute) or node in inner or node not in program.scopes:
            continue
        dotted = program.dotted(node, program.scopes[node])
        if not dotted or not program.is_lightning(dotted):
            continue
        missing = installed.first_missing(dotted)
        length = len(ast.unparse(node).split(".")) - 1
        written = dotted.split(".")[: len(dotted.split(".")) - length]
        if missing and len(missing.split(".")) > len(written):
            yield file.violation(node.end_lineno or node.lineno, "name", spelled(missing))
    yield from _of_classes(program, file, inner)


def _of_classes(program: Program, file: File, inner: set[ast.expr]) -> Iterator[Violation]:
    """What classes of the project have no more from Lightning's: `MyModule.add_argparse_args`."""
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            found = program.class_of(node.value, program.scopes[node])
            own = isinstance(found, Class) and not program.defines(found, node.attr)
            if found and own and any(installed.gone(each, node.attr) for each in program.lightning(found)[:1]):
                what = f"{_kind(program, found)}.{node.attr}"
                yield file.violation(node.end_lineno or node.lineno, "attribute", what)


def _kind(program: Program, item: Class | type) -> str:
    lightning = program.lightning(item)
    return lightning[0].__name__ if lightning else "?"


def calls(program: Program, file: File) -> Iterator[Violation]:
    """Calls of what Lightning has, that it does not take."""
    for node in ast.walk(file.tree):
        if isinstance(node, ast.Call):
            scope = program.scopes[node]
            target, name, bound = _target(program, node, scope)
            if target is not None:
                yield from _against(program, file, node, scope, target, name, bound)


def _target(program: Program, node: ast.Call, scope: Scope) -> tuple[Any, str, int]:
    """What is called, by which name it is told, and how many positional arguments are given without being written."""
    function = node.func
    metric = program.dotted(function, scope) or ""
    if metric.startswith(f"{installed.METRICS}."):
        if not program.asks_for_tasks:
            return None, "", 0
        thing = installed.find(metric)
        return (thing, metric, 0) if callable(thing) else (None, "", 0)
    if ast.unparse(function).rpartition(".")[2] == "partial" and node.args:
        inner = program.class_of(node.args[0], scope)
        made = _constructor(program, inner) if inner else None
        return (made, f"{_kind(program, inner)}*", 0) if made and inner else (None, "", 0)
    if found := program.class_of(function, scope):
        return _constructor(program, found), _kind(program, found), 0
    if isinstance(function, ast.Attribute):
        return _method(program, function, scope)
    dotted = program.dotted(function, scope)
    thing = installed.find(dotted) if dotted and program.is_lightning(dotted) else installed.MISSING
    return (thing, spelled(dotted), 0) if inspect.isfunction(thing) else (None, "", 0)


def _constructor(program: Program, found: Class | type) -> Any:
    if isinstance(found, type):
        return found
    chain = program.chain(found)
    for each in chain:
        if isinstance(each, Class) and {"__init__", "__new__"} & {getattr(item, "name", "") for item in each.node.body}:
            return None
        if each is None:
            return None
        if isinstance(each, type):
            return each
    return None


def _method(program: Program, function: ast.Attribute, scope: Scope) -> tuple[Any, str, int]:
    """A method of an object of Lightning, or of what `super()` leads to."""
    holder: Class | type | None
    if is_super(function.value) and scope.owner:
        holder = program.classes[scope.owner]
        chain = program.chain(holder)[1:]
    elif instance := program.instance(function.value, scope):
        holder = instance.of
        chain = program.chain(holder) if isinstance(holder, Class) else [holder]
    else:
        return _plain(program, function, scope)
    for each in chain:
        if each is None:
            return None, "", 0
        if isinstance(each, Class) and any(getattr(item, "name", "") == function.attr for item in each.node.body):
            return None, "", 0
        if isinstance(each, type) and inspect.isfunction(method := inspect.getattr_static(each, function.attr, None)):
            return (method, _told(each, function.attr), 1) if "lightning" in each.__module__ else (None, "", 0)
    return None, "", 0


def _told(item: type, method: str) -> str:
    return item.__name__ if method == "__init__" else f"{item.__name__}.{method}"


def _plain(program: Program, function: ast.Attribute, scope: Scope) -> tuple[Any, str, int]:
    dotted = program.dotted(function, scope)
    thing = installed.find(dotted) if dotted and program.is_lightning(dotted) else installed.MISSING
    return (thing, spelled(dotted), 0) if inspect.isfunction(thing) else (None, "", 0)


def _against(
    program: Program, file: File, node: ast.Call, scope: Scope, target: Any, name: str, bound: int
) -> Iterator[Violation]:
    """Each argument that the signature does not take, each value that Trainer refuses, and what is not given."""
    signature = installed.signature(target)
    module = getattr(target, "__module__", "")
    if signature is None or not any(package in module for package in ("lightning", installed.METRICS)):
        return
    partial, name = name.endswith("*"), name.rstrip("*")
    if inspect.isclass(target) and installed.only_raises(target):
        yield file.violation(node.lineno, "name", f"{name}(...)")
        return
    parameters = list(signature.parameters.values())[bound:]
    keywords = {each.name for each in parameters if each.kind in (each.KEYWORD_ONLY, each.POSITIONAL_OR_KEYWORD)}
    everything = any(each.kind is each.VAR_KEYWORD for each in parameters)
    given = list(_given(node, scope))
    for keyword, value, line in given:
        if (keyword not in keywords and not everything) or keyword in NEVER_TAKEN.get(name, ()):
            yield file.violation(line, "argument", f"{name}({keyword}=)")
        elif inspect.isclass(target) and target.__name__ == "Trainer":
            yield from _value(file, keyword, value, line)
    written = node.args[1:] if partial else node.args
    if not any(isinstance(each, ast.Starred) for each in written):
        whole = not partial and all(each.arg for each in node.keywords)
        for what in _by_place(parameters, len(written), {keyword for keyword, *_ in given}, name, whole):
            yield file.violation(node.lineno, "argument", f"{name}({what})")


def _by_place(
    parameters: list[inspect.Parameter], written: int, given: set[str], name: str, whole: bool
) -> Iterator[str]:
    """Whether there are too many positional arguments, and what is asked for and not given."""
    positional = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    many = any(each.kind is each.VAR_POSITIONAL for each in parameters)
    if (written > len(positional) and not many) or (name.rpartition(".")[2], written) in REFUSED_BEHIND:
        yield "positional"
    elif whole:
        taken = {each.name for each in positional[:written]} | given
        for each in parameters:
            star = each.kind in (each.VAR_KEYWORD, each.VAR_POSITIONAL)
            if each.default is each.empty and each.name not in taken and not star:
                yield f"without {each.name}="


def _given(node: ast.Call, scope: Scope) -> Iterator[tuple[str, ast.expr, int]]:
    """The keywords of a call, with those that a dictionary brings along."""
    for keyword in node.keywords:
        if keyword.arg:
            yield keyword.arg, keyword.value, keyword.lineno
        else:
            yield from _items(keyword.value, scope)


def _items(node: ast.expr, scope: Scope) -> Iterator[tuple[str, ast.expr, int]]:
    """The items of a dictionary that is written out, here or where its name is bound."""
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value, value, key.lineno
            elif key is None:
                yield from _items(value, scope)
    elif isinstance(node, ast.Call) and ast.unparse(node.func) == "dict":
        for keyword in node.keywords:
            if keyword.arg:
                yield keyword.arg, keyword.value, keyword.lineno
    elif isinstance(node, ast.Name) and (found := scope.lookup(node.id)):
        where, bindings = found
        if all(isinstance(each, ast.Dict | ast.Call) for each in bindings):
            for each in bindings:
                yield from _items(each, where)  # type: ignore[arg-type]
            yield from _stored(node.id, where)


def _stored(name: str, scope: Scope) -> Iterator[tuple[str, ast.expr, int]]:
    """What is put into a dictionary by `name["key"] = value` in the function that makes it."""
    for node in ast.walk(scope.node):
        for target in node.targets if isinstance(node, ast.Assign) else []:
            match target:
                case ast.Subscript(ast.Name(stored), ast.Constant(str(key))) if stored == name:
                    yield key, node.value, target.lineno


def _value(file: File, argument: str, node: ast.expr, line: int) -> Iterator[Violation]:
    for each in _alternatives(node):
        try:
            value = ast.literal_eval(each)
        except (ValueError, TypeError, SyntaxError, MemoryError):
            continue
        if installed.refused(argument, value):
            yield file.violation(line, "value", f"Trainer({argument}={ast.unparse(each)})")


def _alternatives(node: ast.expr) -> Iterator[ast.expr]:
    """Both ends of a conditional expression."""
    if isinstance(node, ast.IfExp):
        yield from _alternatives(node.body)
        yield from _alternatives(node.orelse)
    else:
        yield node
