"""STP002: the number of training steps that modules compute by hand, in the forms in which it is met."""

from __future__ import annotations

import pytest

from codemods.rules.steps.stp002 import RULE
from tests.codemods.support import rewritten, run_rules

HEAD = """\
import math
import torch
from pytorch_lightning import LightningModule
from torch.optim.lr_scheduler import OneCycleLR


class Model(LightningModule):
"""
EST = "self.trainer.estimated_stepping_batches"
PROPERTY = "    @property\n    def num_training_steps(self) -> int:\n"


def levels(text: str, **others: str) -> list[tuple[str, str, str]]:
    made = run_rules({"train.py": text, **{f"{name}.py": other for name, other in others.items()}}, RULE)
    assert made.bugs == ()
    return [(finding.fix, finding.message, finding.reason) for finding in made.findings]


def method(*lines: str, name: str = "configure_optimizers") -> str:
    return f"{HEAD}    def {name}(self):\n" + "".join(f"        {line}\n" for line in lines)


LIMITED = """\
        if self.trainer.max_steps:
            return self.trainer.max_steps
        limit = self.trainer.limit_train_batches
        batches = len(self.train_dataloader())
        batches = min(batches, limit) if isinstance(limit, int) else int(limit * batches)
        devices = max(1, self.trainer.num_gpus, self.trainer.num_processes)
        if self.trainer.tpu_cores:
            devices = max(devices, self.trainer.tpu_cores)
        accumulation = self.trainer.accumulate_grad_batches * devices
        return (batches // accumulation) * self.trainer.max_epochs
"""
TWICE = """\
        loader = self.train_dataloader()
        if self.trainer.max_steps:
            return self.trainer.max_steps
        size = len(loader)
        devices = max(1, self.trainer.num_gpus, self.trainer.num_processes)
        effective = loader.batch_size * self.trainer.accumulate_grad_batches * devices
        return (size // effective) * self.trainer.max_epochs
"""
OF_DATAMODULE = """\
        if isinstance(self.trainer.limit_train_batches, int) and self.trainer.limit_train_batches != 0:
            size = self.trainer.limit_train_batches
        elif isinstance(self.trainer.limit_train_batches, float):
            size = len(self.trainer.datamodule.train_dataloader())
            size = int(size * self.trainer.limit_train_batches)
        else:
            size = len(self.trainer.datamodule.train_dataloader())
        devices = max(1, self.trainer.devices) * self.trainer.num_nodes
        effective = self.trainer.accumulate_grad_batches * devices
        estimated = (size // effective) * self.trainer.max_epochs
        if self.trainer.max_steps and self.trainer.max_steps < estimated:
            return self.trainer.max_steps
        return estimated
"""
LIMIT_OR_LENGTH = """\
        loader = self.trainer._data_connector._train_dataloader_source.dataloader()
        if self.trainer.max_steps:
            return self.trainer.max_steps
        size = self.trainer.limit_train_batches if self.trainer.limit_train_batches != 0 else len(loader)
        return (size // self.trainer.accumulate_grad_batches) * self.trainer.max_epochs
"""


@pytest.mark.parametrize("body", [LIMITED, TWICE, OF_DATAMODULE, LIMIT_OR_LENGTH])
def test_properties_that_people_copy(body: str) -> None:
    text = HEAD + PROPERTY + '        """Total."""\n' + body
    assert (
        rewritten({"train.py": text}, RULE)["train.py"]
        == HEAD + PROPERTY + f'        """Total."""\n        return {EST}\n'
    )
    assert [level for level, _, _ in levels(text)] == ["safe"]


def test_faults_are_named() -> None:
    message = levels(HEAD + PROPERTY + TWICE)[0][1]
    assert "trainer.num_gpus, trainer.num_processes are gone" in message
    assert "-1 by default" in message
    assert "divided by the batch size again" in message
    assert "rounds down" in message


@pytest.mark.parametrize(
    "total",
    [
        "len(self.train_dataloader()) * self.trainer.max_epochs",
        "self.trainer.max_epochs * len(self.trainer.datamodule.train_dataloader())",
        "len(self.trainer.train_dataloader) // self.trainer.accumulate_grad_batches * self.trainer.max_epochs",
        "int(self.trainer.max_epochs * len(self.train_dataloader()) / self.trainer.accumulate_grad_batches)",
        "len(self.train_dataloader().dataset) // (self.batch_size * self.trainer.world_size) * self.trainer.max_epochs",
        "len(self.train_dataloader()) / max(1, torch.cuda.device_count()) * self.trainer.max_epochs",
    ],
)
@pytest.mark.parametrize("name", ["total_steps", "self.num_training_steps", "num_train_steps", "t_total"])
def test_values(total: str, name: str) -> None:
    text = method(f"{name} = {total}", f"return get_schedule(self.parameters(), {name})")
    wanted = text.replace(total, EST).replace("import torch\n" if "torch." in total else "\0", "")
    assert rewritten({"train.py": text}, RULE)["train.py"] == wanted


def test_values_inside_a_call_and_a_minimum() -> None:
    total = "len(self.train_dataloader()) * self.trainer.max_epochs"
    text = method(f"return get_schedule(self.parameters(), num_training_steps={total})")
    assert rewritten({"train.py": text}, RULE)["train.py"] == text.replace(total, EST)
    text = method(f"num_steps = min(self.trainer.max_steps, {total})", "return get_schedule(num_steps)")
    after = rewritten({"train.py": text}, RULE)["train.py"]
    assert after == method(f"num_steps = {EST}", "return get_schedule(num_steps)")


def test_what_fed_the_value_goes_with_it() -> None:
    text = method(
        "loader = self.train_dataloader()",
        "per_epoch = len(loader) // self.trainer.accumulate_grad_batches",
        "total_steps = per_epoch * self.trainer.max_epochs",
        "return get_schedule(total_steps)",
    )
    assert rewritten({"train.py": text}, RULE)["train.py"] == method(
        f"total_steps = {EST}", "return get_schedule(total_steps)"
    )


def test_epochs_that_cancel() -> None:
    text = method(
        "window = self.trainer.accumulate_grad_batches * float(self.trainer.max_epochs)",
        "size = self.hparams.batch_size * self.trainer.world_size",
        "total_steps = (len(self.train_dataloader().dataset) * self.trainer.max_epochs // size) // window",
        "return get_schedule(total_steps)",
    )
    assert "the number of epochs cancels out" in levels(text)[0][1]
    assert f"total_steps = {EST}\n" in rewritten({"train.py": text}, RULE)["train.py"]


def test_an_estimate_that_is_divided_and_multiplied() -> None:
    text = method(
        f"each = {EST} // self.trainer.max_epochs",
        "total_steps = self.trainer.max_epochs * each",
        "return get_schedule(total_steps, warmup=each)",
    )
    after = rewritten({"train.py": text}, RULE)["train.py"]
    assert after == text.replace("self.trainer.max_epochs * each", EST)


@pytest.mark.parametrize("samples", ["45000", "int(0.9 * 50000)"])
def test_one_cycle_with_the_steps_of_an_epoch(samples: str) -> None:
    text = method(
        f"steps_per_epoch = {samples} // BATCH_SIZE",
        "return OneCycleLR(optimizer, 0.1, epochs=self.trainer.max_epochs, steps_per_epoch=steps_per_epoch)",
    )
    assert [level for level, _, _ in levels(text)] == ["unsafe"]
    after = rewritten({"train.py": text}, RULE, unsafe=True)["train.py"]
    assert after == method(f"return OneCycleLR(optimizer, 0.1, total_steps={EST})")


CONFIGURED = method(
    "devices = torch.cuda.device_count()",
    "max_iter = self.config.max_epochs * self.config.num_samples / (self.config.batch_size * devices)",
    "return get_schedule(max_iter)",
)


def trainer(arguments: str) -> str:
    return (
        f"import pytorch_lightning as pl\n\n\ndef main(config, args, model):\n    pl.Trainer({arguments}).fit(model)\n"
    )


def test_epochs_of_a_configuration_that_the_trainer_gets() -> None:
    found = levels(CONFIGURED, main=trainer("max_epochs=config.max_epochs"))
    assert [level for level, _, _ in found] == ["unsafe"] and "`self.config.num_samples` is how many" in found[0][2]
    seen = CONFIGURED.replace("self.config.num_samples", "len(self.train_dataset)")
    assert [level for level, _, _ in levels(seen, main=trainer("max_epochs=config.max_epochs"))] == ["safe"]
    assert "device_count() counts the machine's GPUs" in found[0][1]


@pytest.mark.parametrize("arguments", ["max_epochs=10", "max_epochs=config.max_epochs if config.long else 1", ""])
def test_epochs_that_the_trainer_is_not_seen_to_get_are_unsafe(arguments: str) -> None:
    assert [level for level, _, _ in levels(CONFIGURED, main=trainer(arguments))] == ["unsafe"]


def test_helpers_that_only_the_old_body_called_are_named() -> None:
    helper = "\n    def _window(self):\n        return 1\n"
    body = LIMITED.replace("        limit =", "        self_window = self._window()\n        limit =")
    found = levels(HEAD + PROPERTY + body + helper)
    assert "_window is not used any more" in found[0][2]


TOTAL = (
    "len(self.trainer.datamodule.train_dataloader()) // self.trainer.accumulate_grad_batches * self.trainer.max_epochs"
)


@pytest.mark.parametrize(
    "lines",
    [
        ("s = OneCycleLR(o, 0.1, {})",),
        ("s = torch.optim.lr_scheduler.CosineAnnealingLR(o, {})",),
        ("n = {}", "s = transformers.get_linear_schedule_with_warmup(o, int(0.1 * n), n)"),
        ("n = {}", "s = OneCycleLR(o, 0.1, total_steps=n)"),
    ],
)
def test_a_total_without_a_name_that_says_so(lines: tuple[str, ...]) -> None:
    before = method("o = self.optimizer()", *(line.format(TOTAL) for line in lines), "return [o], [s]")
    after = method("o = self.optimizer()", *(line.format(EST) for line in lines), "return [o], [s]")
    assert rewritten({"train.py": before}, RULE)["train.py"] == after


def test_a_total_in_parentheses_in_a_lambda() -> None:
    line = "s = torch.optim.lr_scheduler.LambdaLR(o, lambda step: 1 - step / {})"
    before = method("o = self.optimizer()", line.format(f"({TOTAL})"), "return [o], [s]")
    after = method("o = self.optimizer()", line.format(EST), "return [o], [s]")
    assert rewritten({"train.py": before}, RULE)["train.py"] == after


@pytest.mark.parametrize(
    "line",
    [
        "s = torch.optim.lr_scheduler.StepLR(o, {})",
        "s = torch.optim.lr_scheduler.LambdaLR(o, lambda step: {} / step)",
        "s = self.other(o, {})",
        "self.batches = {}",
    ],
)
def test_a_total_that_no_scheduler_takes_for_one_stays(line: str) -> None:
    assert levels(method("o = self.optimizer()", line.format(f"({TOTAL})"))) == []
