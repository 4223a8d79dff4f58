"""LIT112: Trainers that resume from a checkpoint and are never fitted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests import warm
from tests.codemods.support import rewritten, rule, run_rules
from tests.training.interpreters import python_for
from tests.verify.harness.test_standins import REAL
from verify.harness import main as harness

TEXT = """\
from pytorch_lightning import Trainer


def main(path, model, loader):
    trainer = Trainer(gpus=1, resume_from_checkpoint=path)
    trainer.test(model, test_dataloaders=loader)
    print(trainer.callback_metrics)
"""
WANTED = TEXT.replace(", resume_from_checkpoint=path", "").replace("=loader)", "=loader, ckpt_path=path)")


def test_what_is_tested_gets_it_where_the_doubt_is_accepted() -> None:
    for pins in ((), ("pytorch-lightning==1.1.0",), ("pytorch-lightning>=1.0",)):
        made = run_rules({"a.py": TEXT}, rule("LIT112"), pins=pins)
        assert made.changes == ()
        assert [item.fix for item in made.findings] == ["unsafe"]
    assert rewritten({"a.py": TEXT}, rule("LIT112"), unsafe=True)["a.py"] == WANTED
    assert rewritten({"a.py": WANTED}, rule("LIT112"), unsafe=True)["a.py"] == WANTED


@pytest.mark.parametrize("release", ["1.2.0", "1.4.9", "1.7.7"])
def test_a_lightning_that_loaded_it_to_fit_alone_did_nothing_with_it(release: str) -> None:
    made = run_rules({"a.py": TEXT}, rule("LIT112"), pins=(f"pytorch-lightning=={release}",))
    assert [item.fix for item in made.findings] == ["safe"]
    assert made.final()["a.py"].decode() == TEXT.replace(", resume_from_checkpoint=path", "")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("print(trainer.callback_metrics)", "trainer.fit(model)"),
        ("print(trainer.callback_metrics)", "run(trainer)"),
        ("print(trainer.callback_metrics)", "getattr(trainer, path)(model)"),
        ("test_dataloaders=loader", "loader, 'best'"),
        ("test_dataloaders=loader", "**loader"),
        ("test_dataloaders=loader", "ckpt_path='best'"),
        ("    trainer.test(", "    path = find()\n    trainer.test("),
        ("trainer.test(model, test_dataloaders=loader)", "print(model, loader)"),
    ],
)
def test_what_may_be_fitted_or_has_one_is_not_taken_for_tested(old: str, new: str) -> None:
    text = TEXT.replace(old, new, 1)
    assert text != TEXT
    after = rewritten({"a.py": text}, rule("LIT112"), unsafe=True)["a.py"]
    assert ".test(model, test_dataloaders=loader, ckpt_path=path)" not in after


def test_one_that_a_function_builds() -> None:
    text = (
        "from pytorch_lightning import Trainer\n\n\ndef build():\n    return Trainer(resume_from_checkpoint='a')\n\n\n"
    )
    after = rewritten({"a.py": f"{text}t = build()\nt.test(m)\n"}, rule("LIT112"), unsafe=True)["a.py"]
    wanted = text.replace("resume_from_checkpoint='a'", "")
    assert after == f"{wanted}t = build()\nt.test(m, ckpt_path='a')\n"


RUN = """\
import json, sys, warnings
import torch
from pytorch_lightning import LightningModule, Trainer
from torch.utils.data import DataLoader

warnings.simplefilter("ignore")


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1, bias=False)
        torch.nn.init.constant_(self.layer.weight, 1.0)
        self.seen = []

    def training_step(self, batch, batch_idx):
        return self.layer(batch).sum()

    def test_step(self, batch, batch_idx, dataloader_idx=0):
        self.seen.append(float(self.layer.weight))

    validation_step = predict_step = test_step

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)


loader = DataLoader(torch.ones(4, 1), batch_size=2)
trained = Model()
trainer = Trainer(max_epochs=1, limit_val_batches=0, logger=False)
trainer.fit(trained, loader)
trainer.save_checkpoint("kept.ckpt")
told = {}
for method in ("test", "validate", "predict"):
    model = Model()
    getattr(Trainer(logger=False, resume_from_checkpoint="kept.ckpt"), method)(model, loader)
    assert float(trained.layer.weight) != 1.0
    told[method] = {float(trained.layer.weight): "loaded", 1.0: "not"}[max(model.seen)]
open("told.json", "w").write(json.dumps(told))
"""


@pytest.mark.parametrize("release", ["1.4.9", "1.5.10", "1.8.6", "1.9.5"])
def test_no_later_release_loaded_it(release: str, tmp_path: Path) -> None:
    """What makes it safe to leave it out: it was loaded to fit alone. Releases up to 1.1 do not run on a Python of
    today."""
    (tmp_path / "start.py").write_text(REAL.format(harness=harness.__file__))
    (tmp_path / "probed.py").write_text(RUN)
    done = warm.program(tmp_path / "start.py", folder=tmp_path, python=python_for(release))
    assert done.returncode == 0, done.stdout
    assert json.loads((tmp_path / "told.json").read_text()) == dict.fromkeys(("test", "validate", "predict"), "not")
