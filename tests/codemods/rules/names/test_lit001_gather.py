"""LIT001: `all_gather_ddp_if_available` in the hooks of a module, which gathers by its Trainer."""

from __future__ import annotations

import pytest

from tests.codemods.support import rewritten, rule, run_rules
from tests.training import same

IMPORT = "from pytorch_lightning.utilities.distributed import all_gather_ddp_if_available\n"
TEXT = f"""\
import torch
from pytorch_lightning import LightningModule, Trainer
{IMPORT}from torch.utils.data import DataLoader


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)
        self.seen = []

    def training_step(self, batch, batch_idx):
        loss = self.layer(batch).sum()
        self.seen.append(round(float(all_gather_ddp_if_available(loss.detach()).mean()), 5))
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)


def main():
    torch.manual_seed(1)
    model = Model()
    trainer = Trainer(max_epochs=1, accelerator="cpu", devices=1, logger=False, enable_checkpointing=False,
                      enable_progress_bar=False)
    trainer.fit(model, DataLoader(torch.ones(4, 1)))
    return model.seen


if __name__ == "__main__":
    main()
"""


def test_a_hook_gathers_by_the_module() -> None:
    after = rewritten({"train.py": TEXT}, rule("LIT001"))
    assert after["train.py"] == TEXT.replace(IMPORT, "").replace("all_gather_ddp_if_available(", "self.all_gather(")
    old, new = same({"train.py": TEXT}, after, script=None, module="train", function="main", logged=False)
    assert old.failure is None, old.failure
    assert len(old.returned) == 4 and new.returned == old.returned


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (".detach()).mean()", ".detach())"),
        (".detach()).mean()", ".detach()).numpy()"),
        ("available(loss.detach())", "available(tensor=loss.detach())"),
        ("training_step(", "work("),
        ("class Model(LightningModule)", "class Model(torch.nn.Module)"),
        ("def main():", "def gather():\n    return all_gather_ddp_if_available(torch.ones(1)).mean()\n\n\ndef main():"),
        ("float(all_gather_ddp_if_available(loss.detach()).mean())", "float(each(all_gather_ddp_if_available))"),
    ],
)
def test_elsewhere_the_private_one_is_left_to_a_choice(old: str, new: str) -> None:
    assert old in TEXT
    made = run_rules({"train.py": TEXT.replace(old, new)}, rule("LIT001"))
    assert made.changes == () and [each.fix for each in made.findings] == ["unsafe"]
