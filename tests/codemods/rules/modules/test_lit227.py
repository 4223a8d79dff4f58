"""LIT227: which schedulers are taken for the project's own, and that Lightning refuses those."""

from __future__ import annotations

import pytest

from codemods.rules.modules.lit227 import BEFORE, TORCH
from tests.codemods.support import rule, run_rules
from tests.training import train

STATE = """\
    def state_dict(self):
        return {}

    def load_state_dict(self, state):
        pass

"""
WHOLE = BEFORE.replace("    def step(self):", f"{STATE}    def step(self):")
OWN = "    def lr_scheduler_step(self, scheduler, metric):\n        scheduler.step()\n\n"
FITTED = """
    def training_step(self, batch, batch_idx):
        return self.layer(batch).pow(2).mean()

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)


Trainer(max_epochs=1).fit(Model(), torch.utils.data.DataLoader(torch.randn(4, 2), batch_size=2))
"""


def found(*texts: str) -> list[str]:
    files = {f"part{number}.py": text for number, text in enumerate(texts)}
    plan = run_rules(files, rule("LIT227"))
    assert plan.bugs == () and plan.changes == ()
    return [finding.reason for finding in plan.findings]


def test_found() -> None:
    assert ["state_dict" in reason for reason in found(BEFORE)] == [True]
    assert ["state_dict" in reason for reason in found(WHOLE)] == [False]


def test_found_where_it_is_handed_to_a_module() -> None:
    head, _, tail = BEFORE.partition("class Model")
    base = head.replace("class Warmup:", "class Base:")
    maker = (
        "from part0 import Base\nfrom part2 import Model\n\n\nclass Warmup(Base):\n    pass\n\n\n"
        'def make(optimizer):\n    return Model({"scheduler": Warmup(optimizer), "interval": "step"})\n'
    )
    module = "from pytorch_lightning import LightningModule\n\n\nclass Model(LightningModule):\n    pass\n"
    assert tail and len(found(base, maker, module)) == 1


@pytest.mark.parametrize(
    "text",
    [
        TORCH,
        BEFORE.replace("    def configure_optimizers", f"{OWN}    def configure_optimizers"),
        BEFORE.replace('{"scheduler": Warmup(optimizer), "interval": "step"}', "make(optimizer)"),
        BEFORE.replace("class Warmup:", "from transformers import Base\n\n\nclass Warmup(Base):"),
        BEFORE.replace("def step", "def advance"),
        BEFORE.replace("(LightningModule)", "").replace('"interval": "step"', '"every": 1'),
        BEFORE.replace("from pytorch_lightning import LightningModule", "LightningModule = object"),
    ],
)
def test_not_spoken_of(text: str) -> None:
    assert found(text) == []


def test_lightning_refuses_them() -> None:
    refused = train({"train.py": WHOLE.replace("import LightningModule", "import LightningModule, Trainer") + FITTED})
    assert refused.failure is not None
    assert refused.failure.type == "MisconfigurationException"
    assert "lr_scheduler_step" in refused.failure.message
