"""GRD006: models that a method of the class loads, which is called where the class is built."""

from __future__ import annotations

import pytest

from tests.codemods.support import rewritten, rule, run_rules

RULE = rule("GRD006")
MODULE = """\
import pytorch_lightning as pl
import torch
from transformers import AutoModel


class Tagger(pl.LightningModule):
    def __init__(self, name):
        super().__init__()
        {built}
        self.head = torch.nn.Linear(768, 2)

    {helper}

    def training_step(self, batch, batch_idx):
        return self.head(self.bert(**batch)[0]).sum()

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=2e-5)
"""
SETS = "def load_bert(self, name):\n        print(name)\n        self.bert = AutoModel.from_pretrained(name)"
GIVES = "def load(self, name):\n        return AutoModel.from_pretrained(name)"
TWICE = "self.bert = self.load(name)\n        self.other = self.load(name)"


@pytest.mark.parametrize(
    ("built", "helper", "wanted"),
    [
        ("self.load_bert(name)", SETS, [SETS + "\n        self.bert.train()"]),
        (TWICE, GIVES, ["self.load(name)\n        self.bert.train()", "self.load(name)\n        self.other.train()"]),
        (
            TWICE,
            GIVES.replace("return ", "model = ") + "\n        print(model)\n        return model",
            ["self.load(name)\n        self.bert.train()", "self.load(name)\n        self.other.train()"],
        ),
        (
            "self.prepare(name)",
            f"def prepare(self, name):\n        print(name)\n        self.load_bert(name)\n\n    {SETS}",
            [SETS + "\n        self.bert.train()"],
        ),
    ],
)
def test_a_model_that_a_helper_loads_is_trained_as_before(built: str, helper: str, wanted: list[str]) -> None:
    text = MODULE.format(built=built, helper=helper)
    after = rewritten({"a.py": text}, RULE, unsafe=True)["a.py"]
    assert all(part in after for part in wanted)
    assert after.count(".train()") == len(wanted)


@pytest.mark.parametrize("other", ["", "from a import Tagger\n\nTagger('b').load_bert('c')\n"])
def test_a_helper_that_others_call_is_for_a_person(other: str) -> None:
    again = "" if other else "\n\n    def on_test_start(self):\n        self.load_bert('b')"
    text = MODULE.format(built="self.load_bert(name)", helper=SETS + again)
    made = run_rules({"a.py": text, "b.py": other}, RULE, unsafe=True)
    assert made.changes == ()
    [found] = made.findings
    assert (found.fix, "load_bert may be called elsewhere" in found.reason) == ("manual", True)


@pytest.mark.parametrize(
    ("built", "helper"),
    [
        ("self.load_bert(name)", SETS + "\n        self.bert.eval()"),
        ("self.load_bert(name)", SETS + "\n        self.bert.requires_grad_(False)"),
        (TWICE, GIVES.replace("return ", "model = ") + "\n        model.eval()\n        return model"),
        (TWICE, GIVES + "\n\n    def on_train_start(self):\n        self.train()"),
        (TWICE, GIVES.replace("AutoModel", "AutoTokenizer")),
        (TWICE, GIVES + " if name else None\n        return torch.nn.Linear(1, 1)"),
        ("pass", SETS),
        (TWICE, "@staticmethod\n    def other(name):\n        return AutoModel.from_pretrained(name)"),
    ],
)
def test_what_has_its_mode_or_is_no_model_is_left(built: str, helper: str) -> None:
    assert run_rules({"a.py": MODULE.format(built=built, helper=helper)}, RULE, unsafe=True).findings == ()
