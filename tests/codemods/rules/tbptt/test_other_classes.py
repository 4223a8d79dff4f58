"""What other classes of a file say of the flag is theirs, where nothing has both of them for bases."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rewritten, rule

BEFORE = rule("TBP001").examples[0].before
OTHER = """

class Other(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        optimizer.zero_grad()
        self.manual_backward(self.layer(batch).mean())
        optimizer.step()
"""
IMPORT = "import pytorch_lightning as pl\n"
NAME = "Model"


def test_a_class_that_is_optimized_by_hand_stands_beside() -> None:
    alone = rewritten({"train.py": IMPORT + BEFORE}, rule("TBP001"))["train.py"]
    both = rewritten({"train.py": IMPORT + BEFORE + OTHER}, rule("TBP001"))["train.py"]
    assert alone != IMPORT + BEFORE and both == alone + OTHER


@pytest.mark.parametrize(
    "more",
    [
        OTHER.replace("pl.LightningModule", NAME),
        f"{OTHER}\n\nclass Both(Other, {NAME}):\n    pass\n",
        f"{OTHER}\n\nclass Third({NAME}):\n    pass\n\n\nclass Both(Third, Other):\n    pass\n",
        OTHER.replace("self.automatic_optimization = False", "other.automatic_optimization = False"),
        f"{OTHER}\n\nBoth = type('Both', (Other, {NAME}), {{}})\n",
        f'{OTHER}\n\nsetattr(model, "automatic_optimization", False)\n',
    ],
)
def test_what_may_be_of_the_class_is_heard(more: str) -> None:
    assert f"class {NAME}(" in BEFORE
    assert refusals({"train.py": IMPORT + BEFORE + more}, "TBP001")
