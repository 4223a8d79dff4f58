"""LIT201 on hooks that take `*args, **kwargs` and read neither, and where only documentation names a hook."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rewritten, rule, run_rules
from tests.training import same

LIT = rule("LIT201")
HOOK = """\
import torch
from pytorch_lightning import LightningModule, Trainer


class Base(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)
        self.ended = 0

    def training_step(self, batch, batch_idx):
        return self.layer(batch).pow(2).mean()

    def validation_step(self, batch, batch_idx):
        pass

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

    def validation_epoch_end(self, *args, **kwargs) -> None:
        self.log("ended", 1.0)


class Below(Base):
    def validation_epoch_end(self, *args, **kwargs) -> None:
        self.ended += 1
        self.log("ended", float(self.ended))
"""
RUN = """\


def load():
    return torch.utils.data.DataLoader(torch.randn(4, 2), batch_size=2)


Trainer(max_epochs=2).fit(Below(), load(), load())
"""
NEW = HOOK.replace("def validation_epoch_end(self, *args, **kwargs)", "def on_validation_epoch_end(self)")


def test_both_of_a_family_are_renamed() -> None:
    assert rewritten({"model.py": HOOK}, LIT) == {"model.py": NEW}
    assert rewritten({"model.py": NEW}, LIT) == {"model.py": NEW}


@pytest.mark.parametrize("signature", ["*args", "*outputs", "*args, **kwargs"])
def test_what_may_come(signature: str) -> None:
    before = HOOK.replace("*args, **kwargs", signature)
    assert rewritten({"model.py": before}, LIT) == {"model.py": NEW}


def test_it_runs_as_before() -> None:
    old, new = same({"train.py": HOOK + RUN}, {"train.py": NEW + RUN})
    assert old.metrics["ended"] == new.metrics["ended"] > 0


@pytest.mark.parametrize(
    "body",
    [
        "self.log('n', float(len(args)))",
        "self.log('n', float(len(kwargs)))",
        "super().validation_epoch_end(*args, **kwargs); print(args)",
        "super().validation_epoch_end([args])",
        "print(locals())",
    ],
)
def test_what_reads_them_is_no_plain_rename(body: str) -> None:
    before = HOOK.replace("self.ended += 1", body)
    below = before.partition("class Below")[2]
    assert rewritten({"model.py": before}, LIT)["model.py"].partition("class Below")[2] == below


def test_one_that_is_called_by_hand_is_left() -> None:
    before = HOOK + "\n    def again(self):\n        self.validation_epoch_end()\n"
    assert len(refusals({"model.py": before}, "LIT201")) == 2


def test_documentation_that_names_it_forbids_nothing() -> None:
    files = {"model.py": HOOK, "docs/model.md": "`Base.validation_epoch_end` logs, see `Below`.\n"}
    made = run_rules(files, LIT)
    assert made.bugs == ()
    assert {change.path for change in made.changes} == {"model.py"}
    assert made.final()["model.py"].decode() == NEW


ABOVE = HOOK.partition("\n\nclass Below")[0].replace(
    'self.log("ended", 1.0)', 'super().validation_epoch_end(*args, **kwargs)\n        self.log("ended", 1.0)'
)
ABOVE_NEW = ABOVE.replace(
    "def validation_epoch_end(self, *args, **kwargs)", "def on_validation_epoch_end(self)"
).replace("super().validation_epoch_end(*args, **kwargs)", "super().on_validation_epoch_end()")


def test_what_is_handed_to_lightning_alone_is_not_read() -> None:
    assert rewritten({"model.py": ABOVE}, LIT) == {"model.py": ABOVE_NEW}
    assert rewritten({"model.py": ABOVE_NEW}, LIT) == {"model.py": ABOVE_NEW}
    run = RUN.replace("Below()", "Base()")
    old, new = same({"train.py": ABOVE + run}, {"train.py": ABOVE_NEW + run})
    assert old.metrics["ended"] == new.metrics["ended"] == 1.0
