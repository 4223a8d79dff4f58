"""Edits that write a call, its keywords or what comes of it in another way, and change nothing of what it does."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping

from codemods.testing.neutral_program import Edited, Program, assignments, with_import
from codemods.testing.neutral_values import value

OPERATOR, TYPES = "import operator", "import types"
ODD = (ast.Starred, ast.GeneratorExp, ast.Yield, ast.YieldFrom, ast.Await)


def _methods(program: Program) -> Iterator[tuple[ast.Call, str, str]]:
    """The calls of methods, with what these are of and what they are given."""
    for call in ast.walk(program.tree):
        function = call.func if isinstance(call, ast.Call) else None
        if not isinstance(call, ast.Call) or not isinstance(function, ast.Attribute) or not function.attr[:1].islower():
            continue
        of = program.source(function.value)
        given = ", ".join(program.source(item) for item in (*call.args, *call.keywords))
        odd = any(isinstance(item, ODD) or getattr(item, "id", "") == "super" for item in ast.walk(call))
        if isinstance(function.value, ast.Name | ast.Attribute) and "\n" not in of + given and not odd:
            yield call, of, given


def called(form: str, top: str = "") -> Callable[[Program], Edited]:
    """The call of a method in another form."""

    def edit(program: Program) -> Edited:
        for call, of, given in _methods(program):
            name = call.func.attr  # type: ignore[attr-defined]
            words = {"of": of, "name": name, "given": given, "more": f", {given}" if given else ""}
            yield call.lineno, with_import(program.replace((call, form.format(**words))), top)

    return edit


def seen(form: str) -> Callable[[Program], Edited]:
    """A statement that is a call in an expression that only looks at what the call gives."""

    def edit(program: Program) -> Edited:
        for _, block in program.blocks():
            for node in block:
                call = node.value if isinstance(node, ast.Expr) else None
                text = program.source(call) if isinstance(call, ast.Call) else ""
                if text and not {"\n", '"', "super"} & {*text, *text.split("(")}:
                    yield node.lineno, program.replace((node, form.format(call=text, indent=program.indent(node))))

    return edit


def given(form: str, top: str = "") -> Callable[[Program], Edited]:
    """The keywords of a call by a mapping in another form."""

    def edit(program: Program) -> Edited:
        for call in ast.walk(program.tree):
            words = call.keywords if isinstance(call, ast.Call) else []
            if not isinstance(call, ast.Call) or not words or not all(item.arg for item in words):
                continue
            texts = [program.source(item.value) for item in words]
            if any("\n" in item for item in texts) or "\n" in program.source(call):
                continue
            names, values = [item.arg for item in words], ", ".join(texts)
            pairs = ", ".join(f'"{name}": {text}' for name, text in zip(names, texts, strict=True))
            new = form.format(names=names, values=values, pairs=pairs)
            before = [program.source(call.func), *(program.source(item) for item in call.args)]
            text = f"{before[0]}({', '.join([*before[1:], f'**{new}'])})"
            yield call.lineno, with_import(program.replace((call, text)), top)

    return edit


def bound(form: str) -> Callable[[Program], Edited]:
    """A value that is bound in another form of statement."""

    def edit(program: Program) -> Edited:
        for _, node, name in assignments(program):
            text = program.source(node.value)
            if "\n" not in text and not any(isinstance(item, ODD) for item in ast.walk(node.value)):
                new = form.format(name=name, value=text, indent=program.indent(node))
                yield node.lineno, program.replace((node, new))

    return edit


def guarded(program: Program) -> Edited:
    """A result that is given back where it is None, too."""
    for _, block in program.blocks():
        for node in block:
            if isinstance(node, ast.Return) and node.value is not None and "\n" not in program.source(node):
                indent, text = program.indent(node), program.source(node.value)
                lines = (f"given_back = {text}", "if given_back is None:", "    return None", "return given_back")
                yield node.lineno, program.replace((node, f"\n{indent}".join(lines)))


def none_first(program: Program) -> Edited:
    """An attribute of a constructor that is None first."""
    for node in ast.walk(program.tree):
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            for item in node.body:
                target = item.targets[0] if isinstance(item, ast.Assign) else None
                if isinstance(target, ast.Attribute) and program.source(target.value) == "self":
                    line = f"{program.indent(item)}{program.source(target)} = None"
                    yield item.lineno, program.put(item.lineno - 1, line)


def bases_in_a_row(program: Program) -> Edited:
    for node in ast.walk(program.tree):
        if isinstance(node, ast.ClassDef) and len(node.bases) == 1 and not node.keywords:
            base = program.source(node.bases[0])
            yield node.lineno, program.replace((node.bases[0], f"*({base},)"))


CALLS: Mapping[str, Callable[[Program], Edited]] = {
    "by its own call": called("{of}.{name}.__call__({given})"),
    "by a caller": called("operator.methodcaller({name!r}{more})({of})", top=OPERATOR),
    "by a getter": called("operator.attrgetter({name!r})({of})({given})", top=OPERATOR),
    "by an operator": called("operator.call({of}.{name}{more})", top=OPERATOR),
    "bound as it is called": called("(called_here := {of}.{name})({given})"),
    "in one turn": called("[called_here({given}) for called_here in ({of}.{name},)][0]"),
    "printed": seen("print({call})"),
    "in a string": seen('f"{{{call}}}"'),
    "in a row": seen("({call}, None)"),
    "or none": seen("{call} or None"),
    "asked if": seen("if {call}:\n{indent}    pass"),
    "is none": seen("told_here = {call} is None"),
    "keys zipped": given("dict(zip({names}, [{values}]))"),
    "keys turned": given("{{key: item for key, item in {{{pairs}}}.items()}}"),
    "keys of another kind": given("types.MappingProxyType({{{pairs}}})", top=TYPES),
    "all values": bound("({name},) = {{'k': {value}}}.values()"),
    "one pair": bound("for _, {name} in zip(['k'], [{value}]):\n{indent}    pass"),
    "left at once": bound("for {name} in ({value},):\n{indent}    break"),
    "first of values": value("next(iter({{'k': {value}}}.values()))"),
    "by a namespace": value("types.SimpleNamespace(held={value}).held", top=TYPES),
    "guarded": guarded,
    "none, then set": none_first,
    "bases in a row": bases_in_a_row,
}
