"""LIT214: training steps that return nothing."""

from __future__ import annotations

import pytest

from codemods.engine.plan import plan
from codemods.engine.scan import Options
from codemods.rules.hooks.lit214 import SKIPPING
from tests.codemods.support import rule, sources


def lines(text: str, target: str = "2.6.6", pins: tuple[str, ...] = ()) -> list[int]:
    made = plan(sources({"a.py": text}), Options((rule("LIT214"),), target=target, pins=pins))
    return [item.span.line for item in made.findings]


@pytest.mark.parametrize(
    "given", ["devices=2", "devices=-1", "gpus=[0, 1]", 'strategy="ddp"', 'accelerator="ddp"', "num_nodes=4"]
)
def test_several_devices(given: str) -> None:
    assert lines(SKIPPING.replace("devices=2", given)) == [7]


@pytest.mark.parametrize("given", ["devices=1", "devices=n", "gpus=[0]", 'strategy="auto"', "max_epochs=2"])
def test_one_device_or_nothing_seen(given: str) -> None:
    assert lines(SKIPPING.replace("devices=2", given)) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("(LightningModule)", "(object)"),
        ("        return self", "        self.log('a', 1)\n        self"),
        ("def training_step", "def validation_step"),
        ("        if batch is None", "        self.automatic_optimization = False\n        if batch is None"),
    ],
)
def test_left(old: str, new: str) -> None:
    text = SKIPPING.replace(old, new)
    assert text != SKIPPING and lines(text) == []


def test_releases() -> None:
    assert lines(SKIPPING, target="2.2.5") == [] and lines(SKIPPING, pins=("lightning>=2.3",)) == []
    assert lines(SKIPPING, pins=("pytorch-lightning<2",)) == [7]


SPELLINGS = {
    "class body": "    automatic_optimization = False\n",
    "annotated": "    automatic_optimization: bool = False\n",
    "constructor": "    def __init__(self):\n        super().__init__()\n        self.automatic_optimization = False\n",
    "in a tuple": "    def __init__(self):\n        self.automatic_optimization, self.x = False, 1\n",
    "property": "    @property\n    def automatic_optimization(self):\n        return False\n",
}


@pytest.mark.parametrize("name", SPELLINGS)
@pytest.mark.parametrize("inherited", [False, True])
def test_a_manual_module_may_return_nothing(name: str, inherited: bool) -> None:
    head = "class Model(LightningModule):\n"
    own = f"{head}{SPELLINGS[name]}"
    above = f"class Manual(LightningModule):\n{SPELLINGS[name]}\n\nclass Model(Manual):\n"
    text = SKIPPING.replace(head, above if inherited else own)
    assert text != SKIPPING and lines(text) == []


def test_a_manual_base_in_another_file() -> None:
    base = f"from pytorch_lightning import LightningModule\n\n\nclass Manual(LightningModule):\n{SPELLINGS['property']}"
    text = SKIPPING.replace("(LightningModule)", "(Manual)").replace("import LightningModule,", "import")
    text = f"from base import Manual\n{text}"
    made = plan(sources({"a.py": text, "base.py": base}), Options((rule("LIT214"),)))
    assert made.findings == ()


def test_a_module_that_asks_for_automatic_optimization() -> None:
    head = "class Model(LightningModule):\n"
    assert lines(SKIPPING.replace(head, f"{head}    automatic_optimization = True\n")) == [8]


CONFIGURED = SKIPPING.replace('trainer = Trainer(accelerator="gpu", devices=2)', "trainer = Trainer(**read())")


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("trainer:\n  devices: 4\n", True),
        ("trainer:\n  gpus: [0, 1]\n", True),
        ("train:\n  _target_: pytorch_lightning.Trainer\n  strategy: ddp\n", True),
        ("trainer:\n  devices: 1\n  strategy: auto\n", False),
        ("model:\n  devices: 4\n", False),
        ("trainer: [\n", False),
    ],
)
def test_several_devices_of_a_configuration(said: str, found: bool) -> None:
    made = plan(sources({"a.py": CONFIGURED, "conf/run.yaml": said}), Options((rule("LIT214"),)))
    assert [item.code for item in made.findings] == ["LIT214"] * found


EVERY = SKIPPING.replace("batch_idx):", "batch_idx, optimizer_idx):").replace(
    "        if batch is None:\n            return None\n        return self(batch).mean()\n",
    "        if optimizer_idx == 0:\n            return self(batch).mean()\n"
    "        if optimizer_idx == 1:\n            return self(-batch).mean()\n"
    "        return None\n",
)


def test_nothing_is_returned_for_an_optimizer_that_there_is_not() -> None:
    assert lines(EVERY) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("optimizer_idx == 1", "optimizer_idx == 2"),
        ("optimizer_idx == 1", "batch_idx == 1"),
        ("optimizer_idx == 0", "optimizer_idx > 0"),
        ("return self(-batch).mean()", "return None"),
        ("return self(-batch).mean()", "self(-batch).mean()"),
        ("return self(batch).mean()", "if batch is None:\n                return None"),
    ],
)
def test_nothing_is_returned_for_one_that_there_may_be(old: str, new: str) -> None:
    assert old in EVERY and lines(EVERY.replace(old, new)) != []
