"""Follows the values of a training step to the loss that is handed to the backward pass."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from codemods.code.nodes import walk
from codemods.code.scopes import Scope
from codemods.code.syntax import Function, is_self_attribute, own_nodes, parameters, self_name, taken
from codemods.rules.gradients import names
from codemods.rules.gradients.calls import FollowedCalls
from codemods.rules.gradients.classes import Class, PlainFile
from codemods.rules.gradients.grad_modes import Modes, kept_in, literals_of
from codemods.rules.gradients.values import (
    MAYBE,
    PLAIN,
    GradientFlow,
    Value,
    cut,
    join,
    key_of,
    merged,
    merged_names,
    seen_from,
)

DEPTH = 5
FIELDS = frozenset({"shape", "device", "dtype", "ndim", "requires_grad", "is_cuda", "grad_fn", "names"})
OWN_NUMBERS = frozenset(
    {"hparams", "device", "dtype", "current_epoch", "global_step", "global_rank", "local_rank", "trainer", "logger",
     "training", "automatic_optimization", "on_gpu"}
)  # fmt: skip


@dataclass
class TraceResult:
    """What was met while following a method and the methods that it calls: the values that each `return` of the
    method itself gives back, those handed to `manual_backward`, and the cut values that were told to require a
    gradient."""

    returned: dict[ast.AST, Value] = field(default_factory=dict)
    backward: dict[ast.AST, Value] = field(default_factory=dict)
    revived: set[ast.AST] = field(default_factory=set)


def follow(known: Class, home: Class, method: Function) -> TraceResult:
    """Follow a method that Lightning calls of a class, which has it from `home`; its parameters hold data alone."""
    run = TraceResult()
    frame = MethodFrame(known, home, method, run, {}, None, (), {})
    frame.env.update(dict.fromkeys(parameters(method), PLAIN))
    frame.execute()
    run.returned = frame.returned
    return run


class MethodFrame:
    """One method while it is followed, of an instance of a class, which has it from `home`, or a function of a file."""

    def __init__(
        self,
        known: Class,
        home: Class | PlainFile,
        method: Function,
        run: TraceResult,
        env: dict[str, Value],
        block: ast.AST | None,
        stack: tuple[Function, ...],
        literals: Mapping[str, object],
    ) -> None:
        self.known, self.home, self.method, self.run, self.env, self.block = known, home, method, run, env, block
        self.stack = (*stack, method)
        self.me = (self_name(method) if isinstance(home, Class) else "") or "?"
        self.returned: dict[ast.AST, Value] = {}
        self.followed: set[ast.Call] = set()
        self.scope: Scope = home.scope
        self.local = {
            node.id for node in own_nodes(method) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)
        } | {item.arg for item in taken(method) if item.arg != self.me}
        self.modes = Modes(kept_in(method), literals, self.resolve)

    def execute(self) -> None:
        for decorator in self.method.decorator_list:
            if (switched := self.modes.switched(decorator)) is not None:
                self.block = None if switched else decorator
        self._run(self.method.body)

    def resolve(self, node: ast.expr) -> str | None:
        """The dotted name of what is not a local of the method."""
        root = node
        while isinstance(root, ast.Attribute):
            root = root.value
        if not isinstance(root, ast.Name) or root.id in self.local:
            return None
        return self.scope.resolve(node)

    # -- statements

    def _run(self, body: Iterable[ast.stmt]) -> None:
        for statement in body:
            handler: Any = getattr(self, f"_do_{type(statement).__name__}", None)
            if handler:
                handler(statement)
            else:
                self._forget(statement)

    def _forget(self, statement: ast.stmt) -> None:
        """A statement that is not followed: what it binds may be anything."""
        for node in walk(statement):
            if isinstance(node, ast.Name) and (
                not isinstance(node.ctx, ast.Load) or self.env.get(node.id, PLAIN).filled
            ):
                self.env[node.id] = MAYBE
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            self.env[statement.name] = MAYBE

    def _do_Pass(self, node: ast.Pass) -> None: ...

    def _do_Assert(self, node: ast.Assert) -> None: ...

    def _do_Raise(self, node: ast.Raise) -> None: ...

    def _do_Break(self, node: ast.Break) -> None: ...

    def _do_Continue(self, node: ast.Continue) -> None: ...

    def _do_Expr(self, node: ast.Expr) -> None:
        self.value(node.value)
        if isinstance(node.value, ast.Call) and self.resolve(node.value.func) in names.SWITCH:
            switched = self.modes.switched(node.value) if node in self.method.body else True
            self.block = node.value if switched is False else None

    def _do_Return(self, node: ast.Return) -> None:
        self.returned[node] = self.value(node.value) if node.value is not None else PLAIN

    def _do_Assign(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        if value.filled and isinstance(node.value, ast.Name):
            self.env[node.value.id] = value = MAYBE
        for target in node.targets:
            self._bind(target, value, node.value)

    def _do_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._bind(node.target, self.value(node.value), node.value)

    def _do_AugAssign(self, node: ast.AugAssign) -> None:
        value = self._guard(join([self.value(node.target).whole(), self.value(node.value).whole()]))
        self._bind(node.target, value, node.value)

    def _bind(self, target: ast.expr, value: Value, given: ast.expr | None = None) -> None:
        if isinstance(target, ast.Name):
            self.env[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            starred = any(isinstance(item, ast.Starred) for item in target.elts)
            for number, item in enumerate(target.elts):
                inner = item.value if isinstance(item, ast.Starred) else item
                self._bind(inner, value.whole() if starred else value.part(number))
        elif isinstance(target, ast.Attribute) and target.attr == "requires_grad":
            self.revive(target.value, given)
        elif isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name):
            self.put(target.value.id, value, key_of(target.slice))

    def put(self, name: str, value: Value, key: object = None) -> None:
        """Something is put into a container."""
        held = self.env.get(name, MAYBE)
        if key is not None and (held.parts or held == Value(GradientFlow.PLAIN, filled=True)):
            parts = (*((known, part) for known, part in held.parts if known != key), (key, value))
            self.env[name] = replace(held, parts=parts)
        else:
            self.env[name] = replace(join([held.whole(), value.whole()]), filled=held.filled)

    def revive(self, node: ast.expr, given: ast.expr | None) -> None:
        """`x.requires_grad = True`: a value without a history becomes the start of one."""
        if isinstance(given, ast.Constant) and given.value is False:
            return
        value = self.value(node)
        if value.flow is GradientFlow.CUT:
            self.run.revived.update(item.node for item in value.cuts)
        elif value.flow is GradientFlow.PLAIN and isinstance(node, ast.Name):
            self.env[node.id] = MAYBE

    def _do_If(self, node: ast.If) -> None:
        self.value(node.test)
        self._branches([node.body, node.orelse])

    def _branches(self, bodies: Sequence[Sequence[ast.stmt]]) -> None:
        start, ends = dict(self.env), []
        for body in bodies:
            self.env = dict(start)
            self._run(body)
            ends.append(self.env)
        self.env = merged_names(ends)

    def _do_For(self, node: ast.For) -> None:
        self._bind(node.target, self.value(node.iter).whole())
        self._loop(node.body)
        self._run(node.orelse)

    def _do_While(self, node: ast.While) -> None:
        self.value(node.test)
        self._loop(node.body)
        self._run(node.orelse)

    def _loop(self, body: Sequence[ast.stmt]) -> None:
        for _ in range(2):
            before = dict(self.env)
            self._run(body)
            self.env = merged_names([before, self.env])

    def _do_With(self, node: ast.With) -> None:
        outer = self.block
        for item in node.items:
            switched = self.modes.switched(item.context_expr)
            if switched is False:
                self.block = item.context_expr
            elif switched:
                self.block = None
            value = MAYBE if switched is None else PLAIN
            if item.optional_vars is not None:
                self._bind(item.optional_vars, value)
        self._run(node.body)
        self.block = outer

    def _do_Try(self, node: ast.Try) -> None:
        before = dict(self.env)
        self._run(node.body)
        after = self.env
        ends = []
        for handler in node.handlers:
            self.env = merged_names([before, after])
            if handler.name:
                self.env[handler.name] = PLAIN
            self._run(handler.body)
            ends.append(self.env)
        self.env = after
        self._run(node.orelse)
        self.env = merged_names([self.env, *ends])
        self._run(node.finalbody)

    # -- expressions

    def value(self, node: ast.expr | None) -> Value:
        """What an expression is worth to a gradient."""
        if node is None or isinstance(node, ast.Constant):
            return PLAIN
        handler: Any = getattr(self, f"_of_{type(node).__name__}", None)
        return handler(node) if handler else MAYBE

    def cut(self, value: Value, node: ast.AST, how: str) -> Value:
        """The value after an operation of this file through which no gradient flows."""
        return cut(value, node, how, self.home.file.path)

    def _guard(self, value: Value) -> Value:
        """The result of an operation: without a history where gradients are off."""
        if self.block is not None and value.flow >= GradientFlow.MAYBE:
            return self.cut(value, self.block, "no_grad")
        return value

    def _of_Name(self, node: ast.Name) -> Value:
        return self.env.get(node.id, MAYBE)

    def _of_Attribute(self, node: ast.Attribute) -> Value:
        if node.attr in FIELDS:
            return PLAIN
        if is_self_attribute(node, node.attr, self.me):
            return self._own(node.attr)
        held = self.value(node.value)
        if node.attr == "data":
            return self.cut(held, node, "data")
        return held.part(node.attr) if held.parts else held

    def _own(self, name: str) -> Value:
        if name in OWN_NUMBERS:
            return PLAIN
        given = self.known.attributes.get(name, [])
        return PLAIN if given and all(isinstance(value, ast.Constant) for _, value in given) else MAYBE

    def _of_Subscript(self, node: ast.Subscript) -> Value:
        held = self.value(node.value)
        key = key_of(node.slice)
        if held.parts and key is not None:
            return held.part(key)
        return held.whole()

    def _of_Starred(self, node: ast.Starred) -> Value:
        return self.value(node.value).whole()

    def _of_Tuple(self, node: ast.Tuple | ast.List) -> Value:
        values = [self.value(item) for item in node.elts]
        if any(isinstance(item, ast.Starred) for item in node.elts):
            return replace(join([value.whole() for value in values]), filled=True)
        return Value(GradientFlow.PLAIN, parts=tuple(enumerate(values)), filled=isinstance(node, ast.List))

    def _of_List(self, node: ast.List) -> Value:
        tupled = self._of_Tuple(node)
        return replace(tupled.whole(), filled=True) if tupled.parts else tupled

    _of_Set = _of_List

    def _of_Dict(self, node: ast.Dict) -> Value:
        values = [self.value(item) for item in node.values]
        keys = [key_of(key) if key is not None else None for key in node.keys]
        if all(key is not None for key in keys):
            return Value(GradientFlow.PLAIN, parts=tuple(zip(keys, values, strict=True)), filled=True)
        return replace(join([value.whole() for value in values]), filled=True)

    def _of_ListComp(self, node: ast.ListComp | ast.GeneratorExp | ast.SetComp) -> Value:
        return replace(self._comprehension(node.generators, [node.elt]), filled=True)

    _of_GeneratorExp = _of_SetComp = _of_ListComp

    def _of_DictComp(self, node: ast.DictComp) -> Value:
        return replace(self._comprehension(node.generators, [node.value]), filled=True)

    def _comprehension(self, generators: list[ast.comprehension], results: list[ast.expr]) -> Value:
        before = dict(self.env)
        for generator in generators:
            self._bind(generator.target, self.value(generator.iter).whole())
        value = join([self.value(result).whole() for result in results])
        self.env = before
        return value

    def _of_BinOp(self, node: ast.BinOp) -> Value:
        return self._guard(join([self.value(node.left).whole(), self.value(node.right).whole()]))

    def _of_UnaryOp(self, node: ast.UnaryOp) -> Value:
        return self._guard(self.value(node.operand).whole())

    def _of_BoolOp(self, node: ast.BoolOp) -> Value:
        return join([self.value(item).whole() for item in node.values])

    def _of_Compare(self, node: ast.Compare) -> Value:
        values = [self.value(item).whole() for item in (node.left, *node.comparators)]
        if any(isinstance(item, ast.Is | ast.IsNot | ast.In | ast.NotIn) for item in node.ops):
            return PLAIN
        return self.cut(join(values), node, "comparison")

    def _of_IfExp(self, node: ast.IfExp) -> Value:
        return merged(self.value(node.body), self.value(node.orelse))

    def _of_NamedExpr(self, node: ast.NamedExpr) -> Value:
        value = self.value(node.value)
        self._bind(node.target, value)
        return value

    def _of_JoinedStr(self, node: ast.JoinedStr) -> Value:
        return PLAIN

    def _of_Slice(self, node: ast.Slice) -> Value:
        return PLAIN

    def _of_Call(self, node: ast.Call) -> Value:
        arguments = [self.value(item) for item in node.args]
        keywords = {item.arg: self.value(item.value) for item in node.keywords}
        value = FollowedCalls(self).called(node, arguments, keywords)
        return value if value.parts or node in self.followed else self._guard(value)

    # -- calls

    def run_method(
        self, known: Class, name: str, node: ast.Call, arguments: list[Value], keywords: dict[str | None, Value]
    ) -> Value | None:
        """What a method of an instance gives back; None where it cannot be followed."""
        found = known.method(name)
        return self._enter(known, *found, node, arguments, keywords) if found else None

    def run_function(
        self, dotted: str, node: ast.Call, arguments: list[Value], keywords: dict[str | None, Value]
    ) -> Value | None:
        """What a function of the project gives back; None where it cannot be followed."""
        found = self.home.function(dotted)
        return self._enter(self.known, *found, node, arguments, keywords) if found else None

    def _enter(
        self,
        known: Class,
        home: Class | PlainFile,
        method: Function,
        node: ast.Call,
        arguments: list[Value],
        keywords: dict[str | None, Value],
    ) -> Value | None:
        loose = any(isinstance(item, ast.Starred) for item in node.args) or None in keywords
        strange = any(isinstance(item, ast.Yield | ast.YieldFrom | ast.Await) for item in own_nodes(method))
        if loose or strange or method.args.vararg or method.args.kwarg or method in self.stack:
            return None
        if len(self.stack) > DEPTH:
            return None
        first = [] if isinstance(home, Class) else [item.arg for item in method.args.posonlyargs + method.args.args][:1]
        wanted = [*first, *parameters(method), *(item.arg for item in method.args.kwonlyargs)]
        env = dict.fromkeys(wanted, PLAIN) | dict(zip(wanted, arguments, strict=False))
        env |= {key: value for key, value in keywords.items() if key is not None}
        literals = literals_of(method, wanted, node)
        frame = MethodFrame(known, home, method, self.run, env, self.block, self.stack, literals)
        if any(frame.modes.switched(item) is None for item in method.decorator_list):
            return None
        frame.execute()
        self.followed.add(node)  # gradients may be on there, and what is done there is not done here again
        results = [value for item, value in frame.returned.items() if not _is_empty(item)]
        result = results[0] if results else PLAIN
        for other in results[1:]:
            result = merged(result, other)
        return seen_from(result, node, self.home.file.path)


def _is_empty(node: ast.AST) -> bool:
    value = getattr(node, "value", None)
    return value is None or (isinstance(value, ast.Constant) and value.value is None)
