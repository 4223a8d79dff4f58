"""Which Lightning is watched while a script runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.verify.trees import tree
from verify.running import namespaces
from verify.sources import Sources

BOTH = ("lightning", "pytorch-lightning")
OLD, NEW = "pytorch_lightning", "lightning.pytorch"


@pytest.mark.parametrize(
    ("files", "config", "installed", "found"),
    [
        ({"run": "import pytorch_lightning\n", "other": "import lightning\n"}, "", BOTH, [OLD]),
        ({"run": "import model\n", "model": "import lightning.pytorch as pl\n"}, "", BOTH, [NEW]),
        ({"run": "i('model')\n", "model": "import lightning\n"}, "", BOTH, [NEW]),
        ({"run": "i('a')\n", "a": "import lightning\n", "b": "import pytorch_lightning\n"}, "", BOTH[1:], [OLD]),
        ({"run": "i('a')\n", "a": "import lightning\n"}, "", BOTH[1:], [NEW]),
        ({"run": "import hydra\nimport lightning\n"}, "pytorch_lightning.Trainer", BOTH, [NEW, OLD]),
        ({"run": "import hydra\nimport lightning\n"}, "pytorch_lightning.Trainer", BOTH[:1], [NEW]),
        ({"run": "import yaml\nimport lightning\n"}, "pytorch_lightning.Trainer", BOTH, [NEW]),
        ({"run": "print()\n"}, "", BOTH, []),
    ],
)  # fmt: skip
def test_whatever_lightning_a_script_gets_at_is_watched(
    tmp_path: Path, files: dict[str, str], config: str, installed: tuple[str, ...], found: list[str]
) -> None:
    root = tree(tmp_path / "p", **files)
    (root / "conf.yaml").write_text(f"trainer:\n  _target_: {config}\n")
    assert namespaces(Sources(root), "run.py", installed) == found
