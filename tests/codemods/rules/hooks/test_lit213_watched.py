"""LIT213: keys beside `log` and `progress_bar` that callbacks monitor, which up to 1.2 they could."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rule, run_rules

LIT = rule("LIT213")
TEXT = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def training_step(self, batch, batch_idx):
        loss = self(batch).mean()
        acc = (loss > 0).float()
        logs = {"train_loss": loss}
        return {"loss": loss, "acc": acc, "log": logs}
"""
HOOK = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def validation_epoch_end(self, outputs):
        logs = {"val_loss": outputs[0]}
        return {"count": len(outputs), "log": logs}
"""


def after(text: str, watching: str, path: str = "run.py") -> tuple[str, str]:
    """The level of what is found, and the module's text afterwards."""
    made = run_rules({"model.py": text, path: watching}, LIT, unsafe=True)
    assert made.bugs == ()
    [found] = [found for found in made.findings if found.path == "model.py"]
    return found.fix, made.final()["model.py"].decode()


@pytest.mark.parametrize(
    ("watching", "path"),
    [
        ("EarlyStopping('acc')\n", "run.py"),
        ("EarlyStopping(\n    monitor='acc', mode='max')\n", "run.py"),
        ("ModelCheckpoint(monitor = 'acc')\n", "run.py"),
        ("scheduler = {'scheduler': plateau, 'monitor': 'acc'}\n", "run.py"),
        ("print(trainer.callback_metrics['acc'])\n", "run.py"),
        ("print(trainer.callback_metrics.get('acc'))\n", "run.py"),
        ("stop:\n  monitor: acc\n", "run.yaml"),
    ],
)
def test_a_key_that_is_monitored_is_logged(watching: str, path: str) -> None:
    level, text = after(TEXT, watching, path)
    assert level == "safe"
    assert '        self.log("acc", acc, logger=False)\n        self.log_dict(logs)\n' in text
    assert 'return {"loss": loss, "acc": acc}' in text


def test_the_loss_that_is_monitored_is_logged() -> None:
    assert '        self.log("loss", loss, logger=False)\n' in after(TEXT, "EarlyStopping(monitor='loss')\n")[1]


@pytest.mark.parametrize(
    ("watching", "path"),
    [
        ("EarlyStopping('acc_5')\n", "run.py"),
        ("EarlyStopping('val/acc')\n", "run.py"),
        ("ModelCheckpoint(monitor='train_loss', name='acc')\n", "run.py"),
        ("acc = monitor\n", "run.py"),
        ("Write EarlyStopping('acc').\n", "README.md"),
    ],
)
def test_a_key_that_is_not_monitored_is_kept_alone(watching: str, path: str) -> None:
    level, text = after(TEXT, watching, path)
    assert level == "safe"
    assert "self.log(" not in text


def test_a_key_that_is_logged_besides_is_logged_once() -> None:
    text = after(TEXT.replace('"train_loss": loss', '"acc": acc'), "EarlyStopping('acc')\n")[1]
    assert "self.log(" not in text


def test_logs_that_are_not_written_out_may_have_the_key_too() -> None:
    level, text = after(TEXT.replace('{"train_loss": loss}', "self.logs(loss)"), "EarlyStopping('acc')\n")
    assert level == "unsafe"
    assert 'self.log("acc", acc, logger=False)' in text


def test_what_is_no_number_is_refused() -> None:
    text = TEXT.replace("acc = (loss > 0).float()", "acc = [1, 2]")
    assert "which self.log refuses" in refusals({"model.py": text, "run.py": "EarlyStopping('acc')\n"}, "LIT213")[0]


def test_what_is_worked_out_in_the_dict_is_not_worked_out_twice() -> None:
    files = {"model.py": TEXT.replace('"acc": acc', '"acc": self.metric(loss)'), "run.py": "EarlyStopping('acc')\n"}
    assert "worked out in the dict itself" in refusals(files, "LIT213")[0]


@pytest.mark.parametrize(("name", "logged"), [("count", True), ("counts", False)])
def test_a_key_of_a_hook(name: str, logged: bool) -> None:
    level, text = after(HOOK, f"ModelCheckpoint(monitor='{name}')\n")
    assert (level, 'self.log("count", len(outputs), logger=False)' in text) == ("unsafe", logged)


LOOKED_UP = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def test_epoch_end(self, outputs):
        logs, kept = self.collect(outputs)
        return {"kept": kept, "log": logs}

    def collect(self, outputs):
        kept = {"all": outputs}
        return {"n": len(outputs)}, kept
"""


@pytest.mark.parametrize(
    ("old", "new", "refused"),
    [
        ("kept = {", "kept = {", True),
        ('kept = {"all": outputs}', "kept = dict(all=outputs)", True),
        ('kept = {"all": outputs}', "kept = len(outputs)", False),
        ('"kept": kept', '"kept": {"all": kept}', True),
        ("logs, kept = self.collect(outputs)", "logs, kept = outputs", False),
        ("logs, kept = self.collect(outputs)", "kept, logs = self.collect(outputs)", True),
        ('return {"n": len(outputs)}, kept', "return kept, len(outputs)", False),
    ],
)
def test_a_dict_that_a_callback_looks_up_is_no_number(old: str, new: str, refused: bool) -> None:
    assert old in LOOKED_UP
    files = {"model.py": LOOKED_UP.replace(old, new), "run.py": "print(trainer.callback_metrics['kept'])\n"}
    told = [reason for reason in refusals(files, "LIT213") if "`kept`, which is looked up by name, is a dict" in reason]
    assert bool(told) is refused
