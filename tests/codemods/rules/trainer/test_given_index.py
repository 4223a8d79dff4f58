"""LIT120: `trainer.batch_idx` where a hook is given the index of its batch, and where it is not."""

from __future__ import annotations

import pytest

from tests.codemods.support import rewritten, rule, run_rules

HEAD = "from pytorch_lightning import Callback, LightningModule\n\n\n"
CALLBACK = "class Watch(Callback):\n    def {}:\n        print({}.batch_idx + 1)\n"
MODULE = "class Model(LightningModule):\n    def {}:\n        print({}.batch_idx + 1)\n"


@pytest.mark.parametrize(
    ("text", "head", "owner", "name"),
    [
        (CALLBACK, "on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx)", "trainer", "batch_idx"),
        (CALLBACK, "on_train_batch_start(self, trainer, pl_module, batch, idx, more=0)", "trainer", "idx"),
        (CALLBACK, "on_train_batch_end(self, trainer, pl_module, outputs, batch, idx)", "pl_module.trainer", "idx"),
        (MODULE, "training_step(self, batch, batch_nb)", "self.trainer", "batch_nb"),
        (MODULE, "on_train_batch_end(self, outputs, batch, batch_idx)", "self.trainer", "batch_idx"),
    ],
)
def test_a_hook_that_is_given_the_index_reads_it(text: str, head: str, owner: str, name: str) -> None:
    before = HEAD + text.format(head, owner)
    found = run_rules({"a.py": before}, rule("LIT120")).findings
    assert [each.fix for each in found] == ["safe"]
    assert rewritten({"a.py": before}, rule("LIT120"))["a.py"] == before.replace(f"{owner}.batch_idx", name)


@pytest.mark.parametrize(
    ("text", "head", "owner"),
    [
        (CALLBACK, "on_train_batch_end(self, trainer, pl_module, outputs, batch, *rest)", "trainer"),
        (CALLBACK, "on_train_batch_end(self, trainer, pl_module, batch, batch_idx, loader)", "trainer"),
        (CALLBACK, "on_validation_batch_end(self, trainer, pl_module, outputs, batch, batch_idx)", "trainer"),
        (MODULE, "validation_step(self, batch, batch_idx)", "self.trainer"),
        (MODULE, "training_step(self, batch)", "self.trainer"),
        (
            MODULE,
            "training_step(self, batch, batch_idx):\n        batch_idx = 0\n        later = lambda: 0",
            "self.trainer",
        ),
        (
            MODULE,
            "training_step(self, batch, batch_idx):\n        later = lambda: self.trainer.batch_idx",
            "self.trainer",
        ),
    ],
)
def test_elsewhere_it_is_left_to_a_person(text: str, head: str, owner: str) -> None:
    before = HEAD + text.replace("{}:", "{}", 1).format(head if "\n" in head else f"{head}:", owner)
    found = run_rules({"a.py": before}, rule("LIT120")).findings
    assert "manual" in {each.fix for each in found}
