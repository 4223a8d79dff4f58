"""STP002: another number of the same schedule that is counted of the loader too, and would not fit the new total."""

from __future__ import annotations

import pytest

from tests.codemods.rules.steps.test_stp002 import levels, method

LOADER = "loader = self.train_dataloader()"
TOTAL = "total_steps = len(loader) * self.trainer.max_epochs"
WARM = "self.hparams.warmup_epochs * len(loader)"


@pytest.mark.parametrize(
    "lines",
    [
        (TOTAL, f"return get_cosine_schedule_with_warmup(optimizer, {WARM}, total_steps)"),
        (TOTAL, f"warm = {WARM}", "return get_cosine_schedule_with_warmup(optimizer, warm, total_steps)"),
        (f"return get_schedule(num_warmup_steps={WARM}, num_training_steps=self.trainer.max_epochs * len(loader))",),
        (
            "steps_per_epoch = len(loader)",
            "total_steps = steps_per_epoch * self.trainer.max_epochs",
            "return get_schedule(5 * steps_per_epoch, total_steps)",
        ),
    ],
)
def test_a_warm_up_that_is_counted_apart_is_left_with_its_total(lines: tuple[str, ...]) -> None:
    ((level, _, reason),) = levels(method(LOADER, *lines))
    assert level == "manual" and "another number of the same schedule" in reason


@pytest.mark.parametrize(
    "lines",
    [
        (TOTAL, "return get_schedule(int(0.1 * total_steps), total_steps)"),
        (TOTAL, "warm = total_steps // 10", "return get_schedule(warm, total_steps)"),
        (TOTAL, "return get_schedule(self.hparams.warmup_steps, total_steps)"),
        (
            "steps_per_epoch = len(loader)",
            "total_steps = steps_per_epoch * self.trainer.max_epochs",
            "return get_schedule(int(0.1 * total_steps), total_steps)",
        ),
    ],
)
def test_a_share_of_the_total_and_a_number_of_its_own_go_with_it(lines: tuple[str, ...]) -> None:
    assert [level for level, _, _ in levels(method(LOADER, *lines))] == ["safe"]
