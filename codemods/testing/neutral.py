"""Edits of a program's text that change nothing of what the program does.

Each is a function of a text that yields edited texts with the line at which each was made; `EDITS` names them.

Not among them is what one file does not show to change nothing: another file, a subclass or a method may put something
else on a class, an object, a dictionary of the module or a function of it, a property may do something when it is set,
and somebody may answer a guard that raises. So there are no constants of classes, dataclasses, namespaces,
dictionaries, properties and functions, no functions of the module that hand on, no attributes set to themselves and no
such guards.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping

from codemods.testing.neutral_asides import ASIDES
from codemods.testing.neutral_calls import CALLS
from codemods.testing.neutral_classes import CLASSES
from codemods.testing.neutral_data import DATA
from codemods.testing.neutral_flow import FLOW
from codemods.testing.neutral_forms import FORMS
from codemods.testing.neutral_handing import HANDING
from codemods.testing.neutral_lines import (
    annotate,
    annotate_parameter,
    base,
    behind,
    blank_lines,
    called_at_once,
    decorator,
    delete,
    docstring,
    else_pass,
    helper_method,
    local_function,
    onto_itself,
    second_name,
    type_comment,
    unrelated,
    wrap,
    wrapping_decorator,
)
from codemods.testing.neutral_members import MEMBERS
from codemods.testing.neutral_places import PLACES
from codemods.testing.neutral_program import (
    SCOPES,
    Edited,
    Function,
    Program,
    assignments,
    is_plain,
    stores,
    with_import,
)
from codemods.testing.neutral_rows import ROWS
from codemods.testing.neutral_settled import SETTLED
from codemods.testing.neutral_shapes import SHAPES
from codemods.testing.neutral_values import VALUES
from codemods.testing.neutral_wrappers import WRAPPERS


def import_alias(program: Program) -> Edited:
    names = [node for node in ast.walk(program.tree) if isinstance(node, ast.Name)]
    for node in program.tree.body:
        if not isinstance(node, ast.Import | ast.ImportFrom) or not program.is_alone(node):
            continue
        if len(node.names) != 1 or (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            continue
        known = node.names[0].asname or node.names[0].name
        if "." in known or known == "*" or any(item.id == known and isinstance(item.ctx, ast.Store) for item in names):
            continue
        head = f"from {'.' * node.level}{node.module or ''} " if isinstance(node, ast.ImportFrom) else ""
        new = f"{head}import {node.names[0].name} as renamed_{known}"
        uses = [(item, f"renamed_{known}") for item in names if item.id == known]
        yield node.lineno, program.replace((node, new), *uses)


def keyword_variable(program: Program) -> Edited:
    for owner, block in program.blocks():
        for node in block:
            if isinstance(owner, ast.ClassDef) or isinstance(node, (*SCOPES, ast.For, ast.While, ast.With, ast.If)):
                continue
            for call in ast.walk(node):
                if not isinstance(call, ast.Call) or not program.is_alone(node):
                    continue
                for keyword in call.keywords:
                    if keyword.arg and isinstance(keyword.value, ast.Constant):
                        name = f"given_{keyword.arg}"
                        text = program.replace((keyword.value, name))
                        value = f"{program.indent(node)}{name} = {program.source(keyword.value)}"
                        yield call.lineno, Program(text).put(node.lineno - 1, value)


def return_variable(program: Program) -> Edited:
    for owner, block in program.blocks():
        for node in block:
            if isinstance(owner, Function) and isinstance(node, ast.Return) and node.value and program.is_alone(node):
                text = program.replace((node, f"given_back = {program.source(node.value)}"))
                yield node.lineno, Program(text).put(node.end_lineno or 0, f"{program.indent(node)}return given_back")


def walrus(program: Program) -> Edited:
    for _, node, name in assignments(program):
        value = program.source(node.value)
        if not isinstance(node.value, ast.Yield | ast.Tuple) or value.startswith("("):
            yield node.lineno, program.replace((node, f"({name} := {value})"))


def in_a_tuple(program: Program) -> Edited:
    for _, node, name in assignments(program):
        value = program.source(node.value)
        if not isinstance(node.value, ast.Tuple | ast.Yield):
            yield node.lineno, program.replace((node, f"{name}, unused = {value}, None"))


def conditional(program: Program) -> Edited:
    for _, node, _name in assignments(program):
        value = program.source(node.value)
        if "\n" not in value and not isinstance(node.value, ast.Tuple | ast.Yield | ast.Lambda | ast.IfExp):
            yield node.lineno, program.replace((node.value, f"{value} if __debug__ else {value}"))
    for call in ast.walk(program.tree):
        if not isinstance(call, ast.Call):
            continue
        for keyword in call.keywords:
            if keyword.arg and isinstance(keyword.value, ast.Constant):
                value = program.source(keyword.value)
                yield call.lineno, program.replace((keyword.value, f"{value} if __debug__ else {value}"))


def partial(program: Program) -> Edited:
    for call in ast.walk(program.tree):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name | ast.Attribute) and call.keywords:
            name = call.func.id if isinstance(call.func, ast.Name) else call.func.attr
            if name[:1].isupper() and not call.args and "\n" not in program.source(call):
                inside = ", ".join([program.source(call.func), *map(program.source, call.keywords)])
                new = program.replace((call, f"functools.partial({inside})()"))
                yield call.lineno, with_import(new, "import functools")


def keyword_order(program: Program) -> Edited:
    for call in ast.walk(program.tree):
        keywords = call.keywords if isinstance(call, ast.Call) else []
        if len(keywords) > 1 and all(item.arg and isinstance(item.value, ast.Constant | ast.Name) for item in keywords):
            swapped = zip(keywords, reversed(keywords), strict=True)
            yield call.lineno, program.replace(*((one, program.source(other)) for one, other in swapped))  # type: ignore[attr-defined]


def quotes(program: Program) -> Edited:
    found = [
        (node, f"'{node.value}'")
        for node in ast.walk(program.tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and program.source(node) == f'"{node.value}"'
        if "'" not in node.value and "\\" not in node.value
    ]
    if found and not any(isinstance(node, ast.JoinedStr) for node in ast.walk(program.tree)):
        yield found[0][0].lineno, program.replace(*found)


def cast(program: Program) -> Edited:
    for _, node, _name in assignments(program):
        if is_plain(node.value):
            new = program.replace((node.value, f"cast(object, {program.source(node.value)})"))
            yield node.lineno, with_import(new, "from typing import cast")


def starred(program: Program) -> Edited:
    for call in ast.walk(program.tree):
        if not isinstance(call, ast.Call):
            continue
        given = call.args
        if given and not any(isinstance(item, ast.Starred | ast.GeneratorExp) for item in given) and _is_method(call):
            changes = [
                (item, f"*[{program.source(item)}]" if item is given[-1] else program.source(item)) for item in given
            ]
            yield call.lineno, program.replace(*changes)


def spread(program: Program) -> Edited:
    for call in ast.walk(program.tree):
        if not isinstance(call, ast.Call):
            continue
        for keyword in call.keywords:
            if keyword.arg and isinstance(keyword.value, ast.Constant | ast.Name):
                value = program.source(keyword.value)
                yield call.lineno, program.replace((keyword, f'**{{"{keyword.arg}": {value}}}'))


def chained(program: Program) -> Edited:
    for _, node, name in assignments(program):
        yield node.lineno, program.replace((node.targets[0], f"also = {name}"))


def getattr_constant(program: Program) -> Edited:
    for node in ast.walk(program.tree):
        owner = node.value if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) else None
        if isinstance(node, ast.Attribute) and isinstance(owner, ast.Name) and owner.id == "self":
            yield node.lineno, program.replace((node, f'getattr(self, "{node.attr}")'))


def parentheses(program: Program) -> Edited:
    for _, node, _name in assignments(program):
        if is_plain(node.value):
            yield node.lineno, program.replace((node.value, f"({program.source(node.value)})"))


def _is_method(call: ast.AST) -> bool:
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)


def moved(text: str, path: str, *, by_star: bool = False) -> tuple[str, str] | None:
    """The text without its classes, which are imported from `parts`, by name or by a star, and the text of `parts`, a
    module beside it."""
    program = Program(text)
    classes = [node for node in program.tree.body if isinstance(node, ast.ClassDef)]
    head = [node for node in program.tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    rest = [node for node in program.tree.body if node not in classes and node not in head]
    said = {node.id for item in classes for node in ast.walk(item) if isinstance(node, ast.Name)}
    bound = {node.id for item in rest for node in ast.walk(item) if isinstance(node, ast.Name)}
    local = {node.id for item in rest for node in ast.walk(item) if isinstance(node, ast.Name) and stores(node)}
    local |= {item.name for item in rest if isinstance(item, Function)}
    used = [item.name for item in classes if item.name in bound]
    if not classes or not rest or not used or said & local or "/" in path:
        return None

    def lines(items: Iterable[ast.AST]) -> str:
        return "".join(f"{program.source(item)}\n" for item in items)

    parts = lines(head) + "".join(
        "\n\n"
        + "".join(program.lines[min([item.lineno, *(one.lineno for one in item.decorator_list)]) - 1 : item.end_lineno])
        for item in classes
    )
    names = "*" if by_star else ", ".join(used)
    return f"{lines(head)}from parts import {names}\n\n{lines(rest)}", parts


EDITS: Mapping[str, Callable[[Program], Edited]] = {
    "print": behind("print({name})"),
    "assert type": behind("assert isinstance({name}, object)"),
    "assert not none": behind("assert {name} is not Ellipsis"),
    "len, id, repr": behind("id({name})", "repr({name})"),
    "f-string": behind('said = f"{{{name}}}"'),
    "logging": behind('logging.info("%s", {name})', top="import logging"),
    "logger": behind('logging.getLogger("here").debug("%s is set", {name})', top="import logging"),
    "warning": behind("warnings.warn(str({name}))", top="import warnings"),
    "kept unused": behind("kept = {name}"),
    "shadowed in a list": behind("apart = [{name} for {name} in ()]"),
    "shadowed in a lambda": behind("apart = lambda {name}: {name}"),
    "shadowed in a function": behind("def apart({name}):", "    return {name}"),
    "second name": second_name,
    "annotate": annotate,
    "annotate parameter": annotate_parameter,
    "nullcontext": wrap("with contextlib.nullcontext():", top="import contextlib"),
    "try finally": wrap("try:", "finally:", "    pass"),
    "if true": wrap("if True:"),
    "import alias": import_alias,
    "base class": base,
    "keyword variable": keyword_variable,
    "return variable": return_variable,
    "walrus": walrus,
    "tuple": in_a_tuple,
    "conditional": conditional,
    "decorator": decorator,
    "helper method": helper_method,
    "partial": partial,
    "keyword order": keyword_order,
    "quotes": quotes,
    "type comment": type_comment,
    "docstring": docstring,
    "blank lines": blank_lines,
    "unrelated": unrelated,
    "delete": delete,
    "called at once": called_at_once,
    "cast": cast,
    "starred": starred,
    "spread": spread,
    "onto itself": onto_itself,
    "chained": chained,
    "getattr": getattr_constant,
    "parentheses": parentheses,
    "else pass": else_pass,
    "local function": local_function,
    "wrapping decorator": wrapping_decorator,
    "suppress nothing": wrap("with contextlib.suppress():", top="import contextlib"),
    "one turn": wrap("for _ in range(1):"),
    "match": wrap("match 0:", deeper="case _:"),
    "pass": behind("pass"),
    **VALUES,
    **SHAPES,
    **CLASSES,
    **FORMS,
    **HANDING,
    **WRAPPERS,
    **CALLS,
    **PLACES,
    **DATA,
    **ROWS,
    **FLOW,
    **ASIDES,
    **SETTLED,
    **MEMBERS,
}
