"""LIT210: hooks of modules that want what Lightning never gave, and results that are only handed back."""

from __future__ import annotations

import inspect

import pytest
from lightning.pytorch import LightningModule

from codemods.rules.hooks.lit210 import UNGIVEN
from tests.codemods.support import refusals, rewritten, rule, run_rules

HEAD = "from pytorch_lightning import Callback, LightningModule\n\n\nclass Net(LightningModule):\n"
RETURNED = f"{HEAD}    def on_predict_epoch_end(self, results):\n        if self.kept:\n            return results\n"


@pytest.mark.parametrize("name", UNGIVEN)
def test_the_newest_release_gives_nothing(name: str) -> None:
    assert list(inspect.signature(getattr(LightningModule, name)).parameters) == ["self"]
    [reason] = refusals({"a.py": f"{HEAD}    def {name}(self, outs, more):\n        print(outs)\n"}, "LIT210")
    assert "fixer cannot tell what `outs`, `more` should be" in reason


@pytest.mark.parametrize(
    "method",
    [
        "    def on_test_end(self, outs=None):\n        print(outs)\n",
        "    def on_test_end(self, *outs):\n        print(outs)\n",
        "    @staticmethod\n    def on_test_end(outs):\n        print(outs)\n",
        "    def on_test_end(self):\n        print(1)\n",
    ],
)
def test_what_needs_nothing_is_left_alone(method: str) -> None:
    assert not run_rules({"a.py": HEAD + method}, rule("LIT210")).findings


def test_a_callback_gets_the_trainer_and_the_module() -> None:
    hook = "    def on_test_end(self, trainer, module):\n        pass\n"
    assert not run_rules({"a.py": HEAD.replace("(LightningModule)", "(Callback)") + hook}, rule("LIT210")).findings


def test_results_that_are_only_given_back_go() -> None:
    wanted = RETURNED.replace("(self, results)", "(self)").replace("return results", "return")
    assert rewritten({"a.py": RETURNED}, rule("LIT210"))["a.py"] == wanted


@pytest.mark.parametrize(
    "more",
    [
        "\n    def all(self):\n        return self.on_predict_epoch_end([1])\n",
        "\n    def all(self):\n        return getattr(self, 'on_predict_epoch_end')([1])\n",
        "\n\nfound = Net().on_predict_epoch_end([1])\n",
        "            results.clear()\n",
        "        return [results]\n",
        "        return lambda: results\n",
    ],
)
def test_results_that_something_may_read_stay(more: str) -> None:
    [reason] = refusals({"a.py": RETURNED + more}, "LIT210")
    assert "uses `results`" in reason


def test_results_that_another_file_may_read_stay() -> None:
    other = "from a import Net\n\nfound = Net().on_predict_epoch_end([1])\n"
    [reason] = refusals({"a.py": RETURNED, "b.py": other}, "LIT210")
    assert "uses `results`" in reason


@pytest.mark.parametrize(
    ("written", "advised"),
    [
        ("def configure_optimizers(self, lr)", "def configure_optimizers(self, lr=...)"),
        (
            "def configure_optimizers(self, lr: float, wd=0.1, *rest, z, y=2, **more)",
            "def configure_optimizers(self, lr=..., wd=0.1, *rest, z=..., y=2, **more)",
        ),
        ("def configure_optimizers(self, /, lr, *, z=1)", "def configure_optimizers(self, /, lr=..., *, z=1)"),
        ("async def configure_optimizers(self=None, *, z)", "async def configure_optimizers(self, *, z=...)"),
    ],
)
def test_the_advice_keeps_the_other_parameters(written: str, advised: str) -> None:
    text = f"from pytorch_lightning import LightningModule\n\nclass M(LightningModule):\n    {written}:\n        pass\n"
    (found,) = run_rules({"a.py": text}, rule("LIT210")).findings
    assert f"Write `{advised}` with defaults" in found.reason
