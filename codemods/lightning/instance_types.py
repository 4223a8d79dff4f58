"""What an expression is an instance of, among the classes of the project, where the code says so."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.code.calls import class_around
from codemods.code.literals import literal
from codemods.code.nodes import walk, walked
from codemods.code.scopes import Scope
from codemods.code.source import CallNode, ClassNode, PythonFile, Source
from codemods.code.syntax import Function, self_name, taken, targets_of
from codemods.lightning.facts import Facts
from codemods.lightning.said_by_files import said_by

Definition = tuple[PythonFile, Function | ast.ClassDef]
Shape = tuple[PythonFile, ClassNode]
_DEEP = 6
_STARS = re.compile(rb"import[\s\\]+\*")


@dataclass(frozen=True)
class ReadingPlace:
    """Where an expression is read: the file, the functions around it, the scope of its names, and the class around;
    `alike` are the calls that may get what it gives beside each other, those of Trainer where it is empty."""

    file: PythonFile
    functions: tuple[Function, ...]
    scope: Scope
    owner: ClassNode | None
    alike: tuple[CallNode, ...] = ()

    @classmethod
    def of(cls, file: PythonFile, call: CallNode) -> ReadingPlace:
        """Where a call stands."""
        functions = tuple(item for item in call.within if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef))
        owner = class_around(file, call.within)
        return cls(file, functions, call.scope, owner)

    def named(self, name: str) -> tuple[Function, ast.arg] | None:
        """The nearest function around that has a parameter of that name, with the parameter."""
        for function in reversed(self.functions):
            for item in taken(function):
                if item.arg == name:
                    return function, item
        return None

    def around(self, space: ast.AST, node: ast.AST) -> ReadingPlace:
        """Where a statement stands of a module that is looked at as a whole: in a method of a class, perhaps."""
        line = getattr(node, "lineno", 0) if isinstance(space, ast.Module) else 0
        for item in self.file.classes if line else ():
            for method in item.methods.values():
                if method.lineno <= line <= (method.end_lineno or 0) and node in walked(method):
                    return ReadingPlace(self.file, (method,), item.scope, item, self.alike)
        return self


def is_of_lightning(at: ReadingPlace, facts: Facts, function: Function) -> bool:
    """Whether a function is a method of a class that is below one of Lightning's."""
    owner = next((item for item in at.file.classes if function in item.methods.values()), None)
    fact = facts.find_class(f"{at.file.module}.{owner.qualname}", at.file.path) if owner else None
    return fact is not None and facts.kind(fact) not in (None, "other")


def definition_of(at: ReadingPlace, facts: Facts, node: ast.expr) -> Definition | None:
    """The project's class or function that a name stands for."""
    dotted = at.scope.resolve(node)
    if dotted is None:
        return None
    module, _, name = dotted.rpartition(".")
    if module != at.file.module:
        return facts.find_definition(dotted, at.file.path)
    for statement in at.file.scope.statements:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef) and statement.name == name:
            return at.file, statement
    return None


def shape_of(at: ReadingPlace, facts: Facts, node: ast.expr | None, depth: int = 0) -> Shape | None:
    """The class of what an expression gives: by an annotation, by what is assigned, or by a call that is given a class
    or is one's (`Config.load()`, `cli(Config)`)."""
    if depth > _DEEP:
        return None
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Name) and node.func.id == "super" and at.owner:
            return at.file, at.owner
        owner = node.func.value if isinstance(node.func, ast.Attribute) else node.func
        if isinstance(owner, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "parse_args":
            return shape_of(at, facts, owner, depth + 1)
        return _first(_class_at(at, facts, item) for item in (owner, *node.args, *(k.value for k in node.keywords)))
    if isinstance(node, ast.Attribute):
        holder = shape_of(at, facts, node.value, depth + 1)
        return _of_attribute(facts, holder, node.attr, depth) if holder else None
    if not isinstance(node, ast.Name):
        return None
    if at.functions and at.owner and node.id == self_name(at.functions[0]):
        return at.file, at.owner
    parameter = at.named(node.id)
    if parameter is not None:
        return _of_note(at, facts, parameter[1].annotation)
    for space in (*reversed(at.functions), at.file.tree):
        for statement in walked(space):
            if isinstance(statement, ast.Assign | ast.AnnAssign) and _binds(statement, node.id):
                note = statement.annotation if isinstance(statement, ast.AnnAssign) else None
                if found := _of_note(at, facts, note) or shape_of(at, facts, statement.value, depth + 1):
                    return found
    return _class_at(at, facts, node)


def _first(found: Iterator[Shape | None]) -> Shape | None:
    return next((item for item in found if item), None)


def _binds(statement: ast.Assign | ast.AnnAssign, name: str) -> bool:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)


def _class_at(at: ReadingPlace, facts: Facts, node: ast.expr) -> Shape | None:
    """The project's class that an expression names."""
    definition = definition_of(at, facts, node)
    if definition is None:
        return None
    return next(((definition[0], item) for item in definition[0].classes if item.node is definition[1]), None)


def _of_note(at: ReadingPlace, facts: Facts, note: ast.expr | None) -> Shape | None:
    """The class of an annotation: its name, that in quotes, or in `Optional[...]` and `... | None`."""
    if isinstance(note, ast.Constant) and isinstance(note.value, str):
        try:
            note = ast.parse(note.value, mode="eval").body
        except SyntaxError:
            return None
    if isinstance(note, ast.Subscript):
        note = note.slice
    if isinstance(note, ast.BinOp):
        note = note.left
    return _class_at(at, facts, note) if isinstance(note, ast.Name | ast.Attribute) else None


def _of_attribute(facts: Facts, holder: Shape, name: str, depth: int) -> Shape | None:
    """The class of an attribute: by its field, or by what a method puts on self."""
    file, item = holder
    at = ReadingPlace(file, (), item.scope, item)
    for statement in item.node.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and _binds(statement, name):
            note = statement.annotation if isinstance(statement, ast.AnnAssign) else None
            return _of_note(at, facts, note) or shape_of(at, facts, statement.value, depth + 1)
    for function in item.methods.values():
        inside = ReadingPlace(file, (function,), item.scope, item)
        for node in walk(function):
            if not isinstance(node, ast.Assign | ast.AnnAssign):
                continue
            if any(ast.unparse(target) == f"{self_name(function)}.{name}" for target in targets_of(node)):
                return shape_of(inside, facts, node.value, depth + 1)
    return None


def methods_of(
    facts: Facts, file: PythonFile, item: ClassNode, name: str
) -> Iterator[tuple[PythonFile, ClassNode, Function]]:
    """The methods of that name of a class, of its bases in the project, and of the classes below it."""
    fact = facts.find_class(f"{file.module}.{item.qualname}", file.path)
    related = {(file.path, item.qualname): None}
    for other in (*facts.ancestry(fact), *facts.subclasses(fact)) if fact else ():
        related[other.path, other.name] = None
    for path, qualname in related:
        opened = file if path == file.path else facts.open(path)
        for found in opened.classes if opened else ():
            if opened and found.qualname == qualname and name in found.methods:
                yield opened, found, found.methods[name]


def times_spoken(facts: Facts, name: str) -> int:
    """How often the project's code speaks of a name."""
    known: dict[str, int] = facts.of_sources.setdefault("times spoken", {})
    if name not in known:
        word = re.compile(rb"\b" + name.encode() + rb"\b")
        known[name] = sum(
            len(word.findall(source.unescaped))
            for source in facts.sources.values()
            if source.kind in ("python", "notebook") and name.encode() in source.unescaped
        )
    return known[name]


def is_read_elsewhere(facts: Facts, home: PythonFile, name: str) -> bool:
    """Whether another file, be it a configuration, may have a name of a module, or of one that is called like it."""
    tail = home.module.rpartition(".")[2]
    word = re.compile(rf"\b{name}\b".encode())
    speaking = [source for path, source in facts.holding(name) if path != home.path and word.search(source.unescaped)]
    starred = re.compile(rf"\b(?:{tail}|from\s+\.+)\s+import[\s\\]+\*".encode())
    offered = speaking and not _withholds(home, name)
    if offered and any(source.path != home.path and starred.search(source.unescaped) for source in _starring(facts)):
        return True
    return any(_reads(facts, source, tail, name) for source in speaking)


def _withholds(home: PythonFile, name: str) -> bool:
    """Whether a module lists what a star takes of it, once and by itself, without that name."""
    if home.text.count("__all__") != 1:
        return False
    lists = (node.value for node in home.tree.body if isinstance(node, ast.Assign) and _binds(node, "__all__"))
    names = literal(next(lists, ast.Name("unknown")))
    return names[0] and isinstance(names[1], list | tuple) and name not in names[1]


def _starring(facts: Facts) -> list[Source]:
    """The files that may import all that a module has."""
    if "starring" not in facts.of_sources:
        facts.of_sources["starring"] = [
            source for _, source in facts.holding("import") if _STARS.search(source.unescaped)
        ]
    found: list[Source] = facts.of_sources["starring"]
    return found


def _reads(facts: Facts, source: Source, tail: str, name: str) -> bool:
    """Whether a text takes a name from a module whose last name is `tail`."""
    if source.kind not in ("python", "notebook"):
        return f"{tail}.{name}".encode() in source.unescaped
    spelled = re.search(rf"""[."']{name}\b""".encode(), source.unescaped)
    for module, names in said_by(facts, source.path, _imports) or ():
        if (module in (tail, "") and name in names) or (tail in names and spelled):
            return True
    return False


def _imports(file: PythonFile) -> list[tuple[str | None, frozenset[str]]]:
    """What the imports of a file bring, by their last names, with that of the module that they take it from: None
    where they take modules, empty for one that has no name."""
    return [
        (
            (node.module or "").rpartition(".")[2] if isinstance(node, ast.ImportFrom) else None,
            frozenset(alias.name.rpartition(".")[2] for alias in node.names),
        )
        for node in file.imports
    ]


def stores_in(space: ast.AST, kind: type[ast.Name | ast.Attribute]) -> Iterator[ast.expr]:
    """The names, or the attributes, that a space stores to."""
    return (inner for inner in walked(space) if isinstance(inner, kind) and isinstance(inner.ctx, ast.Store))


def targets_in(space: ast.AST) -> Iterator[ast.expr]:
    """The targets of the statements that bind anew."""
    for node in walked(space):
        yield from targets_of(node)
