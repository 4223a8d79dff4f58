"""LIT212: the state of a callback, saved and loaded by a run, and the callbacks that are left."""

from __future__ import annotations

import pytest

from codemods.rules.hooks.lit212 import BEFORE
from tests.codemods.support import refusals, rewritten, rule, run_rules
from tests.training import train

LIT = rule("LIT212")
PROGRAM = """\
import tempfile

import torch
from pytorch_lightning import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset

from count import Count


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

    def training_step(self, batch, batch_idx):
        return self.layer(batch[0]).pow(2).mean()


def main():
    loader = DataLoader(TensorDataset(torch.arange(12.0).view(6, 2) / 10), batch_size=2)
    first, second = Count(), Count()
    with tempfile.TemporaryDirectory() as folder:
        trainer = Trainer(max_epochs=1, callbacks=[first])
        trainer.fit(Model(), loader)
        trainer.save_checkpoint(f"{folder}/a.ckpt")
        Trainer(max_epochs=2, callbacks=[second]).fit(Model(), loader, ckpt_path=f"{folder}/a.ckpt")
    return [first.seen, second.seen]
"""
COUNT = BEFORE + "\n    def on_train_batch_end(self, *given):\n        self.seen += 1\n"


def test_the_state_is_kept() -> None:
    files = {"train.py": PROGRAM, "count.py": COUNT}
    how = {"script": None, "module": "train", "function": "main"}
    for release in ("1.8.6", "target"):
        broken = train(files, release, **how)  # type: ignore[arg-type]
        assert broken.failure is not None and broken.failure.type in ("KeyError", "RuntimeError")
    alone = {**files, "count.py": COUNT.replace("on_load_checkpoint", "on_load")}
    assert train(alone, **how).returned == [3, 3]  # type: ignore[arg-type]
    kept = train(rewritten(files, LIT), **how)  # type: ignore[arg-type]
    assert kept.failure is None, kept.failure
    assert kept.returned == [3, 6]


def test_a_head_of_several_lines_of_which_one_name_is_left_is_one_line() -> None:
    text = BEFORE.replace(
        "(self, trainer, pl_module, checkpoint)", "(\n        self, trainer, pl_module, checkpoint\n    )"
    )
    assert "    def state_dict(self):\n" in rewritten({"count.py": text}, LIT)["count.py"]


ABOVE = "super().on_save_checkpoint(trainer, pl_module, checkpoint)"
ALONE = BEFORE[: BEFORE.index("    def on_load_checkpoint")]
LEFT = {
    "asks the module": ("self.seen}", "pl_module.seen}", "does not get"),
    "asks the checkpoint": (
        '        return {"seen"',
        '        checkpoint["a"] = 1\n        return {"seen"',
        "does not get",
    ),
    "asks the Trainer when loading": ('["seen"]', '["seen"] + trainer.global_step', "does not get"),
    "not always": ('        return {"seen"', '        if self.seen:\n            return {"seen"', "not always"),
    "calls its base class": ('{"seen": self.seen}', "super().on_save_checkpoint(1, 2, 3)", "base class"),
    "has the new one": ("    def __init__", "    def state_dict(self):\n        ...\n\n    def __init__", "already"),
    "any arguments": ("(self, trainer, pl_module, checkpoint)", "(self, *given)", "three parameters"),
    "called by name": ("self.seen = 0", "self.on_save_checkpoint(1, 2, 3)", "used by name"),
}


@pytest.mark.parametrize("case", LEFT.values(), ids=LEFT.keys())
def test_left_with_the_reason(case: tuple[str, str, str]) -> None:
    old, new, reason = case
    assert old in BEFORE
    assert reason in refusals({"count.py": BEFORE.replace(old, new, 1)}, "LIT212")[0]


def test_a_subclass_elsewhere_with_a_hook_of_its_own_forbids_it() -> None:
    child = "from count import Count\n\n\nclass Child(Count):\n    def on_load_checkpoint(self, *given):\n        ...\n"
    assert "Child" in refusals({"count.py": BEFORE, "child.py": child}, "LIT212")[0]


@pytest.mark.parametrize(
    "text",
    [
        BEFORE.replace("(Callback)", "(LightningModule)").replace("import Callback", "import LightningModule"),
        BEFORE.replace('return {"seen": self.seen}', "return checkpoint"),
        BEFORE.replace('return {"seen": self.seen}', 'checkpoint["seen"] = self.seen'),
        ALONE.replace('{"seen": self.seen}', ABOVE),
        ALONE.replace(
            '        return {"seen": self.seen}',
            f"        state = {ABOVE}\n        print('saved')\n        return state",
        ),
    ],
    ids=["a module", "what it was given", "written into the checkpoint", "what is above", "what is above, by a name"],
)
def test_untouched(text: str) -> None:
    assert run_rules({"count.py": text}, LIT).findings == ()


@pytest.mark.parametrize(
    "text",
    [
        ALONE.replace('return {"seen": self.seen}', f"return {{**{ABOVE}, 'seen': self.seen}}"),
        ALONE.replace(
            '        return {"seen": self.seen}',
            f"        state = {ABOVE}\n        state['seen'] = self.seen\n        return state",
        ),
        ALONE.replace('return {"seen": self.seen}', "return other.on_save_checkpoint(trainer, pl_module, checkpoint)"),
    ],
)
def test_more_than_what_is_above_is_told(text: str) -> None:
    assert [item.code for item in run_rules({"count.py": text}, LIT).findings] == ["LIT212"]


@pytest.mark.parametrize(
    "body", ["self.seen = callback_state['seen']", "super().on_load_checkpoint(t, m, callback_state)"]
)
def test_a_state_that_the_class_above_saves_is_told(body: str) -> None:
    head = "from pytorch_lightning.callbacks import EarlyStopping\n\n\nclass Stop(EarlyStopping):\n"
    hook = f"    def on_load_checkpoint(self, t, m, callback_state):\n        {body}\n"
    (found,) = run_rules({"stop.py": head + hook}, rule("LIT212")).findings
    assert (found.fix, found.span.line) == ("manual", 5)
    whole = hook.replace("callback_state", "checkpoint")
    assert run_rules({"stop.py": head + whole}, rule("LIT212")).findings == ()
    assert (
        run_rules({"stop.py": head.replace("pytorch_lightning.callbacks", "elsewhere") + hook}, rule("LIT212")).findings
        == ()
    )
