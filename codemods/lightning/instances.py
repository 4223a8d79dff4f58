"""Whether an expression is an instance of a class of another package, where the code says so."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from codemods.code.calls import class_around
from codemods.code.nodes import every_node
from codemods.code.outline import Within
from codemods.code.reaching import PARAMETER, Definition, definitions, reaching
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, self_name, taken, takes, targets_of
from codemods.lightning.attribute_stores import is_open, is_rebound, is_stored
from codemods.lightning.facts import Facts
from codemods.lightning.instance_types import stores_in
from codemods.lightning.said_by_files import said_by

PROPERTIES = frozenset({
    "trainer", "fabric", "logger", "loggers", "device", "dtype", "current_epoch", "global_step", "global_rank",
    "local_rank", "hparams", "hparams_initial", "example_input_array", "automatic_optimization", "strict_loading",
})  # fmt: skip
"""What Lightning's classes answer for themselves, whatever is set."""
_DEFINED = re.compile(rb"\bdef\s+([\w\x80-\xff]+)")
_DEEP = 8
_MADE = (ast.Constant, ast.JoinedStr, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.ListComp, ast.SetComp, ast.DictComp,
         ast.GeneratorExp, ast.Lambda, ast.Compare)  # fmt: skip
"""Expressions that make an object of Python's own."""


@dataclass(frozen=True)
class Instances:
    """Asks it of the expressions of a file. `is_one` says whether a dotted name is the class, or one that counts as it.

    The answer is True where every way there makes such an object or says so by an annotation, False where none does,
    None where it cannot be told. What is made by a class of a package that is not in `packages` is none: by what has a
    capital letter."""

    file: PythonFile
    facts: Facts
    is_one: Callable[[str], bool]
    packages: Collection[str]

    def holds(self, node: ast.expr, within: Within, depth: int = 0) -> bool | None:
        """Whether an expression is an instance; `within` are the nodes around it, outermost first."""
        if isinstance(node, _MADE):
            return False
        if depth > _DEEP:
            return None
        if isinstance(node, ast.Call):
            return self._made(node, within)
        if isinstance(node, ast.Name):
            return self._named(node, within, depth + 1)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            return self._kept(node, within, depth + 1)
        return None

    def names(self, node: ast.expr, within: Within) -> bool | None:
        """Whether an expression names the class itself, or one of the project below it."""
        dotted = self.file.scope_within(within).resolve(node)
        return self._is_class(dotted, self.file) if dotted else None

    def is_below(self, file: PythonFile, item: ClassNode, depth: int = 0) -> bool | None:
        """Whether an attribute that a class of the project does not have itself is looked for in such a class first;
        None where another class that is not seen comes before it."""
        for base in item.node.bases:
            dotted = item.scope.resolve(base)
            found = self._is_class(dotted, file, depth + 1) if dotted and depth < _DEEP else None
            if found is not False:
                return found
        return False

    def _is_class(self, dotted: str, file: PythonFile, depth: int = 0) -> bool | None:
        """What is known of a class by its dotted name, seen from a file, through those that hand it on."""
        for _ in range(_DEEP):
            if self.is_one(dotted):
                return True
            module, _, name = dotted.rpartition(".")
            if not module or module == "builtins":
                return False if hasattr(builtins, name) else None
            if module != file.module:
                path = self.facts.path_of(module, file.path)
                opened = self._open(path) if path else None
                if opened is None:
                    return None
                file = opened
            if item := next((each for each in file.classes if each.qualname == name), None):
                return None if _is_made_otherwise(item) else self.is_below(file, item, depth)
            targets = file.scope.bindings.get(name) or {f"{star}.{name}" for star in file.scope.stars}
            if len(targets) != 1 or dotted in targets:
                return None
            dotted = min(targets)
        return None

    def _made(self, call: ast.Call, within: Within) -> bool | None:
        """What a call makes; that of `super()` is asked as the object itself is."""
        if isinstance(call.func, ast.Name) and call.func.id == "super" and not call.args:
            owner = _owner(self.file, within)
            return self.is_below(self.file, owner) if owner else None
        dotted = self.file.scope_within(within).resolve(call.func)
        root, last = (dotted or "").partition(".")[0], (dotted or "").rpartition(".")[2]
        if last[:1].isupper() and root not in self.packages and not self._is_of_project(dotted or ""):
            return False
        return self.names(call.func, within)

    def _is_of_project(self, dotted: str) -> bool:
        root = dotted.partition(".")[0]
        return dotted.startswith(f"{self.file.module}.") or self.facts.path_of(root, self.file.path) is not None

    def _named(self, node: ast.Name, within: Within, depth: int) -> bool | None:
        if any(node.id in each.names for each in _declared(self.file)) or _is_inside(node.id, within):
            return None
        functions = [place for place, each in enumerate(within) if isinstance(each, Function)]
        for place in reversed(functions):
            function = within[place]
            assert isinstance(function, Function)
            given = any(each.arg == node.id for each in taken(function))
            start = frozenset({Definition(PARAMETER)}) if given else frozenset[Definition]()
            if place == functions[-1]:
                found = reaching(function, node.id, node, start, surely=True)
            else:
                found = frozenset({*start, *definitions(function, node.id)})
            if found:
                return self._all(found, node.id, within[: place + 1], depth)
        tree = self.file.tree
        made = frozenset(definitions(tree, node.id)) if functions else reaching(tree, node.id, node, surely=True)
        if not made or is_rebound(self.facts, self.file.path, node.id):
            return None
        return self._all(made, node.id, (), depth)

    def _all(self, found: Iterable[Definition], name: str, within: Within, depth: int) -> bool | None:
        answers = {self._definition(each, name, within, depth) for each in found}
        return answers.pop() if len(answers) == 1 else None

    def _definition(self, found: Definition, name: str, within: Within, depth: int) -> bool | None:
        if found.value is not PARAMETER:
            return self.holds(found.value, within, depth) if found.value else None
        function = within[-1]
        assert isinstance(function, Function)
        owner = _owner(self.file, within)
        if owner and function in owner.methods.values() and name == self_name(function):
            return None if function.decorator_list and _is_apart(function) else self.is_below(self.file, owner)
        parameter = _parameter(function, name)
        return self._noted(parameter.annotation, within) if parameter else None

    def _noted(self, note: ast.expr | None, within: Within) -> bool | None:
        """What an annotation says: the class, in quotes, or None besides."""
        if isinstance(note, ast.Constant) and isinstance(note.value, str):
            try:
                note = ast.parse(note.value, mode="eval").body
            except SyntaxError:
                return None
        if isinstance(note, ast.BinOp) and isinstance(note.right, ast.Constant) and note.right.value is None:
            note = note.left
        if isinstance(note, ast.Subscript):
            scope = self.file.scope_within(within)
            note = note.slice if scope.resolve(note.value) == "typing.Optional" else None
        return self.names(note, within) if isinstance(note, ast.Name | ast.Attribute) else None

    def _kept(self, node: ast.Attribute, within: Within, depth: int) -> bool | None:
        """What an attribute of an object of the class around holds that is set once."""
        owner = _owner(self.file, within)
        if not owner or not isinstance(node.value, ast.Name) or not _is_self(node.value.id, owner, within):
            return None
        for method in owner.methods.values():
            stored = {each for each in stores_in(method, ast.Attribute) if isinstance(each, ast.Attribute)}
            for item in self.file.assignments if any(each.attr == node.attr for each in stored) else ():
                targets = targets_of(item.node)
                if len(targets) != 1 or targets[0] not in stored:
                    continue
                if ast.unparse(targets[0]) == f"{self_name(method)}.{node.attr}" and item.node.value:
                    known = [(self.file.path, targets[0].lineno, targets[0].col_offset)]
                    if self._may_be_other(owner, node.attr, known):
                        return None
                    return self.holds(item.node.value, (owner.node, method), depth)
        return None

    def _may_be_other(self, owner: ClassNode, name: str, known: list[tuple[str, int, int]]) -> bool:
        """Whether an attribute may hold something else than what one place sets it to."""
        lightnings = owner.node.bases and name in PROPERTIES
        if lightnings or _is_defined(self.facts, self.file, name):
            return True
        return is_open(self.facts, self.file, owner) or is_stored(self.facts, self._open, name, known)

    def _open(self, path: str) -> PythonFile | None:
        return self.file if path == self.file.path else self.facts.open(path)


def _is_defined(facts: Facts, own: PythonFile, name: str) -> bool:
    """Whether a class of the project has a name by a method or in its body, or a function is called so."""
    if "defined" not in facts.of_sources:
        every = (_DEFINED.findall(source.unescaped) for source in facts.sources.values())
        facts.of_sources["defined"] = frozenset(name for names in every for name in names)
    if name.encode() in facts.of_sources["defined"]:
        return True
    others = (path for path, _ in facts.holding(name) if path != own.path)
    return _has_in_class(own, name) or any(said_by(facts, path, _has_in_class, name) for path in others)


def _has_in_class(file: PythonFile, name: str) -> bool:
    """Whether the body of a class binds a name."""
    return any(definitions(each.node, name) for each in file.classes)


def _is_self(name: str, owner: ClassNode, within: Within) -> bool:
    """Whether a name is the instance that the method around it is given, and nothing else there."""
    inner = within[within.index(owner.node) + 1 :]
    methods = [each for each in inner if isinstance(each, Function)]
    if not methods or name != self_name(methods[0]) or _is_inside(name, inner):
        return False
    return not any(definitions(each, name) for each in methods) and not any(takes(each, name) for each in methods[1:])


def _is_made_otherwise(item: ClassNode) -> bool:
    """Whether what stands for a class, or what it makes when it is called, may be something else."""
    return bool(item.node.decorator_list or item.node.keywords or "__new__" in item.methods)


def _owner(file: PythonFile, within: Within) -> ClassNode | None:
    """The class whose method the nodes around an expression are in."""
    return class_around(file, within)


def _parameter(function: Function, name: str) -> ast.arg | None:
    plain = [each for each in taken(function) if each not in (function.args.vararg, function.args.kwarg)]
    return next((each for each in plain if each.arg == name), None)


def _is_inside(name: str, within: Within) -> bool:
    """Whether a lambda or comprehension around binds a name itself, or it is read in the body of a class."""
    inner = [each for each in within if isinstance(each, Function | ast.ClassDef | ast.Lambda)]
    if inner and isinstance(inner[-1], ast.ClassDef):
        return True
    for each in within:
        if isinstance(each, ast.Lambda) and any(item.arg == name for item in taken(each)):
            return True
        parts = [part.target for part in getattr(each, "generators", ())]
        if any(isinstance(item, ast.Name) and item.id == name for part in parts for item in ast.walk(part)):
            return True
    return False


def _is_apart(function: Function) -> bool:
    """Whether the first parameter of a method may be no object of its class."""
    return any(
        ast.unparse(each).rpartition(".")[2] in ("staticmethod", "classmethod") for each in function.decorator_list
    )


def _declared(file: PythonFile) -> list[ast.Global | ast.Nonlocal]:
    if "instances.declared" not in file.memo:
        spoken = "global " in file.text or "nonlocal " in file.text
        every = every_node(file.tree) if spoken else ()
        file.memo["instances.declared"] = [each for each in every if isinstance(each, ast.Global | ast.Nonlocal)]
    found: list[ast.Global | ast.Nonlocal] = file.memo["instances.declared"]
    return found
