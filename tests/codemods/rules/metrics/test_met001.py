"""MET001: what it writes, what it leaves, and that its table says what the installed torchmetrics does."""

from __future__ import annotations

import inspect

import pytest
import torchmetrics
import torchmetrics.functional

from codemods.rules.metrics.advice import GONE
from codemods.rules.metrics.table import PASSED, proven, rows
from tests.codemods.support import refusals, rewritten, rule, run_rules

HEAD = """\
import torch
import torch.nn as nn
import torch.nn.functional as F
import torchmetrics
from pytorch_lightning import LightningModule
from torchmetrics import Accuracy, F1Score, MetricCollection
from torchmetrics.functional import accuracy


class Model(LightningModule):
    def __init__(self, width=4, num_classes=3):
        super().__init__()
        self.layer = nn.Linear(8, width)
        self.last = {last}
        self.loss = {loss}
        {made}

    def forward(self, x):
        x = self.layer(x)
        x = self.last(x)
        return x

    def training_step(self, batch, batch_idx):
        x, y = batch
        out = self(x)
        loss = {computed}
        {fed}
        return loss
"""


def module(made: str, fed: str, last: str = "nn.Linear(width, 10)", loss: str = "None", computed: str = "") -> str:
    computed = computed or ("self.loss(out, y)" if loss != "None" else "F.cross_entropy(out, y)")
    return HEAD.format(made=made, fed=fed, last=last, loss=loss, computed=computed)


def made(text: str, *, unsafe: bool = False) -> str:
    """The line that makes the metric, after the rule."""
    after = rewritten({"train.py": text}, rule("MET001"), unsafe=unsafe)["train.py"]
    return next(line for line in after.splitlines() if "self.metric =" in line).strip().removeprefix("self.metric = ")


@pytest.mark.parametrize(
    ("before", "fed", "after"),
    [
        ("Accuracy()", "self.metric(out, y)", 'Accuracy(task="multiclass", num_classes=10)'),
        ("Accuracy()", "self.metric.update(out.detach(), y)", 'Accuracy(task="multiclass", num_classes=10)'),
        ("Accuracy()", "self.metric(out.argmax(dim=-1), y)", 'Accuracy(task="multiclass", num_classes=10)'),
        ("Accuracy()", "self.metric(torch.max(out, 1)[1], y)", 'Accuracy(task="multiclass", num_classes=10)'),
        ("Accuracy()", "self.metric(F.softmax(out, dim=1), y)", 'Accuracy(task="multiclass", num_classes=10)'),
        ("Accuracy(top_k=5)", "self.metric(out, y)", 'Accuracy(task="multiclass", num_classes=10, top_k=5)'),
        ("Accuracy(num_classes=7)", "self.metric(out, y)", 'Accuracy(task="multiclass", num_classes=7)'),
        ("Accuracy(0.5)", "self.metric(out, y)", 'Accuracy(task="multiclass", num_classes=10, threshold=0.5)'),
        ("F1Score(10)", "self.metric(out, y)", 'F1Score(task="multiclass", num_classes=10)'),
        (
            'F1Score(num_classes=10, average="macro", compute_on_step=False)',
            "self.metric(out, y)",
            'F1Score(task="multiclass", num_classes=10, average="macro")',
        ),
        (
            'Accuracy(mdmc_average="global", dist_sync_on_step=True)',
            "self.metric(out, y)",
            'Accuracy(task="multiclass", num_classes=10, dist_sync_on_step=True)',
        ),
        (
            "torchmetrics.ConfusionMatrix(10, normalize='true')",
            "self.metric(out, y)",
            "torchmetrics.ConfusionMatrix(task=\"multiclass\", num_classes=10, normalize='true')",
        ),
        (
            "MetricCollection([Accuracy(), F1Score()])",
            "self.metric(out, y)",
            'MetricCollection({"Accuracy": Accuracy(task="multiclass", num_classes=10), '
            '"F1Score": F1Score(task="multiclass", num_classes=10)})',
        ),
        (
            "nn.ModuleList([Accuracy() for _ in range(2)])",
            "self.metric[0](out, y)",
            'nn.ModuleList([Accuracy(task="multiclass", num_classes=10) for _ in range(2)])',
        ),
        (
            "nn.ModuleDict({name: Accuracy() for name in num_classes})",
            "for name, metric in self.metric.items():\n            metric(out, y)",
            'nn.ModuleDict({name: Accuracy(task="multiclass", num_classes=10) for name in num_classes})',
        ),
        ("torchmetrics.MeanMetric(compute_on_step=False)", "self.metric(loss)", "torchmetrics.MeanMetric()"),
    ],
)
def test_multiclass(before: str, fed: str, after: str) -> None:
    assert made(module(f"self.metric = {before}", fed)) == after


@pytest.mark.parametrize(
    ("last", "size"),
    [
        ("nn.Linear(width, num_classes)", "num_classes"),
        ("nn.Linear(in_features=width, out_features=5)", "5"),
        ("nn.Sequential(nn.ReLU(), nn.Linear(width, 6), nn.LogSoftmax(dim=1))", "6"),
        ("nn.Conv2d(width, 4, 1)", "4"),
    ],
)
def test_the_last_layer_says_how_many_classes(last: str, size: str) -> None:
    text = module("self.metric = Accuracy()", "self.metric(out, y)", last)
    assert made(text) == f'Accuracy(task="multiclass", num_classes={size})'


def test_hyperparameters_are_read_once_they_are_there() -> None:
    last = "nn.Linear(width, self.hparams.num_classes)"
    text = module("self.metric = Accuracy()", "self.metric(out, y)", last)
    assert made(text) == 'Accuracy(task="multiclass", num_classes=self.hparams.num_classes)'
    early = text.replace("        self.metric = Accuracy()\n", "").replace(
        "        self.layer =", "        self.metric = F1Score()\n        self.layer ="
    )
    assert "how many classes" in " ".join(refusals({"train.py": early}, "MET001"))


def test_a_loss_that_is_kept_tells_the_task() -> None:
    text = module("self.metric = Accuracy()", "self.metric(out, y)", loss="nn.CrossEntropyLoss()")
    assert made(text) == 'Accuracy(task="multiclass", num_classes=10)'


def test_a_function_takes_the_number_from_what_it_is_given() -> None:
    text = module("pass", 'self.log("acc", accuracy(out, y))', last="build(width)")
    after = rewritten({"train.py": text}, rule("MET001"))["train.py"]
    assert 'accuracy(out, y, task="multiclass", num_classes=out.shape[1])' in after


@pytest.mark.parametrize(
    ("fed", "written"),
    [
        (
            "out = out.view(-1, 5)\n        accuracy(out.argmax(dim=-1), y)",
            'y, task="multiclass", num_classes=out.shape[-1]',
        ),
        (
            "if y.any():\n            out = -out\n        accuracy(out.argmax(dim=1), y)",
            'y, task="multiclass", num_classes=out.shape[1]',
        ),
        (
            "one, two = both(out)\n        preds = torch.argmax(two, dim=1)\n        accuracy(preds, y)",
            'y, task="multiclass", num_classes=two.shape[1]',
        ),
    ],
)
def test_a_name_that_is_bound_again(fed: str, written: str) -> None:
    text = module("pass", fed, last="build(width)")
    assert written in rewritten({"train.py": text}, rule("MET001"))["train.py"]


@pytest.mark.parametrize("base", ["torchmetrics.ConfusionMatrix", "pl.metrics.F1"])
def test_a_metric_of_several_tasks_is_no_base(base: str) -> None:
    head = "import pytorch_lightning as pl\nimport torchmetrics\n\n\n"
    text = f"{head}class Mine({base}):\n    def compute(self):\n        return 1\n"
    assert rewritten({"train.py": text}, rule("MET001"), rule("LIT001"))["train.py"] == text
    assert "derive from `Binary" in refusals({"train.py": text}, "MET001")[0]
    own = text.replace(base, "torchmetrics.classification.MulticlassConfusionMatrix")
    assert run_rules({"train.py": own}, rule("MET001")).findings == ()


def test_a_part_that_is_bound_again_does_not_tell_the_number() -> None:
    fed = "one, two = both(out)\n        preds = torch.argmax(two, dim=1)\n        two = y\n        accuracy(preds, y)"
    text = module("pass", fed, last="build(width)")
    assert rewritten({"train.py": text}, rule("MET001"))["train.py"] == text


@pytest.mark.parametrize(
    ("loss", "computed", "size"),
    [
        ("nn.CrossEntropyLoss(weight=torch.tensor([0.2, 0.3, 0.5]))", "", "3"),
        ("nn.NLLLoss(torch.FloatTensor([1, 2]))", "", "2"),
        ("None", "F.cross_entropy(out, y, torch.tensor([1.0, width]))", "2"),
        ("None", "nn.CrossEntropyLoss(weight=torch.tensor([1.0, 2.0, 3.0, 4.0]))(out, y)", "4"),
        ("nn.CrossEntropyLoss(weight=torch.tensor(width))", "", None),
        ("nn.CrossEntropyLoss(weight=torch.tensor([1.0, *width]))", "", None),
        ("nn.CrossEntropyLoss(weight=torch.rand([3]))", "", None),
        ("nn.CrossEntropyLoss(weight=torch.tensor([2.0]))", "", None),
        ("None", "F.cross_entropy(out[0], y, torch.tensor([1.0, 2.0]))", None),
        ("None", "F.cross_entropy(out, y, None, torch.tensor([1.0, 2.0]))", None),
    ],
)
def test_the_weights_of_a_loss_say_how_many_classes(loss: str, computed: str, size: str | None) -> None:
    text = module("self.metric = F1Score()", "self.metric(out.argmax(dim=1), y)", "build(width)", loss, computed)
    if size is None:
        assert "how many classes" in " ".join(refusals({"train.py": text}, "MET001"))
    else:
        assert made(text) == f'F1Score(task="multiclass", num_classes={size})'


STEP = """

class Shared(Model):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(2, 3)
        self.train_accuracy = Accuracy()
        self.val_accuracy = self.train_accuracy.clone()

    def shared(self, batch):
        x, y = batch
        logits = self.net(x)
        return F.cross_entropy(logits, y), torch.argmax(logits, dim=1), y

    def training_step(self, batch, batch_idx):
        loss, preds, y = self.shared(batch)
        self.log("train", self.train_accuracy(preds, y))
        return loss

    def validation_step(self, batch, batch_idx):
        _, preds, y = self.shared(batch)
        self.val_accuracy.update(preds, y)
        self.log("val", self.val_accuracy, on_epoch=True)
"""


def test_a_step_that_others_share_is_followed() -> None:
    before = module("pass", "pass") + STEP
    after = rewritten({"train.py": before}, rule("MET001"))["train.py"]
    assert after == before.replace("Accuracy()", 'Accuracy(task="multiclass", num_classes=3)')


def test_a_name_that_is_bound_again_in_between() -> None:
    fed = "preds = out.argmax(dim=1)\n        if y.any():\n            out = out[0]\n        accuracy(preds, y)"
    assert "how many classes" in " ".join(refusals({"train.py": module("pass", fed, last="build()")}, "MET001"))


def test_a_name_of_another_method_is_not_written() -> None:
    text = module("pass", "pass") + STEP.replace("self.train_accuracy(preds, y)", "accuracy(preds, y)").replace(
        "nn.Linear(2, 3)", "build()"
    )
    assert "how many classes" in " ".join(refusals({"train.py": text}, "MET001"))


ONES = {"last": "nn.Linear(width, 1)", "loss": "nn.BCEWithLogitsLoss()", "computed": "self.loss(out, y.float())"}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("Accuracy()", 'Accuracy(task="binary")'),
        ("F1Score(num_classes=1)", 'F1Score(task="binary")'),
        ("F1Score(num_classes=5)", 'F1Score(task="multilabel", num_labels=5)'),
        ('Accuracy(num_classes=5, average="macro")', 'Accuracy(task="multilabel", num_labels=5, average="macro")'),
        ("torchmetrics.ConfusionMatrix(num_classes=2)", 'torchmetrics.ConfusionMatrix(task="binary")'),
    ],
)
def test_probabilities_of_a_sigmoid(before: str, after: str) -> None:
    text = module(f"self.metric = {before}", "self.metric(torch.sigmoid(out), y)", **ONES)
    assert made(text) == before
    assert made(text, unsafe=True) == after


@pytest.mark.parametrize("given", ["out", "out.sigmoid()"])
def test_the_area_under_the_curve_of_two_classes(given: str) -> None:
    text = module("self.metric = torchmetrics.AUROC()", f"self.metric({given}, y)", **ONES)
    assert made(text, unsafe=given == "out") == 'torchmetrics.AUROC(task="binary")'


@pytest.mark.parametrize(
    ("text", "word"),
    [
        (module("self.metric = wrap(Accuracy())", "self.metric(out, y)"), "passed on where it is made"),
        (module("self.metric = Accuracy()", "pass"), "nothing in its class"),
        (
            module("self.metric = [Accuracy() for _ in y]", "[each(out, y) for each in self.metric]"),
            "passed on in line",
        ),
        (module("self.metric = [wrap(Accuracy()) for _ in y]", "self.metric[0](out, y)"), "passed on where it is made"),
        (module("self.metric = Accuracy()", "helper(self.metric, out, y)"), "passed on in line"),
        (module("self.metric = Accuracy()", "self.metric(x, y)"), "fixer cannot tell"),
        (module("self.metric = F1Score()", "self.metric(out, y)", "build(width)"), "how many classes"),
        (module("self.metric = Accuracy()", "self.metric(out, y)", **ONES), "logits"),
        (module("self.metric = Accuracy()", "self.metric(torch.sigmoid(out), y)"), "fixer cannot tell"),
        (module("self.metric = Accuracy(**more)", "self.metric(out, y)"), "**"),
        (module("how = {**how, 'x': 1}\n        self.metric = Accuracy(**how)", "self.metric(out, y)"), "**"),
        (module("self.metric = F1Score(10, 0.5)", "self.metric(out, y)"), "by position"),
        (module("self.metric = F1Score(num_classes=10, ignore_index=0)", "self.metric(out, y)"), "ignore_index"),
        (module("self.metric = F1Score(top_k=2)", "self.metric(out, y)"), "top_k"),
        (module('self.metric = Accuracy(mdmc_average="samplewise")', "self.metric(out, y)"), "mdmc_average"),
        (module("self.metric = Accuracy(subset_accuracy=True)", "self.metric(out, y)"), "subset_accuracy"),
        (module("self.metric = Accuracy(multiclass=False)", "self.metric(out, y)"), "multiclass"),
        (module("self.metric = F1Score(average=None)", "self.metric(out, y)"), "average=None"),
        (module("self.metric = F1Score(average=how)", "self.metric(out, y)"), "cannot tell its average"),
        (module("self.metric = torchmetrics.AUROC(num_classes=10)", "self.metric(out, y)"), "of logits it gives other"),
        (module("self.metric = torchmetrics.HammingDistance()", "self.metric(out, y)"), "gives other numbers"),
        (module("self.metric = torchmetrics.IoU(absent_score=1.0)", "self.metric(out, y)"), "JaccardIndex"),
        (
            module("self.metric = Accuracy(  # all of them\n            top_k=2\n        )", "self.metric(out, y)"),
            "a comment",
        ),
        ("from torchmetrics import Accuracy\n\nmetric = Accuracy()\n", "not made in a class"),
        (
            module("self.metric = Accuracy()", "if y.any():\n            out = -out\n        self.metric(out, y)"),
            "more than one way",
        ),
        (
            module("self.metric = Accuracy()\n        self.other = wrap(F1Score())", "self.metric(out, y)"),
            "another metric of the class",
        ),
    ],
)
def test_left_to_a_person(text: str, word: str) -> None:
    assert any(word in reason for reason in refusals({"train.py": text}, "MET001"))


@pytest.mark.parametrize(
    "text",
    [
        module('self.metric = Accuracy(task="multiclass", num_classes=10)', "self.metric(out, y)"),
        module('how = {"task": kind}\n        self.metric = Accuracy(top_k=2, **how)', "self.metric(out, y)"),
        module("how = dict(task=kind)\n        self.metric = Accuracy(**how)", "self.metric(out, y)"),
        module(
            "base = {'task': kind}\n        how = {**base, 'top_k': 2}\n        self.metric = Accuracy(**how)",
            "self.metric(out, y)",
        ),
        module("base = dict(task=kind)\n        self.metric = Accuracy(**{**base, 'top_k': 2})", "self.metric(out, y)"),
        module('self.metric = Accuracy("multiclass", num_classes=10)', "self.metric(out, y)"),
        module("self.metric = torchmetrics.MeanSquaredError()", "self.metric(out, y)"),
        "from sklearn.metrics import accuracy_score as accuracy\n\nvalue = accuracy(a, b)\n",
        "from mine import Accuracy\nimport torchmetrics\n\nmetric = Accuracy()\n",
    ],
)
def test_not_meant(text: str) -> None:
    assert refusals({"train.py": text}, "MET001") == []


@pytest.mark.parametrize("row", rows(), ids=lambda row: f"{row['metric']}-{row['task']}")
def test_the_installed_torchmetrics_takes_what_is_written(row: dict[str, str]) -> None:
    metric = getattr(torchmetrics, row["metric"])
    taken = inspect.signature(metric.__new__).parameters
    assert "task" in taken
    assert "task" in inspect.signature(getattr(torchmetrics.functional, row["function"])).parameters
    if not row["task"]:
        return
    size = {"binary": {}, "multiclass": {"num_classes": 3}, "multilabel": {"num_labels": 3}}[row["task"]]
    facts = proven()[row["metric"], row["task"]]
    assert facts.keeps | facts.plain_keeps <= taken.keys()
    for average in facts.averages:
        given = {} if average == "-" else {"average": average}
        assert metric(task=row["task"], **size, **given) is not None
    made = metric(task=row["task"], **size, **{name: False if name == "dist_sync_on_step" else None for name in PASSED})
    assert isinstance(made, torchmetrics.Metric)


TABLE = """\
from functools import partial
import torchmetrics
from torchmetrics import Accuracy, MeanSquaredError
from torchmetrics.functional import accuracy

METRICS = {{"accuracy": Accuracy, "error": MeanSquaredError}}


def build(name, *args, **kwargs):
    return METRICS[name](*args, **kwargs)
{}
"""


@pytest.mark.parametrize(
    "text",
    [
        "",
        "RECALL = torchmetrics.Recall\n",
        "made = partial(torchmetrics.Recall, num_classes=3)\n",
        "def pick():\n    return accuracy\n",
        "build_all([accuracy])\n",
    ],
)
def test_metrics_that_are_called_by_another_name_are_named(text: str) -> None:
    found = run_rules({"a.py": TABLE.format(text)}, rule("MET001")).findings
    assert [item.fix for item in found] == ["manual"] * (2 if text else 1)
    assert "called elsewhere" in found[-1].reason


@pytest.mark.parametrize(
    "text",
    [
        "x: Accuracy = build(name)\n",
        "def f(x: Accuracy | None, y: type[Accuracy]) -> Accuracy:\n    return isinstance(x, (Accuracy, int))\n",
        "same = type(build(name)) is Accuracy\n",
        "name = Accuracy.__name__\n",
    ],
)
def test_metrics_that_are_only_mentioned_are_not(text: str) -> None:
    found = run_rules({"a.py": TABLE.format(text)}, rule("MET001")).findings
    assert len(found) == 1


@pytest.mark.parametrize("text", ["build('accuracy', task='binary')\n", "OPTIONS = {'task': 'binary'}\n"])
def test_a_file_that_says_a_task_knows_of_it(text: str) -> None:
    assert run_rules({"a.py": TABLE.format(text)}, rule("MET001")).findings == ()


SCORE = """\
from pytorch_lightning.metrics.functional.classification import auroc


def score(predictions, target):
    return auroc(predictions, target)
"""


def test_the_function_that_took_binary_targets_alone_is_known_under_its_new_name() -> None:
    after = rewritten({"a.py": SCORE}, rule("LIT001"), rule("MET001"))["a.py"]
    assert "from torchmetrics.functional import auroc\n" in after
    assert '    return auroc(predictions, target, task="binary")\n' in after
    assert rewritten({"a.py": after}, rule("LIT001"), rule("MET001"))["a.py"] == after


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(predictions, target)\n", "(predictions, target, pos_label=0)\n"),
        ("(predictions, target)\n", "(predictions, target, None)\n"),
        ("(predictions, target)\n", "(*predictions)\n"),
    ],
)
def test_what_may_be_of_another_kind_is_left(old: str, new: str) -> None:
    text = SCORE[::-1].replace(old[::-1], new[::-1], 1)[::-1]
    assert text != SCORE
    found = run_rules({"a.py": text}, rule("LIT001"), rule("MET001")).findings
    assert "manual" in {each.fix for each in found if each.code == "MET001"}


@pytest.mark.parametrize(
    ("call", "advice"),
    [
        ("Accuracy()", 'write `Accuracy(task="multiclass", num_classes=...)`, or'),
        ("Accuracy(num_classes=3)", 'write `Accuracy(task="multiclass", num_classes=3)`, or'),
        ("Accuracy(0.3)", "num_labels=...`, and its other arguments by name."),
        ("Accuracy(mdmc_average='samplewise')", "num_labels=...`, without mdmc_average=."),
    ],
)
def test_the_advice_is_a_call_that_works(call: str, advice: str) -> None:
    found = run_rules({"a.py": f"from torchmetrics import Accuracy\n\nmetric = {call}\n"}, rule("MET001")).findings
    assert advice in found[0].reason
    assert found[0].reason.count('task="multiclass"') == 1 and f"({call[9:-1]}, task" not in found[0].reason


@pytest.mark.parametrize("metric", ["Accuracy", "F1Score", "AUROC", "ConfusionMatrix", "JaccardIndex", "StatScores"])
@pytest.mark.parametrize("name", sorted(GONE))
def test_no_metric_with_a_task_takes_what_is_gone(metric: str, name: str) -> None:
    with pytest.raises(ValueError, match=f"nexpected keyword.*{name}"):
        getattr(torchmetrics, metric)(task="multiclass", num_classes=3, **{name: False})


@pytest.mark.parametrize("name", ["class_reduction", "return_state"])
def test_what_the_functions_of_lightning_took_is_not_advised(name: str) -> None:
    text = f"from pytorch_lightning.metrics.functional import precision\n\nprecision(a, b, num_classes=3, {name}=c)\n"
    found = run_rules({"a.py": text}, rule("LIT001"), rule("MET001")).findings
    [reason] = [each.reason for each in found if each.code == "MET001"]
    assert f", without {name}=." in reason and f"{name}=c" not in reason
    with pytest.raises(TypeError, match=name):
        torchmetrics.functional.precision(None, None, task="binary", **{name: "micro"})


@pytest.mark.parametrize(
    ("call", "advice"),
    [
        ("Accuracy(num_classes=1)", 'write `Accuracy(task="binary")`.'),
        ("Accuracy(num_classes=1, threshold=0.3)", 'write `Accuracy(task="binary", threshold=0.3)`.'),
    ],
)
def test_one_class_alone_is_said_of_two(call: str, advice: str) -> None:
    [reason] = refusals({"a.py": f"from torchmetrics import Accuracy\n\nmetric = {call}\n"}, "MET001")
    assert advice in reason
