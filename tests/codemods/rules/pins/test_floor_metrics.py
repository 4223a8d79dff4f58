"""Requirements on torchmetrics that are raised for metrics that were told their task."""

from __future__ import annotations

import pytest

from codemods.code.source import Source
from codemods.engine.plan import Plan, plan
from codemods.engine.scan import Options
from codemods.lightning.pins.stated import pins_of
from codemods.rules.metrics.met001 import AFTER, BEFORE
from codemods.rules.metrics.met001 import RULE as METRICS
from codemods.rules.pins.pin001 import RULE as PINS
from codemods.rules.trainer.lit101 import RULE as GPUS


def planned(requirements: str, code: str = BEFORE) -> Plan:
    files = {"train.py": ("python", code), "requirements.txt": ("requirements", requirements)}
    return plan(
        [Source(path, kind, text.encode()) for path, (kind, text) in files.items()],
        Options((METRICS, PINS), target="2.6.6", pins=tuple(requirements.split())),
    )


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("torchmetrics>=0.7", "torchmetrics>=0.11"),
        ("torchmetrics", "torchmetrics>=0.11"),
        ("torchmetrics>=0.7,<2", "torchmetrics>=0.11,<2"),
        ("torchmetrics==0.11.4", "torchmetrics==0.11.4"),
        ("torchmetrics>=1.0", "torchmetrics>=1.0"),
    ],
)
def test_raised_with_the_task(before: str, after: str) -> None:
    made = planned(f"{before}\n")
    assert made.bugs == ()
    final = made.final()
    assert final["train.py"].decode() == AFTER
    assert final.get("requirements.txt", before.encode() + b"\n").decode() == f"{after}\n"


def test_raised_for_a_metric_that_need_not_know_its_classes() -> None:
    made = planned("torchmetrics>=0.7\n", BEFORE.replace("torch.nn.Linear(32, num_classes)", "build(num_classes)"))
    assert made.bugs == ()
    assert 'MulticlassAccuracy(average="micro")' in made.final()["train.py"].decode()
    assert made.final()["requirements.txt"] == b"torchmetrics>=1.6.2\n"


@pytest.mark.parametrize(
    ("before", "after"), [("^0.3.2", "^1.6.2"), ("0.3.2", "1.6.2"), (">=0.3,<0.7", ">=1.6.2,<2.0")]
)
def test_what_moves_along_with_lightning_moves_as_far_as_the_code_needs(before: str, after: str) -> None:
    text = f'[tool.poetry.dependencies]\npytorch-lightning = "^1.2.0"\ntorchmetrics = "{before}"\n'
    code = BEFORE.replace("torch.nn.Linear(32, num_classes)", "build(num_classes)")
    code += "\n\ndef main():\n    Trainer(gpus=1).fit(build(2))\n"
    code = f"from pytorch_lightning import Trainer\n{code}"
    sources = [Source("train.py", "python", code.encode()), Source("pyproject.toml", "pyproject", text.encode())]
    made = plan(sources, Options((METRICS, GPUS, PINS), target="2.6.6", pins=pins_of(sources), unsafe=True))
    assert made.bugs == ()
    assert f'torchmetrics = "{after}"'.encode() in made.final()["pyproject.toml"]


@pytest.mark.parametrize("pin", ["torchmetrics==0.9.3", "torchmetrics>=0.8,<0.11", "torchmetrics~=0.10.0"])
def test_a_pin_that_keeps_the_old_ones_keeps_the_old_calls(pin: str) -> None:
    made = planned(f"{pin}\n")
    assert (made.changes, [finding for finding in made.findings if finding.code == "MET001"]) == ((), [])


def test_a_pin_that_the_target_cannot_stand_beside_does_not() -> None:
    final = planned("torchmetrics==0.5.1\n").final()
    assert final["train.py"].decode() == AFTER
