"""Parameters that the project itself keeps from gradients are no flaw of a rewrite."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.verify.judging.test_verdict import RAW, failed, raw
from verify.judging.own_cuts import without_own_cuts
from verify.reading.sources import Sources

TEXT = """\
class Probe(LightningModule):
    def __init__(self):
        self.accuracy = Accuracy()

    def forward(self, x):
        with torch.no_grad():
            hidden = self.body(x)
        return self.head(hidden)

    @torch.no_grad()
    def looked(self, x):
        return self.body(x)

    def training_step(self, batch, batch_idx):
        return loss(self(batch[0]), self.looked(batch[0]))

    def configure_optimizers(self):
        return SGD(self.parameters())
"""
TOLD = TEXT.replace("Accuracy()", "Accuracy(task='binary')")
BY_WITH, BY_DECORATOR = ("a.py:7", "a.py:15"), ("a.py:12", "a.py:15")


def left(folder: Path, old: str, new: str, *sites: tuple[str, ...], fitted: bool = False) -> tuple[str, ...]:
    """What is unreached still of a body that is used at these places."""
    for name, text in (("old", old), ("new", new)):
        (folder / name).mkdir()
        (folder / name / "a.py").write_text(text)
    run = replace(raw(unreached=("body.weight", "tail.weight")), through={"body.weight": sites})
    sources = (Sources(folder / "old"), Sources(folder / "new"))
    return without_own_cuts(RAW if fitted else failed(), run, *sources).recording.unreached


@pytest.mark.parametrize("sites", [(BY_WITH,), (BY_DECORATOR,), (BY_WITH, BY_DECORATOR)])
def test_what_both_trees_use_without_gradients_alone_need_not_be_reached(
    sites: tuple[tuple[str, ...], ...], tmp_path: Path
) -> None:
    assert left(tmp_path, TEXT, TOLD, *sites) == ("tail.weight",)


@pytest.mark.parametrize(
    ("old", "sites"),
    [
        (TEXT, (BY_WITH, ("a.py:8", "a.py:15"))),
        (TEXT, (("a.py:7",),)),
        (TEXT, (("a.py:7", "b.py:15"),)),
        (TEXT, ()),
        (TEXT.replace("with torch.no_grad():", "if True:"), (BY_WITH,)),
        (TEXT.replace("    @torch.no_grad()\n", "    #\n"), (BY_DECORATOR,)),
        (TEXT.replace("loss(self", "2 * loss(self"), (BY_WITH,)),
        (TEXT.replace("SGD(", "Adam("), (BY_WITH,)),
    ],
)
def test_what_a_rewrite_may_have_cut_off_is_a_flaw(
    old: str, sites: tuple[tuple[str, ...], ...], tmp_path: Path
) -> None:
    assert left(tmp_path, old, TEXT, *sites) == ("body.weight", "tail.weight")


def test_a_mode_that_is_chosen_as_it_runs_is_nobodys_own(tmp_path: Path) -> None:
    text = TEXT.replace("torch.no_grad():", "torch.set_grad_enabled(self.training):")
    assert left(tmp_path, text, text, BY_WITH) == ("body.weight", "tail.weight")


def test_a_tree_before_that_trained_tells_by_itself(tmp_path: Path) -> None:
    assert left(tmp_path, TEXT, TEXT, BY_WITH, fitted=True) == ("body.weight", "tail.weight")
