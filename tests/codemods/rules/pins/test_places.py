"""The places where requirements stand: each is read, and only its specifier changes."""

from __future__ import annotations

import json

import pytest

from tests.codemods.rules.pins.support import NOT, moved, told
from tests.codemods.support import cell, notebook

SETUP = """\
from setuptools import find_packages, setup

# 'pytorch-lightning==1.0'
BASE = ['pytorch_lightning==1.8.1', "numpy"]  # kept
extras = {}
extras["dev"] = [u"lightning==1.8", 'tqdm']
BASE += ["lightning-fabric>=1.8"]

setup(
    name="pytorch-lightning",
    keywords=["lightning==1.0", "torch"],
    install_requires=BASE + ["torch>=1.8"],
    extras_require={**extras, "all": extras["dev"]},
    python_requires=">=3.6",
)
"""
SETUP_AFTER = (
    SETUP.replace("lightning==1.8.1", "lightning==2.6.6")
    .replace('u"lightning==1.8"', 'u"lightning==2.6.6"')
    .replace("fabric>=1.8", f"fabric>=2.0,{NOT}")
    .replace(">=3.6", ">=3.10")
)

CFG = """\
[metadata]
name = pytorch-lightning
keywords = lightning==1.0
[options]
install_requires =
    pytorch-lightning>=1.4  ; python_version >= "3.7"
    # lightning==1.0
    torch>=1.8
python_requires = >=3.8
[options.extras_require]
tests =
    pytorch-lightning==1.6.4
    torch==1.11.0
    torchvision==0.12.0
inline = lightning~=1.9.0
[options.package_data]
tests = pytorch-lightning==1.6.4
"""
CFG_AFTER = (
    CFG.replace("lightning>=1.4 ", f"lightning>=2.0,{NOT} ")
    .replace("    pytorch-lightning==1.6.4\n    torch==1.11.0", "    pytorch-lightning==2.6.6\n    torch==2.3.1")
    .replace("==0.12.0", "==0.18.1")
    .replace("~=1.9.0", "~=2.6.6")
)

PIPFILE = """\
[[source]]
name = "pypi"
[packages]
pytorch-lightning = "*"
lightning = {version = "==1.8.0", extras = ["extra"]} # "==1.8.0"
torch = ">=1.8"
[dev-packages]
torchmetrics = "*"
[requires]
python_version = "3.7"
"""
PIPFILE_AFTER = PIPFILE.replace('lightning = "*"', f'lightning = ">=2.0,{NOT}"').replace('{version = "==1.8', "{@")
PIPFILE_AFTER = PIPFILE_AFTER.replace('{@.0"', '{version = "==2.6.6"')

CONDA = """\
name: x  # lightning=1.0
channels: [pytorch]
dependencies:
  - python=3.10
  - pytorch::pytorch=2.5.1  # keep
  - pytorch-lightning=1.5.*   # this
  - "lightning >=1.8"
  - pip:
      - lightning-fabric==1.8.0  # fabric
      - torchmetrics
  - numpy
"""
CONDA_AFTER = (
    CONDA.replace("=1.5.*", f"=2.6.*,{NOT}").replace(">=1.8", f">=2.0,{NOT}").replace("fabric==1.8.0", "fabric==2.6.6")
)

DOCKER = """\
FROM python:3.11
# RUN pip install pytorch-lightning==1.0
RUN apt-get install -y lightning=1.0 && python3 -m pip install --no-cache-dir -r requirements.txt \\
    'pytorch-lightning~=1.7.0' torch \\
  && pip install -c lightning==1.0 "lightning==1.8" # lightning==1.5
RUN conda install -c pytorch -y pytorch-lightning=1.9.*
RUN echo lightning==1.5 ; pip install lightning>=1.5
"""
DOCKER_AFTER = (
    DOCKER.replace("~=1.7.0", "~=2.6.6")
    .replace('"lightning==1.8"', '"lightning==2.6.6"')
    .replace("pytorch-lightning=1.9.*", f"'pytorch-lightning=2.6.*,{NOT}'")
    .replace("pip install lightning>=1.5", f"pip install 'lightning>=2.0,{NOT}'")
)

CI = """\
jobs:
  a:
    steps:
      - run: pip install lightning==1.8 torch
      - run: |
          echo "pip"  # pip install lightning==1.0
          pip install pytorch-lightning>=1.5
"""
CI_AFTER = CI.replace("install lightning==1.8", "install lightning==2.6.6").replace(
    "pytorch-lightning>=1.5", f"'pytorch-lightning>=2.0,{NOT}'"
)

HOOKS = """\
repos:
- repo: x
  hooks:
  - id: mypy
    additional_dependencies:
    - lightning>=1.9  # types
    - torch
"""


@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        ("setup.py", SETUP, SETUP_AFTER),
        ("setup.cfg", CFG, CFG_AFTER),
        ("Pipfile", PIPFILE, PIPFILE_AFTER),
        ("environment.yml", CONDA, CONDA_AFTER),
        ("conda/dev.yaml", CONDA, CONDA_AFTER),
        ("Dockerfile", DOCKER, DOCKER_AFTER),
        ("docker/Dockerfile.gpu", DOCKER, DOCKER_AFTER),
        (".github/workflows/ci.yml", CI, CI_AFTER),
        (".gitlab-ci.yml", CI, CI_AFTER),
        (".pre-commit-config.yaml", HOOKS, HOOKS.replace(">=1.9", f">=2.0,{NOT}")),
        ("requirements/base.in", "lightning ==1.8  # x\n", "lightning ==2.6.6  # x\n"),
        ("constraints-dev.txt", "lightning<=1.9\n", f"lightning>=2.0,<=2.6.6,{NOT}\n"),
    ],
)
def test_only_the_specifier_changes(path: str, before: str, after: str, ends: str) -> None:
    before, after = before.replace("\n", ends), after.replace("\n", ends)
    assert moved({path: before})[path] == after


def test_notebook() -> None:
    cells = [
        cell("!pip install lightning==1.0\n", "markdown"),
        cell('# é lightning==1.0\n!pip install -q "lightning==1.8" torch\n#!pip install lightning==1.2\n'),
        cell('%pip install pytorch-lightning>=1.5 einops\nx = "!pip install lightning==1.4"'),
    ]
    text = notebook(*({**item, "outputs": [{"text": ["!pip install lightning==1.0\n"]}]} for item in cells))
    after = moved({"a.ipynb": text})["a.ipynb"]
    assert after == text.replace("lightning==1.8", "lightning==2.6.6").replace(
        "pytorch-lightning>=1.5", f"'pytorch-lightning>=2.0,{NOT}'"
    )


def test_notebook_of_one_string_a_cell() -> None:
    source = 'import x\n!pip install \\\n  "lightning==1.8"\ny = 1'
    text = json.dumps({"cells": [{"cell_type": "code", "source": source}]})
    assert moved({"a.ipynb": text})["a.ipynb"] == text.replace("==1.8", "==2.6.6")
    assert moved({"a.ipynb": "{broken lightning !pip install lightning==1.8"})["a.ipynb"].startswith("{broken")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("setup.py", "def f():\n    return ['lightning==1.8']\nrequires = ['lightning==1.8']\n"),
        ("setup.py", "from x import call\ncall(install_requires=['lightning==1.8'])\n"),
        ("setup.cfg", "[tool]\ninstall_requires =\n    lightning==1.8\n"),
        ("config.yaml", "names:\n  - lightning==1.8\ntrainer: lightning\n"),
        ("config.yaml", "dependencies:\n  - name: lightning\n"),
        ("config.yaml", "requirements:\n  - lightning\n  - torch\n"),
        ("config.yaml", "requirements:\n  - lightning==1.8\n  - all of them = fast\n"),
        ("config.yaml", "requirements: |\n  - lightning==1.8\n"),
        ("run.sh", "# pip install lightning==1.8\necho lightning==1.8\nnpm install lightning==1.8\n"),
        (".github/workflows/a.yml", "on: push\nenv:\n  X: lightning==1.8\n"),
        ("Dockerfile", "RUN apt-get install lightning=1.8\nCOPY pip install lightning\nRUN npm install lightning\n"),
        ("environment.yml", "name: lightning=1.8\nvariables:\n  - lightning=1.8\ndependencies:\n  - numpy\n"),
        ("Pipfile", '[scripts]\nlightning = "==1.8"\n[requires]\nlightning = "==1.8"\n'),
    ],
)
def test_what_asks_for_nothing_is_left_alone(path: str, text: str) -> None:
    assert moved({path: text})[path] == text
    assert all(item[0] == "train.py" for item in told({path: text}))


@pytest.mark.parametrize(
    ("path", "text", "word"),
    [
        ("setup.py", "from setuptools import setup\nsetup(install_requires=['lightning' '==1.8'])\n", "hand"),
        (".github/workflows/a.yml", 'steps:\n  - run: "pip install lightning==1.8"\n', "hand"),
        (".github/workflows/a.yml", "steps:\n  - run: pip install lightning==${{ matrix.pl }}\n", "variable"),
        ("Dockerfile", "RUN pip install pytorch-lightning==${PL}\n", "variable"),
        ("setup.sh", "pip install pytorch-lightning==$PL\n", "variable"),
        (
            "Dockerfile",
            "RUN pip install git+https://github.com/x/pytorch-lightning.git@y\n",
            "such as `pytorch-lightning==",
        ),
        ("environment.yml", "dependencies:\n  - pytorch-lightning=1.5.0=pyhd_0\n", "environment"),
        ("environment.yml", "dependencies:\n  - pytorch-lightning=1.5|1.6\n", "standard"),
        (
            "setup.cfg",
            "[options]\ninstall_requires =\n  lightning @ git+https://x.org/lightning\n",
            "such as `lightning==",
        ),
    ],
)
def test_left_to_a_person(path: str, text: str, word: str) -> None:
    assert moved({path: text})[path] == text
    found = told({path: text})
    assert [item[2] for item in found if item[0] == path] == ["manual"]
    assert word in found[-1][3]


def test_an_exact_release_of_conda_is_probable_only() -> None:
    files = {"environment.yml": "dependencies:\n  - pytorch-lightning=1.9.5\n"}
    assert moved(files) == files
    assert moved(files, unsafe=True)["environment.yml"].endswith("=2.6.6\n")


def test_commands_follow_the_manifest_above_them() -> None:
    new = "from pytorch_lightning import Trainer\nTrainer(accelerator='cpu')\n"
    files = {
        "a/requirements.txt": "lightning==1.8\n",
        "a/train.py": new,
        "a/docker/Dockerfile": "RUN pip install lightning==1.8\n",
        "a/docker/start.py": new,
        "b/requirements.txt": "lightning==1.8\n",
        "b/train.py": "from pytorch_lightning import Trainer\nTrainer(gpus=1)\n",
        "b/notebooks/Dockerfile": "RUN pip install lightning==1.8\n",
        "b/notebooks/x.py": new,
    }
    after = moved(files, new)
    assert {path for path in files if after[path] != files[path]} == {
        "b/requirements.txt",
        "b/train.py",
        "b/notebooks/Dockerfile",
    }


COG = """\
build:
  gpu: true
  python_version: "3.11"
  python_packages:
    - torch==2.0.1
    - pytorch_lightning==1.7.5  # for loading
    - "torchvision==0.15.2"
    - "git+https://github.com/x/y.git"
predict: "predict.py:Predictor"
"""


def test_lists_of_other_tools() -> None:
    after = moved({"cog.yaml": COG})["cog.yaml"]
    wanted = COG.replace("torch==2.0.1", "torch==2.3.1").replace("vision==0.15.2", "vision==0.18.1")
    assert after == wanted.replace("lightning==1.7.5", "lightning==2.6.6")


def test_a_list_of_another_tool_is_for_the_code_beside_it() -> None:
    new = "from pytorch_lightning import Trainer\nTrainer(accelerator='cpu')\n"
    note = "title: x\nrequirements:\n  - seaborn\n  - pytorch-lightning !=1.8.0, !=1.8.0.post1  # broken\n"
    files = {
        "requirements.txt": "pytorch-lightning>=1.4\n",
        "a/.meta.yml": note,
        "a/train.py": "from pytorch_lightning import Trainer\nTrainer(gpus=1)\n",
        "b/.meta.yml": note.replace("!=1.8.0, !=1.8.0.post1", "==1.6.*"),
        "b/train.py": new,
    }
    after = moved(files)
    assert after["a/.meta.yml"] == note.replace(
        "!=1.8.0, !=1.8.0.post1", ">=2.0, !=1.8.0, !=1.8.0.post1, !=2.6.2, !=2.6.3"
    )
    assert after["b/.meta.yml"] == files["b/.meta.yml"]
    assert after["requirements.txt"] == f"pytorch-lightning>=2.0,{NOT}\n"
    assert [path for path, _, _, text in told(files) if "does not allow Lightning 2.6.6: the code runs" in text] == [
        "b/.meta.yml"
    ]


def test_shell_scripts() -> None:
    text = "set -e\n# pip install lightning==1.0\npip3 install -q pytorch-lightning>=1.5 \\\n    torchmetrics\n"
    assert moved({"setup.sh": text})["setup.sh"] == text.replace(
        "pytorch-lightning>=1.5", f"'pytorch-lightning>=2.0,{NOT}'"
    )
    make = "install:\n\t@pip install lightning==1.8 # lightning==1.8\n"
    assert moved({"Makefile": make})["Makefile"] == make.replace("lightning==1.8 #", "lightning==2.6.6 #")


LOCK = '[[package]]\nname = "pytorch-lightning"\nversion = "1.8.0"\n'


@pytest.mark.parametrize(
    ("lock", "manifest", "text", "command"),
    [
        ("poetry.lock", "pyproject.toml", '[tool.poetry.dependencies]\npytorch-lightning = "^1.8"\n', "poetry lock"),
        ("uv.lock", "pyproject.toml", '[project]\ndependencies = ["pytorch-lightning~=1.8"]\n', "uv lock"),
        ("pdm.lock", "pyproject.toml", '[project]\ndependencies = ["pytorch-lightning~=1.8"]\n', "pdm lock"),
    ],
)
def test_lock_files_are_named(lock: str, manifest: str, text: str, command: str) -> None:
    files = {lock: LOCK, manifest: text}
    assert moved(files)[lock] == LOCK
    said = [item for item in told(files) if item[0] == lock]
    assert [(line, fix) for _, line, fix, _ in said] == [(2, "manual")]
    assert f"run `{command}`" in said[0][3]
    calm = "from pytorch_lightning import Trainer\nTrainer()\n"
    assert [item for item in told(files, calm) if item[0] == lock] == []


def test_lock_of_pipenv() -> None:
    files = {"Pipfile": '[packages]\npytorch-lightning = "==1.8.0"\n', "Pipfile.lock": '{\n "pytorch-lightning": {}}\n'}
    assert ("Pipfile.lock", 2) in [item[:2] for item in told(files)]


def test_includes_that_are_not_read_are_named() -> None:
    files = {
        "requirements.txt": "-r requirements/base.txt\n-r deps/all.txt\n-c https://x.org/c.txt\nlightning==1.8\n",
        "requirements/base.txt": "torch\n",
    }
    said = [(path, line) for path, line, fix, text in told(files) if "is not read" in text]
    assert said == [("requirements.txt", 2)]
