"""TBP001: what trained on Lightning 1.x trains the same after the rewrite, chunk by chunk."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.codemods.chunk_programs import CLIPPED, FLAG, GAN_STEP, INIT, MAIN, SGD, STEP, TWO, both, optimizers, program
from tests.codemods.support import rewritten, rule, run_rules
from tests.training import same, train

TBP = rule("TBP001")


def samples(collate: str) -> str:
    return f"""

def collate(samples):
    {collate}


def loader():
    return DataLoader([(torch.rand(10, 1), torch.rand(10, 1)) for _ in range(6)], batch_size=2, collate_fn=collate)
"""


LSTMS = """\
        self.one = torch.nn.LSTM(1, 3, batch_first=True)
        self.two = torch.nn.LSTM(1, 3, batch_first=True)
        self.head = torch.nn.Linear(6, 1)
"""
NESTED = """
    def training_step(self, batch, batch_idx, state=None):
        first, second = state if state is not None else (None, None)
        one, first = self.one(batch[0], first)
        two, second = self.two(batch[0], second)
        loss = F.mse_loss(self.head(torch.cat([one, two], -1)), batch[1])
        return dict(loss=loss, hiddens=(tuple(part.detach() for part in first), second))
"""
LIST_STEP = STEP.replace(
    "        x, y = batch\n", "        x, rows = batch\n        y = torch.stack([row * 1 for row in rows])\n"
)
LIST_LOADER = samples("return torch.stack([x for x, _ in samples]), [y for _, y in samples]")
HELPER_STEP = """
    def training_step(self, batch, batch_idx, hiddens):
        loss, hiddens = self.compute_loss(batch, hiddens)
        return {"loss": loss, "hiddens": hiddens}

    def compute_loss(self, batch, hiddens):
        raise NotImplementedError
"""
CHILD = """

class Model(Base):
    def __init__(self, width=3):
        super().__init__()
        self.truncated_bptt_steps = width

    def compute_loss(self, batch, hiddens):
        x, y = batch
        out, hiddens = self.rnn(x, hiddens)
        return F.mse_loss(self.head(out), y), hiddens
"""
PROPERTY = """\
    def __init__(self, steps=3):
        super().__init__()
        self.save_hyperparameters()
        self.rnn = torch.nn.GRU(1, 3, batch_first=True)
        self.head = torch.nn.Linear(3, 1)

    @property
    def truncated_bptt_steps(self):
        return self.hparams.steps
"""
SCHEDULED = optimizers(
    "optimizer = torch.optim.SGD(self.parameters(), lr=0.1)",
    "scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)",
    'return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "interval": "step", "frequency": 2}}',
)
GROWN = optimizers(
    "optimizers, schedulers = [torch.optim.SGD(self.parameters(), lr=0.1)], []",
    "schedulers.append(torch.optim.lr_scheduler.ExponentialLR(optimizers[0], 0.5))",
    "return optimizers, schedulers",
)
VALIDATED = """
    def validation_step(self, batch, batch_idx):
        x, y = batch
        self.log("val", F.mse_loss(self.head(self.rnn(x)[0]), y))
"""
WAITING = optimizers(
    "optimizer = torch.optim.SGD(self.parameters(), lr=0.1)",
    "scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, threshold=0.5)",
    'return {"optimizer": optimizer, "lr_scheduler": {"scheduler": scheduler, "monitor": "val"}}',
)
NESTED_GAN = NESTED.replace("batch_idx, state=None", "batch_idx, optimizer_idx, state").replace(
    "batch[1])\n", "batch[1]) * (optimizer_idx + 1)\n"
)
TWO_SCHEDULED = optimizers(
    "one = torch.optim.SGD([*self.one.parameters(), *self.head.parameters()], lr=0.1)",
    "two = torch.optim.Adam(self.two.parameters(), lr=0.02)",
    "slow = torch.optim.lr_scheduler.StepLR(one, 1, 0.5)",
    "quick = torch.optim.lr_scheduler.ExponentialLR(two, 0.9)",
    'return [one, two], [slow, {"scheduler": quick, "interval": "step"}]',
)

PROGRAMS = {
    "one tensor": program(INIT, STEP, SGD),
    "clipped": program(INIT, STEP, SGD, main=CLIPPED),
    "list of samples": program(INIT, LIST_STEP, SGD, loader=LIST_LOADER),
    "loss in a subclass with a constructor": program(
        INIT, HELPER_STEP, SGD, CHILD, head="class Base(LightningModule):\n"
    ),
    "a property": program(PROPERTY, STEP, SGD),
    "flag from outside": program(
        INIT.replace("        self.truncated_bptt_steps = 4\n", ""),
        STEP,
        SGD,
        main=MAIN.replace(
            "    trainer.fit(Model(), loader())",
            "    model = Model()\n    model.truncated_bptt_steps = 3\n    trainer.fit(model, loader())",
        ),
    ),
    "chunk written to": program(
        INIT, STEP.replace("        x, y = batch\n", "        batch[0] = batch[0] * 2\n        x, y = batch\n"), SGD
    ),
    "two optimizers": program(INIT, GAN_STEP, TWO),
    "two optimizers, clipped": program(INIT, GAN_STEP, TWO, main=CLIPPED),
    "scheduler every second batch": program(INIT, STEP, SCHEDULED),
    "scheduler every epoch, grown list": program(INIT, STEP, GROWN),
    "waiting for a metric": program(
        INIT,
        STEP,
        VALIDATED,
        WAITING,
        main=MAIN.replace("loader())", "loader(), loader())").replace("max_epochs=2", "max_epochs=4"),
    ),
    "two optimizers with schedulers, nested": program(
        "    def __init__(self):\n", FLAG, LSTMS, NESTED_GAN, TWO_SCHEDULED
    ),
}


@pytest.mark.parametrize("files", PROGRAMS.values(), ids=PROGRAMS.keys())
def test_trains_as_it_did(files: dict[str, str]) -> None:
    old, new = both(files)
    assert len(old.logged) == len(new.logged)
    for (step, was), (now, value) in zip(old.logged, new.logged, strict=True):
        assert step == now
        assert dict(value) == pytest.approx(dict(was), abs=1e-6)


@pytest.mark.parametrize("name", ["one tensor", "two optimizers, clipped"])
def test_trains_as_it_did_on_1_8_6(name: str) -> None:
    same(PROGRAMS[name], rewritten(PROGRAMS[name], TBP), old="1.8.6")


@pytest.mark.parametrize("release", ["2.5.4", "target"])
def test_every_chunk_sees_the_weights_that_the_one_before_left(release: str) -> None:
    """2.5.4 caches half-precision weights for the whole training step; clearing the cache is what differs here."""
    main = MAIN.replace("max_epochs=2", "max_epochs=2, precision='bf16-mixed'")
    after = rewritten(program(INIT, STEP, SGD, main=main), TBP)
    assert "torch.clear_autocast_cache()" in after["train.py"]
    mixed = train(after, release)
    full = train({"train.py": after["train.py"].replace("'bf16-mixed'", "32")}, release)
    assert mixed.failure is None and full.failure is None
    assert mixed.losses == pytest.approx(full.losses, abs=0.02)


SAVED = """

def save(path):
    model = Model()
    trainer = Trainer(max_epochs=1, gradient_clip_val=0.05)
    trainer.fit(model, loader())
    trainer.save_checkpoint(path)
    return {name: value.tolist() for name, value in model.state_dict().items()}


def load(path):
    return {name: value.tolist() for name, value in Model.load_from_checkpoint(path).state_dict().items()}


def resume(path):
    trainer = Trainer(max_epochs=2, gradient_clip_val=0.05)
    trainer.fit(Model(), loader(), ckpt_path=path)
    return trainer.global_step
"""


def test_an_old_checkpoint_loads_and_resumed_starts_to_count_anew(tmp_path: Path) -> None:
    """Into the same keys; nothing that the loop needs has to stand in it. The reason of the finding says what a
    resumed run counts."""
    before = program(INIT, STEP, SGD, main=SAVED)
    after = rewritten(before, TBP)
    assert any("restarts global_step at 0" in item.reason for item in run_rules(before, TBP).findings)
    how = {"script": None, "module": "train", "arguments": (str(tmp_path / "old.ckpt"),)}
    old = train(before, on="1.9.5", function="save", **how)
    new = train(after, function="load", **how)
    assert (old.failure, new.failure) == (None, None)
    assert old.returned and new.returned == old.returned
    resumed = train(after, function="resume", **how)
    assert resumed.failure is None
    assert (old.global_step, resumed.returned) == (9, 9)
