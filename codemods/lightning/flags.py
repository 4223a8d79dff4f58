"""What a class itself says of automatic optimization, in whatever spelling: a summary that other files can be told."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from codemods.code.nodes import every_node
from codemods.code.reaching import definitions, reaching
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, is_super_call, returns, self_name, targets_of

FLAG = "automatic_optimization"
NAMES = (FLAG, f"_{FLAG}")
ON, OFF, UNKNOWN, SAME, THEN = "on", "off", "?", "", ">"
"""What the flag is: one of these, where SAME is what it was before, or the value of a parameter of the constructor
(`=name`), or its opposite (`!name`); `>name` behind one is what a method of the class then makes of it."""
Values = frozenset[str]
_OPPOSITE = {ON: OFF, OFF: ON, UNKNOWN: UNKNOWN}
_PROPERTIES = ("property", "cached_property", "functools.cached_property")


@dataclass(frozen=True)
class Told:
    """What a class says. `body` is what its body makes of the flag, `fixed` that it is a property, which no instance
    changes; `built` is what its constructor leaves behind `super().__init__`, `before` what it sets in front of that,
    where it is lost; `handed` what it gives the constructor above, and `open` whether more goes there unseen;
    `defaults` are those of its own parameters. `setters` are its methods that set the flag, `methods` all it has."""

    body: Values | None = None
    fixed: bool = False
    built: Values | None = None
    before: Values = frozenset()
    handed: tuple[tuple[str | int, Values], ...] = ()
    open: bool = False
    parameters: tuple[str, ...] = ()
    defaults: tuple[tuple[str, Values], ...] = ()
    setters: tuple[tuple[str, Values], ...] = ()
    methods: frozenset[str] = frozenset()

    @property
    def says(self) -> bool:
        """Whether it speaks of the flag at all. That it calls methods says nothing: a method that sets the flag speaks
        of it itself."""
        made = [self.built or frozenset(), self.before, *(values for _, values in self.setters)]
        return self.body is not None or any(value.partition(THEN)[0] != SAME for values in made for value in values)


def told(file: PythonFile, item: ClassNode) -> Told | None:
    """What a class of a file says; None where it has no constructor and does not speak of the flag."""
    init = item.methods.get("__init__")
    spoken = FLAG in file.text
    if init is None and not spoken:
        return None
    reader = _Reader(file, item.node)
    body, fixed = reader.body(item) if spoken else (None, False)
    setters = tuple(
        (name, found)
        for name, method in item.methods.items()
        if spoken and name not in ("__init__", FLAG) and (found := reader.method(method)) != {SAME}
    )
    made = Told(body, fixed, setters=setters, methods=frozenset(item.methods))
    return reader.constructed(made, init) if init is not None else made


@dataclass
class _Reader:
    """Reads the methods of a class. `ends` are the values with which a method is left early, `above` those in front of
    `super().__init__`, and the calls of that."""

    file: PythonFile
    owner: ast.ClassDef
    this: str = ""
    function: Function | None = None
    ends: list[Values] = field(default_factory=list)
    above: list[tuple[Values, ast.Call]] = field(default_factory=list)

    def body(self, item: ClassNode) -> tuple[Values | None, bool]:
        """What the body of the class makes of the flag, or the module does behind it, and whether that is a
        property."""
        found: Values = frozenset({SAME})
        fixed = False
        for node in item.node.body:
            if isinstance(node, Function):
                if node.name == FLAG:
                    fixed = not any(isinstance(each, ast.Attribute) for each in node.decorator_list)
                    found = self._given_back(node) if fixed else frozenset({UNKNOWN})
                continue
            for target, value in _pairs(node):
                if isinstance(target, ast.Name) and target.id == FLAG:
                    made = _property(value)
                    fixed, found = made is not None, self.value(made or value)
            bare = isinstance(node, ast.ClassDef | ast.AnnAssign | ast.Assign)
            if not bare and any(_is_plain_name(each) for each in every_node(node)):
                found = frozenset({UNKNOWN})
        for node in self.file.tree.body:
            for owner, value in _set_by(node):
                if isinstance(owner, ast.Name) and owner.id == item.qualname:
                    found, fixed = self.value(value), False
        return (None, False) if found == {SAME} else (found, fixed)

    def _given_back(self, function: Function) -> Values:
        kinds = [ast.unparse(each) for each in function.decorator_list]
        if kinds and kinds[0] not in _PROPERTIES:
            return frozenset({UNKNOWN})
        values = [node.value for node in returns(function)]
        self.function, self.this = function, self_name(function)
        whole = isinstance(function.body[-1], ast.Return)
        return self._union(self.value(each) for each in values) if values and whole else frozenset({UNKNOWN})

    def method(self, function: Function) -> Values:
        """What the flag is behind a method, whatever calls it."""
        self.function, self.this, self.ends, self.above = function, self_name(function), [], []
        end = self.block(function.body, frozenset({SAME}))
        return frozenset().union(*self.ends, end or ()) if self.ends or end else frozenset({SAME})

    def constructed(self, made: Told, init: Function) -> Told:
        """What a class says with its constructor."""
        built = self.method(init)
        arguments = init.args
        names = [item.arg for item in [*arguments.posonlyargs, *arguments.args]][1:]
        pairs = [
            *zip(reversed(names), reversed(arguments.defaults), strict=False),
            *((item.arg, value) for item, value in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)),
        ]
        defaults = tuple((name, self._plain(value)) for name, value in pairs if value is not None)
        values = dict(vars(made)) | {"built": built, "parameters": tuple(names), "defaults": defaults}
        if len(self.above) > 1:
            values |= {"built": frozenset({UNKNOWN}) if made.says or built != {SAME} else built, "open": True}
        for before, call in self.above[:1]:
            spread = any(item.arg is None for item in call.keywords)
            values |= {
                "before": before - {SAME} if before != {SAME} else frozenset(),
                "handed": tuple(self._handed(call)),
                "open": spread or any(isinstance(item, ast.Starred) for item in call.args),
            }
        return Told(**values)

    def _handed(self, call: ast.Call) -> Iterator[tuple[str | int, Values]]:
        first = 0 if is_super_call(call, "__init__") else 1
        yield from ((index, self.value(item)) for index, item in enumerate(call.args[first:]))
        yield from ((item.arg, self.value(item.value)) for item in call.keywords if item.arg)

    def _plain(self, node: ast.expr) -> Values:
        return self.value(node) if isinstance(node, ast.Constant) else frozenset({UNKNOWN})

    def block(self, body: Sequence[ast.stmt], env: Values | None) -> Values | None:
        """What the flag is behind some statements; None where nothing gets there."""
        for node in body:
            if env is None:
                return None
            env = self.statement(node, env)
        return env

    def statement(self, node: ast.stmt, env: Values) -> Values | None:
        if isinstance(node, ast.Return):
            self.ends.append(env)
            return None
        if isinstance(node, ast.Raise):
            return None
        if isinstance(node, ast.If):
            return _joined([self.block(node.body, env), self.block(node.orelse, env)])
        if isinstance(node, ast.With | ast.AsyncWith):
            return self.block(node.body, env)
        if isinstance(node, ast.For | ast.AsyncFor | ast.While):
            return _joined([env, self.block([*node.body, *node.orelse], env)])
        if isinstance(node, ast.Try):
            after = self.block([*node.body, *node.orelse], env)
            thrown = _joined([env, after]) or env
            ended = _joined([after, *(self.block(handler.body, thrown) for handler in node.handlers)])
            return self.block(node.finalbody, ended) if node.finalbody else ended
        if isinstance(node, ast.Match):
            return _joined([env, *(self.block(case.body, env) for case in node.cases)])
        return self._simple(node, env)

    def _simple(self, node: ast.stmt, env: Values) -> Values:
        found = [value for owner, value in _set_by(node) if self._is_this(owner)]
        call = node.value if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
        if found:
            return self.value(found[-1])
        if call is not None and _is_constructor(call, self.owner):
            self.above.append((env, call))
            return frozenset({SAME})
        called = call.func if call is not None and isinstance(call.func, ast.Attribute) else None
        if called is not None and self._is_this(called.value) and called.attr != "__setattr__":
            return frozenset(
                value if called.attr in value.split(THEN) else f"{value}{THEN}{called.attr}" for value in env
            )
        if FLAG not in self.file.text:
            return env
        stored = any(
            isinstance(each, ast.Attribute) and each.attr in NAMES and not isinstance(each.ctx, ast.Load)
            for each in every_node(node)
        )
        named = any(isinstance(each, ast.Constant) and each.value in NAMES for each in every_node(node))
        return frozenset({UNKNOWN}) if stored or named else env

    def _is_this(self, node: ast.expr | None) -> bool:
        return isinstance(node, ast.Name) and node.id == self.this

    def value(self, node: ast.expr | None, depth: int = 0) -> Values:
        """What an expression makes of the flag."""
        if isinstance(node, ast.Constant):
            return frozenset({ON if node.value else OFF})
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return frozenset(map(opposite, self.value(node.operand, depth)))
        if isinstance(node, ast.IfExp):
            return self._union([self.value(node.body, depth), self.value(node.orelse, depth)])
        if isinstance(node, ast.NamedExpr):
            return self.value(node.value, depth)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "bool" and node.args:
            return self.value(node.args[0], depth)
        if not isinstance(node, ast.Name) or depth > 3:
            return frozenset({UNKNOWN})
        if self.function is not None:
            if definitions(self.function, node.id):
                given = [item.value for item in reaching(self.function, node.id, node)]
                return self._union(self.value(each, depth + 1) for each in given)
            if any(item.arg == node.id for item in ast.walk(self.function.args) if isinstance(item, ast.arg)):
                return frozenset({f"={node.id}" if self.function.name == "__init__" else UNKNOWN})
        bound = definitions(self.file.tree, node.id)
        return self.value(bound[0].value, depth + 1) if len(bound) == 1 else frozenset({UNKNOWN})

    def _union(self, every: Iterable[Values]) -> Values:
        return frozenset().union(*every) or frozenset({UNKNOWN})


def opposite(value: str) -> str:
    """The opposite of a value of the flag."""
    if value[:1] in ("=", "!"):
        return f"{'!' if value[0] == '=' else '='}{value[1:]}"
    return _OPPOSITE.get(value, UNKNOWN)


def _joined(every: Iterable[Values | None]) -> Values | None:
    kept = [each for each in every if each is not None]
    return frozenset().union(*kept) if kept else None


def _is_constructor(call: ast.Call, owner: ast.ClassDef) -> bool:
    """Whether a call is of the constructor above, by `super()` or by the name of a base."""
    if is_super_call(call, "__init__"):
        return True
    function = call.func
    bases = {ast.unparse(base) for base in owner.bases}
    return isinstance(function, ast.Attribute) and function.attr == "__init__" and ast.unparse(function.value) in bases


def _property(node: ast.expr | None) -> ast.expr | None:
    """What `property(lambda self: value)` gives back."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id != "property":
        return None
    given = node.args[0] if len(node.args) == 1 else None
    return given.body if isinstance(given, ast.Lambda) else node


def _is_plain_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == FLAG and not isinstance(node.ctx, ast.Load)


def _pairs(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """What an assignment sets to what, side by side in tuples; None stands for what is not seen."""
    if isinstance(node, ast.AnnAssign) and node.value is None:
        return
    for target in targets_of(node):
        value = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
        if not isinstance(target, ast.Tuple | ast.List):
            yield target, value
        elif isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts):
            yield from zip(target.elts, value.elts, strict=True)
        else:
            yield from ((each, None) for each in target.elts)


def _set_by(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr | None]]:
    """The owners on which a statement sets the flag, with its value."""
    for target, value in _pairs(node):
        if isinstance(target, ast.Attribute) and target.attr in NAMES:
            yield target.value, value
    call = node.value if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) else None
    if call is None or call.keywords:
        return
    function = call.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    given: list[ast.expr] = list(call.args)
    if name == "__setattr__" and isinstance(function, ast.Attribute) and len(given) == 2:
        owner: ast.expr = function.value
        given.insert(0, ast.Name("self", ast.Load()) if is_super_call(call, "__setattr__") else owner)
    if name in ("setattr", "__setattr__") and len(given) == 3:
        named = given[1]
        if isinstance(named, ast.Constant) and named.value in NAMES:
            yield given[0], given[2]
