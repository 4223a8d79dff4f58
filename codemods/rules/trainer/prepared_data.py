"""`prepare_data_per_node=` of Trainer, which the module and the data module say for themselves since 1.7."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from codemods.code.literals import literal
from codemods.code.nodes import parents_of, walk
from codemods.code.scopes import ROOT
from codemods.code.source import CallNode, ClassNode, PythonFile
from codemods.code.syntax import Function, assigned_to, is_self_attribute, self_name, takes
from codemods.lightning.facts import MODULE, Facts
from codemods.lightning.instance_types import ReadingPlace, is_read_elsewhere, shape_of
from codemods.lightning.kinds import is_stored
from codemods.rule import NodeEdit
from codemods.rules.trainer.domains import is_plain

if TYPE_CHECKING:
    import libcst as cst

HOOK = "prepare_data"
SETTING = "prepare_data_per_node"
RUNS = ("fit", "validate", "test", "predict")
"""What a Trainer runs, with the module first; data stands second, or is named."""


def said_by_the_objects(file: PythonFile, facts: Facts, call: CallNode, value: ast.expr) -> tuple[NodeEdit, ...] | None:
    """The lines behind the statement of a Trainer that set it on what this Trainer is given, wherever that may prepare
    data and does not say it itself; None where that cannot be told."""
    statement = _statement(file, call)
    if statement is None or not (literal(value)[0] or is_plain(value)) or "\n" in file.source_of(value):
        return None
    space = next((item for item in reversed(call.within) if isinstance(item, Function)), file.tree)
    trainer = ast.unparse(statement.targets[0])
    given = _given(space, trainer, statement)
    if not given or (space is file.tree and is_read_elsewhere(facts, file, trainer)):
        return None
    silent = []
    for name, node in given.items():
        kinds = {_kind(file, facts, call, each, value) for each in (assigned_to(space, name) or [node])}
        if "?" in kinds or ("silent" in kinds and not _is_bound_above(space, name, statement)):
            return None
        silent += [name] if "silent" in kinds else []
    text = "".join(f"{name}.{SETTING} = {file.source_of(value)}\n" for name in silent)
    return (NodeEdit(statement, partial(_followed_by, text=text), line=True),) if silent else ()


def _statement(file: PythonFile, call: CallNode) -> ast.Assign | None:
    """The statement that keeps a Trainer by a name, in lines of its own."""
    kept = (item.node for item in file.assignments if item.node.value is call.node)
    node = next(kept, None)
    if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.targets[0], ast.Name):
        return None
    start, end = file.offsets(node)
    before, rest = file.text[:start].rpartition("\n")[2], file.text[end:].partition("\n")[0].strip()
    return node if not before.strip() and (not rest or rest.startswith("#")) else None


def _given(space: ast.AST, trainer: str, statement: ast.stmt) -> dict[str, ast.Name] | None:
    """What the runs of a Trainer are given besides loaders, by name; None where some use of it, or what it is given,
    cannot be followed."""
    parents = parents_of(space)
    found: dict[str, ast.Name] = {}
    for node in walk(space):
        if not isinstance(node, ast.Name) or node.id != trainer:
            continue
        if not isinstance(node.ctx, ast.Load):
            if parents.get(node) is not statement:
                return None
            continue
        method = parents.get(node)
        if not isinstance(method, ast.Attribute):
            return None
        run = parents.get(method)
        if method.attr not in RUNS:
            continue
        if not isinstance(run, ast.Call) or run.func is not method:
            return None
        for each in _objects(run):
            if not isinstance(each, ast.Name):
                return None
            found.setdefault(each.id, each)
    return found


def _objects(run: ast.Call) -> Iterator[ast.expr | None]:
    """What a run is given as module or data; None for what comes by a star."""
    for each in run.args:
        yield None if isinstance(each, ast.Starred) else each
    for item in run.keywords:
        if item.arg is None:
            yield None
        elif item.arg in ("model", "datamodule"):
            yield item.value


def _is_bound_above(space: ast.AST, name: str, statement: ast.stmt) -> bool:
    """Whether a name has its one value where a statement is done."""
    if isinstance(space, Function) and takes(space, name):
        return not is_stored(space, name)
    stores = [
        node for node in walk(space) if isinstance(node, ast.Name) and node.id == name and type(node.ctx) is ast.Store
    ]
    return len(stores) == 1 and stores[0].lineno < statement.lineno


def _kind(file: PythonFile, facts: Facts, call: CallNode, node: ast.expr, value: ast.expr) -> str:
    """`silent` for a module or a data module that may prepare data and does not say where, `fine` for another one of
    the project, `?` where it cannot be told what it is, or it says False where the Trainer may say something else."""
    shape = shape_of(ReadingPlace.of(file, call), facts, node)
    fact = facts.find_class(f"{shape[0].module}.{shape[1].qualname}", shape[0].path) if shape else None
    if shape is None or fact is None or facts.kind(fact) not in (MODULE, f"{ROOT}.LightningDataModule"):
        return "?"
    prepares = any(HOOK in each.methods for each in (*facts.ancestry(fact), *facts.subclasses(fact)))
    if not prepares or not _says_it(shape[1]):
        return "silent" if prepares else "fine"
    return "fine" if literal(value) == (True, False) else "?"


def _says_it(item: ClassNode) -> bool:
    """Whether the constructor of a class has `self.prepare_data_per_node = False` among its statements."""
    init = item.methods.get("__init__")
    return init is not None and any(
        isinstance(node, ast.Assign)
        and literal(node.value) == (True, False)
        and any(is_self_attribute(target, SETTING, self_name(init)) for target in node.targets)
        for node in init.body
    )


def _followed_by(node: cst.SimpleStatementLine, *, text: str) -> cst.FlattenSentinel[Any]:
    import libcst as cst

    from codemods.rewrite.edits import statements

    return cst.FlattenSentinel([node, *statements(text)])
