"""Edits of a Trainer that is written out, carried to the places where its arguments are written."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any

from codemods.code.nodes import walk
from codemods.code.source import PythonFile
from codemods.code.syntax import is_none
from codemods.lightning.built_objects import HIDDEN
from codemods.lightning.exclusive_use import HARDWARE
from codemods.lightning.facts import Facts
from codemods.lightning.keyword_flow import HandedKeyword
from codemods.lightning.lightning_cli import DEFAULTS
from codemods.lightning.trainer_subclasses import hands_on, own_arguments
from codemods.lightning.written_out import WrittenOutTrainer
from codemods.rewrite.dictionaries import exchange, with_callback_in
from codemods.rewrite.keywords import is_commented, replaced, with_callback, with_keyword
from codemods.rule import NodeEdit

if TYPE_CHECKING:
    import libcst as cst

NO_INSTANCE = "LightningCLI takes no instance as a default"
"""Of callbacks it does (run with jsonargparse 4.39 and 4.53)."""
RECENT = 128
"""So many edits are kept with what they make of calls: the same are asked about for each match beside them."""
New = tuple[tuple[str, str | None], ...]


@dataclass(frozen=True)
class Delta:
    """What an edit makes of the arguments of a call: keywords that are gone, that are new and that have another value,
    with their texts; a text of None stands for the value of the one that is gone."""

    gone: tuple[str, ...]
    new: New
    other: tuple[tuple[str, str], ...]


def edits_of_call(edit: NodeEdit, shown: Mapping[int, WrittenOutTrainer]) -> tuple[WrittenOutTrainer, NodeEdit] | None:
    """The Trainer that an edit of it, or of one of its arguments, is about, and the edit as one of the whole call."""
    for one in shown.values():
        if edit.node is one.call:
            return one, edit
        for item in one.call.keywords:
            if edit.node is item or edit.node is item.value:
                change = partial(_of_argument, change=edit.change, name=str(item.arg), whole=edit.node is item)
                return one, NodeEdit(one.call, change)
    return None


def _of_argument(node: cst.Call, *, change: Callable[[Any], Any], name: str, whole: bool) -> cst.Call:
    args = [
        item
        if not item.keyword or item.keyword.value != name
        else change(item)
        if whole
        else item.with_changes(value=change(item.value))
        for item in node.args
    ]
    return node.with_changes(args=args)


def delta_of(edit: NodeEdit, shown: WrittenOutTrainer) -> Delta | None:
    """What an edit makes of the arguments of a Trainer as it is shown; None where it does something else too."""
    texts = made_of_call(edit, shown.call)
    if texts is None:
        return None
    before, then = texts
    gone = tuple(name for name in before if name not in then)
    back = {
        ast.unparse(value): ast.unparse(argument.value)
        for name, value in shown.filled.items()
        if (argument := shown.argument(name)) and name in gone
    }
    new: list[tuple[str, str | None]] = []
    for name, text in then.items():
        if name not in before:
            same = len(gone) == 1 and text == before[gone[0]]
            new.append((name, None if same else _restored(text, back)))
    other = tuple((name, text) for name, text in then.items() if name in before and before[name] != text)
    return Delta(gone, tuple(new), other)


@lru_cache(maxsize=RECENT)
def made_of_call(edit: NodeEdit, node: ast.Call) -> tuple[Mapping[str, str], Mapping[str, str]] | None:
    """The texts of a call's keywords before and after an edit; None where it does something else too."""
    import libcst as cst

    call = _parsed(node)
    try:
        after = edit.change(call)
    except (TypeError, AttributeError, StopIteration, ValueError, cst.CSTValidationError):
        return None
    if not isinstance(after, cst.Call) or not after.func.deep_equals(call.func):
        return None
    return _texts(call), _texts(after)


@lru_cache(maxsize=RECENT)
def _parsed(node: ast.Call) -> cst.Call:
    import libcst as cst

    return cst.ensure_type(cst.parse_expression(ast.unparse(node)), cst.Call)


def _texts(call: cst.Call) -> dict[str, str]:
    import libcst as cst

    empty = cst.Module([])
    return {item.keyword.value: empty.code_for_node(item.value) for item in call.args if item.keyword}


def _restored(text: str, back: Mapping[str, str]) -> str:
    """A text in which what is written stands again for the constants that were read for it."""
    import libcst as cst

    return cst.Module([]).code_for_node(_with_written(cst.parse_expression(text), back))


def _with_written(node: cst.BaseExpression, back: Mapping[str, str]) -> cst.BaseExpression:
    import libcst as cst

    empty = cst.Module([])
    exchanged = {text: written for text, written in back.items() if text not in ("None", "True", "False")}
    whole = back.get(empty.code_for_node(node))
    if whole is not None and whole != HIDDEN:
        return cst.parse_expression(whole)

    class Restore(cst.CSTTransformer):
        def on_leave(self, original: Any, updated: Any) -> Any:
            updated = super().on_leave(original, updated)
            plain = isinstance(updated, cst.SimpleString | cst.BaseNumber | cst.UnaryOperation)
            text = exchanged.get(empty.code_for_node(updated)) if plain else None
            return cst.parse_expression(text) if text and text != HIDDEN else updated

    made = node.visit(Restore()) if exchanged else node
    assert isinstance(made, cst.BaseExpression)
    return made


def carried(
    file: PythonFile, facts: Facts, edit: NodeEdit, shown: WrittenOutTrainer, imported: Collection[str]
) -> tuple[NodeEdit, ...] | str:
    """The edits of a file that do what one does of a Trainer as it is shown, or why there are none."""
    built = shown.built
    if built.how is None:
        return (NodeEdit(built.call.node, partial(_in_place, change=edit.change, shown=shown)),)
    delta = delta_of(edit, shown)
    if delta is None:
        return "more than its arguments would change"
    hidden = {item.name for item in built.arguments if isinstance(item.value, ast.Name) and item.value.id == HIDDEN}
    if (
        HIDDEN in f"{delta.new}{delta.other}"
        or hidden & {*delta.gone}
        or (hidden & HARDWARE and HARDWARE & {*delta.gone})
    ):
        return "what it is given is not read where the Trainer is built"
    names = [name for name, _ in delta.new]
    if built.own and not hands_on(facts, built.own, file.path, names, built.kind.__eq__):
        return f"{built.how}, does not pass its replacement on"
    if built.own and (own := (own_arguments(file, facts, built.call) or frozenset()) & {*delta.gone}):
        return f"{built.how}, has `{min(own)}=` itself, and passes on what that is by default"
    if built.fixed:
        return built.fixed
    if kept := built.taken & {*names}:
        return f"{built.how}, keeps `{min(kept)}=` for itself"
    homes = {item.name: item.home for item in built.arguments}
    if built.whole:
        return (NodeEdit(built.call.node, partial(_in_place, change=edit.change, shown=shown)),)
    given = {name for name, _ in delta.new} & {item.name for item in built.arguments}
    if given:
        return f"`{min(given)}=` is given too"
    return _split(file, facts, shown, delta, homes, imported)


def _split(
    file: PythonFile,
    facts: Facts,
    shown: WrittenOutTrainer,
    delta: Delta,
    homes: Mapping[str, ast.Call | HandedKeyword | None],
    imported: Collection[str],
) -> tuple[NodeEdit, ...] | str:
    """The edits of calls and dictionaries that together give a Trainer its arguments."""
    edits: list[NodeEdit] = []
    moved: New = delta.new
    own, of_cli = shown.built.call.node, shown.built.inside is not None
    given = (text for name, text in (*delta.new, *delta.other) if name != "callbacks" and text)
    if of_cli and any(isinstance(ast.parse(text, mode="eval").body, ast.Call) for text in given):
        return NO_INSTANCE
    for name, text in [item for item in moved if item[0] == "callbacks" and item[1]] if not of_cli else ():
        edits.append(NodeEdit(own, partial(with_callback, text=(text or "")[1:-1])))
        moved = tuple(item for item in moved if item[0] != name)
    steps: list[tuple[str, New]] = [(name, moved if not index else ()) for index, name in enumerate(delta.gone)]
    if not delta.gone:
        if of_cli and moved:
            return f"`{moved[0][0]}` has to be added to `{DEFAULTS}`"
        edits += [NodeEdit(own, partial(with_keyword, name=name, text=text or "")) for name, text in moved]
    steps += [(name, ((name, text),)) for name, text in delta.other if name not in delta.gone]
    known = {*imported, *file.scope.bindings, *vars(builtins)}
    for name, new in steps:
        home = homes.get(name)
        argument = shown.argument(name)
        if home is None or argument is None:
            return f"`{name}=` is written where it cannot be changed alone"
        mine = {item.id for item in walk(argument.value) if isinstance(item, ast.Name)}
        for text in filter(None, (text for _, text in new)):
            names = {item.id for item in walk(ast.parse(text, mode="eval")) if isinstance(item, ast.Name)}
            if not names <= mine | known:
                return "what it would become is not read there"
        one = _at_home(file, facts, shown, name, home, new)
        if isinstance(one, str):
            return one
        added = _added(argument.value, new[0][1] or "") if name == "callbacks" and new else []
        if added and isinstance(one.node, ast.AnnAssign):
            return "the callbacks are a field of a class"
        edits += [NodeEdit(one.node, partial(with_callback_in, text=text)) for text in added] or [one]
    return tuple(edits)


def _added(value: ast.expr, text: str) -> list[str]:
    """The texts of the elements that a list has besides what was there, so that others can be added to it too."""
    import libcst as cst

    made = cst.parse_expression(text)
    empty = cst.Module([])
    elements = [item.with_changes(comma=cst.MaybeSentinel.DEFAULT) for item in getattr(made, "elements", ())]
    texts = [empty.code_for_node(item) for item in elements]
    known = value.elts if isinstance(value, ast.List) else [ast.Starred(value, ast.Load())]
    known = [] if is_none(value) else known
    same = [ast.unparse(ast.parse(f"[{each}]")) for each in texts] if isinstance(made, cst.List) else []
    return texts[len(known) :] if same[: len(known)] == [f"[{ast.unparse(item)}]" for item in known] else []


def _at_home(
    file: PythonFile, facts: Facts, shown: WrittenOutTrainer, name: str, home: ast.Call | HandedKeyword, new: New
) -> NodeEdit | str:
    if isinstance(home, HandedKeyword):
        edit = exchange(file, facts, shown.built.call, home, new)
        return edit or f"the dictionary at {home.where} may be for something else too"
    item = next(each for each in home.keywords if each.arg == name)
    if not new and is_commented(file, home, item, beside=False):
        return "there is a comment next to it"
    if any(word in {each.arg for each in home.keywords} and word != name for word, _ in new):
        return "what it would become is given too"
    return NodeEdit(home, partial(replaced, name=name, new=new))


def _in_place(node: cst.Call, *, change: Callable[[Any], Any], shown: WrittenOutTrainer) -> cst.Call:
    """A call as an edit of the same call with other values and another name changes it."""
    import libcst as cst

    empty = cst.Module([])
    written = {item.keyword.value: item.value for item in node.args if item.keyword}
    filled = {name: cst.parse_expression(ast.unparse(value)) for name, value in shown.filled.items() if name in written}
    virtual = node.with_changes(
        func=cst.parse_expression(ast.unparse(shown.call.func)),
        args=[
            item.with_changes(value=filled[item.keyword.value])
            if item.keyword and item.keyword.value in filled
            else item
            for item in node.args
        ],
    )
    after = cst.ensure_type(change(virtual), cst.Call)
    left = {item.keyword.value for item in after.args if item.keyword}
    back = {
        empty.code_for_node(value): empty.code_for_node(written[name])
        for name, value in filled.items()
        if name not in left
    }
    args = []
    for item in after.args:
        name = item.keyword.value if item.keyword else ""
        if name in filled and item.value.deep_equals(filled[name]):
            item = item.with_changes(value=written[name])
        elif name and name not in written:
            item = item.with_changes(value=_with_written(item.value, back))
        args.append(item)
    return after.with_changes(func=node.func, args=args)
