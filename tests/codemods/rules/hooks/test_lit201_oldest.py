"""LIT201: the names that the hooks had up to 0.6, which 0.9 still called."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from lightning.pytorch import Trainer
from torch.utils.data import DataLoader

from tests.codemods.support import refusals, rule, run_rules

MODEL = """\
import torch
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)
        self.seen = []

    def validation_step(self, batch, batch_nb):
        return {"error": self.layer(batch).mean().detach()}

    def validation_end(self, outputs):
        self.seen.append(torch.stack([output["error"] for output in outputs]))
        return {"log": {"error": self.seen[-1].mean()}}

    def test_step(self, batch, batch_nb):
        return {"size": len(batch)}

    def test_end(self, outputs):
        self.seen.append([output["size"] for output in outputs])
"""
PIN = "pytorch-lightning==0.6.0"


def fixed(text: str, *pins: str, unsafe: bool = False) -> str:
    rules = rule("LIT201"), rule("LIT213")
    after = run_rules({"a.py": text}, *rules, unsafe=unsafe, pins=pins).final()["a.py"].decode()
    assert run_rules({"a.py": after}, *rules, unsafe=unsafe, pins=pins).changes == ()
    return after


def test_the_results_reach_the_hook() -> None:
    names: dict[str, Any] = {}
    exec(fixed(MODEL, PIN).replace("pytorch_lightning", "lightning.pytorch"), names)
    model, data = names["Model"](), DataLoader(torch.randn(6, 2), batch_size=4)
    trainer = Trainer(logger=False, enable_checkpointing=False, enable_progress_bar=False, accelerator="cpu")
    (shown,) = trainer.validate(model, data, verbose=False)
    trainer.test(model, data, verbose=False)
    assert len(model.seen[0]) == 2 and model.seen[1] == [4, 2]
    assert shown["error"] == pytest.approx(float(model.seen[0].mean()))
    assert not (model.validation_step_outputs or model.test_step_outputs)


@pytest.mark.parametrize(
    ("pins", "level"),
    [
        ((PIN,), "safe"),
        (("pytorch-lightning==0.9.0",), "safe"),
        (("pytorch-lightning>=1.2",), "unsafe"),
        ((), "unsafe"),
    ],
)
def test_where_no_pin_admits_a_release_that_called_them_it_is_brought_back(pins: tuple[str, ...], level: str) -> None:
    made = run_rules({"a.py": MODEL}, rule("LIT201"), pins=pins)
    assert {finding.fix for finding in made.findings} == {level}
    assert all(("since 1.0" in finding.reason) is (level == "unsafe") for finding in made.findings)
    assert "def on_test_epoch_end(self):" in fixed(MODEL, *pins, unsafe=True)


OF_LIGHTNING = "from pytorch_lightning import LightningModule\n"
TRAINED = """\
from a import Model
from pytorch_lightning import Trainer

Trainer({}).fit(Model())
"""


@pytest.mark.parametrize(
    "text",
    [
        MODEL.replace(OF_LIGHTNING, "from pytorch_lightning import LightningModule, data_loader\n"),
        MODEL.replace(OF_LIGHTNING, f"{OF_LIGHTNING}from pytorch_lightning.logging import TestTubeLogger\n"),
        MODEL.replace(OF_LIGHTNING, f"{OF_LIGHTNING}import pytorch_lightning.root_module.hooks\n"),
        MODEL.replace(OF_LIGHTNING, f"import pytorch_lightning as pl\n{OF_LIGHTNING}")
        + "\n    @pl.data_loader\n    def train_dataloader(self):\n        pass\n",
        MODEL + "\n\ndef main():\n    pytorch_lightning.Trainer(early_stop_callback=False).fit(Model())\n",
    ],
)
def test_a_file_that_no_later_release_can_run_is_as_sure_as_a_pin(text: str) -> None:
    text = text if "    pytorch_lightning." not in text else f"import pytorch_lightning\n{text}"
    made = run_rules({"a.py": text}, rule("LIT201"))
    assert [finding.fix for finding in made.findings] == ["safe", "safe"]
    newer = run_rules({"a.py": text}, rule("LIT201"), pins=("pytorch-lightning>=1.2",))
    assert [finding.fix for finding in newer.findings] == ["unsafe", "unsafe"]


@pytest.mark.parametrize(
    "text",
    [
        MODEL.replace(OF_LIGHTNING, f"{OF_LIGHTNING}from pytorch_lightning.loggers import TestTubeLogger\n"),
        MODEL.replace(OF_LIGHTNING, f"{OF_LIGHTNING}from other.logging import TestTubeLogger\n"),
        MODEL + "\n\ndef old():\n    from pytorch_lightning import data_loader\n",
        MODEL + "\n\ntry:\n    from pytorch_lightning import data_loader\nexcept ImportError:\n    pass\n",
        MODEL + "\n\nimport pytorch_lightning as pl\n\npl.Trainer(gpus=1, checkpoint_callback=False)\n",
        MODEL + "\n\nimport pytorch_lightning as pl\n\nif pl.__version__ < '1':\n    pl.Trainer(use_amp=True)\n",
    ],
)
def test_a_file_that_later_releases_run_too_stays_unsafe(text: str) -> None:
    made = run_rules({"a.py": text}, rule("LIT201"))
    assert {finding.fix for finding in made.findings} == {"unsafe"}


@pytest.mark.parametrize(
    ("given", "level"),
    [
        (("early_stop_callback=None",), "safe"),
        (("max_nb_epochs=1, gpus=0", "use_amp=True"), "safe"),
        (("gpus=0",), "unsafe"),
        (("use_amp=True", "gpus=0"), "unsafe"),
    ],
)
def test_what_trains_a_class_tells_of_it_where_each_does(given: tuple[str, ...], level: str) -> None:
    training = {f"train_{index}.py": TRAINED.format(each) for index, each in enumerate(given)}
    others = {"other.py": TRAINED.format("use_amp=True").replace("from a import", "from b import")}
    made = run_rules({"a.py": MODEL, **training, **others}, rule("LIT201"))
    assert {finding.fix for finding in made.findings} == {level}


def test_a_class_with_the_later_name_keeps_that_and_the_older_one_is_named() -> None:
    later = "    def validation_epoch_end(self, outputs):\n        pass\n\n    def test_step"
    both = MODEL.replace("    def test_step", later)
    made = run_rules({"a.py": both}, rule("LIT201"), rule("LIT211"), unsafe=True)
    left = [finding for finding in made.findings if finding.fix == "manual"]
    assert [finding.code for finding in left] == ["LIT211"] and "hook that replaced it" in left[0].reason
    after = made.final()["a.py"].decode()
    assert "def validation_end(self, outputs)" in after and "def on_validation_epoch_end(self)" in after


OLDER = """\
import pytorch_lightning as pl


class Base(pl.LightningModule):
    def validation_end(self, outputs):
        self.done = True


"""
NEWER = """\
class Model(Base):
    def validation_epoch_end(self, outputs):
        self.size = len(outputs)
"""


@pytest.mark.parametrize(
    "files",
    [
        {"a.py": OLDER + NEWER},
        {"a.py": OLDER.replace("_end", "_epoch_end") + NEWER.replace("_epoch_end", "_end")},
        {"base.py": OLDER, "a.py": f"from base import Base\n\n\n{NEWER}"},
    ],
)
def test_a_relative_with_the_other_name_keeps_it_too(files: dict[str, str]) -> None:
    made = run_rules(files, rule("LIT201"), pins=(PIN,), unsafe=True)
    assert made.bugs == () and made.changes == ()
    assert [item.fix for item in made.findings] == ["manual", "manual"]
    told = " ".join(item.reason for item in made.findings)
    assert "a base class or subclass, defines validation_end" in told
    assert "a base class or subclass, defines validation_epoch_end" in told


def test_one_rule_speaks_of_them() -> None:
    made = run_rules({"a.py": MODEL}, rule("LIT201"), rule("LIT211"))
    assert {finding.code for finding in made.findings} == {"LIT201"}


def test_what_calls_them_by_name_keeps_them() -> None:
    text = MODEL + "\n\nprint(Model().test_end([]))\n"
    assert all("test_end" in reason for reason in refusals({"a.py": text}, "LIT201"))


@pytest.mark.parametrize(
    "text",
    [
        MODEL.replace("(LightningModule)", "(torch.nn.Module)"),
        "import pytorch_lightning\nfrom ours import Case\n\n\nclass Cases(Case):\n    def test_end(self):\n        1\n",
        MODEL.replace("validation_end", "after_validation").replace("test_end", "after_test"),
    ],
)
def test_no_hooks_of_a_module(text: str) -> None:
    made = run_rules({"a.py": text}, rule("LIT201"))
    assert made.findings == () and made.changes == ()


GIVEN = '{"error": self.layer(batch).mean().detach()}'


@pytest.mark.parametrize(
    ("given", "read", "refused"),
    [
        ("self.layer(batch).mean()", 'output["error"]', True),
        ("self.layer(batch).mean()", "output", False),
        ("self.layer(batch).mean()", "output[0]", False),
        ("self.shared(batch)", 'output["error"]', False),
        ("(self.layer(batch).mean(), batch)", 'output["error"]', False),
        (GIVEN, 'output["error"]', False),
    ],
)
def test_a_hook_that_would_fail_is_not_brought_back(given: str, read: str, refused: bool) -> None:
    text = MODEL.replace(GIVEN, given).replace('output["error"]', read)
    reasons = refusals({"a.py": text}, "LIT201")
    assert any("which is a tensor: called again, it would fail" in reason for reason in reasons) is refused
