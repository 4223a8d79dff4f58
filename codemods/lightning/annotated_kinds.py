"""The kinds that annotations state of values, as `lightning.kinds` names kinds."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from itertools import chain

from codemods.code.calls import class_around
from codemods.code.scopes import Scope
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import Function, is_bound, is_self_attribute, self_assignments, targets_of, uses
from codemods.lightning.attribute_stores import is_stored, stores_by_name
from codemods.lightning.computed import kind_of_literal
from codemods.lightning.facts import Facts
from codemods.lightning.instance_types import ReadingPlace, Shape, shape_of
from codemods.lightning.subclass_members import bound_below

_PLAIN = {"int": "int", "float": "number", "bool": "bool", "str": "str"}
_PYDANTIC = {
    **dict.fromkeys(("conint", "NegativeInt", "NonNegativeInt", "NonPositiveInt", "PositiveInt", "StrictInt"), "int"),
    **dict.fromkeys(("confloat", "NonNegativeFloat", "PositiveFloat", "StrictFloat"), "number"),
    **dict.fromkeys(("constr", "StrictStr"), "str"),
    "StrictBool": "bool",
}
_LISTS = ("List", "Sequence", "list")
"""What holds several values, and may be empty."""


def kind_of_note(scope: Scope, note: ast.expr | None) -> str:
    """The kind that an annotation states: `int`, `number`, `bool`, `str`, `numbers`, or `?`. That None may be there too
    is no other kind."""
    if isinstance(note, ast.Constant) and isinstance(note.value, str):
        try:
            return kind_of_note(scope, ast.parse(note.value, mode="eval").body)
        except SyntaxError:
            return "?"
    if isinstance(note, ast.BinOp) and isinstance(note.op, ast.BitOr):
        return _kind_of_any(scope, (note.left, note.right))
    if isinstance(note, ast.Subscript):
        return _kind_of_made(scope, note)
    if isinstance(note, ast.Call):
        return _PYDANTIC.get(_imported(scope, note.func, "pydantic"), "?")
    if isinstance(note, ast.Name) and scope.lookup(note.id) is None:
        return _PLAIN.get(note.id, "?")
    return _PYDANTIC.get(_imported(scope, note, "pydantic"), "?") if note is not None else "?"


def _kind_of_made(scope: Scope, note: ast.Subscript) -> str:
    """The kind of `Optional[...]`, `Union[...]`, `List[...]`, `Literal[...]` and `Annotated[...]`."""
    built_in = isinstance(note.value, ast.Name) and note.value.id == "list" and scope.lookup("list") is None
    of = "list" if built_in else _imported(scope, note.value, "typing", "typing_extensions", "collections.abc")
    parts = note.slice.elts if isinstance(note.slice, ast.Tuple) else [note.slice]
    if of in ("Optional", "Union"):
        return _kind_of_any(scope, parts)
    if of in _LISTS:
        return "numbers" if kind_of_note(scope, parts[0]) == "int" else "?"
    if of == "Literal":
        kinds = {kind_of_literal(part) for part in parts}
        return kinds.pop() if len(kinds) == 1 else "?"
    return kind_of_note(scope, parts[0]) if of == "Annotated" else "?"


def _kind_of_any(scope: Scope, notes: Iterable[ast.expr]) -> str:
    missing = (ast.Constant, ast.Name)
    kinds = {
        kind_of_note(scope, note) for note in notes if not (isinstance(note, missing) and ast.unparse(note) == "None")
    }
    if len(kinds) == 1:
        return kinds.pop()
    if kinds == {"int", "number"}:
        return "number"
    return "numbers" if kinds and kinds <= {"int", "numbers"} else "?"


def _imported(scope: Scope, node: ast.expr, *modules: str) -> str:
    """The last name of what is imported from one of some modules, empty for the rest."""
    module, _, name = (scope.resolve(node) or "").rpartition(".")
    return name if module in modules else ""


def kind_of_field(facts: Facts, file: PythonFile, call: CallNode, node: ast.Attribute) -> str:
    """The kind that a class of the project states of an attribute, where the class of its owner is seen, and no code
    sets such an attribute to what may be of another."""
    holder = shape_of(ReadingPlace.of(file, call), facts, node.value)
    stated = next(_notes(facts, holder, node.attr), None) if holder else None
    kind = kind_of_note(*stated) if stated else "?"
    if kind == "?" or is_stored(facts, facts.open, node.attr, _set_alike(facts, node.attr, kind)):
        return "?"
    return kind


def kind_of_held(facts: Facts, file: PythonFile, call: CallNode, node: ast.Attribute) -> str:
    """The kind of `self.name` where all that the project sets such an attribute to is written there, or a parameter
    that is annotated so and never bound anew."""
    item = class_around(file, call.within)
    if item is None or not is_self_attribute(node, node.attr) or stores_by_name(facts, file, item):
        return "?"
    if bound_below(facts, (file.path, item.node.name), [node.attr]):
        return "?"
    own = {kind_of_note(file.scope, note) for note in _given_to(item.node, node.attr)}
    kind = own.pop() if len(own) == 1 else "?"
    return "?" if kind == "?" or is_stored(facts, facts.open, node.attr, _set_alike(facts, node.attr, kind)) else kind


def _given_to(item: ast.ClassDef, name: str) -> Iterator[ast.expr | None]:
    """The annotations of the parameters that the methods of a class set an attribute to."""
    for method in (each for each in item.body if isinstance(each, ast.FunctionDef)):
        for statement in self_assignments(method, name):
            if note := _note_of(method, statement.value):
                yield note


def _note_of(function: ast.AST, value: ast.expr | None) -> ast.expr | None:
    """The annotation of a parameter of a function, which never binds it anew."""
    if not isinstance(function, Function) or not isinstance(value, ast.Name):
        return None
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    note = next((each.annotation for each in arguments if each.arg == value.id), None)
    return None if any(is_bound(use) for use in uses(function, value.id)) else note


def _set_alike(facts: Facts, name: str, kind: str) -> Iterator[tuple[str, int, int]]:
    """The places at which code of the project sets an attribute to what is written there, or to a parameter that is
    annotated, and of that kind."""
    files = (file for path, _ in facts.holding(name) if (file := facts.open(path)))
    for file in files:
        for item in file.assignments:
            if item.node.value is None:
                continue
            note = _note_of(item.within[-1], item.node.value) if item.within else None
            if kind in (kind_of_literal(item.node.value), kind_of_note(file.scope, note)):
                for target in targets_of(item.node):
                    if isinstance(target, ast.Attribute) and target.attr == name:
                        yield file.path, target.lineno, target.col_offset


def _notes(facts: Facts, holder: Shape, name: str) -> Iterator[tuple[Scope, ast.expr]]:
    """The annotations of a field of that name, of a class and then of those above it."""
    file, item = holder
    fact = facts.find_class(f"{file.module}.{item.qualname}", file.path)
    above = ((facts.open(each.path), each.name) for each in (facts.ancestry(fact) if fact else ()))
    for home, qualname in chain([(file, item.qualname)], above):
        for each in home.classes if home else ():
            if home and each.qualname == qualname:
                for statement in each.node.body:
                    if isinstance(statement, ast.AnnAssign) and ast.unparse(statement.target) == name:
                        yield home.scope, statement.annotation
