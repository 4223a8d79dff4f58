"""A file with what it takes from other files of the project, as one program: the bases of its classes, functions that
they take for methods, mark these with or hand themselves to, and names that another file imports from elsewhere."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any

from codemods.code.names import Function, Names
from codemods.code.nodes import every_node
from codemods.code.scopes import ROOT, absolute, canonical
from codemods.code.source import PythonFile, Source
from codemods.code.tree_copies import changed, made_from, replaced, twin
from codemods.lightning.facts import Facts
from codemods.lightning.file_memo import memo_of
from codemods.lightning.reexports import may_hide, starred

MOST_FILES = 3
MOST_TEXT = 100_000
MOST_STEPS = 8
SELF = frozenset({"self", "this", "cls"})


@dataclass(frozen=True)
class LinkedFile:
    """A file with what it takes from others: as one `file`, whose last lines, behind line `start`, are its own.
    `parts` are the others with the line behind which each begins, `imports` the lines of its own imports that stand for
    those of others, `said` is the text of what it takes and of its own."""

    file: PythonFile
    start: int
    parts: tuple[tuple[PythonFile, int], ...]
    imports: frozenset[int]
    said: Source

    def place(self, line: int) -> tuple[PythonFile | None, int]:
        """The other file, None for its own, and the line in it, of a line of the whole."""
        if line > self.start:
            return None, line - self.start
        part, start = max((item for item in self.parts if item[1] < line), key=lambda item: item[1])
        return part, line - start


def linked(file: PythonFile, facts: Facts) -> LinkedFile | None:
    """The file as one with what its classes take from others of the project; None where they take nothing, or the
    names of these cannot stand beside its own."""
    memo = memo_of(file, facts)
    if "linked" not in memo:
        memo["linked"] = None  # where files take from one another
        memo["linked"] = _link(file, facts)
    found: LinkedFile | None = memo["linked"]
    return found


def takers(facts: Facts) -> Mapping[str, tuple[str, ...]]:
    """The files whose classes may take something from another, by the path of that."""
    if "takers" not in facts.memo:
        found: dict[str, set[str]] = {}
        for file in (item for item in facts.files.values() if item.path.endswith(".py")):
            modules = {name.rpartition(".")[0] for name in file.takes if not _is_lightnings(name)}
            own = (item for item in file.classes if not all(base and _is_lightnings(base) for base in item.bases))
            above = {each.path for item in own for each in facts.ancestry(item)[1:]}
            others = above | {path for module in modules if (path := facts.path_of(module, file.path))}
            for path in (path for path in others - {file.path} if path.endswith(".py")):
                found.setdefault(path, set()).add(file.path)
        facts.memo["takers"] = {path: tuple(sorted(paths)) for path, paths in sorted(found.items())}
    known: Mapping[str, tuple[str, ...]] = facts.memo["takers"]
    return known


def _is_lightnings(dotted: str) -> bool:
    """Whether a name is of Lightning, of which rules know what it does, be it that the project is Lightning itself."""
    return canonical(dotted).startswith(f"{ROOT}.")


def together(facts: Facts) -> frozenset[str]:
    """The files that take something from others, or that others take something from."""
    if "together" not in facts.memo:
        found = takers(facts)
        facts.memo["together"] = frozenset(found).union(*found.values())
    known: frozenset[str] = facts.memo["together"]
    return known


def _link(file: PythonFile, facts: Facts) -> LinkedFile | None:
    if file.path.endswith(".ipynb"):
        return None
    imported = _imported(file)
    asked = sorted(_asked(file)) if imported else []
    taken: dict[str, list[ast.stmt]] = {}
    files: dict[str, PythonFile] = {}
    names: set[str] = set()
    apart = _unwatched(facts)
    for name in asked:
        dotted = imported.get(name)
        found = apart.find_definition(dotted, file.path) if dotted and not _is_lightnings(dotted) else None
        if found is None or found[0].path == file.path or found[1].name != name or found[0].path.endswith(".ipynb"):
            continue
        other, node = found
        files[other.path] = other
        taken.setdefault(other.path, []).extend(_with_needed(other, node))
        names.add(name)
    if len(files) > MOST_FILES or sum(len(item.text) for item in files.values()) > MOST_TEXT:
        return None
    passed = ReexportingFile(file, facts)
    if passed:
        return _joined(passed, files, taken, names)
    return _joined_once(passed, files, taken, names) if names else None


def _unwatched(facts: Facts) -> Facts:
    """The facts for who opens the files of `takers` alone, which are known to be looked at together."""
    if "unwatched" not in facts.memo:
        facts.memo["unwatched"] = replace(facts, sources=facts.trees.sources)
    known: Facts = facts.memo["unwatched"]
    return known


def open_taker(path: str, facts: Facts) -> PythonFile | None:
    """A file that takes something from another, or that another takes something from."""
    return _unwatched(facts).open(path)


def _asked(file: PythonFile) -> set[str]:
    """The names that the classes of a file have as bases, take for methods, mark these with, or hand themselves to."""
    found: set[str] = set()
    for node in file.tree.body:
        if not isinstance(node, ast.ClassDef):
            continue
        found |= {item.id for item in node.bases if isinstance(item, ast.Name)}
        for statement in node.body:
            if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Name):
                found.add(statement.value.id)
            if isinstance(statement, Function):
                found |= {*_handed_self(statement), *_marks(statement)}
    return found


def _marks(method: Function) -> Iterator[str]:
    """The names of the decorators of a method."""
    for mark in method.decorator_list:
        function = mark.func if isinstance(mark, ast.Call) else mark
        if isinstance(function, ast.Name):
            yield function.id


def _handed_self(method: ast.AST) -> Iterator[str]:
    for call in every_node(method):
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name):
            given = [*call.args, *(item.value for item in call.keywords)]
            if any(isinstance(item, ast.Name) and item.id in SELF for item in given):
                yield call.func.id


def _imported(file: PythonFile) -> Mapping[str, str]:
    """The dotted names of what a file imports by its own name."""
    return {
        alias.name: f"{absolute(node, file.path)}.{alias.name}"
        for node in file.tree.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
        if alias.asname in (None, alias.name)
    }


def _bound(node: ast.stmt) -> set[str]:
    """The names that a statement of a module binds."""
    if isinstance(node, Function | ast.ClassDef):
        return {node.name}
    if isinstance(node, ast.Import | ast.ImportFrom):
        return {alias.asname or alias.name.split(".")[0] for alias in node.names}
    return {item.id for item in every_node(node) if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Store)}


def _with_needed(file: PythonFile, node: ast.stmt) -> list[ast.stmt]:
    """A definition of a module with the statements of it that bind what it reads, in their order."""
    if "bound by statements" not in file.memo:
        file.memo["bound by statements"] = [(item, _bound(item)) for item in file.tree.body]
    known: list[tuple[ast.stmt, set[str]]] = file.memo["bound by statements"]
    wanted, left = {id(node)}, [node]
    while left:
        every = every_node(left.pop())
        read = {item.id for item in every if isinstance(item, ast.Name) and isinstance(item.ctx, ast.Load)}
        for other, names in known:
            if id(other) not in wanted and not read.isdisjoint(names):
                wanted.add(id(other))
                left.append(other)
    return [item for item in file.tree.body if id(item) in wanted]


def _joined_once(
    passed: ReexportingFile, files: Mapping[str, PythonFile], taken: Mapping[str, list[ast.stmt]], names: set[str]
) -> LinkedFile | None:
    """The same whole for all facts by which a file takes the same statements of the same files; what is kept holds the
    trees that it was asked by."""
    known: dict[object, tuple[LinkedFile | None, object]] = passed.file.memo.setdefault("joined", {})
    trees = [other.tree for other in files.values()]
    asked = frozenset(names), *((path, id(other.tree), *map(id, taken[path])) for path, other in files.items())
    if asked not in known:
        known[asked] = _joined(passed, files, taken, names), (trees, taken)
    elif (whole := known[asked][0]) is not None:
        parts = tuple((files[part.path], start) for part, start in whole.parts)
        known[asked] = replace(whole, file=whole.file.again(), parts=parts), (trees, taken)
    return known[asked][0]


def _joined(
    passed: ReexportingFile, files: Mapping[str, PythonFile], taken: Mapping[str, list[ast.stmt]], names: set[str]
) -> LinkedFile | None:
    file = passed.file
    tree = passed.tree
    own = [item for item in tree.body if isinstance(item, ast.Import | ast.ImportFrom)]
    known = {said for item in own for said in _each(item, file.path)}
    rest = {name for item in tree.body if item not in own for name in _bound(item)}
    rest |= {name for name, _ in known} - names
    body: list[ast.stmt] = []
    text, said, parts, there = "", "", [], set(rest)
    for path, other in files.items():
        start = text.count("\n")
        parts.append((other, start))
        text += other.text if other.text.endswith("\n") else f"{other.text}\n"
        for item in {id(each): each for each in taken[path]}.values():
            if isinstance(item, ast.Import | ast.ImportFrom):
                if set(_each(item, other.path)) <= known:
                    continue
                known |= set(_each(item, other.path))
            if not there.isdisjoint(_bound(item)):
                return None
            there |= _bound(item)
            body.append(_moved(item, start))
            said += _text_of(other, item)
    start = text.count("\n")
    for item in tree.body:
        kept = (
            [alias for alias in item.names if alias.name not in names] if isinstance(item, ast.ImportFrom) else [item]
        )
        if isinstance(item, ast.ImportFrom) and 0 < len(kept) < len(item.names):
            body.append(_moved(item, start, names=kept))
        elif kept:
            body.append(_moved(item, start) if start else item)
    whole = ast.Module(body=body, type_ignores=[])
    source = Source(file.path, "python", (said + file.text).encode(errors="surrogatepass"))
    return LinkedFile(replace(file, text=text + file.text, tree=whole), start, tuple(parts), passed.lines, source)


def _text_of(file: PythonFile, node: ast.stmt) -> str:
    """The lines of a statement, with its decorators."""
    first = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", ()))])
    return "".join(file.lines[first - 1 : node.end_lineno])


class ReexportingFile:
    """A file whose imports of other files stand for what these import from outside the project."""

    def __init__(self, file: PythonFile, facts: Facts) -> None:
        self.file, self.facts = file, facts
        self.tree = file.tree
        self.lines: frozenset[int] = frozenset()
        new: dict[int, list[ast.stmt]] = {}
        members: dict[tuple[str, str], str] = {}
        for node in file.tree.body:
            if isinstance(node, ast.ImportFrom) and (made := self._passed(node)):
                new[id(node)] = made
            elif isinstance(node, ast.Import | ast.ImportFrom) and (found := self._members(node)):
                members.update(found)
                new[id(node)] = [node, *(_import(dotted, name, node) for (_, name), dotted in found.items())]
        if new:
            self.lines = frozenset(node.lineno for node in file.tree.body if id(node) in new)
            tree = changed(file.tree, body=[one for item in file.tree.body for one in new.get(id(item), [item])])
            self.tree = replaced(tree, lambda node: _by_itself(node, members)) if members else tree

    def __bool__(self) -> bool:
        return self.tree is not self.file.tree

    def _passed(self, node: ast.ImportFrom) -> list[ast.stmt] | None:
        """The imports that one from another file stands for, with what is left of it."""
        module = absolute(node, self.file.path)
        path = self.facts.path_of(module, self.file.path) if module else None
        if path is None or path == self.file.path or not self._hands_on(path, node):
            return None
        star = node.names[0].name == "*"
        brought = (
            (name for name in sorted(self._free) if starred(self.facts, self.file, name) == module) if star else ()
        )
        names: list[tuple[str, str | None]] = [(name, None) for name in brought]
        names = names or [(each.name, each.asname) for each in node.names]
        found = {name: dotted for name, _ in names if (dotted := self._outside(f"{module}.{name}"))}
        own = [name for name, _ in names if star and name not in found and name != "*"]
        if not (found or own):
            return None
        left = [each for each in node.names if each.name not in found]
        aliases = [ast.copy_location(ast.alias(name=name, asname=None), node) for name in own]
        made: list[ast.stmt] = [changed(node, names=each) for each in (left, aliases) if each]
        return [*made, *(_import(found[name], asname or name, node) for name, asname in names if name in found)]

    def _hands_on(self, path: str, node: ast.ImportFrom) -> bool:
        """Whether a file may have imported one of the names that are taken from it."""
        known, names = self.facts.files.get(path), {alias.name for alias in node.names}
        if "*" in names or (known is not None and (known.stars or not names.isdisjoint(known.exports))):
            return True
        if known is not None:
            names &= known.bound - {item.name for item in known.classes}
        text = self.facts.sources[path].data if names else b""
        if any(_assigns(name).search(text) for name in names):
            return True
        return known is None and (b"import *" in text or any(_imports(name).search(text) for name in names))

    def _members(self, node: ast.Import | ast.ImportFrom) -> dict[tuple[str, str], str]:
        """What the file reads of the modules of the project that it imports, where that is from outside: by the name of
        the module and its own."""
        head = f"{absolute(node, self.file.path)}." if isinstance(node, ast.ImportFrom) else ""
        modules = {alias.asname or alias.name: f"{head}{alias.name}" for alias in node.names}
        known = {name: module for name, module in modules.items() if self.facts.path_of(module, self.file.path)}
        asked = {
            (item.value.id, item.attr)
            for item in (every_node(self.file.tree) if known else ())
            if isinstance(item, ast.Attribute) and isinstance(item.value, ast.Name) and item.value.id in known
        }
        found = {(name, attr): self._outside(f"{known[name]}.{attr}") for name, attr in sorted(asked)}
        taken = {item.id for item in every_node(self.file.tree) if isinstance(item, ast.Name)} if found else set()
        return {pair: dotted for pair, dotted in found.items() if dotted and pair[1] not in taken}

    @cached_property
    def _free(self) -> frozenset[str]:
        """The names that the file reads and nothing in it binds."""
        names = {node.id for node in every_node(self.file.tree) if isinstance(node, ast.Name)}
        return frozenset(name for name in names - self.file.scope.bindings.keys() if not hasattr(builtins, name))

    def _outside(self, dotted: str) -> str | None:
        """What a name of another file stands for, where that is outside the project."""
        near, first = self.file.path, dotted
        for _ in range(MOST_STEPS):
            module, _, name = dotted.rpartition(".")
            path = self.facts.path_of(module, near) if module else None
            if path is None:
                return dotted if dotted != first and self.facts.path_of(dotted, near) is None else None
            file = self.facts.open(path)
            step = self._step(file, name) if file is not None else None
            if step is None or file is None:
                return None
            dotted, near = step, file.path
        return None

    def _step(self, file: PythonFile, name: str) -> str | None:
        """The dotted name that a file surely imports something by, by itself or with all of a module."""
        if name in file.scope.bindings:
            hidden = may_hide(self.facts, file, name)
            return None if hidden else file.scope.lookup(name) or _assigned(file, name)
        if star := starred(self.facts, file, name):
            return f"{star}.{name}"
        stars = file.scope.stars
        return f"{stars[0]}.{name}" if len(stars) == 1 and canonical(stars[0]) == ROOT else None


@cache
def _imports(name: str) -> re.Pattern[bytes]:
    """How a text imports something by a name."""
    return re.compile(rf"\bimport\b[^\n]*\b{name}\b|^\s+{name},?\s*$".encode(), re.MULTILINE)


@cache
def _assigns(name: str) -> re.Pattern[bytes]:
    """How a text gives something that it imports another name."""
    return re.compile(rf"^{name} *= *[\w.]+ *(?:#.*)?$".encode(), re.MULTILINE)


def _assigned(file: PythonFile, name: str) -> str | None:
    """The dotted name of what a file imports and gives another name, once and for all."""
    if Names(file.tree).stores[name] != 1:
        return None
    for node in file.scope.statements:
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        if isinstance(node, ast.Assign) and isinstance(target, ast.Name) and target.id == name:
            root, *behind = _chain(node.value)
            known = file.scope.lookup(root) if root else None
            return ".".join([known, *behind]) if known else None
    return None


def _chain(node: ast.expr) -> Iterator[str]:
    """The names of a chain of attributes, the first one first; nothing but an empty one where it is none."""
    if isinstance(node, ast.Attribute):
        yield from _chain(node.value)
        yield node.attr
    else:
        yield node.id if isinstance(node, ast.Name) else ""


def _by_itself(node: ast.AST, members: Container[tuple[str, str]]) -> ast.AST | None:
    """The name that is read of a module, by itself where that is imported."""
    owner = node.value if isinstance(node, ast.Attribute) else None
    if not isinstance(node, ast.Attribute) or not isinstance(owner, ast.Name) or (owner.id, node.attr) not in members:
        return None
    return made_from(node, ast.Name(id=node.attr, ctx=ast.Load()))


def _import(dotted: str, name: str, place: ast.stmt) -> ast.stmt:
    """The import of something by a name."""
    module, _, last = dotted.rpartition(".")
    alias = ast.copy_location(ast.alias(name=last or dotted, asname=None if name == (last or dotted) else name), place)
    made = ast.ImportFrom(module=module, names=[alias], level=0) if module else ast.Import(names=[alias])
    return ast.copy_location(made, place)


def _each(node: ast.Import | ast.ImportFrom, path: str) -> Iterator[tuple[str, str]]:
    """What an import binds, with what that is."""
    module = f"{absolute(node, path)}." if isinstance(node, ast.ImportFrom) else ""
    for alias in node.names:
        yield alias.asname or alias.name.split(".")[0], f"{module}{alias.name}"


def _moved(node: Any, lines: int, **fields: Any) -> Any:
    """A copy of a statement that stands some lines further down."""
    made = twin(node)
    vars(made).update(fields)
    for item in every_node(made):
        if getattr(item, "lineno", None) is not None:
            vars(item).update(lineno=item.lineno + lines, end_lineno=item.end_lineno + lines)  # type: ignore[attr-defined]
    return made
