"""The value of an attribute that a program sets itself before it reads it: `args.gpus = torch.cuda.device_count()`."""

from __future__ import annotations

import ast
import re

from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import Function, takes
from codemods.lightning.attribute_stores import is_stored
from codemods.lightning.facts import Facts

_BY_NAME = re.compile(
    rb"\bsetattr\((?!\s*self\b)|\bnamespace=|\b__dict__(?!\s*(?:\)|\.(?:items|keys|values|get|copy)\b))"
    rb"|\bvars\([^()]*\)\s*(?:\.(?:update|setdefault)\b|\[[^\]\n]*\]\s*=(?!=))"
)
"""What sets attributes of an object that is no `self` by names that are worked out."""


def stored_before(facts: Facts, file: PythonFile, call: CallNode, node: ast.Attribute) -> ast.expr | None:
    """What the attribute of a name is wherever a call runs: the value that it is set to in front of the call, or of the
    function or class around it, in the same space and always; None where anything else may set it, or bind the name
    anew."""
    if not isinstance(node.value, ast.Name) or _sets_by_name(facts):
        return None
    stores = [item for item in file.attributes(node.attr) if not isinstance(item.ctx, ast.Load)]
    if len(stores) != 1 or ast.unparse(stores[0]) != ast.unparse(node):
        return None
    around = [item for item in call.within if isinstance(item, Function | ast.ClassDef)]
    for index, space in enumerate([file.tree, *around]):
        statement = next((item for item in space.body if _sets(item, stores[0])), None)
        if isinstance(statement, ast.Assign):
            inner = around[index:]
            user = inner[0] if inner else call.node
            ahead = statement.lineno < user.lineno and not any(_binds(item, node.value.id) for item in inner)
            place = file.path, stores[0].lineno, stores[0].col_offset
            bound = [item.lineno for item in _bindings(space, node.value.id)]
            kept = all(line < statement.lineno for line in bound) and not is_stored(
                facts, facts.open, node.attr, [place]
            )
            return statement.value if ahead and kept else None
    return None


def _sets_by_name(facts: Facts) -> bool:
    """Whether code of the project may set an attribute of any name."""
    if "sets by name" not in facts.of_sources:
        facts.of_sources["sets by name"] = any(
            source.kind in ("python", "notebook") and _BY_NAME.search(source.unescaped)
            for source in facts.sources.values()
        )
    found: bool = facts.of_sources["sets by name"]
    return found


def _sets(statement: ast.stmt, target: ast.Attribute) -> bool:
    return isinstance(statement, ast.Assign) and len(statement.targets) == 1 and statement.targets[0] is target


def _binds(space: ast.AST, name: str) -> bool:
    return takes(space, name) or bool(_bindings(space, name))


def _bindings(space: ast.AST, name: str) -> list[ast.Name]:
    """Where a name is bound anywhere below a node."""
    return [
        item
        for item in ast.walk(space)
        if isinstance(item, ast.Name) and item.id == name and not isinstance(item.ctx, ast.Load)
    ]
