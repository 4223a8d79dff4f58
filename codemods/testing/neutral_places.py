"""Edits that put classes, methods, imports and runs of a program elsewhere, and change nothing of what it does."""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence

from codemods.testing.neutral_lines import behind
from codemods.testing.neutral_program import (
    Edited,
    Function,
    Program,
    above,
    first_line,
    first_statement,
    has_long,
    is_head,
    says,
    with_import,
)
from codemods.testing.neutral_shapes import module_wrap

ODD = (ast.Yield, ast.YieldFrom, ast.Await, ast.AsyncWith, ast.AsyncFor)
IMPORTS = (ast.Import, ast.ImportFrom)


def _text(program: Program, first: int, last: int, indent: str = "") -> str:
    text = textwrap.dedent("".join(program.lines[first - 1 : last]))
    return textwrap.indent(text if text.endswith("\n") else f"{text}\n", indent)


def _classes(program: Program) -> Iterator[ast.ClassDef]:
    return (node for node in program.tree.body if isinstance(node, ast.ClassDef) and not has_long(node))


def _methods(node: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    """The methods of plain parameters that have no decorator."""
    for item in node.body:
        if not isinstance(item, ast.FunctionDef) or item.decorator_list or has_long(item) or item.args.kwonlyargs:
            continue
        if item.args.args and item.args.args[0].arg == "self":
            yield item


def class_in(form: str) -> Callable[[Program], Edited]:
    """A class of the module in other lines, of which it is taken again; `{text}` is its own."""

    def edit(program: Program) -> Edited:
        for node in _classes(program):
            depth = form[: form.index("{text}")].rpartition("\n")[2]
            text = _text(program, first_line(node), node.end_lineno or 0, depth)
            new = form.replace(f"{depth}{{text}}", text.rstrip("\n")).replace("{name}", node.name)
            lines = [*program.lines[: first_line(node) - 1], f"{new}\n", *program.lines[node.end_lineno or 0 :]]
            yield node.lineno, "".join(lines)

    return edit


def class_renamed_below(program: Program) -> Edited:
    """A second name for a class, by which what stands behind it speaks of it."""
    for node in _classes(program):
        uses = [
            item
            for each in program.tree.body
            if each.lineno > node.lineno
            for item in ast.walk(each)
            if isinstance(item, ast.Name) and item.id == node.name
        ]
        if uses and all(isinstance(item.ctx, ast.Load) for item in uses):
            text = Program(program.replace(*((item, f"Same{node.name}") for item in uses)))
            yield node.lineno, text.put(node.end_lineno or 0, "", "", f"Same{node.name} = {node.name}")


def handed_whole(form: str, inside: bool) -> Callable[[Program], Edited]:
    """The body of a method in another method, or a function of the module, to which it hands all that it is given."""

    def edit(program: Program) -> Edited:
        for node in _classes(program):
            for method in _methods(node):
                odd = any(isinstance(item, ODD) for item in ast.walk(method)) or method.name.startswith("__")
                first = first_statement(method)
                if odd or first.lineno == method.lineno or says(method, "super", "__class__") or method.args.defaults:
                    continue
                if method.args.vararg or method.args.kwarg or method.args.posonlyargs:
                    continue
                names = [item.arg for item in method.args.args[1:]]
                call = form.format(kind=node.name, given=", ".join(names), more="".join(f", {item}" for item in names))
                head = f"def _whole({', '.join(['self', *names])}):\n"
                if "@" in call:
                    mark, _, call = call.partition(" ")
                    head = f"{mark}\n{head}"
                text = head + _text(program, first.lineno, method.end_lineno or 0, "    ")
                body = f"{program.indent(first)}return {call}\n"
                rest = [*program.lines[: first.lineno - 1], body]
                after = program.lines[method.end_lineno or 0 :]
                if inside:
                    yield method.lineno, "".join([*rest, "\n", textwrap.indent(text, program.indent(method)), *after])
                else:
                    at = first_line(node) - 1
                    yield method.lineno, "".join([*rest[:at], text, "\n\n", *rest[at:], *after])

    return edit


def all_handed(program: Program) -> Edited:
    """The call of a method of the project by one that hands on `*args` and `**kwargs`."""
    for node in _classes(program):
        own = {item.name for item in _methods(node)}
        for method in _methods(node):
            for call in ast.walk(method):
                function = call.func if isinstance(call, ast.Call) else None
                if not isinstance(function, ast.Attribute) or program.source(function.value) != "self":
                    continue
                if function.attr in own | {"log", "manual_backward", "optimizers"}:
                    text = Program(program.replace((function, "self._handed_on")))
                    head = "    def _handed_on(self, *args, **kwargs):"
                    line = f"        return self.{function.attr}(*args, **kwargs)"
                    yield function.lineno, text.put(node.end_lineno or 0, "", head, line)


def of_its_class(form: str) -> Callable[[Program], Edited]:
    """The call of a method that the class has by its class."""

    def edit(program: Program) -> Edited:
        for node in _classes(program):
            own = {item.name for item in _methods(node)}
            for method in _methods(node):
                for call in ast.walk(method):
                    function = call.func if isinstance(call, ast.Call) else None
                    if not isinstance(call, ast.Call) or not isinstance(function, ast.Attribute):
                        continue
                    known = function.attr in own or function.attr in ("log", "manual_backward", "optimizers")
                    if program.source(function.value) == "self" and known:
                        given = ", ".join(["self", *map(program.source, (*call.args, *call.keywords))])
                        kind = form.format(kind=node.name)
                        yield call.lineno, program.replace((call, f"{kind}.{function.attr}({given})"))

    return edit


def headed(*new: str, keyword: str = "") -> Callable[[Program], Edited]:
    """Lines at the beginning of the body of a class, or a keyword behind its bases."""

    def edit(program: Program) -> Edited:
        for node in _classes(program):
            text = program
            if keyword and node.bases and not node.keywords:
                text = Program(program.replace((node.bases[-1], f"{program.source(node.bases[-1])}, {keyword}")))
            first = node.body[0]
            documented = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            if not documented and first.lineno > node.lineno:
                yield node.lineno, with_import(text.put(first_line(first) - 1, *new), "import abc, typing")

    return edit


def overloaded(program: Program) -> Edited:
    for node in _classes(program):
        for method in _methods(node):
            if method.name != "__init__":
                head = f"    def {method.name}({ast.unparse(method.args)}): ..."
                lines = ("    @typing.overload", head, "    @typing.overload", head)
                yield method.lineno, with_import(program.put(first_line(method) - 1, *lines), "import typing")


def run_in(head: Sequence[str], *tail: str, top: str = "") -> Callable[[Program], Edited]:
    """What the module does behind its definitions in other lines."""

    def edit(program: Program) -> Edited:
        body = program.tree.body
        runs = [node for node in body if not isinstance(node, (*IMPORTS, ast.ClassDef, ast.FunctionDef))]
        if not runs or has_long(program.tree) or not all(isinstance(node, ast.Assign | ast.Expr) for node in runs):
            return
        start = body.index(runs[0])
        bound = {item.id for node in runs for item in ast.walk(node) if isinstance(item, ast.Name)}
        read = {item.id for node in body[:start] for item in ast.walk(node) if isinstance(item, ast.Name)}
        if body[start:] != runs or {item for item in bound if _is_bound(runs, item)} & read:
            return
        depth = " " * (4 * sum(line.endswith(":") for line in head))
        text = _text(program, runs[0].lineno, len(program.lines), depth)
        lines = "".join(f"{line}\n" for line in (*head, text.rstrip("\n"), *tail))
        yield runs[0].lineno, with_import("".join([*program.lines[: runs[0].lineno - 1], lines]), top)

    return edit


def _is_bound(nodes: Sequence[ast.stmt], name: str) -> bool:
    return any(
        isinstance(item, ast.Name) and item.id == name and not isinstance(item.ctx, ast.Load)
        for node in nodes
        for item in ast.walk(node)
    )


def imported(form: str, top: str = "", whole: bool = False) -> Callable[[Program], Edited]:
    """An import of one name in another form; of a module by `import ... as` where `whole`."""

    def edit(program: Program) -> Edited:
        for node in program.tree.body:
            if not isinstance(node, IMPORTS) or len(node.names) != 1 or not program.is_alone(node):
                continue
            name, module = node.names[0].name, getattr(node, "module", None) or ""
            known = node.names[0].asname or name
            plain = isinstance(node, ast.Import) == whole and name != "*" and module != "__future__"
            whole_name = "." not in name or "__import__" not in form
            if plain and whole_name and not getattr(node, "level", 0) and "." not in known:
                words = {"text": program.source(node), "name": name, "known": known, "module": module}
                yield node.lineno, with_import(program.replace((node, form.format(**words))), top)

    return edit


def imported_where_read(program: Program) -> Edited:
    """An import in each function, and of the bases of the classes where these stand."""
    for node in program.tree.body:
        if not isinstance(node, IMPORTS) or len(node.names) != 1 or not program.is_alone(node):
            continue
        known = (node.names[0].asname or node.names[0].name).split(".")[0]
        if known in ("*", "annotations") or has_long(program.tree):
            continue
        lines = [*program.lines]
        reading = [each for each in program.tree.body if says(each, known)]
        functions = [
            item
            for each in reading
            for item in ast.walk(each)
            if isinstance(item, Function) and any(says(line, known) for line in item.body)
        ]
        for function in sorted(functions, key=lambda item: item.lineno, reverse=True):
            first = first_statement(function)
            if program.is_alone(first):
                lines.insert(first_line(first) - 1, f"{program.indent(first)}{program.source(node)}\n")
        yield node.lineno, "".join(lines)


def longer_home(program: Program) -> Edited:
    """Names of Lightning by the module that defines them, under a short name."""
    homes = {
        "Trainer": "pytorch_lightning.trainer",
        "LightningModule": "pytorch_lightning.core",
        "LightningDataModule": "pytorch_lightning.core",
        "Callback": "pytorch_lightning.callbacks",
    }
    for node in program.tree.body:
        one = isinstance(node, ast.ImportFrom) and node.module == "pytorch_lightning" and len(node.names) == 1
        name = node.names[0].name if one and isinstance(node, ast.ImportFrom) else ""
        if isinstance(node, ast.ImportFrom) and name in homes and not node.names[0].asname:
            uses = [item for item in ast.walk(program.tree) if isinstance(item, ast.Name) and item.id == name]
            new = [(item, f"t.{name}") for item in uses]
            yield node.lineno, program.replace((node, f"import {homes[name]} as t"), *new)


def taken_from_the_module(form: str) -> Callable[[Program], Edited]:
    """What is taken from a module under a short name in another way."""

    def edit(program: Program) -> Edited:
        known = {
            alias.asname or alias.name
            for node in program.tree.body
            if isinstance(node, ast.Import)
            for alias in node.names
            if "." not in (alias.asname or alias.name)
        }
        for node in ast.walk(program.tree):
            owner = node.value if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) else None
            if isinstance(owner, ast.Name) and owner.id in known and isinstance(node, ast.Attribute):
                new = form.format(module=owner.id, name=node.attr)
                if form.startswith("above "):
                    text = program.replace((node, f"Taken{node.attr}"))
                    yield node.lineno, above(text, new.removeprefix("above "))
                else:
                    yield node.lineno, program.replace((node, new))

    return edit


def module_lines(*lines: str) -> Callable[[Program], Edited]:
    """Lines behind the imports."""

    def edit(program: Program) -> Edited:
        last = [node for node in program.tree.body if isinstance(node, IMPORTS)]
        head = next((node for node in program.tree.body if not is_head(node)), None)
        if last and head is not None and last[-1].lineno < head.lineno:
            yield head.lineno, program.put(last[-1].end_lineno or 0, "", *lines)

    return edit


FACTORY = "def make_class():\n    {text}\n\n    return {name}\n\n\n{name} = make_class()"
PLACES: Mapping[str, Callable[[Program], Edited]] = {
    "class of a factory": class_in(FACTORY),
    "class in a try": class_in("try:\n    {text}\nexcept NameError:\n    raise"),
    "class in an else": class_in("if False:\n    {name} = None\nelse:\n    {text}"),
    "class onto itself": class_in("{text}\n\n\n{name} = {name}"),
    "class of a decorator": class_in(
        "def registered(name):\n    def mark(kind):\n        REGISTRY[name] = kind\n        return kind\n\n"
        '    return mark\n\n\nREGISTRY = {}\n\n\n@registered("own")\n{text}'
    ),
    "class by another name": class_renamed_below,
    "class in a loop": class_in("for _ in range(1):\n    {text}"),
    "class with suppress": class_in("import contextlib\n\nwith contextlib.suppress(ImportError):\n    {text}"),
    "class while": class_in("while True:\n    {text}\n    break"),
    "body in a method": handed_whole("self._whole({given})", inside=True),
    "body in a static method": handed_whole("@staticmethod self._whole(self{more})", inside=True),
    "body in a function": handed_whole("_whole(self{more})", inside=False),
    "every argument passed on": all_handed,
    "of its class": of_its_class("{kind}"),
    "of its type": of_its_class("type(self)"),
    "of its own class": of_its_class("self.__class__"),
    "metaclass": headed("    def __init_subclass__(cls, **words):", "        super().__init_subclass__(**words)", "",
                        keyword="metaclass=abc.ABCMeta"),
    "declared for types": headed("    if typing.TYPE_CHECKING:", "        unused_here: int", ""),
    "class constant": headed("    UNUSED_HERE: typing.ClassVar[int] = 1", ""),
    "class documented": headed('    """What it is."""', ""),
    "class of no slots": headed("    class Meta:", "        unused_here = True", ""),
    "overloaded": overloaded,
    "run in main": run_in(("def main():",), "", "", "main()"),
    "run if main": run_in(('if __name__ == "__main__":',)),
    "run in main if main": run_in(("def main():",), "", "", 'if __name__ == "__main__":', "    main()"),
    "run by asyncio": run_in(("async def main():",), "", "", "asyncio.run(main())", top="import asyncio"),
    "run by a method": run_in(("class Run:", "    def __call__(self):"), "", "", "Run()()"),
    "run in a try": run_in(("try:",), "except KeyboardInterrupt:", "    raise SystemExit(1)"),
    "run with a lambda": run_in(("def main():",), "", "", "(lambda: main())()"),
    "run in a case": run_in(("match 0:", "    case 0:")),
    "run in a static method": run_in(("class Run:", "    @staticmethod", "    def start():"), "", "", "Run.start()"),
    "import in a try": imported("try:\n    {text}\nexcept ImportError:\n    raise"),
    "import or none": imported("try:\n    {text}\nexcept ImportError:\n    {known} = None"),
    "import or exit": imported("try:\n    {text}\nexcept ImportError as error:\n    raise SystemExit(1) from error"),
    "import with suppress": imported("with suppress(ImportError):\n    {text}", top="from contextlib import suppress"),
    "import if true": imported("if True:\n    {text}"),
    "import twice": imported("{text}\n{text}"),
    "import in brackets": imported("from {module} import (  # noqa: F401\n    {name} as {known},\n)"),
    "import on two lines": imported("from {module} \\\n    import {name} as {known}"),
    "import beside": imported("import os; {text}"),
    "import by a getattr": imported("import {module} as home\n\n{known} = getattr(home, '{name}')"),
    "import by a name": imported("import {module} as home\n\n{known} = home.{name}"),
    "import by a function": imported("def get_it():\n    {text}\n\n    return {known}\n\n\n{known} = get_it()"),
    "module in a try": imported("try:\n    {text}\nexcept ImportError:\n    raise", whole=True),
    "module or none": imported("try:\n    {text}\nexcept ImportError:\n    {known} = None", whole=True),
    "module in a list": imported("import os, {name} as {known}", whole=True),
    "module by importlib": imported('{known} = importlib.import_module("{name}")', top="import importlib", whole=True),
    "module by dunder": imported('{known} = __import__("{name}")', whole=True),
    "module by a second name": imported("import {name} as first_name\n\n{known} = first_name", whole=True),
    "imported where read": imported_where_read,
    "imported from its home": longer_home,
    "taken by getattr": taken_from_the_module('getattr({module}, "{name}")'),
    "taken above": taken_from_the_module("above Taken{name} = {module}.{name}"),
    "taken from its dictionary": taken_from_the_module('vars({module})["{name}"]'),
    "names of typing": module_lines("from typing import *"),
    "all named": module_lines("__all__ = []"),
    "module asked": module_lines("def __getattr__(name):", "    raise AttributeError(name)"),
    "globals read": module_lines("print(len(globals()))"),
    "global bound by its name": module_lines('globals()["unused_here"] = 1'),
    "paths": module_lines("import sys", "", 'sys.path.insert(0, ".")'),
    "warnings off": module_lines("import warnings", "", 'warnings.filterwarnings("ignore")'),
    "locals read": behind("locals()"),
    "evaluated": behind('eval("1")'),
    "global unused": behind("global unused_here", "unused_here = 1"),
    "module loop": module_wrap("for _ in range(1):"),
    "module while": module_wrap("while True:", "    break"),
    "module suppress": module_wrap("with contextlib.suppress(ImportError):", top="import contextlib"),
    "module case": module_wrap("match 0:\n  case 0:"),
}  # fmt: skip
"""Edits that put something elsewhere."""
