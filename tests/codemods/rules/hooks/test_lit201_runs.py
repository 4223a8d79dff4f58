"""LIT201 run: on 2.6.6 the new hook sees what the old one saw on 1.9.5, and logs the same."""

from __future__ import annotations

import re

import pytest

from tests.codemods.support import rewritten, rule, run_rules
from tests.training import same

LIT = rule("LIT201")
OLD = re.compile(r"def (training|validation|test)_epoch_end")
PROGRAM = """\
import torch
from pytorch_lightning import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset

SEEN = []


def shown(value):
    if isinstance(value, torch.Tensor):
        return [round(float(value.sum()), 5), value.requires_grad]
    if isinstance(value, dict):
        return {key: shown(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [shown(each) for each in value]
    return value


def see(name, outputs):
    SEEN.append([name, shown(outputs)])


class Base(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)

    def loss(self, batch):
        return self.layer(batch[0]).pow(2).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

    def training_step(self, batch, batch_idx):
        return self.loss(batch)


@CLASSES@


def loader(count):
    return DataLoader(TensorDataset(torch.arange(2.0 * count).view(count, 2) / 10), batch_size=2)


def main():
    torch.manual_seed(1)
    model, several = Model(), @LOADERS@
    loaders = [loader(4), loader(6)] if several else loader(6)
    trainer = Trainer(max_epochs=2, num_sanity_val_steps=1, @TRAINER@)
    trainer.fit(model, loader(6), loaders)
    fitted = sorted((key, round(float(value), 5)) for key, value in trainer.callback_metrics.items())
    trainer.validate(model, loaders)
    trainer.test(model, loaders)
    tested = sorted((key, round(float(value), 5)) for key, value in trainer.callback_metrics.items())
    return [SEEN, fitted, tested]
"""
CHILD = "class Model(Base):\n"
VALIDATION = """\
    def validation_step(self, batch, batch_idx):
        return {"error": self.loss(batch), "index": batch_idx}

"""
TEST = VALIDATION.replace("validation", "test")
HOOK = """\
    def validation_epoch_end(self, outputs):
        see("validation", outputs)
        self.log("error", torch.stack([each["error"] for each in outputs]).mean())

"""
TEST_HOOK = """\
    def test_epoch_end(self, outputs):
        see("test", outputs)

"""
TRAIN_HOOK = """\
    def training_epoch_end(self, outputs):
        see("train", outputs)
        self.log("mean", torch.stack([each["loss"] for each in outputs]).mean())

"""
BLIND = """\
    def validation_epoch_end(self, outputs):
        see("validation", outputs)

"""
CASES = {
    "step of its own": (CHILD + VALIDATION + HOOK, {}),
    "steps that are left out": (
        CHILD + VALIDATION.replace("return {", "return None if batch_idx == 1 else {") + HOOK + TEST + TEST_HOOK,
        {},
    ),
    "step of a subclass": (
        f"class Middle(Base):\n{HOOK}\nclass Model(Middle):\n{VALIDATION}",
        {},
    ),
    "step that a base class asks for": (
        "class Middle(Base):\n    def validation_step(self, batch, batch_idx):\n        raise NotImplementedError\n\n"
        f"\nclass Model(Middle):\n{VALIDATION}{HOOK}",
        {},
    ),
    "step of a base class": (f"class Middle(Base):\n{VALIDATION}\nclass Model(Middle):\n{HOOK}", {}),
    "step that a subclass wraps": (
        f"class Middle(Base):\n{VALIDATION}{HOOK}\n"
        "class Model(Middle):\n    def validation_step(self, batch, batch_idx):\n"
        "        found = super().validation_step(batch, batch_idx)\n        return {**found, 'more': 1}\n",
        {},
    ),
    "hook that a subclass replaces": (
        f"class Middle(Base):\n{VALIDATION}{HOOK}\nclass Model(Middle):\n{BLIND}",
        {},
    ),
    "hook that a subclass switches off": (
        f"class Middle(Base):\n{VALIDATION}{HOOK}\n"
        "class Model(Middle):\n    def validation_epoch_end(self, outputs):\n        see('off', 0)\n",
        {},
    ),
    "hook that another calls": (
        CHILD + VALIDATION + HOOK + TEST + "    def test_epoch_end(self, outputs):\n"
        "        result = self.validation_epoch_end(outputs)\n        see('test', result)\n",
        {},
    ),
    "hook that another calls with more": (
        CHILD
        + VALIDATION
        + HOOK.replace("outputs)", "outputs, prefix='val', *, more=0)", 1).replace(
            '"error", torch', "f'{prefix}_error', torch"
        )
        + TEST
        + "    def test_epoch_end(self, outputs):\n"
        "        see('test', self.validation_epoch_end(outputs, prefix='test', more=1))\n",
        {},
    ),
    "step that another calls": (
        CHILD + VALIDATION + HOOK + "    def test_step(self, batch, batch_idx):\n"
        "        return self.validation_step(batch, batch_idx)\n\n" + TEST_HOOK,
        {},
    ),
    "both hooks": (
        CHILD + VALIDATION + HOOK + "    def on_validation_epoch_end(self):\n        see('after', 0)\n",
        {},
    ),
    "hook that calls Lightning's": (
        CHILD
        + VALIDATION
        + HOOK.replace("        see(", "        super().validation_epoch_end(outputs)\n        see("),
        {},
    ),
    "decorated hook": (
        "def twice(function):\n    def run(self, outputs):\n        function(self, outputs)\n"
        "        function(self, outputs)\n    return run\n\n\n"
        + CHILD
        + VALIDATION
        + BLIND.replace("    def v", "    @twice\n    def v"),
        {},
    ),
    "hook without gradients": (CHILD + VALIDATION + HOOK.replace("    def v", "    @torch.no_grad()\n    def v"), {}),
    "hook with more parameters": (
        CHILD + VALIDATION + HOOK.replace("(self, outputs)", "(self, outputs, name='a')"),
        {},
    ),
    "step with any arguments": (
        CHILD
        + VALIDATION.replace("batch, batch_idx)", "*given)")
        .replace("batch_idx}", "given[1]}")
        .replace("(batch)", "(given[0])")
        + HOOK,
        {},
    ),
    "decorated step": (CHILD + VALIDATION.replace("    def v", "    @torch.no_grad()\n    def v") + HOOK, {}),
    "step that returns nothing": (
        CHILD + VALIDATION.replace("        return", "        self.last =") + BLIND,
        {},
    ),
    "one loader of several": (
        CHILD + VALIDATION.replace("batch_idx)", "batch_idx, dataloader_idx=0)") + BLIND,
        {},
    ),
    "one loader, whose index is None": (
        CHILD + VALIDATION.replace("batch_idx)", "batch_idx, dataloader_idx=None)") + BLIND,
        {},
    ),
    "hook of its own whose index is None": (
        CHILD
        + (VALIDATION + TEST).replace("batch_idx)", "batch_idx, *rest)")
        + BLIND
        + "    def on_validation_batch_end(self, outputs, batch, batch_idx, dataloader_idx=None):\n"
        "        see('batch', dataloader_idx or 0)\n",
        {},
    ),
    "several loaders": (
        CHILD
        + VALIDATION.replace("batch_idx)", "batch_idx, dataloader_idx=0)")
        + BLIND
        + TEST.replace("batch_idx)", "batch_idx, dataloader_idx)")
        + TEST_HOOK,
        {"LOADERS": "True"},
    ),
    "several loaders, one of which is empty": (
        CHILD
        + VALIDATION.replace("batch_idx)", "batch_idx, dataloader_idx=0)")
        + BLIND
        + TEST.replace("batch_idx)", "batch_idx, dataloader_idx=0)")
        + TEST_HOOK,
        {"LOADERS": "True", "TRAINER": "limit_val_batches=1"},
    ),
    "several loaders, step of a subclass": (
        f"class Middle(Base):\n{BLIND}\nclass Model(Middle):\n"
        + (VALIDATION + TEST).replace("batch_idx)", "batch_idx, dataloader_idx=0)"),
        {"LOADERS": "True"},
    ),
    "several loaders, hooks of its own": (
        CHILD
        + (VALIDATION + TEST).replace("batch_idx)", "batch_idx, *rest)")
        + BLIND
        + "    def on_validation_epoch_start(self):\n        see('start', 0)\n\n"
        "    def on_validation_batch_end(self, outputs, batch, batch_idx, dataloader_idx=0):\n"
        "        see('batch', dataloader_idx)\n",
        {"LOADERS": "True"},
    ),
    "training": (CHILD + TRAIN_HOOK, {}),
    "training hook that returns nothing by name": (
        CHILD + TRAIN_HOOK.replace("        see(", "        return self.end(") + "    def end(self, name, outputs):\n"
        "        see(name, outputs)\n",
        {},
    ),
    "training with accumulation": (CHILD + TRAIN_HOOK, {"TRAINER": "accumulate_grad_batches=2"}),
    "training that skips": (
        CHILD + "    def training_step(self, batch, batch_idx):\n        if batch_idx == 1:\n            return None\n"
        "        return {'loss': self.loss(batch), 'more': self.layer(batch[0])}\n\n" + TRAIN_HOOK,
        {},
    ),
    "training by hand": (
        CHILD + "    def training_step(self, batch, batch_idx):\n        loss = self.loss(batch)\n"
        "        self.optimizers().zero_grad()\n        self.manual_backward(loss)\n        self.optimizers().step()\n"
        "        return loss\n\n    @property\n    def automatic_optimization(self):\n        return False\n\n"
        + TRAIN_HOOK,
        {},
    ),
    "training with a hook of its own": (
        CHILD + TRAIN_HOOK + "    def on_train_batch_end(self, outputs, batch, batch_idx):\n"
        '        """Sees them."""\n        see("batch", outputs)\n',
        {},
    ),
    "training with step end": (
        CHILD + "    def training_step(self, batch, batch_idx):\n        return {'tensors': batch[0]}\n\n"
        "    def training_step_end(self, given):\n        return {'loss': self.loss([given['tensors']])}\n\n"
        + TRAIN_HOOK,
        {},
    ),
    "validation with step end": (
        CHILD + VALIDATION + "    def validation_step_end(self, given):\n"
        "        return {**given, 'error': given['error'] * 2}\n\n" + HOOK,
        {},
    ),
    "validation with step end, step of a subclass": (
        f"class Middle(Base):\n    def validation_step_end(self, given):\n        self.log('ended', given['error'])\n"
        f"        return {{**given, 'error': given['error'] * 2}}\n\n{HOOK}\nclass Model(Middle):\n{VALIDATION}",
        {},
    ),
}
NOTHING = "    def test_step(self, batch, batch_idx, dataloader_idx=0):\n        return None\n"
DEFAULTS = (NOTHING, NOTHING.replace("test", "validation"))


def program(classes: str, holes: dict[str, str]) -> dict[str, str]:
    text = PROGRAM
    rest = {"CLASSES": classes.rstrip(), "LOADERS": "False", "TRAINER": "", **holes}
    for name, value in rest.items():
        text = text.replace(f"@{name}@", value)
    steps = "".join(f"\n{step}" for step in DEFAULTS if step.split("(")[0] not in classes)
    first = "        return self.loss(batch)\n"
    return {"train.py": text.replace(first, first + steps, 1)}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_the_hook_sees_what_it_saw(case: tuple[str, dict[str, str]]) -> None:
    before = program(*case)
    made = run_rules(before, LIT, pins=("pytorch-lightning==1.9.5",))
    after = {"train.py": made.final()["train.py"].decode()}
    assert not OLD.search(after["train.py"])
    old, new = same(before, after, script=None, module="train", function="main", logged=False)
    assert old.failure is None, old.failure
    assert old.returned[0]
    assert new.returned == old.returned


def test_a_step_that_a_base_class_asks_for_keeps_its_results_itself() -> None:
    classes, holes = CASES["step that a base class asks for"]
    after = rewritten(program(classes, holes), LIT)["train.py"]
    assert "self.validation_step_outputs.append(" in after and "on_validation_batch_end" not in after
    answered = classes.replace("raise NotImplementedError", "return {'error': batch}")
    assert "on_validation_batch_end" in rewritten(program(answered, holes), LIT)["train.py"]
