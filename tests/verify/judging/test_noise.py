"""Projects whose own runs differ: measured, and judged by that."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from tests.verify.said import said as told_of
from tests.verify.test_prove import run
from tests.verify.trees import NEW, OLD
from verify.evidence import Fact, Recording
from verify.harness.measures import nudge
from verify.judging.record import RunRecord, Weight
from verify.judging.verdict import judge, noise_of, steady

LOSSES = (1.0, 0.5, 0.25)


def raw(*losses: float, weight: float = 2.0, rate: float = 0.1) -> RunRecord:
    recording = Recording(
        "train.py", True, None, losses, (), ((rate,),) * len(losses), len(losses), 3, 1, (), (), "cpu", "32", 1.0
    )
    return RunRecord(recording, (Weight("w", weight, (weight,)),))


def test_the_noise_of_equal_runs_is_nothing_and_of_others_the_largest_difference() -> None:
    assert noise_of(raw(*LOSSES), raw(*LOSSES)) == 0
    assert noise_of(raw(*LOSSES), raw(1.0, 0.5, 0.26)) == pytest.approx(0.01)
    assert noise_of(raw(*LOSSES), raw(*LOSSES, weight=2.4)) == pytest.approx(0.4 / 2.4)
    assert noise_of(raw(*LOSSES), raw(1.0, 0.5)) == float("inf")
    assert noise_of(raw(*LOSSES), raw(1.0, 0.5, float("nan"))) == float("inf")
    assert noise_of(raw(1.0, float("nan")), raw(1.0, float("nan"))) == 0
    gone = raw(*LOSSES)
    assert noise_of(gone, replace(gone, recording=replace(gone.recording, fitted=False))) == float("inf")


@pytest.mark.parametrize(
    ("after", "noise", "verdict", "rung", "said"),
    [
        (raw(1.0, 0.5, 0.26), 0.0, "changed", "trains", "loss 3: 0.25 became 0.26"),
        (raw(1.0, 0.5, 0.26), 0.005, "preserved", "trains", "two runs of the tree before differ by 0.005"),
        (
            raw(1.0, 0.5, 0.35),
            0.005,
            "changed",
            "trains",
            "0.25 became 0.35\nalso: two runs of the tree before",
        ),
        (raw(*LOSSES, rate=0.1001), 0.05, "changed", "trains", "learning rate of step 1"),
        (raw(1.0, 0.5), 0.05, "changed", "trains", "losses: 3 became 2"),
        (raw(*LOSSES), 0.005, "preserved", "trains", "two runs of the tree before differ by 0.005"),
        (raw(1.0, 0.5, 0.35), 0.2, "inconclusive", "trains", "cannot be compared"),
        (raw(*LOSSES), 0.0, "preserved", "same", "are the same"),
    ],
)
def test_the_verdict_by_the_noise(after: RunRecord, noise: float, verdict: str, rung: str, said: str) -> None:
    judgement = judge(raw(*LOSSES), after, (), noise=noise)
    assert (judgement.verdict, judgement.rung) == (verdict, rung)
    assert said in told_of(judgement)


@pytest.mark.parametrize("fitted", [True, False])
def test_runs_that_end_otherwise_differ_by_no_number(fitted: bool) -> None:
    one = raw(1.0)
    old = one if fitted else replace(one, recording=replace(one.recording, fitted=False))
    judgement = judge(old, raw(*LOSSES), (), noise=float("inf"))
    assert "two runs of the tree before end differently" in told_of(judgement)
    assert "inf" not in told_of(judgement)


def test_a_flaky_project_is_run_twice_and_judged_by_itself(tmp_path: Path) -> None:
    plain = "loss = nn.functional.mse_loss(self.head(out), y)"
    flaky = f"{plain} * (1 + __import__('os').urandom(1)[0] / 1e6)"
    evidence = run(tmp_path, OLD.replace(plain, flaky), NEW.replace(plain, flaky))
    assert (evidence.verdict, evidence.rung) == ("preserved", "trains"), evidence
    assert "two runs of the tree before differ by" in evidence.reason


GROWING = """
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
import pytorch_lightning as pl


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(3, 3)

    def training_step(self, batch, batch_idx):
        y = torch.sigmoid(self.net(batch[0]))
        for _ in range(8):
            y = {curve}
        return y.mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr={rate})


if __name__ == "__main__":
    pl.Trainer(max_epochs=2).fit(Model(), DataLoader(TensorDataset(torch.rand(12, 3)), batch_size=4))
"""
"""A logistic map: each turn of it makes a difference about twice as large."""
CURVE, SAME = "3.9 * y * (1 - y)", "3.9 * (y - y * y)"


@pytest.mark.parametrize(
    ("curve", "rate", "verdict"),
    [(SAME, 1e-3, "preserved"), (CURVE, 1.01e-3, "changed")],
    ids=["rounding grows", "another rate"],
)
def test_what_rounding_grows_to_is_no_change(tmp_path: Path, curve: str, rate: float, verdict: str) -> None:
    old = GROWING.format(curve=CURVE, rate=1e-3)
    evidence = run(tmp_path, old, GROWING.format(curve=curve, rate=rate), before_pins=())
    assert evidence.verdict == verdict, evidence.reason
    if verdict == "preserved":
        assert evidence.rung == "trains" and evidence.max_difference and 1e-6 < evidence.max_difference < 1e-3
    assert "two runs of the tree before differ by " in told_of(evidence)


def test_a_nudge_is_a_rounding_and_draws_nothing_of_the_project() -> None:
    module = torch.nn.Sequential(torch.nn.Linear(50, 50), torch.nn.Linear(50, 2).half(), torch.nn.LazyLinear(3))
    old = [weight.detach().clone() for weight in module[:2].parameters()]
    state = torch.get_rng_state()
    nudge(module, 1)
    assert torch.equal(torch.get_rng_state(), state)
    new = list(module[:2].parameters())
    apart = ((new[0] - old[0]) / old[0]).abs()
    assert 0 < (apart > 0).float().mean() < 1 and apart.max() < 3e-7
    assert all(torch.equal(one, other) for one, other in zip(new[2:], old[2:], strict=True))
    assert all(weight.requires_grad and weight.grad is None for weight in new)
    again = torch.nn.Linear(50, 50)
    with torch.no_grad():
        again.weight.copy_(old[0])
    nudge(again, 1)
    assert torch.equal(again.weight, new[0])


def logs(**logged: tuple[float, ...]) -> RunRecord:
    one = raw(*LOSSES)
    named = tuple((name.replace("_", ": "), values) for name, values in logged.items())
    return replace(one, recording=replace(one.recording, logged=named))


def test_what_is_handed_to_a_logger_is_compared_where_it_is_steady() -> None:
    old = logs(logger_seconds=(0.1, 250.0), logger_lost=(1.0,), logger_count=(1.0, 2.0), plain=(1.0,))
    kept, told = steady(old, logs(logger_seconds=(0.1, 900.0), logger_count=(1.0, 2.0), plain=(2.0,)))
    assert [name for name, _ in kept.recording.logged] == ["logger: count", "plain"]
    said = "logger: seconds, logger: lost: it differs between two runs of the tree before"
    assert told == (Fact("not compared", said),)
    assert steady(old, old) == (old, ())
    new = logs(logger_seconds=(0.2, 100.0), logger_lost=(3.0,), logger_count=(1.0, 2.0), plain=(1.0,))
    assert (judge(old, new, ()).verdict, judge(kept, new, ()).verdict) == ("changed", "preserved")
    other = judge(kept, logs(logger_count=(1.0, 3.0)), ())
    assert (other.verdict, "logger: count, logged for time 2: 2 became 3" in other.reason) == ("changed", True)


def test_times_that_go_to_a_logger_make_no_other_numbers(tmp_path: Path) -> None:
    plain = "loss = nn.functional.mse_loss(self.head(out), y)"
    timed = (
        f"{plain}; self.logger.log_metrics({{'moment': __import__('time').time_ns() % 10**9}}, 1)"
        "; self.logger.log_metrics({'steady': loss})"
    )
    evidence = run(tmp_path, OLD.replace(plain, timed), NEW.replace(plain, timed))
    assert (evidence.verdict, evidence.rung) == ("preserved", "same"), evidence.reason
    assert "not compared: logger: moment: it differs between two runs of the tree before" in told_of(evidence)
    assert evidence.before and dict(evidence.before.logged)["logger: steady"] == evidence.before.losses
