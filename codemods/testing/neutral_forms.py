"""Edits that write values, calls, methods and classes in another form, and change nothing of what the program does."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping

from codemods.code.syntax import is_of_self
from codemods.testing.neutral_lines import behind, wrap
from codemods.testing.neutral_program import (
    SCOPES,
    Edited,
    Function,
    Program,
    assignments,
    first_statement,
    is_plain,
    with_import,
)
from codemods.testing.neutral_shapes import marked

Change = Callable[[Program, ast.expr], str | None]
OPPOSITE = {
    ast.Eq: "!=", ast.NotEq: "==", ast.Is: "is not", ast.IsNot: "is", ast.In: "not in", ast.NotIn: "in",
}  # fmt: skip
MARK = (
    "def noted(why):", "    def mark(function):", "        function.why = why", "        return function", "",
    "    return mark",
)  # fmt: skip


def value_as(*lines: str, top: str = "") -> Callable[[Program], Edited]:
    """Each `{name} = {value}` by other statements."""

    def edit(program: Program) -> Edited:
        for owner, node, name in assignments(program):
            value = program.source(node.value)
            odd = isinstance(node.value, ast.Lambda | ast.IfExp | ast.Tuple) or not is_plain(node.value)
            if isinstance(owner, Function) and not odd and "\n" not in value:
                text = f"\n{program.indent(node)}".join(line.format(name=name, value=value) for line in lines)
                yield node.lineno, with_import(program.replace((node, text)), top)

    return edit


def each(change: Change, top: str = "") -> Callable[[Program], Edited]:
    """Each expression that a change takes in another form."""

    def edit(program: Program) -> Edited:
        for node in ast.walk(program.tree):
            if not isinstance(node, ast.expr) or "\n" in program.source(node):
                continue
            if new := change(program, node):
                yield node.lineno, with_import(program.replace((node, new)), top)

    return edit


def not_negated(program: Program, node: ast.expr) -> str | None:
    """A comparison by its opposite."""
    sign = OPPOSITE.get(type(node.ops[0])) if isinstance(node, ast.Compare) and len(node.ops) == 1 else None
    if not sign or not isinstance(node, ast.Compare):
        return None
    return f"(not {program.source(node.left)} {sign} {program.source(node.comparators[0])})"


def de_morgan(program: Program, node: ast.expr) -> str | None:
    """`and` by `or`, and the other way round, where it is a test."""
    if not isinstance(node, ast.BoolOp) or not all(isinstance(item, ast.Compare | ast.UnaryOp) for item in node.values):
        return None
    sign = " or " if isinstance(node.op, ast.And) else " and "
    return f"(not ({sign.join(f'not ({program.source(item)})' for item in node.values)}))"


def empty_call(program: Program, node: ast.expr) -> str | None:
    """`list()` and `dict()` for empty ones."""
    if isinstance(node, ast.List) and not node.elts and isinstance(node.ctx, ast.Load):
        return "list()"
    return "dict()" if isinstance(node, ast.Dict) and not node.keys else None


def given_in_a_tuple(program: Program, node: ast.expr) -> str | None:
    """The arguments of a call by `*(...)`."""
    given = node.args if isinstance(node, ast.Call) else []
    odd = any(isinstance(item, ast.Starred | ast.GeneratorExp) for item in given)
    if not given or odd or not isinstance(node, ast.Call) or program.source(node.func) == "super":
        return None
    words = "".join(f", {program.source(item)}" for item in node.keywords)
    return f"{program.source(node.func)}(*({', '.join(map(program.source, given))},){words})"


def by_a_lambda_of_all(program: Program, node: ast.expr) -> str | None:
    """A method by a lambda that hands on all that it is given."""
    function = node.func if isinstance(node, ast.Call) else None
    if not isinstance(node, ast.Call) or not isinstance(function, ast.Attribute) or not is_of_self(function):
        return None
    if any(isinstance(item, ast.GeneratorExp) for item in node.args) or not is_plain(node):
        return None
    given = ", ".join(map(program.source, (*node.args, *node.keywords)))
    return f"(lambda *args, **kwargs: {program.source(function)}(*args, **kwargs))({given})"


def of_its_dictionary(program: Program, node: ast.expr) -> str | None:
    """A constant that the instance holds, by `vars(self)`."""
    if not isinstance(node, ast.Attribute) or not is_of_self(node) or not isinstance(node.ctx, ast.Load):
        return None
    held = {
        target.attr
        for item in ast.walk(program.tree)
        if isinstance(item, ast.Assign) and isinstance(item.value, ast.Constant)
        for target in item.targets
        if isinstance(target, ast.Attribute) and is_of_self(target) and target.attr != "automatic_optimization"
    }
    return f'vars(self)["{node.attr}"]' if node.attr in held else None


def guarded(form: str) -> Callable[[Program], Edited]:
    """A call of a method that the class or every release has, where it is there."""

    def edit(program: Program) -> Edited:
        for owner, block in program.blocks():
            for node in block:
                call = node.value if isinstance(node, ast.Expr) and program.is_alone(node) else None
                function = call.func if isinstance(call, ast.Call) else None
                if not isinstance(function, ast.Attribute) or isinstance(owner, ast.ClassDef):
                    continue
                name = program.source(function.value)
                if function.attr in ("step", "zero_grad", "manual_backward", "backward", "log") and "(" not in name:
                    test = form.format(owner=name, name=function.attr)
                    line = f"if {test}:\n{program.indent(node)}    {program.source(node)}"
                    yield node.lineno, program.replace((node, line))

    return edit


def by_base_name(program: Program) -> Edited:
    """What the class above has by its name."""
    for node in program.tree.body:
        for call in ast.walk(node) if isinstance(node, ast.ClassDef) and len(node.bases) == 1 else ():
            function = call.func if isinstance(call, ast.Call) else None
            above = isinstance(function, ast.Attribute) and program.source(function.value) == "super()"
            if above and isinstance(call, ast.Call) and isinstance(function, ast.Attribute):
                given = ", ".join(["self", *map(program.source, (*call.args, *call.keywords))])
                base = program.source(node.bases[0])  # type: ignore[attr-defined]
                yield call.lineno, program.replace((call, f"{base}.{function.attr}({given})"))


def self_otherwise(program: Program) -> Edited:
    """Another name for the instance that a method is given."""
    for function in program.functions():
        names = [item for item in ast.walk(function) if isinstance(item, ast.Name) and item.id == "self"]
        first = function.args.args[0] if function.args.args else None
        if first is not None and first.arg == "self" and "super" not in program.source(function):
            changes = [(item, "this") for item in names]
            yield function.lineno, program.replace((first, "this"), *changes)


def given_by_defaults(program: Program) -> Edited:
    """The body of a function in one inside it, which is given the parameters by its defaults."""
    for function in program.functions():
        names = [item.arg for item in function.args.args]
        first, last = first_statement(function), function.body[-1]
        inside = [item for each in function.body for item in ast.walk(each)]
        odd = (ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal)
        says = any(isinstance(item, odd) or getattr(item, "id", "") == "super" for item in inside)
        if not names or says or function.name == "__init__" or not program.is_alone(first):
            continue
        if function.args.vararg or function.args.kwarg or function.args.kwonlyargs:
            continue
        indent = program.indent(first)
        body = [f"    {line}" if line.strip() else line for line in program.lines[first.lineno - 1 : last.end_lineno]]
        head = f"{indent}def whole({', '.join(f'{name}={name}' for name in names)}):\n"
        text = [*program.lines[: first.lineno - 1], head, *body, "\n", f"{indent}return whole()\n"]
        yield first.lineno, "".join([*text, *program.lines[last.end_lineno or 0 :]])


def argument_in_a_tuple(program: Program) -> Edited:
    """The arguments of a call by a tuple that has a name."""
    for node, call in _calls(program):
        if call.args and all(is_plain(item) and not isinstance(item, ast.GeneratorExp) for item in call.args):
            words = ["*given_here", *map(program.source, call.keywords)]
            text = Program(program.replace((call, f"{program.source(call.func)}({', '.join(words)})")))
            given = f"{program.indent(node)}given_here = ({', '.join(map(program.source, call.args))},)"
            yield node.lineno, text.put(node.lineno - 1, given)


def method_first(program: Program) -> Edited:
    """A method of the instance under a name of its own, from the beginning of the method that calls it."""
    for function in program.functions():
        first = first_statement(function)
        if not function.args.args or function.args.args[0].arg != "self" or isinstance(first, SCOPES):
            continue
        called = [item.func for item in ast.walk(function) if isinstance(item, ast.Call) and is_of_self(item.func)]
        uses = [item for item in called if getattr(item, "attr", "") in ("manual_backward", "optimizers", "parameters")]
        if uses and program.is_alone(first) and all(item.lineno >= first.lineno for item in uses):
            name = uses[0].attr
            same = [(item, f"own_{name}") for item in uses if getattr(item, "attr", "") == name]
            line = f"{program.indent(first)}own_{name} = self.{name}"
            yield uses[0].lineno, Program(program.replace(*same)).put(first.lineno - 1, line)


def _calls(program: Program) -> Iterator[tuple[ast.stmt, ast.Call]]:
    """The calls that are a statement of a function, or the value of one."""
    for owner, block in program.blocks():
        for node in block:
            call = node.value if isinstance(node, ast.Assign | ast.Expr | ast.Return) else None
            if isinstance(owner, Function) and isinstance(call, ast.Call) and program.is_alone(node):
                yield node, call


def kept_on_the_way(program: Program) -> Edited:
    """What an attribute is set to under a name that nobody reads."""
    for owner, block in program.blocks():
        for node in block:
            if not isinstance(node, ast.Assign) or len(node.targets) > 1 or not program.is_alone(node):
                continue
            if isinstance(owner, Function) and isinstance(node.targets[0], ast.Attribute) and is_plain(node.value):
                yield node.lineno, program.replace((node.value, f"(kept := {program.source(node.value)})"))


NESTED = ("class Kept:", "    size = 0", "", "    def read(self):", "        return self.size", "")

FORMS: Mapping[str, Callable[[Program], Edited]] = {
    "print name and value": behind('print(f"{{{name}=}}")'),
    "print and forget": behind("try:", "    print({name})", "except Exception:", "    pass"),
    "logged if wanted": behind(
        "if logging.getLogger(__name__).isEnabledFor(logging.DEBUG):", "    logging.debug({name})", top="import logging"
    ),
    "collected": behind("seen_here = []", "seen_here.append({name})"),
    "class inside": behind(*NESTED),
    "class inside of a name": behind("class Kept:", "    {name}_of = None", ""),
    "looked at by a function": behind("def shown_here(it={name}):", "    print(it)", "", "shown_here()"),
    "looked at by a case": behind("match {name}:", "    case None:", "        print()", "    case _:", "        pass"),
    "never bound": behind("if False:", "    {name} = None"),
    "counted by a function": behind(
        "turns = 0", "", "def turned():", "    nonlocal turns", "    turns += 1", "", "turned()"
    ),
    "onto itself beside": behind("{name}, other_here = {name}, None"),
    "case of true": wrap("match True:", deeper="case True:"),
    "case of two": wrap("match (1, 2):", deeper="case (1, _):"),
    "if not checking": wrap("if not TYPE_CHECKING:", top="from typing import TYPE_CHECKING"),
    "if none is none": wrap("if None is None:"),
    "rest unpacked": value_as("{name}, *_ = {value}, None"),
    "first none": value_as("{name} = None", "{name} = {value}"),
    "declared": value_as("{name}: object", "{name} = {value}"),
    "either way": value_as("if True:", "    {name} = {value}", "else:", "    {name} = None"),
    "name deleted": value_as("first_here = {value}", "{name} = first_here", "del first_here"),
    "of a dictionary": value_as("held_here = dict(it={value})", "{name} = held_here['it']"),
    "of a list": value_as("held_here = [{value}]", "{name} = held_here[0]"),
    "taken out": value_as("{name} = [{value}].pop()"),
    "by a default": value_as("def made_here(it={value}):", "    return it", "", "{name} = made_here()"),
    "by a case": value_as("match {value}:", "    case {name}:", "        pass"),
    "by a context": value_as("with contextlib.nullcontext({value}) as {name}:", "    pass", top="import contextlib"),
    "first of all": value_as("{name} = (lambda *given: given[0])({value})"),
    "not negated": each(not_negated),
    "by and for or": each(de_morgan),
    "empty by a call": each(empty_call),
    "in a tuple": each(given_in_a_tuple),
    "by a lambda of all": each(by_a_lambda_of_all),
    "of its dictionary": each(of_its_dictionary),
    "if it has it": guarded('hasattr({owner}, "{name}")'),
    "if it can be called": guarded("callable({owner}.{name})"),
    "if it is there": guarded('getattr({owner}, "{name}", None) is not None'),
    "by the name of the base": by_base_name,
    "self otherwise": self_otherwise,
    "inside by defaults": given_by_defaults,
    "arguments by a name": argument_in_a_tuple,
    "method first": method_first,
    "kept on the way": kept_on_the_way,
    "noted": marked('@noted(why="it is slow")', *MARK),
}
"""Edits that write something in another form."""
