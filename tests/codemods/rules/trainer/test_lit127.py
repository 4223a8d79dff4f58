"""LIT127: a model and a checkpoint given together, of which the checkpoint wins since 1.5."""

from __future__ import annotations

import pytest

from codemods.rules.trainer.lit127 import RULE
from tests.codemods.support import run_rules

HEAD = "from pytorch_lightning import Trainer\n\n\ndef main(model, data, path):\n    trainer = Trainer(max_epochs=3)\n"
OLD = ("pytorch-lightning==1.4.9",)


def found(line: str, pins: tuple[str, ...] = OLD) -> list[str]:
    made = run_rules({"train.py": f"{HEAD}    {line}\n"}, RULE, pins=pins)
    assert made.bugs == () and made.changes == ()
    return [finding.reason for finding in made.findings]


@pytest.mark.parametrize("method", ["test", "validate", "predict"])
def test_a_checkpoint_beside_a_model_is_told(method: str) -> None:
    (reason,) = found(f'trainer.{method}(model, data, ckpt_path="best")')
    assert "up to 1.4" in reason and "no ModelCheckpoint has kept one" in reason
    (reason,) = found(f"trainer.{method}(model=model, ckpt_path=path)")
    assert "no ModelCheckpoint" not in reason


@pytest.mark.parametrize(
    "line",
    [
        'trainer.test(ckpt_path="best")',
        'trainer.test(None, data, ckpt_path="best")',
        "trainer.test(model, data, ckpt_path=None)",
        "trainer.test(model, data)",
        "trainer.fit(model, data, ckpt_path=path)",
        'data.test(model, ckpt_path="best")',
        'trainer.test(*path, ckpt_path="best")',
    ],
)
def test_other_calls_are_left_alone(line: str) -> None:
    assert found(line) == []


@pytest.mark.parametrize(
    "pins", [("pytorch-lightning>=1.4",), ("pytorch-lightning==1.5.10",), ("pytorch-lightning",), ()]
)
def test_what_may_have_run_on_a_newer_release_is_left_alone(pins: tuple[str, ...]) -> None:
    assert found('trainer.test(model, data, ckpt_path="best")', pins) == []
