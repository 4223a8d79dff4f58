"""Keys that reach a Trainer by `**`, wherever they are set: one by one, in a class of fields, in a function."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from codemods.facts import TRAINER, Facts, literal
from codemods.rule import NodeEdit
from codemods.scopes import Scope, canonical
from codemods.source import CallNode, PythonFile
from codemods.syntax import Function
from codemods.trainer.calls import builds_trainer
from codemods.trainer.guards import asks_version
from codemods.trainer.kept import space_of

if TYPE_CHECKING:
    import libcst as cst

Place = ast.expr | ast.stmt | ast.keyword
_THROUGH = frozenset({
    "vars", "dict", "asdict", "copy", "deepcopy", "to_container", "create", "merge", "Namespace", "SimpleNamespace",
    "EasyDict", "edict", "Munch", "AttrDict", "DotMap",
})  # fmt: skip
"""What hands on the keys that it is given."""
_METHODS = frozenset({"copy", "dict", "model_dump", "to_dict", "_asdict"})
"""Methods that give an object's own keys."""
_PARSED = ("parse_args", "parse_known_args")
_DEEP = 5


@dataclass(frozen=True)
class Handed:
    """A key, the place that sets it and its value. `file` is where that is, `store` the statement `x["key"] = value`
    that does nothing else."""

    name: str
    place: Place
    value: ast.expr | None
    file: PythonFile
    store: ast.Assign | None = None

    @property
    def where(self) -> str:
        return f"{self.file.path}:{self.place.lineno}"


@dataclass(frozen=True)
class _At:
    """Where an expression is read: the file, the functions around it, and the scope of its names."""

    file: PythonFile
    functions: tuple[ast.AST, ...]
    scope: Scope


def handed(
    file: PythonFile, facts: Facts, within: tuple[ast.AST, ...], scope: Scope, value: ast.expr
) -> tuple[Handed, ...]:
    """The keys of what a call in `within` gets by `**`, each place once; those that stand under a question for the
    version serve both."""
    functions = tuple(item for item in within if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef))
    found: dict[int, Handed] = {}
    for item in _keys(_At(file, functions, scope), facts, value, 0):
        if not asks_version(item.file, item.place):
            found.setdefault(id(item.place), item)
    return tuple(found.values())


def _keys(at: _At, facts: Facts, node: ast.expr | None, depth: int) -> Iterator[Handed]:
    if node is None or depth > _DEEP:
        return
    if isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield Handed(key.value, key, value, at.file)
            elif key is None:
                yield from _keys(at, facts, value, depth + 1)
    elif isinstance(node, ast.IfExp):
        yield from _keys(at, facts, node.body, depth + 1)
        yield from _keys(at, facts, node.orelse, depth + 1)
    elif isinstance(node, ast.BoolOp):
        for part in node.values:
            yield from _keys(at, facts, part, depth + 1)
    elif isinstance(node, ast.BinOp):
        yield from _keys(at, facts, node.left, depth + 1)
        yield from _keys(at, facts, node.right, depth + 1)
    elif isinstance(node, ast.Call):
        yield from _of_call(at, facts, node, depth)
    elif isinstance(node, ast.Attribute) and node.attr == "__dict__":
        yield from _keys(at, facts, node.value, depth + 1)
    elif isinstance(node, ast.Name | ast.Attribute):
        yield from _of_name(at, facts, node, depth)


def _of_call(at: _At, facts: Facts, node: ast.Call, depth: int) -> Iterator[Handed]:
    name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
    if name in _PARSED:
        yield from _options(at.file)
    elif name in _THROUGH or name in _METHODS:
        if name in _METHODS and not node.args and isinstance(node.func, ast.Attribute):
            yield from _keys(at, facts, node.func.value, depth + 1)
        for item in node.keywords:
            if item.arg:
                yield Handed(item.arg, item, item.value, at.file)
        for inner in [*node.args, *(item.value for item in node.keywords if item.arg is None)]:
            yield from _keys(at, facts, inner, depth + 1)
    elif dotted := at.scope.resolve(node.func):
        yield from _of_definition(at, facts, dotted, node, depth)


def _options(file: PythonFile) -> Iterator[Handed]:
    for call in file.calls_near(["add_argument"]):
        for item in call.node.args:
            if isinstance(item, ast.Constant) and isinstance(item.value, str) and item.value.startswith("--"):
                yield Handed(item.value.lstrip("-").replace("-", "_"), item, None, file)


def _of_definition(at: _At, facts: Facts, dotted: str, node: ast.Call, depth: int) -> Iterator[Handed]:
    """The keys of what a class or a function of the project gives."""
    module, _, name = dotted.rpartition(".")
    file = at.file if module == at.file.module else _opened(facts, module)
    if file is None:
        return
    for item in file.classes:
        if item.qualname == name:
            yield from _fields(file, item.node)
            yield from (Handed(given.arg, given, given.value, at.file) for given in node.keywords if given.arg)
    for statement in file.tree.body:
        if isinstance(statement, ast.FunctionDef) and statement.name == name:
            inside = _At(file, (statement,), file.scope)
            for inner in ast.walk(statement):
                if isinstance(inner, ast.Return):
                    yield from _keys(inside, facts, inner.value, depth + 1)


def _opened(facts: Facts, module: str) -> PythonFile | None:
    """The file of a module of the project, where there is one of that name."""
    stem = module.replace(".", "/")
    tails = (f"{stem}.py", f"{stem}/__init__.py")
    paths = [path for path in facts.sources if any(path == tail or path.endswith(f"/{tail}") for tail in tails)]
    return facts.open(paths[0]) if module and len(paths) == 1 else None


def _fields(file: PythonFile, node: ast.ClassDef) -> Iterator[Handed]:
    """The fields of a class: those of its body, and what its constructor puts on self."""
    for statement in node.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            yield Handed(statement.target.id, statement, statement.value, file)
        elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            yield Handed(statement.targets[0].id, statement, statement.value, file)
        elif isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
            for inner in ast.walk(statement):
                if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store):
                    yield Handed(inner.attr, inner, None, file)


def _of_name(at: _At, facts: Facts, node: ast.Name | ast.Attribute, depth: int) -> Iterator[Handed]:
    """The keys of every value that a name is bound to, and those that are set in it afterwards."""
    text = ast.unparse(node)
    spaces: list[ast.AST] = [*reversed(at.functions), at.file.tree] if isinstance(node, ast.Name) else [at.file.tree]
    for space in spaces:
        found = list(_set_in(at, facts, space, text, depth))
        bound = any(ast.unparse(inner) == text for inner in _stores(space, type(node)))
        yield from found
        if isinstance(space, ast.FunctionDef | ast.AsyncFunctionDef) and text in _names(space):
            yield from _of_parameter(at, facts, space, text, depth)
            return
        if found or bound:
            return


def _names(function: Function) -> set[str]:
    return {item.arg for item in ast.walk(function.args) if isinstance(item, ast.arg)}


def _of_parameter(at: _At, facts: Facts, function: Function, name: str, depth: int) -> Iterator[Handed]:
    """The keys of the class that a parameter is said to be, and of what the file's own calls give for it."""
    if (note := _annotation(function, name)) and (dotted := at.scope.resolve(note)):
        yield from _of_definition(at, facts, dotted, ast.Call(note, [], []), depth)
    every = [item.arg for item in [*function.args.posonlyargs, *function.args.args]]
    rest = function.args.kwarg is not None and function.args.kwarg.arg == name
    for call in at.file.calls_near([function.name]):
        called = call.node.func
        if not isinstance(called, ast.Name) or called.id != function.name:
            continue
        functions = tuple(item for item in call.within if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef))
        there = _At(at.file, functions, call.scope)
        for item in call.node.keywords:
            if rest and item.arg and item.arg not in every:
                yield Handed(item.arg, item, item.value, at.file)
            elif (rest and item.arg is None) or item.arg == name:
                yield from _keys(there, facts, item.value, depth + 1)
        if name in every[: len(call.node.args)]:
            yield from _keys(there, facts, call.node.args[every.index(name)], depth + 1)


def _stores(space: ast.AST, kind: type[ast.Name | ast.Attribute]) -> Iterator[ast.expr]:
    return (inner for inner in ast.walk(space) if isinstance(inner, kind) and isinstance(inner.ctx, ast.Store))


def _annotation(function: Function, name: str) -> ast.expr | None:
    """What a parameter of that name is said to be."""
    every = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    return next((item.annotation for item in every if item.arg == name), None)


def _set_in(at: _At, facts: Facts, space: ast.AST, text: str, depth: int) -> Iterator[Handed]:
    for node in ast.walk(space):
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            for target in targets:
                if isinstance(target, ast.Name | ast.Attribute) and ast.unparse(target) == text:
                    yield from _keys(at, facts, node.value, depth + 1)
                elif isinstance(target, ast.Subscript) and ast.unparse(target.value) == text:
                    key = target.slice
                    if isinstance(key, ast.Constant) and isinstance(key.value, str):
                        store = node if isinstance(node, ast.Assign) and len(targets) == 1 else None
                        yield Handed(key.value, target, node.value, at.file, store)
                elif isinstance(target, ast.Attribute) and ast.unparse(target.value) == text:
                    yield Handed(target.attr, target, node.value, at.file)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            if ast.unparse(node.func.value) != text:
                continue
            if node.func.attr == "setdefault" and node.args and isinstance(node.args[0], ast.Constant):
                yield Handed(str(node.args[0].value), node.args[0], node.args[1] if node.args[1:] else None, at.file)
            elif node.func.attr == "update":
                yield from (Handed(item.arg, item, item.value, at.file) for item in node.keywords if item.arg)
                for inner in node.args:
                    yield from _keys(at, facts, inner, depth + 1)


def structured(file: PythonFile) -> Iterator[Handed]:
    """The fields of classes that tell Hydra to build a Trainer of them."""
    if "_target_" not in file.text:
        return
    for item in file.classes:
        fields = list(_fields(file, item.node))
        targets = [literal(field.value)[1] for field in fields if field.name == "_target_" and field.value]
        if any(isinstance(target, str) and canonical(target) == TRAINER for target in targets):
            yield from fields


def is_own(entry: Handed, file: PythonFile, call: CallNode) -> bool:
    """Whether a key is set by a statement of its own, in the function of a call that gets it, and the dictionary does
    nothing there but get keys and go to Trainers by `**`."""
    store, space = entry.store, space_of(file, call)
    target = store.targets[0] if store and entry.file is file else None
    if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
        return False
    name = target.value.id
    allowed = {
        id(item.value)
        for other in file.calls_near(file.spellings("Trainer"))
        if builds_trainer(other)
        for item in other.node.keywords
        if item.arg is None
    }
    for node in ast.walk(space):
        if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
            allowed.add(id(node.value))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "update":
            allowed.add(id(node.func.value))
    loads = [
        node
        for node in ast.walk(space)
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load)
    ]
    return target.value in loads and all(id(node) in allowed for node in loads)


def is_certain(entry: Handed, file: PythonFile, call: CallNode) -> bool:
    """Whether the statement runs whenever its function does."""
    return entry.store in space_of(file, call).body


def stored(entry: Handed, new: tuple[tuple[str, str | None], ...]) -> NodeEdit:
    """The statement with other keys in the place of its own; a text of None stands for the value that it had."""
    assert entry.store is not None
    return NodeEdit(entry.store, partial(_stored, new=new))


def _stored(node: cst.Assign, *, new: tuple[tuple[str, str | None], ...]) -> cst.Assign | cst.Expr:
    import libcst as cst

    target = cst.ensure_type(node.targets[0].target, cst.Subscript)
    values = [node.value if text is None else cst.parse_expression(text) for _, text in new]
    if len(new) == 1:
        index = cst.ensure_type(target.slice[0].slice, cst.Index)
        quote = cst.ensure_type(index.value, cst.SimpleString).quote
        key = index.with_changes(value=cst.SimpleString(f"{quote}{new[0][0]}{quote}"))
        changed = target.with_changes(slice=[target.slice[0].with_changes(slice=key)])
        return node.with_changes(targets=[node.targets[0].with_changes(target=changed)], value=values[0])
    equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    given = [cst.Arg(value, cst.Name(name), equal) for (name, _), value in zip(new, values, strict=True)]
    return cst.Expr(cst.Call(cst.Attribute(target.value, cst.Name("update")), given), semicolon=node.semicolon)
