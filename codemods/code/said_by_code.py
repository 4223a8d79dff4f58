"""What a class or function says as code: nothing that stands in a comment or docstring speaks for what it does."""

from __future__ import annotations

import ast

from codemods.code.source import PythonFile
from codemods.code.tree_copies import changed, with_statements

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def code_of(file: PythonFile, node: Definition) -> str:
    """The text of a definition without its comments and docstrings."""
    known: dict[int, str] = file.memo.setdefault("code of definitions", {})
    if id(node) not in known:
        known[id(node)] = ast.unparse(with_statements(node, _without_words))
    return known[id(node)]


def _without_words(node: ast.AST) -> ast.AST | None:
    body = getattr(node, "body", None)
    kept = [item for item in body if not _is_word(item)] if isinstance(body, list) else []
    return changed(node, body=kept or [ast.Pass()]) if isinstance(body, list) and len(kept) < len(body) else None


def _is_word(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
