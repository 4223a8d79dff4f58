"""Edits that write the parts of a class elsewhere, and change nothing of what the program does."""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence

from codemods.testing.neutral_program import Edited, Program, first_line, has_long, says, with_import

Methods = Sequence[ast.FunctionDef]
PRIVATE = re.compile(r"__\w*[^_]_?$")


def _classes(program: Program) -> Iterator[ast.ClassDef]:
    for node in program.tree.body:
        said = (getattr(item, "attr", getattr(item, "id", "")) for item in ast.walk(node))
        if isinstance(node, ast.ClassDef) and not any(PRIVATE.match(str(name)) for name in said):
            yield node


def _methods(node: ast.ClassDef) -> list[ast.FunctionDef]:
    return [item for item in node.body if isinstance(item, ast.FunctionDef)]


def _text(program: Program, node: ast.stmt) -> str:
    return "".join(program.lines[first_line(node) - 1 : node.end_lineno]).rstrip("\n") + "\n"


def half(choose: Callable[[Methods], Methods], mixed: bool) -> Callable[[Program], Edited]:
    """Some methods of a class in a base of its own, or in one that is mixed in."""

    def edit(program: Program) -> Edited:
        for node in _classes(program):
            methods = choose(_methods(node))
            names = {item.name for item in _methods(node)}
            plain = not node.decorator_list and not node.keywords and len(node.bases) == 1
            if not methods or not plain or len(methods) == len(node.body) or len(names) < len(_methods(node)):
                continue
            if any(says(item, node.name) for item in methods):
                continue
            base = program.source(node.bases[0])
            gone = {line for item in methods for line in range(first_line(item), (item.end_lineno or 0) + 1)}
            rest = [line for number, line in enumerate(program.lines, 1) if number not in gone]
            own = f"class Half{node.name}:\n" if mixed else f"class Half{node.name}({base}):\n"
            part = own + "\n".join(_text(program, item) for item in methods)
            head, new = f"{node.name}({base})", f"Half{node.name}, {base}" if mixed else f"Half{node.name}"
            at = first_line(node) - 1
            rest[at] = rest[at].replace(head, f"{node.name}({new})")
            yield node.lineno, "".join([*rest[:at], part, "\n\n", *rest[at:]])

    return edit


def _first_half(methods: Methods) -> Methods:
    plain = [item for item in methods if item.name != "__init__"]
    return plain[: max(1, len(plain) // 2)]


def _hooks(methods: Methods) -> Methods:
    return [item for item in methods if item.name.endswith(("_step", "_end")) or item.name.startswith("on_")]


def made_by_a_function(program: Program) -> Edited:
    for node in _classes(program):
        if node.decorator_list or len(node.bases) != 1 or node.keywords or has_long(program.tree) or says(node, "base"):
            continue
        base = program.source(node.bases[0])
        body = textwrap.indent(_text(program, node), "    ").replace(f"{node.name}({base})", f"{node.name}(base)", 1)
        new = f"def make(base):\n{body}\n    return {node.name}\n\n\n{node.name} = make({base})\n"
        yield node.lineno, "".join([*program.lines[: node.lineno - 1], new, *program.lines[node.end_lineno or 0 :]])


def _as_function(program: Program, method: ast.FunctionDef) -> str:
    return textwrap.dedent(_text(program, method)).replace(f"def {method.name}(", f"def whole_{method.name}(", 1)


def _free(program: Program, node: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    """The methods that may be functions of the module."""
    for method in _methods(node):
        plain = not method.decorator_list and not method.name.startswith("__") and program.is_alone(method)
        if plain and not says(method, "super", "__class__") and not has_long(program.tree) and not method.args.defaults:
            yield method


def taken_for_a_method(program: Program) -> Edited:
    for node in _classes(program):
        for method in _free(program, node):
            lines, top, first = program.lines, first_line(node) - 1, first_line(method) - 1
            taken = f"    {method.name} = whole_{method.name}\n"
            rest = [*lines[top:first], taken, *lines[method.end_lineno or 0 :]]
            yield method.lineno, "".join([*lines[:top], _as_function(program, method), "\n\n", *rest])


def set_behind(program: Program) -> Edited:
    for node in _classes(program):
        for method in _free(program, node):
            if len(node.body) > 1 and not node.decorator_list:
                lines, end = program.lines, node.end_lineno or 0
                kept = [*lines[: first_line(method) - 1], *lines[method.end_lineno or 0 : end]]
                new = f"{_as_function(program, method)}\n\n{node.name}.{method.name} = whole_{method.name}\n"
                yield method.lineno, "".join([*kept, "\n\n", new, *lines[end:]])


def answered_by_a_method(program: Program) -> Edited:
    """The test of each `if` of a method by a method of its own."""
    for node in _classes(program):
        for method in _methods(node):
            names = [item.arg for item in ast.walk(method.args) if isinstance(item, ast.arg)]
            stored = {item.id for item in ast.walk(method) if isinstance(item, ast.Name) and not _is_read(item)}
            for item in ast.walk(method):
                plain = isinstance(item, ast.If) and not says(item.test, "super")
                if not plain or not isinstance(item, ast.If) or names[:1] != ["self"]:
                    continue
                said = {each.id for each in ast.walk(item.test) if isinstance(each, ast.Name)}
                given = ", ".join(sorted(said & (stored | {*names}) - {"self"}))
                if (
                    stored
                    & said
                    & {each.id for each in ast.walk(item.test) if isinstance(each, ast.Name) and not _is_read(each)}
                ):
                    continue
                text = Program(program.replace((item.test, f"self._holds({given})")))
                head = f"    def _holds({', '.join(filter(None, ['self', given]))}):"
                answer = f"        return {program.source(item.test)}"
                yield item.lineno, text.put(method.end_lineno or 0, "", head, answer)


def _is_read(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Load)


def by_a_property(program: Program) -> Edited:
    """What a method of the instance gives, without arguments, by a property."""
    for node in _classes(program):
        for method in _methods(node):
            for item in method.body if method.args.args and method.args.args[0].arg == "self" else ():
                call = item.value if isinstance(item, ast.Assign) else None
                function = call.func if isinstance(call, ast.Call) and not call.args and not call.keywords else None
                own = isinstance(function, ast.Attribute) and says(function.value, "self")
                if (
                    call is not None
                    and own
                    and isinstance(function, ast.Attribute)
                    and isinstance(function.value, ast.Name)
                ):
                    text = Program(program.replace((call, "self._given")))
                    lines = ("", "    @property", "    def _given(self):", f"        return {program.source(call)}")
                    yield item.lineno, text.put(method.end_lineno or 0, *lines)


def loops(form: str, target: str = "{target}") -> Callable[[Program], Edited]:
    """What each loop goes over in another form."""

    def edit(program: Program) -> Edited:
        for node in ast.walk(program.tree):
            if isinstance(node, ast.For) and isinstance(node.target, ast.Name):
                over, name = form.format(over=program.source(node.iter)), target.format(target=node.target.id)
                yield node.lineno, program.replace((node.iter, over), (node.target, name))

    return edit


def import_module(program: Program) -> Edited:
    for node in program.tree.body:
        if isinstance(node, ast.ImportFrom) and len(node.names) == 1 and node.names[0].name[:1].isupper():
            name = node.names[0].asname or node.names[0].name
            new = f'{name} = importlib.import_module("{node.module}").{node.names[0].name}'
            yield node.lineno, with_import(program.replace((node, new)), "import importlib")


def given_by_default(program: Program) -> Edited:
    """A constant of an attribute by a parameter of the constructor, which nobody gives."""
    for node in _classes(program):
        for method in _methods(node):
            given = method.args
            for item in method.body if method.name == "__init__" and not (given.vararg or given.kwarg) else ():
                if isinstance(item, ast.Assign) and isinstance(item.value, ast.Constant) and not given.kwonlyargs:
                    close = program.text.rfind(")", 0, program.span(method.body[0])[0])
                    text = program.replace((item.value, "chosen"))
                    yield item.lineno, f"{text[:close]}, *, chosen={program.source(item.value)}{text[close:]}"


CLASSES: Mapping[str, Callable[[Program], Edited]] = {
    "half above": half(_first_half, mixed=False),
    "hooks above": half(_hooks, mixed=False),
    "half mixed in": half(_first_half, mixed=True),
    "hooks mixed in": half(_hooks, mixed=True),
    "made by a function": made_by_a_function,
    "named like a method": taken_for_a_method,
    "set behind": set_behind,
    "answered by a method": answered_by_a_method,
    "by a property": by_a_property,
    "over enumerate": loops("enumerate({over})", "_number, {target}"),
    "over iter": loops("iter({over})"),
    "import module": import_module,
    "given by default": given_by_default,
}
"""Edits that move parts of classes."""
