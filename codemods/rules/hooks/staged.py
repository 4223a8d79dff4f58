"""The hooks that get the stage: by its name, which they have to take."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from codemods.code.literals import literal
from codemods.code.nodes import walk
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, is_plain, is_super_call, parameters, taken, takes, uses
from codemods.lightning.facts import CALLBACK, Facts
from codemods.rule import Match, NodeEdit, touches

if TYPE_CHECKING:
    import libcst as cst

STAGED = ("setup", "teardown")
STAGE = "stage"
BEFORE_IT = {CALLBACK: 2}
"""How many arguments a hook gets by position; the stage stood behind them."""
SINCE = {CALLBACK: "1.4"}
STAGES = ("fit", "validate", "test", "predict", None)
SEES_NAMES = ("locals", "vars", "eval", "exec", "dir")


def staged(file: PythonFile, facts: Facts, item: ClassNode, kind: str) -> Iterator[Match]:
    """`setup` and `teardown` that take nothing, or take the stage by another name."""
    for name in STAGED:
        method = item.methods.get(name)
        if method is None or method.args.kwarg or takes(method, STAGE):
            continue
        others = parameters(method)[BEFORE_IT.get(kind, 0) :]
        if not others and not method.args.vararg:
            if kind != CALLBACK and is_plain(method) and len(method.args.args) == 1:
                yield _without(file, method)
        else:
            yield _otherwise(file, facts, method, kind, others)


def _without(file: PythonFile, method: Function) -> Match:
    message = f"{method.name} is given `stage`, but has no parameter for it"
    if uses(method, STAGE):
        return Match(file.head(method), message, "manual", "Not rewritten: it has a `stage` of its own.")
    reason = "The Trainer calls it with stage=, a TypeError; calls without it work as before."
    return Match(file.head(method), message, "safe", reason, edits=(NodeEdit(method, _with_stage),))


def _otherwise(file: PythonFile, facts: Facts, method: Function, kind: str, others: list[str]) -> Match:
    """A hook whose parameter for the stage has another name, by which nobody calls it."""
    message = f"{method.name} is given `stage=` by name since Lightning {SINCE.get(kind, '1.3')}"
    why = ""
    if not is_plain(method):
        why = "it is decorated, or takes more than plain arguments"
    elif len(others) != 1:
        why = f"it has the parameters {', '.join(f'`{other}`' for other in others)}"
    elif uses(method, STAGE):
        why = "it has a `stage` of its own"
    elif is_seen_elsewhere(method, others[0]):
        why = f"fixer cannot tell what it does with `{others[0]}`"
    elif path := called_by_name(facts, method.name, others[0]):
        why = f"{path} seems to give it `{others[0]}=`"
    if why:
        return Match(file.head(method), message, "manual", f"Not rewritten: {why}. Add the parameter `stage`.")
    edit = NodeEdit(method, partial(renamed, name=others[0], new=STAGE))
    if not _is_stage(method, others[0]):
        reason = f"fixer assumes that `{others[0]}` is that argument: as it is, the Trainer's call is a TypeError."
        return Match(file.head(method), message, "unsafe", reason, edits=(edit,))
    reason = f"`{others[0]}` is that argument: as it is, the Trainer's call is a TypeError."
    return Match(file.head(method), message, "safe", reason, edits=(edit,))


def _is_stage(method: Function, name: str) -> bool:
    """Whether all that is done with an argument is to compare it with stages, or to hand it to the base's own hook."""
    plain = all(literal(value) == (True, None) for value in method.args.defaults)
    asked = {
        id(item)
        for node in walk(method)
        for item in _asked(node, method.name)
        if isinstance(item, ast.Name) and item.id == name
    }
    return plain and all(id(node) in asked for node in uses(method, name))


def _asked(node: ast.AST, hook: str) -> list[ast.expr]:
    """What a comparison with stages compares, and what a call of the base's hook is given."""
    if isinstance(node, ast.Compare):
        items = [node.left, *node.comparators]
        stages = [item for each in items for item in ([each] if literal(each)[0] else [])]
        told = [value for item in stages for value in _texts(literal(item)[1])]
        return items if told and all(value in STAGES for value in told) else []
    if is_super_call(node, hook) and isinstance(node, ast.Call):
        return node.args
    return []


def _texts(value: object) -> list[object]:
    return list(value) if isinstance(value, list | tuple | set) else [value]


def is_seen_elsewhere(method: Function, name: str) -> bool:
    """Whether a name of the method is one of a function in it too, or can be read in other ways than by name."""
    for node in walk(method):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda() if node is not method:
                if any(each.arg == name for each in taken(node)) or getattr(node, "name", "") == name:
                    return True
            case ast.ClassDef() | ast.Global() | ast.Nonlocal() | ast.MatchAs() | ast.MatchStar() | ast.MatchMapping():
                return True
            case ast.Import() | ast.ImportFrom() if any((a.asname or a.name) == name for a in node.names):
                return True
            case ast.ExceptHandler() if node.name == name:
                return True
            case ast.Call(func=ast.Name(called)) if called in SEES_NAMES:
                return True
            case ast.JoinedStr() if uses(node, name):
                return True
    return False


def called_by_name(facts: Facts, hook: str, name: str) -> str | None:
    """The file in which a call of a hook by this name seems to give the argument by its own."""
    called = re.compile(rb"\b%b\s*\([^()]*\b%b\s*=(?!=)" % (hook.encode(), name.encode()))
    written = re.compile(rb"\bdef\s+%b\s*\([^()]*\b%b\s*=(?!=)" % (hook.encode(), name.encode()))
    for path, source in sorted(facts.sources.items()):
        text = source.unescaped if source.kind in ("python", "notebook") and hook.encode() in source.unescaped else b""
        if len(called.findall(text)) > len(written.findall(text)):
            return path
    return None


@touches("head")
def _with_stage(node: cst.FunctionDef) -> cst.FunctionDef:
    import libcst as cst

    plain = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    stage = cst.Param(name=cst.Name(STAGE), equal=plain, default=cst.Name("None"))
    own = node.params.params[0].with_changes(comma=cst.Comma(whitespace_after=cst.SimpleWhitespace(" ")))
    return node.with_changes(params=node.params.with_changes(params=[own, stage]))


def renamed(node: cst.FunctionDef, *, name: str, new: str) -> cst.FunctionDef:
    """A method whose parameter has another name."""
    import libcst as cst

    class Rename(cst.CSTTransformer):
        """Names, but neither attributes nor the keywords of calls."""

        def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.Name:
            return updated_node.with_changes(value=new) if original_node.value == name else updated_node

        def leave_Attribute(self, original_node: cst.Attribute, updated_node: cst.Attribute) -> cst.Attribute:
            return updated_node.with_changes(attr=original_node.attr)

        def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
            return updated_node.with_changes(keyword=original_node.keyword)

        def leave_FunctionDef(self, original_node: cst.FunctionDef, updated_node: cst.FunctionDef) -> Any:
            return updated_node.with_changes(name=original_node.name)

    changed = node.visit(Rename())
    assert isinstance(changed, cst.FunctionDef)
    return changed
