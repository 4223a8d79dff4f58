"""The calls of Trainer of which a change touched the arguments and nothing else, as each tree writes them.

What such a call is given can be made by itself where it hangs on nothing that a script has by then: literals, what the
file assigns once, options by the project's own defaults, and what is built of torch and Lightning.
"""

from __future__ import annotations

import ast
import copy
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from verify.reading.hints import hints
from verify.reading.modules import code_of
from verify.reading.names import last_name
from verify.reading.sources import NAMESPACES, Sources

MODULE = "<module>"
"""What Python calls the code of a file outside of functions."""
DEPTH = 8
_KNOWN = frozenset({"torch", "datetime", *NAMESPACES})
"""The packages of which arguments are built."""
_BUILT_IN = frozenset({"bool", "dict", "float", "int", "isinstance", "len", "list", "max", "min", "str", "tuple"})
_CALLBACKS = "callbacks"
_WATCHING = frozenset({"checkpoint_callback", "early_stop_callback", "logger"})
_MONITORS = frozenset({"EarlyStopping", "ModelCheckpoint"})
"""Arguments, and callbacks, that may ask for what another module logs: the arguments as literals alone."""
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_Scopes = Mapping[str, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef]


@dataclass(frozen=True)
class WrittenCall:
    """A call as a tree writes it: its line, what its arguments import, and each of them as an expression that needs no
    more than that."""

    line: int
    imports: tuple[str, ...]
    given: Mapping[str, str]

    @property
    def told(self) -> str:
        """The arguments as they are written in a call."""
        return ", ".join(f"{name}={text}" for name, text in self.given.items())


@dataclass(frozen=True)
class ChangedCall:
    """A call of Trainer in the function of a file, before and after; `left` are arguments that both trees write alike
    and that cannot be made by themselves."""

    path: str
    function: str
    old: WrittenCall
    new: WrittenCall
    left: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """Where it stands in the tree after."""
        return f"{self.path}:{self.new.line}"


def changed_calls(before: Sources, after: Sources, changed: Iterable[str]) -> tuple[ChangedCall, ...]:
    """The calls in functions, and in code outside of them, in which nothing but arguments of Trainer was changed, where
    all of these can be made."""
    return tuple(call for path in sorted(set(changed)) for call in _of_file(before, after, path))


def _of_file(before: Sources, after: Sources, path: str) -> Iterator[ChangedCall]:
    old, new = before.tree(path), after.tree(path)
    if old is None or new is None or not after.packages(path) & set(NAMESPACES):
        return
    values = {name: held[0] for name, held in hints(before, path).values.items() if held and _is_plain(held[0])}
    mine, theirs = _scopes(old), _scopes(new)
    for name in theirs:
        if name in mine and (calls := _of_scope(path, name, (mine[name], old), (theirs[name], new), values)):
            yield from calls


def _is_plain(value: object) -> bool:
    several = isinstance(value, list) and all(type(each) is int for each in value)
    return several or value is None or isinstance(value, bool | int | float | str)


def _scopes(tree: ast.Module) -> _Scopes:
    """The functions of a file by their qualified names, and its code outside of them; none that has a name twice."""
    found: dict[str, list[ast.Module | ast.FunctionDef | ast.AsyncFunctionDef]] = {MODULE: [tree]}

    def walk(node: ast.AST, within: str) -> None:
        for child in ast.iter_child_nodes(node):
            inner = within
            if isinstance(child, (*_FUNCTIONS, ast.ClassDef)):
                inner = f"{within}{child.name}."
                if not isinstance(child, ast.ClassDef):
                    found.setdefault(inner[:-1], []).append(child)
            walk(child, inner)

    walk(tree, "")
    return {name: nodes[0] for name, nodes in found.items() if len(nodes) == 1}


_Scope = tuple[ast.Module | ast.FunctionDef | ast.AsyncFunctionDef, ast.Module]


def _of_scope(
    path: str, name: str, before: _Scope, after: _Scope, values: Mapping[str, object]
) -> list[ChangedCall] | None:
    """The changed calls of one function, all of them or none."""
    olds, news = _trainers(before[0]), _trainers(after[0])
    if not news or len(olds) != len(news) or _without(before[0], olds) != _without(after[0], news):
        return None
    found = []
    for old, new in zip(olds, news, strict=True):
        if code_of(old) == code_of(new):
            continue
        if (call := _call(path, name, (old, *before), (new, *after), values)) is None:
            return None
        found.append(call)
    return found


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """What is in a function, or in a file, outside of the functions in it."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, _FUNCTIONS):
            yield child
            yield from _own(child)


def _trainers(scope: ast.AST) -> list[ast.Call]:
    return [node for node in _own(scope) if isinstance(node, ast.Call) and last_name(node.func) == "Trainer"]


def _without(scope: ast.AST, calls: Sequence[ast.Call]) -> str:
    """The code of a function, or of a file outside of its functions and imports, without the arguments of calls."""
    given = {id(each) for call in calls for each in (*call.keywords, call.func)}
    left = (*_FUNCTIONS, *((ast.Import, ast.ImportFrom) if isinstance(scope, ast.Module) else ()))
    return code_of(scope, lambda part: isinstance(part, left) or id(part) in given or _is_text(part))


def _is_text(node: object) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


_Placed = tuple[ast.Call, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef, ast.Module]


def _call(path: str, function: str, old: _Placed, new: _Placed, values: Mapping[str, object]) -> ChangedCall | None:
    """A call whose arguments were changed; None where one of those cannot be made by itself."""
    theirs, ours = ({each.arg: each.value for each in call[0].keywords} for call in (old, new))
    names = dict.fromkeys((*theirs, *ours))
    other = {name for name in names if _code(theirs.get(name)) != _code(ours.get(name))}
    if None in other or old[0].args or new[0].args:
        return None
    both = [
        _written(placed, other, _others(mine.get(_CALLBACKS), its.get(_CALLBACKS)), values)
        for placed, mine, its in ((old, theirs, ours), (new, ours, theirs))
    ]
    if both[0] is None or both[1] is None:
        return None
    left = tuple(name or "**" for name in ours if name not in both[1].given)
    return ChangedCall(path, function, both[0], both[1], left)


def _code(node: ast.expr | None) -> str:
    return code_of(node) if node is not None else ""


def _others(mine: ast.expr | None, theirs: ast.expr | None) -> list[ast.expr] | None:
    """The callbacks of one list that another has not; None where they are no lists."""
    if any(each is not None and not isinstance(each, ast.List) for each in (mine, theirs)):
        return None
    known = [code_of(each) for each in theirs.elts] if isinstance(theirs, ast.List) else []
    return [each for each in mine.elts if code_of(each) not in known] if isinstance(mine, ast.List) else []


def _written(
    placed: _Placed, changed: Collection[str | None], callbacks: list[ast.expr] | None, values: Mapping[str, object]
) -> WrittenCall | None:
    """A call with the arguments that were changed, of callbacks with those that the other tree has not, and besides
    with the arguments that are literals."""
    call, scope, tree = placed
    maker = _Maker(_imports(scope, tree), _assigned(scope, call.lineno), values)
    given = {}
    for keyword in call.keywords:
        name, value = keyword.arg, keyword.value
        if name == _CALLBACKS and name in changed:
            value = ast.List(callbacks or [], ast.Load())
        if name is None or not (name in changed or _is_literal(value)):
            continue
        made = maker.made(value)
        if made is None or (name in _WATCHING and not _is_literal(made)) or _monitors(name, made):
            return None
        given[name] = ast.unparse(made)
    if callbacks is None and _CALLBACKS in changed:
        return None
    return WrittenCall(call.lineno, tuple(dict.fromkeys(maker.used)), given)


def _monitors(name: str, made: ast.expr) -> bool:
    return name == _CALLBACKS and any(
        last_name(node.func) in _MONITORS for node in ast.walk(made) if isinstance(node, ast.Call)
    )


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except ValueError:
        return False
    return True


def _imports(scope: ast.AST, tree: ast.Module) -> Mapping[str, str]:
    """By the names that they bind, the imports that a function sees of packages of which arguments are built."""
    found = {}
    for node in (*_own(tree), *_own(scope)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] in _KNOWN:
                    bound = alias.asname or alias.name.split(".")[0]
                    found[bound] = ast.unparse(ast.Import([alias]))
        elif isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").split(".")[0] in _KNOWN:
            for alias in node.names:
                found[alias.asname or alias.name] = ast.unparse(ast.ImportFrom(node.module, [alias], 0))
    return found


def _assigned(scope: ast.AST, line: int) -> Mapping[str, ast.expr | None]:
    """What names are bound to in a function before a line: where that is once, and by a statement that is always run,
    the expression; else None."""
    always = {id(node) for node in getattr(scope, "body", ())}
    found: dict[str, ast.expr | None] = {}
    for node in _own(scope):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store | ast.Del):
            found[node.id] = None
    counts = [node.id for node in _own(scope) if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)]
    for node in _own(scope):
        if isinstance(node, ast.Assign) and id(node) in always and node.lineno < line and len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Name) and counts.count(target.id) == 1:
                found[target.id] = node.value
    return found


class _Unmakeable(Exception):
    """Something that hangs on more than is known here."""


@dataclass
class _Maker:
    """Writes expressions with nothing in them but literals and what `imports` bring; `used` are those of these."""

    imports: Mapping[str, str]
    assigned: Mapping[str, ast.expr | None]
    values: Mapping[str, object]

    def __post_init__(self) -> None:
        self.used: list[str] = []

    def made(self, node: ast.expr) -> ast.expr | None:
        """An expression so; None where that cannot be."""
        known = len(self.used)
        try:
            return self._made(copy.deepcopy(node), 0)
        except _Unmakeable:
            del self.used[known:]
            return None

    def _made(self, node: ast.expr, depth: int) -> ast.expr:
        if depth > DEPTH or isinstance(node, ast.Lambda | ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom):
            raise _Unmakeable
        if isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
            raise _Unmakeable
        root = _root(node)
        if root is not None and not isinstance(node, ast.Name) and root.id not in self.imports:
            return self._setting(node)
        if isinstance(node, ast.Name):
            return self._name(node, depth)
        for field, value in ast.iter_fields(node):
            setattr(node, field, self._part(value, depth))
        return node

    def _part(self, value: object, depth: int) -> object:
        if isinstance(value, list):
            return [self._part(each, depth) for each in value]
        if isinstance(value, ast.expr):
            return self._made(value, depth + 1)
        if isinstance(value, ast.keyword):
            return ast.keyword(value.arg, self._made(value.value, depth + 1))
        return value

    def _name(self, node: ast.Name, depth: int) -> ast.expr:
        if node.id in self.imports and node.id not in self.assigned:
            self.used.append(self.imports[node.id])
            return node
        if (value := self.assigned.get(node.id)) is not None:
            return self._made(copy.deepcopy(value), depth + 1)
        if node.id in _BUILT_IN and node.id not in self.assigned:
            return node
        if node.id in self.values and node.id not in self.assigned:
            return _literal(self.values[node.id])
        raise _Unmakeable

    def _setting(self, node: ast.expr) -> ast.expr:
        """`args.gpus`, as the project's options have it."""
        name = node.attr if isinstance(node, ast.Attribute) else _key(node)
        if name not in self.values:
            raise _Unmakeable
        return _literal(self.values[name])


def _literal(value: object) -> ast.expr:
    return ast.parse(repr(value), mode="eval").body


def _root(node: ast.expr) -> ast.Name | None:
    """The name that a chain of attributes and keys begins with."""
    if isinstance(node, ast.Name):
        return node
    if isinstance(node, ast.Attribute) or (isinstance(node, ast.Subscript) and _key(node)):
        return _root(node.value)
    return None


def _key(node: ast.expr) -> str:
    held = node.slice if isinstance(node, ast.Subscript) else None
    return held.value if isinstance(held, ast.Constant) and isinstance(held.value, str) else ""
