"""LIT230: a ModelCheckpoint that keeps the best of nothing that it is told of."""

from __future__ import annotations

import pytest
from lightning.pytorch.callbacks import ModelCheckpoint
from lightning.pytorch.utilities.exceptions import MisconfigurationException

from tests.codemods.support import rule, run_rules

HEAD = "from pytorch_lightning.callbacks import ModelCheckpoint\n\n"
LOGGED = "def step(self):\n    self.log('val_loss', 1)\n"


def test_the_newest_refuses_it() -> None:
    with pytest.raises(MisconfigurationException, match="monitor=None"):
        ModelCheckpoint(save_top_k=5)
    assert ModelCheckpoint(save_top_k=5, monitor="val_loss").monitor == "val_loss"


def test_it_is_told_what_it_watched() -> None:
    files = {"a.py": HEAD + "save = ModelCheckpoint(save_top_k=5)\n", "b.py": LOGGED}
    after = run_rules(files, rule("LIT230"), pins=("pytorch-lightning<0.10",)).final()["a.py"].decode()
    assert after == f'{HEAD}save = ModelCheckpoint(monitor="val_loss", save_top_k=5)\n'


@pytest.mark.parametrize(
    ("logged", "pins"),
    [("", ("pytorch-lightning<0.10",)), (LOGGED, ("pytorch-lightning>=0.9",)), (LOGGED, ())],
    ids=["nothing speaks of that", "a release that raised", "any release"],
)
def test_it_is_unsafe_where_it_may_not_have_watched_that(logged: str, pins: tuple[str, ...]) -> None:
    files = {"a.py": HEAD + "save = ModelCheckpoint(save_top_k=5)\n", "b.py": logged}
    made = run_rules(files, rule("LIT230"), pins=pins)
    assert [item.fix for item in made.findings] == ["unsafe"]


@pytest.mark.parametrize(
    "given", ["save_top_k=1", "save_top_k=-1", "save_top_k=n", "save_top_k=True", "save_top_k=5, monitor='a'",
              "save_top_k=5, **more", "'a', save_top_k=5", ""],
)  # fmt: skip
def test_left_alone(given: str) -> None:
    files = {"a.py": f"{HEAD}save = ModelCheckpoint({given})\n", "b.py": LOGGED}
    found = run_rules(files, rule("LIT230")).findings
    assert not any("keep the best" in item.message for item in found)
