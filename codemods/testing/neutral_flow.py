"""Edits that write conditions, loops, targets and lines in another way, and change nothing of what they do."""

from __future__ import annotations

import ast
import itertools
import re
from collections.abc import Callable, Mapping

from codemods.testing.neutral_calls import bound
from codemods.testing.neutral_forms import each, value_as
from codemods.testing.neutral_lines import behind, wrap
from codemods.testing.neutral_program import Edited, Function, Program, assignments, has_long, is_plain
from codemods.testing.neutral_shapes import marked, whole_text
from codemods.testing.neutral_values import returned, tested

LEAVING = (ast.Return, ast.Raise, ast.Continue, ast.Break)


def _block(program: Program, body: list[ast.stmt], shift: int = 0) -> str:
    lines = program.lines[body[0].lineno - 1 : body[-1].end_lineno]
    made = [line if not line.strip() else (" " * shift + line if shift > 0 else line[-shift:]) for line in lines]
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in made)


def _branches(program: Program) -> list[ast.If]:
    """The plain `if`, none of which is an `elif`."""
    return [
        node
        for node in ast.walk(program.tree)
        if isinstance(node, ast.If) and not program.source(node).startswith("elif") and not has_long(node)
        if program.is_alone(node) and node.body[0].lineno > node.lineno and "\n" not in program.source(node.test)
    ]


def _whole(program: Program, node: ast.stmt, text: str) -> str:
    return "".join([*program.lines[: node.lineno - 1], text, *program.lines[node.end_lineno or 0 :]])


def by_match(program: Program) -> Edited:
    """`if name == constant` by a match statement."""
    for node in _branches(program):
        test, indent = node.test, program.indent(node)
        if not isinstance(test, ast.Compare) or len(test.ops) > 1 or not isinstance(test.ops[0], ast.Eq):
            continue
        if not isinstance(test.left, ast.Name) or not isinstance(test.comparators[0], ast.Constant):
            continue
        if node.orelse and program.lines[node.orelse[0].lineno - 1].lstrip().startswith("elif"):
            continue
        text = f"{indent}match {test.left.id}:\n{indent}    case {program.source(test.comparators[0])}:\n"
        text += _block(program, node.body, 4)
        if node.orelse:
            text += f"{indent}    case _:\n{_block(program, node.orelse, 4)}"
        yield node.lineno, _whole(program, node, text)


def else_dropped(program: Program) -> Edited:
    """What stands in the `else` of an `if` that leaves behind it."""
    for node in _branches(program):
        plain = node.orelse and program.lines[node.orelse[0].lineno - 1].lstrip()[:4] != "elif"
        if plain and isinstance(node.body[-1], LEAVING) and node.orelse[0].lineno > node.body[-1].lineno + 1:
            indent = program.indent(node)
            head = f"{indent}if {program.source(node.test)}:\n{_block(program, node.body)}"
            yield node.lineno, _whole(program, node, head + _block(program, node.orelse, -4))


def elif_below(program: Program) -> Edited:
    """An `elif` by an `if` in the `else`."""
    for node in _branches(program):
        inner = node.orelse[0] if len(node.orelse) == 1 else None
        if isinstance(inner, ast.If) and program.lines[inner.lineno - 1].lstrip().startswith("elif"):
            indent, below = program.indent(node), _block(program, [inner], 4).replace("elif", "if", 1)
            head = f"{indent}if {program.source(node.test)}:\n{_block(program, node.body)}{indent}else:\n"
            yield node.lineno, _whole(program, node, head + below)


def two_ifs(program: Program) -> Edited:
    """`if a and b` by two, one in the other."""
    for node in _branches(program):
        if isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And) and not node.orelse:
            first, rest = node.test.values[0], node.test.values[1:]
            indent = program.indent(node)
            inner = " and ".join(program.source(item) for item in rest)
            text = f"{indent}if {program.source(first)}:\n{indent}    if {inner}:\n{_block(program, node.body, 4)}"
            yield node.lineno, _whole(program, node, text)


def left_first(program: Program) -> Edited:
    """The last `if` of a function by its opposite, which leaves."""
    for function in program.functions():
        node = function.body[-1]
        gives = any(isinstance(item, ast.Return) and item.value for item in ast.walk(node))
        if node in _branches(program) and isinstance(node, ast.If) and not node.orelse and not gives:
            indent = program.indent(node)
            head = f"{indent}if not ({program.source(node.test)}):\n{indent}    return\n"
            yield node.lineno, _whole(program, node, head + _block(program, node.body, -4))


def returned_in_one(program: Program) -> Edited:
    """Two values that a function gives back, by `... if ... else ...`."""
    for _, block in program.blocks():
        for node, then in itertools.pairwise(block):
            inner = node.body[0] if isinstance(node, ast.If) and len(node.body) == 1 and not node.orelse else None
            both = isinstance(inner, ast.Return) and isinstance(then, ast.Return) and inner.value and then.value
            if both and isinstance(inner, ast.Return) and isinstance(then, ast.Return) and isinstance(node, ast.If):
                first, test, second = map(program.source, (inner.value, node.test, then.value))  # type: ignore[arg-type]
                text = f"return {first} if {test} else {second}"
                lines = [*program.lines[: node.lineno - 1], f"{program.indent(node)}{text}\n"]
                yield node.lineno, "".join([*lines, *program.lines[then.end_lineno or 0 :]])


def chosen_by_if(program: Program) -> Edited:
    """`name = a if test else b` by an `if`."""
    for _, node, name in assignments(program):
        if isinstance(node.value, ast.IfExp):
            indent, of = program.indent(node), node.value
            lines = (f"if {program.source(of.test)}:", f"    {name} = {program.source(of.body)}", "else:")
            text = f"\n{indent}".join([*lines, f"    {name} = {program.source(of.orelse)}"])
            yield node.lineno, program.replace((node, text))


def tested_by_name(program: Program) -> Edited:
    """The test of an `if` by a name."""
    for node in _branches(program):
        if is_plain(node.test):
            text = Program(program.replace((node.test, "holds_here")))
            yield (
                node.lineno,
                text.put(node.lineno - 1, f"{program.indent(node)}holds_here = {program.source(node.test)}"),
            )


def equal(form: str) -> Callable[[Program], Edited]:
    """`name == constant` in another form."""

    def change(program: Program, node: ast.expr) -> str | None:
        plain = isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq)
        if not plain or not isinstance(node, ast.Compare) or not isinstance(node.comparators[0], ast.Constant):
            return None
        return form.format(left=program.source(node.left), right=program.source(node.comparators[0]))

    return each(change)


def compared_twice(program: Program, node: ast.expr) -> str | None:
    if not isinstance(node, ast.Compare) or len(node.ops) > 1 or not isinstance(node.left, ast.Name | ast.Attribute):
        return None
    return f"({program.source(node)} and {program.source(node)})"


def loop_by(*lines: str, indexed: bool = False) -> Callable[[Program], Edited]:
    """A loop over something in another form; `{over}` is what it goes over."""

    def edit(program: Program) -> Edited:
        for node in ast.walk(program.tree):
            if not isinstance(node, ast.For) or node.orelse or has_long(node) or not program.is_alone(node):
                continue
            if any(isinstance(item, ast.Continue) for item in ast.walk(node)) or node.body[0].lineno == node.lineno:
                continue
            over, target, indent = program.source(node.iter), program.source(node.target), program.indent(node)
            named = isinstance(node.iter, ast.Name | ast.Attribute)
            if (indexed and not named) or "truncated_bptt_steps" in over:  # which is a number
                continue
            head = [line.format(over=over, target=target) for line in lines]
            text = "".join(f"{indent}{line}\n" for line in head)
            yield node.lineno, _whole(program, node, text + _block(program, node.body))

    return edit


def one_line(program: Program) -> Edited:
    """The body of an `if` or a loop, or a function, on the line of its head."""
    for node in ast.walk(program.tree):
        kinds = ast.If | ast.For | ast.With | ast.While | ast.FunctionDef
        if not isinstance(node, kinds) or len(node.body) != 1 or getattr(node, "orelse", None):
            continue
        inner = node.body[0]
        simple = isinstance(inner, ast.Assign | ast.Expr | ast.Return | ast.Pass | ast.AugAssign | ast.Raise)
        if simple and inner.lineno == node.lineno + 1 == inner.end_lineno and program.is_alone(inner):
            head = program.lines[node.lineno - 1].rstrip()
            if head.endswith(":") and program.source(node).startswith(("if", "for", "with", "while", "def")):
                text = f"{head} {program.lines[inner.lineno - 1].lstrip()}"
                lines = [*program.lines[: node.lineno - 1], text, *program.lines[inner.end_lineno or 0 :]]
                yield inner.lineno, "".join(lines)


def contexts_parted(program: Program) -> Edited:
    """`with a, b` by two, one in the other; a single one in brackets."""
    for node in ast.walk(program.tree):
        if not isinstance(node, ast.With) or has_long(node) or not program.is_alone(node):
            continue
        if node.body[0].lineno == node.lineno:
            continue
        indent = program.indent(node)
        kept = [f" as {program.source(item.optional_vars)}" if item.optional_vars else "" for item in node.items]
        items = [f"{program.source(item.context_expr)}{name}" for item, name in zip(node.items, kept, strict=True)]
        if len(items) > 1:
            text = (
                f"{indent}with {items[0]}:\n{indent}    with {', '.join(items[1:])}:\n{_block(program, node.body, 4)}"
            )
        else:
            text = f"{indent}with (\n{indent}    {items[0]},\n{indent}):\n{_block(program, node.body)}"
        yield node.lineno, _whole(program, node, text)


def call_parted(program: Program) -> Edited:
    """What is called of a call by a name."""
    for owner, block in program.blocks():
        for node in block:
            call = node.value if isinstance(node, ast.Expr | ast.Return | ast.Assign) else None
            while isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
                inner = call.func.value
                if isinstance(inner, ast.Call) and program.is_alone(node) and program.source(inner) != "super()":
                    if isinstance(owner, ast.ClassDef) or not is_plain(inner) or "\n" in program.source(inner):
                        break
                    text = Program(program.replace((inner, "part_here")))
                    yield (
                        node.lineno,
                        text.put(node.lineno - 1, f"{program.indent(node)}part_here = {program.source(inner)}"),
                    )
                call = inner if isinstance(inner, ast.Call) else None


def otherwise_spelled(program: Program) -> Edited:
    """A name of a local in letters beyond ASCII."""
    for owner, node, name in assignments(program):
        inner = any(isinstance(item, Function) for item in ast.walk(owner) if item != owner)
        given = {item.arg for item in ast.walk(owner) if isinstance(item, ast.arg)}
        if isinstance(owner, Function) and not inner and name not in given:
            uses = [item for item in ast.walk(owner) if isinstance(item, ast.Name) and item.id == name]
            yield node.lineno, program.replace(*((item, f"größe_{name}") for item in uses))


def _lines(change: Callable[[str], str]) -> Callable[[Program], Edited]:
    """Each line that is no part of a longer string changed."""
    return lambda program: iter(() if has_long(program.tree) else [(1, "".join(map(change, program.lines)))])


def ignored(comment: str) -> Callable[[Program], Edited]:
    """A comment behind each statement of one line."""

    def edit(program: Program) -> Edited:
        for _, block in program.blocks():
            for node in block:
                line = program.lines[node.lineno - 1]
                if node.lineno == node.end_lineno and program.is_alone(node) and "#" not in line:
                    lines = [*program.lines]
                    lines[node.lineno - 1] = f"{line.rstrip()}  {comment}\n"
                    yield node.lineno, "".join(lines)

    return edit


def tabs(text: str) -> str:
    return re.sub(r"^( {4})+", lambda found: "\t" * (len(found[0]) // 4), text, flags=re.MULTILINE)


def around(*heads: str) -> Callable[[Program], Edited]:
    """Several lines in front of the body of a function or of a block inside it."""
    inner = wrap("if HEADS_HERE:")

    def edit(program: Program) -> Edited:
        for line, text in inner(program):
            indent, _, _ = next(item for item in text.splitlines() if "HEADS_HERE" in item).partition("if")
            yield line, text.replace("if HEADS_HERE:", f"\n{indent}".join(heads))

    return edit


FLOW: Mapping[str, Callable[[Program], Edited]] = {
    "by a match": by_match,
    "else dropped": else_dropped,
    "elif below": elif_below,
    "two ifs": two_ifs,
    "left first": left_first,
    "returned in one": returned_in_one,
    "chosen by if": chosen_by_if,
    "test named": tested_by_name,
    "test bound": tested("(holds_here := ({test}))"),
    "test or false": tested("({test}) or False"),
    "in one": equal("{left} in ({right},)"),
    "in a list of one": equal("{left} in [{right}]"),
    "in a set of one": equal("{left} in {{{right}}}"),
    "compared twice": each(compared_twice),
    "by number": loop_by("for number_here in range(len({over})):", "    {target} = {over}[number_here]", indexed=True),
    "over a list": loop_by("for {target} in list({over}):"),
    "over a name": loop_by("items_here = {over}", "for {target} in items_here:"),
    "over and bound again": loop_by("for item_here in {over}:", "    {target} = item_here"),
    "on one line": one_line,
    "contexts parted": contexts_parted,
    "call parted": call_parted,
    "else of a try": around("try:", "    pass", "except NameError:", "    raise", "else:"),
    "else of a loop": around("for _ in ():", "    pass", "else:"),
    "finally": around("try:", "    pass", "finally:"),
    "if false else": around("if False:", "    pass", "else:"),
    "while false else": around("while False:", "    pass", "else:"),
    "if and if": wrap("if True and not False:"),
    "for one of two": wrap("for _, _ in [(0, 0)]:"),
    "stdout as it is": wrap("with contextlib.redirect_stdout(sys.stdout):", top="import contextlib, sys"),
    "except another": wrap("try:", "except ZeroDivisionError as error:", '    raise ValueError("no") from error'),
    "match self": wrap("match None:", deeper="case None:"),
    "bound in a list": bound("[{name}] = [{value}]"),
    "bound in a tuple of one": bound("({name},) = ({value},)"),
    "bound deep": bound("{name}, (other_here, _) = {value}, (None, None)"),
    "bound in an if": bound("if ({name} := {value}) is not Ellipsis:\n{indent}    pass"),
    "bound as a rest": bound("*_, {name} = (None, {value})"),
    "bound in a try": bound("try:\n{indent}    {name} = {value}\n{indent}except ZeroDivisionError:\n{indent}    raise"),
    "bound in a with": value_as("with contextlib.nullcontext():", "    {name} = {value}", top="import contextlib"),
    "bound in both": bound("if __debug__:\n{indent}    {name} = {value}\n{indent}else:\n{indent}    {name} = {value}"),
    "bound in every case": bound("match 0:\n{indent}    case 0:\n{indent}        {name} = {value}"),
    "bound in a loop": bound("for _ in range(1):\n{indent}    {name} = {value}"),
    "bound with a bracket": bound("{name} = (  # as before\n{indent}    {value}\n{indent})"),
    "bound on two lines": bound("{name} = \\\n{indent}    {value}"),
    "bound by a function": value_as("def made_here():", "    nonlocal_here = {value}", "    return nonlocal_here", "",
                                   "{name} = made_here()"),
    "bound by a list": value_as("kept_here = []", "kept_here.append({value})", "{name} = kept_here.pop()"),
    "bound by a lambda": value_as("make_here = lambda: {value}", "{name} = make_here()"),
    "deleted behind": behind("unused_here = object()", "del unused_here"),
    "augmented": behind("count_here = 0", "count_here += 1"),
    "asked for its kind": behind("if isinstance({name}, type(None)):", "    print('none')"),
    "asked for none": behind("if {name} is None:", "    print('none')"),
    "shown by reveal": behind("if False:", "    print({name})"),
    "returned by a walrus": returned("(given_back := {value})"),
    "returned of a list": returned("[{value}][0]"),
    "returned by a lambda": returned("(lambda: {value})()"),
    "returned by a cast": returned('cast("object", {value})', top="from typing import cast"),
    "final": marked("@final", top="from typing import final"),
    "no type check": marked("@typing.no_type_check", top="import typing"),
    "jit ignored": marked("@torch.jit.ignore", top="import torch"),
    "kept by name": marked("@named", "NAMES = []", "", "", "def named(function):",
                           "    NAMES.append(function.__name__)",
                           "    return function"),
    "spelled beyond ascii": otherwise_spelled,
    "tabs": whole_text(tabs),
    "form feeds": whole_text(lambda text: text.replace("\n\n\n", "\n\n\f\n")),
    "carriage returns": whole_text(lambda text: text.replace("\n", "\r")),
    "mark of order": whole_text(lambda text: f"\ufeff{text}"),
    "no last line end": whole_text(lambda text: text.rstrip("\n")),
    "spaces at the end": _lines(lambda line: f"{line.rstrip()}   \n" if "\\" not in line else line),
    "blank lines with spaces": _lines(lambda line: line if line.strip() else "    \n"),
    "more blank lines": _lines(lambda line: line if line.strip() else "\n\n\n"),
    "shebang": whole_text(lambda text: f"#!/usr/bin/env python\n# encoding: utf8\n{text}"),
    "type ignored": ignored("# type: ignore"),
    "checks ignored": ignored("# noqa: E501"),
    "formatter off": whole_text(lambda text: f"# fmt: off\n# pylint: disable=all\n{text}"),
    "mypy off": whole_text(lambda text: f"# mypy: ignore-errors\n# ruff: noqa\n{text}"),
}  # fmt: skip
"""Edits that write the flow of a program, and its lines, in another way."""
