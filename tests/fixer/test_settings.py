"""What is known of a project's requirements before the rules look."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemods.lightning.pins.stated import is_forked
from fixer.pipeline import check
from fixer.project import open_tree
from fixer.settings import SharedOptions, sources_of

FORK = "pytorch-lightning @ git+https://github.com/me/pytorch-lightning.git@fixes\n"
OFFICIAL = "https://github.com/PyTorchLightning/pytorch-lightning.git"
NAMED = FORK.replace("fixes", "v0.8.5_fixes")
CODE = "from pytorch_lightning import Trainer\n\nTrainer(gpus=[0])\n"


@pytest.mark.parametrize(
    ("files", "forked"),
    [
        ({"requirements.txt": FORK}, True),
        ({"requirements.txt": NAMED}, False),
        ({"requirements.txt": f"pytorch-lightning @ git+{OFFICIAL}@9b011606f\n"}, False),
        ({"requirements.txt": f"git+{OFFICIAL}\n"}, False),
        ({"requirements.txt": f"pytorch-lightning @ git+{OFFICIAL}; python_version > '3.6'\n"}, False),
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
    result = check(SharedOptions(path=tmp_path), lambda message: None)
    (gpus,) = [finding for finding in result.findings if finding.code == "LIT101"]
    assert gpus.fix == ("unsafe" if forked else "safe")
    assert gpus.applied is not forked
    assert ("installed here from an address" in gpus.reason) is forked


def test_leaving_a_fork_of_a_release_is_asked_once(tmp_path: Path) -> None:
    """The code is moved from the release that the fork names; to leave the fork for it is for a person to say."""
    for name, text in {"train.py": CODE, "requirements.txt": NAMED}.items():
        (tmp_path / name).write_text(text)
    result = check(SharedOptions(path=tmp_path), lambda message: None)
    left = [finding for finding in result.findings if not finding.applied and finding.stops]
    assert [(finding.path, finding.fix) for finding in left] == [("requirements.txt", "unsafe")]
    assert "whether the release has what was changed there" in left[0].reason


def test_what_is_told_of_rules_names_no_folder_of_this_machine() -> None:
    given = SharedOptions(plugins=("tools/ours.toml", "/home/someone/rules"), trust_plugins=True)
    assert given.arguments("") == (".", "--plugins=tools/ours.toml,rules", "--trust-plugins")
    assert SharedOptions(plugins=()).arguments("") == (".",)
