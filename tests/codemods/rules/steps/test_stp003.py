"""STP003: steps, batches and epochs taken for one another."""

from __future__ import annotations

import pytest

from codemods.rules.steps.stp003 import RULE
from tests.codemods.support import rewritten, run_rules

HEAD = "from lightning.pytorch import Callback, LightningModule, Trainer\n\n\nclass Model(LightningModule):\n"
EST = "self.trainer.estimated_stepping_batches"
WINDOW = "self.trainer.accumulate_grad_batches"


def method(*lines: str, name: str = "training_step(self, batch, batch_idx)") -> str:
    return f"{HEAD}    def {name}:\n" + "".join(f"        {line}\n" for line in lines)


def levels(text: str, **others: str) -> list[tuple[str, str]]:
    made = run_rules({"train.py": text, **{f"{name}.py": other for name, other in others.items()}}, RULE)
    assert made.bugs == ()
    return [(finding.fix, finding.message) for finding in made.findings]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (f"return self.global_step < {EST} * {WINDOW}", f"return self.global_step < {EST}"),
        (f"return self.global_step / ({EST} * {WINDOW})", f"return self.global_step / {EST}"),
        (f"return self.global_step >= 0.5 * ({WINDOW} * {EST})", f"return self.global_step >= 0.5 * {EST}"),
        (f"return {EST} * {WINDOW} > self.trainer.global_step + 1", f"return {EST} > self.trainer.global_step + 1"),
    ],
)
def test_accumulation_that_counts_twice(before: str, after: str) -> None:
    assert rewritten({"train.py": method(before)}, RULE)["train.py"] == method(after)


def test_through_a_name() -> None:
    lines = (
        f"total = {EST} * {WINDOW}",
        "half = self.global_step < total / 2",
        "return half, self.global_step / total",
    )
    after = rewritten({"train.py": method(*lines)}, RULE)["train.py"]
    assert after == method(f"total = {EST}", *lines[1:])


def test_a_name_for_the_window_goes_with_it() -> None:
    before = method(f"window = {WINDOW}", f"return self.global_step < {EST} * window")
    assert rewritten({"train.py": before}, RULE)["train.py"] == method(f"return self.global_step < {EST}")
    kept = method(f"window = {WINDOW}", f"return self.global_step < {EST} * window, window")
    assert f"        window = {WINDOW}\n" in rewritten({"train.py": kept}, RULE)["train.py"]


def test_the_second_parameter_of_a_step_counts_batches() -> None:
    text = method("return index >= self.trainer.max_steps", name="training_step(self, batch, index)")
    assert levels(text) == [("manual", "`index` is compared with trainer.max_steps")]
    assert levels(text.replace("training_step(", "helper(")) == []


def test_through_an_alias_of_the_trainer() -> None:
    lines = (
        "trainer = self.trainer",
        "return self.global_step < trainer.estimated_stepping_batches * trainer.accumulate_grad_batches",
    )
    after = rewritten({"train.py": method(*lines)}, RULE)["train.py"]
    assert after == method(lines[0], "return self.global_step < trainer.estimated_stepping_batches")


def test_a_product_that_serves_two_ends_is_named() -> None:
    lines = (f"total = {EST} * {WINDOW}", "self.bar(total)", "return self.global_step < total")
    assert [level for level, _ in levels(method(*lines))] == ["manual"]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("return batch_idx >= self.trainer.max_steps", "`batch_idx` is compared with trainer.max_steps"),
        ("return self.trainer.max_steps // len(self.train_dataloader())", "used as a number of epochs"),
        (f"return self.trainer.max_steps // {WINDOW}", "which it already includes"),
        (f"return {EST} // self.trainer.world_size", "which it already includes"),
        (f"return {EST} / max(1, self.trainer.num_devices)", "which it already includes"),
        ("return self.trainer.max_steps or 1000", "used as a condition"),
        ("return self.trainer.max_steps if self.trainer.max_steps else 1000", "used as a condition"),
        ("return self.trainer.max_steps is None", "compared with None"),
    ],
)
def test_findings(line: str, message: str) -> None:
    found = levels(method(line))
    assert [level for level, _ in found] == ["manual"]
    assert message in found[0][1]


def test_a_function_that_is_handed_the_module() -> None:
    text = HEAD + "    pass\n\n\ndef schedule(module):\n    return module.trainer.max_steps is None\n"
    assert [level for level, _ in levels(text)] == ["manual"]


TWO = """\
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False

    def training_step(self, batch, batch_idx):
        first, second = self.optimizers()
        first.step()
        second.step()
        if self.global_step % 100 == 0:
            self.show(batch)
"""


def test_steps_of_two_optimizers() -> None:
    found = levels(HEAD + TWO)
    assert found == [("manual", "`self.global_step % 100` counts the steps of 2 optimizers")]


RAW = "optimizer = self.optimizers(use_pl_optimizer=False)"


def test_optimizers_whose_steps_are_not_counted() -> None:
    found = levels(method(RAW, "optimizer.step()"), main="import lightning as L\n\nL.Trainer(max_steps=5)\n")
    assert found == [("manual", "Steps of `optimizers(use_pl_optimizer=False)` are not counted")]


def test_a_window_that_no_epoch_fills() -> None:
    text = (
        "import torch\nfrom lightning.pytorch import Trainer\n"
        "from torch.utils.data import DataLoader, TensorDataset\n\n"
        "loader = DataLoader(TensorDataset(torch.randn(20, 2)), batch_size=4)\n"
        "trainer = Trainer(max_epochs=3, accumulate_grad_batches=8)\ntrainer.fit(model, loader)\n"
    )
    assert levels(text) == [("manual", "accumulate_grad_batches=8 is longer than an epoch of 5 batches")]
    assert levels(text.replace("batches=8", "batches=5")) == []


ACCUMULATING = "\n\ntrainer = Trainer(accumulate_grad_batches=4)\n"
BATCHES = "self.trainer.num_training_batches"


@pytest.mark.parametrize(
    "line",
    [
        f"return self.global_step % {BATCHES} == 0",
        f"return self.global_step // {BATCHES}",
        f"return self.global_step == {BATCHES}",
        "return self.trainer.global_step >= len(self.trainer.train_dataloader)",
        f"return self.global_step < self.trainer.max_epochs * {BATCHES}",
    ],
)
def test_steps_that_are_held_against_batches(line: str) -> None:
    [(fix, message)] = levels(method(line) + ACCUMULATING)
    assert fix == "manual" and "a number of batches" in message
    assert levels(method(line)) == []
    assert levels(method(line) + ACCUMULATING.replace("4", "1")) == []


@pytest.mark.parametrize(
    "line",
    [
        f"return self.global_step % ({BATCHES} // {WINDOW})",
        f"return self.global_step * {WINDOW} % {BATCHES}",
        f"return batch_idx % {BATCHES}",
        f"return self.global_step < {EST}",
        "return self.global_step % 100",
    ],
)
def test_steps_beside_steps(line: str) -> None:
    assert levels(method(line) + ACCUMULATING) == []


def test_batches_that_are_compared_with_all_steps() -> None:
    found = levels(method(f"return batch_idx >= {EST}"))
    assert found == [("manual", "`batch_idx` is compared with trainer.estimated_stepping_batches")]
