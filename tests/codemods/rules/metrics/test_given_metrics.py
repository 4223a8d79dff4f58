"""MET001 of a metric that a class of the project is given where it is made."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rewritten, rule, run_rules

WRAPPER = """\
import torch.nn.functional as F
from torchmetrics import Metric


class FromLogits(Metric):
    def __init__(self, metric, times=1):
        super().__init__(dist_sync_on_step=metric.dist_sync_on_step)
        self.metric = metric

    def update(self, preds, target):
        self.metric.update(F.softmax(preds, dim=-1), target)

    def compute(self):
        return self.metric.compute()
"""
SCRIPT = "import torchmetrics\nfrom wrap import FromLogits\n\nmetrics = [{}]\n"
OLD = "torchmetrics.Accuracy()"
NEW = 'torchmetrics.classification.MulticlassAccuracy(average="micro")'


@pytest.mark.parametrize("given", ["FromLogits({})", "FromLogits(metric={})", "FromLogits({}, times=2)"])
def test_a_metric_that_a_wrapper_is_given(given: str) -> None:
    files = {"wrap.py": WRAPPER, "train.py": SCRIPT.format(given.format(OLD))}
    assert rewritten(files, rule("MET001"))["train.py"] == SCRIPT.format(given.format(NEW))


def test_a_wrapper_of_the_same_file() -> None:
    text = f"import torchmetrics\n{WRAPPER}\n\nmetric = FromLogits({OLD})\n"
    assert f"metric = FromLogits({NEW})" in rewritten({"train.py": text}, rule("MET001"))["train.py"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("F.softmax(preds, dim=-1)", "preds"),
        ("self.metric = metric", "self.metric = metric.clone()"),
        ("self.metric = metric", "self.metric = metric\n        register(metric)"),
        ("self.metric = metric", "self.metric = self.other = metric"),
        ("return self.metric.compute()", "return total(self.metric)"),
        ("class FromLogits(Metric)", "class Base:\n    pass\n\n\nclass FromLogits(Base)"),
        ("self.metric.update", "self.other.update"),
    ],
)
def test_a_wrapper_that_does_more_with_it_or_that_gives_it_what_is_not_known(old: str, new: str) -> None:
    assert old in WRAPPER
    files = {"wrap.py": WRAPPER.replace(old, new), "train.py": SCRIPT.format(f"FromLogits({OLD})")}
    made = run_rules(files, rule("MET001"))
    assert made.changes == () and [item.fix for item in made.findings] == ["manual"]


@pytest.mark.parametrize("given", ["elsewhere.Wrapper({})", "FromLogits(*both({}))", "FromLogits(**named({}))", "{}"])
def test_what_gets_the_metric_otherwise(given: str) -> None:
    files = {"wrap.py": WRAPPER, "train.py": SCRIPT.format(given.format(OLD))}
    assert refusals(files, "MET001")


def test_a_number_of_classes_that_only_the_wrapper_knows() -> None:
    code = WRAPPER.replace("F.softmax(preds, dim=-1)", "F.softmax(torch.nn.Linear(4, self.hparams.n)(preds), dim=-1)")
    files = {"wrap.py": f"import torch\n{code}", "train.py": SCRIPT.format(f"FromLogits({OLD})")}
    assert "hparams" not in run_rules(files, rule("MET001")).final().get("train.py", b"").decode()
