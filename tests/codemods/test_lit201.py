"""LIT201: what is kept for the hook, where the list lives, and the traps that are left."""

from __future__ import annotations

import pytest

from codemods.hooks.lit201 import BEFORE
from tests.codemods.support import refusals, rewritten, rule, run_rules

LIT = rule("LIT201")
HOOK = "    def validation_epoch_end(self, outputs):\n"
STEP = "    def validation_step(self, batch, batch_idx):\n"
TRAIN = """\
import torch
from pytorch_lightning import LightningModule, Trainer


class Model(LightningModule):
    def __init__(self):
        super().__init__()

    def training_step(self, batch, batch_idx):
        loss = self.compute(batch)
        self.log("loss", loss)
        return loss

    def training_epoch_end(self, outputs):
        self.log("mean", torch.stack([output["loss"] for output in outputs]).mean())
"""


def changed(text: str, *replacements: tuple[str, str]) -> dict[str, str]:
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    return {"model.py": text}


REFUSED = {
    "several loaders": ((STEP, STEP.replace("batch_idx", "batch_idx, dataloader_idx=0")), "lists of lists"),
    "inherited step": ((STEP, STEP.replace("validation_step", "predict_step")), "does not define validation_step"),
    "step that returns nothing": (('return {"error":', 'self.last = {"error":'), "returns nothing"),
    "new hook there too": ((HOOK, "    def on_validation_epoch_end(self):\n        ...\n\n" + HOOK), "both"),
    "super call": ((HOOK, HOOK + "        super().validation_epoch_end(outputs)\n"), "base class"),
    "called by another hook": (
        (HOOK, "    def test_run(self, outs):\n        self.validation_epoch_end(outs)\n\n" + HOOK),
        "used by name",
    ),
    "step called by another": (
        (STEP, "    def test_step(self, b, i):\n        return self.validation_step(b, i)\n\n" + STEP),
        "used by name",
    ),
    "step end": ((HOOK, "    def validation_step_end(self, out):\n        return out\n\n" + HOOK), "changes what"),
    "name taken": ((HOOK, HOOK + "        self.validation_step_outputs = 1\n"), "already uses"),
    "decorated": ((HOOK, "    @torch.no_grad()\n" + HOOK), "plain method"),
    "odd constructor": (
        ("        super().__init__()\n", "        if True:\n            super().__init__()\n"),
        "__init__",
    ),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED.keys())
def test_refused_with_the_reason(case: tuple[tuple[str, str], str]) -> None:
    replacement, reason = case
    found = refusals(changed(BEFORE, replacement), "LIT201")
    assert len(found) == 1
    assert reason in found[0]


def test_training_outputs_are_dicts_of_detached_tensors() -> None:
    after = rewritten(changed(TRAIN), LIT)["model.py"]
    assert 'self.training_step_outputs.append({"loss": loss.detach()})\n        return loss\n' in after
    assert "    def on_train_epoch_end(self):\n" in after


def test_training_outputs_that_are_not_plain_are_left() -> None:
    found = refusals(changed(TRAIN, ('        self.log("loss", loss)\n', "")), "LIT201")
    assert "does not plainly return a loss" in found[0]


@pytest.mark.parametrize(
    ("line", "known"),
    [
        ("import torch.nn.functional as F", True),
        ("from torch.nn import functional as F", True),
        ("from kit import functions as F", False),
    ],
)
def test_a_loss_function_is_known_by_what_it_is_not_by_its_name(line: str, known: bool) -> None:
    silent = ('        loss = self.compute(batch)\n        self.log("loss", loss)\n', "        loss = F.loss(*batch)\n")
    files = changed(TRAIN, silent, ("import torch\n", f"import torch\n{line}\n"))
    if known:
        assert '{"loss": loss.detach()}' in rewritten(files, LIT)["model.py"]
    else:
        assert "does not plainly return a loss" in refusals(files, "LIT201")[0]


def test_accumulation_divides_the_losses_so_it_is_left() -> None:
    text = TRAIN + "\n\ntrainer = Trainer(accumulate_grad_batches=4)\n"
    assert "accumulates gradients" in refusals({"model.py": text}, "LIT201")[0]
    config = {"model.py": TRAIN, "conf.yaml": "accumulate_grad_batches: 4\n"}
    assert "accumulates gradients" in refusals(config, "LIT201")[0]


def test_a_class_is_rewritten_whole_or_not_at_all() -> None:
    test = (
        "\n    def test_step(self, batch, batch_idx, dataloader_idx):\n        return {}\n"
        "\n    def test_epoch_end(self, outputs):\n        print(outputs)\n"
    )
    found = refusals({"model.py": BEFORE + test}, "LIT201")
    assert len(found) == 2
    assert any("of the same class" in reason for reason in found)


def test_every_return_is_kept_and_none_is_not() -> None:
    body = (
        '        x, y = batch\n        if batch_idx == 0: return None\n        if batch_idx == 1: return {"error": x}\n'
    )
    after = rewritten(changed(BEFORE, ("        x, y = batch\n", body)), LIT)["model.py"]
    assert after.count("self.validation_step_outputs.append(output)") == 2
    assert "if batch_idx == 0: return None\n" in after


def test_a_result_that_may_be_none_is_guarded() -> None:
    after = rewritten(changed(BEFORE, ('{"error": (self.layer(x) - y).abs().mean()}', "self.shared(x, y)")), LIT)
    assert (
        "        if output is not None:\n            self.validation_step_outputs.append(output)\n" in after["model.py"]
    )


def test_without_a_constructor_the_list_begins_with_the_epoch() -> None:
    init = "    def __init__(self):\n        super().__init__()\n        self.layer = torch.nn.Linear(4, 1)\n\n"
    after = rewritten(changed(BEFORE, (init, "")), LIT)["model.py"]
    assert "    def on_validation_epoch_start(self):\n        self.validation_step_outputs = []\n" in after


def test_callbacks_and_foreign_classes_are_untouched() -> None:
    text = BEFORE.replace("import LightningModule", "import Callback").replace("(LightningModule)", "(Callback)")
    assert run_rules({"model.py": text}, LIT).findings == ()


def test_an_unknown_base_is_a_finding_and_no_rewrite() -> None:
    text = BEFORE.replace("(LightningModule)", "(Task)").replace(
        "import torch\n", "import torch\nfrom kit import Task\n"
    )
    assert "cannot be told" in refusals({"model.py": text}, "LIT201")[0]


def test_a_subclass_elsewhere_that_overrides_the_step_forbids_it() -> None:
    child = "from model import Model\n\n\nclass Child(Model):\n    def validation_step(self, batch, i):\n        ...\n"
    assert "Child" in refusals({"model.py": BEFORE, "child.py": child}, "LIT201")[0]


@pytest.mark.parametrize(
    "name", ["import lightning.pytorch as pl", "import lightning as pl", "import pytorch_lightning as pl"]
)
def test_every_namespace_is_known(name: str) -> None:
    text = BEFORE.replace("from pytorch_lightning import LightningModule", name).replace(
        "(LightningModule)", "(pl.LightningModule)"
    )
    assert "on_validation_epoch_end" in rewritten({"model.py": text}, LIT)["model.py"]
