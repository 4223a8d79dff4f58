"""BWD001: the spellings of a raw backward pass, and what they do under DDP and loss scaling before and after."""

from __future__ import annotations

import pytest

from codemods.rules.backward.bwd001 import AFTER, BEFORE, RULE
from tests.codemods.support import rewritten, run_rules
from tests.training import train

RAW = "loss.backward()"
MANUAL = "self.manual_backward(loss)"

SPELLINGS = {
    "kept arguments": (
        "loss.backward(retain_graph=True, inputs=[w])",
        "self.manual_backward(loss, retain_graph=True, inputs=[w])",
    ),
    "sum": ("(loss + 1).backward()", "self.manual_backward(loss + 1)"),
    "lines": (
        "(\n            loss  # main\n            + 1\n        ).backward()",
        "self.manual_backward(\n            loss  # main\n            + 1\n        )",
    ),
    "optimizer on a line of its own": (
        "self.manual_backward(\n            loss,\n            optimizer,\n        )",
        "self.manual_backward(\n            loss,\n        )",
    ),
    "attribute set before": (
        "self.seen = batch_idx\n        loss.backward()",
        "self.seen = batch_idx\n        self.manual_backward(loss)",
    ),
    "item of a dict": (
        'losses = {"g": loss}\n        losses["g"].backward()',
        'losses = {"g": loss}\n        self.manual_backward(losses["g"])',
    ),
    "call": ("loss.mean().backward()", "self.manual_backward(loss.mean())"),
    "hook": ("self.backward(loss, retain_graph=True)", "self.manual_backward(loss, retain_graph=True)"),
    "hook with the optimizer of 1.0": ("self.backward(loss, optimizer)", MANUAL),
    "hook with optimizer and index": ("self.backward(loss, optimizer, 0)", MANUAL),
    "optimizer of 1.0": (
        "self.manual_backward(loss, optimizer, retain_graph=True)",
        "self.manual_backward(loss, retain_graph=True)",
    ),
    "closure": (
        "def closure():\n            loss.backward()\n\n        optimizer.step(closure)",
        "def closure():\n            self.manual_backward(loss)\n\n        optimizer.step(closure)",
    ),
    "loss that grows": ("loss += 1\n        loss.backward()", f"loss += 1\n        {MANUAL}"),
    "loop over losses": (
        "for part in [loss, loss * 2]:\n            part.backward(retain_graph=True)",
        "for part in [loss, loss * 2]:\n            self.manual_backward(part, retain_graph=True)",
    ),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_spelling(name: str) -> None:
    before, after = SPELLINGS[name]
    files = rewritten({"train.py": BEFORE.replace(RAW, before)}, RULE)
    assert files["train.py"] == BEFORE.replace(RAW, after)


def test_autograd_backward_of_written_losses_is_that_of_their_sum() -> None:
    text = "import torch\n" + BEFORE.replace(RAW, "torch.autograd.backward([loss, loss if batch_idx else 2 * loss])")
    after = rewritten({"train.py": text}, RULE)["train.py"]
    assert "self.manual_backward(loss + (loss if batch_idx else 2 * loss))" in after


def test_autograd_backward_of_a_name_is_unsafe() -> None:
    text = "import torch\n" + BEFORE.replace(RAW, "torch.autograd.backward(loss, retain_graph=True)")
    assert [finding.fix for finding in run_rules({"train.py": text}, RULE).findings] == ["unsafe"]
    after = rewritten({"train.py": text}, RULE, unsafe=True)["train.py"]
    assert "self.manual_backward(loss, retain_graph=True)" in after


def test_helper_that_the_step_calls() -> None:
    text = BEFORE.replace(RAW, "self.descend(loss, optimizer)")
    text += "\n    def descend(this, value, optimizer):\n        value.backward()\n"
    after = rewritten({"train.py": text}, RULE)["train.py"]
    assert after == text.replace("value.backward()", "this.manual_backward(value)")


BASE = """\
from lightning.pytorch import LightningModule


class Base(LightningModule):
    automatic_optimization = False
"""


def test_flag_and_caller_in_a_base_of_another_file() -> None:
    base = BASE + "\n    def training_step(self, batch, batch_idx):\n        self.descend(self.net(batch).mean())\n"
    child = "from base import Base\n\n\nclass Child(Base):\n    def descend(self, loss):\n        loss.backward()\n"
    after = rewritten({"base.py": base, "child.py": child}, RULE)
    assert after == {"base.py": base, "child.py": child.replace("loss.backward()", MANUAL)}


def test_own_scaler_goes_on_scaling() -> None:
    text = "import torch\n" + BEFORE.replace(RAW, "self.scaler.scale(loss).backward()").replace(
        "self.net = net", "self.net, self.scaler = net, 1\n        self.scaler = torch.amp.GradScaler()"
    ).replace("self.net, self.scaler = net, 1", "self.net = net")
    after = rewritten({"train.py": text}, RULE)["train.py"]
    assert "self.manual_backward(self.scaler.scale(loss))" in after
    mixed = text + "\n\nimport lightning.pytorch as pl\n\ntrainer = pl.Trainer(precision='16-mixed')\n"
    made = run_rules({"train.py": mixed}, RULE)
    assert made.changes == ()
    assert "scales the loss too" in made.findings[0].reason


APEX = "with amp.scale_loss(loss, optimizer) as scaled:\n            scaled.backward(retain_graph=True)"


def test_apex_goes_with_its_import() -> None:
    text = "from apex import amp\n" + BEFORE.replace(RAW, APEX)
    assert [finding.fix for finding in run_rules({"train.py": text}, RULE).findings] == ["unsafe"]
    after = rewritten({"train.py": text}, RULE, unsafe=True)["train.py"]
    assert after == BEFORE.replace(RAW, "self.manual_backward(loss, retain_graph=True)")
    kept = text + "\n\nprint(amp)\n"
    assert "from apex import amp\n" in rewritten({"train.py": kept}, RULE, unsafe=True)["train.py"]


PROGRAM = """\
import torch
from lightning.pytorch import LightningModule, Trainer


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 1))

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        loss = self.net(batch[0] * (1 + self.global_rank)).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main():
    data = torch.utils.data.TensorDataset(torch.randn(8, 3))
    trainer = Trainer(max_epochs=1, accelerator="cpu"MORE)
    trainer.fit(Model(), torch.utils.data.DataLoader(data, batch_size=2))


if __name__ == "__main__":
    main()
"""
DDP = PROGRAM.replace("MORE", ', devices=2, strategy="ddp"')
SCALED = PROGRAM.replace(
    "MORE",
    ', plugins=MixedPrecision("16-mixed", "cpu", scaler=torch.amp.GradScaler("cpu", init_scale=256.0))',
).replace("\n\n\nclass", "\nfrom lightning.pytorch.plugins import MixedPrecision\n\n\nclass", 1)
RAWS = (RAW, "self.backward(loss)", "torch.autograd.backward([loss])")


@pytest.mark.parametrize("raw", RAWS)
def test_ranks_train_apart_before_and_together_after(raw: str) -> None:
    files = {"train.py": DDP.replace(RAW, raw)}
    apart = train(files, processes=2)
    together = train(rewritten(files, RULE), processes=2)
    assert apart.failure is None and together.failure is None
    assert apart.weights != apart.ranks[0].weights
    assert [step.gradient for step in apart.steps] != [step.gradient for step in apart.ranks[0].steps]
    assert together.weights == together.ranks[0].weights
    assert [step.gradient for step in together.steps] == [step.gradient for step in together.ranks[0].steps]


def test_scaler_refuses_before_and_trains_after() -> None:
    files = {"train.py": SCALED}
    broken, whole = train(files), train(rewritten(files, RULE))
    assert broken.failure is not None and "_scale is None" in broken.failure.message
    assert whole.failure is None and whole.global_step == 4


def test_apex_that_nobody_started_fails_before_and_trains_after() -> None:
    apex = (
        "import contextlib\n\n\n@contextlib.contextmanager\ndef scale_loss(loss, optimizer):\n"
        "    raise RuntimeError('internal Amp state has not been initialized')\n    yield loss\n"
    )
    program = "from apex import amp\n" + PROGRAM.replace(RAW, APEX).replace("MORE", "")
    files = {"train.py": program, "apex/__init__.py": "", "apex/amp.py": apex}
    broken, whole = train(files), train(rewritten(files, RULE, unsafe=True))
    assert broken.failure is not None and "not been initialized" in broken.failure.message
    assert whole.failure is None and whole.weights == train({"train.py": PROGRAM.replace("MORE", "")}).weights


def test_on_one_device_nothing_changes() -> None:
    files = {"train.py": PROGRAM.replace("MORE", "")}
    before, after = train(files), train(rewritten(files, RULE))
    assert before.failure is None and after.failure is None
    assert before.weights == after.weights and before.steps == after.steps


def test_optimizer_as_an_argument_fails_before() -> None:
    files = {"train.py": PROGRAM.replace("MORE", "").replace(RAW, "self.manual_backward(loss, optimizer)")}
    broken, whole = train(files), train(rewritten(files, RULE))
    assert broken.failure is not None and broken.failure.type == "TypeError"
    assert whole.failure is None and whole.global_step == 4


def test_own_scaler_trains_the_same() -> None:
    own = (
        PROGRAM.replace("MORE", "")
        .replace(RAW, "self.scaler.scale(loss).backward()")
        .replace("optimizer.step()", "self.scaler.step(optimizer)\n        self.scaler.update()")
        .replace("self.net =", 'self.scaler = torch.amp.GradScaler("cpu", init_scale=64.0)\n        self.net =')
    )
    before, after = train({"train.py": own}), train(rewritten({"train.py": own}, RULE))
    assert before.failure is None and after.failure is None
    assert before.weights == after.weights


def test_example_is_what_the_page_shows() -> None:
    assert rewritten({"train.py": BEFORE}, RULE) == {"train.py": AFTER}


AUTOMATIC = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def training_step(self, batch, batch_idx):
        first, second = self.optimizers()
        self.manual_backward(self(batch), first)
        first.step()
        self.manual_backward(self(batch), second)
        second.step()
"""


def test_an_optimizer_goes_from_manual_backward_though_the_flag_is_not_set() -> None:
    after = AUTOMATIC.replace(", first)", ")").replace(", second)", ")")
    assert rewritten({"a.py": AUTOMATIC}, RULE)["a.py"] == after
    assert rewritten({"a.py": after}, RULE)["a.py"] == after


GIVEN = """\
from pytorch_lightning import LightningModule


class Agent(LightningModule):
    def __init__(self, net, opts):
        super().__init__()
        self.net, self.opts = net, opts

    def help(self, loss, given):
        first = self.opts["a"]
        CALL
        first.step()
        self.opts["b"].zero_grad()
"""


@pytest.mark.parametrize(
    ("call", "level"),
    [
        ("self.manual_backward(loss, first)", "safe"),
        ("self.manual_backward(loss, self.opts['b'])", "safe"),
        ("self.manual_backward(loss, optimizer=given)", "safe"),
        ("self.manual_backward(loss, given.optimizer)", "manual"),
    ],
)
def test_an_optimizer_is_no_argument_wherever_the_call_stands(call: str, level: str) -> None:
    (finding,) = run_rules({"a.py": GIVEN.replace("CALL", call)}, RULE).findings
    assert finding.fix == level and "gradient" in finding.message
    after = rewritten({"a.py": GIVEN.replace("CALL", call)}, RULE)["a.py"]
    assert ("self.manual_backward(loss)\n" in after) == (level == "safe")


@pytest.mark.parametrize("automatic", [True, False])
def test_an_optimizer_that_the_project_takes_itself_stays(automatic: bool) -> None:
    head = (
        GIVEN
        if automatic
        else GIVEN.replace("        self.net,", "        self.automatic_optimization = False\n        self.net,")
    )
    text = head.replace("CALL", "self.manual_backward(loss, first)")
    hook = f"{text}\n    def backward(self, loss, optimizer):\n        loss.backward()\n"
    (finding,) = [each for each in run_rules({"a.py": hook}, RULE).findings if "gradient" in each.message]
    assert finding.fix == "manual" and "`backward` is overridden in Agent" in finding.reason
    own = f"{text}\n    def manual_backward(self, loss, optimizer):\n        loss.backward()\n"
    assert [each for each in run_rules({"a.py": own}, RULE).findings if "optimizer" in each.message] == []


@pytest.mark.parametrize("call", ["self.manual_backward(loss, given)", "self.manual_backward(loss, loss.new_ones(()))"])
def test_a_gradient_is_an_argument(call: str) -> None:
    assert run_rules({"a.py": GIVEN.replace("CALL", call)}, RULE).findings == ()
