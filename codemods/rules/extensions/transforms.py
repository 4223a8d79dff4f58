"""`train_transforms` and its like of a data module, which Lightning set to None up to 1.6 where nothing was given."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import self_name, super_init_index
from codemods.rule import Match, TextEdit

SET = tuple(f"{stage}_transforms" for stage in ("train", "val", "test"))
PLACES = (*SET, "dims")
"""The parameters of the constructor of LightningDataModule up to 1.6, in order."""
REASON = "It was None: nothing in the project gives it another value."
GIVEN = "It was what the constructor gave Lightning's."


def set_in_constructor(
    file: PythonFile, item: ClassNode, places: Sequence[ast.Attribute], since: str, row: str | None, direct: bool
) -> Iterator[Match]:
    """The readings of such attributes, for which the constructor of their class sets these to what it gave its base
    class, else to None; none where it has no place for that, or may give more. It gives Lightning's own where the base
    class is `direct`."""
    names = sorted({place.attr for place in places}, key=SET.index)
    edit, reason = _edit(file, item, names, direct) if names else (None, "")
    for place in places if edit else ():
        message = f"`{place.attr}` was removed in Lightning {since}"
        unit = f"{file.path}:{item.qualname}:transforms"
        yield Match(file.span(place), message, "safe", reason, row, (edit,) if edit else (), unit=unit)


def _edit(file: PythonFile, item: ClassNode, names: Sequence[str], direct: bool) -> tuple[TextEdit | None, str]:
    init = item.methods.get("__init__")
    index = super_init_index(init) if init else None
    statement = init.body[index] if init and index is not None else None
    call = statement.value if isinstance(statement, ast.Expr) else None
    if init is None or statement is None or not isinstance(call, ast.Call):
        return None, ""
    given = _given(call)
    more = [*call.args, *call.keywords]
    if more and (not direct or given is None or (_is_open(call) and not {*names} <= given.keys())):
        return None, ""
    start, end = file.offsets(statement)
    head = file.text[file.text.rfind("\n", 0, start) + 1 : start]
    after = file.text.find("\n", end)
    rest = file.text[end:after].strip() if after >= 0 else "no end"
    beside = file.has_comment(statement.lineno, (statement.end_lineno or statement.lineno) - 1)
    if head.strip() or beside or (rest and not rest.startswith("#")):
        return None, ""
    newline = "\r\n" if file.text[after - 1 : after] == "\r" else "\n"
    values = {name: file.source_of(value) for name, value in (given or {}).items() if name in SET}
    own = self_name(init)
    lines = [f"{own}.{name} = {values.get(name, 'None')}" for name in SET if name in values or name in names]
    kept = f"{file.source_of(call.func)}({', '.join(_kept(file, call, given or {}))})"
    behind = file.text[end : after + 1]
    text = f"{kept}{behind}" + "".join(f"{head}{line}{newline}" for line in lines)
    return TextEdit(start, after + 1, text), GIVEN if values else REASON


def _given(call: ast.Call) -> dict[str, ast.expr] | None:
    """What is given by which name; None where more is given by place than there are names for."""
    places = []
    for value in call.args:
        if isinstance(value, ast.Starred):
            break
        places.append(value)
    named = {item.arg: item.value for item in call.keywords if item.arg}
    return {**dict(zip(PLACES, places, strict=False)), **named} if len(places) <= len(PLACES) else None


def _is_open(call: ast.Call) -> bool:
    """Whether a call may give more than it says."""
    return any(isinstance(value, ast.Starred) for value in call.args) or any(not item.arg for item in call.keywords)


def _kept(file: PythonFile, call: ast.Call, given: Mapping[str, ast.expr]) -> Iterator[str]:
    """What a call still gives, without what is kept in attributes."""
    placed = {id(value): name for name, value in given.items()}
    for value in call.args:
        if isinstance(value, ast.Starred):
            yield file.source_of(value)
        elif (name := placed[id(value)]) not in SET:
            yield f"{name}={file.source_of(value)}"
    for item in call.keywords:
        if item.arg not in SET:
            yield file.source_of(item)
