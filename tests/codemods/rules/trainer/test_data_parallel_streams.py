"""DataParallel that becomes DDP, where a dataset goes through all of its items in each process."""

from __future__ import annotations

import pytest

from tests.codemods.support import rule, run_rules

TRAINER = "from pytorch_lightning import Trainer\n\ntrainer = Trainer(gpus=2, {}, max_epochs=1)\n"
STREAM = "from torch.utils.data import IterableDataset\n\n\nclass Stream(IterableDataset):\n    pass\n"
SAID = "an IterableDataset is read whole by each process"


@pytest.mark.parametrize(
    ("given", "code"),
    [('strategy="dp"', "LIT111"), ('accelerator="dp"', "LIT101"), ('distributed_backend="dp"', "LIT111")],
)
def test_a_stream_is_told_of(given: str, code: str) -> None:
    made = run_rules({"train.py": TRAINER.format(given), "data.py": STREAM}, rule(code))
    assert [found.fix for found in made.findings if SAID in found.reason] == ["unsafe"]


@pytest.mark.parametrize(
    ("given", "data"),
    [
        ('strategy="dp"', {}),
        ('strategy="dp"', {"data.md": STREAM}),
        ('strategy="ddp"', {"data.py": STREAM}),
        ('strategy="ddp_sharded"', {"data.py": STREAM}),
    ],
)
def test_what_has_no_stream_or_ran_in_processes_before_is_not(given: str, data: dict[str, str]) -> None:
    made = run_rules({"train.py": TRAINER.format(given), **data}, rule("LIT101"), rule("LIT111"))
    assert made.findings
    assert not any(SAID in found.reason for found in made.findings)
