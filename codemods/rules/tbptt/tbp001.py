"""TBP001: truncated back-propagation through time as Lightning 1.x did it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from codemods.code.source import ClassNode, PythonFile, TextFile
from codemods.lightning.class_family import definitions
from codemods.lightning.facts import Facts, is_trainer_call
from codemods.rewrite.manual import batch_outputs, project_obstacles
from codemods.rewrite.manual.argument_transfer import handing_matches
from codemods.rewrite.manual.fit_sites import WORDS, FitStatement, read_fits
from codemods.rewrite.manual.hooks import shed_of
from codemods.rewrite.manual.optimizer_factories import METHOD
from codemods.rewrite.manual.settings import TrainerSetting, read_settings, setting_matches
from codemods.rewrite.manual.trainers import ACCUMULATE, ASKED, CLIP, MOVED, gives, loose
from codemods.rewrite.manual.transfer_edits import hand_over
from codemods.rule import Example, Match, NodeEdit, Rule, best_levels
from codemods.rules.tbptt.chunk_length_transfer import FLAG, call_edits, lines
from codemods.rules.tbptt.module import IMPORTS, SPLIT, TbpttFileSummary, candidates, show
from codemods.rules.tbptt.plan import INHERITED, UNHEARD, TbpttVerdict, verdicts
from codemods.rules.tbptt.step import STATE
from codemods.rules.tbptt.trainer import GIVEN, leftover

if TYPE_CHECKING:
    import libcst as cst


CODE = "TBP001"
ADVICE = (
    "Set `self.automatic_optimization = False` and loop over the chunks in training_step: forward, "
    "`optimizer.zero_grad()`, `self.manual_backward(loss)`, `optimizer.step()`, detach the hidden state."
)
RESUMED = "Resuming an old checkpoint with it restarts global_step at 0."
MESSAGES = {
    CLIP[0]: "Lightning 2 refuses Trainer(gradient_clip_val=...) under manual optimization",
    FLAG: GIVEN,
}


def _collect(file: PythonFile) -> TbpttFileSummary | None:
    return show(file, loose(file))


def _collect_text(file: TextFile) -> tuple[TrainerSetting, ...] | None:
    return read_settings(file, MOVED)


def _context(collected: Mapping[str, Any]) -> tuple[bytes, ...]:
    shown = (each for each in collected.values() if isinstance(each, TbpttFileSummary))
    names = {item.name.rpartition(".")[2].encode() for each in shown for item in each.classes}
    inherited = {*INHERITED, SPLIT, METHOD}
    if not names:
        return ()
    return (
        *ASKED,
        FLAG.encode(),
        *batch_outputs.ASKED,
        *project_obstacles.asked(UNHEARD),
        *definitions(inherited),
        *sorted(names),
    )


def _present(file: PythonFile) -> bool:
    given = gives(file, (*MOVED, FLAG))
    return bool(candidates(file)) or given or bool(file.attributes(FLAG)) or bool(read_fits(file).plain)


def _check(file: PythonFile | TextFile, facts: Facts) -> Iterator[Match]:
    found = verdicts(facts, CODE)
    if isinstance(file, TextFile):
        for verdict in found:
            names = frozenset(name for path, name in verdict.given.settings if path == file.path)
            if verdict.refusal is None and names:
                yield from setting_matches(file, names, verdict.item.name, verdict.level, verdict.unit)
        return
    for verdict in found:
        if verdict.item.path == file.path:
            yield from _class_match(file, verdict)
        if verdict.refusal is None:
            yield from _trainer_matches(file, verdict)
    yield from _handed(file, facts, [verdict for verdict in found if verdict.refusal is None])
    yield from leftover(file, facts, found)


def _handed(file: PythonFile, facts: Facts, found: Sequence[TbpttVerdict]) -> Iterator[Match]:
    """The places where models are given what their Trainers got."""
    told: dict[FitStatement, str] = {}
    for verdict in found:
        mine = lines(file, [index for path, index in verdict.carried if path == file.path]) if verdict.carried else {}
        if verdict.given.handed:
            told |= mine
        elif mine:
            yield from handing_matches(file, facts, (), verdict.level, verdict.unit, mine)
    yield from hand_over(file, facts, found, told)


def _class_match(file: PythonFile, verdict: TbpttVerdict) -> Iterator[Match]:
    for item in candidates(file):
        if item.qualname != verdict.item.name:
            continue
        step = item.methods.get("training_step")
        place = file.head(step if step else item.node)
        message = f"{item.node.name} relies on `{FLAG}`, which Lightning 2.0 removed"
        if verdict.refusal:
            split = f" `{SPLIT}` is no longer called: call it there." if SPLIT in item.methods else ""
            yield Match(place, message, "manual", f"Not rewritten: {verdict.refusal}. {ADVICE}{split}", "M259")
        else:
            edits = (NodeEdit(item.node, partial(_written, item=item, verdict=verdict)),)
            yield Match(
                place,
                message,
                verdict.level,
                _reason(verdict),
                "M259",
                edits=edits,
                imports=IMPORTS,
                unit=verdict.unit,
            )


def _reason(verdict: TbpttVerdict) -> str:
    reason = "The loop makes the same steps in the same order as 1.x did."
    if verdict.flagged:
        reason += (
            " The Trainer's flag is of Lightning before 1.5, which counted one global_step for a batch; it now counts "
            "one for a chunk, as 1.6 to 1.9 did."
        )
    return " ".join((reason, *verdict.doubts, RESUMED))


def _written(node: cst.ClassDef, item: ClassNode, verdict: TbpttVerdict) -> cst.ClassDef:
    from codemods.rules.hooks.keep_outputs_edits import keep_in_loop
    from codemods.rules.tbptt.loop import ChunkLoop, write_loop

    assert verdict.item.step is not None
    node = write_loop(
        node,
        ChunkLoop(
            verdict.item.step,
            verdict.configured,
            verdict.batch,
            verdict.given.clip,
            verdict.given.clear_autocast,
            verdict.calls_split,
            verdict.by_class,
            verdict.steps,
            verdict.item.outputs,
            verdict.item.batch_outputs,
            verdict.item.hooks,
            shed_of(item),
            verdict.may_be_off,
        ),
    )
    return keep_in_loop(node, item) if verdict.item.outputs else node


def _trainer_matches(file: PythonFile, verdict: TbpttVerdict) -> Iterator[Match]:
    """The arguments that move from the Trainers into the class."""
    for index, call in enumerate(filter(is_trainer_call, file.calls)):
        keywords = {keyword.arg: keyword for keyword in call.node.keywords if keyword.arg}
        moved = set[str]()
        if (file.path, index) in verdict.given.calls:
            moved = {name for name in CLIP if name in keywords and name in verdict.given.moved}
        if (file.path, index) in verdict.flagged:
            moved |= {FLAG} & keywords.keys()
        if CLIP[0] not in moved and FLAG not in moved:
            continue
        first = CLIP[0] if CLIP[0] in moved else FLAG
        reasons = {
            CLIP[
                0
            ]: f"{verdict.item.name} clips at the end of on_before_optimizer_step, as automatic optimization did.",
            FLAG: f"{verdict.item.name} {'is given' if verdict.carried else 'keeps'} it, and cuts its batches by it.",
        }
        yield Match(
            file.span(keywords[first]),
            MESSAGES[first],
            verdict.level,
            reasons[first],
            "M259",
            edits=tuple(call_edits(file, index, call, frozenset(moved))),
            unit=verdict.unit,
        )


BEFORE = """\
import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule, Trainer


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.truncated_bptt_steps = 4
        self.rnn = torch.nn.LSTM(1, 8, batch_first=True)
        self.head = torch.nn.Linear(8, 1)

    def training_step(self, batch, batch_idx, hiddens):
        x, y = batch
        out, hiddens = self.rnn(x, hiddens)
        loss = F.mse_loss(self.head(out), y)
        self.log("train_loss", loss)
        return {"loss": loss, "hiddens": hiddens}

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main(loader):
    trainer = Trainer(max_epochs=2, gradient_clip_val=0.5)
    trainer.fit(Model(), loader)
"""
AFTER = '''\
import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule, Trainer
from lightning_utilities.core.apply_func import apply_to_collection


class Model(LightningModule):
    gradient_clip_val = 0.5

    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.truncated_bptt_steps = 4
        self.rnn = torch.nn.LSTM(1, 8, batch_first=True)
        self.head = torch.nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        """Truncated back-propagation through time: one optimizer step for each chunk of the batch."""
        optimizer = self.optimizers()
        hiddens = None
        pieces = [part.split(self.truncated_bptt_steps, dim=1) for part in batch]
        for chunk in zip(*pieces, strict=True):
            output = self.training_chunk(chunk, batch_idx, hiddens)
            optimizer.zero_grad()
            self.manual_backward(output["loss"])
            optimizer.step()
            hiddens = apply_to_collection(output["hiddens"], torch.Tensor, torch.Tensor.detach)

    def on_before_optimizer_step(self, optimizer):
        self.clip_gradients(optimizer, gradient_clip_val=self.gradient_clip_val)

    def training_chunk(self, batch, batch_idx, hiddens):
        x, y = batch
        out, hiddens = self.rnn(x, hiddens)
        loss = F.mse_loss(self.head(out), y)
        self.log("train_loss", loss)
        return {"loss": loss, "hiddens": hiddens}

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main(loader):
    trainer = Trainer(max_epochs=2)
    trainer.fit(Model(), loader)
'''
DICT_BATCH = BEFORE.replace("x, y = batch", 'x, y = batch["x"], batch["y"]')
OWN_SPLIT_BEFORE = """\
import torch
from pytorch_lightning import LightningModule


class Model(LightningModule):
    truncated_bptt_steps = 16

    def tbptt_split_batch(self, batch, split_size):
        return batch.split(split_size)

    def training_step(self, batch, batch_idx, optimizer_idx, state):
        loss, state = self.losses[optimizer_idx](batch.x, batch.lengths, state)
        return {"loss": loss, "hiddens": state}

    def configure_optimizers(self):
        return torch.optim.Adam(self.encoder.parameters()), torch.optim.Adam(self.decoder.parameters())
"""
OWN_SPLIT_AFTER = '''\
import torch
from pytorch_lightning import LightningModule
from lightning_utilities.core.apply_func import apply_to_collection


class Model(LightningModule):
    automatic_optimization = False
    truncated_bptt_steps = 16

    def tbptt_split_batch(self, batch, split_size):
        return batch.split(split_size)

    def training_step(self, batch, batch_idx):
        """Truncated back-propagation through time: one optimizer step for each chunk of the batch."""
        optimizers = self.optimizers()
        state = None
        for chunk in self.tbptt_split_batch(batch, self.truncated_bptt_steps):
            for optimizer_idx, optimizer in enumerate(optimizers):
                self.toggle_optimizer(optimizer)
                output = self.training_chunk(chunk, batch_idx, optimizer_idx, state)
                optimizer.zero_grad()
                self.manual_backward(output["loss"])
                optimizer.step()
                self.untoggle_optimizer(optimizer)
                torch.clear_autocast_cache()  # the next forward must see the new weights
                state = apply_to_collection(output["hiddens"], torch.Tensor, torch.Tensor.detach)

    def training_chunk(self, batch, batch_idx, optimizer_idx, state):
        loss, state = self.losses[optimizer_idx](batch.x, batch.lengths, state)
        return {"loss": loss, "hiddens": state}

    def configure_optimizers(self):
        return torch.optim.Adam(self.encoder.parameters()), torch.optim.Adam(self.decoder.parameters())
'''
FORWARDED_BEFORE = """\
from pytorch_lightning import Trainer


def make_trainer(epochs, tbptt=None):
    return Trainer(max_epochs=epochs, truncated_bptt_steps=tbptt)
"""
FORWARDED_AFTER = FORWARDED_BEFORE.replace(", truncated_bptt_steps=tbptt", "")

RULE = Rule(
    code=CODE,
    name="automatic-truncated-bptt",
    summary="Lightning 1.x truncated back-propagation becomes a manual loop over chunks",
    why=(
        "Lightning 2.0 removed `truncated_bptt_steps`, `tbptt_split_batch` and the `hiddens` argument (guide rows "
        "M259-M261, pull request 16172). A required `hiddens` parameter is a TypeError there; a bare flag or a "
        "`hiddens=None` is silent, and the model trains on whole sequences. The loop written here cuts the batch as "
        "1.x did, or calls the class's own `tbptt_split_batch`, makes one step of each optimizer for a chunk, detaches "
        "the state whatever its structure and name, clips and steps schedulers where automatic optimization did. The "
        "flag may be set in the class, by a relative, on an instance, or, before 1.5, on the Trainer. A batch on which "
        "1.x's default split failed or cut the wrong dimension has no old behaviour to keep and is left to you, "
        "as are accumulated gradients, of which 1.x lost all but the last chunk."
    ),
    fix="safe",
    versions="written for Lightning < 2.0; needs 2.0 or later after the rewrite",
    triggers=(
        FLAG.encode(),
        STATE.encode(),
        SPLIT.encode(),
        CLIP[0].encode(),
        ACCUMULATE.encode(),
        METHOD.encode(),
        *WORDS,
    ),
    check=_check,
    rows=partial(best_levels, (("M001", "manual"), ("M259", "safe"), ("M260", "safe"), ("M261", "safe"))),
    examples=(
        Example(BEFORE, AFTER),
        Example(OWN_SPLIT_BEFORE, OWN_SPLIT_AFTER),
        Example(FORWARDED_BEFORE, FORWARDED_AFTER),
        Example(DICT_BATCH, DICT_BATCH),
    ),
    breaks_in="2.0.0",
    needs="2.0.0",
    collect=_collect,
    collect_text=_collect_text,
    kinds=("python", "yaml"),
    text_triggers=tuple(name.encode() for name in MOVED),
    context=_context,
    present=_present,
    references=("https://github.com/Lightning-AI/pytorch-lightning/pull/16172",),
)
