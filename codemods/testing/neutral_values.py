"""Edits that write a value or a name in another way, and change nothing of what a program does."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from codemods.testing.neutral_program import (
    SCOPES,
    Edited,
    Function,
    Program,
    above,
    assignments,
    is_plain,
    with_import,
)


def value(form: str, top: str = "") -> Callable[[Program], Edited]:
    """The value of each name in another form, in which `{value}` stands for it."""

    def edit(program: Program) -> Edited:
        for _, node, name in assignments(program):
            text = program.source(node.value)
            if "\n" not in text and is_plain(node.value):
                new = program.replace((node.value, form.format(value=text, name=name)))
                yield node.lineno, with_import(new, top)

    return edit


def constant(form: str, kinds: tuple[type, ...] = (object,)) -> Callable[[Program], Edited]:
    """The constant of each keyword in another form."""

    def edit(program: Program) -> Edited:
        for call, keyword, node in _constants(program):
            if isinstance(node.value, kinds) and (bool in kinds or not isinstance(node.value, bool)):
                new = form.format(value=program.source(node), type=type(node.value).__name__)
                if keyword.arg and f"{keyword.arg}=" in program.source(keyword):
                    yield call.lineno, program.replace((node, new))

    return edit


def keptabove(*lines: str, read: str, top: str = "") -> Callable[[Program], Edited]:
    """The constant of each keyword by a name of the module, of an object of it, or the like."""

    def edit(program: Program) -> Edited:
        for call, keyword, node in _constants(program):
            words = {"name": keyword.arg, "value": program.source(node), "type": type(node.value).__name__}
            text = program.replace((node, read.format(**words)))
            yield call.lineno, with_import(above(text, *(item.format(**words) for item in lines)), top)

    return edit


def _constants(program: Program) -> Iterator[tuple[ast.Call, ast.keyword, ast.Constant]]:
    for call in ast.walk(program.tree):
        for keyword in call.keywords if isinstance(call, ast.Call) else ():
            if keyword.arg and isinstance(keyword.value, ast.Constant) and isinstance(call, ast.Call):
                yield call, keyword, keyword.value


def renamed(program: Program) -> Edited:
    """Another name for a local."""
    for owner, node, name in assignments(program):
        if not isinstance(owner, Function) or any(
            isinstance(item, SCOPES) for item in ast.walk(owner) if item != owner
        ):
            continue
        if name in {item.arg for item in ast.walk(owner.args) if isinstance(item, ast.arg)}:
            continue
        uses = [item for item in ast.walk(owner) if isinstance(item, ast.Name) and item.id == name]
        yield node.lineno, program.replace(*((item, f"{name}_here") for item in uses))


def class_renamed(program: Program) -> Edited:
    for node in program.tree.body:
        if isinstance(node, ast.ClassDef):
            uses = [item for item in ast.walk(program.tree) if isinstance(item, ast.Name) and item.id == node.name]
            text = program.replace(*((item, f"{node.name}Here") for item in uses))
            yield node.lineno, text.replace(f"class {node.name}", f"class {node.name}Here", 1)


def module_import(alias: str = "") -> Callable[[Program], Edited]:
    """`from a import b` as `import a`, or `import a as ...`."""

    def edit(program: Program) -> Edited:
        for node in program.tree.body:
            if not isinstance(node, ast.ImportFrom) or node.level or len(node.names) != 1 or not node.module:
                continue
            known, module = node.names[0].asname or node.names[0].name, alias or node.module
            names = [item for item in ast.walk(program.tree) if isinstance(item, ast.Name) and item.id == known]
            if node.module == "__future__" or known == "*" or any(not isinstance(item.ctx, ast.Load) for item in names):
                continue
            new = f"import {node.module}{f' as {alias}' if alias else ''}"
            yield (
                node.lineno,
                program.replace((node, new), *((item, f"{module}.{node.names[0].name}") for item in names)),
            )

    return edit


def method_name(program: Program) -> Edited:
    """A bound method by a name of its own right before it is called."""
    for owner, block in program.blocks():
        for node in block:
            call = node.value if isinstance(node, ast.Expr | ast.Assign) else None
            function = call.func if isinstance(call, ast.Call) else None
            if isinstance(owner, ast.ClassDef) or not isinstance(function, ast.Attribute) or not program.is_alone(node):
                continue
            if isinstance(function.value, ast.Name):
                text = program.replace((function, "bound_here"))
                line = f"{program.indent(node)}bound_here = {program.source(function)}"
                yield node.lineno, Program(text).put(node.lineno - 1, line)


def self_name(program: Program) -> Edited:
    """A second name for `self`."""
    for function in program.functions():
        first = function.body[0]
        if function.args.args and function.args.args[0].arg == "self" and program.is_alone(first):
            uses = [item for item in ast.walk(function) if isinstance(item, ast.Name) and item.id == "self"]
            if uses and not any(isinstance(item.ctx, ast.Store) for item in uses):
                text = program.replace(*((item, "this") for item in uses))
                yield first.lineno, Program(text).put(first.lineno - 1, f"{program.indent(first)}this = self")


def long_super(program: Program) -> Edited:
    for node in program.tree.body:
        for call in ast.walk(node) if isinstance(node, ast.ClassDef) else ():
            if isinstance(call, ast.Call) and program.source(call) == "super()":
                yield call.lineno, program.replace((call, f"super({node.name}, self)"))  # type: ignore[attr-defined]


def negated(program: Program) -> Edited:
    """`if not` with its two branches the other way round."""
    for node in ast.walk(program.tree):
        if (
            isinstance(node, ast.If)
            and node.orelse
            and program.is_alone(node)
            and not isinstance(node.orelse[0], ast.If)
        ):
            one, other = (
                "".join(program.lines[body[0].lineno - 1 : body[-1].end_lineno]) for body in (node.body, node.orelse)
            )
            if all(map(program.is_alone, [*node.body, *node.orelse])):
                indent = program.indent(node)
                new = f"{indent}if not ({program.source(node.test)}):\n{other}{indent}else:\n{one}"
                yield (
                    node.lineno,
                    "".join([*program.lines[: node.lineno - 1], new, *program.lines[node.end_lineno or 0 :]]),
                )


def tested(form: str) -> Callable[[Program], Edited]:
    """The test of each `if` in another form."""

    def edit(program: Program) -> Edited:
        for node in ast.walk(program.tree):
            if isinstance(node, ast.If):
                yield node.lineno, program.replace((node.test, form.format(test=program.source(node.test))))

    return edit


def bool_test(program: Program) -> Edited:
    return tested("True and ({test})")(program)


def split_call(program: Program) -> Edited:
    """A call over several lines, with a comma at the end."""
    for call in ast.walk(program.tree):
        if isinstance(call, ast.Call) and "\n" not in program.source(call):
            given = [*call.args, *call.keywords]
            single = len(given) == 1 and isinstance(given[0], ast.GeneratorExp)
            if given and not single:
                text = "\n".join(f"        {program.source(item)}," for item in given)
                yield call.lineno, program.replace((call, f"{program.source(call.func)}(\n{text}\n    )"))


def own_line_comment(program: Program) -> Edited:
    """A comment between the arguments of a call."""
    for call in ast.walk(program.tree):
        if isinstance(call, ast.Call) and "\n" not in program.source(call) and (call.args or call.keywords):
            start = program.span(call.func)[1]
            if program.text[start] == "(":
                yield call.lineno, f"{program.text[: start + 1]}  # é: as before\n        {program.text[start + 1 :]}"


def returned(form: str, top: str = "") -> Callable[[Program], Edited]:
    """The value of each `return` in another form."""

    def edit(program: Program) -> Edited:
        for node in ast.walk(program.tree):
            if isinstance(node, ast.Return) and node.value and is_plain(node.value):
                text = program.source(node.value)
                if "\n" not in text:
                    yield node.lineno, with_import(program.replace((node.value, form.format(value=text))), top)

    return edit


def prefixed_string(prefix: str) -> Callable[[Program], Edited]:
    """Each string of a keyword with a prefix that changes nothing."""

    def edit(program: Program) -> Edited:
        for call, _, node in _constants(program):
            text = program.source(node)
            if isinstance(node.value, str) and text[0] in "\"'" and not set("\\{}") & set(text):
                yield call.lineno, program.replace((node, prefix + text))

    return edit


def parted_string(mark: str) -> Callable[[Program], Edited]:
    """Each string of a keyword in two parts."""

    def edit(program: Program) -> Edited:
        for call, _, node in _constants(program):
            if isinstance(node.value, str) and len(node.value) > 1 and "\\" not in program.source(node):
                yield call.lineno, program.replace((node, f"({node.value[:1]!r}{mark}{node.value[1:]!r})"))

    return edit


def imported_short(program: Program) -> Edited:
    """Each name that is imported from somewhere under one of one letter."""
    for node in program.tree.body:
        if not isinstance(node, ast.ImportFrom) or node.level or not node.module or node.module == "__future__":
            continue
        for alias in node.names:
            uses = [item for item in ast.walk(program.tree) if isinstance(item, ast.Name) and item.id == alias.name]
            if alias.asname or alias.name == "*" or any(not isinstance(item.ctx, ast.Load) for item in uses):
                continue
            new = ", ".join(
                f"{each.name} as {'T' if each is alias else each.asname}" if each is alias or each.asname else each.name
                for each in node.names
            )
            text = program.replace((node, f"from {node.module} import {new}"), *((item, "T") for item in uses))
            yield node.lineno, text


def imported_for_both(program: Program) -> Edited:
    """The same import for a type checker and where the program runs."""
    for node in program.tree.body:
        plain = isinstance(node, ast.Import | ast.ImportFrom) and getattr(node, "module", "") != "__future__"
        if plain and program.is_alone(node) and "\n" not in program.source(node):
            line = program.source(node)
            text = program.replace((node, f"if TYPE_CHECKING:\n    {line}\nelse:\n    {line}"))
            yield node.lineno, with_import(text, "from typing import TYPE_CHECKING")


def turned(program: Program) -> Edited:
    """Each comparison the other way round."""
    signs = {ast.Lt: ">", ast.Gt: "<", ast.LtE: ">=", ast.GtE: "<=", ast.Eq: "==", ast.NotEq: "!=", ast.Is: "is"}
    for node in ast.walk(program.tree):
        if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in signs:
            left, right = f"({program.source(node.left)})", f"({program.source(node.comparators[0])})"
            yield node.lineno, program.replace((node, f"{right} {signs[type(node.ops[0])]} {left}"))


def base_named(program: Program) -> Edited:
    """What a method is called of by a name of its own, where it is an attribute."""
    for owner, block in program.blocks():
        for node in block:
            call = node.value if isinstance(node, ast.Expr | ast.Assign | ast.Return) else None
            function = call.func if isinstance(call, ast.Call) else None
            inner = function.value if isinstance(function, ast.Attribute) else None
            if isinstance(owner, Function) and isinstance(inner, ast.Attribute) and program.is_alone(node):
                text = program.replace((inner, "of_this"))
                line = f"{program.indent(node)}of_this = {program.source(inner)}"
                yield node.lineno, Program(text).put(node.lineno - 1, line)


def lambda_handing(program: Program) -> Edited:
    """A call of one name by a lambda that is given it."""
    for owner, node, _name in assignments(program):
        call = node.value
        plain = isinstance(call, ast.Call) and len(call.args) == 1 and not call.keywords and is_plain(call)
        if isinstance(owner, Function) and plain and isinstance(call, ast.Call) and isinstance(call.args[0], ast.Name):
            new = f"(lambda it: {program.source(call.func)}(it))({call.args[0].id})"
            yield node.lineno, program.replace((call, new))


VALUES = {
    "imported short": imported_short,
    "imported for both": imported_for_both,
    "turned": turned,
    "base named": base_named,
    "lambda handing": lambda_handing,
    "product": constant("1 * {value}", kinds=(int, float)),
    "two signs": constant("-(-{value})", kinds=(int, float)),
    "percent string": constant("'%s' % {value}", kinds=(str,)),
    "joined string": constant("''.join([{value}])", kinds=(str,)),
    "fold number": constant("{value} + 0", kinds=(int, float)),
    "fold string": parted_string(" + "),
    "two strings": parted_string(" "),
    "raw string": prefixed_string("r"),
    "f-string constant": prefixed_string("f"),
    "own type": constant("{type}({value})", kinds=(int, float, str, bool)),
    "or itself": constant("{value} or {value}", kinds=(int, float, str)),
    "true and": constant("True and {value}", kinds=(int, float, str, bool)),
    "cast string": value('cast("object", {value})', "from typing import cast"),
    "lambda given": value("(lambda given: given)({value})"),
    "first of list": value("[{value}][0]"),
    "of a dict": value('{{"it": {value}}}["it"]'),
    "if true else": value("{value} if True else None"),
    "settings by key": keptabove('SETTINGS = {{"{name}": {value}}}', read='SETTINGS["{name}"]'),
    "settings by get": keptabove("SETTINGS = dict({name}={value})", read='SETTINGS.get("{name}")'),
    "settings in a class": keptabove("class Settings:", "    {name} = {value}", read="Settings.{name}"),
    "settings in a dataclass": keptabove(
        "@dataclass",
        "class Settings:",
        "    {name}: {type} = {value}",
        read="Settings().{name}",
        top="from dataclasses import dataclass",
    ),
    "settings in a namespace": keptabove(
        "SETTINGS = SimpleNamespace({name}={value})", read="SETTINGS.{name}", top="from types import SimpleNamespace"
    ),
    "given back": keptabove("def chosen():", "    return {value}", read="chosen()"),
    "last of two": constant("(None, {value})[-1]"),
    "next of one": constant("next(iter([{value}]))"),
    "got": constant('{{"it": {value}}}.get("it")'),
    "default of a lambda": constant("(lambda it={value}: it)()"),
    "global constant": keptabove("{name}_DEFAULT = {value}", read="{name}_DEFAULT"),
    "global final": keptabove("GIVEN: Final = {value}", read="GIVEN", top="from typing import Final"),
    "rename local": renamed,
    "rename class": class_renamed,
    "module import": module_import(),
    "module alias": module_import("whole"),
    "method name": method_name,
    "self name": self_name,
    "long super": long_super,
    "negated if": negated,
    "and true": tested("({test}) and True"),
    "true and test": bool_test,
    "bool test": tested("bool({test})"),
    "not not": tested("not not ({test})"),
    "split call": split_call,
    "comment in call": own_line_comment,
    "return if true": returned("{value} if True else None"),
    "return parentheses": returned("({value})"),
}
