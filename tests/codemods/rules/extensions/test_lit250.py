"""LIT250: its rows against the newest release by reflection, and what it leaves alone."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import pytest
from lightning.pytorch import Trainer
from lightning.pytorch.callbacks import ModelCheckpoint
from lightning.pytorch.demos.boring_classes import BoringModel

from codemods.lightning.extension_members import members
from codemods.rules.extensions.lit250 import ATTRIBUTES, DATA
from tests.codemods.support import refusals, rewritten, rule, run_rules

PACKAGES = (
    "lightning.pytorch",
    "lightning.pytorch.accelerators",
    "lightning.pytorch.callbacks",
    "lightning.pytorch.loggers",
    "lightning.pytorch.plugins",
    "lightning.pytorch.plugins.environments",
    "lightning.pytorch.profilers",
    "lightning.pytorch.strategies",
)
ROWS = [(name, row) for name, rows in members().items() for row in rows]


def owners(names: frozenset[str]) -> list[Any]:
    """The classes of those names that the newest release has."""
    found = [getattr(importlib.import_module(package), name, None) for package in PACKAGES for name in names]
    return [item for item in found if item is not None and "_graveyard" not in item.__module__]


@pytest.mark.parametrize(("name", "row"), ROWS, ids=[f"{name}-{row.row}" for name, row in ROWS])
def test_the_newest_release_has_the_new_member_alone(name: str, row: Any) -> None:
    for owner in owners(row.owners):
        if row.parameter:
            assert row.parameter not in inspect.signature(getattr(owner, name)).parameters
            continue
        assert not hasattr(owner, name) or row.owners & {"Loop"}
        assert not row.becomes or hasattr(owner, row.becomes)
    assert row.becomes or row.advice


def test_attributes_of_data_modules_are_those_of_the_rows() -> None:
    assert {name for name, row in ROWS if DATA in row.owners} == set(ATTRIBUTES)


HEAD = (
    "from pytorch_lightning import LightningDataModule\nfrom pytorch_lightning.callbacks import TQDMProgressBar\n\n\n"
)
READS = "class A(LightningDataModule):\n    def g(self):\n        return self.train_transforms\n"


def test_an_override_is_renamed_with_its_uses() -> None:
    text = (
        "from pytorch_lightning.accelerators import Accelerator\n\n\nclass Mine(Accelerator):\n"
        "    def setup_environment(self, device):\n        super().setup_environment(device)\n"
    )
    assert rewritten({"a.py": text}, rule("LIT250"))["a.py"] == text.replace("setup_environment", "setup_device")


@pytest.mark.parametrize(
    "text",
    [
        HEAD + "class A(TQDMProgressBar):\n    def f(self, other):\n        return other.main_progress_bar\n",
        HEAD + "class A(TQDMProgressBar):\n    def f(self):\n        self.main_progress_bar = 1\n",
        "class A:\n    def f(self):\n        return self.main_progress_bar\n",
        HEAD + READS + "\n\nclass B(A):\n    def f(self):\n        self.train_transforms = 1\n",
        HEAD + READS.replace("LightningDataModule", "B") + "\n\n"
        "class B(LightningDataModule):\n    def f(self):\n        self.train_transforms = 1\n",
        HEAD + READS + "\n\nclass Mixed:\n    train_transforms = None\n\n\nclass B(A, Mixed):\n    pass\n",
        HEAD + READS + "\n\ndata = A()\ndata.train_transforms = 1\n",
    ],
    ids=["of-something-else", "own", "no-lightning-class", "made-below", "made-above", "made-by-a-mixin", "given"],
)
def test_left_alone(text: str) -> None:
    made = run_rules({"a.py": text}, rule("LIT250"))
    assert made.findings == () and made.changes == ()


def test_an_override_of_what_it_was_before_is_left() -> None:
    text = (
        "from pytorch_lightning.accelerators import Accelerator\n\n\nclass Mine(Accelerator):\n"
        "    def setup_environment(self):\n        super().setup_environment()\n"
    )
    reasons = refusals({"a.py": text}, "LIT250")
    assert reasons and all("`setup_device` takes its place, and is given 1 argument" in each for each in reasons)
    more = text.replace("(self)", "(self, *args)").replace("environment()", "environment(*args)")
    assert rewritten({"a.py": more}, rule("LIT250"))["a.py"] == more.replace("environment", "device")


@pytest.mark.parametrize("base", ["LightningDataModule", "elsewhere.Data", "object"])
def test_what_another_data_module_makes_is_its_own(base: str) -> None:
    other = f"class B({base}):\n    def f(self):\n        self.train_transforms = 1\n"
    text = f"import elsewhere\n{HEAD}{READS}\n\n{other}"
    [reason] = refusals({"a.py": text, "setup.cfg": "[data]\ntrain_transforms = 1\n"}, "LIT250")
    assert "set it in __init__" in reason


def test_an_attribute_without_an_heir_is_a_finding() -> None:
    text = HEAD + "class A(LightningDataModule):\n    def f(self):\n        return self.has_setup_fit\n"
    [reason] = refusals({"a.py": text}, "LIT250")
    assert "attribute of your own" in reason


def test_an_override_with_the_index_of_the_optimizer_is_a_finding() -> None:
    text = (
        "from pytorch_lightning.strategies import DDPStrategy\n\n\nclass A(DDPStrategy):\n"
        "    def optimizer_step(self, optimizer, optimizer_idx, closure):\n        pass\n"
    )
    [reason] = refusals({"a.py": text}, "LIT250")
    assert "optimizer_idx" in reason


def test_a_bar_of_the_old_name_is_told_that_the_name_is_the_base_now() -> None:
    text = (
        "from pytorch_lightning.callbacks import ProgressBar\n\n\nclass Bar(ProgressBar):\n"
        "    def init_validation_tqdm(self):\n        bar = super().init_validation_tqdm()\n"
        '        bar.set_description("check")\n        return bar\n'
    )
    assert all("derive from TQDMProgressBar" in reason for reason in refusals({"a.py": text}, "LIT250"))
    assert len(refusals({"a.py": text}, "LIT250")) == 2
    assert not refusals({"a.py": text.replace("ProgressBar", "TQDMProgressBar")}, "LIT250")


def test_a_bar_that_the_class_makes_itself_is_its_own() -> None:
    text = (
        "from lightning.pytorch.callbacks import ProgressBar\n\n\nclass Bar(ProgressBar):\n"
        "    def init_train_tqdm(self, trainer):\n        return made(trainer)\n\n"
        "    def on_train_start(self, trainer, pl_module):\n        self.bar = self.init_train_tqdm(trainer)\n"
    )
    assert run_rules({"a.py": text}, rule("LIT250")).findings == ()
    lightnings = text.replace("(self, trainer):", "(self):").replace("tqdm(trainer)", "tqdm()")
    assert "derive from TQDMProgressBar" in refusals({"a.py": lightnings}, "LIT250")[0]
    assert refusals({"a.py": text.replace("self.init_train_tqdm(trainer)", "None")}, "LIT250")


def test_a_property_of_the_class_itself_is_its_own() -> None:
    text = (
        "from lightning.pytorch.callbacks import ProgressBar\n\n\nclass Bar(ProgressBar):\n"
        "    @property\n    def is_enabled(self):\n        return self._on\n\n"
        "    def on_train_start(self, trainer, pl_module):\n        print(self.is_enabled)\n"
    )
    assert run_rules({"a.py": text}, rule("LIT250")).findings == ()
    inherited = text.replace("    @property\n    def is_enabled(self):\n        return self._on\n\n", "")
    assert refusals({"a.py": inherited}, "LIT250")


def test_a_property_that_lightning_read_is_named() -> None:
    text = (
        "from pytorch_lightning.accelerators import GPUAccelerator\n\n\nclass Mine(GPUAccelerator):\n"
        "    @property\n    def root_device(self):\n        return self._device\n"
    )
    assert "trainer.strategy.root_device" in refusals({"a.py": text}, "LIT250")[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def gather(x, accelerator: Accelerator):\n    return accelerator.all_gather(x)\n", ["all_gather"]),
        ("def gather(x, accelerator):\n    return accelerator.all_gather(x)\n", []),
        ("def gather(x, accelerator: Mine):\n    return accelerator.all_gather(x)\n", []),
        ("def gather(x, accelerator: Accelerator):\n    return accelerator.setup(x), x.all_gather()\n", []),
        ("def gather(x, accelerator: Accelerator):\n    accelerator.barrier = x\n", []),
    ],
)
def test_what_a_parameter_of_one_of_these_classes_has_no_more(text: str, said: list[str]) -> None:
    text = f"from pytorch_lightning.accelerators import Accelerator\n\n\n{text}"
    found = run_rules({"a.py": text}, rule("LIT250")).findings
    assert [finding.message.split("`")[1] for finding in found] == said
    assert all(finding.fix == "manual" and "trainer.strategy" in finding.reason for finding in found)


SAVING = """\
from pytorch_lightning.callbacks import ModelCheckpoint


class Saving(ModelCheckpoint):
    def is_due(self, epoch):
        return epoch % self.period == 0
"""


def test_what_a_checkpoint_calls_its_period_now() -> None:
    after = rewritten({"a.py": SAVING}, rule("LIT250"))["a.py"]
    assert after == SAVING.replace("self.period", "self.every_n_epochs")
    assert ModelCheckpoint(every_n_epochs=3).every_n_epochs == 3


@pytest.mark.parametrize(
    "text",
    [
        SAVING.replace("(ModelCheckpoint)", "(torch.nn.Module)"),
        SAVING.replace(
            "    def", "    def __init__(self):\n        super().__init__()\n        self.period = 2\n\n    def"
        ),
        SAVING.replace("self.period", "trainer.period"),
    ],
    ids=["no checkpoint", "its own", "of another"],
)
def test_another_period_stays(text: str) -> None:
    assert run_rules({"a.py": text}, rule("LIT250")).findings == ()


def test_what_a_command_line_had_before_its_subcommands() -> None:
    text = (
        "from pytorch_lightning.utilities.cli import LightningCLI\n\n\nclass Cli(LightningCLI):\n"
        "    def prepare_fit_kwargs(self):\n        super().prepare_fit_kwargs()\n"
        "        self.fit_kwargs['ckpt_path'] = None\n"
    )
    told = [item.message for item in run_rules({"a.py": text}, rule("LIT250")).findings]
    assert [message.split("`")[1] for message in told] == ["prepare_fit_kwargs", "prepare_fit_kwargs", "fit_kwargs"]
    assert run_rules({"a.py": text.replace("pytorch_lightning", "of_ours")}, rule("LIT250")).findings == ()


def test_what_only_the_bar_of_tqdm_has_is_named() -> None:
    text = (
        "from pytorch_lightning.callbacks import ProgressBar\n\n\nclass Bar(ProgressBar):\n"
        "    def init_validation_tqdm(self):\n"
        "        return tqdm(position=self.process_position, disable=self.is_disabled)\n"
    )
    reasons = refusals({"a.py": text}, "LIT250")
    assert len(reasons) == 3
    assert all("derive from TQDMProgressBar" in reason for reason in reasons)
    assert refusals({"a.py": text.replace("(ProgressBar)", "(Mine)")}, "LIT250") == []


HELD = """\
from pytorch_lightning import LightningDataModule, Trainer
from pytorch_lightning.callbacks import ModelCheckpoint, TQDMProgressBar


class Digits(LightningDataModule):
    pass


def run(model, other):
    data, kept = Digits(), ModelCheckpoint()
    trainer = Trainer(callbacks=[kept])
    trainer.fit(model, data)
    print(READ)
"""


@pytest.mark.parametrize(
    "read",
    [
        "data.dims", "kept.save_checkpoint", "TQDMProgressBar().main_progress_bar",
        "trainer.checkpoint_callback.best", "model.trainer.datamodule.dims",
        "trainer.accelerator.training_type_plugin",
    ],
)  # fmt: skip
def test_what_an_object_of_lightnings_lost_is_named(read: str) -> None:
    (reason,) = refusals({"a.py": HELD.replace("READ", read)}, "LIT250")
    assert reason.startswith("Not rewritten: ")


@pytest.mark.parametrize("read", ["other.dims", "data.other.dims", "trainer.callbacks[0].best"])
def test_what_is_not_seen_to_be_lightnings_is_not_spoken_of(read: str) -> None:
    assert run_rules({"a.py": HELD.replace("READ", read)}, rule("LIT250")).findings == ()


def test_what_the_project_makes_itself_is_its_own() -> None:
    own = HELD.replace("    pass\n", "    def setup(self, stage=None):\n        self.dims = (1, 28)\n")
    assert run_rules({"a.py": own.replace("READ", "data.dims")}, rule("LIT250")).findings == ()


def test_what_a_strategy_reads_of_itself_is_told() -> None:
    text = (
        "from pytorch_lightning.plugins import DDPPlugin\n\n\nclass Mine(DDPPlugin):\n"
        "    def init_dist_connection(self, rank):\n        print(self.torch_distributed_backend, rank)\n\n"
        "    def post_dispatch(self, trainer):\n        print(trainer)\n"
    )
    made = run_rules({"a.py": text}, rule("LIT250"))
    assert [(each.span.line, each.fix) for each in made.findings] == [(6, "manual"), (8, "manual")]
    assert "process_group_backend" in made.findings[0].reason and "teardown" in made.findings[1].reason


COUNT = (
    "from pytorch_lightning.callbacks import TQDMProgressBar\nfrom tqdm import tqdm\n\n\nclass Bar(TQDMProgressBar):\n"
    "    def init_train_tqdm(self):\n        return tqdm(initial=self.train_batch_idx)\n"
)
SHOWN = "\n    def on_train_batch_end(self, *args):\n        print(self.train_batch_idx)\n"
COUNTED = "self.trainer.fit_loop.epoch_loop.batch_progress.current.processed"


def test_the_count_of_a_bar_is_the_trainers() -> None:
    files = {"a.py": COUNT}
    assert rewritten(files, rule("LIT250"))["a.py"] == COUNT.replace("self.train_batch_idx", COUNTED)
    for pin, level in (("==1.9.5", "safe"), ("==1.4.9", "unsafe"), ("", "unsafe")):
        found = run_rules({"a.py": COUNT + SHOWN}, rule("LIT250"), pins=(f"pytorch-lightning{pin}",)).findings
        assert [item.fix for item in found] == ["safe", level]


@pytest.mark.parametrize(
    "more",
    [
        "\n    @property\n    def train_batch_idx(self):\n        return 1\n",
        "\n    def on_train_start(self, *args):\n        self.train_batch_idx = 1\n",
        "\n    def on_train_start(self, trainer, module):\n        self.trainer = trainer\n",
    ],
)
def test_a_count_or_a_trainer_of_the_class_itself_stays(more: str) -> None:
    assert rewritten({"a.py": COUNT + more}, rule("LIT250"), unsafe=True)["a.py"] == COUNT + more


def test_a_bar_shows_the_count_of_its_trainer() -> None:
    space: dict[str, Any] = {}
    text = COUNT.replace("pytorch_lightning", "lightning.pytorch") + SHOWN.replace("print(", "SEEN.append(")
    exec("SEEN = []\n" + rewritten({"a.py": text}, rule("LIT250"), unsafe=True)["a.py"], space)
    trainer = Trainer(
        max_epochs=2, limit_train_batches=3, limit_val_batches=1, callbacks=[space["Bar"]()], accelerator="cpu",
        logger=False, enable_checkpointing=False, enable_model_summary=False,
    )  # fmt: skip
    trainer.fit(BoringModel())
    assert space["SEEN"] == [1, 2, 3, 1, 2, 3]


@pytest.mark.parametrize(
    ("made", "line", "said"),
    [
        ("loggers.CometLogger()", "made.reset_experiment()", "build another"),
        ("utilities.CombinedLoader([])", "print(made.loaders)", "`iterables`"),
    ],
)
def test_what_is_asked_of_what_a_variable_was_made_as(made: str, line: str, said: str) -> None:
    text = f"from pytorch_lightning import loggers, utilities\n\nmade = {made}\n{line}\n"
    (found,) = run_rules({"a.py": text}, rule("LIT250")).findings
    assert found.fix == "manual" and said in found.reason
    assert run_rules({"a.py": text.replace("made =", "made = given or")}, rule("LIT250")).findings == ()


@pytest.mark.parametrize(
    ("head", "said"),
    [
        ("format_checkpoint_name(self, epoch, step, metrics, ver=None)", "given metrics"),
        ("_save_model(self, filepath, trainer, pl_module)", "override _save_checkpoint"),
        ("format_checkpoint_name(self, metrics, filename=None, ver=None)", ""),
    ],
)
def test_an_override_that_a_checkpoint_calls_otherwise(head: str, said: str) -> None:
    text = "from pytorch_lightning.callbacks import ModelCheckpoint\n\n\nclass Best(ModelCheckpoint):\n"
    found = run_rules({"a.py": f"{text}    def {head}:\n        return str(step)\n"}, rule("LIT250")).findings
    assert [said in each.reason for each in found] == [True] * bool(said)


@pytest.mark.parametrize("name", ["_convert_params", "_flatten_dict", "_sanitize_params", "_add_prefix"])
def test_what_a_logger_of_the_projects_takes_from_lightnings_is_a_function_now(name: str) -> None:
    text = (
        "from pytorch_lightning.loggers.base import LightningLoggerBase\n\n\nclass Mine(LightningLoggerBase):\n"
        f"    def log_hyperparams(self, params):\n        print(self.{name}(params))\n"
    )
    (found,) = run_rules({"a.py": text}, rule("LIT250")).findings
    assert found.fix == "manual" and f"from lightning.fabric.utilities.logger import {name}" in found.reason
    assert hasattr(importlib.import_module("lightning.fabric.utilities.logger"), name)
    assert run_rules({"a.py": text.replace("(LightningLoggerBase)", "(Base)")}, rule("LIT250")).findings == ()
