"""Edits that say what a class is in another way, give it more, or put it elsewhere, and change nothing of what the
program does."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping

from codemods.testing.neutral_places import class_in, headed
from codemods.testing.neutral_program import Edited, Function, Program, first_line, has_long, is_head, says, with_import


def _classes(program: Program) -> Iterator[ast.ClassDef]:
    return (node for node in program.tree.body if isinstance(node, ast.ClassDef) and not has_long(node))


def base_as(form: str, *above: str) -> Callable[[Program], Edited]:
    """The base of each class in another form, with lines in front of the class."""

    def edit(program: Program) -> Edited:
        for node in _classes(program):
            if len(node.bases) == 1 and not node.keywords:
                base = program.source(node.bases[0])
                text = Program(program.replace((node.bases[0], form.format(base=base, name=node.name))))
                new = (line.format(base=base, name=node.name) for line in above)
                yield node.lineno, text.put(first_line(node) - 1, *new) if above else text.text

    return edit


def behind_class(*lines: str) -> Callable[[Program], Edited]:
    """Lines behind each class; `{name}` stands for it."""

    def edit(program: Program) -> Edited:
        for node in _classes(program):
            yield (
                node.lineno,
                program.put(node.end_lineno or 0, "", "", *(line.format(name=node.name) for line in lines)),
            )

    return edit


def member(*lines: str, top: str = "") -> Callable[[Program], Edited]:
    """Lines at the end of each class."""

    def edit(program: Program) -> Edited:
        for node in _classes(program):
            if node.body[-1].lineno > node.lineno:
                new = program.put(node.end_lineno or 0, "", *(f"    {line}" for line in lines))
                yield node.lineno, with_import(new, top)

    return edit


def methods_turned(program: Program) -> Edited:
    """The methods of a class the other way round."""
    for node in _classes(program):
        items = [item for item in node.body if isinstance(item, ast.FunctionDef) and not item.decorator_list]
        if len(items) < 2 or node.body[-len(items) :] != items or len({item.name for item in items}) < len(items):
            continue
        texts = ["".join(program.lines[item.lineno - 1 : item.end_lineno]).rstrip("\n") + "\n" for item in items]
        head, rest = program.lines[: items[0].lineno - 1], program.lines[node.end_lineno or 0 :]
        yield node.lineno, "".join([*head, "\n".join(reversed(texts)), *rest])


def constructor_parted(program: Program) -> Edited:
    """What a constructor does behind that of the base in a method of its own."""
    for node in _classes(program):
        for method in node.body:
            if not isinstance(method, ast.FunctionDef) or method.name != "__init__" or method.args.kwarg:
                continue
            called = [index for index, item in enumerate(method.body) if says(item, "super")]
            first, rest = method.body[: called[0] + 1 if called else 0], method.body[called[0] + 1 if called else 0 :]
            local = any(isinstance(item, ast.Name) and not isinstance(item.ctx, ast.Load) for each in first
                        for item in ast.walk(each))  # fmt: skip
            asked = any("save_hyperparameters" in program.source(item) or says(item, "super") for item in rest)
            if not called or not rest or local or asked or not all(map(program.is_alone, rest)):
                continue
            names = [item.arg for item in method.args.args[1:]]
            lines = program.lines[rest[0].lineno - 1 : method.end_lineno]
            call, head = f"        self._build({', '.join(names)})\n", ", ".join(["self", *names])
            new = [call, f"\n    def _build({head}):\n", *lines]
            yield (
                method.lineno,
                "".join([*program.lines[: rest[0].lineno - 1], *new, *program.lines[method.end_lineno :]]),
            )


def all_in(head: str, *tail: str) -> Callable[[Program], Edited]:
    """All that a module does behind its imports in a function."""

    def edit(program: Program) -> Edited:
        body = [node for node in program.tree.body if not is_head(node)]
        unread = [node for node in body if isinstance(node, Function)]
        if not body or unread or has_long(program.tree):
            return
        start = first_line(body[0])
        if any(node.lineno > start for node in program.tree.body if isinstance(node, ast.Import | ast.ImportFrom)):
            return
        lines = [f"    {line}" if line.strip() else line for line in program.lines[start - 1 :]]
        lines[-1] = lines[-1].rstrip("\n") + "\n"
        yield start, "".join([*program.lines[: start - 1], f"{head}\n", *lines, *(f"{line}\n" for line in tail)])

    return edit


def batch_renamed(program: Program) -> Edited:
    """Another name for the batch that a method is given."""
    for function in program.functions():
        given = [item for item in function.args.args if item.arg == "batch" and item.annotation is None]
        inner = any(isinstance(item, Function | ast.Lambda) for each in function.body for item in ast.walk(each))
        uses = [item for item in ast.walk(function) if isinstance(item, ast.Name) and item.id == "batch"]
        if given and not inner and not any(getattr(item, "arg", "") == "batch" for item in _keywords(program)):
            yield function.lineno, program.replace(*((item, "data_here") for item in (*given, *uses)))


def _keywords(program: Program) -> Iterator[ast.keyword]:
    return (item for item in ast.walk(program.tree) if isinstance(item, ast.keyword))


MEMBERS: Mapping[str, Callable[[Program], Edited]] = {
    "base by a name": base_as("Base{name}", "Base{name} = {base}", "", ""),
    "base in brackets": base_as("({base})"),
    "base with a comma": base_as("{base},"),
    "base on a line": base_as("\n    {base},\n"),
    "base if true": base_as("{base} if True else object"),
    "base behind a mark": base_as("Mark{name}, {base}", "class Mark{name}:", '    """Nothing."""', "", ""),
    "class registered below": behind_class('REGISTRY_HERE = {{"it": {name}}}'),
    "class printed": behind_class("print({name}.__name__)"),
    "class looked at": behind_class("assert issubclass({name}, object)"),
    "class marked": behind_class("{name}.unused_here = 1"),
    "class explained": behind_class('{name}.__doc__ = "What it is."'),
    "methods turned": methods_turned,
    "shown in its own way": member("def __repr__(self):", '    return "it"'),
    "a method more": member("def unused_here(self):", "    return None"),
    "a property more": member("@property", "def unused_here(self):", "    return 1"),
    "a cached property more": member("@functools.cached_property", "def unused_here(self):", "    return 1",
                                     top="import functools"),
    "a static method more": member("@staticmethod", "def unused_here(it):", "    return it"),
    "a class method more": member("@classmethod", "def unused_here(cls):", "    return cls()"),
    "a name annotated": headed("    unused_here: int", ""),
    "names of a package": headed('    __version__ = "1.0"', '    __author__ = "me"', ""),
    "constructor parted": constructor_parted,
    "class in a case": class_in("match 0:\n    case _:\n        {text}"),
    "class in a context": class_in("import contextlib\n\nwith contextlib.nullcontext():\n    {text}"),
    "all in main": all_in("def main():", "", "", "main()"),
    "all in a test": all_in("def test_it(tmp_path):"),
    "batch renamed": batch_renamed,
}  # fmt: skip
"""Edits that say what a class is in another way, give it more, or put it elsewhere."""
