"""LIT002 where the user asks for a namespace: the whole project moves, and nothing else does."""

from __future__ import annotations

import importlib
import pkgutil

import pytest

from codemods.code.source import Source
from codemods.engine.plan import Plan, plan
from codemods.engine.scan import Options
from codemods.rule import rule_of
from codemods.rules.names.namespace_switch import OLD, ROOTS, renamed
from fixer.files import kind_of


def planned(files: dict[str, str], namespace: str, *codes: str) -> Plan:
    return plan(
        [Source(path, kind_of(path) or "other", text.encode()) for path, text in files.items()],
        Options(tuple(map(rule_of, codes or ("LIT002",))), namespace=namespace),
    )


def moved(files: dict[str, str], namespace: str, *codes: str) -> dict[str, str]:
    """The files after the move, which a second one leaves as they are."""
    made = planned(files, namespace, *codes)
    assert made.bugs == ()
    after = {path: made.final().get(path, text.encode()).decode() for path, text in files.items()}
    assert planned(after, namespace, *codes).changes == ()
    return after


CODE = """\
import logging
import pytorch_lightning
import pytorch_lightning as pl
import pytorch_lightning.callbacks
from pytorch_lightning.callbacks import (
    EarlyStopping,  # kept
    ModelCheckpoint,
)
import lightning_fabric
from lightning_fabric.utilities import rank_zero_only
from unittest import mock

log = logging.getLogger("pytorch_lightning")
NAME = "pytorch_lightning"


@mock.patch('pytorch_lightning.Trainer.fit')
def run(trainer: "pytorch_lightning.Trainer") -> None:
    from pytorch_lightning import LightningModule
    pytorch_lightning.seed_everything(1)
    print(pytorch_lightning.__version__, pytorch_lightning, lightning_fabric.Fabric, pl.Trainer)
"""
CONFIG = """\
# pytorch_lightning.Trainer
_target_: pytorch_lightning.Trainer
callbacks:
- class_path: "pytorch_lightning.callbacks.ModelCheckpoint"
- {_target_: lightning_fabric.Fabric, x: 1}   # pytorch_lightning.x
plain: pytorch_lightning
"""


def test_there_and_back() -> None:
    files = {"train.py": CODE, "conf/trainer.yaml": CONFIG}
    there = moved(files, "lightning")
    assert there["train.py"] == (
        CODE.replace("pytorch_lightning", "lightning.pytorch")
        .replace("lightning_fabric", "lightning.fabric")
        .replace('NAME = "lightning.pytorch"', 'NAME = "pytorch_lightning"')
    )
    assert there["conf/trainer.yaml"] == CONFIG.replace(
        "_target_: pytorch_lightning", "_target_: lightning.pytorch"
    ).replace('"pytorch_lightning.', '"lightning.pytorch.').replace("lightning_fabric", "lightning.fabric")
    assert moved(there, "pytorch_lightning") == files


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "import lightning as L\n\nL.pytorch.callbacks.Callback\nL.Trainer()\n",
            "import pytorch_lightning as L\n\nL.callbacks.Callback\nL.Trainer()\n",
        ),
        (
            "import lightning\n\nlightning.pytorch.Trainer\nlightning.LightningModule\n",
            "import pytorch_lightning\n\npytorch_lightning.Trainer\npytorch_lightning.LightningModule\n",
        ),
        (
            "if True:\n    from lightning import Fabric as F, LightningModule, Trainer\n",
            "if True:\n    from lightning_fabric import Fabric as F\n"
            "    from pytorch_lightning import LightningModule, Trainer\n",
        ),
        ("from lightning import pytorch as pl\n", "import pytorch_lightning as pl\n"),
        ("from lightning import fabric\n", "import lightning_fabric as fabric\n"),
    ],
)
def test_the_package_of_both(before: str, after: str) -> None:
    assert moved({"a.py": before}, "pytorch_lightning") == {"a.py": after}


@pytest.mark.parametrize(
    ("text", "namespace"),
    [
        ("import lightning as L\n\nL.Fabric()\n", "pytorch_lightning"),
        ("import lightning as L\n\nhelper(L)\n", "pytorch_lightning"),
        ("from lightning import data, Trainer\n", "pytorch_lightning"),
        ("import pytorch_lightning\n\nlightning = 1\n", "lightning"),
    ],
)
def test_left_whole(text: str, namespace: str) -> None:
    also = text + "from pytorch_lightning import Trainer\nfrom lightning.pytorch import Callback\n"
    made = planned({"a.py": also}, namespace)
    assert made.changes == () and made.findings
    assert all(finding.fix == "manual" for finding in made.findings)


@pytest.mark.parametrize(
    "text",
    [
        "try:\n    import lightning.pytorch as pl\nexcept ImportError:\n    import pytorch_lightning as pl\n",
        "import lightningx\nfrom pytorch_lightning_mine import a\nfrom .pytorch_lightning import b\n",
        'HELP = "see pytorch_lightning.Trainer"\n# pytorch_lightning.Trainer\n',
        "from lightning.pytorch import Trainer\n",
    ],
)
def test_not_meant(text: str) -> None:
    assert planned({"a.py": text}, "lightning").findings == ()


@pytest.mark.parametrize(
    "text",
    [
        "found = {}\nfor name in ['pytorch_lightning']:\n    found[name] = version(name)\n\n\n"
        "def load(name):\n    return import_module(name)\n",
        "NAMES = ['pytorch_lightning']\nsizes = [size(name) for name in NAMES]\n"
        "specs = [find_spec(name) for name in NAMES]\n",
        "for name in ['pytorch_lightning']:\n    print(import_module(name), version(name))\n",
        "for n in ['pytorch_lightning']:\n    print(import_module(n), version(n), 'pytorch_lightning'[:3])\n",
        "for name in ['pytorch_lightning']:\n    def load(name):\n        return import_module(name)\n",
    ],
)
def test_names_that_a_loop_has_for_more_stay(text: str) -> None:
    assert moved({"a.py": text}, "lightning") == {"a.py": text}


def test_documents_are_named_once() -> None:
    files = {
        "README.md": "See pytorch-lightning.\n\n    import pytorch_lightning as pl\n    pytorch_lightning.Trainer\n"
    }
    made = planned(files, "lightning")
    assert [(finding.fix, finding.span.line) for finding in made.findings] == [("manual", 3)]


def test_nothing_moves_unasked() -> None:
    assert planned({"train.py": CODE, "conf/trainer.yaml": CONFIG}, "").findings == ()


MANIFESTS = {
    "requirements.txt": (
        "pytorch-lightning[extra]>=1.6,<2.0  # why\n",
        "lightning[extra]>=2.0,<3.0,!=2.6.2,!=2.6.3  # why\n",
    ),
    "pyproject.toml": (
        '[project]\ndependencies = ["pytorch_lightning>=2.0,!=2.6.2,!=2.6.3"]\n'
        '[tool.poetry.dependencies]\npytorch-lightning = "^1.6"\n'
        '[tool.poetry.group.dev.dependencies]\n"pytorch-lightning" = {version = "^1.9", extras = ["extra"]}\n',
        '[project]\ndependencies = ["lightning>=2.0,!=2.6.2,!=2.6.3"]\n'
        '[tool.poetry.dependencies]\nlightning = "^2.0,!=2.6.2,!=2.6.3"\n'
        '[tool.poetry.group.dev.dependencies]\n"lightning" = {version = "^2.0,!=2.6.2,!=2.6.3", extras = ["extra"]}\n',
    ),
    "setup.py": (
        'from setuptools import setup\n\nsetup(install_requires=["pytorch-lightning>=1.4"])\n',
        'from setuptools import setup\n\nsetup(install_requires=["lightning>=2.0,!=2.6.2,!=2.6.3"])\n',
    ),
    "setup.cfg": (
        "[options]\ninstall_requires =\n    pytorch-lightning==2.4.0\n",
        "[options]\ninstall_requires =\n    lightning==2.4.0\n",
    ),
    "Pipfile": ('[packages]\npytorch-lightning = "==2.4.0"\n', '[packages]\nlightning = "==2.4.0"\n'),
    "environment.yaml": (
        "dependencies:\n  - conda-forge::pytorch-lightning=2.4.0\n  - pip:\n    - pytorch-lightning==2.4.0\n",
        "dependencies:\n  - conda-forge::lightning=2.4.0\n  - pip:\n    - lightning==2.4.0\n",
    ),
    "Dockerfile": (
        "FROM x\nRUN pip install pytorch-lightning==2.4.0 numpy && pip install pytorch_lightning\n",
        "FROM x\nRUN pip install lightning==2.4.0 numpy && pip install 'lightning>=2.0,!=2.6.2,!=2.6.3'\n",
    ),
}


@pytest.mark.parametrize("path", MANIFESTS)
def test_requirements_go_along(path: str) -> None:
    before, after = MANIFESTS[path]
    files = {"train.py": "from pytorch_lightning import Trainer\n", path: before}
    assert moved(files, "lightning", "LIT002", "PIN001")[path] == after


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("pytorch-lightning==2.4.0 --hash=sha256:ab\n", "hashes"),
        ("pytorch-lightning==2.4.0\nlightning==2.4.0\n", "asked for too"),
        ("git+https://github.com/me/pytorch-lightning.git#egg=pytorch-lightning\n", "fork"),
    ],
)
def test_requirements_that_stay(text: str, word: str) -> None:
    files = {"train.py": "from pytorch_lightning import Trainer\n", "requirements.txt": text}
    made = planned(files, "lightning", "LIT002", "PIN001")
    assert made.final().get("requirements.txt", text.encode()).decode() == text
    assert any(word in finding.reason for finding in made.findings if finding.code == "PIN001")


def modules(package: str) -> set[str]:
    found = importlib.import_module(package)
    return {item.name for item in pkgutil.walk_packages(found.__path__, f"{package}.", onerror=lambda name: None)}


OWN = ("__about__", "__version__", "__setup__")


@pytest.mark.parametrize("package", ["pytorch_lightning", "lightning_fabric"])
def test_the_installed_namespaces_hold_the_same_modules(package: str) -> None:
    there = {renamed(name, "lightning.pytorch") for name in modules(package) if name.rpartition(".")[2] not in OWN}
    other = str(renamed(package, "lightning.pytorch"))
    assert there == {name for name in modules(other) if name.rpartition(".")[2] not in OWN}


@pytest.mark.parametrize("name", ROOTS)
def test_the_package_of_both_hands_on_the_same_names(name: str) -> None:
    assert hasattr(importlib.import_module("lightning"), name)
    assert hasattr(importlib.import_module(OLD), name)


@pytest.mark.parametrize(
    "text",
    [
        'for name in ["{}", "torch"]:\n    logging.getLogger(name).setLevel(40)\n',
        'quiet = ("{}", "torch")\nfor name in quiet:\n    logging.getLogger(name).setLevel(40)\n',
        '[logging.getLogger(name) for name in ("torch", "{}")]\n',
    ],
)
def test_the_names_of_loggers_in_a_list_move(text: str) -> None:
    text = f"import logging\nimport {{}} as pl\n{text}"
    after = moved({"train.py": text.format(OLD, OLD)}, "lightning")["train.py"]
    assert after == text.format("lightning.pytorch", "lightning.pytorch")


def test_a_list_that_no_loop_gives_a_loader_stays() -> None:
    text = f'import {OLD} as pl\nfor name in ["{OLD}", "torch"]:\n    print(name)\n'
    after = moved({"train.py": text}, "lightning")["train.py"]
    assert f'["{OLD}", "torch"]' in after
