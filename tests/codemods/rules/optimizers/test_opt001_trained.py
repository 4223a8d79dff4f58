"""OPT001, executed: the old text on Lightning 1.9.5 and the rewritten one on the target train the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.codemods.gan_programs import (
    OTHER,
    SCALER,
    SHARED,
    SKIPPED,
    STEP,
    STEPPED,
    THREE,
    WITH_THIRD,
    both,
    changed,
    configured,
    program,
)
from tests.training import assert_same, train

ORDERED = """\
def training_step(self, batch, batch_idx, optimizer_idx):
    if optimizer_idx == 0:
        output = OrderedDict({"loss": self.g_loss(batch), "log": {}})
        return output
    if optimizer_idx == 1:
        output = OrderedDict({"loss": self.d_loss(batch), "log": {}})
        return output
"""
MIXED = '''\
def training_step(self, batch, batch_idx, optimizer_idx=None):
    """The results of the two are not of one kind."""
    self.log("step", float(self.global_step))
    if not optimizer_idx:
        return self.g_loss(batch)
    return {"loss": self.d_loss(batch), "global_step": self.global_step}
'''
HANDED = """\
def losses(self, batch, index):
    return [self.g_loss, self.d_loss][index](batch)

def training_step(self, batch, batch_idx, optimizer_idx):
    return self.losses(batch, optimizer_idx)
"""
AGENT = """\
class Agent:
    def losses(self, model, batch, index, odd):
        loss = model.g_loss(batch) if index == 0 else model.d_loss(batch) if odd else None
        return loss, {}


class GAN"""
ASKED = """\
agent = Agent()

def training_step(self, batch, batch_idx, optimizer_idx):
    loss, info = self.agent.losses(self, batch, optimizer_idx, batch_idx % 2)
    return loss
"""
STARRED = """\
def training_step(
    self, batch, batch_idx, optimizer_idx, *args, **kwargs
):
    assert not (args or kwargs)
    return self.g_loss(batch) if optimizer_idx == 0 else self.d_loss(batch)
"""
SHAPES = {
    "if and elif": program(),
    "more that nobody gives": program(STARRED),
    "prefix shared, same key logged twice": program(SHARED),
    "default None, results of two kinds": program(MIXED),
    "ordered dicts": {path: f"from collections import OrderedDict\n{text}" for path, text in program(ORDERED).items()},
    "index passed on": program(HANDED),
    "a tuple of optimizers": program(configure=configured("g, d")),
    "three of them": program(THREE, configured("[g, d, t]", WITH_THIRD)),
    "a step left out": program(SKIPPED),
    "a step left out by what is handed the index": {
        path: text.replace("class GAN", AGENT, 1) for path, text in program(ASKED).items()
    },
    "a number that varies": program(
        configure=configured("optimizers", "optimizers = [g]\nif hasattr(self, 'third'):\n    optimizers.append(d)\n")
    ),
    "turns": program(configure=configured('({"optimizer": g, "frequency": 1}, {"optimizer": d, "frequency": 2})')),
    "turns by a name": program(
        configure=configured(
            '({"optimizer": g, "frequency": 1}, {"optimizer": d, "frequency": n_critic})', "n_critic = 2\n"
        )
    ),
    "turns of the instance": program(
        configure=configured(
            '({"optimizer": g, "frequency": 1}, {"optimizer": d, "frequency": n})', "n = self.times\n"
        ),
        more="times = 3\n",
    ),
    "turns of three": program(
        THREE,
        configured(
            '[{"optimizer": g, "frequency": 2}, {"optimizer": d, "frequency": 1}, {"optimizer": t, "frequency": 1}]',
            WITH_THIRD,
        ),
    ),
}


@pytest.mark.parametrize("files", SHAPES.values(), ids=SHAPES.keys())
def test_shapes(files: dict[str, str]) -> None:
    both(files)


def test_a_name_that_only_held_a_frequency_goes_with_it() -> None:
    after = changed(SHAPES["turns by a name"])["train.py"]
    assert "turns = [0] * 1 + [1] * 2" in after
    assert "n_critic" not in after
    again = configured(
        '({"optimizer": g, "frequency": 1}, {"optimizer": d, "frequency": n})', "n = 2\nprint('every', n)\n"
    )
    assert "n = 2" in changed(program(configure=again))["train.py"]


@pytest.mark.parametrize("name", ["prefix shared, same key logged twice", "turns", "a step left out"])
def test_shapes_on_an_older_release(name: str) -> None:
    both(SHAPES[name], release="1.8.6")


PLATEAU = "torch.optim.lr_scheduler.ReduceLROnPlateau(g, patience=0, threshold=10.0)"
VALIDATES = """\
def validation_step(self, batch, batch_idx):
    self.log("val_loss", self.discriminator(batch).pow(2).mean())
"""
VAL = ", torch.utils.data.DataLoader(torch.randn(4, 3), batch_size=2)"
SCHEDULED = {
    "every epoch": program(configure=configured(f"[g, d], [{STEPPED}, {OTHER}]")),
    "one alone": program(configure=configured(f"[g, d], [{STEPPED}]")),
    "every step": program(
        configure=configured(
            f'[g, d], [{{"scheduler": {STEPPED}, "interval": "step"}}, {{"scheduler": {OTHER}, "interval": "step"}}]'
        )
    ),
    "one every second step, one every epoch": program(
        configure=configured(f'[g, d], [{{"scheduler": {STEPPED}, "interval": "step", "frequency": 2}}, {OTHER}]')
    ),
    "every second epoch": program(configure=configured(f'[g, d], [{{"scheduler": {STEPPED}, "frequency": 2}}]')),
    "in the optimizers' dicts": program(
        configure=configured(
            f'[{{"optimizer": g, "lr_scheduler": {STEPPED}}}, {{"optimizer": d, "lr_scheduler": {{"scheduler": {OTHER},'
            ' "interval": "step"}}]'
        )
    ),
    "some runs have none": program(
        configure=configured("[g, d], schedulers", f"schedulers = []\nif self.third:\n    schedulers = [{STEPPED}]\n")
    ),
    "on a plateau, beside another": program(
        configure=configured(f'[g, d], [{{"scheduler": {PLATEAU}, "monitor": "val_loss"}}, {OTHER}]'),
        more=VALIDATES,
        validation=VAL,
    ),
    "on a plateau of a training metric": program(
        configure=configured(f'[g, d], [{{"scheduler": {PLATEAU}, "monitor": "g_loss_epoch"}}]')
    ),
    "on a plateau, with a hook there": program(
        configure=configured(f'[g, d], [{{"scheduler": {PLATEAU}, "monitor": "val_loss"}}]'),
        more=VALIDATES + '\ndef on_train_epoch_end(self):\n    self.log("seen", 1.0)\n',
        validation=VAL,
    ),
    "with part of the batches": program(
        configure=configured(f"[g, d], [{STEPPED}, {OTHER}]"), trainer="limit_train_batches=3"
    ),
}


@pytest.mark.parametrize("files", SCHEDULED.values(), ids=SCHEDULED.keys())
def test_schedulers(files: dict[str, str]) -> None:
    old, _ = both(files)
    assert len({step.rates for step in old.steps}) > 1


def test_subclass_that_extends_the_step() -> None:
    files = program(more="\n\nX = 1\n")
    text = files["train.py"].replace("    X = 1\n", "").replace("trainer.fit(GAN()", "trainer.fit(Child()")
    child = """\
class Child(GAN):
    def training_step(self, batch, batch_idx, optimizer_idx):
        loss = super().training_step(batch, batch_idx, optimizer_idx)
        if optimizer_idx == 0:
            self.log("child", loss)
        return loss


def main"""
    both({"train.py": text.replace("def main", child)})


def test_with_the_old_text_the_target_refuses() -> None:
    broken = train(program())
    assert broken.failure is not None
    assert "optimizer_idx" in broken.failure.message


def test_differences_would_be_seen() -> None:
    old = train(program(SHARED), on="1.9.5")
    other = train(changed(program()))
    with pytest.raises(AssertionError):
        assert_same(old, other, 1e-6)


def test_step_of_none_is_skipped_under_a_scaler() -> None:
    files = program(SKIPPED, trainer="precision=16")
    text = changed(files, "unsafe")["train.py"].replace("precision=16", SCALER)
    text = text.replace(
        "import torch\n", "import torch\nfrom pytorch_lightning.plugins.precision import MixedPrecision\n", 1
    )
    assert train({"train.py": text}).failure is None


def test_optimizers_that_share_weights_see_the_new_ones_where_autocast_caches() -> None:
    """Weights of one optimizer alone are never stale: the others' turns find them without gradient, uncached."""
    step = STEP.replace("self.g_loss(batch)", "self.discriminator(self.generator(batch)).pow(2).mean()").replace(
        "self.d_loss(batch)", "self.discriminator(self.generator(batch)).mean()"
    )
    shared = configured("[g, s], []", "s = torch.optim.SGD(self.generator.parameters(), lr=0.1)\n")
    text = changed(program(step, shared, trainer='precision="bf16-mixed"'))["train.py"]
    stale = text.replace("torch.clear_autocast_cache()", "pass")
    assert stale != text
    right = train({"train.py": text}).losses
    assert train({"train.py": text}, on="2.5.4").losses == pytest.approx(right, abs=1e-6)
    assert train({"train.py": stale}, on="2.5.4").losses != pytest.approx(right, abs=1e-3)


@pytest.mark.parametrize("trainer", ["", ", accumulate_grad_batches=2"])
def test_ranks_hold_the_same_weights(trainer: str) -> None:
    files = program(THREE, configured("[g, d, t]", WITH_THIRD))
    text = changed({"train.py": files["train.py"].replace("max_epochs=2", f"max_epochs=2{trainer}")})["train.py"]
    text = text.replace(
        "max_epochs=2", 'max_epochs=2, devices=2, accelerator="cpu", strategy="ddp_find_unused_parameters_true"'
    )
    made = train({"train.py": text}, processes=2)
    assert made.failure is None, made.output
    other = made.ranks[0]
    assert made.weights == other.weights
    assert [step.gradient for step in made.steps] == pytest.approx([step.gradient for step in other.steps], abs=1e-6)
    assert made.losses != other.losses


SAVED = """\
def save(path):
    model = GAN()
    trainer = Trainer(max_epochs=1, gradient_clip_val=0.05)
    trainer.fit(model, torch.utils.data.DataLoader(torch.randn(10, 3), batch_size=2))
    trainer.save_checkpoint(path)
    return {name: value.tolist() for name, value in model.state_dict().items()}


def load(path):
    return {name: value.tolist() for name, value in GAN.load_from_checkpoint(path).state_dict().items()}


def main"""


def test_an_old_checkpoint_loads(tmp_path: Path) -> None:
    """Into the same keys; nothing that the loop needs has to stand in it."""
    before = {"train.py": program(trainer="gradient_clip_val=0.05")["train.py"].replace("def main", SAVED)}
    path = str(tmp_path / "old.ckpt")
    old = train(before, on="1.9.5", script=None, module="train", function="save", arguments=(path,))
    new = train(changed(before), script=None, module="train", function="load", arguments=(path,))
    assert (old.failure, new.failure) == (None, None)
    assert old.returned and new.returned == old.returned
