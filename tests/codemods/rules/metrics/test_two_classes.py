"""MET001 on areas under curves, which tell by the way they are called that there are two classes."""

from __future__ import annotations

import pytest
import torch
import torchmetrics

from tests.codemods.support import refusals, rewritten, rule, run_rules

TEXT = """\
import torch
from pytorch_lightning import LightningModule
from torchmetrics import AUROC, AveragePrecision
from torchmetrics.functional import auroc, average_precision


class Model(LightningModule):
    def __init__(self, net):
        super().__init__()
        self.net = net
        self.metric = {made}

    def shared(self, batch):
        x, y = batch
        out = self.net(x)
        return torch.softmax(out, dim=1)[:, 1], y, out

    def validation_step(self, batch, batch_idx):
        preds, y, out = self.shared(batch)
        {fed}
"""


def module(made: str = "AUROC()", fed: str = "self.metric(preds, y)") -> str:
    return TEXT.format(made=made, fed=fed)


def level(text: str) -> str:
    [finding] = run_rules({"train.py": text}, rule("MET001")).findings
    return finding.fix


def after(text: str) -> str:
    return rewritten({"train.py": text}, rule("MET001"), unsafe=True)["train.py"]


@pytest.mark.parametrize("given", ["", "pos_label=1", "num_classes=1", "compute_on_step=False", "pos_label=None"])
@pytest.mark.parametrize(("metric", "fix"), [("AUROC", "safe"), ("AveragePrecision", "unsafe")])
def test_it_is_told_so(metric: str, given: str, fix: str) -> None:
    text = module(f"{metric}({given})")
    assert level(text) == fix
    assert after(text) == module(f'{metric}(task="binary")')


@pytest.mark.parametrize(
    ("fed", "fix"),
    [
        ("self.metric(torch.sigmoid(out), y)", "safe"),
        ("self.metric.update(out.softmax(dim=1)[:, 1], y)", "safe"),
        ("self.metric(out, y)", "unsafe"),
        ("self.metric(preds, y)\n        self.metric(out[:, 1], y)", "unsafe"),
        ("self.metric(*batch)", "unsafe"),
        ("helper(self.metric)", "unsafe"),
        ("pass", "unsafe"),
    ],
)
def test_logits_may_be_taken_for_probabilities(fed: str, fix: str) -> None:
    text = module(fed=fed)
    assert level(text) == fix
    assert after(text) == module('AUROC(task="binary")', fed)


@pytest.mark.parametrize(
    ("fed", "fix"),
    [
        ("self.log('a', {}(out, y))", "safe"),
        ("try:\n            {}(out, y)\n        finally:\n            self.done()", "safe"),
        ("try:\n            {}(out, y)\n        except ValueError:\n            pass", "unsafe"),
        ("try:\n            pass\n        except ValueError:\n            {}(out, y)", "unsafe"),
        ("with contextlib.suppress(ValueError):\n            {}(out, y)", "unsafe"),
        ("try:\n            import json\n        except ImportError:\n            pass\n        {}(out, y)", "safe"),
    ],
)
def test_a_function_gets_all_at_once(fed: str, fix: str) -> None:
    text = module("None", fed.format("auroc"))
    assert level(text) == fix
    assert after(text) == module("None", fed.format("auroc").replace("(out, y)", '(out, y, task="binary")'))
    assert level(module("None", fed.format("average_precision"))) == "unsafe"


@pytest.mark.parametrize(
    "made",
    [
        'AUROC(average="macro")',
        "AUROC(pos_label=0)",
        "AUROC(pos_label=n)",
        "AUROC(max_fpr=0.5)",
        "AveragePrecision(num_classes=5)",
        "AUROC(num_classes=n, average=None)",
        'AveragePrecision(average="weighted")',
        "AUROC(**more)",
    ],
)
def test_left_to_a_person(made: str) -> None:
    assert refusals({"train.py": module(made)}, "MET001")


@pytest.mark.parametrize("fed", ["auroc(*batch)", "auroc(out, y, None)", "auroc(out)"])
def test_functions_left_to_a_person(fed: str) -> None:
    assert refusals({"train.py": module("None", fed)}, "MET001")


@pytest.mark.parametrize(
    ("made", "fed", "fix"),
    [
        ("AUROC(num_classes=3)", "self.metric(torch.softmax(out, 1), y)", "safe"),
        (
            "AUROC(num_classes=3)",
            "try:\n            self.metric(torch.softmax(out, 1), y)\n        except ValueError:\n            pass",
            "unsafe",
        ),
        ('AUROC(num_classes=3, average="weighted")', "self.metric(torch.softmax(out, 1), y)", "safe"),
        ('AveragePrecision(num_classes=3, average="macro")', "self.metric(torch.softmax(out, 1), y)", "safe"),
        ("AUROC(num_classes=3)", "self.metric(self.unknown(out), y)", "unsafe"),
        ("AUROC(num_classes=3)", "self.metric(out, y)", "manual"),
        ('AveragePrecision(num_classes=3, average="macro")', "self.metric(out, y)", "manual"),
        ("None", "auroc(torch.softmax(out, 1), y, num_classes=3)", "safe"),
        ("None", "auroc(out, y, num_classes=3)", "manual"),
    ],
)
def test_of_several_classes_they_want_probabilities(made: str, fed: str, fix: str) -> None:
    text = module(made, f"{fed}\n        self.log('loss', torch.nn.functional.cross_entropy(out, y))")
    assert level(text) == fix


def test_of_logits_they_take_softmax() -> None:
    """torchmetrics 0.6.2 and 0.10.3 took them as they are: the area of a class was that of its own column."""
    logits, target = torch.tensor([[2.0, 5.0], [1.0, -3.0], [3.0, 3.5]]), torch.tensor([0, 1, 0])
    area = torchmetrics.AUROC(task="multiclass", num_classes=2, average="none")
    assert area(logits, target)[0] == area(logits.softmax(1), target)[0] == 0
    assert torchmetrics.AUROC(task="binary")(logits[:, 0] / 3, (target == 0).int()) == 1
