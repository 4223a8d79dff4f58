"""`--check-pins`, the targets that there are, and the manifests that are read."""

from __future__ import annotations

from pathlib import Path

import pytest

from codemods.lightning.pins.stated import pins_of
from fixer.errors import UsageError
from fixer.files import kind_of
from fixer.pipeline import diff
from fixer.project import open_tree
from fixer.settings import SharedOptions, checked_target, sources_of
from verify.environments import resolve as module
from verify.environments.resolve import Resolution

FILES = {
    "train.py": "from pytorch_lightning import Trainer\n\nTrainer(gpus=1)\n",
    "requirements.txt": "pytorch-lightning==1.8.0\nother @ https://x.org/a.zip\n-r more.txt\ntqdm>=4  # bar\n",
    "setup.cfg": "[options]\ninstall_requires =\n    pytorch-lightning>=1.8\n    tqdm\n",
    "pyproject.toml": '[project]\ndependencies = ["tqdm"]\n',
    "Dockerfile": "RUN pip install pytorch-lightning==1.8.0\n",
}


def write(folder: Path) -> None:
    for name, text in FILES.items():
        (folder / name).write_text(text)


def test_each_manifest_is_resolved_as_it_is_in_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path)
    asked: list[tuple[str, ...]] = []

    def resolve(requirements: tuple[str, ...]) -> Resolution:
        asked.append(requirements)
        return Resolution("uv", "3.11", (("torch", "2.3.1"),), None if len(asked) > 1 else "no such thing")

    monkeypatch.setattr(module, "resolve", resolve)
    result = diff(SharedOptions(path=tmp_path, check_pins=True), lambda message: None)
    assert asked == [
        ("pytorch-lightning==2.6.6", "tqdm>=4"),
        ("pytorch-lightning!=2.6.2,!=2.6.3,>=2.0", "tqdm"),
    ]
    said = [message for message in result.messages if "Python 3.11" in message]
    assert said[0].startswith("requirements.txt (without 2 that come") and said[0].endswith("no such thing")
    assert said[1] == "setup.cfg would install on Python 3.11, by uv: torch 2.3.1, and 0 more"
    assert (tmp_path / "requirements.txt").read_text() == FILES["requirements.txt"]


def test_nothing_to_resolve(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1\n")
    result = diff(SharedOptions(path=tmp_path, check_pins=True), lambda message: None)
    assert "no manifest requires Lightning: there are no pins to check" in result.messages


def test_pins_are_those_that_the_project_states(tmp_path: Path) -> None:
    write(tmp_path)
    assert pins_of(sources_of(open_tree(tmp_path))) == ("pytorch-lightning==1.8.0", "pytorch-lightning>=1.8")


@pytest.mark.parametrize(
    ("target", "full"),
    [
        ("2.0.0", "2.0.0"),
        ("2.2.5", "2.2.5"),
        ("2.4.0", "2.4.0"),
        ("2.6.6", "2.6.6"),
        ("2.6.0", "2.6.0"),
        ("2.6", "2.6.6"),
        ("2.0", "2.0.9"),
        ("v2.1", "2.1.4"),
        (" V2.1", "2.1.4"),
        ("2.5.0.0", "2.5.0"),
        ("2", "2.6.6"),
    ],
)
def test_targets(target: str, full: str) -> None:
    assert checked_target(target) == full


@pytest.mark.parametrize(
    ("target", "why"),
    [
        ("2.4.1", "the newest of 2.4 is 2.4.0"),
        ("2.1.9", "the newest of 2.1 is 2.1.4"),
        ("2.6.3", "malicious"),
        ("2.6.3.0", "malicious"),
        ("1.9.5", "from 2.0.0 to"),
        ("3.0", "from 2.0.0 to"),
        ("2.7", "from 2.0.0 to"),
        ("1.9", "from 2.0.0 to"),
        ("2.5.0rc1", "no final release"),
        ("2.5rc1", "no final release"),
        ("2.5.post1", "no such release; the newest of 2.5 is 2.5.6"),
        ("2.5+local", "no such release; the newest of 2.5 is 2.5.6"),
        ("2.5.0.post1", "no such release; the newest of 2.5 is 2.5.6"),
        ("2.5.0.1", "no such release; the newest of 2.5 is 2.5.6"),
        ("2.6.3.post1", "no such release; the newest of 2.6 is 2.6.6"),
        ("2.5.dev1", "no final release"),
        ("1!2.5", "from 2.0.0 to"),
        ("new", "not a version"),
    ],
)
def test_targets_that_cannot_be(target: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        checked_target(target)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("requirements/core.in", "requirements"),
        ("constraints.txt", "requirements"),
        ("a/requirements-dev.txt", "requirements"),
        ("poetry.lock", "lock"),
        ("x/Pipfile.lock", "lock"),
        ("notes.txt", None),
        ("config.in", None),
    ],
)
def test_kinds(path: str, kind: str | None) -> None:
    assert kind_of(path) == kind
