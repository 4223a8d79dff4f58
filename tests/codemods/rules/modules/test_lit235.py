"""LIT235: state that one process alone has."""

from __future__ import annotations

import pytest

from codemods.rules.modules.lit235 import PREPARED
from tests.codemods.support import rule, run_rules

LIT = rule("LIT235")
DEVICES = 'accelerator="gpu", devices=2'
SETUP = "\n    def setup(self, stage=None):\n        self.digits = load()\n"


def found(files: dict[str, str]) -> list[str]:
    made = run_rules(files, LIT)
    assert all(each.fix == "manual" for each in made.findings)
    return [f"{each.message} {each.reason}" for each in made.findings]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (DEVICES, 'gpus=4, strategy="ddp"'),
        (DEVICES, "gpus=-1"),
        (DEVICES, "gpus=[0, 1]"),
        (DEVICES, "num_nodes=2"),
        (DEVICES, 'strategy="ddp" if args.gpus > 1 else None'),
        ("LightningDataModule", "LightningModule"),
        ("self.digits = download()", "self.digits, self.letters = download()"),
        ("self.digits = download()", "if not self.ready:\n            self.digits: list = download()"),
        (
            "    def prepare",
            "    def __init__(self):\n        super().__init__()\n        self.digits = None\n\n    def prepare",
        ),
    ],
)
def test_what_one_process_sets_is_named(old: str, new: str) -> None:
    assert old in PREPARED
    [said] = found({"train.py": PREPARED.replace(old, new)})
    assert "sets `self.digits`" in said and "Set it in `setup(self, stage)`" in said


def test_a_configuration_may_ask_for_several_devices() -> None:
    text = PREPARED.partition("\n\ntrainer")[0]
    assert found({"data.py": text, "run.yaml": "trainer:\n  devices: 2\n"})
    assert not found({"data.py": text, "run.yaml": "trainer:\n  devices: 1\n"})


@pytest.mark.parametrize(
    "text",
    [
        PREPARED.replace(DEVICES, "devices=1"),
        PREPARED.replace(DEVICES, "gpus=args.gpus"),
        PREPARED.replace("self.digits = download()", "download()"),
        PREPARED.replace("self.digits = download()", "digits.path = download()"),
        PREPARED.replace("DataLoader(self.digits)", "DataLoader(load())"),
        PREPARED.replace("\n\ntrainer", f"{SETUP}\n\ntrainer"),
        PREPARED.replace("(LightningDataModule)", ""),
        PREPARED + "data = Digits()\ndata.prepare_data()\n",
        PREPARED.replace("return DataLoader", "self.prepare_data()\n        return DataLoader"),
    ],
)
def test_what_each_process_has_is_left(text: str) -> None:
    assert found({"train.py": text}) == []
