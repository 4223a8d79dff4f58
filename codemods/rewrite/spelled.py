"""Between nodes of LibCST and what they spell, for rules that are looked at more often than they rewrite."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import libcst as cst


def parsed(_: Any, *, text: str) -> Any:
    """What a text spells, in the place of whatever expression stood there."""
    import libcst as cst

    return cst.parse_expression(text)


def code_of(node: cst.CSTNode) -> str:
    """The text of a node."""
    import libcst as cst

    return cst.Module([]).code_for_node(node)
