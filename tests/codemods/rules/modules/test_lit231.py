"""LIT231: modules that ask whether a Trainer has them, held against the newest one."""

from __future__ import annotations

import pytest
from lightning.pytorch import LightningModule

from codemods.rules.modules.lit231 import ASKING, BEFORE
from tests.codemods.support import rewritten, rule, run_rules


def test_the_newest_module_raises_and_keeps_none() -> None:
    module = LightningModule()
    with pytest.raises(RuntimeError, match="not attached"):
        assert module.trainer is None
    assert module._trainer is None


@pytest.mark.parametrize(
    ("test", "wanted"),
    [
        ("self.trainer is None", "self._trainer is None"),
        ("not self.trainer", "not self._trainer"),
        ("self.trainer", "self._trainer"),
        ("x and self.trainer", "x and self._trainer"),
        ("self.trainer and self.trainer.training", "self._trainer and self.trainer.training"),
    ],
)
def test_rewritten(test: str, wanted: str) -> None:
    text = BEFORE.replace("self.trainer is not None and self.trainer.training", test)
    assert any(word in text.encode() for word in ASKING)
    assert f"        if {wanted}:\n" in rewritten({"a.py": text}, rule("LIT231"), unsafe=True)["a.py"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LightningModule)", "LightningDataModule)"),
        ("forward(self, x)", "on_train_start(self)"),
        ("forward(self, x)", "training_step(self, x, batch_idx)"),
        ("    def forward", "    trainer = None\n\n    def forward"),
        ("self.trainer is not None and self.trainer.training", "self.trainer.training"),
        ("self.trainer is not None and self.trainer.training", "self.trainer.logger is None"),
    ],
)
def test_left_alone(old: str, new: str) -> None:
    text = BEFORE.replace(old, new).replace("import LightningModule", "import LightningModule, LightningDataModule")
    assert run_rules({"a.py": text}, rule("LIT231"), unsafe=True).findings == ()


def test_it_tells_of_no_older_lightning() -> None:
    made = run_rules({"a.py": BEFORE}, rule("LIT231"), rule("PIN002"))
    assert [item.code for item in made.findings] == ["LIT231"] and made.findings[0].stops is False


CALLBACK = """\
import pytorch_lightning as pl


class Watch(pl.Callback):
    def on_train_start(self, trainer, module):
        print(module.use_amp)
"""


def test_a_callback_asks_the_trainer() -> None:
    after = rewritten({"a.py": CALLBACK}, rule("LIT221"))["a.py"]
    assert 'print((trainer.precision in ("16-mixed", "bf16-mixed")))' in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("module.use_amp", "self.use_amp"),
        ("print(", "module = 1\n        print("),
        ("on_train_start", "show"),
        ("pl.Callback", "object"),
    ],
)
def test_what_may_be_something_else_is_left(old: str, new: str) -> None:
    assert run_rules({"a.py": CALLBACK.replace(old, new)}, rule("LIT221")).findings == ()


def test_a_module_that_has_one_of_its_own_makes_it_unsafe() -> None:
    own = "import pytorch_lightning as pl\n\n\nclass M(pl.LightningModule):\n"
    own += "    def use(self):\n        self.use_amp = 1\n"
    made = run_rules({"a.py": CALLBACK, "b.py": own}, rule("LIT221"))
    assert [item.fix for item in made.findings] == ["unsafe"]
