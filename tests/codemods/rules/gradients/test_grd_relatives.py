"""What a class freezes or forgets is told as long as no relative of it has anything to do with that."""

from __future__ import annotations

import pytest

from tests.codemods.support import rule, run_rules

EXAMPLES = {code: rule(code).examples[0].before for code in ("GRD003", "GRD004")}
IDLE = "    pass\n"
LOGS = '    def validation_step(self, batch, batch_idx):\n        self.log("seen", 1.0)\n'
THAWS = "    def on_train_epoch_start(self):\n        self.backbone.requires_grad_(True)\n"
OPTIMIZES = (
    "    def configure_optimizers(self):\n        return torch.optim.Adam([*self.children()][0].parameters(), lr=0.1)\n"
)
SETS = '    def on_fit_start(self):\n        setattr(self, "he" + "ad", None)\n'

TOLD = {("GRD004", THAWS), ("GRD003", SETS)}
"""What is told of one class that does both, and so of the two, which are looked at as one."""


def below(code: str, body: str) -> dict[str, str]:
    return {"train.py": f"{EXAMPLES[code]}\n\nclass Child(Model):\n{body}"}


def above(code: str, body: str) -> dict[str, str]:
    base = f"import torch\nfrom lightning.pytorch import LightningModule\n\n\nclass Base(LightningModule):\n{body}"
    text = EXAMPLES[code].replace("class Model(LightningModule)", "class Model(Base)")
    return {"base.py": base, "train.py": f"from base import Base\n{text}"}


@pytest.mark.parametrize("code", EXAMPLES)
@pytest.mark.parametrize("body", [IDLE, LOGS])
@pytest.mark.parametrize("placed", [below, above])
def test_a_relative_that_has_nothing_to_do_with_it_hides_nothing(code: str, body: str, placed: object) -> None:
    assert callable(placed)
    found = run_rules(placed(code, body), rule(code)).findings
    assert [item.fix for item in found] == ["manual"]


@pytest.mark.parametrize("code", EXAMPLES)
@pytest.mark.parametrize("body", [THAWS, OPTIMIZES, SETS])
@pytest.mark.parametrize("placed", [below, above])
def test_a_relative_that_may_train_it_is_heard(code: str, body: str, placed: object) -> None:
    assert callable(placed)
    assert bool(run_rules(placed(code, body), rule(code)).findings) == ((code, body) in TOLD)


@pytest.mark.parametrize(("code", "body"), sorted(TOLD))
def test_one_class_that_does_both_is_told(code: str, body: str) -> None:
    text = EXAMPLES[code].rstrip("\n") + f"\n\n{body}"
    assert [item.fix for item in run_rules({"train.py": text}, rule(code)).findings] == ["manual"]
