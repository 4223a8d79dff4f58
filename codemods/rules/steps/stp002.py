"""STP002: the number of training steps, computed by hand inside a LightningModule."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from codemods.code.calls import last_name
from codemods.code.nodes import parents_of, walk
from codemods.code.source import ClassNode, PythonFile
from codemods.code.syntax import own_nodes
from codemods.finding import Fix
from codemods.lightning.facts import KINDS, MODULE, Facts
from codemods.lightning.optimization import FLAG
from codemods.rule import Example, Match, NodeEdit, Rule, touches
from codemods.rules.steps.dead import dead_after
from codemods.rules.steps.modules import STEPS, assigned, bare, kind_of, manual
from codemods.rules.steps.onecycle import with_total
from codemods.rules.steps.optimization import SCHEDULERS, stepped_by_hand, stepping, times_scheduled
from codemods.rules.steps.step_count_terms import GONE, Leaf
from codemods.rules.steps.totals import StepTotal, divided_again, limits, places, reaches_scheduler, used_otherwise
from codemods.rules.steps.trainers import is_never_limited
from codemods.rules.steps.unread import unread
from codemods.rules.steps.warm_up import counted_apart

if TYPE_CHECKING:
    import libcst as cst

CODE = "STP002"
MESSAGE = "The number of training steps is computed by hand"
NEVER = "trainer.max_steps is -1 here, since no Trainer is given it"
ADVICE = f"use self.trainer.{STEPS}, which Lightning computes from the loaders, limits and devices it really uses"
SCHEDULED = (
    "Lightning's own count{0}, however often the optimizers step. With max_steps, which counts the steps of every "
    "optimizer, it is too long."
)
ONCE = ": training_step steps its schedulers once in a batch"
OFTEN = ", times {0}: training_step steps its schedulers that often in a batch"
STREAMS = (b"IterableDataset", b"webdataset", b"IterableWrapper", b"WebLoader")


def _check(file: PythonFile, facts: Facts) -> Iterator[Match]:
    by_class: dict[ast.ClassDef, list[StepTotal]] = {}
    for place in [*places(file), *(limits(file) if is_never_limited(facts) else ())]:
        by_class.setdefault(place.item.node, []).append(place)
    for found in by_class.values():
        item = found[0].item
        kind = kind_of(file, facts, item)
        if kind not in (MODULE, None, "other") and kind in KINDS:
            yield from (
                _match(file, place, "manual", f"{item.node.name} is no LightningModule; {ADVICE}") for place in found
            )
        elif kind != MODULE:
            ours = [place for place in found if _uses_trainer(place)]
            why = f"{item.node.name} cannot be shown to be a LightningModule"
            yield from (
                _match(file, place, "manual", f"{why}; where it is one, {ADVICE}")
                for place in ours
                if facts.uses_lightning
            )
        else:
            yield from _of_module(file, facts, item, found)
    for other in unread(file):
        if kind_of(file, facts, other.place.item) == MODULE:
            yield manual(file, other.shown, MESSAGE, f"Not rewritten: {other.why}; {ADVICE}")


def _uses_trainer(place: StepTotal) -> bool:
    return any(leaf.origin == "trainer" for leaf in (*place.count.over, *place.count.under))


def _of_module(file: PythonFile, facts: Facts, item: ClassNode, found: list[StepTotal]) -> Iterator[Match]:
    faulty = [(place, faults(place)) for place in found]
    if not any(wrong for _, wrong in faulty):
        return
    why = stepping(facts, file, item)
    times = (
        times_scheduled(facts, file, item) if why and all(reaches_scheduler(file, place) for place in found) else None
    )
    refusals = [told for place, _ in faulty if (told := _refusal(file, facts, place) or (None if times else why))]
    if not refusals and not all(map(_knows_windows, found)) and (where := stepped_by_hand(facts, file, item)):
        refusals = [f'{where}, which counts batches where gradients accumulate; return it with the interval "step"']
    for place, wrong in faulty:
        if refusals:
            yield _match(file, place, "manual", f"Not rewritten: {refusals[0]}; {ADVICE}", wrong)
            continue
        level, reason = _level(file, facts, place)
        if times:
            level, reason = "unsafe", SCHEDULED.format(ONCE if times == "1" else OFTEN.format(times))
        yield _match(file, place, level, reason, wrong, times or "1")


def _match(
    file: PythonFile, place: StepTotal, level: Fix, reason: str, wrong: tuple[str, ...] = (), times: str = "1"
) -> Match:
    message = NEVER if place.count.is_limit else f"{MESSAGE}: {'; '.join(wrong)}" if wrong else MESSAGE
    span = file.span(place.node) if place.node is not None else file.head(place.function)
    if level == "manual":
        return Match(span, message, level, reason)
    text = f"{place.trainer}.{STEPS}" + (f" * {times}" if times != "1" else "")
    if place.node is None:
        dead = _dead_helpers(file, place)
        edit = NodeEdit(place.function, partial(_short_body, value=text))
        named = f" {', '.join(dead)} is not used any more." if dead else ""
        return Match(span, message, level, reason + named, edits=(edit,), unit=f"{file.path}:{place.item.qualname}")
    spent = [place.node]
    inner = times != "1" and isinstance(parents_of(place.item.node).get(place.node), ast.BinOp | ast.UnaryOp)
    edit = NodeEdit(place.node, partial(_value, text=f"({text})" if inner else text))
    if isinstance(place.node, ast.Call) and any(item.arg == "steps_per_epoch" for item in place.node.keywords):
        edit = NodeEdit(place.node, partial(with_total, text=text))
        spent = [item.value for item in place.node.keywords if item.arg in ("epochs", "steps_per_epoch")]
    gone = dead_after(file, place.function, spent)
    return Match(
        span, message, level, reason + gone.note, edits=(edit, *gone.edits), unit=f"{file.path}:{place.item.qualname}"
    )


def faults(place: StepTotal) -> tuple[str, ...]:
    """What is wrong with a count, in words."""
    count, body = place.count, list(own_nodes(place.function))
    if count.is_limit:
        return (NEVER,)
    over, under = count.shape
    inside = body if place.node is None else [*walk(place.node), *_feeding(place)]
    names = {node.attr for node in inside if isinstance(node, ast.Attribute) and place.reader.is_trainer(node.value)}
    names |= {node.attr for node in inside if isinstance(node, ast.Attribute)} & {"_train_dataloader_source"}
    gone = sorted(names & {*GONE, "reset_train_dataloader", "_train_dataloader_source"})
    counted = [node for node in inside if isinstance(node, ast.Call) and last_name(node.func) == "device_count"]
    checks = (
        (bool(gone), f"{', '.join(f'trainer.{name}' for name in gone)} {'are' if len(gone) > 1 else 'is'} gone"),
        (place.node is None and _tests_limit(place), "trainer.max_steps is -1 by default, which counts as true"),
        ("batches" in over and "batch_size" in under, "the number of batches is divided by the batch size again"),
        (
            bool(counted),
            "device_count() counts the machine's GPUs, none on a CPU, not the devices that the Trainer uses",
        ),
        ("floor" in count.marks and bool(under), "it rounds down where the last, shorter window steps too"),
        ("divided" in count.marks, "it is a float"),
        ("spans" in count.marks and "floor" not in count.marks, "accumulation windows end with the epoch"),
        ("accumulate" not in under and "estimated" not in over, "accumulate_grad_batches is left out"),
        ("devices" not in under and "estimated" not in over, "several devices are left out"),
        (over == ("estimated",), "the division rounds down"),
        (count.epochs_cancel and over != ("estimated",), "the number of epochs cancels out"),
        (count.is_epoch, "it counts one epoch"),
    )
    return tuple(dict.fromkeys(text for wrong, text in checks if wrong))


def _feeding(place: StepTotal) -> Iterator[ast.AST]:
    """The nodes of what is assigned to the names that an expression uses, and to those that these use."""
    values = assigned(place.function)
    wanted, seen = [place.node], set[str]()
    while wanted:
        current = wanted.pop()
        for node in walk(current) if current is not None else ():
            if isinstance(node, ast.Name) and node.id in values and node.id not in seen:
                seen.add(node.id)
                for value in values[node.id]:
                    wanted.append(value)
                    yield from walk(value)


def _tests_limit(place: StepTotal) -> bool:
    """Whether `trainer.max_steps` is tested for truth and nothing else."""
    for node in own_nodes(place.function):
        if not isinstance(node, ast.If | ast.IfExp):
            continue
        if (
            isinstance(node.test, ast.Attribute)
            and node.test.attr == "max_steps"
            and place.reader.is_trainer(node.test.value)
        ):
            return True
        text = ast.unparse(node.test)
        below = isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And)
        if below and "trainer.max_steps <" in text and "0 <" not in text and "> 0" not in text and "-1" not in text:
            return True
    return False


def _refusal(file: PythonFile, facts: Facts, place: StepTotal) -> str | None:
    """Why a count is not replaced."""
    arguments = place.function.args
    if place.node is None and (
        len([*arguments.posonlyargs, *arguments.args]) != 1 or arguments.vararg or arguments.kwarg
    ):
        return f"{place.function.name} takes arguments"
    if place.node is None and (failing := _failing(place)) is not None:
        return f"it fails in some cases (line {failing.lineno})"
    if place.count.is_epoch:
        return "it counts the steps of one epoch, and fixer cannot tell which of the two is meant"
    if "cases" in place.count.marks:
        return "it is another number in some cases"
    if (line := divided_again(file, place)) is not None:
        return f"it is changed or divided again in line {line}"
    if (line := counted_apart(file, place)) is not None:
        return (
            f"line {line} counts another number of the same schedule by the loader's length, which would not fit "
            "the new total; make it a share of that"
        )
    data = place.count.first("batches") or _of_loader(place)
    if data and data.role == "batches" and data.origin == "named":
        return f"fixer cannot tell where `{file.source_of(data.node)}` comes from"
    if not data and place.function.name == "setup":
        return "setup runs before a test too, where there is no training loader"
    if not data and _streams(file, facts):
        return f"with a loader that has no length, as in this project, Lightning makes {STEPS} -1"
    return None


def _failing(place: StepTotal) -> ast.stmt | None:
    """What ends a method otherwise than by a count."""
    return next((node for node in own_nodes(place.function) if isinstance(node, ast.Raise | ast.Assert)), None)


def _streams(file: PythonFile, facts: Facts) -> bool:
    """Whether the training may have a loader without a length: one is spoken of in the project, or, where the file
    trains its own modules, in the file."""
    holders = {path for text in STREAMS for path in facts.mentions.get(text, ())}
    return file.path in holders if facts.files[file.path].trainers else bool(holders)


def _of_loader(place: StepTotal) -> Leaf | None:
    """The `len(loader.dataset)` that a count is made of."""
    leaf = place.count.first("samples")
    given = leaf.node.args[0] if leaf and isinstance(leaf.node, ast.Call) else None
    return leaf if isinstance(given, ast.Attribute) and place.reader.is_loader(given.value) else None


def _level(file: PythonFile, facts: Facts, place: StepTotal) -> tuple[Fix, str]:
    """How sure it is that the module means the training that its Trainer runs."""
    loose = [leaf for leaf in place.count.all("epochs") if leaf.origin == "named" and not _given(facts, leaf)]
    if loose:
        text = ast.unparse(loose[0].node)
        return (
            "unsafe",
            f"fixer assumes that `{text}` is the Trainer's max_epochs; then {STEPS} is the same number.",
        )
    stated = [leaf.node for leaf in place.count.all("samples") if not isinstance(leaf.node, ast.Call)]
    if stated:
        text = ast.unparse(stated[0])
        return (
            "unsafe",
            f"fixer assumes that `{text}` is how many samples the training has; else {STEPS} is another number.",
        )
    if not _knows_windows(place) and (line := used_otherwise(file, place)) is not None:
        return (
            "unsafe",
            f"Lightning's own count of optimizer steps; if line {line} "
            "counts batches, it is not the number that you need.",
        )
    return "safe", "Lightning's own count of the optimizer steps of this training. It needs Lightning 1.6."


def _knows_windows(place: StepTotal) -> bool:
    """Whether a count is one of optimizer steps, not of batches, as it is written."""
    over, under = place.count.shape
    return "accumulate" in under or "estimated" in over or place.count.is_limit


def _given(facts: Facts, leaf: Leaf) -> bool:
    """Whether every Trainer that trains is given this value as its max_epochs, going by how it is written."""
    wanted = bare(ast.unparse(leaf.node))
    given = [trainer.argument("max_epochs") for trainer in facts.trainers if not trainer.evaluates]
    if not given and wanted == "max_epochs":
        return any(item.indirect_trainers for item in facts.files.values())
    return bool(given) and all(item is not None and bare(item.text) == wanted for item in given)


def _dead_helpers(file: PythonFile, place: StepTotal) -> list[str]:
    """Methods of the class that nothing but the old body calls."""
    inside = {id(node) for node in walk(place.function)}
    own = {node.attr for node in own_nodes(place.function) if isinstance(node, ast.Attribute)} & set(place.item.methods)
    hooks = ("train_dataloader", "val_dataloader", "forward")
    return [
        name for name in sorted(own) if name not in hooks and all(id(node) in inside for node in file.attributes(name))
    ]


@touches("body")
def _short_body(function: cst.FunctionDef, *, value: str) -> cst.FunctionDef:
    """The function with its docstring and one `return`."""
    from codemods.rewrite.edits import after_docstring, body_of, statements, with_body

    body = body_of(function)
    return with_body(function, [*body[: after_docstring(body)], *statements(f"return {value}")])  # type: ignore[no-any-return]


@touches("whole")
def _value(node: Any, *, text: str) -> cst.BaseExpression:
    import libcst as cst

    return cst.parse_expression(text)


def _collect(file: PythonFile) -> bool | None:
    return bool(places(file) or limits(file)) or None


def _context(collected: Mapping[str, Any]) -> tuple[bytes, ...]:
    return (
        (b"Trainer", b"max_steps", *STREAMS, FLAG.encode(), *(word.encode() for word in SCHEDULERS))
        if collected
        else ()
    )


def _present(file: PythonFile) -> bool:
    return bool(places(file) or limits(file) or unread(file))


BEFORE = '''\
import torch
from pytorch_lightning import LightningModule


class Model(LightningModule):
    @property
    def num_training_steps(self) -> int:
        """Total training steps inferred from datamodule and devices."""
        if self.trainer.max_steps:
            return self.trainer.max_steps

        batches = len(self.train_dataloader())
        num_devices = max(1, self.trainer.num_gpus, self.trainer.num_processes)
        if self.trainer.tpu_cores:
            num_devices = max(num_devices, self.trainer.tpu_cores)

        effective_accum = self.trainer.accumulate_grad_batches * num_devices
        return (batches // effective_accum) * self.trainer.max_epochs
'''
AFTER = '''\
import torch
from pytorch_lightning import LightningModule


class Model(LightningModule):
    @property
    def num_training_steps(self) -> int:
        """Total training steps inferred from datamodule and devices."""
        return self.trainer.estimated_stepping_batches
'''
INLINE = """\
import torch
from lightning.pytorch import LightningModule


class Model(LightningModule):
    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        total_steps = len(self.trainer.datamodule.train_dataloader()) * self.trainer.max_epochs
        scheduler = torch.optim.lr_scheduler.OneCycleLR(optimizer, 0.1, total_steps=total_steps)
        return [optimizer], [{"scheduler": scheduler, "interval": "step"}]
"""
INLINE_AFTER = INLINE.replace(
    "len(self.trainer.datamodule.train_dataloader()) * self.trainer.max_epochs",
    "self.trainer.estimated_stepping_batches",
)
WARMUP = INLINE.replace("total_steps = len", "warmup_steps = 0.1 * len")

RULE = Rule(
    code=CODE,
    name="hand-written-total-steps",
    summary="a hand-written number of training steps becomes `trainer.estimated_stepping_batches`",
    why=(
        "The formulas that people copy were written for Lightning 1.1. `trainer.max_steps` is -1 by default since 1.5, "
        "so `if self.trainer.max_steps: return self.trainer.max_steps` returns -1; `num_gpus`, `tpu_cores`, "
        "`num_processes` and `gpus` raise since 1.8 or 2.0; the last accumulation window of an epoch steps although it "
        "is short, so `//` is too few; `len(loader)` counts batches, so a division by the batch size is one too many; "
        "inside a module the loader has no distributed sampler yet, so its length is that of all devices together. "
        "`trainer.estimated_stepping_batches` (1.6, pull request 11599) counts what will be run, limits and "
        "`max_steps` included."
    ),
    fix="safe",
    versions="needs Lightning 1.6 or later after the rewrite",
    triggers=(b".max_epochs", b"num_training_steps", b"total_steps", b"steps_per_epoch", b"trainer.max_steps"),
    check=_check,
    examples=(Example(BEFORE, AFTER), Example(INLINE, INLINE_AFTER), Example(WARMUP, WARMUP)),
    needs="1.6.0",
    collect=_collect,
    context=_context,
    present=_present,
    references=(
        "https://github.com/Lightning-AI/pytorch-lightning/issues/5449",
        "https://github.com/Lightning-AI/pytorch-lightning/pull/11599",
    ),
)
