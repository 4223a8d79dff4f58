"""GRD008: a module's own `train`, called where the Trainer did, run, and what is left alone."""

from __future__ import annotations

import pytest

from codemods.engine.plan import plan
from codemods.engine.scan import Options
from tests.codemods.support import refusals, rewritten, rule, run_rules, sources
from tests.training import same

GRD = rule("GRD008")
PROGRAM = """\
import torch
from pytorch_lightning import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 2)
        self.norm = torch.nn.BatchNorm1d(2)

    def train(self, mode: bool = True):
        super().train(mode)
        self.norm.eval()
        return self

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

    def training_step(self, batch, batch_idx):
        return self.norm(self.layer(batch[0])).pow(2).sum()

    def validation_step(self, batch, batch_idx):
        self.log("error", self.norm(self.layer(batch[0])).sum())


if __name__ == "__main__":
    loader = DataLoader(TensorDataset(torch.arange(12.0).view(6, 2) / 10), batch_size=2)
    Trainer(max_epochs=2).fit(Model(), loader, loader)
"""
OLD = ("pytorch-lightning==1.9.5",)
HOOKS = """\
    def on_train_start(self):
        self.train()

    def on_validation_model_train(self):
        self.train()

    def train(self, mode: bool = True):
"""


def made(files: dict[str, str], pins: tuple[str, ...] = OLD) -> dict[str, str]:
    return {path: data.decode() for path, data in plan(sources(files), Options((GRD,), pins=pins)).final().items()}


def levels(files: dict[str, str], pins: tuple[str, ...] = OLD) -> list[str]:
    return [item.fix for item in plan(sources(files), Options((GRD,), pins=pins)).findings]


def test_it_trains_as_it_did() -> None:
    before = {"train.py": PROGRAM}
    after = made(before)
    same(before, after)
    with pytest.raises(AssertionError):
        same(before, before)


def test_layout() -> None:
    assert made({"a.py": PROGRAM})["a.py"] == PROGRAM.replace("    def train(self, mode: bool = True):\n", HOOKS)


def test_a_hook_that_is_there_begins_with_it() -> None:
    text = PROGRAM.replace(
        "    def train(", '    def on_train_start(self):\n        """Says so."""\n        print()\n\n    def train('
    )
    after = made({"a.py": text})["a.py"]
    assert '        """Says so."""\n        self.train()\n        print()\n' in after
    assert after.count("def on_train_start") == 1 and after.count("def on_validation_model_train") == 1


def test_a_mode_without_a_default_is_given() -> None:
    text = PROGRAM.replace("mode: bool = True", "mode")
    assert "self.train(True)" in made({"a.py": text})["a.py"]


def test_a_callback_that_begins_too_may_set_modes_in_front() -> None:
    watch = "\n\nclass Watch(Callback):\n    def on_train_start(self, trainer, pl_module):\n        pl_module.eval()\n"
    text = "from pytorch_lightning import Callback\n" + PROGRAM + watch
    assert levels({"a.py": text}) == ["unsafe"]
    assert levels({"a.py": text.replace("on_train_start(self, t", "on_train_end(self, t")}) == ["safe"]


@pytest.mark.parametrize(
    ("pins", "level"),
    [
        (OLD, "safe"),
        (("pytorch-lightning>=2.3",), "unsafe"),
        (("pytorch-lightning>=1.9,<3",), "unsafe"),
        ((), "unsafe"),
    ],
)
def test_levels(pins: tuple[str, ...], level: str) -> None:
    assert levels({"a.py": PROGRAM}, pins) == [level]


@pytest.mark.parametrize(
    "text",
    [
        PROGRAM.replace("        self.norm.eval()\n", ""),
        PROGRAM.replace("        super().train(mode)\n", ""),
        PROGRAM.replace("(LightningModule)", ""),
        PROGRAM.replace(
            "    def configure", "    def on_train_epoch_start(self):\n        self.norm.eval()\n\n    def configure"
        ),
        PROGRAM.replace(
            "        super().train(mode)\n        self.norm.eval()\n        return self\n",
            "        return super().train(mode)\n",
        ),
    ],
    ids=["nothing more", "no mode", "no module", "set by a hook", "passed on"],
)
def test_untouched(text: str) -> None:
    assert text != PROGRAM
    assert levels({"a.py": text}) == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("    def on_validation_model_train(self):\n        print()\n\n", "has on_validation_model_train already"),
        ("    @logged\n    def on_train_start(self):\n        print()\n\n", "not an ordinary method"),
    ],
)
def test_left_with_the_reason(text: str, reason: str) -> None:
    [said] = refusals({"a.py": PROGRAM.replace("    def train(", f"{text}    def train(")}, "GRD008")
    assert reason in said


def test_a_train_that_takes_more_is_left() -> None:
    text = PROGRAM.replace("mode: bool = True", "epochs, mode: bool = True")
    assert levels({"a.py": text}) == ["manual"]


def test_a_relative_with_a_hook_of_its_own() -> None:
    below = "from a import Model\n\n\nclass More(Model):\n    def on_train_start(self):\n        print()\n"
    [said] = refusals({"a.py": PROGRAM, "b.py": below}, "GRD008")
    assert "More has on_train_start too" in said


PART = """\
import torch


class Norm(torch.nn.Module):
    def train(self, mode=True):
        super().train(mode)
        self.inner.eval()


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = Norm()
"""
HOLDER = """\
from parts import Net
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.net = Net()

    def training_step(self, batch, batch_idx):
        return self.net(batch)
"""


def test_a_part_of_a_module_is_named() -> None:
    [found] = run_rules({"parts.py": PART, "model.py": HOLDER}, GRD).findings
    assert found.path == "parts.py" and "Model (model.py) is built of it" in found.reason
    assert run_rules({"parts.py": PART, "model.py": HOLDER.replace("Net()", "None")}, GRD).findings == ()
    hook = HOLDER + "\n    def on_train_epoch_start(self):\n        self.net.train()\n"
    assert run_rules({"parts.py": PART, "model.py": hook}, GRD).findings == ()


def test_rewritten_by_itself() -> None:
    assert rewritten({"a.py": PROGRAM}, GRD, unsafe=True)["a.py"].count("self.train()") == 2


SETS, RAISES = "            super().train(mode)\n", "        else:\n            raise ValueError\n"
GUARDS = {
    "one arm sets it": (f"        if mode in (True, False):\n{SETS}{RAISES}", 0),
    "refused before": (
        "        if mode not in (True, False):\n            raise ValueError\n        super().train(mode)\n",
        0,
    ),
    "sets more in the arm": (f"        if mode:\n{SETS}            self.norm.eval()\n{RAISES}", 1),
    "sets it in some cases": (f"        if mode:\n{SETS}", 1),
    "another mode else": (f"        if mode:\n{SETS}        else:\n            self.norm.train()\n", 1),
}


@pytest.mark.parametrize(("lines", "found"), GUARDS.values(), ids=GUARDS)
def test_a_method_that_only_refuses_besides_is_as_torchs(lines: str, found: int) -> None:
    text = PROGRAM.replace("        super().train(mode)\n        self.norm.eval()\n", lines)
    assert text != PROGRAM
    assert len(levels({"train.py": text})) == found
