"""How the arguments of a call stand once they no longer fit on the line that they shared."""

from __future__ import annotations

import libcst as cst

_WIDE = 96
"""How many characters of arguments fit on a line of their own, as indented as they are."""


def laid_out(before: cst.Call, after: cst.Call) -> cst.Call:
    """The call with each argument on a line of its own, where all of them stood on one below the bracket, as `ruff
    format` and Black write them, and have grown too long for it."""
    if not (_share_a_line(before) and _share_a_line(after)) or _width(before) > _WIDE or _width(after) <= _WIDE:
        return after
    below = after.whitespace_before_args
    *first, last = after.args
    spread = [each.with_changes(comma=cst.Comma(whitespace_after=below)) for each in first]
    behind = last.comma if isinstance(last.comma, cst.Comma) else None
    end = behind.whitespace_after if behind else last.whitespace_after_arg
    closing = last.with_changes(comma=cst.Comma(whitespace_after=end), whitespace_after_arg=cst.SimpleWhitespace(""))
    return after.with_changes(args=[*spread, closing])


def _share_a_line(call: cst.Call) -> bool:
    """Whether the arguments of a call stand on one line, without the brackets and without comments."""
    if len(call.args) < 2 or not isinstance(call.whitespace_before_args, cst.ParenthesizedWhitespace):
        return False
    lines = [each for each in _text(call).splitlines() if each.strip()]
    return len(lines) == 1 and "#" not in lines[0] and _text(call).rstrip(" ").endswith("\n")


def _text(call: cst.Call) -> str:
    return "".join(cst.Module([]).code_for_node(each) for each in call.args)


def _width(call: cst.Call) -> int:
    return len(_text(call).strip())
