"""LIT122: several loggers, read on the newest release, and what is no collection of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lightning.pytorch import Trainer
from lightning.pytorch.loggers import CSVLogger

from codemods.rules.trainer.lit122 import RULE
from tests.codemods.support import refusals, rewritten, run_rules

HEAD = "from pytorch_lightning import Callback, LightningModule, Trainer\n\n\n"
MODEL = HEAD + "class Model(LightningModule):\n    def read(self, other):\n        {}\n"
WATCH = HEAD + "class Watch(Callback):\n    def on_fit_end(self, trainer, pl_module):\n        {}\n"
FREE = HEAD + "def show(trainer{}):\n    {}\n"


def after(text: str, unsafe: bool = False) -> str:
    return rewritten({"a.py": text}, RULE, unsafe=unsafe)["a.py"]


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        ("return self.logger[1].name", "return self.loggers[1].name"),
        ("return self.logger.experiment[-1].log_dir", "return self.loggers[-1].experiment.log_dir"),
        ("return [it.name for it in self.logger]", "return [it.name for it in self.loggers]"),
        (
            "for it in self.logger.experiment: print(it)",
            "for it in [logger.experiment for logger in self.loggers]: print(it)",
        ),
        (
            "return list(enumerate(self.logger.experiment))",
            "return list(enumerate([logger.experiment for logger in self.loggers]))",
        ),
        ("return len(self.logger)", "return len(self.loggers)"),
        ("return self.logger[int(not other)].name", "return self.loggers[int(not other)].name"),
        ("return self.logger[:2]", "return self.loggers[:2]"),
        ("return self.logger.experiment[other]", "return self.logger.experiment[other]"),
        ("return self.logger[f'{other}/loss']", "return self.logger[f'{other}/loss']"),
        ("first, second = self.logger", "first, second = self.loggers"),
        ("return self.trainer.logger.experiment[0]", "return self.trainer.loggers[0].experiment"),
        ("return self.logger and self.logger[0]", "return self.logger and self.loggers[0]"),
        ("if self.logger: return self.logger[0]", "if self.logger: return self.loggers[0]"),
    ],
)
def test_what_is_read_of_several(before: str, wanted: str) -> None:
    assert after(MODEL.format(before)) == MODEL.format(wanted)


def test_it_fails_before_and_reads_all_after(tmp_path: Path) -> None:
    text = MODEL.format("return self.logger.experiment[1], [it.name for it in self.logger]")
    trainer = Trainer(logger=[CSVLogger(tmp_path, name="one"), CSVLogger(tmp_path, name="two")], accelerator="cpu")
    models = []
    for each in (text, after(text)):
        space: dict[str, Any] = {}
        exec(each.replace("pytorch_lightning", "lightning.pytorch"), space)
        models.append(space["Model"]())
        models[-1].trainer = trainer
    with pytest.raises(TypeError):
        models[0].read(None)
    experiment, names = models[1].read(None)
    assert experiment is trainer.loggers[1].experiment and names == ["one", "two"]


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        ("print(trainer.logger[0])", "print(trainer.loggers[0])"),
        ("print(pl_module.logger.experiment[0])", "print(pl_module.loggers[0].experiment)"),
        ("print(pl_module.trainer.logger[0])", None),
    ],
)
def test_in_a_callback(before: str, wanted: str | None) -> None:
    new = WATCH.format(before.replace("logger", "loggers") if wanted is None else wanted)
    assert after(WATCH.format(before), unsafe=wanted is None) == new


@pytest.mark.parametrize(("note", "level"), [("", "unsafe"), (": Trainer", "safe")])
def test_what_is_called_a_trainer_is_taken_for_one(note: str, level: str) -> None:
    text = FREE.format(note, "for it in trainer.logger: print(it)")
    (found,) = run_rules({"a.py": text}, RULE).findings
    assert found.fix == level
    assert after(text, unsafe=True) == text.replace("trainer.logger", "trainer.loggers")
    assert run_rules({"a.py": text.replace(HEAD, "").replace(": Trainer", "")}, RULE).findings == ()


@pytest.mark.parametrize(
    "text",
    [
        MODEL.format("self.logger.experiment['loss'].log(other)"),
        MODEL.format("self.logger.experiment[other].log(1)"),
        MODEL.format("self.logger.experiment.add_text('a', 'b')"),
        MODEL.format("return self.loggers[0]"),
        MODEL.format("return other.logger[0], other.logger.experiment[0]"),
        MODEL.format("self.logger = other; return self.logger[0]"),
        MODEL.format("return self.logger[0]") + "\n    def logger(self):\n        return []\n",
        MODEL.format("self.logger[0] = other"),
        MODEL.format("return self.logger[0]").replace("(LightningModule)", ""),
        WATCH.format("return self.logger[0]"),
        WATCH.format("return len(trainer.logger.name)"),
    ],
)
def test_what_is_no_list_of_loggers_stays(text: str) -> None:
    assert run_rules({"a.py": text}, RULE, unsafe=True).findings == ()


@pytest.mark.parametrize("asked", ["self.logger", "self.logger.experiment"])
def test_what_asks_what_it_is_stays(asked: str) -> None:
    text = MODEL.format(f"if isinstance({asked}, list): return [it for it in {asked}]")
    (reason,) = refusals({"a.py": text}, "LIT122")
    assert "a condition asks its type" in reason


def test_under_a_question_for_the_collection_one_rule_rewrites() -> None:
    text = (
        "from pytorch_lightning import Trainer\nfrom pytorch_lightning.loggers import LoggerCollection\n\n\n"
        "def show(trainer: Trainer):\n    if isinstance(trainer.logger, LoggerCollection):\n"
        "        for it in trainer.logger:\n            print(it)\n"
    )
    made = run_rules({"a.py": text}, unsafe=True)
    assert {item.code for item in made.findings} == {"LIT001"} and made.bugs == ()
    assert "for it in trainer.loggers:" in made.final()["a.py"].decode()


@pytest.mark.parametrize(("loggers", "told"), [("[one, two]", 1), ("[one]", 0), ("one", 0)])
def test_what_all_were_given_to_log_is_named(loggers: str, told: int) -> None:
    text = MODEL.format("self.logger.log_metrics({'a': 1}); self.logger.experiment.flush(); self.log('a', 1)")
    made = run_rules({"a.py": f"{text}\n\nTrainer(logger={loggers})\n"}, RULE, unsafe=True)
    assert made.changes == ()
    assert ["give it to each of `loggers`" in item.reason for item in made.findings] == [True] * told


def test_a_key_that_may_be_no_number_is_assumed_to_be_one() -> None:
    text = MODEL.format("return self.logger[other].name")
    assert after(text) == text
    assert after(text, unsafe=True) == MODEL.format("return self.loggers[other].name")


def test_a_trainer_of_the_projects_asks_itself() -> None:
    text = HEAD + (
        "class Folds(Trainer):\n    def fit(self, model):\n        for it in self.logger:\n            it.save()\n"
        "        return self.logger[0]\n"
    )
    wanted = text.replace("self.logger", "self.loggers")
    assert after(text) == wanted
    own = text.replace("    def fit", "    logger = ()\n\n    def fit")
    assert after(own) == own
