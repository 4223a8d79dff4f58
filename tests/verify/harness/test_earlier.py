"""What code for Lightning before 1.4 gives it, which is run on 1.4: the same training as without, and no repair."""

from __future__ import annotations

import pytest

from tests.mutations.judging import recorded
from tests.training.interpreters import TARGET
from verify.harness.earlier import is_wanted, translated
from verify.judging.record import RunRecord
from verify.judging.verdict import judge

OLD = """
import argparse
import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import EarlyStopping, ModelCheckpoint


class Module(pl.LightningModule):
    def __init__(self, hparams):
        super().__init__()
        self.hparams = hparams
        self.net = torch.nn.Linear(2, self.hparams.width)

    def training_step(self, batch, batch_idx):
        loss = self.net(batch).pow(2).mean()
        self.log("acc", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=self.hparams.lr)


class Data(pl.LightningDataModule):
    def __init__(self, hparams):
        super().__init__()
        self.hparams = hparams

    def train_dataloader(self):
        return torch.utils.data.DataLoader(torch.arange(16.0).reshape(8, 2) / self.hparams.most)


data = Data(argparse.Namespace(most=16, lr=0.2))
kept = ModelCheckpoint(filepath="out/{epoch}", monitor="acc", mode="auto")
stop = EarlyStopping(monitor="acc", mode="auto")
trainer = pl.Trainer(max_nb_epochs=2, checkpoint_callback=kept, early_stop_callback=stop, row_log_interval=5)
trainer.fit(Module(argparse.Namespace(lr=0.1, width=3)), data)
assert trainer.checkpoint_callback is kept and kept.mode == stop.mode == "max"
"""
NEW = (
    OLD.replace("self.hparams = hparams", "self.save_hyperparameters(hparams)", 1)
    .replace("self.hparams = hparams", "self.save_hyperparameters(hparams, logger=False)")
    .replace('filepath="out/{epoch}"', 'dirpath="out", filename="{epoch}"')
    .replace('mode="auto"', 'mode="max"')
    .replace(
        "max_nb_epochs=2, checkpoint_callback=kept, early_stop_callback=stop", "max_epochs=2, callbacks=[kept, stop]"
    )
    .replace("row_log_interval", "log_every_n_steps")
)


@pytest.fixture(scope="module")
def before() -> RunRecord:
    return recorded({"train.py": OLD}, "1.4.9")


@pytest.mark.parametrize(
    ("wrong", "verdict"),
    [
        (("pow(2)", "pow(2)"), "preserved"),
        (("pow(2)", "pow(4)"), "changed"),
        (("callbacks=", "callback="), "regressed"),
    ],
)
def test_what_it_computes_is_compared(before: RunRecord, wrong: tuple[str, str], verdict: str) -> None:
    judgement = judge(before, recorded({"train.py": NEW.replace(*wrong)}, TARGET), ())
    assert judgement.verdict == verdict, judgement.reason
    assert "Trainer(early_stop_callback=...)" in before.earlier and "self.hparams = ..." in before.earlier
    assert "self.hparams = ... of a datamodule" in before.earlier


def test_a_later_release_is_lent_nothing() -> None:
    after = recorded({"train.py": OLD}, TARGET)
    assert after.recording.failure is not None and after.earlier == ()
    assert not is_wanted({"strategy", "checkpoint_callback"}) and not is_wanted({"enable_checkpointing"})


def test_what_is_known_is_left_and_what_no_release_knew_stays_to_fail() -> None:
    names = {"checkpoint_callback", "max_epochs", "callbacks"}
    given = {"checkpoint_callback": False, "max_epochs": 3, "nonsense": 1}
    assert translated(given, names) == given
    assert translated({"checkpoint_callback": None, "callbacks": "a", "early_stop_callback": "b"}, names) == {
        "checkpoint_callback": False,
        "callbacks": ["a", "b"],
    }


@pytest.mark.parametrize(("value", "made"), [(True, {}), (False, {"automatic_optimization": False})])
def test_a_trainer_that_made_modules_optimize_manually_is_not_taken_for_another(
    value: bool, made: dict[str, bool]
) -> None:
    assert translated({"automatic_optimization": value}, frozenset({"checkpoint_callback"})) == made
