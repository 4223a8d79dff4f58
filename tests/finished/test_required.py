"""Which torchmetrics a tree installs, for the oracle of benchmarks/finished.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.finishing.oracle import violations
from benchmarks.finishing.required import asks_for_tasks

CALL = "from torchmetrics import Accuracy\n\nmetric = Accuracy()\n"


def tree(root: Path, **lists: str) -> Path:
    (root / "train.py").write_text(CALL)
    for name, text in lists.items():
        path = root / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("requirements_dot_txt", "torch==1.9.0\ntorchmetrics==0.5.1\nnumpy==1.20\n"),
        ("requirements_dot_txt", "torchmetrics[image]>=0.5,<0.11  # metrics\n"),
        ("requirements__base_dot_txt", "torchmetrics~=0.9.0; python_version<'3.9'\n"),
        ("environment_dot_yml", "dependencies:\n  - torchmetrics=0.6.0=pyhd8ed1ab_0\n  - numpy=1.20\n"),
        ("environment_dot_yaml", "dependencies:\n  - pip:\n    - torchmetrics==0.6\n"),
        ("setup_dot_py", "setup(install_requires=['torch>=1.9', 'torchmetrics<0.9', 'numpy>=1.2'])\n"),
        ("pyproject_dot_toml", '[tool.poetry.dependencies]\ntorchmetrics = "^0.6.2"\ntorch = "^1.10"\n'),
        ("pyproject_dot_toml", 'dependencies = ["torchmetrics>=0.6,<0.8", "torch>=2"]\n'),
        ("pyproject_dot_toml", '[tool.poetry.dependencies]\ntorchmetrics = {version = "~0.7", extras = ["image"]}\n'),
        ("Pipfile", '[packages]\ntorchmetrics = "==0.8.2"\n'),
        ("Pipfile_dot_lock", '{"default": {"torchmetrics": {"hashes": ["a"], "version": "==0.8.2"}}}'),
        ("poetry_dot_lock", '[[package]]\nname = "torchmetrics"\nversion = "0.10.3"\n\n[[package]]\nname = "x"\n'),
    ],
)
def test_nothing_is_refused_where_an_old_torchmetrics_is_installed(tmp_path: Path, name: str, text: str) -> None:
    root = tree(tmp_path, **{name: text})
    assert not asks_for_tasks(root)
    assert violations(root) == []


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("requirements_dot_txt", "torchmetrics\n"),
        ("requirements_dot_txt", "torchmetrics>=0.5\n"),
        ("requirements_dot_txt", "torchmetrics==0.11.4\n"),
        ("requirements_dot_txt", "torchmetrics==1.2.0\n"),
        ("requirements_dot_txt", "# torchmetrics==0.5.1\n"),
        ("requirements_dot_txt", "torchmetrics-extra==0.5.1\n"),
        ("requirements_dot_txt", "torchmetrics\nnumpy==0.5\n"),
        ("requirements_dot_txt", "torchmetrics==nonsense\n"),
        ("setup_dot_py", "setup(install_requires=['torchmetrics', 'numpy==0.5'])\n"),
        ("pyproject_dot_toml", 'dependencies = ["torchmetrics", "torch<0.5"]\n'),
        ("pyproject_dot_toml", '[tool.poetry.dependencies]\ntorchmetrics = "*"\ntorch = "^0.4"\n'),
        ("pyproject_dot_toml", '[tool.poetry.dependencies]\ntorchmetrics = ">=0.6"\n'),
        ("notes_dot_txt", "torchmetrics==0.5.1\n"),
        ("poetry_dot_lock", '[[package]]\nname = "torchmetrics"\nversion = "1.0.3"\n'),
    ],
)
def test_metrics_are_refused_where_a_later_one_is_or_may_be_installed(tmp_path: Path, name: str, text: str) -> None:
    root = tree(tmp_path, **{name: text})
    assert asks_for_tasks(root)
    assert [each.what for each in violations(root)] == ["torchmetrics.Accuracy(without task=)"]


def test_lists_that_disagree_are_judged_by_the_later_one(tmp_path: Path) -> None:
    root = tree(tmp_path, requirements_dot_txt="torchmetrics==0.5\n", setup_dot_py="R = ['torchmetrics>=0.7']\n")
    assert asks_for_tasks(root)


def test_a_bare_name_does_not_undo_a_frozen_list(tmp_path: Path) -> None:
    root = tree(tmp_path, requirements_dot_txt="torchmetrics==0.5\n", setup_dot_py="R = ['torchmetrics']\n")
    assert not asks_for_tasks(root)


def test_the_requirements_of_another_tree_count_where_it_is_named(tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    for root, asked in ((before, "torchmetrics==0.5\n"), (after, "torchmetrics>=1\n")):
        root.mkdir()
        tree(root, requirements_dot_txt=asked)
    assert violations(before) == []
    assert len(violations(before, required_by=after)) == 1


def test_what_lightning_refuses_is_told_all_the_same(tmp_path: Path) -> None:
    root = tree(tmp_path, requirements_dot_txt="torchmetrics==0.5\n")
    (root / "train.py").write_text(f"{CALL}import pytorch_lightning as pl\npl.Trainer(gpus=1)\n")
    assert [each.what for each in violations(root)] == ["Trainer(gpus=)"]
