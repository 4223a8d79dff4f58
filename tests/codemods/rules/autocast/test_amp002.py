"""AMP002: stale weights, found, repaired and run."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemods.rules.autocast.amp002 import CLEARED, RULE
from tests.codemods.amp import after, levels, run_programs
from tests.codemods.support import rewritten, rule
from tests.training import Case, train_many

CODE = "AMP002"
CLEAR = f"torch.clear_autocast_cache()  # {CLEARED}"
GAN = RULE.examples[0].before
TRAINER = 'from lightning.pytorch import Trainer\n\ntrainer = Trainer(precision="bf16-mixed")\n'

LOOP = """import torch

net = trained(torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
x = torch.rand(4, 8)
with torch.autocast("cpu", dtype=torch.bfloat16):
    for turn in range(3):
        optimizer.zero_grad()
        loss = seen(net(x)).float().pow(2).mean()
        loss.backward()
        optimizer.step()
"""
EACH = LOOP.replace('with torch.autocast("cpu", dtype=torch.bfloat16):\n    for', "for").replace(
    "        loss = seen", '    with torch.autocast("cpu", dtype=torch.bfloat16):\n        loss = seen'
)
EACH = EACH.replace("        optimizer.zero_grad()", "    optimizer.zero_grad()").replace(
    "        loss.backward()\n        optimizer.step()", "    loss.backward()\n    optimizer.step()"
)
SWAP = """import copy
import torch

net = trained(torch.nn.Linear(8, 1))
average = copy.deepcopy(net)
x = torch.rand(4, 8)
with torch.no_grad():
    for value in average.parameters():
        value.add_(1.0)
with torch.autocast("cpu", dtype=torch.bfloat16):
    loss = seen(net(x)).float().mean()
    with torch.no_grad():
        for value, new in zip(net.parameters(), average.parameters()):
            value.data.copy_(new)
    loss = loss + seen(net(x)).float().mean()
loss.backward()
"""
LOADED = SWAP.replace(
    """    with torch.no_grad():
        for value, new in zip(net.parameters(), average.parameters()):
            value.data.copy_(new)
""",
    "    net.load_state_dict(average.state_dict())\n",
)


def test_plain_loops_compute_with_new_weights(tmp_path: Path) -> None:
    texts = {"stale": LOOP, "repaired": after(LOOP, CODE), "right": EACH}
    made = run_programs(texts, tmp_path)
    assert made["repaired"].forwards == made["right"].forwards
    assert made["stale"].forwards[0] == made["right"].forwards[0]
    assert made["stale"].forwards[1] == made["stale"].forwards[0]
    assert abs(made["stale"].forwards[1] - made["right"].forwards[1]) > 0.1
    assert after(EACH, CODE) == EACH


@pytest.mark.parametrize("text", [SWAP, LOADED], ids=["copy_", "load_state_dict"])
def test_swapped_weights_are_used(text: str, tmp_path: Path) -> None:
    made = run_programs({"stale": text, "repaired": after(text, CODE)}, tmp_path)
    first, second = made["stale"].forwards
    assert first == second
    first, second = made["repaired"].forwards
    assert second - first > 10


PROGRAM = (
    GAN.replace("opt_g = torch.optim.Adam(self.generator.parameters())", "opt_g = torch.optim.SGD(G, lr=0.5)")
    .replace("opt_c = torch.optim.Adam(self.critic.parameters())", "opt_c = torch.optim.SGD(C, lr=0.5)")
    .replace("SGD(G", "SGD(self.generator.parameters()")
    .replace("SGD(C", "SGD(self.critic.parameters()")
    + """

def main():
    data = torch.utils.data.DataLoader(torch.rand(6, 8), batch_size=2)
    pl.Trainer(max_epochs=1, precision="bf16-mixed", accelerator="cpu").fit(Gan(), data)


if __name__ == "__main__":
    main()
"""
)


def test_lightning_254_trains_on_stale_weights_and_does_not_when_repaired() -> None:
    """2.6.6 opens its region without a cache, so the plain program there is the reference."""
    repaired = after(PROGRAM, CODE)
    assert repaired.count(CLEAR) == 1
    cases = [
        (Case({"train.py": PROGRAM}), "2.5.4"),
        (Case({"train.py": repaired}), "2.5.4"),
        (Case({"train.py": PROGRAM}), "target"),
    ]
    stale, cleared, reference = train_many(cases)
    assert stale.failure is None and cleared.failure is None and reference.failure is None
    assert cleared.losses == pytest.approx(reference.losses, abs=0.01)
    assert stale.losses[0] == pytest.approx(reference.losses[0], abs=0.01)
    assert max(abs(a - b) for a, b in zip(stale.losses, reference.losses, strict=True)) > 0.1


BASE = """import lightning.pytorch as pl
import torch


class Base(pl.LightningModule):
    def update(self, optimizer, loss):
        optimizer.zero_grad()
        self.manual_backward(loss)
        optimizer.step()

    def configure_optimizers(self):
        opt_g = torch.optim.SGD(self.generator.parameters(), lr=0.5)
        return [opt_g, torch.optim.SGD(self.critic.parameters(), lr=0.5)], []
"""
DERIVED = (
    (
        PROGRAM[: PROGRAM.index("        opt_c.zero_grad()")]
        + """        self.update(opt_c, self.critic(fake.detach()).mean() - self.critic(batch).mean())
        self.update(opt_g, -self.critic(fake).mean())
"""
        + PROGRAM[PROGRAM.index("\n\ndef main():") :]
    )
    .replace("class Gan(pl.LightningModule)", "class Gan(base.Base)")
    .replace("import torch\n", "import base\nimport torch\n", 1)
)


def test_a_step_that_a_base_class_makes_is_repaired_in_its_file() -> None:
    files = {"base.py": BASE, "train.py": DERIVED}
    repaired = rewritten(files, rule(CODE))
    assert repaired == files | {"base.py": BASE.replace("step()\n", f"step()\n        {CLEAR}\n")}
    cases = [(Case(files), "2.5.4"), (Case(repaired), "2.5.4"), (Case(files), "target")]
    stale, cleared, reference = train_many(cases)
    assert stale.failure is None and cleared.failure is None and reference.failure is None
    assert cleared.losses == pytest.approx(reference.losses, abs=0.01)
    assert max(abs(a - b) for a, b in zip(stale.losses, reference.losses, strict=True)) > 0.1


@pytest.mark.parametrize(("pins", "found"), [((), 1), (("lightning<2.5.5",), 1), (("lightning>=2.5.5",), 0)])
def test_versions_of_lightnings_region(pins: tuple[str, ...], found: int) -> None:
    assert len(levels(GAN, CODE, *pins, fit=TRAINER)) == found


def test_every_torch() -> None:
    assert levels(LOOP, CODE, "torch==2.13.0") != []


SAM = """import torch
import lightning.pytorch as pl
from sam import SAM


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.net = torch.nn.Linear(8, 1)

    def training_step(self, batch, batch_idx):
        optimizer = self.optimizers()
        self.manual_backward(self.net(batch).mean())
        optimizer.first_step(zero_grad=True)
        self.manual_backward(self.net(batch).mean())
        optimizer.second_step(zero_grad=True)

    def configure_optimizers(self):
        return SAM(self.net.parameters(), torch.optim.SGD, lr=0.1)
"""


def test_the_ascent_step_of_sam() -> None:
    assert f"first_step(zero_grad=True)\n        {CLEAR}\n        self" in after(SAM, CODE, fit=TRAINER)


def test_an_optimizer_of_unknown_weights_is_not_certain() -> None:
    text = LOOP.replace("torch.optim.SGD(net.parameters(), lr=0.5)", "build(net)").replace(
        "import torch\n", "import torch\nfrom tools import build\n"
    )
    assert [level for _, level in levels(text + "net.parameters()\n", CODE)] in ([], ["unsafe"])


TRAPS: dict[str, str] = {
    "a region a step": EACH,
    "other weights": LOOP.replace("SGD(net.", "SGD(other.").replace("net = ", "other = torch.nn.Linear(2, 2)\nnet = "),
    "a scheduler": LOOP.replace("optimizer.step()", "schedule.step()"),
    "a gradient zeroed": LOOP.replace("        optimizer.step()\n", "        net.weight.grad.zero_()\n"),
    "an accumulated pass": LOOP.replace("        optimizer.step()\n", "    optimizer.step()\n"),
    "cleared by hand": LOOP + "        torch.clear_autocast_cache()\n",
    "no cache": LOOP.replace("dtype=torch.bfloat16", "cache_enabled=False"),
    "a tensor changed in place": LOOP.replace("        optimizer.step()\n", "        x.add_(1.0)\n"),
}


@pytest.mark.parametrize("text", TRAPS.values(), ids=TRAPS)
def test_trap_stays(text: str) -> None:
    assert levels(text, CODE) == []


def test_toggled_optimizers_stay() -> None:
    toggled = RULE.examples[2].before
    assert "toggle_optimizer" in toggled and levels(toggled, CODE, fit=TRAINER) == []


def test_full_precision_stays() -> None:
    assert levels(GAN, CODE, fit=TRAINER.replace("bf16-mixed", "32-true")) == []
    assert levels(GAN, CODE) == []


def test_a_generator_that_is_not_run_again_stays() -> None:
    found = levels(GAN, CODE, fit=TRAINER)
    assert [line for line, _ in found] == [GAN[: GAN.index("opt_c.step()")].count("\n") + 1]


WITHIN = 'with torch.autocast("cpu", dtype=torch.bfloat16):\n'
CHANGED = {
    "by a closure": LOOP.replace(
        """        optimizer.zero_grad()
        loss = seen(net(x)).float().pow(2).mean()
        loss.backward()
        optimizer.step()
""",
        """        def closure():
            optimizer.zero_grad()
            loss = seen(net(x)).float().pow(2).mean()
            loss.backward()
            return loss

        optimizer.step(closure)
""",
    ),
    "by hand": LOOP.replace(
        "        optimizer.step()\n",
        "        with torch.no_grad():\n            for value in net.parameters():\n"
        "                value -= 0.5 * value.grad\n",
    ),
    "in a function, by an optimizer of the file": LOOP.replace(WITHIN, f"\n\ndef train():\n    {WITHIN}").replace(
        "    for turn in range(3):\n        optimizer.zero_grad()\n        loss = seen(net(x)).float().pow(2).mean()\n"
        "        loss.backward()\n        optimizer.step()\n",
        "        for turn in range(3):\n            optimizer.zero_grad()\n"
        "            loss = seen(net(x)).float().pow(2).mean()\n            loss.backward()\n"
        "            scaler.step(optimizer)"
        "\n\n\nscaler = torch.amp.GradScaler('cpu', enabled=False)\ntrain()\n",
    ),
}

CHANGED["by a closure that is named"] = CHANGED["by a closure"].replace("step(closure)", "step(closure=closure)")


def test_more_ways_to_change_weights(tmp_path: Path) -> None:
    repaired = {f"{name}, repaired": after(text, CODE) for name, text in CHANGED.items()}
    made = run_programs({**CHANGED, **repaired, "each": EACH}, tmp_path)
    for name in CHANGED:
        assert made[name].failure is None and len(set(made[name].forwards)) == 1
        assert made[f"{name}, repaired"].forwards == made["each"].forwards


def test_a_loop_over_parameters_is_followed_by_one_line() -> None:
    made = after(SWAP, CODE)
    assert f"            value.data.copy_(new)\n        {CLEAR}\n    loss = loss" in made
