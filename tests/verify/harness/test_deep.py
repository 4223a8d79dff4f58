"""Expressions that are nested deeper than Python follows by itself, as long sums are."""

from __future__ import annotations

from pathlib import Path

from verify.reading.entry import entries
from verify.reading.hints import hints
from verify.reading.modules import carried, chosen
from verify.reading.sources import Sources

TEXT = """
import pytorch_lightning as pl

class Other(pl.LightningModule):
    def training_step(self, batch):
        return batch

class Model(pl.LightningModule):
    text = {many}
    def __init__(self, width=7, more={many}):
        self.more = {many}
    def training_step(self, batch):
        return {many}

if __name__ == "__main__":
    trainer = pl.Trainer(max_epochs={many}, gradient_clip_val=0.5)
    trainer.fit(Model(more={many}))
"""


def test_a_tree_with_a_long_sum_is_looked_at(tmp_path: Path) -> None:
    for name, many in (("before", " + ".join("1" * 900)), ("after", " + ".join("1" * 901))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.py").write_text(TEXT.format(many=many))
        (tmp_path / name / "config.yaml").write_text("width: 9\n")
    before, after = (Sources(tmp_path / name) for name in ("before", "after"))
    assert [entry.script for entry in entries(after, ("train.py",))] == ["train.py"]
    assert chosen(before, after, ["train.py"])[0].classes == ("Model", "Other")
    assert chosen(after, after, ["train.py"])[0].classes == ("Other", "Model")
    assert 9 in hints(after, "train.py").values["width"]
    assert carried(after) == {"gradient_clip_val": 0.5}
