"""LIT237: checkpoints that are loaded with a file of tags."""

from __future__ import annotations

import pytest

from codemods.rules.modules.lit237 import BEFORE
from tests.codemods.support import refusals, rule, run_rules

CALL = 'Model.load_from_metrics("model.ckpt", "meta_tags.csv")'


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (CALL, "hparams_file=..."),
        (CALL.replace("metrics", "checkpoint").replace('"meta', 'tags_csv="meta'), "`hparams_file=`"),
        ('kinds["a"].load_from_metrics(weights_path="a", tags_csv="b")', "hparams_file=..."),
    ],
)
def test_named(call: str, said: str) -> None:
    [reason] = refusals({"a.py": BEFORE.replace(CALL, call)}, "LIT237")
    assert said in reason


@pytest.mark.parametrize(
    "call",
    [
        'Model.load_from_checkpoint("model.ckpt", hparams_file="meta_tags.csv")',
        'Model.load_from_checkpoint("model.ckpt", "cpu")',
        'store.load_from_metrics("model.ckpt", "meta_tags.csv")',
        'load_from_metrics("model.ckpt", tags_csv="meta_tags.csv")',
        'Model.load("model.ckpt", tags_csv="meta_tags.csv")',
    ],
)
def test_left_alone(call: str) -> None:
    assert run_rules({"a.py": BEFORE.replace(CALL, call)}, rule("LIT237")).findings == ()


@pytest.mark.parametrize(
    ("pin", "named"),
    [("pytorch-lightning==0.9.0", 1), ("pytorch-lightning==0.7.6", 1), ("pytorch-lightning==1.5.0", 0)],
)
def test_what_stands_behind_the_path(pin: str, named: int) -> None:
    text = BEFORE.replace(CALL, 'Model.load_from_checkpoint("model.ckpt", hparams)')
    found = run_rules({"a.py": text}, rule("LIT237"), pins=(pin,)).findings
    assert ["map_location" in item.message for item in found] == [True] * named
