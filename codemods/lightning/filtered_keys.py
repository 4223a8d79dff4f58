"""Keys that a comprehension leaves out: `{k: v for k, v in options.items() if k in NAMES}`."""

from __future__ import annotations

import ast

from codemods.code.nodes import walk
from codemods.code.source import PythonFile


def may_pass(file: PythonFile, made: ast.expr, test: ast.expr, key: str) -> bool:
    """Whether a key may be in a dictionary that is made by a comprehension which asks something of each key."""
    if not isinstance(made, ast.DictComp) or not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return True
    if not isinstance(made.key, ast.Name) or ast.unparse(test.left) != made.key.id:
        return True
    names = _names(file, test.comparators[0])
    wanted = isinstance(test.ops[0], ast.In | ast.Eq)
    asked = isinstance(test.ops[0], ast.In | ast.NotIn | ast.Eq | ast.NotEq)
    return names is None or not asked or (key in names) is wanted


def _names(file: PythonFile, node: ast.expr) -> set[str] | None:
    """The texts that an expression is, or holds; None where that may be others."""
    if isinstance(node, ast.Name):
        said = [each for each in walk(file.tree) if isinstance(each, ast.Name) and each.id == node.id]
        stores = [each for each in said if not isinstance(each.ctx, ast.Load)]
        kept = {id(each) for compared in walk(file.tree) if isinstance(compared, ast.Compare)
                for each in compared.comparators}  # fmt: skip
        found = file.assignments_to(node.id)
        if len(stores) != 1 or len(found) != 1 or any(id(each) not in kept for each in said if each not in stores):
            return None
        value = found[0].node.value
        return _names(file, value) if isinstance(value, ast.List | ast.Tuple | ast.Set) else None
    parts = node.elts if isinstance(node, ast.List | ast.Tuple | ast.Set) else [node]
    texts = [part.value for part in parts if isinstance(part, ast.Constant) and isinstance(part.value, str)]
    return set(texts) if len(texts) == len(parts) else None
