"""What the code shows of the batch that 1.x cut into chunks: its default split took tuples and lists alone."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from codemods.code.calls import last_name
from codemods.code.nodes import parents_of
from codemods.code.source import ClassNode
from codemods.code.syntax import Function, self_name, uses

Handed = tuple[str, int | str]

OWN_SPLIT = "write `def tbptt_split_batch(self, batch, split_size)`, which returns the chunks; the loop then calls it"
DICT = f"the batch is a dict, on which 1.x's default split failed: {OWN_SPLIT}"
OBJECT = f"the batch is an object with attributes, on which 1.x's default split failed: {OWN_SPLIT}"
WHOLE = f"the batch is used as a whole: 1.x's default split cut a bare tensor along its features; {OWN_SPLIT}"
NESTED = (
    "an element of the batch is a sequence itself, of which 1.x cut each item along its first dimension: "
    f"{OWN_SPLIT} as you meant it"
)
LENGTHS = (
    "the batch holds lengths, and 1.x's default split failed on a tensor of one dimension: "
    f"{OWN_SPLIT} and leaves the lengths whole"
)
ELEMENT_DICT = (
    "an element of the batch is a dict, for which 1.x's default split gave the chunk of the element before it: "
    f"{OWN_SPLIT}"
)
LENGTH = re.compile(r"(^|_)len(gth)?s?($|_)", re.IGNORECASE)
SEQUENCE_MAKERS = frozenset({
    "tensor", "as_tensor", "IntTensor", "LongTensor", "FloatTensor", "BoolTensor", "stack", "cat", "pad_sequence",
    "pack_sequence", "zip", "enumerate", "len", "list", "tuple", "sorted", "map", "array", "chain",
})  # fmt: skip


@dataclass(frozen=True)
class BatchUse:
    """How a function uses one of its values.

    `shown`: as a tuple or list. `refusal`: as something that 1.x's default split did not cut as it should.
    `sequences`: an element of it may be a list of samples instead of a tensor. `changed`: an element is put into it.
    `whole` and `parts`: the methods of `self` that it, or an element of it, is handed to, and as which argument.
    """

    shown: bool = False
    refusal: str | None = None
    sequences: bool = False
    changed: bool = False
    whole: tuple[Handed, ...] = ()
    parts: tuple[Handed, ...] = ()


@dataclass(frozen=True)
class BatchHelper:
    """How a method uses its parameters: as a batch, and as an element of one, by position and by name."""

    owner: str
    name: str
    batch: Mapping[int | str, BatchUse] = field(default_factory=dict)
    element: Mapping[int | str, BatchUse] = field(default_factory=dict)


def helpers(classes: Iterable[ClassNode]) -> Iterator[BatchHelper]:
    """How the methods of some classes use what they are given."""
    for item in classes:
        for name, method in item.methods.items():
            if name == "training_step" or not any(node for node in method.args.args[1:]):
                continue
            batch: dict[int | str, BatchUse] = {}
            element: dict[int | str, BatchUse] = {}
            for position, argument in enumerate(method.args.args[1:]):
                batch[position] = batch[argument.arg] = as_batch(method, argument.arg)
                element[position] = element[argument.arg] = as_element(method, argument.arg)
            yield BatchHelper(item.qualname, name, batch, element)


def as_batch(function: Function, name: str) -> BatchUse:
    """How a function uses a parameter that holds the batch."""
    parents = parents_of(function)
    found = [_batch_use(use, parents, function) for use in uses(function, name)]
    elements = sorted({element for use in uses(function, name) for element in _elements(use, parents)})
    found += [BatchUse(refusal=LENGTHS) for element in elements if LENGTH.search(element)]
    return merged([*found, *(_as_part(as_element(function, element)) for element in elements)])


def _as_part(use: BatchUse) -> BatchUse:
    """What the use of an element says of the batch."""
    return BatchUse(refusal=use.refusal, sequences=use.sequences, parts=use.whole)


def _batch_use(use: ast.Name, parents: Mapping[ast.AST, ast.AST], function: Function) -> BatchUse:
    parent = parents.get(use)
    if not isinstance(use.ctx, ast.Load):
        return BatchUse(refusal=f"`{use.id}`, the batch, is bound again in {function.name}")
    if isinstance(parent, ast.Subscript) and parent.value is use:
        if isinstance(parent.slice, ast.Constant) and isinstance(parent.slice.value, str):
            return BatchUse(refusal=DICT)
        if isinstance(parent.slice, ast.Slice):
            return BatchUse(shown=True)
        if not isinstance(_number(parent.slice), int):
            return BatchUse(refusal=WHOLE)
        if not isinstance(parent.ctx, ast.Load):
            return BatchUse(shown=True, changed=True)
        return merged([BatchUse(shown=True), _as_part(_element_use(parent, parents, function))])
    if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Tuple | ast.List):
        nested = any(isinstance(element, ast.Tuple | ast.List) for element in parent.targets[0].elts)
        return BatchUse(refusal=NESTED) if nested else BatchUse(shown=True)
    if isinstance(parent, ast.Starred):
        return BatchUse(shown=True)
    if isinstance(parent, ast.Attribute):
        return BatchUse(refusal=OBJECT)
    if isinstance(parent, ast.keyword) and parent.arg is None:
        return BatchUse(refusal=DICT)
    handed = _handed(use, parents, function)
    return BatchUse(whole=(handed,)) if handed else BatchUse() if _is_length(parent) else BatchUse(refusal=WHOLE)


def _number(node: ast.expr) -> object:
    node = node.operand if isinstance(node, ast.UnaryOp) else node
    return node.value if isinstance(node, ast.Constant) else None


def _is_length(parent: ast.AST | None) -> bool:
    return isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "len"


def _handed(use: ast.expr, parents: Mapping[ast.AST, ast.AST], function: Function) -> Handed | None:
    """The method of `self` that a value is an argument of, and which argument."""
    parent = parents.get(use)
    keyword = parent if isinstance(parent, ast.keyword) else None
    call = parents.get(keyword) if keyword else parent
    if not isinstance(call, ast.Call):
        return None
    this = self_name(function)
    if isinstance(call.func, ast.Name) and call.func.id == this:
        method = "forward"
    elif isinstance(call.func, ast.Attribute) and isinstance(call.func.value, ast.Name) and call.func.value.id == this:
        method = call.func.attr
    else:
        return None
    if keyword:
        return (method, keyword.arg) if keyword.arg else None
    before = call.args[: call.args.index(use)] if use in call.args else None
    if before is None or any(isinstance(item, ast.Starred) for item in before):
        return None
    return method, len(before)


def _elements(use: ast.Name, parents: Mapping[ast.AST, ast.AST]) -> Iterator[str]:
    """The names that elements of the batch are bound to: `x, y = batch`, `x = batch[0]`."""
    parent = parents.get(use)
    value: ast.AST = parent if isinstance(parent, ast.Subscript) and parent.value is use else use
    if isinstance(value, ast.Subscript) and isinstance(value.slice, ast.Slice):
        return
    statement = parents.get(value)
    if not isinstance(statement, ast.Assign) or statement.value is not value:
        return
    for target in statement.targets:
        if isinstance(target, ast.Name) and value is not use:
            yield target.id
        elif isinstance(target, ast.Tuple | ast.List) and value is use:
            yield from (element.id for element in target.elts if isinstance(element, ast.Name))


def as_element(function: Function, name: str) -> BatchUse:
    """How a function uses a value that is an element of the batch."""
    parents = parents_of(function)
    loaded = [use for use in uses(function, name) if isinstance(use.ctx, ast.Load)]
    return merged(_element_use(use, parents, function) for use in loaded)


def _element_use(use: ast.expr, parents: Mapping[ast.AST, ast.AST], function: Function) -> BatchUse:
    parent = parents.get(use)
    if isinstance(parent, ast.Subscript) and parent.value is use:
        key = parent.slice.value if isinstance(parent.slice, ast.Constant) else None
        return BatchUse(refusal=ELEMENT_DICT) if isinstance(key, str) else BatchUse()
    if isinstance(parent, ast.Assign) and isinstance(parent.targets[0], ast.Tuple | ast.List):
        return BatchUse(refusal=NESTED)
    if isinstance(parent, ast.Attribute) and parent.attr in ("keys", "items", "values", "get"):
        called = parents.get(parent)
        return BatchUse(refusal=ELEMENT_DICT) if isinstance(called, ast.Call) and called.func is parent else BatchUse()
    if isinstance(parent, ast.keyword) and parent.arg is None:
        return BatchUse(refusal=ELEMENT_DICT)
    if isinstance(parent, ast.For | ast.comprehension) and parent.iter is use:
        return BatchUse(sequences=True)
    if _are_lengths(use, parents):
        return BatchUse(refusal=LENGTHS)
    if isinstance(parent, ast.Call) and last_name(parent.func) in SEQUENCE_MAKERS:
        return BatchUse(sequences=True)
    handed = _handed(use, parents, function)
    return BatchUse(whole=(handed,)) if handed else BatchUse()


def _are_lengths(use: ast.expr, parents: Mapping[ast.AST, ast.AST]) -> bool:
    """Whether a value, or something computed of it, is the second argument of `pack_padded_sequence`."""
    node: ast.AST = use
    while isinstance(parent := parents.get(node), ast.expr | ast.keyword):
        if isinstance(parent, ast.Call) and last_name(parent.func) == "pack_padded_sequence":
            return len(parent.args) > 1 and parent.args[1] is node
        if isinstance(parent, ast.keyword) and parent.arg == "lengths":
            call = parents.get(parent)
            return isinstance(call, ast.Call) and last_name(call.func) == "pack_padded_sequence"
        node = parent
    return False


def merged(found: Iterable[BatchUse]) -> BatchUse:
    """What several uses of one value say together."""
    every = list(found)
    return BatchUse(
        any(use.shown for use in every),
        next((use.refusal for use in every if use.refusal), None),
        any(use.sequences for use in every),
        any(use.changed for use in every),
        tuple(dict.fromkeys(handed for use in every for handed in use.whole)),
        tuple(dict.fromkeys(handed for use in every for handed in use.parts)),
    )


def followed(use: BatchUse, known: Mapping[str, tuple[BatchHelper, ...]]) -> BatchUse:
    """What the use of a batch says together with those of the methods that it and its elements are handed to.

    `known` holds the methods of the class and its relatives by name. A method that is not among them may do
    anything with the batch; what one does with an element of it is then taken for the use of a tensor.
    """
    seen: set[tuple[Handed, bool]] = set()
    every = [use]
    queue = [*((handed, True) for handed in use.whole), *((handed, False) for handed in use.parts)]
    while queue:
        (method, argument), whole = item = queue.pop()
        if item in seen:
            continue
        seen.add(item)
        given = [
            (helper.batch if whole else helper.element).get(argument, BatchUse(refusal=WHOLE) if whole else BatchUse())
            for helper in known.get(method, ())
        ]
        if whole and not given:
            every.append(
                BatchUse(refusal=f"the batch is passed as a whole to `{method}`, which fixer cannot read; {OWN_SPLIT}")
            )
        for found in given:
            every.append(found if whole else _as_part(found))
            queue += [(handed, whole) for handed in found.whole]
            queue += [(handed, False) for handed in found.parts]
    return merged(every)
