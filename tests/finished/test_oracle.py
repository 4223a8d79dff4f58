"""The oracle of benchmarks/finished.py: one text for each class of violation, and texts that have none."""

from __future__ import annotations

import json
from pathlib import Path
from textwrap import dedent

import pytest

from benchmarks.finishing.oracle import violations

MODULE = "import pytorch_lightning as pl\n\nclass Net(pl.LightningModule):\n"
CALLBACK = "from pytorch_lightning.callbacks import Callback\n\nclass Own(Callback):\n"
DATA = "import pytorch_lightning as pl\n\nclass Data(pl.LightningDataModule):\n"

WRONG = {
    "name: pl.metrics.Accuracy": "from pytorch_lightning.metrics import Accuracy\n",
    "name: pl.metrics.Precision": "from pytorch_lightning.metrics import Precision\n"
    "metric = Precision(num_classes=2)\nmetric.compute()\n",
    "name: pl.plugins.DDPPlugin": "import lightning.pytorch as pl\nplugin = pl.plugins.DDPPlugin()\n",
    "name: pl.Trainer.add_argparse_args": "from pytorch_lightning import Trainer\nTrainer.add_argparse_args(None)\n",
    "name: pl.Trainer.from_argparse_args": "import pytorch_lightning as pl\nt = pl.Trainer.from_argparse_args(args)\n",
    "name: HPUParallelStrategy(...)": "from pytorch_lightning.strategies import HPUParallelStrategy as H\nH()\n",
    "argument: Trainer(gpus=)": "from pytorch_lightning import Trainer as T\nT(gpus=1)\n",
    "argument: Trainer(tpu_cores=)": "import pytorch_lightning as pl\nclass T(pl.Trainer): pass\nT(tpu_cores=8)\n",
    "argument: Trainer(num_processes=)": "import pytorch_lightning as pl\nk = {'num_processes': 1}\npl.Trainer(**k)\n",
    "argument: Trainer(amp_level=)": "from functools import partial\nimport pytorch_lightning as pl\n"
    "make = partial(pl.Trainer, amp_level='O2')\n",
    "argument: Trainer(positional)": "import pytorch_lightning as pl\npl.Trainer(False)\n",
    "argument: Trainer.fit(train_dataloader=)": "import pytorch_lightning as pl\nt = pl.Trainer()\n"
    "t.fit(m, train_dataloader=d)\n",
    "argument: EarlyStopping(without monitor=)": "from pytorch_lightning.callbacks import *\n"
    "from pytorch_lightning.callbacks import EarlyStopping\nEarlyStopping()\n",
    "argument: ModelCheckpoint(filepath=)": "from pytorch_lightning.callbacks import ModelCheckpoint\n"
    "ModelCheckpoint(filepath='x')\n",
    "argument: LightningModule.log(sync_dist_op=)": MODULE
    + "    def f(self):\n        self.log('a', 1, sync_dist_op='mean')\n",
    "argument: LightningModule.manual_backward(positional)": MODULE
    + "    def f(self, loss):\n        self.manual_backward(loss, self.optimizers())\n",
    "argument: torchmetrics.Accuracy(without task=)": "import torchmetrics as tm\ntm.Accuracy()\n",
    "argument: torchmetrics.functional.f1_score(without task=)": "from torchmetrics.functional import f1_score\n"
    "f1_score(a, b)\n",
    "argument: Trainer(ipus=)": "import pytorch_lightning as pl\ntry:\n    pl.Trainer(ipus=2)\n"
    "except TypeError:\n    raise\n",
    "value: Trainer(strategy='dp')": "import pytorch_lightning as pl\npl.Trainer(strategy='dp')\n",
    "value: Trainer(accelerator='ddp')": "import pytorch_lightning as pl\npl.Trainer(accelerator='ddp')\n",
    "value: Trainer(precision='mixed')": "import pytorch_lightning as pl\npl.Trainer(precision='mixed')\n",
    "value: Trainer(max_steps=None)": "import pytorch_lightning as pl\npl.Trainer(max_steps=None)\n",
    "value: Trainer(profiler=True)": "import pytorch_lightning as pl\npl.Trainer(profiler=True)\n",
    "value: Trainer(accumulate_grad_batches={1: 2})": "import pytorch_lightning as pl\n"
    "pl.Trainer(accumulate_grad_batches={1: 2})\n",
    "hook: LightningModule.validation_epoch_end": MODULE + "    def validation_epoch_end(self, outputs): pass\n",
    "hook: LightningModule.training_step_end": MODULE + "    def training_step_end(self, outputs): pass\n",
    "hook: LightningModule.on_epoch_end": MODULE + "    def on_epoch_end(self): pass\n",
    "hook: LightningModule.tbptt_split_batch": MODULE + "    def tbptt_split_batch(self, batch, size): pass\n",
    "hook: LightningModule.get_progress_bar_dict": MODULE + "    def get_progress_bar_dict(self): pass\n",
    "hook: LightningModule.training_step(optimizer_idx)": MODULE
    + "    def training_step(self, batch, batch_idx, optimizer_idx=None): pass\n",
    "hook: LightningModule.training_step(hiddens)": MODULE + "    def training_step(self, batch, i, hiddens): pass\n",
    "hook: LightningModule.optimizer_step(optimizer_idx)": MODULE
    + "    def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_idx, optimizer_closure): pass\n",
    "hook: LightningModule.lr_scheduler_step(optimizer_idx)": MODULE
    + "    def lr_scheduler_step(self, scheduler, optimizer_idx, metric): pass\n",
    "hook: LightningModule.on_train_epoch_end(outputs)": MODULE + "    def on_train_epoch_end(self, outputs): pass\n",
    "hook: LightningModule.on_train_batch_start(dataloader_idx)": MODULE
    + "    def on_train_batch_start(self, batch, batch_idx, dataloader_idx): pass\n",
    "hook: LightningModule.transfer_batch_to_device(only 2 of 3)": MODULE.replace("Net", "Net2")
    + "    def transfer_batch_to_device(self, batch, device): pass\n",
    "hook: LightningModule.configure_optimizers: several optimizers": MODULE
    + "    def configure_optimizers(self):\n        return [a, b], []\n",
    "hook: LightningModule.training_step returns 'log'": MODULE
    + "    def training_step(self, batch, batch_idx):\n        return {'loss': l, 'log': {'loss': l}}\n",
    "hook: LightningDataModule.setup(without stage)": DATA + "    def setup(self): pass\n",
    "hook: LightningDataModule.on_save_checkpoint": DATA + "    def on_save_checkpoint(self, checkpoint): pass\n",
    "hook: Callback.on_init_end": CALLBACK + "    def on_init_end(self, trainer): pass\n",
    "hook: Callback.on_validation_batch_end(dataloader_idx)": CALLBACK
    + "    def on_validation_batch_end(self, trainer, pl_module, outputs, batch, batch_idx, dataloader_idx): pass\n",
    "hook: Callback.on_load_checkpoint(only 1 of 3)": CALLBACK + "    def on_load_checkpoint(self, checkpoint): pass\n",
    "hook: Callback.on_save_checkpoint returns a state": CALLBACK
    + "    def on_save_checkpoint(self, trainer, pl_module, checkpoint):\n        return {'a': 1}\n",
    "attribute: Trainer.lr_schedulers": MODULE + "    def f(self):\n        return self.trainer.lr_schedulers\n",
    "attribute: Trainer.root_gpu": CALLBACK
    + "    def on_fit_start(self, trainer, pl_module):\n        trainer.root_gpu\n",
    "attribute: Trainer.gpus": "import pytorch_lightning as pl\nt = pl.Trainer()\nprint(t.gpus)\n",
    "attribute: Trainer.model = ...": "import pytorch_lightning as pl\nt = pl.Trainer()\nt.model = m\n",
    "attribute: LightningModule.hparams = ...": MODULE + "    def __init__(self, h):\n        self.hparams = h\n",
    "attribute: LightningModule.truncated_bptt_steps = ...": MODULE + "    truncated_bptt_steps = 2\n",
    "attribute: super().training_epoch_end of LightningModule": MODULE
    + "    def f(self, outputs):\n        super().training_epoch_end(outputs)\n",
    "attribute: LightningModule.add_to_queue": MODULE + "    def f(self):\n        self.add_to_queue(1)\n",
}

RIGHT = {
    "another call where one is refused": """\
        import pytorch_lightning as pl

        try:
            trainer = pl.Trainer(reload_dataloaders_every_epoch=True)
        except TypeError:
            trainer = pl.Trainer(reload_dataloaders_every_n_epochs=1)
        """,
    "another way where hparams cannot be set": """\
        import pytorch_lightning as pl

        class Net(pl.LightningModule):
            def __init__(self, hparams):
                super().__init__()
                try:
                    self.hparams = hparams
                except Exception:
                    self.hparams.update(hparams)
        """,
    "never read": """
        import pytorch_lightning as pl
        class Net(pl.LightningModule):
            def validation_step(self, batch, batch_idx):
                return {"loss": 1, "log": {"loss": 1}}
        """,
    "guarded by the version": """
        import pytorch_lightning as pl
        from packaging import version
        OLD = version.parse(pl.__version__) < version.parse("2.0")
        if OLD:
            from pytorch_lightning.metrics import Accuracy
        trainer = pl.Trainer(gpus=1) if OLD else pl.Trainer(devices=1)
        """,
    "guarded by the version of torchmetrics": """
        from packaging.version import parse
        from torchmetrics import Accuracy
        from torchmetrics import __version__ as release
        metric = Accuracy(task="binary") if parse(release) > parse("0.8") else Accuracy()
        """,
    "guarded by a number in a function": """
        import pytorch_lightning as pl
        def seed():
            major = int(pl.__version__.split(".")[0])
            if major < 2:
                pl.utilities.seed.seed_everything(1)
            try:
                pl.old()
            except:
                pass
        """,
    "called by name": """
        from pytorch_lightning.cli import LightningCLI
        class Own(LightningCLI):
            def before_fit(self): pass
        """,
    "behind an import": """
        try:
            from pytorch_lightning.metrics import Accuracy
        except ImportError:
            from torchmetrics import Accuracy
        try:
            from pytorch_lightning import Trainer
        except ImportError:
            from pytorch_lightning.trainer.old import Trainer
        """,
    "asked with hasattr": """
        import pytorch_lightning as pl
        def f(trainer: pl.Trainer):
            return trainer.gpus if hasattr(trainer, "gpus") else trainer.num_devices
        """,
    "others of the same name": """
        from accelerate import Trainer
        from own import LightningModule
        Trainer(gpus=1)
        class Net(LightningModule):
            def training_epoch_end(self, outputs): pass
        """,
    "what is new": """
        import lightning.pytorch as pl
        from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
        trainer = pl.Trainer(accelerator="gpu", devices=[0], strategy="ddp", precision="16-mixed", max_steps=-1,
                             callbacks=[EarlyStopping("loss"), ModelCheckpoint(every_n_epochs=1)])
        class Net(pl.LightningModule):
            def __init__(self):
                super().__init__()
                self.save_hyperparameters()
                self.automatic_optimization = False
            def training_step(self, batch, batch_idx):
                self.manual_backward(batch.sum())
            def on_validation_batch_end(self, outputs, batch, batch_idx, dataloader_idx=0): pass
            def optimizer_step(self, epoch, batch_idx, optimizer, optimizer_closure): pass
            def configure_optimizers(self):
                return [one, other], []
        trainer.fit(Net(), train_dataloaders=[])
        """,
    "own members with names of old ones": """
        import pytorch_lightning as pl
        class Net(pl.LightningModule):
            def __init__(self):
                super().__init__()
                self.use_ddp = True
            def tbptt_split_batch(self, batch, size): return [batch]
            def training_step(self, batch, batch_idx):
                return self.tbptt_split_batch(batch, 2) if self.use_ddp else None
        """,
    "hooks of a base with other parameters": """
        from pytorch_lightning.callbacks import TQDMProgressBar
        class Bar(TQDMProgressBar):
            def on_train_epoch_start(self, trainer, model): pass
            def get_metrics(self, trainer, model): return {}
        """,
    "several loaders": """
        import pytorch_lightning as pl
        class Net(pl.LightningModule):
            def validation_step(self, batch, batch_idx, dataloader_idx): pass
            def on_validation_batch_end(self, outputs, batch, batch_idx, dataloader_idx): pass
        """,
    "one optimizer and its scheduler": """
        import pytorch_lightning as pl
        class Net(pl.LightningModule):
            def configure_optimizers(self):
                return [optimizer], [scheduler]
        """,
}


def found(folder: Path, **files: str) -> list[str]:
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return [f"{each.kind}: {each.what}" for each in violations(folder)]


@pytest.mark.parametrize("what", WRONG)
def test_each_class_is_seen(what: str, tmp_path: Path) -> None:
    assert found(tmp_path, train=WRONG[what]) == [what]


@pytest.mark.parametrize("what", RIGHT)
def test_none_is_seen_where_none_is(what: str, tmp_path: Path) -> None:
    assert found(tmp_path, train=dedent(RIGHT[what])) == []


def test_bases_are_followed_over_files(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    (tmp_path / "pkg" / "__init__.py").write_text("from .base import *\n")
    (tmp_path / "pkg" / "base.py").write_text(MODULE + "    pass\n")
    seen = found(tmp_path, train="import pkg\nclass Mine(pkg.Net):\n    def on_epoch_end(self): pass\n")
    assert seen == ["hook: LightningModule.on_epoch_end"]


def test_a_class_may_have_the_name_of_its_base(tmp_path: Path) -> None:
    text = "from pytorch_lightning import Callback\nclass Callback(Callback):\n    def on_epoch_end(self, t, m): pass\n"
    assert found(tmp_path, train=text) == ["hook: Callback.on_epoch_end"]


def test_classes_that_inherit_from_each_other_end(tmp_path: Path) -> None:
    (tmp_path / "b.py").write_text("from a import A\nclass B(A): pass\n")
    assert found(tmp_path, a="from b import B\nclass A(B):\n    def on_epoch_end(self): pass\n") == []


def test_a_base_whose_module_is_gone_is_known(tmp_path: Path) -> None:
    text = CALLBACK.replace("callbacks import", "callbacks.base import") + "    def on_epoch_end(self, t, m): pass\n"
    assert found(tmp_path, train=text) == ["name: pl.callbacks.base.Callback", "hook: Callback.on_epoch_end"]


def test_places_in_notebooks_are_of_their_cells(tmp_path: Path) -> None:
    cells = [
        {"cell_type": "markdown", "source": "# Train"},
        {"cell_type": "code", "source": ["!pip install x\n", "from pytorch_lightning import Trainer\n"]},
        {"cell_type": "code", "source": ["%time\n", "Trainer(\n", "    gpus=1)"]},
    ]
    (tmp_path / "train.ipynb").write_text(json.dumps({"cells": cells}))
    assert [str(each) for each in violations(tmp_path)] == ["train.ipynb[2]:3 argument: Trainer(gpus=)"]


def test_lightning_itself_is_not_judged_by_the_installed_one(tmp_path: Path) -> None:
    (tmp_path / "pytorch_lightning").mkdir()
    (tmp_path / "pytorch_lightning" / "__init__.py").touch()
    assert found(tmp_path, train="from pytorch_lightning.metrics import Accuracy\n") == []


def test_a_folder_of_the_project_may_have_the_name_of_lightning(tmp_path: Path) -> None:
    (tmp_path / "lightning").mkdir()
    (tmp_path / "lightning" / "base.py").write_text(MODULE + "    pass\n")
    text = "from lightning.base import Net\nfrom lightning.pytorch.gone import Trainer\n"
    seen = found(tmp_path, train=text + "class Mine(Net):\n    def on_epoch_end(self): pass\n")
    assert seen == ["name: pl.gone.Trainer", "hook: LightningModule.on_epoch_end"]


def test_a_hook_that_another_class_calls_on_itself_is_called_there_alone(tmp_path: Path) -> None:
    calling = "    def training_step(self, a, b): return self.training_step_end(a)\n\n"
    hook = "    def training_step_end(self, outputs): pass\n"
    other = "\nclass Other(pl.LightningModule):\n" + hook
    below = "\nclass Below(Net):\n" + hook
    for text, wrong in ((calling + hook + below, 0), (calling + hook + other, 1)):
        (tmp_path / "a.py").write_text(MODULE + text)
        assert len(violations(tmp_path)) == wrong
