"""Edits that put something around what a program does, or keep it and use it behind, and change nothing of it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping

from codemods.testing.neutral_lines import wrap
from codemods.testing.neutral_program import Edited, Function, Program, above, is_plain, with_import

TQDM = "from tqdm import tqdm"
TOOLS = "import itertools"
CONTEXTS = "import contextlib"


def over(form: str, target: str = "{target}", top: str = "") -> Callable[[Program], Edited]:
    """What each loop goes over in another form."""

    def edit(program: Program) -> Edited:
        for node in ast.walk(program.tree):
            if isinstance(node, ast.For):
                new, name = form.format(over=program.source(node.iter)), program.source(node.target)
                text = program.replace((node.iter, new), (node.target, target.format(target=name)))
                yield node.lineno, with_import(text, top)

    return edit


def wrap_behind(line: str, head: str, *inside: str, top: str = "") -> Callable[[Program], Edited]:
    """The same as `wrap` behind a line of its own, or with lines in front of the body."""
    around = wrap(head, top=top)

    def edit(program: Program) -> Edited:
        for number, text in around(program):
            made = Program(text)
            place = next(index for index, each in enumerate(made.lines) if index >= number - 1 and each.strip() == head)
            space = made.lines[place][: -len(made.lines[place].lstrip())]
            lines = [f"{space}    {item}\n" for item in inside]
            front = [f"{space}{line}\n"] if line else []
            head_line = made.lines[place]
            yield number, "".join([*made.lines[:place], *front, head_line, *lines, *made.lines[place + 1 :]])

    return edit


def result_kept(program: Program) -> Edited:
    """What a call gives under a name that nobody reads."""
    for owner, block in program.blocks():
        for node in block:
            called = isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and is_plain(node.value)
            if called and isinstance(owner, Function) and program.is_alone(node):
                yield node.lineno, program.replace((node, f"_ = {program.source(node)}"))


def spaced_call(program: Program) -> Edited:
    """A space in front of the bracket of each call."""
    for node in ast.walk(program.tree):
        if isinstance(node, ast.Call) and program.text[(end := program.span(node.func)[1])] == "(":
            yield node.lineno, f"{program.text[:end]} {program.text[end:]}"


def asked_with_none(program: Program) -> Edited:
    """The method of `self` that a call asks for by `getattr`, with None for one that is not there."""
    for node in ast.walk(program.tree):
        function = node.func if isinstance(node, ast.Call) else None
        if isinstance(function, ast.Attribute) and isinstance(function.value, ast.Name) and function.value.id == "self":
            yield node.lineno, program.replace((function, f'getattr(self, "{function.attr}", None)'))  # type: ignore[attr-defined]


def by_identity(program: Program) -> Edited:
    """The value of each name through a function that gives back what it is given."""
    for owner, block in program.blocks():
        for node in block:
            if isinstance(owner, Function) and isinstance(node, ast.Assign) and is_plain(node.value):
                text = program.replace((node.value, f"same({program.source(node.value)})"))
                yield node.lineno, above(text, "def same(it):", "    return it")


def _methods(program: Program) -> Iterator[ast.FunctionDef]:
    strings = (item for item in ast.walk(program.tree) if isinstance(item, ast.Constant | ast.JoinedStr))
    if any(item.lineno != item.end_lineno for item in strings):
        return
    for node in program.tree.body:
        for method in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(method, ast.FunctionDef) and method.args.args and method.args.args[0].arg == "self":
                yield method


def under_if(program: Program) -> Edited:
    """A method under a condition that always holds."""
    for method in _methods(program):
        first = min([method.lineno, *(item.lineno for item in method.decorator_list)])
        lines = program.lines[first - 1 : method.end_lineno]
        body = [f"    {line}" if line.strip() else line for line in lines]
        rest = program.lines[method.end_lineno or 0 :]
        yield method.lineno, "".join([*program.lines[: first - 1], "    if True:\n", *body, *rest])


def by_a_lambda(program: Program) -> Edited:
    """A method that gives back one expression as a lambda."""
    for method in _methods(program):
        last = method.body[0] if len(method.body) == 1 and not method.decorator_list else None
        value = last.value if isinstance(last, ast.Return) else None
        annotated = any(isinstance(item, ast.arg) and item.annotation for item in ast.walk(method.args))
        if value is not None and is_plain(value) and not annotated and not method.returns:
            line = f"    {method.name} = lambda {ast.unparse(method.args)}: {program.source(value)}\n"
            rest = program.lines[method.end_lineno or 0 :]
            yield method.lineno, "".join([*program.lines[: method.lineno - 1], line, *rest])


def by_place(program: Program) -> Edited:
    """An instance that no method may be given by name."""
    for method in _methods(program):
        end = program.span(method.args.args[0])[1]
        yield method.lineno, f"{program.text[:end]}, /{program.text[end:]}"


def _entered(program: Program) -> Iterator[tuple[Function, ast.With, str]]:
    """The blocks of one context that nobody gives a name, in functions, with what is entered."""
    for owner, block in program.blocks():
        for node in block:
            single = isinstance(node, ast.With) and len(node.items) == 1 and not node.items[0].optional_vars
            if not (single and isinstance(owner, Function) and isinstance(node, ast.With) and program.is_alone(node)):
                continue
            if node.body[0].lineno > node.lineno:
                yield owner, node, program.source(node.items[0].context_expr)


def context_named(form: str) -> Callable[[Program], Edited]:
    """Each context under a name or attribute before it is entered."""

    def edit(program: Program) -> Edited:
        for owner, node, text in _entered(program):
            if "self" not in form or (owner.args.args and owner.args.args[0].arg == "self"):
                made = Program(program.replace((node.items[0].context_expr, form)))
                yield node.lineno, made.put(node.lineno - 1, f"{program.indent(node)}{form} = {text}")

    return edit


def context_in_a_stack(program: Program) -> Edited:
    for _owner, node, text in _entered(program):
        made = Program(program.replace((node.items[0].context_expr, "contextlib.ExitStack() as stack")))
        line = f"{program.indent(node)}    stack.enter_context({text})"
        yield node.lineno, with_import(made.put(node.lineno, line), CONTEXTS)


def context_of_a_function(*lines: str, top: str = "") -> Callable[[Program], Edited]:
    """Each context by a function that makes or enters it."""

    def edit(program: Program) -> Edited:
        for owner, node, text in _entered(program):
            context = node.items[0].context_expr
            local = {item.arg for item in ast.walk(owner) if isinstance(item, ast.arg)}
            local |= {n.id for n in ast.walk(owner) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
            if all(item.id not in local for item in ast.walk(context) if isinstance(item, ast.Name)):
                made = above(program.replace((context, "entered()")), *(line.format(text=text) for line in lines))
                yield node.lineno, with_import(made, top)

    return edit


def beside(more: str, *above: str, top: str = "") -> Callable[[Program], Edited]:
    """Another base behind the one of each class."""

    def edit(program: Program) -> Edited:
        for node in program.tree.body:
            if isinstance(node, ast.ClassDef) and len(node.bases) == 1 and not node.keywords:
                text = program.replace((node.bases[0], f"{program.source(node.bases[0])}, {more}"))
                line = min([node.lineno, *(item.lineno for item in node.decorator_list)])
                yield node.lineno, with_import(Program(text).put(line - 1, *above), top)

    return edit


def named_in_another_file(
    *lines: str, path: str = "shared.py"
) -> Callable[[Program], Iterator[tuple[int, dict[str, str]]]]:
    """What the program imports by a name of another file for it."""

    def edit(program: Program) -> Iterator[tuple[int, dict[str, str]]]:
        for node in program.tree.body:
            if isinstance(node, ast.ImportFrom) and len(node.names) == 1 and not node.level:
                name, given = node.names[0].name, node.names[0].asname
                if node.module and node.module != "__future__" and name != "*":
                    text = program.replace((node, f"from shared import {name}{f' as {given}' if given else ''}"))
                    other = "".join(f"{line}\n" for line in lines).format(module=node.module, name=name)
                    yield node.lineno, {"": text, path: other}

    return edit


WRAPPERS: Mapping[str, Callable[[Program], Edited]] = {
    "over tqdm": over("tqdm({over})", top=TQDM),
    "over tqdm with words": over('tqdm({over}, desc="all", leave=False)', top="from tqdm.auto import tqdm"),
    "over track": over('track({over}, description="all")', top="from rich.progress import track"),
    "over chain": over("itertools.chain({over})", top=TOOLS),
    "over slice": over("itertools.islice({over}, None)", top=TOOLS),
    "over generator": over("(each for each in {over})"),
    "over zip of one": over("zip({over})", "({target},)"),
    "over zip with numbers": over("zip(itertools.count(), {over})", "_turn, {target}", top=TOOLS),
    "over brackets": over("({over})"),
    "for tqdm": wrap("for _ in tqdm(range(1)):", top=TQDM),
    "for repeat": wrap("for _ in itertools.repeat(None, 1):", top=TOOLS),
    "if chain": wrap("if 0 < 1 < 2:"),
    "raise from": wrap("try:", "except RuntimeError as error:", '    raise RuntimeError("it failed") from error'),
    "raise behind a log": wrap("try:", "except Exception as error:", "    print(error)", "    raise"),
    "module lock": wrap("with LOCK:", top="import threading\n\nLOCK = threading.Lock()"),
    "temporary folder": wrap("with tempfile.TemporaryDirectory():", top="import tempfile"),
    "nullcontext named": wrap_behind("nothing = contextlib.nullcontext()", "with nothing:", top=CONTEXTS),
    "exit stack entered": wrap_behind(
        "", "with contextlib.ExitStack() as stack:", "stack.enter_context(contextlib.nullcontext())", top=CONTEXTS
    ),
    "flag named": wrap_behind("enabled = True", "if enabled:"),
    "context named": context_named("context"),
    "context of the instance": context_named("self._context"),
    "context in a stack": context_in_a_stack,
    "context of a function": context_of_a_function("def entered():", "    return {text}"),
    "context of a generator": context_of_a_function(
        "@contextlib.contextmanager", "def entered():", "    with {text}:", "        yield", top=CONTEXTS
    ),
    "result kept": result_kept,
    "spaced call": spaced_call,
    "asked with none": asked_with_none,
    "by identity": by_identity,
    "method under if": under_if,
    "method by a lambda": by_a_lambda,
    "self by place": by_place,
    "abc beside": beside("ABC", top="from abc import ABC"),
    "generic beside": beside("Generic[T]", 'T = TypeVar("T")', "", "", top="from typing import Generic, TypeVar"),
}
"""Edits that put something around what a program does."""
NAMED: Mapping[str, Callable[[Program], Iterator[tuple[int, dict[str, str]]]]] = {
    "passed on by a file": named_in_another_file("from {module} import {name}"),
    "passed on by a package": named_in_another_file(
        "from {module} import {name}", "", '__all__ = ["{name}"]', path="shared/__init__.py"
    ),
    "named in a file": named_in_another_file("import {module} as whole", "", "{name} = whole.{name}"),
}
"""Edits that put a name into another file: the texts by path, that of the program by none."""
