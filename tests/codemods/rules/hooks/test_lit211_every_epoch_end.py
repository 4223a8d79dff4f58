"""LIT211: on_epoch_end of modules that have the hooks of their stages too."""

from __future__ import annotations

import pytest

from codemods.engine.plan import plan
from codemods.engine.scan import Options
from tests.codemods.support import rule, run_rules, sources
from tests.training import train

LIT = rule("LIT211")
MODULE = """\
import torch
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)
        self.seen = []

    def training_step(self, batch, batch_idx):
        return self.layer(batch).mean()

    def validation_step(self, batch, batch_idx):
        return self.layer(batch).mean()

    def on_train_epoch_end(self):
        self.seen.append("train")

    def on_validation_epoch_end(self):
        for name in ("validation", "checked"):
            self.seen.append(name)

    def on_epoch_end(self):
        self.seen.append("any")
"""
CALL = "        self.on_epoch_end()\n"
PINNED = ("pytorch-lightning>=1.4,<1.8",)


def made(text: str, pins: tuple[str, ...] = PINNED, unsafe: bool = False, **files: str) -> tuple[list[str], str]:
    """The levels of what is found in a file, and what becomes of it."""
    given = {"a.py": text, **{f"{name}.py": more for name, more in files.items()}}
    done = run_rules(given, LIT, pins=pins, unsafe=unsafe)
    final = done.final()
    after = final["a.py"].decode() if "a.py" in final else text
    return [found.fix for found in done.findings if found.path == "a.py"], after


def test_each_hook_calls_it() -> None:
    levels, after = made(MODULE)
    wanted = MODULE.replace('append("train")\n', f'append("train")\n{CALL}').replace(
        "append(name)\n", f"append(name)\n{CALL}"
    )
    assert (levels, after) == (["safe"], wanted)
    assert made(after) == ([], after)


@pytest.mark.parametrize("pins", [(), ("pytorch-lightning>=1.0",), ("pytorch-lightning==1.1.8",)])
def test_training_is_taken_to_be_meant_where_a_release_called_it_there_alone(pins: tuple[str, ...]) -> None:
    assert made(MODULE, pins) == (["unsafe"], MODULE)
    assert made(MODULE, pins, unsafe=True)[1] == MODULE.replace('append("train")\n', f'append("train")\n{CALL}')


def test_a_callback_with_one_makes_it_unsafe() -> None:
    head = "from pytorch_lightning import Callback\n\n\n"
    callback = f"{head}class Show(Callback):\n    def on_epoch_end(self, a, b):\n        ...\n"
    assert made(MODULE, callback=callback)[0] == ["unsafe"]


def test_metrics_that_are_logged_make_it_unsafe() -> None:
    logging = MODULE.replace("        return self.layer(batch).mean()\n", "        self.log('a', self.accuracy)\n", 1)
    assert made(logging)[0] == ["unsafe"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            '        self.seen.append("train")\n',
            '        if self.seen:\n            return\n        self.seen = ["train"]\n',
        ),
        ('        self.seen.append("train")\n', "        raise RuntimeError\n"),
        ("    def on_validation_epoch_end(self):", "    def other(self):"),
        ("    def on_epoch_end(self):", "    def on_epoch_end(self, more=1):"),
        ('self.seen.append("any")', "super().on_epoch_end()"),
    ],
    ids=["ends early", "never ends", "a stage without a hook", "takes more", "calls its base class"],
)
def test_left(old: str, new: str) -> None:
    assert old in MODULE
    assert made(MODULE.replace(old, new))[0] == ["manual"]


def test_a_relative_with_one_of_the_hooks_is_left() -> None:
    child = "from a import Model\n\n\nclass Child(Model):\n    def on_train_epoch_end(self):\n        pass\n"
    assert made(MODULE, child=child)[0] == ["manual"]


OLD = MODULE.replace("    def on_train_epoch_end(self)", "    def training_epoch_end(self, outputs)").replace(
    "    def on_validation_epoch_end(self)", "    def validation_epoch_end(self, outputs)"
)


def test_the_hooks_that_get_outputs_call_it_once_they_are_rewritten() -> None:
    options = Options(rules=(rule("LIT201"), LIT), pins=PINNED)
    done = plan(sources({"a.py": OLD}), options)
    after = done.final()["a.py"].decode()
    assert after.count(CALL) == 2 and "outputs" not in after


RUN = """

def main():
    data = torch.utils.data.DataLoader(torch.ones(4, 2), batch_size=2)
    model = Model()
    model.configure_optimizers = lambda: torch.optim.SGD(model.parameters(), lr=0.1)
    trainer = Trainer(max_epochs=2, num_sanity_val_steps=0, logger=False, enable_checkpointing=False)
    trainer.fit(model, data, data)
    return model.seen
"""


def test_it_runs_behind_each_hook() -> None:
    text = made(MODULE.replace("import LightningModule", "import LightningModule, Trainer") + RUN)[1]
    done = train({"train.py": text}, script=None, module="train", function="main")
    assert done.failure is None, done.failure
    assert done.returned == ["validation", "checked", "any", "train", "any"] * 2
