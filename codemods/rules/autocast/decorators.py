"""AMP004 for `custom_fwd` and `custom_bwd`, the decorators of autograd functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from codemods.code.calls import called
from codemods.code.nodes import walk
from codemods.code.source import PythonFile
from codemods.code.syntax import Function
from codemods.finding import Fix
from codemods.lightning.facts import Facts
from codemods.lightning.versions import TORCH, admits_below
from codemods.rule import Match, TextEdit
from codemods.rules.autocast.members import chain_of
from codemods.rules.autocast.spelling import taken_elsewhere

SINCE = "2.4"
"""The torch that deprecated them, and has them in `torch.amp` for any device."""
MODULES = ("torch.cuda.amp", "torch.cuda.amp.autocast_mode")
NAMES = ("custom_fwd", "custom_bwd")
OLD = {f"{module}.{name}": name for module in MODULES for name in NAMES}


def decorators(file: PythonFile, facts: Facts) -> Iterator[Match]:
    """A match for each of the names, with the edits of all its places in the file."""
    found: dict[str, list[ast.expr]] = {}
    for node in walk(file.tree) if any(name in file.text for name in NAMES) else ():
        for item in node.decorator_list if isinstance(node, Function) else ():
            if name := OLD.get(file.scope.resolve(called(item)) or ""):
                found.setdefault(name, []).append(item)
    places = [place for each in found.values() for place in each]
    edits = _moved(file, facts, places) if found else None
    for name, own in found.items():
        more = f", here and in {len(own) - 1} more of this file's functions" if len(own) > 1 else ""
        message = f"`torch.cuda.amp.{name}` is deprecated since torch {SINCE}{more}"
        span = file.span(own[0])
        if edits is None or any(isinstance(place, ast.Call) and place.args for place in own):
            given = "cast_inputs=..., " if isinstance(own[0], ast.Call) and own[0].keywords else ""
            advice = f'write `@torch.amp.{name}({given}device_type="cuda")`, which needs torch {SINCE}'
            yield Match(span, message, "manual", f"Not rewritten: {advice}.")
            continue
        level, reason = _level(facts, name)
        own_edits = (*edits, *(edit for place in own for edit in _for_cuda(file, place)))
        yield Match(span, message, level, reason, edits=own_edits, unit=f"{file.path}:decorators")


def _level(facts: Facts, name: str) -> tuple[Fix, str]:
    if admits_below(facts, TORCH, SINCE):
        return "unsafe", f"torch.amp.{name} needs torch {SINCE}, and the project does not require it"
    return "safe", "the same decorator under its current name"


def _moved(file: PythonFile, facts: Facts, places: Sequence[ast.expr]) -> tuple[TextEdit, ...] | None:
    """The edits of the imports that bind the decorators' names; None where one binds something else too, a name is
    used otherwise or by another file, or a decorator is an attribute of anything but torch."""
    attributes = [node for place in places if isinstance(node := called(place), ast.Attribute)]
    decorating = {id(called(place)): node.id for place in places if isinstance(node := called(place), ast.Name)}
    if not all(_torch(file, node) for node in attributes):
        return None
    edits, bound = [], set[str]()
    for statement in file.imports:
        own = {alias.asname or alias.name for alias in statement.names}
        if own.isdisjoint(decorating.values()):
            continue
        plain = all(alias.name in NAMES and not alias.asname for alias in statement.names)
        if not isinstance(statement, ast.ImportFrom) or statement.module not in MODULES or not plain:
            return None
        start = file.text.index(statement.module, file.offsets(statement)[0])
        edits.append(TextEdit(start, start + len(statement.module), "torch.amp"))
        bound |= own
    used = (node for node in walk(file.tree) if isinstance(node, ast.Name) and node.id in bound)
    alone = all(id(node) in decorating for node in used) and not taken_elsewhere(file, facts, bound)
    return tuple(edits) if alone else None


def _torch(file: PythonFile, node: ast.Attribute) -> str:
    """The name of torch that the whole dotted name of a decorator starts with; none where it starts below torch."""
    chain = chain_of(node) or ("",)
    below = f"torch.{'.'.join(chain[1:])}" in OLD
    return chain[0] if below and file.scope.resolve(ast.Name(chain[0], ast.Load())) == "torch" else ""


def _for_cuda(file: PythonFile, place: ast.expr) -> Iterator[TextEdit]:
    """The edits that give a decorator its new name and its device."""
    function = called(place)
    if isinstance(function, ast.Attribute):
        start, end = file.offsets(function)
        yield TextEdit(start, end, f"{_torch(file, function)}.amp.{function.attr}")
    device = 'device_type="cuda"'
    end = file.offsets(place)[1]
    if not isinstance(place, ast.Call):
        yield TextEdit(end, end, f"({device})")
    elif place.keywords:
        last = file.offsets(place.keywords[-1].value)[1]
        yield TextEdit(last, last, f", {device}")
    else:
        yield TextEdit(end - 1, end - 1, device)
