"""The weights of modules while a trace runs: which of them train, and which are changed in place."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from codemods.code.syntax import is_false
from codemods.rules.autocast.cache_state import CacheState, TraceSite
from codemods.rules.autocast.members import Key
from codemods.rules.autocast.names import STEPS
from codemods.rules.autocast.values import ModuleValue, Optimizer, Parameters


@dataclass(frozen=True)
class Weights:
    """What statements do to weights in a state. `value` tells what an expression stands for, `site` where a node is
    executed (None: the statement itself)."""

    state: CacheState
    value: Callable[[ast.expr], Any]
    site: Callable[[ast.AST | None], TraceSite]

    def changes(self, node: ast.Call, function: ast.Attribute) -> bool:
        """Whether a call changes weights, or which of them train; notes what it does."""
        name = function.attr
        if name in ("toggle_optimizer", "untoggle_optimizer"):
            given = self.value(node.args[0]) if node.args and name == "toggle_optimizer" else None
            self.state.toggled = frozenset(given.keys or ()) if isinstance(given, Optimizer) else None
            return True
        if name == "requires_grad_":
            off = is_false(node)
            owner = self.value(function.value)
            if isinstance(owner, ModuleValue | Parameters):
                self.freeze(owner.key, off)
            return True
        if name in STEPS:
            owner = self.value(function.value)
            given = self.value(node.args[0]) if node.args else None
            found = next((item for item in (owner, given) if isinstance(item, Optimizer)), None)
            if found:
                self.state.change(found.keys, self.site(node), found.keys is not None)
            return True
        if name == "load_state_dict":
            self.changed(self.value(function.value))
            return True
        if name.endswith("_") and not name.endswith("__"):
            self.change(function.value)
            return True
        return False

    def change(self, node: ast.expr) -> None:
        """Notes an in-place change of a parameter, or of `module.weight.data`."""
        value = self.value(node)
        data = isinstance(node, ast.Attribute) and node.attr == "data"
        if isinstance(value, Parameters) or (data and isinstance(value, ModuleValue)):
            self.changed(value)

    def changed(self, value: Any) -> None:
        if isinstance(value, ModuleValue | Parameters):
            key = value.key[:-1] if value.key[-1] == "data" else value.key
            sure = isinstance(value, Parameters) or key == value.key or key[-1] in ("weight", "bias")
            self.state.change([key], self.site(None), sure)

    def require(self, target: ast.Attribute, value: ast.expr) -> None:
        owner = self.value(target.value)
        if isinstance(owner, Parameters) and isinstance(value, ast.Constant):
            self.freeze(owner.key, value.value is False)

    def freeze(self, key: Key, off: bool) -> None:
        value = self.value(ast.Name(key[0], ast.Load()))
        if isinstance(value, ModuleValue):
            key = (*value.key, *key[1:])
        self.state.frozen = self.state.frozen | {key} if off else self.state.frozen - {key}
