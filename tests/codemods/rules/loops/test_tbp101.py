"""TBP101: a step that makes its own optimizer steps under automatic optimization."""

from __future__ import annotations

import pytest

from tests.codemods.loop_programs import (
    CLASS,
    FLAG,
    HEAD,
    RULES,
    SGD,
    SUPER,
    TRAINER,
    assert_refused,
    assert_rewritten,
    changed,
    step,
)
from tests.codemods.support import rule, run_rules

CODE = "TBP101"
REWRITTEN = {
    "a class without a constructor": (
        changed((HEAD[HEAD.index("    def __init__") :], "")),
        "    automatic_optimization = False\n\n    def training_step",
    ),
    "a constructor that saves its arguments": (
        changed((FLAG, "        self.save_hyperparameters()\n")),
        "        self.automatic_optimization = False\n        self.save_hyperparameters()\n",
    ),
    "a constructor that calls a method, and a comment on the flag": (
        changed((FLAG, "        self.build()  # not automatic_optimization\n")),
        "        self.automatic_optimization = False\n        self.build()",
    ),
    "a method that logs beside a comment on the flag": (
        changed((FLAG, "        # not automatic_optimization\n"))
        + "\n    def on_train_start(self):\n        self.log('started', 1)\n",
        "        self.automatic_optimization = False\n",
    ),
}


@pytest.mark.parametrize(("text", "held"), REWRITTEN.values(), ids=REWRITTEN)
def test_is_rewritten(text: str, held: str) -> None:
    assert_rewritten(text, CODE, held)


REFUSED = {
    "backward in a branch": (
        step(
            """
optimizer = self.optimizers()
if self.pretraining:
    return self.loss(batch)
else:
    optimizer.zero_grad()
    self.manual_backward(self.loss(batch))
    optimizer.step()
""",
            (FLAG, ""),
        ),
        "is in a branch",
    ),
    "no super().__init__()": (changed((SUPER + FLAG, "")), "no simple `super().__init__(...)`"),
    "1.x parameters": (changed((FLAG, ""), ("batch_idx):", "batch_idx, optimizer_idx):")), "Lightning 1.x"),
    "a Trainer that clips": (
        changed((FLAG, ""), (TRAINER, "Trainer(gradient_clip_val=0.5)")),
        "gradient_clip_val",
    ),
    "a window of batches": (
        step(
            """
optimizer = self.optimizers()
self.manual_backward(self.loss(batch))
if (batch_idx + 1) % 4 == 0:
    optimizer.step()
    optimizer.zero_grad()
""",
            (FLAG, ""),
        ),
        "some batches only",
    ),
}


@pytest.mark.parametrize(("text", "why"), REFUSED.values(), ids=REFUSED)
def test_is_left_to_a_person(text: str, why: str) -> None:
    assert_refused(text, CODE, why)


def test_the_flag_of_a_base_class_in_another_file_counts() -> None:
    base = (
        "from lightning.pytorch import LightningModule\n\n\nclass Base(LightningModule):\n    def __init__(self):\n"
        "        super().__init__()\n        self.automatic_optimization = False\n"
    )
    text = changed(
        (FLAG, ""),
        (CLASS, "class Model(Base):\n"),
        ("import LightningModule, Trainer", "import Trainer\nfrom base import Base"),
    )
    assert run_rules({"base.py": base, "train.py": text}, *RULES).findings == ()
    alone = base.replace("        self.automatic_optimization = False\n", "")
    found = run_rules({"base.py": alone, "train.py": text}, *RULES).findings
    assert {item.code for item in found} == {"TBP101"}


RETURNED = """
loss = self.loss(batch)
self.manual_backward(loss)
return loss
"""
UNCHECKED = "    def _verify_is_manual_optimization(self, name):\n        pass\n\n    def training_step"


OWN = "    def manual_backward(self, loss):\n        {}\n\n    def training_step"
STRATEGY = OWN.format("self.trainer.strategy.backward(loss, None)")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (step(RETURNED, (FLAG, "")), "refuses it"),
        (step(RETURNED, (FLAG, ""), ("    def training_step", OWN.format("super().manual_backward(loss)"))), "refuses"),
        (step("self.manual_backward(self.loss(batch))", (FLAG, "")), "refuses it"),
        (step(RETURNED, (FLAG, ""), ("    def training_step", UNCHECKED)), "a second time"),
    ],
)
def test_a_backward_pass_without_a_step(text: str, why: str) -> None:
    assert_refused(text, CODE, why)


@pytest.mark.parametrize("body", [RETURNED, "self.manual_backward(self.loss(batch))"])
def test_a_backward_pass_of_the_projects_own_is_not_refused(body: str) -> None:
    assert run_rules({"m.py": step(body, (FLAG, ""), ("    def training_step", STRATEGY))}, rule(CODE)).findings == ()


@pytest.mark.parametrize(
    "text",
    [
        step(RETURNED),
        step("if not self.automatic_optimization:\n    self.manual_backward(self.loss(batch))", (FLAG, "")),
        step("self.manual_backward(self.loss(batch))", (FLAG, ""), ("    def training_step", UNCHECKED)),
    ],
)
def test_a_backward_pass_that_is_let_pass(text: str) -> None:
    assert run_rules({"train.py": text}, rule(CODE)).findings == ()


def test_where_the_check_is_switched_off_schedulers_are_spoken_of() -> None:
    text = changed((FLAG, ""), ("    def training_step", UNCHECKED))
    assert [item.fix for item in run_rules({"train.py": text}, rule(CODE)).findings] == ["safe"]
    scheduled = text.replace(
        SGD,
        "        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)\n"
        "        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1)]\n",
    )
    assert [item.fix for item in run_rules({"train.py": scheduled}, rule(CODE)).findings] == ["unsafe"]
