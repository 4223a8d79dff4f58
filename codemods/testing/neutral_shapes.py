"""Edits that put statements and definitions elsewhere or add such as do nothing, and change nothing of the program."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Mapping

from codemods.testing.neutral_lines import _handed, behind, wrap
from codemods.testing.neutral_program import (
    SCOPES,
    Edited,
    Function,
    Program,
    first_statement,
    is_class,
    is_head,
    with_import,
)

LEAVING = (ast.Return, ast.Raise)


def module_wrap(head: str, *tail: str, top: str = "") -> Callable[[Program], Edited]:
    """A line in front of a statement of the module, which is indented by one more level."""

    def edit(program: Program) -> Edited:
        for node in program.tree.body:
            long = any(
                isinstance(item, ast.Constant | ast.JoinedStr) and item.lineno != item.end_lineno
                for item in ast.walk(node)
            )
            if is_head(node) or long or not program.is_alone(node):
                continue
            first = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", ()))])
            body = [f"    {line}" if line.strip() else line for line in program.lines[first - 1 : node.end_lineno]]
            body[-1] = body[-1] if body[-1].endswith("\n") else f"{body[-1]}\n"
            new = [f"{head}\n", *body, *(f"{item}\n" for item in tail)]
            text = "".join([*program.lines[: first - 1], *new, *program.lines[node.end_lineno or 0 :]])
            yield node.lineno, with_import(text, top)

    return edit


def at_end(line: str) -> Callable[[Program], Edited]:
    """A line at the end of each function that gives nothing back."""

    def edit(program: Program) -> Edited:
        for function in program.functions():
            own = [item for item in ast.walk(function) if isinstance(item, ast.Return) and item.value]
            last = function.body[-1]
            gives = own or any(isinstance(item, ast.Yield | ast.YieldFrom) for item in ast.walk(function))
            if not gives and not isinstance(last, LEAVING) and program.is_alone(last):
                yield last.lineno, program.put(last.end_lineno or 0, program.indent(function.body[0]) + line)

    return edit


def else_behind_return(program: Program) -> Edited:
    """What stands behind an `if` that leaves in its `else`."""
    for _, block in program.blocks():
        for index, node in enumerate(block[:-1]):
            if not isinstance(node, ast.If) or node.orelse or not isinstance(node.body[-1], LEAVING):
                continue
            first, last = block[index + 1].lineno, block[-1].end_lineno or 0
            indent = program.indent(node)
            lines = [f"    {line}" if line.strip() else line for line in program.lines[first - 1 : last]]
            head = program.lines[: node.end_lineno]
            yield (
                node.lineno,
                "".join([*head, f"{indent}else:\n", *lines, *program.lines[last:]]),
            )


def inner_function(program: Program) -> Edited:
    """The body of a function in one inside it, which is called once."""
    for function in program.functions():
        first, last = first_statement(function), function.body[-1]
        nodes = [item for each in function.body for item in ast.walk(each)]
        names = {item.arg for item in ast.walk(function.args) if isinstance(item, ast.arg)}
        stored = {item.id for item in nodes if isinstance(item, ast.Name) and not isinstance(item.ctx, ast.Load)}
        odd = (ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal)
        if names & stored or any(isinstance(item, odd) for item in nodes) or not program.is_alone(first):
            continue
        if any(isinstance(item, ast.Name) and item.id == "super" for item in nodes) or function.name == "__init__":
            continue
        indent = program.indent(first)
        body = [f"    {line}" if line.strip() else line for line in program.lines[first.lineno - 1 : last.end_lineno]]
        body[-1] = body[-1] if body[-1].endswith("\n") else f"{body[-1]}\n"
        new = [f"{indent}def whole():\n", *body, "\n", f"{indent}return whole()\n"]
        yield (
            first.lineno,
            "".join([*program.lines[: first.lineno - 1], *new, *program.lines[last.end_lineno or 0 :]]),
        )


def helper_function(program: Program) -> Edited:
    """Two statements of a method in a function of the module."""
    for node in program.tree.body:
        methods = [item for item in node.body if isinstance(item, ast.FunctionDef)] if is_class(node) else []  # type: ignore[attr-defined]
        for method in methods:
            if not method.args.args or method.args.args[0].arg != "self":
                continue
            for start in range(len(method.body) - 1):
                pair = method.body[start : start + 2]
                given = _handed(method, pair)
                if given is None or not all(map(program.is_alone, pair)):
                    continue
                first, last = pair[0].lineno, pair[1].end_lineno or 0
                cut = len(program.indent(pair[0])) - 4
                body = "".join(line[cut:] if line.strip() else line for line in program.lines[first - 1 : last])
                given = ["self", *(item for item in given if item != "self")]
                call = f"{program.indent(pair[0])}two_parts({', '.join(given)})\n"
                top = min([node.lineno, *(item.lineno for item in node.decorator_list)])  # type: ignore[attr-defined]
                new = f"def two_parts({', '.join(given)}):\n{body.rstrip()}\n\n\n"
                parts = [*program.lines[: top - 1], new, *program.lines[top - 1 : first - 1], call]
                yield first, "".join([*parts, *program.lines[last:]])


def mixin(program: Program) -> Edited:
    """An empty class beside the base."""
    for node in program.tree.body:
        if isinstance(node, ast.ClassDef) and len(node.bases) == 1 and not node.keywords:
            text = program.replace((node.bases[0], f"Mixin, {program.source(node.bases[0])}"))
            line = min([node.lineno, *(item.lineno for item in node.decorator_list)])
            yield node.lineno, Program(text).put(line - 1, "class Mixin:", "    pass", "", "")


def class_decorator(program: Program) -> Edited:
    for node in program.tree.body:
        if isinstance(node, ast.ClassDef) and not node.decorator_list:
            new = ["def registered(kind):", "    return kind", "", "", "@registered"]
            yield node.lineno, program.put(node.lineno - 1, *new)


def return_annotation(program: Program) -> Edited:
    for function in program.functions():
        first = program.offset(function.body[0].lineno, function.body[0].col_offset)
        head = program.text[:first].rfind(":")
        if function.returns is None and "#" not in program.text[head:first] and '"' not in program.text[head:first]:
            yield function.lineno, f'{program.text[:head]} -> "object"{program.text[head:]}'


def unused_function(program: Program) -> Edited:
    """A function inside another that nobody calls."""
    for function in program.functions():
        first = first_statement(function)
        names = [item.arg for item in function.args.args]
        if program.is_alone(first) and names:
            indent = program.indent(first)
            new = [f"{indent}def never():", f"{indent}    return {names[-1]}", ""]
            yield first.lineno, program.put(first.lineno - 1, *new)


def local_import(program: Program) -> Edited:
    """An import of the module at the beginning of the function that reads it."""
    for node in program.tree.body:
        if not isinstance(node, ast.Import | ast.ImportFrom) or len(node.names) != 1 or not program.is_alone(node):
            continue
        known = node.names[0].asname or node.names[0].name.split(".")[0]
        uses = [item for item in ast.walk(program.tree) if isinstance(item, ast.Name) and item.id == known]
        for function in program.functions():
            inside = {id(item) for each in function.body for item in ast.walk(each)}
            first = first_statement(function)
            if uses and all(id(item) in inside for item in uses) and program.is_alone(first):
                line = f"{program.indent(first)}{program.source(node)}\n"
                parts = [*program.lines[: first.lineno - 1], line, *program.lines[first.lineno - 1 :]]
                del parts[node.lineno - 1]
                yield first.lineno, "".join(parts)
                break


def whole_text(change: Callable[[str], str]) -> Callable[[Program], Edited]:
    def edit(program: Program) -> Edited:
        yield 1, change(program.text)

    return edit


def two_spaces(text: str) -> str:
    if any(isinstance(item, ast.Constant) and item.lineno != item.end_lineno for item in ast.walk(ast.parse(text))):
        return text
    lines = text.splitlines(keepends=True)
    return "".join(line[(len(line) - len(line.lstrip(" "))) // 2 :] for line in lines)


def enabled(head: str) -> Callable[[Program], Edited]:
    """A block with gradients on around the body of a training step, where they are on."""
    inner = wrap(head, top="import torch")

    def edit(program: Program) -> Edited:
        steps = [item for item in program.functions() if item.name == "training_step"]
        for line, text in inner(program):
            if any(item.lineno <= line <= (item.end_lineno or 0) for item in steps) and "no_grad" not in program.text:
                yield line, text

    return edit


def semicolon(program: Program) -> Edited:
    """Two statements on a line."""
    simple = (ast.Assign, ast.Expr, ast.Return, ast.AugAssign)
    for owner, block in program.blocks():
        for one, other in itertools.pairwise(block):
            alone = program.is_alone(one) and program.is_alone(other) and one.lineno == one.end_lineno
            both = isinstance(owner, Function) and isinstance(one, simple) and isinstance(other, simple) and alone
            if both and one.lineno + 1 == other.lineno and "#" not in program.lines[one.lineno - 1]:
                lines = [*program.lines]
                lines[one.lineno - 1] = f"{lines[one.lineno - 1].rstrip()}; {lines[other.lineno - 1].lstrip()}"
                del lines[other.lineno - 1]
                yield one.lineno, "".join(lines)


def loop_left(program: Program) -> Edited:
    """A loop around the body of a function that is left behind its first turn."""
    for line, text in wrap("while True:", "    break")(program):
        tree = ast.parse(text)
        loops = [item for item in ast.walk(tree) if isinstance(item, ast.While) and item.lineno == line]
        if loops and not isinstance(loops[0].body[-2], LEAVING):
            odd = [item for each in loops[0].body[:-1] for item in ast.walk(each)]
            if not any(isinstance(item, ast.Break | ast.Continue) for item in odd):
                yield line, text


def nothing_below(program: Program) -> Edited:
    """A class of its own inside a function that nobody reads."""
    for function in program.functions():
        first = first_statement(function)
        if program.is_alone(first) and not isinstance(first, SCOPES):
            indent = program.indent(first)
            yield first.lineno, program.put(first.lineno - 1, f"{indent}class Never:", f"{indent}    pass", "")


def marked(line: str, *above: str, top: str = "") -> Callable[[Program], Edited]:
    """A decorator on each method of a class; `above` defines it."""

    def edit(program: Program) -> Edited:
        for function in program.functions():
            inside = program.indent(function) and function.name != "__init__"
            if not inside or function.decorator_list or not program.is_alone(function):
                continue
            program_text = program.put(function.lineno - 1, f"{program.indent(function)}{line}")
            head = next(item for item in program.tree.body if not is_head(item))
            first = min([head.lineno, *(item.lineno for item in getattr(head, "decorator_list", ()))])
            text = Program(program_text).put(first - 1, *above, "", "") if above else program_text
            yield function.lineno, with_import(text, top)

    return edit


TIMED = (
    "@contextlib.contextmanager", "def timed(what):", "    start = time.time()", "    yield",
    "    print(what, time.time() - start)", "", "",
)  # fmt: skip
CLOCK = (
    "class Clock:", "    def __enter__(self):", "        self.start = time.time()", "        return self", "",
    "    def __exit__(self, *error):", "        print(time.time() - self.start)", "", "",
)  # fmt: skip
TRACED = (
    "def traced(what):", "    def decorator(function):", "        @functools.wraps(function)",
    "        def inner(self, *args, **kwargs):", "            print(what)",
    "            return function(self, *args, **kwargs)", "", "        return inner", "", "    return decorator",
)  # fmt: skip


SHAPES: Mapping[str, Callable[[Program], Edited]] = {
    "assert message": behind('assert {name} is not Ellipsis, "it must be there"'),
    "assert class": behind("assert {name}.__class__ is not int"),
    "percent": behind('logging.debug("it is %s" % {name})', top="import logging"),
    "format": behind('print("it is {{}}".format({name}))'),
    "type name": behind("print(type({name}).__name__)"),
    "print file": behind('print("it is", {name}, file=sys.stderr, flush=True)', top="import sys"),
    "stderr": behind("sys.stderr.write(str({name}))", top="import sys"),
    "warn message": behind('warnings.warn("as before", stacklevel=2)', top="import warnings"),
    "time": behind("started = time.time()", "print(time.time() - started)", top="import time"),
    "if print": behind("if isinstance({name}, object):", "    print({name})"),
    "if verbose": behind("if __debug__:", "    print({name})"),
    "underscore": behind("_ = {name}"),
    "bare name": behind("{name}"),
    "in a list": behind("every = [{name}]"),
    "in a dict": behind('every = {{"{name}": {name}}}'),
    "hasattr": behind('hasattr({name}, "__class__")'),
    "lambda kept": behind("later = lambda: {name}"),
    "dir": behind("dir({name})"),
    "ellipsis": behind("..."),
    "string": behind('"as before"'),
    "if not false": wrap("if not False:"),
    "if one": wrap("if 1:"),
    "exit stack": wrap("with contextlib.ExitStack():", top="import contextlib"),
    "exit stack kept": wrap("with contextlib.ExitStack() as stack:", top="import contextlib"),
    "nullcontext kept": wrap("with contextlib.nullcontext() as nothing:", top="import contextlib"),
    "two contexts": wrap("with contextlib.nullcontext(), contextlib.suppress():", top="import contextlib"),
    "except raise": wrap("try:", "except Exception:", "    raise"),
    "except named": wrap("try:", "except Exception as error:", "    print(error)", "    raise"),
    "else try": wrap("try:", "except ZeroDivisionError:", "    raise"),
    "for in tuple": wrap("for _ in (0,):"),
    "while break": loop_left,
    "grad enabled": enabled("with torch.set_grad_enabled(True):"),
    "enable grad": enabled("with torch.enable_grad():"),
    "warnings caught": wrap("with warnings.catch_warnings():", top="import warnings"),
    "record function": wrap('with torch.profiler.record_function("body"):', top="import torch"),
    "raise named": wrap("try:", "except Exception as error:", "    raise error"),
    "except two": wrap("try:", "except (KeyboardInterrupt, SystemExit):", "    raise"),
    "for range two": wrap("for _attempt in range(0, 1):"),
    "if debug": wrap("if __debug__:"),
    "match capture": wrap("match 0:", deeper="case _ignored:"),
    "nullcontext given": wrap("with contextlib.nullcontext(None):", top="import contextlib"),
    "anomalies off": wrap("with torch.autograd.set_detect_anomaly(False):", top="import torch"),
    "own context": wrap('with timed("step"):', top="\n".join(["import contextlib, time", "", "", *TIMED])),
    "own clock": wrap("with Clock():", top="\n".join(["import time", "", "", *CLOCK])),
    "override": marked("@override", top="from typing_extensions import override"),
    "traced": marked('@traced("step")', *TRACED, top="import functools"),
    "module if": module_wrap("if True:"),
    "module try": module_wrap("try:", "finally:", "    pass"),
    "module with": module_wrap("with contextlib.nullcontext():", top="import contextlib"),
    "return none": at_end("return None"),
    "return bare": at_end("return"),
    "else behind return": else_behind_return,
    "inner function": inner_function,
    "helper function": helper_function,
    "mixin": mixin,
    "class decorator": class_decorator,
    "return annotation": return_annotation,
    "unused function": unused_function,
    "unused class": nothing_below,
    "local import": local_import,
    "semicolon": semicolon,
    "crlf": whole_text(lambda text: text.replace("\n", "\r\n")),
    "two spaces": whole_text(two_spaces),
    "future": whole_text(lambda text: with_import(text, "from __future__ import annotations")),
    "module docstring": whole_text(lambda text: f'"""What it does."""\n{text}'),
    "coding": whole_text(lambda text: f"# -*- coding: utf-8 -*-\n# é\n{text}"),
}
