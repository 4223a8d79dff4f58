"""What the names of a function may stand for where they are used, whatever the way through it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.code.nodes import walk
from codemods.code.syntax import Function, self_name
from codemods.rewrite.manual.optimizers import NotPlain

CHANGES = frozenset({"insert", "pop", "remove", "clear", "update", "setdefault", "reverse", "sort"})
HARMLESS = frozenset({"len", "enumerate", "zip", "range", "print", "list", "tuple", "isinstance", "reversed"})
BLOCKS = (ast.If, ast.For, ast.While, ast.Try, ast.Match)


@dataclass(frozen=True)
class StatementPosition:
    """Where a statement stands: how many are before it, and the blocks around it, outermost first."""

    order: int
    blocks: tuple[int, ...]


@dataclass(frozen=True)
class ValueBinding:
    """A value that a name is bound to, or, where `added`, a list that its list is lengthened by."""

    value: ast.expr
    place: StatementPosition
    added: bool = False


@dataclass(frozen=True)
class Items:
    """The elements of a list; `fixed` where there are neither fewer nor more, `bound` where there are no more."""

    items: tuple[ast.expr, ...]
    fixed: bool = True
    bound: bool = True

    @property
    def count(self) -> int | None:
        return len(self.items) if self.fixed else None

    @property
    def most(self) -> int | None:
        return len(self.items) if self.bound else None


class Bindings:
    """The assignments of a function, and what each name is by them."""

    def __init__(self, function: Function) -> None:
        self.this = self_name(function)
        self.bound: dict[str, list[ValueBinding]] = {}
        self.spoiled: set[str] = set()
        self.handed: dict[str, list[int]] = {}
        self.places: dict[ast.AST, StatementPosition] = {}
        self.loops = {id(node.body) for node in walk(function) if isinstance(node, ast.For | ast.While)}
        self.calls_own: set[int] = set()
        self._following: list[ast.Name] = []
        for order, (node, blocks) in enumerate(_statements(function.body, ())):
            place = StatementPosition(order, blocks)
            self.places.update(dict.fromkeys(_expressions(node), place))
            self._note(node, place)
            for name in (name for inner in _expressions(node) for name in _handed(inner)):
                self.handed.setdefault(name, []).append(order)
            if any(self._may_set(inner) for inner in _expressions(node)):
                self.calls_own.add(order)
        for inner in walk(function):
            self.spoiled |= set(_changed(inner))

    def _note(self, node: ast.stmt, place: StatementPosition) -> None:
        if isinstance(node, ast.Assign):
            for target in node.targets:
                self._bind(target, node.value, place)
        elif isinstance(node, ast.AnnAssign) and node.value:
            self._bind(node.target, node.value, place)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            self._keep(node.target.id, ValueBinding(node.value, place, added=True))
        elif isinstance(node, ast.For):
            self.spoiled |= {item.id for item in walk(node.target) if isinstance(item, ast.Name)}
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            call = node.value
            if isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name) and len(call.args) == 1:
                if call.func.attr == "append":
                    one = ast.List([call.args[0]], ast.Load())
                    self._keep(call.func.value.id, ValueBinding(one, place, added=True))
                elif call.func.attr == "extend":
                    self._keep(call.func.value.id, ValueBinding(call.args[0], place, added=True))

    def _bind(self, target: ast.expr, value: ast.expr, place: StatementPosition) -> None:
        if isinstance(target, ast.Name):
            self._keep(target.id, ValueBinding(value, place))
        elif isinstance(target, ast.Attribute) and self._is_own(target):
            self._keep(f"{self.this}.{target.attr}", ValueBinding(value, place))
        elif isinstance(target, ast.Tuple | ast.List):
            parts = value.elts if isinstance(value, ast.Tuple | ast.List) else []
            paired = len(parts) == len(target.elts)
            for index, element in enumerate(target.elts):
                self._bind(element, parts[index] if paired else value, place)

    def _keep(self, name: str, binding: ValueBinding) -> None:
        self.bound.setdefault(name, []).append(binding)

    def _is_own(self, node: ast.Attribute) -> bool:
        return isinstance(node.value, ast.Name) and node.value.id == self.this

    def _may_set(self, node: ast.AST) -> bool:
        """Whether a node calls a method of the object, or hands the object itself to something."""
        if not isinstance(node, ast.Call):
            return False
        own = isinstance(node.func, ast.Attribute) and self._is_own(node.func)
        given = (*node.args, *(keyword.value for keyword in node.keywords))
        return own or any(isinstance(item, ast.Name) and item.id == self.this for item in given)

    def put_on(self, node: ast.Attribute) -> list[ast.expr]:
        """What an attribute of the object may hold where it is read, where the function itself puts it there on every
        way to it, and nothing in between could put another there; else nothing."""
        place = self.places.get(node)
        if place is None or not self._is_own(node):
            return []
        found: list[ValueBinding] = []
        for binding in self.bound.get(f"{self.this}.{node.attr}", []):
            if binding.place.order >= place.order:
                continue
            if place.blocks[: len(binding.place.blocks)] == binding.place.blocks:
                found = [binding]
            elif found:
                found.append(binding)
        since = range(found[0].place.order + 1, place.order) if found else range(0)
        return [] if self.calls_own & {*since} else [binding.value for binding in found]

    def reaching(self, node: ast.Name) -> list[ValueBinding]:
        """What may have been bound or added to a name where it is used: whatever stands before it, from the last
        binding on that no way around leads past."""
        place = self.places.get(node, StatementPosition(-1, ()))
        found: list[ValueBinding] = []
        for binding in self.bound.get(node.id, []):
            if binding.place.order >= place.order:
                continue
            sure = place.blocks[: len(binding.place.blocks)] == binding.place.blocks
            if sure and not binding.added:
                found = []
            found.append(binding)
        return found

    def choices(self, node: ast.expr) -> list[ast.expr]:
        """The expressions that are not names which a node may stand for."""
        if isinstance(node, ast.IfExp):
            return [*self.choices(node.body), *self.choices(node.orelse)]
        if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            held = self.items(node.value)
            if held is None:
                return [node]
            return [choice for item in held.items for choice in self.choices(item)]
        if isinstance(node, ast.Attribute) and (put := self.put_on(node)):
            return [choice for value in put for choice in self.choices(value)]
        if not isinstance(node, ast.Name):
            return [node]
        values = [binding.value for binding in self.reaching(node) if not binding.added]
        if not values or node.id in self.spoiled or node in self._following:
            raise NotPlain(f"configure_optimizers uses `{node.id}`, and fixer cannot tell what it is")
        self._following.append(node)
        found = [choice for value in values for choice in self.choices(value)]
        self._following.pop()
        return found

    def items(self, node: ast.expr) -> Items | None:
        """The elements of a list or tuple, None where the node is none."""
        if isinstance(node, ast.List | ast.Tuple):
            if any(isinstance(element, ast.Starred) for element in node.elts):
                raise NotPlain("configure_optimizers unpacks a list into another")
            return Items(tuple(node.elts))
        if isinstance(node, ast.ListComp):
            return Items((node.elt,), fixed=False, bound=False)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
            return self._joined([self.items(node.left), self.items(node.right)])
        if not isinstance(node, ast.Name):
            return None
        bindings = self.reaching(node)
        values = [self.items(binding.value) for binding in bindings if not binding.added]
        if not values or None in values:
            return None
        place = self.places[node]
        since = range(bindings[0].place.order + 1, place.order)
        if node.id in self.spoiled or any(order in since for order in self.handed.get(node.id, [])):
            raise NotPlain(f"configure_optimizers may change `{node.id}` in a way that fixer cannot follow")
        here = place.blocks
        held = self._joined([*values, *(self.items(binding.value) for binding in bindings if binding.added)])
        steady = len(values) == 1 and all(binding.place.blocks == here for binding in bindings if binding.added)
        once = not any(self.loops & {*binding.place.blocks} - {*here} for binding in bindings)
        return Items(held.items, held.fixed and steady, held.bound and once) if held else None

    def _joined(self, parts: list[Items | None]) -> Items | None:
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        items = tuple(item for part in known for item in part.items)
        return Items(items, all(part.fixed for part in known), all(part.bound for part in known))


def _statements(body: list[ast.stmt], blocks: tuple[int, ...]) -> Iterator[tuple[ast.stmt, tuple[int, ...]]]:
    """The statements of a function itself, and the blocks around each that may run never or more than once."""
    for node in body:
        yield node, blocks
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for field in ("body", "orelse", "finalbody"):
            inner = getattr(node, field, [])
            if inner:
                yield from _statements(inner, (*blocks, id(inner)) if isinstance(node, BLOCKS) else blocks)
        for part in [*getattr(node, "handlers", []), *getattr(node, "cases", [])]:
            yield from _statements(part.body, (*blocks, id(part)))


def _expressions(node: ast.stmt) -> Iterator[ast.AST]:
    """The nodes of a statement itself, without those of statements inside it."""
    stack: list[ast.AST] = [node]
    while stack:
        inner = stack.pop()
        yield inner
        stack.extend(
            child
            for child in ast.iter_child_nodes(inner)
            if not isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case)
        )


def _changed(node: ast.AST) -> Iterator[str]:
    """The names that a node changes, or hands to something that may."""
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load) and isinstance(node.value, ast.Name):
        yield node.value.id
    elif isinstance(node, ast.NamedExpr):
        yield node.target.id
    elif isinstance(node, ast.withitem) and isinstance(node.optional_vars, ast.Name):
        yield node.optional_vars.id
    elif isinstance(node, ast.comprehension):
        yield from (item.id for item in walk(node.target) if isinstance(item, ast.Name))
    elif (
        isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in CHANGES
        and isinstance(node.func.value, ast.Name)
    ):
        yield node.func.value.id


def _handed(node: ast.AST) -> Iterator[str]:
    """The names that a node hands to a function or method, which may change what they stand for."""
    if isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id in HARMLESS):
        for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
            if isinstance(argument, ast.Name):
                yield argument.id
