"""Edits that hand something on, by a loop, a function, a dictionary or another file, and change nothing of it."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping

from codemods.testing.neutral_program import SCOPES, Edited, Program, above, with_import

COMPOUND = (*SCOPES, ast.For, ast.While, ast.With, ast.If, ast.Try, ast.Match)
TIMED = """\
def timed(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        start = time.time()
        result = function(*args, **kwargs)
        logging.debug("%s took %.1f s", function.__name__, time.time() - start)
        return result

    return wrapper
"""
MAKE = ("def make_of(cls, *args, **kwargs):", "    return cls(*args, **kwargs)")


def over_one(program: Program) -> Edited:
    """A method of an object in a loop over this alone."""
    for node in ast.walk(program.tree):
        call = node.value if isinstance(node, ast.Expr) and program.is_alone(node) else None
        function = call.func if isinstance(call, ast.Call) else None
        owner = function.value if isinstance(function, ast.Attribute) else None
        if isinstance(node, ast.Expr) and isinstance(owner, ast.Name) and owner.id != "self":
            text = program.replace((owner, "each"))
            place = Program(text)
            line = place.lines[node.lineno - 1]
            if node.lineno == node.end_lineno and sum(getattr(n, "id", "") == owner.id for n in ast.walk(node)) == 1:
                indent = program.indent(node)
                loop = f"{indent}for each in ({owner.id},):\n    {line}"
                yield node.lineno, "".join([*place.lines[: node.lineno - 1], loop, *place.lines[node.lineno :]])


def _built(program: Program) -> Iterator[tuple[ast.stmt, ast.Call]]:
    """The calls of imported classes by keywords alone, in simple statements of functions and the module."""
    imported = {
        (alias.asname or alias.name).partition(".")[0]
        for node in program.tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    for owner, block in program.blocks():
        for node in block:
            if isinstance(owner, ast.ClassDef) or isinstance(node, COMPOUND) or not program.is_alone(node):
                continue
            for call in ast.walk(node):
                name = program.source(call.func) if isinstance(call, ast.Call) else ""
                plain = name.partition(".")[0] in imported and name.rpartition(".")[2][:1].isupper()
                if isinstance(call, ast.Call) and plain and call.keywords and _is_plain(call):
                    yield node, call


def _is_plain(call: ast.Call) -> bool:
    given = [*call.args, *(item.value for item in call.keywords)]
    return all(item.arg for item in call.keywords) and all(isinstance(item, ast.Constant | ast.Name) for item in given)


def handed_class(program: Program) -> Edited:
    for _node, call in _built(program):
        given = ", ".join(map(program.source, (call.func, *call.args, *call.keywords)))
        yield call.lineno, above(program.replace((call, f"make_of({given})")), *MAKE)


def filled(*lines: str) -> Callable[[Program], Edited]:
    """The keywords of a call by a dictionary, whose first and other items stand for `{first}` and `{rest}`."""

    def edit(program: Program) -> Edited:
        for node, call in _built(program):
            items = [f'"{item.arg}": {program.source(item.value)}' for item in call.keywords]
            words = {"key": call.keywords[0].arg, "value": program.source(call.keywords[0].value)}
            words |= {"first": items[0], "rest": ", ".join(items[1:]), "every": ", ".join(items)}
            given = ", ".join([*map(program.source, call.args), "**given"])
            text = program.replace((call, f"{program.source(call.func)}({given})"))
            new = (f"{program.indent(node)}{item.format(**words)}" for item in lines)
            yield call.lineno, Program(text).put(node.lineno - 1, *new)

    return edit


def abstract_base(program: Program) -> Edited:
    """A base that leaves a method to the class."""
    for node in program.tree.body:
        methods = [item for item in getattr(node, "body", ()) if isinstance(item, ast.FunctionDef)]
        plain = [item for item in methods if item.name != "__init__" and not item.decorator_list]
        if isinstance(node, ast.ClassDef) and plain and len(node.bases) == 1 and not node.keywords:
            base = program.source(node.bases[0])
            head = (f"class Abstract{node.name}({base}):", f"    def {plain[0].name}({ast.unparse(plain[0].args)}):")
            first = min([node.lineno, *(item.lineno for item in node.decorator_list)])
            text = Program(program.replace((node.bases[0], f"Abstract{node.name}")))
            yield node.lineno, text.put(first - 1, *head, "        raise NotImplementedError", "", "")


def marked_by_another_file(program: Program) -> Iterator[tuple[int, dict[str, str]]]:
    """A decorator of another file that tells how long a method takes."""
    for node in ast.walk(program.tree):
        for method in node.body if isinstance(node, ast.ClassDef) else ():
            if isinstance(method, ast.FunctionDef) and not method.decorator_list and method.name != "__init__":
                text = program.put(method.lineno - 1, f"{program.indent(method)}@timed")
                head = "import functools\nimport logging\nimport time\n\n\n"
                yield method.lineno, {"": with_import(text, "from timing import timed"), "timing.py": head + TIMED}


HANDING: Mapping[str, Callable[[Program], Edited]] = {
    "over one": over_one,
    "handed class": handed_class,
    "copied": filled("kept = {{{every}}}", "given = kept.copy()"),
    "put into another": filled("kept = {{{first}}}", "given = {{**kept, {rest}}}"),
    "by default": filled("given = {{{rest}}}", 'given.setdefault("{key}", {value})'),
    "abstract base": abstract_base,
}
"""Edits that hand something on."""
FILES: Mapping[str, Callable[[Program], Iterator[tuple[int, dict[str, str]]]]] = {
    "marked by another file": marked_by_another_file,
}
"""Edits that put something into another file: the texts by path, that of the program by none."""
