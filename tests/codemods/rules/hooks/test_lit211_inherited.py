"""LIT211: steps whose results Lightning gave to a `*_step_end` of a class above them."""

from __future__ import annotations

import pytest

from tests.codemods.support import rewritten, rule, run_rules
from tests.training import same

BASE = """\
import torch
from pytorch_lightning import LightningModule


class Task(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)
        self.seen = []

    def training_step(self, batch, batch_idx):
        \"\"\"One step.\"\"\"
        raise NotImplementedError

    def training_step_end(self, output):
        output["loss"] = output["loss"].mean() * 0.5
        self.seen.append(round(float(output["loss"].detach()), 5))
        return output

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)
"""
TRAIN = """\
import torch
from base import Task
from pytorch_lightning import Trainer, seed_everything
from torch.utils.data import DataLoader


class Model(Task):
    def training_step(self, batch, batch_idx):
        loss = self.layer(batch) ** 2
        return {"loss": loss, "number": batch_idx}

    def training_epoch_end(self, outputs):
        self.seen.append([[round(float(each["loss"]), 5), each["number"]] for each in outputs])


def main():
    seed_everything(3)
    model = Model()
    trainer = Trainer(max_epochs=2, accelerator="cpu", devices=1, logger=False, enable_checkpointing=False,
                      enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(model, DataLoader(torch.randn(6, 2), batch_size=2))
    return model.seen


if __name__ == "__main__":
    main()
"""
FILES = {"base.py": BASE, "train.py": TRAIN}
RETURN = 'return {"loss": loss, "number": batch_idx}'


def test_each_step_gives_its_result_to_it_as_lightning_did() -> None:
    after = rewritten(rewritten(FILES, rule("LIT201")), rule("LIT211"))
    assert after["base.py"] == BASE
    assert f"return self.training_step_end({RETURN.removeprefix('return ')})" in after["train.py"]
    old, new = same(FILES, after, script=None, module="train", function="main", logged=False)
    assert old.failure is None, old.failure
    assert len(old.returned) == 8 and new.returned == old.returned
    for code in ("LIT201", "LIT211"):
        assert run_rules(after, rule(code)).changes == ()


@pytest.mark.parametrize("body", ["        pass\n", "        ...\n", "        raise NotImplementedError\n"])
def test_a_base_whose_step_does_nothing(body: str) -> None:
    base = BASE.replace('        """One step."""\n        raise NotImplementedError\n', body)
    assert "self.training_step_end({" in rewritten({**FILES, "base.py": base}, rule("LIT211"))["train.py"]


def test_a_base_without_a_step_and_a_class_between() -> None:
    start, rest = BASE.split("    def training_step(self")
    base = f"{start}    def training_step_end{rest.partition('    def training_step_end')[2]}"
    train = TRAIN.replace("class Model(Task)", "class Middle(Task):\n    pass\n\n\nclass Model(Middle)")
    made = rewritten({"base.py": base, "train.py": train}, rule("LIT211"))
    assert made["base.py"] == base and "self.training_step_end({" in made["train.py"]


TRAPS = {
    "may give nothing": ("train.py", RETURN, f"if batch_idx:\n            {RETURN}"),
    "another that may": ("other.py", "", "from base import Task\n\n\nclass Other(Task):\n"
                         "    def training_step(self, batch, batch_idx):\n        print(batch)\n"),
    "a step above": ("base.py", "raise NotImplementedError", "return self.layer(batch).sum()"),
    "end that may give nothing": ("base.py", "        return output\n",
                                 "        if self.training:\n            return output\n"),
    "called at times": ("train.py", RETURN, "if batch_idx:\n            return self.training_step_end({'loss': loss})\n"
                        f"        {RETURN}"),
    "called by another": ("other.py", "", "from train import Model\n\n\nprint(Model().training_step(1, 2))\n"),
    "asked of any module": ("other.py", "", "def go(module):\n    return module.training_step(1, 2)\n"),
    "ended by another": ("other.py", "", "from base import Task\n\n\nprint(Task().training_step_end({}))\n"),
    "below another": ("train.py", "def main", "class Last(Model):\n    def training_step(self, batch, batch_idx):\n"
                      "        return {'loss': self.layer(batch).sum()}\n\n\ndef main"),
    "hidden states": ("train.py", "batch, batch_idx):", "batch, batch_idx, hiddens):"),
}  # fmt: skip


@pytest.mark.parametrize(("path", "old", "new"), TRAPS.values(), ids=TRAPS)
def test_what_cannot_be_called_is_told_at_its_head(path: str, old: str, new: str) -> None:
    text = FILES.get(path, "")
    assert old in text
    files = {**FILES, path: text.replace(old, new, 1) if old else new}
    made = run_rules(files, rule("LIT211"))
    assert made.changes == ()
    assert ("base.py", 15, "manual") in [(each.path, each.span.line, each.fix) for each in made.findings]
    assert run_rules(files, rule("LIT201")).changes == ()


def test_a_step_end_that_is_never_reached_by_a_class_of_another_library() -> None:
    made = run_rules({"base.py": BASE}, rule("LIT211"))
    assert made.changes == () and [each.fix for each in made.findings] == ["manual"]
