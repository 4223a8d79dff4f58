"""Requirements that contradict each other or themselves, and lock files that hold a malicious release."""

from __future__ import annotations

import pytest

from codemods.code.source import Source
from codemods.engine.plan import plan
from codemods.engine.scan import Options
from codemods.finding import Finding
from codemods.rule import rule_of
from codemods.rules.pins.pin001 import RULE
from fixer.files import kind_of
from tests.codemods.rules.pins.support import told

OLD = "from pytorch_lightning import Trainer\n\ntrainer = Trainer(gpus=1)\n"
PLAIN = "from pytorch_lightning import Trainer\n"


def said(files: dict[str, str], code: str = PLAIN) -> list[tuple[str, str]]:
    """The messages of the findings that are left for a person, with their paths."""
    return [(finding.path, finding.message) for finding in left(files, code)]


def left(files: dict[str, str], code: str = PLAIN) -> list[Finding]:
    """The findings that are left for a person."""
    every = {"train.py": code, **files}
    made = plan(
        [Source(path, kind_of(path) or "other", text.encode()) for path, text in every.items()],
        Options((rule_of("LIT101"), rule_of("LIT110"), RULE)),
    )
    assert made.bugs == ()
    return [finding for finding in made.findings if finding.fix == "manual"]


SETUP = 'from setuptools import setup\n\nsetup(install_requires=["pytorch-lightning>=2.1"])\n'


@pytest.mark.parametrize(
    ("files", "path"),
    [
        ({"requirements.txt": "pytorch-lightning==1.5.0\n", "setup.py": SETUP}, "setup.py"),
        ({"requirements.txt": "torch==1.9\ntorch>=2.1\n"}, "requirements.txt"),
        (
            {
                "environment.yaml": "dependencies:\n- pytorch-lightning=1.5.*\n",
                "requirements.txt": "pytorch_lightning~=2.1\n",
            },
            "requirements.txt",
        ),
    ],
)
def test_no_release_meets_both(files: dict[str, str], path: str) -> None:
    assert [found for found, message in said(files) if " contradicts " in message] == [path]


@pytest.mark.parametrize(
    ("files", "stops", "words"),
    [
        ({"environment.yml": "dependencies:\n- pytorch-lightning=1.5.*\n"}, False, "if the two files are for one"),
        ({"setup.py": SETUP.replace("2.1", "2.4")}, True, "both are for the same code"),
    ],
    ids=["two ways to make an environment", "installed together"],
)
def test_what_is_never_installed_together_stops_nothing(files: dict[str, str], stops: bool, words: str) -> None:
    every = {"requirements.txt": "pytorch_lightning==2.1.0\n", **files}
    found = [item for item in left(every) if "contradicts" in item.message]
    assert [(item.stops, words in item.reason) for item in found] == [(stops, True)]


def test_one_contradicts_itself() -> None:
    assert any("allows no release" in message for _, message in said({"requirements.txt": "lightning>=2.1,<2.0\n"}))


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"requirements.txt": "pytorch-lightning==1.5.0\n", "setup.py": SETUP}, OLD),
        ({"requirements.txt": "pytorch-lightning==2.2.0\n", "setup.py": SETUP}, PLAIN),
        ({"requirements.txt": "torch==1.12.1+cu113\ntorch>=1.12\nlightning>2.1,<2.2\n"}, PLAIN),
        (
            {
                "requirements.txt": "torch==1.9; python_version < '3.9'\ntorch==2.1; python_version >= '3.9'\n"
                "lightning==2.2.0\n"
            },
            PLAIN,
        ),
        (
            {
                "pyproject.toml": '[project]\nname = "a"\ndependencies = ["lightning>=2.2"]\n'
                '[project.optional-dependencies]\nold = ["lightning==2.0.1"]\n'
            },
            PLAIN,
        ),
        (
            {
                "a/requirements.txt": "lightning==2.0.1\n",
                "a/m.py": "",
                "b/requirements.txt": "lightning==2.4\n",
                "b/m.py": "",
            },
            PLAIN,
        ),
        ({"requirements.txt": "torch==2.2.2\n", "requirements-old.txt": "torch==1.7\nlightning==2.2\n"}, PLAIN),
        ({"requirements.txt": "lightning==2.2\n", "Dockerfile": "FROM x\nRUN pip install lightning==2.1\n"}, PLAIN),
    ],
    ids=[
        "both are moved",
        "a release for both",
        "local versions",
        "markers",
        "extras",
        "two generations",
        "another machine",
        "commands",
    ],
)
def test_no_contradiction(files: dict[str, str], code: str) -> None:
    assert [message for _, message in said(files, code) if "contradicts" in message or "no release" in message] == []


LOCKS = {
    "uv.lock": '[[package]]\nname = "lightning"\nversion = "{}"\n',
    "poetry.lock": '[[package]]\nname = "pytorch-lightning"\nversion = "{}"\n',
    "pdm.lock": '[[package]]\nname = "lightning"\nversion = "{}"\n',
    "Pipfile.lock": '{{"default": {{\n  "lightning": {{\n    "hashes": ["a"],\n    "version": "=={}"\n  }}\n}}}}\n',
    "conda-lock.yml": "package:\n- name: lightning\n  version: {}\n",
}


@pytest.mark.parametrize("lock", LOCKS)
@pytest.mark.parametrize("release", ["2.6.2", "2.6.3"])
def test_a_lock_file_with_a_malicious_release(lock: str, release: str) -> None:
    assert any(path == lock and "malicious" in message for path, message in said({lock: LOCKS[lock].format(release)}))


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_file_with_another_release(lock: str) -> None:
    assert said({lock: LOCKS[lock].format("2.6.4")}) == []


def test_what_has_nothing_of_lightning_is_not_told_of_its_torch() -> None:
    files = {"environment.yml": "dependencies:\n  - pytorch=1.7.0\n", "requirements.txt": "torch==2.1.2\n"}
    assert told(files, code="import torch\n") == []
    ours = "from pytorch_lightning import Trainer\nTrainer(gpus=find())\n"
    assert any("contradicts" in said for *_, said in told(files, code=ours))
    asked = {**files, "requirements.txt": "torch==2.1.2\npytorch-lightning==2.6.6\n"}
    assert any("contradicts" in said for *_, said in told(asked, code="import torch\n"))
