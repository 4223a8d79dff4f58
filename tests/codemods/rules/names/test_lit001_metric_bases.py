"""LIT001: classes that are made of Lightning's Metric, which was another class before 1.0."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rewritten, rule

FROM = "from pytorch_lightning.metrics import Metric\n"
FORWARD = "    def forward(self, preds, target):\n        return (preds == target).float().mean()\n"
UPDATE = "    def update(self, preds):\n        self.total += preds.sum()\n"
COMPUTE = "    def compute(self):\n        return self.total\n"


def made(*methods: str, head: str = FROM, base: str = "Metric", name: str = "Share") -> str:
    return f"{head}\n\nclass {name}({base}):\n" + "\n".join(methods or ("    pass\n",))


def text(before: str) -> str:
    return rewritten({"metrics.py": before}, rule("LIT001"))["metrics.py"]


@pytest.mark.parametrize(
    "before",
    [
        made(FORWARD),
        made("    def __init__(self):\n        super().__init__(name='share')\n", FORWARD),
        made(FORWARD, head="from pytorch_lightning.metrics.metric import Metric\n"),
        made(FORWARD, head="from pytorch_lightning.metrics import Metric as Base\n", base="Base"),
        made(FORWARD, head="import pytorch_lightning as pl\n", base="pl.metrics.Metric"),
        made(FORWARD, base="Named, Metric", head=f"from names import Named\n{FROM}"),
        made(UPDATE, COMPUTE) + "\n\nclass Old(Metric):\n" + FORWARD,
        made(FORWARD, COMPUTE),
    ],
    ids=["forward", "name", "module", "alias", "attribute", "second base", "one of two", "compute of an output"],
)
def test_a_class_with_forward_alone_stays_on_what_it_was_written_for(before: str) -> None:
    assert text(before) == before
    (told,) = refusals({"metrics.py": before}, "LIT001")
    assert "has `forward` alone, as metrics had before 1.0" in told
    assert "torch.nn.Module" in told


@pytest.mark.parametrize(
    "before",
    [
        made(UPDATE, COMPUTE),
        made(),
        made(COMPUTE),
        made(FORWARD, UPDATE, COMPUTE),
        made(UPDATE, COMPUTE) + "\n\nclass Half(Share):\n" + FORWARD,
        f"import torch\n{FROM}\n\nclass Layer(torch.nn.Module):\n{FORWARD}\n\ndef show(metric: Metric):\n    pass\n",
    ],
    ids=["both", "neither", "one", "its own forward", "forward below", "another class"],
)
def test_any_other_class_is_made_of_the_one_of_torchmetrics(before: str) -> None:
    assert text(before) == before.replace(FROM, "from torchmetrics import Metric\n")
