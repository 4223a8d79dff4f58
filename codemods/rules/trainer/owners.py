"""Which expressions stand for a Trainer: `self.trainer`, a callback's parameter, what was built or annotated."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from codemods.code.calls import class_around
from codemods.code.nodes import walk
from codemods.code.reaching import definitions
from codemods.code.scopes import ROOT, Scope, canonical
from codemods.code.source import PythonFile
from codemods.code.syntax import Function, is_none, self_name, takes, targets_of
from codemods.lightning.calls import builds_trainer
from codemods.lightning.class_family import PLAIN_BASES, family
from codemods.lightning.facts import CALLBACK, MODULE, TRAINER, ClassFact, Facts
from codemods.lightning.kinds import is_stored
from codemods.lightning.trainer_variables import assigned_to, is_given, reads_lightning, unpacked_to

Within = tuple[ast.AST, ...]
HOLDERS = (MODULE, CALLBACK, f"{ROOT}.LightningDataModule")


def attributes_within(file: PythonFile, names: frozenset[str]) -> Iterator[tuple[ast.Attribute, Within]]:
    """The attributes of some names, each with the nodes around it, outermost first."""
    for node, within in file.nodes_near(names):
        if isinstance(node, ast.Attribute) and node.attr in names:
            yield node, within


def stands_for_trainer(file: PythonFile, facts: Facts, node: ast.expr, within: Within) -> bool | None:
    """Whether an expression is a Trainer; None where it is only called so."""
    functions = [item for item in within if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)]
    text = ast.unparse(node)
    if text in _built(file):
        return True
    annotated = _annotation(file, functions, text)
    if annotated is not None:
        return annotated
    if any(is_given(facts, file, file.scope, "", value) for value in assigned_to(file, text)):
        return True
    own = isinstance(node, ast.Name) and any(takes(function, node.id) for function in functions)
    if not own and any(is_given(facts, file, file.scope, "", value, part) for value, part in unpacked_to(file, text)):
        return True
    if text.rpartition(".")[2].strip("_") != "trainer":
        return False
    owner = class_around(file, within)
    fact = facts.of_class(file, owner)
    kind = facts.kind(fact) if fact else None
    if isinstance(node, ast.Name):
        return _is_parameter(file, functions, node.id, kind)
    if not (isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and functions):
        return None if reads_lightning(file) and text.split(".")[0] in ("self", "pl_module", "module") else False
    if node.value.id == self_name(functions[0]) and owner is not None:
        return kind in HOLDERS or (None if kind is None and reads_lightning(file) else False)
    if _is_module(file, facts, functions, node.value.id, kind):
        return True
    return None if node.value.id in ("pl_module", "module", "model") and reads_lightning(file) else False


def is_trainers(file: PythonFile, facts: Facts, node: ast.Attribute, within: Within) -> bool | None:
    """Whether an attribute is one of a Trainer's; None where its owner is only called so, or may have its own."""
    fact = subclass_around(file, facts, node.value, within)
    if fact is None:
        return stands_for_trainer(file, facts, node.value, within)
    homes = ((file if item.path == file.path else facts.open(item.path), item) for item in (fact, *family(facts, fact)))
    if any(_has_own(home, item, node.attr) for home, item in homes):
        return False
    strangers = (base for base in facts.lineage(fact) if isinstance(base, str) and base not in PLAIN_BASES)
    return True if all(canonical(base).startswith(f"{ROOT}.") for base in strangers) else None


def subclass_around(file: PythonFile, facts: Facts, node: ast.expr, within: Within) -> ClassFact | None:
    """The class below Trainer whose instance an expression is, in one of its methods."""
    functions = [item for item in within if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef)]
    owner = class_around(file, within)
    if not functions or owner is None or not isinstance(node, ast.Name) or node.id != self_name(functions[0]):
        return None
    fact = facts.of_class(file, owner)
    return fact if fact is not None and facts.kind(fact) == TRAINER else None


def _has_own(file: PythonFile | None, item: ClassFact, name: str) -> bool:
    """Whether a class, of the project and in that file, has an attribute of that name: in its body, or set on itself
    by a method of it."""
    classes = [each for each in file.classes if each.qualname == item.name] if file else []
    return not classes or any(
        name in each.methods or bool(definitions(each.node, name)) or _sets(each.node, name) for each in classes
    )


def _sets(owner: ast.ClassDef, name: str) -> bool:
    return any(
        isinstance(node, ast.Attribute)
        and node.attr == name
        and isinstance(node.ctx, ast.Store)
        and isinstance(node.value, ast.Name)
        for node in walk(owner)
    )


def _is_parameter(file: PythonFile, functions: list[Function], name: str, kind: str | None) -> bool | None:
    """A parameter called so is a Trainer in a callback's hook, and may be one in other functions."""
    for function in functions:
        every = [argument.arg for argument in [*function.args.args, *function.args.kwonlyargs]]
        if name in every:
            if kind == CALLBACK and every.index(name) == 1:
                return True
            return None if reads_lightning(file) else False
    return False


def _is_module(file: PythonFile, facts: Facts, functions: list[Function], name: str, kind: str | None) -> bool:
    """Whether a name is the module that a callback's hook is given, or a parameter annotated as one."""
    for function in reversed(functions):
        every = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
        for place, argument in enumerate(every):
            if argument.arg == name and not is_stored(function, name):
                hook = kind == CALLBACK and place == 2 and function.name.startswith("on_")
                return hook or _names_module(file, facts, argument.annotation)
    return False


def _names_module(file: PythonFile, facts: Facts, note: ast.expr | None) -> bool:
    dotted = file.scope.resolve(note) if note is not None else None
    fact = facts.find_class(dotted, file.path) if dotted else None
    return dotted == MODULE or (fact is not None and facts.kind(fact) == MODULE)


def _built(file: PythonFile) -> frozenset[str]:
    """The texts of what the Trainers that a file builds are kept in."""
    if "trainers.kept" not in file.memo:
        calls = file.calls_near(file.spellings("Trainer")) if "Trainer" in file.text else []
        built = {item.node for item in calls if builds_trainer(item)}
        file.memo["trainers.kept"] = frozenset(
            ast.unparse(target)
            for item in (file.assignments if built else ())
            if item.node.value in built
            for target in targets_of(item.node)
        )
    found: frozenset[str] = file.memo["trainers.kept"]
    return found


def _annotation(file: PythonFile, functions: list[Function], text: str) -> bool | None:
    """Whether the parameter of that name is annotated as a Trainer, None where it is not annotated at all, or may be
    something else by then."""
    scope: Scope = file.scope
    for function in reversed(functions):
        for argument in [*function.args.args, *function.args.kwonlyargs]:
            if argument.arg == text:
                note = _named(scope, argument.annotation) if argument.annotation else None
                if note is None or _is_unbound(scope, note) or _is_replaced(file, function, text):
                    return None
                return scope.resolve(note) == TRAINER
    return None


def _is_unbound(scope: Scope, note: ast.expr) -> bool:
    """Whether an annotation speaks of a Trainer by a name that its file does not bind, as Lightning's own texts do."""
    return scope.resolve(note) is None and ast.unparse(note).rpartition(".")[2] == "Trainer"


def _is_replaced(file: PythonFile, function: Function, name: str) -> bool:
    """Whether a function binds its parameter to what says nothing of it or of a Trainer."""
    values = (item.node.value for item in file.assignments_to(name) if function in item.within)
    return any(value is not None and not re.search(rf"\b{name}\b|Trainer", ast.unparse(value)) for value in values)


def _named(scope: Scope, note: ast.expr) -> ast.expr | None:
    """What an annotation names, or says may be there if it is not None; None where its text cannot be read."""
    if isinstance(note, ast.Constant) and isinstance(note.value, str):
        try:
            return _named(scope, ast.parse(note.value, mode="eval").body)
        except SyntaxError:
            return None
    if isinstance(note, ast.BinOp) and isinstance(note.op, ast.BitOr) and (is_none(note.left) or is_none(note.right)):
        return _named(scope, note.right if is_none(note.left) else note.left)
    if isinstance(note, ast.Subscript) and (scope.resolve(note.value) or "").rpartition(".")[2] == "Optional":
        return _named(scope, note.slice)
    return note
