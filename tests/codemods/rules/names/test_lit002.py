"""LIT002: what it moves, what it leaves alone, and that the two namespaces do not go together."""

from __future__ import annotations

import pytest
import pytorch_lightning
from lightning.pytorch import Trainer

from codemods.rules.names.lit002 import BEFORE, OTHERS
from tests.codemods.support import rule, run_rules


def test_a_module_of_the_other_namespace_is_refused() -> None:
    trainer = Trainer(logger=False, enable_checkpointing=False, accelerator="cpu")
    with pytest.raises(TypeError, match="LightningModule"):
        trainer.fit(pytorch_lightning.LightningModule())


def after(text: str, path: str = "callbacks.py", **files: str) -> str:
    made = run_rules({path: text, **dict(OTHERS), **files}, rule("LIT002"), unsafe=True)
    return made.final()[path].decode()


def test_fabric_goes_along() -> None:
    text = "import lightning_fabric as fabric\nimport model\n"
    assert after(text) == "import lightning.fabric as fabric\nimport model\n"


def test_files_that_never_meet_keep_theirs() -> None:
    text = BEFORE.replace("import model\n", "import os\n")
    made = run_rules({"callbacks.py": text, **dict(OTHERS)}, rule("LIT002"))
    assert made.findings == () and made.changes == ()


def test_one_namespace_is_left_alone() -> None:
    assert run_rules(dict(OTHERS), rule("LIT002")).findings == ()


def test_an_import_without_a_name_of_its_own_is_a_finding() -> None:
    made = run_rules({"a.py": "import pytorch_lightning\nimport model\n", **dict(OTHERS)}, rule("LIT002"))
    assert [finding.fix for finding in made.findings] == ["manual"] and made.changes == ()
