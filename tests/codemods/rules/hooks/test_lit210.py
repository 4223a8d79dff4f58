"""LIT210: against the newest signatures, and what it leaves alone."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import lightning.pytorch
import pytest
from lightning.pytorch import Callback, LightningModule
from lightning.pytorch.callbacks import BaseFinetuning, EarlyStopping

from codemods.rules.hooks.lit210 import OPTIONAL, PREFIX, SHORTER
from tests import warm
from tests.codemods.support import refusals, rewritten, rule, run_rules

OF = {"finetune_function": BaseFinetuning, "_run_early_stopping_check": EarlyStopping}
OWNERS = {"lightning.pytorch.LightningModule": LightningModule, "lightning.pytorch.Callback": Callback}


CASES = [
    (kind, name)
    for name in (*SHORTER, *OPTIONAL)
    for kind in (SHORTER[name].kinds if name in SHORTER else tuple(PREFIX))
]


@pytest.mark.parametrize(("kind", "name"), CASES)
def test_the_newest_release_gives_what_the_table_says(kind: str, name: str) -> None:
    owner = OF.get(name, OWNERS[kind])
    taken = list(inspect.signature(getattr(owner, name)).parameters.values())[1:]
    count = SHORTER[name].count if name in SHORTER else OPTIONAL[name].index + 1
    assert len(taken) == count + PREFIX[kind]
    assert name in SHORTER or (taken[-1].name, taken[-1].default) == ("dataloader_idx", 0)


MODULE = "from pytorch_lightning import LightningModule\n\n\nclass Model(LightningModule):\n"
CALLBACK = "from pytorch_lightning import Callback\n\n\nclass Watch(Callback):\n"


@pytest.mark.parametrize(
    "text",
    [
        MODULE + "    def on_train_batch_end(self, outputs, batch, batch_idx, unused=0):\n        pass\n",
        MODULE + "    def on_train_batch_end(self, *args):\n        pass\n",
        MODULE + "    def on_before_optimizer_step(self, optimizer):\n        pass\n",
        MODULE + "    def on_validation_batch_end(self, outputs, batch, batch_idx, dataloader_idx=0):\n        pass\n",
        MODULE + "    def on_validation_batch_end(self, outputs, batch, batch_idx):\n        pass\n",
        CALLBACK + "    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx):\n        pass\n",
        CALLBACK + "    def on_train_epoch_end(self, trainer, pl_module):\n        pass\n",
        "class Plain:\n    def on_train_epoch_end(self, outputs):\n        pass\n",
        CALLBACK + "    def _run_early_stopping_check(self, trainer, pl_module):\n        pass\n",
    ],
)
def test_left_alone(text: str) -> None:
    made = run_rules({"a.py": text}, rule("LIT210"))
    assert made.findings == () and made.changes == ()


def test_outputs_with_a_default_that_are_read_are_silent_today() -> None:
    text = MODULE + "    def on_train_epoch_end(self, outputs=None):\n        print(outputs)\n"
    [reason] = refusals({"a.py": text}, "LIT210")
    assert "on 2.x it always has that value" in reason


def test_outputs_with_a_default_that_nothing_reads_harm_nothing() -> None:
    text = (
        CALLBACK
        + "    def on_train_epoch_end(self, trainer, pl_module, outputs=None):  # for older ones\n        pass\n"
    )
    assert run_rules({"a.py": text}, rule("LIT210")).findings == ()


@pytest.mark.parametrize("line", ["for outputs in range(3):\n            print(1)", "outputs, seen = 1, 2"])
def test_a_parameter_that_is_only_bound_anew_is_not_read(line: str) -> None:
    text = CALLBACK + f"    def on_train_epoch_end(self, trainer, pl_module, outputs):\n        {line}\n"
    after = rewritten({"a.py": text}, rule("LIT210"))["a.py"]
    assert after == text.replace("pl_module, outputs)", "pl_module)")


@pytest.mark.parametrize(
    "line",
    [
        "outputs += [1]",
        "del outputs",
        "for outputs in outputs:\n            pass",
        "outputs = sorted(outputs)",
        "def keep():\n            nonlocal outputs\n            outputs = 1",
    ],
)
def test_one_that_is_bound_anew_of_what_it_holds_is_read(line: str) -> None:
    text = CALLBACK + f"    def on_train_epoch_end(self, trainer, pl_module, outputs):\n        {line}\n"
    [reason] = refusals({"a.py": text}, "LIT210")
    assert "the hook uses `outputs`" in reason


RELATIVES = (
    CALLBACK
    + "    def on_train_epoch_end(self, trainer, pl_module, outputs):\n        pass\n\n\nclass Child(Watch):\n"
    + "    def on_train_epoch_end(self, trainer, pl_module, outputs):\n        print({})\n"
)


@pytest.mark.parametrize(
    "call", ["super().on_train_epoch_end(trainer, pl_module, outputs)", "getattr(self, 'on_train_epoch_end')"]
)
def test_a_relative_with_the_hook_that_is_spoken_of_makes_it_unsafe(call: str) -> None:
    made = run_rules({"a.py": RELATIVES.format(call)}, rule("LIT210"))
    assert made.findings[0].fix == "unsafe" and "has the hook too" in made.findings[0].reason


def test_a_relative_with_a_hook_that_nobody_calls_is_no_matter() -> None:
    made = run_rules({"a.py": RELATIVES.format("outputs")}, rule("LIT210"))
    assert [finding.fix for finding in made.findings] == ["safe", "manual"]
    after = rewritten({"a.py": RELATIVES.format("trainer")}, rule("LIT210"))["a.py"]
    assert after.count("def on_train_epoch_end(self, trainer, pl_module):") == 2
    elsewhere = {"a.py": RELATIVES.format("trainer"), "b.py": "def run(each):\n    each.on_train_epoch_end(1, 2, 3)\n"}
    assert {finding.fix for finding in run_rules(elsewhere, rule("LIT210")).findings} == {"unsafe"}


SCRIPT = """
import json, warnings
import torch
import lightning.pytorch as pl

warnings.simplefilter("ignore")
from hooks import Watch

class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1)
    def training_step(self, batch, batch_idx):
        return self.layer(batch).sum()
    def validation_step(self, batch, batch_idx):
        pass
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

watch = Watch()
data = torch.utils.data.DataLoader(torch.ones(4, 1))
trainer = pl.Trainer(
    max_epochs=1, accelerator="cpu", logger=False, enable_checkpointing=False, enable_progress_bar=False,
    enable_model_summary=False, callbacks=[watch], num_sanity_val_steps=0,
)
try:
    trainer.fit(Model(), data, data)
except TypeError as error:
    print(json.dumps(str(error)))
else:
    print(json.dumps(watch.seen))
"""
HOOKS = """
from lightning.pytorch import Callback


class Watch(Callback):
    seen = []

    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx):
        self.seen.append(("train", batch_idx))

    def on_validation_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx):
        self.seen.append(("validation", batch_idx, dataloader_idx))

    def on_train_epoch_end(self, trainer, pl_module, outputs):
        self.seen.append(("epoch",))
"""


def fit(folder: Path, hooks: str) -> object:
    (folder / "hooks.py").write_text(hooks)
    (folder / "run.py").write_text(SCRIPT)
    made = warm.program(folder / "run.py", folder=folder)
    assert made.returncode == 0, made.stdout
    return json.loads(made.stdout.splitlines()[-1])


def test_fails_before_and_is_called_after(tmp_path: Path) -> None:
    assert "dataloader_idx" in str(fit(tmp_path, HOOKS))
    after = rewritten({"hooks.py": HOOKS}, rule("LIT210"))["hooks.py"]
    steps = [["train", index] for index in range(4)]
    checks = [["validation", index, 0] for index in range(4)]
    assert fit(tmp_path, after) == [*steps, *checks, ["epoch"]]


def test_a_subclass_of_a_callback_of_lightning_is_one() -> None:
    text = (
        "from pytorch_lightning.callbacks import BaseFinetuning, ModelCheckpoint\n\n\nclass A(BaseFinetuning):\n"
        "    def finetune_function(self, pl_module, epoch, optimizer, opt_idx):\n        pass\n\n\n"
        "class B(ModelCheckpoint):\n    def on_train_epoch_end(self, trainer, pl_module, unused):\n        pass\n"
    )
    after = rewritten({"a.py": text}, rule("LIT210"))["a.py"]
    assert after == text.replace(", opt_idx", "").replace(", unused", "")


@pytest.mark.parametrize(
    ("hook", "least"),
    [
        ("finetune_function(self, pl_module, epoch, optimizer, opt_idx)", "2.0"),
        ("on_predict_epoch_end(self, trainer, pl_module, outputs)", "2.0"),
        ("on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx)", "1.7"),
    ],
)
def test_the_oldest_release_that_calls_it_so(hook: str, least: str) -> None:
    text = (
        "from pytorch_lightning.callbacks import BaseFinetuning\n\n\nclass A(BaseFinetuning):\n"
        f"    def {hook}:\n        pass\n"
        "    def on_train_epoch_end(self, trainer, pl_module, outputs):\n        print(outputs)\n"
    )
    files = {"a.py": text, "requirements.txt": "pytorch-lightning>=1.7\n"}
    after = rewritten(files, rule("LIT210"), rule("PIN001"))
    assert after["requirements.txt"].startswith(f"pytorch-lightning>={least},")


def test_a_parameter_of_the_hooks_own_is_left_to_its_default() -> None:
    text = (
        "from pytorch_lightning import Callback\n\n\nclass A(Callback):\n"
        "    def on_train_epoch_end(self, trainer, pl_module, padding=False, **kwargs):\n        print(padding)\n"
    )
    assert run_rules({"a.py": text}, rule("LIT210")).findings == ()
    outputs = text.replace("padding=False", "outputs=None").replace("padding", "outputs")
    (finding,) = run_rules({"a.py": outputs}, rule("LIT210")).findings
    assert "uses `outputs`" in finding.reason


TRANSFER = """\
from pytorch_lightning import {0}


class A({0}):
    def transfer_batch_to_device(self, batch, device{1}):
        batch = super().transfer_batch_to_device(batch, device{2})
        return batch
"""


@pytest.mark.parametrize("base", ["LightningModule", "LightningDataModule"])
def test_hooks_of_a_batch_take_the_index_of_its_loader(base: str) -> None:
    text = TRANSFER.format(base, "", "")
    after = rewritten({"a.py": text}, rule("LIT210"))["a.py"]
    assert after == TRANSFER.format(base, ", dataloader_idx=0", ", dataloader_idx")
    assert run_rules({"a.py": after}, rule("LIT210")).findings == ()
    names = inspect.signature(getattr(lightning.pytorch, base).transfer_batch_to_device).parameters
    assert list(names) == ["self", "batch", "device", "dataloader_idx"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(batch, device)\n", "(batch=batch, device=device)\n"),
        ("(self, batch, device)", "(self, batch)"),
        ("return batch\n", "dataloader_idx = 1\n        return batch\n"),
        ("super().transfer_batch_to_device(", "LightningModule.transfer_batch_to_device(self, "),
        ("device):", "device, **rest):"),
        ("device):", "device, *, dataloader_idx=0):"),
        ("    def", "    @torch.no_grad()\n    def"),
        (
            "return batch\n",
            "move = super().transfer_batch_to_device\n        return [move(b, device) for b in batch]\n",
        ),
        (
            "batch, device):\n        batch = super().transfer_batch_to_device(batch, device)",
            "*args):\n        batch = super().transfer_batch_to_device(*args[:2])",
        ),
        ("batch, device):", "batch, device, *rest):"),
    ],
)
def test_hooks_of_a_batch_that_are_not_plain_stay(old: str, new: str) -> None:
    text = TRANSFER.format("LightningModule", "", "").replace(old, new)
    assert len(refusals({"a.py": text}, "LIT210")) == 1


@pytest.mark.parametrize(
    "arguments",
    [
        "(self, *args)",
        "(self, b, *args)",
        "(self, b, d, i, **rest)",
        "(self, batch, device, dataloader_idx)",
        "(self, b, d, i=0)",
        "(self, *args):\n        return super().transfer_batch_to_device(*args)\n    def other(self)",
        "(self, b, *args):\n        return super().transfer_batch_to_device(b, *args)\n    def other(self)",
        "(self, *args):\n        return super().transfer_batch_to_device(*args[:3])\n    def other(self)",
    ],
)
def test_hooks_of_a_batch_that_take_the_index_stay(arguments: str) -> None:
    head = "import pytorch_lightning as pl\n\n\nclass A(pl.LightningModule):\n"
    text = f"{head}    def transfer_batch_to_device{arguments}:\n        pass\n"
    assert run_rules({"a.py": text}, rule("LIT210")).findings == ()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "self,\n        batch,  # all\n        device=None  # where\n    ",
            "self,\n        batch,  # all\n        device=None,  # where\n        dataloader_idx=0\n    ",
        ),
        (
            "self,\n        batch,  # all\n        device,  # where\n    ",
            "self,\n        batch,  # all\n        device,  # where\n        dataloader_idx=0,\n    ",
        ),
        ("\n        self, batch, device\n    ", "\n        self, batch, device, dataloader_idx=0\n    "),
    ],
)
def test_comments_beside_what_a_hook_of_a_batch_takes_stay_where_they_are(old: str, new: str) -> None:
    head = "import pytorch_lightning as pl\n\n\nclass A(pl.LightningModule):\n    def transfer_batch_to_device("
    after = rewritten({"a.py": f"{head}{old}):\n        return batch\n"}, rule("LIT210"))["a.py"]
    assert after == f"{head}{new}):\n        return batch\n"


@pytest.mark.parametrize("base", ["LightningModule", "LightningDataModule"])
@pytest.mark.parametrize(
    ("method", "wanted"),
    [
        ("def test_dataloader(self, count: int, normalize=False):\n        return count", "`count`"),
        ("def prepare_data(self, where, *, again):\n        return where", "`where`, `again`"),
        ("def train_dataloader(self, count=3):\n        return count", ""),
        ("def val_dataloader(self, *given, **named):\n        return given", ""),
        ("def test_dataloaders(self, count):\n        return count", ""),
        ("@staticmethod\n    def predict_dataloader(count):\n        return count", ""),
    ],
)
def test_a_hook_that_wants_what_nothing_gives_it_is_named(base: str, method: str, wanted: str) -> None:
    text = f"from pytorch_lightning import {base}\n\n\nclass Data({base}):\n    {method}\n"
    found = run_rules({"a.py": text}, rule("LIT210")).findings
    assert [wanted in finding.message and finding.fix == "manual" for finding in found] == [True] * bool(wanted)


def test_a_loader_of_another_class_may_want_anything() -> None:
    text = "class Data:\n    def test_dataloader(self, count):\n        return count\n"
    assert run_rules({"a.py": text}, rule("LIT210")).findings == ()


STOPPING = """\
import pytorch_lightning as pl


class Loud(pl.callbacks.EarlyStopping):
    def _run_early_stopping_check(self, trainer: pl.Trainer, pl_module: pl.LightningModule):
        super(Loud, self)._run_early_stopping_check(trainer, pl_module)
        print(self.wait_count)
"""


def test_what_early_stopping_asks_of_its_classes() -> None:
    after = rewritten({"a.py": STOPPING}, rule("LIT210"))["a.py"]
    assert "def _run_early_stopping_check(self, trainer: pl.Trainer):" in after
    assert "super(Loud, self)._run_early_stopping_check(trainer, pl_module)" not in after


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("        print(pl_module)\n", "the hook uses `pl_module`"),
        ("\n    def on_fit_end(self, *given):\n        self._run_early_stopping_check(*given)\n", "calls it too"),
    ],
)
def test_a_check_of_early_stopping_that_a_person_has_to_look_at(line: str, reason: str) -> None:
    assert reason in "".join(refusals({"a.py": STOPPING + line}, "LIT210"))


def test_a_base_class_called_by_its_name_gets_the_shorter_arguments_too() -> None:
    taken = "trainer, pl_module, outputs, batch, batch_idx"
    hook = "    def on_train_batch_end(self, {}):\n        Callback.on_train_batch_end(self, {})\n"
    before = CALLBACK + hook.format(f"{taken}, dataloader_idx", f"{taken}, dataloader_idx")
    assert rewritten({"a.py": before}, rule("LIT210")) == {"a.py": CALLBACK + hook.format(taken, taken)}
    used = "        print(dataloader_idx)\n"
    after = CALLBACK + hook.format(f"{taken}, dataloader_idx=0", taken) + used
    assert rewritten({"a.py": before + used}, rule("LIT210")) == {"a.py": after}


def test_what_another_object_takes_stays() -> None:
    text = (
        CALLBACK + "    def on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx):\n"
        "        self.other.on_train_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx)\n"
    )
    after = text.replace("dataloader_idx):", "dataloader_idx=0):", 1)
    assert rewritten({"a.py": text}, rule("LIT210")) == {"a.py": after}


def test_what_is_handed_on_by_name_is_dropped_by_name() -> None:
    taken = "trainer, pl_module, outputs, batch, batch_idx"
    given = "trainer, pl_module, outputs=outputs, batch=batch, batch_idx=batch_idx"
    hook = "    def on_train_batch_end(self, {}):\n        super().on_train_batch_end({})\n"
    before = CALLBACK + hook.format(
        f"{taken}, dataloader_idx", given.replace("batch=", "dataloader_idx=dataloader_idx, batch=", 1)
    )
    after = CALLBACK + hook.format(f"{taken}, dataloader_idx=0", given)
    assert rewritten({"a.py": before}, rule("LIT210")) == {"a.py": after}


@pytest.mark.parametrize(
    ("given", "level"),
    [
        ("trainer, pl_module, outputs, batch, batch_idx, dataloader_idx=0", "safe"),
        ("trainer, pl_module, outputs, batch, batch_idx, idx", "safe"),
        ("*(trainer, pl_module), outputs, batch, batch_idx, idx", "manual"),
        ("trainer, pl_module, outputs, batch, **{'batch_idx': 0, 'dataloader_idx': 0}", "manual"),
    ],
)
def test_the_base_class_is_given_what_it_takes_whatever_the_hook_calls_it(given: str, level: str) -> None:
    taken = "trainer, pl_module, outputs, batch, batch_idx"
    hook = "    def on_train_batch_end(self, {}):\n        super().on_train_batch_end({})\n"
    made = run_rules({"a.py": CALLBACK + hook.format(f"{taken}, idx", given)}, rule("LIT210"))
    assert [item.fix for item in made.findings] == [level] and made.bugs == ()
    after = made.final().get("a.py", b"").decode()
    assert after == ("" if level == "manual" else CALLBACK + hook.format(taken, taken))


def test_what_is_handed_on_to_a_base_by_its_name_is_left_with_its_arguments() -> None:
    given = "batch, device"
    hook = "transfer_batch_to_device"
    text = f"{MODULE}    def {hook}(self, {given}):\n        return LightningModule.{hook}(self, {given})\n"
    made = run_rules({"a.py": text}, rule("LIT210"))
    assert [item.fix for item in made.findings] == ["manual"]
    assert made.bugs == () and not made.final()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("batch_idx, dataloader_idx, *args, **kwargs", "batch_idx, *args, **kwargs"),
        ("batch_idx, dataloader_idx=0, *args", "batch_idx, dataloader_idx=0, *args"),
        ("batch_idx, *args", "batch_idx, *args"),
    ],
)
def test_an_index_that_more_may_follow(before: str, after: str) -> None:
    text = (
        "from pytorch_lightning import Callback\n\n\nclass Draw(Callback):\n"
        "    def on_train_batch_end(self, trainer, pl_module, outputs, batch, {}):\n        print(batch)\n"
    )
    assert rewritten({"a.py": text.format(before)}, rule("LIT210"))["a.py"] == text.format(after)
