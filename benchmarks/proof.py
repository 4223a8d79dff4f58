"""What a proof costs beside the two trainings that it is made of, on environments that are built already.

    python benchmarks/proof.py [--runs 5] [--cache FOLDER]

Trains a small project on the Lightning that runs this and on 1.9.5, which is built first where it is not kept yet:
each script by itself in the way that a user would start it, both side by side, and then the proof of the two trees.
Prints a Markdown table of medians. See README.md in this folder.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from verify.environments.building import cache_folder
from verify.environments.installer import find
from verify.environments.versions import RequiredVersions, baseline, target
from verify.prove import prove
from verify.request import Request

TARGET = "2.6.6"
IMPORT = "import torch, pytorch_lightning"
SCRIPT = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
import pytorch_lightning as pl


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 1))

    def training_step(self, batch, batch_idx):
        loss = (self.net(batch[0]) - batch[1]).pow(2).mean()
        self.log("train_loss", loss)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=0.01)


if __name__ == "__main__":
    data = TensorDataset(torch.rand(256, 64), torch.rand(256, 1))
    trainer = pl.Trainer(
        max_epochs=2, limit_train_batches=8, logger=False, enable_checkpointing=False, enable_progress_bar=False,
        enable_model_summary=False, accelerator="cpu", devices=1,
    )
    trainer.fit(Model(), DataLoader(data, batch_size=8))
"""


@dataclass(frozen=True)
class Cost:
    """Seconds on the clock, and of all cores with what was started."""

    wall: float
    cpu: float


def measured(work: Callable[[], object]) -> Cost:
    """What a piece of work costs, with the processes that it starts and waits for."""
    before, started = spent(), time.perf_counter()
    work()
    return Cost(time.perf_counter() - started, spent() - before)


def spent() -> float:
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def together(commands: Sequence[Sequence[str]], folder: Path) -> None:
    """Run programs side by side. Raises SystemExit where one fails."""
    settings = {
        **os.environ,
        "OMP_NUM_THREADS": str(max(1, (os.cpu_count() or 2) // 2)),
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    children = [
        subprocess.Popen(command, cwd=folder, env=settings, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for command in commands
    ]
    ended = [child.wait() for child in children]
    if any(ended):
        raise SystemExit(f"one of {commands} failed")


def median(work: Callable[[], object], runs: int) -> Cost:
    costs = [measured(work) for _ in range(runs)]
    return Cost(statistics.median(cost.wall for cost in costs), statistics.median(cost.cpu for cost in costs))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--cache", type=Path, default=cache_folder())
    given = parser.parse_args()
    tools, wanted = find(threading.Event()), RequiredVersions("pytorch-lightning", frozenset({"numpy"}))
    new = target(wanted, TARGET, None, tools, given.cache, print)
    old = baseline(wanted, ("pytorch-lightning==1.9.5",), None, new, TARGET, tools, given.cache, print)
    pythons = [str(new.interpreter.path), str(old.interpreter.path)]
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for name in ("before", "after"):
            (folder / name).mkdir()
            (folder / name / "train.py").write_text(SCRIPT, encoding="utf-8")
        pins = ("pytorch-lightning==1.9.5",)
        request = Request(
            "", (), ("train.py",), TARGET, None, pins, (f"pytorch-lightning=={TARGET}",), cache=given.cache
        )

        def proof() -> None:
            evidence = prove(folder / "before", folder / "after", request, lambda text: None)
            if evidence.verdict != "preserved":
                raise SystemExit(f"the proof should have been preserved: {evidence}")

        scripts = [[python, "train.py"] for python in pythons]
        imports = [[python, "-c", IMPORT] for python in pythons]
        proof()
        rows = {
            "import torch and Lightning, both releases": median(
                lambda: together(imports, folder / "after"), given.runs
            ),
            "floor: both scripts, side by side": median(lambda: together(scripts, folder / "after"), given.runs),
            "the proof of the two trees": median(proof, given.runs),
        }
    floor = rows["floor: both scripts, side by side"]
    print("| | wall, s | CPU, s | wall / floor | CPU / floor |\n|---|---:|---:|---:|---:|")
    for name, cost in rows.items():
        ratios = f"{cost.wall / floor.wall:.2f} | {cost.cpu / floor.cpu:.2f}"
        print(f"| {name} | {cost.wall:.2f} | {cost.cpu:.2f} | {ratios} |")


if __name__ == "__main__":
    main()
