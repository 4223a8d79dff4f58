"""AMP001 and AMP002 through modules and functions of other files, of which it matters which weights they use."""

from __future__ import annotations

import pytest

from codemods.engine.plan import Plan
from codemods.rules.autocast.amp001 import CLEARED
from codemods.rules.autocast.amp002 import CLEARED as RENEWED
from tests.codemods.support import rule, run_rules

CLEAR = f"torch.clear_autocast_cache()  # {CLEARED}"
RENEW = f"torch.clear_autocast_cache()  # {RENEWED}"
FIT = "from pytorch_lightning import Trainer\nfrom model import Model\n\nTrainer(precision=16).fit(Model(), loader)\n"
NET = """import torch
import torch.nn.functional as F
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(8, 8)
        self.left = nn.Linear(8, 8)
        self.right = nn.Linear(8, 8)
{init}
    def encode(self, x):
        return {encode}

    def decode(self, x):
        return {decode}

    def forward(self, x):
        return {forward}
"""
MODEL = """import pytorch_lightning as pl
import torch
from pkg.net import Net


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = Net()

    def training_step(self, batch, batch_idx):
        with torch.no_grad():
            target = {first}
        return ({second} - target).pow(2).mean()
"""
SHARED = {"encode": "self.left(self.trunk(x))", "decode": "self.right(self.trunk(x))", "forward": "self.decode(x)"}
APART = SHARED | {"encode": "self.left(x)"}


def net(init: str = "", **methods: str) -> str:
    return NET.format(init=f"        {init}\n" if init else "", **(SHARED | methods))


def run(model: str, code: str = "AMP001", **files: str) -> Plan:
    every = {"model.py": model, "fit.py": FIT, "pkg/__init__.py": ""}
    made = run_rules(every | {f"pkg/{name}.py": text for name, text in files.items()}, rule(code))
    assert made.bugs == ()
    return made


def after(path: str, model: str, code: str = "AMP001", **files: str) -> str:
    made = run(model, code, **files)
    assert list(made.final()) == [path]
    return made.final()[path].decode()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("self.net.encode(batch)", "self.net.decode(batch)"),
        ("self.net.encode(batch)", "self.net(batch)"),
        ("self.net(batch)", "self.net(batch)"),
        ("self.net.trunk(batch)", "self.net.encode(batch)"),
        ("self.net.trunk.forward(batch)", "self.net.forward(batch)"),
    ],
)
def test_two_methods_of_a_module_share_its_layers(first: str, second: str) -> None:
    model = MODEL.format(first=first, second=second)
    made = run(model, net=net())
    assert [(item.path, item.fix) for item in made.findings] == [("model.py", "safe")]
    expected = model.replace("        return (", f"        {CLEAR}\n        return (")
    assert made.final()["model.py"].decode() == expected
    assert "with gradient at line 14" in made.findings[0].message


@pytest.mark.parametrize(
    ("first", "second", "init"),
    [
        ("self.net.encode(batch)", "self.net.decode(batch)", ""),
        ("self.net.left(batch)", "self.net.decode(batch)", ""),
        ("self.net.encode(batch)", "self.net(batch)", ""),
        ("self.net.right(batch)", "self.net.decode(batch)", "self.right.requires_grad_(False)"),
    ],
)
def test_methods_that_share_nothing_that_trains(first: str, second: str, init: str) -> None:
    made = run(MODEL.format(first=first, second=second), net=net(init, **APART))
    assert made.findings == () and made.changes == ()


def test_what_a_method_of_the_module_may_freeze_is_a_doubt() -> None:
    frozen = net() + "\n    def fix(self):\n        self.trunk.requires_grad_(False)\n"
    made = run(MODEL.format(first="self.net.encode(batch)", second="self.net.decode(batch)"), net=frozen)
    assert [(item.path, item.fix) for item in made.findings] == [("model.py", "unsafe")]
    assert "pkg/net.py:" in made.findings[0].reason


def test_a_module_that_uses_its_parameters_itself_is_one_whole() -> None:
    raw = net("self.weight = nn.Parameter(torch.rand(8, 8))", forward="F.linear(x, self.weight)")
    assert CLEAR in after("model.py", MODEL.format(first="self.net(batch)", second="self.net(batch)"), net=raw)


def test_a_module_without_weights_is_nothing() -> None:
    bare = "from torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return x * 2\n"
    assert run(MODEL.format(first="self.net(batch)", second="self.net(batch)"), net=bare).findings == ()


INSIDE = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.Linear(8, 8)

    def forward(self, x):
        with torch.no_grad():
            target = self.trunk(x)
        return self.trunk(x + 1) - target
"""
PLAIN = MODEL.replace("        with torch.no_grad():\n            target = {first}\n", "").replace(
    "({second} - target)", "self.net(batch)"
)


def test_both_inside_a_module_are_cleared_in_its_file() -> None:
    assert after("pkg/net.py", PLAIN, net=INSIDE) == INSIDE.replace(
        "        return", f"        {CLEAR}\n        return"
    )


def test_a_module_that_no_step_in_mixed_precision_uses_stays() -> None:
    other = PLAIN.replace("from pkg.net import Net", "from pkg.bare import Net")
    bare = "from torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n        return x * 2\n"
    assert run(other, net=INSIDE, bare=bare).findings == ()


HELPER = """import torch


@torch.no_grad()
def targets(net, batch):
    return net(batch)
"""


@pytest.mark.parametrize(
    ("imported", "called"),
    [("from pkg.tools import targets", "targets"), ("from pkg import tools", "tools.targets")],
)
def test_a_function_of_another_file_is_followed(imported: str, called: str) -> None:
    model = MODEL.format(first="0", second="self.net(batch)").replace("import torch\n", f"import torch\n{imported}\n")
    model = model.replace(
        "        with torch.no_grad():\n            target = 0", f"        target = {called}(self.net, batch)"
    )
    done = after("model.py", model, net=net(), tools=HELPER)
    assert done == model.replace("batch)\n        return", f"batch)\n        {CLEAR}\n        return")


def test_a_function_of_another_file_on_something_else_is_not() -> None:
    model = MODEL.format(first="0", second="self.net.encode(batch)").replace(
        "import torch\n", "import torch\nfrom pkg.tools import targets\n"
    )
    model = model.replace(
        "        with torch.no_grad():\n            target = 0", "        target = targets(self.net.right, batch)"
    )
    assert run(model, net=net(), tools=HELPER).findings == ()


STEPS = """import pytorch_lightning as pl
import torch
from pkg.tools import update


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.automatic_optimization = False
        self.net = torch.nn.Linear(8, 1)

    def configure_optimizers(self):
        return torch.optim.SGD(self.net.parameters(), lr=0.1)

    def training_step(self, batch, batch_idx):
        opt = self.optimizers()
        for part in batch.split(2):
            loss = self.net(part).mean()
            update(self, opt, loss)
"""
UPDATE = """def update(module, opt, loss):
    opt.zero_grad()
    module.manual_backward(loss)
    opt.step()
"""


def test_a_step_in_a_function_of_another_file_is_seen_behind_its_call() -> None:
    assert after("model.py", STEPS, "AMP002", tools=UPDATE) == f"{STEPS}            {RENEW}\n"
