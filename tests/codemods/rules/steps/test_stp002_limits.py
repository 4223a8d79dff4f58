"""STP002: schedulers that take `trainer.max_steps`, or choose between it and a count, and epochs by the step."""

from __future__ import annotations

import pytest

from codemods.rules.steps.stp002 import NEVER, RULE
from codemods.rules.steps.stp003 import RULE as TAKEN_FOR
from tests.codemods.rules.steps.test_stp002 import EST, levels, method
from tests.codemods.support import rewritten, run_rules

SCHEDULER = [
    "optimizer = torch.optim.SGD(self.parameters(), lr=0.1)",
    "scheduler = OneCycleLR(optimizer, 0.1, total_steps=%s)",
    'return [optimizer], [{"scheduler": scheduler, "interval": "step"}]',
]
COUNT = "self.trainer.max_epochs * len(self.trainer.datamodule.train_dataloader())"
LIMIT = "self.trainer.max_steps"
EPOCHS = "\n\ntrainer = Trainer(max_epochs=3)\ntrainer.fit(Model())\n"
STEPS = "\n\ntrainer = Trainer(max_steps=3)\ntrainer.fit(Model())\n"


def scheduled(total: str) -> str:
    return method(*SCHEDULER) % total


def project(total: str, trainer: str = EPOCHS) -> str:
    return scheduled(total).replace("import LightningModule", "import LightningModule, Trainer") + trainer


@pytest.mark.parametrize(
    "total",
    [
        f"{LIMIT} if {LIMIT} else {COUNT}",
        f"{LIMIT} if {LIMIT} > 0 else {COUNT}",
        f"({LIMIT} if {LIMIT} != -1 else {COUNT})",
        f"{COUNT} if {LIMIT} == -1 else {LIMIT}",
        f"{COUNT} if not {LIMIT} else {LIMIT}",
        f"{COUNT} if {LIMIT} is None else {LIMIT}",
    ],
)
def test_a_limit_where_it_is_given_and_a_count_else_is_lightnings_count(total: str) -> None:
    made = run_rules({"train.py": scheduled(total)}, RULE, TAKEN_FOR)
    assert made.bugs == ()
    assert [finding.code for finding in made.findings] == ["STP002"]
    assert made.final()["train.py"].decode() == scheduled(EST)


@pytest.mark.parametrize("total", [f"{LIMIT} if {LIMIT} > 100 else {COUNT}", f"{LIMIT} if {LIMIT} == -1 else {COUNT}"])
def test_another_choice_is_not_taken_for_one(total: str) -> None:
    assert rewritten({"train.py": scheduled(total)}, RULE)["train.py"] != scheduled(EST)


@pytest.mark.parametrize("total", [LIMIT, f"({LIMIT})"])
def test_a_limit_that_no_trainer_is_given(total: str) -> None:
    ((level, message, _),) = levels(project(total))
    assert (level, message) == ("safe", NEVER)
    assert rewritten({"train.py": project(total)}, RULE)["train.py"] == project(EST)


def test_a_limit_that_gets_a_name_first() -> None:
    text = method(f"total_steps = {LIMIT}", *SCHEDULER).replace("import LightningModule", "import *") % "total_steps"
    assert rewritten({"train.py": text + EPOCHS}, RULE)["train.py"] == (text + EPOCHS).replace(LIMIT, EST)


@pytest.mark.parametrize(
    ("text", "others"),
    [
        (project(LIMIT, STEPS), {}),
        (project(LIMIT), {"other": "from pytorch_lightning import Trainer\n\ntrainer = Trainer(max_steps=5)\n"}),
        (project(LIMIT), {"other": 'parser.add_argument("--max_steps")\n'}),
        (project(LIMIT, EPOCHS.replace("max_epochs=3", "**settings")), {}),
        (scheduled(LIMIT), {}),
        (project(f"{LIMIT} if {LIMIT} > 0 else 100"), {}),
        (project(f"min({LIMIT}, 100)"), {}),
    ],
)
def test_a_limit_that_may_be_given(text: str, others: dict[str, str]) -> None:
    assert levels(text, **others) == []


CYCLE = "OneCycleLR(optimizer, 0.1, epochs={}, steps_per_epoch={})"


def cycle(epochs: str, steps: str) -> str:
    return method(
        SCHEDULER[0], "batches = len(self.train_loader)", f"scheduler = {CYCLE.format(epochs, steps)}", SCHEDULER[2]
    )


def test_epochs_that_are_called_so_by_the_batches_of_one() -> None:
    ((level, _, reason),) = levels(cycle("self.hparams.max_epochs", "batches"))
    assert level == "unsafe"
    assert "`self.hparams.max_epochs` is the Trainer's max_epochs" in reason
    made = rewritten({"train.py": cycle("self.hparams.max_epochs", "batches")}, RULE, unsafe=True)["train.py"]
    assert f"OneCycleLR(optimizer, 0.1, total_steps={EST})" in made


def test_steps_of_an_epoch_from_elsewhere_are_named() -> None:
    ((level, _, reason),) = levels(cycle("self.epochs", "self.steps_per_epoch"))
    assert level == "manual"
    assert "where `self.steps_per_epoch` comes from" in reason


@pytest.mark.parametrize(("epochs", "steps"), [("10", "batches"), ("self.hparams.max_epochs", "100"), ("n", "m")])
def test_numbers_that_say_nothing_are_left(epochs: str, steps: str) -> None:
    assert levels(cycle(epochs, steps)) == []
