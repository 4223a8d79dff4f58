"""What classes of the project may answer for themselves is not taken for what Lightning's are."""

from __future__ import annotations

import pytest

from codemods.engine.rule_failures import is_failure
from tests.codemods.support import rule, run_rules

LOGGER = (
    "from pytorch_lightning.loggers import Logger\n\n\nclass Mine(Logger):\n    def __len__(self):\n        return 0\n"
)
PINS = ("pytorch-lightning==1.6.0",)
MODEL = (
    "from pytorch_lightning import LightningModule\n\n\nclass Model(LightningModule):\n"
    "    def on_fit_start(self):\n        self.logger.experiment[0].add_text('a', 'b')\n"
)


def levels(code: str, **files: str) -> set[str]:
    made = run_rules(
        {f"{name}.py": text for name, text in files.items()}, rule(code), pins=("pytorch-lightning==1.6.0",)
    )
    return {item.fix for item in made.findings}


def test_one_logger_of_the_project_may_be_counted() -> None:
    assert levels("LIT122", model=MODEL) == {"safe"}
    assert levels("LIT122", model=MODEL, logger=LOGGER) == {"unsafe"}
    several = MODEL + "\n\nfrom pytorch_lightning import Trainer\nTrainer(logger=[a, b])\n"
    assert levels("LIT122", model=several, logger=LOGGER) == {"safe"}


def test_a_logger_of_a_class_above_is_its_own() -> None:
    above = (
        "from pytorch_lightning import LightningModule\n\n\nclass Base(LightningModule):\n"
        "    @property\n    def logger(self):\n        return self.mine\n\n\n"
    )
    text = above + MODEL.partition("\n\n\n")[2].replace("(LightningModule)", "(Base)")
    assert levels("LIT122", model=text) == set()


def test_a_logger_that_counts_as_false_is_not_surely_kept() -> None:
    run = "from pytorch_lightning import Trainer\nlogger = make() if on else None\nTrainer(logger=logger)\n"
    assert levels("LIT119", run=run) == {"safe"}
    assert levels("LIT119", run=run, logger=LOGGER) == {"unsafe"}


def test_a_value_over_two_lines_is_looked_at_whole() -> None:
    run = "from pytorch_lightning import Trainer\nTrainer(logger=None if a and\n        b else make())\n"
    made = run_rules({"run.py": run}, rule("LIT119"), pins=PINS)
    assert not any(map(is_failure, made.findings))


@pytest.mark.parametrize(
    "more",
    ["        rows.sort(key=lambda s: s['name'])\n", "\n    def report(self, s):\n        print(s['name'])\n"],
)
def test_items_of_something_else_of_that_name_stay(more: str) -> None:
    text = (
        "from pytorch_lightning import LightningModule\n\n\nclass Model(LightningModule):\n"
        "    def on_fit_end(self):\n        for s in self.trainer.lr_schedulers:\n            s['scheduler'].step()\n"
    )
    made = run_rules({"a.py": text + more}, rule("LIT120")).final().get("a.py", b"").decode()
    assert "s.name" not in made


def test_a_parameter_of_that_name_is_no_trainer() -> None:
    text = (
        "from pytorch_lightning import Trainer\n\n\ndef build():\n    return Trainer(), 1\n\n\n"
        "def fit(m):\n    runner, n = build()\n    runner.fit(m)\n\n\n"
        "def look(runner):\n    return runner.training_type_plugin\n"
    )
    assert run_rules({"a.py": text}, rule("LIT120")).changes == ()
