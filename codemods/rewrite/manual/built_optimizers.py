"""Of which classes a function of the same file builds an object."""

from __future__ import annotations

import ast

from codemods.code.scopes import Scope, bind
from codemods.code.syntax import returns
from codemods.rewrite.manual.optimizers import NotPlain
from codemods.rewrite.manual.possible_values import Bindings


def built_here(scope: Scope, call: ast.expr) -> frozenset[str]:
    """The dotted names of all classes of which the function that a call names, defined once at the top of its file, may
    return an object; none where one of them cannot be told."""
    module = scope
    while module.parent is not None:
        module = module.parent
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return frozenset()
    name = call.func.id
    made = [node for node in module.statements if isinstance(node, ast.FunctionDef) and node.name == name]
    if len(made) != 1 or made[0].decorator_list or len(module.bindings[name]) != 1 or not _is_the_module_s(scope, name):
        return frozenset()
    function, names = made[0], Bindings(made[0])
    inner = bind(function, scope=module)
    try:
        built = [choice for node in returns(function) if node.value for choice in names.choices(node.value)]
        classes = [kind for choice in built for kind in _classes(names, choice)]
    except NotPlain:
        return frozenset()
    dotted = [inner.resolve(kind) for kind in classes]
    return frozenset(filter(None, dotted)) if all(dotted) and built else frozenset()


def _is_the_module_s(scope: Scope, name: str) -> bool:
    while scope.parent is not None:
        if name in scope.bindings and not isinstance(scope.node, ast.ClassDef):
            return False
        scope = scope.parent
    return True


def _classes(names: Bindings, made: ast.expr) -> list[ast.expr]:
    """What may be called to make something. Raises NotPlain where it is not made by a call."""
    if not isinstance(made, ast.Call):
        raise NotPlain("it returns something else")
    if not isinstance(made.func, ast.Name) or made.func.id not in names.bound:
        return [made.func]
    return [binding.value for binding in names.reaching(made.func)]
