"""A checkpoint that is worked out where a Trainer is built, and kept by a name until it is fitted."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from codemods.code.calls import space_of
from codemods.code.nodes import every_node
from codemods.code.source import CallNode, ClassNode, PythonFile
from codemods.code.syntax import Function, is_script_guard, is_super_call, self_name
from codemods.lightning.facts import CALLBACK, CALLBACKS, Facts
from codemods.rule import NodeEdit

if TYPE_CHECKING:
    import libcst as cst

NAME = "ckpt_path"
NAMES = (NAME, "resume_path")
"""What a checkpoint is kept by in a function or on an instance: the second where the first is there already."""
_READ = (
    ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.JoinedStr, ast.FormattedValue, ast.IfExp, ast.BoolOp,
    ast.Compare, ast.BinOp, ast.UnaryOp, ast.Slice,
)  # fmt: skip
_STILL = (ast.Name, ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.UnaryOp)
"""What does nothing where it is read, and whose value nothing that runs before it changes."""
_JOINS = frozenset({"os.path.join", "os.path.exists", "os.path.isfile"})
"""Functions that change nothing."""
_LOOKS = frozenset({"glob.glob", "os.listdir", "os.path.getctime", "os.path.getmtime"})
"""Functions that look at files, which what runs before them may have made."""
_ORDERS = frozenset({"len", "max", "min", "sorted"})
_TELLS_ALL = frozenset({"locals()", "vars()", "dir()"})
_RUNS_TEXT = frozenset({"eval", "exec"})
_LISTING = re.compile(r"__slots__|__setattr__|__dict__|\bvars\(self\)")
"""What an attribute more may be seen by."""


def keeping(file: PythonFile, call: CallNode, item: ast.keyword, assumed: bool = False) -> NodeEdit | None:
    """The edit that keeps the value of an argument by a name, in a line before the statement of a call; None where
    that may be another value, or where the name would be seen. Where it is `assumed`, the arguments before it are
    taken not to change it."""
    statement = next((each.node for each in file.assignments if each.node.value is call.node), None)
    space = space_of(file, call)
    text = assignable(file.source_of(item.value))
    if statement is None or not (isinstance(space, Function) or _is_run_alone(file, call)) or text is None:
        return None
    name = kept_name(space, item)
    if not begins_line(file, statement) or name is None:
        return None
    if not _may_come_first(file, call, item) and (not assumed or _acts_on_names(item.value)):
        return None
    return NodeEdit(statement, partial(with_line, text=f"{name} = {text}\n"), line=True)


def kept_name(space: ast.AST, item: ast.keyword | None = None) -> str | None:
    """The name that keeps an argument of a call in a function, or what is none so far; None where it would be seen."""
    return next((name for name in NAMES if not _is_seen(space, item, name)), None)


def keeping_on_instance(
    file: PythonFile, facts: Facts, call: CallNode, item: ast.keyword, fits: Sequence[CallNode], assumed: bool = False
) -> tuple[NodeEdit, str] | None:
    """The edit that keeps the value of an argument by an attribute beside that of the Trainer, and how the methods that
    fit it read that; None as of `keeping`."""
    statement = next((each.node for each in file.assignments if each.node.value is call.node), None)
    method, text = space_of(file, call), assignable(file.source_of(item.value))
    if statement is None or not isinstance(method, Function) or text is None or not begins_line(file, statement):
        return None
    own = self_name(method)
    owners = {own, *(_owner_of(file, fit) for fit in fits)}
    name = next((each for each in NAMES if not _is_spoken(facts, f".{each}".encode())), None)
    if own is None or owners != {own} or name is None:
        return None
    if _LISTING.search(file.text):
        return None
    if not _may_come_first(file, call, item) and (not assumed or _acts_on_names(item.value)):
        return None
    return NodeEdit(statement, partial(with_line, text=f"{own}.{name} = {text}\n"), line=True), f"{own}.{name}"


def _is_spoken(facts: Facts, text: bytes) -> bool:
    return any(text in source.unescaped for source in facts.sources.values())


def _owner_of(file: PythonFile, fit: CallNode) -> str | None:
    """The name of the instance whose attribute is fitted; None where it is not that of the method around."""
    function, method = fit.node.func, space_of(file, fit)
    trainer = function.value if isinstance(function, ast.Attribute) else None
    root = trainer.value if isinstance(trainer, ast.Attribute) else None
    own = self_name(method) if isinstance(method, Function) else None
    return own if isinstance(root, ast.Name) and root.id == own else None


def assignable(text: str) -> str | None:
    """An expression as it can be assigned, in parentheses where it needs them; None where it cannot."""
    for written in (text, f"({text})"):
        try:
            if len(ast.parse(f"{NAME} = {written}").body) == 1:
                return written
        except SyntaxError:
            continue
    return None


def _is_run_alone(file: PythonFile, call: CallNode) -> bool:
    """Whether a call stands in what a module does where it is the script, so that nobody imports its names."""
    line = call.node.lineno
    guards = (node for node in file.tree.body if is_script_guard(node))
    return any(node.lineno < line <= (node.end_lineno or node.lineno) for node in guards)


def _acts_on_names(value: ast.expr) -> bool:
    return any(isinstance(node, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom) for node in every_node(value))


def begins_line(file: PythonFile, statement: ast.stmt) -> bool:
    own = file.lines[statement.lineno - 1]
    return not own.encode()[: statement.col_offset].strip() and not own.rstrip().endswith(":")


def _is_seen(space: ast.AST, item: ast.keyword | None, name: str) -> bool:
    """Whether a function has a name already, tells of all its names, or gives the argument to several calls."""
    for node in every_node(space):
        if isinstance(node, ast.Name) and (node.id == name or node.id in _RUNS_TEXT):
            return True
        if isinstance(node, ast.Call) and not node.args and ast.unparse(node) in _TELLS_ALL:
            return True
        if isinstance(node, ast.keyword) and item and node.arg == item.arg and node is not item:
            return True
        bound = [getattr(node, each, None) for each in ("arg", "asname", "name")]
        if name in (*bound, *getattr(node, "names", ())) and not isinstance(node, ast.keyword):
            return True
    return False


def _may_come_first(file: PythonFile, call: CallNode, item: ast.keyword) -> bool:
    """Whether the value of an argument is the same, and so are those of the arguments before it, where it is worked
    out before them."""
    before = [*_before(call.node, item)]
    value = [each for each in every_node(item.value) if isinstance(each, ast.expr)]
    if all(isinstance(each, _STILL) for each in before):
        return True
    called = [each.func for each in value if isinstance(each, ast.Call)]
    if not all(isinstance(each, (*_READ, ast.Call)) for each in value):
        return False
    if not all(_is_one_of(call, each, {*_JOINS, *_LOOKS, *_ORDERS}) for each in called):
        return False
    names = {each.id for each in value if isinstance(each, ast.Name)}
    changing = (ast.Call, ast.NamedExpr, ast.Await, ast.Yield)
    acting = [each for each in before if isinstance(each, changing) and not _only_keeps(file, call, each)]
    if any(_is_one_of(call, each, _LOOKS) for each in called):
        return not acting
    acting = [each for each in acting if not _is_callback(call, each)]
    return not any(isinstance(part, ast.Name) and part.id in names for each in acting for part in every_node(each))


def _is_one_of(call: CallNode, function: ast.expr, names: Collection[str]) -> bool:
    """Whether a callable is one of some functions, of which those without a module are built in."""
    built_in = isinstance(function, ast.Name) and call.scope.lookup(function.id) is None
    return ((function.id if built_in else call.scope.resolve(function)) or "") in names  # type: ignore[attr-defined]


def _only_keeps(file: PythonFile, call: CallNode, made: ast.expr) -> bool:
    """Whether a call joins a path, or makes a callback of the file whose constructor but keeps what it is given."""
    if not isinstance(made, ast.Call):
        return False
    if _is_one_of(call, made.func, _JOINS):
        return True
    dotted = call.scope.resolve(made.func)
    named = [item for item in file.classes if dotted == f"{file.module}.{item.qualname}"]
    return len(named) == 1 and _keeps(named[0])


def _keeps(item: ClassNode) -> bool:
    """Whether the constructor of a callback sets attributes to what does nothing, and does nothing else."""
    method = item.methods.get("__init__")
    bases = [item.scope.resolve(base) for base in item.node.bases]
    if method is None or bases != [CALLBACK] or item.node.keywords or item.node.decorator_list or method.decorator_list:
        return False
    if {"__new__", "__setattr__"} & item.methods.keys():
        return False
    return all(_is_keeping(statement, method, item) for statement in method.body)


def _is_keeping(statement: ast.stmt, method: Function, item: ClassNode) -> bool:
    if isinstance(statement, ast.Pass):
        return True
    if isinstance(statement, ast.Expr):
        return isinstance(statement.value, ast.Constant) or is_super_call(statement.value, "__init__")
    if not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is None:
        return False
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    own = all(
        isinstance(each, ast.Attribute)
        and isinstance(each.value, ast.Name)
        and each.value.id == self_name(method)
        and each.attr not in item.methods
        for each in targets
    )
    parts = (each for each in every_node(statement.value) if isinstance(each, ast.expr))
    return own and all(isinstance(each, (*_READ, *_STILL)) for each in parts)


def _is_callback(call: CallNode, made: ast.expr) -> bool:
    """Whether a call makes one of Lightning's own callbacks, of what is written there or read of it: it keeps that."""
    if not isinstance(made, ast.Call):
        return False
    given = [*made.args, *(item.value for item in made.keywords)]
    whole = any(isinstance(each, ast.Name | ast.Starred) for each in given)
    return (call.scope.resolve(made.func) or "").startswith(CALLBACKS) and not whole


def _before(call: ast.Call, item: ast.keyword) -> Iterator[ast.expr]:
    """What is worked out before an argument."""
    given = call.keywords[: call.keywords.index(item)]
    for each in (*call.args, *(other.value for other in given)):
        yield from (node for node in every_node(each) if isinstance(node, ast.expr))


def with_line(node: cst.SimpleStatementLine, *, text: str) -> cst.FlattenSentinel[Any]:
    import libcst as cst

    from codemods.rewrite.edits import statements

    (line,) = statements(text)
    return cst.FlattenSentinel(
        [line.with_changes(leading_lines=node.leading_lines), node.with_changes(leading_lines=())]
    )
