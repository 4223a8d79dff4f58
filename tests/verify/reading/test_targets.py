"""What configurations name: classes by their dotted path, and plugins of hydra."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest

from tests.verify.trees import tree
from verify.environments.environment_pair import wanted_by
from verify.environments.installer import find
from verify.environments.naming import needed_by
from verify.reading.sources import Sources
from verify.reading.targets import asked_for, hydra_plugins, named_classes, targets
from verify.request import Request
from verify.sandbox.containment import Containment


def test_what_configurations_name_is_found(tmp_path: Path) -> None:
    tree(tmp_path / "p", model="class M: ...\n", run="")
    data = tmp_path / "p" / "src" / "data"
    data.mkdir(parents=True)
    (data / "mnist.py").write_text("import torchvision\nclass Data: ...\n")
    (tmp_path / "p" / "a.yaml").write_text(
        "model:\n  _target_: model.M\ndata:\n- class_path: 'src.data.mnist.Data.make'\nother:\n"
        "  target: timm.create\nplain: here.is.none\ngone:\n  _target_: src.gone.It\n"
    )
    assert targets(Sources(tmp_path / "p"), []) == (("model.py", "src/data/mnist.py"), frozenset({"timm"}))
    (tmp_path / "p" / "b.yaml").write_text("_target_: mnist.Data\n")
    assert targets(Sources(tmp_path / "p"), ["src/data/run.py"])[1] == {"timm"}
    assert asked_for({"timm", "aim", "yaml"}, ["timm>=0.5", "PyYAML"]) == {"timm", "yaml"}
    assert asked_for({"timm"}, []) == {"timm"}


@pytest.mark.parametrize(
    ("text", "plugins"),
    [
        ("defaults:\n  - model: a\n  - override hydra/job_logging: colorlog\n", {"hydra-colorlog"}),
        ("defaults:\n  - hydra/hydra_logging: 'colorlog'\n", {"hydra-colorlog"}),
        ("defaults:\n  - override /hydra/launcher: submitit_slurm\n", {"hydra-submitit-launcher"}),
        ("defaults:\n  - override hydra/job_logging: none\n  - override hydra/sweeper: basic\n", set()),
        ("defaults:\n  # - override hydra/job_logging: colorlog\n", set()),
        ("defaults:\n  - launcher: joblib\n  - my_hydra/launcher: joblib\n", set()),
        ("# @package _global_\ndefaults:\n  - override /hydra/sweeper: optuna\n", set()),
    ],
)
def test_plugins_of_hydra_are_what_configurations_choose(text: str, plugins: set[str], tmp_path: Path) -> None:
    (tmp_path / "conf").mkdir()
    (tmp_path / "conf" / "config.yaml").write_text(text)
    assert hydra_plugins(tmp_path) == plugins


@pytest.mark.parametrize(("imported", "asked"), [("hydra", True), ("yaml", False)])
def test_plugins_of_hydra_are_installed_with_it(imported: str, asked: bool, tmp_path: Path) -> None:
    root = tree(tmp_path / "p", run=f"import {imported}\nimport pytorch_lightning as pl\npl.Trainer().fit(1)\n")
    (root / "config.yaml").write_text("defaults:\n  - override hydra/job_logging: colorlog\n")
    request = Request("g", (), (), "2.6.6", None, (), ())
    wanted = wanted_by(Sources(root), ["run.py"], (), request, find(Event(), Containment("none")))
    assert ("hydra-colorlog" in wanted.packages) is asked


@pytest.mark.parametrize(
    ("line", "asked"),
    [
        ("hydra-colorlog==1.1", {"hydra-colorlog"}),
        (
            "hydra-colorlog @ git+https://host/o/hydra-colorlog.git",
            {"hydra-colorlog @ git+https://host/o/hydra-colorlog.git"},
        ),
        ("hydra-colorlog @ https://host/hydra_colorlog-1.1-py3-none-any.whl", set()),
    ],
)
def test_plugins_of_hydra_are_taken_from_where_the_project_takes_them(
    line: str, asked: set[str], tmp_path: Path
) -> None:
    root = tree(tmp_path / "p", run="import hydra\nimport pytorch_lightning as pl\npl.Trainer().fit(1)\n")
    (root / "config.yaml").write_text("defaults:\n  - override hydra/job_logging: colorlog\n")
    (root / "requirements.txt").write_text(f"pytorch-lightning\nhydra-core\n{line}\n")
    request = Request("g", (), (), "2.6.6", None, (), ())
    wanted = wanted_by(Sources(root), ["run.py"], (), request, find(Event(), Containment("none")))
    assert {line for line in wanted.packages if "colorlog" in line} == asked


def test_classes_of_lightning_that_configurations_name_need_their_packages(tmp_path: Path) -> None:
    tree(tmp_path / "p", run="")
    named = ("pytorch_lightning.loggers.MLFlowLogger", "lightning.pytorch.loggers.CSVLogger", "mine.WandbLogger")
    text = "".join(f"l{number}:\n  _target_: {name}\n" for number, name in enumerate(named))
    (tmp_path / "p" / "a.yaml").write_text(text)
    classes = named_classes(Sources(tmp_path / "p"))
    assert classes == {"MLFlowLogger", "CSVLogger"} and needed_by(classes) == {"mlflow"}
