"""What code of older days finds in an interpreter that no longer has it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from verify import modules

OF_THEN = """
import dataclasses
import inspect
import numpy as np
import pytorch_lightning as pl
import torch


@dataclasses.dataclass
class Inner:
    width: int = 3


@dataclasses.dataclass
class Options:
    inner: Inner = Inner()


class Module(pl.LightningModule):
    def __init__(self):
        super().__init__()
        assert np.float is float and np.Inf > 1 and np.product([2, 3]) == 6
        assert inspect.getargspec(lambda first, second=2: 0) == (["first", "second"], None, None, (2,))
        self.net = torch.nn.Linear(Options().inner.width, np.int(1))

    def training_step(self, batch, batch_idx):
        return self.net(batch).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


try:
    @dataclasses.dataclass
    class Refused:
        values: list = []
except ValueError:
    pl.Trainer(max_epochs=1).fit(Module(), torch.utils.data.DataLoader(torch.rand(8, 3), batch_size=4))
"""


def test_names_and_defaults_of_older_pythons_and_numpys_are_there(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(OF_THEN)
    spec = {
        "mode": "train", "script": "train.py", "args": [], "module": None, "namespaces": ["pytorch_lightning"],
        "seed": 1, "seconds": 100, "record": str(tmp_path / "record.jsonl"), "scratch": str(tmp_path),
        "limit_train_batches": 2, "limit_val_batches": 1, "max_epochs": 1,
    }  # fmt: skip
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    harness = Path(modules.__file__).with_name("harness.py")
    subprocess.run([sys.executable, "-B", harness, tmp_path / "spec.json"], cwd=tmp_path, capture_output=True)
    events = [json.loads(line) for line in (tmp_path / "record.jsonl").read_text().splitlines()]
    assert [event for event in events if event["event"] == "failure"] == []
    assert "fitted" in [event["event"] for event in events]
