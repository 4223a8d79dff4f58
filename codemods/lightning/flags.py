"""What a class itself says of automatic optimization, in whatever spelling: a summary that other files can be told."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace

from codemods.code.nodes import every_node, walk
from codemods.code.reaching import PARAMETER, Definition, definitions, reaching
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, is_super_call, returns, self_name, takes
from codemods.lightning.flag_flow import FlagFlow
from codemods.lightning.flag_values import (
    FLAG,
    NAMES,
    NOTHING,
    OFF,
    ON,
    UNSURE,
    Values,
    opposite,
    pairs,
    says,
    set_by,
)
from codemods.lightning.parameters import with_defaults

STEP, BACKWARD = "training_step", "manual_backward"
_PROPERTIES = ("property", "cached_property", "functools.cached_property")


@dataclass(frozen=True)
class FlagSummary:
    """What a class says. `body` is what its body makes of the flag, `fixed` that it is a property, which no instance
    changes; `built` is what its constructor leaves behind `super().__init__`, `before` what it sets in front of that,
    where it is lost; `calls` says how that is called (`super`, `base` by the name of the only base, `other`); `handed`
    what it gives the constructor above, and `open` whether more goes there unseen; `defaults` are those of its own
    parameters. `setters` are its methods that set the flag or call others, where they were `read`, `methods` all it
    has; `constants` the names of the module that it reads, `private` whether its file says the name that Lightning
    keeps the flag by, `asks` whether a method of it reads the flag, and so may do as either wants, `by_hand` whether
    its step goes backward by `manual_backward` whatever stands in front of that, which fails where the flag is on."""

    body: Values | None = None
    fixed: bool = False
    built: Values | None = None
    before: Values = frozenset()
    calls: frozenset[str] = frozenset()
    handed: tuple[tuple[str | int, Values], ...] = ()
    open: bool = False
    parameters: tuple[str, ...] = ()
    defaults: tuple[tuple[str, Values], ...] = ()
    setters: tuple[tuple[str, Values], ...] = ()
    read: bool = False
    methods: frozenset[str] = frozenset()
    constants: frozenset[str] = frozenset()
    private: bool = False
    asks: bool = False
    by_hand: bool = False

    @property
    def says(self) -> bool:
        """Whether it speaks of the flag at all. That it calls methods says nothing: a method that sets the flag speaks
        of it itself."""
        made = [self.built or NOTHING, self.before, *(values for _, values in self.setters)]
        return self.body is not None or any(map(says, made))


def told(file: PythonFile, item: ClassNode) -> FlagSummary | None:
    """What a class of a file says; None where it has no constructor and does not speak of the flag. Two of one name
    speak as one, since that is how others know them."""
    found = _told(file, item)
    others = (other for other in file.classes if other.qualname == item.qualname and other is not item)
    if all(_told(file, other) == found for other in others):
        return found
    return FlagSummary(UNSURE, methods=frozenset(item.methods))


def _told(file: PythonFile, item: ClassNode) -> FlagSummary | None:
    known: dict[ast.ClassDef, FlagSummary | None] = file.memo.setdefault("flags.told", {})
    if item.node not in known:
        known[item.node] = _read_class(file, item)
    return known[item.node]


def _read_class(file: PythonFile, item: ClassNode) -> FlagSummary | None:
    init = item.methods.get("__init__")
    spoken = FLAG in file.text
    if init is None and not spoken:
        return None
    reader = _FlagReader(file, item, spoken)
    body, fixed = reader.body() if spoken else (None, False)
    made = FlagSummary(body, fixed, setters=tuple(reader.setters()), read=spoken, methods=frozenset(item.methods))
    made = reader.constructed(made, init) if init is not None else made
    asks = spoken and any(True for method in item.methods.values() for _ in _read(method))
    step = item.methods.get(STEP)
    by_hand = step is not None and _goes_backward(step.body, self_name(step))
    constants, private = frozenset(reader.constants), NAMES[1] in file.text
    return replace(made, constants=constants, private=private, asks=asks, by_hand=by_hand)


def _goes_backward(body: list[ast.stmt], this: str) -> bool:
    """Whether statements call `manual_backward` of the instance in any case."""
    for node in body:
        if isinstance(node, ast.With | ast.For):
            if _goes_backward(node.body, this):
                return True
        elif _is_backward(getattr(node, "value", None), this):
            return True
        if isinstance(node, ast.If | ast.Try | ast.While | ast.Match | ast.Return | ast.Raise):
            return False
    return False


def _is_backward(node: ast.AST | None, this: str) -> bool:
    function = node.func if isinstance(node, ast.Call) else None
    owner = function.value if isinstance(function, ast.Attribute) and function.attr == BACKWARD else None
    return isinstance(owner, ast.Name) and owner.id == this


@dataclass
class _FlagReader:
    """Reads a class of a file; `spoken` is whether that has the name of the flag at all."""

    file: PythonFile
    item: ClassNode
    spoken: bool
    constants: set[str] = field(default_factory=set)

    def body(self) -> tuple[Values | None, bool]:
        """What the body of the class makes of the flag, or the module does behind it, and whether that is a
        property."""
        found = NOTHING
        fixed = False
        for node in self.item.node.body:
            if isinstance(node, Function):
                if node.name == FLAG:
                    fixed = not any(isinstance(each, ast.Attribute) for each in node.decorator_list)
                    found = self._given_back(node) if fixed else UNSURE
                continue
            for target, value in pairs(node):
                if isinstance(target, ast.Name) and target.id == FLAG:
                    made = _property(value)
                    fixed, found = made is not None, self._value(made or value, None)
            bare = isinstance(node, ast.ClassDef | ast.AnnAssign | ast.Assign)
            if not bare and any(_is_plain_name(each) for each in every_node(node)):
                found = UNSURE
        for node in self.file.tree.body:
            for owner, value in set_by(node):
                if isinstance(owner, ast.Name) and owner.id == self.item.qualname:
                    found, fixed = self._value(value, None), False
        return (None, False) if found == NOTHING else (found, fixed)

    def _given_back(self, function: Function) -> Values:
        kinds = [ast.unparse(each) for each in function.decorator_list]
        if kinds and kinds[0] not in _PROPERTIES:
            return UNSURE
        values = [node.value for node in returns(function)]
        whole = isinstance(function.body[-1], ast.Return)
        return _union(self._value(each, function) for each in values) if values and whole else UNSURE

    def setters(self) -> Iterator[tuple[str, Values]]:
        """The methods that set the flag, or call others, with what they make of it."""
        plain = (each for each in self.item.node.body if not isinstance(each, Function | ast.ClassDef))
        bound = {node.id for each in plain for node in walk(each) if isinstance(node, ast.Name)}
        for name, method in self.item.methods.items():
            if self.spoken and name not in ("__init__", FLAG):
                found = self._flow(method).run()
                if found != NOTHING:
                    yield name, UNSURE if name in bound and says(found) else found

    def _flow(self, function: Function) -> FlagFlow:
        return FlagFlow(function, self.item.node, lambda node: self._value(node, function), self.spoken)

    def constructed(self, made: FlagSummary, init: Function) -> FlagSummary:
        """What a class says with its constructor."""
        flow = self._flow(init)
        built = flow.run()
        names = [item.arg for item in [*init.args.posonlyargs, *init.args.args]][1:]
        defaults = tuple((given.arg, self._plain(value)) for given, value in with_defaults(init.args))
        values = dict(vars(made)) | {"built": built, "parameters": tuple(names), "defaults": defaults}
        values |= {"calls": frozenset({*flow.calls, *(["other"] if len(flow.above) > 1 else [])})}
        for before, call in flow.above[:1]:
            spread = any(item.arg is None for item in call.keywords)
            values |= {
                "before": before - NOTHING,
                "handed": tuple(self._handed(call, init)),
                "open": spread or any(isinstance(item, ast.Starred) for item in call.args),
            }
        return FlagSummary(**values)

    def _handed(self, call: ast.Call, init: Function) -> Iterator[tuple[str | int, Values]]:
        first = 0 if is_super_call(call, "__init__") else 1
        yield from ((index, self._value(item, init)) for index, item in enumerate(call.args[first:]))
        yield from ((item.arg, self._value(item.value, init)) for item in call.keywords if item.arg)

    def _plain(self, node: ast.expr) -> Values:
        return self._value(node, None) if isinstance(node, ast.Constant) else UNSURE

    def _value(self, node: ast.expr | None, function: Function | None, depth: int = 0) -> Values:
        """What an expression of a method, or of the body of the class, makes of the flag."""
        if isinstance(node, ast.Constant):
            return frozenset({ON if node.value else OFF})
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            return frozenset(map(opposite, self._value(node.operand, function, depth)))
        if isinstance(node, ast.IfExp):
            return _union(self._value(each, function, depth) for each in (node.body, node.orelse))
        if isinstance(node, ast.NamedExpr):
            return self._value(node.value, function, depth)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "bool" and node.args:
            return self._value(node.args[0], function, depth)
        return self._of_name(node, function, depth) if isinstance(node, ast.Name) and depth <= 3 else UNSURE

    def _of_name(self, node: ast.Name, function: Function | None, depth: int) -> Values:
        """What a name makes of the flag: a name of the function, one of its parameters, or a constant of the module."""
        name = node.id
        if function is not None:
            given = takes(function, name)
            if given or definitions(function, name):
                start = frozenset({Definition(PARAMETER)} if given else set[Definition]())
                found = [item.value for item in reaching(function, name, node, start, surely=True)]
                return _union(
                    self._of_parameter(function, name) if each is PARAMETER else self._value(each, function, depth + 1)
                    for each in found
                )
        elif definitions(self.item.node, name):
            return UNSURE
        bound = definitions(self.file.tree, name)
        shared = any(isinstance(each, ast.Global) and name in each.names for each in every_node(self.file.tree))
        if len(bound) != 1 or shared:
            return UNSURE
        self.constants.add(name)
        return self._value(bound[0].value, None, depth + 1)

    def _of_parameter(self, function: Function, name: str) -> Values:
        arguments = function.args
        plain = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
        known = function.name == "__init__" and any(item.arg == name for item in plain)
        return frozenset({f"={name}"}) if known else UNSURE


def _union(every: Iterable[Values]) -> Values:
    return frozenset[str]().union(*every) or UNSURE


def _property(node: ast.expr | None) -> ast.expr | None:
    """What `property(lambda self: value)` gives back."""
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.func.id != "property":
        return None
    given = node.args[0] if len(node.args) == 1 else None
    return given.body if isinstance(given, ast.Lambda) else node


def _read(method: Function) -> Iterator[ast.Attribute]:
    """The readings of the flag in a method."""
    for node in every_node(method):
        if isinstance(node, ast.Attribute) and node.attr in NAMES and isinstance(node.ctx, ast.Load):
            yield node


def _is_plain_name(node: ast.AST) -> bool:
    return isinstance(node, ast.Name) and node.id == FLAG and not isinstance(node.ctx, ast.Load)
