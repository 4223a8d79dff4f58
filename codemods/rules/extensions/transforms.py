"""`train_transforms` and its like of a data module, which Lightning set to None up to 1.6 where nothing was given."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import self_name, super_init_index
from codemods.rule import Match, TextEdit

SET = tuple(f"{stage}_transforms" for stage in ("train", "val", "test"))
REASON = "It was None: nothing in the project gives it another value."


def set_in_constructor(
    file: PythonFile, item: ClassNode, places: Sequence[ast.Attribute], since: str, row: str | None
) -> Iterator[Match]:
    """The readings of such attributes, for which the constructor of their class sets these to None; none where it has
    no place for that, or gives its base class anything."""
    names = sorted({place.attr for place in places}, key=SET.index)
    edit = _edit(file, item, names) if names else None
    for place in places if edit else ():
        message = f"`{place.attr}` was removed in Lightning {since}"
        unit = f"{file.path}:{item.qualname}:transforms"
        yield Match(file.span(place), message, "safe", REASON, row, (edit,) if edit else (), unit=unit)


def _edit(file: PythonFile, item: ClassNode, names: Sequence[str]) -> TextEdit | None:
    init = item.methods.get("__init__")
    index = super_init_index(init) if init else None
    statement = init.body[index] if init and index is not None else None
    call = statement.value if isinstance(statement, ast.Expr) else None
    if init is None or statement is None or not isinstance(call, ast.Call) or call.args or call.keywords:
        return None
    start, end = file.offsets(statement)
    head = file.text[file.text.rfind("\n", 0, start) + 1 : start]
    after = file.text.find("\n", end)
    rest = file.text[end:after].strip() if after >= 0 else "no end"
    if head.strip() or (rest and not rest.startswith("#")):
        return None
    newline = "\r\n" if file.text[after - 1 : after] == "\r" else "\n"
    lines = "".join(f"{head}{self_name(init)}.{name} = None{newline}" for name in names)
    return TextEdit(after + 1, after + 1, lines)
