"""Keys that reach a Trainer by `**`, wherever they are set: one by one, in a class of fields, in a function."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from codemods.code.literals import literal
from codemods.code.nodes import walk, walked
from codemods.code.source import CallNode, ClassNode, PythonFile
from codemods.code.syntax import Function, is_shared, is_spelled, own_nodes, returns, self_name, taken, targets_of
from codemods.lightning.called_values import DECLARING, given_back, handed_out, made_by
from codemods.lightning.callers import calls_of
from codemods.lightning.calls import alike_calls
from codemods.lightning.click_options import options_of
from codemods.lightning.dead_code import is_dead
from codemods.lightning.declared_names import default_of_option
from codemods.lightning.exclusive_use import (
    FILLING,
    always_run,
    gives_its_own,
    hands_on_keys,
    is_alone,
    set_in_every_arm,
    since_bound,
)
from codemods.lightning.facts import Facts
from codemods.lightning.file_memo import memo_of
from codemods.lightning.filtered_keys import may_pass
from codemods.lightning.fixtures import fixtures_of
from codemods.lightning.guards import asks_version
from codemods.lightning.instance_types import (
    ReadingPlace,
    Shape,
    definition_of,
    is_of_lightning,
    methods_of,
    shape_of,
    stores_in,
    targets_in,
    times_spoken,
)
from codemods.lightning.iterated_values import keys_gone_through, keys_listed, parametrized, unpacked
from codemods.lightning.own_signature import chosen_of
from codemods.lightning.parameters import default_of_parameter

Place = ast.expr | ast.stmt | ast.keyword | ast.arg
Holder = ast.Dict | ast.Call | ast.Assign | ast.AnnAssign
UNSEEN = "**"
"""The name of what stands for keys that cannot be seen."""
_THROUGH = frozenset({
    "vars", "dict", "asdict", "copy", "deepcopy", "to_container", "create", "merge", "Namespace", "SimpleNamespace",
    "EasyDict", "edict", "Munch", "AttrDict", "DotMap", "Box", "ConfigDict", "OrderedDict", "ChainMap", "defaultdict",
    "MappingProxyType",
})  # fmt: skip
"""What hands on the keys that it is given, whoever it is of."""
_METHODS = frozenset({"copy", "dict", "model_dump", "to_dict", "_asdict", "as_dict", "asdict", "todict"})
"""Methods that give an object's own keys."""
_PARSED = ("parse_args", "parse_known_args")
_DEEP = 6
_STEPS = 300


@dataclass(frozen=True)
class HandedKeyword:
    """A key, the place that sets it and its value. `file` is where that is, `holder` the dictionary, call, statement or
    field in which it can be exchanged for others. `alone` says that nothing but Trainers gets it, `always` that it is
    set whenever the Trainer is built. `default` is what it is where nobody gives another value."""

    name: str
    place: Place
    value: ast.expr | None
    file: PythonFile
    holder: Holder | None = None
    alone: bool = False
    always: bool = False
    default: ast.expr | None = None

    @property
    def where(self) -> str:
        return f"{self.file.path}:{self.place.lineno}"


def handed(file: PythonFile, facts: Facts, call: CallNode) -> tuple[HandedKeyword, ...]:
    """The keys that a call gets by `**`, each place once; those that stand under a question for the version serve
    both."""
    made: dict[ast.Call, tuple[HandedKeyword, ...]] = memo_of(file, facts).setdefault("handed", {})
    if call.node not in made:
        spread = any(item.arg is None for item in call.node.keywords)
        made[call.node] = tuple(_handed(file, facts, call)) if spread else ()
    return made[call.node]


def _handed(file: PythonFile, facts: Facts, call: CallNode) -> Iterator[HandedKeyword]:
    seen: set[int] = set()
    here = replace(ReadingPlace.of(file, call), alike=tuple(alike_calls(file, call)))
    runs = not asks_version(file, call.node, facts) and not is_dead(file, facts, file.span(call.node))
    for item in call.node.keywords if runs else ():
        if item.arg is None:
            for key in _keys(here, facts, item.value, KeywordWay(), 0):
                if id(key.place) not in seen and not asks_version(key.file, key.place, facts):
                    seen.add(id(key.place))
                    yield key


@dataclass(frozen=True)
class KeywordWay:
    """How surely the keys on the way to a Trainer go there alone, and always, and the steps that are left to look for
    them: names that lead to each other make more ways than can be gone."""

    alone: bool = True
    always: bool = True
    steps: Iterator[int] = field(default_factory=lambda: iter(range(_STEPS)))

    def but(self, alone: bool = True, always: bool = True) -> KeywordWay:
        return KeywordWay(self.alone and alone, self.always and always, self.steps)


def _key(
    at: ReadingPlace, way: KeywordWay, name: str, place: Place, value: ast.expr | None, holder: Holder | None = None
) -> HandedKeyword:
    return HandedKeyword(name, place, value, at.file, holder, way.alone, way.always)


def _keys(
    at: ReadingPlace, facts: Facts, node: ast.expr | None, way: KeywordWay, depth: int
) -> Iterator[HandedKeyword]:
    if isinstance(node, ast.Constant) or node is None:
        return
    if depth > _DEEP or next(way.steps, None) is None:
        yield _key(at, way, UNSEEN, node, None)
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield _key(at, way, key.value, key, value, node)
            elif key is None:
                yield from _keys(at, facts, value, way, depth + 1)
            else:
                yield _key(at, way, UNSEEN, key, value)
    elif isinstance(node, ast.IfExp):
        yield from _of_choice(at, facts, node, way, depth)
    elif isinstance(node, ast.BoolOp):
        for part in node.values:
            yield from _keys(at, facts, part, way.but(always=False), depth + 1)
    elif isinstance(node, ast.NamedExpr):
        yield from _keys(at, facts, node.value, way.but(alone=False), depth + 1)
    elif isinstance(node, ast.BinOp):
        yield from _keys(at, facts, node.left, way, depth + 1)
        yield from _keys(at, facts, node.right, way, depth + 1)
    elif isinstance(node, ast.Lambda):
        yield from _keys(at, facts, node.body, way.but(alone=False), depth + 1)
    elif listed := keys_listed(node):
        yield from (_key(at, way.but(alone=False), str(key.value), key, value) for key, value in listed)
    elif isinstance(node, ast.Call):
        yield from _of_call(at, facts, node, way, depth)
    elif isinstance(node, ast.Subscript):
        yield from _of_item(at, facts, node.value, node.slice, way, depth)
    elif isinstance(node, ast.Attribute) and node.attr == "__dict__":
        yield from _keys(at, facts, node.value, way, depth + 1)
    elif isinstance(node, ast.Name | ast.Attribute):
        yield from _of_name(at, facts, node, way, depth)
    else:
        yield from _of_unseen(at, facts, node, way, depth)


def _of_choice(at: ReadingPlace, facts: Facts, node: ast.IfExp, way: KeywordWay, depth: int) -> Iterator[HandedKeyword]:
    """The keys of both arms; those that are in both are set always."""
    arms = [list(_keys(at, facts, arm, way, depth + 1)) for arm in (node.body, node.orelse)]
    both = {item.name for item in arms[0]} & {item.name for item in arms[1]}
    for item in (*arms[0], *arms[1]):
        yield item if item.name in both else replace(item, always=False)


def _of_item(
    at: ReadingPlace, facts: Facts, owner: ast.expr, key: ast.expr, way: KeywordWay, depth: int
) -> Iterator[HandedKeyword]:
    """The keys of what a dictionary holds under a key; of all that it holds where the key is worked out."""
    known, name = literal(key)
    every = [item for item in _keys(at, facts, owner, way.but(alone=False), depth + 1) if item.value is not None]
    found = [item for item in every if item.name == name] if known else every
    for item in found:
        inside = at if item.file is at.file else ReadingPlace(item.file, (), item.file.scope, None)
        yield from _keys(inside, facts, item.value, way.but(alone=False, always=known), depth + 1)
    if not found or not known:
        yield _key(at, way, UNSEEN, owner, None)


def _of_call(at: ReadingPlace, facts: Facts, node: ast.Call, way: KeywordWay, depth: int) -> Iterator[HandedKeyword]:
    function = node.func
    name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
    found = list(_of_project(at, facts, node, way, depth))
    if found:
        yield from found
    elif name in _PARSED:
        yield from _options(at, way)
    elif name == "locals" and isinstance(function, ast.Name) and not (node.args or node.keywords):
        yield from _locals(at, way)
    elif name in ("get", "pop") and isinstance(function, ast.Attribute) and node.args:
        yield from _of_item(at, facts, function.value, node.args[0], way, depth)
    elif name in DECLARING:
        for value in (*handed_out(node), *made_by(node)):
            yield from _keys(at, facts, value, way.but(alone=False), depth + 1)
    elif name in _THROUGH or name in _METHODS:
        if name in _METHODS and not node.args and isinstance(function, ast.Attribute):
            yield from _keys(at, facts, function.value, way, depth + 1)
        known = hands_on_keys(at, function)
        way = way.but(alone=known or name in _METHODS)
        holder = node if known and isinstance(function, ast.Name) and name == "dict" else None
        for item in node.keywords:
            if item.arg:
                yield _key(at, way, item.arg, item, item.value, holder)
        for inner in [*node.args, *(item.value for item in node.keywords if item.arg is None)]:
            yield from _keys(at, facts, inner, way, depth + 1)
    else:
        yield from _of_unseen(at, facts, node, way, depth)


def _of_unseen(at: ReadingPlace, facts: Facts, node: ast.expr, way: KeywordWay, depth: int) -> Iterator[HandedKeyword]:
    """The keys that something which cannot be looked into may hand on from what it is given, or goes through."""
    way = way.but(alone=False, always=False)
    yield _key(at, way, UNSEEN, node, None)
    parts: list[ast.expr] = []
    if isinstance(node, ast.Call):
        parts += [*node.args, *(item.value for item in node.keywords)]
        if isinstance(node.func, ast.Attribute) and (
            node.func.attr == "items" or isinstance(node.func.value, ast.Call)
        ):
            parts.append(node.func.value)
        yield from (_key(at, way, item.arg, item, item.value) for item in node.keywords if item.arg)
    elif isinstance(node, ast.DictComp | ast.GeneratorExp | ast.ListComp):
        parts += [item.iter for item in node.generators]
    asks = [test for item in node.generators for test in item.ifs] if isinstance(node, ast.DictComp) else []
    if isinstance(node, ast.DictComp | ast.GeneratorExp | ast.ListComp):
        if (source := chosen_of(at.file, at.functions, node)) is not None:
            yield from (key for key in _keys(at, facts, source, way, depth + 1) if key.name != UNSEEN)
        for key, value in keys_gone_through(node, (*reversed(at.functions), at.file.tree)):
            if all(may_pass(at.file, node, test, str(key.value)) for test in asks):
                yield replace(_key(at, way, str(key.value), key, None), default=value)
    for part in parts:
        if not (isinstance(part, ast.Name) and at.functions and part.id == self_name(at.functions[0])):
            found = (key for key in _keys(at, facts, part, way, depth + 1) if key.name != UNSEEN)
            yield from (key for key in found if all(may_pass(at.file, node, test, key.name) for test in asks))


def _of_project(at: ReadingPlace, facts: Facts, node: ast.Call, way: KeywordWay, depth: int) -> Iterator[HandedKeyword]:
    """The keys of what a class, a function or a method of the project gives."""
    found = definition_of(at, facts, node.func)
    if found is None:
        owner = shape_of(at, facts, node.func.value) if isinstance(node.func, ast.Attribute) else None
        if owner is not None and isinstance(node.func, ast.Attribute) and node.func.attr not in _METHODS:
            yield from _of_methods(facts, owner, node.func.attr, way, depth)
        return
    file, item = found
    if isinstance(item, ast.ClassDef):
        yield from (_key(at, way.but(alone=False), key.arg, key, key.value) for key in node.keywords if key.arg)
        for shape in file.classes:
            if shape.node is item:
                yield from fields_of(file, facts, shape, way)
    else:
        inside = ReadingPlace(file, (item,), file.scope, None)
        alone = times_spoken(facts, item.name) == 2 and gives_its_own(file, item)
        yield from _of_returns(inside, facts, item, way.but(alone), depth)


def _of_methods(facts: Facts, owner: Shape, name: str, way: KeywordWay, depth: int) -> Iterator[HandedKeyword]:
    """The keys of what a method, or property, gives, in whatever class of the project it may be."""
    found = list(methods_of(facts, *owner, name))
    alone = len(found) == 1 and times_spoken(facts, name) == 2
    for file, holder, function in found:
        alone = alone and gives_its_own(file, function)
        inside = ReadingPlace(file, (function,), file.scope, holder)
        yield from _of_returns(inside, facts, function, way.but(alone, len(found) == 1), depth)


def _of_returns(
    at: ReadingPlace, facts: Facts, function: Function, way: KeywordWay, depth: int
) -> Iterator[HandedKeyword]:
    found = returns(function)
    for node in found:
        yield from _keys(at, facts, node.value, way.but(always=found == function.body[-1:]), depth + 1)


def _locals(at: ReadingPlace, way: KeywordWay) -> Iterator[HandedKeyword]:
    """The names of the innermost function, or of the module, as `locals()` gives them."""
    space = at.functions[-1] if at.functions else at.file.tree
    way = way.but(alone=False)
    if not isinstance(space, ast.Module):
        for item in taken(space):
            yield _key(at, way, item.arg, item, default_of_parameter(space.args, item.arg))
    for node in own_nodes(space):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield _key(at, way.but(always=False), node.id, node, None)


def _options(at: ReadingPlace, way: KeywordWay) -> Iterator[HandedKeyword]:
    for call in at.file.calls_near(["add_argument"]):
        for item in call.node.args:
            if isinstance(item, ast.Constant) and isinstance(item.value, str) and item.value.startswith("--"):
                key = _key(at, way.but(alone=False), item.value.lstrip("-").replace("-", "_"), item, None)
                yield replace(key, default=default_of_option(at.file, key.name))


def fields_of(
    file: PythonFile, facts: Facts, item: ClassNode, way: KeywordWay | None = None, depth: int = 0
) -> Iterator[HandedKeyword]:
    """The fields of a class: those of its body and its bases, and what its constructor puts on self."""
    at, way = ReadingPlace(file, (), item.scope, item), (way or KeywordWay()).but(alone=False)
    for base in item.node.bases if depth < _DEEP else ():
        found = definition_of(at, facts, base)
        if found is not None and isinstance(found[1], ast.ClassDef):
            above = next(other for other in found[0].classes if other.node is found[1])
            yield from fields_of(found[0], facts, above, way, depth + 1)
    for statement in item.node.body:
        if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            yield _key(at, way, statement.target.id, statement, statement.value, statement)
        elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            yield _key(at, way, statement.targets[0].id, statement, statement.value)
        elif isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
            for inner in walk(statement):
                if isinstance(inner, ast.Attribute) and isinstance(inner.ctx, ast.Store):
                    yield _key(at, way, inner.attr, inner, None)


def _of_name(
    at: ReadingPlace, facts: Facts, node: ast.Name | ast.Attribute, way: KeywordWay, depth: int
) -> Iterator[HandedKeyword]:
    """The keys of every value that a name is bound to, and those that are set in it afterwards."""
    text = ast.unparse(node)
    for space in (*reversed(at.functions), at.file.tree) if isinstance(node, ast.Name) else (at.file.tree,):
        if not isinstance(space, ast.Module) and text in _names(space):
            here = way.but(alone=way.alone and is_alone(at, facts, space, node))
            yield from _set_in(at, facts, space, node, here, depth)
            yield from _of_parameter(at, facts, space, node, way, depth)
            return
        bound = any(is_spelled(inner, text) for inner in stores_in(space, type(node)))
        if not isinstance(space, ast.Module) and (not bound or is_shared(space, text)):
            continue
        here = way.but(alone=way.alone and is_alone(at, facts, space, node))
        yield from _set_in(at, facts, space, node, here, depth)
        if bound:
            return
    owner = shape_of(at, facts, node.value) if isinstance(node, ast.Attribute) else None
    given: list[HandedKeyword] = []
    if owner and isinstance(node, ast.Attribute):
        given += _of_methods(facts, owner, node.attr, way, depth)
        given += _of_default(facts, owner, node.attr, way, depth)
    given = given or list(_of_module(at, facts, node, way, depth))
    yield from given or _of_shape(at, facts, node, way, depth)


def _of_module(
    at: ReadingPlace, facts: Facts, node: ast.Name | ast.Attribute, way: KeywordWay, depth: int
) -> Iterator[HandedKeyword]:
    """The keys of what another module of the project binds to a name, and of what it sets in it."""
    dotted = at.scope.resolve(node)
    for _ in range(_DEEP):
        module, __, name = (dotted or "").rpartition(".")
        path = facts.path_of(module, at.file.path) if module and module != at.file.module else None
        home = facts.open(path) if path else None
        if home is None:
            return
        if any(isinstance(item, ast.Name) and item.id == name for item in targets_in(home.tree)):
            there = ReadingPlace(home, (), home.scope, None)
            yield from _set_in(there, facts, home.tree, ast.Name(name), way.but(alone=False), depth + 1)
            return
        at, dotted = ReadingPlace(home, (), home.scope, None), home.scope.lookup(name)


def _of_default(facts: Facts, owner: Shape, name: str, way: KeywordWay, depth: int) -> Iterator[HandedKeyword]:
    """The keys of what the body of a class binds a name to."""
    file, item = owner
    for statement in item.node.body:
        named = any(isinstance(target, ast.Name) and target.id == name for target in targets_of(statement))
        value = statement.value if isinstance(statement, ast.Assign | ast.AnnAssign) and named else None
        if isinstance(value, ast.Dict | ast.Call):
            inside = ReadingPlace(file, (), item.scope, item)
            found = list(_keys(inside, facts, value, way.but(alone=False), depth + 1))
            yield from found if any(key.name != UNSEEN for key in found) else ()


def _of_shape(
    at: ReadingPlace, facts: Facts, node: ast.Name | ast.Attribute, way: KeywordWay, depth: int = _DEEP
) -> Iterator[HandedKeyword]:
    """The fields of what a name stands for."""
    if shape := shape_of(at, facts, node):
        yield from fields_of(shape[0], facts, shape[1], way)
    elif isinstance(node, ast.Attribute) and depth < _DEEP:
        yield from _of_item(at, facts, node.value, ast.Constant(node.attr), way, depth)
    else:
        yield _key(at, way, UNSEEN, node, None)


def _names(function: Function) -> set[str]:
    return {item.arg for item in taken(function)}


def _of_parameter(
    at: ReadingPlace, facts: Facts, function: Function, node: ast.Name | ast.Attribute, way: KeywordWay, depth: int
) -> Iterator[HandedKeyword]:
    """The keys of the class that a parameter is said to be, and of what the file's own calls give for it."""
    name, way = ast.unparse(node), way.but(alone=False, always=False)
    yield from _of_shape(at, facts, node, way)
    for value in parametrized(function, at.file.tree, name):
        yield from _keys(at, facts, value, way, depth + 1)
    for home, fixture in fixtures_of(at.file, facts, function, name):
        inside = ReadingPlace(home, (fixture,), home.scope, None)
        for _, _, given in given_back(home, (), fixture):
            yield from _keys(inside, facts, given, way, depth + 1)
    every = [item.arg for item in [*function.args.posonlyargs, *function.args.args]]
    rest = function.args.kwarg is not None and function.args.kwarg.arg == name
    for option, default in options_of(at.file, function) if rest else ():
        yield replace(_key(at, way, str(option.value), option, None), default=default)
    seen = is_of_lightning(at, facts, function)  # what calls of such a class give it is found at these
    for there, call, bound in calls_of(at, facts, function):
        taken_here = every[1:] if bound else every
        for item in call.keywords:
            if rest and item.arg and item.arg not in every and (not seen if bound else there.file is at.file):
                yield _key(there, way, item.arg, item, item.value)
            elif (rest and item.arg is None) or item.arg == name:
                yield from _keys(there, facts, item.value, way, depth + 1)
        if name in taken_here[: len(call.args)]:
            yield from _keys(there, facts, call.args[taken_here.index(name)], way, depth + 1)


def _set_in(
    at: ReadingPlace, facts: Facts, space: ast.AST, use: ast.expr, way: KeywordWay, depth: int
) -> Iterator[HandedKeyword]:
    """The keys of what a space assigns to a name that is used, and of what it sets in it."""
    text = ast.unparse(use)
    always = always_run(space, "." in text) | set_in_every_arm(space, text)
    bound = sum(is_spelled(node, text) for node in targets_in(space))
    lines = since_bound(space, text, use) if bound > 1 else None
    way = way.but(alone=way.alone and not _is_of_a_class(at, facts, space, text))
    for value in unpacked(space, at.file.tree, text):
        if value is None:
            yield _key(at, way, UNSEEN, space if isinstance(space, ast.stmt) else at.file.tree.body[0], None)
        yield from _keys(at, facts, value, way.but(alone=False, always=False), depth + 1)
    for node in walked(space):
        if lines and getattr(node, "lineno", lines.start) not in lines:
            continue
        here = way.but(always=id(node) in always and (bound < 2 or lines is not None))
        if isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if text in ast.unparse(target):
                    yield from _of_target(at.around(space, node), facts, node, target, text, here, depth)
        elif isinstance(node, ast.Call) and _fills(node.func, text):
            yield from _of_filling(at.around(space, node), facts, node, here, depth)


def _fills(function: ast.expr, text: str) -> bool:
    """Whether what is called fills what is spelled so."""
    return isinstance(function, ast.Attribute) and function.attr in FILLING and is_spelled(function.value, text)


def _is_of_a_class(at: ReadingPlace, facts: Facts, space: ast.AST, text: str) -> bool:
    """Whether a space makes a name an instance of a class of the project, which may do anything with its keys."""
    return any(
        isinstance(node, ast.Assign | ast.AnnAssign)
        and isinstance(node.value, ast.Call)
        and any(is_spelled(item, text) for item in targets_of(node))
        and shape_of(at, facts, node.value) is not None
        for node in walked(space)
    )


def _of_target(
    at: ReadingPlace, facts: Facts, node: ast.Assign | ast.AnnAssign | ast.AugAssign, target: ast.expr, text: str,
    way: KeywordWay, depth: int,
) -> Iterator[HandedKeyword]:  # fmt: skip
    """The keys of what is assigned to a name, to an item of it, or to an attribute."""
    if isinstance(target, ast.Name | ast.Attribute) and is_spelled(target, text):
        yield from _keys(at, facts, node.value, way, depth + 1)
    elif isinstance(target, ast.Subscript) and is_spelled(target.value, text):
        known, key = literal(target.slice)
        plain = isinstance(node, ast.Assign) and len(node.targets) == 1
        value = None if isinstance(node, ast.AugAssign) else node.value
        holder = node if isinstance(node, ast.Assign) and plain else None
        yield _key(at, way, key if known and isinstance(key, str) else UNSEEN, target, value, holder)
    elif isinstance(target, ast.Attribute) and is_spelled(target.value, text):
        yield _key(at, way.but(alone=False), target.attr, target, node.value)


def _of_filling(at: ReadingPlace, facts: Facts, node: ast.Call, way: KeywordWay, depth: int) -> Iterator[HandedKeyword]:
    """The keys that `x.update(...)` and `x.setdefault("key", value)` bring."""
    if isinstance(node.func, ast.Attribute) and node.func.attr == "setdefault":
        if node.args and isinstance(node.args[0], ast.Constant):
            value = node.args[1] if node.args[1:] else None
            yield _key(at, way.but(always=False), str(node.args[0].value), node.args[0], value)
        return
    for item in node.keywords:
        if item.arg:
            yield _key(at, way, item.arg, item, item.value, node)
        else:
            yield from _keys(at, facts, item.value, way, depth + 1)
    for inner in node.args:
        yield from _keys(at, facts, inner, way, depth + 1)
