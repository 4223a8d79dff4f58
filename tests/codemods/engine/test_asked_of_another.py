"""A module that calls the steps of another one, which it was given and whose class it does not name."""

from __future__ import annotations

import pytest

from tests.codemods.support import rule, run_rules

HEAD = "import torch\nfrom pytorch_lightning import LightningModule\n\n\nclass Inner(LightningModule):\n"
SEVERAL = (
    "    def __init__(self):\n        super().__init__()\n        self.a = torch.nn.Linear(2, 2)\n\n"
    "    def training_step(self, batch, batch_idx, optimizer_idx):\n"
    "        return self.a(batch).sum() + optimizer_idx\n\n"
    "    def configure_optimizers(self):\n"
    "        return [torch.optim.SGD(self.parameters(), 0.1), torch.optim.SGD(self.parameters(), 0.2)]\n"
)
DEAD = (
    "    def training_step(self, batch, batch_idx, optimizer_idx=None):\n        return self.a(batch).sum()\n\n"
    "    def configure_optimizers(self):\n        return torch.optim.SGD(self.parameters(), 0.1)\n"
)
ENDED = (
    "    def validation_step(self, batch, batch_idx):\n        return self.a(batch).sum()\n\n"
    "    def validation_step_end(self, output):\n        return output + 1\n"
)
OUTER = (
    "from pytorch_lightning import LightningModule\n\n\nclass Outer(LightningModule):\n"
    "    def training_step(self, batch, batch_idx):\n        return self.{inner}.training_step(batch, batch_idx, 0)\n\n"
    "    def validation_step(self, batch, batch_idx):\n        return self.{inner}.validation_step(batch, batch_idx)\n"
)


@pytest.mark.parametrize(("code", "body"), [("OPT001", SEVERAL), ("OPT002", DEAD), ("LIT211", ENDED)])
def test_its_steps_stay_as_they_are(code: str, body: str) -> None:
    alone = run_rules({"inner.py": HEAD + body}, rule(code))
    called = run_rules({"inner.py": HEAD + body, "outer.py": OUTER.format(inner="inner")}, rule(code))
    assert alone.changes and not called.changes
    assert "outer.py" in called.findings[0].reason


def test_a_step_of_its_own_is_no_call_of_another() -> None:
    other = OUTER.replace("self.{inner}.validation_step(batch, batch_idx)", "super().validation_step(batch, batch_idx)")
    files = {"inner.py": HEAD + ENDED, "outer.py": other.replace("self.{inner}.", "self.")}
    assert "inner.py" in run_rules(files, rule("LIT211")).final()
