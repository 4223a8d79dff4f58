"""What a file chooses by the arguments that Trainer says it takes: those of 1.x are left out without a word."""

from __future__ import annotations

import ast

from codemods.code.nodes import walk, walked
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import Function, is_name, is_spelled
from codemods.lightning.facts import TRAINER, Facts

WORDS = ("signature", "getfullargspec")
OWN = frozenset({TRAINER, f"{TRAINER}.__init__"})
Made = ast.DictComp | ast.GeneratorExp | ast.ListComp


def asked(file: PythonFile) -> list[CallNode]:
    """The calls that ask for Trainer's arguments."""
    return [
        call
        for call in file.calls_near(WORDS)
        if call.scope.resolve(call.node.func) in {f"inspect.{word}" for word in WORDS}
        and call.node.args
        and call.scope.resolve(call.node.args[0]) in OWN
    ]


def chooses(facts: Facts) -> str:
    """A file of the project that asks for Trainer's arguments; empty where none does."""
    paths = dict.fromkeys(path for word in WORDS for path, _ in facts.holding(f"inspect.{word}"))
    paths |= dict.fromkeys(path for word in WORDS for path, _ in facts.holding(f"import {word}"))
    files = ((path, facts.open(path)) for path in paths)
    return next((path for path, file in files if file is not None and asked(file)), "")


def chosen_of(file: PythonFile, spaces: tuple[Function, ...], made: Made) -> ast.expr | None:
    """The dictionary of which a comprehension takes what Trainer says it takes: `args` in
    `{name: args[name] for name in inspect.signature(Trainer).parameters}`."""
    loop = made.generators[0]
    if len(made.generators) != 1 or not isinstance(loop.target, ast.Name) or not _is_asked(file, spaces, loop.iter):
        return None
    parts = [made.key, made.value] if isinstance(made, ast.DictComp) else getattr(made.elt, "elts", [])
    if len(parts) != 2 or not is_name(parts[0], loop.target.id):
        return None
    value = parts[1]
    if isinstance(value, ast.Subscript):
        return value.value if is_name(value.slice, loop.target.id) else None
    got = value.func if isinstance(value, ast.Call) and value.args and is_name(value.args[0], loop.target.id) else None
    return got.value if isinstance(got, ast.Attribute) and got.attr == "get" else None


def _is_asked(file: PythonFile, spaces: tuple[Function, ...], node: ast.expr) -> bool:
    """Whether an expression, or what its name is bound to, is made of Trainer's arguments."""
    calls = {call.node for call in asked(file)}
    made = [node]
    if isinstance(node, ast.Name) and calls:
        lines = (line for space in (*spaces, file.tree) for line in walked(space) if isinstance(line, ast.Assign))
        made += [line.value for line in lines if any(is_spelled(each, node.id) for each in line.targets)]
    return any(part in calls for each in made for part in walk(each))
