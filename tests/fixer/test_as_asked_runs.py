"""A branch is proven in what it asks for: two whole runs of one project, with and without what it lacks."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.verify.trees import HEAD
from verify.evidence import Evidence
from verify.prove import prove
from verify.request import Request

pytestmark = pytest.mark.usefixtures("own_home")

OLD = (
    HEAD
    + """
from pytorch_lightning.loggers import TensorBoardLogger


class Model(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Linear(2, 1)

    def training_step(self, batch, batch_idx):
        loss = self.net(batch[0]).pow(2).mean()
        self.logger.experiment.add_scalar("loss", loss, self.global_step)
        return loss

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


loader = DataLoader(TensorDataset(torch.rand(8, 2)), batch_size=4)
pl.Trainer(max_epochs=1, logger=TensorBoardLogger("logs")GPUS).fit(Model(), loader)
"""
)
NEW = OLD.replace("GPUS", ", accelerator='cpu'")


def proven(folder: Path, lines: str) -> Evidence:
    """A project that moved from 1.9.5, whose requirements became these."""
    for name, code, asked in (("before", OLD.replace("GPUS", ""), "pytorch-lightning==1.9.5\n"), ("after", NEW, lines)):
        (folder / name).mkdir()
        (folder / name / "train.py").write_text(code, encoding="utf-8")
        (folder / name / "requirements.txt").write_text(asked, encoding="utf-8")
    pins = ("pytorch-lightning==1.9.5",), ("pytorch-lightning==2.6.6",)
    return prove(folder / "before", folder / "after", Request("g", ("A",), ("train.py",), "2.6.6", "2.0", *pins), print)


def test_a_branch_that_asks_for_all_that_it_needs_is_run_in_that(tmp_path: Path) -> None:
    evidence = proven(tmp_path, "pytorch-lightning==2.6.6\ntensorboard\n")
    assert (evidence.verdict, evidence.rung) == ("preserved", "same"), evidence
    asked = evidence.environments[1].asked
    assert asked and asked.files == ("requirements.txt",) and not asked.differs and not asked.added
    assert "tensorboard" in dict(evidence.environments[1].packages)


def test_what_was_run_instead_is_said_first_and_bounds_the_rung(tmp_path: Path) -> None:
    """Without tensorboard the branch stops at its start; of the pinned torch there is no build for the CPU here, and
    where there is one, the rung stays as low."""
    evidence = proven(tmp_path, "pytorch-lightning==2.6.6\ntorch==2.3.1\n")
    asked = evidence.environments[1].asked
    assert asked and [one.split()[0] for one in asked.added] == ["tensorboard"]
    assert (evidence.verdict, evidence.rung) == ("preserved", "conforms"), evidence
    ran = dict(evidence.environments[1].packages)["torch"]
    first, _, rest = evidence.reason.partition("not in the branch's requirements: tensorboard ")
    assert rest
    assert ran.startswith("2.3.1") or first.startswith(f"Ran with torch {ran}; the branch asks for torch 2.3.1 (")
