"""OPT001 where a class below trains one optimizer by a step of its own, executed."""

from __future__ import annotations

import pytest

from tests.codemods.rules.optimizers.test_opt001_inherited import OPTIMIZERS, SINGLE, STEP, program
from tests.codemods.support import refusals, rewritten, rule
from tests.training import same

OPT = rule("OPT001")
ONE = "def configure_optimizers(self):\n    return torch.optim.Adam(self.discriminator.parameters(), lr=0.05)\n"
LOUDER = "def training_step(self, batch, batch_idx, optimizer_idx):\n    return 2 * STEP\n".replace(
    "STEP", "super().training_step(batch, batch_idx, optimizer_idx)"
)
CALLING = SINGLE.replace("return", "super().training_step(batch, 0, 0)\n    return")
BASE = f"{STEP}\n{OPTIMIZERS}"


def below(name: str, body: str) -> str:
    inner = "\n".join(f"    {line}" if line else line for line in body.splitlines())
    return f"\n\nclass {name}(Base):\n{inner}\n"


def with_below(body: str, trained: str = "GAN") -> dict[str, str]:
    """A GAN, and a class with one optimizer below the same base in another file, and a Trainer for one of them."""
    files = program(BASE, "pass")
    files["alone.py"] = "import torch\n\nfrom base import Base\n" + below("Alone", body)
    script = files["train.py"].replace(", gradient_clip_val=0.2", "")
    if trained == "Alone":
        script = script.replace("from base import Base", "from alone import Alone\nfrom base import Base")
        script = script.replace("fit(GAN()", "fit(Alone()")
    files["train.py"] = script
    return files


@pytest.mark.parametrize(("trained", "automatic", "steps"), [("GAN", False, 20), ("Alone", True, 10)])
def test_a_class_with_one_optimizer_stays_automatic_below_a_loop(trained: str, automatic: bool, steps: int) -> None:
    before = with_below(f"{SINGLE}\n{ONE}", trained)
    after = rewritten(before, OPT)
    assert "class Alone(Base):\n    automatic_optimization = True\n" in after["alone.py"]
    assert "    automatic_optimization = False\n" in after["base.py"]
    old, new = same(before, after)
    assert (old.automatic, new.automatic, old.global_step) == (True, automatic, steps)
    assert rewritten(after, OPT) == after


def test_a_step_that_extends_the_base_renames_beside_it() -> None:
    before = with_below(f"{SINGLE}\n{ONE}")
    before["base.py"] += below("Louder", LOUDER)
    before["train.py"] = (
        before["train.py"].replace("import Base", "import Base, Louder").replace("fit(GAN", "fit(Louder")
    )
    after = rewritten(before, OPT)
    assert "automatic_optimization = True" in after["alone.py"]
    old, new = same(before, after)
    assert (old.automatic, new.automatic, old.global_step) == (True, False, 20)


TRAPS = {
    "it has no optimizer of its own": SINGLE,
    "it has two": f"{SINGLE}\n{OPTIMIZERS}",
    "it runs the step of its base": f"{CALLING}\n{ONE}",
    "it says how it is optimized": f"automatic_optimization = True\n\n{SINGLE}\n{ONE}",
    "it has hooks": f"{SINGLE}\n{ONE}\ndef on_before_zero_grad(self, optimizer):\n    pass\n",
}


@pytest.mark.parametrize("body", TRAPS.values(), ids=TRAPS.keys())
def test_what_is_not_apart_forbids_the_loop(body: str) -> None:
    before = with_below(body)
    assert rewritten(before, OPT, unsafe=True) == before
    assert refusals(before, "OPT001")


def test_one_with_another_base_forbids_the_loop() -> None:
    before = with_below(f"{SINGLE}\n{ONE}")
    mixin = "class Hooks:\n    def on_before_zero_grad(self, optimizer):\n        pass\n\n\nclass Alone(Hooks, Base)"
    before["alone.py"] = before["alone.py"].replace("class Alone(Base)", mixin)
    assert rewritten(before, OPT, unsafe=True) == before
    assert refusals(before, "OPT001")


def test_what_the_trainer_gives_both_forbids_the_loop() -> None:
    before = with_below(f"{SINGLE}\n{ONE}")
    before["train.py"] = before["train.py"].replace("max_epochs=2", "max_epochs=2, gradient_clip_val=0.2")
    assert rewritten(before, OPT, unsafe=True) == before
    assert any("defines training_step" in reason for reason in refusals(before, "OPT001"))
