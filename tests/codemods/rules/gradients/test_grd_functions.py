"""GRD001 and GRD002: losses that are followed into functions, and what switches gradients off there, by training."""

from __future__ import annotations

import pytest
import torch

from codemods.rules.gradients.grd001 import RULE as GRD001
from codemods.rules.gradients.grd002 import RULE as GRD002
from tests.codemods.rules.gradients.test_grd_followed import findings, plan_of
from tests.codemods.rules.gradients.test_grd_trained import EVERY, NOTHING_REQUIRES, STEP, program, run
from tests.codemods.support import rewritten, run_rules
from tests.training import differences

FUNCTION = """\
def error(out, y, scale=1.0):
    loss = F.mse_loss(out, y) * scale
    return {}


"""
CALLED = STEP.replace("F.mse_loss(self(x), y)", "error(self(x), y)")
HEAD = "import torch\nimport torch.nn.functional as F\n\n\n"


def with_function(result: str, step: str = CALLED) -> str:
    return program(step).replace("class Model", FUNCTION.format(result) + "class Model", 1)


def apart(result: str) -> dict[str, str]:
    text = program(CALLED).replace("from pytorch", "from losses import error\nfrom pytorch", 1)
    return {"train.py": text, "losses.py": HEAD + FUNCTION.format(result).rstrip("\n") + "\n"}


@pytest.mark.parametrize("result", ["loss.detach()", "torch.tensor(loss)", "torch.tensor(loss.item())"])
def test_a_function_that_cuts_the_loss(result: str) -> None:
    before = with_function(result)
    broken = run(before)
    assert broken.failure is not None and NOTHING_REQUIRES in broken.failure.message
    assert {(item.code, item.fix) for item in plan_of({"train.py": before}).findings} == {("GRD001", "unsafe")}
    after = rewritten({"train.py": before}, GRD001, unsafe=True)["train.py"]
    assert after == with_function("loss")
    trained = run(after)
    assert trained.returned == EVERY
    assert list(differences(trained, run(program()))) == []


def test_two_cuts_of_one_loss_go_together_or_stay() -> None:
    criterion = "class Error(torch.nn.Module):\n    def forward(self, out, y):\n        return {}\n\n\n"
    text = program(STEP.replace("F.mse_loss(self(x), y)", "self.error(self(x), y)"))
    text = text.replace("super().__init__()\n", "super().__init__()\n        self.error = Error()\n", 1)
    before = text.replace("class Model", criterion.format("torch.tensor(F.mse_loss(out, y).item())") + "class Model", 1)
    assert {item.fix for item in findings({"train.py": before})} == {"unsafe"}
    assert rewritten({"train.py": before}, GRD001)["train.py"] == before
    after = text.replace("class Model", criterion.format("F.mse_loss(out, y)") + "class Model", 1)
    assert rewritten({"train.py": before}, GRD001, unsafe=True)["train.py"] == after


def test_a_function_of_another_file_is_named() -> None:
    files = apart("loss.detach()")
    broken = run(files["train.py"], **{"losses.py": files["losses.py"]})
    assert broken.failure is not None and NOTHING_REQUIRES in broken.failure.message
    (found,) = findings(files)
    assert (found.fix, found.path) == ("manual", "train.py") and "`loss.detach()` (losses.py:7)" in found.message


@pytest.mark.parametrize("result", ["loss", "loss + loss.detach()", "loss if scale else loss.detach()"])
def test_functions_that_keep_the_history_are_left(result: str) -> None:
    assert findings({"train.py": with_function(result)}) == ()
    assert findings(apart(result)) == ()


def test_a_function_without_gradients_is_named() -> None:
    text = with_function("loss").replace("def error", "@torch.no_grad()\ndef error")
    broken = run(text)
    assert broken.failure is not None and NOTHING_REQUIRES in broken.failure.message
    assert [(item.code, item.fix) for item in findings({"train.py": text})] == [("GRD002", "manual")]


@pytest.mark.parametrize("decorator", ["@torch.jit.script", "@cached"])
def test_what_a_decorator_makes_of_a_function_is_not_known(decorator: str) -> None:
    assert findings({"train.py": with_function("loss.detach()").replace("def error", f"{decorator}\ndef error")}) == ()


LOSS = "        loss = F.mse_loss(self(x), y)\n"
OFF = {
    "for good": "        torch.set_grad_enabled(False)\n",
    "a context in a name": "        off = torch.no_grad()\n        with off:\n    ",
}


@pytest.mark.parametrize("name", OFF)
def test_gradients_that_are_switched_off_otherwise(name: str) -> None:
    text = program(STEP.replace(LOSS, OFF[name] + LOSS))
    broken = run(text)
    assert broken.failure is not None and NOTHING_REQUIRES in broken.failure.message
    assert [(item.code, item.fix) for item in findings({"train.py": text})] == [("GRD002", "manual")]


@pytest.mark.parametrize("contexts", ["{}, {}", "({}, {})"])
@pytest.mark.parametrize("off", [0, 1])
def test_one_of_several_contexts_is_named_and_goes(contexts: str, off: int) -> None:
    both = ["torch.inference_mode()", "torch.profiler.record_function('loss')"][:: -1 if off else 1]
    step = STEP.replace(LOSS, f"        with {contexts.format(*both)}:\n    {LOSS}")
    (found,) = plan_of({"train.py": program(step)}).findings
    assert found.fix == "safe" and "`with torch.inference_mode():`" in found.message
    after = rewritten({"train.py": program(step)}, GRD002)["train.py"]
    assert after == program(step.replace("torch.inference_mode(), ", "").replace(", torch.inference_mode()", ""))
    if contexts == "{}, {}" and off:
        broken = run(program(step))
        assert broken.failure is not None and NOTHING_REQUIRES in broken.failure.message
        assert run(after).returned == EVERY


@pytest.mark.parametrize("off", [0, 1])
def test_contexts_on_lines_of_their_own_stay_as_they_stand(off: int) -> None:
    both = ["torch.no_grad()", "torch.profiler.record_function('loss')"][:: -1 if off else 1]
    lines = "".join(f"            {context},\n" for context in both)
    text = program(STEP.replace(LOSS, f"        with (\n{lines}        ):\n    {LOSS}"))
    assert rewritten({"train.py": text}, GRD002)["train.py"] == text.replace("            torch.no_grad(),\n", "")


@pytest.mark.parametrize("contexts", ["torch.no_grad() as off", "torch.no_grad() as off, open(x) as other"])
def test_a_context_with_a_name_stays(contexts: str) -> None:
    text = program(STEP.replace(LOSS, f"        with {contexts}:\n    {LOSS}"))
    assert [(item.code, item.fix) for item in findings({"train.py": text})] == [("GRD002", "manual")]


SHARED = """\
    def shared(self, x, y, train={}):
        with torch.set_grad_enabled(train):
            return F.mse_loss(self(x), y)

    def training_step(self, batch, batch_idx):
        x, y = batch
        return self.shared(x, y{})
"""


@pytest.mark.parametrize(
    ("default", "given", "lost"),
    [("False", "", True), ("True", ", False", True), ("True", ", train=False", True), ("False", ", True", False),
     ("False", ", train=True", False), ("True", "", False), ("None", ", self.training", False)],
)  # fmt: skip
def test_a_mode_that_a_parameter_sets(default: str, given: str, lost: bool) -> None:
    text = program(SHARED.format(default, given).rstrip("\n"))
    trained = run(text)
    assert (trained.failure is not None and NOTHING_REQUIRES in trained.failure.message) is lost
    assert [item.code for item in findings({"train.py": text})] == ["GRD002"] * lost


def test_a_mode_under_a_condition_is_not_known() -> None:
    step = STEP.replace(LOSS, f"        if self.hparams:\n            torch.set_grad_enabled(False)\n{LOSS}")
    assert findings({"train.py": program(step)}) == ()


def test_what_rebuilds_a_tensor() -> None:
    """`torch.Tensor` of a tensor keeps its history, of a list it loses it; the others lose it always."""
    number = torch.ones((), requires_grad=True) * 2
    assert torch.Tensor(number).requires_grad and torch.FloatTensor(number.reshape(1)).requires_grad
    assert not torch.Tensor([number, number]).requires_grad
    assert not torch.autograd.Variable(number).requires_grad
    assert not torch.ones(2).new_tensor(number).requires_grad


def test_a_tensor_that_keeps_its_history_is_left() -> None:
    step = STEP.replace("return loss", "return torch.Tensor(loss)")
    assert run(program(step)).returned == EVERY
    assert findings({"train.py": program(step)}) == ()


@pytest.mark.parametrize(
    "result",
    [
        "torch.tensor(losses).mean()",
        "torch.Tensor(losses).mean()",
        "torch.FloatTensor(losses).sum()",
        "torch.tensor(list({'a': loss}.values())).sum()",
        "torch.tensor((loss, loss)).sum()",
        "torch.tensor([*losses]).sum()",
        "torch.tensor(self.pair(loss)).sum()",
        "x.new_tensor(loss)",
    ],
)
def test_a_list_of_losses_is_no_tensor(result: str) -> None:
    step = STEP.replace("        return loss", f"        losses = [loss, loss]\n        return {result}")
    text = program(f"    def pair(self, loss):\n        return loss, loss\n\n{step}")
    broken = run(text)
    assert broken.failure is not None and NOTHING_REQUIRES in broken.failure.message
    assert {item.fix for item in findings({"train.py": text})} == {"manual"}


def test_numbers_that_are_summed_and_made_a_tensor_again() -> None:
    end = "losses = [loss, loss]\n        {}"
    old = "return torch.tensor(sum([part.item() for part in losses]), requires_grad=True)"
    before = program(STEP.replace("return loss", end.format(old)))
    after = rewritten({"train.py": before}, GRD001)["train.py"]
    assert after == program(STEP.replace("return loss", end.format("return sum([part for part in losses])")))
    assert run(before).returned == [] and run(after).returned == EVERY


def test_a_metric_is_no_loss() -> None:
    step = STEP.replace("F.mse_loss(self(x), y)", "1 - self.accuracy(self(x), y)")
    made = "        self.accuracy = torchmetrics.Accuracy(task='binary')"
    text = f"import torchmetrics\n{program(step, made)}"
    assert [item.fix for item in findings({"train.py": text})] == ["manual"]
    error = text.replace("Accuracy(task='binary')", "MeanSquaredError()")
    assert run_rules({"train.py": error}, GRD001, GRD002).findings == ()
