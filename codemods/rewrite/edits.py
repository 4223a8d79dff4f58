"""Changes to LibCST nodes that several rules make: statements, methods and arguments put in or taken out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import libcst as cst

Statement = cst.SimpleStatementLine | cst.BaseCompoundStatement
Holder = TypeVar("Holder", bound=cst.ClassDef | cst.If | cst.Else)


def statements(text: str) -> list[Statement]:
    """The statements of a piece of code; nested blocks take the file's own indentation."""
    return list(cst.parse_module(text).body)


def spaced(statement: Any) -> Any:
    """The statement with one blank line before it."""
    return statement.with_changes(leading_lines=[cst.EmptyLine(indent=False)])


def with_body(node: Any, body: Sequence[Statement]) -> Any:
    """A class or function with another body; one that stood on the same line gets lines of its own."""
    block = node.body
    if not isinstance(block, cst.IndentedBlock):
        block = cst.IndentedBlock(body=[])
    return node.with_changes(body=block.with_changes(body=list(body)))


def body_of(node: cst.ClassDef | cst.FunctionDef | cst.If | cst.Else) -> list[Any]:
    """The statements of a class, function or branch, those on its own line included."""
    if not isinstance(node.body, cst.SimpleStatementSuite):
        return list(node.body.body)
    lines = [cst.SimpleStatementLine(body=[without_semicolon(item)]) for item in node.body.body]
    lines[-1] = lines[-1].with_changes(trailing_whitespace=node.body.trailing_whitespace)
    return lines


def without_semicolon(statement: Any) -> Any:
    """A small statement that stands last on its line."""
    return statement.with_changes(semicolon=cst.MaybeSentinel.DEFAULT)


def after_docstring(body: Sequence[Any]) -> int:
    """Where the first statement behind a docstring stands, or would."""
    said = body[0].body if body and isinstance(body[0], cst.SimpleStatementLine) else ()
    alone = said[0] if len(said) == 1 else None
    text = isinstance(alone, cst.Expr) and isinstance(alone.value, cst.SimpleString | cst.ConcatenatedString)
    return 1 if text else 0


def change_method(node: Holder, name: str, change: Callable[[cst.FunctionDef], Sequence[Any]]) -> Holder:
    """The class with its last method of that name, be it in the arm of an `if True`, replaced by what `change` returns
    for it; or with the one that stands under a condition, where there is no other."""
    body = body_of(node)
    for index in range(len(body) - 1, -1, -1):
        item = body[index]
        if isinstance(item, cst.FunctionDef) and item.name.value == name:
            return with_body(node, [*body[:index], *change(item), *body[index + 1 :]])  # type: ignore[no-any-return]
        arm = _taken(item)
        if arm is not None and has_method(arm, name):
            made: Any = change_method(arm, name, change)
            made = made if arm is item else item.with_changes(orelse=made)
            return with_body(node, [*body[:index], made, *body[index + 1 :]])  # type: ignore[no-any-return]
    found = [each for item in body if isinstance(item, cst.If) for each in _functions(item, name)]
    if len(found) != 1:
        raise LookupError(f"no method {name}")
    replacement: Any = cst.FlattenSentinel(change(found[0]))
    return node.deep_replace(found[0], replacement)  # type: ignore[return-value]


def _functions(node: cst.CSTNode, name: str) -> Iterator[cst.FunctionDef]:
    """The functions of a name inside a node."""
    for item in node.children:
        if isinstance(item, cst.FunctionDef) and item.name.value == name:
            yield item
        yield from _functions(item, name)


def _taken(item: Any) -> cst.If | cst.Else | None:
    """The arm that is run of an `if` whose test is a constant."""
    test = item.test.value if isinstance(item, cst.If) and isinstance(item.test, cst.Name) else ""
    other = item.orelse if test == "False" else None
    return item if test == "True" else other if isinstance(other, cst.Else) else None


def begun(method: cst.FunctionDef, text: str) -> cst.FunctionDef:
    """The method with statements put in at its start, behind the docstring; a `pass` gives way."""
    body = body_of(method)
    index = after_docstring(body)
    if len(body) == index + 1 and isinstance(body[-1], cst.SimpleStatementLine) and _is_pass(body[-1]):
        body = body[:index]
    return with_body(method, [*body[:index], *statements(text), *body[index:]])  # type: ignore[no-any-return]


def _is_pass(line: cst.SimpleStatementLine) -> bool:
    return len(line.body) == 1 and isinstance(line.body[0], cst.Pass)


def has_method(node: cst.ClassDef | cst.If | cst.Else, name: str) -> bool:
    """Whether the class surely defines a method of that name itself, be it in the arm of an `if True`."""
    return any(
        (isinstance(item, cst.FunctionDef) and item.name.value == name)
        or ((arm := _taken(item)) is not None and has_method(arm, name))
        for item in body_of(node)
    )


def after_super_init(function: cst.FunctionDef, text: str) -> list[Any]:
    """The constructor with statements put in behind the line of `super().__init__(...)`."""
    body = body_of(function)
    index = next(
        index
        for index, item in enumerate(body)
        if isinstance(item, cst.SimpleStatementLine) and any(map(_calls_super_init, item.body))
    )
    return [with_body(function, [*body[: index + 1], *statements(text), *body[index + 1 :]])]


def _calls_super_init(node: cst.BaseSmallStatement) -> bool:
    call = node.value if isinstance(node, cst.Expr) else None
    function = call.func if isinstance(call, cst.Call) else None
    if not isinstance(function, cst.Attribute) or function.attr.value != "__init__":
        return False
    above = function.value
    return isinstance(above, cst.Call) and isinstance(above.func, cst.Name) and above.func.value == "super"


def add_method(node: cst.ClassDef, text: str, before: str | None = None) -> cst.ClassDef:
    """The class with a method put in before another one, or at its end."""
    method = spaced(statements(text)[0])
    if before is not None:
        return change_method(node, before, lambda item: [method, _ensure_space(item)])
    return with_body(node, [*body_of(node), method])  # type: ignore[no-any-return]


def _ensure_space(item: cst.FunctionDef) -> cst.FunctionDef:
    blank = item.leading_lines and item.leading_lines[0].comment is None
    return item if blank else item.with_changes(leading_lines=[cst.EmptyLine(indent=False), *item.leading_lines])


def add_class_statement(node: cst.ClassDef, text: str) -> cst.ClassDef:
    """The class with a statement at its top, behind the docstring, set off by blank lines."""
    body = body_of(node)
    index = after_docstring(body)
    added = statements(text)[0]
    if index:
        added = spaced(added)
    rest = body[index:]
    if rest and isinstance(rest[0], cst.FunctionDef):
        rest = [_ensure_space(rest[0]), *rest[1:]]
    return with_body(node, [*body[:index], added, *rest])  # type: ignore[no-any-return]


def without_arguments(call: cst.Call, names: frozenset[str]) -> cst.Call:
    """The call without the keyword arguments of those names, laid out as it was; comments on lines of their own, which
    speak of their neighbours, stay."""
    kept: list[cst.Arg] = []
    before: Any = call.whitespace_before_args
    for item in call.args:
        if not (item.keyword and item.keyword.value in names):
            kept.append(item)
        elif not isinstance(item.comma, cst.Comma):
            continue
        elif not kept:
            before = followed(before, item.comma.whitespace_after, bool(comment_lines(item.comma.whitespace_after)))
        elif isinstance(kept[-1].comma, cst.Comma):
            space = followed(kept[-1].comma.whitespace_after, item.comma.whitespace_after, True)
            kept[-1] = kept[-1].with_changes(comma=kept[-1].comma.with_changes(whitespace_after=space))
    if not call.args:
        return call
    if not kept:
        return call.with_changes(args=[], whitespace_before_args=_emptied(before, call.args[-1]))
    if kept[-1] is not call.args[-1]:
        kept[-1] = _as_last(kept[-1], call.args[-1])
    return call.with_changes(args=kept, whitespace_before_args=before)


def followed(space: Any, other: Any, breaks: bool) -> Any:
    """The whitespace of two that an argument stood between which is gone: the first, with the other's comments, or the
    other one where that `breaks` the line and the first does not."""
    if not isinstance(space, cst.ParenthesizedWhitespace):
        return other if breaks and isinstance(other, cst.ParenthesizedWhitespace) else space
    return space.with_changes(empty_lines=[*space.empty_lines, *comment_lines(other)])


def _emptied(before: Any, last: cst.Arg) -> Any:
    """The whitespace of a call that has no argument any more."""
    spaces = (getattr(last.comma, "whitespace_after", None), last.whitespace_after_arg)
    behind = next((space for space in spaces if isinstance(space, cst.ParenthesizedWhitespace)), None)
    lines = comment_lines(before) + [line for line in comment_lines(behind) if line not in comment_lines(before)]
    if not lines or behind is None:
        return cst.SimpleWhitespace("")
    return behind.with_changes(first_line=cst.TrailingWhitespace(), empty_lines=lines)


def comment_lines(space: Any) -> list[cst.EmptyLine]:
    """The lines behind the first of a whitespace, where a comment is among them."""
    lines = list(space.empty_lines) if isinstance(space, cst.ParenthesizedWhitespace) else []
    return lines if any(line.comment for line in lines) else []


def _as_last(item: cst.Arg, removed: cst.Arg) -> cst.Arg:
    """An argument in the place of the last one, which was removed."""
    own = comment_lines(getattr(item.comma, "whitespace_after", None))
    behind = removed.whitespace_after_arg
    if not isinstance(removed.comma, cst.Comma) and isinstance(behind, cst.ParenthesizedWhitespace):
        behind = behind.with_changes(empty_lines=[*own, *behind.empty_lines])
        line = getattr(getattr(item.comma, "whitespace_after", None), "first_line", None)
        behind = behind.with_changes(first_line=line) if line and line.comment else behind
    elif not isinstance(removed.comma, cst.Comma) and (own or _is_noted(item.comma)):
        return item
    return item.with_changes(comma=_last_comma(item.comma, removed.comma), whitespace_after_arg=behind)


def _is_noted(comma: Any) -> bool:
    """Whether a comment stands behind a comma in its line."""
    space = getattr(comma, "whitespace_after", None)
    return isinstance(space, cst.ParenthesizedWhitespace) and space.first_line.comment is not None


def _last_comma(own: Any, removed: Any) -> Any:
    """The comma of an item that becomes the last one: laid out as the removed one's, with its own comments."""
    if not all(
        isinstance(comma, cst.Comma) and isinstance(comma.whitespace_after, cst.ParenthesizedWhitespace)
        for comma in (own, removed)
    ):
        return removed
    line, lines = own.whitespace_after.first_line, comment_lines(own.whitespace_after)
    behind = [each for each in removed.whitespace_after.empty_lines if each not in lines]
    space = removed.whitespace_after.with_changes(first_line=line, empty_lines=[*lines, *behind])
    return removed.with_changes(whitespace_after=space)


def without_parameter(function: cst.FunctionDef, name: str) -> cst.FunctionDef:
    """The function without a positional parameter, laid out as it was."""
    params = function.params
    by_place = [item for item in params.posonly_params if item.name.value != name]
    if len(by_place) < len(params.posonly_params):
        end = params.posonly_ind if by_place else cst.MaybeSentinel.DEFAULT
        return function.with_changes(params=params.with_changes(posonly_params=by_place, posonly_ind=end))
    kept = [item for item in params.params if item.name.value != name]
    if kept and kept[-1] is not params.params[-1]:
        last = params.params[-1]
        kept[-1] = kept[-1].with_changes(
            comma=_last_comma(kept[-1].comma, last.comma), whitespace_after_param=last.whitespace_after_param
        )
    slash = params.posonly_ind
    if params.params and not kept and isinstance(slash, cst.ParamSlash):
        slash = slash.with_changes(comma=params.params[-1].comma)
    return function.with_changes(params=params.with_changes(params=kept, posonly_ind=slash))
