"""What names stand for while a trace runs, and since when."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from codemods.rules.autocast.cache_state import CacheState
from codemods.rules.autocast.values import ModuleValue, Parameters, ValueReader


@dataclass(frozen=True)
class TraceBindings:
    """The names of a state. `value` tells what an expression stands for, `next_turn` numbers the bindings."""

    state: CacheState
    reader: ValueReader
    value: Callable[[ast.expr], Any]
    next_turn: Callable[[], int]

    def bind(self, target: ast.expr, value: Any) -> None:
        if isinstance(target, ast.Starred):
            self.bind(target.value, None)
        elif isinstance(target, ast.Tuple | ast.List):
            same = isinstance(value, tuple) and len(value) == len(target.elts)
            for index, item in enumerate(target.elts):
                self.bind(item, value[index] if same else None)
        elif isinstance(target, ast.Name):
            self.state.env[target.id] = value
            if isinstance(value, ModuleValue) and value.key[0] in self.reader.verdicts:
                self.reader.names.setdefault(value.key[0], target.id)
            self._renew(target.id)
        elif isinstance(target, ast.Attribute):
            self._renew(ast.unparse(target))
        elif isinstance(target, ast.Subscript):
            self.bind(target.value, self.value(target.value))

    def _renew(self, name: str) -> None:
        self.state.versions[name] = self.next_turn()

    def bind_loop(self, target: ast.expr, over: ast.expr) -> None:
        """Binds the target of a loop: items of a module list, or parameters of modules."""
        if isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and over.func.id in ("enumerate", "zip"):
            parts = [self._each(item) for item in over.args]
            self.bind(target, (None, parts[0]) if over.func.id == "enumerate" and parts else tuple(parts))
        else:
            each = self._each(over)
            pair = isinstance(target, ast.Tuple) and isinstance(each, Parameters)
            self.bind(target, (None, each) if pair else each)

    def _each(self, over: ast.expr) -> Any:
        value = self.value(over)
        if isinstance(value, ModuleValue) and not value.key[0].startswith("<"):
            return ModuleValue((*value.key, "[*]"))
        return value if isinstance(value, Parameters) else None
