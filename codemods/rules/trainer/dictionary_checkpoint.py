"""A checkpoint under its key in a dictionary that reaches one Trainer: `options["resume_from_checkpoint"] = path`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from codemods.code.calls import keyword, space_of
from codemods.code.nodes import every_node
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import Function, is_none, is_shared
from codemods.lightning.calls import builds_trainer
from codemods.lightning.dead_code import is_dead
from codemods.lightning.facts import Facts
from codemods.lightning.guards import guard_of
from codemods.rewrite.keywords import with_keyword
from codemods.rule import NodeEdit
from codemods.rules.trainer.branched_checkpoint import fits_of, loads_of, name_of, stores
from codemods.rules.trainer.kept_checkpoint import NAME, assignable, begins_line, kept_name, with_line

if TYPE_CHECKING:
    import libcst as cst

KEY = "resume_from_checkpoint"


@dataclass(frozen=True)
class KeyedCheckpoint:
    """The statement that sets the key, and the edits that keep the checkpoint by a name in its place, make that None
    where the dictionary is made, and give it to `fit`."""

    statement: ast.Assign
    edits: tuple[NodeEdit, ...]


def keyed(file: PythonFile, facts: Facts) -> Iterator[KeyedCheckpoint]:
    """The checkpoints that a function sets so once, in a dictionary that it makes, fills and gives to one Trainer whose
    fits are seen."""
    if KEY not in file.text:
        return
    for call in file.calls_near(file.spellings("Trainer")):
        spread = [item.value for item in call.node.keywords if item.arg is None]
        if len(spread) != 1 or not isinstance(spread[0], ast.Name) or not builds_trainer(call):
            continue
        runs = guard_of(file, facts, call, KEY) == "none" and not is_dead(file, facts, file.span(call.node))
        if runs and (found := _keyed(file, call, spread[0])):
            yield found


def _keyed(file: PythonFile, call: CallNode, given: ast.Name) -> KeyedCheckpoint | None:
    space = space_of(file, call)
    own = next((each.node for each in file.assignments if each.node.value is call.node), None)
    trainer = name_of(own)
    if not isinstance(space, Function) or trainer is None or _gives(call):
        return None
    assigned = [node for node in every_node(space) if isinstance(node, ast.Assign)]
    made = [node for node in assigned if _is_made(node, given.id)]
    filled = [node for node in assigned if _key(node, given.id) is not None]
    mine = [node for node in filled if _key(node, given.id) == KEY]
    read = [node for node in loads_of(space, given.id) if node is not given]
    known = {id(node.targets[0].value) for node in filled if isinstance(node.targets[0], ast.Subscript)}
    alone = len(stores(space, given.id)) == 1 and all(id(node) in known for node in read)
    if not (len(made) == len(mine) == 1 and alone) or is_shared(space, given.id) or is_shared(space, trainer):
        return None
    fits = fits_of(space, call.node.lineno, loads_of(space, trainer)) if len(stores(space, trainer)) == 1 else None
    held, text = kept_name(space), assignable(file.source_of(mine[0].value))
    whole = all(begins_line(file, statement) and _ends_line(file, statement) for statement in (made[0], mine[0]))
    if not fits or held is None or text is None or not whole or mine[0].lineno > call.node.lineno:
        return None
    kept = NodeEdit(mine[0], partial(_instead, text=f"{held} = {text}\n"), line=True)
    passed = (NodeEdit(fit, partial(with_keyword, name=NAME, text=held)) for fit in fits)
    return KeyedCheckpoint(mine[0], (*_begun(made[0], call, given.id, held, filled == mine), kept, *passed))


def _begun(made: ast.Assign, call: CallNode, name: str, held: str, is_last: bool) -> tuple[NodeEdit, ...]:
    """The edits that say None of a checkpoint where the dictionary is made, and take that away where it stays empty."""
    if is_last and isinstance(made.value, ast.Dict) and not made.value.keys:
        gone = NodeEdit(call.node, partial(_without_spread, name=name))
        return NodeEdit(made, partial(_instead, text=f"{held} = None\n"), line=True), gone
    return (NodeEdit(made, partial(with_line, text=f"{held} = None\n"), line=True),)


def _gives(call: CallNode) -> bool:
    """Whether a call is given a checkpoint by its keyword, too."""
    item = keyword(call.node, KEY)
    return item is not None and not is_none(item.value)


def _is_made(node: ast.Assign, name: str) -> bool:
    """Whether a statement makes a dictionary under a name, in which the key is not yet."""
    if name_of(node) != name:
        return False
    keys = node.value.keys if isinstance(node.value, ast.Dict) else [ast.Name("?")]
    return all(isinstance(key, ast.Constant) and key.value != KEY for key in keys)


def _key(node: ast.Assign, name: str) -> object:
    """The key of a dictionary that a statement sets, and nothing else; None where it does not."""
    target = node.targets[0]
    if len(node.targets) != 1 or not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
        return None
    return target.slice.value if target.value.id == name and isinstance(target.slice, ast.Constant) else None


def _ends_line(file: PythonFile, statement: ast.Assign) -> bool:
    rest = file.lines[(statement.end_lineno or 0) - 1].encode()[statement.end_col_offset :].strip()
    return not rest or rest.startswith(b"#")


def _instead(node: cst.SimpleStatementLine, *, text: str) -> cst.SimpleStatementLine:
    import libcst as cst

    from codemods.rewrite.edits import statements

    (line,) = statements(text)
    return node.with_changes(body=cst.ensure_type(line, cst.SimpleStatementLine).body)


def _without_spread(call: cst.Call, *, name: str) -> cst.Call:
    """The call without `**name`, laid out as it was."""
    import libcst as cst

    from codemods.rewrite.edits import without_arguments

    mark = f"{name}__"
    args = [
        item.with_changes(star="", keyword=cst.Name(mark))
        if item.star == "**" and isinstance(item.value, cst.Name) and item.value.value == name
        else item
        for item in call.args
    ]
    return without_arguments(call.with_changes(args=args), frozenset({mark}))
