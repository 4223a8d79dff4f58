"""Names that may stand for Lightning's Trainer, or another class that is looked for: by a default, a choice, a partial,
a loop, an attribute of a class, a function that hands its `**` on to it, a call that gives it to a function."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.code.calls import last_name
from codemods.code.expressions import PARTIAL
from codemods.code.nodes import walk
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import Function, returns, taken, targets_of
from codemods.lightning.facts import Facts
from codemods.lightning.file_memo import memo_of
from codemods.lightning.iterated_values import parametrized
from codemods.lightning.parameters import with_defaults
from codemods.lightning.wanted import TRAINER_ALONE, WantedClasses

_SEVERAL = ast.Tuple | ast.List | ast.Set | ast.Dict
_CALLABLE = Function | ast.Lambda
_WRAPPING = frozenset({"staticmethod", "classmethod", PARTIAL})
_ASKING = frozenset({
    "isinstance", "issubclass", "getattr", "hasattr", "setattr", "print", "repr", "super", "type", "cast", "patch",
    "Mock", "MagicMock", "AsyncMock", "NonCallableMock", "create_autospec",
})  # fmt: skip
"""What is given a class and does not build one of it."""
_ROUNDS = 3
"""How often names are looked for that hold what another name holds."""
_UNNAMED = "<lambda>"
Within = tuple[ast.AST, ...]
_Held = tuple[str, str, ast.AST | None]
"""How something is held (`name`, `item` of a name, `attribute`, `result` of a call), under what name, and in which
function."""


def may_build(file: PythonFile, facts: Facts, call: CallNode, wanted: WantedClasses = TRAINER_ALONE) -> str | None:
    """How what a call may build a Trainer of is written, where that is seen and not proved."""
    function, known = call.node.func, _holders(file, facts, wanted)
    dotted, own = call.scope.resolve(function), ("attribute", _last(function), None)
    if dotted is None or dotted.rpartition(".")[0] == file.module:
        held = known.is_one(function, call.within)
    else:
        held = _is_held_by(facts, file, dotted, wanted) or (dotted.startswith(f"{file.module}.") and own in known.found)
    return file.source_of(function) if held else None


def is_given(file: PythonFile, facts: Facts, call: CallNode, wanted: WantedClasses = TRAINER_ALONE) -> bool:
    """Whether a call gives a function the class itself, or what may stand for it."""
    if _last(call.node.func) in _ASKING:
        return False
    known = _holders(file, facts, wanted)
    return any(known.is_one(value, call.within) for value in _values(call.node))


def _values(call: ast.Call) -> list[ast.expr]:
    return [*call.args, *(item.value for item in call.keywords if item.arg)]


def _last(node: ast.expr) -> str:
    return last_name(node) or _UNNAMED


def _is_held_by(facts: Facts, file: PythonFile, dotted: str, wanted: WantedClasses) -> bool:
    """Whether another module of the project may hold a Trainer by a dotted name."""
    module, _, name = dotted.rpartition(".")
    path = facts.path_of(module, file.path) if module and module != file.module else None
    home = facts.open(path) if path else None
    return home is not None and _holders(home, facts, wanted).holds("name", name, ())


def _holders(file: PythonFile, facts: Facts, wanted: WantedClasses) -> _Holders:
    """What may hold a Trainer that is not built yet."""
    memo, asked = memo_of(file, facts), f"held.{wanted.key}"
    if asked not in memo:
        memo[asked] = _Holders(file, facts, wanted)
    held: _Holders = memo[asked]
    return held


class _Holders:
    """What may hold a class in a file, told by names alone."""

    def __init__(self, file: PythonFile, facts: Facts, wanted: WantedClasses) -> None:
        self.file, self.facts, self.wanted = file, facts, wanted
        self.found: set[_Held] = set()
        words = {word for name in wanted.names for word in file.spellings(name)} | self._parameters()
        for _ in range(_ROUNDS):
            if not words:
                break
            new = set(self._of_words(words)) - self.found
            self.found |= new
            words = {name for _, name, _ in new}

    def _parameters(self) -> set[str]:
        """The parameters of the file that a call somewhere in the project gives such a class."""
        known = {name for name in _given(self.facts, self.wanted) if name in self.file.text}
        every = [node for node in self.file.statements if isinstance(node, Function)] if known else []
        inits = {item.methods["__init__"]: item.node for item in self.file.classes if "__init__" in item.methods}
        called = ((node, inits[node].name if node in inits else node.name) for node in every)
        return {item.arg for node, name in called if name in known for item in taken(node)}

    def holds(self, kind: str, name: str, within: Within) -> bool:
        """Whether the nearest function around a place that has a name, or the module, may hold a class by it."""
        functions = [item for item in within if isinstance(item, _CALLABLE)]
        for function in reversed(functions):
            around = within[: within.index(function)]
            if (kind, name, function) in self.found:
                return True
            if kind == "name" and any(item.arg == name for item in taken(function)):
                return self._is_given(function, name, around)
            own = isinstance(function, Function) and name in self.file.scope_within((*around, function)).bindings
            if own and not _is_shared(function, name):
                return False
        return (kind, name, None) in self.found

    def _is_given(self, function: _CALLABLE, name: str, around: Within) -> bool:
        """Whether a test, or a call somewhere in the project, gives a parameter a class."""
        if isinstance(function, Function):
            tried = parametrized(function, self.file.tree, name)
            if any(self.is_one(value, around) for value in tried):
                return True
        given = _given(self.facts, self.wanted)
        owner = around[-1] if around and isinstance(around[-1], ast.ClassDef) else None
        places = {place for called in self._names_of(function, owner) for place in given.get(called, ())}
        every = [item.arg for item in [*function.args.posonlyargs, *function.args.args]]
        every = every[1:] if owner and every[:1] in (["self"], ["cls"]) else every
        return name in places or any(every[place : place + 1] == [name] for place in places if isinstance(place, int))

    def _names_of(self, function: _CALLABLE, owner: ast.ClassDef | None) -> set[str]:
        """The names by which a function may be called."""
        if isinstance(function, Function):
            return {owner.name if owner and function.name == "__init__" else function.name}
        bound = (item.node for item in self.file.assignments if item.node.value is function)
        return {_UNNAMED, *(_last(target) for node in bound for target in targets_of(node))}

    def is_one(self, node: ast.expr, within: Within) -> bool:
        """Whether an expression is, or may be, the class itself, a partial of it or a function that hands on to it."""
        if isinstance(node, ast.IfExp):
            return self.is_one(node.body, within) or self.is_one(node.orelse, within)
        if isinstance(node, ast.BoolOp):
            return any(self.is_one(value, within) for value in node.values)
        if isinstance(node, ast.Lambda):
            return self._hands_on(node, [node.body], within)
        if isinstance(node, ast.Name | ast.Attribute):
            dotted = self.file.scope_within(within).resolve(node)
            if dotted and self.wanted.is_one(dotted):
                return True
            held = self.holds("name", node.id, within) if isinstance(node, ast.Name) else False
            return held or (isinstance(node, ast.Attribute) and ("attribute", node.attr, None) in self.found)
        if isinstance(node, ast.Subscript):
            return self._is_among(node.value, within)
        return isinstance(node, ast.Call) and self._is_made(node, within)

    def _is_made(self, node: ast.Call, within: Within) -> bool:
        """Whether a call gives back the class, or wraps it."""
        if isinstance(node.func, ast.Attribute) and node.func.attr == "get":
            return self._is_among(node.func.value, within)
        wraps = (self.file.scope_within(within).resolve(node.func) or _last(node.func)) in _WRAPPING
        return (wraps and bool(node.args) and self.is_one(node.args[0], within)) or (
            isinstance(node.func, ast.Name) and self.holds("result", node.func.id, within)
        )

    def _is_among(self, node: ast.expr, within: Within) -> bool:
        """Whether one of several things is such a class."""
        if isinstance(node, _SEVERAL):
            values = node.values if isinstance(node, ast.Dict) else node.elts
            return any(self.is_one(value, within) for value in values)
        return isinstance(node, ast.Name) and self.holds("item", node.id, within)

    def _hands_on(self, function: _CALLABLE, parts: list[ast.stmt] | list[ast.expr], within: Within) -> bool:
        """Whether a function gives its own `**` to such a class."""
        rest = function.args.kwarg.arg if function.args.kwarg else None
        calls = (node for part in parts for node in walk(part) if isinstance(node, ast.Call)) if rest else ()
        inside = (*within, function)
        return any(
            any(item.arg is None and _last(item.value) == rest for item in node.keywords)
            and self.is_one(node.func, inside)
            for node in calls
        )

    def _of_words(self, words: set[str]) -> Iterator[_Held]:
        for node, within in self.file.nodes_near(words):
            outer = within[:-1] if isinstance(node, ast.arguments) else within
            functions = [item for item in within if isinstance(item, Function)]
            function: Function | None = functions[-1] if functions else None
            for kind, target in self._kept(node, outer):
                in_class = bool(within) and isinstance(within[-1], ast.ClassDef) and kind == "name"
                if isinstance(target, ast.Attribute) and kind == "name":
                    yield "attribute", target.attr, None
                elif isinstance(target, ast.Name | ast.arg | Function):
                    name = str(next(getattr(target, each) for each in ("id", "arg", "name") if hasattr(target, each)))
                    own = None if function is None or _is_shared(function, name) else function
                    yield ("attribute", name, None) if in_class else (kind, name, own)

    def _kept(self, node: ast.AST, within: Within) -> Iterator[tuple[str, ast.AST]]:
        """The targets to which a node may give such a class, or several things with one among them."""
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            for target in targets_of(node):
                yield from self._to(target, node.value, within)
        elif isinstance(node, ast.NamedExpr):
            yield from self._to(node.target, node.value, within)
        elif isinstance(node, ast.For | ast.comprehension):
            several = node.iter.elts if isinstance(node.iter, ast.Tuple | ast.List | ast.Set) else []
            several = [key for key in node.iter.keys if key] if isinstance(node.iter, ast.Dict) else several
            for value in several:
                yield from self._to(node.target, value, within)
            if isinstance(node.iter, ast.Name) and self.holds("item", node.iter.id, within):
                yield "name", node.target
        elif isinstance(node, ast.arguments):
            for argument, value in with_defaults(node):
                if self.is_one(value, within):
                    yield "name", argument
        elif isinstance(node, Function):
            if self._hands_on(node, node.body, within):
                yield "name", node
            if any(item.value and self.is_one(item.value, (*within, node)) for item in returns(node)):
                yield "result", node

    def _to(self, target: ast.expr, value: ast.expr, within: Within) -> Iterator[tuple[str, ast.AST]]:
        """What of a target a value may make such a class, or several things with one among them."""
        if isinstance(target, ast.Tuple | ast.List):
            parts = value.elts if isinstance(value, ast.Tuple | ast.List) else []
            for inner, part in zip(target.elts, parts, strict=False):
                yield from self._to(inner, part, within)
        elif self.is_one(value, within):
            yield "name", target
        elif isinstance(value, _SEVERAL) and self._is_among(value, within):
            yield "item", target


def _given(facts: Facts, wanted: WantedClasses) -> dict[str, set[int | str]]:
    """The arguments, by position or by name, in which some call of the project gives a class, by the name that is
    called."""
    asked = f"given.{wanted.key}"
    if asked not in facts.of_sources:
        found: dict[str, set[int | str]] = {}
        spoken = re.compile(rf"[(,=]\s*(?:\w+\.)*(?:{'|'.join(sorted(wanted.names))})\s*[,)]".encode())
        for path, source in facts.sources.items():
            spells = source.kind in ("python", "notebook") and spoken.search(source.unescaped)
            file = facts.open(path) if spells else None
            for call in file.calls_near(wanted.names) if file else ():
                name = _last(call.node.func)
                for place, value in [
                    *enumerate(call.node.args),
                    *((item.arg, item.value) for item in call.node.keywords),
                ]:
                    dotted = call.scope.resolve(value) if isinstance(value, ast.Name | ast.Attribute) else None
                    if place is not None and dotted and wanted.is_one(dotted) and name not in _ASKING:
                        found.setdefault(name, set()).add(place)
        facts.of_sources[asked] = found
    known: dict[str, set[int | str]] = facts.of_sources[asked]
    return known


def _is_shared(function: ast.AST, name: str) -> bool:
    """Whether a function says that a name is the module's."""
    return any(isinstance(node, ast.Global) and name in node.names for node in walk(function))
