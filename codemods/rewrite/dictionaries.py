"""Keys that reach a Trainer by `**`, exchanged for others where they are set."""

from __future__ import annotations

import ast
from collections.abc import Collection, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from codemods.code.calls import space_of
from codemods.code.literals import literal
from codemods.code.nodes import every_node, walk
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import Function, statements_in_order, targets_of, uses
from codemods.lightning.configured_values import may_hold
from codemods.lightning.exclusive_use import HARDWARE, meets, since_bound
from codemods.lightning.facts import Facts
from codemods.lightning.keyword_flow import UNSEEN, HandedKeyword, handed
from codemods.lightning.kinds import stated_once
from codemods.rewrite.fields import has_a_line, is_spoken, with_fields
from codemods.rewrite.keywords import clean_break, is_commented, replaced, with_callback
from codemods.rule import NodeEdit

if TYPE_CHECKING:
    import libcst as cst

New = tuple[tuple[str, str | None], ...]
"""Other keys, with the text of their value; None stands for the value of the one that they replace."""
NO_OTHER = "fixer finds no other place that mentions the field"
ONE_PLACE = "fixer assumes that the dictionary is made, changed and read nowhere else"


def at_times(entry: HandedKeyword, every: Sequence[HandedKeyword]) -> str | None:
    """Why a key about the hardware stays: another one is beside it at times only, and then the two say something else.
    Those that one dictionary or call sets together are always together."""
    for other in every:
        together = other.always or (other.holder is not None and other.holder is entry.holder)
        if other.name in HARDWARE and other.name != entry.name and not together:
            return f'"{other.name}", which may change what it asks for, is not always set beside it ({other.where})'
    return None


def may_bring(file: PythonFile, call: CallNode, every: Sequence[HandedKeyword]) -> str | None:
    """Why keys about the hardware stay: the function of the call asks what it hands on unseen for one of them, which
    may then be there as well. What it takes out is not handed on."""
    unseen = {entry.place.id for entry in every if entry.name == UNSEEN and isinstance(entry.place, ast.Name)}
    for node in every_node(space_of(file, call)) if unseen else ():
        if (asked := _asked_of(node)) and asked[0] in unseen and asked[1] in HARDWARE:
            return f'`{asked[0]}`, which is passed on with it, may hold "{asked[1]}" too'
    return None


def _asked_of(node: ast.AST) -> tuple[str, str] | None:
    """The name of a dictionary and the key that it is asked for: by `get`, by an index, or by `in`."""
    if isinstance(node, ast.Subscript) and type(node.ctx) is ast.Load:
        owner, key = node.value, node.slice
    elif isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.In | ast.NotIn):
        owner, key = node.comparators[0], node.left
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args:
        owner, key = node.func.value, node.args[0]
    else:
        return None
    if isinstance(owner, ast.Name) and isinstance(key, ast.Constant) and isinstance(key.value, str):
        return owner.id, key.value
    return None


def may_get(file: PythonFile, facts: Facts, call: CallNode, keywords: Collection[str]) -> bool:
    """Whether `**` may give a call one of some keywords."""
    if not any(item.arg is None for item in call.node.keywords):
        return False
    names = names_of(handed(file, facts, call))
    if (names or _is_empty(file, call)) and {UNSEEN, *keywords}.isdisjoint(names):
        return False
    given = [item.value for item in call.node.keywords if item.arg is None]
    return any(may_hold(facts, file, call, each, keywords) for each in given)


def _is_empty(file: PythonFile, call: CallNode) -> bool:
    """Whether all that a call gets by `**` are dictionaries that are made empty in the same function, and that nothing
    else has to do with."""
    space = space_of(file, call)
    if not isinstance(space, Function):
        return False
    for given in (item.value for item in call.node.keywords if item.arg is None):
        made = stated_once(file, call, given.id) if isinstance(given, ast.Name) else None
        if made is None or ast.unparse(made) not in ("{}", "dict()") or len(uses(space, ast.unparse(given))) != 2:
            return False
    return True


def in_one_place(file: PythonFile, call: CallNode, every: Sequence[HandedKeyword], names: Collection[str]) -> bool:
    """Whether all that a call gets by `**` is one dictionary, spelled out there or the one value of a name of the same
    function, in which keys of those names are always set, before anything gets it. Whatever else makes, sets or reads
    one may do so for another call, or not always."""
    mine = [entry for entry in every if entry.name in names]
    filled = _filled(space_of(file, call), given) if (given := _sole_dictionary(call, every, names)) else []
    return all(entry.always and any(entry.holder is holder for holder in filled) for entry in mine)


def in_one_function(file: PythonFile, call: CallNode, every: Sequence[HandedKeyword], name: str) -> bool:
    """Whether all that a call gets by `**` is such a dictionary, and whatever sets the key is in that function: enough
    for a key of which what stands beside it changes nothing, and that is exchanged wherever it is set."""
    given, space = _sole_dictionary(call, every, []), space_of(file, call)
    if given is None or _line_that_makes(space, given) is None:
        return False
    around = {id(node) for node in walk(space)}
    return all(id(entry.holder) in around for entry in every if entry.name == name)


def _sole_dictionary(call: CallNode, every: Sequence[HandedKeyword], keys: Collection[str]) -> ast.expr | None:
    """The dictionary that a call gets by `**`, where that is one, all that is in it is seen and goes nowhere else, and
    no key of those is set twice."""
    given = [item.value for item in call.node.keywords if item.arg is None]
    in_class = bool(call.within) and isinstance(call.within[-1], ast.ClassDef)
    names = [name for name in names_of(every) if name in keys]
    if len(given) != 1 or in_class or UNSEEN in names_of(every) or len(names) > len(set(names)):
        return None
    return given[0] if all(entry.alone for entry in every) else None


def _filled(space: ast.Module | Function, given: ast.expr) -> list[ast.AST]:
    """The dictionary that a function, or the module, makes once of what a call gets, and the statements and calls that
    fill it behind; none where it may be read before they are done."""
    if not isinstance(given, ast.Name):
        return [given]
    name, made_at = given.id, _line_that_makes(space, given)
    if made_at is None:
        return []
    used, lines = _uses(space, given), _statements(space, given)
    found: list[ast.AST] = [made for line in lines if (made := _made(line, name)) is not None]
    done, last = set(), made_at
    for index, line in enumerate(lines):
        holders: list[ast.AST] = [line]
        owner: ast.AST | None = None
        if isinstance(line, ast.Assign) and isinstance(line.targets[0], ast.Subscript):
            owner = line.targets[0].value
        elif isinstance(line, ast.Expr) and isinstance(line.value, ast.Call):
            holders, owner = [line.value, *line.value.args], getattr(line.value.func, "value", None)
        if isinstance(owner, ast.Name) and owner.id == name:
            found, last = [*found, *holders], index
            done.add(id(owner))
    early = {id(node) for line in lines[: last + 1] for node in walk(line)}
    reads = (node for node in used if isinstance(node.ctx, ast.Load) and id(node) not in done)
    return [] if last < made_at or any(id(node) in early for node in reads) else found


def _line_that_makes(space: ast.Module | Function, given: ast.expr) -> int | None:
    """The number of the statement of a function, or of the module, in which a name gets its one value, a dictionary."""
    if not isinstance(given, ast.Name):
        return None
    makes = [index for index, line in enumerate(_statements(space, given)) if _made(line, given.id) is not None]
    stored = sum(not isinstance(node.ctx, ast.Load) for node in _uses(space, given))
    return makes[0] if len(makes) == 1 and stored == 1 else None


def _statements(space: ast.Module | Function, given: ast.Name) -> list[ast.stmt]:
    """The statements of a function or module, from the last on that binds a name to its use if several do."""
    lines, every = since_bound(space, given.id, given), statements_in_order(space)
    return [line for line in every if line.lineno in lines] if lines else every


def _uses(space: ast.Module | Function, given: ast.Name) -> list[ast.Name]:
    """Where a name is read or bound, in those statements."""
    nodes = (node for line in _statements(space, given) for node in walk(line))
    return [node for node in nodes if isinstance(node, ast.Name) and node.id == given.id]


def _made(line: ast.stmt, name: str) -> ast.expr | None:
    """The dictionary that a statement assigns to a name."""
    if not isinstance(line, ast.Assign | ast.AnnAssign) or not isinstance(line.value, ast.Dict | ast.Call):
        return None
    targets = targets_of(line)
    plain = len(targets) == 1 and isinstance(targets[0], ast.Name) and targets[0].id == name
    return line.value if plain else None


def exchange(file: PythonFile, facts: Facts, call: CallNode, entry: HandedKeyword, new: New) -> NodeEdit | None:
    """The edit that puts other keys in the place of one that a call gets, None where it cannot be proved that they
    reach Trainers alone, that no other call gives them too, or a comment would be lost."""
    holder = entry.holder
    if entry.file is not file or holder is None:
        return None
    if isinstance(holder, ast.AnnAssign):
        return _of_field(file, facts, entry, holder, new)
    if not entry.alone or meets(file, call, entry.name, [name for name, _ in new]):
        return None
    if not new and _is_commented(file, entry):
        return None
    if isinstance(holder, ast.Dict):
        return NodeEdit(holder, partial(_in_dictionary, name=entry.name, new=new))
    if isinstance(holder, ast.Call):
        return NodeEdit(holder, partial(replaced, name=entry.name, new=new))
    if not new:
        return NodeEdit(holder, _nothing, line=True) if _has_neighbours(file, holder) else None
    return NodeEdit(holder, partial(_stored, new=new))


def _has_neighbours(file: PythonFile, statement: ast.stmt) -> bool:
    """Whether a statement has its line for itself, and its block holds others."""
    for owner in every_node(file.tree):
        for name in ("body", "orelse", "finalbody"):
            block = getattr(owner, name, None)
            if isinstance(block, list) and any(item is statement for item in block):
                lines = [line for item in block if item is not statement for line in (item.lineno, item.end_lineno)]
                return len(block) > 1 and not {statement.lineno, statement.end_lineno} & set(lines)
    return False


def _nothing(_: cst.CSTNode) -> cst.RemovalSentinel:
    import libcst as cst

    return cst.RemoveFromParent()


def names_of(entries: Collection[HandedKeyword]) -> list[str]:
    """The names of keys, in order."""
    return [entry.name for entry in entries]


def _is_commented(file: PythonFile, entry: HandedKeyword) -> bool:
    """Whether a comment stands beside or above a key."""
    if isinstance(entry.holder, ast.Call) and isinstance(entry.place, ast.keyword):
        return is_commented(file, entry.holder, entry.place, beside=False)
    last = entry.value.end_lineno if entry.value else None
    above = file.lines[entry.place.lineno - 2].lstrip() if entry.place.lineno > 1 else ""
    beside = file.lines[entry.place.lineno - 1 : last or entry.place.lineno]
    return above.startswith("#") or any("#" in line for line in beside)


def _of_field(file: PythonFile, facts: Facts, entry: HandedKeyword, node: ast.AnnAssign, new: New) -> NodeEdit | None:
    """Other fields in the place of one that has a literal for its default, and that nothing else speaks of."""
    if node.value is None or not literal(node.value)[0] or not new or not has_a_line(file, node):
        return None
    if is_spoken(file, facts, entry.name) or _is_filled_by_position(file, facts, node):
        return None
    fields = []
    for name, text in new:
        value = text or file.source_of(node.value)
        known, plain = literal(ast.parse(value, mode="eval").body)
        note = type(plain).__name__ if known and text else file.source_of(node.annotation)
        fields.append(f"{name}: {note} = {value}")
    return NodeEdit(node, partial(with_fields, fields=tuple(fields)), line=True)


def _is_filled_by_position(file: PythonFile, facts: Facts, field: ast.AnnAssign) -> bool:
    """Whether the class of a field may be built of values that go by their position: here, or in another file that
    speaks of it."""
    owner = next((item for item in file.classes if field in item.node.body), None)
    if owner is None:
        return True
    name = owner.node.name
    elsewhere = any(
        source.kind in ("python", "notebook") and path != file.path and name.encode() in source.unescaped
        for path, source in facts.sources.items()
    )
    below = any(isinstance(base, ast.Name) and base.id == name for item in file.classes for base in item.node.bases)
    called = [call.node for call in file.calls_near([name]) if getattr(call.node.func, "id", "") == name]
    return elsewhere or below or any(call.args for call in called)


def _stored(node: cst.Assign, *, new: New) -> cst.Assign | cst.Expr:
    """The statement `x["key"] = value` with other keys."""
    import libcst as cst

    target = cst.ensure_type(node.targets[0].target, cst.Subscript)
    values = [node.value if text is None else cst.parse_expression(text) for _, text in new]
    if len(new) == 1:
        index = cst.ensure_type(target.slice[0].slice, cst.Index)
        key = index.with_changes(value=_spelled(index.value, new[0][0]))
        changed = target.with_changes(slice=[target.slice[0].with_changes(slice=key)])
        return node.with_changes(targets=[node.targets[0].with_changes(target=changed)], value=values[0])
    equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    given = [cst.Arg(value, cst.Name(name), equal) for (name, _), value in zip(new, values, strict=True)]
    return cst.Expr(cst.Call(cst.Attribute(target.value, cst.Name("update")), given), semicolon=node.semicolon)


def _in_dictionary(old: cst.Dict, *, name: str, new: New) -> cst.Dict:
    """The dictionary with other entries in the place of one."""
    import libcst as cst

    elements = list(old.elements)
    index = next(
        number
        for number, item in enumerate(elements)
        if isinstance(item, cst.DictElement)
        and isinstance(item.key, cst.SimpleString | cst.ConcatenatedString)
        and item.key.evaluated_value == name
    )
    item = cst.ensure_type(elements[index], cst.DictElement)
    made = [
        item.with_changes(
            key=_spelled(item.key, word),
            value=item.value if text is None else cst.parse_expression(text),
            comma=cst.Comma(whitespace_after=_between(old, index)),
        )
        for word, text in new
    ]
    if made:
        made[-1] = made[-1].with_changes(comma=item.comma)
        return old.with_changes(elements=[*elements[:index], *made, *elements[index + 1 :]])
    return _without(old, index)


def _without(old: cst.Dict, index: int) -> cst.Dict:
    """The dictionary without an entry; comments on lines of their own, which speak of its neighbours, stay."""
    import libcst as cst

    from codemods.rewrite.edits import comment_lines, followed

    elements, comma = list(old.elements), old.elements[index].comma
    left = [*elements[:index], *elements[index + 1 :]]
    if not left or (not index and not isinstance(comma, cst.Comma)):
        return old.with_changes(elements=left)
    if not index:
        space = cst.ensure_type(comma, cst.Comma).whitespace_after
        above = followed(old.lbrace.whitespace_after, space, bool(comment_lines(space)))
        return old.with_changes(elements=left, lbrace=old.lbrace.with_changes(whitespace_after=above))
    own = cst.ensure_type(elements[index - 1].comma, cst.Comma)
    if index < len(elements) - 1:
        space = cst.ensure_type(comma, cst.Comma).whitespace_after
        own = own.with_changes(whitespace_after=followed(own.whitespace_after, space, True))
        left[index - 1] = elements[index - 1].with_changes(comma=own)
        return old.with_changes(elements=left)
    space, end = own.whitespace_after, old.rbrace.whitespace_before
    if isinstance(space, cst.ParenthesizedWhitespace):
        if not isinstance(end, cst.ParenthesizedWhitespace):
            return old.with_changes(elements=left)
        lines = [*comment_lines(space), *end.empty_lines]
        end = end.with_changes(first_line=space.first_line, empty_lines=lines)
    left[-1] = left[-1].with_changes(comma=comma)
    return old.with_changes(elements=left, rbrace=old.rbrace.with_changes(whitespace_before=end))


def with_callback_in(node: Any, *, text: str) -> Any:
    """A call, a dictionary or the statement that sets its key, with one more among its callbacks."""
    import libcst as cst

    def more(value: cst.BaseExpression) -> cst.BaseExpression:
        call = cst.Call(cst.Name("f"), [cst.Arg(value, cst.Name("callbacks"))])
        return with_callback(call, text).args[0].value

    if isinstance(node, cst.Call):
        return with_callback(node, text)
    if isinstance(node, cst.Assign):
        return node.with_changes(value=more(node.value))
    return node.with_changes(
        elements=[
            item.with_changes(value=more(item.value))
            if isinstance(item, cst.DictElement) and getattr(item.key, "evaluated_value", None) == "callbacks"
            else item
            for item in node.elements
        ]
    )


def _spelled(old: cst.BaseExpression, word: str) -> cst.SimpleString:
    """A string in the quotes of another, which may be of several parts."""
    import libcst as cst

    while isinstance(old, cst.ConcatenatedString):
        old = old.left
    quote = cst.ensure_type(old, cst.SimpleString).quote
    return cst.SimpleString(f"{quote}{word}{quote}")


def _between(node: cst.Dict, index: int) -> cst.BaseParenthesizableWhitespace:
    """What separates two entries at that place: a line break where each has a line of its own."""
    import libcst as cst

    commas = [item.comma for item in node.elements[max(index - 1, 0) : index + 1]]
    spaces = [comma.whitespace_after for comma in commas if isinstance(comma, cst.Comma)]
    if index == 0:
        spaces.append(node.lbrace.whitespace_after)
    inside = spaces if index < len(node.elements) - 1 else spaces[:1]
    breaks = [space for space in inside if isinstance(space, cst.ParenthesizedWhitespace)]
    return clean_break(breaks[0]) if breaks and len(breaks) == len(inside) else cst.SimpleWhitespace(" ")
