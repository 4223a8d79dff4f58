"""TBP110: weights that autocast keeps."""

from __future__ import annotations

import pytest

from codemods.engine.plan import plan
from codemods.engine.scan import Options
from codemods.rule import Rule
from tests.codemods.loop_programs import TRAINER, changed
from tests.codemods.support import rule, sources


def mixed(pin: str) -> list[str]:
    text = changed((TRAINER, 'Trainer(precision="bf16-mixed")'))
    used: tuple[Rule, ...] = (rule("TBP110"),)
    made = plan(sources({"train.py": text}), Options(used, pins=(pin,) if pin else ()))
    return [item.reason for item in made.findings if item.applied]


@pytest.mark.parametrize("pin", ["lightning==2.6.6", "lightning>=2.5.5", "lightning", ""])
def test_a_region_that_does_not_cache_needs_nothing(pin: str) -> None:
    assert mixed(pin) == []


@pytest.mark.parametrize("pin", ["lightning>=2.0", "lightning==2.5.4", "pytorch-lightning<2"])
def test_a_region_that_may_cache_is_cleared(pin: str) -> None:
    (reason,) = mixed(pin)
    assert "2.5.4" in reason
