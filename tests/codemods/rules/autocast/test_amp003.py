"""AMP003: scalers by hand, what they do when run, and where they do no harm."""

from __future__ import annotations

import pytest

from codemods.rules.autocast.amp003 import RULE
from tests.codemods.amp import amp, levels
from tests.training import train

CODE = "AMP003"
AUTOMATIC = RULE.examples[0].before
MANUAL = RULE.examples[1].before
TRAINER = "from lightning.pytorch import Trainer\n\ntrainer = Trainer(precision={})\n"


@pytest.mark.parametrize(
    ("text", "precision", "said"),
    [
        (AUTOMATIC, '"16-mixed"', "never undone"),
        (AUTOMATIC, "32", "never unscaled"),
        (MANUAL, '"16-mixed"', "step after step is skipped"),
        (MANUAL, "args.precision", "should the Trainer be given it"),
    ],
)
def test_the_harm_is_named(text: str, precision: str, said: str) -> None:
    made = amp(text, CODE, fit=TRAINER.format(precision))
    assert [item.fix for item in made.findings] == ["manual"]
    assert said in made.findings[0].reason
    assert made.changes == ()


@pytest.mark.parametrize(
    "name", ["torch.GradScaler()", "torch.cuda.amp.GradScaler()", "torch.cpu.amp.GradScaler()", "amp.GradScaler()"]
)
def test_every_spelling(name: str) -> None:
    text = AUTOMATIC.replace('torch.amp.GradScaler("cuda")', name).replace(
        "import torch\n", "import torch\nfrom torch.cuda import amp\n"
    )
    assert len(levels(text, CODE)) == 1


@pytest.mark.parametrize(
    "text",
    [
        MANUAL,
        AUTOMATIC.replace('("cuda")', '("cuda", enabled=False)'),
        AUTOMATIC.replace("pl.LightningModule", "torch.nn.Module"),
        AUTOMATIC.replace("torch.amp.GradScaler", "GradScaler").replace("import torch", "from tools import GradScaler"),
    ],
)
def test_what_does_no_harm_stays(text: str) -> None:
    assert levels(text, CODE) == []


PROGRAM = """import torch
import lightning.pytorch as pl


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(4, 1)
        self.scaler = torch.amp.GradScaler("cpu")

    def training_step(self, batch, batch_idx):
        return self.scaler.scale(self.net(batch).pow(2).mean())

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.01)


def main():
    data = torch.utils.data.DataLoader(torch.ones(6, 4), batch_size=2)
    pl.Trainer(max_epochs=1, accelerator="cpu").fit(Model(), data)


if __name__ == "__main__":
    main()
"""


def test_a_scaled_loss_is_never_unscaled() -> None:
    scaled = train({"train.py": PROGRAM})
    plain = train(
        {
            "train.py": PROGRAM.replace(
                "self.scaler.scale(self.net(batch).pow(2).mean())", "self.net(batch).pow(2).mean()"
            )
        }
    )
    assert len(levels(PROGRAM, CODE)) == 1
    assert plain.losses[-1] < 1 < 1e9 < scaled.losses[-1]
