"""LIT126: two callbacks of one Trainer whose state would have the same key in a checkpoint."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from codemods.code.calls import last_name, space_of
from codemods.code.literals import literal
from codemods.code.nodes import BLOCK_FIELDS
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import own_nodes
from codemods.lightning.facts import Facts
from codemods.lightning.versions import reaches
from codemods.rule import Example, Match, Rule
from codemods.rules.trainer.callbacks import CHECKPOINTS, STOPPERS, assigned_and_added

NAMES = ("ModelCheckpoint", "EarlyStopping")
INTERVALS = ("every_n_train_steps", "every_n_epochs", "train_time_interval")
PERIOD = "period"
"""The old name of `every_n_epochs`."""
MESSAGE = "two {} with the same {} are a RuntimeError since Lightning 1.9"
SAME = {"ModelCheckpoint": "`monitor`, `mode` and intervals", "EarlyStopping": "`monitor` and `mode`"}
REASON = (
    "Not rewritten: Trainer tells them apart by these alone, and needs to, for what a checkpoint keeps of each. Keep "
    "one, or build this one of a class of its own: `class {}(...): pass` below {}."
)
OWN = {"ModelCheckpoint": "SecondCheckpoint", "EarlyStopping": "SecondStopping"}


@dataclass(frozen=True)
class _StateKey:
    """What tells a callback from others of its class; the texts of values that are the same wherever they stand."""

    name: str
    parts: tuple[str, ...]


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    if not reaches(facts, "1.9.0"):
        return
    spaces: dict[int, tuple[ast.AST, dict[int, _StateKey]]] = {}
    for call in file.calls_near(NAMES):
        if key := _key(call) if _is_called_so(file, call.node) else None:
            space: ast.AST = space_of(file, call)
            spaces.setdefault(id(space), (space, {}))[1][id(call.node)] = key
    for space, keys in spaces.values():
        told = set[int]()
        for group in _lists(space):
            for made, key in _again(space, keys, group):
                if id(made) not in told:
                    told.add(id(made))
                    reason = REASON.format(OWN[key.name], key.name)
                    yield Match(file.span(made), MESSAGE.format(key.name, SAME[key.name]), "manual", reason)


def _again(
    space: ast.AST, keys: Mapping[int, _StateKey], group: list[ast.expr]
) -> Iterator[tuple[ast.expr, _StateKey]]:
    """The callbacks of a list whose key one before them has."""
    seen = set[_StateKey]()
    for element in group:
        made = _made(space, element)
        key = keys.get(id(made))
        if made and key and key in seen:
            yield made, key
        seen |= {key} if key else set()


def _made(space: ast.AST, element: ast.expr) -> ast.expr | None:
    """The call that makes an element of a list, where it is a name the one value of that."""
    if not isinstance(element, ast.Name):
        return element
    bound = assigned_and_added(space, element.id)
    return bound[0][0] if bound and len(bound[0]) == 1 and not bound[1] else None


def _is_called_so(file: PythonFile, node: ast.Call) -> bool:
    """Whether the text says the name of the class, and not that of one below it, which the normal form sees through."""
    start, end = file.offsets(node)
    return file.text[start:end].partition("(")[0].rpartition(".")[2].strip() == last_name(node.func)


def _key(call: CallNode) -> _StateKey | None:
    """The key of a callback of Lightning's own classes; None where an argument of it may be anything."""
    dotted = call.scope.resolve(call.node.func)
    if any(item.arg is None for item in call.node.keywords) or dotted not in (*CHECKPOINTS, *STOPPERS):
        return None
    given = {item.arg: item.value for item in call.node.keywords if item.arg}
    monitoring = dotted in STOPPERS
    if len(call.node.args) > (1 if monitoring else 2) or any(isinstance(each, ast.Starred) for each in call.node.args):
        return None
    if monitoring and call.node.args:
        given["monitor"] = call.node.args[0]
    if PERIOD in given:
        given[INTERVALS[1]] = given.pop(PERIOD)
    parts = {name: _text(given.get(name)) for name in ("monitor", "mode", *(() if monitoring else INTERVALS))}
    if None in parts.values():
        return None
    parts["mode"] = "'min'" if parts["mode"] == "None" else parts["mode"]
    if not monitoring:
        parts |= _intervals({name: parts[name] or "" for name in INTERVALS})
    return _StateKey(NAMES[monitoring], tuple(part or "" for part in parts.values()))


def _intervals(given: dict[str, str]) -> dict[str, str]:
    """The intervals as ModelCheckpoint keeps them."""
    steps, epochs, time = INTERVALS
    if set(given.values()) == {"None"}:
        return {steps: "0", epochs: "1", time: "None"}
    return {name: "0" if name != time and given[name] == "None" else given[name] for name in INTERVALS}


def _text(node: ast.expr | None) -> str | None:
    """The text of a value that is the same for both callbacks of one function: a constant, a name, an attribute."""
    if node is None:
        return "None"
    known, value = literal(node)
    if known:
        return repr(value)
    plain = isinstance(node, ast.Name | ast.Attribute | ast.Subscript)
    calls = any(isinstance(each, ast.Call | ast.NamedExpr) for each in ast.walk(node))
    return ast.unparse(node) if plain and not calls else None


def _lists(space: ast.AST) -> Iterator[list[ast.expr]]:
    """What lists have in them: those that are written, and those that the statements of one block add to."""
    yield from _grown(getattr(space, "body", []))
    for node in own_nodes(space):
        if isinstance(node, ast.List):
            yield node.elts
        for name in BLOCK_FIELDS.get(type(node), ()):
            yield from _grown(getattr(node, name))


def _grown(block: list[ast.AST]) -> Iterator[list[ast.expr]]:
    lists: dict[str, list[ast.expr]] = {}
    for statement in block:
        match statement:
            case ast.Assign(targets=[target], value=ast.List(elts)):
                yield lists.pop(ast.unparse(target), [])
                lists[ast.unparse(target)] = [*elts]
            case ast.Expr(ast.Call(ast.Attribute(grown, "append"), [item])):
                lists.setdefault(ast.unparse(grown), []).append(item)
            case ast.Expr(ast.Call(ast.Attribute(grown, "extend"), [ast.List(elts)])):
                lists.setdefault(ast.unparse(grown), []).extend(elts)
            case ast.AugAssign(grown, ast.Add(), ast.List(elts)):
                lists.setdefault(ast.unparse(grown), []).extend(elts)
            case ast.Assign(targets=targets):
                yield from (lists.pop(ast.unparse(target), []) for target in targets)
    yield from lists.values()


BEFORE = """\
from pytorch_lightning import Trainer
from pytorch_lightning.callbacks import ModelCheckpoint

best = ModelCheckpoint(monitor="val_loss", filename="best")
kept = ModelCheckpoint(monitor="val_loss", filename="{epoch}", save_top_k=-1)
trainer = Trainer(callbacks=[best, kept])
"""
OTHER = BEFORE.replace('monitor="val_loss", filename="best"', 'monitor="val_acc", mode="max", filename="best"')

RULE = Rule(
    code="LIT126",
    name="twin-callbacks",
    summary="Two checkpoint or early-stopping callbacks that Trainer cannot tell apart",
    why=(
        "Since Lightning 1.9 Trainer refuses two callbacks whose state would have the same key in a checkpoint "
        "(`_validate_callbacks_list`): ModelCheckpoint by the same monitor, mode and intervals, EarlyStopping by the "
        "same monitor and mode, whatever else differs. Before, both ran."
    ),
    fix="manual",
    versions="Lightning 1.9 and later",
    triggers=tuple(name.encode() for name in NAMES),
    check=_check,
    examples=(Example(BEFORE, BEFORE), Example(OTHER, OTHER)),
    breaks_in="1.9.0",
)
