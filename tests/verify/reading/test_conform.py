from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import warm
from verify.harness import HARNESS
from verify.judging.record import events
from verify.reading.conform import TargetFacts, facts, problems
from verify.reading.sources import Sources
from verify.reading.uses import Use, asked, by_attributes, of_file, uses

PL = "import pytorch_lightning as pl\n"
MODULE = PL + "class M(pl.LightningModule):\n"
WRONG = {
    PL + "pl.Trainer(gpus=1, max_epochs=2)": "Trainer(gpus=...), the target has no such argument",
    PL + "if args.version == 2:\n  pl.Trainer(gpus=1)": "Trainer(gpus=...), the target has no such argument",
    PL + "if model_version == 'inversion':\n  pl.Trainer(gpus=1)": "Trainer(gpus=...), the target has no such argument",
    PL + "pl.Trainer(None)": "positional arguments",
    PL + "pl.Trainer.add_argparse_args(p)": "has no add_argparse_args",
    PL + "t = pl.Trainer()\nt.tune(m)": "has no tune",
    PL + "t = pl.Trainer()\nt.fit(m, train_dataloader=d)": "fit(train_dataloader=...)",
    "from pytorch_lightning.utilities.distributed import rank_zero_only": "utilities has no distributed",
    "from pytorch_lightning.metrics import Accuracy": "has no metrics",
    PL + "pl.utilities.upgrade_checkpoint.main()": "utilities has no upgrade_checkpoint",
    "from lightning.pytorch.callbacks import GPUStatsMonitor": "has no GPUStatsMonitor",
    "from pytorch_lightning.callbacks import ModelCheckpoint\nModelCheckpoint(period=1)": "ModelCheckpoint(period=...)",
    MODULE + "  def training_epoch_end(self, outputs): ...": "never calls it: use on_train_epoch_end",
    MODULE + "  def training_step(self, batch, batch_idx, hiddens): ...": "training_step(hiddens)",
    MODULE + "  def training_step(self, batch, batch_idx, hiddens=None): ...": "training_step(hiddens)",
    MODULE + "  def training_step(self, batch, batch_idx, optimizer_idx): ...": "training_step(optimizer_idx)",
    MODULE + "  def training_step(self, batch, batch_idx, which): ...": "training_step(which)",
    MODULE
    + "  def on_before_optimizer_step(self, optimizer, optimizer_idx): ...": "on_before_optimizer_step(optimizer_idx)",
    MODULE + "  def on_train_epoch_end(self, outputs=None): ...": "on_train_epoch_end(outputs)",
    MODULE + "  def lr_scheduler_step(self, scheduler, i, metric): ...": "passes 2 arguments",
    MODULE + "  def transfer_batch_to_device(self, batch, device): ...": "passes it (batch, device, dataloader_idx)",
    MODULE
    + "  def on_validation_batch_end(self, outputs, batch, batch_idx, dataloader_idx): ...": "give it the default 0",
    MODULE + "  def tbptt_split_batch(self, batch, split_size): ...": "never calls it",
    MODULE + "  pass\nclass N(M):\n  def on_epoch_end(self): ...": "N.on_epoch_end",
    PL + "class C(pl.Callback):\n  def on_batch_end(self, trainer, m): ...": "C.on_batch_end",
    PL + "class C(pl.Callback):\n  def on_load_checkpoint(self, checkpoint): ...": "(trainer, pl_module, checkpoint)",
    PL + "class D(pl.LightningDataModule):\n  def on_save_checkpoint(self, c): ...": "use state_dict",
    PL + "held = {'release': pl.__version__}\nif held:\n  pl.Trainer(gpus=1)": "gpus",
}
RIGHT = [
    PL + "import pytorch_lightning.utilities.upgrade_checkpoint\npl.utilities.upgrade_checkpoint._upgrade(a)",
    PL + "pl.callbacks.ModelCheckpoint()\npl.loggers.CSVLogger('x')\npl.utilities.rank_zero.rank_zero_only(f)",
    PL + "t = pl.Trainer(max_epochs=1, accelerator='auto')\nt.fit(m, train_dataloaders=d)\nt.logger.anything()\nt.any",
    "try:\n  from pytorch_lightning.metrics import A\nexcept ImportError:\n  from torchmetrics import A\nA(x=1)",
    PL + "if pl.__version__ < '2':\n  pl.Trainer(gpus=1)",
    PL + "if int(pl.__version__.split('.')[0]) < 2:\n  pl.Trainer(gpus=1)",
    PL + "OLD = int(pl.__version__.split('.')[0]) < 2\nif OLD:\n  pl.Trainer(gpus=1)",
    PL + "OLD = pl.__version__.startswith('1')\nt = pl.Trainer(gpus=1) if OLD else pl.Trainer(devices=1)",
    PL + "t = pl.Trainer(gpus=1) if pl.__version__[0] == '1' else pl.Trainer(devices=1)",
    PL + "if LIGHTNING_VERSION < (2,):\n  pl.Trainer(gpus=1)\nelif version.parse(found) < v2:\n  pl.Trainer(gpus=1)",
    PL + "if metadata.version('pytorch-lightning') < '2':\n  pl.Trainer(gpus=1)",
    PL + "if get_distribution('lightning').version < '2':\n  pl.Trainer(gpus=1)",
    PL + "if Version(version('lightning')) < Version('2'):\n  pl.Trainer(gpus=1)",
    MODULE + "  def training_step(self, batch, batch_idx): ...\n  def validation_step(self, batch, *args): ...",
    MODULE + "  def validation_step(self, batch, batch_idx, optimizer_idx=0): ...",
    MODULE + "  def training_step(self, batch): ...\n  def forward(self, a, b, c): ...\n  def mine(self, x, y): ...",
    MODULE
    + "  def on_train_batch_end(self, *args): ...\n  def on_train_epoch_end(self): ...\n  truncated_bptt_steps = 2",
    MODULE
    + "  def tbptt_split_batch(self, b, k): ...\n  def training_step(self, b, i):\n    self.tbptt_split_batch(b, 2)",
    MODULE + "  def on_validation_batch_end(self, outputs, batch, dataloader_idx, batch_idx=0): ...",
    MODULE + "  def configure_gradient_clipping(self, optimizer, gradient_clip_val, gradient_clip_algorithm): ...",
    MODULE
    + "  def backward(self, loss, *args, **kwargs): ...\n  def setup(self, stage): ...\n  def on_fit_start(self): ...",
    "from mine import LightningModule\nclass M(LightningModule):\n  def training_epoch_end(self, outputs): ...",
    "from lightning.pytorch.profilers import PyTorchProfiler\nPyTorchProfiler(record_functions=1)",
]


def used(text: str) -> list[Use]:
    return by_attributes(list(uses("m.py", ast.parse(text))))


@pytest.fixture(scope="module")
def known(tmp_path_factory: pytest.TempPathFactory) -> TargetFacts:
    """What the installed Lightning says about everything that these cases use."""
    found = [use for text in (*WRONG, *RIGHT) for use in used(text)]
    return told(asked(found), tmp_path_factory.mktemp("facts"))


def told(uses: dict[str, list[Any]], folder: Path, **variables: str) -> TargetFacts:
    """What the harness says, in an interpreter of its own where it is to have these variables."""
    record = folder / "record.jsonl"
    spec = {"mode": "facts", "uses": uses, "seconds": 100, "record": str(record)}
    (folder / "spec.json").write_text(json.dumps(spec))
    if variables:
        command = [sys.executable, str(HARNESS), str(folder / "spec.json")]
        subprocess.run(command, check=True, capture_output=True, env={**os.environ, **variables})
    else:
        assert warm.run(folder / "spec.json", Path.cwd()).returncode == 0
    return facts(events(record))


@pytest.mark.parametrize("text", WRONG)
def test_what_the_target_lacks_is_named(text: str, known: TargetFacts) -> None:
    found = problems(used(text), known)
    assert any(WRONG[text] in problem for problem in found), found
    assert all(problem.startswith("m.py:") for problem in found)


@pytest.mark.parametrize("text", RIGHT)
def test_what_the_target_has_is_not(text: str, known: TargetFacts) -> None:
    assert problems(used(text), known) == ()


def test_torchvision_without_its_compiled_part_hides_no_name(tmp_path: Path) -> None:
    package = tmp_path / "torchvision"
    package.mkdir()
    (package / "__init__.py").write_text("import torch\n\nnms = torch.ops.torchvision.nms.default\n")
    known = told({"names": ["torchvision.nms"], "methods": []}, tmp_path, PYTHONPATH=str(tmp_path))
    assert known.names["torchvision.nms"].missing is None


DEEP = PL + "pl.Trainer(gpus=1)\nx = " + " + ".join("y" * 900) + "\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (DEEP, "m.py:1: not read, as it is nested too deep to be followed"),
        (PL + "pl.Trainer(gpus=1)\nprint 'x'\n", "m.py:1: not read, as it does not parse"),
        ("if x:\n    import os, lightning.pytorch as pl\nprint 'x'\n", "m.py:1: not read, as it does not parse"),
        (PL + "x = 1\n" * 333_400, "m.py:1: not read, as it is larger than 2 MB"),
        ("# lightning fast\nimport os\nprint 'x'\n", None),
        ("x = " + " + ".join("y" * 900) + "\n", None),
    ],
)
def test_a_file_that_cannot_be_read_does_not_conform(tmp_path: Path, text: str, said: str | None) -> None:
    (tmp_path / "m.py").write_text(text)
    found = of_file(Sources(tmp_path), "m.py")
    assert asked(found) == {"names": [], "methods": []}
    assert problems(found, TargetFacts({}, {})) == ((said,) if said else ())


def test_very_long_lists_are_cut(known: TargetFacts) -> None:
    text = PL + "\n".join("pl.Trainer(gpus=1)" for _ in range(300))
    found = problems(used(text), known)
    assert len(found) == 201
    assert found[-1] == "and 100 more"
