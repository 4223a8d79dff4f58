"""Clipping and accumulation that a Trainer gets from anywhere: handed to the model where it is fitted, and executed."""

from __future__ import annotations

import pytest

from tests.codemods.support import rewritten, rule, run_rules
from tests.training import same

MODEL = """\
import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule


class GAN(LightningModule):
    def __init__(self):
        super().__init__()
        self.generator = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Dropout(0.2), torch.nn.Linear(4, 3))
        self.discriminator = torch.nn.Linear(3, 1)

    def training_step(self, batch, batch_idx, optimizer_idx):
        fake = self.generator(torch.randn(len(batch), 3))
        if optimizer_idx == 0:
            return F.softplus(-self.discriminator(fake)).mean()
        return F.softplus(self.discriminator(fake.detach())).mean() + F.softplus(-self.discriminator(batch)).mean()

    def configure_optimizers(self):
        g = torch.optim.Adam(self.generator.parameters(), lr=0.05)
        d = torch.optim.SGD(self.discriminator.parameters(), lr=0.1, momentum=0.9)
        return [g, d], []


class Plain(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 1)

    def training_step(self, batch, batch_idx):
        return self.layer(batch).pow(2).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


class Chunks(LightningModule):
    truncated_bptt_steps = 2

    def __init__(self):
        super().__init__()
        self.rnn = torch.nn.GRU(1, 3, batch_first=True)

    def training_step(self, batch, batch_idx, hiddens):
        (x,) = batch
        out, hiddens = self.rnn(x, hiddens)
        return {"loss": out.pow(2).mean() * 20, "hiddens": hiddens}

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)
"""
SCRIPT = """\
import argparse

import torch
from pytorch_lightning import Trainer

import models

# SETTINGS


def main():
    data = torch.randn(10, 3)
    # BUILD
    # comment
    trainer.fit(model, torch.utils.data.DataLoader(data, batch_size=2))


if __name__ == "__main__":
    main()
"""
GIVEN = {"gradient_clip_val": 0.2, "accumulate_grad_batches": 2}
DICT = ("config = {'trainer': %r}" % GIVEN, "trainer = Trainer(max_epochs=2, **config['trainer'])")  # noqa: UP031
ARGUMENTS = (
    "parser = argparse.ArgumentParser()\n"
    "parser.add_argument('--gradient_clip_val', type=float, default=0.2)\n"
    "parser.add_argument('--accumulate_grad_batches', type=int, default=2)\n"
    "args = parser.parse_args([])",
    "trainer = Trainer(max_epochs=2, **vars(args))",
)
VARIABLE = (
    "CLIP, EVERY = 0.2, 2",
    "trainer = Trainer(max_epochs=2, gradient_clip_val=CLIP, accumulate_grad_batches=EVERY)",
)
ALGORITHM = (
    "config = {'gradient_clip_val': 0.02, 'gradient_clip_algorithm': 'value'}",
    "trainer = Trainer(max_epochs=2, **config)",
)


UNNAMED = ("config = {'gradient_clip_val': 0.2}", "trainer = Trainer(max_epochs=2, **config)")


def program(settings: str, build: str, model: str = "model = models.GAN()") -> dict[str, str]:
    text = SCRIPT.replace("# SETTINGS", settings).replace("# BUILD", f"{model}\n    {build}")
    return {"models.py": MODEL, "train.py": text}


@pytest.mark.parametrize("given", [DICT, ARGUMENTS, VARIABLE, ALGORITHM], ids=["dict", "argparse", "variable", "value"])
def test_what_the_trainer_gets_reaches_the_model(given: tuple[str, str]) -> None:
    before = program(*given)
    old, new = same(before, rewritten(before), logged=False)
    assert old.automatic
    assert new.automatic is False
    assert old.global_step == (20 if given is ALGORITHM else 12)


@pytest.mark.parametrize("name", ["GAN", "Plain"])
def test_a_trainer_of_any_model_goes_on_to_clip_for_the_others(name: str) -> None:
    before = program(*DICT, model=f"model = getattr(models, {name!r})()")
    after = rewritten(before)
    assert after["train.py"].count("and not model.automatic_optimization:") == 2
    old, new = same(before, after, logged=False)
    assert (old.automatic, new.automatic) == (True, name == "Plain")


def test_chunks_are_clipped_by_what_a_configuration_says() -> None:
    config = "config = {'gradient_clip_val': 0.2}"
    before = program(config, "trainer = Trainer(max_epochs=2, **config)", "model = models.Chunks()")
    before["train.py"] = before["train.py"].replace(
        "torch.randn(10, 3)", "torch.utils.data.TensorDataset(torch.randn(6, 5, 1))"
    )
    old, new = same(before, rewritten(before))
    assert old.global_step == new.global_step == 18
    assert old.automatic
    assert new.automatic is False


def test_a_trainer_from_parsed_arguments_hands_over_too() -> None:
    files = program("args = parse()", "trainer = Trainer.from_argparse_args(args, gradient_clip_val=args.clip)")
    after = run_rules(files, rule("OPT001")).final()["train.py"].decode()
    assert (
        "model.gradient_clip_val, trainer.gradient_clip_val = trainer.gradient_clip_val, None\n    trainer.fit("
        in after
    )
    assert "gradient_clip_val=args.clip" in after


def test_a_model_without_a_name_gets_one() -> None:
    before = program(*UNNAMED, model="# here")
    before["train.py"] = before["train.py"].replace("trainer.fit(model,", "trainer.fit(models.GAN(),")
    after = rewritten(before)
    assert "    model = models.GAN()\n    model.gradient_clip_val, trainer" in after["train.py"]
    assert "    trainer.fit(model, torch" in after["train.py"]
    _, new = same(before, after)
    assert new.automatic is False


TWICE = "model = models.GAN()\n    trainer.fit(model, torch.utils.data.DataLoader(data, batch_size=5))"
LOOPED = "for _ in range(2):\n        trainer.fit(model, data)\n    trainer = None"


@pytest.mark.parametrize(
    "build",
    [
        f"trainer = Trainer(**config['trainer'])\n    {TWICE}",
        "trainer = Trainer(**config['trainer'])\n    " + LOOPED,
        "trainer = helper(Trainer(**config['trainer']))",
        "trainer = Trainer(**config['trainer'])\n    helper(trainer)\n    trainer = 1",
        "trainer = Trainer(**config['trainer'])\n    other_trainer().fit(model)",
    ],
    ids=["fitted twice", "in a loop", "passed on", "bound twice", "another Trainer"],
)
def test_where_it_would_be_handed_over_twice_or_not_at_all_it_is_left(build: str) -> None:
    files = program(DICT[0], build)
    made = run_rules(files, unsafe=True)
    assert made.bugs == ()
    assert b"automatic_optimization" not in made.final().get("train.py", b"")
    reasons = [finding.reason for finding in made.findings if finding.code == "OPT001" and finding.path == "models.py"]
    assert len(reasons) == 1
    assert "grad_batches is also in train.py" in reasons[0]
