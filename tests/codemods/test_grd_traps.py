"""The GRD family: what trains as it is, and what cannot be told."""

from __future__ import annotations

import pytest
import torch

from codemods.gradients.grd001 import RULE as GRD001
from codemods.gradients.grd002 import RULE as GRD002
from codemods.gradients.grd003 import RULE as GRD003
from codemods.gradients.grd004 import RULE as GRD004
from codemods.gradients.grd005 import RULE as GRD005
from codemods.gradients.grd006 import RULE as GRD006
from codemods.gradients.grd007 import RULE as GRD007
from codemods.gradients.taken import TAKEN
from codemods.plan import plan
from codemods.rule import Rule
from codemods.scan import Options
from tests.codemods.support import rewritten, run_rules, sources

FAMILY = (GRD001, GRD002, GRD003, GRD004, GRD005, GRD006, GRD007)
HEAD = """\
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F
from lightning.pytorch import LightningModule
from transformers import AutoConfig, AutoModel, AutoTokenizer


class Model(LightningModule):
    def __init__(self, other):
        super().__init__()
        self.layer = nn.Linear(4, 4)
        self.other = other
        self.criterion = nn.CrossEntropyLoss()
"""
SGD = "\n    def configure_optimizers(self):\n        return torch.optim.SGD(self.parameters(), lr=0.1)\n"


def model(step: str, init: str = "", optimizers: str = SGD) -> str:
    lines = "".join(f"        {line}\n" for line in init.splitlines())
    body = "".join(f"        {line}\n" if line else "\n" for line in step.splitlines())
    return f"{HEAD}{lines}\n    def training_step(self, batch, batch_idx):\n        x, y = batch\n{body}{optimizers}"


def findings(text: str, *rules: Rule, **files: str) -> list[tuple[str, str]]:
    made = run_rules({"train.py": text, **files}, *(rules or FAMILY))
    assert made.bugs == ()
    return [(finding.code, finding.fix) for finding in made.findings]


LEFT = {
    "logged": 'loss = F.mse_loss(self.layer(x), y)\nself.log("loss", loss.item())\nreturn loss',
    "detached beside": "loss = F.mse_loss(self.layer(x), y)\nreturn {'loss': loss, 'shown': loss.detach()}",
    "constant factor": "out = self.layer(x)\nreturn (out.detach().abs() * out).mean()",
    "running mean": "loss = self.layer(x).sum()\nself.total += loss.item()\nreturn loss / 2",
    "target": "with torch.no_grad():\n    target = self.other(x)\nreturn F.mse_loss(self.layer(x), target)",
    "metric": "out = self.layer(x)\nright = (out.argmax(1) == y).float().mean()\nself.log('acc', right)\n"
    "return self.criterion(out, y)",
    "one branch": "loss = self.layer(x).sum()\nif self.current_epoch > 3:\n    loss = loss.detach()\nreturn loss",
    "zero where nothing is there": "if len(x) == 0:\n    return torch.tensor(0.0, requires_grad=True)\n"
    "return self.layer(x).sum()",
    "a constant": "self.other.fit(x)\nreturn torch.tensor(0.0, requires_grad=True)",
    "nothing": "self.other.fit(x.detach())",
    "list": "losses = []\nfor part in x:\n    losses.append(self.layer(part).sum())\nreturn torch.stack(losses).mean()",
    "list filled elsewhere": "losses = []\nself.other.fill(losses, x)\nreturn sum(losses)",
    "list under another name": "losses = []\nalias = losses\nalias.append(self.layer(x).sum())\nreturn sum(losses)",
    "list in a closure": "losses = []\n\ndef add(part):\n    losses.append(self.layer(part).sum())\n\nadd(x)\n"
    "return sum(losses)",
    "dict": "losses = {}\nlosses['a'] = self.layer(x).sum()\nlosses['b'] = 0.0\nreturn sum(losses.values())",
    "written into": "out = torch.zeros(4)\nout[0] = self.layer(x).sum()\nreturn out.sum()",
    "in place": "out = torch.zeros(4)\nout.add_(self.layer(x).mean(0))\nreturn out.sum()",
    "switched on again": "with torch.no_grad():\n    h = self.other(x)\n    with torch.enable_grad():\n"
    "        loss = self.layer(h).sum()\nreturn loss",
    "not switched": "with torch.set_grad_enabled(self.other.trains):\n    loss = self.layer(x).sum()\nreturn loss",
    "maybe a tensor": "loss = self.other.loss(self.layer(x), y)\nif not torch.is_tensor(loss):\n"
    "    loss = torch.tensor(loss)\nreturn loss",
    "straight through": "h = self.layer(x)\nhard = h + (h.round() - h).detach()\nreturn hard.sum()",
    "parameter beside": "with torch.no_grad():\n    a = self.layer(x)\nreturn (a * self.scale.exp()).mean()",
    "adversarial": "x = x.detach().requires_grad_()\nreturn self.layer(x).sum()",
    "own backward": "loss = self.layer(x).sum()\nself.manual_backward(loss)\nreturn loss.item()",
}


@pytest.mark.parametrize("name", LEFT)
def test_a_loss_that_keeps_a_way_back_is_left(name: str) -> None:
    assert findings(model(LEFT[name])) == []


OTHERS = {
    "no optimizer": "\n    def configure_optimizers(self):\n        return None\n",
    "own backward": SGD + "\n    def backward(self, loss):\n        self.other(loss)\n",
}


@pytest.mark.parametrize("name", OTHERS)
def test_a_step_whose_loss_is_not_differentiated_is_left(name: str) -> None:
    assert findings(model("return self.layer(x).sum().item()", optimizers=OTHERS[name])) == []


def test_manual_optimization_is_judged_by_what_it_differentiates() -> None:
    manual = "loss = self.layer(x).sum().detach()\nself.manual_backward(loss)"
    text = model(manual, "self.automatic_optimization = False")
    assert findings(text) == [("GRD001", "safe")]
    unseen = model("return self.layer(x).sum().item()", "self.automatic_optimization = False")
    assert findings(unseen) == []


def test_a_helper_that_a_subclass_replaces_is_not_followed() -> None:
    text = model("return self.loss(x)").replace(
        "\n    def configure_optimizers", "\n    def loss(self, x):\n        return self.layer(x).sum().item()\n"
        "\n    def configure_optimizers"
    )  # fmt: skip
    assert findings(text) == [("GRD001", "safe")]
    below = "\n\nclass Other(Model):\n    def loss(self, x):\n        return self.layer(x).sum()\n"
    assert findings(text + below) == []


REFUSED = {
    "numpy": ("return torch.tensor(np.mean(self.layer(x).detach().numpy()))", "torch functions"),
    "argmax": ("return F.mse_loss(self.layer(x).argmax(1).float(), y)", "scores themselves"),
    "accuracy": ("return (self.layer(x) == y).float().mean()", "it is a metric"),
    "integer": ("return self.layer(x).long().sum()", "before it"),
    "list of numbers": ("return torch.tensor([self.layer(part).sum() for part in x]).mean()", "torch.stack"),
    "another type": ("return torch.tensor(self.layer(x).sum(), dtype=torch.float64)", ".to(...)"),
    "unknown": ("return self.other(x).item()", "not seen to have a gradient"),
    "number in use": (
        "loss = self.layer(x).sum().item()\nself.history.append(loss)\nreturn torch.tensor(loss)",
        "also used in line",
    ),
    "number in a test": (
        "loss = self.layer(x).sum().item()\nif loss > 3:\n    self.hot = True\nreturn torch.tensor(loss)",
        "also used in line",
    ),
    "revived": (
        "loss = self.layer(x).sum().detach()\nloss.requires_grad = True\nreturn loss",
        "only hides the error",
    ),
    "both": ("with torch.no_grad():\n    out = self.layer(x)\nreturn out.sum().detach()", "GRD002"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_cut_that_cannot_be_taken_out_is_named_with_the_reason(name: str) -> None:
    step, reason = REFUSED[name]
    made = run_rules({"train.py": model(step)}, GRD001)
    assert made.changes == () and made.findings
    assert {finding.fix for finding in made.findings} == {"manual"}
    assert all(reason in finding.reason for finding in made.findings)


def test_a_name_that_is_bound_twice_is_followed() -> None:
    step = "loss = self.layer(x).sum()\nself.log('a', loss.detach())\nloss = loss.item()\nreturn torch.tensor(loss)"
    assert findings(model(step)) == [("GRD001", "safe"), ("GRD001", "safe")]


def test_features_that_are_not_trained_are_no_block_to_open() -> None:
    text = model("with torch.no_grad():\n    out = self.layer(x)\nreturn F.mse_loss(out, y)")
    assert findings(text, GRD002) == [("GRD002", "manual")]


def test_a_forward_without_gradients_is_opened_only_when_asked() -> None:
    text = model("return self(x).sum()").replace(
        "\n    def training_step", "\n    @torch.no_grad()\n    def forward(self, x):\n        return self.layer(x)\n"
        "\n    def training_step"
    )  # fmt: skip
    assert findings(text, GRD002) == [("GRD002", "unsafe")]


def test_a_comment_above_a_decorator_stays() -> None:
    text = model("return self.layer(x).sum()").replace(
        "    def training_step", "    # one step\n    @torch.no_grad()\n    def training_step"
    )
    after = run_rules({"train.py": text}, GRD002).final()["train.py"].decode()
    assert after == text.replace("    @torch.no_grad()\n", "")


def adam(what: str) -> str:
    return f"\n    def configure_optimizers(self):\n        return torch.optim.Adam({what})\n"


HEADED = "self.head = nn.Linear(4, 1)"
USES = "return self.head(self.layer(x)).sum()"
FROZEN = "self.layer.requires_grad_(False)"
GROUPS = "[{'params': self.layer.parameters(), 'lr': 1e-5}, {'params': self.head.parameters()}]"

TRAINED = {
    "frozen backbone": (USES, f"{FROZEN}\n{HEADED}", adam("self.parameters()")),
    "only the head": (USES, f"{HEADED}\n{FROZEN}", adam("self.head.parameters()")),
    "frozen on request": (USES, f"{HEADED}\nif other:\n    {FROZEN}", adam(GROUPS)),
    "a new head": ("return self.layer(x).sum()", f"{FROZEN}\nself.layer.fc = nn.Linear(4, 1)",
                   adam("self.layer.parameters()")),
    "thawed later": (USES, f"{HEADED}\n{FROZEN}", adam(GROUPS) + "\n    def on_train_epoch_start(self):\n"
                     "        self.layer.requires_grad_(True)\n"),
    "everything": (USES, HEADED, adam("self.parameters()")),
    "both": (USES, HEADED, adam("[*self.layer.parameters(), *self.head.parameters()]")),
    "named": (USES, HEADED, adam("[p for n, p in self.named_parameters() if 'bias' in n]")),
    "pretrained and left out": ("return self.head(self.other(x)).sum()", HEADED,
                                adam("[*self.head.parameters(), *self.layer.parameters()]")),
    "target network": ("return F.mse_loss(self.layer(x), self.target(x))", "self.target = nn.Linear(4, 4)",
                       adam("self.layer.parameters()")),
    "without gradients": ("with torch.no_grad():\n    h = self.head(x)\nreturn self.layer(h).sum()", HEADED,
                          adam("self.layer.parameters()")),
    "loaded": (USES, f"{HEADED}\nself.head.load_state_dict(torch.load(other))", adam("self.layer.parameters()")),
    "handed on": (USES, f"{HEADED}\nself.rest = nn.Sequential(self.head)",
                  adam("[*self.layer.parameters(), *self.rest.parameters()]")),
    "unused": ("return self.layer(x).sum()", HEADED, adam("self.layer.parameters()")),
    "a parameter that is fixed": ("return (self.layer(x) * self.scale).sum()",
                                  "self.scale = nn.Parameter(torch.ones(4), requires_grad=False)",
                                  adam("self.layer.parameters()")),
}  # fmt: skip


@pytest.mark.parametrize("name", TRAINED)
def test_optimizers_that_get_what_they_should_are_left(name: str) -> None:
    assert findings(model(*TRAINED[name]), GRD003, GRD004) == []


NET = """\
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 4)


class Plain:
    def __init__(self):
        self.layers = [nn.Linear(4, 4)]

    def use(self, x):
        return self.layers[0](x)


class Net(nn.Module):
    def __init__(self, depth, blocks):
        super().__init__()
"""
FORWARD = "    def forward(self, x):\n        for layer in self.layers:\n            x = layer(x)\n        return x\n"


def net(init: str, rest: str = FORWARD) -> str:
    return NET + "".join(f"        {line}\n" for line in init.splitlines()) + "\n" + rest


REGISTERED = {
    "again": "self.layers = [Block() for _ in range(depth)]\nself.layers = nn.Sequential(*self.layers)",
    "by name": "self.layers = []\nfor n in range(depth):\n    layer = Block()\n    self.add_module(f'l{n}', layer)\n"
    "    self.layers.append(layer)",
    "by setattr": "self.layers = []\nfor n in range(depth):\n    layer = Block()\n    setattr(self, f'l{n}', layer)\n"
    "    self.layers.append(layer)",
    "handed in": "self.layers = blocks",
    "a hidden teacher": "self.layers = [blocks]",
    "losses": "self.layers = [nn.MSELoss(), nn.L1Loss()]",
    "activations": "self.layers = [nn.ReLU(), nn.Tanh()]",
    "names": "self.layers = ['one', 'two']",
    "a list on the way": "layers = [Block()]\nself.layers = nn.Sequential(*layers)",
    "kept and registered": "layers = [Block()]\nself.net = nn.Sequential(*layers)\nself.layers = layers",
    "unknown classes": "self.layers = [Unknown() for _ in range(depth)]",
}


@pytest.mark.parametrize("name", REGISTERED)
def test_containers_that_are_registered_or_hold_no_layers_are_left(name: str) -> None:
    assert findings(net(REGISTERED[name]), GRD005) == []


USED = {
    "nested": ("self.layers = [[nn.Linear(4, 4)], [nn.Linear(4, 4)]]", FORWARD, "inside a container"),
    "numbers as keys": ("self.layers = {1: nn.Linear(4, 4)}",
                        "    def forward(self, x):\n        return self.layers[1](x)\n", "strings"),
    "a key of torch": ("self.layers = {'type': nn.Linear(4, 4)}",
                       "    def forward(self, x):\n        return self.layers['type'](x)\n", "'type'"),
    "get": ("self.layers = {'a': nn.Linear(4, 4)}",
            "    def forward(self, x):\n        return self.layers.get('a')(x)\n", "`.get`"),
    "moved by hand": ("self.layers = [nn.Linear(4, 4)]",
                      FORWARD + "\n    def move(self):\n        for layer in self.layers:\n            layer.cuda()\n",
                      "by hand"),
    "given by hand": ("self.layers = [nn.Linear(4, 4)]",
                      FORWARD + "\n    def weights(self):\n        return [p for layer in self.layers for p in "
                      "layer.parameters()]\n", "by hand"),
    "without gradients": ("self.layers = [nn.Linear(4, 4)]",
                          "    def forward(self, x):\n        with torch.no_grad():\n            return "
                          "self.layers[0](x)\n", "without gradients"),
    "handed on": ("self.layers = [nn.Linear(4, 4)]",
                  "    def forward(self, x):\n        return run(self.layers, x)\n", "handed to `run`"),
    "added": ("self.layers = [nn.Linear(4, 4)]",
              "    def forward(self, x):\n        return run(self.layers + [x])\n", "not followed"),
}  # fmt: skip


@pytest.mark.parametrize("name", USED)
def test_a_container_used_in_another_way_is_named(name: str) -> None:
    init, rest, reason = USED[name]
    made = run_rules({"train.py": net(init, rest)}, GRD005)
    assert made.changes == ()
    assert [finding.fix for finding in made.findings] == ["manual"]
    assert reason in made.findings[0].reason


def test_every_attribute_of_a_module_dict_is_known() -> None:
    assert {name for name in dir(torch.nn.ModuleDict()) if not name.startswith("_")} <= TAKEN


def test_layers_of_a_class_in_another_file() -> None:
    other = {"parts/__init__.py": "from .block import Piece\n",
             "parts/block.py": NET.replace("class Block", "class Piece")}  # fmt: skip
    text = net("self.layers = [Piece() for _ in range(depth)]").replace(
        "import torch\n", "import torch\nfrom parts import Piece\n", 1
    )
    assert findings(text, GRD005, **other) == [("GRD005", "safe")]


LOAD = 'self.bert = AutoModel.from_pretrained("name")'
BERT = "return self.layer(self.bert(x)).sum()"
KEPT = {
    "eval on purpose": (BERT, f"{LOAD}\nself.bert.eval()", SGD),
    "trained already": (BERT, f"{LOAD}\nself.bert.train()", SGD),
    "the whole module": (BERT, f"{LOAD}\nself.train()", SGD),
    "frozen": (BERT, f"{LOAD}\nfor p in self.bert.parameters():\n    p.requires_grad = False", SGD),
    "frozen at once": (BERT, f"{LOAD}\nself.bert.requires_grad_(False)", SGD),
    "not in the optimizer": (BERT, LOAD, adam("self.layer.parameters()")),
    "without gradients": ("with torch.no_grad():\n    h = self.bert(x)\nreturn self.layer(h).sum()", LOAD, SGD),
    "tokenizer": ("return self.layer(x).sum()", 'self.tokens = AutoTokenizer.from_pretrained("name")', SGD),
    "configuration": ("return self.layer(x).sum()", 'self.config = AutoConfig.from_pretrained("name")', SGD),
}


@pytest.mark.parametrize("name", KEPT)
def test_models_that_stay_in_their_mode_are_left(name: str) -> None:
    assert findings(model(*KEPT[name]), GRD006) == []


def test_the_level_of_training_mode_depends_on_the_era() -> None:
    text = {"train.py": model(BERT, LOAD)}
    for pins, level in (((), "unsafe"), (("lightning>=2.3",), "unsafe"), (("pytorch-lightning==1.9.5",), "safe")):
        made = plan(sources(text), Options((GRD006,), pins=pins))
        assert [finding.fix for finding in made.findings] == [level]


def test_a_class_that_is_never_trained_is_left() -> None:
    assert findings(model(BERT, LOAD).replace("training_step", "predict_step"), GRD006) == []


def test_a_model_that_is_frozen_in_some_cases_is_named() -> None:
    text = model(BERT, f"{LOAD}\nif other:\n    self.bert.requires_grad_(False)")
    assert findings(text, GRD006) == [("GRD006", "manual")]


def test_another_class_with_from_pretrained_is_left() -> None:
    text = model(BERT, LOAD).replace(
        "from transformers import AutoConfig, AutoModel,",
        "from mine import AutoModel\nfrom transformers import AutoConfig,",
    )
    assert findings(text, GRD006) == []
    mine = "from transformers import PreTrainedModel\n\n\nclass AutoModel(PreTrainedModel):\n    pass\n"
    assert findings(text, GRD006, **{"mine.py": mine}) == [("GRD006", "unsafe")]


ADAMW = """\
from lightning.pytorch import LightningModule
from transformers import AdamW


class Model(LightningModule):
    def configure_optimizers(self):
        return AdamW(self.parameters(), {arguments})
"""


def hugging(arguments: str, *pins: str) -> list[tuple[str, str]]:
    text = ADAMW.format(arguments=arguments)
    made = plan(sources({"train.py": text}), Options((GRD007,), pins=pins))
    return [(finding.fix, finding.reason.partition(";")[0]) for finding in made.findings]


@pytest.mark.parametrize("pins", [(), ("lightning>=2.0.7",), ("lightning>=2.0",), ("pytorch-lightning",)])
def test_hugging_face_s_optimizer_on_a_lightning_that_runs_it_is_left(pins: tuple[str, ...]) -> None:
    assert hugging("lr=1e-5", *pins) == []


@pytest.mark.parametrize(
    ("arguments", "level"),
    [("lr=1e-5", "unsafe"), ("lr=1e-5, correct_bias=False", "manual"), ("**self.hparams.adam", "manual")],
)
def test_hugging_face_s_optimizer_on_an_old_lightning(arguments: str, level: str) -> None:
    assert [found for found, _ in hugging(arguments, "pytorch-lightning==1.9.5")] == [level]


def test_a_call_of_several_lines_keeps_its_shape() -> None:
    text = ADAMW.format(arguments="lr=1e-5").replace(
        "(self.parameters(), lr=1e-5)", "(\n            self.parameters(), lr=1e-5\n        )"
    )
    made = plan(sources({"train.py": text}), Options((GRD007,), unsafe=True, pins=("pytorch-lightning==1.9.5",)))
    after = made.final()["train.py"].decode()
    assert "(\n            self.parameters(), lr=1e-5, eps=1e-6, weight_decay=0.0\n        )\n" in after


@pytest.mark.parametrize("pin", ["lightning>=2.0.7", "lightning", "lightning!=2.6.2", "pytorch-lightning==1.9.5"])
def test_pins_that_need_no_move_or_cannot_be_moved_are_left(pin: str) -> None:
    files = {"train.py": ADAMW.format(arguments="lr=1e-5"), "requirements.txt": f"{pin}\n"}
    assert run_rules(files, GRD007).changes == ()


OLD = """\
from pytorch_lightning import LightningModule
from transformers import AdamW


class Model(LightningModule):
    def configure_optimizers(self):
        return AdamW(self.parameters(), lr=1e-5)

    def training_epoch_end(self, outputs):
        print(len(outputs))
"""


@pytest.mark.parametrize(
    ("pin", "wanted"),
    [
        ('"^1.2.0"', '"^2.0.7,!=2.6.2,!=2.6.3"'),
        ('">=1.6,<2.0"', '">=2.0.7,<3.0,!=2.6.2,!=2.6.3"'),
        ('">=1.6"', '">=2.0.7,!=2.6.2,!=2.6.3"'),
        ('"1.9.5"', '"2.6.6"'),
    ],
)
def test_a_pin_that_moves_for_other_rules_goes_where_these_optimizers_run(pin: str, wanted: str) -> None:
    manifest = "[tool.poetry.dependencies]\npytorch-lightning = {}\n"
    files = {"train.py": OLD, "pyproject.toml": manifest.format(pin)}
    assert rewritten(files)["pyproject.toml"] == manifest.format(wanted)
    bare = files | {"train.py": OLD.replace("transformers", "torch.optim")}
    assert "2.0.7" not in rewritten(bare)["pyproject.toml"]


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("import logging\n\nlog = logging.getLogger()\n\nimport torch\n", 1),
        ("import logging\n\nlog = logging.getLogger()\n\nimport torch as t\n", 1),
        ("import logging\n\nif log:\n    import torch\n", 2),
    ],
)
def test_torch_is_imported_once(head: str, expected: int) -> None:
    text = head + ADAMW.format(arguments="lr=1e-5")
    made = plan(sources({"train.py": text}), Options((GRD007,), unsafe=True, pins=("pytorch-lightning==1.9.5",)))
    assert made.bugs == ()
    assert made.final()["train.py"].decode().count("import torch\n") == expected


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("\n            groups,\n            lr=lr,  # rate\n        ",
         "\n            groups,\n            lr=lr,  # rate\n            eps=1e-6,\n"
         "            weight_decay=0.0,\n        "),
        ("\n            groups,\n            lr=lr\n        ",
         "\n            groups,\n            lr=lr,\n            eps=1e-6,\n            weight_decay=0.0\n        "),
        ("groups,\n                     lr=lr", "groups,\n                     lr=lr, eps=1e-6, weight_decay=0.0"),
        ("\n            groups, eps=1e-8,\n        ", "\n            groups, eps=1e-8, weight_decay=0.0,\n        "),
    ],
)  # fmt: skip
def test_arguments_are_laid_out_like_the_others(before: str, after: str) -> None:
    text = ADAMW.replace("self.parameters(), {arguments}", before)
    made = plan(sources({"train.py": text}), Options((GRD007,), unsafe=True, pins=("pytorch-lightning==1.9.5",)))
    assert f"torch.optim.AdamW({after})\n" in made.final()["train.py"].decode()
