"""The AdamW of transformers, and torch's in its place, with the defaults of the other spelled out."""

from __future__ import annotations

import ast
from functools import partial
from typing import TYPE_CHECKING, Any

from codemods.code.scopes import Scope
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import uses
from codemods.rule import NodeEdit

if TYPE_CHECKING:
    import libcst as cst

NAME = "AdamW"
ADAMW = frozenset({"transformers.AdamW", "transformers.optimization.AdamW"})
NAMES = ("params", "lr", "betas", "eps", "weight_decay")
DEFAULTS = (("eps", "1e-6"), ("weight_decay", "0.0"))
ITS_OWN = ("correct_bias", "no_deprecation_warning")
CHANGED = (
    "the defaults of Hugging Face are spelled out, but torch decays the weights before the step and corrects `eps`: "
    "numbers change a little"
)


def built(file: PythonFile) -> list[CallNode]:
    """The calls of a file that build one."""
    return [call for call in file.calls_near([NAME]) if is_its(call.scope, call.node.func)]


def is_its(scope: Scope, function: ast.expr) -> bool:
    """Whether an expression is that class, imported from either of its modules or from both."""
    if scope.resolve(function) in ADAMW:
        return True
    if not isinstance(function, ast.Name):
        return False
    while function.id not in scope.bindings and scope.parent is not None:
        scope = scope.parent
    found = scope.bindings.get(function.id, frozenset())
    return scope.parent is None and bool(found) and found <= ADAMW


def refused(node: ast.Call) -> str:
    """Why a call of it cannot be one of torch's; empty where it can."""
    if not node.args and not node.keywords:
        return "it is given no parameters"
    if any(isinstance(item, ast.Starred) for item in node.args) or any(item.arg is None for item in node.keywords):
        return "fixer cannot tell what `*` or `**` gives"
    if len(node.args) > len(NAMES):
        return "it is given `correct_bias` by position"
    for item in node.keywords:
        if item.arg == "correct_bias" and not (isinstance(item.value, ast.Constant) and item.value.value is True):
            return "torch has no `correct_bias=False`"
    return ""


def as_torch(node: ast.Call) -> NodeEdit:
    """A call of it becomes one of torch's; the edit needs `import torch`."""
    given = {item.arg for item in node.keywords} | set(NAMES[: len(node.args)])
    return NodeEdit(node, partial(_torch_call, added=tuple(entry for entry in DEFAULTS if entry[0] not in given)))


def without_imports(file: PythonFile, name: str) -> list[NodeEdit] | None:
    """The edits that take a name out of the imports of a file, where nothing but calls that can be torch's uses it;
    None where something does, or an import cannot go."""
    calls = {call.node.func for call in built(file) if not refused(call.node)}
    if any(use not in calls for use in uses(file.tree, name)):
        return None
    found = [
        statement
        for statement in file.tree.body
        if isinstance(statement, ast.ImportFrom) and any((item.asname or item.name) == name for item in statement.names)
    ]
    kept = any(
        len(statement.names) == 1 and file.lines[statement.lineno - 2].lstrip().startswith("#") for statement in found
    )
    return None if kept else [NodeEdit(statement, partial(_without_name, name=name)) for statement in found]


def _torch_call(call: cst.Call, *, added: tuple[tuple[str, str], ...]) -> cst.Call:
    """The call of torch's AdamW, with the defaults of Hugging Face spelled out."""
    import libcst as cst

    kept = [item for item in call.args if not (item.keyword and item.keyword.value in ITS_OWN)]
    plain = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    new = [cst.Arg(cst.parse_expression(text), keyword=cst.Name(name), equal=plain) for name, text in added]
    kept = [*kept[:-1], *_laid_out(call, [*kept[-1:], *new])]
    return call.with_changes(func=cst.parse_expression("torch.optim.AdamW"), args=kept)


def _laid_out(call: cst.Call, args: list[cst.Arg]) -> list[cst.Arg]:
    """The last arguments of a call with commas between them, each on a line of its own where the others are; the last
    one closes the call as it was closed."""
    import libcst as cst

    last = call.args[-1]
    gap = call.args[-2].comma.whitespace_after if len(call.args) > 1 else call.whitespace_before_args  # type: ignore[union-attr]
    inside = not isinstance(last.comma, cst.MaybeSentinel)
    end = last.comma.whitespace_after if inside else last.whitespace_after_arg  # type: ignore[union-attr]
    first: Any = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
    others, closing = first, end
    if isinstance(gap, cst.ParenthesizedWhitespace) and isinstance(end, cst.ParenthesizedWhitespace):
        line = gap.with_changes(first_line=cst.TrailingWhitespace(), empty_lines=[])
        first = cst.Comma(whitespace_after=line.with_changes(first_line=end.first_line))
        others, closing = cst.Comma(whitespace_after=line), end.with_changes(first_line=cst.TrailingWhitespace())
        if len(args) == 1:
            closing = end
    final = {"comma": cst.Comma(whitespace_after=closing)} if inside else {"whitespace_after_arg": closing}
    none = cst.SimpleWhitespace("")
    spread = [
        item.with_changes(comma=others if index else first, whitespace_after_arg=none)
        for index, item in enumerate(args[:-1])
    ]
    open_end = args[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT, whitespace_after_arg=none)
    return [*spread, open_end.with_changes(**final)]


def _without_name(statement: cst.ImportFrom, *, name: str) -> Any:
    """The import without a name; nothing where that was all."""
    import libcst as cst

    if isinstance(statement.names, cst.ImportStar):
        return statement
    kept = [item for item in statement.names if _bound(item) != name]
    if not kept:
        return cst.RemovalSentinel.REMOVE
    if len(kept) == len(statement.names):
        return statement
    kept[-1] = kept[-1].with_changes(comma=statement.names[-1].comma)
    return statement.with_changes(names=kept)


def _bound(item: cst.ImportAlias) -> str:
    import libcst as cst

    name = item.asname.name if item.asname else item.name
    return name.value if isinstance(name, cst.Name) else ""
