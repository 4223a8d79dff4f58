"""Edits of a program's text that change nothing of what the program does.

Each is a function of a text that yields edited texts with the line at which each was made; `EDITS` names them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

Edited = Iterator[tuple[int, str]]
Function = ast.FunctionDef | ast.AsyncFunctionDef
SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)
BLOCKS = ("body", "orelse", "finalbody")


@dataclass(frozen=True)
class Program:
    """A text with its tree; `functions` are those around each statement, innermost last."""

    text: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "tree", ast.parse(self.text))
        object.__setattr__(self, "lines", self.text.splitlines(keepends=True))

    tree: ast.Module = None  # type: ignore[assignment]
    lines: list[str] = None  # type: ignore[assignment]

    def functions(self) -> Iterator[Function]:
        return (node for node in ast.walk(self.tree) if isinstance(node, Function))

    def blocks(self) -> Iterator[tuple[ast.AST, list[ast.stmt]]]:
        """Each block with the function, class or module that it belongs to."""
        stack: list[tuple[ast.AST, ast.AST]] = [(self.tree, self.tree)]
        while stack:
            node, owner = stack.pop(0)
            for field in BLOCKS:
                block = getattr(node, field, None)
                if isinstance(block, list) and block:
                    yield owner, block
                    stack += [(item, item if isinstance(item, SCOPES) else owner) for item in block]
            stack += [(item, owner) for item in getattr(node, "handlers", ())]

    def is_alone(self, node: ast.stmt) -> bool:
        """Whether a statement has lines of its own."""
        first, last = self.lines[node.lineno - 1], self.lines[(node.end_lineno or 0) - 1]
        before = first.encode()[: node.col_offset].decode()
        after = last.encode()[node.end_col_offset :].decode()
        return not before.strip() and not after.split("#")[0].strip()

    def indent(self, node: ast.stmt) -> str:
        return " " * node.col_offset

    def put(self, line: int, *new: str) -> str:
        """The text with lines behind the line of that number."""
        return "".join([*self.lines[:line], *(f"{item}\n" for item in new), *self.lines[line:]])

    def offset(self, line: int, column: int) -> int:
        before = sum(len(item) for item in self.lines[: line - 1])
        return before + len(self.lines[line - 1].encode()[:column].decode())

    def span(self, node: ast.expr | ast.stmt | ast.keyword) -> tuple[int, int]:
        start = self.offset(node.lineno, node.col_offset)
        return start, self.offset(node.end_lineno or 0, node.end_col_offset or 0)

    def source(self, node: ast.expr | ast.stmt | ast.keyword) -> str:
        start, end = self.span(node)
        return self.text[start:end]

    def replace(self, *changes: tuple[ast.expr | ast.stmt | ast.keyword, str]) -> str:
        """The text with other text where some nodes stand."""
        text = self.text
        for node, new in sorted(changes, key=lambda item: self.span(item[0]), reverse=True):
            start, end = self.span(node)
            text = text[:start] + new + text[end:]
        return text


def assignments(program: Program) -> Iterator[tuple[ast.AST, ast.Assign, str]]:
    """Each `name = value` of a function or the module that has a line of its own, with what it belongs to."""
    for owner, block in program.blocks():
        if isinstance(owner, ast.ClassDef):
            continue
        for node in block:
            plain = isinstance(node, ast.Assign) and len(node.targets) == 1 and program.is_alone(node)
            target = node.targets[0] if plain and isinstance(node, ast.Assign) else None
            if isinstance(node, ast.Assign) and isinstance(target, ast.Name) and not _is_shared(owner, target.id):
                yield owner, node, target.id


def _is_shared(owner: ast.AST, name: str) -> bool:
    return any(isinstance(node, ast.Global | ast.Nonlocal) and name in node.names for node in ast.walk(owner))


def behind(*new: str, top: str = "") -> Callable[[Program], Edited]:
    """Lines behind each assignment; `{name}` stands for the name. `top` is imported first."""

    def edit(program: Program) -> Edited:
        for _, node, name in assignments(program):
            lines = [program.indent(node) + item.format(name=name) for item in new]
            yield node.lineno, with_import(program.put(node.end_lineno or 0, *lines), top)
        for function, names in _parameters(program):
            first = _first(function)
            if names and program.is_alone(first):
                lines = [program.indent(first) + item.format(name=names[0]) for item in new]
                yield first.lineno, with_import(program.put(first.lineno - 1, *lines), top)

    return edit


def _parameters(program: Program) -> Iterator[tuple[Function, list[str]]]:
    for function in program.functions():
        every = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        yield function, [item.arg for item in every if item.arg not in ("self", "cls")]


def _first(function: Function) -> ast.stmt:
    """The first statement behind the docstring."""
    body = function.body
    documented = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and len(body) > 1
    return body[1] if documented else body[0]


def with_import(text: str, top: str) -> str:
    """The text with a line behind its docstring and its imports from the future."""
    if not top or re.search(rf"^{re.escape(top)}$", text, re.MULTILINE):
        return text
    tree = ast.parse(text)
    line = 0
    for node in tree.body:
        documented = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if documented or (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            line = node.end_lineno or 0
            continue
        break
    lines = text.splitlines(keepends=True)
    return "".join([*lines[:line], f"{top}\n", *lines[line:]])


def second_name(program: Program) -> Edited:
    for owner, node, name in assignments(program):
        uses = [item for item in ast.walk(owner) if isinstance(item, ast.Name) and item.id == name and item is not node]
        loads = [item for item in uses if isinstance(item.ctx, ast.Load)]
        if len(uses) - len(loads) == 1 and loads and all(item.lineno > (node.end_lineno or 0) for item in loads):
            text = program.replace(*((item, f"same_{name}") for item in loads))
            yield node.lineno, Program(text).put(node.end_lineno or 0, f"{program.indent(node)}same_{name} = {name}")


def annotate(program: Program) -> Edited:
    for owner, node, name in assignments(program):
        if isinstance(owner, ast.Module | Function):
            yield node.lineno, program.replace((node.targets[0], f'{name}: "object"'))


def annotate_parameter(program: Program) -> Edited:
    for function in program.functions():
        for item in function.args.args:
            if item.arg != "self" and item.annotation is None and not function.args.defaults:
                start = program.offset(item.lineno, item.col_offset)
                yield item.lineno, f"{program.text[:start]}{item.arg}: object{program.text[start + len(item.arg) :]}"
                break


def wrap(head: str, *tail: str, top: str = "", deeper: str = "") -> Callable[[Program], Edited]:
    """A line in front of the body of a function or of a block inside it, which is indented by one more level."""

    def edit(program: Program) -> Edited:
        for owner, block in program.blocks():
            if not isinstance(owner, Function) or isinstance(block[0], Function | ast.ClassDef):
                continue
            first = _first(owner) if block is owner.body else block[0]
            last = block[-1].end_lineno or 0
            inside = range(first.lineno, last + 1)
            if not program.is_alone(first) or _long_strings(program.tree, inside):
                continue
            space = "        " if deeper else "    "
            lines = [f"{space}{program.lines[number - 1]}" for number in inside]
            lines = [line if line.strip() else "\n" for line in lines]
            lines[-1] = lines[-1] if lines[-1].endswith("\n") else f"{lines[-1]}\n"
            indent = program.indent(first)
            heads = [f"{indent}{head}\n", *([f"{indent}    {deeper}\n"] if deeper else [])]
            new = [*heads, *lines, *(f"{indent}{item}\n" for item in tail)]
            text = "".join([*program.lines[: first.lineno - 1], *new, *program.lines[last:]])
            yield first.lineno, with_import(text, top)

    return edit


def _long_strings(tree: ast.AST, lines: range) -> bool:
    return any(
        isinstance(node, ast.Constant | ast.JoinedStr) and node.lineno in lines and node.end_lineno != node.lineno
        for node in ast.walk(tree)
    )


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


def base(program: Program) -> Edited:
    for node in program.tree.body:
        if isinstance(node, ast.ClassDef) and len(node.bases) == 1 and not node.keywords:
            text = program.replace((node.bases[0], f"Common{node.name}"))
            new = [f"class Common{node.name}({program.source(node.bases[0])}):", "    pass", "", ""]
            line = min([node.lineno, *(item.lineno for item in node.decorator_list)])
            yield node.lineno, Program(text).put(line - 1, *new)


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
        for keyword in call.keywords if isinstance(call, ast.Call) else ():
            if keyword.arg and isinstance(keyword.value, ast.Constant):
                value = program.source(keyword.value)
                yield call.lineno, program.replace((keyword.value, f"{value} if __debug__ else {value}"))


def decorator(program: Program) -> Edited:
    for function in program.functions():
        if program.is_alone(function) and not function.decorator_list:
            text = program.put(function.lineno - 1, f"{program.indent(function)}@as_it_is")
            first = min([node.lineno for node in program.tree.body if not _is_head(node)], default=1)
            node = next((item for item in program.tree.body if not _is_head(item)), None)
            first = min([first, *(item.lineno for item in getattr(node, "decorator_list", ()))])
            new = ["def as_it_is(function):", "    return function", "", ""]
            yield function.lineno, Program(text).put(first - 1, *new)


def _is_head(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom | ast.Expr)


def helper_method(program: Program) -> Edited:
    for node in ast.walk(program.tree):
        methods = [item for item in node.body if isinstance(item, ast.FunctionDef)] if _is_class(node) else []
        for method in methods:
            if not method.args.args or method.args.args[0].arg != "self":
                continue
            for start in range(len(method.body) - 1):
                pair = method.body[start : start + 2]
                given = _handed(method, pair)
                if given is None or not all(map(program.is_alone, pair)):
                    continue
                first, last = pair[0].lineno, pair[1].end_lineno or 0
                lines = "".join(program.lines[first - 1 : last]).rstrip("\n")
                call = f"{program.indent(pair[0])}self._two_parts({', '.join(given)})\n"
                new = f"\n    def _two_parts({', '.join(['self', *given])}):\n{lines}\n"
                end = method.end_lineno or 0
                parts = [*program.lines[: first - 1], call, *program.lines[last:end], new, *program.lines[end:]]
                yield first, "".join(parts)


def _is_class(node: ast.AST) -> bool:
    return isinstance(node, ast.ClassDef)


def _handed(method: ast.FunctionDef, pair: list[ast.stmt]) -> list[str] | None:
    """The locals that two statements read; None where they bind some, leave the method, or ask for `super`."""
    nodes = [item for statement in pair for item in ast.walk(statement)]
    stays = (ast.Return, ast.Break, ast.Continue, ast.Yield, ast.Await, ast.FunctionDef, ast.Lambda, ast.Import)
    if any(isinstance(item, (*stays, ast.ImportFrom, ast.NamedExpr)) for item in nodes):
        return None
    names = [item for item in nodes if isinstance(item, ast.Name)]
    if any(not isinstance(item.ctx, ast.Load) or item.id == "super" for item in names):
        return None
    if isinstance(pair[0], ast.Expr) and isinstance(pair[0].value, ast.Constant):
        return None
    stored = {item.id for item in ast.walk(method) if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)}
    known = stored | {item.arg for item in method.args.args[1:]}
    return sorted({item.id for item in names} & known)


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


def type_comment(program: Program) -> Edited:
    for _, node, _name in assignments(program):
        line = program.lines[(node.end_lineno or 0) - 1]
        if "#" not in line:
            lines = [*program.lines]
            lines[(node.end_lineno or 0) - 1] = f"{line.rstrip()}  # type: object\n"
            yield node.lineno, "".join(lines)


def docstring(program: Program) -> Edited:
    for function in program.functions():
        if _first(function) is function.body[0] and program.is_alone(function.body[0]):
            yield (
                function.lineno,
                program.put(function.body[0].lineno - 1, f'{program.indent(function.body[0])}"""What it does."""'),
            )


def blank_lines(program: Program) -> Edited:
    for owner, block in program.blocks():
        if isinstance(owner, Function) and len(block) > 1 and all(map(program.is_alone, block)):
            line = block[1].lineno - 1
            if not program.lines[line - 1].strip().startswith("@"):
                yield block[1].lineno, program.put(line, "", f"{program.indent(block[1])}# and then")


def unrelated(program: Program) -> Edited:
    for function in program.functions():
        first = _first(function)
        if program.is_alone(first) and not isinstance(first, SCOPES):
            indent = program.indent(first)
            yield first.lineno, program.put(first.lineno - 1, f"{indent}unrelated = 0", f"{indent}del unrelated")


def delete(program: Program) -> Edited:
    """A name of its own that is deleted again behind a block."""
    for owner, node, name in assignments(program):
        if isinstance(owner, Function):
            indent = program.indent(node)
            yield node.lineno, program.put(node.end_lineno or 0, f"{indent}seen = {name}", f"{indent}del seen")


def called_at_once(program: Program) -> Edited:
    for _, node, _name in assignments(program):
        value = program.source(node.value)
        if "\n" not in value and _is_plain(node.value):
            yield node.lineno, program.replace((node.value, f"(lambda: {value})()"))


def cast(program: Program) -> Edited:
    for _, node, _name in assignments(program):
        if _is_plain(node.value):
            new = program.replace((node.value, f"cast(object, {program.source(node.value)})"))
            yield node.lineno, with_import(new, "from typing import cast")


def starred(program: Program) -> Edited:
    for call in ast.walk(program.tree):
        given = call.args if isinstance(call, ast.Call) else []
        if given and not any(isinstance(item, ast.Starred | ast.GeneratorExp) for item in given) and _is_method(call):
            changes = [
                (item, f"*[{program.source(item)}]" if item is given[-1] else program.source(item)) for item in given
            ]
            yield call.lineno, program.replace(*changes)


def spread(program: Program) -> Edited:
    for call in ast.walk(program.tree):
        for keyword in call.keywords if isinstance(call, ast.Call) else ():
            if keyword.arg and isinstance(keyword.value, ast.Constant | ast.Name):
                value = program.source(keyword.value)
                yield call.lineno, program.replace((keyword, f'**{{"{keyword.arg}": {value}}}'))


def onto_itself(program: Program) -> Edited:
    for owner, node, name in assignments(program):
        if isinstance(owner, Function):
            yield node.lineno, program.put(node.end_lineno or 0, f"{program.indent(node)}{name} = {name}")


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
        if _is_plain(node.value):
            yield node.lineno, program.replace((node.value, f"({program.source(node.value)})"))


def class_constant(program: Program) -> Edited:
    """The constant of a keyword on a class beside."""
    heads = [item for item in program.tree.body if not _is_head(item)]
    for call in ast.walk(program.tree):
        for keyword in call.keywords if isinstance(call, ast.Call) else ():
            if keyword.arg and isinstance(keyword.value, ast.Constant):
                text = program.replace((keyword.value, f"Settings.{keyword.arg}"))
                lines = ["class Settings:", f"    {keyword.arg} = {program.source(keyword.value)}", "", ""]
                first = min([heads[0].lineno, *(item.lineno for item in getattr(heads[0], "decorator_list", ()))])
                yield call.lineno, Program(text).put(first - 1, *lines)


def else_pass(program: Program) -> Edited:
    for node in ast.walk(program.tree):
        if isinstance(node, ast.If) and not node.orelse and program.is_alone(node):
            yield (
                node.lineno,
                program.put(node.end_lineno or 0, f"{program.indent(node)}else:", f"{program.indent(node)}    pass"),
            )


def local_function(program: Program) -> Edited:
    """The value of a name by a function that is defined and called where it is bound."""
    for owner, node, name in assignments(program):
        value, indent = program.source(node.value), program.indent(node)
        if isinstance(owner, Function) and "\n" not in value and _is_plain(node.value):
            lines = f"def made():\n{indent}    return {value}\n\n{indent}{name} = made()"
            yield node.lineno, program.replace((node, lines))


def wrapping_decorator(program: Program) -> Edited:
    """A decorator by functools.wraps that hands everything on."""
    for function in program.functions():
        if program.is_alone(function) and not function.decorator_list and function.name != "__init__":
            text = program.put(function.lineno - 1, f"{program.indent(function)}@handing_on")
            node = next(item for item in program.tree.body if not _is_head(item))
            first = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", ()))])
            new = [
                "def handing_on(function):",
                "    @functools.wraps(function)",
                "    def inner(*args, **kwargs):",
                "        return function(*args, **kwargs)",
                "",
                "    return inner",
                "",
                "",
            ]
            yield function.lineno, with_import(Program(text).put(first - 1, *new), "import functools")


def _is_plain(node: ast.expr) -> bool:
    """Whether a value stays what it is in a lambda, in brackets or as an argument."""
    odd = (ast.Yield, ast.YieldFrom, ast.Await, ast.Tuple, ast.Starred, ast.NamedExpr)
    return not any(
        isinstance(item, odd) or (isinstance(item, ast.Name) and item.id == "super") for item in ast.walk(node)
    )


def _is_method(call: ast.AST) -> bool:
    return isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)


def moved(text: str, path: str) -> tuple[str, str] | None:
    """The text without its classes, which are imported from `parts`, and the text of `parts`, a module beside it."""
    program = Program(text)
    classes = [node for node in program.tree.body if isinstance(node, ast.ClassDef)]
    head = [node for node in program.tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
    rest = [node for node in program.tree.body if node not in classes and node not in head]
    said = {node.id for item in classes for node in ast.walk(item) if isinstance(node, ast.Name)}
    bound = {node.id for item in rest for node in ast.walk(item) if isinstance(node, ast.Name)}
    local = {node.id for item in rest for node in ast.walk(item) if isinstance(node, ast.Name) and _stores(node)}
    local |= {item.name for item in rest if isinstance(item, Function)}
    used = [item.name for item in classes if item.name in bound]
    if not classes or not rest or not used or said & local or "/" in path:
        return None
    lines = lambda items: "".join(f"{program.source(item)}\n" for item in items)  # noqa: E731
    parts = lines(head) + "".join(
        "\n\n"
        + "".join(program.lines[min([item.lineno, *(one.lineno for one in item.decorator_list)]) - 1 : item.end_lineno])
        for item in classes
    )
    return f"{lines(head)}from parts import {', '.join(used)}\n\n{lines(rest)}", parts


def _stores(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Store)


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
    "class constant": class_constant,
    "else pass": else_pass,
    "local function": local_function,
    "wrapping decorator": wrapping_decorator,
    "suppress nothing": wrap("with contextlib.suppress():", top="import contextlib"),
    "one turn": wrap("for _ in range(1):"),
    "match": wrap("match 0:", deeper="case _:"),
    "pass": behind("pass"),
}
