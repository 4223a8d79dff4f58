"""LIT215: results that callbacks monitor are logged, run, and what is left alone."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rewritten, rule, run_rules
from tests.training import train

LIT = rule("LIT215")
PROGRAM = """\
import torch
from pytorch_lightning import LightningModule, Trainer
from pytorch_lightning.callbacks import EarlyStopping
from torch.utils.data import DataLoader, TensorDataset


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

    def training_step(self, batch, batch_idx):
        return self.layer(batch[0]).pow(2).mean()

    def validation_step(self, batch, batch_idx):
        return {"loss": self.layer(batch[0]).pow(2).mean()}

    def validation_epoch_end(self, outputs):
        losses = torch.stack([each["loss"] for each in outputs])
        average = losses.mean()
        return {'val_loss': average, "error": average / 2, "all": losses}

    test_step = validation_step

    def test_epoch_end(self, outputs):
        average = torch.stack([each["loss"] for each in outputs]).mean()
        result = dict(test_loss=average)
        return result


def main():
    stopping = EarlyStopping("val_loss", patience=1)
    second = EarlyStopping(monitor="error")
    trainer = Trainer(max_epochs=2, callbacks=[stopping, second])
    loader = DataLoader(TensorDataset(torch.arange(12.0).view(6, 2) / 10), batch_size=2)
    trainer.fit(Model(), loader, loader)
    return [float(stopping.best_score), float(second.best_score)]
"""


def test_what_is_monitored_is_found() -> None:
    before = {"train.py": PROGRAM}
    new = train(rewritten(before, LIT, rule("LIT201"), unsafe=True), script=None, module="train", function="main")
    assert new.failure is None, new.failure
    first, second = new.returned
    assert first == pytest.approx(2 * second)
    broken = train(rewritten(before, rule("LIT201")), script=None, module="train", function="main")
    assert "val_loss" in str(broken.failure)


def test_layout() -> None:
    after = rewritten({"train.py": PROGRAM}, LIT, unsafe=True)["train.py"]
    assert (
        "        self.log('val_loss', average, logger=False)\n"
        '        self.log("error", average / 2, logger=False)\n\n    test_step'
    ) in after
    assert '.mean()\n        self.log("test_loss", average, logger=False)\n\n\ndef main' in after


def test_others_may_ask_for_what_is_no_number() -> None:
    text = PROGRAM + "\n\ndef last(trainer):\n    return dict(trainer.callback_metrics)\n"
    assert [item.fix for item in run_rules({"train.py": text}, LIT).findings] == ["unsafe", "unsafe"]
    asked = PROGRAM + '\n\ndef last(trainer):\n    return trainer.callback_metrics["all"]\n'
    assert 'self.log("all", losses, logger=False)' in rewritten({"train.py": asked}, LIT, unsafe=True)["train.py"]


HOOK = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def validation_epoch_end(self, outputs):
        return {"val_loss": sum(outputs)}
"""
WATCHING = "from pytorch_lightning.callbacks import ModelCheckpoint\n\nsaved = ModelCheckpoint(monitor='val_loss')\n"
LOGGED = '        self.log("val_loss", sum(outputs), logger=False)\n'


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("callbacks.py", WATCHING),
        ("callbacks.py", WATCHING.replace("monitor='val_loss'", "'logs', monitor='val_loss'")),
        ("callbacks.py", 'def schedule(it):\n    return {"scheduler": it, "monitor": "val_loss"}\n'),
        ("callbacks.py", "def last(trainer):\n    return trainer.callback_metrics.get('val_loss')\n"),
        ("conf/callbacks.yaml", "checkpoint:\n  monitor: val_loss  # the mean\n  mode: min\n"),
        ("conf/callbacks.json", '{"stop": {\n  "monitor": "val_loss",\n  "mode": "min"}}\n'),
    ],
)
def test_where_it_is_looked_up(path: str, text: str) -> None:
    after = rewritten({"model.py": HOOK, path: text}, LIT, unsafe=True)
    assert after["model.py"] == HOOK.replace('        return {"val_loss": sum(outputs)}\n', LOGGED)


def test_a_result_that_others_ask_for_is_returned_too() -> None:
    below = "from model import Model\n\n\nclass More(Model):\n    def validation_epoch_end(self, outputs):\n"
    below += "        return super().validation_epoch_end(outputs)\n"
    after = rewritten({"model.py": HOOK, "more.py": below, "callbacks.py": WATCHING}, LIT, unsafe=True)["model.py"]
    assert after == HOOK.replace("        return", LOGGED + "        return")


@pytest.mark.parametrize(
    "text",
    [
        HOOK.replace("(LightningModule)", ""),
        HOOK.replace("val_loss", "loss"),
        HOOK.replace("validation_epoch_end", "validation_step"),
        HOOK.replace('{"val_loss": sum(outputs)}', "None"),
        HOOK.replace("        return", LOGGED + "        return"),
        HOOK.replace('{"val_loss"', '{"log": {"a": 1}, "val_loss"'),
        HOOK + "\n    def log_it(self, name, value):\n        self.log(name, value)\n",
        HOOK + '\n    def log_it(self, name, value):\n        self.log(f"{name}_loss", value)\n',
        HOOK + "\n    def log_it(self, values):\n        self.log_dict(values)\n",
    ],
    ids=[
        "no module",
        "another name",
        "a step",
        "nothing",
        "logged",
        "logged by its dict",
        "any name",
        "such a name",
        "any dict",
    ],
)
def test_untouched(text: str) -> None:
    assert run_rules({"model.py": text, "callbacks.py": WATCHING}, LIT, unsafe=True).findings == ()


def test_other_things_called_log_say_nothing() -> None:
    text = HOOK + "\n\ndef tell(logger, level, math, x):\n    logger.log(level, x)\n    return math.log(x, 2)\n"
    assert len(run_rules({"model.py": text, "callbacks.py": WATCHING}, LIT, unsafe=True).findings) == 1


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ('{"val_loss": sum(outputs)}', '{**self.more, "val_loss": 1}', "not written out"),
        ("return {", "result = {}\n        result['val_loss'] = 1\n        return result or {", "not written out"),
        ("    def ", "    @torch.no_grad()\n    def ", "not an ordinary method"),
        ("        return", '        self.log("more", 1)\n        return', "logs by itself"),
        ("    def ", "    def log(self):\n        ...\n\n    def ", "of its own"),
    ],
)
def test_left_with_the_reason(old: str, new: str, reason: str) -> None:
    assert old in HOOK
    [said] = refusals({"model.py": HOOK.replace(old, new, 1), "callbacks.py": WATCHING}, "LIT215")
    assert reason in said


def test_a_part_of_a_text_is_no_spelling_of_a_key() -> None:
    text = HOOK.replace("        return", '        print(f"val_loss{len(outputs)}")\n        return')
    after = rewritten({"model.py": text, "callbacks.py": WATCHING}, LIT, unsafe=True)["model.py"]
    assert 'self.log("val_loss", ' in after


RETURNING = """\
import torch
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def validation_epoch_end(self, outputs):
        mean = torch.stack([each["loss"] for each in outputs]).mean()
        return {"val_loss": mean}
"""
STOPPING = "from pytorch_lightning.callbacks import EarlyStopping\n\n"
SAVING = "from pytorch_lightning.callbacks import ModelCheckpoint\n\n"
REDUCING = "from torch.optim.lr_scheduler import ReduceLROnPlateau\n\n"


@pytest.mark.parametrize(
    "watching",
    [
        f"{STOPPING}callback = EarlyStopping(patience=3)\n",
        f"{REDUCING}scheduler = ReduceLROnPlateau(optimizer)\n",
        f"{SAVING}callback = ModelCheckpoint(save_top_k=3)\n",
    ],
)
def test_what_is_monitored_by_default_is_found(watching: str) -> None:
    files = {"model.py": RETURNING, "run.py": watching}
    after = rewritten(files, LIT, unsafe=True)["model.py"]
    assert after.endswith('        self.log("val_loss", mean, logger=False)\n')


@pytest.mark.parametrize(
    "watching",
    [
        f"{STOPPING}callback = EarlyStopping('val_acc')\n",
        f"{STOPPING}callback = EarlyStopping(**options)\n",
        f"{SAVING}callback = ModelCheckpoint(save_top_k=3, **options)\n",
        f"{SAVING}callback = ModelCheckpoint('logs', save_top_k=3)\n",
        f"{SAVING}callback = ModelCheckpoint(save_top_k=1)\n",
        f"{SAVING}callback = ModelCheckpoint(save_top_k=-1)\n",
        f"{REDUCING}scheduler = {{'scheduler': ReduceLROnPlateau(optimizer), 'monitor': name}}\n",
    ],
)
def test_what_may_be_told_otherwise_is_no_default(watching: str) -> None:
    made = run_rules({"model.py": RETURNING, "run.py": watching}, LIT)
    assert made.findings == () and made.changes == ()


def test_a_result_that_another_file_asks_for_is_returned_still() -> None:
    files = {"train.py": PROGRAM, "script.py": 'print(model.validation_epoch_end([])["error"])\n'}
    after = rewritten(files, LIT, unsafe=True)["train.py"]
    assert "self.log('val_loss', average, logger=False)" in after
    assert "return {'val_loss': average" in after and "return result" not in after
