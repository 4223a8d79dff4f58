"""Edits that add lines to a program or put them elsewhere, and change nothing of what it does."""

from __future__ import annotations

import ast
from collections.abc import Callable

from codemods.testing.neutral_program import (
    SCOPES,
    Edited,
    Function,
    Program,
    assignments,
    first_statement,
    is_class,
    is_head,
    is_plain,
    parameters,
    with_import,
)


def behind(*new: str, top: str = "") -> Callable[[Program], Edited]:
    """Lines behind each assignment; `{name}` stands for the name. `top` is imported first."""

    def edit(program: Program) -> Edited:
        for _, node, name in assignments(program):
            lines = [program.indent(node) + item.format(name=name) for item in new]
            yield node.lineno, with_import(program.put(node.end_lineno or 0, *lines), top)
        for function, names in parameters(program):
            first = first_statement(function)
            if names and program.is_alone(first):
                lines = [program.indent(first) + item.format(name=names[0]) for item in new]
                yield first.lineno, with_import(program.put(first.lineno - 1, *lines), top)

    return edit


def second_name(program: Program) -> Edited:
    for owner, node, name in assignments(program):
        uses = [item for item in ast.walk(owner) if isinstance(item, ast.Name) and item.id == name]
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
            first = first_statement(owner) if block is owner.body else block[0]
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


def base(program: Program) -> Edited:
    for node in program.tree.body:
        if isinstance(node, ast.ClassDef) and len(node.bases) == 1 and not node.keywords:
            text = program.replace((node.bases[0], f"Common{node.name}"))
            new = [f"class Common{node.name}({program.source(node.bases[0])}):", "    pass", "", ""]
            line = min([node.lineno, *(item.lineno for item in node.decorator_list)])
            yield node.lineno, Program(text).put(line - 1, *new)


def decorator(program: Program) -> Edited:
    for function in program.functions():
        if program.is_alone(function) and not function.decorator_list:
            text = program.put(function.lineno - 1, f"{program.indent(function)}@as_it_is")
            first = min([node.lineno for node in program.tree.body if not is_head(node)], default=1)
            node = next((item for item in program.tree.body if not is_head(item)), None)
            first = min([first, *(item.lineno for item in getattr(node, "decorator_list", ()))])
            new = ["def as_it_is(function):", "    return function", "", ""]
            yield function.lineno, Program(text).put(first - 1, *new)


def helper_method(program: Program) -> Edited:
    for node in ast.walk(program.tree):
        body = node.body if isinstance(node, ast.ClassDef) and is_class(node) else []
        methods = [item for item in body if isinstance(item, ast.FunctionDef)]
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


def type_comment(program: Program) -> Edited:
    for _, node, _name in assignments(program):
        line = program.lines[(node.end_lineno or 0) - 1]
        if "#" not in line:
            lines = [*program.lines]
            lines[(node.end_lineno or 0) - 1] = f"{line.rstrip()}  # type: object\n"
            yield node.lineno, "".join(lines)


def docstring(program: Program) -> Edited:
    for function in program.functions():
        if first_statement(function) is function.body[0] and program.is_alone(function.body[0]):
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
        first = first_statement(function)
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
        if "\n" not in value and is_plain(node.value):
            yield node.lineno, program.replace((node.value, f"(lambda: {value})()"))


def onto_itself(program: Program) -> Edited:
    for owner, node, name in assignments(program):
        if isinstance(owner, Function):
            yield node.lineno, program.put(node.end_lineno or 0, f"{program.indent(node)}{name} = {name}")


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
        if isinstance(owner, Function) and "\n" not in value and is_plain(node.value):
            lines = f"def made():\n{indent}    return {value}\n\n{indent}{name} = made()"
            yield node.lineno, program.replace((node, lines))


def wrapping_decorator(program: Program) -> Edited:
    """A decorator by functools.wraps that hands everything on."""
    for function in program.functions():
        if program.is_alone(function) and not function.decorator_list and function.name != "__init__":
            text = program.put(function.lineno - 1, f"{program.indent(function)}@handing_on")
            node = next(item for item in program.tree.body if not is_head(item))
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
