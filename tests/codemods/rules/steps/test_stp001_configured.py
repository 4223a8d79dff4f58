"""STP001 in configurations: numbers of steps with the epochs that they come to, and interpolations."""

from __future__ import annotations

import pytest

from codemods.engine.plan import Plan
from codemods.finding import Finding
from codemods.rules.steps.stp001 import RULE
from tests.codemods.support import run_rules
from tests.training import train

DATA = """\
import torch
from pytorch_lightning import LightningDataModule
from torch.utils.data import DataLoader, TensorDataset


class Data(LightningDataModule):
    def __init__(self, batch_size: int = 32, drop_last: bool = True):
        super().__init__()
        self.batch_size = batch_size
        self.drop_last = drop_last

    def train_dataloader(self):
        data = TensorDataset(torch.randn(2500, 2))
        return DataLoader(data, batch_size=self.batch_size, drop_last=self.drop_last)
"""
CLI = "from data import Data\nfrom model import Model\nfrom pytorch_lightning.cli import LightningCLI\n\n"
CLI += "LightningCLI({})\n"
CONFIG = "trainer:\n  max_steps: 40\n  max_epochs: 10\n  accumulate_grad_batches: 8\ndata:\n"
OWN = CONFIG + "  class_path: data.Data\n  init_args:\n    batch_size: 64\n"
GIVEN = CONFIG + "  batch_size: 64\n"
GROUPS = {
    "configs/train.yaml": "defaults:\n  - trainer: default\n  - data: own\n",
    "configs/trainer/default.yaml": (
        "_target_: pytorch_lightning.Trainer\nmax_epochs: 10\naccumulate_grad_batches: 8\nmax_steps: 40\n"
    ),
    "configs/data/own.yaml": "_target_: data.Data\nbatch_size: 64\n",
    "data.py": DATA,
}
ENDS = "max_steps=40 ends training after 8 epochs, before max_epochs=10 (50 steps)"
COUNTED = "On one device an epoch is 39 batches and 5 steps"


def plan_of(files: dict[str, str], unsafe: bool = True) -> Plan:
    made = run_rules(files, RULE, unsafe=unsafe)
    assert made.bugs == ()
    return made


def finding(files: dict[str, str]) -> Finding:
    made = plan_of(files)
    assert made.changes == ()
    (found,) = made.findings
    assert found.fix == "manual"
    return found


@pytest.mark.parametrize(
    "files",
    [
        {"config.yaml": OWN, "data.py": DATA},
        {"config.yaml": GIVEN, "data.py": DATA, "main.py": CLI.format("Model, Data")},
        {"config.yaml": GIVEN, "data.py": DATA, "main.py": CLI.format("model_class=Model, datamodule_class=Data")},
        {"config.yaml": OWN.replace(" 64", " ${size}") + "size: 64\n", "data.py": DATA},
        GROUPS,
    ],
    ids=["class path", "LightningCLI", "LightningCLI by name", "a setting of its own", "Hydra"],
)
def test_a_number_that_ends_training_early(files: dict[str, str]) -> None:
    found = finding(files)
    assert found.message == ENDS and found.reason.startswith(COUNTED)


def test_what_it_says_is_what_training_does() -> None:
    program = f"""{DATA}
from pytorch_lightning import LightningModule, Trainer


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)

    def training_step(self, batch, batch_idx):
        return self.layer(batch[0]).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main():
    trainer = Trainer(max_steps=40, max_epochs=10, accumulate_grad_batches=8)
    trainer.fit(Model(), Data(batch_size=64))
    return [trainer.global_step, trainer.current_epoch]
"""
    record = train({"train.py": program}, script=None)
    assert record.failure is None and record.returned == [40, 8]


def test_several_devices_and_no_other_limit() -> None:
    text = OWN.replace("  max_epochs: 10\n", "  devices: 2\n")
    found = finding({"config.yaml": text, "data.py": DATA})
    assert found.message == "max_steps=40 comes to 13 epochs and 1 of 3 steps"
    assert found.reason.startswith("On 2 devices an epoch is 19 batches and 3 steps")


SILENT = {
    "no data": {"config.yaml": OWN},
    "a section of something else": {"config.yaml": OWN.replace("trainer:", "loop:"), "data.py": DATA},
    "a limit of batches": {"config.yaml": OWN.replace("data:", "  limit_train_batches: 3\ndata:"), "data.py": DATA},
    "enough": {"config.yaml": OWN.replace(" 40", " 50"), "data.py": DATA},
    "no limit": {"config.yaml": OWN.replace(" 40", " -1"), "data.py": DATA},
    "a size that is not told": {"config.yaml": OWN.replace(" 64", " !size x"), "data.py": DATA},
    "a length that is not seen": {"config.yaml": OWN, "data.py": DATA.replace("2500", "size()")},
    "two data modules": {"config.yaml": OWN + "other:\n  class_path: more.Data\n", "data.py": DATA, "more.py": DATA},
    "another Trainer": {"config.yaml": OWN.replace("trainer:", "trainer:\n  _target_: own.Loop"), "data.py": DATA},
}


@pytest.mark.parametrize("name", SILENT)
def test_what_cannot_be_told_is_not(name: str) -> None:
    assert plan_of(SILENT[name]).findings == ()


COMPUTED = "trainer:\n  devices: 2\n  max_steps: {}\nseed: 1\n"
TOTALS = {
    "eval": "${eval:'${data.num_samples} // ${data.batch_size} * ${epochs}'}",
    "accumulation": "${eval:'${data.num_samples} // (${data.batch_size} * ${accumulate}) * ${epochs}'}",
    "resolvers": "${mul:${epochs},${floordiv:${data.num_samples},${data.batch_size}}}",
    "batches": "${mul:${data.num_batches},${epochs}}",
}


@pytest.mark.parametrize("name", TOTALS)
def test_an_interpolation_that_means_epochs(name: str) -> None:
    text = COMPUTED.format(TOTALS[name])
    made = plan_of({"conf.yaml": text})
    assert [item.fix for item in made.findings] == ["unsafe"]
    assert made.final()["conf.yaml"].decode() == "trainer:\n  devices: 2\n  max_epochs: ${epochs}\nseed: 1\n"
    assert plan_of({"conf.yaml": text}, unsafe=False).changes == ()


def test_an_interpolation_of_the_trainer_s_own_epochs_goes() -> None:
    text = COMPUTED.format(TOTALS["eval"].replace("epochs", "trainer.max_epochs")).replace("devices", "max_epochs")
    assert plan_of({"conf.yaml": text}).final()["conf.yaml"].decode() == "trainer:\n  max_epochs: 2\nseed: 1\n"


REFUSED = {
    "another limit": (COMPUTED.format(TOTALS["eval"]).replace("devices", "max_epochs"), {}),
    "read elsewhere": (COMPUTED.format(TOTALS["eval"]), {"model.py": "def f(t):\n    return t.trainer.max_steps\n"}),
    "a resolver of its own": (COMPUTED.format("${steps:${epochs},${data}}"), {}),
    "in braces": (f"trainer: {{max_steps: '{TOTALS['batches']}', devices: 2}}\n", {}),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_an_interpolation_that_stays(name: str) -> None:
    text, others = REFUSED[name]
    assert finding({"conf.yaml": text, **others}).span.line in (1, 3)


@pytest.mark.parametrize(
    ("steps", "more", "reason"),
    [
        (
            "${eval:'${per_epoch.steps_per_epoch} * ${epochs}'}",
            "per_epoch:\n  steps_per_epoch: 1000\n",
            "a fixed number",
        ),
        ("${eval:'${data.train_size} // ${data.batch_size} * ${epochs}'}", "", "limit_train_batches makes"),
        ("${eval:'min(${data.train_size} // ${data.batch_size}, 9) * ${epochs}'}", "", "in one case it is another"),
    ],
)
def test_what_max_epochs_would_not_keep_is_refused(steps: str, more: str, reason: str) -> None:
    limit = "  limit_train_batches: 0.5\n" if reason.startswith("limit") else ""
    text = f"trainer:\n  _target_: pytorch_lightning.Trainer\n{limit}  max_steps: {steps}\n{more}"
    (found,) = run_rules({"conf.yaml": text}, RULE).findings
    assert found.fix == "manual" and reason in found.reason
