"""Trainers that a function builds, in one branch or several, and gives back with others or alone: what each of them
resumes from is read of a parameter, which the caller can say to `fit` too."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from codemods.code.calls import Space, keyword, space_of
from codemods.code.nodes import every_node
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import Function, is_shared, returns, takes
from codemods.lightning.calls import builds_trainer
from codemods.lightning.configured_values import is_set_by_modules
from codemods.lightning.facts import Facts
from codemods.lightning.instance_types import times_spoken
from codemods.lightning.trainer_variables import calls_of, escapes, is_bound_once, kept_in, readings_of
from codemods.rules.trainer.branched_checkpoint import BEFORE_IT, stores
from codemods.rules.trainer.resumed import fits_at_once, uses_of


@dataclass(frozen=True)
class CallersFit:
    """A call of `fit` by a caller, and the checkpoint as it is called there."""

    file: PythonFile
    call: CallNode
    text: str


@dataclass(frozen=True)
class GivenBack:
    """The Trainers that a function gives back, in their order, and where callers fit them."""

    function: ast.FunctionDef
    built: tuple[ast.Call, ...]
    fits: tuple[CallersFit, ...]


def given_back(
    file: PythonFile, facts: Facts, call: CallNode, item: ast.keyword, newer: PythonFile | None = None
) -> GivenBack | None:
    """Who gets a Trainer that a function of the module gives back, where all that it may give back resume alike, from
    what a parameter is or has; None where that, or a fit, cannot be followed."""
    function = call.within[0] if len(call.within) == 1 else None
    if not isinstance(function, ast.FunctionDef) or function.decorator_list:
        return None
    owner = _parameter(facts, function, item.value)
    parts = _parts(function, file, call.node)
    if owner is None or parts is None:
        return None
    part, built = parts
    if not _resume_alike(file, function, built, item) or _is_used(file, function, built):
        return None
    fits: list[CallersFit] = []
    known = 1
    for other, use in uses_of(facts, file, function, newer or file):
        known += 1
        if use is not None:
            found = _of_caller(facts, other, use, function, part, owner, file.source_of(item.value))
            if found is None:
                return None
            fits += found
    if known != times_spoken(facts, function.name) or not fits:
        return None
    return GivenBack(function, tuple(sorted(built, key=lambda node: node.lineno)), tuple(fits))


def _parameter(facts: Facts, function: ast.FunctionDef, value: ast.expr) -> str | None:
    """The parameter that an expression is, or reads an attribute of which nothing sets."""
    root = _root(facts, value)
    return root if root and takes(function, root) and not stores(function, root) else None


def _root(facts: Facts, node: ast.expr) -> str | None:
    """The name that a chain of attributes begins with of which no module of the project sets any."""
    while isinstance(node, ast.Attribute):
        if is_set_by_modules(facts, node.attr):
            return None
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


def _parts(function: ast.FunctionDef, file: PythonFile, call: ast.Call) -> tuple[int | None, set[ast.Call]] | None:
    """The place of what is given back in the tuples that a function gives, None where it gives no tuples; and all calls
    whose results it may be."""
    given = [node.value for node in returns(function)]
    places = {place for value in given for place, node in _elements(value) if call in _values(file, function, node)}
    if len(places) != 1:
        return None
    (place,) = places
    found: set[ast.Call] = set()
    for value in given:
        values = [each for own, node in _elements(value) if own == place for each in _values(file, function, node)]
        if not values or not all(isinstance(each, ast.Call) for each in values):
            return None
        found |= {each for each in values if isinstance(each, ast.Call)}
    return place, found


def _elements(value: ast.expr | None) -> Iterator[tuple[int | None, ast.expr | None]]:
    if isinstance(value, ast.Tuple) and not any(isinstance(each, ast.Starred) for each in value.elts):
        yield from enumerate(value.elts)
    else:
        yield None, value


def _values(file: PythonFile, function: ast.FunctionDef, node: ast.expr | None) -> list[ast.expr | None]:
    if not isinstance(node, ast.Name):
        return [node]
    if is_shared(function, node.id):
        return []
    return next((values for read, values in readings_of(file, function, node.id) if read is node), [])


def _resume_alike(file: PythonFile, function: Function, built: set[ast.Call], item: ast.keyword) -> bool:
    """Whether some calls all build Trainers in a function that resume from the same."""
    calls = [each for each in file.calls_near(file.spellings("Trainer")) if each.node in built]
    given = [keyword(each.node, item.arg or "") for each in calls if builds_trainer(each)]
    own = all(space_of(file, each) is function for each in calls)
    return (
        len(given) == len(built) and own and {each and ast.dump(each.value) for each in given} == {ast.dump(item.value)}
    )


def _is_used(file: PythonFile, function: ast.FunctionDef, built: set[ast.Call]) -> bool:
    """Whether a function fits what it builds, or hands it to others."""
    given = {id(node) for each in returns(function) for _, node in _elements(each.value)}
    read = {id(node.value): node.attr for node in every_node(function) if isinstance(node, ast.Attribute)}
    names = {node.id for node in every_node(function) if isinstance(node, ast.Name)}
    return any(
        id(node) not in given and read.get(id(node), "fit") == "fit"
        for name in names
        for node, values in readings_of(file, function, name)
        if not built.isdisjoint(values)
    )


def _of_caller(
    facts: Facts,
    file: PythonFile,
    use: CallNode,
    function: ast.FunctionDef,
    part: int | None,
    owner: str,
    text: str,
) -> list[CallersFit] | None:
    """The fits of what a call of the function gives, where what it was given for a parameter is still that."""
    given = _argument(function, use.node, owner)
    root = _root(facts, given) if given else None
    if given is None or root is None or not _is_kept(space_of(file, use), root, use.node):
        return None
    own = fits_at_once(file, use) if part is None else []
    if not own:
        name = kept_in(file, use) if part is None else _unpacked(file, use, part)
        if name is None or escapes(facts, file, use, name, "fit"):
            return None
        own = calls_of(file, use, name, "fit")
    keys = {*text.split(".")[1:], *file.source_of(given).split(".")[1:]}
    if any(_is_set_behind(space_of(file, use), key, use.node) for key in keys):
        return None
    said = file.source_of(given) + text[len(owner) :]
    return [CallersFit(file, fit, said) for fit in own] if all(_takes_one_more(fit.node) for fit in own) else None


def _argument(function: ast.FunctionDef, call: ast.Call, name: str) -> ast.expr | None:
    """What a call gives for a parameter by its place or name."""
    if any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords):
        return None
    places = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    if name in places[: len(call.args)]:
        return call.args[places.index(name)]
    item = keyword(call, name)
    return item.value if item else None


def _is_kept(space: Space, name: str, call: ast.Call) -> bool:
    """Whether a name is what it was from a call on, in its function or module."""
    lines = [node.lineno for node in stores(space, name)]
    return not is_shared(space, name) and (not lines or (len(lines) == 1 and lines[0] < call.lineno))


def _is_set_behind(space: Space, key: str, call: ast.Call) -> bool:
    """Whether a function or module sets an attribute of that name behind a call."""
    return any(
        isinstance(node, ast.Attribute)
        and node.attr == key
        and not isinstance(node.ctx, ast.Load)
        and node.lineno > call.lineno
        for node in every_node(space)
    )


def _unpacked(file: PythonFile, call: CallNode, part: int) -> str | None:
    """The name that alone gets one part of what a call gives."""
    target = next((each.node.targets[0] for each in file.assignments if _gets(each.node, call.node)), None)  # type: ignore[union-attr]
    elements = target.elts if isinstance(target, ast.Tuple) else []
    if part >= len(elements) or any(isinstance(each, ast.Starred) for each in elements):
        return None
    node, space = elements[part], space_of(file, call)
    alone = isinstance(node, ast.Name) and not is_shared(space, node.id) and is_bound_once(space, node.id)
    return node.id if alone and isinstance(node, ast.Name) else None


def _gets(statement: ast.AST, call: ast.Call) -> bool:
    return isinstance(statement, ast.Assign) and statement.value is call and len(statement.targets) == 1


def _takes_one_more(fit: ast.Call) -> bool:
    spread = any(each.arg in (None, "ckpt_path") for each in fit.keywords)
    return not spread and len(fit.args) <= BEFORE_IT and not any(isinstance(each, ast.Starred) for each in fit.args)
