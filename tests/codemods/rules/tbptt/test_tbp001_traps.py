"""TBP001: shapes on which a rewrite would train otherwise without anybody seeing it."""

from __future__ import annotations

import pytest

from codemods.engine.normal_form_findings import WRITTEN
from codemods.rules.tbptt.tbp001 import BEFORE
from tests.codemods.support import refusals, rewritten, rule, run_rules

TBP = rule("TBP001")
CLIP = "max_epochs=2, gradient_clip_val=0.5"
OPTIMIZER = "torch.optim.SGD(self.parameters(), lr=0.1)"
SCHEDULER = "torch.optim.lr_scheduler.StepLR(o, 1)"
OTHER = "\n\nclass Other(LightningModule):\n    pass\n\n\ndef other(loader):\n"
SETUP = "    def configure_optimizers(self):\n"


def changed(*replacements: tuple[str, str]) -> str:
    text = BEFORE
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    return text


def optimizers(*lines: str) -> str:
    return changed((f"        return {OPTIMIZER}\n", "".join(f"        {line}\n" for line in lines)))


HANDED_ON = BEFORE.replace("trainer.fit(Model(), loader)", "go(trainer, loader)")
REFUSED = {
    "scheduler's dict updated": (
        optimizers(
            f"o = {OPTIMIZER}", f's = {{"scheduler": {SCHEDULER}}}', 's.update(interval="step")', "return [o], [s]"
        ),
        "fixer cannot tell what it is",
    ),
    "optimizer bound by a loop too": (
        optimizers(f"o = {OPTIMIZER}", "for o in self.more:", "    pass", "return o"),
        "fixer cannot tell what it is",
    ),
    "annotated flag in the class": (
        changed(("    def __init__", "    automatic_optimization: bool = False\n\n    def __init__")),
        "set other than to True in __init__",
    ),
    "decorated": (
        changed(("    def training_step", "    @typing.no_type_check\n    def training_step")),
        "training_step is decorated with `@typing.no_type_check`.",
    ),
    "optimizers kept by the name of a method": (
        optimizers(f"self.optimizers = {OPTIMIZER}", f"return {OPTIMIZER}"),
        "hides the method that the loop calls",
    ),
    "backward by hand": (
        changed(("        self.log(", "        self.manual_backward(loss)\n        self.log(")),
        "optimizes by hand in line",
    ),
    "flag as a property": (
        changed((SETUP, "    @property\n    def automatic_optimization(self):\n        return False\n\n" + SETUP)),
        "automatic_optimization",
    ),
    "logging between chunks": (
        changed(
            (SETUP, '    def on_after_backward(self):\n        self.log("norm", self.norm())\n\n' + SETUP),
            ("loss)\n        return", "loss, on_epoch=True)\n        return"),
        ),
        "logs between two chunks",
    ),
    "step under another name too": (
        changed((SETUP, "    validation_step = training_step\n\n" + SETUP)),
        "used by name in line",
    ),
    "nested batch": (changed(("x, y = batch", "(x, z), y = batch")), "a sequence itself"),
    "index named like a variable of the loop": (
        changed(("batch_idx, hiddens)", "output, hiddens)")),
        "a name that the loop needs",
    ),
    "hiddens by keyword only": (changed(("batch_idx, hiddens)", "batch_idx, *, hiddens=None)")), "hiddens"),
    "one Trainer clips, the other does not": (
        HANDED_ON + "\n\ndef other(loader):\n    t = Trainer()\n    t.fit(Model(), loader)\n",
        "some of them do not",
    ),
    "clipping in a dict": (HANDED_ON.replace(CLIP, "**dict(gradient_clip_val=0.5)"), "from where it may reach"),
    "clipping from the command line": (
        HANDED_ON.replace(CLIP, "**options") + '\n\nparser.add_argument("--gradient_clip_val", type=float)\n',
        "from where it may reach",
    ),
    "subclass of Trainer": (
        changed(
            ("class Model", "class MyTrainer(Trainer):\n    def fit(self, *given):\n        ...\n\n\nclass Model"),
            ("= Trainer(", "= MyTrainer("),
        ),
        "from where it may reach",
    ),
    "weights averaged": (
        changed((CLIP, "callbacks=[StochasticWeightAveraging()]")),
        "replaces the schedulers",
    ),
    "name taken": (changed(("class Model", "def apply_to_collection(x):\n    ...\n\n\nclass Model")), "something else"),
    "class written twice": (BEFORE + "\n\n" + BEFORE, "two classes"),
}


def test_accumulation_that_may_reach_a_trainer_is_doubted() -> None:
    """With more than one batch there is nothing to be the same as, and manual optimization says so itself."""
    text = changed((CLIP, "**dict(accumulate_grad_batches=count)"))
    made = run_rules({"train.py": text}, TBP)
    (found,) = made.findings
    assert (found.fix, found.applied) == ("unsafe", False)
    assert "accumulate_grad_batches is also in train.py" in found.reason
    assert "more than 1 is an error" in found.reason


def test_a_value_of_its_own_by_the_name_of_the_trainers_is_doubted() -> None:
    text = changed(("super().__init__()", "super().__init__()\n        self.gradient_clip_val = 5.0"))
    found = run_rules({"train.py": text}, TBP).findings
    assert {item.fix for item in found} == {"unsafe"}
    assert "Model (train.py) sets `gradient_clip_val` itself" in found[0].reason


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED.keys())
def test_refused_with_the_reason(case: tuple[str, str]) -> None:
    text, reason = case
    found = refusals({"train.py": text}, "TBP001")
    assert reason in found[0]
    assert all(reason in item or item.startswith(WRITTEN) for item in found)


ELSEWHERE = {
    "callback that reads the outputs": (
        "from pytorch_lightning import Callback\n\n\nclass Show(Callback):\n"
        "    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):\n        print(outputs)\n",
        "outputs of the chunks",
    ),
    "callback of a hook that is not called": (
        "from pytorch_lightning.callbacks import ModelCheckpoint\n\n\nclass Show(ModelCheckpoint):\n"
        "    def on_before_zero_grad(self, trainer, module, optimizer):\n        ...\n",
        "does not call",
    ),
    "subclass of Trainer": (
        "from pytorch_lightning import Trainer\n\n\nclass Mine(Trainer):\n    def __init__(self):\n"
        "        super().__init__(gradient_clip_val=0.5)\n",
        "from where it may reach",
    ),
    "another module that the Trainer may fit": (
        "import pytorch_lightning as pl\n\n\nclass Other(pl.LightningModule):\n    def training_step(self, b, i):\n"
        "        ...\n",
        "may train other modules too",
    ),
    "caller": ("from train import Model\n\nModel().training_step(None, 0, None)\n", "called by name in more.py"),
    "subclass after a star import": (
        "from train import *\n\n\nclass Child(Model):\n    def optimizer_step(self, *args):\n        ...\n",
        "Child",
    ),
    "mixin beside it in a subclass": (
        "from train import Model\n\n\nclass Mixin:\n    def tbptt_split_batch(self, batch, k):\n        ...\n\n\n"
        "class Child(Mixin, Model):\n    pass\n",
        "Mixin",
    ),
}


@pytest.mark.parametrize("case", ELSEWHERE.values(), ids=ELSEWHERE.keys())
def test_other_files_forbid_it(case: tuple[str, str]) -> None:
    text, reason = case
    own = {
        "from where it may reach": changed(("Trainer(max_epochs=2, gradient_clip_val=0.5)", "Mine()")),
        "may train other modules too": HANDED_ON,
    }
    found = refusals({"train.py": own.get(reason, BEFORE), "more.py": text}, "TBP001")
    assert any(reason in item for item in found)


def test_base_in_another_file_that_chooses_the_optimization_forbids_it() -> None:
    base = (
        "from pytorch_lightning import LightningModule\n\n\nclass Base(LightningModule):\n"
        "    def __init__(self):\n        super().__init__()\n        self.automatic_optimization = False\n"
    )
    text = changed(("(LightningModule)", "(Base)"), ("LightningModule, Trainer", "Trainer\nfrom base import Base"))
    assert "kind of optimization" in refusals({"train.py": text, "base.py": base}, "TBP001")[0]


def test_trainer_of_another_module_in_the_file_keeps_its_clipping() -> None:
    text = BEFORE + OTHER + "    t = Trainer(gradient_clip_val=0.1)\n    t.fit(Other(), loader)\n"
    after = rewritten({"train.py": text}, TBP)["train.py"]
    assert "trainer = Trainer(max_epochs=2)" in after
    assert "t = Trainer(gradient_clip_val=0.1)" in after


@pytest.mark.parametrize("test", ["    t = Trainer()\n    t.test(Model())\n", "    Trainer().predict(Model())\n"])
def test_trainer_that_only_evaluates_does_not_count(test: str) -> None:
    after = rewritten({"train.py": BEFORE + "\n\ndef test():\n" + test}, TBP)["train.py"]
    assert "    gradient_clip_val = 0.5\n" in after


def test_old_parameter_of_the_hook_goes_without_clipping_too() -> None:
    hook = "    def on_before_optimizer_step(self, optimizer, optimizer_idx):\n        self.seen = True\n\n"
    after = rewritten({"train.py": changed((", gradient_clip_val=0.5", ""), (SETUP, hook + SETUP))}, TBP)["train.py"]
    assert "def on_before_optimizer_step(self, optimizer):\n" in after


def test_rewritten_class_is_no_finding_any_more() -> None:
    after = rewritten({"train.py": BEFORE}, TBP)
    assert run_rules(after, TBP).findings == ()


def test_parameters_over_several_lines_keep_their_layout() -> None:
    head = "(\n        self,\n        batch,  # b\n        batch_idx,\n        hiddens,  # h\n    )"
    after = rewritten({"train.py": changed(("(self, batch, batch_idx, hiddens)", head))}, TBP)["train.py"]
    assert "    def training_step(\n        self,\n        batch,  # b\n        batch_idx,\n    ):\n" in after
    assert f"    def training_chunk{head}:\n" in after


ARMS = """\
import torch
from pytorch_lightning import LightningModule


class Model(LightningModule):
    truncated_bptt_steps = 2

    def training_step(self, batch, batch_idx, optimizer_idx, hiddens):
        x, y = batch
        out, hiddens = self.rnn(x, hiddens)
        if optimizer_idx == 0:
            return {"loss": out.sum(), "hiddens": hiddens}
        if optimizer_idx == 1:
            return {"loss": out.mean(), "hiddens": hiddens}

    def configure_optimizers(self):
        one = torch.optim.SGD(self.rnn.parameters(), lr=0.1)
        two = torch.optim.SGD(self.head.parameters(), lr=0.1)
        return [one, two]
"""


def test_an_arm_for_every_optimizer_always_gives_a_result() -> None:
    assert "training_chunk" in rewritten({"a.py": ARMS}, rule("TBP001"))["a.py"]


def test_an_optimizer_without_an_arm_has_no_result() -> None:
    text = ARMS.replace("return [one, two]", "return [one, two, torch.optim.SGD(self.tail.parameters(), lr=0.1)]")
    [reason] = refusals({"a.py": text}, "TBP001")
    assert "can end without a result" in reason


def test_a_hook_that_logs_between_two_optimizers_is_refused() -> None:
    hook = '    def on_before_optimizer_step(self, optimizer, optimizer_idx):\n        self.log("rate", 1.0)\n\n'
    text = ARMS.replace("    def configure_optimizers", hook + "    def configure_optimizers")
    [reason] = refusals({"a.py": text}, "TBP001")
    assert "logs between two chunks" in reason
