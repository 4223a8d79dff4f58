"""LIT214: training steps that return nothing."""

from __future__ import annotations

import pytest

from codemods.hooks.lit214 import SKIPPING
from codemods.plan import plan
from codemods.scan import Options
from tests.codemods.support import rule, sources


def lines(text: str, target: str = "2.6.6", pins: tuple[str, ...] = ()) -> list[int]:
    made = plan(sources({"a.py": text}), Options((rule("LIT214"),), target=target, pins=pins))
    return [item.span.line for item in made.findings]


@pytest.mark.parametrize(
    "given", ["devices=2", "devices=-1", "gpus=[0, 1]", 'strategy="ddp"', 'accelerator="ddp"', "num_nodes=4"]
)
def test_several_devices(given: str) -> None:
    assert lines(SKIPPING.replace("devices=2", given)) == [7]


@pytest.mark.parametrize("given", ["devices=1", "devices=n", "gpus=[0]", 'strategy="auto"', "max_epochs=2"])
def test_one_device_or_nothing_seen(given: str) -> None:
    assert lines(SKIPPING.replace("devices=2", given)) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(LightningModule)", "(object)"),
        ("        return self", "        self.log('a', 1)\n        self"),
        ("def training_step", "def validation_step"),
        ("        if batch is None", "        self.automatic_optimization = False\n        if batch is None"),
    ],
)
def test_left(old: str, new: str) -> None:
    text = SKIPPING.replace(old, new)
    assert text != SKIPPING and lines(text) == []


def test_releases() -> None:
    assert lines(SKIPPING, target="2.2.5") == [] and lines(SKIPPING, pins=("lightning>=2.3",)) == []
    assert lines(SKIPPING, pins=("pytorch-lightning<2",)) == [7]
