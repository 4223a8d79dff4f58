"""BWD001: backward calls that are right, or not the module's own, and places it cannot judge."""

from __future__ import annotations

import pytest

from codemods.rules.backward.bwd001 import AFTER, BEFORE, RULE
from tests.codemods.support import refusals, rule, run_rules

RAW = "loss.backward()"
AUTOMATIC = BEFORE.replace("        self.automatic_optimization = False\n", "").replace(
    "        optimizer.zero_grad()\n        loss.backward()\n        optimizer.step()\n", "        return loss\n"
)

SILENT = {
    "already right": AFTER,
    "fabric": BEFORE.replace(RAW, "self.fabric.backward(loss)"),
    "accelerator of the module": BEFORE.replace(RAW, "accelerator.backward(loss)"),
    "engine as a parameter": BEFORE.replace(RAW, "self.go(loss, optimizer)")
    + "\n    def go(self, loss, engine):\n        engine.backward(loss)\n",
    "optimizer's own backward": BEFORE.replace(RAW, "optimizer.backward(loss)"),
    "backward hook": AFTER + "\n    def backward(self, loss, *args):\n        loss.backward(*args)\n",
    "helper of the backward hook": AFTER
    + "\n    def backward(self, loss):\n        self.go(loss)\n\n    def go(self, loss):\n        loss.backward()\n",
    "saliency map outside training": AFTER
    + "\n    def saliency(self, x):\n        self(x.requires_grad_()).sum().backward()\n        return x.grad\n",
    "validation": AFTER
    + "\n    def validation_step(self, batch, batch_idx):\n        self.net(batch).sum().backward()\n",
    "autograd.grad": AFTER.replace(
        "self.manual_backward(loss)", "torch.autograd.grad(loss, self.w)\n        self.manual_backward(loss)"
    ),
    "plain torch module": BEFORE.replace(
        "lightning.pytorch import LightningModule", "torch.nn import Module as LightningModule"
    ),
    "automatic optimization that returns its loss": AUTOMATIC,
    "input gradient under automatic optimization": AUTOMATIC.replace(
        "return loss", "loss.backward()\n        return self.net(batch + batch.grad.sign()).mean()"
    ),
    "optimizer of its own under automatic optimization": AUTOMATIC.replace(
        "return loss", "loss.backward()\n        self.head_optimizer.step()\n        return self.net(batch).mean()"
    ),
    "nested class": AFTER
    + "\n    class Exact(Function):\n        def training_step(self, loss):\n            loss.backward()\n",
    "callback": "from lightning.pytorch import Callback\n\n\nclass Online(Callback):\n"
    "    def on_train_batch_end(self, trainer, module, *args):\n        self.head(args).backward()\n",
}


@pytest.mark.parametrize("name", SILENT)
def test_left_alone_without_a_word(name: str) -> None:
    text = SILENT[name]
    made = run_rules({"train.py": text}, RULE, unsafe=True)
    assert made.changes == () and made.findings == ()


def raw(text: str) -> str:
    assert text != RAW
    return BEFORE.replace(RAW, text)


NAMED = {
    "input gradient": (
        raw("batch.requires_grad_()\n        self.net(batch).sum().backward()\n        noise = batch.grad.sign()"),
        "torch.autograd.grad",
    ),
    "unknown scaler": (raw("self.trainer.scaler.scale(loss).backward()"), "What scales the loss is not known"),
    "apex": (
        "from apex import amp\n"
        + raw(
            "with amp.scale_loss(loss, optimizer) as scaled:\n            scaled.backward()\n            print(scaled)"
        ),
        "amp.scale_loss of apex",
    ),
    "apex that is started by hand": (
        "from apex import amp\n\namp.initialize(None)\n"
        + raw("with amp.scale_loss(loss, optimizer) as scaled:\n            scaled.backward()"),
        "amp.initialize of apex is called in train.py",
    ),
    "object of the module": (raw("self.objective.backward()"), "cannot tell"),
    "flag by a parameter": (
        BEFORE.replace("__init__(self, net)", "__init__(self, net, automatic)").replace("= False", "= automatic"),
        "not clearly False",
    ),
    "flag in a branch": (
        BEFORE.replace("        self.automatic", "        if net:\n            self.automatic"),
        "not clearly False",
    ),
    "automatic subclass": (
        BEFORE + "\n\nclass Plain(Model):\n    def __init__(self):\n        super().__init__()\n"
        "        self.automatic_optimization = True\n",
        "not clearly False",
    ),
    "base from another library": (BEFORE.replace("lightning.pytorch import", "mine import"), "cannot be followed"),
    "overridden hook": (
        raw("self.backward(loss)") + "\n    def backward(self, loss):\n        loss.backward()\n",
        "overridden in Model",
    ),
    "static helper": (
        raw("self.go(loss)") + "\n    @staticmethod\n    def go(loss):\n        loss.backward()\n",
        "static method",
    ),
    "another self": (
        raw("def go(self):\n            loss.backward()\n\n        go(1)"),
        "may not be the module",
    ),
    "list of losses": (
        "import torch\n" + raw("losses = [loss]\n        torch.autograd.backward(losses)"),
        "several tensors",
    ),
    "one place that is not plain": (
        raw("loss.backward(retain_graph=True)\n        self.objective.backward()"),
        "of the same class is not",
    ),
    "useless under automatic optimization": (
        AUTOMATIC.replace("return loss", "loss.backward()\n        return loss"),
        "zeroes the gradients after training_step",
    ),
    "part of a module": (
        "from lightning.pytorch import LightningModule\n\n\n"
        "class Descends:\n    def descend(self, loss):\n        loss.backward()\n\n\n"
        "class Other(Descends, LightningModule):\n    automatic_optimization = False\n\n\n"
        "class Model(Descends, LightningModule):\n    automatic_optimization = False\n\n"
        "    def training_step(self, batch, batch_idx):\n        self.descend(self.net(batch))\n",
        "in every subclass",
    ),
}


@pytest.mark.parametrize("name", NAMED)
def test_named_and_left(name: str) -> None:
    text, reason = NAMED[name]
    made = run_rules({"train.py": text}, RULE, unsafe=True)
    assert made.changes == () and made.bugs == ()
    assert {finding.fix for finding in made.findings} == {"manual"}
    assert any(reason in finding.reason for finding in made.findings)


def test_hooks_that_were_never_called_make_it_unsafe() -> None:
    hooked = BEFORE + "\n    def on_after_backward(self):\n        self.count += 1\n"
    made = run_rules({"train.py": hooked}, RULE)
    assert [finding.fix for finding in made.findings] == ["unsafe"]
    assert "on_after_backward of Model" in made.findings[0].reason
    callback = "from lightning.pytorch import Callback\n\n\nclass Watch(Callback):\n"
    callback += "    def on_before_backward(self, *args):\n        pass\n"
    made = run_rules({"train.py": BEFORE, "watch.py": callback}, RULE)
    assert "on_before_backward of Watch (watch.py)" in made.findings[0].reason


PLAIN_STEPS = {
    "kept by the module": (
        "import torch\n"
        + BEFORE.replace("optimizer.step()", "self.own.step()")
        + "\n    def setup(self, stage):\n        self.own = torch.optim.SGD(self.parameters(), 0.1)\n"
    ),
    "unwrapped": BEFORE.replace("self.optimizers()", "self.optimizers(use_pl_optimizer=False)"),
    "inner": BEFORE.replace("optimizer.step()", "optimizer.optimizer.step()"),
}


@pytest.mark.parametrize("name", PLAIN_STEPS)
def test_steps_that_do_not_unscale(name: str) -> None:
    """Loss scaling that only one half of the pair knows of would make the step as many times as large."""
    made = run_rules({"train.py": PLAIN_STEPS[name]}, RULE)
    assert [finding.fix for finding in made.findings] == ["unsafe"]
    assert "does not unscale" in made.findings[0].reason
    trainer = "import lightning.pytorch as pl\n\ntrainer = pl.Trainer(precision='16-mixed')\n"
    made = run_rules({"train.py": PLAIN_STEPS[name], "run.py": trainer}, RULE, unsafe=True)
    assert [finding.fix for finding in made.findings] == ["manual"]


def test_gradients_read_by_hand_make_it_unsafe() -> None:
    text = raw("loss.backward()\n        for p in self.parameters():\n            p.grad.clamp_(-1, 1)")
    made = run_rules({"train.py": text}, RULE)
    assert [(finding.fix, "16-mixed" in finding.reason) for finding in made.findings] == [("unsafe", True)]


def test_an_ignored_place_keeps_the_class_as_it_is() -> None:
    text = raw("loss.backward(retain_graph=True)\n        loss.backward()  # fixer: ignore[BWD001]")
    assert run_rules({"train.py": text}, RULE).changes == ()


MODULE_OF_CALLBACK = """\
from lightning.pytorch import LightningModule


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False

    def training_step(self, batch, batch_idx):
        self.manual_backward(self.net(batch).mean())
        self.optimizers().step()
"""
CALLING = """\
from lightning.pytorch import Callback


class Penalty(Callback):
    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):
        out = pl_module.net(batch)
        loss = out.pow(2).mean()
        loss.backward()
"""


@pytest.mark.parametrize(
    ("old", "new", "loss"),
    [
        ("", "", "loss"),
        ("loss.backward()", "pl_module.backward(loss)", "loss"),
        ("loss.backward()", "(loss + pl_module.penalty()).backward()", "loss + pl_module.penalty()"),
    ],
)
def test_a_callback_that_goes_backward_through_its_module_is_named(old: str, new: str, loss: str) -> None:
    files = {"model.py": MODULE_OF_CALLBACK, "callback.py": CALLING.replace(old, new) if old else CALLING}
    (reason,) = refusals(files, "BWD001")
    assert f"`pl_module.manual_backward({loss})` scales the loss" in reason


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("pl_module.net(batch)", "self.probe(pl_module.net(batch).detach())"),
        ("pl_module.net(batch)", "self.probe(batch)"),
        ("self.automatic_optimization = False", "self.net = None"),
        ("(Callback)", "(object)"),
        ("loss.backward()", "loss.backward()\n        self.optimizer.step()"),
        (
            "        out = pl_module.net(batch)",
            "        with torch.no_grad():\n            seen = pl_module.net(batch)\n        out = self.probe(seen)",
        ),
    ],
)
def test_a_callback_that_trains_its_own_is_left_alone(old: str, new: str) -> None:
    files = {"model.py": MODULE_OF_CALLBACK, "callback.py": CALLING}
    changed = {path: text.replace(old, new) for path, text in files.items()}
    assert changed != files
    assert run_rules(changed, rule("BWD001")).findings == ()


def test_a_loss_that_is_added_up_line_by_line_is_followed_to_an_end() -> None:
    lines = "".join(f"        loss = loss + self.terms[{number}](batch) * loss\n" for number in range(40))
    files = {"model.py": MODULE_OF_CALLBACK, "callback.py": CALLING.replace("        loss.b", lines + "        loss.b")}
    (reason,) = refusals(files, "BWD001")
    assert "`pl_module.manual_backward(loss)`" in reason
