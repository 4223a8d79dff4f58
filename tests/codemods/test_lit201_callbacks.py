"""LIT201: a callback that reads what an epoch-end hook leaves sees the same on old releases and on the newest."""

from __future__ import annotations

from tests.codemods.support import rewritten, rule
from tests.training import same

SCRIPT = """\
import torch
from pytorch_lightning import Callback, LightningModule, Trainer


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)
        self.best = None

    def training_step(self, batch, batch_idx):
        return self.layer(batch).mean()

    def validation_step(self, batch, batch_idx):
        return {"error": batch.mean() + self.global_step}

    def validation_epoch_end(self, outputs):
        self.best = torch.stack([output["error"] for output in outputs]).mean().item()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)


class Show(Callback):
    def __init__(self):
        self.seen = []

    def on_validation_epoch_end(self, trainer, pl_module):
        self.seen.append(pl_module.best)


def main():
    torch.manual_seed(1)
    show, data = Show(), torch.utils.data.DataLoader(torch.arange(8.0).reshape(4, 2), batch_size=2)
    trainer = Trainer(max_epochs=2, callbacks=[show])
    trainer.fit(Model(), data, data)
    trainer.validate(trainer.model, data)
    return show.seen
"""


def test_it_reads_what_it_read() -> None:
    before = {"train.py": SCRIPT}
    after = rewritten(before, rule("LIT201"), unsafe=True)
    assert "def on_validation_end(self, trainer, pl_module):" in after["train.py"]
    old, new = same(before, after, script=None, module="train", function="main", logged=False)
    assert old.failure is None and new.failure is None, (old.failure, new.failure)
    assert new.returned == old.returned
    assert len(old.returned) == 3 and len(set(old.returned)) == 2
