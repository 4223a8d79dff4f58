"""LIT120: attributes of Trainer that were removed, renamed, or hold something else, as rows of `attributes.csv`."""

from __future__ import annotations

import ast
import csv
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from codemods.code.literals import literal
from codemods.code.nodes import every_node
from codemods.code.source import PythonFile
from codemods.finding import Fix
from codemods.lightning.extension_members import members
from codemods.lightning.facts import Facts
from codemods.lightning.guards import ASKED_FOR, fallback_of
from codemods.lightning.hardware import MENTIONS, NEVER, QUESTIONS, question, reason_of
from codemods.lightning.versions import LIGHTNING, admits_below
from codemods.rewrite.advice import called_on
from codemods.rewrite.quotes import within_quotes
from codemods.rewrite.spelled import parsed
from codemods.rule import Example, Match, NodeEdit, Rule, best_levels
from codemods.rules.trainer.dead_branches import without_branch
from codemods.rules.trainer.given_index import given_index
from codemods.rules.trainer.loop_members import LIMITS, LOOPS, SOURCES
from codemods.rules.trainer.owners import Within, attributes_within, is_trainers, subclass_around
from codemods.rules.trainer.saved_path import FOLDER, GIVEN, SAME, is_given, without_other
from codemods.rules.trainer.schedulers import read_of_each

PRECISIONS: Mapping[Any, str] = {
    16: "16-mixed",
    "16": "16-mixed",
    "bf16": "bf16-mixed",
    32: "32-true",
    "32": "32-true",
    64: "64-true",
    "64": "64-true",
}
COLLECTIVES = ("barrier", "broadcast", "all_gather", "reduce")
_SAID = re.compile(r"\w+")
"""What a text says of attributes that it may ask for by their names."""
_ANY, _OWNED = re.compile(r"\.\s*(_?[a-z]\w*)"), re.compile(r"trainer\s*\.\s*(_?[a-z]\w*)")
SANITY = ("sanity_checking", "running_sanity_check")
FITTING = "It is read only in the sanity check of fit, whose checkpoint it is."
OWN = "`{}` is a property of Trainer that cannot be set in Lightning 2"
OWN_REASON = "Not rewritten: setting it is an AttributeError; keep the value by a name that Trainer does not have."
ALONE = (
    ast.If, ast.While, ast.Assign, ast.AnnAssign, ast.Return, ast.Expr, ast.Call, ast.keyword, ast.List, ast.Tuple,
    ast.Set, ast.Dict, ast.FormattedValue,
)  # fmt: skip
"""What an expression needs no parentheses in."""
UNCERTAIN = "fixer assumes that it is Lightning's Trainer, by its name"


@dataclass(frozen=True)
class AttributeRow:
    """What becomes of an attribute; `{}` in `target` stands for the Trainer. `last` is the last release that had it, or
    let it be set, where the action is `set`."""

    attribute: str
    action: str
    target: str
    level: Fix
    row: str
    reason: str
    last: str


@cache
def rows() -> Mapping[str, AttributeRow]:
    """The rows by attribute."""
    with (Path(__file__).parent / "attributes.csv").open(encoding="utf-8", newline="") as file:
        return {row["attribute"]: AttributeRow(**row) for row in csv.DictReader(file)}  # type: ignore[arg-type]


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    if "trainer" not in file.text.lower():
        return
    pattern = _SAID if file.plain else _ANY if "Trainer" in file.text else _OWNED
    names = frozenset(pattern.findall(file.text)) & rows().keys()
    if not names:
        return
    if not any(node.attr in names for node in file.near(names).attributes):
        return
    for node, within in attributes_within(file, names):
        row = rows()[node.attr]
        if row.action == "set" and not isinstance(node.ctx, ast.Store):
            continue
        if row.action == "set" and subclass_around(file, facts, node.value, within) is not None:
            yield Match(file.span(node), OWN.format(node.attr), "manual", OWN_REASON, row.row or None)
            continue
        certain = is_trainers(file, facts, node, within)
        if certain is False or (certain is None and not row.row):
            continue
        found = _found(file, facts, node, within, row)
        if found is not None and certain and QUESTIONS.get(node.attr) == NEVER and found.edits:
            found = without_branch(file, facts, node, within, found)
        if found is not None:
            yield _settled(found, certain)


def _settled(match: Match, certain: bool | None) -> Match:
    if certain or match.fix != "safe":
        return match
    return replace(match, fix="unsafe", reason=f"{match.reason[:-1]}; {UNCERTAIN}.")


def _found(file: PythonFile, facts: Facts, node: ast.Attribute, within: Within, row: AttributeRow) -> Match | None:
    stored = not isinstance(node.ctx, ast.Load)
    fallback = fallback_of(file, node)
    if fallback == "other":
        return None
    if fallback == "asked":
        return _left(file, node, row, ASKED_FOR)
    if row.action == "set":
        return _set(file, node, within, row)
    if row.target == "hardware" and not stored:
        return _hardware(file, facts, node, within, row)
    if row.action == "special" and row.target != "hardware":
        return _special(file, facts, node, within, row)
    if stored and row.action == "write":
        now = row.target.replace("{}", "trainer")
        return _left(file, node, row, f"setting it has no effect any more; its value is now {now}")
    if row.action == "manual" or stored:
        return _left(file, node, row, row.reason if not stored else _set_here(row))
    if row.target == "{}.strategy" and (gone := _gone_member(within)):
        return _left(file, node, row, gone)
    alone = _is_alone(within) and row.target[0] == "("
    return _write(file, node, row, row.target[1:-1] if alone else row.target)


def _gone_member(within: Within) -> str | None:
    """Why what is asked of a strategy is not there any more."""
    parent = within[-1]
    for member in members().get(parent.attr, ()) if isinstance(parent, ast.Attribute) else ():
        if member.owners & {"Strategy", "DDPStrategy"} and not (member.becomes or member.parameter):
            return f"`strategy.{parent.attr}` was removed in Lightning {member.since}; {member.advice}"  # type: ignore[attr-defined]
    return None


def _set(file: PythonFile, node: ast.Attribute, within: Within, row: AttributeRow) -> Match:
    """What can be read but not set any more: the part of the Trainer that holds it can be told."""
    if not row.target:
        found = _left(file, node, row, row.reason)
    elif isinstance(within[-1], ast.Assign) and literal(within[-1].value) == (True, None):
        found = _left(file, node, row, f"set {row.target.replace('{}', 'trainer')}, where -1 is no limit")
    elif _is_given_number(within):
        found = _write(file, node, row, row.target)
    else:
        guess = replace(row, level="unsafe", reason=f"{row.reason}; fixer assumes that it is a number")
        found = _write(file, node, guess, row.target)
    last = f" after Lightning {row.last}" if row.last else ""
    return replace(found, message=f"`trainer.{row.attribute}` can no longer be set{last}")


def _is_given_number(within: Within) -> bool:
    """Whether what is set is a number, as far as the statement says: 1.x also took None for no limit."""
    match within[-1]:
        case ast.AugAssign() | ast.Assign(value=ast.BinOp() | ast.Constant(value=int())):
            return True
        case ast.Assign(value=ast.Call(func=ast.Name(id="int" | "max" | "min"))):
            return True
    return False


def _is_alone(within: Within) -> bool:
    """Whether an expression needs no parentheses where it stands."""
    return isinstance(within[-1], ALONE)


def _is_number(within: Within) -> bool:
    """Whether a value is asked for as a number, or whether there is any."""
    match within[-1]:
        case ast.Call(func=ast.Name(id="max" | "min" | "int" | "bool")):
            return True
        case ast.Compare(ops=[ast.Gt() | ast.GtE() | ast.Lt() | ast.LtE()]):
            return True
    return isinstance(within[-1], ast.If | ast.While | ast.IfExp | ast.UnaryOp | ast.BoolOp | ast.BinOp)


def _set_here(row: AttributeRow) -> str:
    told = row.target == "hardware"
    return "setting it has no effect any more" if told else f"it is set here; {row.reason}"


STAYED: Mapping[str, str] = {
    "precision": 'is a name since Lightning 2.0, such as "16-mixed"',
    "batches": "is a list since Lightning 2.1, with an entry for each loader",
    "collective": "no longer talks to other processes since Lightning 1.6",
    "loop": "cannot be replaced since Lightning 2.0",
    "sources": "no longer knows where the loaders come from since Lightning 2.0",
    "set": "cannot be set in Lightning 2",
    "manual": "does not exist in Lightning 2",
}
"""What is wrong with an attribute of which no release was the last, by the target of its row, or what the row does."""


def _message(row: AttributeRow) -> str:
    wrong = f"was removed after Lightning {row.last}" if row.last else STAYED[row.target or row.action]
    return f"`trainer.{row.attribute}` {wrong}"


def _left(file: PythonFile, node: ast.expr, row: AttributeRow, why: str) -> Match:
    told = why.replace("{}", called_on(file, node.value) if isinstance(node, ast.Attribute) else "trainer")
    return Match(file.span(node), _message(row), "manual", f"Not rewritten: {told}.", row.row or None)


def _write(file: PythonFile, node: ast.expr, row: AttributeRow, target: str, owner: ast.expr | None = None) -> Match:
    """The node becomes the target, with the Trainer's own text in it."""
    held = owner or (node.value if isinstance(node, ast.Attribute) else node)
    text = target.replace("{}", file.source_of(held))
    edit = NodeEdit(node, partial(parsed, text=within_quotes(file, node, text)))
    reason = f"{row.reason[:1].upper()}{row.reason[1:]}."
    return Match(file.span(node), _message(row), row.level, reason, row.row or None, (edit,))


def _hardware(file: PythonFile, facts: Facts, node: ast.Attribute, within: Within, row: AttributeRow) -> Match:
    """What the Trainer runs on is asked of its strategy and its accelerator."""
    asked = question(file, facts, node, file.source_of(node.value), within)
    if any(isinstance(item, ast.Call | ast.Await | ast.NamedExpr) for item in every_node(node.value)):
        asked = "its object is computed here, and would be computed twice"
    if isinstance(asked, str):
        return _left(file, node, row, asked)
    text = asked.text[1:-1] if asked.text[0] == "(" and _is_alone(within) else asked.text
    text = f"({text})" if isinstance(within[-1], ast.Attribute) and text.isdecimal() else text
    row = replace(row, reason=reason_of(node.attr))
    if node.attr == "tpu_cores" and not _is_number(within) and admits_below(facts, LIGHTNING, "1.6.0"):
        row = replace(
            row, level="unsafe", reason="it has held that since 1.6; before, it held what the Trainer was given"
        )
    found = _write(file, node, row, text)
    return replace(found, imports=asked.imports)


def _special(file: PythonFile, facts: Facts, node: ast.Attribute, within: Within, row: AttributeRow) -> Match | None:
    parent = within[-1]
    if row.target == "saved":
        return _saved(file, facts, node, within, row)
    if row.target == "loop":
        return _loop(file, node, within, row)
    if row.target == "sources":
        return _source(file, node, parent, row)
    if row.target == "batch":
        name = given_index(node, within, facts.sources[file.path].unescaped.decode(errors="replace"))
        given = replace(row, reason="it is the index that the hook is given")
        return _write(file, node, given, name) if name else _left(file, node, row, row.reason)
    if row.target == "called":
        return _called(file, node, within, row)
    if row.target == "collective":
        if isinstance(parent, ast.Attribute) and parent.attr in COLLECTIVES:
            return _write(file, node, row, "{}.strategy")
        return None
    if row.target == "fitting":
        if isinstance(node.ctx, ast.Store):
            return _left(file, node, row, f"it is set here; {row.reason}")
        found = _write(file, node, row, "{}.ckpt_path")
        return replace(found, fix="safe", reason=FITTING) if _checks_sanity(node, within) else found
    if row.target == "several":
        if not _asks_for_several(node, parent):
            return _left(file, node, row, row.reason)
        reason = "that is how many there are; it held what the Trainer was given, such as -1 for all"
        return _write(file, node, replace(row, reason=reason), "{}.num_devices")
    if row.target == "precision":
        return _compared(file, node, parent, row)
    if row.target == "batches":
        number = isinstance(parent, ast.BinOp) or (
            isinstance(parent, ast.Compare) and type(literal(parent.comparators[0])[1]) is int
        )
        return _write(file, node, row, f"sum({{}}.{node.attr})") if number else None
    return _schedulers(file, node, within, row)


def _called(file: PythonFile, node: ast.Attribute, within: Within, row: AttributeRow) -> Match:
    """`trainer.get_model()`, which is an attribute now."""
    call = within[-1]
    if isinstance(call, ast.Call) and call.func is node and not call.args and not call.keywords:
        return _write(file, call, row, "{}.lightning_module", node.value)
    return _left(file, node, row, "read `{}.lightning_module`")


def _saved(file: PythonFile, facts: Facts, node: ast.Attribute, within: Within, row: AttributeRow) -> Match:
    """The folder that everything is saved to, where no Trainer was given another for its checkpoints."""
    if is_given(facts) or not isinstance(node.ctx, ast.Load):
        return _left(file, node, row, GIVEN)
    found = _write(file, node, replace(row, reason=SAME), f"{{}}.{FOLDER}")
    other = without_other(file, node, within)
    return replace(found, edits=(*found.edits, other)) if other else found


def _loop(file: PythonFile, node: ast.Attribute, within: Within, row: AttributeRow) -> Match | None:
    """A loop that is put in the place of the Trainer's own, limits that are set on it, and what it has no more; reading
    the rest is fine."""
    parent = within[-1]
    if isinstance(node.ctx, ast.Store):
        return _left(file, node, row, row.reason)
    name = node.attr
    for outer in reversed(within):
        if not isinstance(outer, ast.Attribute):
            break
        if advice := LOOPS.get(name, {}).get(outer.attr):
            message = f"`{outer.attr}` of trainer.{name} was removed in Lightning 2.0"
            return Match(file.span(outer), message, "manual", f"Not rewritten: {advice}.", row.row)
        name = f"{name}.{outer.attr}"
    if not (isinstance(parent, ast.Attribute) and isinstance(parent.ctx, ast.Store) and parent.attr in LIMITS):
        return None
    message = f"`{parent.attr}` of trainer.{node.attr} cannot be set since Lightning 2.0"
    reason = f"Not rewritten: write `Trainer({parent.attr}=...)`, or set `trainer.fit_loop.epoch_loop.{parent.attr}`."
    return Match(file.span(parent), message, "manual", reason, LIMITS[parent.attr])


def _source(file: PythonFile, node: ast.Attribute, parent: ast.AST, row: AttributeRow) -> Match | None:
    """Where the loaders come from, `trainer._data_connector._train_dataloader_source`: the loop has that now."""
    if not isinstance(parent, ast.Attribute) or parent.attr not in SOURCES:
        return None
    loop = SOURCES[parent.attr]
    if not isinstance(parent.ctx, ast.Load) or " " in loop:
        return _left(
            file, node, row, loop if " " in loop else f"give the loaders to `{{}}.fit(...)`, not to its {loop}"
        )
    return replace(_write(file, parent, row, f"{{}}.{loop}._data_source", node.value), needs="2.0.0")


def _checks_sanity(node: ast.Attribute, within: Within) -> bool:
    """Whether a value matters only where the same Trainer checks sanity: `not it and trainer.sanity_checking`."""
    for outer in reversed(within):
        if isinstance(outer, ast.BoolOp) and isinstance(outer.op, ast.And):
            asked = [item for item in outer.values if isinstance(item, ast.Attribute) and item.attr in SANITY]
            return any(ast.unparse(item.value) == ast.unparse(node.value) for item in asked)
        if not isinstance(outer, ast.UnaryOp):
            return False
    return False


def _asks_for_several(node: ast.Attribute, parent: ast.AST) -> bool:
    """`trainer.devices > 1` and `max(trainer.devices, 1)`, which a CPU answers as it did, whatever it is told to
    hold."""
    if isinstance(parent, ast.Call) and isinstance(parent.func, ast.Name) and parent.func.id == "max":
        others = [literal(item) for item in parent.args if item is not node]
        return others == [(True, 1)] and not parent.keywords
    if not isinstance(parent, ast.Compare) or parent.left is not node or len(parent.ops) != 1:
        return False
    least = {ast.Gt: 1, ast.GtE: 2, ast.LtE: 1, ast.Lt: 2}.get(type(parent.ops[0]))
    known, value = literal(parent.comparators[0])
    return least is not None and known and type(value) is int and value >= least


def _compared(file: PythonFile, node: ast.Attribute, parent: ast.AST, row: AttributeRow) -> Match | None:
    """`trainer.precision == 16`, which is never true since 2.0."""
    if not isinstance(parent, ast.Compare) or parent.left is not node or len(parent.comparators) != 1:
        return None
    operator, other = parent.ops[0], parent.comparators[0]
    known, value = literal(other)
    held = file.source_of(node)
    if not known:
        return None
    if isinstance(operator, ast.Eq | ast.NotEq) and type(value) in (int, str) and value in PRECISIONS:
        sign = "==" if isinstance(operator, ast.Eq) else "!="
        return _write(file, parent, row, f'{held} {sign} "{PRECISIONS[value]}"', node)
    if isinstance(operator, ast.In | ast.NotIn) and isinstance(value, list | tuple | set):
        if not any(item in PRECISIONS for item in value):
            return None
        sign = "in" if isinstance(operator, ast.In) else "not in"
        new = ", ".join(dict.fromkeys(f'"{PRECISIONS.get(item, item)}"' for item in value))
        return _write(file, parent, row, f"{held} {sign} ({new}{',' if len(value) == 1 else ''})", node)
    return None


def _schedulers(file: PythonFile, node: ast.Attribute, within: Within, row: AttributeRow) -> Match:
    """`trainer.lr_schedulers[i]["scheduler"]` and `len(trainer.lr_schedulers)`."""
    parent, above = within[-1], within[-2] if len(within) > 1 else None
    if isinstance(parent, ast.Call) and ast.unparse(parent.func) in ("len", "bool"):
        return _write(file, node, row, "{}.lr_scheduler_configs")
    if isinstance(parent, ast.Subscript) and parent.value is node and isinstance(above, ast.Subscript):
        key = literal(above.slice)[1]
        if above.value is parent and isinstance(key, str) and key.isidentifier() and key != "opt_idx":
            target = f"{{}}.lr_scheduler_configs[{file.source_of(parent.slice)}].{key}"
            return _write(file, above, row, target, node.value)
    if isinstance(parent, ast.If | ast.BoolOp | ast.UnaryOp):
        return _write(file, node, row, "{}.lr_scheduler_configs")
    if (read := read_of_each(file, node, within)) is not None:
        one = _write(file, node, row, "{}.lr_scheduler_configs")
        items = (NodeEdit(item, partial(parsed, text=text)) for item, text in read)
        return replace(one, edits=(*one.edits, *items))
    return _left(
        file, node, row, "it is trainer.lr_scheduler_configs, of dataclasses: item['scheduler'] is item.scheduler"
    )


BEFORE = """\
from pytorch_lightning import Callback


class Watch(Callback):
    def on_train_epoch_end(self, trainer, pl_module):
        if trainer.running_sanity_check or trainer.precision == 16:
            return
        scheduler = trainer.lr_schedulers[0]["scheduler"]
        trainer.training_type_plugin.barrier()
        print(scheduler, trainer.root_gpu)
"""
AFTER = """\
from pytorch_lightning import Callback


class Watch(Callback):
    def on_train_epoch_end(self, trainer, pl_module):
        if trainer.sanity_checking or trainer.precision == "16-mixed":
            return
        scheduler = trainer.lr_scheduler_configs[0].scheduler
        trainer.strategy.barrier()
        print(scheduler, trainer.strategy.root_device.index)
"""
LEFT = BEFORE.replace("running_sanity_check or trainer.precision == 16", "gpus").replace(
    '        scheduler = trainer.lr_schedulers[0]["scheduler"]\n        trainer.training_type_plugin.barrier()\n', ""
)
LEFT = LEFT.replace("scheduler, trainer.root_gpu", "trainer.amp_backend")
OTHER = "def show(trainer):\n    print(trainer.num_gpus)\n"


def _rows() -> tuple[tuple[str, Fix], ...]:
    found = [(row.row, row.level) for row in rows().values()]
    return best_levels([*found, *((row, "manual") for row in LIMITS.values())])


RULE = Rule(
    code="LIT120",
    name="trainer-attributes",
    summary="Attributes of Trainer that were removed, renamed or hold something else",
    why=(
        "Some three hundred attributes and methods of Trainer went between 0.7 and 2.0 (guide rows M011, M039, M069 to "
        "M141, M192 to M194, M294 to M313): an AttributeError. `trainer.precision` holds a name since 2.0, so that a "
        "comparison with 16 is silently false. A table says for each what to read instead."
    ),
    fix="safe",
    versions="Lightning 0.7 - 2.0 -> 2.1 and later",
    triggers=(b"trainer.", b"Trainer"),
    words=tuple(name.encode() for name in rows()),
    check=_check,
    rows=_rows,
    examples=(Example(BEFORE, AFTER), Example(LEFT, LEFT), Example(OTHER, OTHER)),
    breaks_in="2.0.0",
    needs="2.0.0",
    mentions=MENTIONS,
)
