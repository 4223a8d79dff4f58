"""LIT229: properties that are set, held against the newest release, and what may be set."""

from __future__ import annotations

import pytest
import torch
from lightning.pytorch import LightningModule

from codemods.rules.modules.lit229 import BEFORE, PROPERTIES
from tests.codemods.support import rewritten, rule, run_rules

LIT = rule("LIT229")


@pytest.mark.parametrize("name", PROPERTIES)
def test_the_newest_release_refuses_it(name: str) -> None:
    with pytest.raises(AttributeError):
        setattr(LightningModule(), name, None)
    [found] = run_rules({"a.py": BEFORE.replace("self.device", f"self.{name}")}, LIT).findings
    assert found.fix == ("unsafe" if name == "device" else "manual") and f"self.{name}" in found.message


@pytest.mark.parametrize(
    "statement", ["self.device: str = device", "self.other = self.device = device", "a, self.device = device"]
)
def test_however_it_is_set(statement: str) -> None:
    [found] = run_rules({"a.py": BEFORE.replace("self.device = device", statement)}, LIT).findings
    assert found.fix == "manual"


@pytest.mark.parametrize(
    "text",
    [
        BEFORE.replace("(LightningModule)", "(torch.nn.Module)"),
        BEFORE.replace("self.device = device", "self.layer.device = device"),
        BEFORE.replace("self.device = device", "print(self.device)"),
        BEFORE.replace("    def ", "    device: str = 'cpu'\n\n    def "),
        BEFORE.replace("    def ", "    @property\n    def device(self):\n        return 1\n\n    def "),
        BEFORE + "\n\nclass Child(Model):\n    device = None\n",
    ],
    ids=["no module", "of another", "read", "a field", "a property", "a class below has it"],
)
def test_what_may_be_set(text: str) -> None:
    assert run_rules({"a.py": text}, LIT).findings == ()


def test_a_base_of_another_file_may_have_it() -> None:
    base = "from pytorch_lightning import LightningModule\n\n\nclass Base(LightningModule):\n    device = None\n"
    child = BEFORE.replace("pytorch_lightning import LightningModule", "base import Base").replace(
        "(LightningModule)", "(Base)"
    )
    assert run_rules({"base.py": base, "a.py": child}, LIT).findings == ()
    named = run_rules({"base.py": base.replace("    device = None", "    pass"), "a.py": child}, LIT).findings
    assert [found.path for found in named] == ["a.py"]


@pytest.mark.parametrize(
    "value",
    [
        "device",
        "torch.device('cuda' if torch.cuda.is_available() else 'cpu')",
        "config['device'] or 'cpu'",
        "f'cuda:{n}'",
        "next(self.net.parameters()).device",
        "list(self.net.layers[0].buffers())[0].device",
    ],
)
def test_a_device_that_is_only_set_goes_for_who_accepts_that(value: str) -> None:
    before = "import torch\n" + BEFORE.replace("= device", f"= {value}")
    made = run_rules({"a.py": before}, LIT)
    assert (made.changes, [item.fix for item in made.findings]) == ((), ["unsafe"])
    after = rewritten({"a.py": before}, LIT, unsafe=True)["a.py"]
    gone = f"        self.device = {value}\n"
    assert after == before.replace(gone, "").replace("import torch\n" if "torch." in value else gone, "")


@pytest.mark.parametrize(
    "statement",
    [
        "self.device = find(device)",
        "self.device = device  # the GPU",
        "self.device = (seen := device)",
        "self.device = next(devices)",
        "self.device = next(iter(devices)).device",
        "self.device = next(self.net.parameters(find(device))).device",
        "self.device = next(self.net.parameters(), find(device)).device",
    ],
)
def test_a_device_that_is_found_or_explained_is_for_a_person(statement: str) -> None:
    [found] = run_rules({"a.py": BEFORE.replace("self.device = device", statement)}, LIT, unsafe=True).findings
    assert found.fix == "manual"


def test_the_module_says_where_it_is() -> None:
    """What is read of `self.device` once nothing sets it."""
    seen: list[str] = []

    class Model(LightningModule):
        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.Linear(1, 1, device=self.device)
            seen.append(str(self.device))

    module = Model()
    assert seen == ["cpu"]
    assert module.to(torch.float64).device == module.layer.weight.device
