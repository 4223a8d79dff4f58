"""What switches gradients on or off, as the code around it tells."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from codemods.code.syntax import Function, own_nodes
from codemods.rules.gradients import names


@dataclass(frozen=True)
class Modes:
    """The gradient modes of a method: what its names were given once, the literals that its parameters are, and the
    dotted name of what is no local."""

    kept: Mapping[str, ast.expr]
    literals: Mapping[str, object]
    resolve: Callable[[ast.expr], str | None]

    def switched(self, node: ast.expr) -> bool | None:
        """Whether a context or decorator turns gradients on or off; None for neither."""
        if isinstance(node, ast.Name) and isinstance(held := self.kept.get(node.id), ast.Call):
            node = held
        call = node if isinstance(node, ast.Call) else None
        dotted = self.resolve(call.func if call else node)
        known, mode = self._given(call)
        if dotted in names.NO_GRAD:
            asked = known or (call is not None and bool(call.args or call.keywords))
            return None if asked and mode is not True else False
        if dotted in names.WITH_GRAD:
            return True
        return bool(mode) if dotted in names.SWITCH and known else None

    def _given(self, call: ast.Call | None) -> tuple[bool, object]:
        """The mode that a context is given, where it is known."""
        named = [item.value for item in call.keywords if item.arg == "mode"] if call else []
        given = (call.args or named) if call else []
        if given and isinstance(given[0], ast.Constant):
            return True, given[0].value
        if given and isinstance(given[0], ast.Name) and given[0].id in self.literals:
            return True, self.literals[given[0].id]
        return False, None


def kept_in(function: Function) -> dict[str, ast.expr]:
    """What the names of a function are given that one statement binds."""
    stored: dict[str, int] = {}
    found: dict[str, ast.expr] = {}
    for node in own_nodes(function):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            stored[node.id] = stored.get(node.id, 0) + 1
        elif isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            found[node.targets[0].id] = node.value
    return {name: value for name, value in found.items() if stored[name] == 1}


def literals_of(function: Function, wanted: list[str], call: ast.Call) -> dict[str, object]:
    """The parameters that a call gives a literal, or leaves to a default that is one, and that stay what they are."""
    arguments = function.args
    positional = [*arguments.posonlyargs, *arguments.args]
    pairs: list[tuple[str, ast.expr | None]] = [
        *((item.arg, value) for item, value in zip(reversed(positional), reversed(arguments.defaults), strict=False)),
        *((item.arg, value) for item, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)),
        *zip(wanted, call.args, strict=False),
        *((item.arg or "", item.value) for item in call.keywords),
    ]
    stored = {node.id for node in own_nodes(function) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    given = {name: value for name, value in dict(pairs).items() if name not in stored}
    return {name: value.value for name, value in given.items() if isinstance(value, ast.Constant)}
