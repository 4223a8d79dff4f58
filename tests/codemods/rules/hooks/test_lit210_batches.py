"""LIT210: the index of the one train loader, and callbacks that take no batch."""

from __future__ import annotations

import inspect

import pytest
from lightning.pytorch import Callback

from codemods.rules.hooks.lit210 import GIVEN_BATCHES
from tests.codemods.support import refusals, rewritten, rule, run_rules

MODULE = "from pytorch_lightning import LightningModule\n\n\nclass Net(LightningModule):\n"
CALLBACK = """\
from pytorch_lightning import Callback
from pytorch_lightning.utilities import rank_zero_only
from ours import timed


class Watch(Callback):
"""


def after(text: str) -> str:
    return rewritten({"a.py": text}, rule("LIT210"))["a.py"]


@pytest.mark.parametrize("given", ["i", "dataloader_idx: int"])
def test_an_index_that_is_read_is_the_first_by_default(given: str) -> None:
    name = given.partition(":")[0]
    body = f"        super().on_train_batch_start(batch, batch_idx, {name})\n        print({name})\n"
    default = f"{given} = 0" if ":" in given else f"{given}=0"
    wanted = f"{MODULE}    def on_train_batch_start(self, batch, batch_idx, {default}):\n"
    wanted += body.replace(f", {name})", ")", 1)
    assert after(f"{MODULE}    def on_train_batch_start(self, batch, batch_idx, {given}):\n{body}") == wanted


def test_the_index_of_a_callback_too() -> None:
    head = "    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx, index"
    text = f"{CALLBACK}{head}):\n        print(index)\n"
    assert after(text) == text.replace("index):", "index=0):")


@pytest.mark.parametrize("more", [", more", ", more=1"])
def test_more_than_the_index_is_left(more: str) -> None:
    text = f"{MODULE}    def on_train_batch_start(self, batch, batch_idx, index{more}):\n        print(index)\n"
    [reason] = refusals({"a.py": text}, "LIT210")
    assert "uses `index`" in reason


@pytest.mark.parametrize("name", GIVEN_BATCHES)
def test_a_callback_without_the_batch_takes_it(name: str) -> None:
    assert {"batch", "batch_idx"} <= set(inspect.signature(getattr(Callback, name)).parameters)
    text = f"{CALLBACK}    @rank_zero_only\n    def {name}(self, trainer, module) -> None:\n        print(1)\n"
    assert after(text) == text.replace("module)", "module, *args)")
    assert after(after(text)) == after(text)


@pytest.mark.parametrize(
    "hook",
    [
        "    @timed\n    def on_test_batch_end(self, trainer, module):\n        print(1)\n",
        "    def on_test_batch_end(self, trainer, module):\n        super().on_test_batch_end(trainer, module)\n",
        "    def on_test_batch_end(self, trainer, module):\n        print(args.verbose)\n",
        "    def on_test_batch_end(self, trainer, module, **rest):\n        print(1)\n",
    ],
)
def test_a_callback_that_may_do_something_with_it_is_named(hook: str) -> None:
    [reason] = refusals({"a.py": CALLBACK + hook}, "LIT210")
    assert "calls its base class" in reason


@pytest.mark.parametrize(
    "hook",
    [
        "    def on_test_batch_end(self, trainer, module, *rest):\n        print(1)\n",
        "    @staticmethod\n    def on_test_batch_end(trainer, module):\n        print(1)\n",
        "    def on_test_start(self, trainer, module):\n        print(1)\n",
    ],
)
def test_what_takes_all_or_gets_none_is_left_alone(hook: str) -> None:
    assert not run_rules({"a.py": CALLBACK + hook}, rule("LIT210")).findings


HANDED = f"{CALLBACK}    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx, index):\n"


@pytest.mark.parametrize("owner", ["Callback", "callbacks.Timer", "ProgressBarBase"])
def test_a_base_class_that_is_named_gets_no_index_either(owner: str) -> None:
    text = (
        f"from pytorch_lightning import callbacks\nfrom pytorch_lightning.callbacks import ProgressBarBase\n{HANDED}"
        f"        {owner}.on_train_batch_end(self, trainer, module, outputs, batch, batch_idx, index)\n"
    )
    assert after(text) == text.replace(", index)", ")")
    read = f"{text}        print(index)\n"
    wanted = read.replace(", index):", ", index=0):").replace("batch_idx, index)\n", "batch_idx)\n")
    assert after(read) == wanted


@pytest.mark.parametrize(
    "call",
    [
        "Other.on_train_batch_end(self, trainer, module, outputs, batch, batch_idx, index)",
        "self.inner.on_train_batch_end(trainer, module, outputs, batch, batch_idx, index)",
        "Callback.on_train_batch_end(self.inner, trainer, module, outputs, batch, batch_idx, index)",
        "Callback.on_train_batch_start(self, trainer, module, batch, batch_idx, index)",
    ],
)
def test_what_other_calls_get_stays(call: str) -> None:
    text = f"from ours import Other\n{HANDED}        {call}\n"
    assert after(text) == text.replace(", index):", ", index=0):")


@pytest.mark.parametrize("read", ["", "        print(index)\n"])
def test_a_base_class_of_the_project_that_is_named_gets_no_index_either(read: str) -> None:
    mine = HANDED.replace("class Watch(Callback)", "class Watch(Base)")
    text = (
        f"from base import Base\n{mine}"
        f"        Base.on_train_batch_end(self, trainer, module, outputs, batch, batch_idx, index)\n{read}"
    )
    base = "from pytorch_lightning import Callback\n\n\nclass Base(Callback):\n    pass\n"
    wanted = text.replace(", index):", ", index=0):" if read else "):").replace("batch_idx, index)\n", "batch_idx)\n")
    assert rewritten({"base.py": base, "a.py": text}, rule("LIT210"))["a.py"] == wanted
