"""Keywords of a call, as `ast` reads them and as LibCST changes them, laid out as their neighbours are."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from codemods.code.source import PythonFile
from codemods.rule import touches

if TYPE_CHECKING:
    import libcst as cst


def is_commented(file: PythonFile, call: ast.Call, item: ast.keyword, beside: bool = True) -> bool:
    """Whether a comment may speak of a keyword, which goes with it when it is deleted: in its lines or above them. One
    at the end of the line that the keyword has for itself counts with `beside` alone, and one at the end of a line that
    holds others too where it speaks of it by a word of its name; what stands between it and the next speaks of that,
    and an argument that was commented out, or a line that only sets apart, of none."""
    index = call.keywords.index(item)
    first = call.keywords[index - 1].value if index else (call.args[-1] if call.args else call.func)
    following = call.keywords[index + 1].lineno if index + 1 < len(call.keywords) else None
    last = item.end_lineno or item.lineno
    start = (first.end_lineno or 1) + (0 if first.end_lineno == item.lineno else 1)
    end = last if following else call.end_lineno or item.lineno
    own = last if not beside and first.end_lineno != item.lineno and following != last else None
    lines = (number for number in range(start, end + 1) if number != own)
    beside_it = [each.lineno for each in call.args] + [each.lineno for each in call.keywords if each is not item]
    shared = {item.lineno}.intersection(beside_it)
    return any(
        (number not in shared or _speaks_of(comment, item.arg or ""))
        for number in lines
        if (comment := file.comment(number)) and not _is_left_out(comment)
    )


def _speaks_of(comment: str, name: str) -> bool:
    """Whether a comment holds a word of the name of an argument, in the plural or not."""
    return any(word.rstrip("s") in comment.lower() for word in name.split("_") if len(word) > 2)


def _is_left_out(comment: str) -> bool:
    """Whether a comment is nothing but keyword arguments that were commented out, or has no word."""
    if not any(sign.isalnum() for sign in comment):
        return True
    try:
        made = ast.parse(f"f({comment.lstrip('#')}\n)", mode="eval").body
    except (SyntaxError, ValueError):
        return False
    return isinstance(made, ast.Call) and bool(made.keywords) and not made.args


@touches("arguments")
def replaced(
    call: cst.Call, name: str, new: tuple[tuple[str, str | None], ...], gone: tuple[str, ...] = ()
) -> cst.Call:
    """The call with other keywords in the place of one, and without those that are `gone`; a text of None stands for
    the value that it had."""
    import libcst as cst

    from codemods.rewrite.edits import without_arguments

    call = without_arguments(call, frozenset(gone)) if gone else call
    if not new:
        return without_arguments(call, frozenset({name}))
    args = list(call.args)
    index = next(number for number, item in enumerate(args) if item.keyword and item.keyword.value == name)
    old = args[index]
    items = [
        old.with_changes(
            keyword=cst.Name(word),
            value=old.value if text is None else _expression(text),
            comma=cst.Comma(whitespace_after=_between(call, index)),
            whitespace_after_arg=cst.SimpleWhitespace(""),
        )
        for word, text in new
    ]
    items[-1] = items[-1].with_changes(comma=old.comma, whitespace_after_arg=old.whitespace_after_arg)
    return call.with_changes(args=[*args[:index], *items, *args[index + 1 :]])


def _expression(text: str) -> Any:
    """An argument by its text, which may go over several lines."""
    import libcst as cst

    made: Any = cst.parse_expression(f"({text})")
    return made.with_changes(lpar=made.lpar[1:], rpar=made.rpar[:-1])


@touches("arguments")
def with_value(call: cst.Call, name: str, text: str) -> cst.Call:
    """The call with another value of a keyword."""

    return call.with_changes(
        args=[
            item.with_changes(value=_expression(text)) if item.keyword and item.keyword.value == name else item
            for item in call.args
        ]
    )


@touches("arguments")
def by_name(call: cst.Call, *, names: Sequence[str], first: int = 0) -> cst.Call:
    """The call with its positional arguments from the `first` on given by these names."""
    import libcst as cst

    equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    end = first + len(names)
    named = [
        item.with_changes(keyword=cst.Name(name), equal=equal)
        for item, name in zip(call.args[first:end], names, strict=True)
    ]
    return call.with_changes(args=[*call.args[:first], *named, *call.args[end:]])


@touches("arguments")
def with_keyword(call: cst.Call, name: str, text: str) -> cst.Call:
    """The call with one more keyword, behind the last or before `**`."""
    import libcst as cst

    args = list(call.args)
    end = next((number for number, item in enumerate(args) if item.star == "**"), len(args))
    equal = next(
        (item.equal for item in args if item.keyword and isinstance(item.equal, cst.AssignEqual)),
        cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace("")),
    )
    new = cst.Arg(value=_expression(text), keyword=cst.Name(name), equal=equal)
    if end < len(args):
        comma = cst.Comma(whitespace_after=_between(call, end))
        return call.with_changes(args=[*args[:end], new.with_changes(comma=comma), *args[end:]])
    if not args:
        return call.with_changes(args=[new])
    last, between = args[-1], _between(call, len(args) - 1)
    comma, behind, between = _noted(last.comma, last.whitespace_after_arg, between)
    new = new.with_changes(comma=comma, whitespace_after_arg=behind)
    comma = cst.Comma(whitespace_after=between)
    return call.with_changes(
        args=[*args[:-1], last.with_changes(comma=comma, whitespace_after_arg=cst.SimpleWhitespace("")), new]
    )


def _noted(comma: Any, behind: Any, between: Any) -> tuple[Any, Any, Any]:
    """The comma and the space behind what was the last argument, and what stands `between` it and the new one: the
    comment in its line stays there."""
    import libcst as cst

    space: Any = comma.whitespace_after if isinstance(comma, cst.Comma) else behind
    if (
        not all(isinstance(each, cst.ParenthesizedWhitespace) for each in (space, between))
        or not space.first_line.comment
    ):
        return comma, behind, between
    between = between.with_changes(first_line=space.first_line)
    space = space.with_changes(first_line=clean_break(space).first_line)
    if isinstance(comma, cst.Comma):
        return comma.with_changes(whitespace_after=space), behind, between
    return comma, space, between


def with_callback(call: cst.Call, text: str, held: Literal["list", "optional", "one"] = "list") -> cst.Call:
    """The call with one more callback, in a list of its own where it has none, beside the `one` that it has, or added
    to a sum of lists; other values are unpacked, with none in the place of None where they are `optional`. Of two
    progress bars of one class one is made, with the arguments of both."""
    import libcst as cst

    new: cst.BaseExpression
    old = next((item for item in call.args if item.keyword and item.keyword.value == "callbacks"), None)
    if old is None:
        return with_keyword(call, "callbacks", text[2:-1] if text.startswith("*(") else f"[{text}]")
    element: cst.BaseElement = cst.ensure_type(cst.parse_expression(f"[{text}]"), cst.List).elements[0]
    value = old.value
    if isinstance(value, cst.Name) and value.value == "None":
        return with_value(call, "callbacks", f"[{text}]")
    if held == "one" and not isinstance(value, cst.List):
        new = cst.List([cst.Element(value, comma=_comma()), element])
    elif isinstance(value, cst.BinaryOperation) and _is_sum(value) and held == "list":
        new = _added(value, element)
    elif not isinstance(value, cst.List):
        if isinstance(value, cst.IfExp | cst.Lambda | cst.BooleanOperation | cst.NamedExpr) and not value.lpar:
            value = value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        if held == "optional":
            value = cst.parse_expression(f"({cst.Module([]).code_for_node(value)} or [])")
        new = cst.List([cst.StarredElement(value, comma=_comma()), element])
    else:
        if merged := _one_bar(value, element):
            return call.with_changes(
                args=[item.with_changes(value=merged) if item is old else item for item in call.args]
            )
        new = _extended(value, element)
    return call.with_changes(args=[item.with_changes(value=new) if item is old else item for item in call.args])


def _extended(value: cst.List, element: cst.BaseElement) -> cst.List:
    """A list with one more element."""
    import libcst as cst

    if not value.elements:
        return value.with_changes(elements=[element])
    *rest, last = value.elements
    between = rest[-1].comma if rest and isinstance(rest[-1].comma, cst.Comma) else _comma(value.lbracket)
    between, bracket = _apart(between, value.rbracket)
    element = element.with_changes(comma=last.comma)
    return value.with_changes(elements=[*rest, last.with_changes(comma=between), element], rbracket=bracket)


def _added(value: cst.BinaryOperation, element: cst.BaseElement) -> cst.BinaryOperation:
    """A sum of lists with one more element: of its last list, or of one behind it."""
    import libcst as cst

    if isinstance(value.right, cst.List):
        return value.with_changes(right=_extended(value.right, element))
    return cst.BinaryOperation(value, cst.Add(), cst.List([element]))


def _is_sum(value: cst.BaseExpression) -> bool:
    """Whether an expression is `[...] + more`, or `more + [...]`."""
    import libcst as cst

    if not isinstance(value, cst.BinaryOperation) or not isinstance(value.operator, cst.Add):
        return False
    return any(isinstance(side, cst.List) or _is_sum(side) for side in (value.left, value.right))


def _apart(between: cst.Comma, bracket: cst.RightSquareBracket) -> tuple[cst.Comma, cst.RightSquareBracket]:
    """The comma behind what was the last element of a list, and the bracket: the comment of that element stays in its
    line, and those between others with them."""
    import libcst as cst

    space, end = between.whitespace_after, bracket.whitespace_before
    if not isinstance(space, cst.ParenthesizedWhitespace):
        return cst.Comma(between.whitespace_before, space), bracket
    space = clean_break(space)
    if isinstance(end, cst.ParenthesizedWhitespace) and end.first_line.comment:
        space = space.with_changes(first_line=end.first_line)
        bracket = bracket.with_changes(whitespace_before=end.with_changes(first_line=clean_break(end).first_line))
    return cst.Comma(between.whitespace_before, space), bracket


def _one_bar(callbacks: cst.List, element: cst.BaseElement) -> cst.List | None:
    """The callbacks with the arguments of one more progress bar given to the one of its class that they hold."""
    import libcst as cst

    more = element.value
    if not isinstance(more, cst.Call) or not cst.Module([]).code_for_node(more.func).endswith("ProgressBar"):
        return None
    for item in callbacks.elements:
        bar = item.value
        if isinstance(bar, cst.Call) and bar.func.deep_equals(more.func):
            for argument in more.args:
                name = cst.ensure_type(argument.keyword, cst.Name).value
                bar = with_keyword(bar, name, cst.Module([]).code_for_node(argument.value))
            same = item.with_changes(value=bar)
            return callbacks.with_changes(elements=[same if each is item else each for each in callbacks.elements])
    return None


def _comma(bracket: cst.LeftSquareBracket | None = None) -> cst.Comma:
    """A comma, with a new line behind it where there is one behind the bracket."""
    import libcst as cst

    after = bracket.whitespace_after if bracket else None
    if isinstance(after, cst.ParenthesizedWhitespace):
        return cst.Comma(whitespace_after=clean_break(after))
    return cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))


def clean_break(space: cst.ParenthesizedWhitespace) -> cst.ParenthesizedWhitespace:
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
    return clean_break(breaks[0])


@touches("arguments")
def renamed(node: cst.Arg, *, name: str) -> cst.Arg:
    """The argument by another name."""
    import libcst as cst

    return node.with_changes(keyword=cst.Name(name))
