"""A Trainer's `truncated_bptt_steps` that is known only when the program runs: where the model can be given it."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from codemods.code.calls import value_of
from codemods.code.nodes import every_node
from codemods.code.source import CallNode, PythonFile
from codemods.code.syntax import is_none
from codemods.lightning.facts import ClassFact, Facts, TrainerFact, is_trainer_call
from codemods.lightning.invariant_expressions import is_steady
from codemods.rewrite.manual.argument_transfer import may_be
from codemods.rewrite.manual.fit_sites import FileFits, FitStatement, fit_statements, read_fits
from codemods.rewrite.manual.optimizers import NotPlain
from codemods.rewrite.manual.trainers import trainers_of, used_elsewhere
from codemods.rewrite.manual.transfer_edits import without
from codemods.rule import NodeEdit

if TYPE_CHECKING:
    import libcst as cst

FLAG = "truncated_bptt_steps"
READABLE = (
    ast.Name, ast.Attribute, ast.Subscript, ast.Constant, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.Compare, ast.IfExp,
    ast.Call,
)  # fmt: skip
"""What a value is made of that is the same wherever it is worked out, as long as nothing changes what it reads."""
TELLING = frozenset({"int", "max", "min", "len", "round", "abs", "getattr", "bool"})
METHODS = frozenset({"get"})


@dataclass(frozen=True)
class FittedTrainer:
    """A Trainer call (`trainer` stand before it in the file) and where the model that it fits can be given its flag.

    `value` is that flag as source text, "None" where there is none; `kept` says that it has to be kept in a name
    before the Trainer is built, `refusal` why it cannot be handed over. `fitting` is None where the place is not
    plain.
    """

    trainer: int
    value: str
    fitting: FitStatement | None = None
    kept: bool = False
    refusal: str | None = None


Carried = tuple[tuple[str, int], ...]
"""Trainer calls, by path and how many stand before each in its file, of which the flag goes to the model."""


def told(file: PythonFile) -> tuple[FittedTrainer, ...]:
    """What the Trainers of a file give by the flag; nothing where none of them does."""
    if FLAG not in file.text:
        return ()
    places = {each.built: each for each in read_fits(file).plain if not each.cli}
    calls = list(filter(is_trainer_call, file.calls))
    return tuple(_told(file, index, call, places.get(call.node.lineno)) for index, call in enumerate(calls))


def _told(file: PythonFile, index: int, call: CallNode, fitting: FitStatement | None) -> FittedTrainer:
    value = flag_of(call)
    text = file.source_of(value) if value is not None else "None"
    if fitting is None or value is None:
        return FittedTrainer(index, text, fitting)
    if "\n" in text or not _is_readable(value):
        return FittedTrainer(index, text, fitting, refusal="it is computed from more than names and numbers")
    fit = next(each for _, each, _ in fit_statements(file) if each.node.lineno == fitting.line)
    steady = all(is_steady(file, call, part, [fit]) for part in _chains(value))
    if not steady and any(isinstance(node, ast.Name) and node.id == FLAG for node in every_node(file.tree)):
        return FittedTrainer(index, text, fitting, refusal=f"it may change before fit, and `{FLAG}` is taken as a name")
    return FittedTrainer(index, text, fitting, not steady)


def flag_of(call: CallNode) -> ast.expr | None:
    """What a call is given by the flag, None for nothing or None."""
    value = value_of(call.node, FLAG)
    return None if value is None or is_none(value) else value


def _is_readable(value: ast.expr) -> bool:
    parts = [node for node in every_node(value) if isinstance(node, ast.expr)]
    return all(isinstance(node, READABLE) and (not isinstance(node, ast.Call) or _tells(node)) for node in parts)


def _tells(call: ast.Call) -> bool:
    function = call.func
    if any(keyword.arg is None for keyword in call.keywords):
        return False
    if isinstance(function, ast.Name):
        return function.id in TELLING
    return isinstance(function, ast.Attribute) and function.attr in METHODS


def _chains(value: ast.expr) -> Iterator[ast.expr]:
    """The names of a value, each with the attributes and items that are read of it."""
    if isinstance(value, ast.Name | ast.Attribute | ast.Subscript):
        yield value
    elif isinstance(value, ast.Call):
        owner = [value.func.value] if isinstance(value.func, ast.Attribute) else []
        for part in [*owner, *value.args, *(keyword.value for keyword in value.keywords)]:
            yield from _chains(part)
    else:
        for inner in ast.iter_child_nodes(value):
            if isinstance(inner, ast.expr):
                yield from _chains(inner)


def carry(
    facts: Facts,
    fact: ClassFact,
    giving: Sequence[TrainerFact],
    optional: bool,
    shown: Mapping[str, tuple[FittedTrainer, ...]],
    fits: Mapping[str, FileFits],
) -> Carried:
    """The Trainers beside whose `fit` the model is given the flag. Raises NotPlain with the reason where it cannot be.

    Where the step does without a state (`optional`), a Trainer that gives none trained on whole batches, so that a
    model may have to be told that, too.
    """
    calls = [(trainer, _find(facts, shown, trainer)) for trainer in trainers_of(facts, fact)]
    silent = any(trainer not in giving for trainer, _ in calls)
    if silent and optional and (place := _unclear(facts, fact, fits)):
        raise NotPlain(
            f"its Trainers are given different {FLAG}, or some of them none, and "
            f"fixer cannot tell which module the one at {place} fits"
        )
    found: list[tuple[str, int]] = []
    for trainer, each in calls:
        place = f"{trainer.path}:{trainer.line}"
        if trainer not in giving and not optional:
            continue
        if each is None or each.fitting is None or each.refusal:
            why = each.refusal if each and each.refusal else "fixer cannot tell which model it fits there"
            argument = trainer.argument(FLAG)
            given = f"is given {FLAG}={argument.text}" if argument else f"is given no {FLAG}"
            raise NotPlain(f"the Trainer at {place} {given}, and {why}: set self.{FLAG} in the module instead")
        found.append((trainer.path, each.trainer))
    return tuple(found)


def _find(facts: Facts, shown: Mapping[str, tuple[FittedTrainer, ...]], trainer: TrainerFact) -> FittedTrainer | None:
    at = next(index for index, other in enumerate(facts.files[trainer.path].trainers) if other is trainer)
    return next((each for each in shown.get(trainer.path, ()) if each.trainer == at), None)


def _unclear(facts: Facts, fact: ClassFact, fits: Mapping[str, FileFits]) -> str | None:
    """Where a model of the class may be fitted in a way in which it cannot be given anything."""
    wide = used_elsewhere(facts, fact)
    for path, here in sorted(fits.items()):
        for line, dotted in here.other if wide or path == fact.path else ():
            if may_be(facts, fact, path, dotted):
                return f"{path}:{line}"
    return None


def lines(file: PythonFile, indexes: Sequence[int]) -> dict[FitStatement, str]:
    """The statements in front of a `fit` that give the model its flag, for some Trainers of a file."""
    found: dict[FitStatement, str] = {}
    stored = {ast.unparse(node.value) for node in file.attributes(FLAG) if isinstance(node.ctx, ast.Store)}
    for each in told(file):
        if each.trainer in indexes and each.fitting and each.fitting.model not in stored:
            found[each.fitting] = f"{each.fitting.model}.{FLAG} = {FLAG if each.kept else each.value}\n"
    return found


def call_edits(file: PythonFile, index: int, call: CallNode, names: frozenset[str]) -> Iterator[NodeEdit]:
    """The call without some arguments, and with the flag kept in a name in front of it where it has to be."""
    yield NodeEdit(call.node, partial(without, names=names))
    each = next((item for item in told(file) if item.trainer == index), None)
    statement = next((item.node for item in file.assignments if item.node.value is call.node), None)
    if FLAG in names and each and each.kept and statement is not None:
        yield NodeEdit(statement, partial(_preceded, text=f"{FLAG} = {each.value}\n"), line=True)


def _preceded(node: cst.SimpleStatementLine, *, text: str) -> cst.FlattenSentinel[cst.BaseStatement]:
    """A line behind another one, which takes over its comments and blank lines."""
    import libcst as cst

    from codemods.rewrite import edits

    (first,) = edits.statements(text)
    first = first.with_changes(leading_lines=node.leading_lines)
    return cst.FlattenSentinel([first, node.with_changes(leading_lines=[])])
