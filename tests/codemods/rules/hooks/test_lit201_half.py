"""LIT201 where a hook has its new name and still wants the outputs, which no release hands it."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rewritten, rule, run_rules
from tests.training import same

LIT, SIGNATURES = rule("LIT201"), rule("LIT210")
MEANT = """\
import torch
from pytorch_lightning import LightningModule, Trainer


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)

    def training_step(self, batch, batch_idx):
        return self.layer(batch).pow(2).mean()

    def validation_step(self, batch, batch_idx):
        return {"loss": self.layer(batch).mean()}

    def validation_epoch_end(self, outputs):
        self.log("mean", torch.stack([each["loss"] for each in outputs]).mean())

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
"""
RUN = """\


def load():
    return torch.utils.data.DataLoader(torch.randn(4, 2), batch_size=2)


Trainer(max_epochs=2).fit(Model(), load(), load())
"""
HALF = MEANT.replace("def validation_epoch_end", "def on_validation_epoch_end")
UNREAD = HALF.replace('torch.stack([each["loss"] for each in outputs]).mean()', "1.0")


def test_it_reads_what_the_old_hook_was_given() -> None:
    made = run_rules({"train.py": HALF + RUN}, LIT, SIGNATURES, unsafe=True)
    [finding] = made.findings
    assert finding.code == "LIT201" and finding.fix == "unsafe"
    assert "No release has given it any" in finding.reason
    after = made.final()["train.py"].decode()
    assert "def on_validation_epoch_end(self):\n        outputs, self.validation_step_outputs" in after
    assert rewritten({"train.py": after}, LIT, SIGNATURES, unsafe=True) == {"train.py": after}
    old, new = same({"train.py": MEANT + RUN}, {"train.py": after})
    assert old.metrics["mean"] == pytest.approx(new.metrics["mean"])


def test_what_it_does_not_read_it_need_not_take() -> None:
    after = UNREAD.replace("on_validation_epoch_end(self, outputs)", "on_validation_epoch_end(self)")
    assert rewritten({"train.py": UNREAD}, LIT, SIGNATURES) == {"train.py": after}


def test_a_test_has_one_too() -> None:
    tested = HALF.replace("validation_", "test_")
    after = rewritten({"train.py": tested}, LIT, unsafe=True)["train.py"]
    assert "def on_test_epoch_end(self):\n        outputs, self.test_step_outputs = self.test_step_outputs, []" in after


OTHERS = {
    "it may do without": HALF.replace("outputs):", "outputs=()):"),
    "it wants more": HALF.replace("outputs):", "trainer, outputs):"),
    "it is called by hand": HALF.replace(
        "        return {", "        self.on_validation_epoch_end([])\n        return {"
    ),
    "the old hook is there too": HALF + "\n    def validation_epoch_end(self, outputs):\n        pass\n",
    "it is a callback's": HALF.replace("LightningModule)", "Callback)").replace(" LightningModule,", " Callback,"),
}


@pytest.mark.parametrize("text", OTHERS.values(), ids=OTHERS.keys())
def test_another_hook_is_not_taken_for_one(text: str) -> None:
    before = {"train.py": text}
    assert "def on_validation_epoch_end(self, " in rewritten(before, LIT, SIGNATURES, unsafe=True)["train.py"]


def test_one_that_cannot_be_told_is_said_once() -> None:
    known = HALF.replace("self.layer = ", "self.validation_step_outputs = self.layer = ")
    assert len(refusals({"train.py": known}, "LIT201")) == 1
    assert refusals({"train.py": known}, "LIT210") == []
