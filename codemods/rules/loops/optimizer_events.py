"""What one method does to its optimizers, in order: zero_grad, backward and step, and in which block each stands."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Literal

from codemods.code.nodes import every_node, walk
from codemods.code.scopes import Scope
from codemods.code.syntax import SCOPES, Function, own_nodes, self_name

Kind = Literal["zero", "backward", "step"]
Path = tuple[tuple[str, int], ...]
EVENTS = frozenset({"zero_grad", "backward", "manual_backward", "step"})
# fmt: off
HARMLESS_METHODS = frozenset({
    "add", "append", "clip_gradients", "compute", "cpu", "detach", "extend", "float", "format", "item", "items", "keys",
    "log", "log_dict", "mean", "numpy", "print", "shape", "size", "sum", "to", "update", "values",
})
BUILTINS = frozenset({
    "abs", "enumerate", "float", "int", "isinstance", "len", "list", "max", "min", "print", "range", "round", "str",
    "sum", "tuple", "zip",
})
# fmt: on
WHOLE = "optimizers()"


@dataclass(frozen=True)
class Event:
    """One call of `zero_grad`, `backward` or `step`, which is a statement of its own.

    `optimizer` says which optimizer it is, by where that comes from (`optimizers()`, `optimizers()[1]`,
    `self.optimizer`, a parameter); empty for a backward pass, and for `zero_grad` of a whole module. `path` leads
    from the method to the statement: fields of blocks, and positions in them.
    """

    kind: Kind
    call: ast.Call
    optimizer: str
    path: Path

    @property
    def receiver(self) -> ast.expr:
        assert isinstance(self.call.func, ast.Attribute)
        return self.call.func.value


@dataclass(frozen=True)
class EventFlow:
    """The events of a method. `plain` holds where each of them is understood: no closure, no scaler, no optimizer
    of unknown origin, none inside an expression, a nested function or an exception handler."""

    function: ast.FunctionDef
    scope: Scope
    events: tuple[Event, ...]
    plain: bool

    def of(self, kind: Kind) -> list[Event]:
        return [event for event in self.events if event.kind == kind]

    @cached_property
    def single(self) -> str | None:
        """The one optimizer that the events speak of, None where there are several, or none."""
        keys = {event.optimizer for event in self.events if event.optimizer}
        return keys.pop() if self.plain and len(keys) == 1 else None

    @cached_property
    def laid_out(self) -> bool:
        """Whether each statement of the method has a line of its own, so that lines can be put between."""
        return is_laid_out(self.function)

    def block(self, path: Path) -> list[ast.stmt]:
        """The statements among which the one at `path` stands."""
        node: ast.AST = self.function
        for field, index in path[:-1]:
            node = getattr(node, field)[index]
        found: list[ast.stmt] = getattr(node, path[-1][0])
        return found

    def statement(self, path: Path) -> ast.stmt:
        return self.block(path)[path[-1][1]]

    def around(self, path: Path) -> Iterator[tuple[Path, ast.stmt]]:
        """The compound statements around the one at `path`, innermost first."""
        for length in range(len(path) - 1, 0, -1):
            yield path[:length], self.statement(path[:length])

    def loop_around(self, path: Path) -> Path | None:
        """Where the innermost loop around a statement stands."""
        loops = (place for place, node in self.around(path) if isinstance(node, ast.For | ast.While))
        return next(loops, None)

    def harmless(self, statement: ast.stmt) -> bool:
        """Whether a statement certainly neither computes nor changes gradients, as far as its calls tell."""
        for node in walk(statement):
            if isinstance(node, ast.Call) and not self._harmless_call(node):
                return False
            if isinstance(node, ast.Attribute) and node.attr == "grad" and not isinstance(node.ctx, ast.Load):
                return False
            if isinstance(node, ast.Yield | ast.YieldFrom | ast.Await | ast.Delete):
                return False
        return True

    def _harmless_call(self, call: ast.Call) -> bool:
        name = self.scope.resolve(call.func)
        if name is not None and name.startswith("torch."):
            return not name.startswith("torch.autograd")
        if isinstance(call.func, ast.Name):
            return call.func.id in BUILTINS and self.scope.lookup(call.func.id) is None
        return isinstance(call.func, ast.Attribute) and call.func.attr in HARMLESS_METHODS


def is_laid_out(function: Function) -> bool:
    """Whether each statement of a method has a line of its own."""
    for node in [function, *own_nodes(function)]:
        if not isinstance(node, ast.stmt) or isinstance(node, ast.ClassDef):
            continue
        for field in ("body", "orelse", "finalbody"):
            block = getattr(node, field, None)
            if not isinstance(block, list) or not block:
                continue
            if field == "body" and block[0].lineno <= _head_end(node):
                return False
            if any(second.lineno <= (first.end_lineno or 0) for first, second in pairwise(block)):
                return False
    return True


def _head_end(node: ast.stmt) -> int:
    """The line on which the head of a compound statement ends."""
    parts = [getattr(node, name, None) for name in ("test", "target", "iter", "returns")]
    parts += [item.context_expr for item in getattr(node, "items", [])]
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        every = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, *node.args.defaults]
        parts += [item for item in [*every, node.args.vararg, node.args.kwarg] if item]
    return max([node.lineno, *(part.end_lineno or 0 for part in parts if isinstance(part, ast.expr | ast.arg))])


def read_flow(function: Function, scope: Scope) -> EventFlow | None:
    """The events of a method whose names are read in `scope`; None where it has none."""
    if not isinstance(function, ast.FunctionDef) or not any(_event_calls(function)):
        return None
    reader = _EventReader(function)
    reader.block(function.body, "body", ())
    return EventFlow(function, scope, tuple(reader.events), reader.plain and not _hidden(function))


def _event_calls(function: ast.AST) -> Iterator[ast.Call]:
    for node in walk(function):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in EVENTS:
            yield node


def _hidden(function: Function) -> bool:
    """Whether a function or class inside the method has events of its own: a closure."""
    nested = [node for node in own_nodes(function) if isinstance(node, SCOPES)]
    return any(True for node in nested for _ in _event_calls(node))


class _EventReader:
    def __init__(self, function: ast.FunctionDef) -> None:
        self.this = self_name(function)
        self.events: list[Event] = []
        self.plain = True
        self.known: dict[str, str] = {}
        self.known = dict(self._bound(function))

    def block(self, body: list[ast.stmt], field: str, above: Path) -> None:
        for index, statement in enumerate(body):
            path = (*above, (field, index))
            nested = [name for name in ("body", "orelse") if isinstance(getattr(statement, name, None), list)]
            if isinstance(statement, SCOPES):
                continue
            if isinstance(statement, ast.Try | ast.Match):
                self.plain = self.plain and not any(self._event(call, path) for call in _event_calls(statement))
            elif nested:
                heads = [getattr(statement, name, None) for name in ("test", "iter")]
                heads += [item.context_expr for item in getattr(statement, "items", [])]
                for head in filter(None, heads):
                    self._inside(head, path)
                for name in nested:
                    self.block(getattr(statement, name), name, path)
            elif isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
                self._statement(statement.value, path)
            else:
                self._inside(statement, path)

    def _statement(self, call: ast.Call, path: Path) -> None:
        event = self._event(call, path)
        if event:
            self.events.append(event)
            self.plain = self.plain and event.optimizer != "?" and not (event.kind == "step" and _takes(call))
        for part in [*call.args, *(keyword.value for keyword in call.keywords)]:
            self._inside(part, path)
        if isinstance(call.func, ast.Attribute):
            self._inside(call.func.value, path)

    def _inside(self, node: ast.AST, path: Path) -> None:
        """Events inside an expression have no plain place."""
        if any(self._event(call, path) for call in _event_calls(node)):
            self.plain = False

    def _event(self, call: ast.Call, path: Path) -> Event | None:
        function = call.func
        if not isinstance(function, ast.Attribute) or function.attr not in EVENTS:
            return None
        if function.attr in ("backward", "manual_backward"):
            return Event("backward", call, "", path)
        key = self.key(function.value)
        if function.attr == "step":
            return Event("step", call, key, path) if key else None
        return Event("zero", call, "" if key in (None, "?") else key or "", path)

    def key(self, node: ast.expr) -> str | None:
        """Which optimizer an expression is; `?` where it may be one, None where it is none."""
        if isinstance(node, ast.Name):
            return self.known.get(node.id) or ("?" if _may_be_optimizer(node.id) or "scaler" in node.id else None)
        if self._asks(node):
            return WHOLE
        if isinstance(node, ast.Subscript):
            base = self.key(node.value)
            if base == WHOLE and isinstance(node.slice, ast.Constant):
                return f"{WHOLE}[{node.slice.value!r}]"
            return "?" if base else None
        if isinstance(node, ast.Attribute) and _may_be_optimizer(node.attr):
            own = isinstance(node.value, ast.Name) and node.value.id == self.this
            return f"self.{node.attr}" if own else "?"
        if isinstance(node, ast.Attribute) and "scaler" in node.attr:
            return "?"
        return None

    def _asks(self, node: ast.expr) -> bool:
        return (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "optimizers"
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == self.this
        )

    def _bound(self, function: ast.FunctionDef) -> Iterator[tuple[str, str]]:
        """The names of the method that stand for an optimizer; those bound twice are of unknown origin."""
        self.known = {item.arg: item.arg for item in function.args.args if _may_be_optimizer(item.arg)}
        found: dict[str, list[str | None]] = {}
        for node in own_nodes(function):
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                for target in targets:
                    for name, key in self._from_target(target, node.value, found):
                        found.setdefault(name, []).append(key)
        stored = [
            node.id for node in walk(function) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
        ]
        for name, keys in found.items():
            first = keys[0]
            if any(keys):
                yield name, first if first and len(keys) == stored.count(name) == 1 else "?"
        for name, key in self.known.items():
            if name not in found:
                yield name, "?" if name in stored else key

    def _from_target(
        self, target: ast.expr, value: ast.expr, found: dict[str, list[str | None]]
    ) -> Iterator[tuple[str, str | None]]:
        self.known.update({name: keys[0] for name, keys in found.items() if keys[0] and len(keys) == 1})
        if isinstance(target, ast.Name):
            yield target.id, self.key(value)
        elif isinstance(target, ast.Tuple | ast.List):
            whole = self.key(value) == WHOLE
            for index, item in enumerate(target.elts):
                if isinstance(item, ast.Name):
                    yield item.id, f"{WHOLE}[{index}]" if whole else None


def _takes(call: ast.Call) -> bool:
    return bool(call.args or call.keywords)


def _may_be_optimizer(name: str) -> bool:
    words = name.lower().split("_")
    return any(word.startswith(("optim", "opt")) and not word.startswith("option") for word in words)


def calls_on_self(function: Function) -> set[str]:
    """The names of the methods that a method calls on its instance."""
    return calls_on(function, self_name(function))


def calls_on(node: ast.AST, this: str) -> set[str]:
    """The names of the methods that a piece of code calls on something."""
    return {
        inner.func.attr
        for inner in every_node(node)
        if isinstance(inner, ast.Call)
        and isinstance(inner.func, ast.Attribute)
        and isinstance(inner.func.value, ast.Name)
        and inner.func.value.id == this
    }
