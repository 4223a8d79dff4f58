"""What the manifests of a tree ask for: the main ones together, and nothing of extras and development."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.environments.required import required


def test_a_requirement_file_and_the_package_are_installed_together(tmp_path: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "base.txt").write_text("pandas>=1.0  # tables\n")
    (tmp_path / "more" / "bounds.txt").write_text("numpy<2\n")
    (tmp_path / "requirements.txt").write_text(
        "-r more/base.txt\n-c more/bounds.txt\n--extra-index-url https://example.org/simple\n-e .\n"
        "torch==2.3.1 --hash=sha256:00\ngit+https://example.org/fork.git\n"
    )
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "a"\nrequires-python = ">=3.10"\ndependencies = ["pytorch-lightning>=2"]\n'
        '[project.optional-dependencies]\nboard = ["tensorboard"]\n'
    )
    (tmp_path / "requirements-dev.txt").write_text("pytest\n")
    found = required(tmp_path)
    assert found
    assert found.files == ("requirements.txt", "pyproject.toml")
    assert found.lines == ("pandas>=1.0", "torch==2.3.1", "pytorch-lightning>=2")
    assert found.bounds == ("numpy<2",)
    assert (found.python, found.elsewhere) == (">=3.10", ("git+https://example.org/fork.git",))


@pytest.mark.parametrize(
    ("stated", "meant"),
    [("^2.1", ">=2.1,<3"), ("~2.1", ">=2.1,<2.2"), ("^0.4.1", ">=0.4.1,<0.5"), ("2.6.6", "==2.6.6"), ("*", "")],
)
def test_poetry_says_it_in_its_own_words(stated: str, meant: str, tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        f'[tool.poetry.dependencies]\npython = "^3.10"\nlightning = "{stated}"\n'
        'rich = {version = "*", optional = true}\nown = {git = "https://example.org/own.git"}\n'
        '[tool.poetry.group.dev.dependencies]\npytest = "*"\n'
    )
    found = required(tmp_path)
    assert found and found.lines == (f"lightning{meant}",)
    assert found.elsewhere == ("own @ https://example.org/own.git",)
    assert found.python == "<4,>=3.10"


def test_setup_files_are_read_and_not_run(tmp_path: Path) -> None:
    (tmp_path / "setup.py").write_text(
        "from setuptools import setup\nneeds = ['torch>=2', 'lightning']\nraise SystemExit\n"
        "setup(name='a', install_requires=needs, python_requires='>=3.8', extras_require={'x': ['rich']})\n"
    )
    (tmp_path / "setup.cfg").write_text("[options]\ninstall_requires =\n    numpy  # numbers\n    tqdm\n")
    found = required(tmp_path)
    assert found and set(found.lines) == {"numpy", "tqdm", "torch>=2", "lightning"}
    assert found.python == ">=3.8"


def test_an_environment_of_conda_counts_where_nothing_else_names_lightning(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("numpy\n")
    (tmp_path / "environment.yml").write_text(
        "name: a\nchannels:\n  - pytorch\ndependencies:\n  - python=3.9\n  - pytorch::pytorch=1.8.1=py3.8_cuda10.2_0\n"
        "  - cudatoolkit=10.2\n  - torchvision=0.9\n  - pip:\n    - pytorch-lightning==2.6.6\n    - rich\n"
    )
    found = required(tmp_path)
    assert found and found.files == ("environment.yml",)
    assert found.lines == ("torch==1.8.1", "torchvision==0.9.*", "pytorch-lightning==2.6.6", "rich")
    assert (found.python, found.elsewhere) == ("==3.9.*", ("cudatoolkit (conda)",))
    assert {"torch", "cudatoolkit", "rich"} <= found.named


WITH_PROJECT = "dependencies:\n  - pytorch>=1.8\n  - pip:\n    - pytorch-lightning>=1.2\n    - hydra-core --pre\n"


@pytest.mark.parametrize("line", ["-e .", "-e .  # the project", "'.[dev]'", "-r requirements.txt"])
def test_an_environment_of_conda_that_installs_the_project_counts_with_it(line: str, tmp_path: Path) -> None:
    (tmp_path / "setup.py").write_text("setup(name='a', install_requires=['pytorch-lightning'])\n")
    (tmp_path / "environment.yaml").write_text(f"{WITH_PROJECT}    - {line}\n")
    found = required(tmp_path)
    assert found and found.files == ("setup.py", "environment.yaml")
    assert found.lines == ("pytorch-lightning", "torch>=1.8", "pytorch-lightning>=1.2", "hydra-core")


@pytest.mark.parametrize(
    "line", ["-e ./other", "-r requirements-dev.txt", "./wheels/a.whl", "..", "-e git+https://h/a.git"]
)
def test_one_that_installs_something_else_does_not(line: str, tmp_path: Path) -> None:
    (tmp_path / "setup.py").write_text("setup(name='a', install_requires=['pytorch-lightning'])\n")
    (tmp_path / "environment.yaml").write_text(f"{WITH_PROJECT}    - {line}\n")
    found = required(tmp_path)
    assert found and (found.files, found.lines) == (("setup.py",), ("pytorch-lightning",))


def test_pipenv_is_read(tmp_path: Path) -> None:
    (tmp_path / "Pipfile").write_text('[packages]\nlightning = ">=2.1"\n[requires]\npython_version = "3.10"\n')
    found = required(tmp_path)
    assert found and (found.lines, found.python) == (("lightning>=2.1",), "==3.10.*")


@pytest.mark.parametrize(
    "files",
    [
        {},
        {"requirements.txt": "torch\nnumpy\n"},
        {"pyproject.toml": "[project\n"},
        {"setup.py": "def (\n"},
        {"requirements.txt": "-r requirements.txt\ntorch\n"},
    ],
)
def test_what_names_no_lightning_asks_for_nothing(files: dict[str, str], tmp_path: Path) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    assert required(tmp_path) is None


def test_a_link_out_of_the_tree_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "outside.txt").write_text("lightning\n")
    root = tmp_path / "tree"
    root.mkdir()
    (root / "requirements.txt").symlink_to(tmp_path / "outside.txt")
    assert required(root) is None
