"""LIT123: the checkpoint that a Trainer keeps where none is asked for."""

from __future__ import annotations

import pytest

from codemods.rules.keywords.lit123 import NET
from tests.codemods.support import rule, run_rules

MADE = "pl.Trainer(max_epochs=3)"


def found(code: str, pin: str = "pytorch-lightning==1.2.8", **files: str) -> list[tuple[int, str]]:
    given = {"train.py": code, **{f"{name}.py": text for name, text in files.items()}}
    made = run_rules(given, rule("LIT123"), pins=(pin,))
    assert made.changes == ()
    return [(item.span.line, item.fix) for item in made.findings]


@pytest.mark.parametrize(
    "call",
    [
        MADE,
        "pl.Trainer(checkpoint_callback=True)",
        "pl.Trainer(callbacks=[pl.callbacks.LearningRateMonitor()])",
        "pl.Trainer(fast_dev_run=False)",
    ],
)
@pytest.mark.parametrize("release", ["0.7.5", "0.9.0", "1.0.8", "1.3.8"])
def test_the_best_by_val_loss_is_no_longer_kept(call: str, release: str) -> None:
    assert found(NET.replace(MADE, call), f"pytorch-lightning=={release}") == [(9, "manual")]


@pytest.mark.parametrize(
    "call",
    [
        "pl.Trainer(checkpoint_callback=False)",
        "pl.Trainer(checkpoint_callback=saver)",
        "pl.Trainer(callbacks=[pl.callbacks.ModelCheckpoint()])",
        "pl.Trainer(callbacks=made())  # with a ModelCheckpoint",
        "pl.Trainer(fast_dev_run=True)",
        "pl.Trainer(**options)",
        "pl.Trainer.from_argparse_args(args)",
        "Trainer(max_epochs=3)",
    ],
)
def test_what_is_said_or_not_seen_is_left(call: str) -> None:
    assert found(NET.replace(MADE, call)) == []


@pytest.mark.parametrize("pin", ["pytorch-lightning==1.4.9", "pytorch-lightning>=1.2", "pytorch-lightning", "torch"])
def test_releases_that_kept_the_newest(pin: str) -> None:
    assert found(NET, pin) == []


def test_a_trainer_that_only_evaluates_keeps_none() -> None:
    assert found(f"{NET}trainer.test(Net())\n") == []
    assert found(f"{NET}trainer.fit(Net())\ntrainer.test()\n") == [(9, "manual")]


def test_what_logs_no_val_loss_kept_the_newest() -> None:
    assert found(NET.replace("val_loss", "val_acc")) == []
    assert found(NET.replace("val_loss", "val_acc"), net="NAME = 'val_loss'\n") == [(9, "manual")]
