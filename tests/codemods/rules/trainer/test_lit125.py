"""LIT125: handlers of Ctrl+C around what a Trainer runs."""

from __future__ import annotations

import pytest

from codemods.rules.trainer.lit125 import AFTER, BEFORE, RULE
from tests.codemods.support import refusals, rewritten, run_rules
from tests.training import train

EXCEPT = "except KeyboardInterrupt:"


def after(text: str) -> str:
    return rewritten({"train.py": text}, RULE, unsafe=True)["train.py"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (EXCEPT, "except (KeyboardInterrupt, SystemExit):"),
        ("except KeyboardInterrupt as error:", "except (KeyboardInterrupt, SystemExit) as error:"),
        ("except (KeyboardInterrupt, OSError):", "except (KeyboardInterrupt, OSError, SystemExit):"),
        ("except (OSError, KeyboardInterrupt,):", "except (OSError, KeyboardInterrupt, SystemExit):"),
        (
            "except OSError:\n    raise\nexcept KeyboardInterrupt:",
            "except OSError:\n    raise\nexcept (KeyboardInterrupt, SystemExit):",
        ),
    ],
)
def test_the_handler_takes_what_fit_raises(old: str, new: str) -> None:
    assert after(BEFORE.replace(EXCEPT, old)) == BEFORE.replace(EXCEPT, new)


@pytest.mark.parametrize("run", ["validate", "test", "predict"])
def test_all_that_a_trainer_runs_ends_so(run: str) -> None:
    assert after(BEFORE.replace("trainer.fit", f"trainer.{run}")) == AFTER.replace("trainer.fit", f"trainer.{run}")


@pytest.mark.parametrize(
    "text",
    [
        BEFORE.replace(EXCEPT, "except (KeyboardInterrupt, SystemExit):"),
        BEFORE.replace(EXCEPT, "except BaseException:"),
        BEFORE.replace(EXCEPT, "except:"),
        BEFORE.replace(EXCEPT, "except SystemExit:\n    pass\nexcept KeyboardInterrupt:"),
        BEFORE.replace(EXCEPT, "except Exception:"),
        BEFORE.replace("trainer.fit(model)", "model.fit(data)"),
        BEFORE.replace("trainer.fit(model)", "scaler.fit(data)"),
        BEFORE.replace("    trainer.fit(model)\n", "    serve()\n") + "trainer.fit(model)\n",
        BEFORE.replace("pytorch_lightning", "engine"),
        BEFORE.replace("    trainer.fit(model)", "    prepare()").replace("    print(", "    trainer.fit("),
    ],
)
def test_what_does_not_end_so_is_left(text: str) -> None:
    assert run_rules({"train.py": text}, RULE, unsafe=True).findings == ()


def test_a_trainer_from_elsewhere_is_for_a_person() -> None:
    text = "import pytorch_lightning as pl\nfrom engine import trainer\n\n" + BEFORE.partition(")\n")[2]
    [reason] = refusals({"train.py": text}, "LIT125")
    assert "write `except (KeyboardInterrupt, SystemExit):`" in reason


PROGRAM = """\
import torch
from lightning.pytorch import LightningModule, Trainer
from torch.utils.data import DataLoader, TensorDataset


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 1)

    def training_step(self, batch, batch_idx):
        raise KeyboardInterrupt

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


def main():
    trainer, seen = Trainer(max_epochs=1, accelerator="cpu"), []
    try:
        trainer.fit(Model(), DataLoader(TensorDataset(torch.rand(4, 2))))
    except KeyboardInterrupt:
        seen.append("handled")
    return [*seen, "after"]
"""


def test_what_follows_runs_again() -> None:
    before = train({"train.py": PROGRAM}, script=None, module="train", function="main")
    assert before.failure is not None and "SystemExit" in before.failure.type
    now = train({"train.py": after(PROGRAM)}, script=None, module="train", function="main")
    assert now.failure is None and now.returned == ["handled", "after"]
