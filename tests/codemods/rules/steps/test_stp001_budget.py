"""STP001: what a plain number of steps comes to, and settings that are followed. The numbers are those that training
counts."""

from __future__ import annotations

import pytest

from codemods.finding import Finding
from codemods.rules.steps.stp001 import RULE
from tests.codemods.support import rewritten, run_rules
from tests.training import Case, train_many

HEAD = """\
import argparse
import dataclasses
import math
import torch
from pytorch_lightning import LightningDataModule, LightningModule, Trainer
from torch.utils.data import DataLoader, Dataset, Subset, TensorDataset, random_split


class Data(Dataset):
    def __init__(self, width, size=24):
        self.width = width
        self.size = size

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        return torch.zeros(self.width)


class Module(LightningDataModule):
    def __init__(self, batch_size=4, drop_last=False):
        super().__init__()
        self.save_hyperparameters()
        self.batch_size = batch_size

    def setup(self, stage=None):
        self.train_set, self.val_set = random_split(Data(1, 30), [23, 7])

    def train_dataloader(self):
        return DataLoader(self.train_set, batch_size=self.batch_size, drop_last=self.hparams.drop_last)


@dataclasses.dataclass
class Config:
    width: int
    batch_size: int = 5
    epochs: int = 2
    num_samples: int = 21


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)

    def training_step(self, batch, batch_idx):
        return self.layer(batch).sum()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.001)


"""
CASES = {
    "a dataset of the project": (
        "max_steps=7",
        "DataLoader(Data(1, 13), batch_size=4)",
        "max_steps=7 comes to 1 epoch and 3 of 4 steps",
        (7, 2),
    ),
    "its default length": ("max_steps=6", "DataLoader(Data(1), 4)", "max_steps=6 comes to 1 epoch", (6, 1)),
    "accumulation": (
        "max_steps=6, accumulate_grad_batches=3",
        "DataLoader(Data(1), batch_size=4)",
        "max_steps=6 comes to 3 epochs",
        (6, 3),
    ),
    "a part": (
        "max_steps=3, max_epochs=-1",
        "DataLoader(Subset(Data(1), range(9)), batch_size=4, drop_last=True)",
        "max_steps=3 comes to 1 epoch and 1 of 2 steps",
        (3, 2),
    ),
    "a data module": ("max_steps=6", "Module()", "max_steps=6 comes to 1 epoch", (6, 1)),
    "what it is given": (
        "max_steps=6, max_epochs=3",
        "Module(drop_last=True, batch_size=5)",
        "max_steps=6 ends training after 1 epoch and 2 of 4 steps, before max_epochs=3 (12 steps)",
        (6, 2),
    ),
    "a record of settings": (
        "max_steps=8",
        "DataLoader(Data(1), batch_size=Config(1).batch_size)",
        "max_steps=8 comes to 1 epoch and 3 of 5 steps",
        (8, 2),
    ),
    "settings of its own": (
        "max_steps=8",
        "DataLoader(Data(1), batch_size=Config(1, 8).batch_size)",
        "max_steps=8 comes to 2 epochs and 2 of 3 steps",
        (8, 3),
    ),
}


def script(arguments: str, loader: str, *lines: str) -> str:
    before = "".join(f"    {line}\n" for line in lines)
    return (
        HEAD
        + f"def main():\n{before}    loader = {loader}\n    trainer = Trainer({arguments})\n"
        + "    trainer.fit(Model(), loader)\n"
    )


def findings(text: str, **files: str) -> tuple[Finding, ...]:
    made = run_rules({"train.py": text} | {path.replace("__", "/"): other for path, other in files.items()}, RULE)
    assert made.changes == () and made.bugs == ()
    return made.findings


def test_what_is_said_is_what_training_counts() -> None:
    texts = [script(arguments, loader) for arguments, loader, _, _ in CASES.values()]
    said = [[found.message for found in findings(text)] for text in texts]
    assert said == [[message] for _, _, message, _ in CASES.values()]
    made = train_many([(Case({"train.py": text}, script=None), "target") for text in texts])
    assert [record.failure for record in made] == [None] * len(texts)
    counted = [(record.global_step, record.epoch) for record in made]
    assert counted == [expected for _, _, _, expected in CASES.values()]


def test_each_of_two_devices_has_half_an_epoch() -> None:
    found = findings(script("max_steps=7, devices=2", "DataLoader(Data(1), batch_size=4)"))
    assert [item.message for item in found] == ["max_steps=7 comes to 2 epochs and 1 of 3 steps"]
    assert "On 2 devices an epoch is 3 batches" in found[0].reason


ARGUMENTS = (
    "parser = argparse.ArgumentParser()",
    'parser.add_argument("--max-steps", type=int, default=40)',
    'parser.add_argument("--batch_size", type=int, default=3)',
    "args = parser.parse_args()",
)


def test_defaults_of_a_command_line_are_named() -> None:
    loader = "DataLoader(Data(1), batch_size=args.batch_size)"
    (found,) = findings(script("max_steps=args.max_steps", loader, *ARGUMENTS))
    assert (found.fix, found.message) == ("manual", "max_steps=40 comes to 5 epochs")
    assert "fixer assumed the defaults of these options: `args.max_steps`, `args.batch_size`." in found.reason


HYDRA = script("max_steps=cfg.trainer.max_steps", "DataLoader(Data(1), batch_size=cfg.data.batch_size)").replace(
    "def main():", '@hydra.main(config_path="conf", config_name="config")\ndef main(cfg):'
)
GROUPS = {
    "conf__config.yaml": "defaults:\n  - data: small\n  - _self_\ntrainer:\n  max_steps: 9\n",
    "conf__data__small.yaml": "batch_size: 8\n",
}


def test_hydra_s_configuration_is_read() -> None:
    (found,) = findings("import hydra\n" + HYDRA, **GROUPS)
    assert found.message == "max_steps=9 comes to 3 epochs"
    assert "`cfg.trainer.max_steps`, `cfg.data.batch_size`" in found.reason
    own = GROUPS["conf__config.yaml"] + "data:\n  batch_size: 12\n"
    (found,) = findings("import hydra\n" + HYDRA, **GROUPS | {"conf__config.yaml": own})
    assert found.message == "max_steps=9 comes to 4 epochs and 1 of 2 steps"


def test_omegaconf_s_file_is_read() -> None:
    loaded = HYDRA.split("@hydra")[0] + 'from omegaconf import OmegaConf\n\ncfg = OmegaConf.load("run.yaml")\n\n\n'
    text = loaded + HYDRA.split('config")\n')[1].replace("main(cfg)", "main()")
    (found,) = findings(text, **{"run.yaml": "trainer:\n  max_steps: 9\ndata:\n  batch_size: 8\n"})
    assert found.message == "max_steps=9 comes to 3 epochs"


@pytest.mark.parametrize(
    ("arguments", "loader"),
    [
        ("max_steps=7", "DataLoader(Data(1, size), batch_size=4)"),
        ("max_steps=7", "DataLoader(Data(1), batch_size=args.batch_size)"),
        ("max_steps=7", "DataLoader(Data(1), sampler=sampler)"),
        ("max_steps=7, limit_train_batches=3", "DataLoader(Data(1))"),
        ("max_steps=7", "Loader(Data(1))"),
        ("max_steps=7", "Module(*given)"),
        ("max_steps=-1", "DataLoader(Data(1))"),
        ("max_steps=50, max_epochs=2", "DataLoader(Data(1))"),
        ("max_steps=7, max_epochs=epochs", "DataLoader(Data(1))"),
    ],
)
def test_what_cannot_be_computed_is_not_named(arguments: str, loader: str) -> None:
    assert findings(script(arguments, loader)) == ()


def test_a_length_that_is_assigned_twice_is_not_computed() -> None:
    text = script("max_steps=7", "DataLoader(Data(1), batch_size=4)")
    twice = text.replace("        self.size = size\n", "        self.size = size\n        self.size = 2\n")
    assert findings(twice) == ()


FORMULA = "\n    @property\n    def max_steps(self):\n        return {}\n"
TOTAL = "self.num_samples // self.batch_size * self.epochs"


def with_formula(formula: str, arguments: str = "max_steps=cfg.max_steps") -> str:
    text = script(arguments, "DataLoader(Data(1, 21), batch_size=5)", "cfg = Config(1)")
    return text.replace("    num_samples: int = 21\n", "    num_samples: int = 21\n" + FORMULA.format(formula))


def test_a_formula_of_a_record_of_settings_is_followed() -> None:
    before = with_formula(TOTAL)
    made = run_rules({"train.py": before}, RULE)
    assert [item.fix for item in made.findings] == ["unsafe"]
    after = rewritten({"train.py": before}, RULE, unsafe=True)["train.py"]
    assert after == before.replace("Trainer(max_steps=cfg.max_steps)", "Trainer(max_epochs=cfg.epochs)")
    cases = [(Case({"train.py": text}, script=None), "target") for text in (before, after)]
    old, new = train_many(cases)
    assert (old.global_step, old.epoch) == (8, 2)
    assert (new.global_step, new.epoch) == (10, 2)


@pytest.mark.parametrize("formula", ["self.num_samples // self.width", "self.epochs * scale", "100"])
def test_other_formulas_stay(formula: str) -> None:
    made = run_rules({"train.py": with_formula(formula)}, RULE, unsafe=True)
    assert made.changes == ()


def test_a_parameter_s_type_tells_its_settings() -> None:
    before = with_formula(TOTAL).replace("def main():\n    cfg = Config(1)\n", "def main(cfg: Config):\n")
    assert "Trainer(max_epochs=cfg.epochs)" in rewritten({"train.py": before}, RULE, unsafe=True)["train.py"]
