"""MET002, and the names that MET001 takes along: held against the installed torchmetrics by reflection."""

from __future__ import annotations

import importlib
from typing import Any

import pytest

from codemods.rules.metrics.renamed import ROOT, renamed
from codemods.rules.metrics.table import RENAMED
from tests.codemods.support import rule, run_rules

NAMES, TASKS = rule("MET002"), rule("MET001")
NOT_THERE = object()


def find(dotted: str) -> Any:
    module, _, name = f"{ROOT}.{dotted}".rpartition(".")
    return getattr(importlib.import_module(module), name, NOT_THERE)


@pytest.mark.parametrize("row", renamed().values(), ids=renamed())
def test_the_old_name_is_gone_and_the_new_one_is_there(row: Any) -> None:
    assert find(row.old) is NOT_THERE
    asked_for = row.last.startswith(("perceptual", "Perceptual", "short", "Short"))
    assert asked_for or find(row.new) is not NOT_THERE


def test_what_wants_a_task_has_one_name_in_both_tables() -> None:
    own = {row.old.rpartition(".")[2]: row.last for row in renamed().values() if row.level == "task"}
    assert own.items() <= RENAMED.items()


def after(text: str, *rules: Any, **files: str) -> str:
    named = {f"{name}.py": content for name, content in files.items()}
    made = run_rules({"a.py": text, **named}, *(rules or (NAMES,)))
    assert not made.bugs
    return made.final().get("a.py", text.encode()).decode()


@pytest.mark.parametrize(
    ("before", "wanted"),
    [
        (
            "from torchmetrics import WER\nm = WER()\n",
            "from torchmetrics import WordErrorRate\nm = WordErrorRate()\n",
        ),
        (
            "from torchmetrics import WER as W\nm = W()\n",
            "from torchmetrics import WordErrorRate as W\nm = W()\n",
        ),
        (
            "import torchmetrics as tm\nm = tm.PSNR(data_range=1.0, dist_sync_on_step=True)\n",
            "import torchmetrics as tm\nm = tm.PeakSignalNoiseRatio(data_range=1.0, dist_sync_on_step=True)\n",
        ),
        (
            "import torchmetrics.functional as F\ns = F.psnr(a, b, data_range=2)\n",
            "import torchmetrics.functional as F\ns = F.peak_signal_noise_ratio(a, b, data_range=2)\n",
        ),
        (
            "from torchmetrics import functional\ns = functional.snr(preds=a, target=b)\n",
            "from torchmetrics import functional\ns = functional.signal_noise_ratio(preds=a, target=b)\n",
        ),
        (
            "from torchmetrics.regression import SpearmanCorrcoef\n\ndef f(m: SpearmanCorrcoef): ...\n",
            "from torchmetrics.regression import SpearmanCorrCoef\n\ndef f(m: SpearmanCorrCoef): ...\n",
        ),
        (
            "from torchmetrics import SNR\n__all__ = ['SNR']\n",
            "from torchmetrics import SignalNoiseRatio as SNR\n__all__ = ['SNR']\n",
        ),
        (
            "from torchmetrics import SNR\nSignalNoiseRatio = 1\nm = SNR()\n",
            "from torchmetrics import SignalNoiseRatio as SNR\nSignalNoiseRatio = 1\nm = SNR()\n",
        ),
    ],
)
def test_a_name_and_its_uses(before: str, wanted: str) -> None:
    assert after(before) == wanted and after(wanted) == wanted


def test_a_name_that_another_file_takes_from_here_stays_there() -> None:
    text = "from torchmetrics import SNR\n"
    assert after(text, other="from a import SNR\n") == "from torchmetrics import SignalNoiseRatio as SNR\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("from torchmetrics import PSNR\nm = PSNR()\n", "give `data_range=`"),
        ("from torchmetrics import PSNR\nm = PSNR(1.0)\n", "by position"),
        ("from torchmetrics import SSIM\n", "so did its numbers"),
        ("from torchmetrics import FID\n", "image.fid.FrechetInceptionDistance"),
        ("from torchmetrics.functional import wer\nwer(predictions=a, references=b)\n", "`predictions` is given"),
        ("from torchmetrics import SNR\nm = SNR(**kw)\n", "`**` is given"),
        ("from torchmetrics import SNR\n\nclass M(SNR):\n    pass\n", "a class is made of it"),
        ("from torchmetrics.regression import PSNR\nm = PSNR(data_range=1.0)\n", "does not have the new one"),
        ("from torchmetrics import F1\n", "task="),
    ],
)
def test_is_left_to_a_person(text: str, why: str) -> None:
    made = run_rules({"a.py": text}, NAMES, unsafe=True)
    assert made.changes == () and [why in item.reason for item in made.findings] == [True]


@pytest.mark.parametrize(
    "text",
    [
        "from metrics import PSNR\nm = PSNR()\n",
        "from torchmetrics.image import PeakSignalNoiseRatio\nm = PeakSignalNoiseRatio()\n",
        "import torchmetrics\nself.SSIM = 1\n",
        "import torchmetrics\nMAP = {}\nMAP['a'] = 1\n",
    ],
)
def test_what_is_no_old_name_stays(text: str) -> None:
    assert run_rules({"a.py": text}, NAMES).findings == ()


MODEL = """\
import torch
import torch.nn.functional as F
from pytorch_lightning import LightningModule
from torchmetrics import F1


class Model(LightningModule):
    def __init__(self, count):
        super().__init__()
        self.layer = torch.nn.Linear(32, count)
        self.score = F1(num_classes=count)

    def training_step(self, batch, batch_idx):
        x, y = batch
        out = self.layer(x)
        self.score(out, y)
        return F.cross_entropy(out, y)
"""
SECOND = MODEL[MODEL.index("\n\nclass Model") :].replace("Model", "Other")


def test_a_name_goes_with_the_task_that_it_wants() -> None:
    made = after(MODEL, TASKS, NAMES)
    assert "from torchmetrics import F1Score\n" in made
    assert 'self.score = F1Score(task="multiclass", num_classes=count)' in made and after(made, TASKS, NAMES) == made


@pytest.mark.parametrize(
    ("imported", "spelled"), [("import torchmetrics as tm", "tm.F1"), ("from torchmetrics import F1", "F1")]
)
def test_what_is_advised_has_the_new_name(imported: str, spelled: str) -> None:
    text = MODEL.replace("from torchmetrics import F1", imported).replace(
        "F1(num_classes=count)", f"{spelled}(num_classes=count, average=None)"
    )
    [finding] = run_rules({"a.py": text}, TASKS).findings
    assert f"`{spelled}Score(task=" in finding.reason and f"`{spelled}(" not in finding.reason


def test_two_classes_of_one_name_go_together() -> None:
    assert after(MODEL + SECOND, TASKS).count("F1Score(task=") == 2
    stuck = MODEL + SECOND.replace("self.score(out, y)", "wrap(self.score)").replace("num_classes=count", "**count")
    assert after(stuck, TASKS, NAMES) == stuck
    reasons = [item.reason for item in run_rules({"a.py": stuck}, TASKS).findings]
    assert len(reasons) == 2 and any("has to be repaired by hand" in reason for reason in reasons)


def test_what_stands_beside_a_name_that_waits_waits_too() -> None:
    text = MODEL.replace("import F1\n", "import F1, Accuracy\n").replace(
        "        self.score = F1(num_classes=count)\n",
        "        self.score = wrap(F1(num_classes=count))\n        self.more = Accuracy()\n",
    )
    text = text.replace("self.score(out, y)", "self.more(out, y)")
    assert after(text, TASKS, NAMES) == text


def test_a_name_that_is_handed_on_somewhere_waits() -> None:
    text = MODEL + "\n\nMAKERS = {'f1': F1}\n"
    assert after(text, TASKS, NAMES) == text
    assert {item.fix for item in run_rules({"a.py": text}, TASKS).findings} == {"manual"}


@pytest.mark.parametrize(("name", "release"), [("SSIM", "0.8"), ("AUC", "0.11"), ("functional.auc", "0.11")])
def test_the_release_that_has_the_old_name_no_more(name: str, release: str) -> None:
    found = run_rules({"a.py": f"import torchmetrics\nprint(torchmetrics.{name})\n"}, NAMES).findings
    assert [item.message for item in found] == [f"`torchmetrics.{name}` was removed by torchmetrics {release}"]


@pytest.mark.parametrize(
    ("text", "pin", "told"),
    [
        ("from torchmetrics import Dice\n", "torchmetrics", "removed by torchmetrics 1.7"),
        (
            "import torchmetrics as tm\nd = tm.functional.dice(a, b)\n",
            "torchmetrics>=0.9",
            "removed by torchmetrics 1.7",
        ),
        ("from torchmetrics import Dice\n", "torchmetrics==1.2.0", ""),
        ("from torchmetrics import ROUGEScore\n", "torchmetrics", "removed by torchmetrics 0.7"),
        (
            "from torchmetrics.text import ROUGEScore\nfrom torchmetrics.text.bert import BERTScore\n",
            "torchmetrics",
            "",
        ),
        ("from torchmetrics.functional.segmentation import dice_score\n", "torchmetrics", ""),
        ("from torchmetrics import CoverageError\n", "torchmetrics", "removed by torchmetrics 0.11"),
    ],
)
def test_a_name_that_a_later_release_gave_up_is_told_where_that_may_be_installed(
    text: str, pin: str, told: str
) -> None:
    made = run_rules({"a.py": text}, NAMES, pins=(pin,))
    assert [told in each.message for each in made.findings] == [True] * bool(told)
    assert made.changes == ()
