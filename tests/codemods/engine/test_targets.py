"""What changed after the target is not spoken of."""

from __future__ import annotations

import pytest

from codemods.code.source import Source
from codemods.engine.plan import plan
from codemods.engine.scan import Options
from codemods.lightning.pins.stated import pins_of
from tests.codemods.support import rule, run_rules, sources

SEED = "from lightning.pytorch import seed_everything\n\nseed_everything()\n"
LOAD = """\
from lightning.pytorch import LightningModule


class Model(LightningModule):
    def again(self):
        return self.load_from_checkpoint("a.ckpt")
"""
ITERATOR = """\
from lightning.pytorch import LightningModule


class Model(LightningModule):
    def training_step(self, dataloader_iter, batch_idx):
        return self(next(dataloader_iter))
"""
PRETRAINED = """\
from lightning.pytorch import LightningModule
from transformers import AutoModel


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.net = AutoModel.from_pretrained("bert-base-uncased")

    def training_step(self, batch, batch_idx):
        return self.net(**batch).loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.net.parameters())
"""


@pytest.mark.parametrize(
    ("code", "text", "since", "before"),
    [
        ("LIT222", LOAD, "2.1.0", "2.0.9"),
        ("LIT223", SEED, "2.2.0", "2.1.4"),
        ("LIT224", ITERATOR, "2.1.0", "2.0.0"),
        ("GRD006", PRETRAINED, "2.2.0", "2.1.4"),
    ],
)
def test_a_rule_waits_for_its_release(code: str, text: str, since: str, before: str) -> None:
    def found(target: str) -> int:
        made = plan([Source("train.py", "python", text.encode())], Options((rule(code),), target=target, unsafe=True))
        return len(made.findings)

    assert found(since) >= 1
    assert found(before) == 0


def test_a_rule_goes_by_the_requirements_that_others_raised() -> None:
    load = "import torch\n\n\ndef restore(path):\n    model = torch.load(path)\n    model.eval()\n    return model\n"
    train = "from pytorch_lightning import Trainer\n\nTrainer(gpus=1)\n"
    pins = "pytorch-lightning~=1.7.0\ntorch>=1.11.0,<2\n"
    files = {"load.py": load, "train.py": train, "requirements.txt": pins}
    made = run_rules(files, unsafe=True, pins=pins_of(sources(files)))
    assert made.bugs == ()
    after = {path: data.decode() for path, data in made.final().items()}
    assert "torch.load(path, weights_only=False)" in after["load.py"]
    assert "torch>=1.11.0,<3" in after["requirements.txt"]
    assert run_rules(after, unsafe=True, pins=pins_of(sources(after))).changes == ()
