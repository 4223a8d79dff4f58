"""Manual loops whose class switches automatic optimization off in a hook in front of the training."""

from __future__ import annotations

import pytest

from tests.codemods.loop_programs import BACKWARD, FLAG, HEAD, RIGHT, RULES, STEP, ZERO, changed
from tests.codemods.support import rewritten, rule, run_rules
from tests.training import assert_same, differences, train

OFF = "        self.automatic_optimization = False\n"
INDENTED = f"    {OFF}"
STAGED = "    def setup(self, stage=None):\n        if {}:\n" + INDENTED
HOOKS = {
    "setup": "    def setup(self, stage):\n" + OFF,
    "setup that calls above": "    def setup(self, stage=None):\n        super().setup(stage)\n" + OFF,
    "setup of a training": STAGED.format('stage == "fit"'),
    "setup of a training, or of all": STAGED.format('stage == "fit" or stage is None'),
    "setup of some stages": STAGED.format('stage in ("fit", "validate")'),
    "setup of other stages not": STAGED.format('not stage != "fit"'),
    "setup, or nothing more to do": (
        '    def setup(self, stage):\n        if stage == "test":\n            return\n' + OFF
    ),
    "on_fit_start": "    def on_fit_start(self):\n" + OFF,
    "configure_model": "    def configure_model(self):\n" + OFF,
    "a method that setup calls": (
        "    def setup(self, stage):\n        self.by_hand()\n\n    def by_hand(self):\n" + OFF
    ),
    "try and finally": (
        "    def setup(self, stage):\n        try:\n            print(stage)\n        finally:\n" + INDENTED
    ),
    "setattr": "    def setup(self, stage):\n        setattr(self, 'automatic_optimization', False)\n",
}
STEPPING = "    def training_step"


def hooked(hook: str, *replacements: tuple[str, str]) -> str:
    return changed((FLAG, ""), (STEPPING, f"{hook}\n{STEPPING}"), *replacements)


@pytest.mark.parametrize("hook", HOOKS.values(), ids=HOOKS.keys())
def test_gradients_that_are_never_set_to_zero_are(hook: str) -> None:
    before = hooked(hook, (ZERO, ""))
    after = rewritten({"train.py": before}, *RULES)["train.py"]
    assert "optimizer.zero_grad()" in after
    assert hook in after
    assert run_rules({"train.py": after}, *RULES).findings == ()


@pytest.mark.parametrize("name", ["setup", "setup of a training", "on_fit_start", "configure_model"])
def test_they_train_as_with_the_flag_in_the_constructor(name: str) -> None:
    before = hooked(HOOKS[name], (ZERO, ""))
    expected = train({"train.py": RIGHT})
    assert list(differences(train({"train.py": before}), expected))
    after = train(rewritten({"train.py": before}, *RULES))
    assert after.automatic is False
    assert_same(after, expected, 1e-6)


def test_step_that_is_nowhere_is_found() -> None:
    made = run_rules({"train.py": hooked(HOOKS["setup"], (STEP, ""))}, rule("TBP105"))
    assert [item.fix for item in made.findings] == ["safe"]


def test_backward_pass_that_is_nowhere_is_found() -> None:
    text = hooked(HOOKS["setup"], (STEP, ""), (ZERO, ""), (BACKWARD, "            pass\n"))
    text = text.replace("        optimizer = self.optimizers()\n", "")
    text = text.replace("    def configure_optimizers", "        return loss\n\n    def configure_optimizers", 1)
    assert [item.fix for item in run_rules({"train.py": text}, rule("TBP105")).findings] == ["manual"]


UNCLEAR = {
    "at times": STAGED.format("self.by_hand"),
    "and on again": HOOKS["setup"] + "\n    def on_train_epoch_start(self):\n" + OFF.replace("False", "True"),
    "while it trains": "    def on_train_batch_start(self, batch, batch_idx):\n" + OFF,
    "of a stage that is bound again": STAGED.format("stage == 'fit'").replace(
        "        if", "        stage = self.stage\n        if", 1
    ),
}


@pytest.mark.parametrize("hook", UNCLEAR.values(), ids=UNCLEAR.keys())
def test_what_may_be_otherwise_changes_nothing(hook: str) -> None:
    text = hooked(hook, (ZERO, ""))
    assert run_rules({"train.py": text}, rule("TBP104"), rule("TBP106"), unsafe=True).changes == ()


def test_hook_of_a_base_class_counts_unless_another_takes_its_place() -> None:
    base = HEAD[HEAD.index("class Model") :].replace("class Model", "class Base").replace(FLAG, "") + HOOKS["setup"]
    head, tail = changed((FLAG, ""), (ZERO, "")).split("class Model(LightningModule):\n")
    child = "class Model(Base):\n" + tail[tail.index(STEPPING) :]
    text = f"{head}{base}\n\n{child}"
    assert "optimizer.zero_grad()" in rewritten({"train.py": text}, *RULES)["train.py"]
    hidden = text.replace("class Model(Base):\n", "class Model(Base):\n    def setup(self, stage):\n        pass\n\n")
    assert run_rules({"train.py": hidden}, rule("TBP104"), unsafe=True).changes == ()


def test_trainer_that_is_not_refused_keeps_its_arguments() -> None:
    """Lightning looks at them in front of setup."""
    text = hooked(HOOKS["setup"], ("Trainer(max_epochs=2)", "Trainer(max_epochs=2, gradient_clip_val=1.0)"))
    assert run_rules({"train.py": text}, rule("TBP108")).changes == ()
    assert train({"train.py": text}).failure is None


def test_optimizer_of_a_base_class_is_known() -> None:
    """The class that trains need not be the one that makes the optimizer, in this file or in another."""
    made = "    def configure_optimizers(self):\n        return torch.optim.SGD(self.parameters(), lr=0.1)\n"
    base = "import torch\nfrom lightning.pytorch import LightningModule\n\n\nclass Base(LightningModule):\n" + made
    text = changed((STEP, ""), (made, ""), ("class Model(LightningModule)", "class Model(Base)"))
    inside = text.replace("class Model(Base)", f"class Base(LightningModule):\n{made}\n\nclass Model(Base)")
    files = {"base.py": base, "train.py": f"from base import Base\n{text}"}
    for each in ({"train.py": inside}, files):
        assert STEP in rewritten(each, *RULES)["train.py"]
    several = base.replace("return ", "return torch.optim.SGD(self.a.parameters()), ")
    assert run_rules({**files, "base.py": several}, rule("TBP105")).findings == ()
