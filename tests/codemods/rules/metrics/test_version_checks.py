"""MET001 beside questions for the version of torchmetrics: what old releases run is left to them."""

from __future__ import annotations

import pytest

from tests.codemods.support import rewritten, rule, run_rules

MODEL = """\
import torch
import torchmetrics
from packaging.version import parse
from pytorch_lightning import LightningModule
from torchmetrics import Accuracy
from torchmetrics import __version__ as metrics_version


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        if {test}:
            self.accuracy = Accuracy(task="multiclass", num_classes=10)
        else:
            self.accuracy = Accuracy()

    def validation_step(self, batch, batch_idx):
        self.accuracy(torch.argmax(batch[0], dim=1), batch[1])
"""


@pytest.mark.parametrize(
    "test",
    [
        'parse(metrics_version) > parse("0.8")',
        'parse(torchmetrics.__version__) >= parse("0.11")',
        'not metrics_version.startswith("0.")',
        'int(torchmetrics.__version__.split(".")[0]) >= 1',
    ],
)
def test_what_is_for_an_old_release_is_left(test: str) -> None:
    text = MODEL.format(test=test)
    made = run_rules({"a.py": text}, rule("MET001"), unsafe=True)
    assert made.changes == () and made.findings == ()


def test_what_a_new_release_runs_is_not() -> None:
    text = MODEL.format(test='parse(metrics_version) < parse("0.11")')
    (found,) = run_rules({"a.py": text}, rule("MET001")).findings
    assert found.span.line == 15
    other = MODEL.format(test='parse(torch.__version__) > parse("1.8")')
    assert (
        rewritten({"a.py": other}, rule("MET001"))["a.py"] != other
        or run_rules({"a.py": other}, rule("MET001")).findings
    )


def test_lightning_has_nothing_to_do_with_it() -> None:
    text = MODEL.format(test='parse(metrics_version) > parse("0.8")')
    assert run_rules({"a.py": text}, rule("LIT225")).findings == ()


CHOSEN = """\
import torchmetrics
from packaging.version import Version
from pytorch_lightning import Trainer


def train(model):
    if Version(torchmetrics.__version__) < Version("0.11"):
        Trainer(weights_summary=None).fit(model)
    else:
        Trainer(weights_summary=None).fit(model)
"""


@pytest.mark.parametrize(
    ("pins", "lines"),
    [
        ((), [10]),
        (("torchmetrics>=0.6",), [10]),
        (("torchmetrics==1.2.0",), [10]),
        (("torchmetrics==0.9.3",), [8]),
        (("torchmetrics<1.0",), [8, 10]),
        (("torchmetrics==0.9.3", "torchmetrics==1.2.0"), [8, 10]),
    ],
)
def test_what_the_pins_admit_runs(pins: tuple[str, ...], lines: list[int]) -> None:
    """Another rule's finding is not dropped in an arm that the project's own torchmetrics runs."""
    found = run_rules({"a.py": CHOSEN}, rule("LIT110"), pins=("pytorch-lightning==1.6.0", *pins)).findings
    assert [item.span.line for item in found] == lines
