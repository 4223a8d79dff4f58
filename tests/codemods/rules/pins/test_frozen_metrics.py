"""PIN001: a list of a whole environment that holds torchmetrics where its metrics take no task."""

from __future__ import annotations

import pytest

from codemods.code.source import Source
from codemods.engine.plan import Plan, plan
from codemods.engine.scan import Options
from codemods.rules.metrics.met001 import BEFORE
from codemods.rules.metrics.met001 import RULE as METRICS
from codemods.rules.pins.pin001 import RULE as PINS
from codemods.rules.trainer.lit101 import RULE as GPUS

CODE = f"from pytorch_lightning import Trainer\n{BEFORE}\n\ndef main():\n    Trainer(gpus=1).fit(Model(2))\n"
FROZEN = "aiosignal==1.2.0\nidna==3.3\npytorch-lightning==1.6.4\n{}\nyarl==1.7.2\nzipp==3.8.0\n"


def told(held: str, code: str = CODE, listed: str = FROZEN) -> tuple[Plan, str]:
    """What is planned, and what is said of the requirement on Lightning."""
    requirements = listed.format(held)
    sources = [
        Source("train.py", "python", code.encode()),
        Source("requirements.txt", "requirements", requirements.encode()),
    ]
    made = plan(sources, Options((METRICS, GPUS, PINS), target="2.6.6", pins=tuple(requirements.split())))
    assert made.bugs == ()
    return made, "; ".join(item.reason for item in made.findings if item.code == "PIN001")


@pytest.mark.parametrize("held", ["torchmetrics==0.9.1", "torchmetrics==0.7.3"])
def test_it_is_said_that_its_metrics_need_a_task_once_it_is_newer(held: str) -> None:
    made, reason = told(held)
    assert f"`{held}` may stay beside `setuptools<82`; from 0.11 on metrics of classes need task=" in reason
    assert b"task=" not in made.final()["train.py"]


@pytest.mark.parametrize(
    ("held", "code", "listed"),
    [
        ("torchmetrics==1.0.0", CODE, FROZEN),
        ("typing-extensions==4.2.0", CODE, FROZEN),
        ("torchmetrics==0.9.1", "from pytorch_lightning import Trainer\n\nTrainer(gpus=1)\n", FROZEN),
        ("torchmetrics==0.9.1", CODE, "pytorch-lightning==1.6.4\n{}\n"),
    ],
    ids=["newer", "none", "unused", "no frozen list"],
)
def test_nothing_is_said_of_it_elsewhere(held: str, code: str, listed: str) -> None:
    _, reason = told(held, code, listed)
    assert reason and "task=" not in reason
