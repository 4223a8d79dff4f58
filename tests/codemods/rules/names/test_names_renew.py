"""The script that writes the table of names that are gone."""

from __future__ import annotations

import ast

import pytest

from codemods.rules.names.renew import FOREIGN, names
from codemods.rules.names.table import gone

MODULE = """\
import os
from typing import TYPE_CHECKING

from pytorch_lightning.utilities import rank_zero_only

try:
    import wandb
    from wandb.wandb_run import Run
except ImportError:
    wandb, Run = None, None

if TYPE_CHECKING:
    from wandb import Artifact


class WandbLogger:
    pass
"""


def test_the_names_of_a_module() -> None:
    found = list(names(ast.parse(MODULE), "pytorch_lightning.loggers.wandb", False))
    assert ("os", FOREIGN) in found
    assert ("rank_zero_only", "pytorch_lightning.utilities.rank_zero_only") in found
    assert found.count(("wandb", FOREIGN)) == found.count(("wandb", "")) == found.count(("Run", "")) == 1
    assert ("WandbLogger", "") in found
    assert "Artifact" not in dict(found)


@pytest.mark.parametrize("name", ["wandb", "Run", "RunDisabled"])
def test_what_a_logger_has_without_its_library_was_there_until_2_0(name: str) -> None:
    assert gone()[f"pl.loggers.wandb.{name}"].last == "2.0.9"


@pytest.mark.parametrize(
    ("name", "new"),
    [
        ("loggers.rank_zero_only", "pl.utilities.rank_zero_only"),
        ("trainer.trainer.AdvancedProfiler", "pl.profilers.AdvancedProfiler"),
        ("trainer.connectors.accelerator_connector.DDPPlugin", ""),
    ],
)
def test_what_a_module_imported_itself_can_be_taken_from_it(name: str, new: str) -> None:
    assert gone()[f"pl.{name}"].new == new
