"""AMP001: what must stay byte for byte."""

from __future__ import annotations

import pytest

from tests.codemods.amp import NET, after, levels

CODE = "AMP001"
HEAD = """import copy
import torch
from torch import nn


class Step(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(8, 8)
        self.other = nn.Linear(8, 8)
        self.teacher = copy.deepcopy(self.net)
        self.criterion = nn.CrossEntropyLoss()
        self.fixed = nn.Linear(8, 8)
        self.fixed.requires_grad_(False)
        self.still = nn.Linear(8, 8)
        for parameter in self.still.parameters():
            parameter.requires_grad = False

"""
REGION = """    @torch.autocast("cuda")
    def forward(self, x, flag=False):
"""
BODIES = {
    "another module": """
        with torch.no_grad():
            y = self.other(x)
        return self.net(x) - y
""",
    "a copy as teacher": """
        with torch.no_grad():
            y = self.teacher(x)
        return self.net(x) - y
""",
    "gradient first": """
        z = self.net(x)
        with torch.no_grad():
            y = self.net(x)
        return self.net(x) + z - y
""",
    "exclusive branches": """
        if flag:
            with torch.no_grad():
                y = self.net(x)
        else:
            y = self.net(x)
        return y
""",
    "exclusive branches apart": """
        y = x
        if flag:
            with torch.no_grad():
                y = self.net(x)
        if not flag:
            y = self.net(x)
        return y
""",
    "an early return": """
        if flag is None:
            with torch.no_grad():
                return self.net(x)
        return self.net(x)
""",
    "a mode that one flag sets": """
        with torch.set_grad_enabled(flag):
            y = self.net(x)
        with torch.set_grad_enabled(flag):
            return self.net(y)
""",
    "both without gradient": """
        with torch.no_grad():
            y = self.net(x)
            return self.net(y)
""",
    "cleared by hand": """
        with torch.no_grad():
            y = self.net(x)
        if torch.is_autocast_enabled():
            torch.clear_autocast_cache()
        return self.net(x) - y
""",
    "no cache around the first": """
        with torch.no_grad(), torch.autocast("cuda", cache_enabled=False):
            y = self.net(x)
        return self.net(x) - y
""",
    "autocast off around the first": """
        with torch.no_grad(), torch.autocast("cuda", enabled=False):
            y = self.net(x)
        return self.net(x) - y
""",
    "frozen weights": """
        with torch.no_grad():
            y = self.fixed(x) + self.still(x)
        return self.fixed(x) - self.still(x) + y
""",
    "a loss has no weights": """
        with torch.no_grad():
            y = self.criterion(x, x)
        return self.criterion(x, x) + y
""",
    "no_grad that is on again": """
        with torch.no_grad():
            with torch.enable_grad():
                y = self.net(x)
        return self.net(x) - y
""",
    "a tensor's methods": """
        with torch.no_grad():
            y = self.net.weight.data.clone()
        return self.net(x) + y
""",
    "a flag that chooses the teacher": """
        with torch.no_grad():
            y = self.encode(x, teacher=True)
        return self.encode(x) - y

    def encode(self, x, teacher=False):
        return self.teacher(x) if teacher else self.net(x)
""",
    "a helper whose modes exclude each other": """
        with torch.no_grad():
            y = self.part(x, "frozen")
        return self.part(x, "trained") - y

    def part(self, x, mode):
        if mode == "frozen":
            return self.other(x)
        return self.net(x)
""",
    "a closure that nobody calls": """
        def look():
            with torch.no_grad():
                return self.net(x)

        return self.net(x)
""",
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_body_stays(body: str) -> None:
    text = HEAD + REGION + body.lstrip("\n")
    assert levels(text, CODE) == []


def test_the_traps_are_near_misses() -> None:
    poisoned = BODIES["another module"].replace("self.other", "self.net")
    assert [level for _, level in levels(HEAD + REGION + poisoned.lstrip("\n"), CODE)] == ["safe"]


WHOLE = {
    "two regions": """
net = nn.Linear(8, 8)
x = torch.rand(4, 8)
with torch.autocast("cuda"):
    with torch.no_grad():
        y = net(x)
with torch.autocast("cuda"):
    loss = (net(x) - y).mean()
net.parameters()
""",
    "no region": """
net = nn.Linear(8, 8)
x = torch.rand(4, 8)
with torch.no_grad():
    y = net(x)
loss = (net(x) - y).mean()
net.parameters()
""",
    "a region of another library": """
from cluster import autocast

net = nn.Linear(8, 8)
x = torch.rand(4, 8)
with autocast():
    with torch.no_grad():
        y = net(x)
    loss = (net(x) - y).mean()
net.parameters()
""",
    "an evaluation": """
@torch.no_grad()
def evaluate(net, x):
    with torch.autocast("cuda"):
        with torch.no_grad():
            y = net(x)
        return net(x) - y


evaluate(nn.Linear(8, 8), torch.rand(4, 8)).parameters()
""",
    "a name bound again": """
with torch.autocast("cuda"):
    net = nn.Linear(8, 8)
    with torch.no_grad():
        y = net(torch.rand(4, 8))
    net = nn.Linear(8, 8)
    loss = (net(torch.rand(4, 8)) - y).mean()
net.parameters()
""",
}


@pytest.mark.parametrize("text", WHOLE.values(), ids=WHOLE)
def test_file_stays(text: str) -> None:
    assert levels("import torch\nfrom torch import nn\n" + text, CODE) == []


MODULE = """import pytorch_lightning as pl
import torch
from torch import nn


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(8, 8)

    def {step}(self, batch, batch_idx):
        with torch.no_grad():
            target = self.net(batch)
        return (self.net(batch) - target).pow(2).mean()
"""
FIT = "from pytorch_lightning import Trainer\nfrom model import Model\n\ntrainer = Trainer({})\ntrainer.fit(Model())\n"


@pytest.mark.parametrize(
    ("step", "arguments"),
    [
        ("training_step", ""),
        ("training_step", "precision=32"),
        ("training_step", 'precision="16-true"'),
        ("training_step", 'precision="64"'),
        ("validation_step", "precision=16"),
        ("test_step", "precision=16"),
    ],
)
def test_lightning_without_a_region(step: str, arguments: str) -> None:
    assert levels(MODULE.format(step=step), CODE, fit=FIT.format(arguments)) == []


def test_a_trainer_of_another_module() -> None:
    other = "import pytorch_lightning as pl\n\n\nclass Other(pl.LightningModule):\n    pass\n"
    fit = FIT.replace("model", "other").replace("Model", "Other").format("precision=16")
    assert levels(MODULE.format(step="training_step"), CODE, fit=fit, other=other) == []


def test_a_trainer_that_only_tests() -> None:
    fit = FIT.format("precision=16").replace("trainer.fit", "trainer.test")
    assert levels(MODULE.format(step="training_step"), CODE, fit=fit) == []


def test_a_trainer_of_another_library() -> None:
    fit = FIT.format("precision=16").replace("pytorch_lightning", "transformers")
    assert levels(MODULE.format(step="training_step"), CODE, fit=fit) == []


def test_a_comment_silences_it() -> None:
    text = MODULE.format(step="training_step").replace("no_grad():", "no_grad():  # fixer: ignore[AMP001]")
    assert after(text, CODE, fit=FIT.format("precision=16")) == text


def test_a_name_that_is_not_torch() -> None:
    text = (
        "from torch import autocast, nn, no_grad\n\n\nclass torch:\n    pass\n" + NET.split("from torch import nn\n")[1]
    )
    text += """

class Step(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(8, 8)

    @autocast("cuda")
    def forward(self, x):
        with no_grad():
            y = self.net(x)
        return self.net(x) - y
"""
    assert [level for _, level in levels(text, CODE)] == ["manual"]
