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


MODULE = """\
import random

import numpy as np
import pytorch_lightning as pl
import torch
from torch import nn


class Head(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(2, 2)

    def forward(self, x):
        return self.out(x)


class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 2)
        self.b = {built}

    def forward(self, x):
        return self.a(x)

    def training_step(self, batch, batch_idx):
{step}

    def validation_step(self, batch, batch_idx):
        self.log("val", self.b(batch).sum())


"""
FIT = 'trainer = pl.Trainer(gpus=2, strategy="ddp")\ntrainer.fit(Net())\n'
RULES = (rule("LIT101"), rule("LIT111"), rule("LIT115"))


def text_of(step: str, built: str = "nn.Linear(2, 2)", fit: str = FIT) -> str:
    lines = "\n".join(f"        {line}" for line in step.split("\n"))
    return MODULE.format(step=lines, built=built) + fit


LEFT = "return self.a(batch).sum()"


@pytest.mark.parametrize(
    ("step", "told"),
    [
        (LEFT, "No training step of Net gives `self.b` a gradient"),
        ("return self(batch).sum()", "No training step of Net gives `self.b` a gradient"),
        ("with torch.no_grad():\n    goal = self.b(batch)\nreturn (self(batch) - goal).sum()", "No training step"),
        (
            "out = self(batch)\nif batch_idx % 2:\n    out = out + self.b(batch)\nreturn out.sum()",
            "Training steps of Net give `self.b` a gradient only where `batch_idx % 2` says so",
        ),
        (
            "if self.current_epoch < 5:\n    return self(batch).sum()\nreturn self.b(self.a(batch)).sum()",
            "current_epoch",
        ),
        ("out = self(batch)\nif random.random() < 0.5:\n    out = self.b(out)\nreturn out.sum()", "random.random()"),
    ],
)
@pytest.mark.parametrize("built", ["nn.Linear(2, 2)", "Head()", "nn.Sequential(nn.Linear(2, 2), nn.ReLU())"])
def test_a_layer_without_a_gradient_is_looked_for(step: str, told: str, built: str) -> None:
    text = text_of(step, built)
    made = run_rules({"a.py": text}, *RULES, unsafe=True)
    assert made.bugs == ()
    assert made.final()["a.py"].decode() == text.replace(
        'gpus=2, strategy="ddp"', 'accelerator="gpu", devices=2, strategy="ddp_find_unused_parameters_true"'
    )
    [finding] = [item for item in made.findings if item.code == "LIT115"]
    assert finding.fix == "unsafe" and told in finding.reason and "costs a pass over the graph" in finding.reason
    assert b"unused" not in run_rules({"a.py": text}, *RULES).final()["a.py"]


@pytest.mark.parametrize(
    ("fit", "wanted"),
    [
        ("trainer = pl.Trainer(gpus=2, accelerator='ddp')", 'strategy="ddp_find_unused_parameters_true"'),
        (
            "trainer = pl.Trainer(gpus=n, strategy='ddp' if n > 1 else None)",
            "strategy=\"ddp_find_unused_parameters_true\" if n > 1 else 'auto'",
        ),
        (
            "trainer = pl.Trainer(gpus=2, strategy=pl.strategies.DDPStrategy())",
            "strategy=pl.strategies.DDPStrategy(find_unused_parameters=True)",
        ),
    ],
)
def test_it_is_looked_for_however_the_strategy_is_named(fit: str, wanted: str) -> None:
    made = run_rules({"a.py": text_of(LEFT, fit=f"n = int(x)\n{fit}\ntrainer.fit(Net())\n")}, *RULES, unsafe=True)
    assert made.bugs == ()
    assert wanted in made.final()["a.py"].decode()


@pytest.mark.parametrize(
    "step",
    [
        "return self.b(self.a(batch)).sum()",
        "out = self(batch)\nif self.hparams.deep:\n    out = self.b(out)\nreturn out.sum()",
        "out = self(batch)\nif batch_idx % 2:\n    out = self.b(out)\nelse:\n    out = -self.b(out)\nreturn out.sum()",
        "if batch_idx % 2:\n    return self.b(self.a(batch)).sum()\nreturn self.b(self(batch)).mean()",
        "return loss_of(self, batch)",
        "return self(batch).sum() + sum(p.sum() for p in self.parameters())",
        "return self(batch).sum() + getattr(self, 'b')(batch).sum()",
        "return [layer(batch) for layer in self.children()][0].sum()",
        "return (lambda x: self.b(self.a(x)).sum())(batch)",
        "return self.shared(batch)\n\ndef shared(self, batch):\n    return self.b(self.a(batch)).sum()".replace(
            "\ndef", "\ndef"
        ),
        "self.b.requires_grad_(False)\nreturn self(batch).sum()",
        "if batch_idx % 2:\n    self.log('x', 1)\nreturn self.b(self(batch)).sum()",
    ],
)
def test_a_layer_that_may_have_one_is_left_to_a_person(step: str) -> None:
    head, _, method = step.partition("\n\ndef ")
    text = text_of(head)
    if method:
        body = method.replace("\n", "\n    ")
        text = text.replace("    def validation_step", f"    def {body}\n\n    def validation_step")
    made = run_rules({"a.py": text}, *RULES, unsafe=True)
    assert b"find_unused" not in made.final()["a.py"]
    assert [item.fix for item in made.findings if item.code == "LIT115"] == ["manual"]


@pytest.mark.parametrize(
    "built",
    ["nn.ReLU()", "nn.CrossEntropyLoss()", "build()", "None", "load('x')", "nn.Sequential(nn.ReLU())"],
)
def test_what_may_have_no_parameters_is_none(built: str) -> None:
    made = run_rules({"a.py": text_of(LEFT, built)}, *RULES, unsafe=True)
    assert b"find_unused" not in made.final()["a.py"]


MADE = "        self.b = nn.Linear(2, 2)\n"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("class Net(pl.LightningModule)", "class Net(Mixed, pl.LightningModule)"),
        ("        return self.a(x)", "        self.b = x\n        return self.a(x)"),
        (MADE, f"{MADE}        self.all = [self.a, self.b]\n"),
        (MADE, f"        if deep:\n    {MADE}"),
        (MADE, f"{MADE}        self.automatic_optimization = False\n"),
        (MADE, f"{MADE}        freeze(self)\n"),
        (MADE, f"{MADE}        for each in self.b.parameters():\n            each.requires_grad = False\n"),
        (MADE, f"{MADE}        setattr(self, name, self.a)\n"),
        ("batch, batch_idx):\n        return", "batch, batch_idx, optimizer_idx):\n        return"),
        ("trainer.fit(Net())", "trainer.fit(model)"),
        ("trainer.fit(Net())", "trainer.fit(Net())\ntrainer.fit(Other())"),
    ],
)
def test_what_is_not_seen_whole_is_left(old: str, new: str) -> None:
    text = text_of(LEFT)
    assert old in text
    changed = text.replace(old, new)
    made = run_rules({"a.py": changed}, *RULES, unsafe=True)
    assert b"find_unused" not in made.final()["a.py"]


INNER = "    def forward(self, x):\n        return self.out(x)\n\n\nclass Net"
SPARE = "        self.out = nn.Linear(2, 2)\n"


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        (SPARE, f"{SPARE}        self.spare = nn.Linear(2, 2)\n", True),
        (SPARE, f"{SPARE}        self.spare = nn.ReLU()\n", False),
        (SPARE, f"{SPARE}        self.spare = nn.Linear(2, 2)\n        self.spare.requires_grad_(False)\n", False),
        (INNER, INNER.replace("self.out(x)", "[layer(x) for layer in self.children()][0]"), False),
        ("return self.b(self.a(batch))", "return self.b.out(self.a(batch))", False),
        ("return self.b(self.a(batch))", "return run(self.b, self.a(batch))", False),
    ],
)
def test_layers_inside_a_module_that_is_called(old: str, new: str, told: bool) -> None:
    text = text_of("return self.b(self.a(batch)).sum()", "Head()")
    assert old in text
    made = run_rules({"a.py": text.replace(old, new)}, *RULES, unsafe=True)
    assert (b"ddp_find_unused_parameters_true" in made.final()["a.py"]) == told
    assert any("`self.b.spare`" in item.reason for item in made.findings) == told


def test_asking_whether_a_parameter_trains_freezes_none() -> None:
    text = text_of(LEFT).replace(MADE, f"{MADE}        self.n = [p for p in self.parameters() if p.requires_grad]\n")
    made = run_rules({"a.py": text}, *RULES, unsafe=True)
    assert b"ddp_find_unused_parameters_true" in made.final()["a.py"]


def test_what_is_used_is_said() -> None:
    [finding] = run_rules({"a.py": text_of("return self.b(self.a(batch)).sum()")}, rule("LIT115")).findings
    assert "the training step of Net uses `self.a`, `self.b`" in finding.reason


def test_a_project_of_2_x_is_not_spoken_of() -> None:
    text = text_of(LEFT, fit='trainer = pl.Trainer(devices=2, strategy="ddp")\ntrainer.fit(Net())\n')
    assert run_rules({"a.py": text}, *RULES, pins=("pytorch-lightning>=2.0",)).findings == ()
