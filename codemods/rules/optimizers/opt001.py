"""OPT001: several optimizers under automatic optimization, by `optimizer_idx`, as Lightning 1.x had them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from codemods.code.source import CallNode, ClassNode, PythonFile, TextFile
from codemods.code.syntax import Function, parameters
from codemods.lightning.class_family import definitions
from codemods.lightning.facts import Facts, is_trainer_call
from codemods.rewrite.ddp import DDP
from codemods.rewrite.manual import batch_outputs, project_obstacles
from codemods.rewrite.manual.fit_sites import WORDS, read_fits
from codemods.rewrite.manual.hooks import shed_of
from codemods.rewrite.manual.optimizer_factories import METHOD, read_makers
from codemods.rewrite.manual.reserved_attributes import read_own
from codemods.rewrite.manual.settings import TrainerSetting, read_settings, setting_matches
from codemods.rewrite.manual.trainer_scopes import add_attributes, carriers, function_of
from codemods.rewrite.manual.trainers import ACCUMULATE, ASKED, CLIP, MOVED, gives, loose
from codemods.rewrite.manual.transfer_edits import hand_over, without
from codemods.rule import Example, Match, NodeEdit, Rule, best_levels
from codemods.rules.optimizers.apart import sets_flag
from codemods.rules.optimizers.module import IMPORTS, INDEX, STEP, WATCHED, candidates, names_of, read_class
from codemods.rules.optimizers.parallel import configured_matches, strategy_matches
from codemods.rules.optimizers.plan import UNHEARD, OptimizerFileSummary, OptimizerVerdict, clears, verdicts, window_of

if TYPE_CHECKING:
    import libcst as cst

    from codemods.rules.optimizers.loop import StepShape

CODE = "OPT001"
APPLY = ("lightning_utilities.core.apply_func", "apply_to_collection")
SAME = "The loop makes the same steps in the same order as 1.x did."
RESUMED = "Resuming an old checkpoint with it restarts global_step at 0."
COUNTED = (
    "The module's global_step counts a batch once, as before 1.6 (where it did so after the hooks of the batch); the "
    "Trainer's, which checkpoints hold, counts the steps of all optimizers."
)
WITH_INDEX = ("on_before_optimizer_step", "optimizer_step", "optimizer_zero_grad", "configure_gradient_clipping")
"""The hooks besides the step that were told which optimizer they are for."""
WINDOWS = "Loggers count batches from now on, where automatic optimization counted windows of several."
ADVICE = (
    "Set `self.automatic_optimization = False` and write `for optimizer in self.optimizers():` in training_step, with "
    "`self.toggle_optimizer(optimizer)`, the loss, `optimizer.zero_grad()`, `self.manual_backward(loss)`, "
    "`optimizer.step()` and `self.untoggle_optimizer(optimizer)`."
)
BY_HAND = (
    "Take out its parameter `optimizer_idx`, which it does not read, and set `self.automatic_optimization = False` "
    "behind `super().__init__()`."
)


def collect(file: PythonFile) -> OptimizerFileSummary | None:
    """The candidate classes of a file, and Trainer arguments that stand where they cannot be moved."""
    classes = tuple(found for item in candidates(file) if (found := read_class(file, item)))
    beside = carriers(file) if gives(file, MOVED) else ()
    shown = OptimizerFileSummary(classes, loose(file), beside, read_fits(file), read_makers(file), read_own(file))
    return shown if shown != OptimizerFileSummary((), ()) else None


def collect_text(file: TextFile) -> tuple[TrainerSetting, ...] | None:
    """What a configuration file gives to a Trainer that would have to move."""
    return read_settings(file, MOVED)


def context(collected: Mapping[str, Any]) -> tuple[bytes, ...]:
    """What other files have to be asked where there is a candidate."""
    shown = (each for each in collected.values() if isinstance(each, OptimizerFileSummary))
    names = {item.name.rpartition(".")[2].encode() for each in shown for item in each.classes}
    if not names:
        return ()
    return (*ASKED, *batch_outputs.ASKED, *project_obstacles.asked(UNHEARD), *definitions(set(WATCHED)), *sorted(names))


def _present(file: PythonFile) -> bool:
    fits = read_fits(file)
    return bool(candidates(file) or fits.plain or fits.other or _optimizing(file)) or gives(file, MOVED)


def _check(file: PythonFile | TextFile, facts: Facts) -> Iterator[Match]:
    found = verdicts(facts, CODE)
    if isinstance(file, TextFile):
        for verdict in found:
            names = frozenset(name for path, name in verdict.given.settings if path == file.path)
            if verdict.what == "loop" and names:
                yield from setting_matches(file, names, verdict.item.name, verdict.level, verdict.unit)
        yield from configured_matches(file, facts, [verdict for verdict in found if verdict.what == "loop"])
        return
    for verdict in found:
        if verdict.item.path == file.path and verdict.what in ("loop", "follow", "none"):
            yield from _class_match(file, verdict)
        if verdict.what == "none":
            yield from _inheriting(file, facts, verdict)
        if verdict.what == "loop":
            yield from _trainer_matches(file, verdict)
            yield from _apart_matches(file, verdict)
    yield from strategy_matches(file, facts, [verdict for verdict in found if verdict.what == "loop"])
    yield from hand_over(file, facts, [verdict for verdict in found if verdict.what == "loop"])


def _class_match(file: PythonFile, verdict: OptimizerVerdict) -> Iterator[Match]:
    for item in candidates(file):
        if item.qualname != verdict.item.name:
            continue
        place = file.head(item.methods[STEP])
        message = f"{item.node.name} trains several optimizers by `optimizer_idx`, which Lightning 2.0 removed"
        hooks = " and ".join(f"`{name}`" for name, method in item.methods.items() if _is_given_it(name, method))
        if verdict.what == "none":
            also = f" Take optimizer_idx out of {hooks} too." if hooks else ""
            plain = verdict.item.unread and "optimizes by hand" in verdict.refusal
            advice = f"{BY_HAND if plain else ADVICE}{also}"
            yield Match(place, message, "manual", f"Not rewritten: {verdict.refusal}. {advice}", "M214")
            continue
        doubts = f"Check this: {'; '.join(verdict.doubts)}." if verdict.doubts else SAME
        told = [
            *([f"It goes for {hooks} too."] if hooks else []),
            *([WINDOWS] if window_of(verdict.given) else []),
            *([COUNTED] if verdict.batches else []),
            RESUMED,
        ]
        reason = " ".join([doubts, *told])
        loop = verdict.what == "loop"
        yield Match(
            place,
            message,
            verdict.level,
            reason,
            "M214",
            edits=(NodeEdit(item.node, _loop_edit(item, verdict) if loop else _follower_edit),),
            imports=_imports(verdict) if loop else (),
            unit=verdict.unit,
        )


def _is_given_it(name: str, method: Function) -> bool:
    """Whether a hook besides the step is told which optimizer it is for."""
    return name in WITH_INDEX and INDEX in parameters(method)


def _apart_matches(file: PythonFile, verdict: OptimizerVerdict) -> Iterator[Match]:
    """The subclasses with a step of their own, which inherit no loop."""
    for item in file.classes:
        if (file.path, item.qualname) in verdict.apart and not sets_flag(item):
            yield Match(
                file.head(item.methods[STEP]),
                f"{item.node.name} is automatic, and its base {verdict.item.name} no longer will be",
                verdict.level,
                "It says that it is optimized automatically, as it was.",
                "M214",
                edits=(NodeEdit(item.node, _automatic_edit),),
                unit=verdict.unit,
            )


def _automatic_edit(node: cst.ClassDef) -> cst.ClassDef:
    from codemods.rules.optimizers.loop import stay_automatic

    return stay_automatic(node)


def _optimizing(file: PythonFile) -> list[ClassNode]:
    """The classes that configure optimizers and have a base, which may have a step."""
    return [item for item in file.classes if item.node.bases and METHOD in item.methods]


def _heirs(file: PythonFile) -> list[ClassNode]:
    """The classes that configure optimizers for a step that they do not define."""
    return [item for item in _optimizing(file) if STEP not in item.methods]


def _inheriting(file: PythonFile, facts: Facts, verdict: OptimizerVerdict) -> Iterator[Match]:
    """The classes of a file that configure optimizers of their own for the step of a class that is left."""
    base = facts.files[verdict.item.path].find(verdict.item.name)
    for item in _heirs(file) if file.path in facts.files else ():
        fact = facts.of_class(file, item)
        above = facts.ancestry(fact)[1:] if fact else ()
        if base and base == next((each for each in above if STEP in each.methods), None):
            message = f"{item.node.name} inherits a training_step with `optimizer_idx`, which Lightning 2.0 removed"
            reason = f"Not rewritten: {base.name} ({base.path}), which has it, has to be repaired by hand."
            yield Match(file.head(item.methods[METHOD]), message, "manual", reason, "M214")


def _imports(verdict: OptimizerVerdict) -> tuple[tuple[str, str | None], ...]:
    if (verdict.item.outputs or verdict.item.batch_outputs) and verdict.kind == "dict":
        return (*IMPORTS, APPLY)
    return IMPORTS if clears(verdict) else ()


def _loop_edit(item: ClassNode, verdict: OptimizerVerdict) -> Any:
    def write(node: cst.ClassDef) -> cst.ClassDef:
        from codemods.rules.hooks.keep_outputs_edits import keep_in_loop
        from codemods.rules.optimizers.loop import write_loop

        node = write_loop(node, verdict, _shape(item))
        return keep_in_loop(node, item) if verdict.item.outputs else node

    return write


def _shape(item: ClassNode) -> StepShape:
    from codemods.rules.optimizers.loop import StepShape

    return StepShape(names_of(item.methods[STEP]), shed_of(item))


def _follower_edit(node: cst.ClassDef) -> cst.ClassDef:
    from codemods.rules.optimizers.loop import write_follower

    return write_follower(node)


def _trainer_matches(file: PythonFile, verdict: OptimizerVerdict) -> Iterator[Match]:
    """The arguments of the Trainers that train the class and that manual optimization refuses."""
    for index, call in enumerate(filter(is_trainer_call, file.calls)):
        keywords = {keyword.arg: keyword for keyword in call.node.keywords}
        given = [keywords[name] for name in MOVED if name in keywords and name in verdict.given.moved]
        if (file.path, index) not in verdict.given.calls or not given:
            continue
        yield Match(
            file.span(given[0]),
            f"Lightning 2 refuses Trainer({given[0].arg}=...) under manual optimization",
            verdict.level,
            f"{verdict.item.name} now does it itself, at the same point.",
            "M214",
            edits=(
                NodeEdit(call.node, partial(without, names=verdict.given.moved)),
                *_set_beside(file, verdict, index, call),
            ),
            unit=verdict.unit,
        )


def _set_beside(file: PythonFile, verdict: OptimizerVerdict, index: int, call: CallNode) -> Iterator[NodeEdit]:
    """The function around a Trainer with its values given to the model, where they cannot stand in the class."""
    values = tuple(
        (str(keyword.arg), file.source_of(keyword.value))
        for keyword in call.node.keywords
        if keyword.arg in verdict.given.carried
    )
    carrier = next((each for each in carriers(file) if each.trainer == index), None) if values else None
    if carrier:
        yield NodeEdit(function_of(call), lambda node: add_attributes(node, carrier, values))


BEFORE = """\
import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule, Trainer


class GAN(LightningModule):
    def __init__(self):
        super().__init__()
        self.generator = torch.nn.Linear(4, 4)
        self.discriminator = torch.nn.Linear(4, 1)

    def training_step(self, batch, batch_idx, optimizer_idx):
        noise = torch.randn(len(batch), 4, device=self.device)
        if optimizer_idx == 0:
            loss = F.softplus(-self.discriminator(self.generator(noise))).mean()
            self.log("g_loss", loss)
            return loss
        fake = self.generator(noise).detach()
        loss = F.softplus(self.discriminator(fake)).mean() + F.softplus(-self.discriminator(batch)).mean()
        self.log("d_loss", loss)
        return loss

    def configure_optimizers(self):
        generator = torch.optim.Adam(self.generator.parameters(), lr=0.01)
        discriminator = torch.optim.Adam(self.discriminator.parameters(), lr=0.01)
        return [generator, discriminator], []


def main(loader):
    trainer = Trainer(max_epochs=2, gradient_clip_val=0.5)
    trainer.fit(GAN(), loader)
"""
AFTER = '''\
import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule, Trainer


class GAN(LightningModule):
    gradient_clip_val = 0.5

    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.generator = torch.nn.Linear(4, 4)
        self.discriminator = torch.nn.Linear(4, 1)

    def training_step(self, batch, batch_idx):
        """One step of each optimizer in turn, as automatic optimization made them."""
        for optimizer_idx, optimizer in enumerate(self.optimizers()):
            self.toggle_optimizer(optimizer)
            loss = self.training_step_for(batch, batch_idx, optimizer_idx)
            optimizer.zero_grad()
            self.manual_backward(loss)
            optimizer.step()
            self.untoggle_optimizer(optimizer)

    def on_before_optimizer_step(self, optimizer):
        self.clip_gradients(optimizer, gradient_clip_val=self.gradient_clip_val)

    def training_step_for(self, batch, batch_idx, optimizer_idx):
        noise = torch.randn(len(batch), 4, device=self.device)
        if optimizer_idx == 0:
            loss = F.softplus(-self.discriminator(self.generator(noise))).mean()
            self.log("g_loss", loss)
            return loss
        fake = self.generator(noise).detach()
        loss = F.softplus(self.discriminator(fake)).mean() + F.softplus(-self.discriminator(batch)).mean()
        self.log("d_loss", loss)
        return loss

    def configure_optimizers(self):
        generator = torch.optim.Adam(self.generator.parameters(), lr=0.01)
        discriminator = torch.optim.Adam(self.discriminator.parameters(), lr=0.01)
        return [generator, discriminator], []


def main(loader):
    trainer = Trainer(max_epochs=2)
    trainer.fit(GAN(), loader)
'''
READ_OUTPUTS = BEFORE.replace(
    "    def configure",
    "    def on_train_batch_end(self, outputs, *_):\n        print(outputs[0])\n\n    def configure",
)

RULE = Rule(
    code=CODE,
    name="automatic-several-optimizers",
    summary="Several optimizers under automatic optimization become a manual loop over them",
    why=(
        "Lightning 2.0 removed the `optimizer_idx` argument (guide row M214, pull request 16539): a training step "
        "that takes it is a RuntimeError, even with a default. On 1.x the step ran once for each optimizer, the "
        "second time after the first one's step, with the parameters of the others toggled off. The loop written "
        "here does the same and keeps the old body as a method of its own, so that every shape of `if optimizer_idx "
        "== 0` trains as it did; clipping, accumulation and schedulers, which manual optimization leaves to the "
        "module, come along. What is computed for each optimizer again stays so: to compute it once would be another "
        "program."
    ),
    fix="safe",
    versions="written for Lightning < 2.0; needs 2.0 or later after the rewrite",
    triggers=(b"optimizer_idx", CLIP[0].encode(), ACCUMULATE.encode(), METHOD.encode(), *WORDS),
    check=_check,
    rows=partial(best_levels, (("M214", "safe"), ("M220", "safe"), ("B04", "safe"), ("B07", "safe"))),
    examples=(Example(BEFORE, AFTER), Example(READ_OUTPUTS, READ_OUTPUTS)),
    breaks_in="2.0.0",
    needs="2.0.0",
    collect=collect,
    collect_text=collect_text,
    kinds=("python", "yaml"),
    text_triggers=(*(name.encode() for name in MOVED), *(name.encode() for name in DDP)),
    context=context,
    present=_present,
    references=("https://github.com/Lightning-AI/pytorch-lightning/pull/16539",),
)
