"""Which release the tree before has to be older than, by what is found in it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from codemods.code.source import Source
from codemods.engine.scan import Options
from codemods.rule import all_rules
from codemods.rules.hooks.lit210 import RULE as HOOKS
from codemods.rules.trainer.lit120 import RULE, rows
from fixer.proof import broken_in
from tests.codemods.support import run_rules

OPEN = ("pytorch-lightning>=1.2.1",)


def below(text: str, pins: tuple[str, ...] = OPEN) -> str | None:
    found = run_rules({"train.py": text}, RULE, pins=pins).findings
    return broken_in(found, Options(rules=all_rules()), pins, ())


@pytest.mark.parametrize(
    ("attribute", "limit"),
    [
        ("root_gpu", "1.8.0"),
        ("lr_schedulers", "1.8.0"),
        ("resume_from_checkpoint", "2.0.0"),
        ("disable_validation", "1.6.0"),
        ("use_ddp", "2.0.0"),
    ],
)
def test_an_attribute_that_went_in_a_minor_asks_for_an_older_one(attribute: str, limit: str) -> None:
    assert attribute in rows()
    text = f"import pytorch_lightning as pl\n\ntrainer = pl.Trainer()\nprint(trainer.{attribute})\n"
    assert below(text) == limit


@pytest.mark.parametrize(
    ("hook", "limit"),
    [
        ("on_train_batch_end(self, trainer, module, outputs, batch, batch_idx, dataloader_idx)", "1.7.0"),
        ("on_train_epoch_end(self, trainer, module, outputs)", "1.5.0"),
        ("on_train_epoch_end(self, trainer, module)", None),
    ],
)
def test_an_argument_of_a_hook_asks_for_a_release_that_gives_it(hook: str, limit: str | None) -> None:
    text = f"import pytorch_lightning as pl\n\n\nclass Watch(pl.Callback):\n    def {hook}:\n        print()\n"
    found = run_rules({"train.py": text}, HOOKS, pins=OPEN).findings
    assert broken_in(found, Options(rules=all_rules()), OPEN, ()) == limit


@pytest.mark.parametrize(
    ("given", "limit"),
    [
        ("gpus=1", "2.0.0"),
        ("gpus=1, weights_save_path='x'", "1.8.0"),
        ("gpus=1, weights_summary='top', weights_save_path='x'", "1.7.0"),
        ("gpus=1, distributed_backend='ddp'", "1.5.0"),
        ("distributed_backend='ddp', enable_progress_bar=False, weights_save_path='x'", "1.8.0"),
    ],
)
def test_an_argument_of_a_trainer_asks_for_a_release_that_takes_it(given: str, limit: str) -> None:
    files = {"train.py": f"import pytorch_lightning as pl\n\ntrainer = pl.Trainer({given})\n"}
    every = all_rules()
    sources = [Source(path, "python", text.encode()) for path, text in files.items()]
    found = run_rules(files, *every, pins=OPEN).findings
    assert broken_in(found, Options(rules=every), OPEN, sources) == limit


def test_one_that_the_pins_do_not_admit_asks_for_nothing() -> None:
    text = "import pytorch_lightning as pl\n\ntrainer = pl.Trainer()\nprint(trainer.root_gpu)\n"
    assert below(text, ("pytorch-lightning==1.9.5",)) == "2.0.0"


CALLBACK = """import pytorch_lightning as pl


class Watch(pl.Callback):
    def on_train_epoch_end(self, trainer, module, outputs):
        print(trainer.root_gpu)
"""


@pytest.mark.parametrize(
    ("given", "limit"),
    [
        ("max_epochs=1, progress_bar_refresh_rate=0", "1.5.0"),
        ("enable_checkpointing=False", "1.8.0"),
        ("use_distributed_sampler=False", None),
        ("my_own=1, **more", "1.5.0"),
    ],
)
def test_one_on_which_a_trainer_does_not_take_its_arguments_is_none(given: str, limit: str | None) -> None:
    files = {"old.py": CALLBACK, "train.py": f"import pytorch_lightning as pl\n\ntrainer = pl.Trainer({given})\n"}
    found = [each for rule in (RULE, HOOKS) for each in run_rules(files, rule, pins=OPEN).findings]
    options = Options(rules=(replace(RULE, breaks_in=None), replace(HOOKS, breaks_in=None)))
    sources = [Source(path, "python", text.encode()) for path, text in files.items()]
    assert broken_in(found, options, OPEN, sources) == limit
