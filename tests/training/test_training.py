"""What the comparison sees, and what it does not let pass."""

from __future__ import annotations

import pytest

from tests.training import Record, differences, same, train

PLAIN = """\
import torch
from pytorch_lightning import LightningModule, Trainer


class Model(LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(3, 2)
        self.drop = torch.nn.Dropout(0.5)

    def training_step(self, batch, batch_idx):
        loss = self.drop(self.layer(batch[0])).pow(2).mean()
        self.log("train_loss", loss)
        return loss

    def configure_optimizers(self):
        optimizer = torch.optim.SGD(self.parameters(), lr=0.1)
        return [optimizer], [{"scheduler": torch.optim.lr_scheduler.StepLR(optimizer, 1), "interval": "epoch"}]


def main(width=3):
    trainer = Trainer(max_epochs=2)
    data = torch.utils.data.TensorDataset(torch.randn(6, width))
    trainer.fit(Model(), torch.utils.data.DataLoader(data, batch_size=2, shuffle=True))
    return {"rank": trainer.global_rank, "ranks": trainer.world_size}


if __name__ == "__main__":
    main()
"""
TWO = PLAIN.replace("max_epochs=2", 'max_epochs=2, devices=2, accelerator="cpu", strategy="ddp"')


@pytest.mark.parametrize("release", ["1.8.6", "1.9.5", "2.5.4"])
def test_a_program_that_needs_no_change_trains_the_same(release: str) -> None:
    old, new = same({"train.py": PLAIN}, {"train.py": PLAIN}, old=release)
    assert (old.release, new.release) == (release, "2.6.6")
    assert len(new.losses) == len(new.steps) == new.global_step == 6
    assert [step.rates for step in new.steps] == [(0.1,)] * 3 + [(pytest.approx(0.01),)] * 3
    assert [pytest.approx(values) for values in new.schedulers] == [(2, 0.001)]
    assert len(new.weights["layer.weight"]) == 6
    assert new.logged[-1][1]["train_loss"] == new.metrics["train_loss"] == new.losses[-1]


@pytest.mark.parametrize(
    ("old", "new", "seen"),
    [
        ("lr=0.1", "lr=0.11", "learning rates, first at 0"),
        ('"epoch"', '"step"', "learning rates, first at 1"),
        (".mean()", ".mean() * 1.0001", "losses, first at 0"),
        ("max_epochs=2", "max_epochs=2, gradient_clip_val=0.01", "gradients, first at 0"),
        ("max_epochs=2", "max_epochs=2, accumulate_grad_batches=2", "global_step: 6, then 4"),
        ('log("train_loss"', 'log("loss"', "metrics: ['train_loss'], then ['loss']"),
        ("Dropout(0.5)", "Dropout(0.4)", "losses, first at 0"),
        (
            "return loss",
            "loss = loss * 1\n        loss.backward(retain_graph=True)\n        return loss",
            "losses: 6 of them",
        ),
    ],
)
def test_what_differs_is_named(old: str, new: str, seen: str) -> None:
    assert old in PLAIN
    found = list(differences(_trained(PLAIN), _trained(PLAIN.replace(old, new))))
    assert any(line.startswith(seen) for line in found), found


def _trained(text: str) -> Record:
    record = train({"train.py": text})
    assert record.failure is None, record.output
    return record


def test_a_case_that_fails_does_not_compare_as_the_same() -> None:
    wrong = {"train.py": PLAIN.replace("self.layer(batch", "self.missing(batch")}
    with pytest.raises(AssertionError, match="AttributeError"):
        same(wrong, wrong)


def test_a_case_that_trains_nothing_does_not_compare_as_the_same() -> None:
    idle = {"train.py": PLAIN.replace("    trainer.fit", "    trainer.fit and print")}
    with pytest.raises(AssertionError, match="nothing was trained"):
        same(idle, idle)


def test_a_failure_has_its_place() -> None:
    failure = train({"train.py": PLAIN}, script=None, arguments=(4,)).failure
    assert failure is not None
    assert (failure.type, failure.place) == ("RuntimeError", "train.py:12")
    assert "shapes cannot be multiplied" in failure.message


def test_nothing_is_left_of_the_case_before() -> None:
    lasting = "import torch\ntorch.set_default_dtype(torch.float64)\ntorch.Tensor.pow = None\n" + PLAIN
    assert train({"train.py": lasting}).failure is not None
    assert _trained(PLAIN) == _trained(PLAIN)


def test_a_case_that_does_not_end_is_ended_and_the_next_one_served() -> None:
    failure = train({"train.py": "while True: pass"}, seconds=0.5).failure
    assert failure is not None and failure.type == "Ended"
    assert _trained(PLAIN).global_step == 6


@pytest.mark.parametrize("release", ["1.9.5", "target"])
def test_two_ranks_train_together(release: str) -> None:
    record = train({"train.py": TWO}, on=release, script=None, processes=2)
    assert record.failure is None, record.output
    (other,) = record.ranks
    assert other.failure is None, other.output
    assert (record.returned, other.returned) == ({"rank": 0, "ranks": 2}, {"rank": 1, "ranks": 2})
    assert record.losses != other.losses
    assert record.weights == other.weights
    assert [step.gradient for step in record.steps] == [step.gradient for step in other.steps]
