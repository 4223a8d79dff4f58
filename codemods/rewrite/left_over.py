"""Imports and variables that a rewrite leaves without a use."""

from __future__ import annotations

import ast
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterator
from itertools import takewhile
from typing import Any

from codemods.code.nodes import every_node
from codemods.code.source import PythonFile
from codemods.lightning.facts import Facts
from codemods.lightning.instance_types import is_read_elsewhere
from codemods.rewrite.import_statement import why_not, without
from codemods.rule import TextEdit

_QUIET = (sys.stdlib_module_names - {"__future__", "antigravity", "readline", "this"}) | {
    "PIL", "cv2", "lightning", "lightning_fabric", "matplotlib", "numpy", "omegaconf", "pandas", "pytorch_lightning",
    "scipy", "sklearn", "torch", "torchmetrics", "torchvision", "tqdm", "typing_extensions",
}  # fmt: skip
"""The packages whose import does nothing that a program hangs on; another may register something."""
_BY_TEXT = re.compile(r"(?<![.\w])(?:(?:eval|exec|globals)\(|(?:locals|vars)\(\)|__all__\b|sys\.modules)")
_WORD = re.compile(r"\w+")


def left_over(before: PythonFile, after: PythonFile, facts: Facts) -> list[TextEdit]:
    """Edits that take out of a changed file what it binds, read before, and reads no more: variables of functions
    that are set to what is there already, and imports. Their result is to be asked about again."""
    return _variables(before, after) or _imports(before, after, facts)


def _imports(before: PythonFile, after: PythonFile, facts: Facts) -> list[TextEdit]:
    if after.path.endswith("__init__.py") or _BY_TEXT.search(after.text):
        return []
    names = [_name(alias) for node in after.imports for alias in node.names]
    lost = {name for name in names if names.count(name) == 1} & used(before) - used(after)
    if not lost:
        return []
    lost -= {name for name in lost if is_read_elsewhere(facts, after, name)}
    return [edit for body in _bodies(after.tree) for edit in _without(after, body, lost)]


def _without(file: PythonFile, body: list[ast.stmt], lost: Collection[str]) -> Iterator[TextEdit]:
    """The edits that take some names out of the imports of a block, which must not end up empty."""
    imports = [node for node in body if isinstance(node, ast.Import | ast.ImportFrom)]
    kept = {node: [alias for alias in node.names if _name(alias) not in lost] for node in imports}
    changed = [node for node in imports if len(kept[node]) < len(node.names) and _may_go(file, node)]
    whole = [node for node in changed if not kept[node]]
    for node in changed:
        if node not in whole:
            yield from without(file, node, kept[node])
        elif len(whole) < len(body) and not _is_introduced(file, node):
            yield _line_of(file, node)
            return  # how many empty lines the next one leaves hangs on this one


def _variables(before: PythonFile, after: PythonFile) -> list[TextEdit]:
    if _BY_TEXT.search(after.text):
        return []
    new = _idle(after)
    known = _idle(before) if new else {}
    return [
        _line_of(after, node)
        for said, nodes in new.items()
        if said not in known and _is_said(before, said)
        for node, body in nodes
        if len(body) > 1 and _stands_alone(after, node)
    ]


def _idle(file: PythonFile) -> dict[str, list[tuple[ast.Assign, list[ast.stmt]]]]:
    """The assignments of functions to a name that these do not say again, of what does nothing, as they are spelled,
    with the blocks in which they stand."""
    found: dict[str, list[tuple[ast.Assign, list[ast.stmt]]]] = {}
    for function in every_node(file.tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            said = Counter(_used(function))
            for node, body in _assignments(function):
                target = node.targets[0]
                if isinstance(target, ast.Name) and said[target.id] == 1 and _does_nothing(node.value):
                    found.setdefault(ast.unparse(node), []).append((node, body))
    return found


def _assignments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[tuple[ast.Assign, list[ast.stmt]]]:
    """The assignments to one target in a function, at any depth, with their blocks."""
    for node in every_node(function):
        for name in () if isinstance(node, ast.ClassDef) else ("body", "orelse", "finalbody"):
            body: Any = getattr(node, name, None)
            for item in body if isinstance(body, list) else ():
                if isinstance(item, ast.Assign) and len(item.targets) == 1:
                    yield item, body


def _does_nothing(node: ast.expr) -> bool:
    parts = (ast.Name, ast.Constant, ast.Tuple, ast.List, ast.Dict, ast.expr_context)
    return all(isinstance(part, parts) for part in ast.walk(node))


def _is_said(file: PythonFile, text: str) -> bool:
    """Whether a file has that assignment."""
    return any(isinstance(item.node, ast.Assign) and ast.unparse(item.node) == text for item in file.assignments)


def _stands_alone(file: PythonFile, node: ast.stmt) -> bool:
    """Whether the lines of a statement hold nothing else, and no comment stands above it."""
    first, last = node.lineno, node.end_lineno or node.lineno
    start, end = file.offsets(node)
    around = file.text[file.text.rfind("\n", 0, start) + 1 : start] + file.text[end:].split("\n", 1)[0]
    commented = first > 1 and file.lines[first - 2].lstrip().startswith("#")
    return not around.strip() and not commented and not file.has_comment(first, last)


def used(file: PythonFile) -> frozenset[str]:
    """The names that a file says anywhere but in imports and comments: in texts, too, but for prose in docstrings."""
    if "used" not in file.memo:
        file.memo["used"] = frozenset(_used(file.tree)) | {
            word for line in file.text.splitlines() if "# type:" in line for word in _WORD.findall(line)
        }
    found: frozenset[str] = file.memo["used"]
    return found


def _used(tree: ast.AST) -> Iterator[str]:
    prose = {
        node.value
        for node in every_node(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and ">>>" not in str(node.value.value)
    }
    for node in every_node(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Global | ast.Nonlocal):
            yield from node.names
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in prose:
            yield from _WORD.findall(node.value)


def _name(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _bodies(tree: ast.Module) -> Iterator[list[ast.stmt]]:
    """The blocks whose imports serve nothing but names: of the module, of functions, for annotations alone."""
    yield tree.body
    for node in every_node(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.If) and not _asks(node):
            yield node.body


def _asks(node: ast.AST) -> bool:
    """Whether a condition is for more than annotations."""
    return isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.unparse(node.test)


def _may_go(file: PythonFile, node: ast.Import | ast.ImportFrom) -> bool:
    modules = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
    quiet = all(module.partition(".")[0] in _QUIET for module in modules)
    of_others = isinstance(node, ast.ImportFrom) and (node.level > 0 or node.names[0].name == "*")
    noted = file.has_comment(node.lineno, node.end_lineno or node.lineno)
    return quiet and not of_others and not noted and why_not(file, node) is None


def _is_introduced(file: PythonFile, node: ast.stmt) -> bool:
    """Whether the comment above a statement speaks of it alone."""
    last = node.end_lineno or node.lineno
    above = node.lineno > 1 and file.lines[node.lineno - 2].lstrip().startswith("#")
    return above and not "".join(file.lines[last : last + 1]).strip()


def _line_of(file: PythonFile, node: ast.stmt) -> TextEdit:
    """The edit that takes out the lines of a statement, with the empty ones that stand on both sides of it."""
    first, last = node.lineno - 1, node.end_lineno or node.lineno
    above = sum(1 for _ in takewhile(_is_empty, reversed(file.lines[:first])))
    below = sum(1 for _ in takewhile(_is_empty, file.lines[last:]))
    end = last + (min(above, below) if first else below)
    return TextEdit(sum(map(len, file.lines[:first])), sum(map(len, file.lines[:end])), "")


def _is_empty(line: str) -> bool:
    return not line.strip()
