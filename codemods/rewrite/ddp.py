"""DDP that looks for parameters which a step leaves unused, as that of Lightning 1.x did by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from codemods.rule import touches

if TYPE_CHECKING:
    import libcst as cst

DDP = {"ddp": "ddp_find_unused_parameters_true", "ddp_spawn": "ddp_spawn_find_unused_parameters_true"}


def looking(node: cst.Arg | cst.Assign) -> cst.Arg | cst.Assign:
    """What names a strategy, with the one that looks for them in the place of each that does not."""
    return node.with_changes(value=_replaced(node.value))


def _replaced(node: cst.BaseExpression) -> cst.BaseExpression:
    import libcst as cst

    if isinstance(node, cst.IfExp):
        return node.with_changes(body=_replaced(node.body), orelse=_replaced(node.orelse))
    if isinstance(node, cst.BooleanOperation):
        return node.with_changes(left=_replaced(node.left), right=_replaced(node.right))
    value = node.evaluated_value if isinstance(node, cst.SimpleString) else None
    return cst.SimpleString(f'"{DDP[value]}"') if isinstance(value, str) and value in DDP else node


@touches("arguments")
def with_argument(node: cst.Call, *, name: str, value: str) -> cst.Call:
    """The call with another argument behind its last one, laid out as that is."""
    import libcst as cst

    plain = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    added = cst.Arg(cst.parse_expression(value), keyword=cst.Name(name), equal=plain)
    if not node.args:
        return node.with_changes(args=[added])
    last = node.args[-1]
    between = node.args[0].comma if len(node.args) > 1 else cst.MaybeSentinel.DEFAULT
    before = last.with_changes(comma=between, whitespace_after_arg=cst.SimpleWhitespace(""))
    added = added.with_changes(comma=last.comma, whitespace_after_arg=last.whitespace_after_arg)
    return node.with_changes(args=[*node.args[:-1], before, added])
