"""Trainings of modules alone by what was changed for a Trainer of the project: all that was changed there."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.verify.said import said as told_of
from tests.verify.trees import tree
from verify.evidence import Evidence
from verify.prove import prove
from verify.reading.sources import Sources
from verify.reading.trainer_calls import changed_calls
from verify.request import Request

MODEL = """
import pytorch_lightning as pl
import torch


class Model(pl.LightningModule):
    def __init__(self, width):
        super().__init__()
        self.net = torch.nn.Linear(width, 2)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return torch.nn.functional.cross_entropy(self.net(x), y)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
"""
SCRIPT = """
import argparse

import pytorch_lightning as pl
from model import Model

parser = argparse.ArgumentParser()
parser.add_argument("--data", required=True)
parser.add_argument("--gpus", type=int, default=2)
parser.add_argument("--clip", type=float, default=0.01)


def main(args):
    if not args.data.endswith(".lmdb"):
        raise SystemExit("no database")
    saving = pl.callbacks.ModelCheckpoint(monitor="val_loss")
    trainer = pl.Trainer({arguments})
    trainer.fit(Model(3), args.data)


if __name__ == "__main__":
    main(parser.parse_args())
"""
OLD = (
    "gpus=args.gpus, gradient_clip_val=args.clip, progress_bar_refresh_rate=5, callbacks=[saving], "
    'weights_summary="top"'
)
NEW = (
    'accelerator="gpu" if args.gpus else "cpu", devices=args.gpus or 1, gradient_clip_val=args.clip, '
    "callbacks=[saving, pl.callbacks.TQDMProgressBar(refresh_rate=5)]"
)
REQUEST = Request("g", ("LIT101",), ("train.py",), "2.6.6", "1.7.0", ("pytorch-lightning<1.7",), (), timeout=200)


def _proven(folder: Path, new: str) -> Evidence:
    before, after = (
        tree(folder / name, model=MODEL, train=SCRIPT.format(arguments=arguments))
        for name, arguments in (("before", OLD), ("after", new))
    )
    return prove(before, after, REQUEST, lambda text: None)


def test_the_arguments_of_a_script_that_has_no_data_train_a_module_alone(tmp_path: Path) -> None:
    evidence = _proven(tmp_path, NEW)
    assert (evidence.verdict, evidence.rung, evidence.outcome) == ("preserved", "trains", "preserved in part")
    assert "by the changed arguments of the Trainer at train.py:" in evidence.reason
    (file,) = evidence.touched
    assert (file.how, file.argued, file.called, file.is_covered) == ("arguments", ("main",), (), False)
    assert evidence.unexecuted == ()
    said = told_of(evidence)
    assert "not executed: train.py: nothing of it ran but the changed arguments of its Trainer" in said
    assert "next: to prove train.py too, name a command that runs it" in said
    part = next(part for part in evidence.alone if part.trainer)
    assert dict(part.after.planned)["devices"] == 2
    assert any("before (gpus=2, progress_bar_refresh_rate=5" in note for note in part.notes)


@pytest.mark.parametrize(
    ("mistake", "verdict"),
    [
        (NEW.replace("devices=args.gpus or 1", "devices=1"), "changed"),
        (NEW.replace("devices=", "device="), "regressed"),
        (NEW.replace("refresh_rate=5", "rate=5"), "regressed"),
        (NEW + ", accumulate_grad_batches=2", "changed"),
        (NEW + ", weights_summary=None", "regressed"),
    ],
    ids=["devices", "name", "of a callback", "added", "kept"],
)
def test_a_mistake_in_them_is_seen(mistake: str, verdict: str, tmp_path: Path) -> None:
    evidence = _proven(tmp_path, mistake)
    assert evidence.verdict == verdict, evidence.reason
    assert evidence.rung != "same"


def test_a_logger_that_is_switched_off_is_as_it_was(tmp_path: Path) -> None:
    before, after = (
        tree(tmp_path / name, model=MODEL.replace("x, y = batch", "x, y = batch\n        self.log('a', 1.0)"),
             train=SCRIPT.format(arguments=arguments))
        for name, arguments in (
            ("before", "logger=None, checkpoint_callback=False"),
            ("after", "logger=False, enable_checkpointing=False"),
        )
    )  # fmt: skip
    evidence = prove(before, after, REQUEST, lambda text: None)
    assert (evidence.verdict, evidence.rung) == ("preserved", "trains"), evidence.reason


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("gpus=1), print(1", 'accelerator="gpu", devices=1), print(2'),
        ("gpus=count()", 'accelerator="gpu", devices=count()'),
        ("gpus=1, checkpoint_callback=saving", 'accelerator="gpu", devices=1, callbacks=[saving]'),
        ("gpus=1, logger=unknown", 'accelerator="gpu", devices=1, logger=pl.loggers.CSVLogger("logs")'),
        ("**given", "**others"),
        ("gpus=args.cards", "devices=args.cards"),
    ],
    ids=["beside them", "of a function", "monitors", "a logger", "a dictionary", "no option"],
)
def test_nothing_is_claimed_of_what_hangs_on_more(old: str, new: str, tmp_path: Path) -> None:
    before, after = (
        Sources(tree(tmp_path / name, model=MODEL, train=SCRIPT.format(arguments=arguments)))
        for name, arguments in (("before", old), ("after", new))
    )
    assert changed_calls(before, after, ["train.py"]) == ()


def test_what_a_name_is_assigned_once_is_what_it_is(tmp_path: Path) -> None:
    head = "import pytorch_lightning as pl\nfrom pytorch_lightning.strategies import DDPStrategy\n\n"
    twice = "count = 1\nif count:\n    count = 2\ntrainer = pl.Trainer({})\n"
    once = "count = 3\nplan = DDPStrategy(find_unused_parameters=False)\ntrainer = pl.Trainer({}, strategy=plan)\n"
    for text, found in ((twice, []), (once, ["devices=3"])):
        before, after = (
            Sources(tree(tmp_path / str(len(found)) / name, train=head + text.format(arguments)))
            for name, arguments in (("before", "gpus=count"), ("after", "devices=count"))
        )
        calls = changed_calls(before, after, ["train.py"])
        assert [call.new.told for call in calls] == found
        assert [call.left for call in calls] == [("strategy",)] * len(found)
