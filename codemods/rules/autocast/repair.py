"""Where the cache is cleared or a region split, and the edits that do it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from codemods.code.source import PythonFile
from codemods.code.syntax import Function, own_nodes
from codemods.rule import NodeEdit, touches
from codemods.rules.autocast.cache_state import ExecutedStatement, Frame, TraceSite

if TYPE_CHECKING:
    import libcst as cst

CALL = "torch.clear_autocast_cache()"
LINE_STATEMENTS = (ast.Expr, ast.Assign, ast.AnnAssign)


@dataclass(frozen=True)
class Anchor:
    """The statement behind which something is put, and the function or `with` around it that is edited."""

    statement: ast.stmt
    container: ast.stmt | None
    turn: int


def is_scripted(file: PythonFile, function: Function | None) -> bool:
    """Whether TorchScript may compile a function, which knows nothing of the cache (run on torch 2.10 and 2.13)."""
    return "torch.jit.script" in file.text and function is not None and function.name != "training_step"


SCRIPTED = "TorchScript, which the file uses, cannot compile torch.clear_autocast_cache()"


def shared(cast: TraceSite, read: TraceSite) -> tuple[Frame, Frame]:
    """The innermost call in which both happen, as each of them saw it."""
    pairs = [(a, b) for a, b in zip(cast.frames, read.frames, strict=False) if a.number == b.number]
    return pairs[-1]


def anchor_behind(cast: TraceSite, read: TraceSite, path: str) -> Anchor | None:
    """The statement of a file that holds the forward without gradient and is left before the other one runs: in the
    function that both share the outermost `with` without gradient, else the line itself; where that function stands in
    another file, such a `with` of a function that it calls. None where there is no such place."""
    first, second = shared(cast, read)
    inner = cast.frames[cast.frames.index(first) + 1 :]
    steps = [step for step in first.steps if step.no_grad] or list(first.steps[-1:])
    if first.path != path:
        steps = [step for frame in inner if frame.path == path for step in frame.steps if step.no_grad]
    if not steps:
        return None
    step = steps[0]
    if any(other.statement is step.statement and other.turn == step.turn for other in second.steps):
        return None
    if isinstance(step.statement, ast.With):
        return None if _is_left_early(step.statement) else Anchor(step.statement, None, step.turn)
    return line_anchor(first, step)


def line_anchor(frame: Frame, step: ExecutedStatement) -> Anchor | None:
    """The place behind a simple statement, None where it is none that a line can follow."""
    if not isinstance(step.statement, LINE_STATEMENTS):
        return None
    withs = [other.statement for other in frame.steps if isinstance(other.statement, ast.With)]
    container = frame.function or (withs[0] if withs else None)
    return Anchor(step.statement, container, step.turn) if container else None


def _is_left_early(node: ast.With) -> bool:
    """Whether a block may be left by `break` or `continue`, past what follows it."""
    stack: list[ast.AST] = list(node.body)
    while stack:
        item = stack.pop()
        if isinstance(item, ast.Break | ast.Continue):
            return True
        if not isinstance(item, ast.For | ast.While | ast.FunctionDef | ast.ClassDef | ast.AsyncFor):
            stack.extend(
                child for child in ast.iter_child_nodes(item) if isinstance(child, ast.stmt | ast.ExceptHandler)
            )
    return False


def blocks(root: ast.AST) -> dict[ast.stmt, tuple[int, int]]:
    """Each statement's block, by a number, and its place in it."""
    found: dict[ast.stmt, tuple[int, int]] = {}
    for node in [root, *own_nodes(root)]:
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                for index, item in enumerate(block):
                    if isinstance(item, ast.stmt):
                        found[item] = (id(block), index)
    return found


def clearing(anchor: Anchor, why: str) -> tuple[NodeEdit, ...]:
    """The edits that clear the cache behind a statement, with a comment that says why."""
    if anchor.container is None:
        return (NodeEdit(anchor.statement, partial(_behind, why=why)),)
    return (
        NodeEdit(anchor.statement, _beside),
        NodeEdit(anchor.container, partial(_on_own_lines, why=why)),
    )


def _line(why: str) -> cst.SimpleStatementLine:
    import libcst as cst

    line = cst.parse_statement(f"{CALL}  # {why}\n")
    assert isinstance(line, cst.SimpleStatementLine)
    return line


@touches("beside")
def _behind(node: Any, *, why: str) -> cst.FlattenSentinel[Any]:
    import libcst as cst

    return cst.FlattenSentinel([node, _line(why)])


def _beside(node: Any) -> cst.FlattenSentinel[Any]:
    import libcst as cst

    return cst.FlattenSentinel(
        [node.with_changes(semicolon=cst.MaybeSentinel.DEFAULT), cst.Expr(cst.parse_expression(CALL))]
    )


def _on_own_lines(node: Any, *, why: str) -> Any:
    """The container with each call that was put beside a statement on the line below it."""
    import libcst as cst
    import libcst.matchers as m

    call = m.Expr(m.Call(func=m.Attribute(m.Name("torch"), m.Name("clear_autocast_cache"))))

    class Split(cst.CSTTransformer):
        def leave_SimpleStatementLine(
            self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
        ) -> Any:
            body = list(updated_node.body)
            index = next((i for i, item in enumerate(body) if i and m.matches(item, call)), 0)
            if not index:
                return updated_node
            first = [*body[: index - 1], body[index - 1].with_changes(semicolon=cst.MaybeSentinel.DEFAULT)]
            lines: list[cst.BaseStatement] = [updated_node.with_changes(body=first), _line(why)]
            if rest := body[index + 1 :]:
                lines.append(cst.SimpleStatementLine(body=rest))
            return cst.FlattenSentinel(lines)

    return node.visit(Split())


def splitting(region: ast.With, index: int, why: str) -> tuple[NodeEdit, ...]:
    """The edit that ends a region behind the statement at `index` of its body and opens it again."""
    return (NodeEdit(region, partial(_split, index=index, why=why)),)


def _split(node: cst.With, *, index: int, why: str) -> cst.FlattenSentinel[Any]:
    import libcst as cst

    body: Sequence[Any] = node.body.body
    first = node.with_changes(body=node.body.with_changes(body=body[: index + 1], footer=[]))
    comment = cst.EmptyLine(comment=cst.Comment(f"# {why}"))
    rest = node.body.with_changes(body=body[index + 1 :])
    return cst.FlattenSentinel([first, node.with_changes(body=rest, leading_lines=[comment])])
