"""Contexts of torch that a name, an attribute or a function keeps, where they are entered."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator, Mapping

from codemods.code.effects import CONTEXTS
from codemods.code.imports import ModuleNames
from codemods.code.inlining import has_instance
from codemods.code.nodes import every_node
from codemods.code.tree_copies import at, changed, replaced, replaced_at, twin

MAKER = "contextlib.contextmanager"


def plain_contexts(tree: ast.Module, known: ModuleNames) -> ast.Module:
    """The module with the contexts that something keeps where they are entered."""
    entered = [item for item in known.nodes[ast.withitem] if _name(item.context_expr) or _is_own(item.context_expr)]
    if not entered:
        return tree
    kept = {**_kept(known), **_made(known)}
    found = {id(item): new for item in entered if (new := kept.get(_name(item.context_expr)))}
    found |= {id(item): call for item, call in _of_instances(known)}

    def swap(node: ast.AST) -> ast.AST | None:
        new = found.get(id(node))
        if new is None or not isinstance(node, ast.withitem):
            return None
        return changed(node, context_expr=replaced(twin(new), lambda item: at(item, node.context_expr)))

    return replaced_at(tree, [item.context_expr for item in entered if id(item) in found], swap) if found else tree


def _name(node: ast.expr) -> str:
    """A name; with brackets where it is called."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not (node.args or node.keywords):
        return f"{node.func.id}()"
    return getattr(node, "id", "")


def _is_own(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)


def _kept(known: ModuleNames) -> Mapping[str, ast.expr]:
    """The contexts that the module gives a name, which it gives nothing else."""
    return {
        target.id: node.value
        for node in known.nodes[ast.Assign]
        for target in node.targets[:1]
        if isinstance(target, ast.Name) and len(node.targets) == 1 and _is_settled(node.value, known)
        if known.names.stores[target.id] == 1 and target.id not in known.said
    }


def _of_instances(known: ModuleNames) -> Iterator[tuple[ast.withitem, ast.expr]]:
    """What methods enter by an attribute of their instance, which the file sets once, to such a context: in a line of
    `__init__`, or in front of where it is entered."""
    stored = Counter(item.attr for item in known.nodes[ast.Attribute] if not isinstance(item.ctx, ast.Load))
    for home in known.nodes[ast.ClassDef]:
        methods = [item for item in home.body if isinstance(item, ast.FunctionDef) and has_instance(item)]
        for method, (node, behind) in ((each, line) for each in methods for line in _lines(each)):
            attribute = _attribute(node.targets[0], method) if _is_settled(node.value, known) else ""
            if not attribute or stored[attribute] != 1 or known.names.stores[attribute] or attribute in known.said:
                continue
            always = method.name == "__init__" and node in method.body
            readers = [(each, [each]) for each in methods] if always else [(method, behind)]
            for reader, parts in readers:
                for item in (item for part in parts for item in every_node(part)):
                    if isinstance(item, ast.withitem) and _attribute(item.context_expr, reader) == attribute:
                        yield item, node.value


def _lines(method: ast.FunctionDef) -> Iterator[tuple[ast.Assign, list[ast.stmt]]]:
    """The assignments of one target in a method, each with what stands behind it in its block."""
    for owner in every_node(method):
        block = getattr(owner, "body", None)
        for index, node in enumerate(block if isinstance(block, list) else ()):
            if isinstance(node, ast.Assign) and len(node.targets) == 1:
                yield node, block[index + 1 :] if isinstance(block, list) else []


def _attribute(node: ast.expr, method: ast.FunctionDef) -> str:
    """The attribute that an expression is of the instance that a method is given."""
    own = isinstance(node, ast.Attribute) and getattr(node.value, "id", "") == method.args.args[0].arg
    return node.attr if own and isinstance(node, ast.Attribute) else ""


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
