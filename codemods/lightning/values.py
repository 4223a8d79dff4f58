"""The constants that an expression may be, followed through names, parameters, classes and files."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from codemods.code.calls import last_name
from codemods.code.literals import literal
from codemods.code.nodes import walk
from codemods.code.none_tests import left_out
from codemods.code.reaching import PARAMETER, Definition, definitions, narrowed, reaching
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, is_self_attribute, own_nodes, self_assignments, self_name, takes
from codemods.lightning.attribute_stores import is_open, is_rebound, is_stored, stores_by_name
from codemods.lightning.called_values import asked_of, given_back, handed_out, offered_to, returned
from codemods.lightning.callers import Callers, called_name
from codemods.lightning.computed import kind_of_computed, kind_of_literal
from codemods.lightning.declared_names import default_of_option, found_under
from codemods.lightning.facts import Facts
from codemods.lightning.parameters import default_of_parameter
from codemods.lightning.reexports import starred
from codemods.lightning.subclass_members import bound_below

DEEPEST = 6
"""So many names are followed, each to the next."""
STEPS = 200
"""So many expressions are looked at for one answer."""
WHOLE = r"\b(?:exec|globals)\("
"""What may bind any name of a module."""
WHOLE_HOLDERS = frozenset(
    {"create", "EasyDict", "edict", "Munch", "munchify", "AttrDict", "DotMap", "ConfigDict", "Box", "Dict"}
)
"""What makes an object of the dictionary that it is given."""
Within = tuple[ast.AST, ...]
Place = tuple[PythonFile, Within, ast.expr]


@dataclass(frozen=True)
class Constant:
    """A literal that an expression may be, and the place where it is written."""

    node: ast.expr
    where: str


@dataclass(frozen=True)
class Constants:
    """The constants that an expression may be. `unknown` says why it may be something else too (None: these are all),
    `called` whether that takes the calls that the project holds for all there are. `made` are the kinds of what else it
    may be, which the program works out; none where that is not told."""

    found: tuple[Constant, ...] = ()
    unknown: str | None = None
    called: bool = False
    made: frozenset[str] = frozenset()

    @property
    def kinds(self) -> frozenset[str]:
        """The kinds of all that the expression may be; `?` for what is not told."""
        return self.others | {kind_of_literal(item.node) for item in self.found}

    @property
    def others(self) -> frozenset[str]:
        """The kinds of what it may be besides the constants."""
        return self.made or frozenset({"?"} if self.unknown else ())


def constants_of(facts: Facts, file: PythonFile, within: Within, node: ast.expr) -> Constants:
    """What an expression of a file that stands within some functions and classes may be."""
    return _LiteralReader(facts, file).read(file, within, node, 0)


def _union(every: Iterable[Constants]) -> Constants:
    found: dict[str, Constant] = {}
    unknown, called, some, made = None, False, False, frozenset[str]()
    for each in every:
        some = True
        made |= each.others
        for item in each.found:
            found.setdefault(ast.dump(item.node), item)
        unknown, called = unknown or each.unknown, called or each.called
    known = tuple(sorted(found.values(), key=lambda item: (item.where, ast.dump(item.node))))
    return Constants(known, unknown if some else "fixer finds no assignment of it", called, made)


class _LiteralReader:
    """Follows one expression of a file, which may be newer than the facts; `left` are the steps that it may still
    take."""

    def __init__(self, facts: Facts, file: PythonFile) -> None:
        self.facts, self.file, self.left = facts, file, STEPS
        self.callers = Callers(facts, file, self.open)

    def open(self, path: str) -> PythonFile | None:
        return self.file if path == self.file.path else self.facts.open(path)

    def read(self, file: PythonFile, within: Within, node: ast.expr, depth: int) -> Constants:
        self.left -= 1
        if depth > DEEPEST or self.left < 0:
            return Constants(unknown="fixer does not follow it further")
        if literal(node)[0]:
            changing = isinstance(node, ast.List | ast.Dict | ast.Set) and depth > 0
            why = "its value may change before it is used" if changing else None
            return Constants((Constant(node, f"{file.path}:{node.lineno}"),), why)
        if isinstance(node, ast.IfExp):
            arms = [(self.read(file, within, arm, depth + 1), left_out(node, arm)) for arm in (node.body, node.orelse)]
            return _union(one if gone is None else _but(one, falsy=gone) for one, gone in arms)
        if isinstance(node, ast.BoolOp):
            parts = [self.read(file, within, part, depth + 1) for part in node.values]
            if isinstance(node.op, ast.Or):
                parts = [*(_but(part, falsy=True) for part in parts[:-1]), parts[-1]]
            return _union(parts)
        if isinstance(node, ast.NamedExpr):
            return self.read(file, within, node.value, depth + 1)
        if isinstance(node, ast.Name):
            return self._of_name(file, within, node, depth)
        if isinstance(node, ast.Attribute):
            return self._of_attribute(file, within, node, depth)
        if isinstance(node, ast.Subscript) and (found := self._of_item(file, within, node, depth)):
            return found
        if isinstance(node, ast.Call) and (found := self._of_call(file, within, node, depth)):
            return found
        kind = kind_of_computed(file.scope_within(within), node)
        made = frozenset({kind}) - {"?"}
        return Constants(unknown=f"`{ast.unparse(node)[:60]}` is computed when the program runs", made=made)

    def _of_name(self, file: PythonFile, within: Within, use: ast.Name, depth: int) -> Constants:
        name = use.id
        for index in range(len(within) - 1, -1, -1):
            space, inner = within[index], index < len(within) - 1
            if not isinstance(space, Function):
                if not inner:
                    return Constants(unknown=f"`{name}` is read in the body of a class")
                continue
            if takes(space, name):
                if definitions(space, name):
                    return self._of_bound_again(file, within[: index + 1], None if inner else use, name, depth)
                given = self._of_parameter(file, within[: index + 1], name, depth)
                seen = Definition(PARAMETER) if inner else narrowed(space, name, use)
                return _but(given, falsy=seen.true) if seen.some else given
            if definitions(space, name) and not _is_declared(space, name):
                return self._of_space(file, within[: index + 1], space, None if inner else use, name, depth)
        if definitions(file.tree, name) and name not in _imported(file):
            found = self._of_space(file, (), file.tree, None if within else use, name, depth)
            return self._closed(found, file, name)
        brought = name not in file.scope.bindings and not _is_shared(file, name)
        star = starred(self.facts, file, name) if brought else None
        dotted = f"{star}.{name}" if star else file.scope.lookup(name)
        return (
            self._of_dotted(file, dotted, depth)
            if dotted
            else Constants(unknown=f"`{name}` is assigned where fixer cannot see it")
        )

    def _of_bound_again(
        self, file: PythonFile, within: Within, use: ast.Name | None, name: str, depth: int
    ) -> Constants:
        """The constants of a parameter that its function binds again, as `value = value or 3`."""
        if use is None:
            return Constants(unknown=f"`{name}` is a parameter, and is assigned again")
        function: Any = within[-1]
        every = []
        for item in reaching(function, name, use, frozenset({Definition(PARAMETER)})):
            if item.value is PARAMETER:
                one = self._of_parameter(file, within, name, depth + 1)
            elif item.value is None:
                one = Constants(unknown=f"`{name}` is also set by something other than an assignment")
            else:
                one = self.read(file, within, item.value, depth + 1)
            every.append(_but(one, falsy=item.true) if item.some or item.true else one)
        return _union(every)

    def _of_space(
        self, file: PythonFile, within: Within, space: Any, use: ast.Name | None, name: str, depth: int
    ) -> Constants:
        """What the definitions of a space that reach a reading of a name, or the end of the space, make of it."""
        every = []
        for item in reaching(space, name, use):
            if item.value is None:
                every.append(Constants(unknown=f"`{name}` is also set by something other than an assignment"))
            else:
                one = self.read(file, within, item.value, depth + 1)
                every.append(_but(one, falsy=item.true) if item.some or item.true else one)
        several = use is None and len(definitions(space, name)) > 1
        if several or any(isinstance(node, ast.Nonlocal) and name in node.names for node in walk(space)):
            every.append(Constants(unknown=f"`{name}` is assigned more than once"))
        return _union(every)

    def _closed(self, found: Constants, file: PythonFile, name: str) -> Constants:
        """The constants of a name of a module, which functions and other files may bind too."""
        first = min((item.value.lineno if item.value else 0 for item in definitions(file.tree, name)), default=0)
        stars = (node.lineno for node in file.imports if any(item.name == "*" for item in node.names))
        stored = is_stored(self.facts, self.open, name) or is_rebound(self.facts, file.path, name)
        if _is_shared(file, name) or stored or any(line > first for line in stars):
            return Constants(found.found, f"`{name}` may be assigned elsewhere", found.called)
        return found

    def _of_parameter(self, file: PythonFile, within: Within, name: str, depth: int) -> Constants:
        function = within[-1]
        assert isinstance(function, Function)
        default = default_of_parameter(function.args, name)
        outer = [self.read(file, within[:-1], default, depth + 1)] if default is not None else []
        given = [
            *(self.read(*place, depth + 1) for place in offered_to(self.facts, file, within, name)),
            *self._given(file, within, name, depth),
        ]
        if not given:
            given = [Constants(unknown=f"fixer finds no call of `{function.name}`")]
        return _union([*outer, *given, Constants(called=True)])

    def _given(self, file: PythonFile, within: Within, name: str, depth: int) -> Iterator[Constants]:
        """What each call gives a parameter; an unknown one where not all uses of the function are calls that are
        seen."""
        function: ast.FunctionDef | ast.AsyncFunctionDef = within[-1]  # type: ignore[assignment]
        owner = within[-2] if len(within) > 1 else None
        if function.decorator_list or (owner is not None and not isinstance(owner, ast.ClassDef)):
            yield Constants(unknown=f"fixer cannot tell who calls `{function.name}`")
            return
        if path := self.callers.configured(called_name(function, owner)):
            yield Constants(unknown=f"`{called_name(function, owner)}` may be called as {path} says")
        for other, use, call, value in self.callers.given(file, within, name):
            if call is None:
                yield Constants(unknown=f"`{called_name(function, owner)}` is passed on ({other.path}:{use.lineno})")
            elif value is None:
                yield Constants(unknown=f"fixer cannot tell what a call gives ({other.path}:{use.lineno})")
            elif isinstance(value, ast.expr):
                yield self.read(other, call.within, value, depth + 1)
            else:
                yield Constants(called=True)

    def _of_attribute(self, file: PythonFile, within: Within, node: ast.Attribute, depth: int) -> Constants:
        function = next((item for item in reversed(within) if isinstance(item, Function)), None)
        owner = within[within.index(function) - 1] if function in within[1:] else None
        if (
            function is not None
            and isinstance(owner, ast.ClassDef)
            and isinstance(node.value, ast.Name)
            and node.value.id == self_name(function)
        ):
            item = next((each for each in file.classes if each.node is owner), None)
            return (
                self._of_self(file, item, node.attr, depth)
                if item
                else Constants(unknown="fixer cannot tell its class")
            )
        dotted = file.scope_within(within).resolve(node)
        option = default_of_option(file, node.attr) if dotted is None and isinstance(node.value, ast.Name) else None
        if option is not None:
            found = self.read(file, (), option, depth + 1)
            return Constants(found.found, f"`--{node.attr}` may set another value", found.called)
        known = self._of_dotted(file, dotted, depth) if dotted is not None else None
        if known is not None and known.found:
            return known
        held = self._held(file, within, node.value, ast.Constant(node.attr), depth)
        named = self._by_name(node, node.attr)
        return held or (named if named.found else known) or named

    def _of_dotted(self, file: PythonFile, dotted: str, depth: int) -> Constants:
        """The constants of a name of a module of the project, or of a class there."""
        module, _, name = dotted.rpartition(".")
        home = file if module == file.module else None
        if home is None and module and (path := self.facts.path_of(module, file.path)):
            home = self.open(path)
        if home is not None:
            if definitions(home.tree, name) and name not in _imported(home):
                return self._closed(self._of_space(home, (), home.tree, None, name, depth), home, name)
            again = home.scope.bindings.get(name, frozenset())
            if home is not file and len(again) == 1 and dotted not in again and depth < DEEPEST:
                return self._of_dotted(home, min(again), depth + 1)
            return Constants(unknown=f"`{dotted}` is not a constant")
        found = self._class(file, module)
        return self._of_class(*found, name, depth) if found else Constants(unknown=f"fixer cannot find `{dotted}`")

    def _class(self, file: PythonFile, dotted: str) -> tuple[PythonFile, ClassNode] | None:
        module, _, name = dotted.rpartition(".")
        if module == file.module:
            return next(((file, item) for item in file.classes if item.qualname == name), None)
        return self.facts.find_opened(dotted, file.path) if module else None

    def _of_class(self, file: PythonFile, item: ClassNode, name: str, depth: int) -> Constants:
        if not definitions(item.node, name):
            return Constants(unknown=f"`{item.qualname}.{name}` is not assigned in the class itself")
        found = self._of_space(file, (), item.node, None, name, depth)
        if is_stored(self.facts, self.open, name, ()) or stores_by_name(self.facts, file, item):
            return Constants(found.found, f"`.{name}` may be set elsewhere", found.called)
        return found

    def _of_self(self, file: PythonFile, item: ClassNode, name: str, depth: int) -> Constants:
        """What the methods and the body of a class put on an attribute."""
        every, plain = [], set()
        for method in item.methods.values():
            for node in own_nodes(method):
                if isinstance(node, ast.Assign) and len(node.targets) == 1:
                    target = node.targets[0]
                elif isinstance(node, ast.AnnAssign) and node.value is not None:
                    target = node.target
                else:
                    continue
                if is_self_attribute(target, name, self_name(method)) and node.value is not None:
                    plain.add((target.lineno, target.col_offset))
                    every.append(self.read(file, (item.node, method), node.value, depth + 1))
        if definitions(item.node, name):
            every.append(self._of_space(file, (), item.node, None, name, depth))
        if name in item.methods:
            given = given_back(file, (item.node,), item.methods[name])
            found = _union(self.read(*place, depth + 1) for place in given)
            return Constants(found.found, f"`{name}` is worked out by a method")
        found = _union(every)
        if item.node.bases and not every:
            return self._of_base(file, item, name, depth)
        if below := bound_below(self.facts, (file.path, item.qualname.rpartition(".")[2]), {name}):
            return Constants(found.found, f"`{below}`, a subclass, has its own `{name}`", found.called)
        places = {(file.path, *place) for place in plain}
        if is_stored(self.facts, self.open, name, places) or is_open(self.facts, file, item):
            return Constants(found.found, found.unknown or f"`.{name}` may be set elsewhere", found.called)
        return found

    def _of_base(self, file: PythonFile, item: ClassNode, name: str, depth: int) -> Constants:
        """What the nearest class above one, of the project, puts on an attribute."""
        why = f"`self.{name}` comes from a base of the class"
        fact = self.facts.find_class(f"{file.module}.{item.qualname}", file.path) if depth < DEEPEST else None
        for above in self.facts.ancestry(fact)[1:] if fact else ():
            home = self.open(above.path)
            base = next((each for each in home.classes if each.qualname == above.name), None) if home else None
            found = self._of_self(home, base, name, DEEPEST - 1) if home and base else None
            if found and found.found:
                return Constants(found.found, why)
        return Constants(unknown=why)

    def _held(self, file: PythonFile, within: Within, owner: ast.expr, key: ast.expr, depth: int) -> Constants | None:
        """What the dictionaries, objects and classes that an expression may stand for were made with under a key, which
        may be something else since."""
        name = literal(key)[1]
        if not isinstance(name, str):
            return None
        holders = self._holders(file, within, owner, depth)
        constants = _union(found for holder in holders if (found := self._under(*holder, name, depth + 1)))
        why = f"`{ast.unparse(owner)}` may hold something else by then"
        return Constants(constants.found, why) if constants.found else None

    def _of_item(self, file: PythonFile, within: Within, node: ast.Subscript, depth: int) -> Constants | None:
        """What an item of something may be: of one that is worked out, any."""
        known, key = literal(node.slice)
        if not known:
            holders = self._holders(file, within, node.value, depth)
            every = [place for holder in holders for place in _every_item(holder)]
            found = _union(self.read(*place, depth + 1) for place in every)
            return Constants(found.found, f"`{ast.unparse(node)[:60]}` may be another") if found.found else None
        held = self._held(file, within, node.value, node.slice, depth)
        return held or (self._by_name(node, key) if isinstance(key, str) else None)

    def _of_call(self, file: PythonFile, within: Within, call: ast.Call, depth: int) -> Constants | None:
        """What a call may give back: of what it is given, of what it is asked of, or of what a function returns."""
        places = [*((file, within, item) for item in handed_out(call)), *returned(self.facts, file, within, call)]
        every = [self.read(*place, depth + 1) for place in places]
        if asked := asked_of(call):
            owner, key = asked
            item = ast.copy_location(ast.Subscript(owner, key, ast.Load()), call)
            every += [found] if (found := self._of_item(file, within, item, depth + 1)) else []
        kept = _union(every)
        why = f"`{ast.unparse(call)[:60]}` may give something else"
        return Constants(kept.found, why) if kept.found else None

    def _holders(self, file: PythonFile, within: Within, node: ast.expr, depth: int) -> Iterator[Place]:
        """The dictionaries, calls and classes that an expression may stand for."""
        self.left -= 1
        if depth > DEEPEST or self.left < 0:
            return
        if isinstance(node, ast.Subscript | ast.Attribute):
            key = node.attr if isinstance(node, ast.Attribute) else literal(node.slice)[1]
            found = [
                (home, inside, value)
                for home, inside, holder in self._holders(file, within, node.value, depth + 1)
                for value in _values_at(holder, key)
            ]
            for place in found:
                yield from self._holders(*place, depth + 1)
            for place in self._kept(file, within, node) if isinstance(node, ast.Attribute) else ():
                found.append(place)
                yield from self._holders(*place, depth + 1)
            if isinstance(node, ast.Attribute) and not found:
                yield file, within, node
            return
        if not isinstance(node, ast.Name):
            yield file, within, node
            return
        functions = [index for index, item in enumerate(within) if isinstance(item, Function)]
        space: Any = within[functions[-1]] if functions else file.tree
        if functions and takes(space, node.id) and not definitions(space, node.id):
            for other, _, call, given in self.callers.given(file, within[: functions[-1] + 1], node.id):
                if call is not None and isinstance(given, ast.expr):
                    yield from self._holders(other, call.within, given, depth + 1)
            return
        made = definitions(space, node.id) or definitions(file.tree, node.id)
        values = [item.value for item in made if item.value is not None]
        for value in values:
            yield from self._holders(file, within, value, depth + 1)
        if not values:
            yield from self._imported_holders(file, within, node, depth)

    def _kept(self, file: PythonFile, within: Within, node: ast.Attribute) -> Iterator[Place]:
        """What the methods of the class around put on `self.name`."""
        item = next((each for each in file.classes if each.node in within), None)
        for method in item.methods.values() if item else ():
            if item and isinstance(node.value, ast.Name) and node.value.id == self_name(method):
                values = (line.value for line in self_assignments(method, node.attr))
                yield from ((file, (item.node, method), value) for value in values if value is not None)

    def _imported_holders(self, file: PythonFile, within: Within, node: ast.Name, depth: int) -> Iterator[Place]:
        """The same of a name that a file imports, or has for a class."""
        dotted = file.scope_within(within).resolve(node) or ""
        module, _, name = dotted.rpartition(".")
        path = self.facts.path_of(module, file.path) if module and module != file.module else None
        home = self.open(path) if path else None
        made = definitions(home.tree, name) if home else []
        for item in made:
            if home is not None and item.value is not None:
                yield from self._holders(home, (), item.value, depth + 1)
        if not made:
            yield file, within, node

    def _under(self, file: PythonFile, within: Within, holder: ast.expr, name: str, depth: int) -> Constants | None:
        """What a dictionary, an object that a call makes, or a class has under a name."""
        values = _values_at(holder, name)
        if values:
            return _union(self.read(file, within, value, depth) for value in values)
        made = holder.func if isinstance(holder, ast.Call) else holder
        found = self._class(file, file.scope_within(within).resolve(made) or "")
        if found is None:
            return None
        return self._of_self(*found, name, depth) if made is not holder else self._of_class(*found, name, depth)

    def _by_name(self, node: ast.expr, name: str) -> Constants:
        """What the project puts under the name that is read of something which is not followed, whosever it is."""
        found = tuple(Constant(value, where) for value, where in found_under(self.facts, self.open, node, name).items())
        return Constants(found, f"fixer does not follow `{ast.unparse(node)[:60]}`")


def _every_item(holder: Place) -> Iterator[Place]:
    """What a dictionary, list or tuple that is written out holds."""
    file, within, node = holder
    values = node.values if isinstance(node, ast.Dict) else getattr(node, "elts", ())
    yield from ((file, within, value) for value in values)


def _values_at(holder: ast.expr, name: Any) -> list[ast.expr]:
    """What a dictionary that is written out, or what a call is given by name or in one, has under a name."""
    if isinstance(holder, ast.Call):
        given = [item.value for item in holder.keywords if item.arg == name]
        whole = holder.args if last_name(holder.func) in WHOLE_HOLDERS else []
        return given + [value for item in whole if isinstance(item, ast.Dict) for value in _values_at(item, name)]
    if not isinstance(holder, ast.Dict):
        return []
    pairs = zip(holder.keys, holder.values, strict=True)
    return [value for key, value in pairs if key is not None and literal(key) == (True, name)]


def _but(found: Constants, falsy: bool) -> Constants:
    """The constants without None, or without all that counts as false."""
    kept = tuple(
        item for item in found.found if (literal(item.node)[1] if falsy else literal(item.node)[1] is not None)
    )
    return Constants(kept, found.unknown, found.called, found.made)


def _imported(file: PythonFile) -> set[str]:
    """The names that a module imports."""
    return {alias.asname or alias.name.split(".")[0] for node in file.imports for alias in node.names}


def _is_shared(file: PythonFile, name: str) -> bool:
    """Whether functions of a module may bind a name of it."""
    return re.search(rf"^\s*global\b.*\b{name}\b|{WHOLE}", file.text, re.MULTILINE) is not None


def _is_declared(space: ast.AST, name: str) -> bool:
    """Whether a function says that a name is the module's or of a function around it."""
    return any(isinstance(node, ast.Global | ast.Nonlocal) and name in node.names for node in own_nodes(space))
