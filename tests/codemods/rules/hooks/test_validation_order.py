"""LIT201: the end of a training epoch, which ran before validation in Lightning 1.1 to 1.3."""

from __future__ import annotations

import pytest

from tests.codemods.support import rule, run_rules

MODEL = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def training_step(self, batch, batch_idx):
        self.seen.append(len(batch))
        return self.compute(batch)

    def training_epoch_end(self, outputs):
        self.report("train")

    def validation_step(self, batch, batch_idx):
        self.seen.append(len(batch))

    def validation_epoch_end(self, outputs):
        self.report("validation")

    def report(self, stage):
        print(stage, self.best, sum(self.seen))
        self.seen = []
"""


def levels(text: str, *pins: str) -> set[tuple[str, bool]]:
    found = run_rules({"a.py": text}, rule("LIT201"), pins=pins).findings
    return {(each.fix, "before the epoch's validation" in each.reason) for each in found}


@pytest.mark.parametrize("pin", ["pytorch-lightning==1.2.3", "pytorch-lightning>=1.1.8,<1.4"])
def test_what_training_and_validation_share_differs(pin: str) -> None:
    assert levels(MODEL, pin) == {("unsafe", True)}


@pytest.mark.parametrize("pin", ["pytorch-lightning==1.0.8", "pytorch-lightning==1.4.9", "pytorch-lightning>=1.2", ""])
def test_other_releases_validated_first(pin: str) -> None:
    assert levels(MODEL, *filter(None, [pin])) == {("safe", False)}


def test_what_neither_changes_is_the_same() -> None:
    text = MODEL.replace("self.seen.append(len(batch))\n", "print(self.best)\n").replace("        self.seen = []\n", "")
    assert levels(text, "pytorch-lightning==1.2.3") == {("safe", False)}
    apart = MODEL.replace('self.report("train")', "self.trained = []")
    assert levels(apart, "pytorch-lightning==1.2.3") == {("safe", False)}


def test_metrics_of_validation_are_of_another_epoch() -> None:
    text = MODEL.replace('self.report("train")', 'print(self.trainer.callback_metrics["val_loss"])')
    assert levels(text, "pytorch-lightning==1.2.3") == {("unsafe", True)}
    alone = text[: text.index("    def validation_step")]
    assert levels(alone, "pytorch-lightning==1.2.3") == {("safe", False)}
