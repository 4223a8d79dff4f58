"""GRD001 and GRD002: losses that are followed into other classes and files, by training."""

from __future__ import annotations

import pytest

from codemods.engine.plan import Plan
from codemods.finding import Finding
from codemods.rules.gradients.grd001 import RULE as GRD001
from codemods.rules.gradients.grd002 import RULE as GRD002
from tests.codemods.rules.gradients.test_grd_trained import EVERY, NOTHING_REQUIRES, STEP, program, run
from tests.codemods.support import rewritten, run_rules
from tests.training import differences

CRITERION = """\
class Criterion(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = 2.0

    def forward(self, out, y):
        loss = F.mse_loss(out, y)
        return {}


"""
HEAD = "import torch\nimport torch.nn.functional as F\n\n\n"
KEPT = "        self.criterion = Criterion()"


def with_criterion(result: str, step: str = STEP) -> str:
    text = program(step.replace("F.mse_loss(self(x), y)", "self.criterion(self(x), y)"), KEPT)
    return text.replace("class Model", CRITERION.format(result) + "class Model", 1)


def apart(result: str, step: str = STEP) -> dict[str, str]:
    text = with_criterion(result, step).replace(CRITERION.format(result), "")
    text = text.replace("from pytorch_lightning", "from losses import Criterion\nfrom pytorch_lightning", 1)
    return {"train.py": text, "losses.py": HEAD + CRITERION.format(result).rstrip("\n") + "\n"}


def plan_of(files: dict[str, str]) -> Plan:
    made = run_rules(files, GRD001, GRD002)
    assert made.bugs == ()
    return made


def findings(files: dict[str, str]) -> tuple[Finding, ...]:
    made = plan_of(files)
    assert made.changes == ()
    return made.findings


@pytest.mark.parametrize("result", ["loss.detach()", "torch.tensor(loss)", "loss.data"])
def test_a_criterion_that_cuts_the_loss_is_repaired(result: str) -> None:
    before = with_criterion(result)
    broken = run(before)
    assert broken.failure is not None and NOTHING_REQUIRES in broken.failure.message
    after = rewritten({"train.py": before}, GRD001)["train.py"]
    assert after == with_criterion("loss")
    trained = run(after)
    assert trained.returned == EVERY
    assert list(differences(trained, run(program()))) == []


def test_a_number_that_others_may_read_makes_all_of_its_loss_unsafe() -> None:
    step = STEP.replace("return loss", "return torch.tensor(loss)").replace("loss.item()", "loss")
    text = with_criterion("loss.item()", step)
    made = plan_of({"train.py": text})
    assert {(item.code, item.fix) for item in made.findings} == {("GRD001", "unsafe")}
    assert made.changes == ()


def test_a_criterion_of_another_file_is_named() -> None:
    files = apart("loss.detach()")
    broken = run(files["train.py"], **{"losses.py": files["losses.py"]})
    assert broken.failure is not None and NOTHING_REQUIRES in broken.failure.message
    (found,) = findings(files)
    assert (found.code, found.fix, found.path) == ("GRD001", "manual", "train.py")
    assert "`loss.detach()` (losses.py:12)" in found.message
    line = files["train.py"].splitlines()[found.span.line - 1]
    assert line.strip() == "loss = self.criterion(self(x), y)"


@pytest.mark.parametrize("decorator", ["@torch.no_grad()", "@torch.inference_mode()"])
def test_a_criterion_without_gradients_is_named(decorator: str) -> None:
    files = apart("loss")
    files["losses.py"] = files["losses.py"].replace("    def forward", f"    {decorator}\n    def forward")
    broken = run(files["train.py"], **{"losses.py": files["losses.py"]})
    assert broken.failure is not None and NOTHING_REQUIRES in broken.failure.message
    (found,) = findings(files)
    assert (found.code, found.fix, found.path) == ("GRD002", "manual", "train.py")
    own = with_criterion("loss").replace("    def forward(self, out", f"    {decorator}\n    def forward(self, out")
    assert [(item.code, item.fix) for item in findings({"train.py": own})] == [("GRD002", "manual")]


LEFT = {
    "plain": ("loss", STEP),
    "a pair": ("loss, loss.detach()", STEP.replace("loss = ", "loss, shown = ")),
    "a dict": ('{"loss": loss, "shown": loss.item()}', STEP.replace("self(x), y)", 'self(x), y)["loss"]')),
    "one branch": ("loss if self.training else loss.detach()", STEP),
    "parameters": ("loss.detach() * self.weight", STEP),
    "logged": ("loss", STEP.replace("loss.item()", "loss.detach()")),
}


@pytest.mark.parametrize("name", LEFT)
def test_a_criterion_that_keeps_the_history_is_left(name: str) -> None:
    result, step = LEFT[name]
    assert findings({"train.py": with_criterion(result, step)}) == ()
    assert findings(apart(result, step)) == ()


def test_the_loss_of_a_pair_is_told_from_what_is_logged() -> None:
    step = STEP.replace("loss = ", "shown, loss = ")
    found = plan_of({"train.py": with_criterion("loss, loss.detach()", step)}).findings
    assert [(item.code, item.fix) for item in found] == [("GRD001", "safe")]


def test_a_class_that_another_derives_from_it_is_not_taken_for() -> None:
    files = apart("loss.detach()")
    files["train.py"] = files["train.py"].replace("Criterion()", "Criterion() if self.hparams else make()")
    assert findings(files) == ()


BASE = """\
import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule


class Base(LightningModule):
    def loss(self, out, y):
        return {}
"""


def derived(result: str) -> dict[str, str]:
    text = program(STEP.replace("F.mse_loss(self(x), y)", "self.loss(self(x), y)"))
    text = text.replace("from pytorch", "from base import Base\nfrom pytorch").replace("(LightningModule)", "(Base)")
    return {"train.py": text, "base.py": BASE.format(result)}


def test_a_method_of_a_base_in_another_file_is_followed() -> None:
    files = derived("F.mse_loss(out, y).detach()")
    broken = run(files["train.py"], **{"base.py": files["base.py"]})
    assert broken.failure is not None and NOTHING_REQUIRES in broken.failure.message
    (found,) = findings(files)
    assert (found.fix, found.path) == ("manual", "train.py") and "(base.py:8)" in found.message
    assert findings(derived("F.mse_loss(out, y)")) == ()
    above = files["train.py"].replace(
        "    def training_step",
        "    def loss(self, out, y):\n        return F.mse_loss(out, y)\n\n    def training_step",
    )
    assert findings(files | {"train.py": above}) == ()


@pytest.mark.parametrize(
    "loss", ["self(x).argmax(1).float().mean()", "(self(x) > y).float().mean()", "torch.tensor(self(x).numpy()).mean()"]
)
def test_what_has_no_gradient_fails_and_is_named(loss: str) -> None:
    text = program(STEP.replace("F.mse_loss(self(x), y)", loss))
    broken = run(text)
    assert broken.failure is not None and "grad" in broken.failure.message
    assert {item.fix for item in findings({"train.py": text})} == {"manual"}
