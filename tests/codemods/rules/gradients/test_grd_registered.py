"""GRD003, GRD004 and GRD005: optimizers and containers that are as they should be, or are named with the reason."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from codemods.rules.gradients.grd003 import RULE as GRD003
from codemods.rules.gradients.grd004 import RULE as GRD004
from codemods.rules.gradients.grd005 import RULE as GRD005
from codemods.rules.gradients.reserved_keys import TAKEN
from tests.codemods.rules.gradients.test_grd_traps import adam, findings, model
from tests.codemods.support import rewritten, run_rules

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
    "detached": ("self.layers = [nn.Linear(4, 4)]",
                 "    def forward(self, x):\n        return self.layers[0](x).detach()\n", "without gradients"),
    "a teacher": ("self.teachers = [nn.Linear(4, 4)]",
                  "    def forward(self, x):\n        return self.teachers[0](x)\n", "on purpose"),
    "passed on": (USES, f"{HEADED}\nself.rest = nn.Sequential(self.head)",
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
    "parameters by name": "self.layers = [nn.Parameter(torch.ones(4)) for _ in range(depth)]\n"
    "for n, layer in enumerate(self.layers):\n    self.register_parameter(f'w{n}', layer)",
    "by torch's own dict": "self.layers = [nn.Linear(4, 4) for _ in range(depth)]\n"
    "for n, layer in enumerate(self.layers):\n    self._modules[f'l{n}'] = layer",
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


FILLED = {
    "by +=": "self.layers = []\nfor _ in range(depth):\n    self.layers += [nn.Linear(4, 4)]",
    "by extend": "self.layers = []\nself.layers.extend([nn.Linear(4, 4) for _ in range(depth)])",
    "a local by +=": "layers = []\nfor _ in range(depth):\n    layers += [nn.Linear(4, 4)]\nself.layers = layers",
    "a local by insert": "layers = []\nfor n in range(depth):\n    layers.insert(n, nn.Linear(4, 4))\n"
    "self.layers = layers",
}
FILLED_OTHERWISE = {
    "by what is handed in": "layers = []\nlayers += blocks\nself.layers = layers",
    "by a list that is handed in": "layers = []\nlayers.extend(blocks)\nself.layers = layers",
    "by names": "self.layers = []\nself.layers += ['one']",
}


@pytest.mark.parametrize("name", FILLED)
def test_containers_that_grow_in_whatever_way_are_found(name: str) -> None:
    assert findings(net(FILLED[name]), GRD005) == [("GRD005", "safe")]


@pytest.mark.parametrize("name", FILLED_OTHERWISE)
def test_containers_that_grow_by_something_else_are_left(name: str) -> None:
    assert findings(net(FILLED_OTHERWISE[name]), GRD005) == []


def test_a_container_that_grows_later_is_left_to_a_person() -> None:
    more = FORWARD + "\n    def grow(self):\n        self.layers += [nn.Linear(4, 4)]\n"
    assert findings(net("self.layers = [nn.Linear(4, 4)]", more), GRD005) == [("GRD005", "manual")]


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
    "detached": ("self.layers = [nn.Linear(4, 4)]",
                 "    def forward(self, x):\n        return self.layers[0](x).detach()\n", "without gradients"),
    "a teacher": ("self.teachers = [nn.Linear(4, 4)]",
                  "    def forward(self, x):\n        return self.teachers[0](x)\n", "on purpose"),
    "passed on": ("self.layers = [nn.Linear(4, 4)]",
                  "    def forward(self, x):\n        return run(self.layers, x)\n", "passed to `run`"),
    "added": ("self.layers = [nn.Linear(4, 4)]",
              "    def forward(self, x):\n        return run(self.layers + [x])\n", "does not follow"),
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


FREEZES = {
    "by name": "self.layer.requires_grad_(requires_grad=False)",
    "as it is made": "self.layer = nn.Linear(4, 4).eval().requires_grad_(False)",
    "in a loop": "for parameter in self.layer.parameters():\n    parameter.requires_grad = False",
    "in a loop with names": "for name, value in self.layer.named_parameters():\n    value.requires_grad = False",
}
ELSEWHERE = """
    def fix(self):
        for parameter in self.layer.parameters():
            parameter.requires_grad = False
"""


@pytest.mark.parametrize("name", FREEZES)
def test_a_frozen_layer_that_an_optimizer_gets_is_named(name: str) -> None:
    text = model(USES, f"{FREEZES[name]}\n{HEADED}", adam(GROUPS))
    assert findings(text, GRD003) == [("GRD003", "manual")]
    thawed = text + "\n    def on_train_epoch_start(self):\n        self.layer.requires_grad_(True)\n"
    assert findings(thawed, GRD003) == []
    callback = "class Thaw(Callback):\n    def on_train_start(self, trainer, module):\n        {}\n"
    assert findings(text, GRD003, **{"call.py": callback.format("module.layer.requires_grad_(True)")}) == []
    assert findings(text, GRD003, **{"call.py": callback.format("pass")}) == [("GRD003", "manual")]


@pytest.mark.parametrize("aside", ["# unfreeze it later", "print('what is frozen', 1)", "torch.set_grad_enabled(True)"])
def test_what_thaws_nothing(aside: str) -> None:
    text = model(USES, f"{FREEZES[next(iter(FREEZES))]}\n{HEADED}\n{aside}", adam(GROUPS))
    assert findings(text, GRD003) == [("GRD003", "manual")]


@pytest.mark.parametrize("thawing", ["self.unfreeze()", "Finetuning(self)", "run('unfreeze_all')", "set_grad(self)"])
def test_what_may_thaw(thawing: str) -> None:
    text = model(USES, f"{FREEZES[next(iter(FREEZES))]}\n{HEADED}\n{thawing}", adam(GROUPS))
    assert findings(text, GRD003) == []


def test_a_method_of_the_constructor_that_freezes_is_followed() -> None:
    text = model(USES, f"self.fix()\n{HEADED}", adam(GROUPS) + ELSEWHERE)
    assert findings(text, GRD003) == [("GRD003", "manual")]
    assert findings(model(USES, HEADED, adam(GROUPS) + ELSEWHERE), GRD003) == []
    again = model(USES, f"self.fix()\nself.layer = nn.Linear(4, 4)\n{HEADED}", adam(GROUPS) + ELSEWHERE)
    assert findings(again, GRD003) == []


NET_CLASS = "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n        {}\n\n\nclass Model"
GROWN = """
    def configure_optimizers(self):
        given = list(self.layer.parameters())
{}        return torch.optim.Adam(given)
"""


@pytest.mark.parametrize(
    "made",
    ["nn.ModuleList([nn.Linear(4, 4) for _ in range(2)])", "nn.ModuleDict({'a': nn.Linear(4, 4)})", "Net()"],
)
def test_layers_of_several_kinds_that_no_optimizer_gets_are_named(made: str) -> None:
    text = model("return self.layer(self.more(x)).sum()", f"self.more = {made}", adam("self.layer.parameters()"))
    layered = text.replace("class Model", NET_CLASS.format("self.part = nn.Linear(4, 4)"))
    assert findings(layered, GRD004) == [("GRD004", "manual")]
    everything = layered.replace("Adam(self.layer.parameters()", "Adam(self.parameters()")
    assert everything != layered and findings(everything, GRD004) == []


@pytest.mark.parametrize(
    "inside", ["self.scale = 2", "self.part = nn.Linear(4, 4).requires_grad_(False)", "self.part = load()"]
)
def test_a_class_without_layers_that_train_is_left(inside: str) -> None:
    text = model("return self.layer(self.more(x)).sum()", "self.more = Net()", adam("self.layer.parameters()"))
    assert findings(text.replace("class Model", NET_CLASS.format(inside)), GRD004) == []


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ("", ["GRD004"]),
        ("        given += list(self.head.parameters())\n", []),
        ("        given.extend(self.head.parameters())\n", []),
        ("        if self.other:\n            given = given + list(self.head.parameters())\n", []),
        ("        given.insert(0, self.head.weight)\n", []),
    ],
)
def test_lists_of_parameters_that_grow(lines: str, found: list[str]) -> None:
    text = model("return self.head(self.layer(x)).sum()", HEADED, GROWN.format(lines))
    assert [code for code, _ in findings(text, GRD004)] == found


def test_layers_that_a_method_makes() -> None:
    made = "\n    def part(self, index):\n        return nn.Sequential(nn.Linear(4, 4), nn.ReLU())\n"
    before = net("self.layers = [self.part(index) for index in range(3)]", FORWARD + made)
    after = before.replace(
        "[self.part(index) for index in range(3)]", "nn.ModuleList([self.part(index) for index in range(3)])"
    )
    assert rewritten({"net.py": before}, GRD005)["net.py"] == after
    assert findings(before.replace("nn.Linear(4, 4), nn.ReLU()", "nn.ReLU()"), GRD005) == []


@pytest.mark.parametrize(
    "made",
    [
        "[nn.Linear(4, 4)] + [nn.Linear(4, 4) for _ in range(2)]",
        "[nn.Linear(4, 4)] * 3",
    ],
)
def test_lists_that_are_put_together(made: str) -> None:
    before = net(f"self.layers = {made}", FORWARD)
    after = rewritten({"net.py": before}, GRD005)["net.py"]
    assert after == before.replace(made, f"nn.ModuleList({made})")
    assert findings(before.replace(made, f"{made} + others"), GRD005) == []


def test_a_list_of_parameters() -> None:
    forward = (
        "    def forward(self, x):\n        for scale in self.scales:\n            x = x * scale\n        return x\n"
    )
    before = net("self.scales = [nn.Parameter(torch.ones(4)) for _ in range(3)]", forward)
    after = rewritten({"net.py": before}, GRD005)["net.py"]
    assert "self.scales = nn.ParameterList([nn.Parameter(torch.ones(4)) for _ in range(3)])" in after
    made = []
    for text in (before, after):
        space: dict[str, Any] = {}
        exec(compile(text, "net.py", "exec"), space)
        made.append(space["Net"](2, None))
    assert [len(list(item.parameters())) for item in made] == [0, 3]
    assert torch.equal(made[0](torch.ones(2, 4)), made[1](torch.ones(2, 4)))
    mixed = before.replace(
        "[nn.Parameter(torch.ones(4)) for _ in range(3)]", "[nn.Parameter(torch.ones(4)), nn.Linear(4, 4)]"
    )
    assert findings(mixed, GRD005) == [("GRD005", "manual")]


@pytest.mark.parametrize(
    ("parts", "advice"),
    [
        ("nn.Parameter(torch.ones(4))", "make it nn.ParameterList or nn.ParameterDict where these parameters are"),
        ("nn.Linear(4, 4)", "make it nn.ModuleList or nn.ModuleDict where these layers are"),
        ("nn.Parameter(torch.ones(4)), nn.Linear(4, 4)", "the modules a place in nn.ModuleList, the parameters one in"),
    ],
)
def test_what_a_list_is_to_be_is_what_it_holds(parts: str, advice: str) -> None:
    forward = "    def forward(self, x):\n        return other(self.parts, x)\n"
    (found,) = run_rules({"net.py": net(f"self.parts = [{parts}]", forward)}, GRD005).findings
    assert found.fix == "manual" and advice in found.reason


def test_a_container_that_keeps_frozen_layers_apart_is_left() -> None:
    forward = "    def forward(self, x):\n        return self.layers[0](x)\n"
    text = net(
        "self.layers = (nn.Linear(4, 4),)\nfor p in self.layers[0].parameters():\n    p.requires_grad = False", forward
    )
    assert findings(text, GRD005) == []
    assert findings(text.split("        for p")[0] + "\n" + forward, GRD005) == [("GRD005", "safe")]


@pytest.mark.parametrize("made", ["[nn.Linear(4, 4), nn.ReLU()]", "[nn.Dropout(), nn.Linear(4, 4), nn.MSELoss()]"])
def test_layers_beside_what_has_no_parameters(made: str) -> None:
    before = net(f"self.layers = {made}", FORWARD)
    assert rewritten({"net.py": before}, GRD005)["net.py"] == before.replace(made, f"nn.ModuleList({made})")
    for other in ("nn.ReLU()", "x"):
        assert findings(before.replace("nn.Linear(4, 4)", other), GRD005) == []
