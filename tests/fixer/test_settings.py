"""What is known of a project's requirements before the rules look."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemods.lightning.pins.stated import is_forked
from fixer.pipeline import check
from fixer.project import open_tree
from fixer.settings import Asked, sources_of

FORK = "pytorch-lightning @ git+https://github.com/me/pytorch-lightning.git@v0.8.5\n"
CODE = "from pytorch_lightning import Trainer\n\nTrainer(gpus=[0])\n"


@pytest.mark.parametrize(
    ("files", "forked"),
    [
        ({"requirements.txt": FORK}, True),
        ({"requirements.txt": "pytorch-lightning==1.9.5\n"}, False),
        ({"requirements.txt": FORK, "requirements-dev.txt": "pytorch-lightning>=2\n"}, False),
        ({"requirements.txt": "torch\n"}, False),
        ({}, False),
    ],
)
def test_a_project_on_a_fork(tmp_path: Path, files: dict[str, str], forked: bool) -> None:
    for name, text in {"train.py": CODE, **files}.items():
        (tmp_path / name).write_text(text)
    assert is_forked(sources_of(open_tree(tmp_path))) is forked
    result = check(Asked(path=tmp_path), lambda message: None)
    (gpus,) = [finding for finding in result.findings if finding.code == "LIT101"]
    assert gpus.fix == ("unsafe" if forked else "safe")
    assert gpus.applied is not forked
    assert ("comes from an address" in gpus.reason) is forked
