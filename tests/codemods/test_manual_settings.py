"""Clipping and accumulation in the configuration of a LightningCLI: the value goes into the class."""

from __future__ import annotations

import pytest

from tests.codemods.support import refusals, rewritten, rule, run_rules
from tests.codemods.test_manual_handing import MODEL
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


OTHER = "from pytorch_lightning import LightningModule\n\n\nclass Other(LightningModule):\n"
OTHER += "    def configure_optimizers(self):\n        return self.made\n"
NOT_ALONE = {
    "two files": {**project(), "more.yaml": "trainer:\n  gradient_clip_val: 0.1\n"},
    "another module": {**project(), "other.py": OTHER},
    "no command line": {**project(), "cli.py": "import models\n"},
    "a comment beside it": project(CONFIG.replace("0.2\n", "0.2  # or 0.1\n")),
    "an expression": project(CONFIG.replace("0.2", "${clip}")),
    "an alias": project(CONFIG.replace("trainer:", "trainer: &t") + "again: *t\n"),
    "code that reads it": {**project(), "more.py": "def of(config):\n    return config['gradient_clip_val']\n"},
}


@pytest.mark.parametrize("files", NOT_ALONE.values(), ids=NOT_ALONE.keys())
def test_a_file_that_is_not_the_only_one_is_left(files: dict[str, str]) -> None:
    made = run_rules(files, OPT, unsafe=True)
    assert made.bugs == ()
    assert not [path for path in made.final() if path.endswith(".yaml")]
    assert {finding.fix for finding in made.findings} == {"unsafe"}
