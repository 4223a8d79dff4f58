"""LIT301, LIT303: a Trainer of the project that LightningCLI builds, with arguments of its own."""

from __future__ import annotations

import pytest

from tests.codemods.support import rule, run_rules

OWN = "from lightning.pytorch import Trainer\n\n\nclass Ours(Trainer):\n{}\n"
INIT = "    def __init__(self, *args, batch=1, **kwargs):\n        super().__init__(*args, **kwargs)\n"
MAIN = "from lightning.pytorch.cli import LightningCLI\n{}\n\nLightningCLI(trainer_class={})\n"
CONFIG = "trainer:\n  max_epochs: 3\n  gpus: 2\n  batch: 32\n"


def said(main: str, own: str = OWN.format(INIT)) -> dict[str, str]:
    """What is said of each place, and how surely; nothing else may be rewritten than what is safe."""
    files = {"ours.py": own, "main.py": main, "a.yaml": CONFIG, "run.sh": "python main.py fit --trainer.gpus 2\n"}
    made = run_rules(files, rule("LIT301"), rule("LIT303"))
    assert made.bugs == ()
    return {f"{item.path}:{item.span.line} {item.fix}": item.reason for item in made.findings}


@pytest.mark.parametrize(
    "main",
    [
        MAIN.format("from ours import Ours", "Ours"),
        MAIN.format("import ours", "ours.Ours"),
        MAIN.format("import elsewhere", "elsewhere.Trainer"),
        MAIN.format("", "make()"),
        "from lightning.pytorch.cli import LightningCLI\nfrom ours import Ours\n\n\nclass Mine(LightningCLI):\n"
        "    def __init__(self):\n        super().__init__(trainer_class=Ours)\n\n\nMine()\n",
    ],
)
def test_arguments_of_its_own_are_not_called_unknown(main: str) -> None:
    found = said(main)
    assert found.keys() == {"a.yaml:3 manual", "run.sh:1 manual"}
    assert all("LightningCLI builds in the place of Trainer" in reason for reason in found.values())


@pytest.mark.parametrize(
    "main",
    [
        MAIN.format("from lightning.pytorch import Trainer", "Trainer"),
        MAIN.format("import lightning.pytorch as pl", "pl.Trainer"),
        "from lightning.pytorch.cli import LightningCLI\n\nLightningCLI()\n",
    ],
)
def test_arguments_of_lightnings_own_are_known(main: str) -> None:
    assert said(main).keys() == {"a.yaml:3 unsafe", "a.yaml:4 manual", "run.sh:1 safe"}


def test_one_without_a_constructor_takes_what_lightnings_own_does() -> None:
    found = said(MAIN.format("from ours import Ours", "Ours"), OWN.format("    batch = 1"))
    assert found.keys() == {"a.yaml:3 unsafe", "a.yaml:4 manual", "run.sh:1 safe"}
