"""LIT220: parameters that may be arrays beside what is kept, and properties of that name."""

from __future__ import annotations

from argparse import Namespace
from typing import Any

import numpy
import pytest
from lightning.pytorch import LightningModule

from tests.codemods.support import refusals, rewritten, rule, run_rules

HEAD = "import torch\nfrom lightning.pytorch import LightningModule\n\n\nclass Model(LightningModule):\n"
INIT = "    def __init__(self, hparams):\n        super().__init__()\n"


def _kept_beside(parameters: str, body: str = "") -> dict[str, str]:
    head = HEAD.replace("from lightning", "import numpy\nimport torch\nfrom lightning", 1)
    init = (
        f"    def __init__(self, hparams, {parameters}):\n        super().__init__()\n        self.hparams = hparams\n"
    )
    return {"a.py": f"{head}{init}{body}"}


@pytest.mark.parametrize(
    ("parameters", "body", "ignored"),
    [
        ("array_size=4, df_path=None, array_dir: str = None", "        self.path = df_path\n", ""),
        ("df: str, frames=0", "", ""),
        ("train_df, df_val=None", "", '["train_df", "df_val"]'),
        ("table: numpy.ndarray", "", '["table"]'),
        ("table", "        self.table = torch.from_numpy(table)\n", '["table"]'),
        ("table", "        self.table = torch.nn.Parameter(torch.tensor(table))\n", '["table"]'),
        ("words", "        self.size = len(words)\n", ""),
    ],
)
def test_parameters_that_may_be_arrays_are_not_compared(parameters: str, body: str, ignored: str) -> None:
    after = rewritten(_kept_beside(parameters, body), rule("LIT220"))["a.py"]
    more = f", ignore={ignored}" if ignored else ""
    assert f"        self.save_hyperparameters(hparams{more})\n" in after


def test_an_array_beside_is_no_hindrance() -> None:
    files = _kept_beside("table", "        self.table = torch.from_numpy(table)\n")
    space: dict[str, Any] = {}
    exec(rewritten(files, rule("LIT220"))["a.py"], space)
    assert space["Model"](Namespace(width=3), numpy.ones(4)).hparams == {"width": 3}


@pytest.mark.parametrize(
    "more",
    [
        "        self.size = self.hparams.train_df\n",
        '        self.size = hparams["train_df"]\n',
        '\n\ndef options(parser):\n    parser.add_argument("--train_df")\n',
    ],
)
def test_a_name_that_is_kept_cannot_be_left_out(more: str) -> None:
    [why] = refusals(_kept_beside("train_df", more), "LIT220")
    assert "`train_df` may be an array" in why
    model = type("Kept", (LightningModule,), {})()
    assert _ignoring(model, Namespace(train_df=1, width=3)).hparams == {"width": 3}


def _ignoring(model: Any, hparams: Namespace) -> Any:
    model.save_hyperparameters(hparams, ignore=["train_df"])
    return model


def test_a_property_of_its_own_is_no_setter_of_lightning() -> None:
    own = "    @property\n    def hparams(self):\n        return self.kept\n\n    @hparams.setter\n"
    own += "    def hparams(self, value):\n        self.kept = value\n\n"
    init = "    def __init__(self, hparams):\n        super().__init__()\n        self.hparams = hparams\n"
    assert run_rules({"a.py": HEAD + own + init}, rule("LIT220"), unsafe=True).findings == ()
    base = HEAD.replace("Model", "Base") + own
    files = {"base.py": base, "a.py": f"from base import Base\n\n\nclass Model(Base):\n{init}"}
    assert run_rules(files, rule("LIT220"), unsafe=True).findings == ()
