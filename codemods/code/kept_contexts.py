"""Contexts of torch that a name, an attribute or a function keeps, where they are entered."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from codemods.code.effects import CONTEXTS
from codemods.code.imports import ModuleNames
from codemods.code.tree_copies import at, changed, replaced, replaced_at, twin

MAKER = "contextlib.contextmanager"


def plain_contexts(tree: ast.Module, known: ModuleNames) -> ast.Module:
    """The module with the contexts that something keeps where they are entered."""
    entered = [item for item in known.nodes[ast.withitem] if _name(item.context_expr)]
    if not entered:
        return tree
    kept = {**_kept(known), **_made(known)}
    found = {id(item): new for item in entered if (new := kept.get(_name(item.context_expr)))}

    def swap(node: ast.AST) -> ast.AST | None:
        new = found.get(id(node))
        if new is None or not isinstance(node, ast.withitem):
            return None
        return changed(node, context_expr=replaced(twin(new), lambda item: at(item, node.context_expr)))

    return replaced_at(tree, [item.context_expr for item in entered if id(item) in found], swap) if found else tree


def _name(node: ast.expr) -> str:
    """A name, or an attribute of one with a point in front; with brackets where it is called."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not (node.args or node.keywords):
        return f"{node.func.id}()"
    own = isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    return f".{node.attr}" if own and isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _kept(known: ModuleNames) -> Mapping[str, ast.expr]:
    """The contexts that the module gives a name or an attribute, which it gives nothing else."""
    found = {}
    for node in known.nodes[ast.Assign]:
        name = _name(node.targets[0]) if len(node.targets) == 1 else ""
        if name and _is_settled(node.value, known):
            found[name] = node.value
    stored = [item.attr for item in known.nodes[ast.Attribute] if not isinstance(item.ctx, ast.Load)]
    return {
        name: call
        for name, call in found.items()
        if (stored.count(name[1:]) if name.startswith(".") else known.names.stores[name]) == 1
        and name.removeprefix(".") not in known.said
    }


def _made(known: ModuleNames) -> Mapping[str, ast.expr]:
    """The contexts that functions of the module enter around all that they do, which is to hand over."""
    found = {}
    for node in known.tree.body:
        if not isinstance(node, ast.FunctionDef) or not known.is_fixed(node) or len(node.body) != 1:
            continue
        marks, block = [known.dotted(item) for item in node.decorator_list], node.body[0]
        if marks != [MAKER] or not isinstance(block, ast.With) or len(block.items) != 1 or len(block.body) != 1:
            continue
        item, inner = block.items[0], block.body[0]
        value = inner.value if isinstance(inner, ast.Expr) else None
        plain = isinstance(value, ast.Yield) and _id(value.value) == _id(item.optional_vars) is not None
        if plain and _is_settled(item.context_expr, known):
            found[f"{node.name}()"] = item.context_expr
    return found


def _id(node: ast.expr | None) -> str | None:
    return "" if node is None else getattr(node, "id", None)


def _is_settled(call: ast.expr, known: ModuleNames) -> bool:
    """Whether it is such a context of imported names and constants alone."""
    if not isinstance(call, ast.Call) or known.dotted(call.func) not in CONTEXTS:
        return False
    given = [*call.args, *(item.value for item in call.keywords)]
    return all(isinstance(item, ast.Constant) or known.dotted(item) is not None for item in given)
