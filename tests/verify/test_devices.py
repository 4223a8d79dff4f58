"""What asks for CUDA by name where there is none."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from verify import modules
from verify.devices import stay_on_cpu
from verify.record import besides, read

TRAINED = """
import lightning as L
import torch


class Module(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Linear(2, 1).to("cuda:0").to(torch.device("cuda"), torch.float64)
        self.net = self.net.cuda().float()

    def training_step(self, batch, batch_idx):
        assert batch.to("cpu") is batch
        return self.net(batch.cuda(non_blocking=True).to(device="cuda").to(0)).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


L.Trainer(max_epochs=1).fit(Module(), torch.utils.data.DataLoader(torch.rand(8, 2), batch_size=4))
"""


def test_what_asks_for_cuda_trains_on_the_cpu_where_there_is_none(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAINED)
    record = tmp_path / "record.jsonl"
    spec = {
        "mode": "train", "script": "train.py", "args": [], "module": None, "namespaces": ["lightning.pytorch"],
        "seed": 1, "seconds": 100, "record": str(record), "scratch": str(tmp_path),
        "limit_train_batches": 2, "limit_val_batches": 1, "max_epochs": 1, "variables": {"CUDA_VISIBLE_DEVICES": ""},
    }  # fmt: skip
    (tmp_path / "spec.json").write_text(json.dumps(spec))
    harness = Path(modules.__file__).with_name("harness.py")
    subprocess.run([sys.executable, harness, tmp_path / "spec.json"], cwd=tmp_path, timeout=120, check=False)
    raw = read(record, "train.py")
    assert raw.recording.failure is None and raw.recording.fitted and raw.recording.device == "cpu"
    assert raw.moved == ("__main__",)
    assert besides(raw) == "left on the CPU, as CUDA was asked for and is not here, by: __main__"


def test_other_errors_are_left_and_nothing_is_done_where_there_is_cuda(monkeypatch: pytest.MonkeyPatch) -> None:
    tensor: Any = torch.Tensor
    to, cuda = tensor.to, tensor.cuda
    used: dict[str, None] = {}
    try:
        monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
        stay_on_cpu("/", used)
        assert tensor.to is to
        monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
        stay_on_cpu("/", used)
        with pytest.raises(RuntimeError):
            torch.rand(2).to("nowhere")
        with pytest.raises(TypeError):
            tensor.to(torch.rand(2), "cpu", nothing=1)
        assert used == {}
    finally:
        tensor.to, tensor.cuda = to, cuda
