"""LIT111: names for the hardware that are None in one place and something else in others."""

from __future__ import annotations

import pytest

from tests.codemods.support import rule, run_rules
from tests.training import same

TEXT = """\
import torch
from pytorch_lightning import LightningModule, Trainer


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)

    def training_step(self, batch, batch_idx):
        return self.layer(batch).sum()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)


def build(gpus, find):
    accelerator = None
    devices = None
    if gpus:
        accelerator = "cuda" if False else "cpu"
        devices = gpus or find()
    elif torch.backends.mps.is_available():
        accelerator = "mps"
        devices = 1
    more = {}
    if not gpus:
        more["min_epochs"] = 2
    trainer = Trainer(accelerator=accelerator, devices=devices, logger=False, max_epochs=2, **more)
    trainer.fit(Model(), torch.utils.data.DataLoader(torch.ones(2, 1)))
    return type(trainer.accelerator).__name__, trainer.num_devices, type(trainer.strategy).__name__


def main():
    return [build(0, None), build(1, None)]
"""
WANTED = 'accelerator=accelerator or "cpu", devices="auto" if devices is None else devices,'
PLAIN = TEXT.replace('"cuda" if False else "cpu"', '"cpu"')


def test_the_cpu_and_all_that_there_are() -> None:
    made = run_rules({"train.py": PLAIN}, rule("LIT111"))
    assert [finding.fix for finding in made.findings] == ["safe", "safe"]
    after = {"train.py": made.final()["train.py"].decode()}
    assert WANTED in after["train.py"]
    assert run_rules(after, rule("LIT111")).changes == ()
    old, new = same({"train.py": PLAIN}, after, script=None, module="train", function="main", logged=False)
    assert old.failure is None and new.failure is None, (old.failure, new.failure)
    assert new.returned == old.returned == [["CPUAccelerator", 1, "SingleDeviceStrategy"]] * 2


@pytest.mark.parametrize(
    ("old", "new", "levels"),
    [
        ('accelerator = "mps"', 'accelerator = "ddp"', {"manual", "safe"}),
        ('accelerator = "mps"', "accelerator = find()", {"safe", "unsafe"}),
        ("more = {}", "more = find()", {"manual", "unsafe"}),
        ('more["min_epochs"] = 2', 'more["strategy"] = "ddp"', {"manual", "safe"}),
        ("devices = None", "devices = 2", {"safe"}),
        ("accelerator = None", 'accelerator = "cpu"', {"safe"}),
    ],
)
def test_other_values(old: str, new: str, levels: set[str]) -> None:
    text = PLAIN.replace(old, new)
    assert text != PLAIN
    assert {finding.fix for finding in run_rules({"train.py": text}, rule("LIT111")).findings} == levels
