"""LIT115: where DDP of 1.x looked for unused parameters, and what the default is now."""

from __future__ import annotations

import pytest
from lightning.pytorch.strategies import DDPStrategy, StrategyRegistry

from tests.codemods.support import rule, run_rules

HEAD = (
    "from pytorch_lightning import Trainer\nfrom pytorch_lightning.plugins import DDPPlugin\n"
    "from pytorch_lightning.strategies import DDPStrategy\n\n"
)


def test_what_is_advised_is_there() -> None:
    assert "ddp_find_unused_parameters_true" in StrategyRegistry.available_strategies()
    assert "find_unused_parameters" not in DDPStrategy()._ddp_kwargs


@pytest.mark.parametrize(
    "call",
    [
        "Trainer(gpus=2, strategy='ddp')",
        "Trainer(accelerator='ddp')",
        "Trainer(distributed_backend='ddp' if n > 1 else None)",
        "Trainer(accelerator='gpu', devices=n, strategy='ddp' if n > 1 else None)",
        "backend = 'ddp' if n > 1 else None\nTrainer(distributed_backend=backend)",
        "Trainer(plugins=DDPPlugin())",
        "plugins = [DDPPlugin()]\nTrainer(plugins=plugins, gpus=2)",
        "Trainer.from_argparse_args(args, distributed_backend='ddp')",
        "Trainer(strategy=DDPStrategy(), weights_summary=None)",
    ],
)
def test_found(call: str) -> None:
    [finding] = run_rules({"a.py": f"{HEAD}{call}\n"}, rule("LIT115")).findings
    assert (finding.fix, finding.row) == ("manual", "B07")


@pytest.mark.parametrize(
    "call",
    [
        "Trainer(devices=2, strategy='ddp')",
        "Trainer(strategy=DDPStrategy())",
        "Trainer(plugins=DDPPlugin(find_unused_parameters=False))",
        "Trainer(gpus=2, strategy='ddp_find_unused_parameters_false')",
        "Trainer(gpus=2, strategy='deepspeed')",
        "Trainer(gpus=2, accelerator='ddp', plugins=DDPPlugin(find_unused_parameters=True))",
        "plugins = [DDPPlugin(find_unused_parameters=False)]\nTrainer(accelerator='ddp', gpus=2, plugins=plugins)",
        "plugin = DDPPlugin(find_unused_parameters=True)\nTrainer(plugins=[plugin], gpus=2)",
        "Engine(accelerator='ddp')",
    ],
)
def test_not_spoken_of(call: str) -> None:
    assert run_rules({"a.py": f"{HEAD}{call}\n"}, rule("LIT115")).findings == ()


GAN = """\
import torch
import pytorch_lightning as pl


class GAN(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.g = torch.nn.Linear(2, 2)
        self.d = torch.nn.Linear(2, 1)

    def training_step(self, batch, batch_idx, optimizer_idx):
        if optimizer_idx == 0:
            return self.d(self.g(batch)).mean()
        return -self.d(batch).mean()

    def configure_optimizers(self):
        return [torch.optim.Adam(self.g.parameters()), torch.optim.Adam(self.d.parameters())]


"""


def test_what_another_rule_answers_is_not_left() -> None:
    trainer = 'trainer = pl.Trainer(gpus=2, strategy="ddp")\n'
    rules = (rule("LIT101"), rule("LIT115"), rule("OPT001"))
    made = run_rules({"train.py": f"{GAN}{trainer}trainer.fit(GAN())\n"}, *rules)
    assert b'strategy="ddp_find_unused_parameters_true"' in made.final()["train.py"]
    assert [item.applied for item in made.findings if item.code == "LIT115"] == [True]
    assert ["OPT001" in item.reason for item in made.findings if item.code == "LIT115"] == [True]
    for old, new in (("", ""), ('strategy="ddp"', "plugins=pl.plugins.DDPPlugin()")):
        text = f"import pytorch_lightning as pl\n\n{trainer.replace(old, new)}"
        alone = run_rules({"train.py": text}, *rules, rule("LIT111"))
        assert b"devices=2" in alone.final()["train.py"]
        assert [item.applied for item in alone.findings if item.code == "LIT115"] == [False]


@pytest.mark.parametrize(
    ("uses", "told"),
    [
        ("trainer.test(model)\nprint(trainer.logger.log_dir)", 0),
        ("trainer.predict(model)", 0),
        ("trainer.test(model)\ntrainer.fit(model)", 1),
        ("trainer.test(model)\nstart = trainer.fit", 1),
        ("trainer.test(model)\nrun(trainer)", 1),
        ("run(model)", 1),
    ],
)
def test_a_trainer_that_only_tests_is_not_spoken_of(uses: str, told: int) -> None:
    text = f"{HEAD}trainer = Trainer(gpus=2, strategy='ddp')\n{uses}\n"
    assert len(run_rules({"a.py": text}, rule("LIT115")).findings) == told
