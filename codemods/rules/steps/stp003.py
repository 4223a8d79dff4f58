"""STP003: numbers of steps, batches and epochs that are taken for one another."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from codemods.code.calls import keyword
from codemods.code.nodes import every_node, parents_of, walk
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import Function, is_self_attribute, own_nodes, parameters, self_name
from codemods.lightning.facts import CALLBACK, MODULE, Facts, TrainerFact, is_trainer_call
from codemods.rule import Example, Match, NodeEdit, Rule, touches
from codemods.rules.steps.call_context import CallContext
from codemods.rules.steps.dead import dead_after
from codemods.rules.steps.epoch_counters import BATCH_NAMES, TRIGGERS, anew
from codemods.rules.steps.modules import STEPS, assigned, kind_of, manual, reader_of
from codemods.rules.steps.optimization import held_by, optimized, steps_of
from codemods.rules.steps.step_count_terms import TermReader
from codemods.rules.steps.totals import is_told, whole_method

if TYPE_CHECKING:
    import libcst as cst

_STEPS_OF = f"Not rewritten: compare self.global_step with self.trainer.{STEPS}."
OF_BATCHES = {
    "max_steps": f"max_steps the optimizer steps of the whole training, -1 without a limit. {_STEPS_OF}",
    STEPS: f"{STEPS} the optimizer steps of the whole training. {_STEPS_OF}",
}
"""What those numbers count that a number of batches is compared with."""
OF_EPOCHS = (
    "max_steps is -1 unless it was given (-1 // n is -1), counts optimizer steps, every optimizer's in manual "
    "optimization, and is one of two limits of which the first ends training. Not rewritten: the epochs that run are "
    f"math.ceil(self.trainer.{STEPS} / steps of an epoch), those being "
    "math.ceil(self.trainer.num_training_batches / self.trainer.accumulate_grad_batches)."
)
UNTOLD = f"It is -1 where none was given, since Lightning 1.5. Not rewritten: self.trainer.{STEPS} knows both limits"
DOUBLE = f"{STEPS} counts optimizer steps already, as global_step does"


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    for item in file.classes:
        kind = kind_of(file, facts, item)
        if kind not in (MODULE, CALLBACK):
            continue
        for function in item.methods.values() if "batch" in file.text else ():
            yield from anew(file, function, reader_of(item, function))
        for function in _speaking(file, item):
            reader = reader_of(item, function)
            yield from _counted_twice(file, function, reader)
            yield from _limits_of_batches(file, function, reader)
            yield from _steps_of_batches(file, facts, function, reader)
            if not whole_method(function, reader):
                yield from _untold(file, function, reader)
        if kind == MODULE:
            yield from _several_steps(file, facts, item)
            yield from _raw_optimizers(file, facts, item)
    yield from _untold_elsewhere(file, facts)
    yield from _long_windows(file, facts)


def _speaking(file: PythonFile, item: ClassNode) -> Iterator[Function]:
    """The methods of a class that speak of the number of steps."""
    lines = [node.lineno for name in (STEPS, "max_steps", "global_step") for node in file.attributes(name)]
    for function in item.methods.values():
        if any(function.lineno <= line <= (function.end_lineno or line) for line in lines):
            yield function


def _is(reader: TermReader, node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == name and reader.is_trainer(node.value)


def _counted_twice(file: PythonFile, function: Function, reader: TermReader) -> Iterator[Match]:
    """`estimated_stepping_batches` or `max_steps` times or by what it has counted already."""
    for node in own_nodes(function):
        if not isinstance(node, ast.BinOp):
            continue
        divides = isinstance(node.op, ast.Div | ast.FloorDiv) and _counted(reader, node.right)
        name = next((name for name in (STEPS, "max_steps") if _is(reader, node.left, name)), None)
        if divides and name:
            message = f"trainer.{name} is divided by `{ast.unparse(node.right)}`, which it already includes"
            yield manual(
                file, node, message, "It is the number of optimizer steps of each device; use it without the division."
            )
        elif isinstance(node.op, ast.Mult):
            total = next((side for side in (node.left, node.right) if _is(reader, side, STEPS)), None)
            other = node.right if total is node.left else node.left
            if total is not None and _is_window(reader, other):
                yield from _times_window(file, function, reader, node, total, other)


def _counted(reader: TermReader, node: ast.expr) -> bool:
    count = reader.read(node)
    return count is not None and not count.under and count.shape[0] in (("devices",), ("accumulate",))


def _is_window(reader: TermReader, node: ast.expr) -> bool:
    """Whether an expression is the Trainer's accumulation, or a name for it."""
    count = reader.read(node)
    own = count is not None and all(leaf.origin == "trainer" for leaf in count.over)
    return own and count is not None and (count.shape, count.number) == ((("accumulate",), ()), 1)


def _times_window(
    file: PythonFile, function: Function, reader: TermReader, node: ast.BinOp, total: ast.expr, window: ast.expr
) -> Iterator[Match]:
    message = f"{STEPS} * accumulate_grad_batches is compared with global_step: accumulation counts twice"
    meets = _meets_global_step(function, reader, node)
    if meets == "all":
        text = file.source_of(total)
        reason = f"{DOUBLE}. With accumulate_grad_batches=1 nothing changes."
        dead = dead_after(file, function, [window])
        edits = (NodeEdit(node, partial(_value, text=text)), *dead.edits)
        yield Match(file.span(node), message, "safe", reason + dead.note, edits=edits)
    elif meets == "some":
        reason = f"Not rewritten: {DOUBLE}, but the product is used for something else too; compare {STEPS} alone."
        yield manual(file, node, message, reason)


def _meets_global_step(function: Function, reader: TermReader, node: ast.BinOp) -> str:
    """Whether a product is compared with, or divides, `global_step`: in `all` of its uses, `some`, or `none`."""
    parents = parents_of(function)
    outer = parents.get(node)
    uses: list[ast.AST] = [node]
    if isinstance(outer, ast.Assign) and isinstance(outer.targets[0], ast.Name):
        name = outer.targets[0].id
        if len(outer.targets) > 1 or len(assigned(function).get(name, [])) != 1:
            return "none"
        uses = [item for item in own_nodes(function) if isinstance(item, ast.Name) and item.id == name]
        uses = [item for item in uses if item is not outer.targets[0]]
    found = [_beside_global_step(use, reader, parents) for use in uses]
    return "all" if found and all(found) else "some" if any(found) else "none"


def _beside_global_step(node: ast.AST, reader: TermReader, parents: dict[ast.AST, ast.AST]) -> bool:
    outer = parents.get(node)
    while isinstance(outer, ast.BinOp | ast.UnaryOp):
        below = isinstance(outer, ast.BinOp) and isinstance(outer.op, ast.Div) and outer.right is node
        if below and _holds_step(outer.left, reader):  # type: ignore[union-attr]
            return True
        node, outer = outer, parents.get(outer)
    if not isinstance(outer, ast.Compare):
        return False
    return any(_holds_step(side, reader) for side in (outer.left, *outer.comparators) if side is not node)


def _holds_step(node: ast.AST, reader: TermReader) -> bool:
    """Whether an expression is made of `global_step`, and not of the accumulation, which would make it batches."""
    inner = [item for item in walk(node) if isinstance(item, ast.Name | ast.Attribute)]
    steps = any(isinstance(item, ast.Attribute) and item.attr == "global_step" for item in inner)
    return steps and not any(_is_accumulation(reader, item) for item in inner)


def _is_accumulation(reader: TermReader, node: ast.expr) -> bool:
    count = reader.read(node)
    return count is not None and count.shape == (("accumulate",), ())


def _limits_of_batches(file: PythonFile, function: Function, reader: TermReader) -> Iterator[Match]:
    """`max_steps` beside numbers of batches."""
    tests = [node.test for node in own_nodes(function) if isinstance(node, ast.If | ast.IfExp)]
    tested = any(_is(reader, part, "max_steps") for test in tests for part in walk(test))
    indexes = {*BATCH_NAMES, *(parameters(function)[1:2] if function.name == "training_step" else ())}
    for node in own_nodes(function):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            batch = next((side.id for side in sides if isinstance(side, ast.Name) and side.id in indexes), None)
            spoken = [part for side in sides for part in walk(side)] if batch else []
            limit = next((name for name in OF_BATCHES if any(_is(reader, part, name) for part in spoken)), None)
            if batch and limit:
                message = f"`{batch}` is compared with trainer.{limit}"
                yield manual(file, node, message, f"`{batch}` counts batches from 0 in each epoch, {OF_BATCHES[limit]}")
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div | ast.FloorDiv) and not tested:
            count = reader.read(node.right)
            if _is(reader, node.left, "max_steps") and count and "batches" in count.shape[0]:
                yield manual(
                    file, node, "trainer.max_steps divided by batches is used as a number of epochs", OF_EPOCHS
                )


def _steps_of_batches(file: PythonFile, facts: Facts, function: Function, reader: TermReader) -> Iterator[Match]:
    """`global_step` beside a number of batches, where a Trainer accumulates several for a step."""
    where = _accumulating(facts)
    for node in own_nodes(function) if where else ():
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod | ast.FloorDiv | ast.Div):
            sides = [node.left, node.right]
        else:
            continue
        counted = next((side for side in sides if _of_batches(reader, side)), None)
        if counted is not None and any(_holds_step(side, reader) for side in sides if side is not counted):
            message = f"global_step is compared with `{ast.unparse(counted)}`, a number of batches"
            reason = (
                f"It counts optimizer steps, of which one has several batches ({where} accumulates). Not rewritten: "
                "count by batch_idx and current_epoch, or divide the batches by trainer.accumulate_grad_batches."
            )
            yield manual(file, node, message, reason)


def _of_batches(reader: TermReader, node: ast.expr) -> bool:
    """Whether an expression is a number of batches, of one epoch or of several."""
    if any(isinstance(part, ast.Attribute) and part.attr == "global_step" for part in walk(node)):
        return False
    count = reader.read(node)
    over, under = count.shape if count else ((), ())
    return "batches" in over and {*over} <= {"batches", "epochs"} and not under


def _accumulating(facts: Facts) -> str | None:
    """A Trainer that makes one step of several batches."""
    for trainer in facts.trainers:
        given = trainer.argument("accumulate_grad_batches")
        if given and not (given.literal and given.value in (None, 1)):
            return f"{trainer.path}:{trainer.line}"
    return None


def _untold(file: PythonFile, function: Function, reader: TermReader) -> Iterator[Match]:
    """`trainer.max_steps` tested as if it were None or 0 without a limit."""
    signed = {
        id(part)
        for node in own_nodes(function)
        if isinstance(node, ast.BoolOp) and any(map(_asks_sign, node.values))
        for part in node.values
    }
    told = {id(node.test) for node in own_nodes(function) if isinstance(node, ast.IfExp) and is_told(node, reader)}
    for node in own_nodes(function):
        tests = [node.test] if isinstance(node, ast.If | ast.IfExp) else []
        for test in node.values if isinstance(node, ast.BoolOp) else tests:
            bare = test.operand if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) else test
            if id(test) not in told and _is(reader, bare, "max_steps") and not _has_sign(node):
                yield manual(file, bare, "trainer.max_steps is used as a condition", f"{UNTOLD}; -1 is true.")
        alone = id(node) not in signed | told
        if alone and isinstance(node, ast.Compare) and _is(reader, node.left, "max_steps") and _with_none(node):
            yield manual(file, node, "trainer.max_steps is compared with None", f"{UNTOLD}; it is never None.")


def _untold_elsewhere(file: PythonFile, facts: Facts) -> Iterator[Match]:
    """The same in a function that is handed the module: `pl_module.trainer.max_steps is None`."""
    if not facts.uses_lightning:
        return
    limits = file.attributes("max_steps")
    if not limits:
        return
    classes = {id(node) for item in file.classes for method in item.methods.values() for node in every_node(method)}
    for limit in limits:
        owner = limit.value
        if id(limit) in classes or not (isinstance(owner, ast.Attribute) and owner.attr == "trainer"):
            continue
        for node in walk(file.tree):
            if isinstance(node, ast.Compare) and node.left is limit and _with_none(node):
                yield manual(file, node, "trainer.max_steps is compared with None", f"{UNTOLD}; it is never None.")


def _with_none(node: ast.Compare) -> bool:
    other = node.comparators[0]
    return isinstance(other, ast.Constant) and other.value is None


def _asks_sign(node: ast.expr) -> bool:
    """Whether a test compares the limit with a number: `trainer.max_steps >= 0`."""
    return isinstance(node, ast.Compare) and "max_steps" in ast.unparse(node.left) and not _with_none(node)


def _has_sign(node: ast.AST) -> bool:
    """Whether a test also asks for the sign: `trainer.max_steps and trainer.max_steps > 0`."""
    whole = node.test if isinstance(node, ast.If | ast.IfExp) else node
    return any(isinstance(part, ast.Compare) and "max_steps" in ast.unparse(part) for part in walk(whole))


def _several_steps(file: PythonFile, facts: Facts, item: ClassNode) -> Iterator[Match]:
    """`global_step % n` where a batch makes several steps."""
    step = item.methods.get("training_step")
    if not step or optimized(facts, file, item) != "manual":
        return
    optimizers = held_by(step, "optimizers")
    stepped = {ast.unparse(call.func) for call in steps_of(step, optimizers, "optimizers")}
    if len(stepped) < 2:
        return
    for function in item.methods.values():
        me = self_name(function)
        for node in own_nodes(function):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and _own_step(node.left, me):
                message = f"`{ast.unparse(node)}` counts the steps of {len(stepped)} optimizers"
                reason = (
                    f"In manual optimization every step() of an optimizer is one global_step, up to {len(stepped)} a "
                    "batch here, as max_steps and every_n_train_steps count them too. Not rewritten: if batches are "
                    "meant, use batch_idx, or a counter of your own."
                )
                yield manual(file, node, message, reason)


def _own_step(node: ast.expr, me: str) -> bool:
    if isinstance(node, ast.Attribute) and is_self_attribute(node.value, "trainer", me):
        return node.attr == "global_step"
    return is_self_attribute(node, "global_step", me)


def _limited(facts: Facts) -> list[TrainerFact]:
    """The Trainers that are given a number of steps."""
    if "steps.limited" not in facts.memo:
        facts.memo["steps.limited"] = [
            trainer
            for trainer in facts.trainers
            if (limit := trainer.argument("max_steps")) and not (limit.literal and limit.value in (None, -1))
        ]
    found: list[TrainerFact] = facts.memo["steps.limited"]
    return found


def _raw_optimizers(file: PythonFile, facts: Facts, item: ClassNode) -> Iterator[Match]:
    """`optimizers(use_pl_optimizer=False)`, whose steps are not counted."""
    if not file.attributes("optimizers"):
        return
    limited = _limited(facts)
    for function in item.methods.values():
        me = self_name(function)
        for node in own_nodes(function):
            if not (isinstance(node, ast.Call) and is_self_attribute(node.func, "optimizers", me)) or not limited:
                continue
            given: list[Any] = [*node.args, *(word.value for word in node.keywords if word.arg == "use_pl_optimizer")]
            if given and isinstance(given[0], ast.Constant) and given[0].value is False:
                where = f"{limited[0].path}:{limited[0].line}"
                message = "Steps of `optimizers(use_pl_optimizer=False)` are not counted"
                reason = (
                    f"global_step stays 0, so max_steps ({where}) never ends training, and precision plugins do not "
                    "see the step. Not rewritten: use self.optimizers(), or max_epochs."
                )
                yield manual(file, node, message, reason)


def _long_windows(file: PythonFile, facts: Facts) -> Iterator[Match]:
    """`accumulate_grad_batches` that no epoch fills."""
    for call in file.calls_near(["accumulate_grad_batches"]):
        word = keyword(call.node, "accumulate_grad_batches")
        if not word or not is_trainer_call(call):
            continue
        script = CallContext(file, call, facts)
        window, batches = script.constant(word.value), script.trained_batches()
        if type(window) is int and batches is not None and 1 <= batches < window:
            message = f"accumulate_grad_batches={window} is longer than an epoch of {batches} batches"
            reason = (
                f"Windows end with the epoch: it steps once, on a loss that is divided by {window}. Not rewritten: "
                f"give {batches}, or more batches."
            )
            yield manual(file, word, message, reason)


@touches("whole")
def _value(node: Any, *, text: str) -> cst.BaseExpression:
    import libcst as cst

    return cst.parse_expression(text)


def _present(file: PythonFile) -> bool:
    words = (STEPS, "use_pl_optimizer", "accumulate_grad_batches", "max_steps", "global_step")
    return any(word in file.text for word in (*words, *(word.decode() for word in TRIGGERS)))


_HEAD = "from lightning.pytorch import LightningModule\n\n\nclass Model(LightningModule):\n"
BEFORE = (
    _HEAD
    + """\
    def warming_up(self):
        total_steps = self.trainer.estimated_stepping_batches * self.trainer.accumulate_grad_batches
        return self.global_step < 0.1 * total_steps
"""
)
AFTER = BEFORE.replace(" * self.trainer.accumulate_grad_batches", "")
BATCHES = BEFORE.replace("return self.global_step < 0.1 * total_steps", "return total_steps")

RULE = Rule(
    code="STP003",
    name="confused-step-counts",
    summary="steps, batches and epochs are not confused",
    why=(
        "`global_step`, `max_steps` and `estimated_stepping_batches` count optimizer steps: accumulation is in them "
        "already, every optimizer of a manual loop is one more, and `optimizers(use_pl_optimizer=False)` none at all. "
        "`batch_idx` counts the batches of one epoch. `max_steps` is -1 where it was not given. What compares one with "
        "the other is wrong by a factor, silently. A product of estimated_stepping_batches and accumulate_grad_batches "
        "that is compared with global_step loses the factor; the rest is named, as is a warm-up that `batch_idx` is "
        "compared with, which begins again in each epoch."
    ),
    fix="safe",
    versions="Lightning 1.6 and later",
    triggers=(
        *(STEPS.encode(), b"use_pl_optimizer", b"accumulate_grad_batches", b"max_steps", b"global_step"),
        *TRIGGERS,
    ),
    check=_check,
    examples=(Example(BEFORE, AFTER), Example(BATCHES, BATCHES)),
    needs="1.6.0",
    present=_present,
)
