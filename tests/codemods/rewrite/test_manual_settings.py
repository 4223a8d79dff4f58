"""Clipping and accumulation in the configuration of a LightningCLI: the value goes into the class."""

from __future__ import annotations

import pytest

from tests.codemods.rewrite.test_manual_handing import MODEL
from tests.codemods.support import refusals, rewritten, rule, run_rules
from tests.training import same

OPT = rule("OPT001")
GAN = MODEL[: MODEL.index("class Plain")].rstrip() + "\n"
CLI = """\
from pytorch_lightning.cli import LightningCLI

from models import GAN

if __name__ == "__main__":
    LightningCLI(GAN)
"""
CONFIG = """\
# the run
trainer:
  max_epochs: 2   # enough
  gradient_clip_val: 0.2
  gradient_clip_algorithm: 'value'
  accumulate_grad_batches: 2

model: {}
"""
LEFT = """\
# the run
trainer:
  max_epochs: 2   # enough

model: {}
"""


def project(config: str = CONFIG) -> dict[str, str]:
    return {"models.py": GAN, "cli.py": CLI, "config.yaml": config}


def test_values_go_from_the_file_into_the_class() -> None:
    made = run_rules(project(), OPT)
    assert made.bugs == ()
    assert {finding.fix for finding in made.findings} == {"safe"}
    after = {path: data.decode() for path, data in made.final().items()}
    assert after["config.yaml"] == LEFT
    assert "    gradient_clip_val = 0.2\n" in after["models.py"]
    assert "    accumulate_grad_batches = 2\n" in after["models.py"]
    assert "gradient_clip_algorithm='value')" in after["models.py"]
    assert "cli.py" not in after


def test_it_trains_as_the_file_said() -> None:
    """LightningCLI needs jsonargparse, which is not there: a Trainer with the same arguments stands for it."""
    given = "max_epochs=2, gradient_clip_val=0.2, gradient_clip_algorithm='value', accumulate_grad_batches=2"
    fit = (
        "import torch\nfrom pytorch_lightning import Trainer\nfrom models import GAN\n\n"
        "Trainer(GIVEN).fit(GAN(), torch.utils.data.DataLoader(torch.randn(10, 3), batch_size=2))\n"
    )
    after = rewritten(project(), OPT)
    old, new = same(
        {"models.py": GAN, "train.py": fit.replace("GIVEN", given)},
        {"models.py": after["models.py"], "train.py": fit.replace("GIVEN", "max_epochs=2")},
        logged=False,
    )
    assert (old.automatic, new.automatic) == (True, False)


CHUNKS = "import torch\nfrom pytorch_lightning import LightningModule\n\n\n" + MODEL[MODEL.index("class Chunks") :]


def test_clipping_goes_into_a_class_that_trains_by_chunks() -> None:
    config = "trainer:\n  max_epochs: 2\n  gradient_clip_val: 1\n"
    files = {"models.py": CHUNKS, "cli.py": CLI.replace("GAN", "Chunks"), "config.yaml": config}
    after = rewritten(files, rule("TBP001"))
    assert after["config.yaml"] == "trainer:\n  max_epochs: 2\n"
    assert "    gradient_clip_val = 1\n" in after["models.py"]
    windows = {**files, "config.yaml": f"{config}  accumulate_grad_batches: 2\n"}
    assert "the Trainer at config.yaml accumulates gradients" in refusals(windows, "TBP001")[0]


WINDOW = "accumulate_grad_batches"
HANDED = """\
from pytorch_lightning.cli import LightningCLI

from models import GAN


class ManualCLI(LightningCLI):
    def before_fit(self):
        # Manual optimization: the module does itself what the Trainer was given, and would refuse.
        self.model.gradient_clip_val, self.trainer.gradient_clip_val = self.trainer.gradient_clip_val, None
        SWAP


if __name__ == "__main__":
    ManualCLI(GAN)
""".replace("SWAP", "self.model.WINDOW, self.trainer.WINDOW = self.trainer.WINDOW, 1".replace("WINDOW", WINDOW))
SEVERAL = {**project(), "more.yaml": "trainer:\n  gradient_clip_val: 0.1\n"}
RUN = """\
import sys
import types

import torch
from pytorch_lightning import Trainer
import pytorch_lightning.cli


class LightningCLI:
    def __init__(self, model_class, run=True):
        self.model = model_class()
        self.trainer = Trainer(GIVEN)
        if hasattr(self, "before_fit"):
            self.before_fit()
        self.trainer.fit(self.model, torch.utils.data.DataLoader(torch.randn(10, 3), batch_size=2))


pytorch_lightning.cli.LightningCLI = LightningCLI
if __name__ == "__main__":
    import runpy

    runpy.run_module("cli", run_name="__main__")
"""


def test_a_command_line_with_several_files_hands_over_before_it_fits() -> None:
    made = run_rules(SEVERAL, OPT)
    assert made.bugs == ()
    assert {finding.fix for finding in made.findings} == {"safe"}
    after = rewritten(SEVERAL, OPT)
    assert after["cli.py"] == HANDED
    assert (after["config.yaml"], after["more.yaml"]) == (SEVERAL["config.yaml"], SEVERAL["more.yaml"])


@pytest.mark.parametrize("given", ["gradient_clip_val=0.2, accumulate_grad_batches=2", "gradient_clip_val=0.1"])
def test_it_trains_as_each_file_said(given: str) -> None:
    """LightningCLI needs jsonargparse, which is not there: one that calls `before_fit` as it does stands for it."""
    after = rewritten(SEVERAL, OPT)
    run = RUN.replace("GIVEN", f"max_epochs=2, {given}")
    old, new = same(
        {"models.py": GAN, "cli.py": CLI, "train.py": run},
        {"models.py": after["models.py"], "cli.py": after["cli.py"], "train.py": run},
        logged=False,
    )
    assert (old.automatic, new.automatic) == (True, False)


OTHER = "from pytorch_lightning import LightningModule\n\n\nclass Other(LightningModule):\n"
OTHER += "    def configure_optimizers(self):\n        return self.made\n"
NOT_ALONE = {
    "two files": SEVERAL,
    "another module": {**project(), "other.py": OTHER},
    "a comment beside it": project(CONFIG.replace("0.2\n", "0.2  # or 0.1\n")),
    "an expression": project(CONFIG.replace("0.2", "${clip}")),
    "an alias": project(CONFIG.replace("trainer:", "trainer: &t") + "again: *t\n"),
    "code that reads it": {**project(), "more.py": "def of(config):\n    return config['gradient_clip_val']\n"},
    "any module": {**SEVERAL, "cli.py": CLI.replace("(GAN)", "()")},
    "in a function": {
        **SEVERAL,
        "cli.py": CLI.replace('if __name__ == "__main__":', "def main():\n    # go").replace(
            "I(", "I(  # now\n        "
        ),
    },
}


@pytest.mark.parametrize("files", NOT_ALONE.values(), ids=NOT_ALONE.keys())
def test_what_is_not_the_one_value_of_the_one_module_is_handed_over(files: dict[str, str]) -> None:
    made = run_rules(files, OPT)
    assert made.bugs == ()
    assert {finding.fix for finding in made.findings} == {"safe"}
    assert not [path for path in made.final() if path.endswith(".yaml")]
    text = made.final()["cli.py"].decode()
    guarded = 'if hasattr(self.model, "gradient_clip_val") and not self.model.automatic_optimization:\n'
    assert "ManualCLI(LightningCLI):\n    def before_fit(self):\n" in text
    assert (guarded in text) == ("LightningCLI()" in files["cli.py"])


OWN = """\
from pytorch_lightning.cli import LightningCLI

from models import GAN


class Own(LightningCLI):
    def add_arguments_to_parser(self, parser):
        parser.add_argument("--name")


if __name__ == "__main__":
    Own(GAN)
"""
NAMED = """
    def before_fit(self):
        \"\"\"Say so.\"\"\"
        self.said = True
"""
WITH = OWN.replace('("--name")\n', '("--name")\n' + NAMED)


@pytest.mark.parametrize("cli", [OWN, WITH, OWN.replace("(GAN)", "(GAN, run=True)")])
def test_a_command_line_of_the_projects_own_hands_over_before_it_fits(cli: str) -> None:
    files = {**SEVERAL, "cli.py": cli}
    made = run_rules(files, OPT)
    assert {finding.fix for finding in made.findings} == {"safe"}
    after = rewritten(files, OPT)
    swapped = HANDED[HANDED.index("        # Manual") : HANDED.index("\n\nif")]
    assert swapped in after["cli.py"]
    assert after["cli.py"].replace(swapped, "").replace("    def before_fit(self):\n", "").split() == (
        cli.replace("    def before_fit(self):\n", "").split()
    )
    assert run_rules(after, OPT).changes == ()
    run = RUN.replace("GIVEN", "max_epochs=2, gradient_clip_val=0.2")
    old, new = same(
        {"models.py": GAN, "cli.py": cli, "train.py": run},
        {"models.py": after["models.py"], "cli.py": after["cli.py"], "train.py": run},
        logged=False,
    )
    assert (old.automatic, new.automatic) == (True, False)


LEFT_ALONE = {
    "no command line": {**project(), "cli.py": "import models\n"},
    "fitted later": {**SEVERAL, "cli.py": CLI.replace("(GAN)", "(GAN, run=False)")},
    "arguments that are not seen": {**SEVERAL, "cli.py": CLI.replace("(GAN)", "(GAN, **given)")},
    "a class with a constructor": {**SEVERAL, "cli.py": WITH.replace("add_arguments_to_parser", "__init__")},
    "a class that fits in its own way": {**SEVERAL, "cli.py": OWN.replace("add_arguments_to_parser", "fit")},
    "a hook with more arguments": {**SEVERAL, "cli.py": WITH.replace("fit(self)", "fit(self, *given)")},
    "a class below another": {
        **SEVERAL,
        "cli.py": OWN.replace("\n\nif", "\n\nclass Two(Own):\n    pass\n\n\nif").replace("    Own(", "    Two("),
    },
    "two of them": {**SEVERAL, "cli.py": CLI + "    LightningCLI(GAN)\n"},
}


@pytest.mark.parametrize("files", LEFT_ALONE.values(), ids=LEFT_ALONE.keys())
def test_what_has_no_place_to_be_handed_over_is_doubted(files: dict[str, str]) -> None:
    made = run_rules(files, OPT, unsafe=True)
    assert made.bugs == ()
    assert not [path for path in made.final() if path.endswith(".yaml") or path == "cli.py"]
    assert {finding.fix for finding in made.findings} == {"unsafe"}
