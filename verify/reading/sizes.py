"""Options of a script that say how large what it trains is: how it is made smaller, as a person would."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from verify.reading.sources import Sources

_BATCH = r"batch_?size$|^bsz?$|^batch$"
_DEPTH = r"layers?$|depth$|num_blocks$|n_blocks$"
_HEADS = r"heads?$"
_WIDTH = (
    r"^(?:dim|width|hidden|d_model|n_?embd|nf|ngf|ndf)$|(?:dim|hidden|hidden_?size|channels|features|filters|embd|ffn)$"
)
_OF_DATA = re.compile(r"^(?:in|input|out|output|num_?classes|n_?classes|img|image|vocab)(?:_|$)")
"""What data says, and not who trains."""
_MOST: tuple[tuple[str, int], ...] = ((_BATCH, 8), (_DEPTH, 2), (_HEADS, 4), (_WIDTH, 32))
_SAFE = (_BATCH, _DEPTH)
"""Rows of sizes that nothing else has to fit."""


def smaller(sources: Sources, script: str) -> tuple[tuple[str, ...], ...]:
    """Arguments that make what a script trains smaller, of the options that it and what it calls declare with a whole
    number by default: of all sizes, and of those alone that fit whatever the others are. None where nothing is less."""
    tree = sources.tree(script)
    if tree is None:
        return ()
    found = list(dict.fromkeys(_options(sources, script, tree)))
    every = tuple(dict.fromkeys(f"{option}={most}" for option, _, most in found))
    safe = tuple(dict.fromkeys(f"{option}={most}" for option, row, most in found if row in _SAFE))
    return tuple(dict.fromkeys(each for each in (every, safe) if each))


def _options(sources: Sources, script: str, tree: ast.Module) -> Iterator[tuple[str, str, int]]:
    """The options that can be less, each with the row that says how much."""
    called = {_last(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    named = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    yield from _declared(tree)
    for path in sources.reach(script)[0]:
        other = sources.tree(path) if path != script else None
        for node in other.body if other else ():
            if isinstance(node, ast.FunctionDef) and node.name in called:
                yield from _declared(node)
            elif isinstance(node, ast.ClassDef) and node.name in named:
                methods = (each for each in node.body if isinstance(each, ast.FunctionDef) and each.name in called)
                yield from (found for each in methods for found in _declared(each))


def _declared(scope: ast.AST) -> Iterator[tuple[str, str, int]]:
    for node in ast.walk(scope):
        if not isinstance(node, ast.Call) or _last(node.func) not in ("add_argument", "option"):
            continue
        words = [arg.value for arg in node.args if isinstance(arg, ast.Constant) and isinstance(arg.value, str)]
        option = next((word for word in words if word.startswith("--")), None)
        default = next((word.value for word in node.keywords if word.arg == "default"), None)
        value = default.value if isinstance(default, ast.Constant) else None
        if option is None or type(value) is not int or any(word.arg in ("nargs", "choices") for word in node.keywords):
            continue
        name = option.lstrip("-").replace("-", "_").lower()
        row = next(((row, most) for row, most in _MOST if re.search(row, name)), None)
        if row and row[1] < value and not _OF_DATA.search(name):
            yield option, *row


def _last(node: ast.expr) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
