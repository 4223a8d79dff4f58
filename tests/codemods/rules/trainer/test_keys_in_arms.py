"""LIT101 and LIT111: keys that every arm of an `if` sets, in a function that gives the dictionary."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rewritten, rule

MADE = """\
import argparse

import pytorch_lightning as pl


def trainer_arguments(args):
    params = {}
    params["precision"] = 16 if args.fp16 else 32
    if args.gpus > 1:
        params["distributed_backend"] = "ddp"
    else:
        params["distributed_backend"] = None
    params["gpus"] = args.gpus
    return params


parser = argparse.ArgumentParser()
parser.add_argument("--gpus", type=int, default=1)
parser.add_argument("--fp16", action="store_true")
trainer = pl.Trainer(logger=True, **trainer_arguments(parser.parse_args()))
"""
BOTH = [rule("LIT101"), rule("LIT111")]
ELSE = '    else:\n        params["distributed_backend"] = None\n'


def test_both_arms_and_the_devices_are_rewritten_together() -> None:
    after = (
        MADE.replace('["distributed_backend"] = "ddp"', '["strategy"] = "ddp"')
        .replace('["distributed_backend"] = None', '["strategy"] = "auto"')
        .replace(
            'params["gpus"] = args.gpus',
            'params.update(accelerator="gpu" if args.gpus else "cpu", devices=args.gpus or 1)',
        )
    )
    assert rewritten({"train.py": MADE}, *BOTH, unsafe=True) == {"train.py": after}
    assert rewritten({"train.py": after}, *BOTH, unsafe=True) == {"train.py": after}
    assert rewritten({"train.py": MADE}, *BOTH) == {"train.py": MADE}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param("    else:\n", "    elif args.fp16:\n", id="no arm without a condition"),
        pytest.param(ELSE, ELSE + '    print(params["distributed_backend"])\n', id="read"),
        pytest.param(ELSE, ELSE + '    params.pop("distributed_backend")\n', id="taken out"),
        pytest.param('"ddp"\n', '"ddp"\n        return params\n', id="given early"),
        pytest.param('"] = "ddp"', '"] = "horovod"', id="an arm that stays"),
    ],
)
def test_all_arms_stay_where_one_has_to(old: str, new: str) -> None:
    assert old in MADE
    text = MADE.replace(old, new, 1)
    assert rewritten({"train.py": text}, rule("LIT111"), unsafe=True) == {"train.py": text}
    assert refusals({"train.py": text}, "LIT111")
