"""MET001: the numbers of old metrics and of new ones, and metrics of the project."""

from __future__ import annotations

import warnings

import pytest
import torch
import torchmetrics
import torchmetrics.functional

from tests.codemods.rules.metrics.test_met001 import module
from tests.codemods.support import rule, run_rules

CLASSES = torch.Generator().manual_seed(7)
SCORES = torch.randn(40, 5, generator=CLASSES)
LABELS = torch.randint(0, 4, (40,), generator=CLASSES)


def counted(metric: str, average: str) -> float:
    """The number by its definition, with classes that do not occur left out of a mean."""
    preds = SCORES.argmax(1)
    hit = torch.stack([((preds == k) & (k == LABELS)).sum() for k in range(5)]).double()
    said = torch.stack([(preds == k).sum() for k in range(5)]).double()
    real = torch.stack([(k == LABELS).sum() for k in range(5)]).double()
    above, below = {"Precision": (hit, said), "Recall": (hit, real), "F1Score": (2 * hit, said + real)}.get(
        metric, (hit, real)
    )
    if average in ("-", "micro"):
        return float(above.sum() / below.sum())
    each = torch.where(below > 0, above / below.clamp(min=1), 0.0)
    weights = real if average == "weighted" else ((said + real) > 0).double()
    return float((each * weights).sum() / weights.sum())


@pytest.mark.parametrize("metric", ["Accuracy", "Precision", "Recall", "F1Score"])
@pytest.mark.parametrize("average", ["-", "micro", "macro", "weighted"])
def test_numbers_are_those_that_the_old_ones_gave(metric: str, average: str) -> None:
    """The old ones' numbers were compared with these definitions when the table was made."""
    given = {} if average == "-" else {"average": average}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = getattr(torchmetrics, metric)(task="multiclass", num_classes=5, **given)(SCORES, LABELS)
    assert float(found) == pytest.approx(counted(metric, average), abs=1e-5)


def ranked(metric: str, average: str) -> float:
    """The area or the mean precision of each class against the rest, from the order of its probabilities, and their
    mean: a class that does not occur has no area, and is left out of a mean of precisions."""
    scores = SCORES.softmax(1)
    each, support = [], []
    for k in range(5):
        order = scores[:, k].argsort(descending=True)
        hit = (LABELS[order] == k).double()
        support.append(float(hit.sum()))
        if metric == "AUROC":
            above = hit.cumsum(0)[hit == 0].sum()
            each.append(float(above / (hit.sum() * (1 - hit).sum())) if hit.any() else 0.0)
        else:
            at = torch.arange(1, 41).double()
            each.append(float((hit.cumsum(0) / at)[hit == 1].mean()) if hit.any() else float("nan"))
    known = [(value, weight) for value, weight in zip(each, support, strict=True) if value == value]
    if average == "weighted":
        return sum(value * weight for value, weight in known) / sum(support)
    return sum(value for value, _ in known) / len(known)


@pytest.mark.parametrize(
    ("metric", "average"),
    [
        ("AUROC", "-"),
        ("AUROC", "macro"),
        ("AUROC", "weighted"),
        ("AveragePrecision", "macro"),
        ("AveragePrecision", "weighted"),
    ],
)
def test_areas_of_several_classes_are_those_that_the_old_ones_gave(metric: str, average: str) -> None:
    """torchmetrics 0.6.2 and 0.10.3 gave the same for twelve random sets, a third of them without one of the classes
    and half with ties; 0.3.2 too, but for AUROC where a class does not occur, which it refused."""
    given = {} if average == "-" else {"average": average}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = getattr(torchmetrics, metric)(task="multiclass", num_classes=5, **given)(SCORES.softmax(1), LABELS)
    assert float(found) == pytest.approx(ranked(metric, average), abs=1e-5)


def test_a_class_that_does_not_occur_changes_the_mean_of_specificities() -> None:
    """torchmetrics 0.6.2 and 0.10.3 counted it as 1, and gave the same where all classes occur."""
    preds, target = torch.tensor([0, 1, 1]), torch.tensor([0, 1, 0])
    found = [torchmetrics.Specificity(task="multiclass", num_classes=n, average="macro")(preds, target) for n in (2, 3)]
    assert found[0] == found[1] == 0.75  # and (0.5 + 1 + 1) / 3 before


@pytest.mark.parametrize(("pin", "level"), [("0.9.0", "unsafe"), ("1.2.0", "safe")])
def test_a_metric_of_before_1_0_gave_the_sum_over_processes(pin: str, level: str) -> None:
    text = module("self.metric = pl.metrics.Accuracy()", "self.metric(out, y)")
    text = f"import pytorch_lightning as pl\n{text}"
    plan = run_rules({"a.py": text}, rule("MET001"), pins=(f"pytorch-lightning=={pin}",))
    assert [finding.fix for finding in plan.findings] == [level]
    assert ("division by their number" in plan.findings[0].reason) == (level == "unsafe")


@pytest.mark.parametrize("where", ["from torchmetrics import Metric", "from pytorch_lightning.metrics import Metric"])
def test_a_metric_of_the_project_that_hands_up_a_dead_argument_is_named(where: str) -> None:
    text = (
        f"{where}\n\n\nclass Mine(Metric):\n    def __init__(self):\n        super().__init__(compute_on_step=False)\n"
    )
    made = run_rules({"a.py": text}, rule("MET001"), unsafe=True)
    [finding] = made.findings
    assert finding.fix == "unsafe" and "`compute_on_step=`" in finding.message
    assert made.final()["a.py"].decode() == text.replace("compute_on_step=False", "")
    [read] = run_rules({"a.py": f"{text}        print(self.compute_on_step)\n"}, rule("MET001")).findings
    assert read.fix == "manual" and "line 7" in read.reason
    with pytest.raises(ValueError, match="compute_on_step"):
        torchmetrics.SumMetric(compute_on_step=False)
    other = text.replace("(Metric)", "(object)")
    assert not run_rules({"a.py": other}, rule("MET001")).findings


@pytest.mark.parametrize(
    ("parameters", "given", "left", "level"),
    [
        ("self", "compute_on_step=True", "", "safe"),
        ("self, step=True, a=1", "compute_on_step=step, dist_sync_fn=a", "dist_sync_fn=a", "safe"),
        ("self, *, step=True", "dist_sync_fn=1, compute_on_step=step", "dist_sync_fn=1", "safe"),
        ("self, step=False", "compute_on_step=step", "", "unsafe"),
        ("self, step", "compute_on_step=step", "", "unsafe"),
        ("self, other", "compute_on_step=other.compute_on_step", "", "unsafe"),
        ("self, kw", "compute_on_step=True, **kw", None, "manual"),
    ],
)
def test_what_a_metric_of_the_project_hands_up(parameters: str, given: str, left: str | None, level: str) -> None:
    text = "from torchmetrics import Metric\n\n\nclass Mine(Metric):\n"
    text += f"    def __init__({parameters}):\n        super().__init__({{}})\n"
    made = run_rules({"a.py": text.format(given)}, rule("MET001"), unsafe=True)
    assert [item.fix for item in made.findings] == [level]
    assert left is None or made.final()["a.py"].decode() == text.format(left)


@pytest.mark.parametrize(
    ("use", "level"),
    [
        ("Mine()", "safe"),
        ("Mine(other=1)", "safe"),
        ("Mine(step=False)", "unsafe"),
        ("Mine(False)", "unsafe"),
        ("Mine(*given)", "unsafe"),
        ("Mine(**given)", "unsafe"),
        ("MADE = {'mine': Mine}", "unsafe"),
        ("class Other(Mine):\n    def __init__(self):\n        super().__init__(step=False)", "unsafe"),
    ],
)
def test_a_metric_that_may_be_told_to_compute_nothing(use: str, level: str) -> None:
    text = "from torchmetrics import Metric\n\n\nclass Mine(Metric):\n"
    text += "    def __init__(self, step=True, other=0):\n        super().__init__(compute_on_step=step)\n"
    for files in ({"a.py": f"{text}\n\n{use}\n"}, {"a.py": text, "b.py": f"from a import Mine\n\n{use}\n"}):
        [found] = run_rules(files, rule("MET001")).findings
        assert found.fix == level
    bound = text.replace("        super()", "        step = other\n        super()")
    assert [item.fix for item in run_rules({"a.py": bound}, rule("MET001")).findings] == ["unsafe"]
