"""Keywords of a call, as `ast` reads them and as LibCST changes them, laid out as their neighbours are."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from codemods.facts import TRAINER
from codemods.source import CallNode, PythonFile

if TYPE_CHECKING:
    import libcst as cst

FROM_ARGS = f"{TRAINER}.from_argparse_args"


def keyword(call: ast.Call, name: str) -> ast.keyword | None:
    """The keyword of that name."""
    return next((item for item in call.keywords if item.arg == name), None)


def keywords(call: ast.Call) -> dict[str, ast.expr]:
    """The values of the keywords by name."""
    return {item.arg: item.value for item in call.keywords if item.arg}


def builds_trainer(call: CallNode) -> bool:
    """Whether a call builds Lightning's own Trainer of its keywords, be it with others from an argparse namespace."""
    return call.scope.resolve(call.node.func) in (TRAINER, FROM_ARGS)


def is_commented(file: PythonFile, call: ast.Call, item: ast.keyword) -> bool:
    """Whether a comment stands between the neighbours of a keyword, which goes with it when it is deleted."""
    index = call.keywords.index(item)
    first = call.keywords[index - 1].value if index else (call.args[-1] if call.args else call.func)
    last = call.keywords[index + 1].lineno - 1 if index + 1 < len(call.keywords) else call.end_lineno
    between = file.lines[(first.end_lineno or 1) - 1 : last]
    return any("#" in line for line in between)


def replaced(call: cst.Call, name: str, new: tuple[tuple[str, str | None], ...]) -> cst.Call:
    """The call with other keywords in the place of one; a text of None stands for the value that it had."""
    import libcst as cst

    from codemods.edits import without_arguments

    if not new:
        return without_arguments(call, frozenset({name}))
    args = list(call.args)
    index = next(number for number, item in enumerate(args) if item.keyword and item.keyword.value == name)
    old = args[index]
    items = [
        old.with_changes(
            keyword=cst.Name(word),
            value=old.value if text is None else cst.parse_expression(text),
            comma=cst.Comma(whitespace_after=_between(call, index)),
            whitespace_after_arg=cst.SimpleWhitespace(""),
        )
        for word, text in new
    ]
    items[-1] = items[-1].with_changes(comma=old.comma, whitespace_after_arg=old.whitespace_after_arg)
    return call.with_changes(args=[*args[:index], *items, *args[index + 1 :]])


def with_value(call: cst.Call, name: str, text: str) -> cst.Call:
    """The call with another value of a keyword."""
    import libcst as cst

    return call.with_changes(
        args=[
            item.with_changes(value=cst.parse_expression(text)) if item.keyword and item.keyword.value == name else item
            for item in call.args
        ]
    )


def with_keyword(call: cst.Call, name: str, text: str) -> cst.Call:
    """The call with one more keyword, behind the last or before `**`."""
    import libcst as cst

    args = list(call.args)
    end = next((number for number, item in enumerate(args) if item.star == "**"), len(args))
    equal = next(
        (item.equal for item in args if item.keyword and isinstance(item.equal, cst.AssignEqual)),
        cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
    )
    new = cst.Arg(value=cst.parse_expression(text), keyword=cst.Name(name), equal=equal)
    if end < len(args):
        comma = cst.Comma(whitespace_after=_between(call, end))
        return call.with_changes(args=[*args[:end], new.with_changes(comma=comma), *args[end:]])
    if not args:
        return call.with_changes(args=[new])
    last = args[-1]
    comma = cst.Comma(whitespace_after=_between(call, len(args) - 1))
    new = new.with_changes(comma=last.comma, whitespace_after_arg=last.whitespace_after_arg)
    return call.with_changes(
        args=[*args[:-1], last.with_changes(comma=comma, whitespace_after_arg=cst.SimpleWhitespace("")), new]
    )


def with_callback(call: cst.Call, text: str) -> cst.Call:
    """The call with one more callback, in a list of its own where it has none; other values are unpacked."""
    import libcst as cst

    old = next((item for item in call.args if item.keyword and item.keyword.value == "callbacks"), None)
    if old is None:
        return with_keyword(call, "callbacks", f"[{text}]")
    element = cst.Element(cst.parse_expression(text))
    value = old.value
    if isinstance(value, cst.Name) and value.value == "None":
        return with_value(call, "callbacks", f"[{text}]")
    if not isinstance(value, cst.List):
        new = cst.List([cst.StarredElement(value, comma=_comma()), element])
    elif not value.elements:
        new = cst.List([element])
    else:
        *rest, last = value.elements
        comma = last.comma
        between = rest[-1].comma if rest and isinstance(rest[-1].comma, cst.Comma) else _comma(value.lbracket)
        if isinstance(comma, cst.Comma):
            element = element.with_changes(comma=comma)
        new = value.with_changes(elements=[*rest, last.with_changes(comma=between), element])
    return call.with_changes(args=[item.with_changes(value=new) if item is old else item for item in call.args])


def _comma(bracket: cst.LeftSquareBracket | None = None) -> cst.Comma:
    """A comma, with a new line behind it where there is one behind the bracket."""
    import libcst as cst

    after = bracket.whitespace_after if bracket else None
    if isinstance(after, cst.ParenthesizedWhitespace):
        return cst.Comma(whitespace_after=_clean(after))
    return cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))


def _clean(space: cst.ParenthesizedWhitespace) -> cst.ParenthesizedWhitespace:
    """The line break without the comments around it."""
    import libcst as cst

    return space.with_changes(first_line=cst.TrailingWhitespace(newline=space.first_line.newline), empty_lines=[])


def _between(call: cst.Call, index: int) -> cst.BaseParenthesizableWhitespace:
    """What separates two arguments at that place: a line break where each argument has a line of its own."""
    import libcst as cst

    def space(position: int) -> cst.BaseParenthesizableWhitespace | None:
        if position < 0:
            return call.whitespace_before_args
        comma = call.args[position].comma
        return comma.whitespace_after if isinstance(comma, cst.Comma) else None

    before, after = space(index - 1), space(index) if index + 1 < len(call.args) else None
    breaks = [item for item in (before, after) if isinstance(item, cst.ParenthesizedWhitespace)]
    alone_before = index == 0 or isinstance(before, cst.ParenthesizedWhitespace)
    alone_after = index + 1 == len(call.args) or isinstance(after, cst.ParenthesizedWhitespace)
    if not breaks or not alone_before or not alone_after:
        return cst.SimpleWhitespace(" ")
    return _clean(breaks[0])
