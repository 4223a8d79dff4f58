"""LIT201: what is kept for the hook, where the list lives, and the traps that are left."""

from __future__ import annotations

import pytest

from codemods.rules.hooks.lit201 import BEFORE
from tests.codemods.support import refusals, rewritten, rule, run_rules

LIT = rule("LIT201")
HOOK = "    def validation_epoch_end(self, outputs):\n"
STEP = "    def validation_step(self, batch, batch_idx):\n"
TRAIN = """\
import torch
from pytorch_lightning import LightningModule, Trainer


class Model(LightningModule):
    def __init__(self):
        super().__init__()

    def training_step(self, batch, batch_idx):
        loss = self.compute(batch)
        self.log("loss", loss)
        return loss

    def training_epoch_end(self, outputs):
        self.log("mean", torch.stack([output["loss"] for output in outputs]).mean())
"""


def changed(text: str, *replacements: tuple[str, str]) -> dict[str, str]:
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    return {"model.py": text}


REFUSED = {
    "async hook": ((HOOK, HOOK.replace("def", "async def")), "not an ordinary method"),
    "hook of the class": ((HOOK, "    @staticmethod\n" + HOOK), "not an ordinary method"),
    "hook that yields": ((HOOK, HOOK + "        yield outputs\n"), "not an ordinary method"),
    "taken by another": (
        (HOOK, "    def test_run(self, outs):\n        return map(self.validation_epoch_end, outs)\n\n" + HOOK),
        "used by name",
    ),
    "called from outside": (
        ("import torch\n", "import torch\n\n\ndef run(model):\n    model.validation_epoch_end([])\n\n\n"),
        "used by name",
    ),
    "step end that may give nothing": (
        (HOOK, "    def validation_step_end(self, out):\n        out = print(out)\n\n" + HOOK),
        "may return None",
    ),
    "step end after a step that may give nothing": (
        (
            STEP,
            STEP.replace("def", "def validation_step_end(self, out):\n        return out\n\n    def")
            + "        if batch is None:\n            return\n",
        ),
        "may return None",
    ),
    "step end called by name": (
        (
            HOOK,
            "    def validation_step_end(self, out):\n        return out\n\n"
            "    def f(self):\n        self.validation_step_end(1)\n\n" + HOOK,
        ),
        "used by name",
    ),
    "name taken": ((HOOK, HOOK + "        self.validation_step_outputs = 1\n"), "already uses"),
    "helper's name taken": (
        (
            HOOK,
            "    def _validation_epoch_end(self):\n        ...\n\n"
            "    def test_run(self):\n        self.validation_epoch_end([])\n\n" + HOOK,
        ),
        "already has _validation_epoch_end",
    ),
    "new hook that is not plain": (
        (HOOK, "    @torch.no_grad()\n    def on_validation_epoch_end(self):\n        ...\n\n" + HOOK),
        "merge the two",
    ),
    "hook after a batch that is not plain": (
        (
            STEP,
            "    @torch.no_grad()\n    def on_validation_batch_end(self, *given):\n        ...\n\n"
            "    @torch.no_grad()\n" + STEP,
        ),
        "not an ordinary method",
    ),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED.keys())
def test_refused_with_the_reason(case: tuple[tuple[str, str], str]) -> None:
    replacement, reason = case
    found = refusals(changed(BEFORE, replacement), "LIT201")
    assert len(found) == 1
    assert reason in found[0]


@pytest.mark.parametrize(
    ("head", "made"),
    [
        ("import pytorch_lightning as pl\n", "pl.EvalResult(checkpoint_on=loss)"),
        ("from pytorch_lightning import EvalResult\n", "EvalResult(loss)"),
        ("from pytorch_lightning.core.step_result import EvalResult as Told\n", "Told(loss)"),
    ],
)
def test_results_of_0_9_are_no_list(head: str, made: str) -> None:
    text = f"{head}{BEFORE}"
    old = text.partition(STEP)[2].partition("return ")[2].partition("\n")[0]
    found = refusals({"model.py": text.replace(f"return {old}", f"loss = {old}\n        return {made}", 1)}, "LIT201")
    assert len(found) == 1 and "0.9 gave validation_epoch_end one result of all batches" in found[0]


def test_a_class_of_the_project_may_be_called_like_them() -> None:
    text = f"from results import EvalResult\n{BEFORE}\n\ndef told(loss):\n    return EvalResult(loss)\n"
    assert "on_validation_epoch_end" in rewritten({"model.py": text}, LIT)["model.py"]


def test_training_outputs_are_what_lightning_hands_over_after_each_batch() -> None:
    after = rewritten(changed(TRAIN), LIT)["model.py"]
    assert (
        "    def on_train_batch_end(self, outputs, batch, batch_idx):\n"
        "        self.training_step_outputs.append(outputs)\n\n"
        "    def on_train_epoch_end(self):\n"
    ) in after


def test_training_outputs_that_may_be_missing_are_guarded() -> None:
    after = rewritten(changed(TRAIN, ('        self.log("loss", loss)\n', "")), LIT)["model.py"]
    assert "        if outputs:\n            self.training_step_outputs.append(outputs)\n" in after


def test_a_class_is_rewritten_whole_or_not_at_all() -> None:
    test = "\n    def test_epoch_end(self, outputs):\n        yield outputs\n"
    found = refusals({"model.py": BEFORE + test}, "LIT201")
    assert len(found) == 2
    assert any("of the same class" in reason for reason in found)


def test_every_return_is_kept_and_none_is_not() -> None:
    body = (
        '        x, y = batch\n        if batch_idx == 0: return None\n        if batch_idx == 1: return {"error": x}\n'
    )
    after = rewritten(changed(BEFORE, ("        x, y = batch\n", body)), LIT)["model.py"]
    assert after.count("self.validation_step_outputs.append(output)") == 2
    assert "if batch_idx == 0: return None\n" in after


def test_a_result_that_may_be_none_is_guarded() -> None:
    after = rewritten(changed(BEFORE, ('{"error": (self.layer(x) - y).abs().mean()}', "self.shared(x, y)")), LIT)
    assert (
        "        if output is not None:\n            self.validation_step_outputs.append(output)\n" in after["model.py"]
    )


LOSS = "        self.layer = torch.nn.Linear(4, 1)\n        self.criterion = torch.nn.MSELoss()\n"
GIVING = ('{"error": (self.layer(x) - y).abs().mean()}', "self.criterion(x, y)")
BATCH = "        x, y = batch\n"
MADE = ("        self.layer = torch.nn.Linear(4, 1)\n", LOSS)


@pytest.mark.parametrize(
    "replacements",
    [
        (MADE, GIVING),
        ((GIVING[0], "self.shared(x, y).item()"),),
        ((GIVING[0], "loss"), (BATCH, f"{BATCH}        f = torch.nn.L1Loss()\n        loss = f(x, y)\n")),
    ],
)  # fmt: skip
def test_a_loss_of_torch_needs_no_guard(replacements: tuple[tuple[str, str], ...]) -> None:
    after = rewritten(changed(BEFORE, *replacements), LIT)["model.py"]
    assert "\n        self.validation_step_outputs.append(" in after and "is not None" not in after


USING = "    def use(self, other):\n        self.criterion = other\n\n"


@pytest.mark.parametrize(
    "replacements",
    [
        (MADE, GIVING, ("torch.nn.MSELoss()", "torch.nn.Identity()")),
        (MADE, GIVING, ("torch.nn.MSELoss()", "torch.nn.AdaptiveLogSoftmaxWithLoss(4, 9, [2])")),
        (MADE, GIVING, ("torch.nn.MSELoss()", "Loss()")),
        (MADE, GIVING, ("    def validation_epoch_end", f"{USING}    def validation_epoch_end")),
        (MADE, GIVING, ("import torch\n", "import torch\n\ndef use(model, other):\n    model.criterion = other\n\n")),
        (MADE, GIVING, ("self.criterion = torch.nn.MSELoss()", "self.criterion, self.a = torch.nn.MSELoss(), 1")),
        ((GIVING[0], "f(x, y)"), ("(self, batch, batch_idx)", "(self, batch, batch_idx, f=torch.nn.MSELoss())")),
        ((GIVING[0], "self.shared(x, y).item(0)"),),
    ],
)  # fmt: skip
def test_another_loss_may_give_none(replacements: tuple[tuple[str, str], ...]) -> None:
    assert "is not None" in rewritten(changed(BEFORE, *replacements), LIT)["model.py"]


def test_outputs_that_a_hook_only_binds_anew_are_not_kept() -> None:
    loop = "        for outputs in range(2):\n            pass\n"
    after = rewritten(
        changed(
            BEFORE, ('torch.stack([output["error"] for output in outputs]).mean()', "self.best"), (HOOK, HOOK + loop)
        ),
        LIT,
    )["model.py"]
    assert (
        "def on_validation_epoch_end(self):\n        for outputs in range(2):" in after and "step_outputs" not in after
    )


def test_without_a_constructor_the_list_begins_with_the_epoch() -> None:
    init = "    def __init__(self):\n        super().__init__()\n        self.layer = torch.nn.Linear(4, 1)\n\n"
    after = rewritten(changed(BEFORE, (init, "")), LIT)["model.py"]
    assert "    def on_validation_epoch_start(self):\n        self.validation_step_outputs = []\n" in after


def test_callbacks_and_foreign_classes_are_untouched() -> None:
    text = BEFORE.replace("import LightningModule", "import Callback").replace("(LightningModule)", "(Callback)")
    assert run_rules({"model.py": text}, LIT).findings == ()


def test_an_unknown_base_is_a_finding_and_no_rewrite() -> None:
    text = BEFORE.replace("(LightningModule)", "(Task)").replace(
        "import torch\n", "import torch\nfrom kit import Task\n"
    )
    assert "cannot tell" in refusals({"model.py": text}, "LIT201")[0]


def test_a_subclass_elsewhere_that_overrides_the_step_is_heard_behind_each_batch() -> None:
    child = "from model import Model\n\n\nclass Child(Model):\n    def validation_step(self, batch, i):\n        ...\n"
    after = rewritten({"model.py": BEFORE, "child.py": child}, LIT)
    assert "    def on_validation_batch_end(self, outputs, batch, batch_idx):\n" in after["model.py"]
    assert after["child.py"] == child


def test_a_result_that_an_own_method_always_gives_needs_no_guard() -> None:
    body = (
        "        x, y = batch\n",
        "        made = self.shared(batch)\n        made['more'] = 1\n        return made\n",
    )
    shared = HOOK.replace("validation_epoch_end", "shared") + "        return {key: 1 for key in outputs}\n\n"
    after = rewritten(changed(BEFORE, body, (HOOK, shared + HOOK)), LIT)["model.py"]
    assert "        made['more'] = 1\n        self.validation_step_outputs.append(made)\n        return made\n" in after


@pytest.mark.parametrize(
    "name", ["import lightning.pytorch as pl", "import lightning as pl", "import pytorch_lightning as pl"]
)
def test_every_namespace_is_known(name: str) -> None:
    text = BEFORE.replace("from pytorch_lightning import LightningModule", name).replace(
        "(LightningModule)", "(pl.LightningModule)"
    )
    assert "on_validation_epoch_end" in rewritten({"model.py": text}, LIT)["model.py"]


UNASKED = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def training_step(self, batch, batch_idx):
        return {"loss": self(batch)}

    def training_epoch_end(self, outputs):
        self.shared(outputs, True)

    def shared(self, outputs, training):
        self.log("epochs", self.count)
"""


def test_outputs_that_a_method_is_handed_and_does_not_read_are_not_kept() -> None:
    after = rewritten({"a.py": UNASKED}, rule("LIT201"))["a.py"]
    assert "    def on_train_epoch_end(self):\n        outputs = []\n        self.shared(outputs, True)\n" in after
    assert "on_train_batch_end" not in after
    named = rewritten({"a.py": UNASKED.replace("outputs, True", "training=True, outputs=outputs")}, rule("LIT201"))
    assert "on_train_batch_end" not in named["a.py"]


CALLED = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def validation_step(self, batch, batch_idx, dataloader_idx):
        return self(batch)

    def validation_epoch_end(self, outputs):
        self.log("epochs", self.count)

    def test_epoch_end(self, outputs):
        return self.validation_epoch_end(outputs)
"""


def test_outputs_that_a_hook_does_not_read_are_not_kept_where_another_calls_it() -> None:
    after = rewritten({"a.py": CALLED}, rule("LIT201"))["a.py"]
    assert '    def on_validation_epoch_end(self):\n        self.log("epochs", self.count)\n' in after
    assert after.endswith("    def on_test_epoch_end(self):\n        return self.on_validation_epoch_end()\n")
    assert "step_outputs" not in after
    typed = rewritten({"a.py": CALLED.replace("(self, outputs):", "(self, outputs) -> None:")}, rule("LIT201"))["a.py"]
    assert typed == after.replace("_end(self):", "_end(self) -> None:")
    for old, new in (
        ("self.count", "len(outputs)"),
        ("self.count)", "1)\n        super().validation_epoch_end(outputs)"),
    ):
        assert "self.validation_step_outputs" in rewritten({"a.py": CALLED.replace(old, new)}, rule("LIT201"))["a.py"]


def test_a_hook_that_reads_nothing_is_called_by_its_new_name_in_either_order() -> None:
    after = rewritten({"a.py": BACKWARDS}, rule("LIT201"))["a.py"]
    assert "    def on_validation_epoch_end(self):\n        self.on_test_epoch_end()\n" in after
    assert "outputs" not in after


BACKWARDS = """\
from pytorch_lightning import LightningModule


class Model(LightningModule):
    def validation_epoch_end(self, outputs):
        self.test_epoch_end(outputs)

    def test_epoch_end(self, outputs):
        self.log("epochs", self.count)
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("    def test_epoch_end(self, outputs)", "    @logged\n    def test_epoch_end(self, outputs)"),
        ("self.test_epoch_end(outputs)", "self.test_epoch_end(self.gather(outputs))"),
        ("    def test_epoch_end", "    def on_test_epoch_end(self):\n        print()\n\n    def test_epoch_end"),
    ],
)
def test_a_hook_that_reads_nothing_stands_apart_where_more_hangs_on_it(old: str, new: str) -> None:
    assert old in BACKWARDS
    after = rewritten({"a.py": BACKWARDS.replace(old, new)}, rule("LIT201"), unsafe=True)["a.py"]
    assert "    def _test_epoch_end(self, outputs):\n" in after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("self.count", "len(outputs)"),
        ("self.count", "len(locals())"),
        ("True)\n", "True)\n        print(outputs)\n"),
        ("def shared(self, outputs, training)", "def shared(self, *outputs)"),
        (
            "self.count)\n",
            "self.count)\n\n\nclass Other(Model):\n    def shared(self, given, training):\n        print(given)\n",
        ),
    ],
)
def test_outputs_that_somebody_may_read_are_kept(old: str, new: str) -> None:
    text = UNASKED.replace(old, new)
    assert text != UNASKED
    assert "outputs = []" not in rewritten({"a.py": text}, rule("LIT201"))["a.py"].replace("_outputs = []", "")


def test_a_class_that_is_called_as_lightnings_is_no_base_of_those_that_inherit_from_lightning() -> None:
    body = "    def training_epoch_end(self, outputs):\n        print(len(self.seen))\n"
    files = {
        "a.py": f"import pytorch_lightning as pl\n\n\nclass LightningModule(pl.LightningModule):\n{body}",
        "b.py": f"import pytorch_lightning as pl\n\n\nclass Other(pl.LightningModule):\n{body}",
    }
    after = rewritten(files, rule("LIT201"))
    assert all("on_train_epoch_end(self)" in after[path] for path in files)


@pytest.mark.parametrize(
    ("lines", "guarded"),
    [
        ("loss, found = self.losses(batch)\n        found['x'] = batch\n", False),
        ("found = self.losses(batch)\n        found['x'] = batch\n", False),
        ("found = self.losses(batch)\n        if batch_idx:\n            found['x'] = batch\n", True),
        ("found = {}\n        found['x'] = batch\n        found = self.losses(batch)\n", True),
    ],
)
def test_what_an_item_of_is_set_is_not_none(lines: str, guarded: bool) -> None:
    text = (
        "from pytorch_lightning import LightningModule\n\n\nclass Model(LightningModule):\n"
        "    def __init__(self):\n        super().__init__()\n\n"
        f"{STEP}        {lines}        return found\n\n{HOOK}        print(outputs)\n"
    )
    after = rewritten({"model.py": text}, LIT)["model.py"]
    assert ("if found is not None:\n" in after) == guarded
    assert "self.validation_step_outputs.append(found)\n" in after


@pytest.mark.parametrize("begin", ["super().__init__(); self.size = 3", "self.size = 3; super().__init__()"])
def test_a_constructor_with_several_statements_on_a_line(begin: str) -> None:
    text = (
        "import pytorch_lightning as pl\n\n\nclass Model(pl.LightningModule):\n"
        f"    def __init__(self):\n        {begin}\n\n"
        "    def validation_step(self, batch, batch_idx):\n        return batch\n\n"
        "    def validation_epoch_end(self, outputs):\n        print(outputs)\n"
    )
    after = rewritten({"model.py": text}, rule("LIT201"))["model.py"]
    assert f"        {begin}\n        self.validation_step_outputs = []\n" in after


@pytest.mark.parametrize(
    ("third", "several"),
    [("scale=1.0", False), ('mode="val"', False), ("log=True", False), ("loader=0", True), ("other=None", True)],
)
def test_a_parameter_of_another_kind_is_no_index_of_a_dataloader(third: str, several: bool) -> None:
    read = 'torch.stack([output["error"] for output in outputs]).mean()'
    replacements = ((read, "self.summary(outputs)"), (STEP, STEP.replace("batch_idx)", f"batch_idx, {third})")))
    after = rewritten(changed(BEFORE, *replacements), LIT)["model.py"]
    assert ("for _ in self.trainer.num_val_batches" in after) is several
    assert ("        self.validation_step_outputs.append(output)\n" in after) is not several
