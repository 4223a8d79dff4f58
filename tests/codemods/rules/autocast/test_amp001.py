"""AMP001: where the cache is cleared, where a region is split, and on which versions."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemods.rules.autocast.amp001 import CLEARED, SPLIT
from tests.codemods.amp import BARE, METHOD, NET, POISONED, SCRIPT, after, amp, levels, run_programs
from tests.codemods.support import rule, run_rules

CODE = "AMP001"
CLEAR = f"torch.clear_autocast_cache()  # {CLEARED}"
LIGHTNING = """import pytorch_lightning as pl
import torch
from torch import nn


class Clip(pl.LightningModule):
    def __init__(self, rate):
        super().__init__()
        self.image, self.text = None, None
        self.image = nn.Linear(8, 8)

    def training_step(self, batch, batch_idx):
        with torch.no_grad():
            targets = [self.image(part) for part in batch]
        loss = 0.0
        for part, target in zip(batch, targets):
            loss = loss + (self.image(part) - target).pow(2).mean()
        return loss
"""
TRAINER = "from pytorch_lightning import Trainer\n\ntrainer = Trainer(precision={})\n"


@pytest.mark.parametrize("name", POISONED)
def test_every_poisoned_program_is_repaired_once(name: str) -> None:
    text = POISONED[name]
    made = after(text, CODE)
    assert made.count("clear_autocast_cache()") + made.count(SPLIT) == 1
    assert after(made, CODE) == made


def test_forwards_compute_what_they_did(tmp_path: Path) -> None:
    repaired = {f"{name}, repaired": after(text, CODE) for name, text in POISONED.items()}
    made = run_programs({**POISONED, **repaired}, tmp_path)
    for name in POISONED:
        old, new = made[name], made[f"{name}, repaired"]
        assert new.failure is None and new.without == []
        assert len(new.forwards) == 2 and new.forwards == old.forwards


def test_a_script_gets_two_regions() -> None:
    made = after(NET + SCRIPT, CODE)
    assert (
        f'        target = seen(net(x))\n# {SPLIT}\nwith torch.autocast("cpu", dtype=torch.bfloat16):\n    loss' in made
    )
    assert "clear_autocast_cache" not in made


FUNCTION = """import torch

net = torch.nn.Linear(8, 8)


def step(x):
    with torch.autocast("cpu"):
        with torch.no_grad():
            target = net(x)
        return (net(x + 1) - target).pow(2).mean()


def main():
    step(torch.rand(4, 8)).backward()


if __name__ == "__main__":
    main()
"""


def test_a_function_that_only_its_script_calls_is_split() -> None:
    assert SPLIT in after(FUNCTION + "\n\nnet.parameters()\n", CODE)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("def main():\n", 'def main():\n    with torch.autocast("cpu"):\n        step(torch.rand(4, 8))\n'),
        ("def main():\n", "def main():\n    run = step\n"),
        ("def step", "@torch.compile\ndef step"),
    ],
)
def test_a_function_that_may_run_in_a_region_is_cleared(old: str, new: str) -> None:
    made = after(FUNCTION.replace(old, new, 1) + "\n\nnet.parameters()\n", CODE)
    assert CLEAR in made and SPLIT not in made


def test_a_function_that_another_file_names_is_cleared() -> None:
    made = after(FUNCTION + "\n\nnet.parameters()\n", CODE, other="from model import step\n")
    assert CLEAR in made and SPLIT not in made


def test_the_line_stands_behind_the_call_of_the_helper() -> None:
    made = after(NET + METHOD, CODE)
    assert f"        target = self.history(x)\n        {CLEAR}\n        return" in made


def test_the_import_is_added() -> None:
    text = LIGHTNING.replace("import torch\nfrom torch import nn", "from torch import nn, no_grad").replace(
        "torch.no", "no"
    )
    made = after(text, CODE, fit=TRAINER.format(16))
    assert "import torch\n" in made and CLEAR in made


@pytest.mark.parametrize("precision", ["16", '"16"', '"16-mixed"', '"bf16"', '"bf16-mixed"', "16 if args.half else 32"])
def test_lightning_opens_a_region(precision: str) -> None:
    made = after(LIGHTNING, CODE, fit=TRAINER.format(precision))
    assert f"for part in batch]\n        {CLEAR}\n" in made


@pytest.mark.parametrize(
    ("text", "changed"),
    [
        ("trainer:\n  precision: 16-mixed\n", True),
        ("trainer:\n  precision: 'bf16'\n", True),
        ("trainer:\n  precision: 16-true\n", False),
        ("trainer:\n  # precision: 16\n  devices: 1\n", False),
    ],
)
def test_lightning_asked_in_yaml(text: str, changed: bool) -> None:
    made = run_rules({"model.py": LIGHTNING, "conf/trainer.yaml": text}, rule(CODE))
    assert bool(made.changes) is changed


def test_a_precision_of_the_command_line_is_not_certain() -> None:
    assert levels(LIGHTNING, CODE, fit=TRAINER.format("args.precision")) == [(13, "unsafe")]
    assert CLEAR in after(LIGHTNING, CODE, unsafe=True, fit=TRAINER.format("args.precision"))


@pytest.mark.parametrize(
    ("pins", "changed"),
    [
        (("torch>=2.11",), False),
        (("torch==2.13.0",), False),
        (("torch==2.10.0+cu128",), True),
        (("torch>=2.1",), True),
        (("torch",), True),
        (("torch==1.13.1", "pytorch-lightning==1.9.5"), True),
        (("lightning>=2.5.5",), False),
        (("pytorch-lightning==2.6.6", "torch==2.5.0"), False),
        (("lightning<2.5.5",), True),
        (("lightning>=2.0,!=2.6.2,!=2.6.3",), True),
    ],
)
def test_versions_of_lightnings_region(pins: tuple[str, ...], changed: bool) -> None:
    assert (after(LIGHTNING, CODE, *pins, fit=TRAINER.format(16)) != LIGHTNING) is changed


def test_a_region_of_the_users_own_caches_on_every_lightning() -> None:
    text = NET + METHOD
    assert after(text, CODE, "lightning==2.6.6") != text
    assert after(text, CODE, "lightning==2.6.6", "torch==2.11.0") == text


@pytest.mark.parametrize(
    "opened",
    [
        'torch.amp.autocast("cuda")',
        "torch.cuda.amp.autocast()",
        "torch.cpu.amp.autocast(enabled=flag)",
        "fabric.autocast()",
        "amp()",
    ],
)
def test_every_way_to_open_a_region(opened: str) -> None:
    text = f"""import contextlib
import torch
from lightning.fabric import Fabric
from torch import nn

net = nn.Linear(8, 8)


def train(x, flag):
    fabric = Fabric()
    amp = torch.cuda.amp.autocast if flag else contextlib.nullcontext
    with {opened}:
        with torch.no_grad():
            target = net(x)
        return net(x + 1) - target


optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
"""
    assert [level for _, level in levels(text, CODE)] == ["safe"]


def test_a_step_inherited_in_the_same_file() -> None:
    text = LIGHTNING + "\n\nclass Other(Clip):\n    def training_step(self, batch, batch_idx):\n"
    text += "        return super().training_step(batch, batch_idx)\n"
    made = amp(text, CODE, fit=TRAINER.format(16))
    assert [item.span.line for item in made.findings] == [13]


def test_no_line_can_follow_a_return() -> None:
    text = NET + METHOD.replace(
        "        target = self.history(x)\n        return (seen(self.net(x + 1)) - target)",
        "        return (self.history(x) - seen(self.net(x + 1)))",
    )
    assert [level for _, level in levels(text, CODE)] == ["manual"]


def test_a_block_that_a_break_leaves_is_left_to_a_person() -> None:
    text = BARE + SCRIPT.replace(
        "    with torch.no_grad():\n        target = seen(net(x))\n",
        "    for _ in range(3):\n        with torch.no_grad():\n            target = net(x)\n"
        "            if target.sum() > 0:\n                break\n",
    )
    assert [level for _, level in levels(text, CODE)] == ["manual"]


DECORATED_TWICE = """

class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = Net()
        self.b = Net()

    @torch.no_grad()
    def first(self, x):
        return self.a(x)

    @torch.no_grad()
    def second(self, x):
        return self.b(x)

    @torch.autocast("cuda")
    def forward(self, x):
        one = self.first(x)
        two = self.second(x)
        return self.a(x) + self.b(x) - one - two
"""


def test_two_helpers_in_a_row_need_one_line() -> None:
    text = NET + DECORATED_TWICE
    assert after(text, CODE).count("clear_autocast_cache") == 1


FLAGGED = """

class Flagged(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 8)
        self.b = nn.Linear(8, 8)

    def encode(self, x, second=False):
        return self.b(x) if second else self.a(x)

    @torch.autocast("cuda")
    def forward(self, x):
        with torch.no_grad():
            target = self.encode(x) + self.encode(x, second=True)
        return self.encode(x, second=True) - target
"""


def test_flags_of_helpers_are_followed() -> None:
    message = amp(NET + FLAGGED, CODE).findings[0].message
    assert "`self.b`" in message and "`self.a`" not in message


READY = """import torch
from lightning.fabric import Fabric
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = nn.Linear(4, 4)
        self.drop = nn.Dropout()

    def forward(self, x):
        return self.part(x)


{head}
    for x in data:
        with fabric.autocast():
            with torch.no_grad():
                target = {call}(x)
            loss = ({call}(x) - target).sum()
        fabric.backward(loss)
"""
BUILT = 'def train(data):\n    fabric = Fabric(precision="bf16-mixed")\n    model = '
PAIR = "def train(fabric: Fabric, data, optimizer):\n    model, optimizer = fabric.setup(Net(), optimizer)"


@pytest.mark.parametrize(
    ("head", "call", "found"),
    [
        (f"{BUILT}fabric.setup(Net())", "model", 1),
        (f"{BUILT}fabric.setup(Net())", "model.part", 1),
        (f"{BUILT}Net()", "model.part", 1),
        (f"{BUILT}Net()", "model.drop", 0),
        (PAIR, "model", 1),
        (PAIR, "model.part", 1),
        (PAIR.replace("fabric: Fabric, data", "data, fabric: Fabric"), "model.part", 1),
        (PAIR.replace(": Fabric", ""), "model.part", 0),
    ],
)
def test_what_fabric_makes_ready_is_followed(head: str, call: str, found: int) -> None:
    text = READY.format(head=head, call=call)
    made = after(text, CODE)
    assert made.count("clear_autocast_cache()") + made.count(SPLIT) == found
    assert after(made, CODE) == made
