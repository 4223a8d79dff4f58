"""What calls do to a gradient: of torch and Python, of methods of values, and of the project's own classes."""

from __future__ import annotations

import ast
import builtins
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from codemods.code.syntax import is_self_attribute
from codemods.rules.gradients import names
from codemods.rules.gradients.values import MAYBE, PLAIN, SURE, GradientFlow, Value, join, key_of, merged, of_module

if TYPE_CHECKING:
    from codemods.rules.gradients.trace import MethodFrame


@dataclass(frozen=True)
class FollowedCalls:
    """The calls of a method that is followed."""

    frame: MethodFrame

    def called(self, node: ast.Call, arguments: list[Value], keywords: dict[str | None, Value]) -> Value:
        """What a call gives back, of arguments that are worth what is given."""
        function = node.func
        every = [value.whole() for value in (*arguments, *keywords.values())]
        if isinstance(function, ast.Name) and function.id == self.frame.me:
            return self._method("forward", node, arguments, keywords)
        if isinstance(function, ast.Attribute) and is_self_attribute(function, function.attr, self.frame.me):
            return self._own_call(function.attr, node, arguments, keywords)
        if isinstance(function, ast.Attribute) and isinstance(held := function.value, ast.Attribute):
            own = is_self_attribute(held, held.attr, self.frame.me)
            result = self._held(held.attr, function.attr, node, arguments, keywords) if own else None
            if result is not None:
                return result
        dotted = self.frame.resolve(function) or self._builtin(function)
        if dotted:
            return self._named(dotted, node, arguments, keywords)
        if isinstance(function, ast.Attribute) and self._root(function) not in (self.frame.me, None):
            return self._on_value(function, node, every)
        if isinstance(function, ast.Call) and self.frame.resolve(function.func) in names.PARAMETERLESS:
            return join(every)
        return self._escape(node)

    def _root(self, node: ast.expr) -> str | None:
        """The name of a local that a chain begins with; `` for another expression that is worked out here."""
        while isinstance(node, ast.Attribute | ast.Subscript):
            node = node.value
        if isinstance(node, ast.Name):
            return node.id if node.id in self.frame.env else None
        return "" if isinstance(node, ast.Call | ast.BinOp | ast.UnaryOp | ast.IfExp | ast.Compare) else None

    def _builtin(self, node: ast.expr) -> str | None:
        known = isinstance(node, ast.Name) and node.id not in self.frame.local and hasattr(builtins, node.id)
        return f"builtins.{node.id}" if known and isinstance(node, ast.Name) else None

    def _named(self, dotted: str, node: ast.Call, arguments: list[Value], keywords: dict[str | None, Value]) -> Value:
        space, _, last = dotted.rpartition(".")
        every = [value.whole() for value in (*arguments, *keywords.values())]
        starts = any(
            item.arg == "requires_grad" and not (isinstance(item.value, ast.Constant) and item.value.value is False)
            for item in node.keywords
        )
        if dotted in names.REBUILT and not (dotted in names.KEPT and arguments and not _holds_values(arguments[0])):
            listed = bool(arguments) and _holds_values(arguments[0])
            value = self.frame.cut(join(every), node, "listed" if listed else "tensor")
            if starts and value.flow is GradientFlow.CUT:
                self.frame.run.revived.add(node)
            return MAYBE if starts and value.flow is GradientFlow.PLAIN else value
        if starts:
            return MAYBE
        if space == "builtins":
            if last in names.CUTTING_BUILTINS:
                return self.frame.cut(join(every), node, names.CUTTING_BUILTINS[last])
            if last == "dict" and not node.args and None not in keywords:
                return Value(GradientFlow.PLAIN, parts=tuple(keywords.items()), filled=True)
            if last in names.NUMBERS:
                return PLAIN
            if last in names.PURE_BUILTINS:
                return replace(join(every), filled=last in names.CONTAINERS)
            return self._escape(node)
        if dotted in names.FRESH:
            return PLAIN
        if dotted in names.CUTTING_FUNCTIONS:
            return self.frame.cut(join(every), node, names.CUTTING_FUNCTIONS[dotted])
        if dotted.startswith(("numpy.", "math.")):
            return self.frame.cut(join(every), node, "numpy")
        if names.differentiable(dotted):
            return replace(join(every), filled=False)
        result = self.frame.run_function(dotted, node, arguments, keywords)
        return self._escape(node) if result is None else result

    def _on_value(self, function: ast.Attribute, node: ast.Call, every: list[Value]) -> Value:
        """A method of a value that is followed."""
        held = self.frame.value(function.value)
        name = function.attr
        if name in names.CUTTING_METHODS:
            return self.frame.cut(held, node, names.CUTTING_METHODS[name])
        if name == "new_tensor":
            return self.frame.cut(join(every), node, "tensor")
        if name == "requires_grad_":
            self.frame.revive(function.value, node.args[0] if node.args else None)
            return MAYBE if held.whole().flow is GradientFlow.PLAIN else held
        if name in ("append", "add", "insert", "extend", "update", "setdefault") or name.endswith("_"):
            root = function.value
            while isinstance(root, ast.Subscript | ast.Attribute):
                root = root.value
            if isinstance(root, ast.Name):
                self.frame.put(root.id, join(every))
            return join([held.whole(), *every])
        if name in ("size", "dim", "keys", "numel", "nelement", "eq", "ne", "startswith", "endswith"):
            return PLAIN
        if name in ("get", "pop") and held.parts and node.args and (key := key_of(node.args[0])) is not None:
            return held.part(key)
        return join([held.whole(), *every])

    def _own_call(self, name: str, node: ast.Call, arguments: list[Value], keywords: dict[str | None, Value]) -> Value:
        every = [value.whole() for value in (*arguments, *keywords.values())]
        if name == "manual_backward" and arguments:
            before = self.frame.run.backward.get(node)
            self.frame.run.backward[node] = merged(before, arguments[0]) if before else arguments[0]
            return PLAIN
        if name in ("log", "log_dict", "print", "toggle_optimizer", "untoggle_optimizer"):
            return PLAIN
        if name in self.frame.known.item.methods or self.frame.known.method(name):
            return self._method(name, node, arguments, keywords)
        built = self._built(name)
        if built and all(dotted in names.PARAMETERLESS for dotted in built):
            return join(every)
        if built and all(dotted is not None and names.counts(dotted) for dotted in built):
            return self.frame.cut(join(every), node, "metric")
        result = self._held(name, "forward", node, arguments, keywords)
        module = built and all(dotted and self._is_module(dotted) for dotted in built)
        if result is not None:
            return of_module(result) if module else result
        return SURE if module else self._escape(node)

    def _built(self, name: str) -> list[str | None]:
        """What the class builds as an attribute, by dotted names."""
        given = [value for _, value in self.frame.home.attributes.get(name, [])]
        return [self.frame.scope.resolve(value.func) if isinstance(value, ast.Call) else None for value in given]

    def _held(
        self, attribute: str, name: str, node: ast.Call, arguments: list[Value], keywords: dict[str | None, Value]
    ) -> Value | None:
        """A method of something that the class builds, of another class of the project, which is followed; None where
        there is no such thing."""
        built = self._built(attribute)
        other = self.frame.home.other(built[0]) if len(built) == 1 and built[0] else None
        return self.frame.run_method(other, name, node, arguments, keywords) if other else None

    def _is_module(self, dotted: str) -> bool:
        return dotted.startswith(("torch.nn.", "torchvision.models.")) or self.frame.known.is_module(dotted)

    def _method(self, name: str, node: ast.Call, arguments: list[Value], keywords: dict[str | None, Value]) -> Value:
        """A method of the class, followed with what it is given."""
        result = self.frame.run_method(self.frame.known, name, node, arguments, keywords)
        return self._escape(node) if result is None else result

    def _escape(self, node: ast.Call) -> Value:
        """A call that is not followed: it may also put things into the containers that it is given."""
        for item in [*node.args, *(keyword.value for keyword in node.keywords)]:
            inner = item.value if isinstance(item, ast.Starred) else item
            if isinstance(inner, ast.Name) and self.frame.env.get(inner.id, PLAIN).filled:
                self.frame.env[inner.id] = MAYBE
        return MAYBE


def _holds_values(value: Value) -> bool:
    """Whether a value is a list, a tuple or a dict."""
    return value.filled or bool(value.parts)
